//! `stats.test`: a time series whose request carries cache-busters and a random request id.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Bureau of Figures",
    description: "Official statistics, rounded with care.",
    layout: Layout::App,
    nav: &["Population", "Trade", "Health", "Method"],
    main: include_str!("../pages/stats.html"),
    script: ("/ui/chart.js", include_str!("../pages/stats.js")),
    extras: &[Extra::Flags, Extra::Me, Extra::Pixel],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/data/series") => {
            let Some(country) = ask.param("country") else {
                return wire::missing("country");
            };
            wire::json(&series(country))
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn series(country: &str) -> Value {
    let mut rng = SeededRng::new(&["stats", &country.to_lowercase()]);
    let mut people = rng.between(400_000, 60_000_000);
    let point = |year: i64| {
        people += rng.between(-40_000, 400_000);
        json!({ "year": year, "value": people, "status": if year > 2023 { "estimate" } else { "final" } })
    };
    let points: Vec<Value> = (2000..=2024).map(point).collect();
    json!({
        "indicator": { "code": "POP.TOTAL", "label": "Resident population", "unit": "persons" },
        "country": { "name": words::capitalised(country), "capital": rng.pick(words::CITIES) },
        "source": { "office": format!("Statistics {}", words::capitalised(country)), "contact": rng.person() },
        "points": points,
    })
}
