//! `quay.test`: a form that sends numbers and letters for the words it shows.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const QUAY: Site = Site {
    name: "Quay Prices",
    description: "What the boats brought in, and what it costs.",
    layout: Layout::Plain,
    nav: &["Prices", "Boats", "Ice"],
    main: r#"<h1>What is landed</h1>
<form id="ask"><label>Catch <select name="cat"><option value="">Anything</option><option value="12">Whole fish</option>
<option value="31">Shellfish</option><option value="47">Seaweed</option></select></label>
<fieldset><legend>Landed</legend><label><input type="radio" name="when" value="t" checked> Today</label>
<label><input type="radio" name="when" value="y"> Yesterday</label></fieldset><button>Show prices</button></form>
<p id="status" role="status"></p><div id="prices"></div>"#,
    script: ("/js/quay.js", include_str!("../pages/quay.js")),
    extras: &[Extra::Tracker, Extra::Flags],
};

pub fn quay(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/landings") => match (ask.param("cat"), ask.param("when")) {
            (Some(cat @ ("12" | "31" | "47")), Some(when @ ("t" | "y"))) => {
                wire::json(&landings(cat, when))
            }
            _ => wire::error(StatusCode::UNPROCESSABLE_ENTITY, "no such catch"),
        },
        _ => shell::answer(&QUAY, ask),
    }
}

fn landings(cat: &str, when: &str) -> Value {
    let found = words::search("landings", &format!("{cat} {when}"), 1, 12);
    let lot = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "lot": format!("{} {}", rng.pick(words::ADJECTIVES), rng.pick(words::NOUNS)),
            "boat": rng.title("sea"),
            "skipper": rng.person(),
            "kilos": rng.between(10, 900),
            "per_kilo": rng.cents(150, 4000),
        })
    };
    let lots: Vec<Value> = found.hits.into_iter().map(lot).collect();
    json!({ "total": found.total, "lots": lots })
}
