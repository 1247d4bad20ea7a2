//! `reorder.test`: past orders that can be placed again, by a call of the page. `/api/count` tells how often, and what was sent.
//!
//! What begins at `/?drift=1` has a total that rises by a euro after `/api/bump` was called; `/api/risen` returns the last bump that
//! a page has followed. With `/?redirect=1` the call is redirected to `courier.test`, which takes it; with `/?second=1` another one
//! follows it.
//!
//! An item can be kept as a favourite, which costs nothing; `/api/favourites` tells how often.

use std::convert::Infallible;
use std::fmt::Write;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest, escape};

const SITE: Site = Site {
    name: "Pantry & Post",
    description: "What is used up comes again.",
    layout: Layout::Classic,
    nav: &["Coffee", "Tea", "Baking"],
    main: "",
    script: ("/static/again.js", include_str!("../pages/reorder.js")),
    extras: &[Extra::Anonymous, Extra::Recommended],
};

const COURIER: Site = Site {
    name: "Courier",
    description: "Takes what it is given.",
    layout: Layout::Plain,
    nav: &["Rates"],
    main: "<h1>We deliver</h1>",
    script: ("", ""),
    extras: &[],
};

struct Order {
    id: &'static str,
    item: &'static str,
    cents: u64,
    on: &'static str,
}

const ORDERS: &[Order] = &[
    Order { id: "R-0913", item: "Espresso beans, 1 kg", cents: 3494, on: "28 October 2026" },
    Order { id: "R-0877", item: "Filter papers, 200 pieces", cents: 1150, on: "2 September 2026" },
    Order { id: "R-0831", item: "Oat drink, 6 cartons", cents: 1434, on: "15 July 2026" },
    Order { id: "R-0790", item: "Dark chocolate, 12 bars", cents: 2988, on: "3 June 2026" },
];

const PLACED: &str = "reorder placed";
const KEPT: &str = "reorder favourite";
const TAKEN: &str = "courier taken";
const VARIANTS: &[&str] = &["drift", "redirect", "second"];

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => shell::page(&SITE, ask, "", &list(ask)),
        ("GET", "/again") => match ORDERS.iter().find(|it| Some(it.id) == ask.param("order")) {
            Some(it) => shell::page(&SITE, ask, "", &order_form(it, ask, state)),
            None => wire::not_found(),
        },
        ("POST", "/orders") if ask.param("redirect").is_some() => {
            let moved = wire::text(StatusCode::TEMPORARY_REDIRECT, "moved\n");
            wire::with(moved, "location", "//courier.test/orders")
        }
        ("POST", "/orders") => place(ask, state, PLACED),
        ("POST", "/favourites") => {
            state.note(KEPT, &ask.body);
            shell::page(&SITE, ask, "", "<h1>Favourites</h1><p>Kept as a favourite.</p>")
        }
        ("GET", "/api/favourites") => count(state, KEPT),
        ("GET", "/api/count") => count(state, PLACED),
        ("GET", "/api/bump") => wire::json(&json!({ "bumps": state.bump() })),
        ("GET", "/api/risen") => wire::json(&json!({ "risen": state.followed_bump() })),
        ("GET", "/api/bumps") => {
            let after = ask.param("after").and_then(|it| it.parse().ok()).unwrap_or(u64::MAX);
            if after <= state.bumps() {
                state.follow_bump(after);
            }
            let stream = wire::answer(StatusCode::OK, "text/event-stream", bumps(state, after));
            wire::with(stream, "cache-control", "no-store")
        }
        _ => shell::answer(&SITE, ask),
    }
}

pub fn courier(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        // After a redirect the origin that is told need not be the one that is compared: anybody's will do.
        ("OPTIONS", _) => {
            let open = open(wire::text(StatusCode::NO_CONTENT, ""));
            wire::with(open, "access-control-allow-headers", "content-type")
        }
        ("POST", "/orders") => open(place(ask, state, TAKEN)),
        ("GET", "/api/count") => count(state, TAKEN),
        _ => shell::answer(&COURIER, ask),
    }
}

fn open(answer: Response) -> Response {
    wire::with(answer, "access-control-allow-origin", "*")
}

fn list(ask: &SiteRequest) -> String {
    let mut carried = String::new();
    for it in variants(ask) {
        carried.push_str("&amp;");
        carried.push_str(it.as_ref());
        carried.push_str("=1");
    }
    let mut main = "<h1>Your orders</h1><table><thead><tr><th>Order<th>Item<th>On<th>Total<th></tr></thead><tbody>".to_owned();
    for Order { id, item, cents, on } in ORDERS {
        // Writing to a String cannot fail.
        let _ = write!(
            main,
            r#"<tr><td>{id}<td>{item}<td>{on}<td>{}<td><a href="/again?order={id}{carried}">Order again</a></tr>"#,
            euros(*cents)
        );
    }
    main + "</tbody></table>"
}

fn variants(ask: &SiteRequest) -> impl Iterator<Item = &'static str> {
    VARIANTS.iter().copied().filter(|it| ask.param(it).is_some())
}

fn order_form(order: &Order, ask: &SiteRequest, state: &TestbedState) -> String {
    let Order { id, item, cents, .. } = order;
    let variants: Vec<&str> = variants(ask).collect();
    format!(
        r#"<h1>Order again</h1>
<form id="again" data-order="{id}" data-cents="{cents}" data-variants="{}" data-bumps="{}">
<p>{}</p>
<p><label>Quantity <input id="quantity" type="number" min="1" max="9" value="1" required></label></p>
<p><label>Delivery date <input id="date" type="date" value="2026-12-03" required></label></p>
<p>Total: <output id="total">{}</output></p>
<button>Place order</button></form>
<p id="placed" role="status"></p>
<form method="post" action="/favourites"><input type="hidden" name="item" value="{id}"><button>Keep as a favourite</button></form>
<p><a href="/">Your orders</a></p>"#,
        variants.join(" "),
        state.bumps(),
        escape(item),
        euros(*cents),
    )
}

fn euros(cents: u64) -> String {
    format!("€{}.{:02}", cents / 100, cents % 100)
}

fn place(ask: &SiteRequest, state: &TestbedState, what: &'static str) -> Response {
    let order: Value = ask.json();
    let is_known = ORDERS.iter().any(|it| order["order"] == it.id);
    let is_extra = order["extra"].is_string();
    let quantity = order["quantity"].as_u64().unwrap_or(0);
    if !(is_extra || is_known && (1..=9).contains(&quantity)) {
        return wire::error(StatusCode::UNPROCESSABLE_ENTITY, "no such order");
    }
    let number = state.note(what, &ask.body);
    wire::json_status(
        StatusCode::CREATED,
        &json!({ "id": format!("R-{}", 1000 + number), "status": "placed", "total": order["total"] }),
    )
}

fn count(state: &TestbedState, what: &'static str) -> Response {
    let bodies = state.recorded_actions(what);
    wire::json(&json!({ "count": bodies.len(), "bodies": bodies }))
}

/// One event, when a page is to change more often than so.
fn bumps(state: &TestbedState, after: u64) -> Body {
    let mut heard = state.bumped();
    let next = async move {
        // An error means that the web is gone, and the stream ends with it.
        let now = heard.wait_for(|it| *it > after).await.map_or(after, |it| *it);
        Ok::<_, Infallible>(format!("data: {now}\n\n"))
    };
    // The head of an answer leaves with the first of its body.
    let first = futures::stream::once(async { Ok("retry: 60000\n\n".to_owned()) });
    Body::from_stream(futures::StreamExt::chain(first, futures::stream::once(next)))
}
