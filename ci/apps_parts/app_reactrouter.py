"""React Router in framework mode: loaders on the server, whose answers the browser asks as turbo-stream when it navigates."""

import json
import os
import shutil

import words
from app import App, Task

FILES = {
    "react-router.config.js": "export default { ssr: true };\n",
    "vite.config.js": """import { reactRouter } from "@react-router/dev/vite";
import { defineConfig } from "vite";
export default defineConfig({ plugins: [reactRouter()] });
""",
    "app/routes.js": """import { index, layout, route } from "@react-router/dev/routes";
export default [
  layout("layouts/sidebar.jsx", [index("routes/home.jsx"), route("berths/:berthId", "routes/berth.jsx")]),
  route("prices", "routes/prices.jsx"),
];
""",
    "app/data.server.js": """import rows from "./berths.json";
const berths = rows.map(it => ({ ...it, surveyed: new Date(it.surveyed) }));
export async function getBerths(query) {
  const found = query ? berths.filter(it => it.name.toLowerCase().includes(query.toLowerCase())) : berths.slice(0, 20);
  return found.map(({ id, name, harbour, depth, price }) => ({ id, name, harbour, depth, price }));
}
export async function getBerth(id) { return berths.find(it => it.id === id) ?? null; }
export async function getPrices(harbour, order) {
  const found = berths.filter(it => it.harbour === harbour).map(({ id, name, price, surveyed, power }) => ({ id, name, price, surveyed, power }));
  return found.sort((a, b) => (order === "dearest" ? b.price - a.price : a.price - b.price) || a.name.localeCompare(b.name));
}
export const harbours = [...new Set(berths.map(it => it.harbour))].sort();
""",
    "app/root.jsx": """import { Links, Meta, Outlet, Scripts, ScrollRestoration } from "react-router";
export function Layout({ children }) {
  return (
    <html lang="en">
      <head><meta charSet="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><Meta /><Links /></head>
      <body>{children}<ScrollRestoration /><Scripts /></body>
    </html>
  );
}
export default function App() { return <Outlet />; }
""",
    "app/layouts/sidebar.jsx": """import { useEffect } from "react";
import { Form, Link, NavLink, Outlet, useNavigation, useSubmit } from "react-router";
import { getBerths } from "../data.server";

export async function loader({ request }) {
  const url = new URL(request.url);
  const q = url.searchParams.get("q");
  const berths = await getBerths(q);
  return { berths, q };
}

export default function SidebarLayout({ loaderData }) {
  const { berths, q } = loaderData;
  const navigation = useNavigation();
  const submit = useSubmit();
  const searching = navigation.location && new URLSearchParams(navigation.location.search).has("q");
  useEffect(() => {
    const searchField = document.getElementById("q");
    if (searchField instanceof HTMLInputElement) searchField.value = q || "";
  }, [q]);
  return (
    <>
      <div id="sidebar">
        <h1><Link to="/">Berths</Link> <Link to="/prices">Prices</Link></h1>
        <Form id="search-form" role="search" onChange={event => submit(event.currentTarget, { replace: q !== null })}>
          <input aria-label="Search berths" className={searching ? "loading" : ""} defaultValue={q || ""} id="q" name="q" placeholder="Search" type="search" />
          <div aria-hidden hidden={!searching} id="search-spinner" />
        </Form>
        <p>{berths.length} berths{q ? ` for ${q}` : ""}</p>
        <nav>
          {berths.length ? (
            <ul>
              {berths.map(it => (
                <li key={it.id}><NavLink to={`berths/${it.id}`}>{it.name}</NavLink> <i>{it.harbour}</i> <span>{it.depth} m</span> <b>€ {it.price.toFixed(2)}</b></li>
              ))}
            </ul>
          ) : <p><i>No berths</i></p>}
        </nav>
      </div>
      <div className={navigation.state === "loading" && !searching ? "loading" : ""} id="detail"><Outlet /></div>
    </>
  );
}
""",
    "app/routes/home.jsx": """export default function Home() { return <p id="index-page">Choose a berth in the list.</p>; }
""",
    "app/routes/berth.jsx": """import { data } from "react-router";
import { getBerth } from "../data.server";

export async function loader({ params }) {
  const berth = await getBerth(params.berthId);
  if (!berth) throw data("Not Found", { status: 404 });
  return { berth };
}

export default function Berth({ loaderData }) {
  const { berth } = loaderData;
  return (
    <div id="berth">
      <h1>{berth.name}</h1>
      <p>{berth.harbour}</p>
      <dl>
        <dt>Depth</dt><dd>{berth.depth} m</dd>
        <dt>Price</dt><dd>€ {berth.price.toFixed(2)}</dd>
        <dt>Surveyed</dt><dd>{berth.surveyed.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" })}</dd>
        <dt>Power</dt><dd>{berth.power ?? "none"}</dd>
      </dl>
      {berth.notes ? <p>{berth.notes}</p> : null}
    </div>
  );
}
""",
    "app/routes/prices.jsx": """import { Form, useSearchParams } from "react-router";
import { getPrices, harbours } from "../data.server";

export async function loader({ request }) {
  const params = new URL(request.url).searchParams;
  const harbour = params.get("harbour") || harbours[0];
  const order = params.get("order") || "cheapest";
  return { harbours, harbour, order, berths: await getPrices(harbour, order) };
}

export default function Prices({ loaderData }) {
  const { harbours, harbour, order, berths } = loaderData;
  return (
    <main>
      <h1>Prices</h1>
      <Form method="get">
        <select name="harbour" aria-label="Harbour" defaultValue={harbour}>{harbours.map(it => <option key={it}>{it}</option>)}</select>
        <select name="order" aria-label="Order" defaultValue={order}><option value="cheapest">Cheapest first</option><option value="dearest">Dearest first</option></select>
        <button type="submit">Show</button>
      </Form>
      <h2>{berths.length} berths in {harbour}</h2>
      <table>
        <thead><tr><th>Berth</th><th>Price</th><th>Surveyed</th><th>Power</th></tr></thead>
        <tbody>
          {berths.map(it => (
            <tr key={it.id}><td>{it.name}</td><td>€ {it.price.toFixed(2)}</td><td>{it.surveyed.toISOString().slice(0, 10)}</td><td>{it.power ?? "none"}</td></tr>
          ))}
        </tbody>
      </table>
    </main>
  );
}
""",
}


class ReactRouter(App):
    name = "reactrouter"
    kind = "React application"
    pins = (
        "react-router@7.18.4",
        "@react-router/dev@7.18.4",
        "@react-router/node@7.18.4",
        "@react-router/serve@7.18.4",
        "isbot@5.2.3",
        "react@19.3.1",
        "react-dom@19.3.1",
        "vite@7.3.8",
    )
    hosts = ("berths.test",)
    port = 8641

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def berths(self):
        by = words.seeded("reactrouter")
        for at in range(1, 161):
            yield {
                "id": f"b{at}",
                "name": f"{by.choice(['North Quay', 'North', 'Bollard', 'Île', 'Grønne Bro', 'South Quay'])} {by.choice('ABCD')}{at}",
                "harbour": by.choice(words.PORTS[:6]),
                "depth": by.randint(12, 95) / 10,
                "price": by.choice([18.5, 24, 31.25, 40, 55.75, 120]),
                "surveyed": f"{by.randint(2015, 2024)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}T00:00:00.000Z",
                "power": by.choice([None, "16 A", "32 A"]),
                "notes": by.choice(["", f"Reached over pontoon {by.randint(1, 9)} at low water."]),
            }

    def fill(self):
        site = os.path.join(self.place.npm, "site")
        shutil.rmtree(site, ignore_errors=True)
        wanted = {it.rpartition("@")[0]: it.rpartition("@")[2] for it in self.pins}
        about = {"name": "berths", "private": True, "type": "module", "dependencies": wanted}
        for name, text in {
            **FILES,
            "app/berths.json": json.dumps(list(self.berths())),
            "package.json": json.dumps(about),
        }.items():
            os.makedirs(os.path.dirname(os.path.join(site, name)), exist_ok=True)
            with open(os.path.join(site, name), "w", encoding="utf-8") as file:
                file.write(text)
        self.run(os.path.join(self.place.npm, "node_modules", ".bin", "react-router"), "build", cwd=site)

    def command(self, port):
        program = os.path.join(self.place.npm, "node_modules", ".bin", "react-router-serve")
        env = {"PORT": str(port), "HOST": "127.0.0.1", "NODE_ENV": "production"}
        return [program, "build/server/index.js"], os.path.join(self.place.npm, "site"), env

    def prices(self, values):
        rows = [it for it in self.berths() if it["harbour"] == values["harbour"]]
        rows.sort(key=lambda it: it["price"], reverse=True)
        return [
            {
                "name": it["name"],
                "price": it["price"],
                "surveyed": it["surveyed"][:10],
                **({"power": it["power"]} if it["power"] else {}),
            }
            for it in rows
        ]

    def berth(self, values):
        for it in self.berths():
            if it["id"] == values["id"]:
                more = {name: it[name] for name in ("power", "notes") if it[name]}
                yield {
                    **{name: it[name] for name in ("name", "harbour", "depth", "price")},
                    "surveyed": it["surveyed"][:10],
                    **more,
                }

    def tasks(self):
        return [
            Task(
                "reactrouter-search",
                "Search the berths for {query} with harbour, depth and price",
                "http://berths.test/",
                [{"query": it} for it in ("Bollard", "North", "South Quay", "Grønne")],
                [
                    {"fill": {"role": "searchbox", "name": "Search berths", "value": "{query}"}},
                    {"wait_for": {"text": "berths for {query}"}},
                ],
                lambda values: [
                    {name: it[name] for name in ("name", "harbour", "depth", "price")}
                    for it in self.berths()
                    if values["query"].lower() in it["name"].lower()
                ],
                ordered=True,
                endpoint="q",
                ways=("steps", "har"),
            ),
            Task(
                "reactrouter-prices",
                "List the prices of the berths in {harbour}, the dearest first",
                "http://berths.test/prices",
                [{"harbour": it} for it in ("Malmo", "Varna", "Gdynia", "Nantes")],
                [
                    {"fill": {"role": "combobox", "name": "Harbour", "value": "{harbour}"}},
                    {"fill": {"role": "combobox", "name": "Order", "value": "Dearest first"}},
                    {"click": {"role": "button", "name": "Show"}},
                    {"wait_for": {"text": "berths in {harbour}"}},
                ],
                self.prices,
                endpoint="prices",
                ways=("steps", "har"),
            ),
            Task(
                "reactrouter-berth",
                "Show the berth {id} with price and survey",
                "http://berths.test/",
                [{"id": it} for it in ("b12", "b77", "b150", "b7")],
                [{"navigate": "http://berths.test/berths/{id}"}, {"wait_for": {"text": "Surveyed"}}],
                lambda values: list(self.berth(values)),
                one=True,
                endpoint="berths/",
                ways=("steps", "har"),
            ),
        ]
