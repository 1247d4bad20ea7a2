"""HARs as people make them: the same steps, driven by Playwright, the bodies in the file."""

import glob
import json
import os
import subprocess

from place import Missing, Place, base

PINS = ("playwright-core@1.65.1",)
HERE = os.path.dirname(os.path.abspath(__file__))


class Tool:
    """Playwright stands beside the applications and is installed as they are."""

    name = "playwright"


def install():
    Place(base(), Tool()).node(PINS)


def chromium():
    named = os.environ.get("COMMIS_CHROMIUM")
    known = [named] if named else sorted(glob.glob("/usr/lib/chromium/chromium*"), reverse=True)
    for it in known:
        if os.path.basename(it) in ("chromium-headless-shell", "chromium") or it == named:
            return it
    raise Missing("there is no Chromium; scripts/install-chromium installs it")


class Recorder:
    """One browser for an application's recordings."""

    def __init__(self, hosts, log, patience):
        self.hosts, self.log, self.patience = hosts, log, patience

    def __enter__(self):
        place = Place(base(), Tool())
        rules = ",".join(
            [f"MAP {name}:80 127.0.0.1:{port}" for name, port in self.hosts.items()] + ["MAP * ~NOTFOUND", "EXCLUDE 127.0.0.1"]
        )
        command = [
            "node",
            os.path.join(HERE, "record.cjs"),
            os.path.join(place.npm, "node_modules", "playwright-core"),
            chromium(),
            rules,
            str(1000 * self.patience),
        ]
        self.file = open(self.log, "w", encoding="utf-8")  # noqa: SIM115
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.file,
            text=True,
            start_new_session=True,
        )
        return self

    def record(self, task, path, login=None):
        """Nothing, or why there is no recording. `login`: the page and the steps by which the session was logged in before."""
        job = {"url": fill(task.url, task.examples[0]), "steps": fill(task.steps, task.examples[0]), "path": path, "login": login}
        try:
            self.child.stdin.write(json.dumps(job) + "\n")
            self.child.stdin.flush()
            said = self.child.stdout.readline()
        except OSError as err:
            said = json.dumps({"error": str(err)})
        return json.loads(said)["error"] if said else "the recorder ended"

    def __exit__(self, *_):
        self.child.stdin.close()
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.file.close()


def fill(value, example):
    """The values in their places, in any depth."""
    if isinstance(value, dict):
        return {name: fill(it, example) for name, it in value.items()}
    if isinstance(value, list):
        return [fill(it, example) for it in value]
    for name, it in example.items():
        value = value.replace(f"{{{name}}}", it)
    return value
