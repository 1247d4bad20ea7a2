//! `redirect.test`: the call that the page makes is redirected to the one that answers.

use axum::response::Response;
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

use crate::shell::{self, Extra, Layout, Site};
use crate::wire::{self, SiteRequest};
use crate::words::{self, Dice};
use crate::world::TestbedState;

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
    let item = |(_, mut dice): (u64, Dice)| {
        json!({
            "tag": format!("LF{:05}", dice.between(1, 99_999)),
            "title": dice.title(query),
            "description": dice.sentence(query),
            "station": dice.pick(words::CITIES),
            "finder": dice.person(),
            "found_on": dice.date(),
            "fee": dice.cents(200, 1500),
        })
    };
    let items: Vec<Value> = found.hits.into_iter().map(item).collect();
    json!({ "total": found.total, "items": items })
}
