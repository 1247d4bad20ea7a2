//! `library.test`: a paged search; the page also follows to the next page on a click.

use axum::response::Response;
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "County Library",
    description: "Four reading rooms, one catalogue.",
    layout: Layout::Classic,
    nav: &["Catalogue", "Opening hours", "Branches", "Events"],
    main: include_str!("../pages/library.html"),
    script: ("/assets/catalogue.js", include_str!("../pages/library.js")),
    extras: &[Extra::Pixel, Extra::Me, Extra::Recommended, Extra::Locale],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/v1/books") => {
            let Some(query) = ask.param("search") else {
                return wire::missing("search");
            };
            let (page, per_page) = (ask.number("page", 1, 1000), ask.number("per_page", 20, 50));
            wire::json(&books(query, page, per_page))
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn books(query: &str, page: u64, per_page: u64) -> Value {
    let found = words::search("books", query, page, per_page);
    let item = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "isbn": format!("978-3-{:05}-{:03}-{}", rng.between(1, 99_999), rng.between(1, 999), rng.between(0, 9)),
            "title": rng.title(query),
            "abstract": rng.sentence(query),
            "author": rng.person(),
            "publisher": { "name": format!("{} Press", rng.pick(words::LAST)), "city": rng.pick(words::CITIES) },
            "year": rng.between(1950, 2025),
            "pages": rng.between(80, 900),
            "available": rng.chance(70),
            "url": format!("/books/{}", rng.between(100_000, 999_999)),
        })
    };
    let items: Vec<Value> = found.hits.into_iter().map(item).collect();
    let search: String = byte_serialize(query.as_bytes()).collect();
    let next = (page < found.pages)
        .then(|| format!("/v1/books?search={search}&page={}&per_page={per_page}", page + 1));
    json!({
        "items": items, "total": found.total, "page": page, "per_page": per_page,
        "pages": found.pages, "next": next,
    })
}
