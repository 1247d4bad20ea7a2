"""What was measured, as a table, as JSON and as a page of the documentation."""

import collections
import json
import os
import re

from place import base

RIGHT = ["complete", "declined rightly", "declined wrongly", "failed", "partial", "wrong"]


def told(line):
    """Why, in a few words."""
    if line["missing"]:
        return line["missing"][0]
    return " ".join(it for it in (line["why"], line["detail"]) if it)


def count(value):
    return "" if value is None else str(value)


def table(lines, out):
    form = "{:13} {:30} {:5} {:16} {:>5} {:>5}  {:17} {:>7} {:>6}  {}"
    print(form.format("application", "task", "way", "outcome", "shown", "given", "right", "browser", "recipe", "why"), file=out)
    for it in lines:
        told_now = told(it)[:150] if it["right"] != "complete" else ""
        cells = (it["app"], it["task"], it["way"], it["outcome"], count(it["shown"]), count(it["given"]), it["right"])
        print(form.format(*cells, count(it["browser_ms"]), count(it["run_ms"]), told_now), file=out)


def totals(lines):
    right = collections.Counter(it["right"] for it in lines)
    verified = [it for it in lines if it["outcome"] == "verified"]
    return {
        "tasks": len(lines),
        "answerable": sum(it["answerable"] for it in lines),
        "verified and complete": right["complete"],
        "verified but partial or wrong": len(verified) - sum(it["right"] == "complete" for it in verified),
        "rightly declined": right["declined rightly"],
        "wrongly declined": right["declined wrongly"],
        "not learned for another reason": sum(it["right"] == "failed" and it["outcome"] != "verified" for it in lines),
    }


def bad(lines):
    """Recipes that came out verified and are not."""
    return [it for it in lines if it["outcome"] == "verified" and it["right"] != "complete"]


def write(path, lines, apps, skipped):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"apps": apps, "skipped": skipped, "totals": totals(lines), "lines": lines}, file, indent=1, ensure_ascii=False)
        file.write("\n")


def cell(text):
    # No place of the machine, and no address but those of the tests.
    text = str(text).replace(base(), "…").replace(os.path.expanduser("~"), "…")
    text = re.sub(r"https?://(?![a-z.]*\.test\b)\S+", "…", text)
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def keep(folder, digest, about, lines):
    """What an application came to with a program."""
    with open(os.path.join(folder, f"{about['name']}.json"), "w", encoding="utf-8") as file:
        json.dump({"program": digest, "about": about, "lines": lines}, file, indent=1, ensure_ascii=False)


def kept(folder, digest, order):
    """What all applications came to with that program."""
    out = []
    for name in order:
        try:
            with open(os.path.join(folder, f"{name}.json"), encoding="utf-8") as file:
                it = json.load(file)
        except (OSError, ValueError):
            continue
        if it["program"] == digest:
            out.append(it)
    return out


def docs(path, measured, skipped):
    """A page for people; nothing in it names the machine or the day."""
    apps = [it["about"] for it in measured]
    lines = [line for it in measured for line in it["lines"]]
    out = [
        "# Applications",
        "",
        "How learning does on applications that other people wrote, and on small pages of shapes that real sites use. `ci/apps --docs`",
        "installs each, fills it with seeded data, serves it on loopback and writes this page. Two inputs are learned from. A recipe that",
        "comes out verified is run on two others, and its whole answer is held against the application's own data: every item, every fact",
        "that the page shows of it.",
        "",
        "| | steps | HAR | all |",
        "|---|---|---|---|",
    ]
    ways = [totals([it for it in lines if it["way"] == way]) for way in ("steps", "HAR")] + [totals(lines)]
    out += [f"| {name} | {' | '.join(str(it[name]) for it in ways)} |" for name in ways[-1]]
    out += [
        "",
        "*shown*: items on the page; *given*: items in the answer, for the third input. *right*: `complete` has all of them with all facts;",
        "`partial` lacks some, `wrong` is something else, and neither may ever be: then the command fails. What one request cannot answer is",
        "`declined rightly`. *browser*: the first recording; *recipe*: the median of the runs; milliseconds.",
    ]
    followed = [(it["app"], one) for it in lines for one in it.get("lists") or []]
    whole = [it for it in followed if it[1]["items"] == it[1]["of"]]
    if followed:
        items = sum(it[1]["items"] for it in whole)
        out += [
            "",
            f"Lists that go on, followed over their pages: {len(whole)} in {len({it[0] for it in whole})} applications, {items} items, each once, none missing. "
            f"{len(followed) - len(whole)} more are not whole in the application's own pages, whose order is not stable; each run says so.",
        ]
    for app in apps:
        own = [it for it in lines if it["app"] == app["name"]]
        if not own:
            continue
        out += ["", f"## {app['name']} {app['version']}", "", f"{app['kind'][0].upper()}{app['kind'][1:]}.", ""]
        out += ["| task | way | outcome | shown | given | right | browser | recipe |", "|---|---|---|---|---|---|---|---|"]
        for it in own:
            cells = [
                it["task"],
                it["way"],
                it["outcome"] + (f": {it['why']}" if it["why"] and len(it["why"]) < 25 else ""),
                count(it["shown"]),
                count(it["given"]),
            ]
            cells += [it["right"], count(it["browser_ms"]), count(it["run_ms"])]
            out.append(f"| {' | '.join(cell(value) for value in cells)} |")
    lost = [it for it in lines if it["right"] not in ("complete", "declined rightly")]
    if lost:
        out += ["", "## What falls short", "", "| task | way | right | why |", "|---|---|---|---|"]
        out += [f"| {it['task']} | {it['way']} | {it['right']} | {cell(told(it)[:200])} |" for it in lost]
    if skipped:
        out += ["", "## Skipped", "", *[f"- {name}: {cell(why[:200])}" for name, why in skipped.items()]]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")
