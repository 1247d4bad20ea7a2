"""Starting an application, waiting for it, and stopping what was started and nothing else."""

import contextlib
import ctypes
import http.client
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from place import Missing

PR_SET_PDEATHSIG = 1


def orphaned():
    """In the child: it ends when this program does, however that ends."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def free(port):
    """That port, or another where it is taken."""
    for wanted in (port, 0):
        with socket.socket() as it:
            it.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                it.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return it.getsockname()[1]
    raise Missing("no port is free")


class Stay(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer; where it leads has no address outside the browser."""

    def redirect_request(self, *_):
        return None


def answers(url, host):
    request = urllib.request.Request(url, headers={"host": host})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), Stay)
    try:
        with opener.open(request, timeout=10) as it:
            return it.status < 400
    except urllib.error.HTTPError as err:
        return err.code < 400
    except (OSError, ValueError, http.client.HTTPException):
        return False


def end(child):
    """Stops a process group that was started here."""
    for sign, patience in ((signal.SIGTERM, 8), (signal.SIGKILL, 5)):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, sign)
        until = time.monotonic() + patience
        while time.monotonic() < until:
            child.poll()
            try:
                os.killpg(child.pid, 0)
            except (ProcessLookupError, PermissionError):
                return
            time.sleep(0.05)


@contextlib.contextmanager
def serving(app):
    """The application, up and filled; stopped whatever happens. Fails with `Missing`."""
    port = free(app.port)
    args, cwd, env = app.command(port)
    app.url = f"http://127.0.0.1:{port}"
    log = open(os.path.join(app.place.root, "server.log"), "w", encoding="utf-8")  # noqa: SIM115
    try:
        child = subprocess.Popen(
            [str(it) for it in args],
            cwd=cwd or app.place.data,
            env={**os.environ, **app.place.quiet, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=orphaned,
        )
    except OSError as err:
        raise Missing(f"it cannot be started: {err}") from err
    try:
        until = time.monotonic() + app.seconds
        while not answers(app.url + app.ready, app.hosts[0]):
            if child.poll() is not None:
                raise Missing(f"it ended with {child.returncode} at once; see {log.name}")
            if time.monotonic() > until:
                raise Missing(f"it did not answer within {app.seconds} s; see {log.name}")
            time.sleep(0.2)
        app.settle()
        hosts = {it: port for it in app.hosts}
        hosts.update(app.also)
        yield hosts
    finally:
        end(child)
        log.close()
