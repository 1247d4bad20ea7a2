"""Flask-Admin behind Flask-Login: each user's list has the ships of that user's ports."""

import app_flaskadmin as plain
import words
from members import FIRST, SECOND, Behind, Members

PORTS = {FIRST: words.PORTS[:6], SECOND: words.PORTS[4:]}

LOGIN = """
import flask_login
from flask import redirect, request, url_for

WORDS = {words!r}
PORTS = {ports!r}
manager = flask_login.LoginManager(app)
manager.login_view = "login"

@manager.user_loader
def load(name):
    user = flask_login.UserMixin()
    user.id = name
    return user if name in WORDS else None

@app.route("/login", methods=["GET", "POST"])
def login():
    name = request.form.get("username")
    if name in WORDS and request.form.get("password") == WORDS[name]:
        flask_login.login_user(load(name))
        return redirect("/admin/ship/")
    return "<form method=post><label>Username <input name=username></label><label>Password <input name=password type=password></label><button>Log in</button></form>"

class Ship"""

OWN = """class Ships(ModelView):
    def is_accessible(self):
        return flask_login.current_user.is_authenticated

    def inaccessible_callback(self, name, **more):
        return redirect(url_for("login"))

    def get_query(self):
        return super().get_query().filter(Ship.port.in_(PORTS[flask_login.current_user.id]))

    def get_count_query(self):
        return super().get_count_query().filter(Ship.port.in_(PORTS[flask_login.current_user.id]))
"""


class Harbour(Members, plain.FlaskAdmin):
    name = "harbour-accounts"
    kind = "admin tables"
    pins = (*plain.FlaskAdmin.pins, "flask-login==0.6.3")
    port = 8714
    ready = "/login"

    def program(self):
        text = super().program().replace("class Ship", LOGIN.format(words=self.words, ports=PORTS), 1)
        return text.replace("class Ships(ModelView):", OWN, 1)

    def own(self, account, query="", order="id"):
        rows = self.found({"query": query}, order)
        return [it for it in rows if it["port"] in PORTS[account]]

    def tasks(self):
        return [
            Behind(
                "harbour-list",
                "List my ships",
                "http://flaskadmin.test/admin/ship/",
                [{}, {}],
                [{"wait_for": {"text": "List ("}}],
                lambda values, account: self.own(account),
                page=20,
                ordered=True,
                endpoint="/admin/ship/",
            ),
            Behind(
                "harbour-search",
                "Search my ships for {query}",
                "http://flaskadmin.test/admin/ship/",
                [{"query": it} for it in ("fender", "windlass", "ladder", "capstan")],
                [
                    {"fill": {"role": "textbox", "name": "title, port", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"request": "search={query}"}},
                    {"wait_for": {"text": "List ("}},
                ],
                lambda values, account: self.own(account, values["query"]),
                page=20,
                ordered=True,
                endpoint="/admin/ship/",
            ),
        ]
