//! `hostile.test`: a page that tries to reach what a page must not reach, in four ways each.
//!
//! What arrives here nevertheless is counted under the host that was asked for (an address or
//! `localhost`), so a test can prove that nothing did.

use axum::response::Response;

use crate::shell::{self, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};

const SITE: Site = Site {
    name: "Free Screensavers",
    description: "Hundreds of screensavers, entirely free.",
    layout: Layout::Plain,
    nav: &["Fish", "Toasters"],
    main: include_str!("../pages/hostile.html"),
    script: ("", ""),
    extras: &[],
};

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/probe.js") => {
            let script = include_str!("../pages/hostile.js");
            wire::script(script.replace("{{port}}", &state.port.to_string()))
        }
        _ => shell::answer(&SITE, ask),
    }
}
