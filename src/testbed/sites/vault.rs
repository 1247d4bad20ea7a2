//! `vault.test`: answers over https alone, says so for the future (HSTS), and keeps its session in a `__Host-` cookie.
//! Its page embeds a picture and a script over http, which browsers upgrade and refuse.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SESSION: &str = "__Host-vault";
const SEEN: &str = "vault_seen";

const SITE: Site = Site {
    name: "The Deposit",
    description: "What people leave in boxes.",
    layout: Layout::Plain,
    nav: &["Boxes", "Keys", "Hours"],
    main: include_str!("../pages/vault.html"),
    script: ("/js/vault.js", include_str!("../pages/vault.js")),
    extras: &[Extra::Locale, Extra::Pixel],
};

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    if !ask.secure {
        let to = format!("https://vault.test{}", ask.path);
        let moved = wire::text(StatusCode::PERMANENT_REDIRECT, "over https\n");
        return wire::with(moved, "location", &to);
    }
    let response = match ask.route() {
        ("GET", "/") => {
            let session = format!(
                "{SESSION}={}; Path=/; Secure; HttpOnly; SameSite=Lax",
                state.open_session("vault")
            );
            let page = wire::with(shell::home(&SITE, ask), "set-cookie", &session);
            wire::with(page, "set-cookie", &format!("{SEEN}=1; Secure; SameSite=Strict"))
        }
        ("GET", "/api/boxes") => boxes(ask, state),
        _ => shell::answer(&SITE, ask),
    };
    wire::with(response, "strict-transport-security", "max-age=31536000")
}

fn boxes(ask: &SiteRequest, state: &TestbedState) -> Response {
    let known = ask.cookie(SESSION).is_some_and(|id| state.knows_session("vault", id));
    if !known || ask.cookie(SEEN).is_none() {
        return wire::error(StatusCode::UNAUTHORIZED, "no valid session");
    }
    let Some(query) = ask.param("q") else {
        return wire::missing("q");
    };
    let found = words::search("boxes", query, 1, 20);
    let one = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "box": format!("B-{}", rng.between(100, 9999)),
            "label": rng.title(query),
            "keeper": rng.name(),
            "since": rng.date(),
            "insured": rng.cents(1000, 900_000),
        })
    };
    let boxes: Vec<Value> = found.hits.into_iter().map(one).collect();
    wire::json(&json!({ "total": found.total, "boxes": boxes }))
}
