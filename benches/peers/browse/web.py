"""The pages, on a loopback port, and what they tell of themselves. Every name under .test leads here (see tools.py)."""

import mimetypes
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

HERE = Path(__file__).resolve().parent
# Looked through in turn, so that addresses are short, like real ones.
FOLDERS = [HERE / "pages", HERE / "stale", HERE]


class Run:
    """One page opened once: it waits until it may change, says when it has, and tells what was acted on."""

    def __init__(self):
        self.let, self.changed, self.told = threading.Event(), threading.Event(), threading.Event()
        self.noted = []


class Web:
    def __init__(self):
        self.runs = {}
        web = self

        class Answer(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                web.answer(self)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A browser that goes away in the middle is nothing to report."""

        self.server = Server(("127.0.0.1", 0), Answer)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        for run in self.runs.values():
            run.let.set()
        self.server.shutdown()

    def open(self, name):
        self.runs[name] = Run()
        return self.runs[name]

    def answer(self, to):
        at = urlsplit(to.path)
        asked = {key: it[0] for key, it in parse_qs(at.query).items()}
        run = self.runs.get(asked.get("run"))
        status, kind, body = 204, "text/plain", b""
        if at.path == "/held" and run:
            run.let.wait(60)
        elif at.path == "/changed" and run:
            run.changed.set()
        elif at.path == "/noted" and run:
            run.noted.append(asked["what"])
            run.told.set()
        elif at.path == "/favicon.ico":
            pass
        else:
            name = at.path.lstrip("/")
            # Pages and the one script; nothing above them.
            file = next((it / name for it in FOLDERS if ".." not in name and (it / name).is_file()), None)
            status = 200 if file and file.suffix in (".html", ".js") else 404
            if status == 200:
                kind, body = mimetypes.guess_type(file.name)[0], file.read_bytes()
        to.send_response(status)
        if body:
            to.send_header("content-type", f"{kind}; charset=utf-8")
        to.send_header("content-length", str(len(body)))
        to.send_header("cache-control", "no-store")
        to.end_headers()
        to.wfile.write(body)
