//! `gallery.test` and `crier.test`: lists that come in parts, by an opaque cursor and by an offset on scrolling.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const GALLERY: Site = Site {
    name: "Plate Camera",
    description: "Photographs out of copyright.",
    layout: Layout::App,
    nav: &["Albums", "Plates", "Prints"],
    main: r#"<h1>Forty thousand plates</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search photographs"><button>Search</button></form>
<p id="status" role="status"></p><div id="wall"></div><button id="more" type="button" hidden>More photographs</button>"#,
    script: ("/bundle/wall.js", include_str!("../pages/gallery.js")),
    extras: &[Extra::Tracker, Extra::RemoteFlags, Extra::Me],
};

const CRIER: Site = Site {
    name: "Town Crier",
    description: "What the neighbours say, newest first.",
    layout: Layout::Classic,
    nav: &["Latest", "Streets", "House rules"],
    main: r#"<h1>Hear, hear</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search posts"><button>Search</button></form>
<p id="status" role="status"></p><div id="posts"></div><div id="end" style="height: 3rem"></div>"#,
    script: ("/js/crier.js", include_str!("../pages/crier.js")),
    extras: &[Extra::Heartbeat, Extra::Ads, Extra::Flags],
};

const PAGE: u64 = 6;
/// More than any search finds.
const PAGES: u64 = 10;

pub fn gallery(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/photos") => {
            let Some(query) = ask.param("q") else {
                return wire::missing("q");
            };
            match ask.param("cursor") {
                None => wire::json(&photos(query, 1)),
                Some(given) => match (2..=PAGES).find(|page| cursor(query, *page) == given) {
                    Some(page) => wire::json(&photos(query, page)),
                    None => wire::error(StatusCode::BAD_REQUEST, "invalid cursor"),
                },
            }
        }
        _ => shell::answer(&GALLERY, ask),
    }
}

/// Says nothing about the page to anybody else.
fn cursor(query: &str, page: u64) -> String {
    secret(&format!("gallery {} {page}", query.to_lowercase()))[..44].to_owned()
}

fn photos(query: &str, page: u64) -> Value {
    let found = words::search("photos", query, page, PAGE);
    let photo = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "plate": format!("PC-{:05}", rng.between(1, 99_999)),
            "caption": rng.title(query),
            "photographer": rng.person(),
            "place": rng.pick(words::CITIES),
            "year": rng.between(1860, 1939),
            "thumbnail": format!("/img/plate-{}.png", rng.between(1, 40)),
        })
    };
    let photos: Vec<Value> = found.hits.into_iter().map(photo).collect();
    let next = (page < found.pages).then(|| cursor(query, page + 1));
    json!({ "total": found.total, "photos": photos, "next_cursor": next })
}

pub fn crier(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        // Only the page's own scripts may read: they say who they are.
        ("GET", "/api/posts") if ask.header("x-requested-with") != Some("XMLHttpRequest") => {
            wire::error(StatusCode::BAD_REQUEST, "not an XMLHttpRequest")
        }
        ("GET", "/api/posts") => match ask.param("text") {
            Some(text) => {
                let offset = ask.param("offset").and_then(|it| it.parse().ok()).unwrap_or(0);
                wire::json(&posts(text, offset, ask.number("limit", PAGE, 50)))
            }
            None => wire::missing("text"),
        },
        _ => shell::answer(&CRIER, ask),
    }
}

fn posts(text: &str, offset: u64, limit: u64) -> Value {
    let found = words::search("posts", text, offset / limit + 1, limit);
    let post = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "id": 90_000 - at,
            "author": rng.person(),
            "street": format!("{} Street", rng.pick(words::NOUNS)),
            "message": rng.sentence(text),
            "posted": rng.date(),
            "ayes": rng.between(0, 400),
        })
    };
    let posts: Vec<Value> = found.hits.into_iter().map(post).collect();
    json!({ "offset": offset, "count": found.total, "posts": posts })
}
