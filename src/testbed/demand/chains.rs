//! Sites whose data takes several requests: `quayside.test`, `frontrow.test`, `playbill.test` with `files.playbill.test`.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{page, rest};
use crate::pictures;
use crate::testbed_state::{TestbedState, secret, sha256};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

/// Port codes and names. Some names are a part of others.
const PORTS: [(&str, &str); 8] = [
    ("NRB", "Norby"),
    ("NHV", "Norhaven"),
    ("NOR", "Nor"),
    ("SUN", "Sundport"),
    ("SND", "Sund"),
    ("KAL", "Kalvik"),
    ("ESK", "Eskholm"),
    ("OST", "Ostermark"),
];

/// `quayside.test`: sailings between ports. The call takes codes that stand in a script as one long text.
pub fn quayside(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => {
            let main = r#"<h1>Find a ferry</h1><form id="ask"><label>From <input id="from"></label><label>To <input id="to"></label><label>Date <input id="date" placeholder="YYYY-MM-DD"></label>
<button>Show sailings</button></form><p id="status" role="status"></p><table><thead><tr><th>Departs</th><th>Arrives</th><th>Ship</th><th>Price</th></tr></thead><tbody id="sailings"></tbody></table><script src="/static/ports.js"></script>"#;
            let cookie = format!("passage={}; Path=/", state.open_session("quayside.test"));
            wire::with(
                page("Quayside", main, include_str!("../pages/demand/quayside.js")),
                "set-cookie",
                &cookie,
            )
        }
        ("GET", "/static/ports.js") => {
            let list: Vec<String> =
                PORTS.iter().map(|(code, name)| format!("{code}:{name}")).collect();
            wire::script(format!("window.ports = '{}';\n", list.join("|")))
        }
        ("GET", "/sail") => {
            if !ask.cookie("passage").is_some_and(|it| state.knows_session("quayside.test", it)) {
                return wire::error(StatusCode::FORBIDDEN, "start at the start page");
            }
            let port = |name: &str| PORTS.iter().find(|(code, _)| Some(*code) == ask.param(name));
            match (port("o"), port("d"), ask.param("on")) {
                (Some((_, from)), Some((_, to)), Some(date)) => {
                    wire::json(&json!({ "sailings": sailings(from, to, date) }))
                }
                _ => wire::missing("o, d or on"),
            }
        }
        _ => rest(ask),
    }
}

/// Sailings between two ports by name on a day.
pub fn sailings(from: &str, to: &str, date: &str) -> Option<Value> {
    let is_known = |name: &str| PORTS.iter().any(|(_, it)| *it == name);
    let sailing = |n: u64| {
        let mut rng = SeededRng::new(&["sailing", from, to, date, &n.to_string()]);
        let leaves = 5 + 3 * n;
        json!({
            "departs": format!("{leaves:02}:{:02}", rng.between(0, 59)), "arrives": format!("{:02}:{:02}", leaves + 2, rng.between(0, 59)),
            "ship": format!("MS {}", rng.pick(words::FIRST)), "price": rng.cents(1900, 9900),
        })
    };
    (is_known(from) && is_known(to)).then(|| (1..=5).map(sailing).collect())
}

/// `frontrow.test`: a list of numbers, then one call for each. Deleted entries answer `null`; too many calls at once are refused.
pub fn frontrow(ask: &SiteRequest, state: &TestbedState) -> Response {
    if let ("GET", Some(number)) = (&*ask.method, ask.path.strip_prefix("/feed/entry/")) {
        if state.is_crowded("frontrow.test", 20) {
            return wire::with(
                wire::error(StatusCode::TOO_MANY_REQUESTS, "slow down"),
                "retry-after",
                "1",
            );
        }
        return wire::json(&entry(number.parse().unwrap_or(0)));
    }
    match ask.route() {
        ("GET", "/") => page(
            "Front row",
            r#"<h1>News of the ring</h1><nav><button data-list="top">Top</button> <button data-list="best">Best</button></nav><p><a href="/list/top">Without scripts</a></p><p id="status" role="status"></p><ol id="entries"></ol>"#,
            include_str!("../pages/demand/frontrow.js"),
        ),
        ("GET", "/feed/ids") => match ask.param("list") {
            Some(list) => wire::json(&json!(ids(list, ask.number("limit", 30, 30)))),
            None => wire::missing("list"),
        },
        ("GET", path) if path.starts_with("/list/") => {
            let rows: String = entries(path.trim_start_matches("/list/"), 30)
                .as_array()
                .into_iter()
                .flatten()
                .map(|it| format!("<li value=\"{}\"><a href=\"/e/{}\">{}</a> <small>{} points by {}</small></li>", it["rank"], it["id"], it["title"].as_str().unwrap_or_default(), it["points"], it["by"].as_str().unwrap_or_default()))
                .collect::<Vec<_>>().concat();
            page("Front row", &format!("<h1>News of the ring</h1><ol>{rows}</ol>"), "")
        }
        _ => rest(ask),
    }
}

fn ids(list: &str, limit: u64) -> Vec<u64> {
    (1..=limit)
        .map(|n| 1000 + SeededRng::new(&["ids", list, &n.to_string()]).roll() % 9000)
        .collect()
}

/// An entry, or `null` where it was deleted.
fn entry(id: u64) -> Value {
    if id.is_multiple_of(9) {
        return Value::Null;
    }
    let mut rng = SeededRng::new(&["entry", &id.to_string()]);
    json!({ "id": id, "title": rng.title("ring"), "by": rng.name(), "points": rng.between(3, 900) })
}

/// The entries of a list that are still there, with the rank that the list gives them.
pub fn entries(list: &str, limit: u64) -> Value {
    let ranked = ids(list, limit).into_iter().zip(1u64..);
    ranked
        .filter_map(|(id, rank)| {
            let mut it = entry(id);
            it.as_object_mut()?.insert("rank".to_owned(), rank.into());
            Some(it)
        })
        .collect()
}

/// `playbill.test`: a poster in three renderings; the addresses of its files are signed and end.
pub fn playbill(ask: &SiteRequest, state: &TestbedState) -> Response {
    if let ("GET", Some(number)) =
        (&*ask.method, ask.path.strip_prefix("/poster/").and_then(|it| it.strip_suffix(".json")))
    {
        let turn = state.turns("playbill.test");
        let nth = state.count("playbill.test");
        let address = |rendering: &str| {
            let seal = poster_seal(number, rendering, turn, nth);
            format!("//files.playbill.test/{number}/{rendering}.png?nth={nth}&seal={seal}")
        };
        return wire::json(&json!({
            "number": number, "title": SeededRng::new(&["poster", number]).title("night"),
            "renderings": { "small": address("small"), "large": address("large"), "print": address("print") },
        }));
    }
    match ask.route() {
        ("GET", "/") => page(
            "Playbill",
            r#"<h1>Posters</h1><form id="ask"><label>Number <input id="number" inputmode="numeric"></label><label>Rendering <select id="rendering"><option>small</option><option>large</option><option>print</option></select></label><button>Show poster</button></form><p id="status" role="status"></p><p><img id="poster" alt=""> <a id="file">Download</a></p>"#,
            include_str!("../pages/demand/playbill.js"),
        ),
        _ => rest(ask),
    }
}

fn poster_seal(number: &str, rendering: &str, turn: u64, nth: u64) -> String {
    secret(&format!("poster {number} {rendering} {turn} {nth}"))[..32].to_owned()
}

/// `files.playbill.test`. Once the address has ended, it answers an error page under the same name.
pub fn playbill_files(ask: &SiteRequest, state: &TestbedState) -> Response {
    let Some((number, name)) = ask.path.trim_start_matches('/').split_once('/') else {
        return wire::not_found();
    };
    let rendering = name.trim_end_matches(".png");
    let nth = ask.number("nth", 0, u64::MAX);
    let seal = poster_seal(number, rendering, state.turns("playbill.test"), nth);
    if ask.param("seal") != Some(&seal) {
        return wire::html("<h1>This address has ended</h1>".to_owned());
    }
    let answer = wire::answer(StatusCode::OK, "image/png", poster(number, rendering));
    let named = format!("attachment; filename=\"poster-{number}-{rendering}.png\"");
    wire::with(answer, "content-disposition", &named)
}

/// What can be said of that file.
pub fn poster_facts(number: &str, rendering: &str) -> Value {
    let bytes = poster(number, rendering);
    json!({
        "name": format!("poster-{number}-{rendering}.png"),
        "type": "image/png",
        "size": bytes.len(),
        "sha256": sha256(&bytes),
    })
}

/// The file of a poster in one rendering.
pub fn poster(number: &str, rendering: &str) -> Vec<u8> {
    let [r, g, b, ..] = SeededRng::new(&["poster file", number, rendering]).roll().to_le_bytes();
    pictures::png([r, g, b])
}
