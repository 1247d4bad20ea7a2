"""The whole answer held against the site's own data: every item, every value, in order, and nothing else."""

import decimal
import html
import re
import unicodedata

TAG = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
NUMBER = re.compile(r"[-−]?\d[\d\u00a0\u202f,' ]*(?:[.,]\d+)?")


def plain(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    # Hyphens that are drawn only where a line breaks.
    text = str(value).replace("\u00ad", "")
    if TAG.search(text) or "&" in text:
        text = html.unescape(TAG.sub(" ", text)).replace("\u00ad", "")
    return " ".join(unicodedata.normalize("NFKC", text).split())


def leaves(value):
    if isinstance(value, dict):
        for it in value.values():
            yield from leaves(it)
    elif isinstance(value, list):
        for it in value:
            yield from leaves(it)
    elif value is not None:
        yield value


def decimals(text):
    out = set()
    for it in NUMBER.finditer(text):
        bare = re.sub(r"[\u00a0\u202f' ]", "", it.group()).replace("−", "-")
        for form in {bare.replace(",", ""), bare.replace(".", "").replace(",", ".")}:
            try:
                out.add(decimal.Decimal(form))
            except decimal.InvalidOperation:
                continue
    return out


class Item:
    def __init__(self, value):
        self.value = value
        self.leaves = [plain(it) for it in leaves(value)]
        self.whole = set(self.leaves)

    def says(self, fact):
        """A text must stand in a leaf, between breaks of words; a number must be one."""
        if fact is None:
            return True
        if isinstance(fact, (set, frozenset)):
            return any(self.says(it) for it in fact)
        if isinstance(fact, (list, tuple)):
            return all(self.says(it) for it in fact)
        if isinstance(fact, (int, float, decimal.Decimal)) and not isinstance(fact, bool):
            return any(decimal.Decimal(str(fact)) in decimals(it) for it in self.leaves)
        text = plain(fact)
        if not text or text in self.whole:
            return True
        # Scripts without blanks between words have no such breaks.
        loose = any(ord(it) > 0x2E7F for it in text)
        at = re.compile(re.escape(text) if loose else r"(?<!\w)" + re.escape(text) + r"(?!\w)")
        return any(at.search(it) for it in self.leaves)


def lists(value):
    if isinstance(value, list):
        yield value
        for it in value:
            yield from lists(it)
    elif isinstance(value, dict):
        for it in value.values():
            yield from lists(it)


def judge(rows, answer, one, ordered):
    """`complete`, `partial` or `wrong`, and notes."""
    if one:
        choices = [[answer]]
        if isinstance(answer, list) and len(answer) == 1:
            choices = [answer]
    else:
        choices = list(lists(answer)) or [[answer]]
    return max((compare(rows, it, ordered) for it in choices), key=lambda it: it[0])[1:]


def compare(rows, given, ordered):
    items = [Item(it) for it in given]
    notes, used, lost = [], [], []
    for row in rows:
        free = [it for it in range(len(items)) if it not in used]
        scores = [(sum(items[it].says(fact) for fact in row.values()), -it) for it in free]
        best = max(scores, default=(0, 0))
        if not best[0]:
            lost.append(row)
            continue
        at = -best[1]
        used.append(at)
        for name, fact in row.items():
            if not items[at].says(fact):
                notes.append(f"{name}: {short(fact)} is not in {short(given[at])}")
    held = len(rows) - len(lost)
    whole = not lost and not notes
    if lost:
        notes.append(f"{len(lost)} of {len(rows)} items are missing, such as {short(lost[0])}")
    extra = [it for it in range(len(items)) if it not in used]
    if extra:
        notes.append(f"{len(extra)} items too many, such as {short(given[extra[0]])}")
    moved = ordered and used != sorted(used)
    if moved:
        notes.append("the order is another")
    if whole and not extra and not moved:
        verdict = "complete"
    elif held and not extra and not moved:
        verdict = "partial"
    else:
        verdict = "wrong"
    return (verdict == "complete", held - len(extra) - len(notes) / 100), verdict, notes


def short(value):
    text = str(value)
    return text if len(text) <= 200 else text[:197] + "…"
