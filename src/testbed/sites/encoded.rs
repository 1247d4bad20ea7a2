//! `grants.test`, `trees.test`, `videos.test` and `pledge.test`: JSON inside a form field, JSON inside
//! a query parameter, and two POSTs of like looks of which one reads and one writes.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest, lookup};
use crate::words::{self, SeededRng};

const GRANTS: Site = Site {
    name: "Grant Finder",
    description: "Public money for good ideas.",
    layout: Layout::Classic,
    nav: &["Grants", "Deadlines", "Advice"],
    main: r#"<h1>Find a grant</h1>
<form id="ask" role="search"><input type="search" id="topic" aria-label="Topic"><button>Find grants</button></form>
<p id="status" role="status"></p><div id="grants"></div>"#,
    script: ("/grants.js", include_str!("../pages/grants.js")),
    extras: &[Extra::Flags, Extra::Tracker, Extra::Trending],
};

const TREES: Site = Site {
    name: "Tree Register",
    description: "Every tree in town has a number.",
    layout: Layout::Classic,
    nav: &["Map", "Species", "Felling"],
    main: r#"<h1>Which tree is it?</h1>
<form id="ask" role="search"><input type="search" id="species" aria-label="Species"><button>Find trees</button></form>
<p id="status" role="status"></p><div id="trees"></div>"#,
    script: ("/trees.js", include_str!("../pages/trees.js")),
    extras: &[Extra::Locale, Extra::Pixel, Extra::Anonymous],
};

const VIDEOS: Site = Site {
    name: "Magic Lantern",
    description: "Moving pictures, mostly of trains.",
    layout: Layout::App,
    nav: &["Home", "Channels", "Library"],
    main: r#"<form id="ask" role="search"><input type="search" id="q" aria-label="Search videos"><button>Search</button></form>
<div id="videos"></div>"#,
    script: ("/s/player/base.js", include_str!("../pages/videos.js")),
    extras: &[Extra::RemoteFlags, Extra::Ads, Extra::Heartbeat],
};

const PLEDGE: Site = Site {
    name: "Village Pledge",
    description: "Promises, in public.",
    layout: Layout::Plain,
    nav: &["Pledges", "About pledges"],
    main: r#"<h1>I will take the bus</h1>
<form id="ask"><label>Your name <input type="text" id="name"></label> <button>Add my name</button></form>
<p id="status" role="status"></p>"#,
    script: ("/pledge.js", include_str!("../pages/pledge.js")),
    extras: &[Extra::Pixel, Extra::Flags],
};

pub fn grants(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/ajax") => {
            let form = ask.form();
            if lookup(&form, "action") != Some("find_grants") {
                return wire::missing("action");
            }
            let payload = lookup(&form, "payload").and_then(|it| serde_json::from_str(it).ok());
            let payload: Value = payload.unwrap_or_default();
            match payload["topic"].as_str().filter(|topic| !topic.trim().is_empty()) {
                Some(topic) => wire::json(&grant_list(topic)),
                None => wire::missing("payload.topic"),
            }
        }
        _ => shell::answer(&GRANTS, ask),
    }
}

fn grant_list(topic: &str) -> Value {
    let found = words::search("grants", topic, 1, 10);
    let grant = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "call": format!("GF-{}-{:03}", rng.between(2024, 2026), rng.between(1, 400)),
            "title": rng.title(topic),
            "giver": format!("{} Foundation", rng.pick(words::LAST)),
            "amount": { "up_to": rng.between(2, 200) * 500, "currency": "EUR" },
            "closes": rng.date(),
            "contact": rng.person(),
            "purpose": rng.sentence(topic),
        })
    };
    let grants: Vec<Value> = found.hits.into_iter().map(grant).collect();
    json!({ "success": true, "data": { "total": found.total, "grants": grants } })
}

pub fn trees(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/rest/trees") => {
            if ask.param("api_version") != Some("2") {
                return wire::missing("api_version");
            }
            let filter = ask.param("filter").and_then(|it| serde_json::from_str(it).ok());
            let filter: Value = filter.unwrap_or_default();
            match filter["species"]["like"].as_str().filter(|it| !it.trim().is_empty()) {
                Some(species) => wire::json(&tree_list(species, ask.number("limit", 10, 50))),
                None => wire::missing("filter"),
            }
        }
        _ => shell::answer(&TREES, ask),
    }
}

fn tree_list(species: &str, limit: u64) -> Value {
    let found = words::search("trees", species, 1, limit);
    let tree = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "number": rng.between(1, 80_000),
            "species": format!("{} {}", rng.pick(words::ADJECTIVES), species.to_lowercase()),
            "street": format!("{} Lane", rng.pick(words::NOUNS)),
            "planted": rng.between(1780, 2020),
            "height_m": rng.cents(200, 4000),
            "warden": rng.person(),
        })
    };
    let trees: Vec<Value> = found.hits.into_iter().map(tree).collect();
    json!({ "meta": { "total": found.total, "limit": limit }, "data": trees })
}

pub fn videos(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/lanternapi/v1/guide") => {
            wire::json(&json!({ "entries": ["Trains", "Mills", "Tides"] }))
        }
        ("POST", "/lanternapi/v1/search") => {
            let body = ask.json();
            let client = &body["context"]["client"];
            if client["clientName"] != "WEB" || !client["clientVersion"].is_string() {
                return wire::missing("context.client");
            }
            match body["query"].as_str().filter(|it| !it.trim().is_empty()) {
                Some(query) => wire::json(&video_list(query)),
                None => wire::missing("query"),
            }
        }
        _ => shell::answer(&VIDEOS, ask),
    }
}

fn video_list(query: &str) -> Value {
    let found = words::search("videos", query, 1, 10);
    let runs = |text: String| json!({ "runs": [{ "text": text }] });
    let video = |(_, mut rng): (u64, SeededRng)| {
        json!({ "videoRenderer": {
            "videoId": format!("{:011x}", rng.roll() & 0xfff_ffff_ffff),
            "title": runs(rng.title(query)),
            "ownerText": runs(rng.name()),
            "lengthText": { "simpleText": format!("{}:{:02}", rng.between(1, 90), rng.between(0, 59)) },
            "viewCountText": { "simpleText": format!("{} views", rng.between(10, 9_000_000)) },
            "descriptionSnippet": runs(rng.sentence(query)),
        } })
    };
    let videos: Vec<Value> = found.hits.into_iter().map(video).collect();
    json!({
        "responseContext": { "serviceTrackingParams": [{ "service": "CSI", "params": [] }] },
        "estimatedResults": found.total.to_string(),
        "contents": { "sectionListRenderer": { "contents": [{ "itemSectionRenderer": { "contents": videos } }] } },
    })
}

pub fn pledge(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/v1/pledges") => {
            let body = ask.json();
            let Some(name) = body["name"].as_str().filter(|it| !it.trim().is_empty()) else {
                return wire::missing("name");
            };
            let number = state.place_order();
            let pledge =
                json!({ "id": number, "name": name, "pledge": body["pledge"], "created": true });
            wire::json_status(StatusCode::CREATED, &pledge)
        }
        _ => shell::answer(&PLEDGE, ask),
    }
}
