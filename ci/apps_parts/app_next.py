"""Next.js: a page of the pages router, opened at once and by navigation in the browser, and one of server components."""

import json
import os
import shutil

import words
from app import App, Task

DATA = """const boats = require("./boats.json");
exports.search = (query, page = 1) => {
  const all = boats.filter(it => (it.title + " " + it.harbour).toLowerCase().includes((query || "").toLowerCase()));
  return { total: all.length, boats: all.slice(page * 12 - 12, page * 12) };
};
exports.boat = id => boats.find(it => String(it.id) === id) || null;
"""
INDEX = """import Link from "next/link";
import { useRouter } from "next/router";
import { useState } from "react";
export default function Home() {
  const [query, change] = useState("");
  const router = useRouter();
  const go = event => { event.preventDefault(); router.push({ pathname: "/search", query: { q: query } }); };
  return <main><h1>Boat market</h1><form onSubmit={go}>
    <input aria-label="Find a boat" type="search" value={query} onChange={event => change(event.target.value)} /><button>Find</button>
  </form><Link href="/search?q=Kiel">Boats in Kiel</Link></main>;
}
"""
SEARCH = """import { search } from "../data";
export async function getServerSideProps({ query }) { return { props: { query: query.q || "", ...search(query.q) } }; }
export default function Search({ query, total, boats }) {
  return <main><h1>{total} boats for “{query}”</h1><ul className="grid">{boats.map(it => <li key={it.id} className="card">
    <a href={"/boat/" + it.id}><h2>{it.title}</h2></a><span className="harbour">{it.harbour}</span>
    <span className="price">€ {it.price.toLocaleString("en-US")}</span><span>{it.year}</span></li>)}</ul></main>;
}
"""
BOAT = """import { boat } from "../../data";
export async function getServerSideProps({ params }) { const it = boat(params.id); return it ? { props: it } : { notFound: true }; }
export default function Boat(it) {
  return <main><h1>{it.title}</h1><dl><dt>Harbour</dt><dd>{it.harbour}</dd><dt>Price</dt><dd>€ {it.price.toLocaleString("en-US")}</dd>
    <dt>Built</dt><dd>{it.year}</dd></dl></main>;
}
"""
LIST = """import Form from "next/form";
import { search } from "../../data";
export default async function Page({ searchParams }) {
  const { q } = await searchParams;
  const { total, boats } = search(q || "");
  return <main><h1>Boats</h1><Form action="/list"><input name="q" type="search" aria-label="Find a boat" /><button>Find</button></Form>
    <p>{total} boats for “{q || ""}”</p><ul>{boats.map(it => <li key={it.id} className="card"><h2>{it.title}</h2>
    <span className="harbour">{it.harbour}</span> <span className="price">€ {it.price}</span></li>)}</ul></main>;
}
"""
LAYOUT = """export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }
"""


class Next(App):
    name = "next"
    kind = "React application"
    pins = ("next@16.4.6", "react@19.3.1", "react-dom@19.3.1")
    hosts = ("boats.test",)
    port = 8623

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def boats(self):
        by = words.seeded("next")
        for at in range(1, 301):
            yield {"id": at, "title": f"{by.choice(words.SHIPS)} {by.choice(['Classic', 'Sport', 'Family'])} {at}", "harbour": by.choice(words.PORTS), "price": by.randint(900, 90_000), "year": by.randint(1960, 2023)}

    def fill(self):
        site = os.path.join(self.place.npm, "site")
        shutil.rmtree(site, ignore_errors=True)
        files = {
            "data.js": DATA,
            "boats.json": json.dumps(list(self.boats())),
            "pages/index.js": INDEX,
            "pages/search.js": SEARCH,
            "pages/boat/[id].js": BOAT,
            "app/list/page.js": LIST,
            "app/layout.js": LAYOUT,
            "package.json": json.dumps({"name": "boats", "private": True}),
        }
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(site, name)), exist_ok=True)
            with open(os.path.join(site, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.run(self.program, "build", cwd=site, seconds=400)

    @property
    def program(self):
        return os.path.join(self.place.npm, "node_modules", ".bin", "next")

    def command(self, port):
        return [self.program, "start", "-H", "127.0.0.1", "-p", port], os.path.join(self.place.npm, "site"), {}

    def found(self, *names):
        def truth(values):
            rows = [it for it in self.boats() if values["query"].lower() in f"{it['title']} {it['harbour']}".lower()]
            return [{name: it[name] for name in names} for it in rows]

        return truth

    def tasks(self):
        words_of = [{"query": it} for it in ("Kiel", "Turku", "Genoa", "Sport")]
        sentence = "Find boats that match {query} with harbour and price"
        search = [
            {"fill": {"role": "searchbox", "name": "Find a boat", "value": "{query}"}},
            {"click": {"role": "button", "name": "Find"}},
            {"wait_for": {"text": "boats for “{query}”"}},
        ]
        full = self.found("title", "harbour", "price", "year")
        return [
            Task("next-navigation", sentence, "http://boats.test/", words_of, search, full, page=12, ordered=True, ways=("steps", "har")),
            Task(
                "next-document",
                sentence,
                "http://boats.test/",
                words_of,
                [{"navigate": "http://boats.test/search?q={query}"}, {"wait_for": {"text": "boats for “{query}”"}}],
                full,
                page=12,
                ordered=True,
                ways=("steps", "har"),
            ),
            Task("next-components", sentence, "http://boats.test/list", words_of, search, self.found("title", "harbour", "price"), page=12, ordered=True),
            Task(
                "next-record",
                "Show the boat number {id}",
                "http://boats.test/",
                [{"id": it} for it in ("12", "77", "150", "299")],
                [{"navigate": "http://boats.test/boat/{id}"}, {"wait_for": {"text": "Harbour"}}],
                lambda values: [{name: it[name] for name in ("title", "harbour", "price", "year")} for it in self.boats() if str(it["id"]) == values["id"]],
                one=True,
            ),
        ]
