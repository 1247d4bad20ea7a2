//! `seeds.test`, `xn--bcher-kva.test` and `notices.test`: an answer that another host gives, a host
//! outside ASCII, an answer that the client already has.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SEEDS: Site = Site {
    name: "Seed Library",
    description: "Borrow seeds, return seeds.",
    layout: Layout::Classic,
    nav: &["Vegetables", "Flowers", "How it works"],
    main: r#"<h1>Borrow a packet</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search seeds"><button>Search</button></form>
<p id="status" role="status"></p><div id="seeds"></div>"#,
    script: ("/seeds.js", include_str!("../pages/seeds.js")),
    extras: &[Extra::Tracker, Extra::Flags, Extra::Recommended],
};

const BUECHER: Site = Site {
    name: "Bücherstube",
    description: "Antiquarian books, in German and otherwise.",
    layout: Layout::Plain,
    nav: &["Neu", "Alt", "Ankauf"],
    main: r#"<h1>Was darf es sein?</h1>
<form id="ask" role="search"><input type="search" id="titel" aria-label="Titel"><button>Suchen</button></form>
<p id="status" role="status"></p><div id="regal"></div>"#,
    script: ("/regal.js", include_str!("../pages/buecher.js")),
    extras: &[Extra::Pixel, Extra::Locale],
};

const NOTICES: Site = Site {
    name: "Public Notices",
    description: "What the council is obliged to print.",
    layout: Layout::Classic,
    nav: &["Planning", "Roads", "Licences"],
    main: r#"<h1>Notices</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search notices"><button>Search</button></form>
<p id="status" role="status"></p><p id="fresh"></p><div id="notices"></div>"#,
    script: ("/notices.js", include_str!("../pages/notices.js")),
    extras: &[Extra::Anonymous, Extra::Trending, Extra::Prefetch],
};

pub fn seeds(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/search") => {
            let query: String =
                byte_serialize(ask.param("q").unwrap_or_default().as_bytes()).collect();
            wire::redirect(&format!("//api.seedbank.test/v3/packets?q={query}"))
        }
        _ => shell::answer(&SEEDS, ask),
    }
}

/// `api.seedbank.test`
pub fn seedbank(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("OPTIONS", _) => wire::preflight(ask),
        ("GET", "/v3/packets") => {
            let answer =
                ask.param("q").map_or_else(|| wire::missing("q"), |q| wire::json(&packets(q)));
            wire::shared(ask, answer)
        }
        _ => wire::not_found(),
    }
}

fn packets(query: &str) -> Value {
    let found = words::search("packets", query, 1, 12);
    let packet = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "accession": format!("SB-{:05}", rng.between(1, 99_999)),
            "variety": rng.title(query),
            "sow_from": rng.pick(&["January", "March", "April", "May", "August"]),
            "seeds": rng.between(5, 400),
            "donor": rng.person(),
            "notes": rng.sentence(query),
        })
    };
    let packets: Vec<Value> = found.hits.into_iter().map(packet).collect();
    json!({ "count": found.total, "packets": packets })
}

pub fn buecher(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/suche.json") => match ask.param("titel") {
            Some(title) => wire::json(&books(title)),
            None => wire::missing("titel"),
        },
        _ => shell::answer(&BUECHER, ask),
    }
}

fn books(title: &str) -> Value {
    let found = words::search("bücher", title, 1, 12);
    let book = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "nummer": 700 + at,
            "titel": format!("{} – {}", words::capitalised(title), rng.pick(&["Erzählungen", "Gedichte", "Größe und Verfall", "Übersicht"])),
            "verfasser": rng.name(),
            "jahr": rng.between(1790, 1960),
            "preis": rng.cents(400, 42_000),
            "zustand": rng.sentence(title),
        })
    };
    let books: Vec<Value> = found.hits.into_iter().map(book).collect();
    json!({ "anzahl": found.total, "bücher": books })
}

pub fn notices(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/notices") => {
            let Some(query) = ask.param("q") else {
                return wire::missing("q");
            };
            let body = notice_list(query).to_string();
            let tag = format!("\"{}\"", &secret(&body)[..32]);
            let response = if ask.header("if-none-match") == Some(&tag) {
                wire::text(StatusCode::NOT_MODIFIED, "")
            } else {
                wire::answer(StatusCode::OK, "application/json; charset=utf-8", body)
            };
            wire::with(wire::with(response, "etag", &tag), "cache-control", "private, no-cache")
        }
        _ => shell::answer(&NOTICES, ask),
    }
}

fn notice_list(query: &str) -> Value {
    let found = words::search("notices", query, 1, 10);
    let notice = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "reference": format!("{}/{:04}", rng.between(20, 25), rng.between(1, 9999)),
            "heading": rng.title(query),
            "text": rng.sentence(query),
            "officer": rng.person(),
            "until": rng.date(),
        })
    };
    let notices: Vec<Value> = found.hits.into_iter().map(notice).collect();
    json!({ "found": found.total, "notices": notices })
}
