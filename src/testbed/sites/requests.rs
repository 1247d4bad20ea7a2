//! `almanac.test`, `species.test`, `lights.test` and `thesaurus.test`: what a call may hang on besides
//! its parameters (a build's id in the path, the latest keystroke, `Accept`, a body of plain text).

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const ALMANAC: Site = Site {
    name: "Farmer's Almanac",
    description: "What to do in which week.",
    layout: Layout::App,
    nav: &["Sowing", "Moon", "Fairs"],
    main: r#"<h1>What is to be done?</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search advice"><button>Search</button></form>
<p id="status" role="status"></p><div id="advice"></div>"#,
    script: ("/_assets/pages/search.js", include_str!("../pages/almanac.js")),
    extras: &[Extra::RemoteFlags, Extra::Locale, Extra::Prefetch],
};

const SPECIES: Site = Site {
    name: "Bird Table",
    description: "Birds by name, as you type.",
    layout: Layout::Plain,
    nav: &["Birds", "Calls", "Feeders"],
    main: r#"<h1>Which bird?</h1><input type="search" id="q" aria-label="Bird name">
<p id="status" role="status"></p><div id="birds"></div>"#,
    script: ("/table.js", include_str!("../pages/species.js")),
    extras: &[Extra::Flags, Extra::Tracker, Extra::Anonymous],
};

const LIGHTS: Site = Site {
    name: "List of Lights",
    description: "Lighthouses and their characters.",
    layout: Layout::Classic,
    nav: &["Lights", "Buoys", "Corrections"],
    main: r#"<h1>Lights</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search lights"><button>Search</button></form>
<p id="status" role="status"></p><div id="lights"></div>"#,
    script: ("/lights.js", include_str!("../pages/lights.js")),
    extras: &[Extra::Pixel, Extra::Trending, Extra::Me],
};

const THESAURUS: Site = Site {
    name: "Other Words",
    description: "Another word for it.",
    layout: Layout::Plain,
    nav: &["Words", "Phrases"],
    main: r#"<h1>Another word for</h1>
<form id="ask"><label>Word <input type="text" id="word"></label> <button>Find words</button></form>
<p id="status" role="status"></p><ul id="words"></ul>"#,
    script: ("/words.js", include_str!("../pages/thesaurus.js")),
    extras: &[Extra::Pixel, Extra::Flags, Extra::Locale],
};

pub fn almanac(ask: &SiteRequest, _: &TestbedState) -> Response {
    let build = &secret("almanac build 2025-06")[..21];
    if ask.route() == ("GET", "/") {
        let main = format!(
            r#"<script id="__BUILD__" type="application/json">{{"page":"/search","buildId":"{build}"}}</script>{}"#,
            ALMANAC.main
        );
        return shell::page(&ALMANAC, ask, "", &main);
    }
    let path = ask.path.strip_prefix("/_data/").and_then(|it| it.strip_suffix("/search.json"));
    match path.filter(|_| ask.method == "GET") {
        None => shell::answer(&ALMANAC, ask),
        Some(given) if given != build => wire::not_found(),
        Some(_) => match ask.param("q") {
            Some(query) => wire::json(&advice(query)),
            None => wire::missing("q"),
        },
    }
}

fn advice(query: &str) -> Value {
    let found = words::search("advice", query, 1, 10);
    let entry = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "id": at,
            "title": rng.title(query),
            "week": rng.between(1, 52),
            "moon": rng.pick(&["waxing", "waning", "full", "new"]),
            "text": rng.sentence(query),
            "by": rng.person(),
        })
    };
    let entries: Vec<Value> = found.hits.into_iter().map(entry).collect();
    json!({ "pageProps": { "query": query, "total": found.total, "entries": entries }, "__N_SSP": true })
}

pub fn species(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/live") => match ask.param("name") {
            Some(name) => wire::json(&birds(name)),
            None => wire::missing("name"),
        },
        _ => shell::answer(&SPECIES, ask),
    }
}

fn birds(name: &str) -> Value {
    let found = words::search("birds", name, 1, 8);
    let bird = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "name": format!("{} {}", rng.pick(words::ADJECTIVES), words::capitalised(name)),
            "ring": format!("BT{:05}", rng.between(1, 99_999)),
            "wingspan_cm": rng.between(12, 240),
            "seen_by": rng.person(),
            "seen_in": rng.pick(words::CITIES),
            "on": rng.date(),
        })
    };
    let birds: Vec<Value> = found.hits.into_iter().map(bird).collect();
    json!({ "total": found.total, "birds": birds })
}

pub fn lights(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/lights") => {
            let wants_json = ask.header("accept").is_some_and(|it| it.contains("application/json"));
            match ask.param("q") {
                // As for a visitor: the page, which fetches the list itself.
                _ if !wants_json => wire::with(shell::home(&LIGHTS, ask), "vary", "accept"),
                Some(query) => wire::with(wire::json(&light_list(query)), "vary", "accept"),
                None => wire::missing("q"),
            }
        }
        _ => shell::answer(&LIGHTS, ask),
    }
}

fn light_list(query: &str) -> Value {
    let found = words::search("lights", query, 1, 10);
    let light = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "number": format!("B{:04}", rng.between(1, 9999)),
            "name": format!("{} {}", words::capitalised(query), rng.pick(&["Head", "Rock", "Point", "Mole"])),
            "character": format!("Fl({}) {}s", rng.between(1, 5), rng.between(5, 30)),
            "range_nm": rng.between(4, 28),
            "height_m": rng.between(6, 90),
            "keeper": rng.name(),
        })
    };
    let lights: Vec<Value> = found.hits.into_iter().map(light).collect();
    json!({ "count": found.total, "lights": lights })
}

pub fn thesaurus(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/lookup") => match String::from_utf8_lossy(&ask.body).trim() {
            "" => wire::missing("word"),
            word => wire::json(&other_words(word)),
        },
        _ => shell::answer(&THESAURUS, ask),
    }
}

fn other_words(word: &str) -> Value {
    let found = words::search("words", word, 1, 15);
    let other = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "word": format!("{} {}", rng.pick(words::ADJECTIVES).to_lowercase(), rng.pick(words::NOUNS).to_lowercase()),
            "register": rng.pick(&["plain", "poetic", "dialect", "nautical"]),
            "usage": rng.sentence(word),
        })
    };
    let others: Vec<Value> = found.hits.into_iter().map(other).collect();
    json!({ "count": found.total, "words": others })
}
