"""Trac whose server asks for name and password (HTTP Basic), with tickets of its users."""

import app_trac as plain
import words
from members import FIRST, SECOND, Behind, Members


class Yard(Members, plain.Trac):
    name = "yard-accounts"
    kind = "issue tracker"
    packages_of = plain.Trac
    port = 8711
    ready = "/about"
    login = "/login"
    basic = True

    def fill(self):
        super().fill()
        admin = self.place.bin("trac-admin")
        for it in ("TICKET_VIEW", "REPORT_VIEW", "SEARCH_VIEW", "WIKI_VIEW", "TIMELINE_VIEW", "MILESTONE_VIEW", "ROADMAP_VIEW"):
            self.run(admin, self.site, "permission", "remove", "anonymous", it)
            self.run(admin, self.site, "permission", "add", "authenticated", it)
        lines = []
        for account in (FIRST, SECOND):
            made = self.run("openssl", "passwd", "-apr1", self.words[account]).strip()
            lines.append(f"{account}:{made}\n")
        self.write_files({"htpasswd": "".join(lines)})

    def tickets(self):
        by = words.seeded("yard-accounts")
        for it in super().tickets():
            yield {**it, "owner": by.choice([FIRST, SECOND])}

    def command(self, port):
        args, folder, env = super().command(port)
        site = args.pop()
        return [*args, "--basic-auth", f"*,{self.place.data}/htpasswd,Shipyard", site], folder, env

    def tasks(self):
        def found(values, account):
            rows = self.found(lambda it: values["query"] in it["summary"], "summary", "description")
            return [{"id": f"#{it['id']}", "summary": it["summary"], "text": it["description"]} for it in rows]

        def mine(values, account):
            rows = self.found(lambda it: it["owner"] == account and it["status"] != "closed", "summary", "type")
            return [{"id": f"#{it['id']}", "summary": it["summary"], "type": it["type"]} for it in rows]

        return [
            Behind(
                "yard-search",
                "Search the tickets for {query}",
                "http://trac.test/search",
                [{"query": it} for it in ("sextant", "lost its label", "windlass", "rattles")],
                [
                    {"fill": {"role": "textbox", "name": "Search", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "Results ("}},
                ],
                found,
                page=10,
                endpoint="/search",
                ways=("steps",),
            ),
            Behind(
                "yard-mine",
                "List my tickets",
                "http://trac.test/report",
                [{}, {}],
                [{"navigate": "http://trac.test/report/7"}, {"wait_for": {"selector": "table.listing"}}],
                mine,
                page=100,
                endpoint="/report/",
                ways=("steps",),
            ),
        ]
