//! `recipes.test`: a page that carries its data as JSON in a script element and renders it there.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Second Helping",
    description: "Recipes that survived a family of six.",
    layout: Layout::Classic,
    nav: &["Soups", "Mains", "Baking", "Pickles"],
    main: include_str!("../pages/recipes.html"),
    script: ("/_app/render-77d.js", include_str!("../pages/recipes.js")),
    extras: &[Extra::Pixel, Extra::Flags, Extra::Trending, Extra::Prefetch],
};

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/find") => {
            let Some(query) = ask.param("q") else {
                return wire::text(StatusCode::BAD_REQUEST, "missing parameter: q\n");
            };
            // In a script element only `<` can do harm; JSON can write it as an escape.
            let data = recipes(query).to_string().replace('<', "\\u003c");
            let main = format!(
                r#"{}<script id="__PAGE_DATA__" type="application/json">{data}</script>"#,
                include_str!("../pages/recipes.html")
            );
            shell::page(&SITE, ask, "", &main)
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn recipes(query: &str) -> Value {
    let found = words::search("recipes", query, 1, 12);
    let recipe = |(at, mut rng): (u64, SeededRng)| {
        let minutes = rng.between(2, 24) * 5;
        json!({
            "id": 4000 + at,
            "name": format!("{} {} {}", rng.pick(STYLES), words::capitalised(query), rng.pick(DISHES)),
            "teaser": rng.sentence(query),
            "minutes": minutes,
            "serves": rng.between(2, 8),
            "cook": rng.person(),
            "ingredients": (0..4).map(|_| json!({ "name": rng.pick(PANTRY), "grams": rng.between(1, 40) * 10 })).collect::<Vec<_>>(),
            "image": format!("/img/dish-{}.png", rng.between(1, 40)),
            "href": format!("/recipe/{}", 4000 + at),
        })
    };
    let recipes: Vec<Value> = found.hits.into_iter().map(recipe).collect();
    json!({
        "route": "/find",
        "build": "77d",
        "props": { "query": query, "total": found.total, "recipes": recipes },
    })
}

const STYLES: &[&str] = &["Braised", "Roast", "Smoky", "Sunday", "Quick", "Grandmother's", "Cold"];
const DISHES: &[&str] = &["Stew", "Pie", "Salad", "Dumplings", "Curry", "Gratin", "Broth", "Tart"];
const PANTRY: &[&str] =
    &["Barley", "Butter", "Carrots", "Dill", "Eggs", "Flour", "Leeks", "Mustard", "Onions", "Rye"];
