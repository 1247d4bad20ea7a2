"""Flask-Admin: an administrator's lists with search, filters and sorting."""

import os
import sqlite3

import words
from app import App, Task

PROGRAM = """
import sys
from flask import Flask
from flask_admin import Admin
from flask_admin.contrib.sqla import ModelView
from flask_sqlalchemy import SQLAlchemy

app = Flask(__name__)
app.config["SECRET_KEY"] = sys.argv[2]
app.config["SQLALCHEMY_DATABASE_URI"] = "sqlite:///" + sys.argv[2]
db = SQLAlchemy(app)

class Ship(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    title = db.Column(db.String)
    kind = db.Column(db.String)
    port = db.Column(db.String)
    built = db.Column(db.Integer)
    price = db.Column(db.Integer)

class Ships(ModelView):
    can_view_details = True
    page_size = 20
    column_list = ["id", "title", "kind", "port", "built", "price"]
    column_searchable_list = ["title", "port"]
    column_filters = ["port", "kind"]
    column_default_sort = "id"

try:
    view = Ships(Ship, db.session)
except Exception:
    view = Ships(Ship, db)
admin = Admin(app, name="Harbour")
admin.add_view(view)
app.run("127.0.0.1", int(sys.argv[1]), threaded=True)
"""


class FlaskAdmin(App):
    name = "flask-admin"
    kind = "admin tables"
    pins = ("flask-admin==2.2.1", "flask-sqlalchemy==3.1.1", "flask==3.1.3")
    hosts = ("flaskadmin.test",)
    port = 8614
    ready = "/admin/"

    @property
    def file(self):
        return os.path.join(self.place.data, "ships.db")

    def program(self):
        return PROGRAM

    def fill(self):
        by = words.seeded("flask-admin")
        base = sqlite3.connect(self.file)
        base.execute("create table ship(id integer primary key, title text, kind text, port text, built integer, price integer)")
        for at in range(1, 301):
            kind = by.choice(words.SHIPS)
            row = (
                at,
                f"{by.choice(words.GEAR)} {kind} {at}",
                kind,
                by.choice(words.PORTS),
                by.randint(1930, 2020),
                by.randint(100, 99_999),
            )
            base.execute("insert into ship values (?, ?, ?, ?, ?, ?)", row)
        base.commit()
        base.close()
        with open(os.path.join(self.place.data, "site.py"), "w", encoding="utf-8") as file:
            file.write(self.program())

    def command(self, port):
        return [self.place.bin("python"), "site.py", port, self.file], None, {}

    def found(self, values, order="id"):
        word = f"%{values['query']}%"
        return self.sql(self.file, f"select * from ship where title like ? or port like ? order by {order}", word, word)

    def tasks(self):
        search = [
            {"fill": {"role": "textbox", "name": "title, port", "value": "{query}"}},
            {"press": "Enter"},
            {"wait_for": {"request": "search={query}"}},
        ]
        gear = [{"query": it} for it in ("fender", "Trieste", "ladder", "Gdynia")]
        return [
            Task(
                "flask-admin-search",
                "Search the ships for {query}",
                "http://flaskadmin.test/admin/ship/",
                gear,
                [*search, {"wait_for": {"text": "List ("}}],
                self.found,
                page=20,
                ordered=True,
                endpoint="/admin/ship/",
                ways=("steps", "har"),
            ),
            Task(
                "flask-admin-sorted",
                "List the ships that match {query}, the cheapest first",
                "http://flaskadmin.test/admin/ship/",
                gear,
                [
                    *search,
                    {"click": {"role": "link", "name": "Price"}},
                    {"wait_for": {"request": "sort=5"}},
                    {"wait_for": {"text": "List ("}},
                ],
                lambda values: self.found(values, "price"),
                page=20,
                ordered=True,
                endpoint="/admin/ship/",
            ),
            Task(
                "flask-admin-record",
                "Show the ship number {id}",
                "http://flaskadmin.test/admin/ship/",
                [{"id": it} for it in ("12", "77", "150", "299")],
                [{"navigate": "http://flaskadmin.test/admin/ship/details/?id={id}"}, {"wait_for": {"text": "Built"}}],
                lambda values: self.sql(self.file, "select title, kind, port, built, price from ship where id = ?", values["id"]),
                one=True,
                endpoint="/details/",
                ways=("steps", "har"),
            ),
        ]
