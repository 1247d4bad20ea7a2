//! `basket.test`, `reviews.test`, `ballot.test`, `fares.test` and `oracle.test`: calls that look easy to
//! repeat (a GET that writes, a GraphQL mutation, a nonce that is used up, a signature over the input,
//! an answer that ignores it).

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const BASKET: Site = Site {
    name: "Basket & Co",
    description: "Groceries by bicycle.",
    layout: Layout::Classic,
    nav: &["Bread", "Cheese", "Greens"],
    main: r#"<h1>What shall we bring?</h1>
<form id="ask"><label>Item <input type="text" id="item"></label> <button>Add to basket</button></form>
<p id="status" role="status"></p><ul id="basket"></ul>"#,
    script: ("/basket.js", include_str!("../pages/basket.js")),
    extras: &[Extra::Tracker, Extra::Recommended, Extra::Anonymous],
};

const REVIEWS: Site = Site {
    name: "Fork & Spoon",
    description: "What guests say about inns.",
    layout: Layout::App,
    nav: &["Inns", "Guests", "Write"],
    main: r#"<h1>The Blue Boar</h1>
<form id="ask"><label>Your review <input type="text" id="text"></label> <button>Publish</button></form>
<p id="status" role="status"></p><div id="reviews"></div>"#,
    script: ("/app/reviews.js", include_str!("../pages/reviews.js")),
    extras: &[Extra::Locale, Extra::Flags],
};

const BALLOT: Site = Site {
    name: "Who Stands",
    description: "Candidates of the municipal election.",
    layout: Layout::Classic,
    nav: &["Candidates", "Lists", "Results"],
    main: r#"<h1>Candidates</h1>
<form id="ask" role="search"><input type="search" id="q" aria-label="Candidate"><button>Find candidates</button></form>
<p id="status" role="status"></p><div id="candidates"></div>"#,
    script: ("/ballot.js", include_str!("../pages/ballot.js")),
    extras: &[Extra::Pixel, Extra::Trending],
};

const FARES: Site = Site {
    name: "Fare Table",
    description: "What the train costs.",
    layout: Layout::App,
    nav: &["Fares", "Zones", "Refunds"],
    main: r#"<h1>Fares</h1>
<form id="ask"><label>Destination <input type="text" id="to"></label> <button>Show fares</button></form>
<p id="status" role="status"></p><div id="fares"></div>"#,
    script: ("/dist/fares.js", include_str!("../pages/fares.js")),
    extras: &[Extra::RemoteFlags, Extra::Tracker],
};

const ORACLE: Site = Site {
    name: "The Oracle",
    description: "Always the same counsel.",
    layout: Layout::Plain,
    nav: &["Ask", "Priests"],
    main: r#"<h1>Ask</h1>
<form id="ask"><label>Question <input type="text" id="question"></label> <button>Consult</button></form>
<p id="status" role="status"></p><div id="counsel"></div>"#,
    script: ("/oracle.js", include_str!("../pages/oracle.js")),
    extras: &[Extra::Pixel, Extra::Flags],
};

pub fn basket(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        // Against RFC 9110, section 9.2.1, as in many a shop.
        ("GET", "/cart/add") => {
            let Some(item) = ask.param("item") else {
                return wire::missing("item");
            };
            let number = state.place_order();
            let mut rng = SeededRng::new(&["basket", &item.to_lowercase()]);
            let line = json!({
                "line": number, "item": item, "brand": rng.pick(words::LAST), "price": rng.cents(80, 1900),
                "substitutes": [rng.title(item), rng.title(item)], "packed_by": rng.person(),
            });
            wire::json(&json!({ "added": line, "count": number }))
        }
        _ => shell::answer(&BASKET, ask),
    }
}

pub fn reviews(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/api/graphql") => {
            let body = ask.json();
            match body["operationName"].as_str() {
                Some("Reviews") => wire::json(&json!({ "data": { "reviews": review_list() } })),
                Some("AddReview") => match body["variables"]["text"].as_str() {
                    Some(text) if !text.trim().is_empty() => {
                        let id = state.place_order();
                        let review = json!({ "id": id, "text": text, "stars": 4, "author": { "name": "A Guest" } });
                        wire::json(
                            &json!({ "data": { "addReview": { "review": review, "reviews": review_list() } } }),
                        )
                    }
                    _ => wire::missing("text"),
                },
                _ => wire::missing("operationName"),
            }
        }
        _ => shell::answer(&REVIEWS, ask),
    }
}

fn review_list() -> Value {
    let review = |at: u32| {
        let mut rng = SeededRng::new(&["review", &at.to_string()]);
        json!({ "id": format!("r{at}"), "text": rng.sentence("the soup"), "stars": rng.between(1, 5), "author": rng.person() })
    };
    (1..=5).map(review).collect()
}

pub fn ballot(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => {
            let nonce = state.open_session("ballot");
            let meta = format!(r#"<meta name="form-nonce" content="{nonce}">"#);
            shell::page(&BALLOT, ask, &meta, BALLOT.main)
        }
        ("GET", "/api/candidates") => {
            let Some(name) = ask.param("name") else {
                return wire::missing("name");
            };
            if !ask.param("nonce").is_some_and(|nonce| state.close_session("ballot", nonce)) {
                return wire::error(StatusCode::FORBIDDEN, "unknown or used nonce");
            }
            let mut answer = candidates(name);
            answer["next_nonce"] = state.open_session("ballot").into();
            wire::json(&answer)
        }
        _ => shell::answer(&BALLOT, ask),
    }
}

fn candidates(name: &str) -> Value {
    let found = words::search("candidates", name, 1, 10);
    let candidate = |(at, mut rng): (u64, SeededRng)| {
        json!({
            "name": format!("{} {}", rng.pick(words::FIRST), words::capitalised(name)),
            "list": format!("List {}", at),
            "trade": rng.title("village"),
            "born": rng.between(1940, 2004),
            "promise": rng.sentence("voters"),
        })
    };
    let candidates: Vec<Value> = found.hits.into_iter().map(candidate).collect();
    json!({ "total": found.total, "candidates": candidates })
}

pub fn fares(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/fares") => {
            let Some(to) = ask.param("to") else {
                return wire::missing("to");
            };
            if ask.param("sig") != Some(&*signature(to)) {
                return wire::error(StatusCode::FORBIDDEN, "bad signature");
            }
            let found = words::search("fares", to, 1, 10);
            let fare = |(_, mut rng): (u64, SeededRng)| {
                json!({
                    "ticket": rng.title("return"), "to": words::capitalised(to), "price": rng.cents(250, 9000),
                    "conductor": rng.person(), "valid_from": rng.date(), "conditions": rng.sentence(to),
                })
            };
            let fares: Vec<Value> = found.hits.into_iter().map(fare).collect();
            wire::json(&json!({ "total": found.total, "fares": fares }))
        }
        _ => shell::answer(&FARES, ask),
    }
}

/// Bernstein's hash over the page's salt and the value, as the page's script computes it.
fn signature(to: &str) -> String {
    let text = format!("fare-table-3:{to}");
    let hash = text
        .encode_utf16()
        .fold(5381_u32, |hash, unit| hash.wrapping_mul(33).wrapping_add(u32::from(unit)));
    format!("{hash:08x}")
}

pub fn oracle(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/api/counsel") => match ask.param("question") {
            Some(question) if question.to_lowercase().starts_with("zzz") => {
                wire::json(&json!({ "counsel": [] }))
            }
            Some(_) => {
                let counsel = |at: u32| {
                    let mut rng = SeededRng::new(&["counsel", &at.to_string()]);
                    json!({ "verse": at, "text": rng.sentence("the traveller"), "priest": rng.person() })
                };
                wire::json(&json!({ "counsel": (1..=8).map(counsel).collect::<Vec<_>>() }))
            }
            None => wire::missing("question"),
        },
        _ => shell::answer(&ORACLE, ask),
    }
}
