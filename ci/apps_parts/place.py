"""Where an application is installed and keeps its data, outside the repository."""

import contextlib
import fcntl
import hashlib
import inspect
import json
import os
import shutil
import subprocess
import sys


class Missing(Exception):
    """What is needed cannot be had here: the application is skipped."""


def base():
    """The work folder: `$COMMIS_APPS`, or one in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("COMMIS_APPS") or os.path.join(cache, "commis-apps")


class Place:
    """Folders of one application."""

    # No tool of the application is to talk to its maker, nor to ask a question.
    quiet = {
        "DO_NOT_TRACK": "1",
        "NEXT_TELEMETRY_DISABLED": "1",
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "GRADIO_ANALYTICS_ENABLED": "False",
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PYTHONHASHSEED": "0",
        "NO_COLOR": "1",
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
        "npm_config_update_notifier": "false",
        "npm_config_fund": "false",
        "npm_config_audit": "false",
    }

    def __init__(self, work, app):
        self.app = app
        self.root = os.path.join(work, "apps", app.name)
        self.venv = os.path.join(self.root, "venv")
        self.npm = os.path.join(self.root, "npm")
        self.data = os.path.join(self.root, "data")
        self.log = os.path.join(self.root, "log")
        os.makedirs(self.root, exist_ok=True)

    @contextlib.contextmanager
    def locked(self):
        """Another run of this program waits, for it would use the same folders."""
        with open(os.path.join(self.root, "lock"), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def bin(self, name):
        return os.path.join(self.venv, "bin", name)

    def step(self, args, seconds, **more):
        """Runs an installer. Fails with `Missing`, with the last thing it said."""
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"$ {' '.join(args)}\n")
            log.flush()
            try:
                code = subprocess.run(
                    ["nice", "-n", "10", *args],
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    timeout=seconds,
                    check=False,
                    **more,
                ).returncode
            except (OSError, subprocess.TimeoutExpired) as err:
                raise Missing(f"{args[0]}: {err}") from err
        if code != 0:
            with open(self.log, encoding="utf-8", errors="replace") as log:
                lines = [it.strip() for it in log.read().splitlines() if it.strip()]
            told = next((it for it in reversed(lines) if "rror" in it), lines[-1])
            raise Missing(f"{args[0]} ended with {code}: {told[:200]}")

    def once(self, what, pins, do):
        """Does something unless it was done with the same pins."""
        digest = hashlib.sha256(json.dumps(pins).encode()).hexdigest()
        mark = os.path.join(self.root, f"{what}.done")
        try:
            with open(mark, encoding="utf-8") as file:
                if file.read() == digest:
                    return
        except OSError:
            pass
        do()
        with open(mark, "w", encoding="utf-8") as file:
            file.write(digest)

    def python(self, pins):
        """Packages from PyPI, in an environment of their own."""
        if not pins:
            return

        def install():
            shutil.rmtree(self.venv, ignore_errors=True)
            self.step([sys.executable, "-m", "venv", self.venv], 120)
            self.step([self.bin("python"), "-m", "pip", "install", "-q", *pins], 600, env={**os.environ, **self.quiet})

        self.once("venv", list(pins), install)

    def node(self, pins, scripts=False, overrides=None):
        """Packages from npm, in a folder of their own; their install scripts run only where they are needed."""
        if not shutil.which("npm"):
            raise Missing("there is no npm")

        def install():
            shutil.rmtree(self.npm, ignore_errors=True)
            os.makedirs(self.npm)
            wanted = {it.rpartition("@")[0]: it.rpartition("@")[2] for it in pins}
            about = {"name": f"apps-{self.app.name}", "private": True, "dependencies": wanted}
            if overrides:
                about["overrides"] = overrides
            with open(os.path.join(self.npm, "package.json"), "w", encoding="utf-8") as file:
                json.dump(about, file)
            quiet = [] if scripts else ["--ignore-scripts"]
            self.step(["npm", "install", "--silent", *quiet], 600, cwd=self.npm, env={**os.environ, **self.quiet})

        self.once("npm", [list(pins), overrides or {}], install)

    def debian(self, names):
        """Packages of the distribution, for all."""
        lacking = [it for it in names if not self.debian_version(it)]
        if not lacking:
            return
        if not shutil.which("apt-get"):
            raise Missing("there is no apt-get")
        if os.geteuid() != 0:
            raise Missing(f"run as root: apt-get install --no-install-recommends {' '.join(lacking)}")
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *lacking]
        try:
            self.step(install, 600, env=env)
        except Missing:
            self.step(["apt-get", "update", "-qq"], 300, env=env)
            self.step(install, 600, env=env)

    @staticmethod
    def debian_version(name):
        """The version of an installed package, or nothing."""
        try:
            asked = ["dpkg-query", "-W", "-f", "${Status} ${Version}", name]
            said = subprocess.run(asked, capture_output=True, text=True, timeout=30, check=False).stdout
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return said.rpartition(" ")[2] if " installed " in f" {said} " else ""

    def made_by(self):
        """What the data depends on: the application's file but for its tasks, the words, the application's version."""
        module = inspect.getsource(sys.modules[type(self.app).__module__])
        shared = [inspect.getsource(sys.modules[it]) for it in ("words", "repository") if f"import {it}" in module]
        return [module.replace(inspect.getsource(type(self.app).tasks), ""), *shared, self.app.version(), list(self.app.pins)]

    def fill(self):
        """Makes the data unless the same text made it before."""

        def make():
            shutil.rmtree(self.data, ignore_errors=True)
            os.makedirs(self.data)
            self.app.fill()

        self.once("data", self.made_by(), make)
