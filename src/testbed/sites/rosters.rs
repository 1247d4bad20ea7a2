//! `rosters.test`: who is on watch. A crew is chosen by its name from a list that the page loads first; its roster is asked for by its
//! number, which only that list tells. Two crews have one name.

use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::SeededRng;

const ROSTERS: Site = Site {
    name: "Harbour Watch",
    description: "Who is on watch, and when.",
    layout: Layout::Classic,
    nav: &["Crews", "Tides", "Signals"],
    main: r#"<h1>Who is on watch?</h1>
<form id="ask"><label>Crew <input type="text" id="crew"></label> <button>Show roster</button></form>
<p id="status" role="status"></p><div id="roster"></div>"#,
    script: ("/js/watch.js", include_str!("../pages/rosters.js")),
    extras: &[Extra::Locale, Extra::Anonymous, Extra::Tracker],
};

/// Crews with their harbours.
const CREWS: [(&str, &str); 9] = [
    ("North pier", "Kalvik"),
    ("East basin", "Kalvik"),
    ("South mole", "Eskholm"),
    ("Lighthouse", "Norby"),
    ("South mole", "Norby"),
    ("Dry dock", "Sundport"),
    ("Outer bar", "Sundport"),
    ("Fish market", "Norhaven"),
    ("Customs quay", "Norhaven"),
];

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    let of_crew = ask.path.strip_prefix("/api/crews/").and_then(|it| it.strip_suffix("/roster"));
    if let ("GET", Some(number)) = (&*ask.method, of_crew) {
        let is_known = (0..CREWS.len()).any(|it| number_of(it) == number);
        return if is_known { wire::json(&roster(number)) } else { wire::not_found() };
    }
    match ask.route() {
        ("GET", "/api/crews") => {
            let crew = |(at, (name, harbour)): (usize, &(&str, &str))| json!({"number": number_of(at), "name": name, "harbour": {"name": harbour}, "boats": 1 + at % 3});
            let all: Vec<Value> = CREWS.iter().enumerate().map(crew).collect();
            wire::json(&json!({"crews": all, "as_of": "2026-05-01"}))
        }
        _ => shell::answer(&ROSTERS, ask),
    }
}

/// Nobody but the list can tell it from the name.
fn number_of(at: usize) -> String {
    secret(&format!("crew {at}"))[..8].to_owned()
}

fn roster(number: &str) -> Value {
    let watch = |n: u64| {
        let mut rng = SeededRng::new(&["roster", number, &n.to_string()]);
        json!({
            "begins": format!("{:02}:00", 4 * (n - 1)),
            "officer": rng.name(),
            "lookout": rng.name(),
            "boat": rng.title("boat"),
            "remark": rng.sentence("the watch"),
        })
    };
    json!({"watches": (1..=6).map(watch).collect::<Vec<_>>()})
}
