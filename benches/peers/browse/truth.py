"""What a person can act on in a page, from the list made by hand, beside what a snapshot offers. Pure.

A list gives a label and its kind; `{1..20}` and `{a,b}` in a label stand for many; `times` says how often the label stands there;
`names` are other words for it that a reader would know it by (an empty one: a field whose label only stands beside it).
"""

import json
import re
from collections import namedtuple

Want = namedtuple("Want", "label kind names")

# Roles of a snapshot that are that kind of thing for a reader, in lower case. A plain field may be told by any role of a field.
FIELD = {"textbox", "searchbox", "combobox", "textfield", "textarea"}
ROLES = {
    "link": {"link"},
    "button": {"button"},
    "textbox": FIELD,
    "searchbox": FIELD,
    "editable": FIELD | {"generic", "editable"},
    "checkbox": {"checkbox"},
    "switch": {"switch", "checkbox"},
    "radio": {"radio"},
    "select": {"combobox", "listbox", "select", "popupbutton"},
    "slider": {"slider"},
    "spinbutton": {"spinbutton"} | FIELD,
    "date": {"date", "time", "datetime", "inputtime", "datetimelocal"} | FIELD,
    "colour": {"colorwell", "color", "button"} | FIELD,
    "file": {"button", "file", "fileinput", "input"} | FIELD,
    "tab": {"tab"},
    "menuitem": {"menuitem", "menuitemcheckbox", "menuitemradio"},
    "treeitem": {"treeitem"},
    "option": {"option", "listboxoption", "menulistoption"},
    "disclosure": {"disclosuretriangle", "summary", "button", "details"},
}
# A line with such a role says that it can be acted on. Options belong to what they are options of, and never count as false.
ACTING = set().union(*(ROLES[it] for it in ROLES if it not in ("option", "editable"))) - {"listbox"}


def clean(text):
    return re.sub(r"\s+", " ", text.replace('"', "")).strip().rstrip(":").casefold()


def labels(key):
    """`Row {1..3}` and `Row {a,b}` as all that they stand for."""
    it = re.search(r"\{([^}]*)\}", key)
    if not it:
        return [key]
    span = re.fullmatch(r"(\d+)\.\.(\d+)", it[1])
    each = range(int(span[1]), int(span[2]) + 1) if span else it[1].split(",")
    return [key[:it.start()] + str(one) + key[it.end():] for one in each]


def read(file):
    """A page's list: `wants` for each single element."""
    page = json.loads(file.read_text())
    wants = []
    for key, entries in page["elements"].items():
        for entry in entries if isinstance(entries, list) else [entries]:
            entry = {"kind": entry} if isinstance(entry, str) else entry
            for label in labels(key):
                wants += [Want(label, entry["kind"], entry.get("names", []))] * entry.get("times", 1)
    return page | {"name": file.stem, "wants": wants}


def fits(item, kind):
    return item.hint or item.role in ACTING if kind == "clickable" else item.role in ROLES[kind] and (
        item.role != "generic" or item.hint)


def compared(page, items):
    """Which of the wanted are there (with the item that is it), which are not, and what is offered beside them."""
    claimed = [it for it in items if not it.off]
    by_name = {}
    for it in claimed:
        by_name.setdefault(clean(it.name), []).append(it)
    taken, found, missed = set(), [], []

    def take(want, names):
        for name in names:
            for it in by_name.get(clean(name), []):
                if it.ref not in taken and fits(it, want.kind):
                    taken.add(it.ref)
                    found.append((want, it))
                    return True
        return False

    rest = [it for it in page["wants"] if not take(it, [it.label])]
    missed = [it for it in rest if not take(it, it.names)]
    # A label or a part that leads to what was meant is no falsehood: words of a known label, a field's own small controls.
    known = {clean(it.label) for it in page["wants"]} | {clean(it) for it in page.get("also", [])}
    false = [it for it in claimed if it.ref not in taken and (
        it.role in ACTING and clean(it.name) not in {clean(also) for also in page.get("also", [])}
        or it.role not in ACTING and it.role not in ROLES["option"] and it.hint and clean(it.name) not in known)]
    return found, missed, false


def target(items, kind, label):
    """The first element with the label: its reference, or none."""
    return next((it.ref for it in items if not it.off and fits(it, kind) and clean(it.name) == clean(label)), None)
