"""A holder of a task that stands still: its lock, its lease, and no heartbeat for two minutes."""

import datetime
import fcntl
import json
import os
import time

SILENT = 120


class Sleeper:
    def __init__(self, folder):
        self.fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with open("/proc/self/stat", encoding="utf-8") as file:
            started = int(file.read().rsplit(")", 1)[1].split()[19])
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        path = os.path.join(folder, "lease.json")
        with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
            json.dump({"pid": os.getpid(), "started": started, "since": now}, file)
        quiet(path)

    def end(self):
        os.close(self.fd)


def quiet(lease):
    """Sets back when the holder was last heard of."""
    heard = int(time.clock_gettime(time.CLOCK_MONOTONIC)) - SILENT
    os.utime(lease, (heard, heard))
