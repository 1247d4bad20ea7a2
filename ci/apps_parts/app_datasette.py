"""Datasette: tables of a SQLite database, searched, filtered, sorted and faceted; pages of the server."""

import os
import sqlite3

import words
from app import App, Task


class Datasette(App):
    name = "datasette"
    kind = "data publishing"
    pins = ("datasette==0.65.5",)
    hosts = ("data.test",)
    port = 8601
    ready = "/open.json"
    short = True

    @property
    def file(self):
        return os.path.join(self.place.data, "open.db")

    def fill(self):
        by = words.seeded("datasette")
        base = sqlite3.connect(self.file)
        base.execute(
            "create table permits(id integer primary key, applicant text, purpose text, city text, fee integer, granted text)"
        )
        base.execute("create table checks(id integer primary key, place text, city text, result text, note text)")
        firms = [
            f"{by.choice(['Mill', 'Abbey', 'Gate', 'Hill'])} {by.choice(['Houses', 'Builders', 'Estates'])} {at}"
            for at in range(90)
        ]
        for at in range(1, 2001):
            granted = f"20{by.randint(15, 25)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}"
            row = (
                at,
                by.choice(firms),
                by.choice(words.WORKS),
                by.choice(words.CITIES),
                by.randint(2, 9000) * 100 + at % 100,
                granted,
            )
            base.execute("insert into permits values (?, ?, ?, ?, ?, ?)", row)
        for at in range(1, 801):
            place = f"{by.choice(['Kiosk', 'Canteen', 'Bakery'])} {by.choice(words.SHIPS).title()} {at}"
            note = by.choice(["nothing to note", "door blocked", "no price list", "scales not sealed"])
            row = (at, place, by.choice(words.CITIES), by.choice(["pass", "pass", "warning", "closed"]), note)
            base.execute("insert into checks values (?, ?, ?, ?, ?)", row)
        base.execute('create virtual table permits_fts using fts4(applicant, purpose, city, content="permits")')
        base.execute("insert into permits_fts(permits_fts) values ('rebuild')")
        base.commit()
        base.close()

    def command(self, port):
        return [self.place.bin("datasette"), "serve", self.file, "-h", "127.0.0.1", "-p", port], None, {}

    def rows(self, query, *values):
        return self.sql(self.file, query, *values)

    def tasks(self):
        def searched(values):
            query = "select * from permits where id in (select rowid from permits_fts where permits_fts match ?) order by id"
            return self.rows(query, f'"{values["query"]}"')

        search = [
            {"fill": {"role": "searchbox", "name": "Search", "value": "{query}"}},
            {"press": "Enter"},
            {"wait_for": {"text": "search matches"}},
        ]
        works = [{"query": it} for it in ("chimney", "roof garden", "bay window", "tree house")]
        cities = [{"city": it} for it in ("Utrecht", "Krakow", "Setubal", "Malmo")]
        return [
            Task(
                "datasette-search",
                "Search the building permits for {query}",
                "http://data.test/open/permits?_size=15",
                works,
                search,
                searched,
                page=15,
                ordered=True,
                endpoint="/open/permits",
                ways=("steps", "har"),
            ),
            Task(
                "datasette-search-hundred",
                "Search the building permits for {query}",
                "http://data.test/open/permits",
                works,
                search,
                searched,
                page=100,
                ordered=True,
                endpoint="/open/permits",
            ),
            Task(
                "datasette-city",
                "List the building permits of the city {city}",
                "http://data.test/open/permits?_size=20",
                cities,
                [
                    {"navigate": "http://data.test/open/permits?_size=20&city={city}"},
                    {"wait_for": {"text": 'where city = "{city}"'}},
                ],
                lambda values: self.rows("select * from permits where city = ? order by id", values["city"]),
                page=20,
                ordered=True,
                endpoint="/open/permits",
                ways=("steps", "har"),
            ),
            Task(
                "datasette-record",
                "Show the building permit number {id}",
                "http://data.test/open/permits",
                [{"id": it} for it in ("12", "77", "420", "1999")],
                [{"navigate": "http://data.test/open/permits/{id}"}, {"wait_for": {"text": "permits: {id}"}}],
                lambda values: self.rows("select * from permits where id = ?", values["id"]),
                one=True,
                endpoint="/open/permits/",
                ways=("steps", "har"),
            ),
            Task(
                "datasette-sorted",
                "List the dearest building permits of the city {city} first",
                "http://data.test/open/permits?_size=20",
                cities,
                [
                    {"navigate": "http://data.test/open/permits?_size=20&city={city}"},
                    {"click": {"role": "link", "name": "fee"}},
                    {"wait_for": {"text": "sorted by fee"}},
                    {"click": {"role": "link", "name": "fee ▼"}},
                    {"wait_for": {"text": "sorted by fee descending"}},
                ],
                lambda values: self.rows("select * from permits where city = ? order by fee desc, id", values["city"]),
                page=20,
                ordered=True,
                endpoint="/open/permits",
            ),
            Task(
                "datasette-checks",
                "List the inspections that ended with {result}",
                "http://data.test/open/checks?_size=25",
                [{"result": it} for it in ("pass", "warning", "closed", "pass")],
                [
                    {"navigate": "http://data.test/open/checks?_size=25&result={result}"},
                    {"wait_for": {"text": 'where result = "{result}"'}},
                ],
                lambda values: self.rows("select * from checks where result = ? order by id", values["result"]),
                page=25,
                ordered=True,
                endpoint="/open/checks",
            ),
        ]
