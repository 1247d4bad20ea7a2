"""Astro: pages drawn on the server with islands, whose data stands in an attribute, and one that the server draws later."""

import json
import os
import shutil

import words
from app import App, Task

FILES = {
    "astro.config.mjs": """import { defineConfig } from "astro/config";
import node from "@astrojs/node";
import preact from "@astrojs/preact";
export default defineConfig({ output: "server", adapter: node({ mode: "standalone" }), integrations: [preact()], devToolbar: { enabled: false } });
""",
    "tsconfig.json": '{ "extends": "astro/tsconfigs/base", "compilerOptions": { "jsx": "react-jsx", "jsxImportSource": "preact" } }\n',
    "src/voyages.js": """import rows from "./voyages.json";
const voyages = rows.map(it => ({ ...it, sails: new Date(it.sails) }));
export const search = query => voyages.filter(it => it.title.toLowerCase().includes(query.toLowerCase()));
export const inMonth = month => voyages.filter(it => it.sails.toISOString().startsWith(month));
export const voyage = id => voyages.find(it => it.id === id);
""",
    "src/layouts/Layout.astro": """---
const { title } = Astro.props;
---
<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><title>{title}</title></head>
  <body><nav><a href="/">Voyages</a></nav><slot /></body>
</html>
""",
    "src/pages/index.astro": """---
import Layout from "../layouts/Layout.astro";
---
<Layout title="Voyages">
  <h1>Voyages</h1>
  <form action="/search"><input type="search" name="q" aria-label="Search voyages" /><button>Search</button></form>
  <form action="/calendar"><label>Month <input name="month" placeholder="2024-05" /></label><button>Show</button></form>
</Layout>
""",
    "src/pages/search.astro": """---
import Layout from "../layouts/Layout.astro";
import VoyageList from "../components/VoyageList.jsx";
import { search } from "../voyages.js";
const query = Astro.url.searchParams.get("q") ?? "";
const voyages = search(query);
---
<Layout title="Search">
  <h1>{voyages.length} voyages for “{query}”</h1>
  <VoyageList client:load voyages={voyages} />
</Layout>
""",
    "src/pages/calendar.astro": """---
import Layout from "../layouts/Layout.astro";
import FareTable from "../components/FareTable.jsx";
import { inMonth } from "../voyages.js";
const month = Astro.url.searchParams.get("month") ?? "";
const voyages = inMonth(month);
---
<Layout title="Calendar">
  <h1>Sailings in {month}</h1>
  <FareTable client:only="preact" voyages={voyages} />
</Layout>
""",
    "src/pages/voyages/[id].astro": """---
import Layout from "../../layouts/Layout.astro";
import Cabins from "../../components/Cabins.astro";
import { voyage } from "../../voyages.js";
const it = voyage(Number(Astro.params.id));
if (!it) return new Response("There is no such voyage", { status: 404 });
---
<Layout title={it.title}>
  <h1>{it.title}</h1>
  <dl><dt>Port</dt><dd>{it.port}</dd><dt>Nights</dt><dd>{it.nights}</dd><dt>Fare</dt><dd>€ {it.fare}</dd><dt>Sails</dt><dd>{it.sails.toISOString().slice(0, 10)}</dd></dl>
  <Cabins server:defer id={it.id}><p slot="fallback">Counting cabins...</p></Cabins>
</Layout>
""",
    "src/components/Cabins.astro": """---
import { voyage } from "../voyages.js";
const { id } = Astro.props;
await new Promise(done => setTimeout(done, 60));
const { cabins } = voyage(id);
---
<h2>Free cabins</h2>
<ul class="cabins">{cabins.map(it => <li>{it.deck} deck: {it.free} free</li>)}</ul>
""",
    "src/components/VoyageList.jsx": """import { useState } from "preact/hooks";
export default function VoyageList({ voyages }) {
  const [open, setOpen] = useState(null);
  return (
    <ul>
      {voyages.map(it => (
        <li key={it.id}>
          <a href={`/voyages/${it.id}`}>{it.title}</a> <span>{it.port}</span> <b>€ {it.fare}</b>
          <button aria-expanded={open === it.id} onClick={() => setOpen(open === it.id ? null : it.id)}>Dates</button>
          {open === it.id && <p>Sails on {it.sails.toISOString().slice(0, 10)} for {it.nights} nights</p>}
        </li>
      ))}
    </ul>
  );
}
""",
    "src/components/FareTable.jsx": """import { useState } from "preact/hooks";
export default function FareTable({ voyages }) {
  const [by, setBy] = useState("sails");
  const rows = [...voyages].sort((a, b) => (a[by] > b[by] ? 1 : -1));
  return (
    <table>
      <thead><tr><th>Voyage</th><th>Port</th><th><button onClick={() => setBy("sails")}>Sails</button></th><th><button onClick={() => setBy("fare")}>Fare</button></th></tr></thead>
      <tbody>{rows.map(it => <tr key={it.id}><td>{it.title}</td><td>{it.port}</td><td>{it.sails.toISOString().slice(0, 10)}</td><td>€ {it.fare}</td></tr>)}</tbody>
    </table>
  );
}
""",
}


class Astro(App):
    name = "astro"
    kind = "site with islands"
    pins = ("astro@5.18.2", "@astrojs/node@9.5.5", "@astrojs/preact@4.1.3", "preact@10.29.8")
    hosts = ("voyages.test",)
    port = 8647

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def voyages(self):
        by = words.seeded("astro")
        for at in range(1, 201):
            yield {
                "id": at,
                "title": f"{by.choice(['Fjords', 'Fjords & Isles', 'Côte', 'Amber Coast', 'Isles'])} by {by.choice(words.SHIPS)}, no. {at}",
                "port": by.choice(words.PORTS),
                "nights": by.randint(2, 21),
                "fare": by.randint(190, 4900),
                "sails": f"{by.randint(2023, 2024)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}T00:00:00.000Z",
                "cabins": [{"deck": it, "free": by.randint(0, 60)} for it in ("Upper", "Main", "Lower")],
            }

    def fill(self):
        site = os.path.join(self.place.npm, "site")
        shutil.rmtree(site, ignore_errors=True)
        files = {
            **FILES,
            "src/voyages.json": json.dumps(list(self.voyages())),
            "package.json": json.dumps({"name": "voyages", "private": True, "type": "module"}),
        }
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(site, name)), exist_ok=True)
            with open(os.path.join(site, name), "w", encoding="utf-8") as file:
                file.write(text)
        program = os.path.join(self.place.npm, "node_modules", ".bin", "astro")
        self.run(program, "build", cwd=site, env={"ASTRO_TELEMETRY_DISABLED": "1"})

    def command(self, port):
        return ["node", "dist/server/entry.mjs"], os.path.join(self.place.npm, "site"), {"PORT": str(port), "HOST": "127.0.0.1"}

    def rows(self, fits, *names):
        return [
            {name: it[name][:10] if name == "sails" else it[name] for name in ("title", "port", "fare", *names)}
            for it in self.voyages()
            if fits(it)
        ]

    def tasks(self):
        return [
            Task(
                "astro-search",
                "Search the voyages for {query} with port and fare",
                "http://voyages.test/",
                [{"query": it} for it in ("Fjords & Isles", "côte", "frigate", "Amber")],
                [
                    {"fill": {"role": "searchbox", "name": "Search voyages", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "voyages for “{query}”"}},
                ],
                lambda values: self.rows(lambda it: values["query"].lower() in it["title"].lower()),
                ordered=True,
                endpoint="search",
                ways=("steps", "har"),
            ),
            Task(
                "astro-calendar",
                "List the sailings in {month} with port, day and fare",
                "http://voyages.test/",
                [{"month": it} for it in ("2024-05", "2023-11", "2023-02", "2024-12")],
                [
                    {"fill": {"role": "textbox", "name": "Month", "value": "{month}"}},
                    {"press": "Enter"},
                    {"wait_for": {"selector": "tbody tr"}},
                ],
                lambda values: self.rows(lambda it: it["sails"].startswith(values["month"]), "sails"),
                endpoint="calendar",
                ways=("steps", "har"),
            ),
            Task(
                "astro-voyage",
                "Show the voyage {id} with port, nights, fare and day",
                "http://voyages.test/",
                [{"id": it} for it in ("12", "77", "150", "7")],
                [{"navigate": "http://voyages.test/voyages/{id}"}, {"wait_for": {"text": "Free cabins"}}],
                lambda values: self.rows(lambda it: str(it["id"]) == values["id"], "nights", "sails"),
                one=True,
                endpoint="voyages/",
                ways=("steps", "har"),
            ),
            Task(
                "astro-cabins",
                "List the free cabins of the voyage {id} by deck",
                "http://voyages.test/",
                [{"id": it} for it in ("12", "77", "150", "7")],
                [{"navigate": "http://voyages.test/voyages/{id}"}, {"wait_for": {"text": "Free cabins"}}],
                lambda values: [dict(part) for it in self.voyages() if str(it["id"]) == values["id"] for part in it["cabins"]],
                answerable=False,
                because="the number of the voyage is encrypted in the address of the part that holds them",
                ways=("steps", "har"),
            ),
        ]
