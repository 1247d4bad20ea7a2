//! `shop.test`: a search by GET, with an autosuggest call on every keystroke as decoy.

use axum::{http::StatusCode, response::Response};
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SCRIPT: &str = "/static/js/storefront.8f3a1c.js";

const SITE: Site = Site {
    name: "Tidewater Supply",
    description: "Useful things for house, garden and boat, sent the same week.",
    layout: Layout::Classic,
    nav: &["New in", "Kitchen", "Garden", "Workshop", "Gifts", "Sale"],
    main: include_str!("../pages/shop.html"),
    script: (SCRIPT, include_str!("../pages/shop.js")),
    extras: &[
        Extra::Tracker,
        Extra::Pixel,
        Extra::Ads,
        Extra::Flags,
        Extra::Anonymous,
        Extra::Recommended,
        Extra::Prefetch,
    ],
};

/// When it is turned, its search moves: the page asks at the new address, and the old one is gone.
pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    let has_moved = state.turns("shop.test") % 2 == 1;
    match ask.route() {
        ("GET", SCRIPT) if has_moved => {
            wire::script(SITE.script.1.replace("'/api/search?'", "'/api/v2/search?'"))
        }
        ("GET", "/api/search") if has_moved => wire::json_status(
            StatusCode::GONE,
            &json!({ "error": "this address is no longer in use" }),
        ),
        ("GET", "/api/search" | "/api/v2/search") => {
            let Some(query) = ask.param("q") else {
                return wire::missing("q");
            };
            wire::json(&search(query, ask.number("page", 1, 100)))
        }
        ("GET", "/api/suggest") => {
            let Some(typed) = ask.param("q") else {
                return wire::missing("q");
            };
            wire::json(&suggest(typed))
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn search(query: &str, page: u64) -> Value {
    let found = words::search("products", query, page, 12);
    let item = |(_, mut rng): (u64, SeededRng)| {
        let title = rng.title(query);
        json!({
            "id": format!("SKU-{}", rng.between(10_000, 99_999)),
            "title": title,
            "description": rng.sentence(query),
            "price": rng.cents(350, 19_900),
            "currency": "EUR",
            "rating": rng.between(20, 50) as f64 / 10.0,
            "in_stock": rng.chance(80),
            "url": format!("/p/{}", words::slug(&title)),
            "image": format!("/img/{}.png", words::slug(&title)),
            "seller": rng.person(),
            "tags": [rng.pick(words::TAGS), rng.pick(words::TAGS)],
        })
    };
    let items: Vec<Value> = found.hits.into_iter().map(item).collect();
    json!({ "query": query, "total": found.total, "page": page, "items": items })
}

fn suggest(typed: &str) -> Value {
    let mut rng = SeededRng::new(&["suggest", typed]);
    let suggestions: Vec<Value> = (0..6)
        .map(|_| {
            let text = format!("{typed} {}", rng.pick(words::NOUNS).to_lowercase());
            json!({ "text": text, "weight": rng.between(1, 900) })
        })
        .collect();
    json!({ "suggestions": suggestions })
}
