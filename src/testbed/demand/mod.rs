//! Sites that stand for kinds of task: public, behind a login, chained, paged, files, writes. `ci/demand` learns them all.
//!
//! Each site has accounts with data of their own, and a function that says what the right answer is: [`expected`], which the
//! control host serves. What ends with time on a real site (a session, a token, a signed address) ends here when the control
//! host turns the site: nothing reads a clock.

pub mod acts;
pub mod bearers;
pub mod chains;
pub mod composed;
pub mod cookies;
pub mod downloads;
pub mod feeds;
pub mod further;
pub mod hosts;
pub mod members;
pub mod public;
pub mod scripts;
pub mod varied;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;

use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest, lookup};
use crate::words::SeededRng;

/// The accounts that every site with a login has. The third owns nothing.
pub const ACCOUNTS: [&str; 3] = ["ada-lund", "ben-okoro", "cleo-marsh"];

/// The password of an account, the same on every site.
pub fn password(account: &str) -> String {
    format!("plum-{}-{account}", &secret(&format!("password of {account}"))[..8])
}

/// What a right answer holds, or `None` where the site, the account or the input is unknown.
///
/// `account` is empty for a stranger. The rows are written as the page shows them.
pub fn expected(
    site: &str,
    ask: &SiteRequest,
    account: &str,
    state: &TestbedState,
) -> Option<Value> {
    let text = |name: &str| ask.param(name).unwrap_or_default();
    match site {
        "tariff.test" => Some(public::quotes(ask.number("weight", 1, 100_000), text("to"))),
        "bells.test" => public::bell(text("parish"), ask.number("number", 1, 99)),
        "pawns.test" => Some(public::ranking(text("league"))),
        "flora.test" => Some(public::plants(text("name"), ask.number("limit", 10, 50))),
        "railbook.test" => Some(public::departures(text("stop"), text("at"))),
        "shelfmark.test" => Some(members::loans(account)),
        "desk.test" => members::ticket(account, ask.number("number", 1, 9999)),
        "huddle.test" => members::rooms(account, text("workspace")),
        "annex.test" => Some(further::shifts(account, ask.number("week", 1, 53))),
        "granary.test" => Some(further::crates(account, text("hall"))),
        "shutterly.test" => Some(members::notices(account, text("kind"))),
        "quayside.test" => chains::sailings(text("from"), text("to"), text("date")),
        "playbill.test" => Some(chains::poster_facts(text("number"), text("rendering"))),
        "permits.test" => Some(downloads::permit_facts(text("number"))),
        "surveys.test" => Some(downloads::survey_facts(text("number"))),
        "inspections.test" => Some(downloads::inspection_facts(text("number"))),
        "frontrow.test" => Some(chains::entries(text("list"), ask.number("limit", 30, 30))),
        "spore.test" => Some(feeds::finds(text("place"))),
        "warble.test" => Some(feeds::timeline(account, state)),
        "bulletin.test" => feeds::headlines(text("section")),
        "clipstream.test" => Some(scripts::clips(text("query"))),
        "surgery.test" => Some(cookies::appointments(account, text("month"))),
        "crateful.test" => Some(cookies::orders(account, text("state"))),
        "postbox.test" => Some(cookies::messages(account, text("folder"))),
        "pressroom.test" => Some(cookies::subscriptions(account)),
        "ledgerly.test" => Some(cookies::invoices(account, ask.number("year", 2026, 2999))),
        "lectern.test" => Some(cookies::courses(account, text("term"))),
        "vanpool.test" => Some(cookies::drives(account, text("month"))),
        "pocket.test" => Some(cookies::entries(account, text("month"))),
        "keepsake.test" => Some(cookies::wishes(account, text("for"))),
        "wages.test" => Some(bearers::payslips(account, text("year"))),
        "gitfarm.test" => Some(bearers::repositories(account, text("language"))),
        "meterbox.test" => Some(bearers::readings(account, text("year"))),
        "hearth.test" => Some(bearers::devices(account, text("room"))),
        "rosterly.test" | "shiftly.test" => Some(bearers::duties(account, text("team"))),
        "ebbflow.test" => Some(varied::tides(text("harbour"), text("day"))),
        "carvings.test" => Some(varied::carved(text("wood"))),
        "scoreline.test" => Some(varied::works(text("composer"))),
        "stoppost.test" => Some(varied::board(text("stop"), text("day"))),
        "plank.test" => Some(varied::tasks(account, text("project"))),
        "cogs.test" => Some(varied::parts(text("maker"))),
        "ripples.test" => Some(composed::statuses(text("topic"))),
        "kiln.test" => Some(composed::firings(text("clay"))),
        "lexica.test" => Some(hosts::meanings(text("language"), text("word"))),
        "dwellings.test" => Some(hosts::flats(text("town"), ask.number("rooms", 2, 9))),
        "mirrors.test" => Some(hosts::stock_of(text("hall"), text("goods"))),
        "estates.test" => Some(composed::estate(text("house"))),
        "dossier.test" => Some(composed::dossier_of(text("name"))),
        _ => None,
    }
}

/// Whose session a request carries in this cookie.
pub fn account_of(ask: &SiteRequest, state: &TestbedState, cookie: &str) -> Option<&'static str> {
    let id = ask.cookie(cookie)?;
    holder(&ask.host, id, state)
}

/// Whose session or token this is.
pub fn holder(site: &str, id: &str, state: &TestbedState) -> Option<&'static str> {
    ACCOUNTS.into_iter().find(|account| state.knows_session(&format!("{site} {account}"), id))
}

/// The account whose name and password these fields hold.
pub fn admit(fields: &[(String, String)]) -> Option<&'static str> {
    let name = lookup(fields, "name")?;
    let account = ACCOUNTS.into_iter().find(|it| *it == name)?;
    (lookup(fields, "password")? == password(account)).then_some(account)
}

/// Opens a session of an account at the request's site.
pub fn open_session(ask: &SiteRequest, state: &TestbedState, account: &str) -> String {
    state.open_session(&format!("{} {account}", ask.host))
}

/// A page with this title, main part and script.
pub fn page(title: &str, main: &str, script: &str) -> Response {
    wire::html(format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <link rel=\"stylesheet\" href=\"/css/site.css\"></head>\
         <body><header><strong>{title}</strong></header><main>{main}</main><script>{script}</script></body></html>"
    ))
}

/// What the scripts of pages share: filling a table, a status line, and a form named `ask`.
pub const SCRIPT: &str = r"
const fill = (id, rows) => { document.getElementById(id).innerHTML = rows.map(row => '<tr>' + row.map(it => `<td>${it}</td>`).join('') + '</tr>').join(''); };
const say = text => { document.getElementById('status').textContent = text; };
const onAsk = act => { document.getElementById('ask').onsubmit = event => { event.preventDefault(); act(); }; };
";

/// A form that asks for name and password.
pub const LOGIN: &str = r#"<h1>Sign in</h1><form method="post" action="/login"><p><label>Name <input name="name" autocomplete="username"></label></p>
<p><label>Password <input name="password" type="password"></label></p><button>Sign in</button></form>"#;

/// What the login form's POST comes to: a session in this cookie, or the form again.
pub fn log_in(ask: &SiteRequest, state: &TestbedState, cookie: &str, title: &str) -> Response {
    let Some(account) = admit(&ask.form()) else {
        return page(title, &format!("<p role=\"alert\">Wrong name or password.</p>{LOGIN}"), "");
    };
    let id = open_session(ask, state, account);
    let response = wire::with(see("/"), "set-cookie", &format!("{cookie}={id}; Path=/; HttpOnly"));
    // Readable by the page's script, which repeats it in a header.
    let echo = format!("{cookie}_csrf={}; Path=/", echo_of(&id));
    wire::with(response, "set-cookie", &echo)
}

/// What a page repeats in a header beside its session.
pub fn echo_of(id: &str) -> String {
    secret(&format!("echo {id}"))[..32].to_owned()
}

/// Whose session the cookie is, where the header repeats the other cookie.
pub fn echoing_account(
    ask: &SiteRequest,
    state: &TestbedState,
    cookie: &str,
) -> Option<&'static str> {
    let account = account_of(ask, state, cookie)?;
    let repeated = ask.cookie(cookie).map(echo_of);
    (ask.header("x-csrf") == repeated.as_deref()).then_some(account)
}

pub fn see(to: &str) -> Response {
    wire::with(wire::text(StatusCode::SEE_OTHER, ""), "location", to)
}

/// Forgets every session of a site, or of one of its accounts.
pub fn expire(site: &str, account: &str, state: &TestbedState) {
    for each in ACCOUNTS.into_iter().filter(|it| account.is_empty() || *it == account) {
        state.close_sessions(&format!("{site} {each}"));
    }
}

/// Dice for the n-th thing of a kind that an account has.
pub fn rng(kind: &str, account: &str, n: u64) -> SeededRng {
    SeededRng::new(&[kind, account, &n.to_string()])
}

/// What every site answers that no route of its own took.
pub fn rest(ask: &SiteRequest) -> Response {
    match ask.route() {
        ("GET", "/css/site.css") => {
            wire::answer(StatusCode::OK, "text/css", include_str!("../pages/style.css"))
        }
        _ => wire::not_found(),
    }
}
