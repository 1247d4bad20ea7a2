"""Dagster: assets and jobs on a page that asks GraphQL."""

import os

from app import App, Task

DEFS = """
import dagster as dg

def asset(name, group):
    @dg.asset(name=name, group_name=group, description=f"The {name.replace('_', ' ')} table")
    def made():
        return 1
    return made

GROUPS = %r
STEPS = %r
assets = [asset(f"{group}_{step}", group) for group in GROUPS for step in STEPS]
jobs = [dg.define_asset_job(f"{when}_{group}", selection=dg.AssetSelection.groups(group)) for when in ("dawn", "dusk") for group in GROUPS]
defs = dg.Definitions(assets=assets, jobs=jobs)
"""
GROUPS = ["cargo", "berths", "pilotage", "customs"]
STEPS = ["landing", "checked", "monthly", "board"]


class Dagster(App):
    name = "dagster"
    kind = "workflow scheduler"
    pins = ("dagster==1.13.27", "dagster-webserver==1.13.27")
    hosts = ("dagster.test",)
    port = 8626
    patience = 40
    ready = "/server_info"
    seconds = 150

    def fill(self):
        with open(os.path.join(self.place.data, "defs.py"), "w", encoding="utf-8") as file:
            file.write(DEFS % (GROUPS, STEPS))
        with open(os.path.join(self.place.data, "dagster.yaml"), "w", encoding="utf-8") as file:
            file.write("telemetry: { enabled: false }\n")

    def command(self, port):
        env = {"DAGSTER_HOME": self.place.data, "PATH": f"{self.place.venv}/bin:{os.environ['PATH']}"}
        return (
            [self.place.bin("dagster-webserver"), "-h", "127.0.0.1", "-p", port, "-f", os.path.join(self.place.data, "defs.py")],
            None,
            env,
        )

    def tasks(self):
        return [
            Task(
                "dagster-asset",
                "Show the asset {asset} with its group and description",
                "http://dagster.test/assets",
                [{"asset": it} for it in ("cargo_landing", "pilotage_monthly", "customs_board", "berths_checked")],
                [
                    {"navigate": "http://dagster.test/assets/{asset}"},
                    {"wait_for": {"text": "{asset}"}},
                    {"wait_for": {"text": "Description"}},
                ],
                lambda values: [
                    {
                        "name": values["asset"],
                        "group": values["asset"].split("_")[0],
                        "text": f"The {values['asset'].replace('_', ' ')} table",
                    }
                ],
                one=True,
                endpoint="graphql",
                ways=("steps", "har"),
            ),
            Task(
                "dagster-filter",
                "Filter the jobs by {query}",
                "http://dagster.test/jobs",
                [{"query": it} for it in ("dawn", "dusk", "cargo", "berths")],
                [
                    {"fill": {"role": "textbox", "name": "Search and filter jobs", "value": "{query}"}},
                    {"wait_for": {"text": "{query}"}},
                ],
                lambda values: [
                    {"name": f"{when}_{group}"}
                    for when in ("dawn", "dusk")
                    for group in GROUPS
                    if values["query"] in f"{when}_{group}"
                ],
                answerable=False,
                because="the page filters what it loaded whole",
            ),
        ]
