//! Sites on which something is done: `orchardgit.test`, `thicket.test`, and posting on `warble.test`.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{LOGIN, account_of, echoing_account, log_in, page, rest, see};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest, escape};
use crate::words::SeededRng;

/// Stars that an account may give.
const MOST_STARS: usize = 5;

/// `orchardgit.test`: a star on a project. Sending it twice is the same as once; past a limit it says no with status 200.
pub fn orchardgit(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "orchard";
    let owner = account_of(ask, state, COOKIE);
    if let Some(project) = ask.path.strip_prefix("/api/star/") {
        let Some(account) = echoing_account(ask, state, COOKIE) else {
            return wire::error(StatusCode::UNAUTHORIZED, "login required");
        };
        let prefix = format!("star {account} ");
        let key = format!("{prefix}{project}");
        return match &*ask.method {
            "PUT" if state.fact(&key).is_none() && state.facts(&prefix).len() >= MOST_STARS => {
                wire::json(&json!({ "ok": false, "why": "limit reached" }))
            }
            "PUT" => {
                state.set_fact(&key, Some("yes"));
                wire::json(&json!({ "ok": true, "project": project, "starred": true }))
            }
            "DELETE" => {
                state.set_fact(&key, None);
                wire::json(&json!({ "ok": true, "project": project, "starred": false }))
            }
            "GET" => {
                wire::json(&json!({ "project": project, "starred": state.fact(&key).is_some() }))
            }
            _ => wire::not_found(),
        };
    }
    match (ask.route(), owner) {
        (("GET", "/login"), _) => page("Orchard Git", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Orchard Git"),
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(_)) => {
            let rows: String = (1..=8)
                .map(|n| SeededRng::new(&["project", &n.to_string()]).title("orchard"))
                .map(|it| (crate::words::slug(&it), it))
                .map(|(slug, it)| format!("<li><a href=\"/p/{slug}\">{it}</a></li>"))
                .collect::<Vec<_>>()
                .concat();
            page("Orchard Git", &format!("<h1>Projects</h1><ul>{rows}</ul>"), "")
        }
        (("GET", path), Some(_)) if path.starts_with("/p/") => {
            let project = escape(path.trim_start_matches("/p/"));
            page(
                "Orchard Git",
                &format!(
                    r#"<h1>{project}</h1><button id="star" aria-pressed="false" data-project="{project}">Star</button><p id="status" role="status"></p>"#
                ),
                include_str!("../pages/demand/orchardgit.js"),
            )
        }
        _ => rest(ask),
    }
}

/// `thicket.test`: a comment below a post. Each sending makes another one; its nonce is good once.
pub fn thicket(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "thicket";
    match (ask.route(), account_of(ask, state, COOKIE)) {
        (("GET", "/login"), _) => page("Thicket", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Thicket"),
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(_)) => {
            let list: String = (1..=6)
                .map(|n| format!("<li><a href=\"/post/{n}\">{}</a></li>", post_title(n)))
                .collect::<Vec<_>>()
                .concat();
            page("Thicket", &format!("<h1>Posts</h1><ul>{list}</ul>"), "")
        }
        (("GET", path), Some(_)) if path.starts_with("/post/") => {
            let number = path.trim_start_matches("/post/").parse().unwrap_or(0);
            let nonce = secret(&format!("nonce {}", state.count("thicket.test")))[..24].to_owned();
            state.set_fact(&format!("nonce {nonce}"), Some("fresh"));
            let list: String = comments(state)
                .into_iter()
                .filter(|it| it["post"] == number)
                .map(|it| {
                    format!(
                        "<li data-number=\"{}\"><b>{}</b> {}</li>",
                        it["number"],
                        it["by"].as_str().unwrap_or_default(),
                        escape(it["text"].as_str().unwrap_or_default())
                    )
                })
                .collect::<Vec<_>>()
                .concat();
            page(
                "Thicket",
                &format!(
                    r#"<h1>{}</h1><ul id="comments">{list}</ul><form id="write" data-post="{number}" data-nonce="{nonce}"><label>Comment <textarea id="text"></textarea></label><button>Send comment</button></form><p id="status" role="status"></p>"#,
                    post_title(number)
                ),
                include_str!("../pages/demand/thicket.js"),
            )
        }
        (("POST", "/c"), Some(account)) => {
            let sent = ask.json();
            let nonce = format!("nonce {}", sent["nonce"].as_str().unwrap_or_default());
            if state.fact(&nonce).is_none() {
                return wire::error(StatusCode::CONFLICT, "this form was sent already");
            }
            state.set_fact(&nonce, None);
            let number = state.count("thicket comments");
            state.note("thicket comments", json!({ "number": number, "post": sent["post"], "text": sent["text"], "by": account }).to_string().as_bytes());
            wire::json(&json!({ "number": number, "text": sent["text"], "by": account }))
        }
        (("POST", path), Some(account)) if path.starts_with("/c/remove/") => {
            let number = path.trim_start_matches("/c/remove/");
            let is_own = comments(state)
                .iter()
                .any(|it| it["number"].as_u64() == number.parse().ok() && it["by"] == account);
            if is_own {
                state.set_fact(&format!("removed {number}"), Some("yes"));
            }
            wire::json(&json!({ "removed": is_own }))
        }
        (("POST", _), None) => wire::error(StatusCode::UNAUTHORIZED, "login required"),
        _ => rest(ask),
    }
}

fn post_title(number: u64) -> String {
    SeededRng::new(&["thicket", &number.to_string()]).title("hedges")
}

/// The comments that were sent and not removed.
fn comments(state: &TestbedState) -> Vec<Value> {
    let all = state.recorded_actions("thicket comments");
    let all = all.iter().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    all.filter(|it| state.fact(&format!("removed {}", it["number"])).is_none()).collect()
}

/// Uploads and posts of `warble.test`. A repeated text is refused with status 200.
pub fn warble(ask: &SiteRequest, state: &TestbedState, cookie: &str) -> Response {
    let Some(account) = echoing_account(ask, state, cookie) else {
        return wire::error(StatusCode::UNAUTHORIZED, "login required");
    };
    // What the page's script computes for each address.
    let seal: String =
        ask.path.bytes().rev().map(|it| format!("{it:02x}")).collect::<Vec<_>>().concat();
    if ask.header("x-path-seal") != Some(&seal) {
        return wire::error(StatusCode::FORBIDDEN, "the call is not the page's");
    }
    if ask.path == "/upload" {
        let number = state.count("warble uploads");
        return wire::json(&json!({ "media": number, "bytes": ask.body.len() }));
    }
    let sent = ask.json();
    let text = sent["text"].as_str().unwrap_or_default();
    let posts = state.recorded_actions("warble posts");
    let is_repeated = posts
        .iter()
        .filter_map(|it| serde_json::from_str::<Value>(it).ok())
        .any(|it| it["text"] == text && it["by"] == account);
    if text.is_empty() || is_repeated {
        return wire::json(&json!({ "ok": false, "why": "said already" }));
    }
    let id = 100_000 + state.count("warble posted");
    state.note(
        "warble posts",
        json!({ "id": id, "text": text, "by": account, "on": "2026-01-01" }).to_string().as_bytes(),
    );
    wire::json(&json!({ "ok": true, "link": format!("/post/{id}") }))
}
