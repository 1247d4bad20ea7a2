//! `forum.test`: the search answers only to a session cookie, which the start page hands out.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const COOKIE: &str = "forum_sid";

const SITE: Site = Site {
    name: "The Porch",
    description: "A forum for people who repair things.",
    layout: Layout::Plain,
    nav: &["Latest", "Clocks", "Bicycles", "Radios", "Rules"],
    main: include_str!("../pages/forum.html"),
    script: ("/javascripts/forum.js", include_str!("../pages/forum.js")),
    extras: &[Extra::Anonymous, Extra::Heartbeat, Extra::Pixel, Extra::Trending],
};

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    let known = ask.cookie(COOKIE).is_some_and(|id| state.knows_session("forum", id));
    match ask.route() {
        ("GET", "/") if !known => {
            let cookie =
                format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Lax", state.open_session("forum"));
            wire::with(shell::home(&SITE, ask), "set-cookie", &cookie)
        }
        ("GET", "/api/threads") if !known => {
            wire::error(StatusCode::UNAUTHORIZED, "no valid session")
        }
        ("GET", "/api/threads") => {
            let Some(query) = ask.param("q") else {
                return wire::missing("q");
            };
            wire::json(&threads(query))
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn threads(query: &str) -> Value {
    let found = words::search("threads", query, 1, 20);
    let thread = |(_, mut rng): (u64, SeededRng)| {
        let id = rng.between(1000, 99_999);
        json!({
            "id": id,
            "subject": format!("{} {}?", rng.pick(OPENINGS), rng.title(query).to_lowercase()),
            "excerpt": rng.sentence(query),
            "starter": rng.person(),
            "replies": rng.between(0, 240),
            "last_reply": { "by": rng.name(), "on": rng.date() },
            "solved": rng.chance(40),
            "url": format!("/t/{id}"),
        })
    };
    let threads: Vec<Value> = found.hits.into_iter().map(thread).collect();
    json!({ "total": found.total, "threads": threads })
}

const OPENINGS: &[&str] =
    &["Has anyone fixed a", "What became of the", "Where to buy a", "Is it worth keeping a"];
