//! `films.test`: GraphQL whose documents the server knows by their hash, searched by GET and by POST.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use crate::shell::{self, Extra, Layout, Site};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};
use crate::words::{self, SeededRng};

const SITE: Site = Site {
    name: "Repertory",
    description: "Films that are still shown, and by whom they were made.",
    layout: Layout::App,
    nav: &["Films", "Cinemas", "Programme"],
    main: r#"<h1>What is on?</h1>
<form id="films"><input type="search" id="film" aria-label="Film title"><button>Search films</button></form>
<form id="people"><input type="search" id="person" aria-label="Person"><button>Search people</button></form>
<p id="status" role="status"></p><div id="found"></div>"#,
    script: ("", ""),
    extras: &[Extra::Tracker, Extra::Locale, Extra::RemoteFlags],
};

const FILMS: &str = "query FilmSearch($title: String!, $first: Int) { films(title: $title, first: $first) { total nodes { id title year director { name } } } }";
const PEOPLE: &str =
    "query PeopleSearch($name: String!) { people(name: $name) { total nodes { id name role } } }";
const BANNER: &str = "query Banner { banner { text } }";

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/") => {
            let main = format!(r#"{}<script src="/_next/films.js"></script>"#, SITE.main);
            shell::page(&SITE, ask, "", &main)
        }
        ("GET", "/_next/films.js") => {
            let script = include_str!("../pages/films.js");
            let hashes = [("{{films}}", FILMS), ("{{people}}", PEOPLE), ("{{banner}}", BANNER)];
            wire::script(hashes.iter().fold(script.to_owned(), |js, (mark, document)| {
                js.replace(mark, &secret(document))
            }))
        }
        ("GET", "/graphql") => {
            let part = |name| ask.param(name).and_then(|it| serde_json::from_str(it).ok());
            graphql(&part("variables").unwrap_or_default(), &part("extensions").unwrap_or_default())
        }
        ("POST", "/graphql") => {
            let body = ask.json();
            graphql(&body["variables"], &body["extensions"])
        }
        _ => shell::answer(&SITE, ask),
    }
}

fn graphql(variables: &Value, extensions: &Value) -> Response {
    let hash = extensions["persistedQuery"]["sha256Hash"].as_str().unwrap_or_default();
    let text = |name: &str| variables[name].as_str().filter(|it| !it.trim().is_empty());
    if hash == secret(BANNER) {
        return wire::json(&json!({ "data": { "banner": { "text": "Closed on Mondays" } } }));
    }
    if hash == secret(FILMS) {
        let first = variables["first"].as_u64().unwrap_or(8).clamp(1, 50);
        return match text("title") {
            Some(title) => wire::json(&json!({ "data": { "films": films(title, first) } })),
            None => refuse("variable $title of type String! was not provided"),
        };
    }
    if hash == secret(PEOPLE) {
        return match text("name") {
            Some(name) => wire::json(&json!({ "data": { "people": people(name) } })),
            None => refuse("variable $name of type String! was not provided"),
        };
    }
    // As Apollo Server words it; clients then send the whole document, which this one refuses.
    refuse("PersistedQueryNotFound")
}

fn refuse(message: &str) -> Response {
    let body =
        json!({ "errors": [{ "message": message, "extensions": { "code": "BAD_USER_INPUT" } }] });
    wire::json_status(StatusCode::BAD_REQUEST, &body)
}

fn films(title: &str, first: u64) -> Value {
    let found = words::search("films", title, 1, first);
    let film = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "id": format!("film:{}", rng.between(1000, 99_999)),
            "title": rng.title(title),
            "year": rng.between(1919, 2024),
            "minutes": rng.between(62, 210),
            "director": rng.person(),
            "synopsis": rng.sentence(title),
        })
    };
    json!({ "total": found.total, "nodes": found.hits.into_iter().map(film).collect::<Vec<_>>() })
}

fn people(name: &str) -> Value {
    let found = words::search("film people", name, 1, 10);
    let person = |(_, mut rng): (u64, SeededRng)| {
        json!({
            "id": format!("person:{}", rng.between(1000, 99_999)),
            "name": format!("{} {}", rng.pick(words::FIRST), words::capitalised(name)),
            "role": rng.pick(&["director", "actor", "editor", "composer", "camera"]),
            "born": { "year": rng.between(1890, 2000), "place": rng.pick(words::CITIES) },
            "knownFor": rng.title("night"),
        })
    };
    json!({ "total": found.total, "nodes": found.hits.into_iter().map(person).collect::<Vec<_>>() })
}
