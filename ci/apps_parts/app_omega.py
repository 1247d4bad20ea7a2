"""Omega: full-text search by Xapian over a folder of documents, a CGI program in C++ with the templates that come with it."""

import datetime
import os
import sys

import words
from app import App, Task
from place import Missing

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = "/usr/lib/cgi-bin/omega/omega"
TEMPLATES = "/usr/share/xapian-omega/templates"
PAGE = """<html><head><meta charset="utf-8"><title>{title}</title></head><body><p>{text}</p></body></html>
"""


class Omega(App):
    name = "omega"
    kind = "full-text search"
    debian = ("xapian-omega",)
    hosts = ("omega.test",)
    port = 8667
    ready = "/cgi-bin/omega"

    def documents(self):
        by = words.seeded("omega")
        for at in range(1, 181):
            gear, other = by.sample(words.GEAR, 2)
            city = by.choice(words.CITIES)
            text = f"Delivered to {city} for {by.randint(100, 99999) / 100:.2f} €, lot {by.randint(1, 400)}."
            if by.random() < 0.3:
                text += f" Goes with the {other} on the quay at {by.choice(words.PORTS)}."
            if by.random() < 0.2:
                text += " Größe nach Maß."
            yield {
                "title": f"{gear.capitalize()} of the {by.choice(words.SHIPS)} no. {at}",
                "text": text,
                "url": f"/docs/{gear}-{at}.html",
                "when": datetime.datetime(2022, 5, 1, 12, tzinfo=datetime.timezone.utc) + datetime.timedelta(days=by.randint(0, 1200)),
            }

    def fill(self):
        if not os.path.isfile(PROGRAM):
            raise Missing(f"there is no {PROGRAM}")
        data = self.place.data
        docs = os.path.join(data, "www", "docs")
        for it in (docs, os.path.join(data, "bases"), os.path.join(data, "log")):
            os.makedirs(it)
        for it in self.documents():
            path = os.path.join(data, "www", it["url"].lstrip("/"))
            with open(path, "w", encoding="utf-8") as file:
                file.write(PAGE.format(**it))
            os.utime(path, (it["when"].timestamp(), it["when"].timestamp()))
        self.run("omindex", f"--db={data}/bases/default", "--url=/docs/", docs)
        with open(os.path.join(data, "omega.conf"), "w", encoding="utf-8") as file:
            file.write(f"database_dir {data}/bases\ntemplate_dir {TEMPLATES}\nlog_dir {data}/log\ncdb_dir {data}\n")

    def command(self, port):
        args = [sys.executable, "-B", os.path.join(HERE, "cgi_server.py"), port, PROGRAM, "/cgi-bin/omega"]
        return [*args, os.path.join(self.place.data, "www")], None, {"OMEGA_CONFIG_FILE": os.path.join(self.place.data, "omega.conf")}

    def found(self, *parts, where=("title", "text")):
        """Documents that hold one of the words."""

        def holds(it, names):
            return any(part.lower() in words_of(" ".join(it[name] for name in names)) for part in parts)

        return [
            {
                "title": it["title"],
                # What is found in the title alone is shown without text.
                **({"text": it["text"]} if holds(it, ("text",)) else {}),
                "modified": f"{it['when']:%Y-%m-%d}",
                "size": f"{len(PAGE.format(**it).encode())} bytes",
                "url": it["url"],
            }
            for it in self.documents()
            if holds(it, where)
        ]

    def tasks(self):
        search = {"css": "#omega-autofocus"}
        shown = {"wait_for": {"text": "Search took"}}
        return [
            Task(
                "omega-search",
                "Search the documents for {query}",
                "http://omega.test/cgi-bin/omega",
                [{"query": it} for it in ("capstan", "Bologna", "sextant", "Größe")],
                [{"fill": {**search, "value": "{query}"}}, {"press": "Enter"}, shown],
                lambda values: self.found(values["query"]),
                page=10,
                endpoint="/omega",
                ways=("steps", "har"),
            ),
            Task(
                "omega-any",
                "Find the documents that have any of the words {gear} and {city}",
                "http://omega.test/cgi-bin/omega",
                [
                    {"gear": "davit", "city": "Malmo"},
                    {"gear": "fender", "city": "Nantes"},
                    {"gear": "lantern", "city": "Seville"},
                    {"gear": "ladder", "city": "Utrecht"},
                ],
                [
                    {"fill": {**search, "value": "{gear} {city}"}},
                    {"click": {"css": "input[name=DEFAULTOP][value=or]"}},
                    {"click": {"css": "input[type=submit][value=Search]"}},
                    shown,
                ],
                lambda values: self.found(values["gear"], values["city"]),
                page=10,
                endpoint="/omega",
                ways=("steps", "har"),
            ),
            Task(
                "omega-title",
                "Find the documents whose title has {word}",
                "http://omega.test/cgi-bin/omega",
                [{"word": it} for it in ("tender", "frigate", "skiff", "bollard")],
                [{"fill": {**search, "value": "title:{word}"}}, {"press": "Enter"}, shown],
                lambda values: self.found(values["word"], where=("title",)),
                page=10,
                endpoint="/omega",
                ways=("steps", "har"),
            ),
        ]


def words_of(text):
    return "".join(it if it.isalnum() else " " for it in text.lower()).split()
