//! `worker.test`: its data is fetched by a Web Worker, not by the page.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

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
    let star = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "designation": format!("{} {} {at}", words::capitalised(name), rng.pick(words::NOUNS)),
            "catalogue": format!("HX {}", rng.between(1000, 99_999)),
            "magnitude": rng.cents(-100, 1200),
            "distance_ly": rng.cents(400, 90_000),
            "constellation": rng.pick(words::NOUNS),
            "discovery": { "observer": rng.person(), "on": rng.date() },
            "notes": rng.sentence(name),
        })
    };
    let stars: Vec<Value> = found.hits.into_iter().map(star).collect();
    json!({ "count": found.total, "stars": stars })
}
