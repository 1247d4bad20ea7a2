//! `tickets.test`: a search by POST that needs the session cookie, the token of that session, which
//! stands in the page, and the `Origin` of the page, as frameworks want it against forged requests.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const COOKIE: &str = "tickets_session";

const SITE: Site = Site {
    name: "Help Desk",
    description: "Public tickets of the waterworks.",
    layout: Layout::Classic,
    nav: &["Open tickets", "Known faults", "Maintenance"],
    main: include_str!("../pages/tickets.html"),
    script: ("/packs/desk-0be1.js", include_str!("../pages/tickets.js")),
    extras: &[Extra::RemoteFlags, Extra::Locale, Extra::Anonymous],
};

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    let session = ask.cookie(COOKIE).filter(|id| state.knows_session("tickets", id));
    match ask.route() {
        ("GET", "/") => {
            let opened = session.map_or_else(|| state.open_session("tickets"), str::to_owned);
            let meta = format!(r#"<meta name="csrf-token" content="{}">"#, token(&opened));
            let cookie = format!("{COOKIE}={opened}; Path=/; HttpOnly; SameSite=Strict");
            let page = shell::page(&SITE, ask, &meta, SITE.main);
            wire::with(page, "set-cookie", &cookie)
        }
        ("POST", "/api/tickets/search") => {
            let expected = session.map(token);
            if expected.is_none() || ask.header("x-csrf-token") != expected.as_deref() {
                return wire::error(StatusCode::FORBIDDEN, "missing or wrong CSRF token");
            }
            if !ask
                .header("origin")
                .is_some_and(|it| matches!(it, "http://tickets.test" | "https://tickets.test"))
            {
                return wire::error(StatusCode::FORBIDDEN, "not asked from our page");
            }
            match ask.json()["text"].as_str().map(str::trim).filter(|text| !text.is_empty()) {
                Some(text) => wire::json(&tickets(text)),
                None => wire::missing("text"),
            }
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn token(session: &str) -> String {
    secret(&format!("csrf token of {session}"))
}

fn tickets(text: &str) -> Value {
    let found = words::search("tickets", text, 1, 15);
    let ticket = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "number": format!("WW-{}", rng.between(10_000, 99_999)),
            "subject": rng.title(text),
            "body": rng.sentence(text),
            "status": rng.pick(&["open", "waiting", "closed"]),
            "priority": rng.between(1, 5),
            "reporter": rng.person(),
            "opened": rng.date(),
            "site": { "town": rng.pick(words::CITIES), "pump": rng.between(1, 40) },
        })
    };
    let tickets: Vec<Value> = found.hits.into_iter().map(ticket).collect();
    json!({ "matches": found.total, "tickets": tickets })
}
