"""Buildbot: what the builders of a program did, on one page that asks its REST interface and draws routes behind a hash."""

import hashlib
import json
import os
import sqlite3

import words
from app import App, Task

CONFIG = """
import os
from buildbot.plugins import schedulers, steps, util, worker

c = BuildmasterConfig = {}
c["workers"] = [worker.Worker(name, "a password of the test's own") for name in WORKERS]
c["protocols"] = {"pb": {"port": "tcp:0:interface=127.0.0.1"}}
factory = util.BuildFactory([steps.ShellCommand(command=["make"])])
c["builders"] = [util.BuilderConfig(name=name, workernames=list(WORKERS), factory=factory) for name in BUILDERS]
c["schedulers"] = [schedulers.ForceScheduler(name="force", builderNames=list(BUILDERS))]
c["title"] = "Lighthouse"
c["titleURL"] = "http://builds.test/"
c["buildbotURL"] = "http://builds.test/"
c["www"] = {"port": "tcp:%s:interface=127.0.0.1" % os.environ["BUILDBOT_PORT"], "plugins": {}}
c["db"] = {"db_url": "sqlite:///state.sqlite"}
c["buildbotNetUsageData"] = None
"""

BUILDERS = "linux-x86 linux-x86-debug linux-arm windows-x86 macos-arm docs docs-fr package-deb".split()
WORKERS = "quay-1 quay-10 quay-2 pier".split()
STEPS = ["git checkout", "configure", "compile", "unit tests", "integration tests", "upload"]
RESULTS = ["success", "warnings", "failure", "skipped", "exception"]


class Buildbot(App):
    name = "buildbot"
    kind = "build server"
    pins = ("buildbot==4.3.0", "buildbot-www==4.3.0", "twisted==26.10.0", "sqlalchemy==2.1.9")
    hosts = ("builds.test",)
    port = 8654
    ready = "/api/v2/builders"
    seconds = 90

    def builds(self):
        by = words.seeded("buildbot")
        start = 1_772_000_000
        numbers = dict.fromkeys(range(1, len(BUILDERS) + 1), 0)
        for at in range(1, 241):
            start += by.randint(200, 9_000)
            builder = by.randint(1, len(BUILDERS))
            numbers[builder] += 1
            result = by.choice([0, 0, 0, 1, 2, 4])
            done = STEPS[: by.randint(3, len(STEPS))]
            parts, clock = [], start
            for name in done:
                took = by.randint(1, 400)
                last = name == done[-1]
                parts.append({"name": name, "from": clock, "to": clock + took, "result": result if last else 0})
                clock += took
            yield {
                "id": at,
                "builder": builder,
                "number": numbers[builder],
                "worker": by.randint(1, len(WORKERS)),
                "from": start,
                "to": clock,
                "result": result,
                "text": "build successful" if result == 0 else f"{RESULTS[result]} in {done[-1]}",
                "steps": parts,
                "revision": f"{by.getrandbits(160):040x}",
            }

    def fill(self):
        self.run(self.place.bin("buildbot"), "create-master", "-q", "master")
        site = os.path.join(self.place.data, "master")
        with open(os.path.join(site, "master.cfg"), "w", encoding="utf-8") as file:
            file.write(f"BUILDERS = {BUILDERS}\nWORKERS = {WORKERS}\n{CONFIG}")
        base = sqlite3.connect(os.path.join(site, "state.sqlite"))

        def put(table, **row):
            base.execute(f"insert into {table} ({', '.join(row)}) values ({', '.join('?' * len(row))})", list(row.values()))

        put("masters", id=1, name="old", name_hash=hashlib.sha1(b"old").hexdigest(), active=0, last_active=1_772_000_000)
        for at, name in enumerate(BUILDERS, 1):
            put("builders", id=at, name=name, name_hash=hashlib.sha1(name.encode()).hexdigest())
        for at, name in enumerate(WORKERS, 1):
            put("workers", id=at, name=name, info="{}")
        for it in self.builds():
            times = {"submitted_at": it["from"], "complete": 1, "complete_at": it["to"], "results": it["result"]}
            put("buildsets", id=it["id"], reason="nightly", **times)
            put("buildrequests", id=it["id"], buildsetid=it["id"], builderid=it["builder"], **times)
            put(
                "builds",
                id=it["id"],
                number=it["number"],
                builderid=it["builder"],
                buildrequestid=it["id"],
                workerid=it["worker"],
                masterid=1,
                started_at=it["from"],
                complete_at=it["to"],
                locks_duration_s=0,
                state_string=it["text"],
                results=it["result"],
            )
            known = {"workername": WORKERS[it["worker"] - 1], "branch": "main", "got_revision": it["revision"], "reason": "nightly"}
            for name, value in known.items():
                put("build_properties", buildid=it["id"], name=name, value=json.dumps(value), source="Build")
            for number, part in enumerate(it["steps"]):
                put(
                    "steps",
                    number=number,
                    name=part["name"],
                    buildid=it["id"],
                    started_at=part["from"],
                    locks_acquired_at=part["from"],
                    complete_at=part["to"],
                    state_string=f"{part['name']} {'done' if part['result'] == 0 else RESULTS[part['result']]}",
                    results=part["result"],
                    urls_json="[]",
                )
        base.commit()
        base.close()

    def command(self, port):
        start = [self.place.bin("buildbot"), "start", "--nodaemon"]
        return start, os.path.join(self.place.data, "master"), {"BUILDBOT_PORT": str(port)}

    def tasks(self):
        def time(seconds):
            return f"{seconds // 60}:{seconds % 60:02}"

        def built(fits):
            rows = sorted((it for it in self.builds() if fits(it)), key=lambda it: -it["from"])
            return [
                {
                    "number": it["number"],
                    "worker": WORKERS[it["worker"] - 1],
                    "text": it["text"],
                    "started": it["from"],
                    # The page shows how long it took.
                    "ended": {it["to"], time(it["to"] - it["from"])},
                }
                for it in rows
            ]

        def steps(values):
            it = next(it for it in self.builds() if [str(it["builder"]), str(it["number"])] == [values["builder"], values["number"]])
            return [
                {
                    "name": part["name"],
                    "text": f"{part['name']} {'done' if part['result'] == 0 else RESULTS[part['result']]}",
                    "ended": {part["to"], time(part["to"] - part["from"])},
                }
                for part in it["steps"]
            ]

        return [
            Task(
                "buildbot-builder",
                "Show the builds of the builder number {builder}",
                "http://builds.test/#/builders",
                [{"builder": it} for it in ("1", "4", "6", "2")],
                [
                    {"navigate": "http://builds.test/#/builders/{builder}"},
                    {"wait_for": {"request": "builderid={builder}&property"}},
                    {"wait_for": {"text": "main ("}},
                ],
                lambda values: built(lambda it: str(it["builder"]) == values["builder"]),
                ordered=True,
                endpoint="/builds",
                ways=("steps", "har"),
            ),
            Task(
                "buildbot-named",
                "Show the builds of the builder {builder}",
                "http://builds.test/#/builders",
                [{"builder": it} for it in ("linux-x86", "docs", "docs-fr", "linux-x86-debug")],
                [
                    {"click": {"role": "link", "name": "{builder}"}},
                    {"wait_for": {"request": "/api/v2/builds?builderid="}},
                    {"wait_for": {"text": "Duration"}},
                    {"wait_for": {"text": "main ("}},
                ],
                lambda values: built(lambda it: BUILDERS[it["builder"] - 1] == values["builder"]),
                ordered=True,
                endpoint="/builds",
                ways=("steps", "har"),
            ),
            Task(
                "buildbot-build",
                "Show the steps of build {number} of the builder number {builder}",
                "http://builds.test/#/builders",
                [{"builder": builder, "number": number} for builder, number in (("1", "3"), ("4", "11"), ("6", "7"), ("2", "12"))],
                [
                    {"navigate": "http://builds.test/#/builders/{builder}/builds/{number}"},
                    {"wait_for": {"request": "/steps"}},
                    {"wait_for": {"text": "git checkout done"}},
                ],
                steps,
                answerable=False,
                because="the build's own number, which the steps are asked by, comes from an earlier answer",
                ways=("steps", "har"),
            ),
        ]
