"""django-helpdesk: a knowledge base whose answers are folded up, and tickets in a table that the server searches and filters."""

import datetime
import json
import os

import words
from app import App, Task
from django_settings import settings_of

APPS = ["django.contrib.humanize", "rest_framework", "helpdesk"]
# Its timeline is drawn by a script of another site.
MORE = """HELPDESK_TICKETS_TIMELINE_ENABLED = False
HELPDESK_TEAMS_MODE_ENABLED = False
EMAIL_BACKEND = "django.core.mail.backends.dummy.EmailBackend"
"""

URLS = """
from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls), path("", include("helpdesk.urls", namespace="helpdesk"))]
"""

# Whoever comes sits at the desk, so that no login is needed.
DESK = """
from django.contrib.auth import get_user_model

def desk(answer):
    def middleware(request):
        request.user = get_user_model().objects.get(username="desk")
        return answer(request)
    return middleware
"""

FILL = """
import datetime, json
from django.contrib.auth import get_user_model
from helpdesk.models import KBCategory, KBItem, Queue, Ticket

given = json.load(open("given.json", encoding="utf-8"))
desk = get_user_model().objects.create_user("desk", email="desk@desk.test", is_staff=True)
queues = [Queue.objects.create(title=it, slug=it.lower().replace(" ", "-")) for it in given["queues"]]
for slug, title in given["categories"]:
    KBCategory.objects.create(name=title, title=title, slug=slug, description=f"What is asked about {title.lower()}.")
for it in given["answers"]:
    category = KBCategory.objects.get(slug=it["category"])
    KBItem.objects.create(category=category, title=it["title"], question=it["question"], answer=it["answer"])
for it in given["tickets"]:
    ticket = Ticket.objects.create(
        title=it["title"], queue=queues[it["queue"]], status=it["status"], priority=it["priority"],
        submitter_email=it["from"], description=it["description"], assigned_to=desk if it["taken"] else None,
    )
    Ticket.objects.filter(id=ticket.id).update(created=datetime.datetime.fromisoformat(it["created"]))
"""

QUEUES = ["Berths", "Cranes", "Crane hire", "Invoices", "Lock & bridges"]
CATEGORIES = [("berths", "Berths"), ("fees", "Fees & invoices"), ("waste", "Waste"), ("cranes", "Cranes"), ("winter", "Winter storage")]
STATUSES = {1: "Open", 2: "Reopened", 3: "Resolved", 4: "Closed", 5: "Duplicate"}
PRIORITIES = ["1. Critical", "2. High", "3. Normal", "4. Low", "5. Very Low"]
TROUBLES = "leaks,is stuck,was billed twice,makes noise,has no power,is too short,was moved".split(",")


class Helpdesk(App):
    name = "helpdesk"
    kind = "help desk"
    pins = ("django-helpdesk==2.6.1", "django==5.2.19", "djangorestframework==3.18.3")
    hosts = ("desk.test",)
    port = 8655
    ready = "/kb/"
    settings = settings_of(APPS, MORE, ["site_.desk.desk"])

    def given(self):
        by = words.seeded("helpdesk")
        answers = []
        for slug, title in CATEGORIES:
            for gear in by.sample(words.GEAR, 6):
                about = by.choice(["fee", "permit", "repair", "key"])
                answers.append(
                    {
                        "category": slug,
                        "title": f"{gear.capitalize()}: {about}",
                        "question": f"Who pays the {about} of a {gear} under {title.lower()}?",
                        "answer": f"The tenant pays {by.randint(5, 400)} euros within {by.randint(2, 40)} days.",
                    }
                )
        tickets = []
        for at in range(1, 161):
            created = datetime.datetime(2025, 1, 2, 8, 0, tzinfo=datetime.timezone.utc) + datetime.timedelta(hours=31 * at)
            tickets.append(
                {
                    "title": f"The {by.choice(words.GEAR)} at pier {by.randint(1, 40)} {by.choice(TROUBLES)}",
                    "queue": by.randrange(len(QUEUES)),
                    "created": created.isoformat(),
                    "status": by.choice([1, 1, 1, 2, 3, 4, 5]),
                    "priority": by.randint(1, 5),
                    "from": f"{by.choice(words.SHIPS)}@boats.test",
                    "description": f"Seen on the {by.choice(['morning', 'evening'])} round, boat {by.randint(100, 999)}.",
                    "taken": by.random() < 0.4,
                }
            )
        return {"queues": QUEUES, "categories": CATEGORIES, "answers": answers, "tickets": tickets}

    def fill(self):
        files = {
            "site_/__init__.py": "",
            "site_/settings.py": self.settings,
            "site_/urls.py": URLS,
            "site_/desk.py": DESK,
            "given.json": json.dumps(self.given()),
        }
        os.makedirs(os.path.join(self.place.data, "site_"))
        for name, text in files.items():
            with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.manage("migrate", "-v0")
        self.manage("shell", "-c", FILL)

    def env(self):
        return {"DJANGO_SETTINGS_MODULE": "site_.settings", "PYTHONPATH": self.place.data}

    def manage(self, *args):
        self.run(self.place.bin("python"), "-m", "django", *args, env=self.env())

    def command(self, port):
        return [self.place.bin("python"), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"], None, self.env()

    def tasks(self):
        given = self.given()

        def row(it):
            day = datetime.date.fromisoformat(it["created"][:10])
            return {
                "title": it["title"],
                "status": STATUSES[it["status"]],
                "owner": "desk@desk.test" if it["taken"] else "",
                "from": it["from"],
                "created": {day.isoformat(), day.strftime("%B %-d, %Y"), day.strftime("%b %-d, %Y")},
            }

        def found(values):
            word = values["query"]
            return [row(it) for it in given["tickets"] if it["status"] in (1, 2) and word in it["title"] + it["description"]]

        def queued(values):
            return [row(it) for it in given["tickets"] if str(it["queue"] + 1) == values["queue"]]

        def ticket(values):
            it = given["tickets"][int(values["id"]) - 1]
            row = {name: it[name] for name in ("title", "description", "from")}
            return [{**row, "status": STATUSES[it["status"]], "priority": PRIORITIES[it["priority"] - 1], "queue": QUEUES[it["queue"]]}]

        def answered(values):
            return [
                {name: it[name] for name in ("title", "question", "answer")}
                for it in sorted(given["answers"], key=lambda it: it["title"])
                if it["category"] == values["category"]
            ]

        return [
            Task(
                "helpdesk-answers",
                "Show the questions and answers of the category {category}",
                "http://desk.test/kb/",
                [{"category": it} for it in ("berths", "fees", "waste", "winter")],
                [{"navigate": "http://desk.test/kb/{category}/"}, {"wait_for": {"selector": ".accordion-item"}}],
                answered,
                ordered=True,
                endpoint="/kb/",
                ways=("steps", "har"),
            ),
            Task(
                "helpdesk-search",
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
                ways=("steps", "har"),
            ),
            Task(
                "helpdesk-queue",
                "List all tickets of the queue number {queue}",
                "http://desk.test/tickets/",
                [{"queue": it} for it in ("1", "3", "2", "5")],
                [
                    {"navigate": "http://desk.test/tickets/?queue={queue}&sort=created"},
                    {"wait_for": {"request": "/datatables_ticket_list/"}},
                    {"wait_for": {"selector": "#ticketTable tbody tr td a"}},
                ],
                queued,
                page=25,
                endpoint="/datatables_ticket_list/",
                ways=("steps", "har"),
            ),
            Task(
                "helpdesk-ticket",
                "Show the ticket number {id} with its description",
                "http://desk.test/tickets/",
                [{"id": it} for it in ("12", "77", "101", "33")],
                [{"navigate": "http://desk.test/tickets/{id}/"}, {"wait_for": {"text": "Follow ups"}}],
                ticket,
                one=True,
                endpoint="/tickets/",
                ways=("steps", "har"),
            ),
        ]
