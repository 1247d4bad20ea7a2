"""`commis serve` in a home of its own, as drills start, ask and stop it; only what was started here is stopped."""

import contextlib
import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def program(given=None):
    """What is drilled: as given, by $COMMIS, or as cargo built it."""
    target = os.environ.get("CARGO_TARGET_DIR") or os.path.join(ROOT, "target")
    path = given or os.environ.get("COMMIS") or os.path.join(target, "debug", "commis")
    if not os.access(path, os.X_OK):
        sys.exit(f"{path} is no program: build it, or name one by $COMMIS")
    return os.path.abspath(path)


@contextlib.contextmanager
def place(name, keep=False):
    """A folder for a home and for what is temporary. The browser's user, who may be another, passes through it."""
    # Whatever ends a drill lets it stop what it started.
    for it in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(it, lambda *_: sys.exit(143))
    base = tempfile.mkdtemp(prefix=f"commis-{name}-")
    os.chmod(base, 0o711)
    for folder, mode in (("home", 0o700), ("tmp", 0o711), ("out", 0o700)):
        os.mkdir(os.path.join(base, folder), mode)
        os.chmod(os.path.join(base, folder), mode)
    try:
        yield base
    finally:
        if keep:
            print(f"kept: {base}", file=sys.stderr)
        else:
            shutil.rmtree(base, ignore_errors=True)


@dataclasses.dataclass
class Done:
    code: int
    out: str
    err: str
    seconds: float


class Daemon:
    """A home's daemon. Clients are asked with the same flags, so that one that they start is the same."""

    def __init__(self, program, home, *flags, tmp=None, log=None):
        self.program, self.home, self.flags = program, str(home), flags
        self.env = {**os.environ, **({"TMPDIR": tmp} if tmp else {})}
        self.log = log
        self.child = None

    def words(self, *args):
        return [self.program, "--home", self.home, *self.flags, *[str(it) for it in args]]

    def state(self):
        """What the home says of its daemon; nothing where it says nothing."""
        try:
            with open(os.path.join(self.home, "serve", "daemon.json"), encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError):
            return {}

    @property
    def pid(self):
        """Of the daemon that serves the home, whoever started it; nothing where none is alive."""
        pid = self.state().get("pid")
        return pid if pid and os.path.exists(f"/proc/{pid}/exe") else None

    def start(self, seconds=60):
        """Comes up as the home's daemon. One that a client started at the same time is stopped first."""
        until = time.monotonic() + seconds
        while True:
            with open(self.log or os.devnull, "a", encoding="utf-8") as out:
                quiet = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
                self.child = subprocess.Popen(self.words("serve"), env=self.env, start_new_session=True, **quiet)
            while self.child.poll() is None and time.monotonic() < until:
                if self.state().get("pid") == self.child.pid:
                    return self
                time.sleep(0.01)
            if self.pid is None or time.monotonic() > until:
                sys.exit(f"the daemon does not come up (exit {self.child.poll()}){self.said()}")
            self.run("daemon", "stop")

    def said(self):
        if not self.log:
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as out:
            return f": {out.read()[-500:]}"

    def run(self, *args, stdin="", timeout=120):
        """A command from its beginning to its end. One that is not answered raises `subprocess.TimeoutExpired`."""
        begun = time.monotonic()
        done = subprocess.run(
            self.words(*args), env=self.env, input=stdin, capture_output=True, text=True, timeout=timeout, check=False
        )
        return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - begun)

    def browse(self, *args, context="default", **more):
        return self.run("browse", "--context", context, *args, **more)

    def begun(self, *args, **more):
        """A command that is at work, in a process group of its own."""
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        return subprocess.Popen(self.words(*args), env=self.env, start_new_session=True, text=True, **{**quiet, **more})

    def stop(self):
        """In good order; one that does not end is ended."""
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            self.run("daemon", "stop", timeout=30)
        if self.child:
            for sign in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self.child.wait(8)
                    return
                self.child.send_signal(sign)
            self.child.wait(8)


@contextlib.contextmanager
def serving(program, home, *flags, **more):
    """One for as long as the block lasts."""
    it = Daemon(program, home, *flags, log=os.path.join(str(home), "serve.out"), **more)
    try:
        yield it.start()
    finally:
        it.stop()


@contextlib.contextmanager
def testbed(program):
    """The flags that lead to the test web, in a process apart from every daemon."""
    child = subprocess.Popen(
        [program, "testbed", "serve", "--port", "0", "--until-eof", "--ca", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        flags, line = [], ""
        while "BEGIN CERTIFICATE" not in line:
            line = child.stdout.readline()
            if not line:
                sys.exit("the test web does not come up")
            if line.startswith("--test-host"):
                flags += line.split()
        pem = line
        while "END CERTIFICATE" not in line:
            line = child.stdout.readline()
            pem += line
        with tempfile.NamedTemporaryFile("w", suffix=".pem", encoding="utf-8") as file:
            file.write(pem)
            file.flush()
            yield [*flags, "--test-ca", file.name]
    finally:
        child.stdin.close()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
