"""Draws docs/pictures/crates.svg from the dependencies in the Cargo.toml of each crate, so that the picture shows what Cargo enforces:

    ci/docs_parts/crates.py            draws it
    ci/docs_parts/crates.py --check    fails if the picture is not what the manifests say

A crate stands above all that it depends on. An arrow that follows from two others is left out. Development and build dependencies do not count.
"""

import pathlib
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = ROOT / "docs/pictures/crates.svg"
BOX, GAP, LANE, ROW, MARGIN = (118, 26), 18, 18, 54, 12
STYLE = """
    text { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; fill: #22201d; text-anchor: middle; }
    rect { fill: #fffdfa; stroke: #c9c0b3; } path.a { stroke: #9a3f12; stroke-opacity: .55; fill: none; stroke-width: 1.2; }
    @media (prefers-color-scheme: dark) { text { fill: #ece7df; } rect { fill: #211f1b; stroke: #4a453c; } path.a { stroke: #f2a272; } }
  """


def manifests():
    """Each crate with the crates of this workspace that it depends on."""
    needs = {}
    for path in [*sorted(ROOT.glob("src/*/Cargo.toml")), ROOT / "engine/temporal/Cargo.toml"]:
        manifest = tomllib.loads(path.read_text(encoding="utf-8"))
        name = manifest["package"]["name"].removeprefix("commis-")
        needs[name] = {it.removeprefix("commis-") for it in manifest.get("dependencies", {}) if it.startswith("commis-")}
    return needs


def closure(needs, name):
    return set().union(*({it} | closure(needs, it) for it in needs[name]), set())


def reduced(needs):
    """Without the dependencies that another dependency brings."""
    return {name: {it for it in direct if not any(it in closure(needs, other) for other in direct)} for name, direct in needs.items()}


def levels(needs):
    """How far above the crates without dependencies each crate stands."""
    level = {}

    def depth(name):
        if name not in level:
            level[name] = 1 + max((depth(it) for it in needs[name]), default=-1)
        return level[name]

    for name in sorted(needs):
        depth(name)
    return level


def grid(needs):
    """Rows of crates and of points that long arrows pass, and each arrow as the points that it passes."""
    level = levels(needs)
    rows = [[] for _ in range(1 + max(level.values()))]
    arrows = []
    for name in sorted(needs):
        rows[level[name]].append(name)
        for other in sorted(needs[name]):
            points = [(name, other, row) for row in range(level[name] - 1, level[other], -1)]
            for point in points:
                rows[point[2]].append(point)
            arrows.append([name, *points, other])
    return rows, arrows


def positions(row):
    """The middle of each crate or point of a row; the row is centred at 0."""
    widths = [BOX[0] + GAP if isinstance(it, str) else LANE for it in row]
    left, out = -sum(widths) / 2, {}
    for it, width in zip(row, widths):
        out[it] = left + width / 2
        left += width
    return out


def crossings(rows, arrows):
    order = {it: at for row in rows for at, it in enumerate(row)}
    level = {it: at for at, row in enumerate(rows) for it in row}
    pieces = {}
    for arrow in arrows:
        for a, b in zip(arrow, arrow[1:]):
            pieces.setdefault(level[a], []).append((order[a], order[b]))
    return sum((a < c) != (b < d) and a != c and b != d for all in pieces.values() for i, (a, b) in enumerate(all) for c, d in all[:i])


def sort_rows(rows, arrows):
    """Sorts each row by what its members are connected to, and keeps the order with the fewest crossings."""
    above, below = {}, {}
    for arrow in arrows:
        for a, b in zip(arrow, arrow[1:]):
            below.setdefault(a, []).append(b)
            above.setdefault(b, []).append(a)
    best = (crossings(rows, arrows), [list(row) for row in rows])
    for turn in range(40):
        around = (below, above)[turn % 2]
        place = {it: x for row in rows for it, x in positions(row).items()}
        for row in rows if turn % 2 == 0 else reversed(rows):
            mean = {it: sum(place[n] for n in around[it]) / len(around[it]) if it in around else place[it] for it in row}
            row.sort(key=lambda it: (mean[it], str(it)))
            place |= positions(row)
        best = min(best, (crossings(rows, arrows), [list(row) for row in rows]), key=lambda it: it[0])
    return best[1]


def draw(needs):
    rows, arrows = grid(reduced(needs))
    rows = sort_rows(rows, arrows)
    reach = max(abs(x) + (BOX[0] / 2 if isinstance(it, str) else 0) for row in rows for it, x in positions(row).items())
    width, height = 2 * (MARGIN + reach), 2 * MARGIN + (len(rows) - 1) * ROW + BOX[1]
    at = {
        it: (width / 2 + x, MARGIN + (len(rows) - 1 - level) * ROW)
        for level, row in enumerate(rows)
        for it, x in positions(row).items()
    }
    out = []
    for arrow in arrows:
        x, y = at[arrow[0]]
        y += BOX[1]
        path = f"M{x:g} {y:g}"
        for point in arrow[1:]:
            to, top = at[point]
            bend = (top - y) / 2
            path += f"C{x:g} {y + bend:g} {to:g} {top - bend:g} {to:g} {top:g}"
            x, y = to, top
            if not isinstance(point, str):
                y += BOX[1]
                path += f"V{y:g}"
        out.append(f'  <path class="a" d="{path}"/>')
    for name in sorted(it for it in at if isinstance(it, str)):
        x, y = at[name]
        out.append(f'  <rect x="{x - BOX[0] / 2:g}" y="{y:g}" width="{BOX[0]}" height="{BOX[1]}" rx="7"/><text x="{x:g}" y="{y + 17:g}">{name}</text>')
    label = "Each crate above the crates that it depends on"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" role="img" aria-label="{label}">'
    return "\n".join([head, f"  <style>{STYLE}</style>", *out, "</svg>"]) + "\n"


def main():
    picture = draw(manifests())
    if "--check" in sys.argv:
        if not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != picture:
            sys.exit("docs/pictures/crates.svg shows other dependencies than the manifests: ci/docs_parts/crates.py draws it again")
    else:
        PICTURE.write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
