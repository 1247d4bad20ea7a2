"""django-todo: lists of tasks that belong to groups; each user sees those of the own groups."""

import datetime
import json

import words
from django_settings import settings_of
from members import FIRST, SECOND, Behind, Members

SETTINGS = settings_of(["dal", "dal_select2", "todo"], 'LOGIN_URL = "/admin/login/"\nTODO_STAFF_ONLY = False\n')

URLS = """
from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls), path("todo/", include("todo.urls", namespace="todo"))]
"""

BASE = """<!doctype html><html><head><title>{% block title %}Crew{% endblock %}</title>{% block extrahead %}{% endblock %}</head>
<body><main>{% block content %}{% endblock %}</main>{% block extra_js %}{% endblock %}</body></html>
"""

FILL = """
import datetime, json
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group
from todo.models import Task, TaskList

given = json.load(open("given.json", encoding="utf-8"))
groups = {name: Group.objects.create(name=name) for name in given["groups"]}
for name, it in given["users"].items():
    user = get_user_model().objects.create_user(name, f"{name}@todo.test", it["word"], is_staff=True)
    user.groups.set([groups[it] for it in it["groups"]])
for it in given["lists"]:
    made = TaskList.objects.create(name=it["name"], slug=it["slug"], group=groups[it["group"]])
    for task in it["tasks"]:
        owner = get_user_model().objects.get(username=task["for"])
        it = Task.objects.create(
            title=task["title"], task_list=made, created_by=owner, note=task["note"],
            due_date=datetime.date.fromisoformat(task["due"]), priority=task["priority"],
        )
        it.assigned_to.set([owner])
"""

GROUPS = {FIRST: ["deck", "galley"], SECOND: ["engine", "galley"]}


class Todo(Members):
    name = "todo-accounts"
    kind = "task lists"
    pins = ("django-todo==2.7.0", "django==5.2.19")
    hosts = ("todo.test",)
    port = 8757
    ready = "/admin/login/"
    login = "/admin/login/"

    def lists(self):
        by = words.seeded("todo-accounts")
        for group, members in (("deck", [FIRST]), ("galley", [FIRST, SECOND]), ("engine", [SECOND])):
            for name in by.sample(words.PORTS, 2):
                tasks = [
                    {
                        "title": f"{by.choice(['Oil', 'Paint', 'Move', 'Count'])} the {gear} in {name}",
                        "note": f"Locker {by.randint(10, 99)}.",
                        "due": (datetime.date(2027, 1, 4) + datetime.timedelta(days=by.randint(0, 300))).isoformat(),
                        "for": by.choice(members),
                        "priority": at + 1,
                    }
                    for at, gear in enumerate(by.sample(words.GEAR, 5))
                ]
                yield {"name": f"{group.title()} {name}", "slug": f"{group}-{name.lower()}", "group": group, "tasks": tasks}

    def fill(self):
        users = {it: {"word": self.words[it], "groups": GROUPS[it]} for it in (FIRST, SECOND)}
        given = {"groups": ["deck", "galley", "engine"], "users": users, "lists": list(self.lists())}
        files = {"site_/__init__.py": "", "site_/settings.py": SETTINGS, "site_/urls.py": URLS, "templates/base.html": BASE}
        self.write_files({**files, "given.json": json.dumps(given)})
        self.manage("migrate", "-v0")
        self.manage("shell", "-c", FILL)

    def env(self):
        return {"DJANGO_SETTINGS_MODULE": "site_.settings", "PYTHONPATH": self.place.data}

    def manage(self, *args):
        self.run(self.place.bin("python"), "-m", "django", *args, env=self.env())

    def command(self, port):
        return [self.place.bin("python"), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"], None, self.env()

    def tasks(self):
        def mine(values, account):
            return [{"title": it["title"]} for one in self.lists() if one["group"] in GROUPS[account] for it in one["tasks"] if it["for"] == account]

        def found(values, account):
            own = [it for one in self.lists() if one["group"] in GROUPS[account] for it in one["tasks"]]
            return [{"title": it["title"]} for it in own if values["query"].lower() in it["title"].lower()]

        return [
            Behind(
                "todo-mine",
                "List my tasks",
                "http://todo.test/todo/mine/",
                [{}, {}],
                [{"wait_for": {"text": "Tasks assigned to me"}}],
                mine,
            ),
            Behind(
                "todo-search",
                "Search the tasks for {query}",
                "http://todo.test/todo/",
                [{"query": it} for it in ("Oil", "Move", "Paint", "Count")],
                [{"navigate": "http://todo.test/todo/search/?q={query}"}, {"wait_for": {"text": "{query}"}}],
                found,
            ),
        ]
