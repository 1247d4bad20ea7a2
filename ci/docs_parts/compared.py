"""Writes the figures of docs/explanation/compared.md from the pages that scripts of ours measured, so that none is typed by hand:

    ci/docs_parts/compared.py                          writes them anew
    ci/docs_parts/compared.py --check                  fails when they are not what those pages say
    ci/docs_parts/compared.py --miniwob FILE.json…     keeps what `ci/miniwob --json FILE` wrote, in docs/explanation/miniwob.json, first
"""

import json
import pathlib
import re
import statistics
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "explanation/compared.md"
BEGIN, END = "<!-- figures: ci/docs_parts/compared.py -->", "<!-- end of figures -->"


def tables(name):
    """Tables of a page by their section: rows of cells, the head first."""
    out, section = {}, ""
    for line in (DOCS / "explanation" / name).read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("|") and not re.match(r"^\|[-:| ]+\|$", line):
            out.setdefault(section, []).append([it.strip() for it in line.strip("|").split("|")])
    return out


def number(text):
    return float(text.replace(",", ""))


def ratio(rows, name, ours="commis", without=0):
    """How many times as long as ours, least and most over the rows; the same where they are alike."""
    head = rows[0]
    a, b = head.index(ours), head.index(name)
    every = sorted((number(it[b]) - without) / (number(it[a]) - without) for it in rows[1:] if it[b] and it[a])
    return span(every)


def span(every):
    low, high = (f"{it:.1f}".rstrip("0").rstrip(".") if it < 10 else f"{it:.0f}" for it in (min(every), max(every)))
    return f"{low} ×" if low == high else f"{low} to {high} ×"


WOB = DOCS / "explanation/miniwob.json"


def keep(files):
    """Sets, tasks and seeds of each driver: the tasks one by one are in what was given."""
    told = {}
    for file in files:
        it = json.loads(pathlib.Path(file).read_text(encoding="utf-8"))
        told[it["with"]] = {"version": it["version"], "sets": it["sets"]}
    WOB.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def miniwob():
    if not WOB.exists():
        return []
    told = json.loads(WOB.read_text(encoding="utf-8"))
    out = ["", "| MiniWoB++, by rules that read the page | tasks | episodes solved | measured by |", "|---|--:|--:|---|"]
    for driver, name, flag in (("commis", "`commis browse`", ""), ("playwright", "Playwright", " --with playwright")):
        if driver in told:
            sets = told[driver]["sets"].values()
            sums = [sum(it[key] for it in sets) for key in ("tasks", "solved", "seeds")]
            out.append(f"| {name} | {sums[0]} | {sums[1]} of {sums[2]} | `ci/miniwob{flag}` |")
    return out


def figures():
    page = tables("performance.md")
    out = ["| the same work | beside | times as long as commis | measured by |", "|---|---|--:|---|"]

    def row(work, beside, value):
        out.append(f"| {work} | {beside} | {value} | `benches/peers/run` |")

    for section, work in (("From a cold process", "one call, a process each"), ("Warm", "one of many calls of one process")):
        rows = page[section]
        for name in rows[0][2:]:
            if name not in ("true",):
                row(work, name, ratio(rows, name))
    task = page["The task itself"]
    row("a task of the test web, from its sentence to its data", "the same steps in a browser that is open", ratio(task, "scripted browser"))
    har = page["Reading a HAR"]
    for name in ("mitmproxy2swagger", "har-to-openapi"):
        row("a HAR, read and learned from", f"{name}, which describes it", ratio(har, name))
    every = [number(it[task[0].index("commis, inside")]) for it in task[1:]]
    out += ["", f"A run itself took {statistics.median(every):.1f} ms in the median of those {len(every)} tasks, the process around it not counted."]

    apps = tables("applications.md")[""]
    value = {it[0]: dict(zip(apps[0][1:], it[1:], strict=True)) for it in apps[1:]}
    out += ["", "| applications of others | tasks | measured by |", "|---|--:|---|"]
    for name in ("answerable", "verified and complete", "verified but partial or wrong", "rightly declined", "wrongly declined"):
        out.append(f"| {name} | {value[name]['all']} | `ci/apps` |")
    return "\n".join(out + miniwob())


def main():
    if "--miniwob" in sys.argv:
        keep(sys.argv[sys.argv.index("--miniwob") + 1 :])
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    fresh = f"{before}{BEGIN}\n\n{figures()}\n\n{END}{after}"
    if "--check" in sys.argv:
        if fresh != text:
            sys.exit("docs/explanation/compared.md says other figures than the measured pages: ci/docs_parts/compared.py writes them anew")
    else:
        PAGE.write_text(fresh, encoding="utf-8")


main()
