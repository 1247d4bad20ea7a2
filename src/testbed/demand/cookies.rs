//! Sites that know their user by a cookie: pages made by the server, tokens that a page repeats, an account's number in the
//! address, an address of its own for each customer, and a login at another host.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{
    ACCOUNTS, LOGIN, SCRIPT, account_of, admit, echo_of, holder, log_in, open_session, page,
    password, rest, rng, see,
};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest, escape};

/// The things that an account has; the last of [`ACCOUNTS`] has none.
pub fn things(account: &str, count: u64, thing: impl Fn(u64) -> Value) -> Value {
    if !ACCOUNTS[..2].contains(&account) {
        return json!([]);
    }
    (1..=count).map(thing).collect()
}

/// Rows of a table, from these members of each thing.
pub fn cells(things: &Value, names: [&str; 3]) -> String {
    let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), escape);
    let row = |it: &Value| names.map(|name| format!("<td>{}</td>", text(&it[name]))).concat();
    let all = things.as_array().into_iter().flatten();
    all.map(|it| format!("<tr>{}</tr>", row(it))).collect::<Vec<_>>().concat()
}

/// `surgery.test`: appointments of a month, on a page of the server. A stranger is led to the login page.
pub fn surgery(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "PHPSESSID";
    match (ask.route(), account_of(ask, state, COOKIE)) {
        (("GET", "/login"), _) => page("Surgery", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Surgery"),
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(account)) => {
            let month = ask.param("month").unwrap_or("2026-01");
            let rows = cells(&appointments(account, month), ["day", "doctor", "reason"]);
            let main = format!(
                r#"<h1>Your appointments</h1><form action="/"><label>Month <input name="month" placeholder="YYYY-MM"></label><button>Show month</button></form>
<p>Appointments in {}</p><table><thead><tr><th>Day</th><th>Doctor</th><th>Reason</th></tr></thead><tbody>{rows}</tbody></table>
<p>Signed in as {account}. <a href="/logout">Sign out</a></p>"#,
                escape(month)
            );
            page("Surgery", &main, "")
        }
        _ => rest(ask),
    }
}

pub fn appointments(account: &str, month: &str) -> Value {
    things(account, 4, |n| {
        let mut rng = rng("appointment", &format!("{account} {month}"), n);
        json!({ "day": format!("{month}-{:02}", rng.between(1, 28)), "doctor": format!("Dr. {}", rng.name()), "reason": rng.title("knee") })
    })
}

/// `crateful.test`: orders below the customer's number, which another call tells.
pub fn crateful(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "sid";
    let account = account_of(ask, state, COOKIE);
    if let ("GET", Some(below)) = (&*ask.method, ask.path.strip_prefix("/api/customers/")) {
        return match (account, below.strip_suffix("/orders")) {
            (None, _) => wire::error(StatusCode::UNAUTHORIZED, "unauthenticated"),
            (Some(account), Some(number)) if number == customer(account).to_string() => {
                let state = ask.param("state").unwrap_or_default();
                wire::json(
                    &json!({ "orders": orders(account, state), "_links": { "self": ask.path } }),
                )
            }
            _ => wire::error(StatusCode::FORBIDDEN, "not your account"),
        };
    }
    match (ask.route(), account) {
        (("GET", "/login"), _) => page("Crateful", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Crateful"),
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(_)) => page(
            "Crateful",
            r#"<h1>My orders</h1><p id="who"></p><form id="ask"><label>State <select id="state"><option>open</option><option>shipped</option><option>returned</option></select></label><button>Show orders</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Order</th><th>Article</th><th>Price</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
let me;
fetch('/api/me').then(it => it.json()).then(it => { me = it; document.getElementById('who').textContent = 'Customer ' + it.name; });
onAsk(async () => {
  const state = document.getElementById('state').value;
  const { orders } = await (await fetch(`/api/customers/${me.id}/orders?state=${state}`)).json();
  fill('rows', orders.map(it => [it.number, it.article, it.price]));
  say(`Orders that are ${state}`);
});"].concat(),
        ),
        (("GET", "/api/me"), Some(account)) => {
            wire::json(&json!({ "id": customer(account), "name": account, "locale": "en" }))
        }
        (("GET", "/api/me"), None) => wire::error(StatusCode::UNAUTHORIZED, "unauthenticated"),
        _ => rest(ask),
    }
}

fn customer(account: &str) -> i64 {
    rng("customer", account, 0).between(100_000, 999_999)
}

pub fn orders(account: &str, state: &str) -> Value {
    things(account, 5, |n| {
        let mut rng = rng("order", &format!("{account} {state}"), n);
        json!({ "number": format!("CR-{}", rng.between(10_000, 99_999)), "article": rng.title("lamp"), "price": rng.cents(500, 9900), "state": state })
    })
}

/// `postbox.test`: a search by POST. A cookie that scripts read is repeated in a header, as Angular and Laravel do.
pub fn postbox(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "postbox_session";
    let account = account_of(ask, state, COOKIE);
    let token = ask.cookie(COOKIE).map(|it| format!("{}==", &echo_of(it)[..30]));
    match (ask.route(), account) {
        (("GET", "/login"), _) => page("Postbox", LOGIN, ""),
        (("POST", "/login"), _) => match admit(&ask.form()) {
            Some(account) => {
                let id = open_session(ask, state, account);
                let token = format!("XSRF-TOKEN={}%3D%3D; Path=/", &echo_of(&id)[..30]);
                let session = format!("{COOKIE}={id}; Path=/; HttpOnly; SameSite=Lax");
                wire::with(wire::with(see("/"), "set-cookie", &session), "set-cookie", &token)
            }
            None => page("Postbox", LOGIN, ""),
        },
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(_)) => page(
            "Postbox",
            r#"<h1>Messages</h1><form id="ask"><label>Folder <input id="folder"></label><button>Show folder</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Subject</th><th>From</th><th>Received</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const folder = document.getElementById('folder').value;
  const token = decodeURIComponent(document.cookie.match(/XSRF-TOKEN=([^;]+)/)[1]);
  const answer = await fetch('/api/messages/search', { method: 'POST', body: JSON.stringify({ folder, size: 50 }),
    headers: { 'content-type': 'application/json', 'x-xsrf-token': token, 'x-requested-with': 'XMLHttpRequest' } });
  const { hits } = await answer.json();
  fill('rows', hits.map(it => [it.subject, it.from, it.received]));
  say(`Messages in ${folder}`);
});"].concat(),
        ),
        (("POST", "/api/messages/search"), account) => {
            let is_repeated = token.is_some() && ask.header("x-xsrf-token") == token.as_deref();
            match account {
                Some(account) if is_repeated => {
                    let fields = ask.json();
                    let folder = fields["folder"].as_str().unwrap_or_default();
                    wire::json(&json!({ "hits": messages(account, folder) }))
                }
                // What Laravel answers to a token that does not fit.
                _ => wire::error(
                    StatusCode::from_u16(419).unwrap_or(StatusCode::FORBIDDEN),
                    "CSRF token mismatch.",
                ),
            }
        }
        _ => rest(ask),
    }
}

pub fn messages(account: &str, folder: &str) -> Value {
    things(account, 6, |n| {
        let mut rng = rng("message", &format!("{account} {folder}"), n);
        json!({ "id": rng.between(1000, 9999), "subject": rng.title("letter"), "from": rng.name(), "received": rng.date() })
    })
}

/// `pressroom.test`: the password is asked for when the name is known; the page holds its data as a script of the document.
pub fn pressroom(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "remember";
    match (ask.route(), account_of(ask, state, COOKIE)) {
        (("GET", "/login"), _) => page(
            "Pressroom",
            r#"<h1>Sign in</h1><form id="sign"><p><label>Name <input id="name" autocomplete="username"></label></p><p id="second" hidden><label>Password <input id="password" type="password"></label></p><button id="next">Next</button></form><p id="status" role="status"></p>"#,
            r"
document.getElementById('sign').onsubmit = async event => {
  event.preventDefault();
  const value = id => document.getElementById(id).value, send = (path, body) => fetch(path, { method: 'POST', body: new URLSearchParams(body) });
  if (document.getElementById('second').hidden) {
    const known = await (await send('/login/lookup', { name: value('name') })).json();
    document.getElementById('second').hidden = !known.known;
    document.getElementById('next').textContent = 'Sign in';
    return;
  }
  const answer = await send('/login', { name: value('name'), password: value('password') });
  if (answer.ok) location.href = '/'; else document.getElementById('status').textContent = 'Wrong password';
};",
        ),
        (("POST", "/login/lookup"), _) => {
            let form = ask.form();
            let known = wire::lookup(&form, "name").is_some_and(|it| ACCOUNTS.contains(&it));
            wire::json(&json!({ "known": known, "methods": ["password"] }))
        }
        (("POST", "/login"), _) => match admit(&ask.form()) {
            Some(account) => {
                let id = open_session(ask, state, account);
                let cookie = format!("{COOKIE}={id}; Path=/; HttpOnly; Max-Age=2592000");
                wire::with(wire::json(&json!({ "ok": true })), "set-cookie", &cookie)
            }
            None => wire::error(StatusCode::UNAUTHORIZED, "wrong password"),
        },
        (("GET", "/"), account) => {
            let state = match account {
                Some(account) => {
                    json!({ "user": { "name": account }, "subscriptions": subscriptions(account) })
                }
                None => json!({ "user": null, "offers": ["One month for one coin"] }),
            };
            let main = r#"<h1 id="title"></h1><table id="list" hidden><thead><tr><th>Magazine</th><th>Renews</th><th>Price</th></tr></thead><tbody id="rows"></tbody></table><p id="status" role="status"></p>"#;
            let script = [SCRIPT, "window.__STATE__ = ", &state.to_string(), r";
const { user, subscriptions } = window.__STATE__;
document.getElementById('title').textContent = user ? 'Your subscriptions' : 'Subscribe today';
if (user) { document.getElementById('list').hidden = false; fill('rows', subscriptions.map(it => [it.magazine, it.renews, it.price])); say(subscriptions.length + ' subscriptions'); }"].concat();
            page("Pressroom", main, &script)
        }
        _ => rest(ask),
    }
}

pub fn subscriptions(account: &str) -> Value {
    let count = if account == ACCOUNTS[0] { 5 } else { 3 };
    things(account, count, |n| {
        let mut rng = rng("subscription", account, n);
        json!({ "magazine": rng.title("weekly"), "renews": rng.date(), "price": rng.cents(200, 1900) })
    })
}

/// The name before `ledgerly.test` under which an account's books are kept.
fn tenant(account: &str) -> &str {
    account.split_once('-').map_or(account, |(_, last)| last)
}

/// `ledgerly.test` and one host below it for each customer. The login's cookie is good for all of them; the books are at one.
pub fn ledgerly(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "ledger";
    const SITE: &str = "ledgerly.test";
    let account = ask.cookie(COOKIE).and_then(|it| holder(SITE, it, state));
    let own = account.map(|it| format!("{}.{SITE}", tenant(it)));
    if ask.host == SITE {
        return match (ask.route(), own) {
            (("GET", "/login"), _) => page("Ledgerly", LOGIN, ""),
            (("POST", "/login"), _) => match admit(&ask.form()) {
                Some(account) => {
                    let id = state.open_session(&format!("{SITE} {account}"));
                    let cookie = format!("{COOKIE}={id}; Domain={SITE}; Path=/; HttpOnly");
                    wire::with(see("/"), "set-cookie", &cookie)
                }
                None => page("Ledgerly", LOGIN, ""),
            },
            (("GET", "/"), Some(own)) => see(&format!("//{own}/")),
            (("GET", "/"), None) => see("/login"),
            _ => rest(ask),
        };
    }
    match (ask.route(), account) {
        (("GET", "/"), Some(_)) if own.as_deref() == Some(&ask.host) => page(
            "Ledgerly",
            r#"<h1>Invoices</h1><form id="ask"><label>Year <input id="year" inputmode="numeric"></label><button>Show invoices</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Invoice</th><th>Client</th><th>Amount</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[
                SCRIPT,
                r"
onAsk(async () => {
  const year = document.getElementById('year').value;
  const { invoices } = await (await fetch('/api/invoices?year=' + year)).json();
  fill('rows', invoices.map(it => [it.number, it.client, it.amount]));
  say('Invoices of ' + year);
});",
            ]
            .concat(),
        ),
        (("GET", "/"), _) => see(&format!("//{SITE}/login")),
        (("GET", "/api/invoices"), None) => wire::error(StatusCode::UNAUTHORIZED, "sign in"),
        (("GET", "/api/invoices"), Some(account)) if own.as_deref() == Some(&ask.host) => {
            wire::json(&json!({ "invoices": invoices(account, ask.number("year", 2026, 2999)) }))
        }
        (("GET", "/api/invoices"), _) => wire::error(StatusCode::FORBIDDEN, "not your books"),
        _ => rest(ask),
    }
}

pub fn invoices(account: &str, year: u64) -> Value {
    things(account, 5, |n| {
        let mut rng = rng("invoice", &format!("{account} {year}"), n);
        json!({ "number": format!("{year}-{:04}", rng.between(1, 9999)), "client": rng.name(), "amount": rng.cents(9900, 990_000) })
    })
}

/// `lectern.test`: its login is at `id.lectern.test`, which comes back with a code that is good once.
pub fn lectern(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "lectern_sid";
    const CODES: &str = "code.lectern.test";
    match (ask.route(), account_of(ask, state, COOKIE)) {
        (("GET", "/login"), _) => see("//id.lectern.test/authorize?client=lectern&back=%2Fcallback"),
        (("GET", "/callback"), _) => {
            let code = ask.param("code").unwrap_or_default();
            match holder(CODES, code, state) {
                Some(account) => {
                    state.close_session(&format!("{CODES} {account}"), code);
                    let id = open_session(ask, state, account);
                    wire::with(see("/"), "set-cookie", &format!("{COOKIE}={id}; Path=/; HttpOnly; SameSite=Lax"))
                }
                None => see("/login"),
            }
        }
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(_)) => page(
            "Lectern",
            r#"<h1>My courses</h1><form id="ask"><label>Semester <select id="semester"><option value="20261">Spring 2026</option><option value="20262">Autumn 2026</option><option value="20271">Spring 2027</option></select></label><button>Show courses</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Course</th><th>Teacher</th><th>Credits</th></tr></thead><tbody id="rows"></tbody></table>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const chosen = document.getElementById('semester');
  const answer = await fetch('/api/v1/courses?term=' + chosen.value + '&enrolled=true', { headers: { accept: 'application/json' } });
  const found = await answer.json();
  fill('rows', found.map(it => [it.course, it.teacher, it.credits]));
  say('Courses of ' + chosen.selectedOptions[0].textContent);
});"].concat(),
        ),
        (("GET", "/api/v1/courses"), Some(account)) => {
            wire::json(&courses(account, ask.param("term").unwrap_or_default()))
        }
        (("GET", "/api/v1/courses"), None) => wire::error(StatusCode::UNAUTHORIZED, "no session"),
        _ => rest(ask),
    }
}

/// `id.lectern.test`
pub fn lectern_id(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "id_sid";
    let come_back = |account: &str| {
        let code = state.open_session(&format!("code.lectern.test {account}"));
        see(&format!("//lectern.test/callback?code={}", &code))
    };
    let form = LOGIN.replace("/login", "/authorize");
    match (ask.route(), account_of(ask, state, COOKIE)) {
        (("GET", "/authorize"), Some(account)) => come_back(account),
        (("GET", "/authorize"), None) => page("Lectern identity", &form, ""),
        (("POST", "/authorize"), _) => match admit(&ask.form()) {
            Some(account) => {
                let id = open_session(ask, state, account);
                wire::with(
                    come_back(account),
                    "set-cookie",
                    &format!("{COOKIE}={id}; Path=/; HttpOnly"),
                )
            }
            None => page("Lectern identity", &form, ""),
        },
        _ => rest(ask),
    }
}

pub fn courses(account: &str, term: &str) -> Value {
    things(account, 4, |n| {
        let mut rng = rng("course", &format!("{account} {term}"), n);
        json!({ "course": rng.title("history"), "teacher": rng.name(), "credits": rng.between(2, 12) })
    })
}

/// `vanpool.test`: HTTP Basic, and a table that the server makes.
pub fn vanpool(ask: &SiteRequest, _: &TestbedState) -> Response {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let given = ask.header("authorization").unwrap_or_default();
    let basic = |it: &str| format!("Basic {}", STANDARD.encode(format!("{it}:{}", password(it))));
    let Some(account) = ACCOUNTS.into_iter().find(|it| given == basic(it)) else {
        let refusal = wire::answer(
            StatusCode::UNAUTHORIZED,
            "text/html",
            "<h1>401 Authorization Required</h1>",
        );
        return wire::with(refusal, "www-authenticate", r#"Basic realm="Vanpool reports""#);
    };
    match ask.route() {
        ("GET", "/") => {
            let month = ask.param("month").unwrap_or("January");
            let rows = cells(&drives(account, month), ["van", "driver", "km"]);
            page(
                "Vanpool",
                &format!(
                    r#"<h1>Drives</h1><form><label>Month <input name="month"></label><button>Show drives</button></form><h2>Drives in {}</h2><table><tr><th>Van</th><th>Driver</th><th>Kilometres</th></tr>{rows}</table>"#,
                    escape(month)
                ),
                "",
            )
        }
        _ => rest(ask),
    }
}

pub fn drives(account: &str, month: &str) -> Value {
    things(account, 5, |n| {
        let mut rng = rng("drive", &format!("{account} {month}"), n);
        json!({ "van": format!("VP {}", rng.between(100, 999)), "driver": rng.name(), "km": rng.between(10, 900) })
    })
}

/// `pocket.test`: a token of the page's head goes with each call, as Rails does it.
pub fn pocket(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "_pocket_session";
    let account = account_of(ask, state, COOKIE);
    let token = ask.cookie(COOKIE).map(|it| secret(&format!("meta {it}"))[..40].to_owned());
    match (ask.route(), account) {
        (("GET", "/login"), _) => page("Pocket", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Pocket"),
        (("GET", "/"), None) => see("/login"),
        (("GET", "/"), Some(_)) => page(
            "Pocket",
            &format!(
                r#"<meta name="csrf-token" content="{}"><h1>Cash book</h1><form id="ask"><label>Month <input id="month" placeholder="YYYY-MM"></label><button>Show entries</button></form>
<p id="status" role="status"></p><table><thead><tr><th>Day</th><th>Shop</th><th>Amount</th></tr></thead><tbody id="rows"></tbody></table>"#,
                token.unwrap_or_default()
            ),
            &[SCRIPT, r#"
onAsk(async () => {
  const month = document.getElementById('month').value;
  const answer = await fetch(`/entries.json?month=${month}`, { headers: { 'x-csrf-token': document.querySelector('meta[name="csrf-token"]').content } });
  fill('rows', (await answer.json()).entries.map(it => [it.day, it.shop, it.amount]));
  say(`Entries of ${month}`);
});"#].concat(),
        ),
        (("GET", "/entries.json"), Some(account)) if ask.header("x-csrf-token") == token.as_deref() => {
            wire::json(&json!({ "entries": entries(account, ask.param("month").unwrap_or_default()) }))
        }
        (("GET", "/entries.json"), _) => {
            wire::error(StatusCode::UNPROCESSABLE_ENTITY, "can't verify CSRF token authenticity")
        }
        _ => rest(ask),
    }
}

pub fn entries(account: &str, month: &str) -> Value {
    things(account, 6, |n| {
        let mut rng = rng("entry", &format!("{account} {month}"), n);
        json!({ "day": format!("{month}-{:02}", rng.between(1, 28)), "shop": rng.title("market"), "amount": rng.cents(100, 9900) })
    })
}

/// `keepsake.test`: wishes. A stranger gets samples of the same shape.
pub fn keepsake(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "keep";
    let account = account_of(ask, state, COOKIE);
    match ask.route() {
        ("GET", "/login") => page("Keepsake", LOGIN, ""),
        ("POST", "/login") => log_in(ask, state, COOKIE, "Keepsake"),
        ("GET", "/") => page(
            "Keepsake",
            r#"<h1>Wishes</h1><form id="ask"><label>For <input id="for"></label><button>Show wishes</button></form><p id="status" role="status"></p><ul id="rows"></ul>"#,
            &[SCRIPT, r"
onAsk(async () => {
  const who = document.getElementById('for').value;
  const { wishes } = await (await fetch('/wishes.json?' + new URLSearchParams({ for: who }))).json();
  document.getElementById('rows').innerHTML = wishes.map(it => `<li><b>${it.wish}</b> <i>${it.price}</i> from ${it.shop}</li>`).join('');
  say('Wishes for ' + who);
});"].concat(),
        ),
        ("GET", "/wishes.json") => {
            let who = ask.param("for").unwrap_or_default();
            wire::json(&json!({ "wishes": wishes(account.unwrap_or_default(), who) }))
        }
        _ => rest(ask),
    }
}

/// The wishes that an account noted for somebody, or samples.
pub fn wishes(account: &str, who: &str) -> Value {
    let wish = |n: u64| {
        let mut rng = rng("wish", &format!("{account} {who}"), n);
        json!({ "wish": rng.title("gift"), "price": rng.cents(500, 9900), "shop": rng.name() })
    };
    match account {
        "" => (1..=4).map(wish).collect(),
        _ => things(account, 5, wish),
    }
}
