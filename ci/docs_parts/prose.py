"""Counts words per sentence in the documents. A report for writers, not a gate.

    ci/docs --prose                  a line for each page, and the total
    ci/docs --prose --long [PAGE …]  prints the sentences over 30 words as well

Code blocks, headings and comments are left out. Inline code is one word. A paragraph and a list item end a sentence. A table cell
counts from eight words on, since a shorter one is seldom a sentence. Pages that are made of the program count like the others; they
are marked with `*`.
"""

import argparse
import pathlib
import re
import statistics

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMIT = 30
SHORTEST_CELL = 8
# Another sentence begins after these marks; abbreviations keep theirs.
END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)(?<!vs)[.!?][)\"*_]*\s+(?=[A-Z`*\[\"(0-9]|commis )")


def blocks(text):
    """Paragraphs, list items and long table cells of a page, as plain text."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"^( *)(```|~~~).*?^\1\2", "", text, flags=re.M | re.S)
    block = []
    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        if bare.startswith("|"):
            cells = [it.strip() for it in re.split(r"(?<!\\)\|", bare.strip("|"))]
            yield from (it for it in cells if len(words(plain(it))) >= SHORTEST_CELL)
            bare = ""
        item = re.match(r"(?:[-*+]|\d+\.) +(.*)", bare)
        if item or not bare or bare.startswith("#") or (line.startswith("    ") and not block):
            if block:
                yield " ".join(block)
            block = [item[1]] if item else []
        else:
            block.append(bare)


def plain(text):
    """Without markup: a code span is one word, a link is its text."""
    text = re.sub(r"(`+).+?\1", "`code`", text)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>]+>|\{:?[ .#][^}]*\}", " ", text)
    return text


def words(text):
    return [it for it in text.split() if re.search(r"\w", it)]


def sentences(text):
    out = []
    for block in blocks(text):
        out += [it for it in END.split(plain(block)) if words(it)]
    return out


def pages():
    found = [ROOT / it for it in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md")]
    return found + sorted((ROOT / "docs").rglob("*.md"))


def row(name, lengths):
    mean, median = statistics.mean(lengths), statistics.median(lengths)
    long = sum(it > LIMIT for it in lengths)
    return f"{name:44} {sum(lengths):6} {len(lengths):6} {mean:6.1f} {median:6.1f} {long:6}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    args = parser.parse_args()
    print(f"{'page':44} {'words':>6} {'sent.':>6} {'mean':>6} {'median':>6} {'>' + str(LIMIT):>6}")
    written, every = [], []
    for path in args.pages or pages():
        text = path.read_text(encoding="utf-8")
        made = bool(re.search(r"do not edit|writes? this page|makes this page", text, re.I))
        found = sentences(text)
        lengths = [len(words(it)) for it in found]
        if not lengths:
            continue
        every += lengths
        if not made:
            written += lengths
        name = str(path.resolve().relative_to(ROOT)) + (" *" if made else "")
        print(row(name, lengths))
        if args.long:
            for it in found:
                if len(words(it)) > LIMIT:
                    print(f"    {len(words(it))}: {it}")
    if written:
        print(row("written by hand", written))
    if every:
        print(row("all", every))


if __name__ == "__main__":
    main()
