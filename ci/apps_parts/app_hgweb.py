"""hgweb: a Mercurial repository on the pages that `hg serve` gives."""

import os

import repository
from app import App, Task


class HgWeb(App):
    name = "hgweb"
    kind = "source browser"
    debian = ("mercurial",)
    hosts = ("hg.test",)
    port = 8606

    def fill(self):
        path = os.path.join(self.place.data, "harbour")
        hg = {"HGRCPATH": ""}
        self.run("hg", "init", path, env=hg)
        for it in repository.commits():
            file = os.path.join(path, it["file"])
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8") as out:
                out.write(it["text"])
            who = f"{it['author']} <{repository.mail(it['author'])}>"
            self.run("hg", "commit", "-q", "-A", "-m", it["subject"], "-u", who, "-d", f"{it['time']} 0", cwd=path, env=hg)

    def command(self, port):
        args = ["hg", "serve", "-a", "127.0.0.1", "-p", port, "--name", "harbour", "-R", os.path.join(self.place.data, "harbour")]
        return args, None, {"HGRCPATH": ""}

    def tasks(self):
        return [
            Task(
                "hgweb-search",
                "Find changes about {query}",
                "http://hg.test/",
                repository.WORDS,
                [
                    {"fill": {"role": "textbox", "name": "", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "searching for '{query}'"}},
                ],
                lambda values: repository.about(values["query"], "subject", "author", "day"),
                page=10,
                ordered=True,
                ways=("steps", "har"),
            ),
            Task(
                "hgweb-history",
                "Show the changes of the file {file}",
                "http://hg.test/file/tip/lib",
                repository.NAMES,
                [{"navigate": "http://hg.test/log/tip/lib/{file}"}, {"wait_for": {"text": "log lib/{file}"}}],
                lambda values: repository.history(f"lib/{values['file']}", "subject", "author", "day"),
            ),
            Task(
                "hgweb-folder",
                "List the files in the folder {folder} with their sizes",
                "http://hg.test/file/tip",
                repository.PLACES,
                [{"click": {"role": "link", "name": "dir. {folder}/"}}, {"wait_for": {"text": "directory /{folder}"}}],
                # The way up is a row of the table, too.
                lambda values: (
                    repository.folder(values["folder"]),
                    [{"name": "drwxr-xr-x"}, *repository.folder(values["folder"])],
                ),
                ways=("steps", "har"),
            ),
        ]
