"""The same cases done with a peer: what a case asks of `commis browse` is asked of the peer in its own words.

What the page heard is what counts; how an answer is worded is not held against a peer. A case that needs what a peer lacks is not done.
"""

import json
import os
import pathlib
import re
import sys

from daemon import Done

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benches" / "peers" / "browse"))

import tools  # noqa: E402

LACKS = "the peer has no such command"
NAMED = re.compile(r'^(\w+) "([^"]*)"(?:.* in "([^"]*)")?$')


class PeerDone(Done):
    """What a peer answered."""


class Peer:
    """Stands for a daemon in a case."""

    def __init__(self, kind, installed, scratch, port):
        chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
        mark = f"acts-{os.getpid()}"
        self.place = tools.Place(port, pathlib.Path(installed) / "node_modules", pathlib.Path(scratch), chromium, pathlib.Path("/bin/true"), mark)
        self.tool, self.is_open = kind(self.place), False

    def close(self):
        if self.is_open:
            self.tool.close()
        self.is_open = False
        tools.swept(self.place.env["COMMIS_BENCH_MARK"])

    def browse(self, verb, *args, context="default"):
        do = getattr(self, f"do_{verb}", None)
        answer = do(*args) if do else tools.Answer(False, 0, LACKS)
        return PeerDone(int(not answer.ok), answer.text if answer.ok else "", "" if answer.ok else answer.text, answer.ms / 1000)

    # What all have.

    def do_goto(self, url):
        went = self.tool.goto(url) if self.is_open else self.tool.cold(url)
        self.is_open = True
        return went

    def do_close(self):
        return self.do_goto("about:blank")

    def do_title(self):
        return tools.Answer(True, 0, self.tool.title())

    def do_snapshot(self, *_):
        """In the form of our lines, as far as it has what they say: refs, roles, names, and what stands before each."""
        shown = self.tool.snapshot(self.tool.modes[-1])
        lines = [f'@e{it.ref} {it.role} "{it.name}"{before}' for it, before in self.items(shown.text)]
        return tools.Answer(shown.ok, shown.ms, "\n".join(lines))

    def items(self, text):
        """Each with the text that was last read before it, as a reader of the snapshot takes it to belong together."""
        out, before = [], ""
        for line in text.splitlines():
            it = next(iter(self.tool.items(line)), None)
            words = re.findall(r'"((?:[^"\\]|\\.)*)"|(?:text|paragraph|generic|StaticText|heading|cell|gridcell)[^:]*: (.+)$', line)
            if it:
                out.append((it, f' in "{before}"' if before else ""))
            if words and not (it and it.role == "button"):
                before = next(word for word in words[-1] if word).strip('"')
        return out

    def found(self, target):
        """The peer's own reference or selector. A target that its snapshot does not show is nothing."""
        if target.startswith("@"):
            return self.own(target[2:])
        if target.startswith("css="):
            return None if re.search(r" at \d+,\d+$", target) else self.selector(target[4:])
        role, name, within = NAMED.match(target).groups()
        for it, before in self.items(self.tool.snapshot(self.tool.modes[-1]).text):
            if it.role == role and it.name == name and (not within or within in before):
                return self.own(it.ref)
        return None

    def acting(self, do, target, *more):
        ref = self.found(target)
        return do(ref, *more) if ref else tools.Answer(False, 0, f"{target} is not in its snapshot, or cannot be said")


class AgentBrowser(Peer):
    name = "agent-browser"

    def __init__(self, *args):
        super().__init__(tools.AgentBrowser, *args)

    own = staticmethod(lambda ref: f"@{ref}")
    selector = staticmethod(lambda css: css)

    def point(self, target):
        """A point in an element, in the window."""
        css, x, y = re.match(r"^(?:css=)?(.*) at (\d+),(\d+)$", target).groups()
        at = json.loads(self.tool.run("get", "box", css, "--json").text)["data"]
        return at["x"] + int(x), at["y"] + int(y)

    def mouse(self, *points):
        for n, (x, y) in enumerate(points):
            answer = self.tool.run("mouse", "move", str(round(x)), str(round(y)))
            if n == 0:
                self.tool.run("mouse", "down")
        self.tool.run("mouse", "up")
        return answer

    def do_click(self, target):
        if " at " in target:
            return self.mouse(self.point(target))
        return self.acting(lambda ref: self.tool.run("click", ref), target)

    def do_dblclick(self, target):
        return self.acting(lambda ref: self.tool.run("dblclick", ref), target)

    def do_fill(self, target, value):
        return self.acting(lambda ref: self.tool.run("fill", ref, value), target)

    def do_focus(self, target):
        return self.acting(lambda ref: self.tool.run("focus", ref), target)

    def do_check(self, target):
        return self.acting(lambda ref: self.tool.run("check", ref), target)

    def do_press(self, key):
        return self.tool.run("press", key)

    def do_type(self, text):
        return self.tool.run("keyboard", "type", text)

    def do_drag(self, start, end):
        if " at " in start + end:
            return self.mouse(self.point(start if " at " in start else f"{start} at 5,5"), self.point(end))
        one, other = self.found(start), self.found(end)
        return self.tool.run("drag", one, other) if one and other else tools.Answer(False, 0, "not in its snapshot")

    def do_scroll(self, to, *more):
        way = {"bottom": "down", "top": "up"}.get(to, to)
        within = ["--selector", more[1].removeprefix("css=")] if more else []
        return self.tool.run("scroll", way, "400" if way == to else "1000000", *within)


class PlaywrightMcp(Peer):
    name = "playwright-mcp"

    def __init__(self, *args):
        super().__init__(tools.PlaywrightMcp, *args)

    own = staticmethod(lambda ref: ref)
    selector = staticmethod(lambda css: css)

    def do_click(self, target, **more):
        return self.acting(lambda ref: self.tool.call("browser_click", target=ref, element="it", **more), target)

    do_focus = do_check = do_click

    def do_dblclick(self, target):
        return self.do_click(target, doubleClick=True)

    def do_fill(self, target, value):
        return self.acting(lambda ref: self.tool.fill(ref, value), target)

    def do_press(self, key):
        return self.tool.call("browser_press_key", key=key)

    def do_type(self, text):
        return [self.do_press(it) for it in text][-1]

    def do_drag(self, start, end):
        one, other = self.found(start), self.found(end)
        if not (one and other):
            return tools.Answer(False, 0, "not in its snapshot")
        return self.tool.call("browser_drag", startTarget=one, startElement="it", endTarget=other, endElement="there")

    def do_scroll(self, to, *more):
        way = {"bottom": "it.scrollHeight", "top": "0"}.get(to, "it.scrollTop + 400")
        place = {"element": "it", "target": more[1].removeprefix("css=")} if more else {}
        it = "it" if more else ""
        script = f"({it}) => {{ {'' if more else 'const it = document.scrollingElement;'} it.scrollTop = {way}; }}"
        return self.tool.call("browser_evaluate", function=script, **place)


ALL = [AgentBrowser, PlaywrightMcp]
