"""Samples to one page of tables and one plot."""

import datetime
import math
import os
import statistics
from pathlib import Path

COLOURS = {
    "commis": "#c05621", "curl + jq": "#4e79a7", "hurl": "#b07aa1", "httpx + jmespath": "#59a14f",
    "fetch in a page": "#76b7b2", "scripted browser": "#718096", "mitmproxy2swagger": "#9c755f", "har-to-openapi": "#d8a657",
}


def write(results, folder):
    groups = plotted(results)
    (folder / "performance.svg").write_text(plot(groups))
    (folder / "performance.md").write_text(page(results))


def page(results):
    bench, versions = results["bench"], results["versions"]
    release = bench["profile"] == "release"
    lines = [
        "# Performance",
        "",
        "Written by `benches/peers/run`, which installs the peers, runs everything in turns on one machine and makes this page;",
        "`benches/peers/run --quick` shows that it works, in fewer rounds. Figures are medians, and good for comparing with one",
        "another only: the machine is shared and noisy.",
        "",
        f"{machine()}. {datetime.date.today().isoformat()}, a {bench['profile']} build.",
        *([] if release else ["", "**A dev build: these are no results.**"]),
        "",
        "![How long the same work takes](performance.svg)",
        "",
        "## A run beside its floor",
        "",
        "The floor is the same bytes through the same pooled client with no policy, no template and no extraction; *parse* is one",
        "parse of them on top. Microseconds at p50, one thread, warm: `commis bench`.",
        "",
        "| scenario | recipe | p95 | floor | floor + parse | × floor | × floor + parse | CPU | CPU of the floor |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for it in bench["scenarios"]:
        wall, cpu = it["wall_us"], it["cpu_us"]
        lines.append(
            f"| {it['what']} | {wall['run']['p50']:.0f} | {wall['run']['p95']:.0f} | {wall['floor']['p50']:.0f} | "
            f"{wall['parse']['p50']:.0f} | {it['to_floor']['p50']:.2f} | {it['to_parse']['p50']:.2f} | "
            f"{cpu['run']['p50']:.0f} | {cpu['floor']['p50']:.0f} |"
        )
    lines += [
        "", "## From a cold process", "",
        "One process for one call, its data as JSON on stdout; `true` is what starting any process costs. Milliseconds.", "",
        *table(results["cold"], ["commis", "curl + jq", "hurl", "httpx + jmespath", "true"], 1000),
        "", "## Warm", "",
        "Many calls of one process over kept connections, per call: `commis bench`; one curl with many URLs into one jq;",
        "`hurl --repeat`; one httpx client; `fetch` in an open page of the site, called from Playwright. Microseconds.", "",
        *table(results["warm"], ["commis", "curl + jq", "hurl", "httpx + jmespath", "fetch in a page"], 1),
        "", "## The task itself", "",
        "Tasks of `manifests/quickstart.yaml` that became recipes: `commis recipe run` from a cold process, the run inside it, and",
        "the manifest's steps in a new context of a browser that is already open. Milliseconds.", "",
        *table(results["tasks"], ["commis", "commis, inside", "scripted browser"], 1000, versus="scripted browser"),
    ]
    if results["hars"]:
        lines += [
            "", "## Reading a HAR", "",
            "`commis recipe learn --har … --no-network` (redacted, ranked, learned and written down), the first pass of",
            "mitmproxy2swagger (paths, without schemas), har-to-openapi; a process each. Milliseconds.", "",
            *table(results["hars"], ["commis", "mitmproxy2swagger", "har-to-openapi"], 1000, versus=True),
        ]
    lines += learning(results["learning"])
    lines += ["", "## Versions", "", ", ".join(f"{name} {it}" for name, it in versions.items()) + ".", ""]
    return "\n".join(lines)


def learning(it):
    out = ["", "## What learning takes", ""]
    if it["hars"]:
        out += [
            "A HAR hashed, read, redacted, measured and ranked, beside one parse of it and of each JSON body in it, in turns:",
            "`commis bench --har`. Milliseconds.", "",
            "| | parse | read | × parse | CPU | × parse, CPU |", "|---|--:|--:|--:|--:|--:|",
        ]
        for har in it["hars"]:
            out.append(
                f"| {har['bytes'] / 1e6:.1f} MB, {har['entries']} requests | {figure(har['parse']['wall'])} | {figure(har['read']['wall'])} | "
                f"{har['to_parse']['wall']:.2f} | {figure(har['read']['cpu'])} | {har['to_parse']['cpu']:.2f} |")
    out += [
        "", "A page loaded in a new context of an open browser, behind the same proxy, with and without being recorded, in turns:",
        "`commis bench --recorder`. *Added* is all that a recording takes beside the page's own time; then its parts: until nothing is in",
        "flight and the page is read, redaction, writing. Milliseconds.", "",
        "| | alone | recorded | × alone | added | read | redacted | written |", "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for page in it["pages"]:
        parts = page["parts"]
        out.append(
            f"| {page['what']} | {page['alone']['p50']:.0f} | {page['recorded']['p50']:.0f} | {page['to_alone']:.2f} | {page['added']:.0f} | "
            f"{parts['settle']:.0f} | {parts['redact']:.0f} | {parts['write']:.0f} |")
    runs = " s, ".join(f"{wall:.1f}" for wall in it["walls"])
    return [*out, "", f"The {it['tasks']} tasks of the quickstart, from nothing to their recipes, browser and all: {runs} s. Of a task's time, in the median, "
            f"{it['recordings_ms']:.0f} ms were its recordings with the time of the pages themselves, {it['others_ms']:.0f} ms all other stages."]


def table(rows, columns, unit, versus=None):
    """Medians; with `versus` also how much slower than commis the others are."""
    columns = [it for it in columns if any(row.get(it) for row in rows.values())]
    others = [it for it in columns if versus is True and it != "commis" or it == versus]
    head = [*columns, *(f"{it} ÷ commis" for it in others)]
    out = ["| | " + " | ".join(head) + " |", "|---|" + "--:|" * len(head)]
    for name, row in rows.items():
        middle = {it: statistics.median(row[it]) if row.get(it) else None for it in columns}
        cells = [figure(middle[it] / unit) if middle[it] else "–" for it in columns]
        cells += [f"{middle[it] / middle['commis']:.0f}" if middle[it] else "–" for it in others]
        out.append(f"| {name} | " + " | ".join(cells) + " |")
    return out


def figure(it):
    return f"{it:.0f}" if it >= 100 else f"{it:.1f}" if it >= 10 else f"{it:.2f}"


def machine():
    info = Path("/proc/cpuinfo").read_text()
    model = next((it.split(":", 1)[1].strip() for it in info.splitlines() if it.startswith("model name")), "unknown processor")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, Linux {os.uname().release.split('-')[0]}"


def plotted(results):
    """Title and bars (name, microseconds) of each group."""
    middle = lambda row, names: [(it, statistics.median(row[it])) for it in names if row.get(it)]
    runners = ["commis", "curl + jq", "hurl", "httpx + jmespath"]
    groups = [("2 KB of JSON, a process each", middle(results["cold"]["json-small"], runners)),
              ("2 KB of JSON, warm", middle(results["warm"]["json-small"], [*runners, "fetch in a page"])),
              ("500 KB of JSON, warm", middle(results["warm"]["json-large"], [*runners, "fetch in a page"]))]
    every = lambda rows, name: [it for row in rows.values() for it in row.get(name, [])]
    if results["tasks"]:
        names = ["commis", "scripted browser"]
        groups.append(("A task of the quickstart", middle({it: every(results["tasks"], it) for it in names}, names)))
    if results["hars"]:
        first = next(iter(results["hars"]))
        groups.append((f"A HAR of {first}", middle(results["hars"][first], ["commis", "mitmproxy2swagger", "har-to-openapi"])))
    return groups


def plot(groups):
    """Bars over a logarithmic axis."""
    every = [us for _, bars in groups for _, us in bars]
    low, high = 10 ** math.floor(math.log10(min(every))), 10 ** math.ceil(math.log10(max(every)))
    left, right, wide = 150, 80, 760
    x = lambda us: left + (math.log10(us) - math.log10(low)) / math.log10(high / low) * (wide - left - right)
    out, y = [], 14
    for title, bars in groups:
        out.append(f'<text x="8" y="{y + 8}" class="title">{title}</text>')
        y += 18
        for name, us in bars:
            out.append(f'<text x="{left - 8}" y="{y + 11}" class="end">{name}</text>')
            out.append(f'<rect x="{left}" y="{y}" width="{max(x(us) - left, 1):.1f}" height="14" rx="2" fill="{COLOURS[name]}"/>')
            out.append(f'<text x="{x(us) + 6:.1f}" y="{y + 11}">{shown(us)}</text>')
            y += 18
        y += 10
    ticks = [10 ** it for it in range(int(math.log10(low)), int(math.log10(high)) + 1)]
    grid = "".join(f'<line x1="{x(it):.1f}" x2="{x(it):.1f}" y1="10" y2="{y}"/>' for it in ticks)
    marks = "".join(f'<text x="{x(it):.1f}" y="{y + 16}" class="mid">{shown(it)}</text>' for it in ticks)
    style = ("text{font:12px system-ui,sans-serif;fill:#5d6873}.title{font-weight:600;fill:#1c2126}.end{text-anchor:end}"
             ".mid{text-anchor:middle}line{stroke:#dde2e7}")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {y + 26}" role="img" '
            f'aria-label="How long the same work takes, by program"><style>{style}</style>'
            f'<rect width="{wide}" height="{y + 26}" fill="#fff"/>{grid}{"".join(out)}{marks}</svg>\n')


def shown(us):
    if us < 1000:
        return f"{us:.0f} µs"
    return f"{us / 1000:.3g} ms" if us < 1e6 else f"{us / 1e6:.3g} s"
