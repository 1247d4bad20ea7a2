//! `nothing.test`: a static page. Its search box fetches nothing, so there is nothing to learn.

use axum::response::Response;

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::SiteRequest;

const SITE: Site = Site {
    name: "Parish Register",
    description: "Transcribed by hand, on one page.",
    layout: Layout::Plain,
    nav: &["Baptisms", "Burials"],
    main: include_str!("../pages/nothing.html"),
    script: ("/register.js", include_str!("../pages/nothing.js")),
    extras: &[Extra::Tracker, Extra::Pixel],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    shell::answer(&SITE, ask)
}
