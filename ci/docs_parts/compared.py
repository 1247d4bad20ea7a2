"""Writes the figures of docs/explanation/compared.md from the pages that scripts of ours measured, so that none is typed by hand:

    ci/docs_parts/compared.py                          writes them anew
    ci/docs_parts/compared.py --check                  fails when they are not what those pages say
    ci/docs_parts/compared.py --miniwob FILE.json…     keeps what `ci/miniwob --json FILE` wrote, in docs/explanation/miniwob.json, first
    ci/docs_parts/compared.py --hars FILE.json         the same of `ci/har-openapi --json FILE`, in har-tools.json
    ci/docs_parts/compared.py --acts FILE.json         the same of `ci/browse-acts --peers FOLDER --json FILE`, in acts.json
    ci/docs_parts/compared.py --browse FILE.md         the same of the page that `benches/peers/browse/run` writes, in browsing.json
"""

import json
import pathlib
import re
import statistics
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGE = DOCS / "explanation/compared.md"
BEGIN, END = "<!-- figures: ci/docs_parts/compared.py -->", "<!-- end of figures -->"


def tables(page):
    """Tables of a page by their section: rows of cells, the head first."""
    out, section = {}, ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"##+ (.*)", line):
            section = heading[1]
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
HARS = DOCS / "explanation/har-tools.json"
BROWSING = DOCS / "explanation/browsing.json"
ACTS = DOCS / "explanation/acts.json"


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


def kept(place, told):
    place.write_text(json.dumps(told, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def keep_browsing(file):
    """Of the page what is over all pages; it says itself by what and on what it was measured."""
    page = pathlib.Path(file)
    if "A dev build" in page.read_text(encoding="utf-8"):
        sys.exit(f"{file} is of a dev build: its times are no results")
    said = re.search(r"^(.*? cores, .*?)\. (\d{4}-\d\d-\d\d), (\d+) rounds.*?Peers drive (.*?), (Node v\S+);$", page.read_text(encoding="utf-8"), re.M)
    all = tables(page)
    over_all = lambda section: [all[section][0], next(it for it in all[section] if it[0] == "**all**")]
    kept(BROWSING, {
        **dict(zip(("machine", "date", "rounds", "chromium", "node"), said.groups())),
        "tools": all[""][1:], "commands": all["A command"], "characters": over_all("Characters of a snapshot"),
        "acted_on": over_all("What can be acted on"), "stale": all["Old references"],
    })


def browsing():
    if not BROWSING.exists():
        return []
    told = json.loads(BROWSING.read_text(encoding="utf-8"))
    names = [it[0] for it in told["tools"]]
    versions = ", ".join(f"{name} {version}" for name, version, _ in told["tools"])
    out = ["", "A page that is open, twelve pages of ours. Commands: milliseconds, p50 / p95, a process each but for playwright-mcp, whose server stays."]
    out += ["", f"| browsing | {' | '.join(names)} | measured by |", "|---|" + "--:|" * len(names) + "---|"]

    def row(name, cells):
        out.append(f"| {name} | {' | '.join(cells)} | `benches/peers/browse/run` |")

    for it in told["commands"][1:]:
        row(it[0], it[1:])
    row("characters of the snapshots (full ones)", told["characters"][1][1:])
    there, *cells = told["acted_on"][1][1:]
    row(f"of {int(there):,} things to act on: found / missed / false", cells)
    heads = ["what changed since the reference was taken", *names, "right is", "measured by"]
    out += ["", f"| {' | '.join(heads)} |", "|---|" + "--:|" * (len(names) + 1) + "---|"]
    for it in told["stale"][1:]:
        row(it[0], it[1:])
    return out + ["", f"{told['date']}, {told['machine']}; {versions}, {told['chromium']}, {told['node']}; {told['rounds']} rounds a page."]


def acts():
    if not ACTS.exists():
        return []
    told = json.loads(ACTS.read_text(encoding="utf-8"))
    tools = told["tools"]
    out = ["", f"| {told['cases']} cases of acts on pages of component libraries | {' | '.join(tools)} | measured by |", "|---|" + "--:|" * len(tools) + "---|"]
    verdicts = {"right": "right", "refused": "rightly refused", "not done": "not done", "acted on another": "**acted on another element**",
                "told wrongly": "**said to be done, and was not**"}
    for verdict, name in verdicts.items():
        out.append(f"| {name} | {' | '.join(str(it.get(verdict, 0)) for it in tools.values())} | `ci/browse-acts --peers` |")
    return out + ["", f"{told['date']}. The pages say what they heard; how an answer is worded is not held against a peer."]


def hars():
    if not HARS.exists():
        return []
    told = json.loads(HARS.read_text(encoding="utf-8"))
    files, all = told["compared"]["hars"], told["all"]
    names = list(told["versions"])
    versions = ", ".join(f"{name} {version}" for name, version in told["versions"].items())
    out = ["", f"| {files} HARs, held to lists made by hand | {' | '.join(names)} | measured by |", "|---|" + "--:|" * len(names) + "---|"]

    def row(name, cell):
        out.append(f"| {name} | {' | '.join(cell(told['compared']['tools'][it]) for it in names)} | `ci/har-openapi` |")

    row("endpoints found", lambda it: f"{it['found']} of {it['endpoints']}")
    row("two endpoints as one", lambda it: str(it["wrong"]))
    row("one endpoint as several", lambda it: str(it["missed"]))
    row("operations of no endpoint in the list", lambda it: str(it["others"]))
    row("secrets left", lambda it: str(it["secrets"]))
    row("documents that validate", lambda it: f"{it['valid']} of {files}")
    row("seconds, all of it", lambda it: f"{it['seconds']:.1f}")
    return out + ["", f"Of {all['hars']} HARs at hand `commis har openapi` made {all['hars'] - all['without_data'] - all['wrong']} documents that validate, with {all['operations']:,} operations; "
                  f"{all['without_data']} have no data (`ci/har-openapi --all`). {told['date']}, {told['machine']}; {versions}."]


def figures():
    page = tables(DOCS / "explanation/performance.md")
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

    apps = tables(DOCS / "explanation/applications.md")[""]
    value = {it[0]: dict(zip(apps[0][1:], it[1:], strict=True)) for it in apps[1:]}
    out += ["", "| applications of others | tasks | measured by |", "|---|--:|---|"]
    for name in ("answerable", "verified and complete", "verified but partial or wrong", "rightly declined", "wrongly declined"):
        out.append(f"| {name} | {value[name]['all']} | `ci/apps` |")
    return "\n".join(out + miniwob() + hars() + browsing() + acts())


def main():
    if "--miniwob" in sys.argv:
        keep(sys.argv[sys.argv.index("--miniwob") + 1 :])
    if "--hars" in sys.argv:
        kept(HARS, json.loads(pathlib.Path(sys.argv[sys.argv.index("--hars") + 1]).read_text(encoding="utf-8")))
    if "--acts" in sys.argv:
        kept(ACTS, json.loads(pathlib.Path(sys.argv[sys.argv.index("--acts") + 1]).read_text(encoding="utf-8")))
    if "--browse" in sys.argv:
        keep_browsing(sys.argv[sys.argv.index("--browse") + 1])
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
