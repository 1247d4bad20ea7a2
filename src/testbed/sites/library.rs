//! `library.test`: a paged search; the page also follows to the next page on a click.

use axum::response::Response;
use serde_json::{Value, json};
use url::form_urlencoded::byte_serialize;

use crate::shell::{self, Extra, Layout, Site};
use crate::wire::{self, SiteRequest};
use crate::words::{self, Dice};
use crate::world::TestbedState;

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
    let item = |(_, mut dice): (u64, Dice)| {
        json!({
            "isbn": format!("978-3-{:05}-{:03}-{}", dice.between(1, 99_999), dice.between(1, 999), dice.between(0, 9)),
            "title": dice.title(query),
            "abstract": dice.sentence(query),
            "author": dice.person(),
            "publisher": { "name": format!("{} Press", dice.pick(words::LAST)), "city": dice.pick(words::CITIES) },
            "year": dice.between(1950, 2025),
            "pages": dice.between(80, 900),
            "available": dice.chance(70),
            "url": format!("/books/{}", dice.between(100_000, 999_999)),
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
