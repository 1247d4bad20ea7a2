"""Power cuts. A file holds a file system that is mounted; the program is stopped at a random time and the file is copied: that is the
disk as it was then, without what was only in memory. What had been acknowledged must be on the copy. Needs root and loop devices."""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import wrong
from kills import Sweep
from store import Look
from traced import TIMEOUT

# Name to: how to make it, its type, mount options, size in MiB, how to mend it, the package that brings it.
DISKS = {
    "ext4": ("mkfs.ext4 -q -F", "ext4", "commit=300", 48, "e2fsck -fy", "e2fsprogs"),
    "ext4 without a journal": ("mkfs.ext4 -q -F -O ^has_journal", "ext4", "", 48, "e2fsck -fy", "e2fsprogs"),
    "xfs": ("mkfs.xfs -q -f", "xfs", "nouuid", 320, None, "xfsprogs"),
    "btrfs": ("mkfs.btrfs -q -f", "btrfs", "commit=300", 128, None, "btrfs-progs"),
    "f2fs": ("mkfs.f2fs -q -f", "f2fs", "", 64, None, "f2fs-tools"),
}


def quiet(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def has(kind):
    if shutil.which("modprobe"):
        quiet("modprobe", kind)
    with open("/proc/filesystems", encoding="utf-8") as file:
        return kind in file.read().split()


def disk_as_it_is(image):
    """A copy of one moment: what the kernel writes while the file is copied would make it one of several."""
    copy, again = image + ".cut", image + ".again"
    assert quiet("cp", "--sparse=always", image, again).returncode == 0
    for _ in range(20):
        os.replace(again, copy)
        assert quiet("cp", "--sparse=always", image, again).returncode == 0
        if quiet("cmp", "-s", copy, again).returncode == 0:
            os.remove(again)
            return copy
    raise RuntimeError("the disk does not come to rest")


class Power(Sweep):
    how = None

    def command(self, home):
        if self.how is None:
            return super().command(home)
        return [sys.executable, wrong.__file__, self.how, self.home, home]

    def reference(self):
        super().reference()
        self.ids = {os.path.basename(os.path.dirname(it)).rsplit("-", 1)[0]: os.path.dirname(it) for it in self.end.artifacts}

    def run_to_end(self, home):
        return subprocess.run(self.command(home), capture_output=True, text=True, check=True).stderr

    def acknowledged(self, said):
        """Paths of what the program had finished when it said this. Of a task from a file nothing was observed that the file does
        not tell again: it is on the disk when the task has ended."""
        out = set()
        for line in said.splitlines():
            if line.startswith("wrote "):
                out.add(line[6:])
            task, _, what = line.partition(": ")
            if task in self.ids and what.startswith("saved_draft"):
                out |= {it for it in self.end.artifacts if os.path.dirname(it) == self.ids[task]} | {f"recipes/{task}.yaml"}
        return {it for it in out if it in self.end.artifacts or it in self.end.recipes}

    def cut(self, name, image, at, after):
        """How many files were acknowledged, and how many of them are not on the disk whole."""
        _, kind, options, _, mend, _ = DISKS[name]
        home = os.path.join(at, "home")
        said = os.path.join(self.scratch, "said")
        with open(said, "w", encoding="utf-8") as file:
            child = subprocess.Popen(self.command(home), stdout=file, stderr=file)
        try:
            child.wait(after)
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGSTOP)
        with open(said, encoding="utf-8") as file:
            promised = self.acknowledged(file.read())
        copy = disk_as_it_is(image)
        child.kill()
        child.wait()
        assert quiet("umount", at).returncode == 0
        if mend:
            quiet(*mend.split(), copy)
        mounted = quiet("mount", "-t", kind, "-o", ",".join(filter(None, ["loop", options.replace("commit=300", "")])) or "loop", copy, at)
        if mounted.returncode != 0:
            self.note("torn", f"{name}: the copy cannot be mounted: {mounted.stderr}")
            return len(promised), len(promised)
        lost = self.look(name, home, promised)
        assert quiet("umount", at).returncode == 0
        os.remove(copy)
        return len(promised), lost

    def look(self, name, home, promised):
        there = Look(home) if os.path.isdir(home) else None
        found = {**there.artifacts, **there.recipes} if there else {}
        lost = sorted(it for it in promised if it not in found)
        if lost:
            self.note("lost_stages", f"{name}: {lost}")
        if there and there.torn:
            self.note("torn", f"{name}: {there.torn}")
        if there and self.how is None:
            resumed = subprocess.run(self.command(home), capture_output=True, text=True, check=False)
            self.judge(f"{name} after a power cut", there, Look(home), resumed)
        return len(lost)

    def cuts(self, name, n, longest=None):
        """Of `n` cuts, at random times or when it has ended: how many kept all that was acknowledged, and how much that was."""
        make, kind, options, size, _, _ = DISKS[name]
        image, at = os.path.join(self.scratch, "image"), os.path.join(self.scratch, "mounted")
        os.makedirs(at, exist_ok=True)
        kept = total = 0
        for _ in range(n):
            if os.path.exists(image):
                os.remove(image)
            with open(image, "wb") as file:
                file.truncate(size << 20)
            made = quiet(*make.split(), image)
            mounted = quiet("mount", "-t", kind, "-o", ",".join(filter(None, ["loop", options])), image, at)
            if made.returncode or mounted.returncode:
                raise PermissionError(f"{made.stderr} {mounted.stderr}".strip())
            try:
                promised, lost = self.cut(name, image, at, longest or random.uniform(0.1, self.takes * 1.2))
                total += promised
                kept += lost == 0
            finally:
                quiet("umount", "-l", at)
                os.remove(image)
        return kept, total


def main(binary, scratch, long):
    # Loop devices are slow enough on a disk, and a disk in memory is none to the kernel.
    place = tempfile.mkdtemp(dir="/var/tmp")
    sweep = Power(binary, scratch, None)
    sweep.reference()
    sweep.scratch = place
    begun = time.monotonic()
    sweep.run_to_end(os.path.join(place, "home"))
    sweep.takes = time.monotonic() - begun
    bad, seen = [], 0
    n = 20 if long else 10
    try:
        for name, (make, kind, *_, package) in DISKS.items():
            if shutil.which(make.split()[0]) is None and long:
                quiet("apt-get", "install", "-qq", "-y", package)
            if shutil.which(make.split()[0]) is None or not has(kind):
                print(f"  skipped: {name} is not on this machine")
                continue
            try:
                kept, total = sweep.cuts(name, n)
            except PermissionError as err:
                print(f"  skipped: {name}: {err}")
                continue
            seen += 1
            print(f"  {name}: {kept} of {n} cuts kept all of what was acknowledged ({total} files in all)", flush=True)
            if kept != n:
                bad.append(f"{name}: {n - kept} cuts lost something")
        if seen:
            bad += proof(sweep, n)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    bad += [it for it in ("torn", "wrong_mode", "resume_failed", "other_outcome", "temps_after_resume") if sweep.count[it]]
    for it in sweep.notes[:20]:
        print("  " + it, file=sys.stderr)
    return bad


def proof(sweep, n):
    """A writer that syncs nothing must be found out by the same cuts; one that does must not."""
    counts, notes, bad = dict(sweep.count), list(sweep.notes), []
    for how, fine in [("right", True), ("nofsync", False)]:
        sweep.how = how
        kept, total = sweep.cuts("ext4", n, TIMEOUT)
        print(f"  {how} writer: {kept} of {n} cuts kept all ({total} files in all)", flush=True)
        if (kept == n) != fine:
            bad.append(f"a writer that is {how} kept all in {kept} of {n} cuts")
    sweep.count, sweep.notes, sweep.how = counts, notes, None
    return bad
