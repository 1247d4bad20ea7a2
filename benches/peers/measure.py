"""Runs commis and its peers in turns and hands the samples to report.py. See `run`."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
HOST = "s1.load.test"
FIELDS = ["id", "title", "price", "rating", "in_stock"]
JMESPATH = "items[].{id: id, title: title, price: price, rating: rating, stock: in_stock}"
JQ = "[.items[] | {id, title, price, rating, stock: .in_stock}]"

# As in `commis bench`: name, path, body of a POST.
SCENARIOS = [
    ("json-small", "/small.json", None),
    ("json-large", "/large.json", None),
    ("gzip", "/zipped.json", None),
    ("json-post", "/search", {"query": "lantern", "page": 1}),
    ("redirect", "/moved", None),
]


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--commis", type=Path, required=True)
    args.add_argument("--at", type=Path, required=True)
    args.add_argument("--quick", action="store_true")
    args = args.parse_args()
    bench = Bench(args.commis.resolve(), args.at.resolve(), args.quick)
    try:
        out = bench.all()
    finally:
        bench.close()
    results = args.at / "results.json"
    results.write_text(json.dumps(out, indent=1))
    docs = ROOT / "docs" / "explanation" if out["bench"]["profile"] == "release" and not args.quick else args.at
    report.write(out, docs)
    print(f"{docs / 'performance.md'}", file=sys.stderr)


class Bench:
    def __init__(self, commis, at, quick):
        self.commis, self.at, self.quick = commis, at, quick
        self.web = subprocess.Popen(
            [commis, "testbed", "serve", "--port", "0", "--until-eof"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )
        self.addr = self.web.stdout.readline().strip().split("=", 1)[1]
        self.scratch = Path(tempfile.mkdtemp(prefix="commis-peers-"))
        self.home = self.scratch / "home"
        self.python = self.child([at / "venv/bin/python", HERE / "httpx_warm.py"])
        chromium = next(it for it in (
            os.environ.get("COMMIS_CHROMIUM"),
            "/usr/lib/chromium/chromium-headless-shell",
            "/usr/lib/chromium/chromium",
        ) if it and os.access(it, os.X_OK))
        self.browser = self.child(["node", at / "node/browser.mjs", chromium, self.addr])
        hurl = at / "hurl/bin/hurl"
        self.hurl = hurl if hurl.exists() else None

    def child(self, command):
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def close(self):
        for it in (self.python, self.browser, self.web):
            it.stdin.close()
            try:
                it.wait(timeout=20)
            except subprocess.TimeoutExpired:
                it.kill()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def ask(self, child, question):
        child.stdin.write(json.dumps(question) + "\n")
        child.stdin.flush()
        answer = json.loads(child.stdout.readline())
        if isinstance(answer, dict):
            raise RuntimeError(answer["error"])
        return answer

    def run(self, *args, **more):
        command = [self.commis, "--home", self.home, "--test-host", f"*.test={self.addr}", *args]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def all(self):
        said = lambda what: print(f"measuring {what}", file=sys.stderr)
        said("runs from a cold process")
        cold = {name: self.cold(name, path, body) for name, path, body in SCENARIOS}
        said("warm runs")
        warm = {name: self.warm(name, path, body) for name, path, body in SCENARIOS}
        said("tasks, scripted in a browser")
        tasks = self.tasks()
        said("HAR files")
        hars = self.hars()
        said("runs beside their floor")
        bench = json.loads(self.run("bench", "--json", *(["--runs", "20"] if self.quick else [])).stdout)
        said("learning")
        learning = self.learning()
        return {"cold": cold, "warm": warm, "tasks": tasks, "hars": hars, "bench": bench, "learning": learning,
                "versions": self.versions()}

    # A process for each call.

    def cold(self, name, path, body):
        url = f"http://{HOST}{path}"
        direct = f"http://{self.addr}{path}"
        to = ["--connect-to", f"{HOST}:80:{self.addr}"]
        method = "POST" if body else "GET"
        text = json.dumps(body) if body else ""
        self.recipe(name, path, body)
        curl = ["curl", "-sS", "--fail", "-L", "--compressed", *to, "-H", "accept: application/json"]
        if body:
            curl += ["-H", "content-type: application/json", "--data-binary", text]
        runners = {
            "commis": [[self.commis, "--home", self.home, "--test-host", f"*.test={self.addr}",
                        "recipe", "run", name, "--draft", "-p", "query=lantern"]],
            "curl + jq": [[*curl, url], ["jq", "-c", JQ]],
            "httpx + jmespath": [[self.at / "venv/bin/python", HERE / "httpx_cold.py", method, direct, HOST, text, JMESPATH]],
            "true": [["true"]],
        }
        if self.hurl:
            file = self.scratch / f"{name}.hurl"
            captures = "".join(f'{it}: jsonpath "$.items[*].{it}"\n' for it in FIELDS)
            sent = f"content-type: application/json\n{text}\n" if body else ""
            file.write_text(f"{method} {url}\naccept: application/json\n{sent}HTTP 200\n[Captures]\n{captures}")
            runners["hurl"] = [[self.hurl, "--no-color", "--location", "--compressed", *to, "--json", file]]
        # The same work: the same data comes out.
        data = lambda runner: json.loads(piped(runners[runner], keep=True))
        assert data("commis") == data("curl + jq") == data("httpx + jmespath"), name
        out = {it: [] for it in runners}
        for _ in range(5 if self.quick else 40):
            for runner, commands in turned(runners):
                start = time.perf_counter()
                piped(commands)
                out[runner].append((time.perf_counter() - start) * 1e6)
        return out

    def recipe(self, name, path, body):
        folder = self.home / "recipes"
        folder.mkdir(parents=True, exist_ok=True)
        request = {"method": "POST" if body else "GET", "url": f"http://{HOST}{path}", "allowed_domains": [HOST],
                   "headers": {"accept": "application/json"}}
        if body:
            request["headers"]["content-type"] = "application/json"
            request["body"] = {"json": {**body, "query": "{query}"}}
        else:
            request["query"] = [{"name": "q", "value": "{query}"}]
        # YAML is a superset of JSON.
        (folder / f"{name}.yaml").write_text(json.dumps({
            "version": 1, "name": name, "task": "Search for {query}", "status": "draft", "source_url": f"http://{HOST}/",
            "parameters": [{"name": "query", "type": "str", "required": True, "source": "task_input"}],
            "request": request, "response": {"type": "json", "extract": JMESPATH},
        }))

    # Many calls of one process: connections are kept, everything is loaded.

    def warm(self, name, path, body):
        n = 10 if self.quick else 50
        url, direct = f"http://{HOST}{path}", f"http://{self.addr}{path}"
        method = "POST" if body else "GET"
        asked = {"method": method, "url": direct, "host": HOST, "body": body, "expression": JMESPATH, "n": n}
        in_page = {"fetch": {"url": url, "method": method, "body": body}, "n": n}

        def commis():
            out = self.run("bench", "--json", "--only", name, "--runs", str(n), check=True).stdout
            return json.loads(out)["scenarios"][0]["wall_us"]["run"]["p50"]

        def curl():
            text = ["--data-binary", json.dumps(body), "-H", "content-type: application/json"] if body else []
            command = ["curl", "-sS", "--fail", "-L", "--compressed", "--connect-to", f"{HOST}:80:{self.addr}", *text, *[url] * n]
            start = time.perf_counter()
            piped([command, ["jq", "-c", JQ]])
            return (time.perf_counter() - start) * 1e6 / n

        runners = {
            "commis": commis,
            "curl + jq": curl,
            "httpx + jmespath": lambda: statistics.median(self.ask(self.python, asked)),
            "fetch in a page": lambda: statistics.median(self.ask(self.browser, in_page)),
        }
        if self.hurl:
            def hurl():
                command = [self.hurl, "--no-color", "--location", "--compressed", "--connect-to", f"{HOST}:80:{self.addr}",
                           "--no-output", "--repeat", str(n), "--jobs", "1", "--test", self.scratch / f"{name}.hurl"]
                start = time.perf_counter()
                piped([command])
                return (time.perf_counter() - start) * 1e6 / n
            runners["hurl"] = hurl
        out = {it: [] for it in runners}
        for runner in runners.values():
            runner()
        for _ in range(2 if self.quick else 5):
            for runner, once in turned(runners):
                out[runner].append(once())
        return out

    # The tasks of the quickstart: learned once, then by recipe and by script.

    def tasks(self):
        # Over http, as the peers are asked: none of them knows the test web's authority.
        manifest = self.scratch / "quickstart.yaml"
        manifest.write_text((ROOT / "manifests/quickstart.yaml").read_text().replace("https://", "http://"))
        learned = self.run("recipe", "learn-batch", "--manifest", manifest, "--resume")
        if learned.returncode not in (0, 1):
            raise RuntimeError(learned.stderr.decode())
        listed = json.loads(self.run("recipe", "list", "--source", "user", "--json").stdout)
        verified = {it["name"] for it in listed if it["status"] == "verified"}
        tasks = json.loads(subprocess.check_output(["node", self.at / "node/tasks.mjs", manifest]))
        out = {}
        for task in tasks:
            if task["name"] not in verified:
                continue
            values = [it for name, value in task["values"].items() for it in ("-p", f"{name}={value}")]
            scripted = {"task": {"url": task["url"], "steps": task["steps"], "values": task["values"]}}
            first = self.run("recipe", "run", task["name"], *values, "--json")
            if first.returncode != 0:
                print(f"{task['name']}: {first.stderr.decode()}", file=sys.stderr)
                continue
            if json.loads(first.stdout)["transport_used"] != "public_http":
                continue  # it opens a browser itself
            samples = {"commis": [], "commis, inside": [], "scripted browser": []}
            try:
                for _ in range(2 if self.quick else 10):
                    start = time.perf_counter()
                    ran = self.run("recipe", "run", task["name"], *values, "--json", check=True).stdout
                    samples["commis"].append((time.perf_counter() - start) * 1e6)
                    samples["commis, inside"].append(json.loads(ran)["timings_ms"]["total"] * 1e3)
                    samples["scripted browser"] += self.ask(self.browser, scripted)
            except RuntimeError as err:
                print(f"{task['name']}: not scripted: {err}", file=sys.stderr)
                continue
            out[task["name"]] = samples
        return out

    # Recordings of others, read.

    def largest(self):
        """The largest of the recordings at hand, each with its task."""
        shared = Path(os.environ.get("COMMIS_SHARED", ROOT.parent / "shared")) / "realworld"
        if not (shared / "cases.jsonl").exists():
            print(f"{shared} is absent: no HAR files are measured", file=sys.stderr)
            return []
        cases = [json.loads(it) for it in (shared / "cases.jsonl").read_text().splitlines() if it.strip()]
        cases = [(shared / it["har"], it) for it in cases]
        cases.sort(key=lambda it: it[0].stat().st_size, reverse=True)
        return cases[:2 if self.quick else 6]

    def hars(self):
        out = {}
        for har, case in self.largest():
            entries = json.loads(har.read_bytes())["log"]["entries"]
            prefix = "/".join(entries[0]["request"]["url"].split("/")[:3])
            runners = {
                "commis": lambda: self.learn(har, case["task"]),
                "mitmproxy2swagger": lambda: self.swagger(har, prefix),
                "har-to-openapi": lambda: subprocess.run(
                    ["node", self.at / "node/har.mjs", har], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL),
            }
            samples = {it: [] for it in runners}
            for _ in range(1 if self.quick else 3):
                for runner, once in turned(runners):
                    start = time.perf_counter()
                    done = once()
                    if done.returncode in (0, 1) and not (runner != "commis" and done.returncode):
                        samples[runner].append((time.perf_counter() - start) * 1e6)
            # By size alone: whose traffic it was is nobody's business.
            out[f"{har.stat().st_size / 1e6:.1f} MB, {len(entries)} requests"] = samples
        return out

    # What learning takes: reading, recording, and a manifest from nothing to its recipes.

    def learning(self):
        rounds = ["--runs", "3"] if self.quick else []
        bench = lambda *what: json.loads(self.run("bench", "--json", *what, *rounds, check=True).stdout)
        files = [it for har, _ in self.largest() for it in ("--har", har)]
        walls, recordings, others, tasks = [], [], [], 0
        for _ in range(1 if self.quick else 3):
            home = Path(tempfile.mkdtemp(dir=self.scratch))
            start = time.perf_counter()
            done = subprocess.run([self.commis, "--home", home, "recipe", "learn-batch", "--testbed", "--manifest",
                                   ROOT / "manifests/quickstart.yaml"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            walls.append(time.perf_counter() - start)
            if done.returncode not in (0, 1):
                raise RuntimeError(f"the quickstart ended with {done.returncode}")
            own = {}
            for file in (home / "logs").iterdir():
                for line in file.read_text().splitlines():
                    it = json.loads(line)["fields"]
                    if it["message"] == "stage finished":
                        own.setdefault(it["task_id"], []).append((it["stage"].startswith("record"), it["ms"]))
            for stages in own.values():
                recordings.append(sum(ms for recorded, ms in stages if recorded))
                others.append(sum(ms for recorded, ms in stages if not recorded))
            tasks = len(own)
        return {"hars": bench(*files)["files"] if files else [], "pages": bench("--recorder")["pages"], "tasks": tasks,
                "walls": walls, "recordings_ms": statistics.median(recordings), "others_ms": statistics.median(others)}

    def learn(self, har, task):
        home = tempfile.mkdtemp(dir=self.scratch)
        return subprocess.run(
            [self.commis, "--home", home, "recipe", "learn", "--no-network", "--har", har, "--task", task],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def swagger(self, har, prefix):
        # Its first pass, which lists paths; schemas take a second one.
        out = Path(tempfile.mkdtemp(dir=self.scratch)) / "spec.yaml"
        return subprocess.run(
            [self.at / "venv/bin/mitmproxy2swagger", "-i", har, "-o", out, "-p", prefix, "-f", "har"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def versions(self):
        first = lambda *command: subprocess.check_output(command, text=True, stderr=subprocess.STDOUT).split("\n")[0].strip()
        pinned = dict(it.split("==") for it in (HERE / "requirements.txt").read_text().split())
        node = json.loads((HERE / "package.json").read_text())["dependencies"]
        return {
            "commis": first(self.commis, "--version").split()[1],
            "curl": first("curl", "--version").split()[1],
            "jq": first("jq", "--version").removeprefix("jq-"),
            "hurl": first(self.hurl, "--version").split()[1] if self.hurl else "absent",
            "Python": sys.version.split()[0],
            **pinned,
            "Node": first("node", "--version").removeprefix("v"),
            "har-to-openapi": node["har-to-openapi"],
            "Playwright": node["playwright-core"],
        }


def turned(runners):
    """All of them, starting with another one each time."""
    turned.at += 1
    all_of = list(runners.items())
    at = turned.at % len(all_of)
    return all_of[at:] + all_of[:at]


turned.at = 0


def piped(commands, keep=False):
    """A pipe of processes, to its end. Fails when one of them does."""
    running, source = [], None
    for i, command in enumerate(commands):
        last = i + 1 == len(commands)
        out = subprocess.PIPE if keep or not last else subprocess.DEVNULL
        it = subprocess.Popen(command, stdin=source or subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE)
        if source:
            source.close()
        source = it.stdout
        running.append(it)
    said = running[-1].stdout.read() if keep else None
    for it in running:
        errors = it.stderr.read()
        if it.wait() != 0:
            raise RuntimeError(f"{it.args[0]}: {errors.decode()[-500:]}")
        it.stderr.close()
    return said


main()
