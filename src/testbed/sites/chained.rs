//! `transit.test` and `parts.test`: calls that need what an earlier answer held, a token and an id.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const TRANSIT: Site = Site {
    name: "Valley Transit",
    description: "Stops and departures of the valley lines.",
    layout: Layout::Classic,
    nav: &["Lines", "Tickets", "Works"],
    main: r#"<h1>When does it leave?</h1>
<form id="ask"><label>Stop <input type="text" id="stop"></label> <button>Show stops</button></form>
<p id="status" role="status"></p><div id="stops"></div>"#,
    script: ("/assets/transit.js", include_str!("../pages/transit.js")),
    extras: &[Extra::Locale, Extra::Flags, Extra::Pixel],
};

const PARTS: Site = Site {
    name: "Spindle & Sons",
    description: "Spare parts for machines that outlived their makers.",
    layout: Layout::Classic,
    nav: &["Catalogue", "Drawings", "Orders by post"],
    main: r#"<h1>Data sheets</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Part name"><button>Show data sheet</button></form>
<p id="status" role="status"></p><div id="sheet"></div>"#,
    script: ("/sheet.js", include_str!("../pages/parts.js")),
    extras: &[Extra::Tracker, Extra::Anonymous, Extra::Recommended],
};

pub fn transit(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/session.json") => {
            let token = state.open_session("transit");
            wire::json(&json!({ "token": token, "expires_in": 900, "scope": "public" }))
        }
        ("GET", "/api/stops") => {
            let known = |token| state.knows_session("transit", token);
            if !ask.header("x-token").is_some_and(known) {
                return wire::error(StatusCode::FORBIDDEN, "missing or unknown token");
            }
            match ask.param("name") {
                Some(name) => wire::json(&stops(name)),
                None => wire::missing("name"),
            }
        }
        _ => shell::answer(&TRANSIT, ask),
    }
}

fn stops(name: &str) -> Value {
    let found = words::search("stops", name, 1, 10);
    let stop = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "code": format!("VT{:04}", rng.between(1, 9999)),
            "label": format!("{} {}", words::capitalised(name), rng.pick(words::NOUNS)),
            "line": format!("{}{}", rng.pick(&["U", "S", "T"]), at),
            "towards": rng.pick(words::CITIES),
            "first": format!("0{}:{:02}", rng.between(4, 6), rng.between(0, 59)),
            "last": format!("23:{:02}", rng.between(10, 59)),
            "step_free": rng.chance(60),
        })
    };
    let stops: Vec<Value> = found.hits.into_iter().map(stop).collect();
    json!({ "matches": found.total, "stops": stops })
}

pub fn parts(ask: &SiteRequest, _: &TestbedState) -> Response {
    if let ("GET", Some(id)) = (&*ask.method, ask.path.strip_prefix("/detail/")) {
        let known = id.len() == 16 && id.bytes().all(|it| it.is_ascii_hexdigit());
        return if known { wire::json(&sheet(id)) } else { wire::not_found() };
    }
    match ask.route() {
        ("GET", "/api/find") => match ask.param("q") {
            Some(query) => {
                let total = words::search("parts", query, 1, 1).total;
                let id = (total > 0).then(|| part_id(query));
                wire::json(&json!({ "total": total, "best": { "id": id, "score": 0.93 } }))
            }
            None => wire::missing("q"),
        },
        _ => shell::answer(&PARTS, ask),
    }
}

/// Nobody but the catalogue can tell it from the name.
fn part_id(query: &str) -> String {
    secret(&format!("part {}", query.to_lowercase()))[..16].to_owned()
}

fn sheet(id: &str) -> Value {
    let mut rng = SeededRng::new(&["sheet", id]);
    let dimension = |rng: &mut SeededRng| json!({ "label": rng.title("diameter"), "mm": rng.cents(100, 90_000) });
    json!({
        "id": id,
        "drawing": format!("SP-{}/{}", rng.between(100, 999), rng.between(1, 40)),
        "material": rng.title("steel"),
        "draughtsman": rng.person(),
        "approved": rng.date(),
        "weight_kg": rng.cents(5, 9000),
        "dimensions": (0..5).map(|_| dimension(&mut rng)).collect::<Vec<_>>(),
        "remarks": rng.sentence("this part"),
    })
}
