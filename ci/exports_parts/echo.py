"""A server that keeps what it is asked, for forms that no driver can look into."""

import http.server
import json
import threading
import urllib.parse


class Echo:
    def __init__(self):
        self.asked = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                outer.asked.append({
                    "method": self.command,
                    "url": self.path,
                    # As http.server reads them: bytes as Latin-1.
                    "headers": {k: v.encode("latin-1").decode("utf-8", "replace") for k, v in self.headers.items()},
                    "body": body.decode(),
                })
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            do_GET = do_POST = answer

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def last(self):
        return self.asked.pop() if self.asked else {"method": "", "url": "", "headers": {}, "body": ""}

    def end(self):
        self.server.shutdown()


def meant(request, of):
    """What a server reads: parts decoded, of the headers those that `of` names."""
    url = urllib.parse.urlsplit(request["url"])
    names = {it.lower() for it in of["headers"]}
    headers = {k.lower(): v for k, v in request["headers"].items() if k.lower() in names}
    body, kind = request.get("body") or "", of["headers"].get("content-type", "")
    if kind.startswith("application/json") and body:
        body = json.loads(body)
    elif "form" in kind:
        # Some put pairs of one name together.
        body = sorted(urllib.parse.parse_qsl(body, keep_blank_values=True), key=lambda it: it[0])
    return {
        "method": request["method"],
        "path": [urllib.parse.unquote(it) for it in url.path.split("/")],
        "query": urllib.parse.parse_qsl(url.query, keep_blank_values=True),
        "headers": {k: v.split(";")[0] if k == "content-type" else v for k, v in headers.items()},
        "body": body,
    }
