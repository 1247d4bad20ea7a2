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
        base.execute("create table contracts(id integer primary key, supplier text, subject text, city text, amount integer, signed text)")
        base.execute("create table checks(id integer primary key, place text, city text, result text, note text)")
        firms = [f"{by.choice(['North', 'Delta', 'Union', 'River'])} {by.choice(['Works', 'Supplies', 'Systems'])} {at}" for at in range(90)]
        for at in range(1, 2001):
            signed = f"20{by.randint(15, 25)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}"
            row = (at, by.choice(firms), by.choice(words.WORKS), by.choice(words.CITIES), by.randint(2, 9000) * 100 + at % 100, signed)
            base.execute("insert into contracts values (?, ?, ?, ?, ?, ?)", row)
        for at in range(1, 801):
            place = f"{by.choice(['Tavern', 'Diner', 'Bistro'])} {by.choice(words.SHIPS).title()} {at}"
            note = by.choice(["no findings", "fridge too warm", "missing labels", "dirty hood"])
            row = (at, place, by.choice(words.CITIES), by.choice(["pass", "pass", "warning", "closed"]), note)
            base.execute("insert into checks values (?, ?, ?, ?, ?)", row)
        base.execute("create virtual table contracts_fts using fts4(supplier, subject, city, content=\"contracts\")")
        base.execute("insert into contracts_fts(contracts_fts) values ('rebuild')")
        base.commit()
        base.close()

    def command(self, port):
        return [self.place.bin("datasette"), "serve", self.file, "-h", "127.0.0.1", "-p", port], None, {}

    def rows(self, query, *values):
        return self.sql(self.file, query, *values)

    def tasks(self):
        def searched(values):
            query = (
                "select * from contracts where id in (select rowid from contracts_fts where contracts_fts match ?) order by id"
            )
            return self.rows(query, f'"{values["query"]}"')

        search = [
            {"fill": {"role": "searchbox", "name": "Search", "value": "{query}"}},
            {"press": "Enter"},
            {"wait_for": {"text": "search matches"}},
        ]
        works = [{"query": it} for it in ("asphalt", "road salt", "tree care", "heat pumps")]
        cities = [{"city": it} for it in ("Graz", "Oslo", "Porto", "Turku")]
        return [
            Task(
                "datasette-search",
                "Search the public contracts for {query}",
                "http://data.test/open/contracts?_size=15",
                works,
                search,
                searched,
                page=15,
                ordered=True,
                endpoint="/open/contracts",
                ways=("steps", "har"),
            ),
            Task(
                "datasette-search-hundred",
                "Search the public contracts for {query}",
                "http://data.test/open/contracts",
                works,
                search,
                searched,
                page=100,
                ordered=True,
                endpoint="/open/contracts",
            ),
            Task(
                "datasette-city",
                "List the public contracts of the city {city}",
                "http://data.test/open/contracts?_size=20",
                cities,
                [{"navigate": "http://data.test/open/contracts?_size=20&city={city}"}, {"wait_for": {"text": 'where city = "{city}"'}}],
                lambda values: self.rows("select * from contracts where city = ? order by id", values["city"]),
                page=20,
                ordered=True,
                endpoint="/open/contracts",
                ways=("steps", "har"),
            ),
            Task(
                "datasette-record",
                "Show the public contract number {id}",
                "http://data.test/open/contracts",
                [{"id": it} for it in ("12", "77", "420", "1999")],
                [{"navigate": "http://data.test/open/contracts/{id}"}, {"wait_for": {"text": "contracts: {id}"}}],
                lambda values: self.rows("select * from contracts where id = ?", values["id"]),
                one=True,
                endpoint="/open/contracts/",
                ways=("steps", "har"),
            ),
            Task(
                "datasette-sorted",
                "List the dearest public contracts of the city {city} first",
                "http://data.test/open/contracts?_size=20",
                cities,
                [
                    {"navigate": "http://data.test/open/contracts?_size=20&city={city}"},
                    {"click": {"role": "link", "name": "amount"}},
                    {"wait_for": {"text": "sorted by amount"}},
                    {"click": {"role": "link", "name": "amount ▼"}},
                    {"wait_for": {"text": "sorted by amount descending"}},
                ],
                lambda values: self.rows("select * from contracts where city = ? order by amount desc, id", values["city"]),
                page=20,
                ordered=True,
                endpoint="/open/contracts",
            ),
            Task(
                "datasette-checks",
                "List the inspections that ended with {result}",
                "http://data.test/open/checks?_size=25",
                [{"result": it} for it in ("pass", "warning", "closed", "pass")],
                [{"navigate": "http://data.test/open/checks?_size=25&result={result}"}, {"wait_for": {"text": 'where result = "{result}"'}}],
                lambda values: self.rows("select * from checks where result = ? order by id", values["result"]),
                page=25,
                ordered=True,
                endpoint="/open/checks",
            ),
        ]
