"""React-admin over JSON Server: filters, orders and pages in the query, the total in a header, on a host of its own."""

import json
import os
import shutil

import words
from app import App, Task

INDEX = """<!doctype html>
<html lang="en"><head><meta charset="UTF-8" /><meta name="viewport" content="width=device-width, initial-scale=1.0" /><title>Auction</title></head>
<body><div id="root"></div><script type="module" src="/src/main.jsx"></script></body></html>
"""
MAIN = """import { createRoot } from "react-dom/client";
import { Admin, Resource } from "react-admin";
import jsonServerProvider from "ra-data-json-server";
import { LotList, LotShow } from "./lots";
const dataProvider = jsonServerProvider("http://api.lots.test");
createRoot(document.getElementById("root")).render(
  <Admin dataProvider={dataProvider} disableTelemetry>
    <Resource name="lots" list={LotList} show={LotShow} recordRepresentation="title" />
  </Admin>
);
"""
LOTS = """import {
  DataTable, DateField, List, NumberField, ReferenceManyField, SearchInput, SelectInput, Show, SimpleShowLayout, TextField,
} from "react-admin";
const kinds = ["clock", "lamp", "map", "sea chest", "sextant"].map(it => ({ id: it, name: it }));
const filters = [<SearchInput source="q" alwaysOn />, <SelectInput source="kind" choices={kinds} alwaysOn />];
const euros = { style: "currency", currency: "EUR" };
export const LotList = () => (
  <List filters={filters} perPage={10}>
    <DataTable rowClick="show">
      <DataTable.Col source="id" />
      <DataTable.Col source="title" />
      <DataTable.Col source="kind" />
      <DataTable.NumberCol source="estimate" options={euros} />
      <DataTable.Col source="sale" field={DateField} />
    </DataTable>
  </List>
);
export const LotShow = () => (
  <Show>
    <SimpleShowLayout>
      <TextField source="title" />
      <TextField source="kind" />
      <NumberField source="estimate" options={euros} />
      <DateField source="sale" />
      <TextField source="origin.port" label="Port" />
      <NumberField source="origin.year" label="Year" options={{ useGrouping: false }} />
      <TextField source="condition" />
      <ReferenceManyField reference="bids" target="lotId" label="Bids" sort={{ field: "amount", order: "DESC" }} perPage={50}>
        <DataTable bulkActionButtons={false}>
          <DataTable.Col source="paddle" />
          <DataTable.NumberCol source="amount" options={euros} />
          <DataTable.Col source="time" />
        </DataTable>
      </ReferenceManyField>
    </SimpleShowLayout>
  </Show>
);
"""


class ReactAdmin(App):
    name = "reactadmin"
    kind = "admin pages"
    pins = (
        "react-admin@5.15.4",
        "ra-data-json-server@5.15.3",
        "json-server@0.17.4",
        "react@19.3.1",
        "react-dom@19.3.1",
        "vite@7.3.8",
        "@vitejs/plugin-react@5.2.0",
    )
    hosts = ("lots.test", "api.lots.test")
    port = 8642
    patience = 15

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def lots(self):
        by = words.seeded("reactadmin")
        for at in range(1, 241):
            kind = by.choice(["clock", "lamp", "map", "sea chest", "sextant"])
            yield {
                "id": at,
                "title": f"{by.choice(['Small', 'Brass', 'Décor', 'Smalt', 'Ship'])} {kind} from {by.choice(words.PORTS)}, no. {at}",
                "kind": kind,
                "estimate": by.randint(10, 6000) * 1.25,
                "sale": f"{by.randint(2023, 2025)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
                "origin": {"port": by.choice(words.PORTS), "year": by.randint(1790, 1930)},
                "condition": by.choice(["as new", "worn", "scratched on the lid", "glass is cracked"]),
            }

    def bids(self):
        by = words.seeded("reactadmin", "bids")
        for lot in range(1, 241):
            for at, amount in enumerate(sorted(by.sample(range(10, 900), by.randint(2, 9)))):
                yield {
                    "id": lot * 100 + at,
                    "lotId": lot,
                    "paddle": f"P{by.randint(100, 999)}",
                    "amount": amount * 5,
                    "time": f"{by.randint(9, 17):02}:{by.randint(0, 59):02}",
                }

    def fill(self):
        site = os.path.join(self.place.npm, "site")
        shutil.rmtree(site, ignore_errors=True)
        files = {
            "index.html": INDEX,
            "src/main.jsx": MAIN,
            "src/lots.jsx": LOTS,
            "vite.config.js": 'import react from "@vitejs/plugin-react";\nexport default { plugins: [react()] };\n',
            "package.json": json.dumps({"name": "auction", "private": True, "type": "module"}),
            "db.json": json.dumps({"lots": list(self.lots()), "bids": list(self.bids())}),
        }
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(site, name)), exist_ok=True)
            with open(os.path.join(site, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.run(os.path.join(self.place.npm, "node_modules", ".bin", "vite"), "build", cwd=site)

    def command(self, port):
        program = os.path.join(self.place.npm, "node_modules", ".bin", "json-server")
        return (
            [program, "--host", "127.0.0.1", "--port", port, "--static", "dist", "db.json"],
            os.path.join(self.place.npm, "site"),
            {},
        )

    def listed(self, fits):
        return [{name: it[name] for name in ("id", "title", "kind", "estimate", "sale")} for it in self.lots() if fits(it)]

    def tasks(self):
        return [
            Task(
                "reactadmin-search",
                "Search the lots for {query} with kind, estimate and date of sale",
                "http://lots.test/",
                [{"query": it} for it in ("Brass", "Décor", "Varna", "sea chest")],
                [
                    {"wait_for": {"text": "Rows per page"}},
                    {"fill": {"role": "textbox", "name": "Search", "value": "{query}"}},
                    {"wait_for": {"request": "q="}},
                ],
                lambda values: self.listed(
                    lambda it: any(
                        values["query"].lower() in str(fact).lower()
                        for fact in [*it.values(), it["origin"]["port"]]
                        if not isinstance(fact, dict)
                    )
                ),
                page=10,
                ordered=True,
                endpoint="q",
                ways=("steps", "har"),
            ),
            Task(
                "reactadmin-kind",
                "List the lots of kind {kind}, the lowest estimate first",
                "http://lots.test/",
                [{"kind": it} for it in ("lamp", "sextant", "clock", "sea chest")],
                [
                    {"wait_for": {"text": "Rows per page"}},
                    {"click": {"role": "combobox", "name": "Kind"}},
                    {"click": {"role": "option", "name": "{kind}"}},
                    {"wait_for": {"request": "kind="}},
                    {"click": {"role": "button", "name": "Estimate"}},
                    {"wait_for": {"request": "_sort=estimate"}},
                ],
                lambda values: sorted(self.listed(lambda it: it["kind"] == values["kind"]), key=lambda it: it["estimate"]),
                page=10,
                ordered=True,
                endpoint="kind",
                ways=("steps", "har"),
            ),
            Task(
                "reactadmin-lot",
                "Show the lot {id} with estimate, origin and condition",
                "http://lots.test/",
                [{"id": it} for it in ("12", "77", "150", "7")],
                [{"navigate": "http://lots.test/#/lots/{id}/show"}, {"wait_for": {"text": "Condition"}}],
                lambda values: [
                    {**{name: it[name] for name in ("title", "kind", "estimate", "sale", "condition")}, **it["origin"]}
                    for it in self.lots()
                    if str(it["id"]) == values["id"]
                ],
                one=True,
                endpoint="lots/",
                ways=("steps", "har"),
            ),
            Task(
                "reactadmin-bids",
                "List the bids on the lot {id}, the highest first",
                "http://lots.test/",
                [{"id": it} for it in ("23", "88", "140", "9")],
                [{"navigate": "http://lots.test/#/lots/{id}/show"}, {"wait_for": {"text": "Paddle"}}],
                lambda values: [
                    {name: it[name] for name in ("paddle", "amount", "time")}
                    for it in sorted(self.bids(), key=lambda it: -it["amount"])
                    if str(it["lotId"]) == values["id"]
                ],
                ordered=True,
                endpoint="bids",
                ways=("steps", "har"),
            ),
        ]
