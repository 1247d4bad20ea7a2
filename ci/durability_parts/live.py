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

# Task to its page, which is loaded for a recording and for nothing else, and to the request that is replayed without a page.
TASKS = {
    "shop-search": ("shop.test GET /", "shop.test GET /api/search"),
    "city-forecast": ("city.test GET /", "city.test GET /api/weather/"),
    "library-books": ("library.test GET /", "library.test GET /v1/books"),
}
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
    def __init__(self, binary, place):
        self.ca = os.path.join(place, "ca.pem")
        serve = [binary, "testbed", "serve", "--port", "0", "--until-eof", "--ca", self.ca]
        self.child = subprocess.Popen(serve, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.pin = self.child.stdout.readline().split()[1]
        while not self.child.stdout.readline().startswith("--test-ca"):
            pass
        self.port = self.pin.rsplit(":", 1)[1]

    def hits(self):
        """By task: how often its page was loaded, and how often its request was sent, by a page or as a replay."""
        ask = urllib.request.Request(f"http://127.0.0.1:{self.port}/hits", headers={"Host": "control.test"})
        with urllib.request.urlopen(ask, timeout=30) as answer:
            hits = json.load(answer)
        calls = {task: sum(n for key, n in hits.items() if key.startswith(call)) for task, (_, call) in TASKS.items()}
        return {task: (hits.get(page, 0), calls[task]) for task, (page, _) in TASKS.items()}

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


def replayed(look):
    """By task: how many replays its journal holds."""
    return collections.Counter({path.split(os.sep)[-2].rsplit("-", 1)[0]: len(it) for path, it in look.journals.items()})


class Batch:
    def __init__(self, binary, scratch, seed):
        self.scratch, self.random = scratch, random.Random(seed)
        os.environ["no_proxy"] = "*"
        self.web = Web(binary, scratch)
        self.base = [binary, "--test-host", self.web.pin, "--test-ca", self.web.ca]
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
        return it

    def undisturbed(self):
        home = tempfile.mkdtemp(dir=self.scratch)
        begun = time.monotonic()
        assert self.start(home).wait(300) == 0, self.said()
        self.takes = time.monotonic() - begun
        self.outcomes = outcomes(home)
        assert all(it == ("verified", None) for it in self.outcomes.values()), self.outcomes
        hits = self.web.hits()
        assert all(loads == 2 for loads, _ in hits.values()), hits
        # Two recordings send it, too.
        self.calls = {task: n for task, (_, n) in hits.items()}
        assert all(n > 4 for n in self.calls.values()), hits
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
            hits = self.web.hits()
            done, noted = (recorded(before), replayed(before)) if before else (collections.Counter(), collections.Counter())
            child = self.start(home)
            last = self.count["kills"] >= kills
            try:
                code = child.wait(300 if last else self.patience())
            except subprocess.TimeoutExpired:
                child.kill()
                code = child.wait()
            now = self.look(home, where)
            for task, (loads, calls) in self.web.hits().items():
                loads, calls = loads - hits[task][0], calls - hits[task][1]
                if loads > 2 - done[task]:
                    self.note("recorded_again", f"{where}: {task} {loads} loads, {done[task]} recordings were there")
                # What an undisturbed run sends, less what this one found done.
                if calls > self.calls[task] - done[task] - noted[task]:
                    self.note("replayed_again", f"{where}: {task} {calls} calls, {noted[task]} replays were noted")
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
