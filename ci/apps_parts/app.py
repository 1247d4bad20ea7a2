"""What an application and a task are, for all files that declare one."""

import dataclasses
import os
import sqlite3
import subprocess
import urllib.request

from place import Missing, Place

# What a person would see instead of an answer, or why one request cannot give it: the outcomes that decline a task.
DECLINED = {"needs_selection", "non_recipeable", "saved_draft"}


@dataclasses.dataclass
class Task:
    """One thing that a person does on the application's pages."""

    name: str
    sentence: str
    url: str
    # The first two are learned from; the others are what the recipe is tried on.
    examples: list
    steps: list
    # From an example to what the page shows for it: a row (names to facts) for each item, in full.
    truth: object = None
    # Items on the first page; none where the page shows them all.
    page: int | None = None
    # The answer is one record, not a list.
    one: bool = False
    # The order of the items is part of the answer.
    ordered: bool = False
    # Whether one request can answer it. Where it cannot, declining is right and a verified recipe is wrong.
    answerable: bool = True
    # Why not, for the report.
    because: str = ""
    # A pattern that the path of the recipe's request must fit.
    endpoint: str = ""
    ways: tuple = ("steps",)
    min_items: int | None = 1
    # The steps hold a password of the test's own.
    secret: bool = False

    def entry(self):
        """The task as an entry of a manifest."""
        out = {
            "name": self.name,
            "task": self.sentence,
            "url": self.url,
            "examples": self.examples[:2],
            "record": self.steps,
        }
        if self.min_items and not self.one:
            out["expect"] = {"min_items": self.min_items}
        return out


class App:
    """An application: how it is installed, filled, started, and asked."""

    name = ""
    kind = ""
    # As installed: packages with their versions.
    pins = ()
    # Debian packages, which have the version of the distribution.
    debian = ()
    # Names under .test that lead to it.
    hosts = ()
    port = 0
    # A path that answers once it is up.
    ready = "/"
    seconds = 60
    # Seconds that a step may take.
    patience = 12
    # Light enough for the short form.
    short = False
    # Extra names to ports of its own processes.
    also = {}

    def __init__(self, work):
        self.place = Place(work, self)
        self.url = ""

    def install(self):
        self.place.debian(self.debian)
        self.place.python(self.pins)

    def version(self):
        return self.pins[0].partition("==")[2] if self.pins else self.place.debian_version(self.debian[0])

    def fill(self):
        """Makes the data, once."""

    def command(self, port):
        """What starts it: arguments, folder, variables."""
        raise NotImplementedError

    def settle(self):
        """What has to be done over the network once it is up, each time that it starts."""

    def tasks(self):
        raise NotImplementedError

    # For truth.

    def get(self, path, headers=None, host=None):
        request = urllib.request.Request(self.url + path, headers={"host": host or self.hosts[0], **(headers or {})})
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=30) as answer:
            return answer.read().decode("utf-8", "replace")

    def sql(self, path, query, *values):
        """Rows of a database as dictionaries."""
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        database.row_factory = sqlite3.Row
        try:
            return [dict(it) for it in database.execute(query, values)]
        finally:
            database.close()

    def run(self, *args, cwd=None, env=None, stdin=None, seconds=300):
        """A helper of the application, run to its end. Fails with `Missing`."""
        try:
            done = subprocess.run(
                [str(it) for it in args],
                cwd=cwd or self.place.data,
                env={**os.environ, **self.place.quiet, **(env or {})},
                input=stdin,
                capture_output=True,
                text=True,
                timeout=seconds,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as err:
            raise Missing(f"{args[0]}: {err}") from err
        if done.returncode != 0:
            raise Missing(f"{os.path.basename(str(args[0]))} ended with {done.returncode}: {(done.stderr or done.stdout)[-300:]}")
        return done.stdout
