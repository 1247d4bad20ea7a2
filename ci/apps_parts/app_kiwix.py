"""kiwix-serve: a book for reading offline, with full-text search and suggestions."""

import os
import struct
import zlib

import words
from app import App, Task

KINDS = "water tower,post office,swimming hall,planetarium,archive,courthouse,brewery,greenhouse,power station,chapel,arsenal,mint".split(
    ","
)


def icon(side=48):
    """A picture of one colour, which a book must have."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\x30\x60\x90" * side) * side
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class Kiwix(App):
    name = "kiwix"
    kind = "offline reader"
    debian = ("kiwix-tools", "zim-tools")
    hosts = ("kiwix.test",)
    port = 8616

    def articles(self):
        by = words.seeded("kiwix")
        for city in words.CITIES:
            for kind in KINDS:
                year, front, rooms = by.randint(1700, 1990), by.choice(["brick", "granite", "iron", "glass"]), by.randint(2, 90)
                text = f"Finished in {year}, the {kind} of {city} has walls of {front} and {rooms} windows."
                yield f"{kind.capitalize()} of {city}", text

    def fill(self):
        folder = os.path.join(self.place.data, "source")
        os.makedirs(folder)
        links = ""
        for title, text in self.articles():
            name = title.replace(" ", "_") + ".html"
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(f"<html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>")
            links += f"<li><a href='{name}'>{title}</a></li>"
        with open(os.path.join(folder, "index.html"), "w", encoding="utf-8") as file:
            file.write(f"<html><head><title>Places</title></head><body><h1>Places</h1><ul>{links}</ul></body></html>")
        with open(os.path.join(folder, "icon.png"), "wb") as file:
            file.write(icon())
        about = [
            "--title=Buildings",
            "--description=Buildings",
            "--creator=harbour",
            "--publisher=harbour",
            "--name=buildings",
            "--language=eng",
        ]
        self.run(
            "zimwriterfs",
            "--welcome=index.html",
            "--illustration=icon.png",
            *about,
            folder,
            os.path.join(self.place.data, "buildings.zim"),
        )

    def command(self, port):
        return ["kiwix-serve", "--address=127.0.0.1", f"--port={port}", os.path.join(self.place.data, "buildings.zim")], None, {}

    def tasks(self):
        def found(values):
            rows = [{"title": title, "text": text} for title, text in self.articles() if values["query"].lower() in title.lower()]
            # The list of all places matches, too.
            return [*rows, {"title": "Places"}]

        def suggested(values):
            rows = [{"title": title} for title, _ in self.articles() if title.startswith(values["query"])]
            # The last line offers the full-text search.
            return rows, [*rows, {"title": f"containing '{values['query']}'"}]

        return [
            Task(
                "kiwix-search",
                "Search the book of buildings for {query}",
                "http://kiwix.test/buildings",
                [{"query": it} for it in ("brewery", "planetarium", "archive", "chapel")],
                [
                    {"fill": {"role": "textbox", "name": "Search 'Buildings'", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "Results"}},
                ],
                found,
                endpoint="/search",
                ways=("steps", "har"),
            ),
            Task(
                "kiwix-suggest",
                "Suggest articles of the book of buildings that begin with {query}",
                "http://kiwix.test/buildings",
                [{"query": it} for it in ("Brew", "Planet", "Chapel", "Arsenal")],
                [
                    {"fill": {"role": "textbox", "name": "Search 'Buildings'", "value": "{query}"}},
                    {"wait_for": {"text": "containing '{query}'"}},
                ],
                suggested,
                endpoint="/suggest",
                ways=("steps", "har"),
            ),
            Task(
                "kiwix-article",
                "Show the article about the {kind} of Lyon",
                "http://kiwix.test/buildings",
                [{"kind": it} for it in ("Brewery", "Planetarium", "Chapel", "Arsenal")],
                [{"click": {"role": "link", "name": "{kind} of Lyon"}}, {"wait_for": {"text": "has walls of"}}],
                lambda values: [
                    {"title": title, "text": text} for title, text in self.articles() if title == f"{values['kind']} of Lyon"
                ],
                one=True,
                ways=("steps", "har"),
            ),
        ]
