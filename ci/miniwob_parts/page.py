"""A page as `commis browse` shows it: the only place that knows how commands are called and how their answers look.

`Commis` calls the program once a command. `Page` builds on `run(words) -> text` alone, so that another driver of the same commands
(`page_peer`) can stand in for it.
"""

import re
import shlex
import subprocess
from dataclasses import dataclass, field

import markup

QUOTED = r'"((?:[^"\\]|\\.)*)"'
MARK = "⚠ instructs its reader: "
LINE = re.compile(rf"^\s*(?:[-•+~]\s+)?(?:@(?P<ref>[ec]\d+)\s+)?(?P<role>[A-Za-z][\w-]*)?\s*(?:{QUOTED})?(?P<rest>.*)$")


class Refused(Exception):
    """The command failed: exit 1."""


@dataclass
class Element:
    """One line of a snapshot."""

    ref: str
    role: str
    name: str
    value: str = ""
    states: set = field(default_factory=set)
    within: str = ""

    @property
    def target(self):
        return f"@{self.ref}"


def plain(quoted):
    return re.sub(r"\\(.)", r"\1", quoted or "")


def unframed(text):
    """Lines of a page without what stands before them."""
    return "\n".join(re.sub(rf"^(?:{MARK})?> ?", "", line) for line in text.splitlines())


def elements(snapshot):
    """The lines with a ref."""
    for line in snapshot.splitlines():
        it = LINE.match(line.removeprefix(MARK))
        if not it or not it["ref"]:
            continue
        rest = it["rest"]
        value = re.search(rf"=\s*{QUOTED}", rest)
        within = re.search(rf"\bin\s+{QUOTED}", rest)
        states = re.findall(r"\[([^\]\"]*)\]", re.sub(QUOTED, "", rest))
        yield Element(
            it["ref"],
            (it["role"] or "").lower(),
            plain(it[3]).strip(),
            plain(value[1]) if value else "",
            {word.lower() for state in states for word in re.split(r"[,\s]+", state) if word},
            plain(within[1]) if within else "",
        )


class Commis:
    """`commis browse`, a process for each command. `counts` says how many there were and how long they took together."""

    def __init__(self, program, home, context="default"):
        self.words = [program, "--home", home, "browse", "--context", context]
        self.processes = 0

    def run(self, words, stdin=None):
        self.processes += 1
        try:
            done = subprocess.run([*self.words, *words], input=stdin or "", capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired as err:
            raise Refused(f"{shlex.join(words)}: no answer within 60 s") from err
        if done.returncode != 0:
            raise Refused(f"{shlex.join(words)[:120]}: exit {done.returncode}: {done.stderr.strip()[:300]}")
        return done.stdout


class Page:
    def __init__(self, driver):
        self.driver = driver

    # --- commands ---

    def do(self, *words):
        return self.driver.run([str(it) for it in words]).rstrip("\n")

    def chain(self, commands):
        """Many commands in one call; the first that fails ends them and raises."""
        if commands:
            self.driver.run(["chain"], "".join(shlex.join([str(it) for it in words]) + "\n" for words in commands))

    def click(self, target):
        """Clicks; what covers the target for a moment (a panel that closes) is waited for once."""
        try:
            return self.do("click", target)
        except Refused:
            self.wait(600)
            return self.do("click", target)

    def push(self, target):
        """A button that may lie under another: then by keyboard."""
        try:
            return self.do("click", target)
        except Refused:
            self.do("focus", target)
            return self.do("press", "Enter")

    def fill(self, target, value):
        return self.do("fill", target, value)

    def press(self, *keys):
        if len(keys) == 1:
            self.do("press", keys[0])
        else:
            self.chain([("press", it) for it in keys])

    def wait(self, ms):
        self.do("wait", "--ms", ms)

    # --- reading ---

    def text(self, target):
        """What the element shows, white space folded."""
        return " ".join(unframed(self.do("text", target)).split())

    def html(self, css):
        """The element's markup, as a tree whose nodes know their CSS path. Whether inner or outer markup came does not matter."""
        return markup.read(unframed(self.do("html", f"css={css}")), css)

    def see(self, clickable=False):
        """What can be acted on now; `clickable`: also what has no role."""
        return list(elements(self.do("snapshot", "-i", *(["-C"] if clickable else []))))

    def all(self, *roles):
        return [it for it in self.see() if it.role in roles]

    def find(self, name, *roles, clickable=False, tries=5):
        """The first element of that name (or for which `name` holds), waited for a second."""
        holds = name if callable(name) else lambda it: it == name
        seen = []
        for turn in range(tries):
            if turn:
                self.wait(200)
            seen = self.see(clickable)
            for it in seen:
                if (not roles or it.role in roles) and holds(it.name):
                    return it
        raise LookupError(f"no {'/'.join(roles) or 'element'} {name if isinstance(name, str) else ''!r}; there is {short(seen)}")

    def link(self, name, tries=5):
        """Something to click of that name, whether it has a role or not. The innermost comes last in the snapshot."""
        for turn in range(tries):
            if turn:
                self.wait(200)
            seen = self.see(clickable=True)
            fit = [it for it in seen if it.name == name]
            if fit:
                return fit[-1]
        raise LookupError(f"nothing to click named {name!r}; there is {short(seen)}")

    def submit(self, name="Submit"):
        return self.click(f'button "{name}"')


def short(seen):
    return ", ".join(f'{it.role} "{it.name}"' for it in seen)[:200]
