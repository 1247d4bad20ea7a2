"""kiwix-serve: a book for reading offline, with full-text search and suggestions."""

import base64
import os

import words
from app import App, Task

ICON = (
    "iVBORw0KGgoAAAANSUhEUgAAADAAAAAwCAIAAADYYG7QAAAAKUlEQVR42u3NMQEAAAgDoGn/zjOFPywBRdI7UkqlUqlUKpVKpVKp9J4F1pYAYcnE9LsAAAAASUVORK5CYII="
)
KINDS = "lighthouse,bridge,market hall,railway station,museum,library,opera house,university,castle,observatory,zoo,aquarium,theatre,canal".split(",")


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
                text = f"The {kind} of {city} was opened in {year}. It is known for its {front} front and has {rooms} rooms."
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
            file.write(base64.b64decode(ICON))
        about = ["--title=Harbour", "--description=Places", "--creator=harbour", "--publisher=harbour", "--name=harbour", "--language=eng"]
        self.run("zimwriterfs", "--welcome=index.html", "--illustration=icon.png", *about, folder, os.path.join(self.place.data, "harbour.zim"))

    def command(self, port):
        return ["kiwix-serve", "--address=127.0.0.1", f"--port={port}", os.path.join(self.place.data, "harbour.zim")], None, {}

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
                "Search the Harbour book for {query}",
                "http://kiwix.test/harbour",
                [{"query": it} for it in ("lighthouse", "opera", "zoo", "castle")],
                [
                    {"fill": {"role": "textbox", "name": "Search 'Harbour'", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "Results"}},
                ],
                found,
                endpoint="/search",
                ways=("steps", "har"),
            ),
            Task(
                "kiwix-suggest",
                "Suggest articles of the Harbour book that begin with {query}",
                "http://kiwix.test/harbour",
                [{"query": it} for it in ("Lighth", "Opera", "Castle", "Museum")],
                [{"fill": {"role": "textbox", "name": "Search 'Harbour'", "value": "{query}"}}, {"wait_for": {"text": "containing '{query}'"}}],
                suggested,
                endpoint="/suggest",
                ways=("steps", "har"),
            ),
            Task(
                "kiwix-article",
                "Show the article about the {kind} of Lisbon",
                "http://kiwix.test/harbour",
                [{"kind": it} for it in ("Lighthouse", "Zoo", "Museum", "Castle")],
                [{"click": {"role": "link", "name": "{kind} of Lisbon"}}, {"wait_for": {"text": "was opened in"}}],
                lambda values: [{"title": title, "text": text} for title, text in self.articles() if title == f"{values['kind']} of Lisbon"],
                one=True,
                ways=("steps", "har"),
            ),
        ]
