//! `members.test`: nothing to see without logging in, and nobody can log in.

use axum::http::StatusCode;
use axum::response::Response;

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};

const SITE: Site = Site {
    name: "Guild of Bookbinders",
    description: "Members find each other here.",
    layout: Layout::Classic,
    nav: &["Members", "Meetings", "Join"],
    main: include_str!("../pages/members.html"),
    script: ("/guild.js", include_str!("../pages/members.js")),
    extras: &[Extra::Me, Extra::Locale, Extra::Trending],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/members") => match ask.param("q") {
            Some(_) => wire::error(StatusCode::UNAUTHORIZED, "login required"),
            None => wire::missing("q"),
        },
        ("POST", "/api/login") => wire::error(StatusCode::FORBIDDEN, "wrong username or password"),
        _ => shell::answer(&SITE, ask),
    }
}
