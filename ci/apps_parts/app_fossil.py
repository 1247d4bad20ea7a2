"""Fossil: tickets, wiki and a history in one program."""

import os

import words
from app import App, Task

DEPTS = ["deck", "engine", "galley"]


class Fossil(App):
    name = "fossil"
    kind = "version control with tickets"
    debian = ("fossil",)
    hosts = ("fossil.test",)
    port = 8607

    @property
    def file(self):
        return os.path.join(self.place.data, "harbour.fossil")

    def fill(self):
        env = {"HOME": self.place.data, "USER": "crew", "FOSSIL_USER": "crew"}
        self.run("fossil", "init", "--date-override", "2024-01-01 00:00:00", "-A", "crew", self.file, env=env)
        by = words.seeded("fossil")
        for at in range(40):
            title = f"{by.choice(words.GEAR)} {by.choice(['drips', 'is jammed', 'rattles', 'lost its label'])} at berth {at + 1}"
            fields = [
                "title",
                title,
                "status",
                by.choice(["Open", "Closed", "Verified"]),
                "type",
                by.choice(["Code_Defect", "Incident"]),
            ]
            fields += ["severity", by.choice(["Critical", "Minor", "Severe"]), "priority", by.choice(["High", "Low"])]
            self.run("fossil", "ticket", "add", *fields, "-R", self.file, env=env)
        for one in words.GEAR:
            two = by.choice(words.PORTS)
            text = f"The {one} came from {two} in {by.randint(1900, 1999)}.\n"
            self.run("fossil", "wiki", "create", f"About the {one}", "-", "-R", self.file, "-M", "text/plain", env=env, stdin=text)
        self.run("fossil", "user", "capabilities", "nobody", "gjorz2", "-R", self.file, env=env)
        self.run("fossil", "user", "capabilities", "anonymous", "hz", "-R", self.file, env=env)
        self.run("fossil", "fts-config", "index", "on", "-R", self.file, env=env)
        self.run("fossil", "fts-config", "enable", "twec", "-R", self.file, env=env)

    def command(self, port):
        args = ["fossil", "server", "--localhost", "--port", port, "--nossl", "--baseurl", "http://fossil.test", self.file]
        return args, None, {"HOME": self.place.data, "USER": "crew"}

    def found(self, values):
        tickets = self.sql(self.file, "select title from ticket where title like ? order by title", f"%{values['query']}%")
        return [{"title": it["title"]} for it in tickets]

    def tasks(self):
        gear = [{"query": it} for it in ("capstan", "davit", "fender", "ladder")]
        return [
            Task(
                "fossil-search",
                "Search the project for {query}",
                "http://fossil.test/search",
                gear,
                [
                    {"fill": {"role": "textbox", "name": "", "value": "{query}"}},
                    {"click": {"role": "button", "name": "Search"}},
                    {"wait_for": {"text": "About the {query}"}},
                ],
                lambda values: [*self.found(values), {"title": f"About the {values['query']}"}],
                endpoint="/search",
                ways=("steps", "har"),
            ),
            Task(
                "fossil-tickets",
                "Search the tickets for {query}",
                "http://fossil.test/ticket",
                gear,
                [
                    {"fill": {"role": "textbox", "name": "", "value": "{query}"}},
                    {"click": {"role": "button", "name": "Search Tickets"}},
                    {"wait_for": {"text": "berth"}},
                ],
                self.found,
            ),
            Task(
                "fossil-wiki",
                "Show the wiki page about the {thing}",
                "http://fossil.test/wcontent",
                [{"thing": it} for it in ("capstan", "davit", "fender", "ladder")],
                [{"click": {"role": "link", "name": "About the {thing}"}}, {"wait_for": {"text": "came from"}}],
                self.wiki,
                one=True,
                endpoint="wiki",
                ways=("steps", "har"),
            ),
        ]

    def wiki(self, values):
        said = self.run(
            "fossil",
            "wiki",
            "export",
            f"About the {values['thing']}",
            "-",
            "-R",
            self.file,
            env={"HOME": self.place.data, "USER": "crew"},
        )
        return [{"title": f"About the {values['thing']}", "text": said.strip()}]
