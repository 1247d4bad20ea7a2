"""Disks that are full, by bytes and by inodes, or become read-only; limits on the size of files. Mounts need root."""

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import time

from kills import Sweep
from store import Look


def mounted(options, at):
    os.makedirs(at, exist_ok=True)
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "commis", at], capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def tmpfs(options, at):
    if not mounted(options, at):
        raise PermissionError("no mounts here")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", at], check=False)


@contextlib.contextmanager
def loop(image, at):
    """The name of the device that the image is mounted from."""
    os.makedirs(at, exist_ok=True)
    made = subprocess.run(["mount", "-o", "loop,errors=remount-ro", image, at], capture_output=True, text=True, check=False)
    if made.returncode:
        raise PermissionError(made.stderr.strip())
    try:
        found = subprocess.run(["findmnt", "-no", "SOURCE", at], capture_output=True, text=True, check=True)
        yield os.path.basename(found.stdout.strip())
    finally:
        subprocess.run(["umount", at], check=False)


def remount(options, at):
    return subprocess.run(["mount", "-o", f"remount,{options}", at], capture_output=True, check=False).returncode == 0


class Full(Sweep):
    def __init__(self, *args):
        super().__init__(*args)
        self.count |= dict.fromkeys(["runs", "reported", "silent_losses", "no_code", "panics", "killed_by_limit"], 0)
        self.disk = os.path.join(self.scratch, "disk")

    def ended(self, where, home, end):
        """The run itself; then what it left."""
        self.count["runs"] += 1
        after = Look(home) if os.path.isdir(home) else None
        if end.returncode < 0:
            self.note("killed_by_limit", f"{where}: {end.returncode}")
        elif "panicked" in end.stderr or end.returncode >= 70:
            self.note("panics", f"{where}: {end.stderr[-300:]}")
        elif end.returncode == 0:
            if after.hashes() != self.end.hashes() or set(after.recipes) != set(self.end.recipes) or after.proofs != self.end.proofs:
                self.note("silent_losses", where)
        else:
            self.count["reported"] += 1
            if "[ARTIFACT_IO]" not in end.stderr or "hint: " not in end.stderr:
                self.note("no_code", f"{where}: {end.stderr[-300:]}")
        for kind, found in [("torn", after and after.torn), ("wrong_mode", after and after.modes)]:
            if found:
                self.note(kind, f"{where}: {found}")
        return after

    def run(self, home, **limits):
        return subprocess.run(self.command(home), capture_output=True, text=True, check=False, **limits)

    def again(self, where, home, after):
        resumed = self.run(home)
        if after is None:
            after = Look(home)
        self.judge(where, after, Look(home), resumed)

    def small(self, key, sizes, more):
        for size in sizes:
            with tmpfs(f"{key}={size},mode=700", self.disk):
                home = os.path.join(self.disk, "home")
                after = self.ended(f"{key} {size}", home, self.run(home))
                assert remount(more, self.disk)
                self.again(f"{key} {size}", home, after)

    def read_only(self, times):
        """A disk that meets an error and takes no more writes, as `errors=remount-ro` has it; files stay open."""
        image, done = os.path.join(self.scratch, "image"), 0
        for i in range(5 * times):
            if done == times:
                break
            with open(image, "wb") as file:
                file.truncate(48 << 20)
            subprocess.run(["mkfs.ext4", "-q", "-F", image], capture_output=True, check=True)
            home, where = os.path.join(self.disk, "home"), f"read-only, {i}"
            with loop(image, self.disk) as device:
                child = subprocess.Popen(self.command(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                # A fast machine is done soon, a slow one begins late.
                time.sleep(0.01 + 0.015 * (i % 5))
                with open(f"/sys/fs/ext4/{device}/trigger_fs_error", "w", encoding="ascii") as file:
                    file.write("1")
                said = child.communicate()[1]
                done += child.returncode != 0
                self.ended(where, home, subprocess.CompletedProcess([], child.returncode, "", said))
            subprocess.run(["e2fsck", "-fy", image], capture_output=True, check=False)
            with loop(image, self.disk):
                # Until now a file was to be seen whose write had failed: the last one, in memory alone.
                self.again(where, home, None)
        if done < times:
            self.note("no_code", f"only {done} of {times} runs met a disk that became read-only")
        os.remove(image)

    def largest(self, sizes):
        for size in sizes:
            home = self.fresh()
            limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
            after = self.ended(f"files of {size} bytes", home, self.run(home, preexec_fn=limit))
            self.again(f"files of {size} bytes", home, after)
            shutil.rmtree(home)


def steps(first, last, n):
    return [first + (last - first) * i // (n - 1) for i in range(n)]


def main(binary, scratch, long):
    sweep = Full(binary, scratch, None)
    sweep.reference()
    files = [*sweep.end.artifacts.values(), *sweep.end.recipes.values()]
    sweep.largest(steps(100, max(map(len, files)), 40 if long else 3))
    try:
        # Each file takes whole pages, and folders some more.
        need = sum(-len(it) // 4096 * -4096 for it in files) * 3 // 2
        sweep.small("size", steps(8192, need, 40 if long else 4), "size=64m")
        sweep.small("nr_inodes", steps(4, len(files) + 20, 40 if long else 4), "nr_inodes=10000")
        sweep.read_only(10 if long else 2)
    except PermissionError as err:
        print(f"  skipped: {err}, so no full disk and none that becomes read-only")
    print("  " + ", ".join(f"{it} {n}" for it, n in sweep.count.items() if it not in ("points", "killed")))
    for it in sweep.notes[:20]:
        print("  " + it, file=sys.stderr)
    return [it for it, n in sweep.count.items() if n and it not in ("runs", "reported")]
