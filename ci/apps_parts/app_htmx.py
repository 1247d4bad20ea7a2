"""Pages of htmx and Alpine drawn by Express and EJS: Polish ones in ISO-8859-2, Bulgarian ones in windows-1251."""

import json
import os

import words
from app import App, Task

SERVE = """const express = require("express"), iconv = require("iconv-lite"), path = require("path");
const plants = require(path.resolve("plants.json")), questions = require(path.resolve("questions.json"));
const app = express();
app.set("view engine", "ejs");
app.set("views", path.resolve("views"));
app.use("/lib", express.static(process.argv[3]));
// What a form sends is in the page's character set; htmx and links written by a template send UTF-8.
const charset = request => (request.hostname === "pompi.test" ? "windows-1251" : "ISO-8859-2");
app.set("query parser", text => Object.fromEntries((text || "").split("&").filter(Boolean).map(it => it.split("="))));
const query = (request, name) => {
  const bytes = Buffer.from((request.query[name] || "").replace(/\\+/g, " ").replace(/%([0-9a-f]{2})/gi, (_, it) => String.fromCharCode(parseInt(it, 16))), "latin1");
  return iconv.decode(bytes, request.hostname === "pompi.test" ? "windows-1251" : "utf-8");
};
app.use(express.urlencoded({ extended: false }));
const draw = (request, answer, view, data) => answer.render(view, data, (err, html) => {
  if (err) throw err;
  answer.set("Content-Type", "text/html; charset=" + charset(request)).send(iconv.encode(html, charset(request)));
});
app.get("/", (request, answer) => {
  if (request.hostname !== "pompi.test") return draw(request, answer, "home", { families: [...new Set(plants.map(it => it.family))] });
  const q = query(request, "q");
  const found = q ? questions.filter(it => it.question.toLowerCase().includes(q.toLowerCase())) : null;
  draw(request, answer, "questions", { q, found });
});
app.post("/search", (request, answer) => {
  const wanted = request.body.search.toLowerCase();
  draw(request, answer, "rows", { plants: plants.filter(it => it.name.toLowerCase().includes(wanted)), next: null });
});
app.get("/plants", (request, answer) => {
  const family = query(request, "family"), page = Number(request.query.page || 1);
  const found = plants.filter(it => it.family === family);
  const next = page * 10 < found.length ? "/plants?family=" + encodeURIComponent(family) + "&page=" + (page + 1) : null;
  const data = { family, total: found.length, plants: found.slice(page * 10 - 10, page * 10), next };
  draw(request, answer, request.get("HX-Request") && !request.get("HX-Boosted") ? "rows" : "family", data);
});
const plant = request => plants.find(it => String(it.id) === request.params.id);
app.get("/plants/:id", (request, answer) => draw(request, answer, "plant", { plant: plant(request) }));
app.get("/plants/:id/:tab", (request, answer) => draw(request, answer, "tab", { plant: plant(request), tab: request.params.tab }));
app.listen(Number(process.argv[2]), "127.0.0.1");
"""
HEAD = """<!DOCTYPE html>
<html lang="pl"><head><title>Zielnik</title><script src="/lib/htmx.org/dist/htmx.min.js"></script></head><body>
"""
VIEWS = {
    "home": HEAD
    + """<h1>Zielnik</h1>
<ul hx-boost="true"><% families.forEach(it => { %><li><a href="/plants?family=<%= encodeURIComponent(it) %>"><%= it %></a></li><% }) %></ul>
<main><h3>Szukaj roślin <span class="htmx-indicator">Trwa szukanie...</span></h3>
<input class="form-control" type="search" name="search" placeholder="Zacznij pisać nazwę rośliny..." aria-label="Szukaj roślin"
  hx-post="/search" hx-trigger="input changed delay:500ms, keyup[key=='Enter'], load" hx-target="#search-results" hx-indicator=".htmx-indicator">
<table class="table"><thead><tr><th>Nazwa</th><th>Rodzina</th><th>Wysokość</th><th>Cena</th></tr></thead><tbody id="search-results"></tbody></table></main>
</body></html>
""",
    "rows": """<% plants.forEach(it => { %><tr><td><a href="/plants/<%= it.id %>"><%= it.name %></a></td><td><%= it.family %></td><td><%= it.height %> cm</td><td><%= it.price %></td></tr>
<% }) %><% if (next) { %><tr id="replaceMe"><td colspan="4"><button class="btn primary" hx-get="<%= next %>" hx-target="#replaceMe" hx-swap="outerHTML">Wczytaj więcej <img class="htmx-indicator" alt=""></button></td></tr><% } %>
""",
    "family": HEAD
    + """<main><h1><%= family %></h1><p>Roślin: <%= total %></p>
<table class="table"><thead><tr><th>Nazwa</th><th>Rodzina</th><th>Wysokość</th><th>Cena</th></tr></thead><tbody><%- include("rows", { plants, next }) %></tbody></table></main>
</body></html>
""",
    "plant": HEAD
    + """<h1><%= plant.name %></h1><p>Rodzina: <%= plant.family %></p>
<div id="tabs" hx-target="#tab-contents" role="tablist"
  hx-on:htmx-after-on-load="document.querySelector('[aria-selected=true]').setAttribute('aria-selected', 'false'); event.target.setAttribute('aria-selected', 'true')">
  <button role="tab" aria-controls="tab-contents" aria-selected="true" hx-get="/plants/<%= plant.id %>/opis">Opis</button>
  <button role="tab" aria-controls="tab-contents" aria-selected="false" hx-get="/plants/<%= plant.id %>/uprawa">Uprawa</button>
  <button role="tab" aria-controls="tab-contents" aria-selected="false" hx-get="/plants/<%= plant.id %>/cena">Cena</button>
</div>
<div id="tab-contents" role="tabpanel" hx-get="/plants/<%= plant.id %>/opis" hx-trigger="load"></div></body></html>
""",
    "tab": """<% if (tab === "opis") { %><p><%= plant.about %></p><p>Wysokość: <%= plant.height %> cm</p>
<% } else if (tab === "uprawa") { %><dl><dt>Gleba</dt><dd><%= plant.soil %></dd><dt>Światło</dt><dd><%= plant.light %></dd><dt>Siew</dt><dd><%= plant.sowing %></dd>
<dt>Odstęp</dt><dd><%= plant.gap %> cm</dd></dl>
<% } else { %><p>Cena: <%= plant.price %></p><% } %>
""",
    "questions": """<!DOCTYPE html>
<html lang="bg"><head><title>Въпроси</title><style>[x-cloak] { display: none }</style><script defer src="/lib/alpinejs/dist/cdn.min.js"></script></head><body>
<h1>Въпроси за помпи</h1>
<form action="/"><label>Търсене <input type="search" name="q" value="<%= q %>"></label> <button>Търси</button></form>
<% if (found) { %><h2>Намерени: <%= found.length %></h2>
<div x-data="{ active: null }"><% found.forEach(it => { %>
<section x-data="{ id: <%= it.id %>, get expanded() { return this.active === this.id }, set expanded(value) { this.active = value ? this.id : null } }" role="region">
  <h3><button x-on:click="expanded = !expanded" :aria-expanded="expanded"><span><%= it.question %></span> <span x-show="expanded" aria-hidden="true">&minus;</span><span x-show="!expanded" aria-hidden="true">&plus;</span></button></h3>
  <div x-show="expanded" x-cloak><p><%= it.answer %></p><time><%= it.date %></time></div>
</section><% }) %></div><% } %></body></html>
""",
}


class Htmx(App):
    name = "htmx"
    kind = "pages of htmx and Alpine"
    pins = ("htmx.org@2.0.11", "alpinejs@3.17.5", "express@5.3.0", "ejs@7.0.2", "iconv-lite@0.7.3")
    hosts = ("zielnik.test", "pompi.test")
    port = 8644

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def plants(self):
        by = words.seeded("htmx")
        for at in range(1, 161):
            name = by.choice(["mięta", "żywokost", "róża", "babka", "łubin", "ślaz", "macierzanka", "dzięgiel"])
            yield {
                "id": at,
                "name": f"{name} {by.choice(['polna', 'górska', 'wodna', 'długa'])} {at}",
                "family": by.choice(["jasnotowate", "różowate", "bobowate", "ślazowate"]),
                "height": by.randint(5, 240),
                "price": f"{by.randint(2, 48)},{by.choice(['00', '50', '90', '05'])} zł",
                "about": f"Kwitnie na {by.choice(['żółto', 'biało', 'różowo'])} przez {by.randint(2, 9)} tygodni.",
                "soil": by.choice(["próchnicza", "piaszczysta", "wilgotna, gliniasta"]),
                "light": by.choice(["pełne słońce", "półcień", "cień"]),
                "sowing": by.choice(["marzec", "kwiecień", "wrzesień", "październik"]),
                "gap": by.randint(10, 90),
            }

    def questions(self):
        by = words.seeded("htmx", "questions")
        for at in range(1, 81):
            what = by.choice(["филтър", "клапан", "лагер", "маркуч", "кабел", "ключ"])
            yield {
                "id": at,
                "question": f"{by.choice(['Как се сменя', 'Кога се чисти', 'Къде стои'])} {what} на помпа М{at}?",
                "answer": f"{by.choice(['Спрете тока и развийте', 'Изчакайте да изстине и свалете', 'Отворете'])} капак {by.randint(1, 30)}.",
                "date": f"{by.randint(1, 28):02}.{by.randint(1, 12):02}.{by.randint(2019, 2024)}",
            }

    def fill(self):
        os.makedirs(os.path.join(self.place.data, "views"))
        files = {
            "serve.cjs": SERVE,
            "plants.json": json.dumps(list(self.plants())),
            "questions.json": json.dumps(list(self.questions())),
            **{f"views/{name}.ejs": text for name, text in VIEWS.items()},
        }
        for name, text in files.items():
            with open(os.path.join(self.place.data, name), "w", encoding="utf-8") as file:
                file.write(text)

    def command(self, port):
        modules = os.path.join(self.place.npm, "node_modules")
        # The view engine is looked for from Express itself.
        return ["node", "serve.cjs", port, modules], None, {"NODE_PATH": modules, "NODE_ENV": "production"}

    def listed(self, fits):
        return [{name: it[name] for name in ("name", "family", "height", "price")} for it in self.plants() if fits(it)]

    def tasks(self):
        return [
            Task(
                "htmx-search",
                "Search the plants for {query} with family, height and price",
                "http://zielnik.test/",
                [{"query": it} for it in ("mięta", "babka", "róża", "żywokost")],
                [
                    {"fill": {"role": "searchbox", "name": "Szukaj roślin", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"request": "/search"}},
                ],
                lambda values: self.listed(lambda it: values["query"] in it["name"]),
                ordered=True,
                endpoint="search",
                ways=("steps", "har"),
            ),
            Task(
                "htmx-family",
                "List the plants of the family {family} with height and price",
                "http://zielnik.test/",
                [{"family": it} for it in ("bobowate", "różowate", "jasnotowate", "ślazowate")],
                [{"click": {"role": "link", "name": "{family}"}}, {"wait_for": {"text": "Roślin:"}}],
                lambda values: self.listed(lambda it: it["family"] == values["family"]),
                page=10,
                ordered=True,
                endpoint="plants",
                ways=("steps", "har"),
            ),
            Task(
                "htmx-tab",
                "Show how to grow the plant {id}: soil, light, sowing and gap",
                "http://zielnik.test/",
                [{"id": it} for it in ("12", "77", "150", "7")],
                [
                    {"navigate": "http://zielnik.test/plants/{id}"},
                    {"wait_for": {"text": "Kwitnie"}},
                    {"click": {"role": "tab", "name": "Uprawa"}},
                    {"wait_for": {"text": "Gleba"}},
                ],
                lambda values: [
                    {name: it[name] for name in ("soil", "light", "sowing", "gap")}
                    for it in self.plants()
                    if str(it["id"]) == values["id"]
                ],
                one=True,
                endpoint="uprawa",
                ways=("steps", "har"),
            ),
            Task(
                "alpine-questions",
                "Find the questions about {query} with their answers and dates",
                "http://pompi.test/",
                [{"query": it} for it in ("клапан", "лагер", "филтър", "ключ")],
                [
                    {"fill": {"role": "searchbox", "name": "Търсене", "value": "{query}"}},
                    {"click": {"role": "button", "name": "Търси"}},
                    {"wait_for": {"text": "Намерени:"}},
                    {"click": {"css": "section:first-of-type button"}},
                ],
                lambda values: [
                    {name: it[name] for name in ("question", "answer", "date")}
                    for it in self.questions()
                    if values["query"] in it["question"]
                ],
                ordered=True,
                ways=("steps", "har"),
            ),
        ]
