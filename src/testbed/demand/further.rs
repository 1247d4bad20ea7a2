//! Further sites whose data needs a login: `annex.test`, whose server asks for name and password itself, and `granary.test`, whose
//! session is renewed by a cookie that goes to one address alone.

use axum::http::StatusCode;
use axum::response::Response;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{ACCOUNTS, LOGIN, account_of, admit, open_session, page, password, rest, rng, see};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};

/// `annex.test`: shifts of a week. Name and password come with each request (RFC 7617); no cookie is set.
pub fn annex(ask: &SiteRequest, _: &TestbedState) -> Response {
    let Some(account) = basic_auth_account(ask) else {
        let refusal = wire::error(StatusCode::UNAUTHORIZED, "name and password are needed");
        return wire::with(refusal, "www-authenticate", r#"Basic realm="annex""#);
    };
    match ask.route() {
        ("GET", "/") => page(
            "Annex",
            r#"<h1>My shifts</h1><form id="ask"><label>Week <input id="week" inputmode="numeric"></label><button>Show shifts</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Day</th><th>Post</th><th>Hours</th></tr></thead><tbody id="shifts"></tbody></table>"#,
            include_str!("../pages/demand/annex.js"),
        ),
        ("GET", "/shifts.json") => {
            wire::json(&json!({ "shifts": shifts(account, ask.number("week", 1, 53)) }))
        }
        _ => rest(ask),
    }
}

/// Whose name and password a request carries.
fn basic_auth_account(ask: &SiteRequest) -> Option<&'static str> {
    let given = ask.header("authorization")?;
    let basic = |it: &str| format!("Basic {}", STANDARD.encode(format!("{it}:{}", password(it))));
    ACCOUNTS.into_iter().find(|it| given == basic(it))
}

/// What an account does in a week; the last of [`ACCOUNTS`] nothing.
pub fn shifts(account: &str, week: u64) -> Value {
    if !ACCOUNTS[..2].contains(&account) {
        return json!([]);
    }
    let shift = |n: u64| {
        let mut rng = rng("shift", &format!("{account} {week}"), n);
        json!({ "day": rng.date(), "post": rng.title("gate"), "hours": rng.between(2, 9) })
    };
    (1..=5).map(shift).collect()
}

/// The cookies of `granary.test`, and what the second is kept under.
const PASS: &str = "pass";
const RENEWAL: &str = "renewal";
const RENEWALS: &str = "renewal.granary.test";

/// `granary.test`: crates of a hall. A refused request is renewed by a cookie that goes to `/session/renew` alone, good for one use.
pub fn granary(ask: &SiteRequest, state: &TestbedState) -> Response {
    let account = account_of(ask, state, PASS);
    match ask.route() {
        ("GET", "/login") => page("Granary", LOGIN, ""),
        ("POST", "/login") => match admit(&ask.form()) {
            Some(account) => admitted(ask, state, account, see("/")),
            None => page("Granary", LOGIN, ""),
        },
        ("GET", "/") => page(
            "Granary",
            r#"<h1>My crates</h1><form id="ask"><label>Hall <input id="hall"></label><button>Show crates</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Mark</th><th>Content</th><th>Weight</th></tr></thead><tbody id="crates"></tbody></table>"#,
            include_str!("../pages/demand/granary.js"),
        ),
        ("POST", "/session/renew") => {
            let renewal = ask.cookie(RENEWAL).unwrap_or_default();
            match super::holder(RENEWALS, renewal, state) {
                Some(account) => {
                    state.close_session(&format!("{RENEWALS} {account}"), renewal);
                    admitted(ask, state, account, wire::json(&json!({ "ok": true })))
                }
                None => wire::error(StatusCode::UNAUTHORIZED, "sign in"),
            }
        }
        ("GET", "/crates.json") => match account {
            Some(account) => {
                let hall = ask.param("hall").unwrap_or_default();
                wire::json(&json!({ "crates": crates(account, hall) }))
            }
            None => wire::error(StatusCode::UNAUTHORIZED, "session is over"),
        },
        _ => rest(ask),
    }
}

/// The answer with both cookies of a new session.
fn admitted(ask: &SiteRequest, state: &TestbedState, account: &str, answer: Response) -> Response {
    let pass = open_session(ask, state, account);
    let renewal = state.open_session(&format!("{RENEWALS} {account}"));
    let answer = wire::with(answer, "set-cookie", &format!("{PASS}={pass}; Path=/; HttpOnly"));
    let renewal = format!("{RENEWAL}={renewal}; Path=/session/renew; HttpOnly");
    wire::with(answer, "set-cookie", &renewal)
}

/// What an account keeps in a hall.
pub fn crates(account: &str, hall: &str) -> Value {
    if !ACCOUNTS[..2].contains(&account) {
        return json!([]);
    }
    let crate_of = |n: u64| {
        let mut rng = rng("crate", &format!("{account} {hall}"), n);
        json!({ "mark": format!("{}-{}", rng.pick(&["KL", "MR", "TS"]), rng.between(100, 999)), "content": rng.title("spare"), "weight": rng.between(5, 400) })
    };
    (1..=6).map(crate_of).collect()
}
