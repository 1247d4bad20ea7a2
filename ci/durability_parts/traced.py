"""A command under strace: which of its calls touch a folder, and what it does when one of them is its last or fails.

strace counts calls per number and per thread, so a point is a call's name and its ordinal."""

import collections
import os
import re
import signal
import subprocess

CALLS = (
    # Reads change nothing: what a kill at one leaves, a kill at the call before it leaves as well.
    "mkdir mkdirat openat write pwrite64 fsync fdatasync rename renameat renameat2 unlink unlinkat flock utimensat fchmod"
    " newfstatat getdents64 close ftruncate"
).split()
TIMEOUT = 60


def known(calls):
    """Those of the calls that this machine has."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    asked = [(it, subprocess.run(["strace", "-qq", "-o", "/dev/null", f"-etrace={it}", "true"], **quiet, check=False)) for it in calls]
    return [it for it, end in asked if end.returncode == 0]


def points(command, folder, scratch, calls=CALLS):
    """Calls on files below `folder`: name to the ordinals at which some thread made one."""
    log = os.path.join(scratch, "trace")
    trace = "-etrace=" + ",".join(known(calls))
    subprocess.run(["strace", "-f", "-y", "-qq", "-o", log, trace, *command], capture_output=True, check=False, timeout=TIMEOUT)
    seen, out = collections.Counter(), collections.defaultdict(set)
    with open(log, encoding="utf-8", errors="replace") as file:
        for line in file:
            it = re.match(r"(\d+)\s+(\w+)\(", line)
            if it is None:
                continue
            seen[it[1], it[2]] += 1
            if folder in line:
                out[it[2]].add(seen[it[1], it[2]])
    return {name: sorted(it) for name, it in out.items()}


def killed(command, call, ordinal):
    """Whether it was killed on entry to that call."""
    strace = ["strace", "-f", "-qq", "-o", "/dev/null", f"-etrace={call}", f"-einject={call}:signal=KILL:when={ordinal}"]
    end = subprocess.run([*strace, *command], capture_output=True, check=False, timeout=TIMEOUT)
    return end.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)


class Fault:
    """The command with one call failing: exit code (None when it hung) and stderr."""

    def __init__(self, command, call, error, when, log):
        strace = ["strace", "-f", "-y", "-qq", "-o", log, f"-etrace={call}", f"-einject={call}:error={error}:when={when}"]
        quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "errors": "replace"}
        child = subprocess.Popen([*strace, *command], start_new_session=True, **quiet)
        try:
            self.said, self.code = child.communicate(timeout=TIMEOUT)[1], child.returncode
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            self.said, self.code = child.communicate()[1], None
        with open(log, encoding="utf-8", errors="replace") as file:
            failed = [it for it in file if "(INJECTED)" in it]
        os.remove(log)
        # Threads take turns, so an ordinal may meet a call by which they wake each other; those never fail. 127: the program was
        # not even loaded.
        self.astray = self.code == 127 or any("<anon_inode:" in it or "socket:[" in it for it in failed)


def spread(all_points, limit):
    """At most so many points, from all of them and from every call."""
    flat = [(call, it) for call in sorted(all_points) for it in all_points[call]]
    if limit is None or len(flat) <= limit:
        return flat
    step = len(flat) / limit
    return [flat[int(i * step)] for i in range(limit)]
