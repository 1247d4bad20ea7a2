//! `ferries.test`: its data is fetched by a shared worker, which outlives pages and serves them all.
//!
//! A service worker would be the commoner place, but browsers start one only in a secure context,
//! which a plain http host under `.test` is not.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Island Ferries",
    description: "Crossings, weather permitting.",
    layout: Layout::Classic,
    nav: &["Timetable", "Fares", "Cars"],
    main: r#"<h1>Crossings</h1>
<form id="ask"><label>Island <input type="text" id="island"></label> <button>Show crossings</button></form>
<p id="status" role="status"></p><div id="crossings"></div>"#,
    script: ("/ferries.js", include_str!("../pages/ferries.js")),
    extras: &[Extra::Flags, Extra::Tracker],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/shared/crossings.js") => wire::script(include_str!("../pages/ferries_shared.js")),
        ("GET", "/api/crossings") => match ask.param("island") {
            Some(island) => wire::json(&crossings(island)),
            None => wire::missing("island"),
        },
        _ => shell::answer(&SITE, ask),
    }
}

fn crossings(island: &str) -> Value {
    let found = words::search("crossings", island, 1, 12);
    let crossing = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "ship": format!("MS {} {}", words::capitalised(island), rng.pick(words::NOUNS)),
            "departs": format!("{:02}:{:02}", rng.between(5, 22), rng.between(0, 11) * 5),
            "from": rng.pick(words::CITIES),
            "minutes": rng.between(15, 260),
            "fare": rng.cents(400, 4900),
            "captain": rng.person(),
        })
    };
    let crossings: Vec<Value> = found.hits.into_iter().map(crossing).collect();
    json!({ "count": found.total, "crossings": crossings })
}
