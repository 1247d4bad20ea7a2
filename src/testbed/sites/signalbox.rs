//! `signalbox.test`: trains that pass. The form has a hidden field with a ticket, new on each load of the page, and the server answers
//! nobody who does not send one.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const PAGE: &str = include_str!("../pages/signalbox.html");

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => {
            let ticket = state.open_session("signalbox");
            wire::html(PAGE.replace("TICKET", &ticket))
        }
        ("POST", "/trains/find") => {
            let form = ask.form();
            let of = |name: &str| wire::lookup(&form, name);
            if !of("ticket").is_some_and(|it| state.knows_session("signalbox", it)) {
                return wire::error(StatusCode::FORBIDDEN, "the form has expired");
            }
            match of("line") {
                Some(line) => wire::json(&trains(line)),
                None => wire::missing("line"),
            }
        }
        _ => wire::not_found(),
    }
}

fn trains(line: &str) -> Value {
    let found = words::search("trains", line, 1, 9);
    let train = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "headcode": format!("{}{}{:02}", rng.between(1, 9), rng.pick(&["A", "K", "V"]), rng.between(0, 99)),
            "working": rng.title(line),
            "driver": rng.name(),
            "to": rng.pick(words::CITIES),
            "passes": format!("{:02}:{:02}", rng.between(4, 23), rng.between(0, 59)),
        })
    };
    json!({"line": line, "trains": found.hits.into_iter().map(train).collect::<Vec<_>>()})
}
