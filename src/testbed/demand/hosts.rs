//! Sites whose choice is a host: `lexica.test` by a list of languages, `dwellings.test` by links to towns; and `mirrors.test`, whose
//! host looks like a choice and is none.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{page, rest};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest, escape};
use crate::words::{SeededRng, capitalised};

/// Languages of `lexica.test`: the label of its host, and what a person chooses.
const LANGUAGES: [(&str, &str); 6] = [
    ("da", "Dansk"),
    ("de", "Deutsch"),
    ("en", "English"),
    ("fi", "Suomi"),
    ("nds-nl", "Nedersaksisch"),
    ("sv", "Svenska"),
];

/// `lexica.test`: meanings of a word, at the host of a language. Suggestions and counts come from hosts of their own.
pub fn lexica(ask: &SiteRequest, _: &TestbedState) -> Response {
    let word = || ask.param("word").unwrap_or_default();
    let label = ask.host.split('.').next().unwrap_or_default();
    match (label, ask.route()) {
        (_, ("GET", "/")) => {
            let option =
                |it: &(&str, &str)| format!("<option value=\"{}\">{}</option>", it.0, it.1);
            let options: String = LANGUAGES.iter().map(option).collect();
            page(
                "Lexica",
                &format!(
                    r#"<h1>One word, many languages</h1><form id="ask"><label>Language <select id="language">{options}</select></label>
<label>Word <input id="word"></label><button>Look up</button></form><p id="status" role="status"></p><p id="near"></p>
<table><thead><tr><th>Meaning</th><th>Since</th><th>Source</th></tr></thead><tbody id="meanings"></tbody></table>"#
                ),
                &format!("{}{}", super::SCRIPT, include_str!("../pages/demand/lexica.js")),
            )
        }
        ("suggest", ("GET", "/near")) => {
            let near: Vec<String> = (1..4).map(|n| format!("{}{n}", word())).collect();
            wire::shared(ask, wire::json(&json!(near)))
        }
        ("count", ("GET", "/seen")) => {
            let seen = json!({ "word": word(), "language": ask.param("language"), "seen": 1 });
            wire::shared(ask, wire::json(&seen))
        }
        (_, ("GET", "/meanings")) if LANGUAGES.iter().any(|it| it.0 == label) => {
            wire::shared(ask, wire::json(&json!({ "meanings": meanings(label, word()) })))
        }
        _ => rest(ask),
    }
}

/// The meanings of a word in a language, by either of its names.
pub fn meanings(language: &str, word: &str) -> Value {
    let known = LANGUAGES.iter().find(|it| it.0 == language || it.1 == language);
    let code = known.map_or("", |it| it.0);
    let meaning = |n: i64| {
        let mut rng = SeededRng::new(&["meaning", code, &word.to_lowercase(), &n.to_string()]);
        json!({ "meaning": rng.title(word), "since": rng.between(1500, 1990), "source": rng.name() })
    };
    let count = SeededRng::new(&["meanings", code, word]).between(3, 9);
    (1..=count).map(meaning).collect()
}

const TOWNS: [&str; 5] = ["vestby", "hamnoy", "solvik", "berg", "nesset"];

/// `dwellings.test`: flats of a town, each town at its own host.
pub fn dwellings(ask: &SiteRequest, _: &TestbedState) -> Response {
    let town = ask.host.strip_suffix(".dwellings.test").filter(|it| TOWNS.contains(it));
    let form = r#"<form action="/flats"><label>Rooms <input name="rooms"></label><button>Show flats</button></form>"#;
    match (town, ask.route()) {
        (None, ("GET", "/")) => {
            let link = |it: &&str| {
                format!("<li><a href=\"http://{it}.dwellings.test/\">{}</a></li>", capitalised(it))
            };
            let links: String = TOWNS.iter().map(link).collect();
            page("Dwellings", &format!("<h1>Choose a town</h1><ul>{links}</ul>"), "")
        }
        (Some(town), ("GET", "/")) => {
            page("Dwellings", &format!("<h1>Flats in {}</h1>{form}", capitalised(town)), "")
        }
        (Some(town), ("GET", "/flats")) => {
            let rooms = ask.number("rooms", 2, 9);
            let all = flats(town, rooms);
            let row = |it: &Value| {
                let cell = |name: &str| {
                    format!("<td>{}</td>", escape(it[name].as_str().unwrap_or_default()))
                };
                format!("<tr>{}{}{}</tr>", cell("street"), cell("size"), cell("rent"))
            };
            let rows: String = all.as_array().into_iter().flatten().map(row).collect();
            page(
                "Dwellings",
                &format!(
                    "<h1>Flats with {rooms} rooms in {}</h1>{form}<table><thead><tr><th>Street</th><th>Size</th><th>Rent</th></tr></thead><tbody>{rows}</tbody></table>",
                    capitalised(town)
                ),
                "",
            )
        }
        _ => rest(ask),
    }
}

/// The flats with so many rooms in a town.
pub fn flats(town: &str, rooms: u64) -> Value {
    let flat = |n: i64| {
        let mut rng =
            SeededRng::new(&["flat", &town.to_lowercase(), &rooms.to_string(), &n.to_string()]);
        json!({ "street": format!("{} {}", rng.title("street"), rng.between(1, 90)), "size": format!("{} m²", rng.between(30, 180)), "rent": format!("{} kr", rng.between(4_000, 19_000)) })
    };
    (1..=7).map(flat).collect()
}

/// `mirrors.test`: stock of a hall. One mirror answers for all halls; its name is that of a hall. The page picks.
pub fn mirrors(ask: &SiteRequest, _: &TestbedState) -> Response {
    match (&*ask.host, ask.route()) {
        (_, ("GET", "/")) => page(
            "Mirrors",
            r#"<h1>Stock by hall</h1><form id="ask"><label>Hall <select id="hall"><option>north</option><option>south</option><option>west</option></select></label>
<label>Goods <input id="goods"></label><button>Show stock</button></form><p id="status" role="status"></p>
<table><thead><tr><th>Article</th><th>Crates</th><th>Until</th></tr></thead><tbody id="stock"></tbody></table>"#,
            &format!("{}{}", super::SCRIPT, include_str!("../pages/demand/mirrors.js")),
        ),
        ("north.mirrors.test", ("GET", "/stock")) => {
            let goods = ask.param("goods").unwrap_or_default();
            let all: Vec<Value> =
                ["north", "south", "west"].iter().flat_map(|it| stock(it, goods)).collect();
            wire::shared(ask, wire::json(&json!({ "stock": all })))
        }
        ("south.mirrors.test" | "west.mirrors.test", ("GET", "/stock")) => {
            wire::error(StatusCode::SERVICE_UNAVAILABLE, "this mirror rests")
        }
        _ => rest(ask),
    }
}

fn stock(hall: &str, goods: &str) -> Vec<Value> {
    let crates = |n: i64| {
        let mut rng = SeededRng::new(&["stock", hall, goods, &n.to_string()]);
        json!({ "hall": hall, "article": rng.title(goods), "crates": rng.between(1, 90), "until": rng.date() })
    };
    (1..=5).map(crates).collect()
}

/// The stock of one hall.
pub fn stock_of(hall: &str, goods: &str) -> Value {
    stock(hall, goods).into()
}
