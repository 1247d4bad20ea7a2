"""What the system says of processes, and what is left of a drill: all of it by /proc and by names of files."""

import contextlib
import fcntl
import os


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def everyone():
    """Parents by process; what has ended and is not collected is nobody."""
    out = {}
    for it in os.listdir("/proc"):
        if it.isdigit():
            words = _read(f"/proc/{it}/stat").rpartition(b")")[2].split()
            if words and words[0] not in (b"Z", b"X"):
                out[int(it)] = int(words[1])
    return out


def below(pid):
    """Processes that it started, and those that they started."""
    parents, found, more = everyone(), [], [pid]
    while more:
        at = more.pop()
        children = [it for it, parent in parents.items() if parent == at]
        found += children
        more += children
    return found


def since(pid):
    """When it began, in ticks, by which another process of that number is told apart; nothing where it has ended."""
    words = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return int(words[19]) if words and words[0] not in (b"Z", b"X") else None


class Seen:
    """Processes that a daemon had below it: those of a browser do not say whose they are once it is gone."""

    def __init__(self):
        self.all = {}

    def note(self, pid):
        for it in [pid, *below(pid)] if pid else []:
            self.all[it] = since(it)

    def alive(self):
        return [it for it, begun in self.all.items() if begun and since(it) == begun]


def words(pid):
    return _read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode("utf-8", "replace")


def renderers(pid):
    return [it for it in below(pid) if kind(it) == "pages"]


def kind(pid):
    """What a process of Chromium is there for: pages, the network, or all else."""
    said = words(pid)
    return "pages" if "--type=renderer" in said else "network" if "network.mojom" in said else "else"


def at(path):
    """Processes that have that path in their words or in their environment, but for this one."""
    wanted = str(path).encode()
    return [
        it
        for it in everyone()
        if it != os.getpid() and any(wanted in _read(f"/proc/{it}/{what}") for what in ("cmdline", "environ"))
    ]


def memory(pid):
    """Resident, and its share of what no file holds, KiB: its share of the program's own file depends on who else runs it."""
    out = {"Rss:": 0, "Pss_Anon:": 0, "Pss_Shmem:": 0}
    for line in _read(f"/proc/{pid}/smaps_rollup").decode().splitlines():
        name, _, rest = line.partition(" ")
        if name in out:
            out[name] = int(rest.split()[0])
    return out["Rss:"], out["Pss_Anon:"] + out["Pss_Shmem:"]


def count(pid, what):
    """How many files it has open (`fd`), how many threads it has (`task`)."""
    try:
        return len(os.listdir(f"/proc/{pid}/{what}"))
    except OSError:
        return 0


def sockets(pid):
    """How many of them it has open."""
    number = 0
    with contextlib.suppress(OSError):
        for it in os.listdir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                number += os.readlink(f"/proc/{pid}/fd/{it}").startswith("socket:")
    return number


def files(folder):
    """How many there are, and their bytes."""
    number = size = 0
    for at, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(at, name)).st_size
                number += 1
    return number, size


def left(base, seen=None):
    """What a drill left: processes, profiles and temporary files, sockets, locks that are held."""
    out = [f"process {it}: {words(it)[:80]}" for it in sorted({*at(base), *(seen.alive() if seen else [])})]
    tmp, home = os.path.join(base, "tmp"), os.path.join(base, "home")
    out += [f"temporary: {it}" for it in sorted(os.listdir(tmp))]
    for folder, folders, names in os.walk(home):
        out += [f"half-written: {os.path.join(folder, it)}" for it in [*folders, *names] if it.startswith(".tmp-")]
    out += [f"socket: {it.decode()}" for it in _read("/proc/net/unix").split() if base.encode() in it]
    held = os.path.join(home, "serve", "held")
    if os.path.isdir(held):
        folder = os.open(held, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            out.append("lock: the home is held")
        finally:
            os.close(folder)
    if os.path.exists(os.path.join(home, "serve", "daemon.json")):
        out.append("the home says that a daemon serves it")
    return out
