"""Samples to one page of tables. Pure, but for what the machine is."""

import math
import os
import statistics
from pathlib import Path

WORDS = {
    "intended": "the one meant", "refused": "refused", "another": "**ANOTHER**", "silent": "**“done”, nothing happened**",
}


def page(results):
    names = list(results["tools"])
    pages = results["pages"]
    dev = "commis" in names and results.get("profile") not in ("release", "dist")
    lines = [
        "# Browsing: commis browse beside its peers", "",
        *(["**A dev build of commis: its times are no results.**", ""] if dev else []),
        "Written by `benches/peers/browse/run`, which installs the peers, serves the pages of its folder on the loopback and asks all",
        "tools in turns on one machine. Good for comparing with one another only: the machine is shared and noisy.", "",
        f"{results['machine']}. {results['date']}, {results['rounds']} rounds a page (with fewer than 20, p95 of a page is the worst), load at the start {results.get('load', ['unknown'])[0]}. Peers drive {results['chromium']}, Node {results['node']};",
        f"commis the Chromium it finds by itself. Starting any process (`true`) costs {figure(middle(results['floor']))} ms here.", "",
        "| tool | version | asked as |", "|---|---|---|",
        *(f"| {it} | {results['tools'][it]['version']} | {results['tools'][it]['how']} |" for it in names),
        "", "## First command, nothing running", "",
        "Milliseconds from start to exit of what opens the first page: for commis a `browse goto`, which starts the daemon;",
        "for the MCP server its start and handshake as well. *Not there*: how often the tab showed another page right after.", "",
        "| tool | p50 | worst | not there |", "|---|--:|--:|--:|",
    ]
    for it in names:
        cold = results["cold"][it]
        lines.append(f"| {it} | {figure(middle(cold['ms']))} | {figure(max(cold['ms']))} | {cold['wrong']} of {len(cold['ms'])} |")
    lines += [
        "", "## A command", "",
        "Over all pages, milliseconds, p50 / p95. Read: url and title. Snapshot: the one for acting, and *full* where there is another.",
        "Only acts that reported success are timed.", "",
        header("", names),
    ]
    for title, what in (("read", "read"), ("snapshot", "snapshot act"), ("snapshot, full", "snapshot full"), ("click", "click"), ("fill", "fill")):
        every = {it: [ms for one in pages.values() for ms in one["tools"][it]["ms"].get(what, [])] for it in names}
        lines.append(row(title, (both(every[it]) for it in names)))
    for title, what in (("Read", "read"), ("Snapshot for acting", "snapshot act"), ("Click", "click"), ("Fill", "fill")):
        lines += ["", f"### {title}, by page", "", "Milliseconds, p50 / p95.", "", header("page", names)]
        for name, one in pages.items():
            lines.append(row(name, (both(one["tools"][it]["ms"][what], one["tools"][it]["acts"].get(what)) for it in names)))
    lines += [
        "", "## Characters of a snapshot", "", "The one for acting; in brackets the full one where there is another.", "",
        header("page", names),
    ]
    chars = lambda one, it: one["tools"][it]["chars"]
    for name, one in pages.items():
        lines.append(row(name, (sizes(chars(one, it)) for it in names)))
    lines.append(row("**all**", (sizes({mode: sum(chars(one, it)[mode] for one in pages.values())
                                        for mode in results["tools"][it]["modes"]}) for it in names)))
    lines += [
        "", "## What can be acted on", "",
        "Found / missed / false, against lists made by hand of what a person can act on. Found: a line with a reference, the label and",
        "a role that fits, or a mark that it can be clicked. False: a line that offers what a person cannot act on (covered, hidden,",
        "inert, nothing behind it). Lines that say `disabled` are no offer; options of a select count for nothing.", "",
        header("page", ["there", *names]),
    ]
    counts = lambda one, it: [one["tools"][it]["found"], len(one["tools"][it]["missed"]), len(one["tools"][it]["false"])]
    for name, one in pages.items():
        lines.append(row(name, (one["wanted"], *(" / ".join(map(str, counts(one, it))) for it in names))))
    total = {it: [sum(counts(one, it)[at] for one in pages.values()) for at in range(3)] for it in names}
    lines.append(row("**all**", (sum(one["wanted"] for one in pages.values()), *(" / ".join(map(str, total[it])) for it in names))))
    lines += ["", "Which, the first eight of each:", ""]
    for name, one in pages.items():
        for it in names:
            for what in ("missed", "false"):
                if some := one["tools"][it][what]:
                    more = f" and {len(some) - 8} more" if len(some) > 8 else ""
                    lines.append(f"- {name}, {it}, {what}: {', '.join(f'`{cell(one)}`' for one in some[:8])}{more}")
    wrong = [(name, it, act, one["tools"][it]["acts"][act]) for name, one in pages.items() for it in names
             for act in ("click", "fill") if one["tools"][it]["acts"].get(act, "done") != "done"]
    lines += ["", "Acts that did not do what they were to do:", ""]
    lines += [f"- {act} in {name}, {it}{times(pages[name]['tools'][it]['failed'].get(act))}: {cell(what)[:200]}" for name, it, act, what in wrong] or ["- none"]
    lines += [
        "", "## Old references", "",
        "A snapshot, then the page changes under it, then a click by the old reference. The page itself says what was clicked. In italics",
        "what should not be.", "",
        header("case", [*names, "right is"]),
    ]
    for name, case in results["stale"].items():
        cells = []
        for it in names:
            seen = [one["verdict"] for one in case["tools"][it]]
            each = [f"{WORDS.get(one, one)}{f' ({seen.count(one)} of {len(seen)})' if len(set(seen)) > 1 else ''}" for one in dict.fromkeys(seen)]
            cells.append(", ".join(each) if set(seen) <= set(case["good"]) else f"*{', '.join(each)}*")
        lines.append(row(name, [*cells, " or ".join(WORDS[one] for one in case["good"])]))
    lines += ["", "Their words, once each:", ""]
    for name, case in results["stale"].items():
        for it in names:
            one = case["tools"][it][-1]
            what = f"; clicked: {', '.join(one['noted'])}" if one.get("noted") else ""
            lines.append(f"- {name}, {it}: “{cell(one['said'])}”{what}")
    lines += ["", f"Processes still there a second after all tools were told to close: {results['left']}.", ""]
    return "\n".join(lines)


def times(count):
    return f", {count} times" if count else ""


def header(first, names):
    return f"| {first} | " + " | ".join(names) + " |\n|---|" + "--:|" * len(names)


def row(first, cells):
    return f"| {first} | " + " | ".join(map(str, cells)) + " |"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ").replace("`", "'")


def middle(samples):
    return statistics.median(samples) if samples else None


def high(samples):
    """p95, the nearest rank."""
    return sorted(samples)[math.ceil(len(samples) * 0.95) - 1]


def both(samples, act=None):
    if not samples:
        return "–" if not act else "not offered" if act == "not offered" else "failed"
    return f"{figure(middle(samples))} / {figure(high(samples))}"


def sizes(chars):
    return f"{chars['act']:,}" + (f" ({chars['full']:,})" if "full" in chars else "")


def figure(it):
    return "–" if it is None else f"{it:.0f}" if it >= 20 else f"{it:.1f}"


def machine():
    info = Path("/proc/cpuinfo").read_text()
    model = next((it.split(":", 1)[1].strip() for it in info.splitlines() if it.startswith("model name")), "unknown processor")
    return f"{model}, {os.cpu_count()} cores, Linux {os.uname().release.split('-')[0]}"
