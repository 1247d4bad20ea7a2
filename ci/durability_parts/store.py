"""What a store must look like from outside. Nothing here is taken from the program: hashes are over RFC 8785 as written there."""

import decimal
import hashlib
import json
import os
import stat

EXAMPLE = "tests/fixtures/books.har"


def number(value):
    """As ECMAScript prints a double (RFC 8785, 3.2.2.3)."""
    if isinstance(value, int) and abs(value) <= 2**53:
        return str(value)
    value = float(value)
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    _, digits, exponent = decimal.Decimal(repr(abs(value))).as_tuple()
    digits = "".join(map(str, digits))
    point = len(digits) + exponent
    digits = digits.rstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"


def canonical(value):
    if isinstance(value, dict):
        keys = sorted(value, key=lambda it: it.encode("utf-16-be"))
        return "{" + ",".join(canonical(it) + ":" + canonical(value[it]) for it in keys) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(value)
    return json.dumps(value, ensure_ascii=False)


def envelope(data, task):
    """The parsed envelope. Fails with what is wrong with it."""
    it = json.loads(data)
    if it["task_id"] != task:
        raise ValueError(f"it belongs to {it['task_id']}")
    digest = hashlib.sha256(canonical(it["payload"]).encode()).hexdigest()
    if digest != it["payload_sha256"]:
        raise ValueError("payload hash does not hold")
    return it


class Look:
    """A home folder as it is now."""

    def __init__(self, home):
        self.torn, self.modes, self.temps = [], [], []
        # Bytes by path below the home folder: artifacts that are intact, and recipes.
        self.artifacts, self.recipes, self.journals = {}, {}, {}
        # What says that recipes were proven here.
        self.proofs = {}
        self.home = home
        for folder, folders, files in os.walk(home):
            self.mode(folder, 0o700)
            # A copy that a takeover had not finished, or a folder that was relieved: it is nobody's.
            for it in [it for it in folders if it.startswith((".taken-", ".gone-"))]:
                self.temps.append(os.path.join(folder, it))
                folders.remove(it)
            for name in files:
                self.file(folder, name)

    def mode(self, path, wanted):
        mode = stat.S_IMODE(os.lstat(path).st_mode)
        if mode != wanted:
            self.modes.append(f"{path} is {mode:o}")

    def file(self, folder, name):
        path = os.path.join(folder, name)
        below = os.path.relpath(path, self.home)
        self.mode(path, 0o600)
        if name.startswith(".tmp-") or name == "lease.json":
            self.temps.append(path)
            return
        with open(path, "rb") as file:
            data = file.read()
        try:
            if name.endswith(".yaml"):
                if not data.endswith(b"\n") or b"\nresponse:" not in data:
                    raise ValueError("it is cut")
                self.recipes[below] = data
            elif name == "replays.jsonl":
                # A crash may cut the last line, and only that.
                lines = data.split(b"\n")
                self.journals[below] = [json.loads(it) for it in lines[:-1]]
            elif name.endswith(".html"):
                # Drawn from the rest, and drawn again: cheap to lose.
                pass
            elif os.path.dirname(below) == "trust":
                if name != "key":
                    self.proofs[below] = json.loads(data)["sha256"]
            elif name in ("task.json", "recipe.schema.json") or name.startswith(("batch_", "model_")):
                json.loads(data)
            elif name.endswith(".json"):
                envelope(data, os.path.basename(folder))
                self.artifacts[below] = data
        except (ValueError, KeyError) as err:
            self.torn.append(f"{path}, {len(data)} bytes: {err}")

    def hashes(self):
        return {path: json.loads(it)["payload_sha256"] for path, it in self.artifacts.items()}


def outcomes(home):
    """What the report of the last batch says each task came to."""
    folder = os.path.join(home, "artifacts")
    found = [it for it in os.listdir(folder) if it.startswith("batch_") and it.endswith(".json")]
    with open(os.path.join(folder, found[0]), encoding="utf-8") as file:
        entries = json.load(file)["entries"]
    return {it["name"]: (it["outcome"], it.get("reason")) for it in entries}


def manifest(place, tasks, har=EXAMPLE):
    """A manifest of so many tasks over a small recording; its path."""
    path = os.path.join(place, "books.yaml")
    with open(har, encoding="utf-8") as file:
        text = file.read()
    with open(os.path.join(place, "books.har"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(path, "w", encoding="utf-8") as file:
        file.write("version: 1\ndefaults: { delay_s: 0 }\nrecipes:\n")
        for i in range(tasks):
            file.write(
                f"  - name: books-{i:02}\n    task: 'Find books about {{query}}'\n    har: books.har\n"
                "    examples: [{ query: harbour }]\n"
            )
    return path
