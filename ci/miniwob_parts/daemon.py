"""`commis serve` in a home of its own for as long as the block lasts; only what was started here is stopped."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time


def answers(program, home):
    asked = [program, "--home", home, "daemon", "status", "--json"]
    done = subprocess.run(asked, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=30, check=False)
    return done.returncode == 0


@contextlib.contextmanager
def serving(program, port, keep=False, seconds=30):
    """The home of a daemon that answers and reaches `miniwob.test` alone."""
    home = tempfile.mkdtemp(prefix="commis-miniwob-")
    log = os.path.join(home, "serve.out")
    with open(log, "w", encoding="utf-8") as out:
        child = subprocess.Popen(
            [program, "--home", home, "--test-host", f"miniwob.test=127.0.0.1:{port}", "serve"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + seconds
        while not answers(program, home):
            if child.poll() is not None or time.monotonic() > until:
                with open(log, encoding="utf-8", errors="replace") as out:
                    sys.exit(f"the daemon does not answer (exit {child.poll()}): {out.read()[-500:]}")
            time.sleep(0.1)
        yield home
    finally:
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            subprocess.run([program, "--home", home, "daemon", "stop"], stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
        for stop in (child.terminate, child.kill):
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(8)
                break
            stop()
        if keep:
            print(f"kept: {home}", file=sys.stderr)
        else:
            shutil.rmtree(home, ignore_errors=True)
