"""Gatsby: pages made beforehand, whose data the browser loads as page-data.json when it goes from one to another."""

import json
import os
import shutil
import unicodedata

import words
from app import App, Task

FILES = {
    "gatsby-config.js": """module.exports = { siteMetadata: { title: "Workshop manual" }, plugins: [] };
""",
    "gatsby-node.js": """const tools = require("./tools.json");
exports.createPages = async ({ actions: { createPage } }) => {
  const kinds = [...new Map(tools.map(it => [it.kind.slug, it.kind])).values()];
  createPage({ path: "/", component: require.resolve("./src/templates/kinds.js"), context: { kinds } });
  for (const kind of kinds) {
    const own = tools.filter(it => it.kind.slug === kind.slug).map(({ steps, ...it }) => it);
    createPage({ path: `/kinds/${kind.slug}/`, component: require.resolve("./src/templates/kind.js"), context: { kind, tools: own } });
  }
  for (const tool of tools) {
    createPage({ path: `/tools/${tool.slug}/`, component: require.resolve("./src/templates/tool.js"), context: { tool } });
  }
};
""",
    "src/templates/kinds.js": """import React from "react";
import { Link } from "gatsby";
export default function Kinds({ pageContext: { kinds } }) {
  return <main><h1>Workshop</h1><ul>{kinds.map(it => <li key={it.slug}><Link to={`/kinds/${it.slug}/`}>{it.name}</Link></li>)}</ul></main>;
}
export const Head = () => <title>Workshop</title>;
""",
    "src/templates/kind.js": """import React from "react";
import { Link } from "gatsby";
export default function Kind({ pageContext: { kind, tools } }) {
  return (
    <main>
      <Link to="/">Workshop</Link>
      <h1>Kind: {kind.name}</h1>
      <p>{tools.length} tools</p>
      <ul>
        {tools.map(it => (
          <li key={it.slug}><Link to={`/tools/${it.slug}/`}>{it.name}</Link> <span>{it.weight} kg</span> <em>shelf {it.shelf}</em> <time>{it.checked}</time></li>
        ))}
      </ul>
    </main>
  );
}
export const Head = ({ pageContext }) => <title>{pageContext.kind.name}</title>;
""",
    "src/templates/tool.js": """import React from "react";
import { Link } from "gatsby";
export default function Tool({ pageContext: { tool } }) {
  return (
    <main>
      <Link to={`/kinds/${tool.kind.slug}/`}>{tool.kind.name}</Link>
      <h1>{tool.name}</h1>
      <table><tbody>
        <tr><th>Weight</th><td>{tool.weight} kg</td></tr>
        <tr><th>Shelf</th><td>{tool.shelf}</td></tr>
        <tr><th>Checked</th><td>{tool.checked}</td></tr>
      </tbody></table>
      <h2>Use</h2>
      <ol>{tool.steps.map(it => <li key={it}>{it}</li>)}</ol>
    </main>
  );
}
export const Head = ({ pageContext }) => <title>{pageContext.tool.name}</title>;
""",
}
KINDS = ["Saw", "Band saw", "Drill", "Drill press", "Hobel für Holz", "Plane", "Vice"]


def slug(text):
    text = "".join(it for it in unicodedata.normalize("NFD", text.lower()) if not unicodedata.combining(it))
    return text.replace(" ", "-")


class Gatsby(App):
    name = "gatsby"
    kind = "site of pages made beforehand"
    pins = ("gatsby@5.16.1", "react@18.3.1", "react-dom@18.3.1")
    hosts = ("workshop.test",)
    port = 8649
    seconds = 90

    def install(self):
        self.place.node(self.pins)

    def version(self):
        return self.pins[0].rpartition("@")[2]

    def tools(self):
        by = words.seeded("gatsby")
        for at in range(1, 91):
            kind = by.choice(KINDS)
            name = f"{by.choice(['Small', 'Large', 'Old', 'Bench'])} {kind.lower()} {at}"
            yield {
                "slug": slug(name),
                "name": name,
                "kind": {"name": kind, "slug": slug(kind)},
                "weight": by.randint(2, 900) / 10,
                "shelf": f"{by.choice('ABC')}{by.randint(1, 20)}",
                "checked": f"{by.randint(2021, 2024)}-{by.randint(1, 12):02}-{by.randint(1, 28):02}",
                "steps": [
                    f"{by.choice(['Clean', 'Fix', 'Turn', 'Oil'])} the {by.choice(words.GEAR)} {step} times {by.randint(2, 30)}"
                    for step in range(1, by.randint(4, 7))
                ],
            }

    def fill(self):
        site = os.path.join(self.place.npm, "site")
        shutil.rmtree(site, ignore_errors=True)
        wanted = {it.rpartition("@")[0]: it.rpartition("@")[2] for it in self.pins}
        files = {
            **FILES,
            "tools.json": json.dumps(list(self.tools())),
            "package.json": json.dumps({"name": "workshop", "private": True, "dependencies": wanted}),
        }
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(site, name)), exist_ok=True)
            with open(os.path.join(site, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.symlink(os.path.join(self.place.npm, "node_modules"), os.path.join(site, "node_modules"))
        self.run(self.program, "build", cwd=site, env={"GATSBY_TELEMETRY_DISABLED": "1", "CI": "true"}, seconds=500)

    @property
    def program(self):
        return os.path.join(self.place.npm, "node_modules", ".bin", "gatsby")

    def command(self, port):
        site = os.path.join(self.place.npm, "site")
        return [self.program, "serve", "-H", "127.0.0.1", "-p", port], site, {"GATSBY_TELEMETRY_DISABLED": "1", "CI": "true"}

    def tasks(self):
        tools = list(self.tools())
        return [
            Task(
                "gatsby-kind",
                "List the tools of the kind {kind} with weight, shelf and check",
                "http://workshop.test/",
                [{"kind": it} for it in ("Saw", "Drill press", "Band saw", "Drill")],
                [{"click": {"role": "link", "name": "{kind}"}}, {"wait_for": {"text": "Kind: {kind}"}}],
                lambda values: [
                    {name: it[name] for name in ("name", "weight", "shelf", "checked")}
                    for it in tools
                    if it["kind"]["name"] == values["kind"]
                ],
                ordered=True,
                endpoint="kinds",
                ways=("steps", "har"),
            ),
            Task(
                "gatsby-tool",
                "Show the tool {tool} with weight, shelf, check and the steps of its use",
                "http://workshop.test/",
                [{"tool": tools[at]["slug"]} for at in (5, 23, 41, 77)],
                [{"navigate": "http://workshop.test/tools/{tool}/"}, {"wait_for": {"text": "Checked"}}],
                lambda values: [
                    {
                        **{name: it[name] for name in ("name", "weight", "shelf", "checked")},
                        **{f"step {at}": step for at, step in enumerate(it["steps"], 1)},
                    }
                    for it in tools
                    if it["slug"] == values["tool"]
                ],
                one=True,
                endpoint="tools/",
                ways=("steps", "har"),
            ),
        ]
