//! `docs.test`: its search lives at another party, which wants the public key that the page holds.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

/// Public by design: it stands in the page's script.
pub const APPLICATION: &str = "ABC123XYZ9";
pub const KEY: &str = "5f1d7a84c0be2936ad48e7f30b9c6d12";

const SITE: Site = Site {
    name: "Lathe documentation",
    description: "Guides and reference for the Lathe build tool.",
    layout: Layout::App,
    nav: &["Guides", "Reference", "Changelog", "Blog"],
    main: include_str!("../pages/docs.html"),
    script: ("/_build/docs.min.js", include_str!("../pages/docs.js")),
    extras: &[Extra::Tracker, Extra::Flags, Extra::Prefetch, Extra::Trending],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    shell::answer(&SITE, ask)
}

/// `abc123-dsn.searchkit.test`
pub fn searchkit(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("OPTIONS", _) => wire::preflight(ask),
        ("POST", "/1/indexes/docs/query") => wire::shared(ask, query(ask)),
        _ => wire::not_found(),
    }
}

fn query(ask: &SiteRequest) -> Response {
    let given = (ask.header("x-searchkit-application-id"), ask.header("x-searchkit-api-key"));
    if given != (Some(APPLICATION), Some(KEY)) {
        return wire::error(StatusCode::FORBIDDEN, "invalid application id or API key");
    }
    let body = ask.json();
    let Some(text) = body["query"].as_str().filter(|text| !text.trim().is_empty()) else {
        return wire::missing("query");
    };
    let per_page = body["hitsPerPage"].as_u64().unwrap_or(20).clamp(1, 50);
    let found = words::search("docs", text, 1, per_page);
    let hit = |(at, mut rng): (u64, SeededRng)| {
        let title = rng.title(text);
        json!({
            "objectID": format!("{:08x}", rng.roll() as u32),
            "title": title,
            "url": format!("/guides/{}#{}", words::slug(&title), rng.pick(words::TAGS)),
            "content": rng.sentence(text),
            "hierarchy": { "lvl0": rng.pick(&["Guides", "Reference"]), "lvl1": rng.pick(words::NOUNS) },
            "author": rng.person(),
            "updated": rng.date(),
            "_rankingInfo": { "position": at, "words": rng.between(1, 4) },
        })
    };
    let hits: Vec<Value> = found.hits.into_iter().map(hit).collect();
    wire::json(&json!({
        "hits": hits, "nbHits": found.total, "page": 0, "nbPages": found.pages,
        "hitsPerPage": per_page, "query": text,
        "facets": { "lang": { "en": found.total }, "version": { "3.x": found.total } },
    }))
}
