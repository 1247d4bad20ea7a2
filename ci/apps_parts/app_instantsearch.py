"""A shop's page made with InstantSearch.js, and a search service of ours behind it that speaks its protocol."""

import json
import os

import words
from app import App, Task

PAGE = """<!doctype html><meta charset="utf-8"><title>Lamp shop</title><h1>Lamp shop</h1>
<div id="search"></div><div id="stats"></div><div id="countries"></div><div id="hits"></div><div id="pages"></div>
<script type="module" src="/main.js"></script>
"""
MAIN = """import { liteClient } from "algoliasearch/lite";
import instantsearch from "instantsearch.js";
import { searchBox, hits, stats, refinementList, pagination } from "instantsearch.js/es/widgets";
const client = liteClient("LAMPS", "0123456789abcdef0123456789abcdef", { hosts: [{ url: "search.lamp.test", accept: "readWrite", protocol: "http" }] });
const search = instantsearch({ indexName: "lamps", searchClient: client });
const item = (it, { html }) => html`<article><h2>${it.title}</h2><p>${it.country}, ${it.year}</p><b>€ ${it.price}</b></article>`;
search.addWidgets([
  searchBox({ container: "#search", placeholder: "Search lamps" }),
  stats({ container: "#stats" }),
  refinementList({ container: "#countries", attribute: "country" }),
  hits({ container: "#hits", templates: { item } }),
  pagination({ container: "#pages" }),
]);
search.start();
"""
SERVE = """const http = require("http"), fs = require("fs"), path = require("path");
const [port, lamps] = [Number(process.argv[2]), JSON.parse(fs.readFileSync(process.argv[3]))];
const find = asked => {
  const query = (asked.query || "").toLowerCase();
  const chosen = [].concat(...[].concat(asked.facetFilters ? JSON.parse(JSON.stringify(asked.facetFilters)) : [])).map(it => it.split(":")[1]);
  const all = lamps.filter(it => (it.title + " " + it.country).toLowerCase().includes(query) && (!chosen.length || chosen.includes(it.country)));
  const size = asked.hitsPerPage ?? 20, page = asked.page || 0, facets = {};
  for (const it of all) facets[it.country] = (facets[it.country] || 0) + 1;
  const shown = all.slice(page * size, page * size + size);
  return { hits: shown.map(it => ({ ...it, _highlightResult: { title: { value: it.title, matchLevel: "full", matchedWords: [query] } } })),
    nbHits: all.length, page, nbPages: Math.ceil(all.length / Math.max(size, 1)), hitsPerPage: size, facets: { country: facets },
    exhaustiveNbHits: true, query: asked.query || "", params: "", index: "lamps", processingTimeMS: 1 };
};
const cors = { "access-control-allow-origin": "*", "access-control-allow-headers": "*" };
http.createServer((request, answer) => {
  if (request.method === "OPTIONS") return answer.writeHead(204, cors).end();
  if (request.method === "POST") {
    let text = "";
    request.on("data", it => (text += it));
    return request.on("end", () => {
      const asked = JSON.parse(text).requests.map(it => (it.params ? Object.fromEntries(new URLSearchParams(it.params)) : it));
      answer.writeHead(200, { ...cors, "content-type": "application/json" }).end(JSON.stringify({ results: asked.map(find) }));
    });
  }
  const file = path.join(process.argv[4], request.url === "/" ? "index.html" : request.url.split("?")[0]);
  if (!fs.existsSync(file)) return answer.writeHead(404).end();
  const kind = { ".js": "text/javascript", ".html": "text/html", ".css": "text/css" }[path.extname(file)] || "text/plain";
  answer.writeHead(200, { "content-type": kind });
  fs.createReadStream(file).pipe(answer);
}).listen(port, "127.0.0.1");
"""


class InstantSearch(App):
    name = "instantsearch"
    kind = "shop search"
    pins = ("instantsearch.js@4.118.1", "algoliasearch@5.64.0", "vite@8.3.8")
    hosts = ("lamp.test", "search.lamp.test")
    port = 8622

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def lamps(self):
        by = words.seeded("instantsearch")
        for at in range(400):
            yield {
                "objectID": str(1000 + at),
                "title": f"{by.choice('Desk,Floor,Wall,Ceiling,Bicycle,Garden'.split(','))} {by.choice(['Round', 'Folding', 'Brass', 'Paper'])} {at}",
                "country": by.choice(["Denmark", "Italy", "Japan", "Poland"]),
                "year": by.randint(2005, 2022),
                "price": by.randint(5, 65),
            }

    def fill(self):
        folder = os.path.join(self.place.npm, "site")
        os.makedirs(folder, exist_ok=True)
        for name, text in (("index.html", PAGE), ("main.js", MAIN)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        for name, text in (("lamps.json", json.dumps(list(self.lamps()))), ("serve.cjs", SERVE)):
            with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
                file.write(text)
        out = os.path.join(self.place.data, "dist")
        self.run(
            os.path.join(self.place.npm, "node_modules", ".bin", "vite"),
            "build",
            folder,
            "--outDir",
            out,
            "--emptyOutDir",
            cwd=self.place.npm,
        )

    def command(self, port):
        return ["node", "serve.cjs", port, "lamps.json", "dist"], None, {}

    def tasks(self):
        def found(values):
            return [
                {name: it[name] for name in ("title", "country", "year", "price")}
                for it in self.lamps()
                if values["query"] in it["title"].lower()
            ]

        fill = {"fill": {"role": "searchbox", "name": "Search", "value": "{query}"}}
        return [
            Task(
                "instantsearch-search",
                "Search the lamp shop for {query}",
                "http://lamp.test/",
                [{"query": it} for it in ("desk", "ceiling", "garden", "bicycle")],
                [fill, {"wait_for": {"text": "results found"}}, {"wait_for": {"request": "/queries"}}],
                found,
                page=20,
                ordered=True,
                endpoint="queries",
                ways=("steps", "har"),
            ),
        ]
