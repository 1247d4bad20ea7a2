"""MkDocs with the Material theme: a manual whose search runs in the browser."""

import os
import sys

import words
from app import App, Task

TOPICS = ["kneading", "proofing", "shaping", "baking", "cooling", "starter", "flour", "salt", "steam", "storage"]


class MkDocs(App):
    name = "mkdocs"
    kind = "manual"
    pins = ("mkdocs-material==9.8.1",)
    hosts = ("manual.test",)
    port = 8620

    def about(self, topic):
        by = words.seeded("mkdocs", topic)
        return f"What {topic} does to the {' '.join(by.choices('dough oven tray cloth bowl crust crumb'.split(), k=20))}."

    def fill(self):
        os.makedirs(os.path.join(self.place.data, "docs"))
        pages = {"index": "# Manual\n\nWelcome.\n"}
        for topic in TOPICS:
            pages[topic] = (
                f"# {topic.capitalize()}\n\n{self.about(topic)}\n\n## Notes on {topic}\n\nAll that is known of {topic}.\n"
            )
        for name, text in pages.items():
            with open(os.path.join(self.place.data, "docs", f"{name}.md"), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(self.place.data, "mkdocs.yml"), "w", encoding="utf-8") as file:
            file.write("site_name: Manual\ntheme: { name: material, font: false }\nplugins: [search]\n")
        self.run(self.place.bin("mkdocs"), "build", "-q", "-d", "site")

    def command(self, port):
        return [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", port], os.path.join(self.place.data, "site"), {}

    def tasks(self):
        topics = ("kneading", "cooling", "starter", "steam")
        return [
            Task(
                "mkdocs-search",
                "Search the manual for {query}",
                "http://manual.test/",
                [{"query": it} for it in topics],
                [
                    {"fill": {"role": "textbox", "name": "Search", "value": "{query}"}},
                    {"wait_for": {"selector": ".md-search-result__item"}},
                ],
                lambda values: [{"title": values["query"].capitalize()}],
                answerable=False,
                because="the search runs in the browser over an index that it loads whole",
                ways=("steps", "har"),
            ),
            Task(
                "mkdocs-page",
                "Show the chapter of the manual about {topic}",
                "http://manual.test/",
                [{"topic": it} for it in topics],
                [{"navigate": "http://manual.test/{topic}/"}, {"wait_for": {"text": "Notes on {topic}"}}],
                lambda values: [
                    {
                        "title": values["topic"].capitalize(),
                        "text": self.about(values["topic"]),
                        "more": f"All that is known of {values['topic']}.",
                    }
                ],
                one=True,
                endpoint="manual.test/",
            ),
        ]
