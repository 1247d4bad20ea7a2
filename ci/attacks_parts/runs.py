"""What drives the cases: one daemon, the model that obeys behind a relay that keeps what it is told, and `commis do`."""

import contextlib
import dataclasses
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

# A model that thinks for a while leaves a page time to become another.
SLOWLY = b"SLOWLY"
# What a model that understands puts in there: `((b64))` is the secret in that coding. So no page but its own has to know it.
MADE = re.compile(r"\(\(([a-z0-9]+)\)\)")
LONGEST = 240
# Characters that act on a terminal, or turn what is read around.
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclasses.dataclass
class Outcome:
    code: int
    ran: dict
    err: str
    seconds: float

    @property
    def status(self):
        return self.ran.get("status", "error")

    @property
    def model(self):
        return self.ran.get("model") or {}

    @property
    def approvals(self):
        return self.model.get("approvals") or []

    def told(self):
        why = self.ran.get("detail") or self.ran.get("reason") or self.err.strip().rpartition("\n")[2]
        return f"{self.status}: {why}"[:150]


def inputs(blocks, with_text):
    """What tools are called with, each text changed."""

    def changed(it):
        if isinstance(it, dict):
            return {name: changed(value) for name, value in it.items()}
        return with_text(it) if isinstance(it, str) else it

    for it in blocks if isinstance(blocks, list) else []:
        if it.get("type") == "tool_use":
            it["input"] = changed(it["input"])


def made(case, said):
    """An answer of the model, with the secret in it where a command wants it."""
    answer = json.loads(said)

    def filled(text):
        out = MADE.sub(lambda it: case.coded(it[1]), text)
        if out != text:
            case.made[out] = text
        return out

    inputs(answer.get("content"), filled)
    case.obeyed += sum(1 for it in answer.get("content", []) if it.get("id", "").startswith("obeyed_"))
    return json.dumps(answer).encode()


def unmade(case, body):
    """The conversation as the model knows it: it compares what it did with what it was told to do, and forgets no page that is cut."""
    asked = json.loads(body)
    for at, it in enumerate(asked["messages"]):
        if it["role"] == "assistant":
            inputs(it["content"], lambda text: case.made.get(text, text))
            continue
        if isinstance(it["content"], str):
            it["content"] = remembered(case, at, it["content"])
            continue
        for block in it["content"]:
            for name in ("text", "content"):
                if isinstance(block.get(name), str):
                    block[name] = remembered(case, (at, block.get("tool_use_id")), block[name])
    return json.dumps(asked).encode()


def remembered(case, where, text):
    """As it was told first."""
    known = case.memory.setdefault(where, text)
    return known if len(known) > len(text) else text


class Relay(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        found = re.search(rb"\(job (\d+)\)", body)
        case = self.server.sites.cases.get(int(found[1])) if found else None
        if case is not None:
            case.told.append(body)
            if case.slow and SLOWLY in body[-20000:]:
                time.sleep(case.slow)
            body = unmade(case, body)
        asked = urllib.request.Request(self.server.model + self.path.lstrip("/"), body, {"content-type": "application/json"})
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                code, said = answer.status, answer.read()
        except urllib.error.HTTPError as err:
            code, said = err.code, err.read()
        except OSError as err:
            code, said = 502, str(err).encode()
        if case is not None and code == 200:
            said = made(case, said)
        with contextlib.suppress(OSError):
            self.send_response(code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def model(program, folder, sites):
    """Where the model that obeys is asked."""
    scripts = []
    for it in sites.cases.values():
        script = {"when": [f"(job {it.number})"], "turns": [{"call": call} for call in it.all(list(it.turns))]}
        if it.then:
            script["then"] = it.all(it.then)
        scripts.append(script)
    path = os.path.join(folder, "transcript.yaml")
    with open(path, "w", encoding="utf-8") as file:
        # JSON is YAML.
        json.dump({"scripts": scripts}, file)
    words = [program, "testbed", "model", "--obey", "--until-eof", "--transcript", path, "--port", "0"]
    child = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    address = child.stdout.readline().strip()
    if not address:
        sys.exit("the model does not come up")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Relay)
    server.daemon_threads = True
    server.sites, server.model = sites, address.removesuffix("v1/")
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1/"
    finally:
        server.shutdown()
        server.server_close()
        child.stdin.close()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def configure(home, endpoint):
    with open(os.path.join(home, "config.toml"), "w", encoding="utf-8") as file:
        file.write(f'[model]\nprovider = "anthropic"\nname = "claude-script"\nendpoint = "{endpoint}"\n')
        # Nobody waits for a place while several hundred tasks are done one after the other.
        file.write("\n[serve]\nrest_per_minute = 1000000\nrest_burst = 1000000\nrun_per_minute = 1000000\nrun_burst = 1000000\n")


class Drill:
    """Asks the daemon."""

    def __init__(self, daemon):
        self.daemon = daemon
        # Approvals that the drill itself let go or refused.
        self.settled = set()

    def do(self, case, *more):
        words = ["do", case.sentence, "--url", case.text(case.start), "--no-recipe", "--json", *case.flags, *more]
        for role in case.hosts:
            words += ["--host", case.host(role)]
        for name, value in case.params.items():
            words += ["-p", f"{name}={value}"]
        return self.asked(*words)

    def approve(self, id, digest):
        self.settled.add(id)
        return self.asked("approve", id, "--digest", digest, "--json")

    def asked(self, *words):
        try:
            done = self.daemon.run(*words, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            return Outcome(-1, {}, "no answer", LONGEST)
        ran = {}
        with contextlib.suppress(ValueError):
            ran = json.loads(done.out)
        return Outcome(done.code, ran if isinstance(ran, dict) else {}, done.err, done.seconds)

    def waiting(self):
        """All approvals there are, by id."""
        done = self.daemon.run("approve", "--json")
        with contextlib.suppress(ValueError, KeyError):
            return {it["id"]: it for it in json.loads(done.out)["approvals"]}
        return {}
