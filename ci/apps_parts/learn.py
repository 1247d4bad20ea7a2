"""Learning an application's tasks by steps and from HARs, and running what was learned on inputs it never saw."""

import dataclasses
import json
import os
import re
import shutil
import statistics
import subprocess
import time

from app import DECLINED
from judge import judge

import har


class Commis:
    """The program, with a home of its own and the hosts of one application."""

    def __init__(self, program, home, hosts):
        self.program, self.home = program, home
        self.pins = [it for name, port in hosts.items() for it in ("--test-host", f"{name}=127.0.0.1:{port}")]
        shutil.rmtree(home, ignore_errors=True)
        os.makedirs(home)

    def call(self, *args, seconds):
        """Exit code, output and errors; `None` for a program that had to be stopped."""
        command = [self.program, *args, "--home", self.home, *self.pins]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        try:
            out, err = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.terminate()
            try:
                out, err = child.communicate(timeout=15)
            except subprocess.TimeoutExpired:
                child.kill()
                out, err = child.communicate()
            return None, out, err
        except BaseException:
            child.terminate()
            child.wait(15)
            raise
        return child.returncode, out, err

    def recipe(self, name):
        try:
            with open(os.path.join(self.home, "recipes", f"{name}.yaml"), encoding="utf-8") as file:
                return file.read()
        except OSError:
            return ""


def by_steps(commis, app, tasks):
    """An application's tasks in one batch; an entry for each by its name."""
    found = batch(commis, app, open_ones) if (open_ones := [it for it in tasks if not it.secret]) else {}
    for task in tasks:
        if task.secret:
            found[task.name] = alone(commis, task)
    return found


def batch(commis, app, tasks):
    manifest = os.path.join(commis.home, f"{app.name}.yaml")
    # JSON is YAML.
    content = {"version": 1, "defaults": {"delay_s": 0, "timeout_s": app.patience, "retries": 0}, "recipes": [it.entry() for it in tasks]}
    with open(manifest, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
    args = ["recipe", "learn-batch", "--manifest", manifest, "--json", "--jobs", "2", "--per-host", "2"]
    code, out, err = commis.call(*args, seconds=120 + 60 * len(tasks))
    found = {}
    for line in out.splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if event.get("event") == "task_finished":
            found[event["entry"]["name"]] = {**event["entry"], "learn_ms": event["ms"]}
    why = f"the batch ended with {code}: {err.strip()[-300:]}"
    return {it.name: found.get(it.name, {"outcome": "no_result", "error": why}) for it in tasks}


def alone(commis, task):
    """A task whose steps hold a password, which a batch does not take."""
    path = os.path.join(commis.home, f"{task.name}.steps.yaml")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(task.steps, file, indent=1)
    return learn(commis, task, "--url", task.url, "--steps", path, "--allow-task-secrets")


def learn(commis, task, *source):
    args = ["recipe", "learn", *source, "--task", task.sentence, "--name", task.name, "--json"]
    for flag, values in (("-p", task.examples[0]), ("--second", task.examples[1])):
        args += [part for name, value in values.items() for part in (flag, f"{name}={value}")]
    code, out, err = commis.call(*args, seconds=120)
    try:
        entry = json.loads(out)
    except ValueError:
        entry = {}
    if "outcome" not in entry:
        said = re.search(r"\[([A-Z_]+)\]", err)
        return {"outcome": "failed", "error_code": said.group(1) if said else None, "error": f"{code}: {(err.strip() or out)[-300:]}"}
    return entry


def by_har(commis, task, recorder):
    """One task from a HAR of its first example."""
    path = os.path.join(commis.home, f"{task.name}.har")
    begun = time.monotonic()
    trouble = recorder.record(task, path)
    browser_ms = round((time.monotonic() - begun) * 1000)
    if trouble:
        return {"outcome": "no_recording", "error": trouble}
    begun = time.monotonic()
    entry = learn(commis, task, "--har", path)
    learn_ms = round((time.monotonic() - begun) * 1000)
    return {**entry, "browser_ms": browser_ms, "learn_ms": learn_ms, "har_bytes": os.path.getsize(path)}


def part(text, name):
    """A block of a recipe's YAML."""
    found = re.search(rf"^{name}:.*?(?=^[^\s-]|\Z)", text, re.MULTILINE | re.DOTALL)
    return found.group() if found else ""


def look(task, text):
    """What is wrong with a recipe's request, whatever it answers."""
    request = part(text, "request") or part(text, "steps")
    url = re.search(r"^\s+(?:url|path)[a-z_]*:\s*(.+)$", request, re.MULTILINE)
    notes = []
    if task.endpoint and not re.search(task.endpoint, request):
        notes.append(f"the endpoint is another: {url.group(1) if url else request[:160]}")
    for name in task.examples[0]:
        if f"{{{name}" not in request and name not in request:
            notes.append(f"the parameter {name} is not in the request")
    return notes


def try_out(commis, task):
    """The recipe on the inputs that learning never saw."""
    out = {"runs": [], "notes": look(task, commis.recipe(task.name))}
    for values in task.examples[2:4]:
        params = [part for name, value in values.items() for part in ("-p", f"{name}={value}")]
        code, text, err = commis.call("recipe", "run", task.name, *params, "--json", seconds=60)
        try:
            answer = json.loads(text)
        except ValueError:
            answer = {"success": False, "error": f"{code}: {err.strip()[-300:]}"}
        rows = task.truth(values) if task.truth else []
        if answer.get("success"):
            run = judge(task, rows, answer["data"])
        else:
            seen = rows[0] if isinstance(rows, tuple) else rows
            shown = len(seen[: task.page] if task.page else seen)
            why = f"the run failed: {answer.get('error_code')} {answer.get('error')}"
            run = {"verdict": "failed", "shown": shown, "given": 0, "missing": [why]}
        goes_on = task.page and len(rows) > task.page and run["given"] < len(rows)
        if answer.get("success") and goes_on and answer.get("complete") is not False:
            run["missing"].append(f"{run['given']} of {len(rows)} items, and the run does not say so")
            run["verdict"] = "partial"
        if answer.get("success") and task.page and part(commis.recipe(task.name), "pages") and not isinstance(rows, tuple):
            run = follow(commis, task, params, rows, run)
        run["values"] = values
        run["ms"] = (answer.get("timings_ms") or {}).get("total")
        run["transport"] = answer.get("transport_used")
        out["runs"].append(run)
    return out


def follow(commis, task, params, rows, run):
    """The run of the first page, with what the list holds that is followed to its end: nothing missing, nothing twice, in order."""
    code, text, err = commis.call("recipe", "run", task.name, *params, "--all", "--json", seconds=120)
    try:
        answer = json.loads(text)
    except ValueError:
        answer = {"success": False, "error": f"{code}: {err.strip()[-300:]}"}
    out = {**run, "list": {"pages": answer.get("pages"), "items": answer.get("items"), "of": len(rows)}}
    if not answer.get("success"):
        return {**out, "verdict": "failed", "missing": [*run["missing"], f"all pages: {answer.get('error_code')} {answer.get('error')}"]}
    whole = judge(dataclasses.replace(task, page=None), rows, answer["data"])
    if answer.get("complete") is False:
        # The site's own pages do not hold all of it, and the run says so.
        out["list"]["said"] = "not whole"
        return out
    if len(answer["data"]) != len(rows):
        whole["missing"].append(f"all pages: {len(answer['data'])} items of {len(rows)}")
        whole["verdict"] = "wrong"
    worst = max((run["verdict"], whole["verdict"]), key=ORDER.index)
    return {**out, "verdict": worst, "missing": run["missing"] + whole["missing"]}


ORDER = ["complete", "partial", "failed", "wrong"]


def result(commis, app, task, way, entry):
    """One line of the report."""
    line = {
        "app": app.name,
        "task": task.name,
        "way": way,
        "answerable": task.answerable,
        "outcome": entry["outcome"],
        "why": entry.get("reason") or entry.get("error_code"),
        "detail": entry.get("detail") or entry.get("error"),
        "browser_ms": entry.get("browser_ms"),
        "learn_ms": entry.get("learn_ms"),
        "har_bytes": entry.get("har_bytes"),
        "run_ms": None,
        "shown": None,
        "given": None,
        "missing": [],
        "request": "",
        "response": "",
    }
    if entry["outcome"] != "verified":
        declined = entry["outcome"] in DECLINED
        line["right"] = ("declined rightly" if not task.answerable else "declined wrongly") if declined else "failed"
        return line
    text = commis.recipe(task.name)
    line["request"], line["response"] = part(text, "request"), part(text, "response")
    tried = try_out(commis, task)
    runs = tried["runs"]
    if runs:
        line["shown"], line["given"] = (runs[0][it] for it in ("shown", "given"))
        times = [it["ms"] for it in runs if it["ms"] is not None]
        line["run_ms"] = round(statistics.median(times), 1) if times else None
        line["transport"] = runs[0]["transport"]
    worst = max((it["verdict"] for it in runs), key=ORDER.index, default="wrong")
    if tried["notes"] or not task.truth:
        worst = "wrong"
    line["lists"] = [it["list"] for it in runs if "list" in it]
    line["right"] = worst
    line["missing"] = tried["notes"] + [f"{list(it['values'].values())}: {note}" for it in runs for note in it["missing"]]
    return line


def measure(program, home, app, hosts, tasks, report):
    """Learns the tasks in every way that each has, and judges them."""
    steps = [it for it in tasks if "steps" in it.ways]
    if steps:
        commis = Commis(program, os.path.join(home, "steps"), hosts)
        entries = by_steps(commis, app, steps)
        for task in steps:
            report(result(commis, app, task, "steps", entries[task.name]))
    hars = [it for it in tasks if "har" in it.ways]
    if hars:
        commis = Commis(program, os.path.join(home, "har"), hosts)
        with har.Recorder(hosts, os.path.join(home, "playwright.log"), app.patience) as recorder:
            for task in hars:
                report(result(commis, app, task, "HAR", by_har(commis, task, recorder)))
