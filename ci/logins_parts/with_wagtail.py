"""Wagtail: editors whose groups may change pages of different parts of the site."""

import json

import app_wagtail as plain
from members import FIRST, SECOND, Behind, Members

PARTS = {FIRST: plain.HOUSES[:4], SECOND: plain.HOUSES[2:]}

FILL = """
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Group, Permission
from home.models import HomePage
from wagtail.models import GroupPagePermission
import json
top = HomePage.objects.first()
sections = {}
for house in json.loads(HOUSES):
    section = HomePage(title=house)
    top.add_child(instance=section)
    section.save_revision().publish()
    sections[house] = section
for page in HomePage.objects.exclude(id=top.id):
    house = next((it for it in sections if page.title != it and page.title.startswith(it)), None)
    if house:
        page.move(sections[house], pos="last-child")
for name, word in json.loads(WORDS).items():
    group = Group.objects.create(name=name)
    group.permissions.add(Permission.objects.get(codename="access_admin"))
    for house in json.loads(PARTS)[name]:
        change = Permission.objects.get(content_type__app_label="wagtailcore", codename="change_page")
        GroupPagePermission.objects.create(group=group, page=sections[house], permission=change)
    user = get_user_model().objects.create_user(name, f"{name}@city.test", word)
    user.groups.add(group)
"""


class City(Members, plain.Wagtail):
    name = "city-accounts"
    kind = "content management"
    packages_of = plain.Wagtail
    port = 8713
    ready = "/admin/login/"
    login = "/admin/login/"

    def fill(self):
        super().fill()
        text = FILL.replace("HOUSES", repr(json.dumps(plain.HOUSES))).replace("WORDS", repr(json.dumps(self.words)))
        self.run(self.place.bin("python"), "manage.py", "shell", "-c", text.replace("PARTS", repr(json.dumps(PARTS))))
        self.run(self.place.bin("python"), "manage.py", "update_index")

    def tasks(self):
        def found(values, account):
            titles = [*self.titles(), *plain.HOUSES]
            return [{"title": it} for it in titles if values["query"] in it.lower() and it.startswith(tuple(PARTS[account]))]

        return [
            Behind(
                "city-search",
                "Search the pages that I may edit for {query}",
                "http://city.test/admin/pages/search/",
                [{"query": it} for it in ("pool", "library", "closure", "vacancies")],
                [{"navigate": "http://city.test/admin/pages/search/?q={query}"}, {"wait_for": {"text": "matching"}}],
                found,
                page=20,
                endpoint="/admin/pages/search/",
            ),
        ]
