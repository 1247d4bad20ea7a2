"""klaus: a git repository on pages of Flask."""

import os

import repository
from app import App, Task


class Klaus(App):
    name = "klaus"
    kind = "source browser"
    pins = ("klaus==3.0.1",)
    hosts = ("klaus.test",)
    port = 8603
    short = True

    def fill(self):
        repository.make(self, os.path.join(self.place.data, "harbour"))

    def command(self, port):
        return [self.place.bin("klaus"), "--host", "127.0.0.1", "--port", port, os.path.join(self.place.data, "harbour")], None, {}

    def tasks(self):
        return [
            Task(
                "klaus-history",
                "Show the history of the file {file} in the harbour repository",
                "http://klaus.test/harbour/tree/main/lib",
                repository.NAMES,
                [
                    {"click": {"role": "link", "name": "{file}"}},
                    {"click": {"role": "link", "name": "history"}},
                    {"wait_for": {"text": ", part "}},
                ],
                lambda values: repository.history(f"lib/{values['file']}", "subject", "author"),
                page=10,
                ordered=True,
                ways=("steps", "har"),
            ),
            Task(
                "klaus-folder",
                "List the files in the folder {folder} of the harbour repository",
                "http://klaus.test/harbour/",
                repository.PLACES,
                [{"click": {"role": "link", "name": "{folder}"}}, {"wait_for": {"text": "History of {folder}"}}],
                lambda values: [{"name": it["name"]} for it in repository.folder(values["folder"])],
                endpoint="/harbour/tree/",
            ),
            Task(
                "klaus-commits",
                "Show the commits of the folder {folder}",
                "http://klaus.test/harbour/",
                repository.PLACES,
                [{"navigate": "http://klaus.test/harbour/tree/main/{folder}"}, {"wait_for": {"text": "History of {folder}"}}],
                lambda values: repository.rows(lambda it: it["file"].startswith(values["folder"] + "/"), "subject", "author"),
                page=20,
                ordered=True,
            ),
        ]
