"""gitweb: a git repository on pages of a CGI program."""

import os
import shutil
import sys

import repository
from app import App, Task
from place import Missing

HERE = os.path.dirname(os.path.abspath(__file__))


class GitWeb(App):
    name = "gitweb"
    kind = "source browser"
    debian = ("libcgi-pm-perl", "gitweb")
    hosts = ("gitweb.test",)
    port = 8604

    def version(self):
        return self.place.debian_version("gitweb")

    def fill(self):
        repository.make(self, os.path.join(self.place.data, "repos", "harbour.git"))
        if not os.path.isdir("/usr/share/gitweb/static"):
            raise Missing("there is no /usr/share/gitweb")
        shutil.copytree("/usr/share/gitweb/static", os.path.join(self.place.data, "www", "static"))
        with open(os.path.join(self.place.data, "config"), "w", encoding="utf-8") as file:
            file.write(f"$projectroot = '{self.place.data}/repos';\n$feature{{'search'}}{{'default'}} = [1];\n")

    def command(self, port):
        args = [sys.executable, "-B", os.path.join(HERE, "cgi_server.py"), port, "/usr/share/gitweb/gitweb.cgi", "/"]
        return [*args, os.path.join(self.place.data, "www")], None, {"GITWEB_CONFIG": os.path.join(self.place.data, "config")}

    def tasks(self):
        start = "http://gitweb.test/?p=harbour.git"
        return [
            Task(
                "gitweb-search",
                "Find commits about {query}",
                start,
                repository.WORDS,
                [
                    {"fill": {"role": "textbox", "name": "", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"selector": "table.commit_search"}},
                ],
                lambda values: repository.about(values["query"], "subject", "author", "day"),
                endpoint="a=search|search",
                ways=("steps", "har"),
            ),
            Task(
                "gitweb-history",
                "Show the history of the file {file}",
                f"{start};a=tree",
                repository.NAMES,
                [{"navigate": f"{start};a=history;f=lib/{{file}}"}, {"wait_for": {"selector": "table.history"}}],
                lambda values: repository.history(f"lib/{values['file']}", "subject", "author", "day"),
                ways=("steps", "har"),
            ),
            Task(
                "gitweb-folder",
                "List the files in the folder {folder}",
                f"{start};a=tree",
                repository.PLACES,
                [{"click": {"role": "link", "name": "{folder}"}}, {"wait_for": {"text": "/ {folder}"}}],
                lambda values: [{"name": it["name"]} for it in repository.folder(values["folder"])],
                answerable=False,
                because="the link holds the number of the folder's content, which nothing tells from its name",
            ),
            Task(
                "gitweb-author",
                "List the commits of the author {author}",
                start,
                [{"author": it} for it in ("crew one", "crew two", "night watch", "day watch")],
                [
                    {"navigate": f"{start};a=search;h=HEAD;st=author;s={{author}}"},
                    {"wait_for": {"selector": "table.commit_search"}},
                ],
                lambda values: repository.rows(lambda it: it["author"] == values["author"], "subject", "author", "day"),
            ),
        ]
