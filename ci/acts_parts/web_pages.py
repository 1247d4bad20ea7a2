"""Pages whose parts are libraries of npm, bundled here, and a server on loopback that keeps what each page heard."""

import contextlib
import http.server
import os
import shutil
import subprocess
import threading
import urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = """@atlaskit/pragmatic-drag-and-drop@^1.7 @codemirror/lang-javascript@^6 @dnd-kit/core@6.3.1 @emotion/react@11.14.0 @emotion/styled@11.14.1
@headlessui/react@2.2.10 @hello-pangea/dnd@^18 @lexical/plain-text@^0.35 @lexical/react@^0.35 @material/web@2.5.0 @mui/material@9.5.0
@mui/x-date-pickers@9.17.0 @radix-ui/react-select@2.4.1 @shoelace-style/shoelace@2.20.1 @tanstack/react-virtual@^3 @tiptap/core@^3
@tiptap/pm@^3 @tiptap/starter-kit@^3 @vaadin/combo-box@^25 @vaadin/date-picker@^25 @yaireo/tagify@^4 ag-grid-community@^34
air-datepicker@^3 chart.js@^4 choices.js@^11 cmdk@^1 codemirror@^6 dayjs@1.11.23 esbuild@0.28.2 fabric@^7 flatpickr@4.6.13
gridstack@^12 imask@^7 konva@^10 leaflet@^1.9 lexical@^0.35 nouislider@^15 quill@^2 react@18.3.1 react-day-picker@10.0.2
react-dom@18.3.1 react-select@5.10.2 react-virtuoso@^4 react-window@1.8.11 sortablejs@1.15.7 swiper@^12 tabulator-tables@^6
tom-select@^2""".split()
DID = "window.did = what => fetch('/did', { method: 'POST', body: what, keepalive: true });"

MOVES = """<style>button { position: absolute; width: 120px; height: 40px }</style><button id=a style="left:20px;top:80px">Keep</button><button id=b style="left:20px;top:300px">Delete all</button>
<script>for (const it of [a, b]) it.onclick = () => did(it.textContent);
a.addEventListener('mouseenter', () => { a.style.top = '300px'; b.style.top = '80px'; }, { once: !location.search.includes('always') });
if (location.search.includes('always')) b.addEventListener('mouseleave', () => { a.style.top = '80px'; b.style.top = '300px'; });</script>"""
SLIDES = """<style>button { width: 120px; height: 40px } @keyframes go { from { transform: translateX(0) } to { transform: translateX(500px) } } #a { position: absolute; left: 20px; top: 80px; animation: go 2s infinite alternate linear }</style>
<button id=a>Moving</button><script>addEventListener('click', e => did(e.target.id === 'a' ? 'Moving' : 'missed'));</script>"""
BUSY = """<h2>Always at work</h2><button id=a onclick="did('go')">Go</button><p id=n></p><script>setInterval(() => { const until = performance.now() + 120; while (performance.now() < until); n.textContent = until | 0; }, 1);</script>"""
SWAPS = """<ul id=list></ul><script>const names = ['Lamp', 'Clock', 'Chair', 'Table', 'Stool'];
for (const it of names) list.insertAdjacentHTML('beforeend', '<li style="height:40px"><h3 style="display:inline"></h3> <button>Bid</button></li>');
const draw = () => [...list.children].forEach((li, i) => { li.querySelector('h3').textContent = names[i]; });
list.onclick = e => { if (e.target.tagName === 'BUTTON') did('bid ' + e.target.parentNode.querySelector('h3').textContent); };
draw(); setInterval(() => { names.push(names.shift()); draw(); }, Number(new URLSearchParams(location.search).get('ms')));</script>"""
NATIVE = """<style>div { width: 200px; height: 60px; border: 1px solid; margin: 8px }</style><div draggable=true role=button tabindex=0 id=a>Report</div><div draggable=true role=button tabindex=0 id=b>Draft</div><div id=bin aria-label=Bin role=region>Bin</div>
<script>let held; for (const it of [a, b]) it.ondragstart = e => { held = it.textContent; e.dataTransfer.setData('text/plain', held); };
bin.ondragover = e => e.preventDefault(); bin.ondrop = e => { e.preventDefault(); did('dropped ' + e.dataTransfer.getData('text/plain')); };</script>"""
FRAMED = """<style>#over { position: fixed; inset: 0; background: #0008 }</style><iframe src="http://other.test/inner" style="width:300px;height:120px"></iframe><iframe src="/inner?near" style="width:300px;height:120px"></iframe>
<div id=over role=dialog aria-label="Please wait"></div><script>over.onclick = () => did('over'); if (location.search.includes('free')) over.remove();</script>"""
INNER = """<button onclick="did(this.textContent)">Inside</button><script>if (location.search) document.querySelector('button').textContent = 'Near';</script>"""
STICKY = """<style>header { position: sticky; top: 0; height: 80px; background: #eee } footer { position: fixed; bottom: 0; left: 0; right: 0; height: 80px; background: #eee } p { height: 50px; margin: 0 }</style><header><button onclick="did('top')">Top</button></header><footer onclick="did('foot')">Foot</footer><div id=rows></div>
<script>for (let i = 1; i <= 60; i++) rows.insertAdjacentHTML('beforeend', `<p><button onclick="did('take ${i}')">Take item ${i}</button></p>`);
scrollTo(0, 700);</script>"""
SHADOW = """<div id=host></div><div id=cover style="position:absolute;left:0;top:0;width:10px;height:10px"></div><script>const root = host.attachShadow({ mode: 'closed' });
root.innerHTML = '<button>Deep</button><button style="pointer-events:none">Dead</button><span><slot></slot></span>';
root.addEventListener('click', e => did(e.target.tagName === 'BUTTON' ? e.target.textContent : 'missed')); </script>"""
PANES = """<style>.pane { height: 200px; width: 300px; overflow: auto; border: 1px solid } body { height: 100vh; overflow: hidden; margin: 0 }</style><div class=pane role=region aria-label=Left id=l></div><div class=pane role=region aria-label=Right id=r></div>
<script>for (const it of [l, r]) { for (let i = 1; i <= 80; i++) it.insertAdjacentHTML('beforeend', `<p>${it.ariaLabel} ${i}</p>`); it.onscroll = () => did(it.ariaLabel + ' ' + (it.scrollTop + it.clientHeight >= it.scrollHeight - 1 ? 'end' : it.scrollTop > 0 ? 'scrolled' : 'top')); }</script>"""
LISTS = """<label>Tags <select id=t multiple><option value=r selected>Red<option value=g selected>Green<option value=b>Blue</select></label><button aria-pressed=false id=p>Mute</button>
<script>t.onchange = () => did('tags ' + Array.from(t.selectedOptions, it => it.value)); p.onclick = () => { p.ariaPressed = p.ariaPressed !== 'true'; did('mute ' + p.ariaPressed); };</script>"""
# Pages without a library, and those of one bundle: what stands in them besides.
PLAIN = {"moves": MOVES, "slides": SLIDES, "busy": BUSY, "swaps": SWAPS, "native": NATIVE, "framed": FRAMED, "inner": INNER, "sticky": STICKY, "shadow": SHADOW, "panes": PANES, "lists": LISTS}
SAVE = "<button id=save>Save</button>"
BUNDLED = {"tiptap": SAVE, "code": SAVE, "quill": SAVE + "<button id=html>Style</button>", "lexical": SAVE}


def bundled(out):
    """Bundles each page's source; packages are kept in $COMMIS_ACTS_TOOLS (default: commis-acts in the user's cache)."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    tools = os.environ.get("COMMIS_ACTS_TOOLS") or os.path.join(cache, "commis-acts")
    mark = os.path.join(tools, "installed")
    os.makedirs(tools, exist_ok=True)
    wanted = "\n".join(PACKAGES)
    if not os.path.exists(mark) or open(mark, encoding="utf-8").read() != wanted:
        with open(os.path.join(tools, "package.json"), "w", encoding="utf-8") as file:
            file.write('{"private": true}')
        quiet = ["--no-fund", "--no-audit", "--silent", "--no-package-lock"]
        subprocess.run(["npm", "install", *quiet, *PACKAGES], cwd=tools, check=True)
        with open(mark, "w", encoding="utf-8") as file:
            file.write(wanted)
    sources = os.path.join(HERE, "src")
    # Where Node looks for packages from there.
    copied = os.path.join(tools, "src")
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(sources, copied)
    names = sorted(os.listdir(copied))
    esbuild = os.path.join(tools, "node_modules", ".bin", "esbuild")
    flags = ["--bundle", "--format=iife", '--define:process.env.NODE_ENV="production"', "--loader:.png=dataurl", "--log-level=error"]
    subprocess.run([esbuild, *[os.path.join(copied, it) for it in names], *flags, f"--outdir={out}"], cwd=tools, check=True)
    return {os.path.splitext(it)[0] for it in names}


class Site:
    """What is served, and what the pages said that they heard."""

    def __init__(self, folder, names):
        self.folder, self.names, self.heard = folder, names, []

    def page(self, name):
        head = f"<!doctype html><meta charset=utf-8><title>{name}</title><script>{DID}</script>"
        if name in PLAIN:
            return head + PLAIN[name]
        style = f"<link rel=stylesheet href=/{name}.css>" if os.path.exists(os.path.join(self.folder, f"{name}.css")) else ""
        return f"{head}{style}<h1>{name}</h1><div id=app></div>{BUNDLED.get(name, '')}<script src=/{name}.js></script>"

    def answer(self, method, path, body):
        if path == "/did" and method == "POST":
            self.heard.append(body)
            return 200, {}, b""
        name = path.strip("/")
        if name == "nothing":
            return 204, {}, b""
        if name == "report.csv":
            return 200, {"Content-Type": "text/csv", "Content-Disposition": "attachment"}, b"a,b\n1,2\n"
        if name in PLAIN or name in self.names:
            return 200, {"Content-Type": "text/html; charset=utf-8"}, self.page(name).encode()
        file = os.path.join(self.folder, os.path.basename(name))
        if os.path.isfile(file):
            kind = "text/css" if file.endswith(".css") else "text/javascript"
            with open(file, "rb") as it:
                return 200, {"Content-Type": kind + "; charset=utf-8"}, it.read()
        return 404, {"Content-Type": "text/html"}, b"<title>Lost</title><h1>Not found</h1>"


@contextlib.contextmanager
def served(site):
    """The port."""

    class Pages(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def any(self):
            body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
            status, headers, out = site.answer(self.command, urllib.parse.urlsplit(self.path).path, body)
            with contextlib.suppress(OSError):
                self.send_response(status)
                for name, value in {**headers, "Cache-Control": "no-store"}.items():
                    self.send_header(name, value)
                if status != 204:
                    self.send_header("Content-Length", str(len(out)))
                self.end_headers()
                self.wfile.write(out)

        do_GET = do_POST = any

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
