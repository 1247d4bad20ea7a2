"""AG Grid with the infinite row model: blocks of rows come by POST as they are scrolled to, and few of them stand in the page."""

import json
import os

import words
from app import App, Task

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Freight</title><style>html, body { height: 100% } #grid { height: 560px }</style>
<script src="/lib/ag-grid-community/dist/ag-grid-community.min.js"></script></head>
<body><h1>Freight</h1><div id="grid"></div>
<script>
const columnDefs = [
  { field: "id", maxWidth: 100 },
  { field: "cargo", filter: "agTextColumnFilter", floatingFilter: true, minWidth: 240 },
  { field: "from", filter: "agTextColumnFilter", floatingFilter: true },
  { field: "weight", filter: "agNumberColumnFilter", valueFormatter: params => params.value == null ? "" : params.value.toLocaleString("en-US") + " kg" },
  { field: "price", filter: "agNumberColumnFilter", valueFormatter: params => params.value == null ? "" : "€ " + params.value.toFixed(2) },
  { field: "arrival" }
];
const datasource = {
  rowCount: undefined,
  getRows: params => {
    const { startRow, endRow, sortModel, filterModel } = params;
    fetch("/api/freight", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ startRow, endRow, sortModel, filterModel }) })
      .then(answer => answer.json())
      .then(({ rows, lastRow }) => params.successCallback(rows, lastRow))
      .catch(() => params.failCallback());
  }
};
agGrid.createGrid(document.querySelector("#grid"), {
  columnDefs, defaultColDef: { flex: 1, minWidth: 100, sortable: true }, rowModelType: "infinite", datasource,
  rowBuffer: 0, cacheBlockSize: 30, cacheOverflowSize: 2, maxConcurrentDatasourceRequests: 1, infiniteInitialRowCount: 30, maxBlocksInCache: 10
});
</script></body></html>
"""
SERVE = """const express = require("express"), path = require("path");
const freight = require(path.resolve("freight.json"));
const app = express();
app.use("/lib", express.static(process.argv[3]));
app.use(express.json());
app.get("/", (request, answer) => answer.sendFile("index.html", { root: "." }));
app.post("/api/freight", (request, answer) => {
  const { startRow, endRow, sortModel = [], filterModel = {} } = request.body;
  const fits = (value, { type, filter }) => {
    const text = String(value).toLowerCase(), wanted = String(filter).toLowerCase();
    if (type === "contains") return text.includes(wanted);
    if (type === "startsWith") return text.startsWith(wanted);
    if (type === "equals") return text === wanted;
    return true;
  };
  const rows = freight.filter(it => Object.entries(filterModel).every(([name, model]) => fits(it[name], model)));
  for (const { colId, sort } of [...sortModel].reverse()) {
    const sign = sort === "desc" ? -1 : 1;
    rows.sort((a, b) => (a[colId] < b[colId] ? -sign : a[colId] > b[colId] ? sign : a.id - b.id));
  }
  answer.json({ rows: rows.slice(startRow, endRow), lastRow: rows.length });
});
app.listen(Number(process.argv[2]), "127.0.0.1");
"""


class AgGrid(App):
    name = "aggrid"
    kind = "grid with a server"
    pins = ("ag-grid-community@36.2.0", "express@5.3.0")
    hosts = ("freight.test",)
    port = 8650

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def freight(self):
        by = words.seeded("aggrid")
        for at in range(1, 601):
            yield {
                "id": at,
                "cargo": f"{by.choice(['rye', 'rye flour', 'crude glass', 'glass', 'Müsli', 'tar'])} lot {by.choice('KLMN')}{at}",
                "from": by.choice(words.PORTS),
                "weight": by.randint(90, 48_000),
                "price": by.randint(1000, 900_000) / 100,
                "arrival": f"{by.randint(2023, 2024)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
            }

    def fill(self):
        for name, text in (("index.html", PAGE), ("serve.cjs", SERVE), ("freight.json", json.dumps(list(self.freight())))):
            with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
                file.write(text)

    def command(self, port):
        modules = os.path.join(self.place.npm, "node_modules")
        return ["node", "serve.cjs", port, modules], None, {"NODE_PATH": modules}

    def rows(self, fits):
        return [it for it in self.freight() if fits(it)]

    def tasks(self):
        loaded = {"wait_for": {"selector": "[role=gridcell]"}}
        return [
            Task(
                "aggrid-cargo",
                "Filter the freight by the cargo {query}",
                "http://freight.test/",
                [{"query": it} for it in ("crude glass", "müsli", "rye", "tar lot")],
                [
                    loaded,
                    {"fill": {"role": "textbox", "name": "Cargo Filter Input", "value": "{query}"}},
                    {"wait_for": {"request": "/api/freight"}},
                    {"wait_for": {"selector": "[role=gridcell]"}},
                ],
                lambda values: self.rows(lambda it: values["query"].lower() in it["cargo"].lower()),
                page=30,
                ordered=True,
                endpoint="api/freight",
                ways=("steps", "har"),
            ),
            Task(
                "aggrid-dearest",
                "List the freight from {port}, the dearest first",
                "http://freight.test/",
                [{"port": it} for it in ("Malmo", "Varna", "Gdynia", "Trieste")],
                [
                    loaded,
                    {"fill": {"role": "textbox", "name": "From Filter Input", "value": "{port}"}},
                    {"wait_for": {"request": "/api/freight"}},
                    {"click": {"css": ".ag-header-cell[col-id=price] .ag-header-cell-label"}},
                    {"wait_for": {"request": "/api/freight"}},
                    {"wait_for": {"selector": ".ag-header-cell[col-id=price][aria-sort=ascending]"}},
                    {"click": {"css": ".ag-header-cell[col-id=price] .ag-header-cell-label"}},
                    {"wait_for": {"selector": ".ag-header-cell[col-id=price][aria-sort=descending]"}},
                    {"wait_for": {"request": "/api/freight"}},
                    {"wait_for": {"selector": "[role=gridcell]"}},
                ],
                lambda values: sorted(self.rows(lambda it: it["from"] == values["port"]), key=lambda it: -it["price"]),
                page=30,
                ordered=True,
                endpoint="api/freight",
                ways=("steps", "har"),
            ),
        ]
