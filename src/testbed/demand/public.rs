//! Public sites with one request: `tariff.test`, `bells.test`, `pawns.test`, `flora.test`, `railbook.test`.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{page, rest};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest, escape};
use crate::words::{self, SeededRng};

/// Countries as the form shows them, and their codes.
const COUNTRIES: [(&str, &str); 30] = [
    ("AT", "Austria"),
    ("BE", "Belgium"),
    ("BG", "Bulgaria"),
    ("CH", "Switzerland"),
    ("CY", "Cyprus"),
    ("CZ", "Czechia"),
    ("DE", "Germany"),
    ("DK", "Denmark"),
    ("EE", "Estonia"),
    ("ES", "Spain"),
    ("FI", "Finland"),
    ("FR", "France"),
    ("GB", "United Kingdom"),
    ("GR", "Greece"),
    ("HR", "Croatia"),
    ("HU", "Hungary"),
    ("IE", "Ireland"),
    ("IS", "Iceland"),
    ("IT", "Italy"),
    ("LT", "Lithuania"),
    ("LU", "Luxembourg"),
    ("LV", "Latvia"),
    ("MT", "Malta"),
    ("NL", "Netherlands"),
    ("NO", "Norway"),
    ("PL", "Poland"),
    ("PT", "Portugal"),
    ("RO", "Romania"),
    ("SE", "Sweden"),
    ("SI", "Slovenia"),
];

/// `tariff.test`: prices of parcels by weight and destination; a promoted list of the same shape stands beside them.
pub fn tariff(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => {
            let options: String = COUNTRIES
                .iter()
                .map(|(code, name)| format!("<option value=\"{code}\">{name}</option>"))
                .collect::<Vec<_>>()
                .concat();
            let main = format!(
                r#"<h1>What does a parcel cost?</h1><form id="ask"><label>Weight in grams <input id="grams" inputmode="numeric"></label>
<label>Destination <select id="to">{options}</select></label><button>Show prices</button></form>
<table><thead><tr><th>Carrier</th><th>Price</th><th>Days</th><th>Note</th></tr></thead><tbody id="quotes"></tbody></table>
<aside><h2>Promoted</h2><ul id="promoted"></ul></aside>"#
            );
            page("Tariff", &main, include_str!("../pages/demand/tariff.js"))
        }
        ("GET", "/v2/quotes") => match (ask.param("g"), ask.param("to")) {
            (Some(_), Some(to)) => {
                let grams = ask.number("g", 1, 100_000);
                wire::json(
                    &json!({ "meta": { "lang": ask.param("lang"), "currency": "EUR" }, "quotes": quotes(grams, to) }),
                )
            }
            _ => wire::missing("g or to"),
        },
        // The same carriers whatever the destination.
        ("GET", "/v2/quotes/promoted") => {
            let grams = ask.number("g", 1, 100_000);
            wire::json(&json!({ "meta": { "slot": "side" }, "quotes": quotes(grams, "promoted") }))
        }
        _ => rest(ask),
    }
}

/// Carriers with price, days and perhaps a note.
pub fn quotes(grams: u64, to: &str) -> Value {
    let steps = (grams / 250).to_string();
    let quote = |at: u64| {
        let mut rng = SeededRng::new(&["quote", to, &steps, &at.to_string()]);
        let mut row = json!({
            "carrier": format!("{} Post", words::LAST[(at as usize * 7) % words::LAST.len()]),
            "price": rng.cents(350, 9000),
            "days": rng.between(1, 12),
        });
        if rng.chance(40) {
            row["note"] = json!(format!("Insured up to {} EUR", rng.between(1, 9) * 100));
        }
        row
    };
    (1..=6).map(quote).collect()
}

/// Parishes: how their address names them, and their name.
const PARISHES: [(&str, &str); 5] = [
    ("muehldorf", "Mühldorf"),
    ("grossloebichau", "Großlöbichau"),
    ("aebtissinwald", "Äbtissinwald"),
    ("suederbrarup", "Süderbrarup"),
    ("koenigsee", "Königsee"),
];

const LABELS: [&str; 14] = [
    "Name",
    "Cast in",
    "Founder",
    "Weight",
    "Diameter",
    "Tone",
    "Metal",
    "Inscription",
    "Donor",
    "Hung in",
    "Yoke",
    "Clapper",
    "Restored",
    "Rung on",
];

/// `bells.test`: a page for each bell, made by the server. Bells that were melted down lack two labels.
pub fn bells(ask: &SiteRequest, _: &TestbedState) -> Response {
    if let ("GET", Some(rest)) = (&*ask.method, ask.path.strip_prefix("/bell/")) {
        let (parish, number) = rest.split_once('/').unwrap_or((rest, ""));
        let number = number.parse().unwrap_or(0);
        return match bell(parish, number) {
            Some(record) => bell_page(parish, number, &record),
            None => wire::answer(
                StatusCode::NOT_FOUND,
                "text/html; charset=utf-8",
                "<h1>No such bell</h1>",
            ),
        };
    }
    match ask.route() {
        ("GET", "/") => {
            let list: String = PARISHES
                .iter()
                .map(|(slug, name)| format!("<li><a href=\"/bell/{slug}/1\">{name}</a></li>"))
                .collect::<Vec<_>>()
                .concat();
            page("Register of bells", &format!("<h1>Parishes</h1><ul>{list}</ul>"), "")
        }
        _ => rest(ask),
    }
}

fn bell_page(parish: &str, number: u64, record: &Value) -> Response {
    let rows: String = LABELS
        .iter()
        .filter_map(|label| Some((label, record[label].as_str()?)))
        .map(|(label, value)| format!("<tr><th>{label}</th><td>{}</td></tr>", escape(value)))
        .collect::<Vec<_>>()
        .concat();
    let beside = (1..=4).filter(|it| *it != number).filter_map(|it| Some((it, bell(parish, it)?)));
    let neighbours: String = beside
        .map(|(it, other)| {
            let of = |label: &str| escape(other[label].as_str().unwrap_or_default());
            format!(
                "<tr><td><a href=\"/bell/{parish}/{it}\">{}</a></td><td>{}</td><td>{}</td></tr>",
                of("Name"),
                of("Cast in"),
                of("Weight")
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let main = format!(
        "<h1>{}</h1><table class=\"record\">{rows}</table><h2>Also in this tower</h2><table><tr><th>Name</th><th>Cast in</th><th>Weight</th></tr>{neighbours}</table>",
        escape(record["Name"].as_str().unwrap_or_default())
    );
    page("Register of bells", &main, "")
}

/// The record of a bell by label, or `None`.
pub fn bell(parish: &str, number: u64) -> Option<Value> {
    let (_, name) = PARISHES.iter().find(|(slug, _)| *slug == parish)?;
    if !(1..=12).contains(&number) {
        return None;
    }
    let mut rng = SeededRng::new(&["bell", parish, &number.to_string()]);
    let is_melted = number.is_multiple_of(4);
    let mut record = json!({});
    for label in LABELS {
        let value = match label {
            "Name" => format!("{} of {name}", rng.pick(words::FIRST)),
            "Cast in" | "Hung in" | "Restored" => rng.between(1450, 1990).to_string(),
            "Founder" | "Donor" => rng.name(),
            "Weight" => format!("{} kg", rng.between(80, 4200)),
            "Diameter" => format!("{} mm", rng.between(400, 1800)),
            "Tone" => {
                format!("{} +{}", rng.pick(&["a'", "c''", "e'", "fis'", "h'"]), rng.between(1, 12))
            }
            "Metal" => rng.pick(&["Bronze", "Steel", "Iron"]).to_owned(),
            "Inscription" => rng.sentence("the hours"),
            "Yoke" | "Clapper" => rng.title("forged"),
            _ => rng.pick(&["Sundays", "feast days", "fire", "noon"]).to_owned(),
        };
        if !(is_melted && matches!(label, "Restored" | "Rung on")) {
            record[label] = json!(value);
        }
    }
    Some(record)
}

/// `pawns.test`: a ranking with tabs. A script sets a cookie that the data needs; it is new for each visitor and ends.
pub fn pawns(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => {
            let visitor =
                secret(&format!("visitor {} {}", state.turns("pawns.test"), state.count("pawns")));
            let main = r#"<h1>Clubs</h1><div role="tablist"><button role="tab" data-league="north">North league</button>
<button role="tab" data-league="south">South league</button><button role="tab" data-league="islands">Islands league</button></div>
<p role="status" id="status"></p><table><thead><tr><th>Place</th><th>Club</th><th>Points</th><th>Change</th></tr></thead><tbody id="rows"></tbody></table>"#;
            let token = format!("{}.{}", state.turns("pawns.test"), &visitor[..24]);
            page(
                "Pawns",
                main,
                &include_str!("../pages/demand/pawns.js").replace("{{visitor}}", &token),
            )
        }
        ("GET", "/api/rank") => {
            let current = format!("{}.", state.turns("pawns.test"));
            if !ask.cookie("visitor").is_some_and(|it| it.starts_with(&current)) {
                return wire::error(StatusCode::FORBIDDEN, "no visitor");
            }
            match ask.param("league") {
                Some(league) => {
                    wire::json(&json!({ "season": ask.param("season"), "table": ranking(league) }))
                }
                None => wire::missing("league"),
            }
        }
        _ => rest(ask),
    }
}

/// Places of a league.
pub fn ranking(league: &str) -> Value {
    let row = |place: u64| {
        let mut rng = SeededRng::new(&["rank", league, &place.to_string()]);
        json!({
            "place": place, "club": format!("{} {}", rng.pick(words::CITIES), rng.pick(&["Rooks", "Knights", "Bishops"])),
            "points": 60 - 3 * place as i64 + rng.between(0, 2), "change": rng.between(-3, 3),
        })
    };
    (1..=12).map(row).collect()
}

/// `flora.test`: several operations of GraphQL at one address.
pub fn flora(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page(
            "Flora",
            r#"<h1>Names of plants</h1><form id="ask"><label>Plant <input id="name" type="search"></label><button>Search</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Latin</th><th>Family</th><th>Common names</th></tr></thead><tbody id="plants"></tbody></table><p id="tip"></p>"#,
            include_str!("../pages/demand/flora.js"),
        ),
        ("POST", "/graph") => {
            let asked = ask.json();
            let variables = &asked["variables"];
            let name = variables["name"].as_str().unwrap_or_default();
            let data = match asked["operationName"].as_str() {
                Some("PlantSearch") => {
                    json!({ "plants": plants(name, variables["limit"].as_u64().unwrap_or(10)) })
                }
                Some("Viewer") => json!({ "viewer": null }),
                Some("Tips") => json!({ "tips": ["Water in the evening.", "Cut roses in March."] }),
                // The same for any word.
                Some("Families") => json!({ "plants": plants("families", 10) }),
                _ => return wire::error(StatusCode::BAD_REQUEST, "unknown operation"),
            };
            wire::json(&json!({ "data": data }))
        }
        _ => rest(ask),
    }
}

/// Plants whose names hold a word.
pub fn plants(name: &str, limit: u64) -> Value {
    let plant = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "latin": format!("{}us {}", words::capitalised(name), rng.pick(&["alba", "vulgaris", "montana", "minor"])),
            "family": format!("{}aceae", rng.pick(words::NOUNS)),
            "vernacular": [rng.title(name), rng.title(name)],
        })
    };
    words::search("plants", name, 1, limit).hits.into_iter().map(plant).collect()
}

/// `railbook.test`: an interface with a description that no page of the site calls.
pub fn railbook(ask: &SiteRequest, state: &TestbedState) -> Response {
    if let ("GET", Some(stop)) = (&*ask.method, ask.path.strip_prefix("/api/1/departures/")) {
        // Without a time it means now, which is later at each call.
        let now = format!("now {}", state.count("railbook"));
        let rows = departures(stop, ask.param("at").unwrap_or(&now));
        return wire::json(&json!({ "stop": stop, "departures": rows }));
    }
    match ask.route() {
        ("GET", "/") => page(
            "Railbook",
            r#"<h1>Railbook interface</h1><p>The timetable as JSON: <a href="/openapi.json">description</a>.</p>"#,
            "",
        ),
        ("GET", "/openapi.json") => wire::json(&json!({
            "openapi": "3.0.3", "info": { "title": "Railbook", "version": "1" }, "servers": [{ "url": "http://railbook.test/api/1" }],
            "paths": { "/departures/{stop}": { "get": {
                "operationId": "departures", "summary": "Departures of a stop",
                "parameters": [
                    { "name": "stop", "in": "path", "required": true, "schema": { "type": "string" }, "example": "moorgate" },
                    { "name": "at", "in": "query", "schema": { "type": "string", "format": "date-time" }, "example": "2026-05-04T08:00" },
                ],
                "responses": { "200": { "description": "Departures", "content": { "application/json": { "schema": { "type": "object" } } } } },
            } } },
        })),
        _ => rest(ask),
    }
}

/// Departures of a stop at a time.
pub fn departures(stop: &str, at: &str) -> Value {
    let row = |n: u64| {
        let mut rng = SeededRng::new(&["departure", stop, at, &n.to_string()]);
        json!({
            "line": format!("{}{}", rng.pick(&["R", "S", "IC"]), rng.between(1, 90)), "to": rng.pick(words::CITIES),
            "planned": format!("{:02}:{:02}", 6 + n, rng.between(0, 59)), "delay": rng.between(0, 9),
        })
    };
    (1..=8).map(row).collect()
}
