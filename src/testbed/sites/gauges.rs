//! `api.gauges.test`: river gauges whose answers `control.test/gauges/…` changes: `well`, `drifted`, `gone`, `busy`.
//! There are no pages. Of the river `dry` nothing is known, and `tidal` is answered in another form, whatever it is set to.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    let (("GET", "/v1/levels"), Some(river)) = (ask.route(), ask.param("river")) else {
        return wire::not_found();
    };
    let set = state.gauges();
    let form = match river {
        "dry" => "gone",
        "tidal" => "drifted",
        _ => set.as_str(),
    };
    match form {
        "drifted" => wire::json(&levels(
            river,
            |station, rng| json!({ "gauge": { "label": station, "at": rng.date() }, "height_m": rng.between(1, 9) }),
        )),
        "gone" => wire::not_found(),
        "busy" => wire::error(StatusCode::SERVICE_UNAVAILABLE, "come again"),
        _ => wire::json(&levels(
            river,
            |station, rng| json!({ "station": station, "level_cm": rng.between(80, 900), "trend": rng.pick(words::TAGS) }),
        )),
    }
}

fn levels(river: &str, level: impl Fn(String, &mut SeededRng) -> Value) -> Value {
    let found = words::search("gauges", river, 1, 8);
    let levels = found.hits.into_iter().map(|(_, mut rng)| level(rng.title(river), &mut rng));
    json!({ "river": river, "levels": levels.collect::<Vec<_>>() })
}
