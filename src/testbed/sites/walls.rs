//! `auction.test`, `clinic.test` and `museum.test`: calls that are refused, by a challenge, for want
//! of a login, and for coming too early.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const AUCTION: Site = Site {
    name: "Gavel & Daughters",
    description: "Estate sales, every second Thursday.",
    layout: Layout::Classic,
    nav: &["Lots", "Sales", "Consign"],
    main: r#"<h1>Lots of the season</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search lots"><button>Search</button></form>
<form action="/catalogue"><label>Sale number <input type="text" name="sale"></label> <button>Open catalogue</button></form>
<p id="status" role="status"></p><div id="lots"></div>"#,
    script: ("/gavel.js", include_str!("../pages/auction.js")),
    extras: &[Extra::Tracker, Extra::Trending, Extra::Flags],
};

const CLINIC: Site = Site {
    name: "Lakeside Clinic",
    description: "Appointments for patients of the house.",
    layout: Layout::App,
    nav: &["Departments", "Visits", "Contact us"],
    main: r#"<h1>Book a visit</h1>
<form id="ask"><label>Department <input type="text" id="department"></label> <button>Show free times</button></form>
<p id="status" role="status"></p>"#,
    script: ("/app/visits.js", include_str!("../pages/clinic.js")),
    extras: &[Extra::Locale, Extra::Me, Extra::RemoteFlags],
};

const MUSEUM: Site = Site {
    name: "Museum of Clocks",
    description: "Four hundred clocks, none of them right.",
    layout: Layout::Classic,
    nav: &["Collection", "Visit", "Shop"],
    main: r#"<h1>The collection</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search the collection"><button>Search</button></form>
<p id="status" role="status"></p><div id="objects"></div>"#,
    script: ("/static/collection.js", include_str!("../pages/museum.js")),
    extras: &[Extra::Flags, Extra::Anonymous, Extra::Pixel],
};

pub fn auction(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/lots" | "/catalogue") => challenge(),
        ("POST", "/cdn-cgi/verify") => wire::error(StatusCode::FORBIDDEN, "not convinced"),
        _ => shell::answer(&AUCTION, ask),
    }
}

/// What a protected site sends to a client that it takes for a robot.
fn challenge() -> Response {
    let page = include_str!("../pages/challenge.html");
    let response = wire::answer(StatusCode::FORBIDDEN, "text/html; charset=utf-8", page);
    wire::with(wire::with(response, "cf-mitigated", "challenge"), "cache-control", "no-store")
}

pub fn clinic(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/api/slots/search") => {
            let refusal = json!({ "code": "unauthenticated", "message": "Please sign in to see free times." });
            let response = wire::json_status(StatusCode::UNAUTHORIZED, &refusal);
            wire::with(response, "www-authenticate", r#"Bearer realm="patients""#)
        }
        _ => shell::answer(&CLINIC, ask),
    }
}

pub fn museum(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => {
            state.expect_haste("museum");
            shell::home(&MUSEUM, ask)
        }
        // The first call after a page was loaded comes too early.
        ("GET", "/api/objects") if state.is_hasty("museum") => {
            let refusal = wire::error(StatusCode::TOO_MANY_REQUESTS, "slow down");
            wire::with(refusal, "retry-after", "1")
        }
        ("GET", "/api/objects") => match ask.param("q") {
            Some(query) => wire::json(&objects(query)),
            None => wire::missing("q"),
        },
        _ => shell::answer(&MUSEUM, ask),
    }
}

fn objects(query: &str) -> Value {
    let found = words::search("objects", query, 1, 12);
    let object = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "inventory": format!("MC.{}.{}", rng.between(1880, 2020), rng.between(1, 400)),
            "title": rng.title(query),
            "maker": rng.person(),
            "made_in": rng.pick(words::CITIES),
            "year": rng.between(1580, 1930),
            "room": rng.between(1, 24),
            "text": rng.sentence(query),
        })
    };
    let objects: Vec<Value> = found.hits.into_iter().map(object).collect();
    json!({ "total": found.total, "objects": objects })
}
