"""Django's admin with curators: each sees the rooms that are theirs, and one room is both's."""

import app_djangoadmin as plain
from members import FIRST, SECOND, Behind, Members

ROOMS = {FIRST: [1, 2, 3], SECOND: [3, 4, 5]}

ADMIN = plain.ADMIN.replace(
    "    list_per_page = 25",
    f"""    list_per_page = 25

    def get_queryset(self, request):
        return super().get_queryset(request).filter(raum__in={ROOMS!r}.get(request.user.username, []))""",
)

SETUP = """
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
for name, word in WORDS.items():
    reader = get_user_model().objects.create_user(name, password=word, is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename__in=["view_exponat", "view_raum"]))
"""


class Museum(Members, plain.DjangoAdmin):
    name = "museum"
    kind = "admin in German"
    packages_of = plain.DjangoAdmin
    port = 8751
    ready = "/admin/login/"
    login = "/admin/login/"
    fields = ('textbox "Benutzername"', 'textbox "Passwort"')

    admin = ADMIN
    # Nobody is logged in without a password.
    settings = plain.SETTINGS.replace('    "haus.reader.reader",\n', "")

    @property
    def setup(self):
        return SETUP.replace("WORDS", repr(self.words))

    def own(self, account):
        return [it for it in self.rows() if it["raum"] in ROOMS[account]]

    def tasks(self):
        url = "http://museum.test/admin/museum/exponat/"

        def found(values, account):
            word = plain.folded(values["query"])
            return self.shown(it for it in self.own(account) if word in plain.folded(it["bezeichnung"]))

        def record(values, account):
            it = next((it for it in self.own(account) if str(it["id"]) == values["id"]), None)
            return it and [{**self.shown([it])[0], "bemerkung": it["bemerkung"]}]

        ids = [str(it["id"]) for it in self.own(FIRST)]
        return [
            Behind(
                "museum-list",
                "Zeige meine Exponate",
                url,
                [{}, {}],
                [{"wait_for": {"selector": "#result_list"}}],
                lambda values, account: self.shown(self.own(account)),
                page=25,
                ordered=True,
                endpoint="/admin/museum/exponat/",
            ),
            Behind(
                "museum-search",
                "Suche meine Exponate zu {query}",
                url,
                [{"query": it} for it in ("Schlüssel", "Kanne", "Öllampe", "Prägung")],
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
            ),
            Behind(
                "museum-record",
                "Zeige das Exponat mit der Nummer {id}",
                url,
                [{"id": ids[at]} for at in (5, 31, 77, 120)],
                [{"navigate": url + "{id}/change/"}, {"wait_for": {"text": "Inventarnummer"}}],
                record,
                one=True,
                endpoint="/change/",
            ),
        ]
