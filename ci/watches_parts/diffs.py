"""What had to be reported, and what was."""

import dataclasses
import re

# `12`, `#12`, or the end of a link such as `/ticket/12` and `issue12`.
NUMBER = re.compile(r"(?:^#?|[/=]|/[a-z]+)(\d+)/?$")


@dataclasses.dataclass
class Score:
    expected: int = 0
    reported: int = 0
    right: int = 0
    # Runs of a list that was empty, and whose page does not say so.
    unproven: int = 0
    missing: list = dataclasses.field(default_factory=list)
    surplus: list = dataclasses.field(default_factory=list)

    @property
    def recall(self):
        return self.right / self.expected if self.expected else 1.0

    @property
    def precision(self):
        return self.right / self.reported if self.reported else 1.0


def differences(before, now):
    """Tuples of (kind, item, old, new) between two lists: item numbers to rows of shown values."""
    out = []
    for number in before.keys() - now.keys():
        out.append(("removed", number, None, None))
    for number in now.keys() - before.keys():
        out.append(("added", number, None, None))
    for number in before.keys() & now.keys():
        for field, old in before[number].items():
            if old != now[number][field]:
                out.append(("changed", number, old, now[number][field]))
    return out


def flat(value):
    """All texts that an item holds."""
    if isinstance(value, dict):
        return [text for it in value.values() for text in flat(it)]
    if isinstance(value, list):
        return [text for it in value for text in flat(it)]
    return [tidy(value)]


def tidy(value):
    return "" if value is None else " ".join(str(value).split())


def number_of(change, before, now):
    """The application's number of the item that a change is about: the number that its key or link is, or else by
    any text that the item alone has."""
    key = tidy(change["item"])
    if digits := NUMBER.search(key):
        return int(digits.group(1))
    for state in (now, before):
        found = [number for number, fields in state.items() if key in map(tidy, fields.values())]
        if len(found) == 1:
            return found[0]
    return None


def compare(expected, changes, before, now, score):
    """Adds one run to the score. A change is right where kind, item, old and new value are in the application's log."""
    left = [(kind, number, tidy(old), tidy(new)) for kind, number, old, new in expected]
    score.expected += len(left)
    score.reported += len(changes)
    for it in changes:
        number = number_of(it, before, now)
        is_value = it["kind"] == "changed"
        found = (it["kind"], number, tidy(it["old"]) if is_value else "", tidy(it["new"]) if is_value else "")
        if found in left:
            left.remove(found)
            score.right += 1
        else:
            score.surplus.append(f"reported, not in the log: {found} {it['path']} {it['item']!r} {it['new']}")
    score.missing += [f"in the log, not reported: {it}" for it in left]
