//! `stalls.test`: what is sold in a market. The page asks for the stalls of a market, and then in one call for the prices of all of them:
//! their numbers stand in that call as one text. A market may have no stalls. Beside it, stalls are compared by numbers that the
//! visitor types, which stand in a list of the page, too.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::SeededRng;

const STALLS: Site = Site {
    name: "Market Stalls",
    description: "What is sold in the markets of the coast.",
    layout: Layout::Classic,
    nav: &["Markets", "Days", "Fees"],
    main: r#"<h1>What is sold today?</h1>
<form id="ask"><label>Market <input type="text" id="market"></label> <button>Show prices</button></form>
<form id="bids"><label>Auction <input type="text" id="auction"></label> <button>Show bids</button></form>
<form id="compare"><label>Stall numbers <input type="text" id="numbers"></label> <button>Compare stalls</button></form>
<p id="status" role="status"></p><div id="found"></div>"#,
    script: ("/js/stalls.js", include_str!("../pages/stalls.js")),
    extras: &[Extra::Locale, Extra::Anonymous, Extra::Tracker],
};

/// Markets with how many stalls they have.
const MARKETS: [(&str, usize); 5] =
    [("kalvik", 5), ("norby", 7), ("sundport", 4), ("eskholm", 0), ("norhaven", 6)];
/// Stalls that are compared by number.
const NUMBERED: u64 = 40;

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    let of = |name: &str| ask.param(name).unwrap_or_default().to_owned();
    match ask.route() {
        ("GET", "/api/market") => {
            let market = of("name").to_lowercase();
            let known = MARKETS.iter().find(|it| it.0 == market);
            let stalls: Vec<Value> = (0..known.map_or(0, |it| it.1))
                .map(|at| json!({"id": stall(&market, at), "row": 1 + at % 3}))
                .collect();
            wire::json(&json!({"market": market, "stalls": stalls}))
        }
        ("GET", "/api/prices") => wire::json(&json!({"prices": prices(of("stalls").split(','))})),
        ("GET", "/api/auction") => {
            let name = of("name").to_lowercase();
            let lots: Vec<String> = (0..3 + name.len() % 4).map(|at| stall(&name, at)).collect();
            wire::json(&json!({"lots": lots}))
        }
        ("POST", "/api/lots/search") => {
            let form = ask.form();
            let lots = form.iter().find(|it| it.0 == "lots").map_or("", |it| it.1.as_str());
            wire::json(&json!(prices(lots.split('|'))))
        }
        ("GET", "/api/numbers") => wire::json(
            &json!({"stalls": (1..=NUMBERED).map(|it| json!({"number": it})).collect::<Vec<_>>()}),
        ),
        ("GET", "/api/compare") => wire::json(&json!({"stalls": prices(of("numbers").split(','))})),
        _ => shell::answer(&STALLS, ask),
    }
}

/// Nobody but the list can tell it.
fn stall(market: &str, at: usize) -> String {
    secret(&format!("stall {market} {at}"))[..8].to_owned()
}

fn prices<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<Value> {
    let price = |id: &str| {
        let mut rng = SeededRng::new(&["stall", id]);
        json!({
            "stall": id,
            "holder": rng.name(),
            "goods": rng.title("fish"),
            "price": rng.between(3, 60),
            "remark": rng.sentence("the catch"),
        })
    };
    ids.filter(|it| !it.is_empty()).map(price).collect()
}
