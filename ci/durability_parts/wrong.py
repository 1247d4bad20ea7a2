"""Writers that are wrong in one way each, and one that is right. They speak like the program, so the same checks look at what they
leave: a check that lets a wrong one pass shows nothing.

    wrong.py HOW REFERENCE HOME     writes the home folder REFERENCE again, as HOME
"""

import os
import sys

HOW = ["right", "inplace", "nofsync", "lax", "forgetful"]


def put(how, path, data):
    if how == "inplace":
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb", buffering=0) as file:
            for at in range(0, len(data), 1000):
                file.write(data[at : at + 1000])
            os.fsync(file.fileno())
        return
    folder, name = os.path.split(path)
    temp = os.path.join(folder, f".tmp-{os.getpid()}-{name}")
    with open(os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644 if how == "lax" else 0o600), "wb", buffering=0) as file:
        file.write(data)
        if how != "nofsync":
            os.fsync(file.fileno())
    os.rename(temp, path)
    if how != "nofsync":
        sync(folder)


def sync(folder):
    held = os.open(folder, os.O_RDONLY)
    os.fsync(held)
    os.close(held)


def main(how, reference, home):
    for folder, folders, files in os.walk(reference):
        folders.sort()
        there = os.path.join(home, os.path.relpath(folder, reference))
        os.makedirs(there, 0o700, exist_ok=True)
        if how != "nofsync":
            sync(os.path.dirname(os.path.normpath(there)))
        for name in os.listdir(there):
            # Left by a run that was killed.
            if name.startswith(".tmp-") and how != "forgetful":
                os.remove(os.path.join(there, name))
        for name in sorted(files):
            path = os.path.join(there, name)
            with open(os.path.join(folder, name), "rb") as file:
                data = file.read()
            if not os.path.exists(path) or open(path, "rb").read() != data:
                put(how, path, data)
            print("wrote", os.path.join(os.path.relpath(folder, reference), name), flush=True)


if __name__ == "__main__":
    os.umask(0o022 if sys.argv[1] == "lax" else 0o077)
    main(*sys.argv[1:])
