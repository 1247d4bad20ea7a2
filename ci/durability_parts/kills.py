"""SIGKILL at every call that touches the store, one run per call; then a look, and the same command with --resume."""

import concurrent.futures
import os
import shutil
import subprocess
import sys
import tempfile

from sleeper import Sleeper
from store import Look, manifest, outcomes
from traced import killed, points, spread

TASKS = 3


class Sweep:
    # Calls to be killed at; all by default.
    calls = None

    def __init__(self, binary, scratch, limit, workers=2):
        self.binary, self.scratch, self.limit, self.workers = binary, scratch, limit, workers
        self.manifest = manifest(scratch, TASKS)
        self.count = dict.fromkeys(
            "points killed torn wrong_mode temps_after_resume lost_stages other_outcome resume_failed".split(), 0
        )
        self.notes = []

    def command(self, home):
        return [self.binary, "--home", home, "recipe", "learn-batch", "--manifest", self.manifest, "--no-network", "--resume", "--jobs", "1"]

    def fresh(self):
        return tempfile.mkdtemp(dir=self.scratch)

    def note(self, kind, what):
        self.count[kind] += 1
        self.notes.append(f"{kind}: {what}")

    def reference(self):
        """What an undisturbed run leaves."""
        home = self.fresh()
        subprocess.run(self.command(home), capture_output=True, check=True)
        self.home, self.end = home, Look(home)
        self.outcomes = outcomes(home)
        assert not (self.end.torn or self.end.modes or self.end.temps), vars(self.end)
        assert len(self.end.artifacts) >= 10 * TASKS and len(self.end.recipes) == TASKS, vars(self.end)

    def point(self, call, ordinal, prepare):
        home = self.fresh()
        holder = prepare(home)
        dead = killed(self.command(home), call, ordinal)
        after = Look(home)
        where = f"{call} {ordinal}"
        self.count["points"] += 1
        self.count["killed"] += dead
        for kind, found in [("torn", after.torn), ("wrong_mode", after.modes)]:
            if found:
                self.note(kind, f"{where}: {found}")
        resumed = subprocess.run(self.command(home), capture_output=True, text=True, check=False)
        self.judge(where, after, Look(home), resumed)
        if holder:
            holder.end()
        shutil.rmtree(home)

    def judge(self, where, after, end, resumed):
        if resumed.returncode != 0:
            self.note("resume_failed", f"{where}: {resumed.returncode} {resumed.stderr[-400:]}")
            return
        if end.torn or end.modes:
            self.note("torn", f"{where}, resumed: {end.torn + end.modes}")
        if end.temps:
            self.note("temps_after_resume", f"{where}: {end.temps}")
        lost = [path for path, it in after.artifacts.items() if end.artifacts.get(path) != it]
        if lost:
            self.note("lost_stages", f"{where}: {lost}")
        same = end.hashes() == self.end.hashes() and outcomes(end.home) == self.outcomes
        if not same or set(end.recipes) != set(self.end.recipes) or end.proofs != self.end.proofs:
            self.note("other_outcome", f"{where}: {outcomes(end.home)}")

    def sweep(self, name, prepare):
        home = self.fresh()
        holder = prepare(home)
        found = points(self.command(home), home, self.scratch)
        if holder:
            holder.end()
        found = {call: it for call, it in found.items() if self.calls is None or call in self.calls}
        chosen = spread(found, self.limit)
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(lambda it: self.point(*it, prepare), chosen))
        print(f"  {name}: {len(chosen)} of {sum(map(len, found.values()))} points, {len(found)} calls", flush=True)

    def relieve(self, home):
        """A home whose first task was begun and is held by a process that stands still."""
        shutil.copytree(self.home, home, dirs_exist_ok=True)
        tasks = sorted(it for it in os.listdir(os.path.join(home, "artifacts")) if it.startswith("books-"))
        folder = os.path.join(home, "artifacts", tasks[0])
        for it in sorted(os.listdir(folder))[4:]:
            os.remove(os.path.join(folder, it))
        return Sleeper(folder)


def main(binary, scratch, long):
    sweep = Sweep(binary, scratch, None if long else 24)
    sweep.reference()
    sweep.sweep("killed while it learns", lambda home: None)
    sweep.limit = None if long else 16
    sweep.sweep("killed while it relieves a sleeper", sweep.relieve)
    print("  " + ", ".join(f"{it} {n}" for it, n in sweep.count.items()))
    for it in sweep.notes[:20]:
        print("  " + it, file=sys.stderr)
    bad = [it for it, n in sweep.count.items() if n and it not in ("points", "killed")]
    # Points are ordinals of any thread: most must have been reached, or the sweep shows nothing.
    if sweep.count["killed"] * 10 < sweep.count["points"] * 7:
        bad.append("too few points were reached")
    return bad
