//! `code.test`: several GraphQL operations on one URL, one of which is the search.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Gitterhaus",
    description: "A house for your repositories.",
    layout: Layout::App,
    nav: &["Explore", "Topics", "Pricing"],
    main: include_str!("../pages/code.html"),
    script: ("/assets/app-2b90f.js", include_str!("../pages/code.js")),
    extras: &[Extra::RemoteFlags, Extra::Tracker, Extra::Locale],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/graphql") => graphql(&ask.json()),
        _ => shell::answer(&SITE, ask),
    }
}

fn graphql(body: &Value) -> Response {
    // Like real servers, this one also takes the operation's name from the document.
    let named = body["operationName"].as_str();
    let text = body["query"].as_str().unwrap_or_default();
    let operation = named.or_else(|| {
        text.split_whitespace().nth(1)?.split(['(', '{']).next().filter(|name| !name.is_empty())
    });
    match operation {
        Some("Viewer") => wire::json(&json!({ "data": { "viewer": null } })),
        Some("Notifications") => wire::json(&json!({ "data": { "notifications": {
            "totalCount": 2, "nodes": [notice(1), notice(2)],
        } } })),
        Some("Trending") => wire::json(&json!({ "data": { "trending": {
            "nodes": (1..=12).map(|at| repository("weekend", SeededRng::new(&["trend", &at.to_string()]))).collect::<Vec<_>>(),
        } } })),
        Some("RepoSearch") => {
            let variables = &body["variables"];
            let Some(query) = variables["q"].as_str().filter(|q| !q.trim().is_empty()) else {
                return refuse("variable $q of type String! was not provided");
            };
            let first = variables["first"].as_u64().unwrap_or(10).clamp(1, 50);
            let found = words::search("repositories", query, 1, first);
            let edge = |(at, rng): (u64, SeededRng)| json!({ "cursor": format!("c{at:03}"), "node": repository(query, rng) });
            let edges: Vec<Value> = found.hits.into_iter().map(edge).collect();
            wire::json(&json!({ "data": { "search": {
                "repositoryCount": found.total, "edges": edges,
                "pageInfo": { "hasNextPage": found.pages > 1, "endCursor": format!("c{first:03}") },
            } } }))
        }
        _ => refuse("unknown operation"),
    }
}

fn refuse(message: &str) -> Response {
    wire::json_status(
        StatusCode::BAD_REQUEST,
        &json!({ "errors": [{ "message": message }], "data": null }),
    )
}

fn notice(at: u32) -> Value {
    let mut rng = SeededRng::new(&["notice", &at.to_string()]);
    json!({ "id": format!("N{at}"), "title": rng.title("release"), "read": false, "from": rng.person() })
}

fn repository(topic: &str, mut rng: SeededRng) -> Value {
    let name =
        words::slug(&format!("{topic} {} {}", rng.pick(words::ADJECTIVES), rng.pick(words::NOUNS)));
    let owner = rng.pick(words::LAST).to_lowercase();
    json!({
        "id": format!("R_{:08x}", rng.roll() as u32),
        "name": name,
        "nameWithOwner": format!("{owner}/{name}"),
        "url": format!("/{owner}/{name}"),
        "description": rng.sentence(topic),
        "stargazerCount": rng.between(3, 40_000),
        "updatedAt": format!("{}T08:00:00Z", rng.date()),
        "primaryLanguage": { "name": rng.pick(&["Rust", "Go", "Python", "OCaml", "C", "Zig"]) },
        "owner": { "login": owner, "avatarUrl": format!("/img/{owner}.png") },
    })
}
