//! `leaky.test` keeps logins as badly as a site can, `sound.test` as well as one should: the same pages, every fault and none.
//! `hoard.test` has secrets in every place that a site can put them.

use std::fmt::Write as _;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Map, Value, json};

use crate::pictures;
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};

fn page(title: &str, main: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title></head><body><h1>{title}</h1>{main}</body></html>"
    )
}

fn see(to: &str) -> Response {
    wire::with(wire::text(StatusCode::SEE_OTHER, ""), "location", to)
}

/// Over http as over https.
pub fn leaky(ask: &SiteRequest, state: &TestbedState) -> Response {
    let reset = secret("leaky reset");
    match ask.route() {
        ("GET", "/") => {
            let scheme = if ask.secure { "https" } else { "http" };
            let form = format!(
                "<form name=\"login\" method=\"post\" action=\"/login\"><label>Name <input name=\"name\"></label>
                <label>Password <input name=\"password\" type=\"password\"></label><button>Log in</button></form>
                <p><a href=\"/forgot\">Forgotten?</a> <a href=\"/go?to={scheme}://shop.test/\">Our shop</a> <a href=\"/hand\">Our docs</a></p>
                <img alt=\"\" src=\"http://leaky.test/logo.gif\">"
            );
            let cookie = format!("session_id={}; Path=/", state.open_session("leaky"));
            wire::with(wire::html(page("Leaky", &form)), "set-cookie", &cookie)
        }
        ("POST", "/login") => see("/in"),
        ("GET", "/in") => wire::html(page("You are in", "<p>Hello.</p>")),
        ("GET", "/forgot") => see(&format!("/reset?reset_token={reset}")),
        ("GET", "/reset") => {
            let image = if ask.secure { "https" } else { "http" };
            let main = format!(
                "<p>Choose another.</p><img alt=\"\" referrerpolicy=\"unsafe-url\" src=\"{image}://metrics.tracker.test/pixel.gif\">"
            );
            wire::html(page("Reset", &main))
        }
        ("GET", "/logo.gif") => wire::answer(StatusCode::OK, "image/gif", pictures::PIXEL),
        // Wherever the address says.
        ("GET", "/go") => see(ask.param("to").unwrap_or("/")),
        ("GET", "/hand") => {
            see(&format!("https://docs.test/?access_token={}", secret("leaky hand")))
        }
        _ => wire::not_found(),
    }
}

/// Over https alone.
pub fn sound(ask: &SiteRequest, state: &TestbedState) -> Response {
    if !ask.secure {
        return wire::with(
            wire::text(StatusCode::MOVED_PERMANENTLY, ""),
            "location",
            &format!("https://sound.test{}", ask.path),
        );
    }
    let answer = match ask.route() {
        ("GET", "/") => {
            let form = format!(
                "<form name=\"login\" method=\"post\" action=\"/login\"><input type=\"hidden\" name=\"csrf_token\" value=\"{}\">
                <label>Name <input name=\"name\"></label>
                <label>Password <input name=\"password\" type=\"password\"></label><button>Log in</button></form>
                <p><a href=\"/forgot\">Forgotten?</a> <a href=\"/go?to=/in\">Our shop</a></p>",
                secret("sound form")
            );
            let cookie = format!(
                "__Host-session={}; Path=/; Secure; HttpOnly; SameSite=Lax",
                state.open_session("sound")
            );
            wire::with(wire::html(page("Sound", &form)), "set-cookie", &cookie)
        }
        ("POST", "/login") => see("/in"),
        ("GET", "/in") => wire::html(page("You are in", "<p>Hello.</p>")),
        ("GET", "/forgot") => wire::html(page("Reset", "<p>We have sent you a letter.</p>")),
        ("GET", "/go") => see(if ask.param("to") == Some("/in") { "/in" } else { "/" }),
        _ => wire::not_found(),
    };
    let answer = wire::with(answer, "strict-transport-security", "max-age=31536000");
    let answer =
        wire::with(answer, "content-security-policy", "default-src 'self'; frame-ancestors 'none'");
    wire::with(answer, "referrer-policy", "no-referrer")
}

/// Secrets of each kind.
pub const HOARDED: usize = 12;

/// The n-th secret of a kind that `hoard.test` hands out.
pub fn hoarded(kind: &str, n: usize) -> String {
    secret(&format!("hoard {kind} {n}"))[..40].to_owned()
}

fn secret_name(kind: &str, n: usize) -> String {
    let names =
        ["session_token", "auth_token", "access_token", "api_key", "refresh_token", "secret"];
    format!("{kind}{n}_{}", names[n % names.len()])
}

pub fn hoard(ask: &SiteRequest, _: &TestbedState) -> Response {
    let all =
        |kind: &'static str| (0..HOARDED).map(move |n| (secret_name(kind, n), hoarded(kind, n)));
    match ask.route() {
        ("GET", "/") => {
            let mut script = String::new();
            for (name, value) in all("storage") {
                // Writing to a String cannot fail.
                let _ = writeln!(script, "localStorage.setItem('{name}', '{value}');");
            }
            let headers: Map<String, Value> = all("header")
                .map(|(name, it)| (format!("x-{}", name.replace('_', "-")), it.into()))
                .collect();
            let query: Vec<String> = all("url").map(|(name, it)| format!("{name}={it}")).collect();
            let query = query.join("&");
            let _ = writeln!(
                script,
                "fetch('/api/keys?{query}', {{ headers: {} }}).then(it => it.json()).then(it => {{
                  document.querySelector('output').textContent = 'Yours are ' + Object.values(it).join(' and ') + ' and ' + localStorage.getItem('{}') + ' and ' + document.cookie;
                }});",
                Value::Object(headers),
                secret_name("storage", 0),
            );
            let first = hoarded("url", 0);
            let main = format!(
                "<label>Password <input type=\"password\" name=\"password\"></label> <a href=\"/next?url0_auth_token={first}\">Next</a> <output></output><script>{script}</script>"
            );
            let page = wire::html(page("Hoard", &main));
            all("cookie").fold(page, |page, (name, value)| {
                wire::with(page, "set-cookie", &format!("{name}={value}; Path=/"))
            })
        }
        ("GET", "/next") => {
            wire::html(page("Next", &format!("<p>Still {}</p>", hoarded("cookie", 3))))
        }
        ("GET", "/api/keys") => {
            let body: Map<String, Value> =
                all("body").map(|(name, it)| (name, it.into())).collect();
            wire::json(&json!(body))
        }
        _ => wire::not_found(),
    }
}
