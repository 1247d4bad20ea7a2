"""JupyterLab: folders and files, by its contents interface."""

import json
import os

import words
from app import App, Task

FOLDERS = ["tides", "storms", "salinity", "plankton", "sediment"]


class Jupyter(App):
    name = "jupyterlab"
    kind = "notebooks"
    pins = ("jupyterlab==4.6.6",)
    hosts = ("lab.test",)
    port = 8625
    patience = 40
    ready = "/lab"
    seconds = 90

    def fill(self):
        for name in FOLDERS:
            os.makedirs(os.path.join(self.place.data, "files", name))
            for file in self.files(name):
                with open(os.path.join(self.place.data, "files", name, file), "w", encoding="utf-8") as out:
                    json.dump({"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, out)
                os.utime(out.name, (1_700_000_000, 1_700_000_000))

    def files(self, name):
        by = words.seeded("jupyter", name)
        return sorted(f"{name}-{year}.ipynb" for year in by.sample(range(2010, 2026), by.randint(4, 9)))

    def command(self, port):
        args = [
            self.place.bin("jupyter"),
            "lab",
            "--allow-root",
            "--no-browser",
            "--ip",
            "127.0.0.1",
            "--port",
            port,
            "--IdentityProvider.token=",
        ]
        more = ["--ServerApp.allow_remote_access=True", f"--ServerApp.root_dir={self.place.data}/files", "--LabApp.news_url="]
        home = os.path.join(self.place.data, "home")
        env = {
            "HOME": home,
            "JUPYTER_CONFIG_DIR": home,
            "JUPYTER_DATA_DIR": home,
            "JUPYTER_RUNTIME_DIR": home,
            "PATH": f"{self.place.venv}/bin:{os.environ['PATH']}",
        }
        return [*args, *more], None, env

    def tasks(self):
        folders = [{"folder": it} for it in FOLDERS[:4]]

        def found(values):
            return [{"name": it} for it in self.files(values["folder"])]

        return [
            Task(
                "jupyterlab-folder",
                "List the notebooks in the folder {folder}",
                "http://lab.test/lab",
                folders,
                [{"navigate": "http://lab.test/lab/tree/{folder}"}, {"wait_for": {"text": "{folder}-20"}}],
                found,
                endpoint="/api/contents",
                ways=("steps", "har"),
            ),
        ]
