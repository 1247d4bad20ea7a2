//! `flights.test`: one endpoint called twice, at page load with defaults and then as typed.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Windrose",
    description: "Seats on small aircraft.",
    layout: Layout::App,
    nav: &["Flights", "Airfields", "Baggage"],
    main: include_str!("../pages/flights.html"),
    script: ("/static/offers.js", include_str!("../pages/flights.js")),
    extras: &[Extra::Tracker, Extra::Ads, Extra::RemoteFlags],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/offers") => match (ask.param("from"), ask.param("to")) {
            (None, _) => wire::missing("from"),
            (_, None) => wire::missing("to"),
            (Some(from), Some(to)) => wire::json(&offers(from, to, ask.number("limit", 10, 50))),
        },
        _ => shell::answer(&SITE, ask),
    }
}

fn offers(from: &str, to: &str, limit: u64) -> Value {
    let place = |asked: &str, rng: &mut SeededRng| match asked {
        "any" => rng.pick(words::CITIES).to_owned(),
        asked => words::capitalised(asked),
    };
    let route = format!("{} to {}", from.to_lowercase(), to.to_lowercase());
    let found = words::search("offers", &route, 1, limit);
    let offer = |(_, mut rng): (u64, SeededRng)| {
        let hour = rng.between(5, 20);
        json!({
            "id": format!("W{:05}", rng.between(1, 99_999)),
            "from": place(from, &mut rng),
            "to": place(to, &mut rng),
            "departs": format!("{}T{hour:02}:{:02}", rng.date(), rng.between(0, 11) * 5),
            "minutes": rng.between(45, 320),
            "aircraft": format!("{} {}", rng.pick(words::NOUNS), rng.between(100, 900)),
            "fare": { "amount": rng.cents(3900, 48_000), "currency": "EUR", "class": rng.pick(&["light", "standard", "flex"]) },
            "operator": { "name": format!("{} Air", rng.pick(words::LAST)), "captain": rng.name() },
        })
    };
    let offers: Vec<Value> = found.hits.into_iter().map(offer).collect();
    json!({ "from": from, "to": to, "found": found.total, "offers": offers })
}
