"""Luigi: the scheduler's page, which draws JSON."""

import json
import os
import urllib.parse

import words
from app import App, Task


class Luigi(App):
    name = "luigi"
    kind = "workflow scheduler"
    pins = ("luigi==3.8.1", "setuptools==80.9.0")
    hosts = ("luigi.test",)
    port = 8615
    ready = "/static/visualiser/index.html"

    def command(self, port):
        state = os.path.join(self.place.data, "state.pickle")
        return [self.place.bin("luigid"), "--address", "127.0.0.1", "--port", port, "--state-path", state], None, {}

    def jobs(self):
        by = words.seeded("luigi")
        for family in ("LoadOrders", "CleanOrders", "LoadTides", "CleanTides", "ReportTides"):
            for at in range(by.randint(3, 9)):
                yield (
                    family,
                    {"port": by.choice(words.PORTS), "day": f"2024-05-{at + 1:02}"},
                    by.choice(["PENDING", "DONE", "FAILED"]),
                )

    def settle(self):
        for family, params, status in self.jobs():
            name = f"{family}_{params['port']}_{params['day']}"
            data = {
                "task_id": name,
                "worker": "worker-1",
                "status": status,
                "family": family,
                "params": params,
                "runnable": False,
                "deps": [],
            }
            self.get("/api/add_task?data=" + urllib.parse.quote(json.dumps(data)))

    def tasks(self):
        families = [{"family": it} for it in ("LoadOrders", "CleanOrders", "LoadTides", "CleanTides")]

        def found(values):
            return [
                {"name": family, **params, "status": status} for family, params, status in self.jobs() if family == values["family"]
            ]

        field = {"fill": {"role": "searchbox", "name": "Filter table:", "value": "{family}"}}
        return [
            Task(
                "luigi-filter",
                "List the jobs of the family {family}",
                "http://luigi.test/static/visualiser/index.html",
                families,
                [field, {"wait_for": {"text": 'filtered by "{family}"'}}],
                found,
                answerable=False,
                because="the page searches what it loaded whole",
            ),
            Task(
                "luigi-graph",
                "Show the dependencies of the job {job}",
                "http://luigi.test/static/visualiser/index.html",
                [{"job": f"{family}_{params['port']}_{params['day']}"} for family, params, _ in list(self.jobs())[::6][:4]],
                [
                    {"click": {"role": "link", "name": "Dependency Graph"}},
                    {"fill": {"role": "textbox", "name": "TaskId", "value": "{job}"}},
                    {"click": {"role": "button", "name": "Show task details"}},
                    {"wait_for": {"request": "dep_graph"}},
                ],
                lambda values: [
                    {"family": family, **params, "status": status}
                    for family, params, status in self.jobs()
                    if f"{family}_{params['port']}_{params['day']}" == values["job"]
                ],
                one=True,
                endpoint="dep_graph",
            ),
        ]
