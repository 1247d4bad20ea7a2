"""Pages that the test web has not: large, loud, with popups, dialogs and files. Served on loopback by this process."""

import contextlib
import http.server
import threading
import urllib.parse

BIG = 5000
LOUD = 400


def page(title, main):
    return f"<!doctype html><meta charset=utf-8><title>{title}</title><h1>{title}</h1>{main}".encode()


def big(number):
    rows = "".join(
        f'<tr><td><a href="/rest?{at}">Row {at}</a><td>{at * 7 % 1000}<td><button onclick="said.textContent = {at}">Take {at}</button>'
        for at in range(number)
    )
    return page("Large", f"<p id=said></p><table>{rows}</table>")


LOUD_PAGE = f"""<p id=said>loud</p><button onclick="for (let i = 0; i < {LOUD}; i++) console.warn('asked', i, 'x'.repeat(200))">Say more</button>
<script>for (let i = 0; i < {LOUD}; i++) console.log('line', i, {{ deep: [1, 2, 3] }}, 'y'.repeat(200));
setInterval(() => console.error('again', performance.now()), 20);</script>"""
POPUPS = """<a target=_blank href=/rest>Blank</a> <button onclick="window.open('/rest?opened')">Opens</button>
<button onclick="window.open('/brief')">Opens for a moment</button>"""
DIALOGS = """<p id=said>silent</p><button onclick="alert('Read this'); said.textContent = 'told'">Tells</button>
<button onclick="said.textContent = confirm('Sure?') ? 'yes' : 'no'">Asks</button>
<button onclick="said.textContent = prompt('Name?') ?? 'none'">Wants a word</button>"""
FILES = """<a download href=/file?kb=20>Small file</a> <a download href=/file?kb=3000>Large file</a>"""
FORM = """<form method=post action=/saved><label>Name <input name=name></label> <label>Kind <select name=kind><option>Floor<option>Table<option>Wall</select></label>
<label><input type=checkbox name=stock> In stock</label> <label>Note <textarea name=note></textarea></label>
<label><input type=radio name=size value=s> Small</label> <label><input type=radio name=size value=l> Big</label> <button>Save</button></form>
<ul><li draggable=true id=a>First<li draggable=true id=b>Second</ul>"""
HANGS = """<p id=said>waits</p><button onclick="setTimeout(() => { for (;;); }, 30)">Hang</button>"""
FRAMES = """<iframe src=/form title=inside></iframe><iframe src=/rest title=rest></iframe><div id=host></div>
<script>host.attachShadow({ mode: 'closed' }).innerHTML = '<button>In the shadow</button>'</script>"""
ROUTES = {
    "/": ("Drill", "<p>Pages for a drill."),
    "/rest": ("Rest", "<p>Nothing goes on here. <a href=/form>Form</a>"),
    "/loud": ("Loud", LOUD_PAGE),
    "/popups": ("Popups", POPUPS),
    "/brief": ("Brief", "<script>setTimeout(() => close(), 150)</script>"),
    "/dialogs": ("Dialogs", DIALOGS),
    "/files": ("Files", FILES),
    "/hangs": ("Hangs", HANGS),
    "/form": ("Form", FORM),
    "/frames": ("Frames", FRAMES),
    "/saved": ("Saved", "<p>It was saved. <a href=/form>Again</a>"),
}


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        asked = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/big":
            return self.give(big(int(asked.get("n", BIG))))
        if url.path == "/file":
            named = {"content-type": "application/octet-stream", "content-disposition": "attachment; filename=drill.bin"}
            return self.give(b"d" * (int(asked["kb"]) << 10), named)
        if url.path in ROUTES:
            return self.give(page(*ROUTES[url.path]))
        return self.give(page("Nothing", ""), code=404)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.do_GET()

    def give(self, body, headers=None, code=200):
        with contextlib.suppress(ConnectionError):
            self.send_response(code)
            for name, value in {"content-type": "text/html; charset=utf-8", "content-length": len(body), **(headers or {})}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def served(host="drill.test"):
    """The flags that lead to them."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield ["--test-host", f"{host}=127.0.0.1:{server.server_address[1]}"]
    finally:
        server.shutdown()
        server.server_close()
