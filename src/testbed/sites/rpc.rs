//! `ledger.test` and `harbour.test`: JSON-RPC 2.0 on one URL, a call at a time and several in a batch.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const LEDGER: Site = Site {
    name: "Open Ledger",
    description: "Firms, their numbers and their owners.",
    layout: Layout::App,
    nav: &["Firms", "Filings", "Fees"],
    main: r#"<h1>Who owns it?</h1>
<form id="ask" role="search"><input type="search" id="name" aria-label="Company name"><button>Look up</button></form>
<p id="rates"></p><div id="firms"></div>"#,
    script: ("/app/ledger.js", include_str!("../pages/ledger.js")),
    extras: &[Extra::Tracker, Extra::Flags, Extra::Locale],
};

const HARBOUR: Site = Site {
    name: "Harbour Board",
    description: "Berths, tides and who is in.",
    layout: Layout::Classic,
    nav: &["Berths", "Tides", "Dues"],
    main: r#"<h1>Who is in?</h1>
<form id="ask"><label>Vessel <input type="text" id="vessel"></label> <button>Find vessel</button></form>
<p id="tide"></p><p id="status" role="status"></p><div id="berths"></div>"#,
    script: ("/js/board.js", include_str!("../pages/harbour.js")),
    extras: &[Extra::Pixel, Extra::Trending, Extra::Anonymous],
};

/// What a method comes to; the error is a code and a message of JSON-RPC.
type Outcome = Result<Value, (i64, &'static str)>;

pub fn ledger(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/rpc") => wire::json(&reply(&ask.json(), ledger_method)),
        _ => shell::answer(&LEDGER, ask),
    }
}

pub fn harbour(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/services") => match ask.json() {
            Value::Array(calls) if !calls.is_empty() => {
                wire::json(&calls.iter().map(|call| reply(call, harbour_method)).collect())
            }
            call => wire::json(&reply(&call, harbour_method)),
        },
        _ => shell::answer(&HARBOUR, ask),
    }
}

fn reply(call: &Value, method: fn(&str, &Value) -> Outcome) -> Value {
    let outcome = match (call["jsonrpc"].as_str(), call["method"].as_str()) {
        (Some("2.0"), Some(name)) => method(name, &call["params"]),
        _ => Err((-32600, "invalid request")),
    };
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": call["id"], "result": result }),
        Err((code, message)) => {
            json!({ "jsonrpc": "2.0", "id": call["id"], "error": { "code": code, "message": message } })
        }
    }
}

/// A parameter that is present and not blank.
fn text<'a>(params: &'a Value, name: &str) -> Result<&'a str, (i64, &'static str)> {
    let given = params[name].as_str().map(str::trim).filter(|it| !it.is_empty());
    given.ok_or((-32602, "invalid params"))
}

fn ledger_method(name: &str, params: &Value) -> Outcome {
    match name {
        "session.hello" => Ok(json!({ "server": "ledger/4", "features": ["filings", "owners"] })),
        "rates.latest" => Ok(json!({ "base": "EUR", "extract": 4.5, "certificate": 12.0 })),
        "companies.find" => {
            let name = text(params, "name")?;
            let found = words::search("firms", name, 1, 10);
            let firm = |(_, mut rng): (u64, SeededRng)| {
                json!({
                    "number": format!("HRB {}", rng.between(1000, 99_999)),
                    "name": format!("{} {} & {}", words::capitalised(name), rng.pick(words::NOUNS), rng.pick(words::LAST)),
                    "seat": rng.pick(words::CITIES),
                    "founded": rng.date(),
                    "capital": rng.between(1, 900) * 1000,
                    "owner": rng.person(),
                    "purpose": rng.sentence(name),
                })
            };
            let firms: Vec<Value> = found.hits.into_iter().map(firm).collect();
            Ok(json!({ "count": found.total, "companies": firms }))
        }
        _ => Err((-32601, "method not found")),
    }
}

fn harbour_method(name: &str, params: &Value) -> Outcome {
    match name {
        "user.current" => Ok(json!({ "user": null, "guest": true })),
        "notices.list" => {
            let notice = |at: u32| {
                let mut rng = SeededRng::new(&["harbour notice", &at.to_string()]);
                json!({ "id": at, "title": rng.title("dredging"), "text": rng.sentence("skippers"), "by": rng.person() })
            };
            Ok((1..=9).map(notice).collect())
        }
        "tides.next" => Ok(json!({ "high": "06:12", "low": "12:31", "metres": 3.4 })),
        "vessels.search" => {
            let name = text(params, "name")?;
            let found = words::search("vessels", name, 1, 12);
            let vessel = |(at, mut rng): (u64, SeededRng)| {
                json!({
                    "berth": format!("{}{}", rng.pick(&["A", "B", "C", "D"]), at),
                    "name": format!("{} {}", words::capitalised(name), rng.pick(words::NOUNS)),
                    "flag": rng.pick(words::COUNTRIES),
                    "length": rng.cents(700, 9000),
                    "skipper": rng.name(),
                    "arrived": rng.date(),
                })
            };
            let vessels: Vec<Value> = found.hits.into_iter().map(vessel).collect();
            Ok(json!({ "total": found.total, "vessels": vessels }))
        }
        _ => Err((-32601, "method not found")),
    }
}
