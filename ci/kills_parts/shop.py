"""A shop that counts what it was sent, and the model that orders there. Neither is ever killed: what was done is what the shop has.

Each task orders under a number of its own, so that its orders can be counted. The shop gives each visitor a cookie and each form a token
that are secrets; both depend on how often they were given, and nothing else.
"""

import contextlib
import hashlib
import http.server
import json
import re
import socket
import struct
import threading
import time
import urllib.parse

import sites

HOST = "pantry.test"
NUMBER = re.compile(r"\(job (\d+)\)")
PAGE = "<!doctype html><html lang=en><meta charset=utf-8><title>Pantry</title><h1>Order beans</h1>{}"
FIELDS = """<input type=hidden name=job value=JOB><input type=hidden name=csrf_token value=TOKEN>
<label>Quantity <input name=quantity type=number value=1></label><p>Total 34.94 EUR</p><button>Place order</button>"""
FORM = f"<form method=post action=/orders>{FIELDS}</form>"
CALL = f"""<form onsubmit="event.preventDefault(); order(this)">{FIELDS}</form><p id=said></p><script>
async function order(it) {{
  const answer = await fetch('/orders', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify(Object.fromEntries(new FormData(it))) }});
  said.textContent = (await answer.json()).said;
}}</script>"""
FILL = ("fill", {"target": 'spinbutton "Quantity"', "value": "2"})
CLICK = ("click", {"target": 'button "Place order"'})
LAST = ("complete_task", {"status": "success", "reason": "it was ordered", "evidence": "was placed"})
# Of a task: what cannot be ordered again and again is given up.
MOST = 12


def secret(kind, count):
    return hashlib.sha256(f"{kind} {count}".encode()).hexdigest()


class Shop:
    def __init__(self, moments):
        self.moments, self.lock = moments, threading.Lock()
        # By task: when each of its orders came. How long its answer takes; whether the shop hangs up in place of one.
        self.orders, self.slow, self.drops = {}, {}, set()
        # Where each task begins.
        self.urls = {}
        # How often a secret of each kind was given.
        self.given = 0

    def count(self, job):
        with self.lock:
            return len(self.orders.get(job, []))

    def secrets(self):
        return {secret(kind, it).encode() for kind in ("cookie", "token") for it in range(1, self.given + 1)}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60

    def give(self, body, code=200, kind="text/html; charset=utf-8", **headers):
        body = body.encode()
        named = {"content-type": kind, "content-length": len(body), "cache-control": "no-store", **headers}
        with contextlib.suppress(OSError):
            self.send_response(code)
            for name, value in named.items():
                self.send_header(name.replace("_", "-"), str(value))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_):
        pass

    def body(self):
        return self.rfile.read(int(self.headers.get("content-length") or 0))


class Pages(Handler):
    def do_GET(self):
        shop, url = self.server.of, urllib.parse.urlsplit(self.path)
        asked = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/order":
            with shop.lock:
                shop.given += 1
                count = shop.given
            page = (CALL if asked.get("how") == "call" else FORM).replace("JOB", str(int(asked["job"]))).replace("TOKEN", secret("token", count))
            return self.give(PAGE.format(page), set_cookie=f"session={secret('cookie', count)}; HttpOnly; Path=/")
        if url.path == "/done":
            return self.give(PAGE.format("<p>Your order was placed.</p>"))
        return self.give(PAGE.format("<p>Nothing here"), 404)

    def do_POST(self):
        shop, body, at = self.server.of, self.body(), time.monotonic()
        is_call = "json" in self.headers.get("content-type", "")
        job = int(json.loads(body)["job"] if is_call else dict(urllib.parse.parse_qsl(body.decode()))["job"])
        with shop.lock:
            shop.orders.setdefault(job, []).append(at)
        shop.moments.tell("arrived", job=job)
        if job in shop.drops:
            # As a server ends that was killed: nothing is answered, and the connection is reset.
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return None
        time.sleep(shop.slow.get(job, 0))
        shop.moments.tell("answers", job=job)
        if is_call:
            return self.give(json.dumps({"said": "Your order was placed."}), 201, "application/json")
        return self.give("", 303, location="/done")


class Model(Handler):
    """Speaks Anthropic's format. It fills in, presses, and is content when the page says so; else it begins anew, as models do."""

    def do_POST(self):
        shop, asked = self.server.of, json.loads(self.body())
        messages = asked["messages"]
        found = NUMBER.search(json.dumps(messages[0]))
        job, turn = int(found[1]) if found else 0, sum(1 for it in messages if it["role"] == "assistant")
        shop.moments.tell("asked", job=job, turn=turn)
        did = [block["name"] for it in messages if it["role"] == "assistant" for block in it["content"] if block["type"] == "tool_use"]
        since = len(did) - 1 - max((n for n, it in enumerate(did) if it == "goto"), default=-1)
        is_there = "was placed" in json.dumps(messages[-1])
        name, arguments = LAST if is_there or turn >= MOST else (FILL, CLICK, ("goto", {"url": shop.urls[job]}))[min(since, 2)]
        call = {"type": "tool_use", "id": f"call_{turn}", "name": name, "input": arguments}
        answer = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": asked["model"], "content": [call]}
        answer |= {"stop_reason": "tool_use", "stop_sequence": None, "usage": {"input_tokens": 100, "output_tokens": 10}}
        time.sleep(0.05)
        self.give(json.dumps(answer), kind="application/json")
        shop.moments.tell("said", job=job, turn=turn)


@contextlib.contextmanager
def served(shop, folder):
    """The flags that lead to the shop, which schemes do, and where its model is asked."""
    with contextlib.ExitStack() as stack:
        made, all_there = sites.certificate(folder, [HOST]), []
        for handler in (Pages, Model):
            server = sites.Server(("127.0.0.1", 0), handler)
            server.of, server.secure = shop, made[0] if made and handler is Pages else None
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            threading.Thread(target=server.serve_forever, daemon=True).start()
            all_there.append(server.server_address[1])
        flags = ["--test-host", f"{HOST}=127.0.0.1:{all_there[0]}", *(["--test-ca", made[1]] if made else [])]
        yield flags, ["http", "https"] if made else ["http"], f"http://127.0.0.1:{all_there[1]}/v1/"
