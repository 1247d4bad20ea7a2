//! Sites whose data needs a login: `shelfmark.test`, `desk.test`, `huddle.test` with `api.huddle.test`, `shutterly.test`.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::{
    ACCOUNTS, LOGIN, account_of, admit, echoing_account, log_in, open_session, page, rest, rng, see,
};
use crate::testbed_state::{TestbedState, secret};
use crate::wire::{self, SiteRequest, escape};
use crate::words;

/// `shelfmark.test`: my loans, without any input. A stranger gets an empty list with status 200.
pub fn shelfmark(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "card";
    let account = account_of(ask, state, COOKIE);
    match ask.route() {
        ("GET", "/login") => page("Shelfmark", LOGIN, ""),
        ("POST", "/login") => log_in(ask, state, COOKIE, "Shelfmark"),
        ("GET", "/") => match account {
            Some(account) => page(
                "Shelfmark",
                &format!(
                    r#"<h1>My loans</h1><p>Card of <b id="who">{account}</b></p><table><thead><tr><th>Title</th><th>Due</th><th>Renewals</th></tr></thead><tbody id="loans"></tbody></table><p id="status" role="status"></p>"#
                ),
                include_str!("../pages/demand/shelfmark.js"),
            ),
            None => see("/login"),
        },
        ("GET", "/my/loans.json") => {
            wire::json(&json!({ "loans": account.map_or_else(|| json!([]), loans) }))
        }
        _ => rest(ask),
    }
}

/// What an account has borrowed; the last of [`ACCOUNTS`] nothing.
pub fn loans(account: &str) -> Value {
    let count = match account {
        "ada-lund" => 7,
        "ben-okoro" => 4,
        _ => 0,
    };
    let loan = |n: u64| {
        let mut rng = rng("loan", account, n);
        json!({ "title": rng.title("tales"), "due": rng.date(), "renewals": rng.between(0, 3) })
    };
    (1..=count).map(loan).collect()
}

/// `desk.test`: a ticket by its number. The call repeats a cookie in a header; another's ticket is refused in the same shape.
pub fn desk(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "desk";
    if let ("GET", Some(number)) = (&*ask.method, ask.path.strip_prefix("/rest/tickets/")) {
        let number = number.parse().unwrap_or(0);
        return match echoing_account(ask, state, COOKIE) {
            None => wire::error(StatusCode::FORBIDDEN, "sign in, and repeat the cookie"),
            Some(account) => match ticket(account, number) {
                Some(it) => wire::json(&it),
                None => wire::json_status(StatusCode::NOT_FOUND, &nobodys_ticket(number)),
            },
        };
    }
    match (ask.route(), account_of(ask, state, COOKIE)) {
        // The name first, the password on a page of its own.
        (("GET", "/login"), _) => page(
            "Desk",
            r#"<h1>Sign in</h1><form method="post" action="/login/name"><label>Name <input name="name"></label><button>Next</button></form>"#,
            "",
        ),
        (("POST", "/login/name"), _) => {
            let form = ask.form();
            let name = escape(wire::lookup(&form, "name").unwrap_or_default());
            page(
                "Desk",
                &format!(
                    r#"<h1>Welcome</h1><form method="post" action="/login"><input type="hidden" name="name" value="{name}"><label>Password <input name="password" type="password"></label><button>Sign in</button></form>"#
                ),
                "",
            )
        }
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Desk"),
        (("GET", "/"), Some(_)) => page(
            "Desk",
            r#"<h1>Tickets</h1><form id="ask"><label>Number <input id="number" inputmode="numeric"></label><button>Open ticket</button></form><p id="status" role="status"></p><dl id="ticket"></dl>"#,
            include_str!("../pages/demand/desk.js"),
        ),
        (("GET", "/"), None) => see("/login"),
        _ => rest(ask),
    }
}

/// The fields of a ticket.
const FIELDS: [&str; 11] = [
    "number",
    "subject",
    "state",
    "priority",
    "opened",
    "due",
    "owner",
    "queue",
    "product",
    "steps",
    "last_reply",
];

/// A ticket that the account may read: ada the odd numbers, ben the even ones.
pub fn ticket(account: &str, number: u64) -> Option<Value> {
    let is_own = match account {
        "ada-lund" => number % 2 == 1,
        "ben-okoro" => number.is_multiple_of(2),
        _ => false,
    };
    if !is_own || number == 0 {
        return None;
    }
    let mut rng = rng("ticket", account, number);
    Some(json!({
        "number": number, "subject": rng.title("printer"), "state": rng.pick(&["open", "waiting", "solved"]),
        "priority": rng.between(1, 5), "opened": rng.date(), "due": rng.date(), "owner": rng.name(),
        "queue": rng.pick(&["hardware", "accounts", "network"]), "product": rng.title("office"),
        "steps": rng.sentence("the fault"), "last_reply": rng.sentence("the answer"),
    }))
}

/// The shape of a ticket without its content.
fn nobodys_ticket(number: u64) -> Value {
    let mut it: Value = FIELDS
        .iter()
        .map(|name| ((*name).to_owned(), json!("")))
        .collect::<serde_json::Map<_, _>>()
        .into();
    it["number"] = json!(number);
    it["state"] = json!("not found");
    it
}

/// `huddle.test`: a token in local storage, sent as a bearer to `api.huddle.test`; cookies are not looked at.
pub fn huddle(ask: &SiteRequest, _: &TestbedState) -> Response {
    match ask.route() {
        ("GET", "/login") => page(
            "Huddle",
            &LOGIN.replace("method=\"post\" action=\"/login\"", "id=\"login\""),
            include_str!("../pages/demand/huddle_login.js"),
        ),
        ("GET", "/") => page(
            "Huddle",
            r#"<h1 id="title">Rooms</h1><form id="ask"><label>Workspace <input id="workspace"></label><button>Show rooms</button></form><p id="status" role="status"></p>
<table><thead><tr><th>Room</th><th>Topic</th><th>Unread</th></tr></thead><tbody id="rooms"></tbody></table>"#,
            include_str!("../pages/demand/huddle.js"),
        ),
        _ => rest(ask),
    }
}

/// What refresh tokens are kept under.
const REFRESH: &str = "refresh.huddle.test";

/// `api.huddle.test`
pub fn huddle_api(ask: &SiteRequest, state: &TestbedState) -> Response {
    let bearer = ask.header("authorization").and_then(|it| it.strip_prefix("Bearer "));
    let account = bearer.and_then(|it| super::holder(&ask.host, it, state));
    let answer = match (ask.route(), account) {
        (("OPTIONS", _), _) => return wire::preflight(ask),
        (("POST", "/session"), _) => {
            let fields = ask.json();
            let text = |name: &str| {
                (name.to_owned(), fields[name].as_str().unwrap_or_default().to_owned())
            };
            match admit(&[text("name"), text("password")]) {
                Some(account) => wire::json(&json!({
                    "access": open_session(ask, state, account), "refresh": state.open_session(&format!("{REFRESH} {account}")),
                    "workspace": workspaces(account)[0],
                })),
                None => wire::error(StatusCode::UNAUTHORIZED, "wrong name or password"),
            }
        }
        // A refresh token is good for one use.
        (("POST", "/session/refresh"), _) => {
            let old = ask.json()["refresh"].as_str().unwrap_or_default().to_owned();
            match super::holder(REFRESH, &old, state) {
                Some(account) => {
                    state.close_session(&format!("{REFRESH} {account}"), &old);
                    wire::json(&json!({
                        "access": open_session(ask, state, account),
                        "refresh": state.open_session(&format!("{REFRESH} {account}")),
                    }))
                }
                None => wire::error(StatusCode::UNAUTHORIZED, "refresh token is spent"),
            }
        }
        (("GET", "/rooms"), None) => {
            wire::error(StatusCode::UNAUTHORIZED, "token missing or expired")
        }
        (("GET", "/rooms"), Some(account)) => {
            match rooms(account, ask.param("workspace").unwrap_or_default()) {
                Some(rooms) => wire::json(&json!({ "rooms": rooms })),
                None => wire::error(StatusCode::FORBIDDEN, "not a member of this workspace"),
            }
        }
        _ => wire::not_found(),
    };
    wire::shared(ask, answer)
}

/// The workspaces that an account belongs to; the first is the one it used last.
fn workspaces(account: &str) -> [&'static str; 2] {
    match account {
        "ada-lund" => ["tidewater", "millrace"],
        "ben-okoro" => ["millrace", "stonecrop"],
        _ => ["stonecrop", "stonecrop"],
    }
}

/// The rooms of a workspace as one of its members sees them.
pub fn rooms(account: &str, workspace: &str) -> Option<Value> {
    let names = workspaces(account);
    let workspace = if workspace.is_empty() {
        names[0]
    } else {
        names.into_iter().find(|it| *it == workspace)?
    };
    let room = |n: u64| {
        let mut shared = rng("room", workspace, n);
        let mut own = rng("unread", account, n);
        json!({ "id": shared.between(1000, 9999), "name": words::slug(&shared.title("talk")), "topic": shared.sentence("work"), "unread": own.between(0, 40) })
    };
    Some((1..=6).map(room).collect())
}

/// `shutterly.test`: data by a stored query whose hash, and a constant bearer, stand in a script of changing name.
pub fn shutterly(ask: &SiteRequest, state: &TestbedState) -> Response {
    const COOKIE: &str = "shutter";
    let turn = state.turns("shutterly.test");
    let bearer = format!("app-{}", &secret("shutterly app")[..24]);
    let hash = |turn: u64| secret(&format!("shutterly query {turn}"))[..20].to_owned();
    let script =
        |turn: u64| format!("/static/app.{}.js", &secret(&format!("shutterly script {turn}"))[..8]);
    if let ("GET", Some(asked)) =
        (&*ask.method, ask.path.strip_prefix("/q/").and_then(|it| it.strip_suffix("/Notices")))
    {
        // The hash before the last deployment still works.
        let is_known = asked == hash(turn) || (turn > 0 && asked == hash(turn - 1));
        let is_app = ask.header("authorization") == Some(&format!("Bearer {bearer}"));
        return match echoing_account(ask, state, COOKIE) {
            _ if !is_known => wire::error(StatusCode::NOT_FOUND, "unknown query"),
            _ if !is_app => wire::error(StatusCode::UNAUTHORIZED, "unknown application"),
            None => wire::error(StatusCode::FORBIDDEN, "login required"),
            Some(account) => {
                let variables: Value = ask
                    .param("variables")
                    .and_then(|it| serde_json::from_str(it).ok())
                    .unwrap_or_default();
                let kind = variables["kind"].as_str().unwrap_or_default();
                wire::json(
                    &json!({ "data": { "notices": { "edges": notices(account, kind).as_array().into_iter().flatten().map(|it| json!({ "node": it })).collect::<Vec<_>>() } } }),
                )
            }
        };
    }
    match (ask.route(), account_of(ask, state, COOKIE)) {
        (("GET", path), _) if path == script(turn) => wire::script(
            include_str!("../pages/demand/shutterly.js")
                .replace("{{hash}}", &hash(turn))
                .replace("{{bearer}}", &bearer),
        ),
        (("GET", "/login"), _) => page("Shutterly", LOGIN, ""),
        (("POST", "/login"), _) => log_in(ask, state, COOKIE, "Shutterly"),
        (("GET", "/"), Some(_)) => page(
            "Shutterly",
            &format!(
                r#"<h1>Notifications</h1><form id="ask"><label>Kind <select id="kind"><option value="">Everything</option><option value="like">Likes</option><option value="comment">Comments</option><option value="follow">Followers</option></select></label><button>Show</button></form>
<p id="status" role="status"></p><ul id="notices"></ul><script src="{}"></script>"#,
                script(turn)
            ),
            "",
        ),
        (("GET", "/"), None) => see("/login"),
        _ => rest(ask),
    }
}

/// What happened to an account's pictures, of one kind or of all.
pub fn notices(account: &str, kind: &str) -> Value {
    if !ACCOUNTS[..2].contains(&account) {
        return json!([]);
    }
    let notice = |n: u64| {
        let mut rng = rng("notice", account, n);
        let what = rng.pick(&["like", "comment", "follow"]);
        json!({ "who": rng.name(), "what": what, "when": rng.date(), "link": format!("/p/{}", rng.between(10_000, 99_999)) })
    };
    (1..=20).map(notice).filter(|it| kind.is_empty() || it["what"] == kind).collect()
}
