"""Whether the built site loads anything from elsewhere: scripts, styles, pictures, fonts, frames. Links that a person follows may lead out."""

import html.parser
import pathlib
import re
import sys

LOADS = {
    "script": ["src"], "img": ["src", "srcset"], "iframe": ["src"], "source": ["src", "srcset"], "video": ["src", "poster"], "audio": ["src"],
    "embed": ["src"], "object": ["data"], "image": ["href", "xlink:href"], "use": ["href", "xlink:href"], "form": ["action"],
}
ELSEWHERE = re.compile(r"^\s*(?:https?:)?//", re.I)
IN_STYLE = re.compile(r"""(?:url\(\s*["']?|@import\s+["'])\s*((?:https?:)?//[^"')\s]+)""", re.I)


class Reader(html.parser.HTMLParser):
    def __init__(self, file):
        super().__init__()
        self.file, self.found = file, []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        names = LOADS.get(tag, [])
        # A link loads what its relation says; where the page itself is, is none of that.
        if tag == "link" and not set((attrs.get("rel") or "").split()) & {"canonical", "prev", "next", "alternate"}:
            names = ["href"]
        for name in names:
            if ELSEWHERE.match(attrs.get(name) or ""):
                self.found.append((self.file, tag, attrs[name]))
        for name in ("style",):
            self.found += [(self.file, name, it) for it in IN_STYLE.findall(attrs.get(name) or "")]


def main(folder):
    root, found, read = pathlib.Path(folder), [], 0
    for file in sorted(root.rglob("*")):
        if file.suffix in (".html", ".svg"):
            text = file.read_text(encoding="utf-8")
            reader = Reader(file.relative_to(root))
            reader.feed(text)
            found += reader.found
            found += [(reader.file, "style", it) for it in IN_STYLE.findall(text)]
            read += 1
        elif file.suffix == ".css":
            found += [(file.relative_to(root), "style", it) for it in IN_STYLE.findall(file.read_text(encoding="utf-8"))]
            read += 1
    for file, what, address in found:
        print(f"{file}: {what} is loaded from {address}", file=sys.stderr)
    if not read:
        sys.exit(f"{folder}: nothing was built")
    sys.exit(1 if found else 0)


main(sys.argv[1])
