//! `frames.test`: its data is fetched inside a frame of another site, `widget.framehost.test`.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Quotable",
    description: "What people are said to have said.",
    layout: Layout::Classic,
    nav: &["Authors", "Topics", "Misquotes"],
    main: include_str!("../pages/frames.html"),
    script: ("/host.js", include_str!("../pages/frames.js")),
    extras: &[Extra::Tracker, Extra::Flags, Extra::Recommended],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    shell::answer(&SITE, ask)
}

/// `widget.framehost.test`
pub fn widget(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/widget") => wire::html(include_str!("../pages/widget.html").to_owned()),
        ("GET", "/widget.js") => wire::script(include_str!("../pages/widget.js")),
        ("GET", "/api/theme") => {
            wire::json(&json!({ "theme": "paper", "font_size": 15, "accent": "#774400" }))
        }
        ("GET", "/api/quotes") => {
            let Some(query) = ask.param("q") else {
                return wire::missing("q");
            };
            wire::json(&quotes(query))
        }
        _ => wire::not_found(),
    }
}

fn quotes(query: &str) -> Value {
    let found = words::search("quotes", query, 1, 10);
    let quote = |(_, mut rng): (u64, SeededRng)| {
        let text = rng.sentence(query);
        json!({
            "id": rng.between(1, 99_999),
            "quote": text,
            "author": rng.person(),
            "work": { "title": rng.title(query), "year": rng.between(1700, 2020) },
            "likes": rng.between(0, 9000),
            "url": format!("/quotes/{}", rng.between(1, 99_999)),
        })
    };
    let quotes: Vec<Value> = found.hits.into_iter().map(quote).collect();
    json!({ "total": found.total, "quotes": quotes })
}
