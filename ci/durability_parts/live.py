"""A live batch in Chromium, killed at random times until it is done, over and over. The web it learns from counts in a process
of its own, so what was recorded or replayed twice is seen."""

import collections
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

from store import Look, outcomes

# Their pages are loaded for a recording, and for nothing else: their requests are replayed without a page.
TASKS = ["shop-search", "city-forecast", "library-books"]
RECORDINGS = ["01_session_recording.json", "01b_session_recording.json"]


def manifest(place):
    with open("manifests/quickstart.yaml", encoding="utf-8") as file:
        head, *entries = re.split(r"(?m)^(?=  - name: )", file.read())
    chosen = [it for it in entries if re.match(r"  - name: (.*)", it)[1] in TASKS]
    assert len(chosen) == len(TASKS)
    path = os.path.join(place, "live.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + "".join(chosen))
    return path


class Web:
    def __init__(self, binary):
        serve = [binary, "testbed", "serve", "--port", "0", "--until-eof"]
        self.child = subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.pin = self.child.stdout.readline().split()[1]
        self.port = self.pin.rsplit(":", 1)[1]

    def page_loads(self):
        """By task: how often its page was loaded."""
        ask = urllib.request.Request(f"http://127.0.0.1:{self.port}/hits", headers={"Host": "control.test"})
        with urllib.request.urlopen(ask, timeout=30) as answer:
            hits = json.load(answer)
        return {task: hits.get(f"{task.split('-')[0]}.test GET /", 0) for task in TASKS}

    def end(self):
        self.child.stdin.close()
        self.child.wait(30)


def recorded(look):
    """By task: how many of its recordings are finished."""
    done = collections.Counter()
    for path in look.artifacts:
        folder, name = os.path.split(path)
        task = os.path.basename(folder).rsplit("-", 1)[0]
        if name == RECORDINGS[0] or (name == RECORDINGS[1] and json.loads(look.artifacts[path])["payload"].get("recording")):
            done[task] += 1
    return done


class Batch:
    def __init__(self, binary, scratch, seed):
        self.scratch, self.random = scratch, random.Random(seed)
        os.environ["no_proxy"] = "*"
        self.web = Web(binary)
        self.base = [binary, "--test-host", self.web.pin]
        self.rest = ["recipe", "learn-batch", "--manifest", manifest(scratch), "--resume"]
        self.count = dict.fromkeys(
            "kills batches torn wrong_mode temps_after_resume lost_stages recorded_again replayed_again other_outcome failed".split(), 0
        )
        self.notes = []

    def note(self, kind, what):
        self.count[kind] += 1
        self.notes.append(f"{kind}: {what}")

    def start(self, home):
        said = open(os.path.join(self.scratch, "said"), "w", encoding="utf-8")
        return subprocess.Popen([*self.base, "--home", home, *self.rest], stdout=said, stderr=said)

    def said(self):
        with open(os.path.join(self.scratch, "said"), encoding="utf-8") as file:
            return file.read()[-600:]

    def look(self, home, where):
        it = Look(home) if os.path.isdir(home) else None
        for kind, found in [("torn", it and it.torn), ("wrong_mode", it and it.modes)]:
            if found:
                self.note(kind, f"{where}: {found}")
        for path, lines in (it.journals if it else {}).items():
            keys = collections.Counter((line["run"], line["key"]) for line in lines)
            again = [key for key, n in keys.items() if n > 1]
            if again:
                self.note("replayed_again", f"{where}: {path} {again}")
        return it

    def undisturbed(self):
        home = tempfile.mkdtemp(dir=self.scratch)
        begun = time.monotonic()
        assert self.start(home).wait(300) == 0, self.said()
        self.takes = time.monotonic() - begun
        self.outcomes = outcomes(home)
        assert all(it == ("verified", None) for it in self.outcomes.values()), self.outcomes
        assert all(n == 2 for n in self.web.page_loads().values()), self.web.page_loads()
        shutil.rmtree(home)

    def patience(self):
        """Seconds until the kill: any moment as likely as another, or early ones more so, which cost less."""
        first, last = 0.02, self.takes
        if self.random.random() < 0.5:
            return self.random.uniform(first, last)
        return first * (last / first) ** self.random.random()

    def until_done(self, kills):
        """One batch, killed until a run gets to its end or so many kills were made."""
        home, before, run = tempfile.mkdtemp(dir=self.scratch), None, 0
        while True:
            run += 1
            where = f"batch {self.count['batches']} run {run}"
            loads = self.web.page_loads()
            done = recorded(before) if before else collections.Counter()
            child = self.start(home)
            last = self.count["kills"] >= kills
            try:
                code = child.wait(300 if last else self.patience())
            except subprocess.TimeoutExpired:
                child.kill()
                code = child.wait()
            now = self.look(home, where)
            for task, n in self.web.page_loads().items():
                if n - loads[task] > 2 - done[task]:
                    self.note("recorded_again", f"{where}: {task} {n - loads[task]} loads, {done[task]} recordings were there")
            lost = [path for path, it in (before.artifacts if before else {}).items() if now.artifacts.get(path) != it]
            if lost:
                self.note("lost_stages", f"{where}: {lost}")
            if code == 0:
                break
            if code != -9:
                self.note("failed", f"{where}: {code} {self.said()}")
                break
            self.count["kills"] += 1
            if self.count["kills"] % 50 == 0:
                print(f"  so far: {self.count['kills']} kills, {self.count['batches']} batches, {len(self.notes)} complaints", flush=True)
            before = now
        self.count["batches"] += 1
        if now.temps:
            self.note("temps_after_resume", f"{where}: {now.temps}")
        if code == 0 and outcomes(home) != self.outcomes:
            self.note("other_outcome", f"{where}: {outcomes(home)}")
        shutil.rmtree(home)


def main(binary, scratch, long):
    kills = 1000 if long else 8
    seed = random.SystemRandom().randrange(10**6)
    batch = Batch(binary, scratch, seed)
    try:
        batch.undisturbed()
        while batch.count["kills"] < kills:
            batch.until_done(kills)
    finally:
        batch.web.end()
    print(f"  seed {seed}: " + ", ".join(f"{it} {n}" for it, n in batch.count.items()))
    for it in batch.notes[:20]:
        print("  " + it, file=sys.stderr)
    return [it for it, n in batch.count.items() if n and it not in ("kills", "batches")]
