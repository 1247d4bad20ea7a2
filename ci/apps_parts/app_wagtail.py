"""Wagtail: the site that `wagtail start` makes, with its search view, its admin behind a login and its API."""

import json
import os

import words
from app import App, Task

TOPICS = ["opening hours", "entrance fees", "closure", "renovation", "guided tour", "vacancies", "contact", "history"]
HOUSES = ["Swimming pool", "Town hall", "Recycling yard", "Public library", "Music school", "Flea market"]

FILL = """
import json, sys
from wagtail.models import Site
from home.models import HomePage
from django.contrib.auth import get_user_model
top = HomePage.objects.first()
for title in json.loads(TITLES):
    page = HomePage(title=title)
    top.add_child(instance=page)
    page.save_revision().publish()
site = Site.objects.first()
site.hostname = "city.test"
site.save()
get_user_model().objects.create_superuser("editor", "editor@city.test", "Correct-Horse-9")
"""

API = """

from wagtail.api.v2.router import WagtailAPIRouter
from wagtail.api.v2.views import PagesAPIViewSet
api_router = WagtailAPIRouter("wagtailapi")
api_router.register_endpoint("pages", PagesAPIViewSet)
urlpatterns = [path("api/v2/", api_router.urls)] + urlpatterns
"""


class Wagtail(App):
    name = "wagtail"
    kind = "content management"
    pins = ("wagtail==8.0.1", "django==5.2.19")
    hosts = ("city.test",)
    port = 8613
    ready = "/search/"

    def titles(self):
        by = words.seeded("wagtail")
        return [f"{house} {topic}" for house in HOUSES for topic in by.sample(TOPICS, 6)]

    def fill(self):
        python = self.place.bin("python")
        self.run(self.place.bin("wagtail"), "start", "cityweb", ".")
        with open(os.path.join(self.place.data, "cityweb", "settings", "base.py"), "a", encoding="utf-8") as file:
            file.write('\nINSTALLED_APPS += ["wagtail.api.v2"]\nALLOWED_HOSTS = ["*"]\n')
        with open(os.path.join(self.place.data, "cityweb", "urls.py"), "a", encoding="utf-8") as file:
            file.write(API)
        self.run(python, "manage.py", "migrate", "-v0")
        self.run(python, "manage.py", "shell", "-c", FILL.replace("TITLES", repr(json.dumps(self.titles()))))
        self.run(python, "manage.py", "update_index")

    def command(self, port):
        return [self.place.bin("python"), "manage.py", "runserver", "--noreload", f"127.0.0.1:{port}"], None, {}

    def tasks(self):
        words_of = [{"query": it} for it in ("pool", "closure", "library", "vacancies")]

        def found(values):
            return [{"title": it} for it in self.titles() if values["query"] in it.lower()]

        return [
            Task(
                "wagtail-search",
                "Search the city site for {query}",
                "http://city.test/search/",
                words_of,
                [
                    {"fill": {"role": "textbox", "name": "", "value": "{query}"}},
                    {"click": {"role": "button", "name": "Search"}},
                    {"wait_for": {"selector": "h4, ul li a"}},
                ],
                found,
                page=10,
                endpoint="/search",
                ways=("steps", "har"),
            ),
            Task(
                "wagtail-admin",
                "Search the CMS admin for pages called {query}",
                "http://city.test/admin/login/",
                words_of,
                [
                    {"fill": {"role": "textbox", "name": "Username", "value": "editor"}},
                    {"fill": {"role": "textbox", "name": "Password", "value": "Correct-Horse-9"}},
                    {"click": {"role": "button", "name": "Sign in"}},
                    {"wait_for": {"selector": "#wagtail-sidebar, [data-wagtail-sidebar]"}},
                    {"navigate": "http://city.test/admin/pages/search/?q={query}"},
                    {"wait_for": {"text": "matching"}},
                ],
                found,
                answerable=False,
                because="it needs a login",
                secret=True,
            ),
        ]
