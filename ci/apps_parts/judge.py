"""An answer held against what the page shows: every item, every fact of it."""

import decimal
import html
import json
import re
import unicodedata

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
NUMBER = re.compile(r"[-−]?\d+(?:[,\u00a0\u202f ']\d{3})*(?:\.\d+)?")
DATE = re.compile(
    r"(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)"
    r"|(?P<d2>\d{1,2})(?:st|nd|rd|th)?\.? (?P<n2>[a-z]{3})[a-z]*\.?,? (?P<y2>\d{4})"
    r"|(?P<n3>[a-z]{3})[a-z]*\.? (?P<d3>\d{1,2})(?:st|nd|rd|th)?,? (?P<y3>\d{4})"
    r"|(?P<m4>\d\d)/(?P<d4>\d\d)/(?P<y4>\d{4}|\d\d)\b"
    r"|(?P<y5>\d{4})/(?P<m5>\d\d)/(?P<d5>\d\d)"
)
TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")


def plain(value):
    """Text as it is compared: no markup, one form of letters, no case."""
    if value is None:
        return ""
    if isinstance(value, bool):
        value = "true" if value else "false"
    text = html.unescape(TAG.sub(" ", str(value))) if "<" in str(value) or "&" in str(value) else str(value)
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def tokens(text):
    """Words with a space around each."""
    return " " + " ".join(re.findall(r"[^\W_]+", text)) + " "


def dates(text):
    out = set()
    for it in DATE.finditer(text):
        at = {name: value for name, value in it.groupdict().items() if value}
        year = next(value for name, value in at.items() if name[0] == "y")
        day = next(value for name, value in at.items() if name[0] == "d")
        named = next((value for name, value in at.items() if name[0] == "n"), None)
        if named and named not in MONTHS:
            continue
        month = MONTHS.index(named) + 1 if named else int(next(value for name, value in at.items() if name[0] == "m"))
        out.add((int(year) + (2000 if len(year) == 2 else 0), month, int(day)))
    return out


def number(text):
    try:
        return decimal.Decimal(re.sub(r"[,\u00a0\u202f ']", "", text).replace("−", "-"))
    except ArithmeticError:
        return None


def numbers(text):
    found = {number(it.group()) for it in NUMBER.finditer(text)}
    # What stands before a hyphen is no minus sign, and what looks grouped may be two numbers.
    found |= {number(it) for it in re.findall(r"\d+(?:\.\d+)?", text)}
    return found - {None}


class Item:
    """What one item of an answer says."""

    def __init__(self, value):
        self.leaves = list(leaves(value))
        self.text = " | ".join(plain(it) for it in self.leaves)
        self.words = tokens(self.text)
        self.squeezed = re.sub(r"[\W_]+", "", self.text)
        self.numbers = numbers(self.text)
        self.dates = dates(self.text)

    def says(self, fact):
        """Whether a fact stands in it. A set is one of several ways to say it."""
        if isinstance(fact, (set, frozenset)):
            return any(self.says(it) for it in fact)
        if isinstance(fact, (int, float)) and not isinstance(fact, bool):
            return number(str(fact)) in self.numbers
        text = plain(fact)
        if not text:
            return True
        words = tokens(text)
        if not words.strip():
            return text in self.text
        if words in self.words:
            return True
        if (one := DATE.fullmatch(text)) and one:
            return dates(text) <= self.dates
        if NUMBER.fullmatch(text):
            return number(text) in self.numbers
        # The same letters with other breaks between them, where that can be no accident.
        squeezed = re.sub(r"[\W_]+", "", text)
        return len(squeezed) >= 12 and squeezed in self.squeezed


def leaves(value):
    if isinstance(value, dict):
        for it in value.values():
            yield from leaves(it)
    elif isinstance(value, list):
        for it in value:
            yield from leaves(it)
    elif value is not None:
        yield value


def lists(value):
    """Every list in a document; a map of records is one, too."""
    if isinstance(value, list):
        yield value
    elif isinstance(value, dict):
        if len(value) > 1 and all(isinstance(it, dict) for it in value.values()):
            yield [[name, it] for name, it in value.items()]
        value = list(value.values())
    else:
        return
    for it in value:
        yield from lists(it)


def pair(items, rows):
    """Which item says which row: as many whole pairs as can be found in order, then those that fit best."""
    left = list(range(len(items)))
    whole, rest = {}, []
    for at, row in enumerate(rows):
        fits = [it for it in left if all(items[it].says(fact) for fact in row.values())]
        if fits:
            best = min(fits, key=lambda it: abs(it - at))
            whole[at] = best
            left.remove(best)
        else:
            rest.append(at)
    partly = {}
    for at in rest:
        facts = list(rows[at].values())
        scored = [(items[it].says(facts[0]), sum(items[it].says(fact) for fact in facts), -abs(it - at), it) for it in left]
        first, count, _, best = max(scored, default=(False, 0, 0, 0))
        # What says neither the first fact nor half of them is something else.
        if count and (first or 2 * count >= len(facts)):
            partly[at] = best
            left.remove(best)
    return whole, partly, left


def judge(task, rows, data):
    """`complete`, `partial` or `wrong`, how many items were shown and given, and what is missing."""
    if isinstance(rows, tuple):
        # One page, read in several ways that are all right.
        return max((judge(task, it, data) for it in rows), key=lambda it: (it["verdict"] == "complete", it["verdict"] == "partial"))
    shown = len(rows[: task.page] if task.page else rows)
    choices = [[data]] if task.one else list(lists(data)) or [[data]]
    if task.one and isinstance(data, list):
        # A record may also come in parts, each of which says something of it.
        choices = [data, *([[data]] if rows and len(data) <= len(rows[0]) else [])]
    best = None
    for given in choices:
        found = compare(task, rows, shown, given)
        if best is None or found[0] > best[0]:
            best = found
    return best[1]


def compare(task, rows, shown, given):
    items = [Item(it) for it in given]
    whole, partly, extra = pair(items, rows)
    first = [it for it in range(shown) if it in whole]
    count = len(items)
    # An answer of more than the page shows is right if all of it is.
    enough = len(whole) >= shown and (not task.ordered or len(first) == shown)
    if task.ordered and enough:
        order = [whole[it] for it in sorted(whole)]
        enough = order == sorted(order)
    notes = []
    if len(whole) + len(partly) < shown:
        notes.append(f"{shown - len(whole) - len(partly)} of {shown} rows are missing")
    if extra:
        notes.append(f"{len(extra)} items are no rows: {short(given[extra[0]])}")
    if task.ordered and len(whole) >= shown and not enough:
        notes.append("the order is another")
    lost = {}
    for at, it in partly.items():
        for name, fact in rows[at].items():
            if not items[it].says(fact):
                lost.setdefault(name, (fact, given[it]))
    for name, (fact, item) in lost.items():
        notes.append(f"{name}: {short(fact)} is not in {short(item)}")
    if enough and not extra and not partly:
        verdict = "complete"
    elif not rows:
        verdict = "complete" if not count else "wrong"
    elif 2 * (len(whole) + len(partly)) >= shown and len(extra) <= count // 2 and count:
        verdict = "partial"
    else:
        verdict = "wrong"
    score = (verdict == "complete", verdict == "partial", len(whole), len(partly), -len(extra))
    return score, {"verdict": verdict, "shown": shown, "given": count, "missing": notes}


def short(value):
    if isinstance(value, (set, frozenset)):
        value = sorted(map(str, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 160 else text[:157] + "…"
