//! Sites whose list goes on, and a feed: `spore.test`, `warble.test`, `bulletin.test`.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{LOGIN, account_of, echoing_account, log_in, page, rest, rng, see};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest, escape};
use crate::words::SeededRng;

/// Finds on a page of `spore.test`.
const PAGE: usize = 20;

/// `spore.test`: finds of a place, twenty at a time. The next page is named by an opaque mark; the last page repeats its own.
pub fn spore(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => page(
            "Spore",
            r#"<h1>Mushroom finds</h1><form id="ask"><label>Place <input id="place"></label><button>Show finds</button></form><p id="status" role="status"></p>
<table><thead><tr><th>Number</th><th>Species</th><th>Found on</th><th>Finder</th></tr></thead><tbody id="finds"></tbody></table><button id="more" hidden>Show more</button>"#,
            include_str!("../pages/demand/spore.js"),
        ),
        ("GET", "/finds") => match ask.param("place") {
            Some(place) => wire::json(&finds_page(place, ask.param("mark").unwrap_or_default())),
            None => wire::missing("place"),
        },
        _ => rest(ask),
    }
}

fn finds_page(place: &str, mark: &str) -> Value {
    let all = finds(place);
    let all = all.as_array().map(Vec::as_slice).unwrap_or_default();
    let mark_of = |start: usize| secret(&format!("mark {place} {start}"))[..18].to_owned();
    let starts = (0..all.len().max(1)).step_by(PAGE);
    let start = starts.clone().find(|it| mark == mark_of(*it)).unwrap_or(0);
    let next = if start + PAGE < all.len() { start + PAGE } else { start };
    // Two finds stand on the page before as well.
    let from = start.saturating_sub(if start > 0 { 2 } else { 0 });
    json!({ "finds": all[from..(start + PAGE).min(all.len())], "mark": mark_of(next) })
}

/// All finds of a place.
pub fn finds(place: &str) -> Value {
    let count = match SeededRng::new(&["finds", &place.to_lowercase()]).roll() % 3 {
        0 => 7,
        1 => 41,
        _ => 63,
    };
    let find = |n: u64| {
        let mut rng = SeededRng::new(&["find", &place.to_lowercase(), &n.to_string()]);
        json!({ "number": format!("F{n:03}-{}", rng.between(100, 999)), "species": rng.title("cap"), "found": rng.date(), "finder": rng.name() })
    };
    (1..=count).map(find).collect()
}

/// Entries on a page of `warble.test`.
const SHOWN: u64 = 10;
/// Entries of an account's timeline.
const POSTS: u64 = 34;

/// `warble.test`: a timeline that grows on scrolling. The cursor is an entry of its own, advertisements stand in between.
pub fn warble(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "warble";
    let hash = secret("warble home")[..16].to_owned();
    match (ask.route(), account_of(ask, state, COOKIE)) {
        (("GET", "/login"), _) => page("Warble", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Warble"),
        (("GET", "/"), Some(_)) => page(
            "Warble",
            r#"<h1>Home</h1><div id="write" contenteditable="true" role="textbox" aria-label="Post text"></div><input id="files" type="file" multiple accept="image/png" aria-label="Pictures"><button id="send" disabled>Post</button>
<p id="status" role="status"></p><div id="posts"></div><div id="end"></div>"#,
            &include_str!("../pages/demand/warble.js").replace("{{hash}}", &hash),
        ),
        (("GET", "/"), None) => see("/login"),
        (("GET", path), _) if path == format!("/g/{hash}/Home") => {
            match echoing_account(ask, state, COOKIE) {
                None => wire::error(StatusCode::UNAUTHORIZED, "login required"),
                Some(account) => {
                    let variables: Value = ask
                        .param("variables")
                        .and_then(|it| serde_json::from_str(it).ok())
                        .unwrap_or_default();
                    wire::json(
                        &json!({ "entries": timeline_page(account, variables["cursor"].as_str().unwrap_or_default(), state) }),
                    )
                }
            }
        }
        (("POST", "/upload" | "/g/create/Create"), _) => super::acts::warble(ask, state, COOKIE),
        _ => rest(ask),
    }
}

fn timeline_page(account: &str, cursor: &str, state: &TestbedState) -> Vec<Value> {
    let all = timeline(account, state);
    let all = all.as_array().map(Vec::as_slice).unwrap_or_default();
    // The cursor names the entry after which the page begins, so that new posts do not shift it.
    let start = all
        .iter()
        .position(|it| !cursor.is_empty() && cursor_of(it) == cursor)
        .map_or(0, |it| it + 1);
    let shown = &all[start.min(all.len())..(start + SHOWN as usize).min(all.len())];
    let mut entries: Vec<Value> =
        shown.iter().map(|it| json!({ "kind": "post", "post": it })).collect();
    if entries.len() > 3 {
        entries.insert(3, json!({ "kind": "promotion", "post": { "id": 1, "text": "Buy a louder whistle", "by": "Whistles Inc", "on": "2025-01-01" } }));
    }
    if let Some(last) = shown.last().filter(|_| start + shown.len() < all.len()) {
        entries.push(json!({ "kind": "cursor", "value": cursor_of(last) }));
    }
    entries
}

fn cursor_of(post: &Value) -> String {
    secret(&format!("cursor {}", post["id"]))[..20].to_owned()
}

/// The timeline of an account, newest first, with what was posted since.
pub fn timeline(account: &str, state: &TestbedState) -> Value {
    let own = state.recorded_actions("warble posts");
    let mine = own.iter().rev().filter_map(|it| {
        let it: Value = serde_json::from_str(it).ok()?;
        (it["by"] == account).then_some(it)
    });
    let count = if account == "cleo-marsh" { 0 } else { POSTS };
    let post = |n: u64| {
        let mut rng = rng("post", account, n);
        json!({ "id": 90_000 - n, "text": rng.sentence("birds"), "by": rng.name(), "on": rng.date() })
    };
    mine.chain((1..=count).map(post)).collect()
}

/// Sections of `bulletin.test`.
const SECTIONS: [&str; 8] =
    ["city", "sport", "culture", "science", "economy", "weather", "letters", "travel"];

/// `bulletin.test`: headlines as a page, and as RSS and Atom beside it.
pub fn bulletin(ask: &SiteRequest, _: &TestbedState) -> Response {
    if let ("GET", Some(name)) = (&*ask.method, ask.path.strip_prefix("/feed/")) {
        let (section, is_atom) = match name.strip_suffix(".atom") {
            Some(it) => (it, true),
            None => (name.trim_end_matches(".xml"), false),
        };
        return match headlines(section) {
            Some(rows) if is_atom => wire::answer(
                StatusCode::OK,
                "application/atom+xml; charset=utf-8",
                atom(section, &rows),
            ),
            Some(rows) => wire::answer(
                StatusCode::OK,
                "application/rss+xml; charset=utf-8",
                rss(section, &rows),
            ),
            None => wire::not_found(),
        };
    }
    let section = ask.path.strip_prefix("/s/").unwrap_or("city");
    match ask.route() {
        ("GET", path) if path == "/" || path.starts_with("/s/") => {
            let Some(rows) = headlines(section) else { return wire::not_found() };
            let nav: String = SECTIONS
                .iter()
                .map(|it| format!("<a href=\"/s/{it}\">{it}</a> "))
                .collect::<Vec<_>>()
                .concat();
            let list: String = rows
                .as_array()
                .into_iter()
                .flatten()
                .map(|it| {
                    let title = escape(it["title"].as_str().unwrap_or_default());
                    let title = match it["link"].as_str() {
                        Some(link) => format!("<a href=\"{link}\">{title}</a>"),
                        None => title,
                    };
                    format!(
                        "<li>{title} <time>{}</time></li>",
                        it["published"].as_str().unwrap_or_default()
                    )
                })
                .collect::<Vec<_>>()
                .concat();
            page(
                "Bulletin",
                &format!(
                    "<nav>{nav}</nav><h1>{section}</h1><p><a href=\"/feed/{section}.xml\">Feed</a></p><ul>{list}</ul>"
                ),
                "",
            )
        }
        _ => rest(ask),
    }
}

/// The headlines of a section; one has no link.
pub fn headlines(section: &str) -> Option<Value> {
    SECTIONS.contains(&section).then(|| {
        let row = |n: u64| {
            let mut rng = SeededRng::new(&["headline", section, &n.to_string()]);
            let title = format!("{} & {}", rng.title(section), rng.name());
            let link = (n != 5).then(|| format!("http://bulletin.test/a/{section}-{n}"));
            json!({ "title": title, "link": link, "published": rng.date() })
        };
        (1..=12).map(row).collect()
    })
}

fn rss(section: &str, rows: &Value) -> String {
    let items: String = rows
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            let link = it["link"].as_str().map(|it| format!("<link>{it}</link>")).unwrap_or_default();
            let title = it["title"].as_str().unwrap_or_default();
            let published = it["published"].as_str().unwrap_or_default();
            format!("<item><title><![CDATA[{title}]]></title>{link}<pubDate>{published}</pubDate></item>")
        })
        .collect::<Vec<_>>().concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><rss version=\"2.0\"><channel><title>Bulletin: {section}</title><link>http://bulletin.test/s/{section}</link>{items}</channel></rss>"
    )
}

fn atom(section: &str, rows: &Value) -> String {
    let entries: String = rows
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| {
            let link =
                it["link"].as_str().map(|it| format!("<link href=\"{it}\"/>")).unwrap_or_default();
            let title = escape(it["title"].as_str().unwrap_or_default());
            format!(
                "<entry><title>{title}</title>{link}<updated>{}T00:00:00Z</updated></entry>",
                it["published"].as_str().unwrap_or_default()
            )
        })
        .collect::<Vec<_>>()
        .concat();
    format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Bulletin: {section}</title>{entries}</feed>"
    )
}
