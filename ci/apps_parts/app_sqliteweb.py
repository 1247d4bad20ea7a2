"""sqlite-web: a database's tables in an administrator's pages."""

import os
import sqlite3

import words
from app import App, Task


class SqliteWeb(App):
    name = "sqlite-web"
    kind = "database administration"
    pins = ("sqlite-web==0.8.2",)
    hosts = ("sqlite.test",)
    port = 8608
    short = True

    @property
    def file(self):
        return os.path.join(self.place.data, "harbour.db")

    def fill(self):
        by = words.seeded("sqlite-web")
        base = sqlite3.connect(self.file)
        for table in ("barges", "cranes", "ferries", "lights", "pilots"):
            base.execute(f"create table {table}(id integer primary key, title text, port text, built integer, price real)")
            for at in range(1, 121):
                title = f"{by.choice(words.SHIPS)} {table[:-1]} {at}"
                row = (at, title, by.choice(words.PORTS), by.randint(1930, 2020), by.randint(10, 9999) + 0.5)
                base.execute(f"insert into {table} values (?, ?, ?, ?, ?)", row)
        base.commit()
        base.close()

    def command(self, port):
        return (
            [self.place.bin("sqlite_web"), "--host", "127.0.0.1", "--port", port, "--no-browser", "--read-only", self.file],
            None,
            {},
        )

    def rows(self, query):
        return self.sql(self.file, query)

    def tasks(self):
        tables = [{"table": it} for it in ("barges", "cranes", "ferries", "lights")]
        ports = [{"port": it} for it in ("Gdynia", "Malmo", "Trieste", "Bilbao")]
        return [
            Task(
                "sqlite-web-table",
                "Show the rows of the table {table}",
                "http://sqlite.test/",
                tables,
                [
                    {"click": {"role": "link", "name": "{table}"}},
                    {"click": {"role": "link", "name": "Content"}},
                    {"wait_for": {"text": "showing page 1"}},
                ],
                lambda values: self.rows(f"select * from {values['table']} order by id"),
                page=50,
                ordered=True,
                endpoint="/content/",
                ways=("steps", "har"),
            ),
            Task(
                "sqlite-web-sorted",
                "List what is oldest in the table {table} first",
                "http://sqlite.test/",
                tables,
                [
                    {"navigate": "http://sqlite.test/{table}/content/"},
                    {"click": {"role": "link", "name": "built"}},
                    {"wait_for": {"request": "ordering=4"}},
                    {"wait_for": {"text": "showing page 1"}},
                ],
                lambda values: self.rows(f"select * from {values['table']} order by built, id"),
                page=50,
                ordered=True,
                endpoint="/content/",
            ),
            Task(
                "sqlite-web-query",
                "Ask the database for the barges in {port}",
                "http://sqlite.test/",
                ports,
                [
                    {
                        "fill": {
                            "role": "textbox",
                            "name": "SQL query",
                            "value": "select title, built, price from barges where port = '{port}'",
                        }
                    },
                    {"click": {"role": "button", "name": "Execute"}},
                    {"wait_for": {"text": "Results ("}},
                ],
                lambda values: self.rows(f"select title, built, price from barges where port = '{values['port']}'"),
                endpoint="/query/",
                ways=("steps", "har"),
            ),
        ]
