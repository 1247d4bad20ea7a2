//! `forum.test`: the search answers only to a session cookie, which the start page hands out.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::wire::{self, SiteRequest};
use crate::words::{self, Dice};
use crate::world::TestbedState;

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

pub fn answer(ask: &SiteRequest, world: &TestbedState) -> Response {
    let known = ask.cookie(COOKIE).is_some_and(|id| world.knows_session("forum", id));
    match ask.route() {
        ("GET", "/") if !known => {
            let cookie =
                format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Lax", world.open_session("forum"));
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
    let thread = |(_, mut dice): (u64, Dice)| {
        let id = dice.between(1000, 99_999);
        json!({
            "id": id,
            "subject": format!("{} {}?", dice.pick(OPENINGS), dice.title(query).to_lowercase()),
            "excerpt": dice.sentence(query),
            "starter": dice.person(),
            "replies": dice.between(0, 240),
            "last_reply": { "by": dice.name(), "on": dice.date() },
            "solved": dice.chance(40),
            "url": format!("/t/{id}"),
        })
    };
    let threads: Vec<Value> = found.hits.into_iter().map(thread).collect();
    json!({ "total": found.total, "threads": threads })
}

const OPENINGS: &[&str] =
    &["Has anyone fixed a", "What became of the", "Where to buy a", "Is it worth keeping a"];
