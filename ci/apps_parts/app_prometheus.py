"""Prometheus: its own metrics asked by expressions, its rules and targets."""

import os
import time

from app import App, Task

RULES = """groups:
  - name: harbour
    interval: 1s
    rules:
%s
"""
BERTHS = {"gdynia": [3, 5, 8], "malmo": [2, 4], "trieste": [1, 6, 7, 9], "bilbao": [11, 12]}


class Prometheus(App):
    name = "prometheus"
    kind = "monitoring"
    debian = ("prometheus",)
    hosts = ("metrics.test",)
    port = 8628
    ready = "/-/ready"

    def fill(self):
        rules = ""
        for port, berths in BERTHS.items():
            for berth in berths:
                rules += f"      - record: berth_{port}_depth\n        expr: vector({berth * 10 + 4})\n        labels: {{ berth: 'B{berth}' }}\n"
        with open(os.path.join(self.place.data, "rules.yml"), "w", encoding="utf-8") as file:
            file.write(RULES % rules)
        with open(os.path.join(self.place.data, "config.yml"), "w", encoding="utf-8") as file:
            file.write("global: { scrape_interval: 5s, evaluation_interval: 1s }\nrule_files: [rules.yml]\nscrape_configs: []\n")

    def command(self, port):
        store = os.path.join(self.place.data, "store")
        return (
            ["prometheus", "--config.file=config.yml", f"--storage.tsdb.path={store}", f"--web.listen-address=127.0.0.1:{port}"],
            None,
            {},
        )

    def settle(self):
        # The rules have to be evaluated first.
        time.sleep(4)

    def tasks(self):
        return [
            Task(
                "prometheus-query",
                "Show the depths of the berths of {port}",
                "http://metrics.test/",
                [{"port": it} for it in BERTHS],
                [{"navigate": "http://metrics.test/graph?g0.expr=berth_{port}_depth&g0.tab=1"}, {"wait_for": {"text": "{berth="}}],
                lambda values: [{"berth": f"B{it}", "depth": it * 10 + 4} for it in BERTHS[values["port"]]],
                endpoint="/api/v1/query",
                ways=("steps", "har"),
            ),
        ]
