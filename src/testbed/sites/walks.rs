//! `walks.test` and `coins.test`: a parameter that is made a slug in the path, and items whose fields
//! are null or absent.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const WALKS: Site = Site {
    name: "Town Walks",
    description: "An afternoon on foot in any town.",
    layout: Layout::Classic,
    nav: &["Walks", "Guides", "Shoes"],
    main: r#"<h1>Take a walk</h1>
<form id="ask"><label>Town <input type="text" id="town"></label> <button>Show walks</button></form>
<p id="status" role="status"></p><div id="walks"></div>"#,
    script: ("/walks.js", include_str!("../pages/walks.js")),
    extras: &[Extra::Flags, Extra::Pixel, Extra::Trending],
};

const COINS: Site = Site {
    name: "Coin Cabinet",
    description: "Coins found in fields.",
    layout: Layout::Plain,
    nav: &["Finds", "Mints", "Report a find"],
    main: r#"<h1>Finds</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Search finds"><button>Search</button></form>
<p id="status" role="status"></p><div id="coins"></div>"#,
    script: ("/cabinet.js", include_str!("../pages/coins.js")),
    extras: &[Extra::Tracker, Extra::Anonymous, Extra::Locale],
};

pub fn walks(ask: &SiteRequest, _: &TestbedState) -> Response {
    let town = ask.path.strip_prefix("/c/").and_then(|it| it.strip_suffix("/walks.json"));
    match town.filter(|_| ask.method == "GET") {
        Some(town) if !town.is_empty() && words::slug(town) == town => wire::json(&walk_list(town)),
        Some(_) => wire::not_found(),
        None => shell::answer(&WALKS, ask),
    }
}

fn walk_list(town: &str) -> Value {
    let found = words::search("walks", town, 1, 10);
    let walk = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "title": rng.title("round"),
            "start": format!("{} Square", rng.pick(words::NOUNS)),
            "kilometres": rng.cents(150, 1900),
            "minutes": rng.between(20, 300),
            "guide": rng.person(),
            "remark": rng.sentence("walkers"),
        })
    };
    let walks: Vec<Value> = found.hits.into_iter().map(walk).collect();
    json!({ "town": words::capitalised(&town.replace('-', " ")), "count": found.total, "walks": walks })
}

pub fn coins(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/finds") => match ask.param("query") {
            Some(query) => wire::json(&finds(query)),
            None => wire::missing("query"),
        },
        _ => shell::answer(&COINS, ask),
    }
}

fn finds(query: &str) -> Value {
    let found = words::search("finds", query, 1, 14);
    let find = |(at, mut rng): (u64, SeededRng)| {
        let (mint, finder) = (rng.pick(words::CITIES), rng.person());
        let (weight, image) = (rng.cents(40, 3000), format!("/img/coin-{at}.png"));
        let mut find = json!({
            "id": format!("CC-{:05}", rng.between(1, 99_999)),
            "description": rng.title(query),
            "mint": if rng.chance(60) { mint.into() } else { Value::Null },
            "ruler": { "name": if rng.chance(50) { rng.name().into() } else { Value::Null } },
            "weight_g": if rng.chance(70) { weight.into() } else { Value::Null },
            "finder": if rng.chance(40) { finder } else { Value::Null },
            "found": rng.date(),
            "references": null,
        });
        if rng.chance(50) {
            find["image"] = image.into();
        }
        find
    };
    let finds: Vec<Value> = found.hits.into_iter().map(find).collect();
    json!({ "total": found.total, "next": null, "finds": finds })
}
