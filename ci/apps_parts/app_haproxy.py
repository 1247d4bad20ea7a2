"""HAProxy's page of statistics: a table of counters for each proxy, under heads of two rows, with a filter by name."""

import csv
import io
import os
import urllib.request

import words
from app import App, Task

BACKENDS = ("web", "web-intern", "bilder", "api-alt", "api-neu", "suche", "archiv", "mail")
# Whose page it is.
OWN = "uebersicht"
CONFIG = """global
    stats socket {data}/admin.sock mode 600 level admin
    maxconn 400
defaults
    mode http
    timeout connect 3s
    timeout client 20s
    timeout server 20s
frontend eingang
    bind 127.0.0.1:{port}
    acl told path_beg /stats
    use_backend %[path,field(2,/)] if !told !{{ path / }}
    default_backend uebersicht
backend uebersicht
    stats enable
    stats uri /stats
    stats show-legends
    stats show-desc Lastverteiler am Kai
frontend antwort
    bind unix@{data}/answer.sock
    http-request return status 200 content-type text/plain string "so weit gut"
"""


class HAProxy(App):
    name = "haproxy"
    kind = "statistics page"
    debian = ("haproxy",)
    hosts = ("haproxy.test",)
    port = 8666
    ready = "/stats"

    def servers(self, backend):
        by = words.seeded("haproxy", backend)
        for at, name in enumerate(sorted(by.sample(words.SHIPS, by.randint(3, 7)))):
            yield {
                "name": f"{name}{by.choice((1, 2, 10))}",
                "weight": by.choice((1, 5, 10, 50, 100)),
                "how": "disabled" if at and by.random() < 0.25 else "backup" if at > 1 and by.random() < 0.3 else "",
            }

    def config(self, port):
        text = CONFIG.format(data=self.place.data, port=port)
        for backend in BACKENDS:
            text += f"backend {backend}\n    balance roundrobin\n"
            for it in self.servers(backend):
                text += f"    server {it['name']} unix@{self.place.data}/answer.sock weight {it['weight']} {it['how']}\n"
        return text

    def command(self, port):
        path = os.path.join(self.place.data, "haproxy.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.config(port))
        return ["haproxy", "-db", "-f", path], None, {}

    def settle(self):
        """Something to count."""
        by = words.seeded("haproxy-traffic")
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Quiet)
        for backend in BACKENDS:
            for at in range(by.randint(10, 90)):
                opener.open(f"{self.url}/{backend}/{at}", timeout=20).close()

    def found(self, part):
        """Servers of the proxies whose name has a part; the sum of each proxy may be given or not."""
        rows = list(csv.DictReader(io.StringIO(self.get("/stats;csv").removeprefix("# "))))
        rows = [it for it in rows if part in it["pxname"] and it["svname"] != "FRONTEND"]
        servers = [self.row(it) for it in rows if it["svname"] != "BACKEND"]
        return servers, [self.row(it) for it in rows]

    def row(self, it):
        row = {
            "name": "Backend" if it["svname"] == "BACKEND" else it["svname"],
            "proxy": it["pxname"],
            "sessions": int(it["stot"]),
            "in": int(it["bin"]),
            "out": int(it["bout"]),
            "status": it["status"],
            "weight": it["weight"],
        }
        # The proxy of the page itself counts each look at it.
        return {name: fact for name, fact in row.items() if it["pxname"] != OWN or name not in ("sessions", "in", "out")}

    def one(self, values):
        """The proxy is what was asked for; no row need say it again."""
        return tuple(
            [{name: fact for name, fact in it.items() if name != "proxy"} for it in rows] for rows in self.found(values["backend"])
        )

    def tasks(self):
        scope = {"css": "input[name=scope]"}
        return [
            Task(
                "haproxy-backend",
                "Show the counters of the servers of the proxy {backend}",
                "http://haproxy.test/stats",
                [{"backend": it} for it in ("bilder", "suche", "archiv", "mail")],
                [
                    {"fill": {**scope, "value": "{backend}"}},
                    {"press": "Enter"},
                    {"wait_for": {"request": "scope={backend}"}},
                    {"wait_for": {"text": "Statistics Report"}},
                ],
                self.one,
                endpoint="/stats",
                ways=("steps", "har"),
            ),
            Task(
                "haproxy-scope",
                "List the servers of all proxies whose name contains {part}",
                "http://haproxy.test/stats",
                [{"part": it} for it in ("web", "api", "ch", "il")],
                [
                    {"fill": {**scope, "value": "{part}"}},
                    {"press": "Enter"},
                    {"wait_for": {"request": "scope={part}"}},
                    {"wait_for": {"text": "Statistics Report"}},
                ],
                lambda values: self.found(values["part"]),
                endpoint="/stats",
                ways=("steps", "har"),
            ),
        ]


class Quiet(urllib.request.HTTPDefaultErrorHandler):
    """An error is an answer, too."""

    def http_error_default(self, request, answer, *_):
        return answer
