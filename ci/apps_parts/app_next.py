"""Next.js: a page of the pages router, opened at once and by navigation in the browser, and one of server components."""

import json
import os
import shutil

import words
from app import App, Task

DATA = """const instruments = require("./instruments.json");
exports.search = (query, page = 1) => {
  const all = instruments.filter(it => (it.title + " " + it.town).toLowerCase().includes((query || "").toLowerCase()));
  return { total: all.length, instruments: all.slice(page * 12 - 12, page * 12) };
};
exports.instrument = id => instruments.find(it => String(it.id) === id) || null;
"""
INDEX = """import Link from "next/link";
import { useRouter } from "next/router";
import { useState } from "react";
export default function Home() {
  const [query, change] = useState("");
  const router = useRouter();
  const go = event => { event.preventDefault(); router.push({ pathname: "/search", query: { q: query } }); };
  return <main><h1>Old instruments</h1><form onSubmit={go}>
    <input aria-label="Find an instrument" type="search" value={query} onChange={event => change(event.target.value)} /><button>Find</button>
  </form><Link href="/search?q=Gdynia">Near Gdynia</Link></main>;
}
"""
SEARCH = """import { search } from "../data";
export async function getServerSideProps({ query }) { return { props: { query: query.q || "", ...search(query.q) } }; }
export default function Search({ query, total, instruments }) {
  return <main><h1>{total} instruments for “{query}”</h1><ul className="grid">{instruments.map(it => <li key={it.id} className="card">
    <a href={"/instrument/" + it.id}><h2>{it.title}</h2></a><span className="town">{it.town}</span>
    <span className="price">€ {it.price.toLocaleString("en-US")}</span><span>{it.year}</span></li>)}</ul></main>;
}
"""
BOAT = """import { instrument } from "../../data";
export async function getServerSideProps({ params }) { const it = instrument(params.id); return it ? { props: it } : { notFound: true }; }
export default function Instrument(it) {
  return <main><h1>{it.title}</h1><dl><dt>Town</dt><dd>{it.town}</dd><dt>Price</dt><dd>€ {it.price.toLocaleString("en-US")}</dd>
    <dt>Built</dt><dd>{it.year}</dd></dl></main>;
}
"""
LIST = """import Form from "next/form";
import { search } from "../../data";
export default async function Page({ searchParams }) {
  const { q } = await searchParams;
  const { total, instruments } = search(q || "");
  return <main><h1>Instruments</h1><Form action="/list"><input name="q" type="search" aria-label="Find an instrument" /><button>Find</button></Form>
    <p>{total} instruments for “{q || ""}”</p><ul>{instruments.map(it => <li key={it.id} className="card"><h2>{it.title}</h2>
    <span className="town">{it.town}</span> <span className="price">€ {it.price}</span></li>)}</ul></main>;
}
"""
LAYOUT = """export default function Layout({ children }) { return <html lang="en"><body>{children}</body></html>; }
"""


class Next(App):
    name = "next"
    kind = "React application"
    pins = ("next@16.4.6", "react@19.3.1", "react-dom@19.3.1")
    hosts = ("instruments.test",)
    port = 8623

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def instruments(self):
        by = words.seeded("next")
        for at in range(1, 301):
            yield {
                "id": at,
                "title": f"{by.choice(['Oboe', 'Viola', 'Cornet', 'Zither', 'Lute'])} {by.choice(['Concert', 'School', 'Travel'])} {at}",
                "town": by.choice(words.PORTS),
                "price": by.randint(900, 90_000),
                "year": by.randint(1960, 2023),
            }

    def fill(self):
        site = os.path.join(self.place.npm, "site")
        shutil.rmtree(site, ignore_errors=True)
        files = {
            "data.js": DATA,
            "instruments.json": json.dumps(list(self.instruments())),
            "pages/index.js": INDEX,
            "pages/search.js": SEARCH,
            "pages/instrument/[id].js": BOAT,
            "app/list/page.js": LIST,
            "app/layout.js": LAYOUT,
            "package.json": json.dumps({"name": "instruments", "private": True}),
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
            rows = [it for it in self.instruments() if values["query"].lower() in f"{it['title']} {it['town']}".lower()]
            return [{name: it[name] for name in names} for it in rows]

        return truth

    def tasks(self):
        words_of = [{"query": it} for it in ("Gdynia", "Malmo", "Trieste", "Travel")]
        sentence = "Find instruments that match {query} with town and price"
        search = [
            {"fill": {"role": "searchbox", "name": "Find an instrument", "value": "{query}"}},
            {"click": {"role": "button", "name": "Find"}},
            {"wait_for": {"text": "instruments for “{query}”"}},
        ]
        full = self.found("title", "town", "price", "year")
        return [
            Task(
                "next-navigation",
                sentence,
                "http://instruments.test/",
                words_of,
                search,
                full,
                page=12,
                ordered=True,
                ways=("steps", "har"),
            ),
            Task(
                "next-document",
                sentence,
                "http://instruments.test/",
                words_of,
                [{"navigate": "http://instruments.test/search?q={query}"}, {"wait_for": {"text": "instruments for “{query}”"}}],
                full,
                page=12,
                ordered=True,
                ways=("steps", "har"),
            ),
            Task(
                "next-components",
                sentence,
                "http://instruments.test/list",
                words_of,
                search,
                self.found("title", "town", "price"),
                page=12,
                ordered=True,
            ),
            Task(
                "next-record",
                "Show the instrument number {id}",
                "http://instruments.test/",
                [{"id": it} for it in ("12", "77", "150", "299")],
                [{"navigate": "http://instruments.test/instrument/{id}"}, {"wait_for": {"text": "Town"}}],
                lambda values: [
                    {name: it[name] for name in ("title", "town", "price", "year")}
                    for it in self.instruments()
                    if str(it["id"]) == values["id"]
                ],
                one=True,
            ),
        ]
