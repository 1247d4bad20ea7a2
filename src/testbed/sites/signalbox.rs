//! `signalbox.test`: trains that pass. The form has a hidden field with a ticket, new on each load of the page, and the server answers
//! nobody who does not send one.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::wire::{self, SiteRequest};
use crate::words::{self, Dice};
use crate::world::TestbedState;

const PAGE: &str = include_str!("../pages/signalbox.html");

pub fn answer(ask: &SiteRequest, world: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => {
            let ticket = world.open_session("signalbox");
            wire::html(PAGE.replace("TICKET", &ticket))
        }
        ("POST", "/trains/find") => {
            let form = ask.form();
            let of = |name: &str| wire::lookup(&form, name);
            if !of("ticket").is_some_and(|it| world.knows_session("signalbox", it)) {
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
    let train = |(_, mut dice): (u64, Dice)| {
        json!({
            "headcode": format!("{}{}{:02}", dice.between(1, 9), dice.pick(&["A", "K", "V"]), dice.between(0, 99)),
            "working": dice.title(line),
            "driver": dice.name(),
            "to": dice.pick(words::CITIES),
            "passes": format!("{:02}:{:02}", dice.between(4, 23), dice.between(0, 59)),
        })
    };
    json!({"line": line, "trains": found.hits.into_iter().map(train).collect::<Vec<_>>()})
}
