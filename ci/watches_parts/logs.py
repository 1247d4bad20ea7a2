"""Applications that write down each change of their items: how items are changed, and how the log is read.

A log's entries are in the order in which they were written: `{"id", "new": fields}`, `{"id", "set": field, "to": value}` or
`{"id", "retired": true}`. Fields are `title`, `status`, `priority` and what else an application's list is chosen by.
"""

import json

WHAT = ["drips", "is jammed", "rattles", "lost its label", "came loose", "was painted", "is stuck", "leaks"]

TRAC = """
import json, sys
from datetime import datetime, timedelta, timezone
from trac.env import Environment
from trac.ticket.model import Ticket
env = Environment(sys.argv[1])
NAMES = {"title": "summary", "status": "status", "priority": "priority", "kind": "type"}
BACK = {value: name for name, value in NAMES.items()}
if len(sys.argv) > 2:
    at = datetime.now(timezone.utc)
    for n, it in enumerate(json.loads(sys.argv[2])):
        ticket = Ticket(env, it.get("set"))
        for name, value in (it.get("to") or it["new"]).items():
            ticket[NAMES[name]] = value
        when = at + timedelta(milliseconds=n)
        if "new" in it:
            ticket["reporter"] = "deck"
            ticket.insert(when=when)
        else:
            ticket.save_changes("deck", "", when=when)
out = []
with env.db_query as db:
    changes = list(db("SELECT ticket, time, field, oldvalue, newvalue FROM ticket_change WHERE field <> 'comment' ORDER BY time, ticket, field"))
    for id, time, *now in db("SELECT id, time, summary, status, priority, type FROM ticket"):
        first = dict(zip(NAMES, now))
        for other, _, field, old, _ in reversed(changes):
            if other == id and field in BACK:
                first[BACK[field]] = old
        out.append((time, {"id": id, "new": first}))
    out += [(time, {"id": id, "set": BACK[field], "to": new}) for id, time, field, _, new in changes if field in BACK]
out.sort(key=lambda it: (it[0], it[1]["id"]))
print(json.dumps([it[1] for it in out]))
"""

ROUNDUP = """
import json, sys
from roundup import instance
db = instance.open(sys.argv[1]).open("admin")
db.setCurrentUser("admin")
if len(sys.argv) > 2:
    for it in json.loads(sys.argv[2]):
        if "retire" in it:
            db.issue.retire(str(it["retire"]))
        elif "new" in it:
            db.issue.create(**it["new"])
        else:
            db.issue.set(str(it["set"]), **it["to"])
    db.commit()
names = {kind: {id: db.getclass(kind).get(id, "name") for id in db.getclass(kind).getnodeids()} for kind in ("status", "priority")}
said = lambda field, value: names[field].get(value) if field in names else value
out = []
for id in db.issue.getnodeids():
    now = {it: db.issue.get(id, it) for it in ("title", "status", "priority")}
    journal = sorted(db.getjournal("issue", id), key=lambda it: it[1])
    steps = []
    for at, (_, date, _, action, params) in reversed(list(enumerate(journal))):
        date = str(date), date.second
        if action == "set":
            for field in sorted(now.keys() & params.keys()):
                steps.append((date, at, {"id": int(id), "set": field, "to": said(field, now[field])}))
                now[field] = params[field]
        elif action == "retired":
            steps.append((date, at, {"id": int(id), "retired": True}))
        elif action == "create":
            steps.append((date, at, {"id": int(id), "new": {it: said(it, now[it]) for it in now}}))
    out += steps
db.close()
out.sort(key=lambda it: (it[0], it[2]["id"], it[1]))
print(json.dumps([it[2] for it in out]))
"""

HELPDESK = """
import json, os, sys
import django
django.setup()
from django.contrib.auth import get_user_model
from helpdesk.models import FollowUp, Queue, Ticket, TicketChange
from helpdesk.update_ticket import update_ticket
STATUS = dict(Ticket.STATUS_CHOICES)
NUMBER = {str(name): value for value, name in STATUS.items()}
desk = get_user_model().objects.get(username="desk")
if len(sys.argv) > 1:
    for it in json.loads(sys.argv[1]):
        if "new" in it:
            Ticket.objects.create(
                queue=Queue.objects.first(), status=NUMBER[it["new"]["status"]], title=it["new"]["title"], priority=3,
                submitter_email="deck@boats.test", description="None.")
            continue
        ticket = Ticket.objects.get(id=it["set"])
        to = it["to"]
        update_ticket(desk, ticket, comment="x", title=to.get("title", ticket.title),
                      new_status=NUMBER[to["status"]] if "status" in to else None)
NAMES = {"Title": "title", "Status": "status"}
changes = [
    (it.followup.date, it.id, it.followup.ticket_id, NAMES[it.field], it.old_value, it.new_value)
    for it in TicketChange.objects.select_related("followup").order_by("followup_id", "id") if it.field in NAMES
]
out = []
for ticket in Ticket.objects.order_by("id"):
    first = {"title": ticket.title, "status": str(STATUS[ticket.status]), "text": ticket.description,
             "created": ticket.created.isoformat().replace("+00:00", "Z")}
    for _, _, id, field, old, _ in reversed(changes):
        if id == ticket.id:
            first[field] = old
    out.append((ticket.created, 0, {"id": ticket.id, "new": first}))
out += [(date, at, {"id": id, "set": field, "to": new}) for date, at, id, field, _, new in changes]
out.sort(key=lambda it: it[:2])
print(json.dumps([it[2] for it in out]))
"""


class ChangeLog:
    """An application's log of its own changes."""

    task = ""
    values = {}
    # What counts, where not everything does.
    on = ()
    statuses = ()
    can_retire = False

    def __init__(self, app, words):
        self.app, self.words = app, words

    def script(self, *args):
        raise NotImplementedError

    def edit(self, edits):
        """Changes items through the application's own code; the log then."""
        return json.loads(self.script(json.dumps(edits)))

    def read(self):
        return json.loads(self.script())

    @staticmethod
    def replay(state, entries):
        out = {number: dict(fields) for number, fields in state.items()}
        for it in entries:
            if "new" in it:
                out[it["id"]] = dict(it["new"])
            elif "retired" in it:
                out.pop(it["id"], None)
            else:
                out[it["id"]][it["set"]] = it["to"]
        return out

    def is_listed(self, fields):
        raise NotImplementedError

    def row(self, fields):
        """What the list shows of an item."""
        return {it: fields[it] for it in ("title", "status")}

    def listed(self, state):
        return {number: self.row(fields) for number, fields in state.items() if self.is_listed(fields)}

    def title(self, rng):
        return f"{rng.choice(self.words.GEAR)} {rng.choice(WHAT)} on boat {rng.randint(200, 9999)}"

    def item(self, rng):
        return {"title": self.title(rng), "status": rng.choice(self.statuses)}

    def change(self, fields, rng):
        """One field or more, each to another value."""
        other = {"title": self.title(rng), "status": rng.choice([it for it in self.statuses if it != fields["status"]])}
        return {it: other[it] for it in rng.sample(sorted(other), rng.choice([1, 1, 2]))}


class TracLog(ChangeLog):
    task = "trac-priority"
    values = {"priority": "major"}
    statuses = ("new", "assigned", "accepted", "reopened", "closed")

    def script(self, *args):
        return self.app.run(self.app.place.bin("python"), "-c", TRAC, self.app.site, *args)

    def is_listed(self, fields):
        return fields["status"] != "closed" and fields["priority"] == "major"

    def row(self, fields):
        return {it: fields[it] for it in ("title", "status", "kind")}

    def item(self, rng):
        return {**super().item(rng), "priority": rng.choice(["major", "minor"]), "kind": rng.choice(["defect", "task"])}

    def change(self, fields, rng):
        out = super().change(fields, rng)
        if rng.random() < 0.3:
            out["priority"] = "minor" if fields["priority"] == "major" else "major"
        if rng.random() < 0.3:
            out["kind"] = "task" if fields["kind"] == "defect" else "defect"
        return out


class RoundupLog(ChangeLog):
    task = "roundup-search"
    values = {"query": "davit"}
    # Its list says how long ago an item was last changed, in words that change by themselves.
    on = ("added", "removed", "change:title", "change:status")
    statuses = ("unread", "chatting", "in-progress", "resolved", "deferred")
    can_retire = True

    def script(self, *args):
        return self.app.run(self.app.place.bin("python"), "-c", ROUNDUP, self.app.site, *args)

    def is_listed(self, fields):
        return "davit" in fields["title"]

    def item(self, rng):
        return {**super().item(rng), "priority": "bug"}


class HelpdeskLog(ChangeLog):
    task = "helpdesk-search"
    values = {"query": "ladder"}
    # Its answer has when a ticket was last answered and the colour of its status, which follow from other changes.
    on = ("added", "removed", "change:title", "change:status")
    statuses = ("Open", "Reopened", "Resolved", "Closed")

    def script(self, *args):
        return self.app.run(self.app.place.bin("python"), "-c", HELPDESK, *args, env=self.app.env())

    def is_listed(self, fields):
        return fields["status"] in ("Open", "Reopened") and "ladder" in fields["title"] + fields["text"]
