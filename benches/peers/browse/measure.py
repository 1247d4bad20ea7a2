"""Runs commis browse and its peers in turns over the same pages. See `run`."""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import report
import stale
import tools
import truth
from web import Web

HERE = Path(__file__).resolve().parent


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--commis", type=Path, required=True)
    args.add_argument("--chromium", type=Path, required=True)
    args.add_argument("--at", type=Path, required=True, help="where the peers are installed and the results go")
    args.add_argument("--rounds", type=int, default=12)
    args.add_argument("--only", help="names of tools, with commas")
    args.add_argument("--pages", help="names of pages, with commas")
    args.add_argument("--profile", help="what the program was built as, where the folder that it lies in is not named after it")
    args.add_argument("--keep", action="store_true", help="keep the tools' folders and snapshots")
    args = args.parse_args()
    scratch = Path(tempfile.mkdtemp(prefix="commis-browse-"))
    mark = uuid.uuid4().hex
    web = Web()
    place = tools.Place(web.port, args.at.resolve() / "node_modules", scratch, args.chromium, args.commis.resolve(), mark)
    bench = Bench(web, place, args)
    try:
        out = bench.all()
    finally:
        for it in bench.tools:
            it.close()
        web.close()
        if count := tools.swept(mark):
            said(f"{count} processes were left behind and are ended now")
        if args.keep:
            said(f"kept: {scratch}")
        else:
            shutil.rmtree(scratch, ignore_errors=True)
    (args.at / "browse.json").write_text(json.dumps(out, indent=1, ensure_ascii=False))
    (args.at / "browse.md").write_text(report.page(out))
    print(args.at / "browse.md")


def said(what):
    print(what, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, web, place, args):
        self.web, self.place, self.args = web, place, args
        self.tools, self.turn = [], 0
        names = args.only and args.only.split(",")
        for kind in tools.ALL:
            if names and kind.name not in names:
                continue
            it = kind(place)
            if it.there():
                self.tools.append(it)
            else:
                said(f"{it.name}: SKIPPED, it cannot be started here"
                     + (f" (`{place.commis} browse --help` fails)" if it.name == "commis" else ""))
        pages = args.pages and args.pages.split(",")
        self.pages = [truth.read(it) for it in sorted((HERE / "pages").glob("*.json")) if not pages or it.stem in pages]

    def turned(self):
        """All tools, starting with another one each time."""
        self.turn += 1
        at = self.turn % len(self.tools)
        return self.tools[at:] + self.tools[:at]

    def all(self):
        versions = {it.name: it.version() for it in self.tools}
        out = {
            "date": time.strftime("%Y-%m-%d"), "rounds": self.args.rounds,
            # The folder cargo puts a profile's program in is named after it.
            "profile": self.args.profile or self.place.commis.parent.name, "load": [round(it, 1) for it in os.getloadavg()],
            "tools": {it.name: {"version": versions[it.name], "how": it.how, "modes": it.modes} for it in self.tools},
            "machine": report.machine(), "chromium": first([self.args.chromium, "--version"]), "node": first(["node", "--version"]),
            "python": platform.python_version(),
            "floor": [tools.asked(["true"], self.place.env, self.place.scratch).ms for _ in range(20)],
        }
        said("first commands")
        out["cold"] = self.cold()
        out["pages"] = {}
        for page in self.pages:
            said(f"page {page['name']}: {page['about']}")
            out["pages"][page["name"]] = self.page(page)
        said("old references")
        out["stale"] = self.stale()
        for it in self.tools:
            it.close()
        # What a tool leaves running after it was told to close.
        time.sleep(1)
        out["left"] = len(tools.left(self.place.env["COMMIS_BENCH_MARK"]))
        return out

    def url(self, path):
        return f"http://shop.test/{path}"

    # From nothing.

    def cold(self):
        out = {it.name: {"ms": [], "wrong": 0} for it in self.tools}
        for _ in range(max(2, min(self.args.rounds, 6))):
            for it in self.turned():
                it.close()
                time.sleep(0.3)
                done = it.cold(self.url("shop.html"))
                if not done.ok:
                    said(f"{it.name}: {done.text[:300]}")
                # Some say that it is done while the tab is empty still.
                out[it.name]["wrong"] += it.title() != "Tools"
                out[it.name]["ms"].append(done.ms)
        return out

    # One page: a look for what it shows, then rounds of commands.

    def page(self, page):
        out = {"about": page["about"], "wanted": len(page["wants"]), "tools": {}}
        for it in self.turned():
            went = it.goto(self.url(f"{page['name']}.html"))
            time.sleep(0.5)
            got = {"goto_ok": went.ok, "chars": {}, "ms": {"read": [], "click": [], "fill": []} | {f"snapshot {m}": [] for m in it.modes}}
            for mode in it.modes:
                text = it.snapshot(mode).text
                got["chars"][mode] = len(text)
                if self.args.keep:
                    (self.place.scratch / f"{page['name']}.{it.name}.{mode}.txt").write_text(text)
                if mode == "act":
                    found, missed, false = truth.compared(page, it.items(text))
                    got |= {"found": len(found), "missed": [f"{one.kind} {one.label}" for one in missed],
                            "false": [f"{one.role} {one.name}".strip() for one in false]}
            got |= {"acts": {}, "failed": {}}
            out["tools"][it.name] = got
        for at in range(self.args.rounds):
            for it in self.turned():
                self.round(page, it, out["tools"][it.name], at)
        return out

    def round(self, page, it, got, at):
        ms = got["ms"]
        last = at + 1 == self.args.rounds
        for which in (0, 1):
            ms["read"].append(it.read(which).ms)
        for mode in it.modes[1:]:
            ms[f"snapshot {mode}"].append(it.snapshot(mode).ms)
        answer = it.snapshot("act")
        ms["snapshot act"].append(answer.ms)
        items = it.items(answer.text)
        (kind, label), = page["click"].items()
        # Filled first: a click on a link may change the page for what comes after.
        (field, named), = page["fill"].items()
        if ref := truth.target(items, field, named):
            value = f"words {at}"
            answer = it.fill(ref, value)
            self.acted(got, "fill", it, answer, last, f"filled {named}={value}")
        else:
            got["acts"]["fill"] = "not offered"
        if ref := truth.target(items, kind, label):
            answer = it.click(ref)
            self.acted(got, "click", it, answer, last, f"clicked {label}")
        else:
            got["acts"]["click"] = "not offered"

    def acted(self, got, what, it, answer, check, wanted):
        """Only acts that say they were done are timed; once a page it is looked at whether they were."""
        if not answer.ok:
            got["failed"][what] = got["failed"].get(what, 0) + 1
            got["acts"][what] = f"failed: {answer.text[:300]}"
            return
        got["ms"][what].append(answer.ms)
        if check:
            title = it.title()
            # A round that failed is not made good by one that did not.
            if not got["failed"].get(what):
                got["acts"][what] = "done" if title == wanted else f"said done, the page says: {title}"

    # References that have grown old.

    def stale(self):
        out = {case.name: {"good": sorted(case.good), "tools": {it.name: [] for it in self.tools}} for case in stale.CASES}
        for at in range(1 if self.args.rounds < 5 else 3):
            for case in stale.CASES:
                for it in self.turned():
                    out[case.name]["tools"][it.name].append(self.case(case, it, at))
        return out

    def case(self, case, it, at):
        name = f"{it.name}-{at}-{stale.CASES.index(case)}"
        run = self.web.open(name)
        went = it.goto(self.url(f"{case.page}&run={name}"))
        items = it.items(it.snapshot("act").text)
        ref = truth.target(items, "button", case.label)
        if not ref:
            return {"verdict": "not offered", "said": went.text[:200]}
        if case.step == "itself":
            run.let.set()
        elif case.step == "goto":
            it.goto(self.url(f"record-2.html?run={name}"))
        else:
            it.click(truth.target(items, "link", "Next record"))
        if not run.changed.wait(15):
            return {"verdict": "the page did not change", "said": ""}
        time.sleep(0.2)
        run.noted.clear()
        run.told.clear()
        answer = it.click(ref)
        run.told.wait(0.5)
        lines = [line for line in answer.text.splitlines() if line.strip() and line.strip() != "### Error"]
        return {"verdict": stale.verdict(answer, run.noted, case.meant), "noted": list(run.noted), "ok": answer.ok,
                "said": lines[0][:240] if lines else ""}


def first(command):
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    return next(iter(said.splitlines()), "").strip()


if __name__ == "__main__":
    main()
