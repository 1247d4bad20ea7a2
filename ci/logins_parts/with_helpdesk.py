"""django-helpdesk: agents who may see the tickets of their queues alone."""

import datetime

import app_helpdesk as plain
from django_settings import settings_of
from members import FIRST, SECOND, Behind, Members

QUEUES = {FIRST: [0, 1, 2], SECOND: [2, 3, 4]}

FILL = """
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from helpdesk.models import Queue, Ticket
queues = list(Queue.objects.order_by("id"))
for queue in queues:
    queue.save()
for name, word in WORDS.items():
    user = get_user_model().objects.create_user(name, f"{name}@desk.test", word, is_staff=True)
    for at in OWN[name]:
        user.user_permissions.add(Permission.objects.get(codename=queues[at].permission_name.split(".")[-1]))
"""


class Desk(Members, plain.Helpdesk):
    name = "desk-accounts"
    kind = "help desk"
    packages_of = plain.Helpdesk
    port = 8755
    ready = "/login/"
    login = "/login/"
    fields = ("css=input[name=username]", "css=input[name=password]")

    # Nobody sits at the desk without a password.
    settings = settings_of(
        plain.APPS,
        plain.MORE + 'HELPDESK_ENABLE_PER_QUEUE_STAFF_PERMISSION = True\nLOGIN_URL = "helpdesk:login"\nHELPDESK_REDIRECT_TO_LOGIN_BY_DEFAULT = True\n',
    )

    def fill(self):
        super().fill()
        self.manage("shell", "-c", FILL.replace("WORDS", repr(self.words)).replace("OWN", repr(QUEUES)))

    def own(self, account):
        return [(at, it) for at, it in enumerate(self.given()["tickets"], 1) if it["queue"] in QUEUES[account]]

    def tasks(self):
        def row(it):
            day = datetime.date.fromisoformat(it["created"][:10])
            return {
                "title": it["title"],
                "status": plain.STATUSES[it["status"]],
                "from": it["from"],
                "created": {day.isoformat(), day.strftime("%B %-d, %Y"), day.strftime("%b %-d, %Y")},
            }

        def found(values, account):
            word = values["query"]
            return [row(it) for _, it in self.own(account) if it["status"] in (1, 2) and word in it["title"] + it["description"]]

        def ticket(values, account):
            it = next((it for at, it in self.own(account) if str(at) == values["id"]), None)
            row = it and {name: it[name] for name in ("title", "description", "from")}
            return it and [{**row, "status": plain.STATUSES[it["status"]], "queue": plain.QUEUES[it["queue"]]}]

        ids = [str(at) for at, _ in self.own(FIRST) if at > 9]
        return [
            Behind(
                "desk-search",
                "Search the open tickets for {query}",
                "http://desk.test/tickets/",
                [{"query": it} for it in ("ladder", "is stuck", "capstan", "evening")],
                [
                    {"wait_for": {"selector": "#ticketTable tbody tr td a"}},
                    {"fill": {"placeholder": "Search any ticket by id or title...", "value": "{query}"}},
                    {"wait_for": {"text": "filtered from"}},
                ],
                found,
                page=25,
                endpoint="/datatables_ticket_list/",
            ),
            Behind(
                "desk-ticket",
                "Show the ticket number {id} with its description",
                "http://desk.test/tickets/",
                [{"id": ids[at]} for at in (1, 20, 33, 47)],
                [{"navigate": "http://desk.test/tickets/{id}/"}, {"wait_for": {"text": "Follow ups"}}],
                ticket,
                one=True,
                endpoint="/tickets/",
            ),
        ]
