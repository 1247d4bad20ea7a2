//! `store.test`: a button that orders something. Replaying it would order again.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::json;

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};

const SITE: Site = Site {
    name: "The One Kettle",
    description: "We sell one kettle. It is a good kettle.",
    layout: Layout::Plain,
    nav: &["The kettle", "Spare parts"],
    main: include_str!("../pages/store.html"),
    script: ("/kettle.js", include_str!("../pages/store.js")),
    extras: &[Extra::Tracker, Extra::Anonymous, Extra::Recommended],
};

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("POST", "/api/orders") => {
            let body = ask.json();
            let Some(sku) = body["sku"].as_str() else {
                return wire::missing("sku");
            };
            let order = json!({
                "order_id": format!("K-{:06}", state.place_order()),
                "status": "placed",
                "sku": sku,
                "quantity": body["quantity"].as_u64().unwrap_or(1),
                "note": body["note"],
                "delivery": { "carrier": "Post", "days": 3 },
            });
            wire::json_status(StatusCode::CREATED, &order)
        }
        _ => shell::answer(&SITE, ask),
    }
}
