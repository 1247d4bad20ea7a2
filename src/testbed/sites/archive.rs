//! `archive.test`: answers of about half a megabyte, compressed as the client accepts it.

use std::io::Write;

use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use crate::brotli;
use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::SeededRng;

const SITE: Site = Site {
    name: "State Archive",
    description: "Eleven kilometres of shelves, described.",
    layout: Layout::Classic,
    nav: &["Holdings", "Reading room", "Maps", "Fees"],
    main: include_str!("../pages/archive.html"),
    script: ("/lib/finding-aid.js", include_str!("../pages/archive.js")),
    extras: &[Extra::Locale, Extra::Flags, Extra::Recommended],
};

/// Almost 700 bytes each.
const RECORDS: u32 = 720;

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/records") => {
            let Some(term) = ask.param("term") else {
                return wire::missing("term");
            };
            compressed(ask, records(term).to_string())
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn compressed(ask: &SiteRequest, body: String) -> Response {
    let accepted = ask.header("accept-encoding").unwrap_or_default();
    let accepts = |coding: &str| {
        accepted.split(',').any(|c| c.split(';').next().map(str::trim) == Some(coding))
    };
    let (coding, bytes) = if accepts("br") {
        ("br", brotli::encode_stored(body.as_bytes()))
    } else if accepts("gzip") {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        // Writing to a Vec cannot fail.
        let _ = packer.write_all(body.as_bytes());
        ("gzip", packer.finish().unwrap_or_default())
    } else {
        return wire::answer(axum::http::StatusCode::OK, "application/json", body);
    };
    let response = wire::answer(axum::http::StatusCode::OK, "application/json", bytes);
    wire::with(wire::with(response, "content-encoding", coding), "vary", "accept-encoding")
}

fn records(term: &str) -> Value {
    let term_key = term.to_lowercase();
    let record = |at: u32| {
        let mut rng = SeededRng::new(&["records", &term_key, &at.to_string()]);
        let from = rng.between(1650, 1950);
        let level = |rng: &mut SeededRng| json!({ "code": format!("{:03}", rng.between(1, 999)), "label": rng.title("papers") });
        json!({
            "signature": format!("SA-{:02}-{:05}", rng.between(1, 40), rng.between(1, 99_999)),
            "title": rng.title(term),
            "scope": [rng.sentence(term), rng.sentence("researchers"), rng.sentence(term)],
            "dates": { "from": from, "to": from + rng.between(0, 60), "certain": rng.chance(70) },
            "creator": rng.person(),
            "context": { "fonds": level(&mut rng), "series": level(&mut rng), "file": level(&mut rng) },
            "extent": { "boxes": rng.between(1, 12), "metres": rng.cents(5, 400) },
            "access": { "open": rng.chance(85), "digitised": rng.chance(30), "note": null },
        })
    };
    let records: Vec<Value> = (1..=RECORDS).map(record).collect();
    json!({ "term": term, "total": RECORDS, "result": { "took": 12, "records": records } })
}
