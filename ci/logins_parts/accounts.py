"""Learns an application's tasks with its accounts, runs them as each of them, and judges what comes of it."""

import importlib
import json
import os
import re

from app import App
from judge import Item, judge, plain, tokens
from learn import Commis, part
from members import FIRST, SECOND, Members

NAMES = "djangoadmin oscar roundup mediawiki dokuwiki wagtail flaskadmin helpdesk trac todo".split()
VERDICTS = ["verified and whole", "declined rightly", "draft", "declined wrongly", "failed", "wrong"]


def apps():
    for name in NAMES:
        module = importlib.import_module(f"with_{name}")
        yield from (it for it in vars(module).values() if isinstance(it, type) and issubclass(it, Members) and it is not Members)


ALL = list(apps())
assert all(issubclass(it, App) for it in ALL)


class Learner:
    def __init__(self, program, home, app, hosts):
        self.app = app
        self.commis = Commis(program, home, hosts)

    def log_in(self):
        """Seals a login of each account; why one could not be, else nothing."""
        for account in (FIRST, SECOND):
            os.environ["LOGINS_NAME"], os.environ["LOGINS_WORD"] = self.app.account(account), self.app.words[account]
            if self.app.basic:
                fill = ["--basic", "env:LOGINS_NAME,env:LOGINS_WORD"]
            else:
                fill = [it for field, name in zip(self.app.fields, ("NAME", "WORD")) for it in ("--fill", f"{field}=env:LOGINS_{name}")]
            url = f"http://{self.app.hosts[0]}{self.app.login}"
            code, out, err = self.commis.call("session", "login", account, url, *fill, seconds=90)
            if code != 0:
                return f"login: {(err or out).strip()[-300:]}"
        return ""

    def form(self, account):
        """The login form as the recorder of HARs fills it in."""
        steps = []
        for field, value in zip(self.app.fields, (self.app.account(account), self.app.words[account])):
            if field.startswith("css="):
                named = {"css": field[4:]}
            else:
                role, _, name = field.partition(" ")
                named = {"role": role, "name": name.strip('"')}
            steps.append({"fill": {**named, "value": value}})
        return {"url": f"http://{self.app.hosts[0]}{self.app.login}", "steps": [*steps, {"press": "Enter"}]}

    def measure_har(self, task, recorder):
        """The same task from a HAR of the first account's session: a draft that says what it needs, then proven with the login."""
        path = os.path.join(self.commis.home, f"{task.name}.har")
        line = {"task": f"{task.name} (HAR)", "notes": []}
        if trouble := recorder.record(task, path, self.form(FIRST)):
            return {**line, "right": "failed", "why": f"no recording: {trouble}"}
        alone = self.learn(task, ["--har", path, "--force"], [])
        if not task.public:
            wants = bool(part(self.commis.recipe(task.name), "login"))
            if alone["outcome"] == "verified":
                return {**line, "right": "wrong", "why": "verified without a login", "notes": ["wrong: verified without a login"]}
            if alone["outcome"] == "saved_draft" and wants:
                answer = self.run(task, task.examples[0], "", "--draft")
                if answer.get("error_code") != "LOGIN_REQUIRED":
                    line["notes"].append(f"failed: a run without a login says {answer.get('error_code')}")
            else:
                line["notes"].append(f"without a login: {alone['outcome']}: {alone.get('reason')}: {alone.get('detail')}")
        found = self.judged(task, self.learn(task, ["--har", path, "--force"], self.both(task)))
        return {**found, "task": line["task"], "notes": line["notes"] + found["notes"]}

    def by_steps(self, task):
        steps = os.path.join(self.commis.home, f"{task.name}.steps.yaml")
        with open(steps, "w", encoding="utf-8") as file:
            json.dump(task.steps, file, indent=1)
        return self.learn(task, ["--url", task.url, "--steps", steps], self.both(task))

    @staticmethod
    def both(task):
        """The first account's login, and the second one's where nothing is typed: what is typed may be the first one's alone, or shared."""
        return ["--login", FIRST, *([] if task.examples[0] else ["--second-login", SECOND])]

    def learn(self, task, source, logins):
        args = ["recipe", "learn", *source, "--task", task.sentence, "--name", task.name, "--json", *logins]
        for flag, values in zip(("-p", "--second"), task.examples):
            args += [it for name, value in values.items() for it in (flag, f"{name}={value}")]
        code, out, err = self.commis.call(*args, seconds=180)
        try:
            entry = json.loads(out)
        except ValueError:
            entry = {}
        if "outcome" in entry:
            return entry
        said = re.search(r"\[([A-Z_]+)\]", err)
        return {"outcome": "failed", "reason": said and said.group(1), "detail": f"{code}: {(err.strip() or out)[-300:]}"}

    def run(self, task, values, account, *more):
        args = ["recipe", "run", task.name, "--json", *more, *[it for name, value in values.items() for it in ("-p", f"{name}={value}")]]
        code, out, err = self.commis.call(*args, *(["--as", account] if account else []), seconds=90)
        try:
            return json.loads(out)
        except ValueError:
            said = re.search(r"\[([A-Z_]+)\]", err)
            return {"success": False, "error_code": said and said.group(1), "error": f"{code}: {err.strip()[-200:]}"}

    def measure(self, task):
        return self.judged(task, self.by_steps(task))

    def judged(self, task, entry):
        why = ": ".join(str(it) for it in (entry["outcome"], entry.get("reason"), entry.get("detail")) if it)
        line = {"task": task.name, "why": why, "notes": []}
        if entry["outcome"] == "failed":
            return {**line, "right": "failed"}
        if entry["outcome"] != "verified":
            declined = "draft" if entry["outcome"] == "saved_draft" else "declined wrongly"
            return {**line, "right": declined if task.answerable else "declined rightly"}
        text = self.commis.recipe(task.name)
        line["why"] = " ".join(part(text, "login").split()) or "no login"
        needs = bool(part(text, "login"))
        notes = []
        if not task.answerable:
            notes.append(f"wrong: verified, though {task.because}")
        if needs == task.public:
            notes.append("wrong: it needs a login, though a stranger gets the same" if needs else "wrong: it says that it needs no login")
        asked = self.asked(task)
        verdicts = [self.check(task, values, account, needs, notes) for values, account in asked]
        of_second = [verdict == "right" for verdict, (_, account) in zip(verdicts, asked) if account == SECOND]
        wrong = bool(notes) and any(it.startswith("wrong") for it in notes) or "wrong" in verdicts
        right = "wrong" if wrong else "failed" if "failed" in verdicts else "verified and whole"
        return {**line, "right": right, "notes": notes, "of_second": of_second}

    @staticmethod
    def asked(task):
        values = task.examples[2:4] or task.examples[:1]
        both = [*values, task.examples[0]] if values[0] else values
        return [*[(it, FIRST) for it in values], *[(it, SECOND) for it in both], *[(it, "") for it in both[-1:]]]

    def check(self, task, values, account, needs, notes):
        answer = self.run(task, values, account if needs else "")
        told = f"{values} as {account or 'a stranger'}"
        if not account:
            if not task.public and answer.get("success"):
                notes.append(f"wrong: {told}: answered, though nobody is logged in")
                return "wrong"
            return "right"
        rows = task.rows(values, account)
        if not answer.get("success"):
            # Nothing to show may be an answer that says so, or none.
            if not rows:
                return "right"
            notes.append(f"failed: {told}: {answer.get('error_code')} {answer.get('error')}")
            return "failed"
        other = SECOND if account == FIRST else FIRST
        one = [it[0] if isinstance(it, tuple) else it or [] for it in (rows, task.rows(values, other))]
        if strange := others(*one, answer["data"]):
            notes.append(f"wrong: {told}: holds {other}'s {strange}")
            return "wrong"
        if rows is None:
            # A page that says that there is nothing of the kind is refused, too, where it says so.
            notes.append(f"wrong: {told}: answered, though it should be refused: {str(answer['data'])[:200]}")
            return "wrong"
        found = judge(task, rows, answer["data"])
        if found["verdict"] != "complete":
            notes.append(f"wrong: {told}: {found['verdict']}, {'; '.join(found['missing'])}")
            return "wrong"
        if task.page and len(one[0]) > found["given"] and answer.get("complete") is not False:
            notes.append(f"wrong: {told}: {found['given']} of {len(one[0])} items, and the run does not say so")
            return "wrong"
        return "right"


def others(own, foreign, data):
    """What of the other account's data alone stands in an answer."""
    known = {str(fact) for row in own for fact in row.values() if isinstance(fact, str)}
    said = Item(data).words
    for row in foreign:
        first = next((it for it in row.values() if isinstance(it, str) and len(plain(it)) > 3), None)
        if first and first not in known and tokens(plain(first)) in said:
            return first
    return ""
