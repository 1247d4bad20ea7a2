//! Hosts of other parties that the sites' pages call: tracker, advertising, feature flags. And the
//! control host, through which tests in other processes read the counters.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::demand;
use super::pictures::PIXEL;
use super::testbed_state::TestbedState;
use super::wire::{self, SiteRequest};
use super::words::{self, SeededRng};

/// `metrics.tracker.test`
pub fn tracker(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("OPTIONS", _) => wire::preflight(ask),
        ("GET", "/tag.js") => wire::script(include_str!("pages/tag.js")),
        ("GET", "/pixel.gif") => wire::answer(StatusCode::OK, "image/gif", PIXEL),
        ("POST", "/collect") => wire::shared(ask, wire::text(StatusCode::NO_CONTENT, "")),
        _ => wire::not_found(),
    }
}

/// `ads.adnet.test`
pub fn ads(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("OPTIONS", _) => wire::preflight(ask),
        ("GET", "/loader.js") => wire::script(include_str!("pages/ads.js")),
        ("POST", "/bid") => {
            let page = ask.json()["page"].as_str().unwrap_or_default().to_owned();
            wire::shared(ask, wire::json(&bids(&page)))
        }
        ("GET", path) if path.starts_with("/creative/") => {
            wire::answer(StatusCode::OK, "image/gif", PIXEL)
        }
        _ => wire::not_found(),
    }
}

fn bids(page: &str) -> Value {
    let bid = |at: u32| {
        let mut rng = SeededRng::new(&["bid", page, &at.to_string()]);
        let title = rng.title("sponsored");
        json!({
            "id": format!("bid-{:08x}", rng.roll() as u32),
            "slot": at,
            "price": { "cpm": rng.cents(10, 900), "currency": "USD" },
            "advertiser": { "id": rng.between(100, 999), "name": rng.name(), "city": rng.pick(words::CITIES) },
            "creative": {
                "title": title,
                "description": rng.sentence("you"),
                "url": format!("//ads.adnet.test/click/{}", words::slug(&title)),
                "image": format!("//ads.adnet.test/creative/{at}.gif"),
                "width": 300, "height": 250,
            },
            "targeting": [rng.pick(words::TAGS), rng.pick(words::TAGS)],
        })
    };
    json!({ "auction": format!("auc-{page}"), "bids": (1..=8).map(bid).collect::<Vec<_>>() })
}

/// `config.flagsrv.test`
pub fn flags(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("OPTIONS", _) => wire::preflight(ask),
        ("GET", "/sdk.js") => wire::script(include_str!("pages/sdk.js")),
        ("GET", "/v1/flags") => {
            let project = ask.param("project").unwrap_or("default");
            let mut rng = SeededRng::new(&["remote flags", project]);
            let rules = ["layout", "search", "signup", "pricing", "images", "comments", "sharing"];
            let rule = |key: &str| {
                json!({
                    "key": key, "on": rng.chance(60), "rollout": rng.between(0, 100),
                    "variants": ["control", "treatment"], "owner": rng.person(),
                })
            };
            let body = json!({ "project": project, "environment": "production", "flags": rules.map(rule) });
            wire::shared(ask, wire::json(&body))
        }
        _ => wire::not_found(),
    }
}

/// `control.test`
pub fn control(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/hits") => wire::json(&json!(state.hits())),
        ("GET", "/protocols") => wire::json(&json!(state.protocols())),
        ("GET", "/orders") => wire::json(&json!({ "orders": state.orders() })),
        ("GET", "/expected") => {
            let text = |name: &str| ask.param(name).unwrap_or_default();
            match demand::expected(text("site"), ask, text("account"), state) {
                Some(it) => wire::json(&it),
                None => wire::not_found(),
            }
        }
        ("GET", "/password") => {
            let password = demand::password(ask.param("account").unwrap_or_default());
            wire::json(&json!({ "password": password }))
        }
        ("GET", "/turn") => {
            state.turn(ask.param("site").unwrap_or_default());
            wire::json(&json!({}))
        }
        ("GET", "/expire") => {
            let text = |name: &str| ask.param(name).unwrap_or_default();
            demand::expire(text("site"), text("account"), state);
            wire::json(&json!({}))
        }
        ("GET", path) if path.starts_with("/gauges/") => {
            let mood = path.trim_start_matches("/gauges/");
            state.turn_gauges(mood);
            wire::json(&json!({ "gauges": mood }))
        }
        _ => wire::not_found(),
    }
}
