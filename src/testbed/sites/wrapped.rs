//! `atlas.test`, `bonds.test` and `quakes.test`: JSON that is not alone in its body (JSONP, an
//! unparsable first line against script inclusion, one value a line).

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const ATLAS: Site = Site {
    name: "Pocket Atlas",
    description: "Places and how to spell them.",
    layout: Layout::Plain,
    nav: &["Countries", "Rivers", "Spelling"],
    main: r#"<h1>Where on earth?</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Place name"><button>Find places</button></form>
<p id="status" role="status"></p><div id="places"></div>"#,
    script: ("/atlas.js", include_str!("../pages/atlas.js")),
    extras: &[Extra::Pixel, Extra::Tracker],
};

const BONDS: Site = Site {
    name: "Gilt Edge",
    description: "Bonds and their yields, explained.",
    layout: Layout::App,
    nav: &["Bonds", "Yields", "Glossary"],
    main: r#"<h1>Find a bond</h1>
<form id="ask" role="search"><input type="search" id="issuer" aria-label="Issuer"><button>Search</button></form>
<div id="bonds"></div>"#,
    script: ("/_/js/bonds.js", include_str!("../pages/bonds.js")),
    extras: &[Extra::RemoteFlags, Extra::Me, Extra::Trending],
};

const QUAKES: Site = Site {
    name: "Tremor Watch",
    description: "Every tremor above one point five.",
    layout: Layout::Classic,
    nav: &["Today", "Stations", "Method"],
    main: r#"<h1>Did you feel it?</h1>
<form id="ask"><label>Region <input type="text" id="region"></label> <button>List tremors</button></form>
<p id="status" role="status"></p><div id="tremors"></div>"#,
    script: ("/js/tremors.js", include_str!("../pages/quakes.js")),
    extras: &[Extra::Flags, Extra::Tracker, Extra::Prefetch],
};

pub fn atlas(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/places/lookup") => {
            let Some(query) = ask.param("q") else {
                return wire::missing("q");
            };
            let plain = |it: &&str| it.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let Some(callback) = ask.param("callback").filter(plain) else {
                return wire::missing("callback");
            };
            let body = format!("/**/{callback}({});", places(query));
            let js = wire::answer(StatusCode::OK, "application/javascript; charset=utf-8", body);
            wire::with(js, "cache-control", "no-store")
        }
        _ => shell::answer(&ATLAS, ask),
    }
}

fn places(query: &str) -> Value {
    let found = words::search("places", query, 1, 12);
    let place = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "name": format!("{} {}", rng.pick(&["Old", "New", "Upper", "Lower", "Great"]), words::capitalised(query)),
            "district": rng.title("parish"),
            "country": rng.pick(words::COUNTRIES),
            "latitude": rng.cents(-6000, 7000),
            "longitude": rng.cents(-18_000, 18_000),
            "population": rng.between(40, 900_000),
        })
    };
    let places: Vec<Value> = found.hits.into_iter().map(place).collect();
    json!({ "totalResultsCount": found.total, "geonames": places })
}

pub fn bonds(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/_/data/bonds") => match ask.param("issuer") {
            Some(issuer) => {
                let body = format!(")]}}'\n{}", bond_list(issuer));
                wire::answer(StatusCode::OK, "application/json; charset=utf-8", body)
            }
            None => wire::missing("issuer"),
        },
        _ => shell::answer(&BONDS, ask),
    }
}

fn bond_list(issuer: &str) -> Value {
    let found = words::search("bonds", issuer, 1, 12);
    let bond = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "isin": format!("XS{:010}", rng.between(1, 9_999_999_999)),
            "name": format!("{} {} {}", words::capitalised(issuer), rng.pick(words::ADJECTIVES), rng.between(2026, 2051)),
            "coupon": rng.cents(10, 900),
            "price": rng.cents(7000, 12_000),
            "rating": rng.pick(&["AAA", "AA", "A", "BBB", "BB"]),
            "registrar": rng.person(),
        })
    };
    let bonds: Vec<Value> = found.hits.into_iter().map(bond).collect();
    json!({ "result": { "size": found.total, "bonds": bonds } })
}

pub fn quakes(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/export/tremors.ndjson") => match ask.param("region") {
            Some(region) => wire::answer(StatusCode::OK, "application/x-ndjson", tremors(region)),
            None => wire::missing("region"),
        },
        _ => shell::answer(&QUAKES, ask),
    }
}

fn tremors(region: &str) -> String {
    let found = words::search("tremors", region, 1, 15);
    let tremor = |(_, mut rng): (u64, SeededRng)| {
        let line = json!({
            "event": format!("tw{:06x}", rng.roll() as u32 & 0x00ff_ffff),
            "place": format!("{} km {} of {}", rng.between(1, 90), rng.pick(&["north", "south", "east", "west"]), words::capitalised(region)),
            "magnitude": rng.cents(150, 620),
            "depth_km": rng.between(1, 300),
            "on": rng.date(),
            "analyst": rng.name(),
        });
        format!("{line}\n")
    };
    found.hits.into_iter().map(tremor).collect()
}
