//! `hotels.test`, `plants.test`, `portal.test` and `glossary.test`: answers beside the right one (a log
//! that echoes, rich recommendations, siblings of one API), and a filter that asks nobody.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const HOTELS: Site = Site {
    name: "Bed & Bell",
    description: "Small hotels with a bell on the desk.",
    layout: Layout::Classic,
    nav: &["Hotels", "Regions", "Vouchers"],
    main: r#"<h1>Where do you want to stay?</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Destination"><button>Find hotels</button></form>
<p id="status" role="status"></p><div id="hotels"></div>"#,
    script: ("/js/hotels.js", include_str!("../pages/hotels.js")),
    extras: &[Extra::Tracker, Extra::Ads, Extra::Flags],
};

const PLANTS: Site = Site {
    name: "Windowsill",
    description: "How often to water it.",
    layout: Layout::Classic,
    nav: &["Plants", "Pots", "Pests"],
    main: r#"<h1>Is it thirsty?</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Plant"><button>Look up</button></form>
<p id="status" role="status"></p><div id="answer"></div><h2>You may also like</h2><div id="also"></div>"#,
    script: ("/js/plants.js", include_str!("../pages/plants.js")),
    extras: &[Extra::Pixel, Extra::Recommended, Extra::Anonymous],
};

const PORTAL: Site = Site {
    name: "Back Office",
    description: "Everything about everything, for clerks.",
    layout: Layout::App,
    nav: &["Products", "Users", "Orders"],
    main: r#"<form id="ask" role="search"><input type="search" id="q" aria-label="Search everything"><button>Search</button></form>
<p id="status" role="status"></p><h2>Products</h2><div id="products"></div><h2>Users</h2><div id="users"></div><h2>Orders</h2><div id="orders"></div>"#,
    script: ("/office.js", include_str!("../pages/portal.js")),
    extras: &[Extra::Me, Extra::Heartbeat, Extra::Locale],
};

const GLOSSARY: Site = Site {
    name: "Weaver's Glossary",
    description: "Words of the loom.",
    layout: Layout::Plain,
    nav: &["A to M", "N to Z"],
    main: r#"<h1>Glossary</h1><input type="search" id="q" aria-label="Filter terms">
<p id="status" role="status"></p><dl id="terms"></dl>"#,
    script: ("/glossary.js", include_str!("../pages/glossary.js")),
    extras: &[Extra::Pixel, Extra::Tracker],
};

pub fn hotels(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/hotels") => match ask.param("place") {
            Some(place) => wire::json(&hotel_list(place)),
            None => wire::missing("place"),
        },
        // Answers with what it was told, as some collectors do.
        ("POST", "/api/log") => wire::json(&json!({ "ok": true, "received": ask.json() })),
        _ => shell::answer(&HOTELS, ask),
    }
}

fn hotel_list(place: &str) -> Value {
    let found = words::search("hotels", place, 1, 8);
    let hotel = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "code": format!("BB{:04}", rng.between(1, 9999)),
            "name": format!("{} {}", rng.pick(words::ADJECTIVES), rng.pick(words::NOUNS)),
            "place": words::capitalised(place),
            "night": rng.cents(3900, 24_000),
            "manager": rng.person(),
            "about": rng.sentence(place),
        })
    };
    let hotels: Vec<Value> = found.hits.into_iter().map(hotel).collect();
    json!({ "total": found.total, "hotels": hotels })
}

pub fn plants(ask: &SiteRequest, _: &TestbedState) -> Response {
    match (ask.route(), ask.param("name")) {
        (("GET", "/api/care" | "/api/similar"), None) => wire::missing("name"),
        (("GET", "/api/care"), Some(name)) => wire::json(&care(name)),
        (("GET", "/api/similar"), Some(name)) => wire::json(&similar(name)),
        _ => shell::answer(&PLANTS, ask),
    }
}

fn care(name: &str) -> Value {
    let total = words::search("plants", name, 1, 1).total;
    let mut rng = SeededRng::new(&["care", &name.to_lowercase()]);
    let care = json!({
        "water_every_days": rng.between(1, 40),
        "light": format!("{} window", rng.pick(&["north", "east", "south", "west"])),
        "advice": rng.sentence("roots"),
    });
    json!({ "found": total > 0, "care": if total > 0 { care } else { Value::Null } })
}

fn similar(name: &str) -> Value {
    let found = words::search("similar plants", name, 1, 40);
    let plant = |(at, mut rng): (u64, SeededRng)| {
        let title = rng.title(name);
        json!({
            "id": 3000 + at,
            "title": title,
            "description": rng.sentence(name),
            "url": format!("/p/{}", words::slug(&title)),
            "price": { "amount": rng.cents(200, 6000), "currency": "EUR" },
            "rating": { "average": rng.cents(200, 500), "count": rng.between(1, 900) },
            "grower": rng.person(),
            "tags": [rng.pick(words::TAGS), rng.pick(words::TAGS)],
            "image": format!("/img/plant-{at}.png"),
        })
    };
    let items: Vec<Value> = found.hits.into_iter().map(plant).collect();
    json!({ "slot": "similar", "model": "neighbours-v2", "query": name, "total": found.total, "items": items })
}

pub fn portal(ask: &SiteRequest, _: &TestbedState) -> Response {
    let kind = match ask.route() {
        ("GET", "/api/v1/products") => "products",
        ("GET", "/api/v1/users") => "users",
        ("GET", "/api/v1/orders") => "orders",
        _ => return shell::answer(&PORTAL, ask),
    };
    match ask.param("q") {
        Some(query) => wire::json(&records(kind, query)),
        None => wire::missing("q"),
    }
}

fn records(kind: &str, query: &str) -> Value {
    let found = words::search(&format!("portal {kind}"), query, 1, 8);
    let record = |(at, mut rng): (u64, SeededRng)| match kind {
        "products" => json!({
            "sku": format!("P-{:05}", rng.between(1, 99_999)), "title": rng.title(query),
            "price": rng.cents(100, 90_000), "stock": rng.between(0, 400), "supplier": format!("{} Ltd", rng.pick(words::LAST)),
        }),
        "users" => json!({
            "id": rng.between(1000, 9999), "display_name": rng.name(), "city": rng.pick(words::CITIES),
            "joined": rng.date(), "bio": rng.sentence(query),
        }),
        _ => json!({
            "number": format!("O-{:06}", rng.between(1, 999_999)), "placed": rng.date(), "status": rng.pick(&["open", "packed", "sent"]),
            "total": rng.cents(500, 200_000), "lines": at, "customer": rng.name(),
        }),
    };
    let list: Vec<Value> = found.hits.into_iter().map(record).collect();
    json!({ "resource": kind, "total": found.total, "data": list })
}

pub fn glossary(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/terms.json") => {
            let term = |noun: &&str| {
                let mut rng = SeededRng::new(&["glossary", noun]);
                json!({ "term": noun, "meaning": rng.sentence("weavers"), "first_seen": rng.between(1400, 1900) })
            };
            wire::json(&json!({ "terms": words::NOUNS.iter().map(term).collect::<Vec<_>>() }))
        }
        _ => shell::answer(&GLOSSARY, ask),
    }
}
