"""A small server for all sites of the cases: one port on loopback, a name under .test for each site."""

import http.server
import json
import random
import socketserver
import threading
from urllib.parse import parse_qsl, unquote_to_bytes, urlsplit


class Ask:
    """A request as a site sees it."""

    def __init__(self, method, target, headers, body):
        self.method, self.target, self.headers, self.body = method, target, headers, body
        at = urlsplit(target)
        self.path, self.raw_query = at.path, at.query
        self.query = dict(parse_qsl(at.query, keep_blank_values=True))

    def header(self, name, default=""):
        return self.headers.get(name, default)

    def fields(self, charset="utf-8", raw=None):
        """The fields of a form or of a query, in the site's own charset."""
        raw = self.body.decode("ascii", "replace") if raw is None else raw
        out = {}
        for part in raw.split("&"):
            name, _, value = part.partition("=")
            name, value = (unquote_to_bytes(it.replace("+", " ")).decode(charset, "replace") for it in (name, value))
            if name:
                out[name] = value
        return out

    def cookies(self):
        found = (it.strip().partition("=") for it in self.header("cookie").split(";"))
        return {name: value for name, _, value in found if name}


def html(text, charset="utf-8", status=200, declared=True, label=None, **headers):
    kind = f"text/html; charset={label or charset}" if declared else "text/html"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return status, {"content-type": kind, **named}, text.encode(charset, "xmlcharrefreplace")


def data(value, charset="utf-8", status=200, kind="application/json", **headers):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    named = {name.replace("_", "-"): it for name, it in headers.items()}
    return status, {"content-type": f"{kind}; charset={charset}", **named}, text.encode(charset)


def script(text):
    return 200, {"content-type": "text/javascript; charset=utf-8"}, text.encode()


def redirect(to, **headers):
    return 302, {"location": to, **{name.replace("_", "-"): it for name, it in headers.items()}}, b""


NOT_FOUND = (404, {"content-type": "text/html; charset=utf-8"}, b"<!doctype html><title>404</title><h1>Not found</h1>")


def seeded(*key):
    return random.Random("/".join(map(str, key)))


class Server:
    """Serves the sites by their host names."""

    def __init__(self, sites):
        self.sites = sites
        server = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                host = (self.headers.get("host") or "").split(":")[0]
                ask = Ask(self.command, self.path, {name.lower(): it for name, it in self.headers.items()}, body)
                site = server.sites.get(host)
                try:
                    # A record that the site does not have is no page.
                    status, headers, out = (site(ask) if site else None) or NOT_FOUND
                except IndexError:
                    status, headers, out = NOT_FOUND
                except (KeyError, ValueError) as err:
                    status, headers, out = 400, {"content-type": "text/plain"}, f"bad request: {err}".encode()
                self.send_response(status)
                for name, value in headers.items():
                    for one in value if isinstance(value, list) else [value]:
                        self.send_header(name, one)
                if status not in (204, 304):
                    self.send_header("content-length", str(len(out)))
                self.end_headers()
                if self.command != "HEAD" and status not in (204, 304):
                    self.wfile.write(out)

            do_GET = do_POST = do_HEAD = do_OPTIONS = answer

            def log_message(self, *_):
                pass

        class Threads(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.server = Threads(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def hosts(self):
        return {name: self.port for name in self.sites}

    def close(self):
        self.server.shutdown()
        self.server.server_close()
