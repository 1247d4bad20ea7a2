"""DataTables with processing on the server: a form of some forty fields is posted for each page of rows, to a small Express program."""

import json
import os

import words
from app import App, Task

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Spare parts</title>
<link rel="stylesheet" href="/lib/datatables.net-dt/css/dataTables.dataTables.min.css">
<script src="/lib/datatables.net/js/dataTables.min.js"></script>
<script src="/lib/datatables.net-dt/js/dataTables.dataTables.min.js"></script></head>
<body><h1>Spare parts</h1>
<label>Depot <select id="depot"><option value="">all</option><option value="3">Gdynia</option><option value="5">Malmo</option>
<option value="8">Varna</option><option value="12">Trieste</option></select></label>
<label>Delivered in <input id="month" type="text" placeholder="YYYY-MM"></label> <button id="show">Show</button>
<table id="parts" class="display" style="width:100%"><thead><tr><th>Part</th><th>Depot</th><th>Stock</th><th>Price</th><th>Delivered</th></tr></thead></table>
<script>
const table = new DataTable("#parts", {
  processing: true,
  serverSide: true,
  ajax: {
    url: "/server_processing",
    type: "POST",
    data: function (d) {
      d.depot = document.querySelector("#depot").value;
      d.month = document.querySelector("#month").value;
    }
  },
  columns: [
    { data: "part", render: (data, type, row) => `<a href="/parts/${row.id}">${data}</a>` },
    { data: "depot.name" },
    { data: "stock", className: "dt-right" },
    { data: "price", render: DataTable.render.number(",", ".", 2, "€ ") },
    { data: "delivered", render: DataTable.render.date() }
  ]
});
document.querySelector("#show").addEventListener("click", () => table.draw());
</script></body></html>
"""
SERVE = """const express = require("express"), path = require("path");
const parts = require(path.resolve("parts.json"));
const app = express();
app.use("/lib", express.static(process.argv[3]));
app.use(express.urlencoded({ extended: true, parameterLimit: 5000 }));
app.get("/", (request, answer) => answer.sendFile("index.html", { root: "." }));
const read = (row, name) => name.split(".").reduce((it, part) => it[part], row);
app.post("/server_processing", (request, answer) => {
  const { draw, start, length, order = [], columns, search, depot, month } = request.body;
  const wanted = search.value.toLowerCase();
  const rows = parts.filter(it =>
    (!depot || String(it.depot.id) === depot) && (!month || it.delivered.startsWith(month)) &&
    (!wanted || columns.some(column => column.searchable === "true" && String(read(it, column.data)).toLowerCase().includes(wanted))));
  for (const { column, dir } of [...order].reverse()) {
    const name = columns[column].data, sign = dir === "desc" ? -1 : 1;
    rows.sort((a, b) => { const [x, y] = [read(a, name), read(b, name)]; return x < y ? -sign : x > y ? sign : a.id - b.id; });
  }
  answer.json({
    draw: Number(draw), recordsTotal: parts.length, recordsFiltered: rows.length,
    data: rows.slice(Number(start), Number(start) + Number(length)).map(it => ({ DT_RowId: "row_" + it.id, ...it })),
  });
});
app.listen(Number(process.argv[2]), "127.0.0.1");
"""
DEPOTS = {"Gdynia": 3, "Malmo": 5, "Varna": 8, "Trieste": 12}


class DataTables(App):
    name = "datatables"
    kind = "table with a server"
    pins = ("datatables.net@3.1.2", "datatables.net-dt@3.1.2", "express@5.3.0")
    hosts = ("parts.test",)
    port = 8643

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def parts(self):
        by = words.seeded("datatables")
        for at in range(1, 901):
            depot = by.choice(list(DEPOTS))
            yield {
                "id": at,
                "part": f"{by.choice(words.GEAR)} {by.choice(['bolt', 'pin', 'plate', 'Öse', 'ring'])} M{by.choice([6, 8, 10, 12])}-{at}",
                "depot": {"id": DEPOTS[depot], "name": depot},
                "stock": by.randint(0, 4000),
                "price": by.randint(50, 250_000) / 100,
                "delivered": f"{by.randint(2022, 2024)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
            }

    def fill(self):
        for name, text in (("index.html", PAGE), ("serve.cjs", SERVE), ("parts.json", json.dumps(list(self.parts())))):
            with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
                file.write(text)

    def command(self, port):
        modules = os.path.join(self.place.npm, "node_modules")
        return ["node", "serve.cjs", port, modules], None, {"NODE_PATH": modules}

    def rows(self, fits, key, down=False):
        chosen = sorted((it for it in self.parts() if fits(it)), key=lambda it: it["id"])
        # The order of equal ones is that of their numbers in either direction.
        chosen.sort(key=key, reverse=down)
        return [
            {
                "part": it["part"],
                "depot": it["depot"]["name"],
                "stock": it["stock"],
                "price": it["price"],
                "delivered": it["delivered"],
            }
            for it in chosen
        ]

    def tasks(self):
        def by_name(it):
            return it["part"]

        return [
            Task(
                "datatables-search",
                "Search the spare parts for {query} with depot, stock, price and delivery",
                "http://parts.test/",
                [{"query": it} for it in ("windlass", "fender pin", "Öse", "sextant ring")],
                [
                    {"wait_for": {"text": "Showing 1 to 10"}},
                    {"fill": {"role": "searchbox", "name": "Search:", "value": "{query}"}},
                    {"wait_for": {"text": "filtered from"}},
                    {"wait_for": {"request": "server_processing"}},
                ],
                lambda values: self.rows(lambda it: values["query"].lower() in it["part"].lower(), by_name),
                page=10,
                ordered=True,
                endpoint="server_processing",
                ways=("steps", "har"),
            ),
            Task(
                "datatables-depot",
                "List the spare parts in the depot {depot}, the dearest first",
                "http://parts.test/",
                [{"depot": it} for it in ("Malmo", "Varna", "Gdynia", "Trieste")],
                [
                    {"wait_for": {"text": "Showing 1 to 10"}},
                    {"fill": {"role": "combobox", "name": "Depot", "value": "{depot}"}},
                    {"click": {"css": "#parts thead th:nth-child(4)"}},
                    {"wait_for": {"request": "server_processing"}},
                    {"click": {"css": "#parts thead th:nth-child(4)"}},
                    {"wait_for": {"request": "server_processing"}},
                ],
                lambda values: self.rows(lambda it: it["depot"]["name"] == values["depot"], lambda it: it["price"], down=True),
                page=10,
                ordered=True,
                endpoint="server_processing",
                ways=("steps", "har"),
            ),
            Task(
                "datatables-month",
                "Report the spare parts that were delivered in {month}",
                "http://parts.test/",
                [{"month": it} for it in ("2023-02", "2024-11", "2022-01", "2023-12")],
                [
                    {"wait_for": {"text": "Showing 1 to 10"}},
                    {"fill": {"role": "textbox", "name": "Delivered in", "value": "{month}"}},
                    {"click": {"role": "button", "name": "Show"}},
                    {"wait_for": {"text": "filtered from"}},
                ],
                lambda values: self.rows(lambda it: it["delivered"].startswith(values["month"]), by_name),
                page=10,
                ordered=True,
                endpoint="server_processing",
                ways=("steps", "har"),
            ),
        ]
