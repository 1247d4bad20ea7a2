//! `worker.test`: its data is fetched by a Web Worker, not by the page.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::wire::{self, SiteRequest};
use crate::words::{self, Dice};
use crate::world::TestbedState;

const SITE: Site = Site {
    name: "Star Register",
    description: "Stars by name, brightness and distance.",
    layout: Layout::App,
    nav: &["Stars", "Constellations", "Observers"],
    main: include_str!("../pages/worker.html"),
    script: ("/register.js", include_str!("../pages/worker.js")),
    extras: &[Extra::Locale, Extra::Flags, Extra::Pixel],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/workers/stars.js") => wire::script(include_str!("../pages/worker_stars.js")),
        ("GET", "/api/stars") => {
            let Some(name) = ask.param("name") else {
                return wire::missing("name");
            };
            wire::json(&stars(name))
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn stars(name: &str) -> Value {
    let found = words::search("stars", name, 1, 25);
    let star = |(at, mut dice): (u64, Dice)| {
        json!({
            "designation": format!("{} {} {at}", words::capitalised(name), dice.pick(words::NOUNS)),
            "catalogue": format!("HX {}", dice.between(1000, 99_999)),
            "magnitude": dice.cents(-100, 1200),
            "distance_ly": dice.cents(400, 90_000),
            "constellation": dice.pick(words::NOUNS),
            "discovery": { "observer": dice.person(), "on": dice.date() },
            "notes": dice.sentence(name),
        })
    };
    let stars: Vec<Value> = found.hits.into_iter().map(star).collect();
    json!({ "count": found.total, "stars": stars })
}
