"""cgit: a git repository on pages of a CGI program in C."""

import os
import shutil
import sys

import repository
from app import App, Task
from place import Missing

HERE = os.path.dirname(os.path.abspath(__file__))


class CGit(App):
    name = "cgit"
    kind = "source browser"
    debian = ("cgit",)
    hosts = ("cgit.test",)
    port = 8605

    def fill(self):
        repository.make(self, os.path.join(self.place.data, "repos", "harbour.git"))
        if not os.path.isdir("/usr/share/cgit"):
            raise Missing("there is no /usr/share/cgit")
        shutil.copytree("/usr/share/cgit", os.path.join(self.place.data, "www", "cgit-css"), ignore_dangling_symlinks=True)
        with open(os.path.join(self.place.data, "config"), "w", encoding="utf-8") as file:
            file.write("css=/cgit-css/cgit.css\nlogo=\nvirtual-root=/\nenable-index-links=1\nenable-log-filecount=1\n")
            file.write(f"repo.url=harbour\nrepo.path={self.place.data}/repos/harbour.git\nrepo.desc=Software of the harbour\n")

    def command(self, port):
        args = [sys.executable, "-B", os.path.join(HERE, "cgi_server.py"), port, "/usr/lib/cgit/cgit.cgi", "/"]
        return [*args, os.path.join(self.place.data, "www")], None, {"CGIT_CONFIG": os.path.join(self.place.data, "config")}

    def tasks(self):
        return [
            Task(
                "cgit-search",
                "Find commits whose message has {query}",
                "http://cgit.test/harbour/log/",
                repository.WORDS,
                [
                    {"fill": {"role": "searchbox", "name": "", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "Commit message"}},
                    {"wait_for": {"request": "q={query}"}},
                ],
                lambda values: repository.about(values["query"], "subject", "author", "day"),
                endpoint="/harbour/log",
                ways=("steps", "har"),
            ),
            Task(
                "cgit-history",
                "Show the history of the file {file}",
                "http://cgit.test/harbour/tree/lib",
                repository.NAMES,
                [{"navigate": "http://cgit.test/harbour/log/lib/{file}"}, {"wait_for": {"text": "Commit message"}}],
                lambda values: repository.history(f"lib/{values['file']}", "subject", "author", "day"),
                endpoint="/harbour/log",
            ),
            Task(
                "cgit-folder",
                "List the files in the folder {folder} with their sizes",
                "http://cgit.test/harbour/tree/",
                repository.PLACES,
                [{"click": {"role": "link", "name": "{folder}"}}, {"wait_for": {"text": "path: root/{folder}"}}],
                lambda values: repository.folder(values["folder"]),
                endpoint="/harbour/tree/",
                ways=("steps", "har"),
            ),
        ]
