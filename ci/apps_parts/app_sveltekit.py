"""SvelteKit: load functions of the server, whose answers the browser asks as devalue when it navigates."""

import json
import os
import shutil
import unicodedata

import words
from app import App, Task

CONFIG = """import adapter from "@sveltejs/adapter-node";
export default { kit: { adapter: adapter() } };
"""
VITE = """import { sveltekit } from "@sveltejs/kit/vite";
import { defineConfig } from "vite";
export default defineConfig({ plugins: [sveltekit()] });
"""
HTML = """<!doctype html>
<html lang="en"><head><meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" />%sveltekit.head%</head>
<body data-sveltekit-preload-data="hover"><div style="display: contents">%sveltekit.body%</div></body></html>
"""
DATABASE = """import rows from "./trails.json";
const trails = rows.map(({ region, slug, opened, ...it }) => ({ ...it, opened: new Date(opened), region: { name: region, slug } }));
export const regions = [...new Map(trails.map(it => [it.region.slug, it.region])).values()];
const plain = text => text.normalize("NFD").replace(/\\p{M}/gu, "").toLowerCase();
const card = ({ reports, ...it }) => it;
export const search = (query, page) => {
  const found = trails.filter(it => plain(it.name).includes(plain(query)));
  return { total: found.length, trails: found.slice(page * 10 - 10, page * 10).map(card) };
};
export const within = (slug, sort) => {
  const found = trails.filter(it => it.region.slug === slug).map(card);
  return found.sort((a, b) => (sort === "length" ? a.km - b.km || a.id - b.id : a.name.localeCompare(b.name)));
};
export const trail = id => { const it = trails.find(it => it.id === id); return it && card(it); };
export const reports = async id => {
  await new Promise(done => setTimeout(done, 80));
  return trails.find(it => it.id === id).reports;
};
"""
FILES = {
    "svelte.config.js": CONFIG,
    "vite.config.js": VITE,
    "src/app.html": HTML,
    "src/lib/server/database.js": DATABASE,
    "src/routes/+layout.server.js": """import { regions } from "$lib/server/database";
export const load = () => ({ regions });
""",
    "src/routes/+layout.svelte": """<script>
  let { data, children } = $props();
</script>
<nav><a href="/">Trails</a>{#each data.regions as region (region.slug)}<a href="/regions/{region.slug}">{region.name}</a>{/each}</nav>
<main>{@render children()}</main>
<style>nav { display: flex; flex-wrap: wrap; gap: 1em }</style>
""",
    "src/routes/+page.svelte": """<svelte:head><title>Trails</title></svelte:head>
<h1>Trails</h1>
<form action="/search"><input type="search" name="q" aria-label="Search trails" /><button>Search</button></form>
""",
    "src/routes/search/+page.server.js": """import { search } from "$lib/server/database";
export const load = ({ url }) => {
  const query = url.searchParams.get("q") ?? "";
  const page = Number(url.searchParams.get("page") ?? "1");
  return { query, page, ...search(query, page) };
};
""",
    "src/routes/search/+page.svelte": """<script>
  import Trail from "$lib/Trail.svelte";
  let { data } = $props();
</script>
<svelte:head><title>Search</title></svelte:head>
<h1>{data.total} trails for “{data.query}”</h1>
<ul>{#each data.trails as trail (trail.id)}<Trail {trail} />{/each}</ul>
{#if data.page * 10 < data.total}<a href="/search?q={encodeURIComponent(data.query)}&page={data.page + 1}">Next page</a>{/if}
""",
    "src/lib/Trail.svelte": """<script>
  let { trail } = $props();
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
</script>
<li><a href="/trails/{trail.id}">{trail.name}</a> <small>{trail.region.name}</small> <b>{trail.km} km</b>
  <time>{day.format(trail.opened)}</time> <span>{trail.fee === null ? "free" : `€ ${trail.fee.toFixed(2)}`}</span></li>
""",
    "src/routes/regions/[slug]/+page.server.js": """import { error } from "@sveltejs/kit";
import { regions, within } from "$lib/server/database";
export const load = ({ params, url }) => {
  const region = regions.find(it => it.slug === params.slug);
  if (!region) error(404, "There is no such region");
  const sort = url.searchParams.get("sort") ?? "name";
  return { region, sort, trails: within(params.slug, sort) };
};
""",
    "src/routes/regions/[slug]/+page.svelte": """<script>
  import Trail from "$lib/Trail.svelte";
  let { data } = $props();
</script>
<svelte:head><title>{data.region.name}</title></svelte:head>
<h1>Trails in {data.region.name}</h1>
<p>{data.trails.length} trails ordered by {data.sort}: <a href="?sort=name">by name</a> <a href="?sort=length">by length</a></p>
<ul>{#each data.trails as trail (trail.id)}<Trail {trail} />{/each}</ul>
""",
    "src/routes/trails/[id]/+page.server.js": """import { error } from "@sveltejs/kit";
import { trail, reports } from "$lib/server/database";
export const load = ({ params }) => {
  const id = Number(params.id);
  const found = trail(id);
  if (!found) error(404, "There is no such trail");
  return { trail: found, reports: reports(id) };
};
""",
    "src/routes/trails/[id]/+page.svelte": """<script>
  let { data } = $props();
  const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeZone: "UTC" });
</script>
<svelte:head><title>{data.trail.name}</title></svelte:head>
<h1>{data.trail.name}</h1>
<dl><dt>Region</dt><dd>{data.trail.region.name}</dd><dt>Length</dt><dd>{data.trail.km} km</dd>
  <dt>Opened</dt><dd>{day.format(data.trail.opened)}</dd><dt>Surface</dt><dd>{data.trail.surface}</dd>
  <dt>Fee</dt><dd>{data.trail.fee === null ? "free" : `€ ${data.trail.fee.toFixed(2)}`}</dd></dl>
<h2>Reports</h2>
{#await data.reports}<p>Loading reports...</p>{:then reports}
  <ul>{#each reports as report}<li>{report.text} <b>{report.stars} stars</b></li>{/each}</ul>
  <p>{reports.length} reports in all</p>
{/await}
""",
    "package.json": json.dumps({"name": "trails", "private": True, "type": "module"}),
}
REGIONS = ["Jämtland", "Côte Verte", "Škofja Loka", "Upper Moor", "Lower Moor", "Łęg", "Sør-Fjell"]
PLACES = ["Heron", "Bergsjö", "Vallée", "Old Mill", "Mill", "Čaplja", "Kettle"]


def slug(text):
    text = unicodedata.normalize("NFD", text.lower().replace("ł", "l").replace("ø", "o"))
    return "".join(it for it in text if not unicodedata.combining(it)).replace(" ", "-")


class SvelteKit(App):
    name = "sveltekit"
    kind = "Svelte application"
    pins = (
        "@sveltejs/kit@2.70.4",
        "@sveltejs/adapter-node@5.5.7",
        "@sveltejs/vite-plugin-svelte@6.2.3",
        "svelte@5.57.3",
        "vite@7.3.8",
    )
    hosts = ("trails.test",)
    port = 8640

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def trails(self):
        by = words.seeded("sveltekit")
        for at in range(1, 181):
            region = by.choice(REGIONS)
            yield {
                "id": at,
                "name": f"{by.choice(PLACES)} {by.choice(['Loop', 'Ridge', 'Path', 'Ridge Path'])} {at}",
                "region": region,
                "slug": slug(region),
                "km": by.randint(15, 420) / 10,
                "opened": f"{by.randint(1998, 2024)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
                "surface": by.choice(["gravel", "rock", "boardwalk", "grass"]),
                "fee": by.choice([None, None, 2.5, 4, 12.25]),
                "reports": [
                    {
                        "text": f"{by.choice(['Muddy', 'Dry', 'Closed for ice', 'Well marked'])} at post {by.randint(1, 60)}",
                        "stars": by.randint(1, 5),
                    }
                    for _ in range(by.randint(2, 5))
                ],
            }

    def fill(self):
        site = os.path.join(self.place.npm, "site")
        shutil.rmtree(site, ignore_errors=True)
        for name, text in {**FILES, "src/lib/server/trails.json": json.dumps(list(self.trails()))}.items():
            os.makedirs(os.path.dirname(os.path.join(site, name)), exist_ok=True)
            with open(os.path.join(site, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.run(os.path.join(self.place.npm, "node_modules", ".bin", "vite"), "build", cwd=site)

    def command(self, port):
        site = os.path.join(self.place.npm, "site")
        return ["node", "build"], site, {"PORT": str(port), "HOST": "127.0.0.1", "ORIGIN": "http://trails.test"}

    def rows(self, fits, *names):
        # Where there is no fee, the page says "free" and the data nothing: an answer may give either.
        return [{name: it[name] for name in names if it[name] is not None} for it in self.trails() if fits(it)]

    def within(self, values):
        rows = self.rows(lambda it: it["region"] == values["region"], "id", "name", "km", "opened", "fee")
        return [{name: it[name] for name in it if name != "id"} for it in sorted(rows, key=lambda it: (it["km"], it["id"]))]

    def trail(self, values):
        for it in self.trails():
            if str(it["id"]) == values["id"]:
                fee = {} if it["fee"] is None else {"fee": it["fee"]}
                told = {f"report {at}": report["text"] for at, report in enumerate(it["reports"], 1)}
                yield {**{name: it[name] for name in ("name", "region", "km", "opened", "surface")}, **fee, **told}

    def tasks(self):
        # Before the page's own program runs, a link and a form lead to whole documents: a person is slower than that.
        ready = {"wait_for": {"request": "/nodes/2."}}
        return [
            Task(
                "sveltekit-search",
                "Search the trails for {query} with region, length, opening day and fee",
                "http://trails.test/",
                [{"query": it} for it in ("Heron", "vallee", "Mill", "Čaplja")],
                [
                    ready,
                    {"fill": {"role": "searchbox", "name": "Search trails", "value": "{query}"}},
                    {"press": "Enter"},
                    {"wait_for": {"text": "trails for “{query}”"}},
                ],
                lambda values: self.rows(
                    lambda it: slug(values["query"]) in slug(it["name"]).replace("-", " "),
                    "name",
                    "region",
                    "km",
                    "opened",
                    "fee",
                ),
                page=10,
                ordered=True,
                endpoint="search",
                ways=("steps", "har"),
            ),
            Task(
                "sveltekit-region",
                "List the trails in the region {region}, the shortest first",
                "http://trails.test/",
                [{"region": it} for it in ("Upper Moor", "Jämtland", "Lower Moor", "Škofja Loka")],
                [
                    ready,
                    {"click": {"role": "link", "name": "{region}"}},
                    {"wait_for": {"text": "Trails in {region}"}},
                    {"click": {"role": "link", "name": "by length"}},
                    {"wait_for": {"text": "ordered by length"}},
                ],
                self.within,
                ordered=True,
                endpoint="regions",
                ways=("steps", "har"),
            ),
            Task(
                "sveltekit-trail",
                "Show the trail number {id} with its reports",
                "http://trails.test/",
                [{"id": it} for it in ("12", "77", "150", "7")],
                [{"navigate": "http://trails.test/trails/{id}"}, {"wait_for": {"text": "reports in all"}}],
                lambda values: list(self.trail(values)),
                one=True,
                endpoint="trails/",
                ways=("steps", "har"),
            ),
        ]
