"""MiniWoB++'s pages: fetched from PyPI by version and hash, and served on 127.0.0.1 with two lines added to the core script.

The two lines seed `Math.random` from `?seed=N` and give every episode an hour. Nothing else of the pages is changed. They are kept in the
user's cache ($COMMIS_MINIWOB or ~/.cache/commis-miniwob), outside the repository.
"""

import contextlib
import functools
import hashlib
import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile

VERSION = "1.1.0"
SHA256 = "297006e84219d56ad037e843527ed773a4a82509dc43b6031ec4a3ad3e3e61d9"
ADDED = b"""
Math.seedrandom(String(core.QueryString.seed || 0));
Object.defineProperty(core, 'EPISODE_MAX_TIME', { get: function () { return 3600000; }, set: function () {} });
"""


def base():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("COMMIS_MINIWOB") or os.path.join(cache, "commis-miniwob")


def fetched():
    """The folder of the pages; fetches the wheel when it is not there. Ends the program when what came is not what was pinned."""
    there = os.path.join(base(), f"miniwob-{VERSION}")
    html = os.path.join(there, "miniwob", "html")
    if os.path.isdir(html):
        return html
    os.makedirs(base(), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=base()) as work:
        wanted = os.path.join(work, "wanted.txt")
        with open(wanted, "w", encoding="utf-8") as file:
            file.write(f"miniwob=={VERSION} --hash=sha256:{SHA256}\n")
        pip = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, "--require-hashes", "-r", wanted, "-d", work], check=True, stdin=subprocess.DEVNULL)
        wheel = next(os.path.join(work, it) for it in os.listdir(work) if it.endswith(".whl"))
        with open(wheel, "rb") as file:
            if hashlib.sha256(file.read()).hexdigest() != SHA256:
                sys.exit(f"{wheel} is not the pinned one")
        fresh = os.path.join(work, "fresh")
        with zipfile.ZipFile(wheel) as file:
            file.extractall(fresh, [it for it in file.namelist() if it.startswith("miniwob/html/")])
        shutil.rmtree(there, ignore_errors=True)
        os.rename(fresh, there)
    return html


class Pages(http.server.SimpleHTTPRequestHandler):
    """The files as they are, and the core script with its two lines more."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path.partition("?")[0] != "/core/core.js":
            return super().do_GET()
        with open(os.path.join(self.directory, "core", "core.js"), "rb") as file:
            body = file.read() + ADDED
        self.send_response(200)
        self.send_header("content-type", "text/javascript; charset=utf-8")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A browser that goes away in the middle of an answer is nothing to tell of."""


@contextlib.contextmanager
def served(html):
    """The port on which the pages are served, until the block ends."""
    server = Server(("127.0.0.1", 0), functools.partial(Pages, directory=html))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
