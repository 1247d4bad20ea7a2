"""MLflow: experiments and runs on a page that asks JSON; the hash of the address is no request."""

import json
import os

import words
from app import App, Task

FILL = """
import json, sys
from mlflow.tracking import MlflowClient
from mlflow.entities import Metric, Param
client = MlflowClient(sys.argv[1])
for name, runs in json.load(sys.stdin):
    experiment = client.create_experiment(name)
    for run in runs:
        made = client.create_run(experiment, start_time=run["start"], run_name=run["name"])
        client.log_batch(made.info.run_id, [Metric("auc", run["auc"], run["start"], 0)], [Param("lr", run["lr"])], [])
        client.set_terminated(made.info.run_id, end_time=run["start"] + 60000)
"""
AIMS = ["tide level", "wind speed", "fog risk", "ice cover", "wave height", "swell period"]
WAYS = ["first try", "deeper", "wider", "no rain", "winter only", "two layers", "smoothed", "half data"]


class MLflow(App):
    name = "mlflow"
    kind = "experiment tracking"
    pins = ("mlflow==3.17.2",)
    hosts = ("mlflow.test",)
    port = 8624
    patience = 40
    ready = "/health"
    seconds = 180

    @property
    def store(self):
        return f"sqlite:///{self.place.data}/mlflow.db"

    def experiments(self):
        by = words.seeded("mlflow")
        for aim in AIMS:
            for way in by.sample(WAYS, 6):
                runs = [
                    {
                        "name": f"{aim.split()[0]}-{way.split()[0]}-{at}",
                        "start": 1_700_000_000_000 + at * 1000,
                        "auc": round(by.random(), 3),
                        "lr": by.choice(["0.1", "0.01"]),
                    }
                    for at in range(2)
                ]
                yield f"{aim} {way}", runs

    def fill(self):
        self.run(self.place.bin("python"), "-c", FILL, self.store, stdin=json.dumps(list(self.experiments())), seconds=400)

    def command(self, port):
        args = [self.place.bin("mlflow"), "server", "--host", "127.0.0.1", "--port", port, "--backend-store-uri", self.store]
        # By its name, so that the programs of its environment are found.
        env = {"PATH": f"{os.path.join(self.place.venv, 'bin')}:{os.environ['PATH']}"}
        return [*args, "--workers", "1", "--allowed-hosts", "*"], None, env

    def tasks(self):
        def found(values):
            return [{"name": name} for name, _ in self.experiments() if values["query"] in name]

        return [
            Task(
                "mlflow-experiments",
                "Search the experiments for {query}",
                "http://mlflow.test/#/experiments",
                [{"query": it} for it in ("tide", "wind", "fog", "wave")],
                [
                    {"fill": {"role": "textbox", "name": "Search experiments", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"selector": "a[href*='#/experiments/']"}},
                    {"wait_for": {"request": "experiments/search"}},
                    {"wait_for": {"text": "{query} "}},
                ],
                found,
                page=25,
                endpoint="experiments/search",
                ways=("steps", "har"),
            ),
        ]
