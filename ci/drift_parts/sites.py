"""Twelve sites of different interfaces, and what may become of each.

`python3 sites.py PORT` serves them: a site's page is `/SITE/`, its present state is set by `/control?site=…&state=…`."""

import html
import http.server
import json
import os
import random
import sys
import urllib.parse

NAMES = ["Amber", "Basil", "Cedar", "Dahlia", "Elder", "Fennel", "Ginger", "Hazel"]
THINGS = ["lamp", "chair", "kettle", "mirror", "ladder", "basket", "anchor", "trowel", "bench", "clock", "drum", "easel", "flask", "globe", "hinge"]
PLACES = ["Bergen", "Porto", "Tartu", "Gdansk", "Lyon", "Turin", "Cork", "Varna"]
PAGE = 6


def goods(word):
    """Fifteen things of a maker, the same each time; nothing of one who is not known."""
    if word not in NAMES:
        return []
    by = random.Random(word)
    return [
        {"sku": f"{word[:2].upper()}-{by.randint(1000, 9999)}", "title": f"{word} {thing} {at}", "town": by.choice(PLACES), "price": by.randint(20, 900)}
        for at, thing in enumerate(THINGS)
    ]


STATES = [
    "moved", "nested", "wrapped", "renamed", "parameter-unfiltered", "parameter-empty", "method", "paged", "half", "meaning", "login-redirect",
    "login-page", "page-instead", "maintenance", "challenge",
]
# What a site that gives HTML, or whose words stand in the path, cannot become.
NOT_FOR_PAGES = {"nested", "wrapped", "page-instead", "method"}
NOT_FOR_PATHS = {"parameter-unfiltered", "parameter-empty"}


class Site:
    """How a site is asked and how it answers; `page` is what its start page does with a word."""

    kind = "json"
    path_word = False
    method = "GET"

    def __init__(self, name, script, answer, **more):
        self.name, self.script, self.answer = name, script, answer
        vars(self).update(more)

    def states(self):
        out = STATES
        if self.kind == "html":
            out = [it for it in out if it not in NOT_FOR_PAGES]
        if self.path_word:
            out = [it for it in out if it not in NOT_FOR_PATHS]
        if self.method != "GET":
            out = [it for it in out if it != "method"]
        return out


def fetches(url, options="", rows="j.items", name="title", read="await a.json()"):
    """A page that asks for a word and lists what comes. `URL` and `KEY` are what the present state calls path and parameter."""
    return (
        "const a=await fetch(" + url + (("," + options) if options else "") + f");const j={read};"
        f"const r={rows};document.getElementById('out').innerHTML='<ul>'+r.map(s=>`<li><b>${{s.{name}||s.label}}</b> from ${{s.town}} at ${{s.price}}</li>`).join('')+'</ul>';"
    )


PLAIN = "URL+'?KEY='+encodeURIComponent(q)"
POST_JSON = "{method:'POST',headers:{'content-type':'application/json'},body:JSON.stringify({KEY:q})}"
POST_FORM = "{method:'POST',headers:{'content-type':'application/x-www-form-urlencoded'},body:'KEY='+encodeURIComponent(q)}"
ROWS = "(j.items||j.data&&(j.data.items||j.data)||j.body&&j.body.items||j.result||j)"


def as_list(rows):
    return json.dumps(rows)


def as_total(rows):
    return json.dumps({"items": rows, "total": 15, "query": {"size": len(rows)}})


SITES = [
    Site("list", fetches(PLAIN, rows=ROWS), lambda rows, q: json.dumps({"items": rows, "took": 3})),
    Site("bare", fetches(PLAIN, rows=ROWS), lambda rows, q: as_list(rows)),
    Site("echo", fetches(PLAIN, rows=ROWS), lambda rows, q: json.dumps({"asked": q, "items": rows})),
    Site("total", fetches(PLAIN, rows=ROWS), lambda rows, q: json.dumps({"items": rows, "total": len(goods(q)) if q else 120})),
    Site("deep", fetches(PLAIN, rows=ROWS), lambda rows, q: json.dumps({"ok": True, "data": {"items": rows}})),
    Site("body", fetches("URL", POST_JSON, rows=ROWS), lambda rows, q: json.dumps({"items": rows}), method="POST"),
    Site("form", fetches("URL", POST_FORM, rows=ROWS), lambda rows, q: json.dumps({"items": rows}), method="POST"),
    Site("path", fetches("URL+'/'+encodeURIComponent(q)", rows=ROWS), lambda rows, q: json.dumps({"items": rows}), path_word=True),
    Site("lines", fetches(PLAIN, rows="j", read="(await a.text()).trim().split('\\n').map(it=>JSON.parse(it))"), lambda rows, q: "\n".join(map(json.dumps, rows)), states=lambda: [it for it in STATES if it not in ("nested", "wrapped")]),
    Site("cards", None, None, kind="html"),
    Site("table", None, None, kind="html"),
    Site("slug", None, None, kind="html", path_word=True),
]
BY_NAME = {it.name: it for it in SITES}
STATE = {}


def rows_now(site, state, word):
    """The rows of a word in the present state."""
    rows = goods(word)
    if state == "paged":
        rows = rows[:PAGE]
    if state == "half":
        rows = rows[::2]
    if state == "meaning":
        rows = [{**it, "price": it["price"] * 100 + 7} for it in rows]
    if state == "renamed":
        rows = [{("label" if name == "title" else name): value for name, value in it.items()} for it in rows]
    return rows


def unfiltered():
    return [it for name in NAMES for it in goods(name)]


def drawn(site, rows, word, state):
    """A page's results in HTML."""
    cls = "card-now" if state == "renamed" else "card"
    if site.name == "table":
        heads = ["Code", "Name" if state != "renamed" else "Called", "Town", "Price"]
        body = "".join(f"<tr><td>{it['sku']}</td><td>{it.get('title') or it.get('label')}</td><td>{it['town']}</td><td>{it['price']}</td></tr>" for it in rows)
        return f"<table id='found'><thead><tr>{''.join(f'<th>{it}</th>' for it in heads)}</tr></thead><tbody>{body}</tbody></table>"
    items = "".join(f"<li class='{cls}'><h3>{it.get('title') or it.get('label')}</h3><span class='town'>{it['town']}</span> <i>{it['price']}</i></li>" for it in rows)
    return f"<ul class='results'>{items}</ul>" if rows else "<p>There is nothing of that.</p>"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, body, kind="text/html; charset=utf-8", status=200, headers=None):
        body = body.encode()
        self.send_response(status)
        for name, value in {"content-type": kind, "content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        length = int(self.headers.get("content-length") or 0)
        text = self.rfile.read(length).decode()
        try:
            sent = json.loads(text)
        except ValueError:
            sent = {name: it[0] for name, it in urllib.parse.parse_qs(text).items()}
        self.answer(sent if isinstance(sent, dict) else {})

    def do_GET(self):
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        self.answer({name: it[0] for name, it in query.items()})

    def answer(self, sent):
        parts = urllib.parse.unquote(urllib.parse.urlparse(self.path).path).strip("/").split("/")
        if parts == ["control"]:
            STATE[sent["site"]] = sent["state"]
            return self.send("{}", "application/json")
        site = BY_NAME.get(parts[0])
        if not site:
            return self.send("", status=404 if parts[0] else 200)
        state = STATE.get(site.name, "as-it-was")
        api = "service" if state == "moved" else "api"
        key = "needle" if state.startswith("parameter") else "q"
        if parts[1:2] == ["login"]:
            return self.send("<!doctype html><title>Sign in</title><form><input name=user><input type=password name=secret><button>Sign in</button></form>")
        is_data = parts[1:2] == [api] or (site.kind == "html" and (key in sent or "q" in sent or parts[1:2] == ["of"]))
        if state == "maintenance" and is_data:
            return self.send("<h1>Back soon</h1>", status=503)
        if state == "login-redirect" and is_data:
            return self.send("", status=302, headers={"location": f"/{site.name}/login"})
        if state == "login-page" and is_data:
            return self.send("<!doctype html><title>Sign in</title><form><input name=user><input type=password name=secret><button>Sign in</button></form>")
        if state == "challenge" and is_data:
            return self.send("<!doctype html><title>One moment</title><p>We are checking your browser before you go on.</p>")
        if parts[1:2] == [api]:
            return self.data(site, state, sent, parts, key)
        if parts[1:2] in (["api"], ["service"]):
            return self.send('{"error":"not found"}', "application/json", 404)
        return self.page(site, state, sent, parts, key, api)

    def data(self, site, state, sent, parts, key):
        method = "POST" if state == "method" else site.method
        if self.command != method:
            return self.send('{"error":"method"}', "application/json", 405)
        word = parts[2] if site.path_word and len(parts) > 2 else sent.get(key)
        if not word and state == "parameter-unfiltered":
            rows = unfiltered()
        else:
            rows = rows_now(site, state, word or "")
        if state == "page-instead":
            return self.send(f"<!doctype html><title>Things</title><ul>{''.join('<li>' + html.escape(it['title']) + '</li>' for it in rows)}</ul>")
        body = site.answer(rows, word or "")
        if state == "nested":
            body = json.dumps({"data": {"items": rows}} if site.name != "deep" else {"ok": True, "body": {"items": rows}})
        if state == "wrapped":
            body = json.dumps({"result": rows})
        return self.send(body, "application/x-ndjson" if site.name == "lines" else "application/json")

    def page(self, site, state, sent, parts, key, api):
        word = sent.get(key, "")
        if site.path_word and site.kind == "html":
            word = parts[2].title() if len(parts) > 2 else ""
            root = "from" if state == "moved" else "of"
            if len(parts) > 2 and parts[1] != root:
                return self.send("<h1>Nothing here</h1>", status=404)
            form = "<ul>" + "".join(f"<li><a href='/{site.name}/{root}/{it.lower()}'>{it}</a></li>" for it in NAMES) + "</ul>"
        elif site.kind == "html":
            to = f"/{site.name}/found" if state == "moved" else f"/{site.name}/"
            if state == "moved" and len(parts) < 2 and "q" in sent:
                return self.send("<h1>Nothing here</h1>", status=404)
            form = f"<form action='{to}'><input type=search name={key} aria-label=Search><button>Go</button></form>"
        else:
            form = "<form><input type=search name=w aria-label=Search><button>Go</button></form>"
        head = f"<!doctype html><html lang=en><head><title>{site.name}</title></head><body><header><a href='/{site.name}/'>Home</a> <a href='/{site.name}/about'>About</a></header><main><h1>Things</h1>"
        foot = "</main><footer><p>Imprint</p></footer></body></html>"
        if site.kind == "html":
            if not word and sent and state == "parameter-unfiltered":
                rows = unfiltered()
            else:
                rows = rows_now(site, state, word)
            shown = f"<p>Results for {html.escape(word)}</p>" + drawn(site, rows, word, state) if word or sent else ""
            return self.send(head + form + shown + foot)
        script = site.script
        if state == "method":
            script = script.replace(PLAIN, "URL," + POST_JSON.replace("KEY", key)).replace("URL+'/'+encodeURIComponent(q)", "URL+'/'+encodeURIComponent(q),{method:'POST'}")
        script = script.replace("URL", f"'/{site.name}/{api}'").replace("KEY", key)
        return self.send(
            head + form + "<p id=told></p><div id=out></div><script>document.forms[0].onsubmit=async e=>{e.preventDefault();const q=document.querySelector('input').value;"
            + script + "document.getElementById('told').textContent='Results for '+q}</script>" + foot
        )


if __name__ == "__main__":
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
