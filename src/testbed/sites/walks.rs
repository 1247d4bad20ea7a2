//! `walks.test` and `coins.test`: a parameter that is made a slug in the path, and items whose fields
//! are null or absent.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::wire::{self, SiteRequest};
use crate::words::{self, Dice};
use crate::world::TestbedState;

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
    let walk = |(_, mut dice): (u64, Dice)| {
        json!({
            "title": dice.title("round"),
            "start": format!("{} Square", dice.pick(words::NOUNS)),
            "kilometres": dice.cents(150, 1900),
            "minutes": dice.between(20, 300),
            "guide": dice.person(),
            "remark": dice.sentence("walkers"),
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
    let find = |(at, mut dice): (u64, Dice)| {
        let (mint, finder) = (dice.pick(words::CITIES), dice.person());
        let (weight, image) = (dice.cents(40, 3000), format!("/img/coin-{at}.png"));
        let mut find = json!({
            "id": format!("CC-{:05}", dice.between(1, 99_999)),
            "description": dice.title(query),
            "mint": if dice.chance(60) { mint.into() } else { Value::Null },
            "ruler": { "name": if dice.chance(50) { dice.name().into() } else { Value::Null } },
            "weight_g": if dice.chance(70) { weight.into() } else { Value::Null },
            "finder": if dice.chance(40) { finder } else { Value::Null },
            "found": dice.date(),
            "references": null,
        });
        if dice.chance(50) {
            find["image"] = image.into();
        }
        find
    };
    let finds: Vec<Value> = found.hits.into_iter().map(find).collect();
    json!({ "total": found.total, "next": null, "finds": finds })
}
