"""Tabulator with pages, filters and orders of the server: brackets in the query, and an end that is a number of pages."""

import json
import os

import words
from app import App, Task

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Lighthouses</title>
<link href="/lib/tabulator-tables/dist/css/tabulator.min.css" rel="stylesheet">
<script src="/lib/tabulator-tables/dist/js/tabulator.min.js"></script></head>
<body><h1>Lighthouses</h1><div id="lights"></div>
<script>
new Tabulator("#lights", {
  height: 420,
  layout: "fitColumns",
  ajaxURL: "/api/lights",
  pagination: true,
  paginationMode: "remote",
  paginationSize: 8,
  paginationCounter: "rows",
  sortMode: "remote",
  filterMode: "remote",
  columns: [
    { title: "Name", field: "name", headerFilter: "input", headerFilterPlaceholder: "Filter by name" },
    { title: "Coast", field: "coast", headerFilter: "input", headerFilterFunc: "=", headerFilterPlaceholder: "Coast" },
    { title: "Height", field: "height", hozAlign: "right", sorter: "number", formatter: "money", formatterParams: { symbol: " m", symbolAfter: true, precision: 1 } },
    { title: "Range", field: "range", hozAlign: "right", sorter: "number" },
    { title: "Lit", field: "lit" },
    { title: "Manned", field: "manned", formatter: "tickCross" }
  ]
});
</script></body></html>
"""
SERVE = """const express = require("express"), path = require("path");
const lights = require(path.resolve("lights.json"));
const app = express();
app.set("query parser", "extended");
app.use("/lib", express.static(process.argv[3]));
app.get("/", (request, answer) => answer.sendFile("index.html", { root: "." }));
app.get("/api/lights", (request, answer) => {
  const { page = 1, size = 8, sort = [], filter = [] } = request.query;
  let rows = lights.filter(it => filter.every(({ field, type, value }) =>
    type === "like" ? String(it[field]).toLowerCase().includes(value.toLowerCase()) : String(it[field]) === value));
  for (const { field, dir } of sort) {
    const sign = dir === "desc" ? -1 : 1;
    rows.sort((a, b) => (a[field] < b[field] ? -sign : a[field] > b[field] ? sign : a.id - b.id));
  }
  const start = (page - 1) * size;
  answer.json({ last_page: Math.max(1, Math.ceil(rows.length / size)), last_row: rows.length, data: rows.slice(start, start + Number(size)) });
});
app.listen(Number(process.argv[2]), "127.0.0.1");
"""


class Tabulator(App):
    name = "tabulator"
    kind = "table with a server"
    pins = ("tabulator-tables@6.5.3", "express@5.3.0")
    hosts = ("lights.test",)
    port = 8648

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def lights(self):
        by = words.seeded("tabulator")
        for at in range(1, 321):
            yield {
                "id": at,
                "name": f"{by.choice(['Cape', 'Cape Røst', 'Grey Rock', 'Štrand', 'Rock'])} {by.choice('ABCDEF')}{at}",
                "coast": by.choice(["North", "East", "Nordeast", "South"]),
                "height": by.randint(40, 700) / 10,
                "range": by.randint(4, 27),
                "lit": f"{by.randint(1790, 1960)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
                "manned": by.choice([True, False]),
            }

    def fill(self):
        for name, text in (("index.html", PAGE), ("serve.cjs", SERVE), ("lights.json", json.dumps(list(self.lights())))):
            with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
                file.write(text)

    def command(self, port):
        modules = os.path.join(self.place.npm, "node_modules")
        return ["node", "serve.cjs", port, modules], None, {"NODE_PATH": modules}

    def rows(self, fits):
        return [
            {name: it[name] for name in ("name", "coast", "height", "range", "lit", "manned")} for it in self.lights() if fits(it)
        ]

    def tasks(self):
        return [
            Task(
                "tabulator-name",
                "Filter the lighthouses by the name {query}",
                "http://lights.test/",
                [{"query": it} for it in ("Røst", "Grey", "Štrand", "Rock C")],
                [
                    {"wait_for": {"text": "Showing"}},
                    {"fill": {"placeholder": "Filter by name", "value": "{query}"}},
                    {"wait_for": {"request": "like"}},
                ],
                lambda values: self.rows(lambda it: values["query"].lower() in it["name"].lower()),
                page=8,
                ordered=True,
                endpoint="api/lights",
                ways=("steps", "har"),
            ),
            Task(
                "tabulator-coast",
                "List the lighthouses on the {coast} coast, the highest first",
                "http://lights.test/",
                [{"coast": it} for it in ("South", "East", "North", "Nordeast")],
                [
                    {"wait_for": {"text": "Showing"}},
                    {"fill": {"placeholder": "Coast", "value": "{coast}"}},
                    {"wait_for": {"request": "filter"}},
                    {"click": {"css": ".tabulator-col[tabulator-field=height] .tabulator-col-title"}},
                    {"wait_for": {"request": "asc"}},
                    {"click": {"css": ".tabulator-col[tabulator-field=height] .tabulator-col-title"}},
                    {"wait_for": {"request": "desc"}},
                ],
                lambda values: sorted(self.rows(lambda it: it["coast"] == values["coast"]), key=lambda it: -it["height"]),
                page=8,
                ordered=True,
                endpoint="api/lights",
                ways=("steps", "har"),
            ),
        ]
