"""What happens, in order, as a drill sees it: files that appear, requests that arrive. A drill waits for one of them, and strikes."""

import contextlib
import ctypes
import json
import os
import struct
import threading
import time

MODIFIED, MOVED_TO, CREATE, ISDIR = 0x2, 0x80, 0x100, 0x40000000
EVENT = struct.Struct("iIII")


class Moments:
    """Any thread tells; one waits."""

    def __init__(self):
        self.all, self.news = [], threading.Condition()

    def tell(self, name, **more):
        with self.news:
            self.all.append((name, more))
            self.news.notify_all()

    def mark(self):
        """From where on somebody wants to wait."""
        with self.news:
            return len(self.all)

    def wait(self, mark, name, seconds, nth=1, **wanted):
        """Until it was told for the nth time. Whether it was."""

        def is_there():
            fits = (it for it in self.all[mark:] if it[0] == name and all(it[1].get(key) == value for key, value in wanted.items()))
            return sum(1 for _ in fits) >= nth

        with self.news:
            return self.news.wait_for(is_there, seconds)


def state_of(path):
    """What a request's file says of it; nothing where there is none, `torn` where it cannot be read."""
    try:
        with open(path, "rb") as file:
            return json.loads(file.read())["state"]["is"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        return "torn"


@contextlib.contextmanager
def watched(folder, moments):
    """Tells `half` when a file begins to be written in the folder, and `state` when it has its name: at once, so a kill can land in it."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_CLOEXEC)
    if fd < 0 or libc.inotify_add_watch(fd, os.fsencode(folder), MOVED_TO | CREATE) < 0:
        raise OSError(ctypes.get_errno(), "inotify")

    def work():
        with contextlib.suppress(OSError):
            while data := os.read(fd, 65536):
                at = 0
                while at < len(data):
                    _, mask, _, length = EVENT.unpack_from(data, at)
                    name = data[at + EVENT.size : at + EVENT.size + length].rstrip(b"\0").decode()
                    at += EVENT.size + length
                    if name == ".stop":
                        return
                    if mask & CREATE and name.startswith(".tmp-") and not mask & ISDIR:
                        moments.tell("half")
                    elif mask & MOVED_TO and name.endswith(".json"):
                        moments.tell("state", id=name[:-5], state=state_of(os.path.join(folder, name)))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop = os.path.join(folder, ".stop")
        with open(stop, "wb"):
            pass
        os.unlink(stop)
        thread.join(5)
        os.close(fd)


def soon(seconds, what):
    """Asks until it is so, or the time is over. The last answer."""
    until = time.monotonic() + seconds
    while not (out := what()) and time.monotonic() < until:
        time.sleep(0.02)
    return out
