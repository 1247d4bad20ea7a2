//! `api.observatory.test`: readings for those who have a key, in each way that keys are sent; and an echo of what was sent.

use axum::http::StatusCode;
use axum::response::Response;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};
use crate::words;

/// The only key there is; with it goes the user `warden`.
const KEY: &str = "night-Sky/42+open=";

pub fn answer(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/v1/readings") if !has_key(ask) => {
            let refusal = wire::error(StatusCode::UNAUTHORIZED, "a key is needed");
            wire::with(refusal, "www-authenticate", r#"Bearer realm="readings""#)
        }
        ("GET", "/v1/readings") => match ask.param("q") {
            Some(query) => wire::json(&readings(query)),
            None => wire::missing("q"),
        },
        ("GET", "/v1/echo") => wire::answer(StatusCode::OK, "application/json", echo(ask)),
        ("GET", "/v1/page") => wire::html(format!("<script id=\"state\">{}</script>", echo(ask))),
        ("GET", "/v1/fails") => {
            wire::answer(StatusCode::IM_A_TEAPOT, "application/json", echo(ask))
        }
        ("GET", "/v1/moved") => wire::redirect("/v1/readings?q=moved"),
        ("GET", "/v1/away") => wire::redirect("//api.seedbank.test/v3/packets?q=away"),
        _ => wire::not_found(),
    }
}

fn has_key(ask: &SiteRequest) -> bool {
    let basic = format!("Basic {}", STANDARD.encode(format!("warden:{KEY}")));
    let authorization = ask.header("authorization").unwrap_or_default();
    authorization == format!("Bearer {KEY}")
        || authorization == basic
        || ask.header("x-api-key") == Some(KEY)
        || ask.param("key") == Some(KEY)
}

/// All that came, and the key once more as some libraries escape it.
fn echo(ask: &SiteRequest) -> String {
    let headers: Value = ask
        .headers
        .iter()
        .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let bearer = ask.header("authorization").unwrap_or_default().trim_start_matches("Bearer ");
    let mut all = json!({ "headers": headers, "query": ask.query, "echo": true });
    all[bearer] = json!("a key as a key");
    let escaped = bearer.replace('=', r"\u003d").replace('/', r"\/");
    all.to_string().replace(r#""echo":true"#, &format!(r#""echo":"{escaped}""#))
}

fn readings(query: &str) -> Value {
    let found = words::search("readings", query, 1, 12);
    let reading = |(at, mut rng): (u64, words::SeededRng)| {
        json!({
            "id": 4000 + at,
            "object": rng.title(query),
            "observer": rng.person(),
            "magnitude": rng.between(1, 14),
            "note": rng.sentence(query),
        })
    };
    let readings: Vec<Value> = found.hits.into_iter().map(reading).collect();
    json!({ "total": found.total, "readings": readings })
}
