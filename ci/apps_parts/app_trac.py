"""Trac: tickets and a wiki, drawn by the server."""

import json
import os

import words
from app import App, Task

FILL = """
import json, sys
from datetime import datetime, timedelta, timezone
from trac.env import Environment
from trac.ticket.model import Ticket
env = Environment(sys.argv[1])
for at, it in enumerate(json.load(sys.stdin)):
    ticket = Ticket(env)
    for name, value in it.items():
        ticket[name] = value
    ticket.insert(when=datetime(2024, 1, 1, tzinfo=timezone.utc) + timedelta(hours=at))
"""


class Trac(App):
    name = "trac"
    kind = "issue tracker"
    pins = ("trac==1.6", "jinja2==3.1.6", "setuptools==80.9.0")
    hosts = ("trac.test",)
    port = 8611

    @property
    def site(self):
        return os.path.join(self.place.data, "site")

    def tickets(self):
        by = words.seeded("trac")
        for at in range(1, 121):
            yield {
                "summary": f"{by.choice(words.GEAR)} {by.choice(['drips', 'is jammed', 'rattles', 'lost its label'])} on boat {at}",
                "description": f"Told on pier {by.randint(1, 30)} after the {by.choice(['early', 'late'])} shift.",
                "reporter": by.choice(["deck", "engine", "galley"]),
                "status": by.choice(["new", "closed", "assigned"]),
                "priority": by.choice(["major", "minor", "critical", "trivial"]),
                "component": by.choice(["component1", "component2"]),
                "milestone": "",
                "type": by.choice(["defect", "task"]),
            }

    def fill(self):
        self.run(self.place.bin("trac-admin"), self.site, "initenv", "Shipyard", "sqlite:db/trac.db")
        self.run(self.place.bin("python"), "-c", FILL, self.site, stdin=json.dumps(list(self.tickets())))

    def command(self, port):
        return [self.place.bin("tracd"), "--hostname", "127.0.0.1", "--port", port, "-s", self.site], None, {}

    def found(self, fits, *names):
        return [{"id": at, **{name: it[name] for name in names}} for at, it in enumerate(self.tickets(), 1) if fits(it)]

    def tasks(self):
        search = [
            {"fill": {"role": "textbox", "name": "Search", "value": "{query}"}},
            {"press": "Enter"},
            {"wait_for": {"text": "Results ("}},
        ]
        return [
            Task(
                "trac-search",
                "Search the tickets for {query}",
                "http://trac.test/search",
                [{"query": it} for it in ("sextant", "lost its label", "windlass", "rattles")],
                search,
                lambda values: [
                    {"id": f"#{it['id']}", "summary": it["summary"], "text": it["description"], "by": it["reporter"]}
                    for it in self.found(lambda it: values["query"] in it["summary"], "summary", "description", "reporter")
                ],
                page=10,
                endpoint="/search",
                ways=("steps", "har"),
            ),
            Task(
                "trac-priority",
                "List the open tickets of priority {priority}",
                "http://trac.test/query",
                [{"priority": it} for it in ("minor", "critical", "major", "trivial")],
                [
                    {
                        "navigate": "http://trac.test/query?status=!closed&priority={priority}&order=id&max=50&col=id&col=summary&col=status&col=type"
                    },
                    {"wait_for": {"text": "matches"}},
                ],
                lambda values: self.found(
                    lambda it: it["priority"] == values["priority"] and it["status"] != "closed", "summary", "status", "type"
                ),
                endpoint="/query",
                ways=("steps", "har"),
            ),
            Task(
                "trac-ticket",
                "Show the ticket {id} with its description",
                "http://trac.test/",
                [{"id": it} for it in ("12", "77", "101", "33")],
                [{"navigate": "http://trac.test/ticket/{id}"}, {"wait_for": {"text": "Reported by"}}],
                lambda values: [
                    {name: it[name] for name in ("summary", "description", "reporter", "priority", "component", "type", "status")}
                    for at, it in enumerate(self.tickets(), 1)
                    if str(at) == values["id"]
                ],
                one=True,
                endpoint="/ticket/",
                ways=("steps", "har"),
            ),
            Task(
                "trac-report",
                "Show the report number {report} of the tickets",
                "http://trac.test/report",
                [{"report": it} for it in ("1", "3", "2", "8")],
                [{"navigate": "http://trac.test/report/{report}"}, {"wait_for": {"selector": "table.listing"}}],
                self.report,
                page=100,
                endpoint="/report/",
            ),
        ]

    def report(self, values):
        return self.found(lambda it: it["status"] != "closed", "summary", "component", "type")
