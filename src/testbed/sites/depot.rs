//! `depot.test`: the heaviest page of this web: some two hundred requests, several megabytes of JSON. What recording costs the
//! page it watches is measured on it.
//!
//! Bodies are made once, so that what is measured is never the making of an answer. When all is there, the page says how
//! long that took by its own clock: `<meta name="loaded" content="MILLISECONDS">`.

use std::{fmt::Write as _, sync::LazyLock};

use axum::http::StatusCode;
use axum::response::Response;
use bytes::Bytes;

use crate::shell::{self, Layout, Site};
use crate::sites::load;
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};

const SITE: Site = Site {
    name: "Spare Parts Depot",
    description: "Every part of every machine, on one page.",
    layout: Layout::Plain,
    nav: &["Shelves"],
    main: "",
    script: ("/depot.js", include_str!("../pages/depot.js")),
    extras: &[],
};

const DESK: &str = "<h1>Desk</h1><p id=\"state\">Counting</p><ul id=\"parts\"></ul>";
const SCRIPTS: usize = 24;
const STYLES: usize = 8;
const PICTURES: usize = 40;

static HEAD: LazyLock<String> = LazyLock::new(|| {
    let mut out = String::new();
    for i in 0..STYLES {
        // Writing to a string does not fail.
        let _ = write!(out, "<link rel=\"stylesheet\" href=\"/css/shelf-{i}.css\">");
    }
    for i in 0..SCRIPTS {
        let _ = write!(out, "<script defer src=\"/js/shelf-{i}.js\"></script>");
    }
    out
});
static MAIN: LazyLock<String> = LazyLock::new(|| {
    let mut out = String::from("<h1>Depot</h1><p id=\"state\">Counting</p><ul id=\"parts\"></ul>");
    for i in 0..PICTURES {
        let _ = write!(out, "<img src=\"/img/part-{i}.png\" width=\"16\" height=\"16\" alt=\"\">");
    }
    out
});
/// About 10 KB each.
static SCRIPT: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = String::from("(() => { const shelf = {\n");
    for i in 0..200 {
        let _ = writeln!(out, "  bin{i}: count => count * {i} + {},", i % 7);
    }
    (out + "};\nwindow.shelves = (window.shelves ?? 0) + Object.keys(shelf).length; })();\n").into()
});
static STYLE: LazyLock<Bytes> = LazyLock::new(|| {
    let mut out = String::new();
    for i in 0..150 {
        let _ = writeln!(out, ".bin-{i} {{ margin: {}px; padding: {}px; }}", i % 9, i % 5);
    }
    out.into()
});
/// About 20 KB.
static SHELF: LazyLock<Bytes> = LazyLock::new(|| load::listing(94));
/// About 500 KB.
static CATALOGUE: LazyLock<Bytes> = LazyLock::new(|| load::listing(2_350));

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    let fresh = |mime, body: &Bytes| wire::answer(StatusCode::OK, mime, body.clone());
    match ask.route() {
        ("GET", "/") => shell::page(&SITE, ask, &HEAD, &MAIN),
        // The same with few shelves and nothing on the walls.
        ("GET", "/desk") => shell::page(&SITE, ask, "", DESK),
        ("GET", "/api/shelf") => fresh(load::JSON, &SHELF),
        ("GET", "/api/catalogue") => fresh(load::JSON, &CATALOGUE),
        ("GET", path) if path.starts_with("/js/shelf-") => wire::script(SCRIPT.clone()),
        ("GET", path) if path.starts_with("/css/shelf-") => fresh("text/css", &STYLE),
        _ => shell::answer(&SITE, ask),
    }
}
