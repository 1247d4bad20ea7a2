"""Small pages, each of one shape that real sites use, and their server.

`python3 pages.py PORT` serves them: `/NAME?q=…` is a page with a search field and, once something is searched, its results."""

import http.server
import json
import sys
import urllib.parse

import shapes_lists  # noqa: F401
import shapes_markup  # noqa: F401
import shapes_paging
import shapes_records  # noqa: F401
import shapes_served
import shapes_structure
import shapes_tables  # noqa: F401
import shapes_traps  # noqa: F401
import shapes_unseen
import shapes_xml
import words
from shapes import FLEETS, SHAPES, e, listed, ships
from shapes_scripts import logbook, ref


def slug(text):
    return text.lower().replace(" ", "-")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, kind="text/html; charset=utf-8", status=200, headers=None):
        charset = self.charset()
        body = body.encode(charset)
        if charset != "utf-8" and "html" in kind:
            kind = f"text/html; charset={charset}"
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        self.answer(urllib.parse.parse_qs(self.rfile.read(length).decode(), encoding=self.charset()))

    def do_GET(self):
        self.answer(urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query, encoding=self.charset()))

    def charset(self):
        """Of the page that is asked for."""
        name = urllib.parse.urlparse(self.path).path.strip("/").split("/")[0]
        return SHAPES[name].more.get("charset", "utf-8") if name in SHAPES else "utf-8"

    def answer(self, query):
        parts = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip("/").split("/")
        asked = (query.get("q") or query.get("port") or [""])[0]
        first, last = parts[0], parts[-1]
        if first == "api" and last in shapes_paging.APIS:
            start, size = (int((query.get(it) or ["0"])[0]) for it in ("offset", "limit"))
            document, headers = shapes_paging.api(last, asked, start, size)
            return self.send(json.dumps(document), "application/json", headers=headers)
        if first == "api" and last in shapes_served.APIS:
            document, headers = shapes_served.api(last, lambda name: (query.get(name) or [""])[0])
            return self.send(json.dumps(document), "application/json", headers=headers)
        if first == "api" and last in shapes_unseen.APIS:
            return self.send(json.dumps(shapes_unseen.APIS[last](ships(asked))), "application/json")
        if first == "api" and last in shapes_xml.APIS:
            return self.send(*shapes_xml.api(last, asked))
        if first == "api" and last in shapes_structure.APIS:
            return self.send(json.dumps(shapes_structure.api(last, asked)), "application/json")
        if first == "api":
            return self.send(json.dumps(self.api(last, asked)), "application/json")
        if first == "part":
            at = int((query.get("page") or ["0"])[0])
            rows = ships(asked, 30)[10 * at - 10 : 10 * at] if at else ships(asked)
            return self.send(listed(rows) if at else f'<ul class="r">{listed(rows)}</ul>')
        if first == "inner":
            return self.send(
                f"<!doctype html><html lang=en><title>Results</title><body><ul class=r>{listed(ships(asked))}</ul></body></html>"
            )
        if first in SHAPES:
            return self.send(self.page(SHAPES[first], last if len(parts) > 1 else "", asked, lambda name: (query.get(name) or [""])[0]))
        return self.send("<!doctype html><title>Nothing here</title>", status=404 if first else 200)

    @staticmethod
    def api(last, asked):
        if last == "all":
            return {"ships": [it for fleet in FLEETS for it in ships(fleet)]}
        if last == "find":
            return {"ref": ref(asked)}
        known = {ref(it): it for it in FLEETS}
        if last in known:
            return {"log": logbook(known[last])}
        return {"ships": ships(asked), "took": 3}

    @staticmethod
    def page(it, last, asked, get):
        examples = it.more.get("examples", FLEETS)
        field = it.more.get("field", "search")
        if field == "select":
            # The value that is sent is no word of the page.
            options = "".join(f'<option value="{100 + 7 * at}">{name}</option>' for at, name in enumerate(words.PORTS))
            form = f'<form><label>Port <select name="port">{options}</select></label><button>Show</button></form>'
            asked = words.PORTS[(int(asked) - 100) // 7] if asked else ""
        elif field == "links":
            form = "<ul>" + "".join(f'<li><a href="/{it.name}/{slug(name)}">{name}</a></li>' for name in examples) + "</ul>"
            asked = next((name for name in examples if slug(name) == last), "")
        else:
            method = it.more.get("method", "get")
            form = f'<form method="{method}" action="/{it.name}"><input type="search" name="q" aria-label="Search"><button>Go</button></form>'
        script = it.more.get("script", "")
        if asked and "server" in it.more:
            script = it.more["server"](asked)
        body = "<h1>Find</h1>"
        if asked and not script:
            drawn = it.draw(asked, get) if "pages" in it.more else it.draw(asked)
            body = f"<h1>Results for {e(asked)}</h1>{drawn[0]}"
        return (
            f'<!doctype html><html lang="en"><head><title>{it.name}</title></head><body><header><nav><a href="/">Home</a> <a href="/about">About</a></nav>'
            f"</header><main>{form}{body}{script}</main><footer><a href='/terms'>Terms</a></footer></body></html>"
        )


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
