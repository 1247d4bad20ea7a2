"""Django's admin in German: a list with search, filters, dates and prices as they are written there, read by a user who may only look."""

import datetime
import os
import sqlite3

import words
from app import App, Task

SETTINGS = """
import os

BASE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SECRET_KEY = "a secret of the test's own"
DEBUG = True
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "haus.urls"
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "museum",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "haus.reader.reader",
    "django.contrib.messages.middleware.MessageMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": os.path.join(BASE, "museum.db")}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "de"
TIME_ZONE = "UTC"
USE_I18N = True
USE_TZ = True
USE_THOUSAND_SEPARATOR = True
STATIC_URL = "static/"
"""

URLS = """
from django.contrib import admin
from django.urls import path

urlpatterns = [path("admin/", admin.site.urls)]
"""

# Whoever comes is the reader, so that no login is needed.
READER = """
from django.contrib.auth import get_user_model

def reader(answer):
    def middleware(request):
        request.user = get_user_model().objects.get(username="leser")
        return answer(request)
    return middleware
"""

MODELS = """
from django.db import models

class Raum(models.Model):
    name = models.CharField("Name", max_length=60)

    class Meta:
        verbose_name = "Raum"
        verbose_name_plural = "Räume"

    def __str__(self):
        return self.name

class Exponat(models.Model):
    nummer = models.CharField("Inventarnummer", max_length=20)
    bezeichnung = models.CharField("Bezeichnung", max_length=120)
    material = models.CharField("Material", max_length=2, choices=[
        ("ho", "Holz"), ("ms", "Messing"), ("zn", "Zinn"), ("ag", "Silber"), ("st", "Steingut"), ("su", "Süßwasserperlen"),
    ])
    raum = models.ForeignKey(Raum, models.PROTECT, verbose_name="Raum")
    erworben = models.DateField("Erworben am")
    wert = models.DecimalField("Wert in Euro", max_digits=10, decimal_places=2)
    ausgestellt = models.BooleanField("Ausgestellt")
    bemerkung = models.TextField("Bemerkung", blank=True)

    class Meta:
        verbose_name = "Exponat"
        verbose_name_plural = "Exponate"

    def __str__(self):
        return f"{self.nummer} {self.bezeichnung}"
"""

ADMIN = """
from django.contrib import admin
from .models import Exponat, Raum

@admin.register(Exponat)
class Exponate(admin.ModelAdmin):
    list_display = ["nummer", "bezeichnung", "material", "raum", "erworben", "wert", "ausgestellt"]
    list_filter = ["material", "raum", "ausgestellt"]
    search_fields = ["bezeichnung", "nummer"]
    date_hierarchy = "erworben"
    ordering = ["id"]
    list_per_page = 25

admin.site.register(Raum)
"""

SETUP = """
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
reader = get_user_model().objects.create_user("leser", is_staff=True)
reader.user_permissions.set(Permission.objects.filter(codename__in=["view_exponat", "view_raum"]))
"""

THINGS = "Gießkanne,Türschloss,Öllampe,Truhe,Schöpflöffel,Kännchen,Kanne,Schlüssel,Mörser,Uhr,Kästchen,Zunftkrug".split(",")
AGES = "um 1780,aus der Barockzeit,aus der Gründerzeit,mit Prägung,ohne Deckel,beschädigt,für Kinder,aus dem Süden".split(",")
ROOMS = ["Großer Saal", "Kleiner Saal", "Dachboden", "Gewölbe", "Kabinett (Ost)"]
MATERIALS = {"ho": "Holz", "ms": "Messing", "zn": "Zinn", "ag": "Silber", "st": "Steingut", "su": "Süßwasserperlen"}
MONTHS = "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split()


def german(price):
    whole, _, cents = f"{price:.2f}".partition(".")
    return f"{int(whole):,}".replace(",", ".") + "," + cents


def folded(text):
    """As SQLite compares: the case of ASCII letters alone does not count."""
    return "".join(it.lower() if it.isascii() else it for it in text)


class DjangoAdmin(App):
    name = "django-admin"
    kind = "admin in German"
    pins = ("django==5.2.19", "sqlparse==0.5.5")
    hosts = ("museum.test",)
    port = 8651
    ready = "/admin/museum/exponat/"
    settings, admin, setup = SETTINGS, ADMIN, SETUP

    def rows(self):
        by = words.seeded("django-admin")
        for at in range(1, 361):
            day = datetime.date(2015, 1, 1) + datetime.timedelta(days=by.randint(0, 3650))
            yield {
                "id": at,
                "nummer": f"M-{1000 + at * 7}",
                "bezeichnung": f"{by.choice(THINGS)} {by.choice(AGES)}",
                "material": by.choice(list(MATERIALS)),
                "raum": by.randint(1, len(ROOMS)),
                "erworben": day,
                "wert": by.randint(900, 950_000) / 100,
                "ausgestellt": by.random() < 0.5,
                "bemerkung": by.choice(["", f"Schenkung, Kiste {by.randint(1, 90)}", f"Leihgabe bis {by.randint(2026, 2031)}"]),
            }

    def fill(self):
        files = {
            "haus/__init__.py": "",
            "haus/settings.py": self.settings,
            "haus/urls.py": URLS,
            "haus/reader.py": READER,
            "museum/__init__.py": "",
            "museum/models.py": MODELS,
            "museum/admin.py": self.admin,
        }
        for name, text in files.items():
            path = os.path.join(self.place.data, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        self.manage("makemigrations", "museum", "-v0")
        self.manage("migrate", "-v0")
        self.manage("shell", "-c", self.setup)
        base = sqlite3.connect(os.path.join(self.place.data, "museum.db"))
        base.executemany("insert into museum_raum (id, name) values (?, ?)", enumerate(ROOMS, 1))
        for it in self.rows():
            row = {**it, "erworben": it["erworben"].isoformat()}
            base.execute(
                "insert into museum_exponat (id, nummer, bezeichnung, material, raum_id, erworben, wert, ausgestellt, bemerkung)"
                " values (:id, :nummer, :bezeichnung, :material, :raum, :erworben, :wert, :ausgestellt, :bemerkung)",
                row,
            )
        base.commit()
        base.close()

    def env(self):
        return {"DJANGO_SETTINGS_MODULE": "haus.settings", "PYTHONPATH": self.place.data}

    def manage(self, *args):
        self.run(self.place.bin("python"), "-m", "django", *args, env=self.env())

    def command(self, port):
        return [self.place.bin("python"), "-m", "django", "runserver", "--noreload", f"127.0.0.1:{port}"], None, self.env()

    def shown(self, rows):
        """What the list shows for each: dates and prices as the page writes them, or as a program would."""
        return [
            {
                "nummer": it["nummer"],
                "bezeichnung": it["bezeichnung"],
                "material": MATERIALS[it["material"]],
                "raum": ROOMS[it["raum"] - 1],
                "erworben": {f"{it['erworben'].day}. {MONTHS[it['erworben'].month - 1]} {it['erworben'].year}", it["erworben"].isoformat()},
                "wert": {german(it["wert"]), f"{it['wert']:.2f}"},
                # An icon with an alternative text.
                "ausgestellt": {"true", "icon-yes", "ja"} if it["ausgestellt"] else {"false", "icon-no", "nein"},
            }
            for it in rows
        ]

    def tasks(self):
        url = "http://museum.test/admin/museum/exponat/"
        things = [{"query": it} for it in ("Schlüssel", "Kanne", "Öllampe", "Prägung")]

        def found(values):
            return self.shown(it for it in self.rows() if folded(values["query"]) in folded(it["bezeichnung"]))

        def made_of(values):
            of = [it for it in self.rows() if MATERIALS[it["material"]] == values["material"]]
            return self.shown(sorted(of, key=lambda it: it["wert"]))

        def bought(values):
            return self.shown(it for it in self.rows() if str(it["erworben"].year) == values["jahr"])

        def record(values):
            it = next(it for it in self.rows() if str(it["id"]) == values["id"])
            return [{**self.shown([it])[0], "bemerkung": it["bemerkung"]}]

        return [
            Task(
                "django-admin-search",
                "Suche die Exponate zu {query}",
                url,
                things,
                [
                    {"fill": {"css": "#searchbar", "value": "{query}"}},
                    {"click": {"role": "button", "name": "Suchen"}},
                    {"wait_for": {"request": "?q="}},
                    {"wait_for": {"text": "Exponat"}},
                ],
                found,
                page=25,
                ordered=True,
                endpoint="/admin/museum/exponat/",
                ways=("steps", "har"),
            ),
            Task(
                "django-admin-material",
                "Zeige die Exponate aus {material}, das billigste zuerst",
                url,
                [{"material": it} for it in ("Zinn", "Steingut", "Silber", "Süßwasserperlen")],
                [
                    {"click": {"role": "link", "name": "{material}"}},
                    {"wait_for": {"request": "material__exact="}},
                    {"click": {"role": "link", "name": "Wert in Euro"}},
                    {"wait_for": {"request": "o=5"}},
                    {"wait_for": {"text": "Exponat"}},
                ],
                made_of,
                page=25,
                ordered=True,
                endpoint="/admin/museum/exponat/",
                ways=("steps", "har"),
            ),
            Task(
                "django-admin-year",
                "Zeige die Exponate, die im Jahr {jahr} erworben wurden",
                url,
                [{"jahr": it} for it in ("2017", "2021", "2019", "2024")],
                [
                    {"click": {"role": "link", "name": "{jahr}"}},
                    {"wait_for": {"request": "erworben__year={jahr}"}},
                    {"wait_for": {"text": "Exponat"}},
                ],
                bought,
                page=25,
                ordered=True,
                endpoint="/admin/museum/exponat/",
                ways=("steps", "har"),
            ),
            Task(
                "django-admin-record",
                "Zeige das Exponat mit der Nummer {id}",
                url,
                [{"id": it} for it in ("12", "77", "150", "299")],
                [{"navigate": url + "{id}/change/"}, {"wait_for": {"text": "Inventarnummer"}}],
                record,
                one=True,
                endpoint="/change/",
                ways=("steps", "har"),
            ),
        ]
