//! What is measured: recipes against `load.test`, and how many of them at once.

use commis_base::error::Result;
use commis_recipe::{model::Recipe, yaml};

/// One kind of work.
pub struct Scenario {
    pub name: &'static str,
    /// For a person.
    pub what: &'static str,
    /// Runs in flight at a time.
    pub at_once: usize,
    kind: Kind,
    /// How many hosts it has a recipe for.
    hosts: usize,
    /// Over TLS, where HTTP/2 is agreed on.
    tls: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Small,
    Large,
    Zipped,
    Post,
    Page,
    Moved,
}

pub const SCENARIOS: &[Scenario] = &[
    over_http("json-small", "JSON, 2 KB", Kind::Small),
    over_http("json-large", "JSON, 500 KB, five fields of each of 2,350 items", Kind::Large),
    over_http("gzip", "JSON, 100 KB, compressed", Kind::Zipped),
    over_http("json-post", "POST of JSON, 2 KB back", Kind::Post),
    over_http("html", "HTML, 30 KB, four selectors on each of 100 items", Kind::Page),
    over_http("redirect", "one validated redirect, then JSON, 2 KB", Kind::Moved),
    Scenario {
        name: "round-robin",
        what: "20 recipes of 20 hosts in turn, JSON, 2 KB",
        at_once: 1,
        kind: Kind::Small,
        hosts: 20,
        tls: false,
    },
    Scenario {
        name: "concurrent",
        what: "32 runs at once on 8 hosts, JSON, 2 KB",
        at_once: 32,
        kind: Kind::Small,
        hosts: 8,
        tls: false,
    },
    over_tls("tls-json-small", "JSON, 2 KB, over TLS in HTTP/2", Kind::Small),
    over_tls("tls-json-large", "JSON, 500 KB, over TLS in HTTP/2", Kind::Large),
    Scenario {
        name: "tls-concurrent",
        what: "32 runs at once on 8 hosts, JSON, 2 KB, over TLS in HTTP/2",
        at_once: 32,
        kind: Kind::Small,
        hosts: 8,
        tls: true,
    },
];

const fn over_http(name: &'static str, what: &'static str, kind: Kind) -> Scenario {
    Scenario { name, what, at_once: 1, kind, hosts: 1, tls: false }
}

const fn over_tls(name: &'static str, what: &'static str, kind: Kind) -> Scenario {
    Scenario { tls: true, ..over_http(name, what, kind) }
}

impl Scenario {
    /// The recipes that its runs go round, drafts as somebody would have written them.
    pub fn recipes(&self) -> Result<Vec<Recipe>> {
        (1..=self.hosts).map(|n| yaml::parse(&self.recipe(&format!("s{n}.load.test")))).collect()
    }

    fn recipe(&self, host: &str) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        let get = |path: &str| {
            format!(
                "method: GET\n  url: '{scheme}://{host}{path}'\n  query: [{{ name: q, value: '{{query}}' }}]\n"
            )
        };
        let items = "type: json\n  extract: 'items[].{id: id, title: title, price: price, rating: rating, stock: in_stock}'\n  \
                     required_paths: ['items[].id', 'items[].title']\n  min_items: 1\n";
        let (request, response) = match self.kind {
            Kind::Small => (get("/small.json"), items),
            Kind::Large => (get("/large.json"), items),
            Kind::Zipped => (get("/zipped.json"), items),
            Kind::Moved => (get("/moved"), items),
            Kind::Post => (
                format!(
                    "method: POST\n  url: '{scheme}://{host}/search'\n  body:\n    json: {{ query: '{{query}}', page: 1, \
                     filters: {{ in_stock: true, tags: [garden, boat] }} }}\n"
                ),
                items,
            ),
            Kind::Page => (
                get("/page"),
                "type: html\n  html:\n    items: 'ul.list > li.card'\n    fields: { title: 'h3.title', text: 'p.text', \
                 price: '.price', link: 'a@href' }\n  min_items: 1\n",
            ),
        };
        let accept = if matches!(self.kind, Kind::Page) { "text/html" } else { "application/json" };
        let content =
            if matches!(self.kind, Kind::Post) { ", content-type: application/json" } else { "" };
        format!(
            "version: 1\nname: bench-{}-{}\ntask: 'Search the load site for {{query}}'\nstatus: draft\n\
             source_url: {scheme}://{host}/\n\
             parameters: [{{ name: query, type: str, required: true, source: task_input, constraints: {{ max_len: 100 }} }}]\n\
             request:\n  {request}  headers: {{ accept: {accept}{content} }}\n  allowed_domains: [{host}]\n  \
             allowed_sites: [load.test]\nresponse:\n  {response}",
            self.name,
            host.split('.').next().unwrap_or_default()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_has_valid_recipes() {
        for it in SCENARIOS {
            let recipes = it.recipes().unwrap_or_else(|err| panic!("{}: {err}", it.name));
            assert!(recipes.iter().all(|it| commis_runner::compile(it).is_ok()), "{}", it.name);
        }
    }
}
