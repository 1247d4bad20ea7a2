"""Every call that touches the store fails, once and from then on: no panic, no torn file, no loss that nobody is told of."""

import collections
import concurrent.futures
import shutil
import subprocess
import sys

from kills import Sweep
from store import Look, outcomes
from traced import CALLS, Fault, points, spread

# Errors that the call may really give.
ERRORS = {
    "mkdirat": ["ENOSPC", "EROFS", "EACCES"],
    "mkdir": ["ENOSPC", "EROFS"],
    "openat": ["EMFILE", "ENOSPC", "EROFS", "EIO", "EINTR"],
    "write": ["ENOSPC", "EIO", "EDQUOT", "EINTR"],
    "fsync": ["EIO", "ENOSPC", "EDQUOT", "EINTR"],
    "fdatasync": ["EIO", "ENOSPC"],
    "renameat": ["EIO", "ENOSPC", "EROFS"],
    "renameat2": ["EINVAL", "EIO"],
    "unlinkat": ["EIO", "EROFS"],
    "flock": ["ENOLCK", "EINTR"],
    "utimensat": ["EROFS", "EIO"],
    "newfstatat": ["EIO"],
    "getdents64": ["EIO"],
    "read": ["EIO"],
    "close": ["EIO"],
}
# What a failing disk may be reported as: that it fails, that it kept from taking a task over, that an input cannot be read.
CODES = "ARTIFACT_IO TASK_BUSY ARTIFACT_MISSING USAGE HAR_INVALID SETTINGS_INVALID MANIFEST_INVALID".split()


class Errors(Sweep):
    def __init__(self, *args):
        super().__init__(*args)
        self.count = dict.fromkeys(
            "runs astray reported panics hung killed silent_losses no_code no_hint torn wrong_mode temps_after_resume lost_stages"
            " other_outcome resume_failed".split(),
            0,
        )

    def fault(self, call, ordinal, error, sticky, prepare):
        home = self.fresh()
        holder = prepare(home)
        fault = Fault(self.command(home), call, error, f"{ordinal}{sticky}", f"{home}.log")
        after = Look(home)
        where = f"{call} {ordinal}{sticky} {error}"
        self.count["runs"] += 1
        if fault.astray:
            self.count["astray"] += 1
        else:
            self.ended(where, home, fault, after)
        for kind, found in [("torn", after.torn), ("wrong_mode", after.modes)]:
            if found:
                self.note(kind, f"{where}: {found}")
        resumed = subprocess.run(self.command(home), capture_output=True, text=True, check=False)
        self.judge(where, after, Look(home), resumed)
        if holder:
            holder.end()
        shutil.rmtree(home)

    def ended(self, where, home, fault, after):
        code, said = fault.code, fault.said
        self.count["reported"] += code in (1, 2, 3)
        if code is None:
            self.note("hung", where)
        elif "panicked" in said or code in (70, 101, 134):
            self.note("panics", f"{where}: {code} {said[-300:]}")
        elif code < 0 or code > 128:
            self.note("killed", f"{where}: {code}")
        elif code == 0:
            whole = after.hashes() == self.end.hashes() and set(after.recipes) == set(self.end.recipes) and after.proofs == self.end.proofs
            if not whole or outcomes(home) != self.outcomes:
                self.note("silent_losses", where)
        elif not any(f"[{it}]" in said for it in CODES):
            self.note("no_code", f"{where}: {code} {said[-300:]}")
        elif "hint: " not in said:
            self.note("no_hint", f"{where}: {said[-300:]}")

    def sweep(self, name, prepare):
        home = self.fresh()
        holder = prepare(home)
        found = points(self.command(home), home, self.scratch, [*CALLS, "read"])
        # There are hundreds, and all are of one kind.
        found["read"] = found["read"][:: max(1, len(found["read"]) // 20)]
        if holder:
            holder.end()
        faults = [
            (call, it, error, sticky)
            for call, it in spread(found, None)
            for error in ERRORS.get(call, [])
            # An interrupted call is tried again, for ever if it always is. Threads wake each other by reads and writes, which no
            # disk makes fail: `full` is where all writes to the store do.
            for sticky in (("",) if error == "EINTR" or call in ("read", "write", "close") else ("", "+"))
        ]
        chosen = faults[:: max(1, len(faults) // self.limit)]
        with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
            list(pool.map(lambda it: self.fault(*it, prepare), chosen))
        print(f"  {name}: {len(chosen)} of {len(faults)} faults", flush=True)


def main(binary, scratch, long):
    sweep = Errors(binary, scratch, 400 if long else 16)
    sweep.reference()
    sweep.sweep("fails while it learns", lambda home: None)
    sweep.limit = 200 if long else 8
    sweep.sweep("fails while it relieves a sleeper", sweep.relieve)
    print("  " + ", ".join(f"{it} {n}" for it, n in sweep.count.items()))
    # Of each kind the first few.
    kinds = collections.Counter()
    for it in sweep.notes:
        kinds[it.split(":")[0]] += 1
        if kinds[it.split(":")[0]] > 5:
            continue
        print("  " + it.strip(), file=sys.stderr)
    return [it for it, n in sweep.count.items() if n and it not in ("runs", "astray", "reported")]
