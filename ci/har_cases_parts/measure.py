"""Records a case in a browser, learns it from the HAR, and runs it on inputs that learning never saw."""

import json
import os
import re
import shutil
import subprocess
import time

from case import ANY, DECLINED, FIRST
from judge import judge

OUTCOMES = {"needs_selection", "non_recipeable", "saved_draft"}


class Program:
    """The program with a home of its own and the hosts of one case."""

    def __init__(self, path, home, host, port):
        self.path, self.home = path, home
        self.pins = ["--test-host", f"{host}=127.0.0.1:{port}"]
        shutil.rmtree(home, ignore_errors=True)
        os.makedirs(home, mode=0o700)

    def __call__(self, *args, seconds=120):
        command = [self.path, *args, "--home", self.home, *self.pins]
        try:
            done = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None, "", "out of time"
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def json(self, *args, seconds=120):
        code, out, err = self(*args, "--json", seconds=seconds)
        try:
            # Numbers keep their digits.
            return json.loads(out, parse_float=str)
        except ValueError:
            return {"success": False, "error": f"{code}: {err.strip()[-400:] or out[-400:]}"}

    def recipe(self, name):
        try:
            with open(os.path.join(self.home, "recipes", f"{name}.yaml"), encoding="utf-8") as file:
                return file.read()
        except OSError:
            return ""


def params(flag, values):
    return [part for name, value in values.items() for part in (flag, f"{name}={value}")]


def learned(program, case, path):
    args = ["recipe", "learn", "--har", path, "--task", case.sentence, "--name", case.name]
    entry = program.json(*args, *params("-p", case.inputs[0]), *params("--second", case.inputs[1]), seconds=180)
    if "outcome" not in entry:
        entry["outcome"] = "failed"
    return entry


def run(program, case, values):
    """One run and what is to be said of it."""
    answer = program.json("recipe", "run", case.name, *params("-p", values))
    rows = case.truth(**values)
    told = f"{list(values.values())}: "
    if not answer.get("success"):
        why = f"{answer.get('error_code')} {answer.get('error')}"
        if not rows and (case.empty_or_error or re.search("EMPTY|NOT_FOUND", why)):
            return "complete", [told + "nothing, as " + why[:120]], answer
        return "failed", [told + why[:400]], answer
    if case.expect == FIRST and answer.get("complete") is False:
        # It says that it goes on: its items must be the first ones.
        count = max((len(it) for it in [answer["data"]] if isinstance(it, list)), default=0)
        verdict, notes = judge(rows[: count or len(rows)], answer["data"], case.one, case.ordered)
        if verdict == "complete" and len(rows) > count:
            again = program.json("recipe", "run", case.name, "--all", *params("-p", values))
            if again.get("success") and again.get("complete") is not False and len(again["data"]) != count:
                verdict, notes = judge(rows, again["data"], case.one, case.ordered)
    else:
        verdict, notes = judge(rows, answer["data"], case.one, case.ordered)
        if verdict == "complete" and answer.get("complete") is False:
            verdict, notes = "doubted", ["the run says that there is more, and there is none"]
        if verdict != "complete" and not rows and answer.get("warnings"):
            notes.append(f"with warnings: {answer['warnings']}")
            verdict = "complete" if case.empty_or_error else verdict
    return verdict, [told + it for it in notes], answer


def measure(program_path, case, port, recorder, work):
    """One line of the report."""
    begun = time.monotonic()
    home = os.path.join(work, case.name)
    program = Program(program_path, home, case.host, port)
    path = os.path.join(home, f"{case.name}.har")
    line = {"name": case.name, "kind": case.kind, "expect": case.expect, "sentence": case.sentence, "notes": []}

    class Job:
        url, steps, examples = case.start, case.steps, case.inputs

    login = case.login
    trouble = recorder.record(Job, path, login)
    if trouble:
        return {**line, "result": "no recording", "outcome": "-", "notes": [trouble]}
    if case.bend:
        with open(path, encoding="utf-8") as file:
            log = json.load(file)
        case.bend(log["log"])
        with open(path, "w", encoding="utf-8") as file:
            json.dump(log, file, ensure_ascii=False)
    entry = learned(program, case, path)
    outcome = entry["outcome"]
    line["outcome"] = outcome
    line["task_id"] = entry.get("task_id")
    why = f"{entry.get('reason') or entry.get('error_code') or ''}: {entry.get('detail') or entry.get('error') or ''}"
    text = program.recipe(case.name)
    witness = re.search(r"^\s+witness:\s*(\S+)", text, re.MULTILINE)
    line["witness"] = witness.group(1) if witness else None
    line["seconds"] = round(time.monotonic() - begun, 1)
    if outcome != "verified":
        if outcome not in OUTCOMES:
            line["result"] = "failed"
        else:
            line["result"] = "rightly declined" if case.expect in (DECLINED, ANY, FIRST) else "wrongly declined"
        line["notes"].append(f"{outcome}: {why}"[:700])
        return line
    order = ["complete", "doubted", "failed", "partial", "wrong"]
    worst = "complete"
    line["given"] = []
    for values in case.inputs[2:]:
        verdict, notes, answer = run(program, case, values)
        line["notes"] += notes
        line["given"].append(str(answer.get("data"))[:600])
        worst = max(worst, verdict, key=order.index)
    if case.inspect and (wrong := case.inspect(text)):
        worst = "wrong"
        line["notes"].append(wrong)
    if case.expect == DECLINED:
        worst = "wrong"
        line["notes"].append("was to be declined, and is verified")
    # `doubted`: the answer is whole, and the run says that it is not.
    line["result"] = worst
    line["seconds"] = round(time.monotonic() - begun, 1)
    return line
