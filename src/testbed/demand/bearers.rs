//! Sites whose page sends a token that no cookie holds: kept in page storage, or in memory alone and fetched anew for each page.

use axum::http::StatusCode;
use axum::response::Response;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

use super::cookies::things;
use super::{LOGIN, SCRIPT, account_of, admit, holder, log_in, open_session, page, rest, rng, see};
use crate::testbed_state::TestbedState;
use crate::wire::{self, SiteRequest};

/// The account whose name and password the JSON body holds.
fn admit_json(ask: &SiteRequest) -> Option<&'static str> {
    let fields = ask.json();
    let text = |name: &str| (name.to_owned(), fields[name].as_str().unwrap_or_default().to_owned());
    admit(&[text("name"), text("password")])
}

/// The login form, sent as JSON by this script, which then knows the answer as `found`.
fn login_page(title: &str, path: &str, then: &str) -> Response {
    let script = format!(
        "document.getElementById('login').onsubmit = async event => {{
  event.preventDefault();
  const answer = await fetch('{path}', {{ method: 'POST', headers: {{ 'content-type': 'application/json' }}, body: JSON.stringify(Object.fromEntries(new FormData(event.target))) }});
  if (!answer.ok) {{ document.querySelector('h1').textContent = 'Wrong name or password'; return; }}
  const found = await answer.json();
  {then}
  location.href = '/';
}};"
    );
    page(title, &LOGIN.replace("method=\"post\" action=\"/login\"", "id=\"login\""), &script)
}

/// A token of three parts that names its account, as RFC 7519 has it; the last part is the session.
fn jwt(account: &str, session: &str) -> String {
    let part = |it: &Value| URL_SAFE_NO_PAD.encode(it.to_string());
    let head = part(&json!({ "alg": "HS256", "typ": "JWT" }));
    format!("{head}.{}.{session}", part(&json!({ "sub": account, "iss": "test" })))
}

/// Whose token it is.
fn holder_of_jwt(site: &str, token: &str, state: &TestbedState) -> Option<&'static str> {
    let (_, session) = token.rsplit_once('.')?;
    holder(site, session, state)
}

/// `wages.test`: a token of `sessionStorage`, in a header of its own.
pub fn wages(ask: &SiteRequest, state: &TestbedState) -> Response {
    let token = ask.header("x-auth-token").unwrap_or_default();
    let account = holder_of_jwt(&ask.host, token, state);
    match ask.route() {
        ("GET", "/login") => login_page("Wages", "/auth", "sessionStorage.setItem('jwt', found.token);"),
        ("POST", "/auth") => match admit_json(ask) {
            Some(account) => {
                wire::json(&json!({ "token": jwt(account, &open_session(ask, state, account)) }))
            }
            None => wire::error(StatusCode::UNAUTHORIZED, "wrong name or password"),
        },
        ("GET", "/") => page(
            "Wages",
            r#"<h1>Payslips</h1><form id="ask"><label>Year <input id="year" inputmode="numeric"></label><button>Show payslips</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Month</th><th>Gross</th><th>Net</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
if (!sessionStorage.getItem('jwt')) location.href = '/login';
onAsk(async () => {
  const year = document.getElementById('year').value;
  const answer = await fetch('/api/payslips/' + year, { headers: { 'x-auth-token': sessionStorage.getItem('jwt') } });
  if (answer.status === 401) { location.href = '/login'; return; }
  fill('rows', (await answer.json()).items.map(it => [it.month, it.gross, it.net]));
  say('Payslips of ' + year);
});"].concat(),
        ),
        ("GET", path) if path.starts_with("/api/payslips/") => match account {
            Some(account) => {
                let year = path.trim_start_matches("/api/payslips/");
                wire::json(&json!({ "items": payslips(account, year) }))
            }
            None => wire::error(StatusCode::UNAUTHORIZED, "token is not valid"),
        },
        _ => rest(ask),
    }
}

pub fn payslips(account: &str, year: &str) -> Value {
    const MONTHS: [&str; 6] = ["January", "February", "March", "April", "May", "June"];
    things(account, 6, |n| {
        let mut rng = rng("payslip", &format!("{account} {year}"), n);
        json!({ "month": MONTHS[n as usize - 1], "gross": rng.cents(200_000, 500_000), "net": rng.cents(100_000, 199_999) })
    })
}

/// `gitfarm.test`: GraphQL behind a bearer. Several operations share the address; a refusal has status 200.
pub fn gitfarm(ask: &SiteRequest, state: &TestbedState) -> Response {
    let bearer = ask.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    let account = bearer.and_then(|it| holder(&ask.host, it, state));
    match ask.route() {
        ("GET", "/login") => login_page(
            "Gitfarm",
            "/api/login",
            "localStorage.setItem('auth', JSON.stringify({ token: found.token, user: { login: found.login }, saved: true }));",
        ),
        ("POST", "/api/login") => match admit_json(ask) {
            Some(account) => {
                wire::json(&json!({ "token": open_session(ask, state, account), "login": account }))
            }
            None => wire::error(StatusCode::UNAUTHORIZED, "wrong name or password"),
        },
        ("GET", "/") => page(
            "Gitfarm",
            r#"<h1>My repositories</h1><p id="who"></p><form id="ask"><label>Language <input id="language"></label><button>Show repositories</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Repository</th><th>Stars</th><th>Updated</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
const auth = JSON.parse(localStorage.getItem('auth') ?? 'null');
if (!auth) location.href = '/login';
const graph = async (operationName, query, variables = {}) => (await (await fetch('/graphql', { method: 'POST', body: JSON.stringify({ operationName, query, variables }),
  headers: { 'content-type': 'application/json', authorization: `Bearer ${auth.token}` } })).json()).data;
graph('Viewer', 'query Viewer { viewer { login plan } }').then(it => { document.getElementById('who').textContent = it.viewer.login; });
onAsk(async () => {
  const language = document.getElementById('language').value;
  const found = await graph('Repositories', 'query Repositories($language: String!, $first: Int) { viewer { repositories(language: $language, first: $first) { nodes { name stars updatedAt } } } }', { language, first: 30 });
  fill('rows', found.viewer.repositories.nodes.map(it => [it.name, it.stars, it.updatedAt]));
  say('Repositories in ' + language);
});"].concat(),
        ),
        ("POST", "/graphql") => {
            let asked = ask.json();
            let Some(account) = account else {
                return wire::json(&json!({ "data": null, "errors": [{ "type": "UNAUTHENTICATED", "message": "you must be signed in" }] }));
            };
            match asked["operationName"].as_str() {
                Some("Viewer") => wire::json(&json!({ "data": { "viewer": { "login": account, "plan": "free" } } })),
                Some("Repositories") => {
                    let language = asked["variables"]["language"].as_str().unwrap_or_default();
                    wire::json(&json!({ "data": { "viewer": { "repositories": { "nodes": repositories(account, language) } } } }))
                }
                _ => wire::json(&json!({ "errors": [{ "message": "unknown operation" }] })),
            }
        }
        _ => rest(ask),
    }
}

pub fn repositories(account: &str, language: &str) -> Value {
    things(account, 5, |n| {
        let mut rng = rng("repository", &format!("{account} {language}"), n);
        json!({ "name": crate::words::slug(&rng.title(language)), "stars": rng.between(0, 4000), "updatedAt": rng.date() })
    })
}

/// What refresh tokens of `meterbox.test` are kept under.
const RENEWALS: &str = "renewal.meterbox.test";

/// `meterbox.test`: the token is in memory alone. Each page fetches one with a cookie that is good for one use.
pub fn meterbox(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "refresh";
    let bearer = ask.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    let account = bearer.and_then(|it| holder_of_jwt(&ask.host, it, state));
    let admitted = |account: &'static str| {
        let token = jwt(account, &open_session(ask, state, account));
        let answer = wire::json(
            &json!({ "access_token": token, "token_type": "Bearer", "expires_in": 300 }),
        );
        let next = state.open_session(&format!("{RENEWALS} {account}"));
        wire::with(
            answer,
            "set-cookie",
            &format!("{COOKIE}={next}; Path=/auth; HttpOnly; SameSite=Strict"),
        )
    };
    match ask.route() {
        ("GET", "/login") => login_page("Meterbox", "/auth/login", ""),
        ("POST", "/auth/login") => match admit_json(ask) {
            Some(account) => admitted(account),
            None => wire::error(StatusCode::UNAUTHORIZED, "wrong name or password"),
        },
        ("POST", "/auth/refresh") => {
            let old = ask.cookie(COOKIE).unwrap_or_default();
            match holder(RENEWALS, old, state) {
                Some(account) => {
                    state.close_session(&format!("{RENEWALS} {account}"), old);
                    admitted(account)
                }
                None => wire::error(StatusCode::UNAUTHORIZED, "sign in"),
            }
        }
        ("GET", "/") => page(
            "Meterbox",
            r#"<h1>Readings</h1><form id="ask"><label>Year <input id="year" inputmode="numeric"></label><button>Show readings</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Day</th><th>Meter</th><th>Reading</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
let access;
const renew = async () => {
  const answer = await fetch('/auth/refresh', { method: 'POST' });
  if (!answer.ok) { location.href = '/login'; return; }
  access = (await answer.json()).access_token;
};
const ready = renew();
onAsk(async () => {
  await ready;
  const year = document.getElementById('year').value;
  const call = () => fetch(`/api/readings?year=${year}`, { headers: { authorization: `Bearer ${access}` } });
  let answer = await call();
  if (answer.status === 401) { await renew(); answer = await call(); }
  fill('rows', (await answer.json()).map(it => [it.day, it.meter, it.reading]));
  say(`Readings of ${year}`);
});"].concat(),
        ),
        ("GET", "/api/readings") => match account {
            Some(account) => wire::json(&readings(account, ask.param("year").unwrap_or_default())),
            None => wire::error(StatusCode::UNAUTHORIZED, "token is missing or has ended"),
        },
        _ => rest(ask),
    }
}

pub fn readings(account: &str, year: &str) -> Value {
    things(account, 5, |n| {
        let mut rng = rng("reading", &format!("{account} {year}"), n);
        json!({ "day": format!("{year}-{:02}-01", n * 2), "meter": rng.title("water"), "reading": rng.between(1000, 99_999) })
    })
}

/// `hearth.test`: a token as plain text in storage, and the user's number beside it, which is a part of the address.
pub fn hearth(ask: &SiteRequest, state: &TestbedState) -> Response {
    let token = ask.header("authorization").and_then(|it| it.strip_prefix("Token "));
    let account = token.and_then(|it| holder(&ask.host, it, state));
    if let ("GET", Some(below)) = (&*ask.method, ask.path.strip_prefix("/v1/users/")) {
        return match (account, below.strip_suffix("/devices")) {
            (None, _) => wire::error(StatusCode::UNAUTHORIZED, "invalid token"),
            (Some(account), Some(id)) if id == user(account) => wire::json(
                &json!({ "devices": devices(account, ask.param("room").unwrap_or_default()) }),
            ),
            _ => wire::error(StatusCode::NOT_FOUND, "no such user"),
        };
    }
    match ask.route() {
        ("GET", "/login") => login_page(
            "Hearth",
            "/v1/token",
            "localStorage.setItem('hearth_token', found.key); localStorage.setItem('hearth_user', found.user);",
        ),
        ("POST", "/v1/token") => match admit_json(ask) {
            Some(account) => wire::json(&json!({ "key": open_session(ask, state, account), "user": user(account) })),
            None => wire::error(StatusCode::BAD_REQUEST, "unable to log in"),
        },
        ("GET", "/") => page(
            "Hearth",
            r#"<h1>Devices</h1><form id="ask"><label>Room <input id="room"></label><button>Show devices</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Device</th><th>State</th><th>Battery</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
const token = localStorage.getItem('hearth_token');
if (!token) location.href = '/login';
onAsk(async () => {
  const room = document.getElementById('room').value;
  const answer = await fetch(`/v1/users/${localStorage.getItem('hearth_user')}/devices?` + new URLSearchParams({ room }), { headers: { authorization: 'Token ' + token } });
  fill('rows', (await answer.json()).devices.map(it => [it.device, it.state, it.battery]));
  say('Devices in the ' + room);
});"].concat(),
        ),
        _ => rest(ask),
    }
}

fn user(account: &str) -> String {
    format!("u{}", rng("hearth user", account, 0).between(10_000_000, 99_999_999))
}

pub fn devices(account: &str, room: &str) -> Value {
    things(account, 5, |n| {
        let mut rng = rng("device", &format!("{account} {room}"), n);
        json!({ "device": rng.title("lamp"), "state": rng.pick(&["on", "off", "asleep"]), "battery": rng.between(1, 100) })
    })
}

/// `rosterly.test`: a session cookie, and the tenant in a header whose value is in storage; at `shiftly.test` each page asks for it.
pub fn rosterly(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "roster";
    let account = account_of(ask, state, COOKIE);
    match (ask.route(), account) {
        (("GET", "/login"), _) => page("Rosterly", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Rosterly"),
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(_)) => page(
            "Rosterly",
            r#"<h1>Roster</h1><form id="ask"><label>Team <input id="team"></label><button>Show roster</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Day</th><th>Person</th><th>Duty</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
let kept;
const keep = key => { if (location.hostname === 'shiftly.test') kept = key; else localStorage.setItem('tenant', key); };
const tenant = async () => {
  if (location.hostname === 'shiftly.test' || !localStorage.getItem('tenant')) keep((await (await fetch('/api/session')).json()).tenants[0].key);
  return kept ?? localStorage.getItem('tenant');
};
const ready = tenant();
onAsk(async () => {
  const team = document.getElementById('team').value;
  const answer = await fetch('/api/roster?' + new URLSearchParams({ team }), { headers: { 'x-tenant': await ready } });
  fill('rows', (await answer.json()).duties.map(it => [it.day, it.person, it.duty]));
  say('Roster of team ' + team);
});"].concat(),
        ),
        (("GET", "/api/session"), Some(account)) => {
            wire::json(&json!({ "tenants": [{ "key": tenant(account), "name": format!("House of {account}") }] }))
        }
        (("GET", "/api/roster"), Some(account)) => {
            if ask.header("x-tenant") != Some(&tenant(account)) {
                return wire::error(StatusCode::FORBIDDEN, "not a member of this tenant");
            }
            wire::json(&json!({ "duties": duties(account, ask.param("team").unwrap_or_default()) }))
        }
        (("GET", "/api/session" | "/api/roster"), None) => wire::error(StatusCode::UNAUTHORIZED, "sign in"),
        _ => rest(ask),
    }
}

fn tenant(account: &str) -> String {
    format!("t-{}", rng("tenant", account, 0).between(100_000, 999_999))
}

pub fn duties(account: &str, team: &str) -> Value {
    things(account, 5, |n| {
        let mut rng = rng("duty", &format!("{account} {team}"), n);
        json!({ "day": rng.date(), "person": rng.name(), "duty": rng.title("early") })
    })
}
