//! `lettings.test` and `podcasts.test`: pages whose data stands in their markup, as a table and as a
//! script that assigns the state.

use std::fmt::Write;

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest, escape, lookup};
use crate::words::{self, SeededRng};

const LETTINGS: Site = Site {
    name: "To Let",
    description: "Rooms and roofs, by the month.",
    layout: Layout::Classic,
    nav: &["Flats", "Rooms", "Garages"],
    main: r#"<h1>Flats to let</h1>
<form method="post" action="/flats/find"><label>Town <input type="text" name="town"></label>
<input type="hidden" name="radius" value="5"><button>Find flats</button></form>"#,
    script: ("", ""),
    extras: &[Extra::Tracker, Extra::Ads, Extra::Trending],
};

const PODCASTS: Site = Site {
    name: "Ear Trumpet",
    description: "Voices worth an hour.",
    layout: Layout::App,
    nav: &["Shows", "Episodes", "Charts"],
    main: r#"<form action="/search" role="search"><input type="search" name="term" aria-label="Search shows"><button>Search</button></form>
<div id="shows"></div>"#,
    script: ("/client.js", include_str!("../pages/podcasts.js")),
    extras: &[Extra::RemoteFlags, Extra::Recommended, Extra::Pixel],
};

pub fn lettings(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        // A form that reads although it is posted.
        ("POST", "/flats/find") => {
            let form = ask.form();
            match lookup(&form, "town") {
                Some(town) => shell::page(&LETTINGS, ask, "", &flats(town)),
                None => wire::missing("town"),
            }
        }
        _ => shell::answer(&LETTINGS, ask),
    }
}

fn flats(town: &str) -> String {
    let found = words::search("flats", town, 1, 12);
    let mut html = format!(
        r#"{}<h2>{} results for {}</h2><table class="flats"><thead><tr><th>Street</th><th>Rooms</th><th>Rent</th><th>From</th><th>Landlord</th></tr></thead><tbody>"#,
        LETTINGS.main,
        found.total,
        escape(town)
    );
    for (at, mut rng) in found.hits {
        // Writing to a String cannot fail.
        let _ = write!(
            html,
            r#"<tr class="flat"><td class="street"><a href="/flats/{at}">{} Street {}</a></td><td class="rooms">{}</td><td class="rent">{} EUR</td><td class="from">{}</td><td class="landlord">{}</td></tr>"#,
            rng.pick(words::NOUNS),
            rng.between(1, 140),
            rng.between(1, 6),
            rng.between(30, 240) * 10,
            rng.date(),
            rng.name(),
        );
    }
    html + "</tbody></table>"
}

pub fn podcasts(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/search") => match ask.param("term") {
            Some(term) => {
                // In a script element only `<` can do harm; JSON can write it as an escape.
                let state = shows(term).to_string().replace('<', "\\u003c");
                let main = format!(
                    "{}<script>window.__INITIAL_STATE__ = {state};</script>",
                    PODCASTS.main
                );
                shell::page(&PODCASTS, ask, "", &main)
            }
            None => wire::missing("term"),
        },
        _ => shell::answer(&PODCASTS, ask),
    }
}

fn shows(term: &str) -> Value {
    let found = words::search("podcasts", term, 1, 10);
    let show = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "id": 800 + at,
            "title": rng.title(term),
            "host": rng.person(),
            "episodes": rng.between(3, 900),
            "latest": { "title": rng.sentence(term), "minutes": rng.between(8, 140), "on": rng.date() },
        })
    };
    let shows: Vec<Value> = found.hits.into_iter().map(show).collect();
    json!({ "session": { "user": null, "theme": "dark" }, "search": { "term": term, "total": found.total, "shows": shows } })
}
