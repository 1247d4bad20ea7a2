"""Flower: what a queue of background tasks did, in a DataTables table that the server pages, sorts and searches by POST."""

import datetime
import json
import os
import uuid

import words
from app import App, Task

# Flower reads back what it saw before it was stopped.
FILL = """
import json, shelve, sys
from flower import options
from flower.events import EventsState

state = EventsState(max_tasks_in_memory=10000)
clock = 0

def event(kind, at, host, **more):
    global clock
    clock += 1
    state.event({"type": kind, "timestamp": at, "local_received": at, "hostname": host, "utcoffset": 0, "pid": 7, "clock": clock, **more})

for it in json.load(sys.stdin):
    event("worker-online", it["received"], it["worker"], freq=2.0, sw_ident="py-celery", sw_ver="5.7.0", sw_sys="Linux")
    event("task-received", it["received"], it["worker"], uuid=it["uuid"], name=it["name"], args=it["args"], kwargs=it["kwargs"],
          retries=0, eta=None, expires=None, root_id=it["uuid"], parent_id=None)
    event("task-started", it["started"], it["worker"], uuid=it["uuid"])
    if it["state"] == "SUCCESS":
        ended = it["started"] + it["runtime"]
        event("task-succeeded", ended, it["worker"], uuid=it["uuid"], result=it["result"], runtime=it["runtime"])
    elif it["state"] in ("FAILURE", "RETRY"):
        kind = {"FAILURE": "task-failed", "RETRY": "task-retried"}[it["state"]]
        event(kind, it["started"] + 1, it["worker"], uuid=it["uuid"], exception=it["result"], traceback="Traceback: " + it["result"])
with shelve.open(sys.argv[1], flag="n") as db:
    db["events"] = state
    db["counter"] = dict(state.counter)
"""

NAMES = (
    "cargo.weigh cargo.label invoice.print invoice.print_copy mail.notify mail.digest photo.thumbnail photo.watermark search.reindex"
).split()
STATES = {"Started": "STARTED", "Succeeded": "SUCCESS", "Failed": "FAILURE", "Retried": "RETRY"}


class Flower(App):
    name = "flower"
    kind = "task monitor"
    pins = ("flower==2.2.0", "celery==5.7.0", "tornado==6.6.1", "kombu==5.7.0")
    hosts = ("flower.test",)
    port = 8652
    ready = "/tasks"

    def entries(self):
        by = words.seeded("flower")
        start = datetime.datetime(2026, 3, 2, 6, 0, tzinfo=datetime.timezone.utc).timestamp()
        for at in range(260):
            state = by.choice(["SUCCESS", "SUCCESS", "SUCCESS", "FAILURE", "FAILURE", "RETRY", "STARTED"])
            received = start + at * 137 + by.randint(0, 99)
            good = f"'{by.randint(100, 999)} kB written'"
            bad = f"{by.choice(['TimeoutError', 'KeyError', 'ValueError'])}('{by.choice(words.GEAR)}')"
            yield {
                "uuid": str(uuid.UUID(int=by.getrandbits(128), version=4)),
                "name": by.choice(NAMES),
                "args": f"('{by.choice(words.PORTS)}', {by.randint(1, 4000)})",
                "kwargs": f"{{'berth': {by.randint(1, 60)}}}",
                "worker": f"celery@{by.choice(['north', 'south', 'south-2'])}",
                "state": state,
                "received": received,
                "started": received + by.randint(1, 20),
                "runtime": by.randint(101, 5_999) / 100,
                "result": {"SUCCESS": good, "STARTED": ""}.get(state, bad),
            }

    def fill(self):
        path = os.path.join(self.place.data, "flower.db")
        self.run(self.place.bin("python"), "-c", FILL, path, stdin=json.dumps(list(self.entries())))

    def command(self, port):
        celery = [self.place.bin("celery"), "--broker", "memory://", "flower"]
        flags = ["--address=127.0.0.1", f"--port={port}", "--persistent=True", f"--db={self.place.data}/flower.db", "--enable_events=False"]
        return [*celery, *flags], None, {}

    @staticmethod
    def row(it):
        """What the table shows of a task: the time of day in UTC, the runtime once it succeeded."""
        received = datetime.datetime.fromtimestamp(it["received"], datetime.timezone.utc)
        out = {name: it[name] for name in ("name", "uuid", "state", "worker")}
        out["received"] = {it["received"], received.strftime("%Y-%m-%d %H:%M:%S")}
        if it["state"] == "SUCCESS":
            out["runtime"] = {it["runtime"], f"{it['runtime']:.2f} s"}
        return out

    def tasks(self):
        names = [{"query": it} for it in ("thumbnail", "invoice", "reindex", "mail.notify")]
        search = [
            {"fill": {"role": "searchbox", "name": "Search tasks", "value": "{query}"}},
            {"wait_for": {"request": "/tasks/datatable"}},
            {"wait_for": {"text": "filtered from"}},
        ]

        def found(values):
            return [it for it in self.entries() if values["query"] in it["name"]]

        def newest(rows):
            return [self.row(it) for it in sorted(rows, key=lambda it: -it["received"])]

        def longest(values):
            return [self.row(it) for it in sorted(found(values), key=lambda it: -it["runtime"] if it["state"] == "SUCCESS" else 0)]

        def one(values):
            it = next(it for it in self.entries() if it["uuid"] == values["uuid"])
            return [{**self.row(it), **{name: it[name] for name in ("args", "kwargs", "result")}}]

        return [
            Task(
                "flower-search",
                "Search the background tasks for {query}",
                "http://flower.test/tasks",
                names,
                search,
                lambda values: newest(found(values)),
                page=15,
                ordered=True,
                endpoint="/tasks/datatable",
                ways=("steps", "har"),
            ),
            Task(
                "flower-longest",
                "Which background tasks that match {query} ran longest",
                "http://flower.test/tasks",
                [{"query": it} for it in ("invoice", "photo", "cargo", "mail")],
                [
                    *search,
                    {"click": {"css": "th[data-column=runtime]"}},
                    {"wait_for": {"request": "/tasks/datatable"}},
                    {"click": {"css": "th[data-column=runtime]"}},
                    {"wait_for": {"request": "/tasks/datatable"}},
                    {"wait_for": {"selector": "th.sorting_desc[data-column=runtime]"}},
                    {"wait_for": {"text": "filtered from"}},
                ],
                longest,
                page=15,
                ordered=True,
                endpoint="/tasks/datatable",
                ways=("steps", "har"),
            ),
            Task(
                "flower-state",
                "List the background tasks that are {state}",
                "http://flower.test/tasks",
                [{"state": it} for it in ("Failed", "Succeeded", "Retried", "Started")],
                [
                    {"click": {"role": "button", "name": "{state}"}},
                    {"wait_for": {"request": "/tasks/datatable"}},
                    {"wait_for": {"text": "filtered from"}},
                ],
                lambda values: newest(it for it in self.entries() if it["state"] == STATES[values["state"]]),
                page=15,
                ordered=True,
                endpoint="/tasks/datatable",
                ways=("steps", "har"),
            ),
            Task(
                "flower-task",
                "Show the background task {uuid}",
                "http://flower.test/tasks",
                [{"uuid": list(self.entries())[at]["uuid"]} for at in (3, 40, 120, 200)],
                [{"navigate": "http://flower.test/task/{uuid}"}, {"wait_for": {"text": "Keyword arguments"}}],
                one,
                one=True,
                endpoint="/task/",
                ways=("steps", "har"),
            ),
        ]
