//! `ticker.test`, `buses.test` and `molecules.test`: data that arrives otherwise than as text in one
//! answer (WebSocket, event stream, Protocol Buffers).

use std::fmt::Write;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const TICKER: Site = Site {
    name: "Corn Exchange",
    description: "Prices of grain, as they are called out.",
    layout: Layout::App,
    nav: &["Board", "Grades", "History"],
    main: r#"<h1>The board</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Commodity"><button>Follow</button></form>
<p id="status" role="status"></p><div id="quotes"></div>"#,
    script: ("/board.js", include_str!("../pages/ticker.js")),
    extras: &[Extra::Flags, Extra::Locale, Extra::Trending],
};

const BUSES: Site = Site {
    name: "Next Bus",
    description: "Where the buses are, more or less.",
    layout: Layout::Plain,
    nav: &["Map", "Lines", "Lost property"],
    main: r#"<h1>Live departures</h1>
<form id="ask"><label>Stop <input type="text" id="stop"></label> <button>Watch stop</button></form>
<p id="status" role="status"></p><div id="buses"></div>"#,
    script: ("/live.js", include_str!("../pages/buses.js")),
    extras: &[Extra::Pixel, Extra::Anonymous, Extra::Heartbeat],
};

const MOLECULES: Site = Site {
    name: "Compound Index",
    description: "Compounds by name, with formula and mass.",
    layout: Layout::Classic,
    nav: &["Compounds", "Elements", "Safety"],
    main: r#"<h1>Look up a compound</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Compound name"><button>Search</button></form>
<p id="status" role="status"></p><div id="compounds"></div>"#,
    script: ("/dist/index.js", include_str!("../pages/molecules.js")),
    extras: &[Extra::Tracker, Extra::RemoteFlags],
};

pub fn ticker(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/grades") => wire::json(&json!({ "grades": ["milling", "malting", "feed"] })),
        ("GET", "/feed") => wire::error(StatusCode::UPGRADE_REQUIRED, "WebSocket only"),
        _ => shell::answer(&TICKER, ask),
    }
}

/// `ws://ticker.test/feed`: each message names a commodity, each answer is its quotes.
pub fn feed(upgrade: WebSocketUpgrade) -> Response {
    upgrade.on_upgrade(|mut socket: WebSocket| async move {
        while let Some(Ok(message)) = socket.recv().await {
            let Message::Text(text) = message else {
                continue;
            };
            let asked: Value = serde_json::from_str(&text).unwrap_or_default();
            let name = asked["subscribe"].as_str().unwrap_or_default();
            let answer = Message::text(quotes(name).to_string());
            if socket.send(answer).await.is_err() {
                return;
            }
        }
    })
}

fn quotes(name: &str) -> Value {
    let found = words::search("quotes of grain", name, 1, 10);
    let quote = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "lot": format!("{} {}", words::capitalised(name), rng.pick(words::NOUNS)),
            "bid": rng.cents(9000, 42_000), "ask": rng.cents(9000, 42_000),
            "origin": rng.pick(words::COUNTRIES), "broker": rng.person(),
        })
    };
    let quotes: Vec<Value> = found.hits.into_iter().map(quote).collect();
    json!({ "commodity": name, "total": found.total, "quotes": quotes })
}

pub fn buses(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/live/departures") => match ask.param("stop") {
            Some(stop) => {
                let stream = wire::answer(StatusCode::OK, "text/event-stream", departures(stop));
                wire::with(stream, "cache-control", "no-store")
            }
            None => wire::missing("stop"),
        },
        _ => shell::answer(&BUSES, ask),
    }
}

fn departures(stop: &str) -> String {
    let found = words::search("buses", stop, 1, 8);
    let mut stream = String::from("retry: 60000\n\n");
    for (at, mut rng) in found.hits {
        let bus = json!({
            "line": rng.between(1, 99), "towards": rng.pick(words::CITIES), "minutes": at * 3,
            "driver": rng.name(), "stop": words::capitalised(stop), "note": rng.sentence(stop),
        });
        // Writing to a String cannot fail.
        let _ = write!(stream, "event: bus\nid: {at}\ndata: {bus}\n\n");
    }
    let _ = write!(stream, "event: done\ndata: {}\n\n", found.total);
    stream
}

pub fn molecules(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/v1/compounds:search") => match ask.param("name") {
            Some(name) => wire::answer(StatusCode::OK, "application/x-protobuf", compounds(name)),
            None => wire::missing("name"),
        },
        _ => shell::answer(&MOLECULES, ask),
    }
}

/// `message Found { repeated Compound compounds = 1; uint64 total = 2; }`
fn compounds(name: &str) -> Vec<u8> {
    let found = words::search("compounds", name, 1, 10);
    let mut message = Vec::new();
    for (_, mut rng) in found.hits {
        // `message Compound { string name = 1; string formula = 2; uint64 mass = 3; string note = 4; }`
        let mut compound = Vec::new();
        let title = format!("{} {}", rng.pick(&["Methyl", "Ethyl", "Sodium", "Cupric"]), name);
        let formula =
            format!("C{}H{}O{}", rng.between(1, 30), rng.between(2, 60), rng.between(0, 9));
        bytes_field(&mut compound, 1, title.as_bytes());
        bytes_field(&mut compound, 2, formula.as_bytes());
        number_field(&mut compound, 3, rng.between(18, 900) as u64);
        bytes_field(&mut compound, 4, rng.sentence(name).as_bytes());
        bytes_field(&mut message, 1, &compound);
    }
    number_field(&mut message, 2, found.total);
    message
}

/// Wire type 2: a length, then so many bytes.
fn bytes_field(message: &mut Vec<u8>, number: u64, content: &[u8]) {
    varint(message, number << 3 | 2);
    varint(message, content.len() as u64);
    message.extend(content);
}

/// Wire type 0.
fn number_field(message: &mut Vec<u8>, number: u64, value: u64) {
    varint(message, number << 3);
    varint(message, value);
}

fn varint(message: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        message.push(value as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}
