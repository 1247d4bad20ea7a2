"""Roundup: its classic tracker, drawn by the server."""

import json
import os
import re

import words
from app import App, Task

FILL = """
import json, sys
from roundup import instance
tracker = instance.open(sys.argv[1])
db = tracker.open("admin")
db.setCurrentUser("admin")
words = {db.keyword.create(name=it): it for it in json.loads(sys.argv[2])}
names = {name: id for id, name in words.items()}
for it in json.load(sys.stdin):
    note = db.msg.create(content=it["text"], author="1", summary=it["text"], date=__import__("roundup.date").date.Date("2024-01-01"))
    db.issue.create(title=it["title"], priority=it["priority"], status=it["status"], keyword=[names[it["keyword"]]], messages=[note])
db.commit()
db.close()
"""


# Its own server does not run as root.
SERVE = """
import socketserver, sys
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer
from roundup.cgi.wsgi_handler import RequestDispatcher

class Threads(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = True

app = RequestDispatcher(sys.argv[2])

def under(environ, start):
    path = environ["PATH_INFO"]
    if path.startswith("/harbour"):
        environ["SCRIPT_NAME"], environ["PATH_INFO"] = "/harbour", path[8:] or "/"
    return app(environ, start)

server = Threads(("127.0.0.1", int(sys.argv[1])), WSGIRequestHandler)
server.set_app(under)
server.serve_forever()
"""


class Roundup(App):
    name = "roundup"
    kind = "issue tracker"
    pins = ("roundup==2.6.0",)
    hosts = ("roundup.test",)
    port = 8612
    ready = "/harbour/"

    @property
    def site(self):
        return os.path.join(self.place.data, "site")

    def issues(self):
        by = words.seeded("roundup")
        for at in range(1, 101):
            yield {
                "title": f"{by.choice(words.GEAR)} {by.choice(['drips', 'is jammed', 'rattles', 'lost its label'])} on boat {at}",
                "text": f"Told on pier {by.randint(1, 30)}.",
                "priority": by.choice(["critical", "urgent", "bug", "feature", "wish"]),
                "status": by.choice(["unread", "chatting", "in-progress", "resolved"]),
                "keyword": by.choice(words.PORTS),
            }

    def fill(self):
        admin = self.place.bin("roundup-admin")
        self.run(admin, "-i", self.site, "install", "classic", "anydbm")
        path = os.path.join(self.site, "config.ini")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        text = re.sub(r"^#?web = NO DEFAULT", "web = http://roundup.test/harbour/", text, flags=re.MULTILINE)
        text = re.sub(r"^#?(\w+) = NO DEFAULT", r"\1 = roundup.test", text, flags=re.MULTILINE)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        self.run(admin, "-i", self.site, "initialise", "Correct-Horse-9", stdin="Correct-Horse-9\n")
        self.fill_issues()

    def fill_issues(self):
        self.run(self.place.bin("python"), "-c", FILL, self.site, json.dumps(words.PORTS), stdin=json.dumps(list(self.issues())))

    def command(self, port):
        return [self.place.bin("python"), "-c", SERVE, port, self.site], None, {}

    def tasks(self):
        def found(values):
            return [
                {"id": at, "title": it["title"], "status": it["status"], "creator": "admin"}
                for at, it in enumerate(self.issues(), 1)
                if values["query"] in it["title"]
            ]

        return [
            Task(
                "roundup-search",
                "Search the issues for {query}",
                "http://roundup.test/harbour/",
                [{"query": it} for it in ("capstan", "davit", "fender", "ladder")],
                [
                    {"fill": {"css": "#search-text", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"request": "search_text={query}"}},
                    {"wait_for": {"text": "List of issues"}},
                ],
                found,
                page=50,
                endpoint="/harbour/issue",
                ways=("steps", "har"),
            ),
            Task(
                "roundup-issue",
                "Show the issue number {id}",
                "http://roundup.test/harbour/",
                [{"id": it} for it in ("12", "77", "31", "98")],
                [{"navigate": "http://roundup.test/harbour/issue{id}"}, {"wait_for": {"text": "Created on"}}],
                lambda values: [
                    {name: it[name] for name in ("title", "text", "priority", "status", "keyword")}
                    for at, it in enumerate(self.issues(), 1)
                    if str(at) == values["id"]
                ],
                one=True,
                endpoint="/harbour/issue",
                ways=("steps", "har"),
            ),
        ]
