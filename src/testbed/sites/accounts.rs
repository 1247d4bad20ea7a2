//! `accounts.test`: a login that works. Without one everything leads to its form; with one the page greets, by cookie and by what
//! it stored. `/link` logs in for a day. `/many` leaves 32 cookies and 32 stored values, each of which would be known again.

use axum::http::StatusCode;
use axum::response::Response;

use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest};

const COOKIE: &str = "accounts_sid";
const USER: &str = "ada@accounts.test";
/// Nobody's but this site's.
const PASSWORD: &str = "marmalade-and-toast";

const FORM: &str = r#"<h1>Sign in</h1><form method="post" action="/login"><label>Email <input name="user" type="email"></label>
<label>Password <input name="password" type="password"></label> <button>Sign in</button></form>"#;

pub fn answer(ask: &SiteRequest, state: &TestbedState) -> Response {
    let known = ask.cookie(COOKIE).filter(|id| state.knows_session("accounts", id));
    match (ask.route(), known) {
        (("GET", "/login"), _) => page("Sign in", FORM),
        (("POST", "/login"), _) => log_in(ask, state),
        (("GET", "/link"), _) => linked(state),
        (("GET", "/logout"), Some(id)) => {
            state.close_session("accounts", id);
            wire::redirect("/login")
        }
        (("GET", "/many"), Some(_)) => many(),
        (("GET", "/"), Some(_)) => page("Account", HOME),
        (("GET", "/api/orders"), Some(_)) => {
            let query = ask.param("q").unwrap_or_default();
            wire::json(&serde_json::json!({ "orders": [
                { "title": format!("{query} lamp"), "cents": 1200 },
                { "title": format!("{query} rake"), "cents": 900 },
            ]}))
        }
        (("GET", "/api/orders"), None) => wire::error(StatusCode::UNAUTHORIZED, "login required"),
        (("GET", "/" | "/many"), None) => wire::redirect("/login"),
        _ => wire::not_found(),
    }
}

fn page(title: &str, main: &str) -> Response {
    wire::html(format!("<!doctype html><meta charset=utf-8><title>{title}</title>{main}"))
}

/// The first script of the page reads what was stored.
const HOME: &str = r#"<script>const found = localStorage.getItem('accounts_token');</script>
<h1>Your account</h1><p>Signed in as ada</p><p id="stored"></p>
<script>document.getElementById('stored').textContent = found ? 'and remembered' : 'and forgotten';</script>
<a href="/logout">Sign out</a>"#;

fn log_in(ask: &SiteRequest, state: &TestbedState) -> Response {
    let form = ask.form();
    let field = |name: &str| wire::lookup(&form, name).unwrap_or_default();
    if field("user") != USER || field("password") != PASSWORD {
        return page("Sign in", &format!("<p>Wrong email or password</p>{FORM}"));
    }
    let token = secret("accounts token");
    let script = format!(
        "<p>Welcome</p><script>localStorage.setItem('accounts_token', '{token}'); location.href = '/';</script>"
    );
    let sid = state.open_session("accounts");
    let out = page("Welcome", &script);
    let out =
        wire::with(out, "set-cookie", &format!("{COOKIE}={sid}; Path=/; HttpOnly; SameSite=Lax"));
    wire::with(out, "set-cookie", "accounts_seen=1; Path=/; Max-Age=86400")
}

/// As a link in a mail: logged in for a day, and no browser forgets it when it ends.
fn linked(state: &TestbedState) -> Response {
    let sid = state.open_session("accounts");
    let cookie = format!("{COOKIE}={sid}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400");
    wire::with(page("Welcome", "<p>Welcome back"), "set-cookie", &cookie)
}

/// Its `n`th value, of cookies first.
fn canary(n: usize) -> String {
    secret(&format!("accounts canary {n}"))
}

fn many() -> Response {
    let stored = (32..64).fold(String::new(), |it, n| {
        it + &format!("localStorage.setItem('stored_{n}', '{}');", canary(n))
    });
    // It shows them, as pages for developers do.
    let shown = "const all = document.cookie + ' ' + Object.values(localStorage).join(' ');
      document.getElementById('all').textContent = all; console.log(all);";
    let main = format!("<p>Many values</p><p id=all></p><script>{stored}{shown}</script>");
    let out = page("Many", &main);
    (0..32).fold(out, |out, n| {
        wire::with(out, "set-cookie", &format!("many_{n}={}; Path=/", canary(n)))
    })
}
