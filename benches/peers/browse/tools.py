"""One class a tool: how it is started, asked and ended, and how the lines of its snapshot are read.

Every tool opens the same addresses, http://NAME.test/…: commis is told so by --test-host, the Chromium of the others by a rule for
names, which leaves them no other host at all. A process is timed from its start to its exit; an MCP server is one process that
stays, so its calls are timed from question to answer, which leaves out what a client of it costs.
"""

import json
import os
import re
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

# Longest wait for one command.
PATIENCE = 40


@dataclass
class Answer:
    ok: bool
    ms: float
    text: str


@dataclass
class Item:
    """A line of a snapshot that can be referred to. `hint`: says that it can be clicked; `off`: says that it is disabled."""
    ref: str
    role: str
    name: str
    hint: bool = False
    off: bool = False


class Place:
    """What the tools are given: where the pages are, where they are installed, a folder of their own, an environment."""

    def __init__(self, port, installed, scratch, chromium, commis, mark):
        self.port, self.installed, self.scratch, self.commis = port, installed, scratch, commis
        # Of the caller's environment only what programs need to run: no proxies, no tokens, no settings of these tools.
        self.env = {it: os.environ[it] for it in ("PATH", "LANG", "LC_ALL", "TMPDIR", "TZ", "COMMIS_CHROMIUM") if it in os.environ}
        self.env |= {
            "COMMIS_BENCH_MARK": mark, "NO_COLOR": "1",
            "DO_NOT_TRACK": "1", "NO_UPDATE_NOTIFIER": "1", "AGENT_BROWSER_NO_VERSION_CHECK": "1",
        }
        self.browser = scratch / "chromium"
        self.browser.write_text(
            "#!/bin/sh\n# Chromium for the peers: as root, and with no host but the pages.\n"
            f"exec {chromium} --no-sandbox --disable-background-networking --disable-component-update "
            f"--host-resolver-rules='MAP *.test 127.0.0.1:{port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1' \"$@\"\n")
        self.browser.chmod(0o755)

    def folder(self, name):
        at = self.scratch / name
        at.mkdir(exist_ok=True)
        return at


def asked(command, env, cwd):
    """One process, to its exit. Its output goes through files: a daemon it leaves behind may keep a pipe open."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        it = subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=env, cwd=cwd)
        # Popen.wait with a timeout polls, which would be measured; the timer does not.
        late = threading.Timer(PATIENCE, it.kill)
        late.start()
        code = it.wait()
        ms = (time.perf_counter() - start) * 1000
        late.cancel()
        out.seek(0)
        err.seek(0)
        text, more = out.read().decode(errors="replace").rstrip("\n"), err.read().decode(errors="replace").strip()
    return Answer(code == 0, ms, text if code == 0 else f"{text}\n{more}".strip())


class Tool:
    """`modes`: the snapshots it can take, the one for acting first."""
    modes = ["act"]

    def __init__(self, place):
        self.place = place
        self.at = place.folder(self.name.replace(" ", "-"))
        self.env = place.env | {"HOME": str(self.at)}

    def title(self):
        return self.read(1).text.strip()

    def reads(self):
        return self.read(0)


class Commis(Tool):
    name = "commis"
    modes = ["act", "full", "-i"]
    flags = {"act": ["-i", "-C"], "full": [], "-i": ["-i"]}
    how = "`commis browse`, a process a command; acting: `snapshot -i -C`"
    up = False
    round = 0

    def version(self):
        return asked([self.place.commis, "--version"], self.env, self.at).text.split()[-1]

    def there(self):
        try:
            return asked([self.place.commis, "browse", "--help"], self.env, self.at).ok
        except OSError:
            return False

    def cold(self, url):
        """A home of its own, in which the first command starts the daemon."""
        self.round += 1
        home = self.at / f"home-{self.round}"
        home.mkdir()
        self.env["COMMIS_HOME"] = str(home)
        self.up = True
        pinned = ["--test-host", f"*.test=127.0.0.1:{self.place.port}"]
        return asked([self.place.commis, *pinned, "browse", "goto", url], self.env, self.at)

    def browse(self, *args):
        return asked([self.place.commis, "browse", *args], self.env, self.at)

    def goto(self, url):
        return self.browse("goto", url)

    def read(self, which):
        return self.browse(["url", "title"][which])

    def title(self):
        return unquoted(super().title())

    def snapshot(self, mode):
        return self.browse("snapshot", *self.flags[mode])

    def click(self, ref):
        return self.browse("click", ref)

    def fill(self, ref, value):
        return self.browse("fill", ref, value)

    LINE = re.compile(r'^\s*(?:[-*]\s+)?@([ec])(\d+)\s*([A-Za-z][\w-]*)?\s*("(?:[^"\\]|\\.)*")?(.*)$')

    def items(self, text):
        out = []
        for line in text.splitlines():
            if it := self.LINE.match(line):
                kind, number, role, name, rest = it.groups()
                out.append(Item(f"@{kind}{number}", (role or "").lower(), unquoted(name or ""),
                                hint=kind == "c", off=bool(re.search(r"\[[^\]]*\bdisabled\b", rest))))
        return out

    def close(self):
        if self.up:
            asked([self.place.commis, "daemon", "stop"], self.env, self.at)
            self.up = False


class AgentBrowser(Tool):
    name = "agent-browser"
    modes = ["act", "full"]
    how = "its native program, a process a command; acting: `snapshot -i`"

    def __init__(self, place):
        super().__init__(place)
        machine = {"x86_64": "x64", "aarch64": "arm64"}[os.uname().machine]
        self.program = place.installed / f"agent-browser/bin/agent-browser-linux-{machine}"
        sockets = place.folder("ab")
        self.env |= {"AGENT_BROWSER_EXECUTABLE_PATH": str(place.browser), "AGENT_BROWSER_SOCKET_DIR": str(sockets)}

    def version(self):
        return json.loads((self.place.installed / "agent-browser/package.json").read_text())["version"]

    def there(self):
        return self.program.exists()

    def run(self, *args):
        return asked([self.program, *args], self.env, self.at)

    def cold(self, url):
        return self.run("open", url)

    def goto(self, url):
        return self.run("open", url)

    def read(self, which):
        return self.run("get", ["url", "title"][which])

    def snapshot(self, mode):
        return self.run("snapshot", *{"act": ["-i"], "full": []}[mode])

    def click(self, ref):
        return self.run("click", f"@{ref}")

    def fill(self, ref, value):
        return self.run("fill", f"@{ref}", value)

    LINE = re.compile(r'^\s*- (\S+)(?: ("(?:[^"\\]|\\.)*"))?(.*)$')

    def items(self, text):
        out, lines = [], text.splitlines()
        for at, line in enumerate(lines):
            if not (it := self.LINE.match(line)):
                continue
            role, name, rest = it.groups()
            if ref := re.search(r"\bref=(\w+)\]?", rest):
                hint = " clickable" in rest or " focusable" in rest or " editable" in rest
                # A name that the line lacks stands in the lines below it.
                name = unquoted(name) if name else below(lines, at) if hint else ""
                out.append(Item(ref.group(1), role.lower(), name, hint, off=bool(re.search(r"\[[^\]]*\bdisabled\b", rest))))
        return out

    def close(self):
        self.run("close", "--all")


class Playwright(Tool):
    """What its two faces share: the snapshot. References look like e5, in frames f1e5."""

    LINE = re.compile(r'^(\s*)- (?:\'((?:[^\']|\'\')*)\'|(.*?))(?::(?: (.*))?)?$')
    HEAD = re.compile(r'^(\S+)(?: ("(?:[^"\\]|\\.)*"))?(.*)$')

    def items(self, text):
        out, lines = [], text.splitlines()
        for at, line in enumerate(lines):
            stripped = line.strip()
            if not stripped.startswith("- ") or "[ref=" not in stripped:
                continue
            body = stripped[2:]
            if body.startswith("'"):
                end = re.match(r"'((?:[^']|'')*)'", body)
                head, said = end.group(1).replace("''", "'"), body[end.end():].lstrip(":").strip()
            else:
                # What follows the last attribute and a colon is the element's text.
                end = body.rindex("]", 0, (re.search(r"\]:( |$)", body) or re.search(r"\]$", body)).end()) + 1
                head, said = body[:end], body[end:].lstrip(":").strip()
            role, name, rest = self.HEAD.match(head).groups()
            hint = "[cursor=pointer]" in rest
            name = unquoted(name) if name else (unquoted(said) or below(lines, at)) if hint else ""
            out.append(Item(re.search(r"\[ref=(\w+)\]", rest).group(1), role.lower(), name, hint, off="[disabled]" in rest))
        return out

    def version(self):
        return json.loads((self.place.installed / self.package / "package.json").read_text())["version"]

    def there(self):
        return (self.place.installed / self.package).is_dir()


class PlaywrightCli(Playwright):
    name = "playwright-cli"
    package = "@playwright/cli"
    how = "node, a process a command; it has no `url` or `title`, `tab-list` says both"

    def __init__(self, place):
        super().__init__(place)
        self.program = place.installed / "@playwright/cli/playwright-cli.js"
        # Neither its socket nor its register is shared with a session of somebody else's.
        self.env |= {"XDG_CACHE_HOME": str(place.folder("pc")), "TMPDIR": str(place.folder("pt"))}
        (self.at / "config.json").write_text(json.dumps({"browser": {
            "browserName": "chromium", "isolated": True,
            "launchOptions": {"executablePath": str(place.browser), "headless": True, "chromiumSandbox": False}}}))

    def run(self, *args):
        return asked(["node", self.program, *args], self.env, self.at)

    def cold(self, url):
        return self.run("open", url, "--config", "config.json")

    def goto(self, url):
        return self.run("goto", url)

    def read(self, which):
        return self.run("tab-list")

    def title(self):
        return tab(self.reads().text)

    def snapshot(self, mode):
        return self.run("--raw", "snapshot")

    def click(self, ref):
        return self.run("click", ref)

    def fill(self, ref, value):
        return self.run("fill", ref, value)

    def close(self):
        self.run("close")


class PlaywrightMcp(Playwright):
    name = "playwright-mcp"
    package = "@playwright/mcp"
    how = "an MCP server over stdio that stays: a call, not a process; `browser_tabs` says url and title"
    server = None

    def cold(self, url):
        """The server's start, its handshake, the first page."""
        start = time.perf_counter()
        self.number = 0
        with open(self.at / "server.log", "ab") as log:
            self.server = subprocess.Popen(
                ["node", self.place.installed / "@playwright/mcp/cli.js", "--headless", "--isolated", "--no-sandbox",
                 "--executable-path", self.place.browser, "--output-dir", self.at / "out"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, env=self.env, cwd=self.at)
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "commis-bench", "version": "1"}})
        self.tell({"method": "notifications/initialized"})
        done = self.goto(url)
        return Answer(done.ok, (time.perf_counter() - start) * 1000, done.text)

    def tell(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.tell({"id": self.number, "method": method, "params": params})
        while line := self.server.stdout.readline():
            said = json.loads(line)
            if said.get("id") == self.number and "method" not in said:
                return said
        raise RuntimeError(f"playwright-mcp ended: see {self.at}/server.log")

    def call(self, tool, **arguments):
        start = time.perf_counter()
        late = threading.Timer(PATIENCE, self.server.kill)
        late.start()
        said = self.ask("tools/call", {"name": tool, "arguments": arguments})
        ms = (time.perf_counter() - start) * 1000
        late.cancel()
        if "error" in said:
            return Answer(False, ms, said["error"]["message"])
        text = "\n".join(it.get("text", "") for it in said["result"]["content"])
        return Answer(not said["result"].get("isError"), ms, text)

    def goto(self, url):
        return self.call("browser_navigate", url=url)

    def read(self, which):
        return self.call("browser_tabs", action="list")

    def title(self):
        return tab(self.reads().text)

    def snapshot(self, mode):
        return self.call("browser_snapshot")

    def click(self, ref):
        return self.call("browser_click", target=ref, element="it")

    def fill(self, ref, value):
        return self.call("browser_type", target=ref, element="it", text=value)

    def close(self):
        if not self.server:
            return
        self.server.stdin.close()
        ended(self.server)
        self.server.stdout.close()
        self.server = None


ALL = [Commis, AgentBrowser, PlaywrightMcp, PlaywrightCli]


def unquoted(text):
    """A JSON-like string in quotes, as text; other text as it is."""
    if len(text) < 2 or text[0] != '"' or text[-1] != '"':
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text[1:-1].replace('\\"', '"')


def tab(text):
    """The title of the current tab in Playwright's list of tabs."""
    it = re.search(r"\(current\) \[(.*)\]\(http", text)
    return it.group(1) if it else ""


def below(lines, at):
    """The text in the lines of a tree below one of them: names in quotes and what follows a colon."""
    depth = lambda line: len(line) - len(line.lstrip())
    said = []
    for line in lines[at + 1:]:
        if line.strip() and depth(line) <= depth(lines[at]):
            break
        if it := re.search(r'"((?:[^"\\]|\\.)*)"|: (.+)$', line):
            said.append(it.group(1) or it.group(2))
    return " ".join(said)


def ended(process):
    """Waits for a process of ours that was asked to end; then it is ended."""
    for stop in (None, process.terminate, process.kill):
        if stop:
            stop()
        try:
            return process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            continue


def left(mark):
    """Process ids that carry the mark of this run in their environment: ours, whoever started them."""
    out = []
    for it in Path("/proc").iterdir():
        if it.name.isdigit() and int(it.name) != os.getpid():
            try:
                if f"COMMIS_BENCH_MARK={mark}".encode() in (it / "environ").read_bytes().split(b"\0"):
                    out.append(int(it.name))
            except OSError:
                continue
    return out


def swept(mark):
    """Ends what is left of this run, by id, and says how much that was."""
    count = 0
    for signals in (signal.SIGTERM, signal.SIGKILL):
        pids = left(mark)
        if signals == signal.SIGTERM:
            count = len(pids)
        for pid in pids:
            try:
                os.kill(pid, signals)
            except ProcessLookupError:
                continue
        if pids:
            time.sleep(1)
    return count
