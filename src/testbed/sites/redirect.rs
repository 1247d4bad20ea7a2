//! `redirect.test`: the call that the page makes is redirected to the one that answers.

use axum::response::Response;
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Lost and Found",
    description: "What the trains brought back.",
    layout: Layout::Classic,
    nav: &["Umbrellas", "Gloves", "Instruments"],
    main: include_str!("../pages/redirect.html"),
    script: ("/desk.js", include_str!("../pages/redirect.js")),
    extras: &[Extra::Flags, Extra::Tracker],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/old-api") => {
            let query: String =
                byte_serialize(ask.param("q").unwrap_or_default().as_bytes()).collect();
            wire::redirect(&format!("/api/v2/items?q={query}"))
        }
        ("GET", "/api/v2/items") => {
            let Some(query) = ask.param("q") else {
                return wire::missing("q");
            };
            wire::json(&items(query))
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn items(query: &str) -> Value {
    let found = words::search("lost", query, 1, 15);
    let item = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "tag": format!("LF{:05}", rng.between(1, 99_999)),
            "title": rng.title(query),
            "description": rng.sentence(query),
            "station": rng.pick(words::CITIES),
            "finder": rng.person(),
            "found_on": rng.date(),
            "fee": rng.cents(200, 1500),
        })
    };
    let items: Vec<Value> = found.hits.into_iter().map(item).collect();
    json!({ "total": found.total, "items": items })
}
