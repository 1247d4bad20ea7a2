//! 64 canaries of two accounts in their cookies, storage, tokens and forms: after logging in and recording with both none of
//! them is anywhere but in the vault, which is sealed.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    Form, Json, Router,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use crate::{
    canaries::{Hunt, canaries, listen, serve},
    support::{Home, has_chromium, write},
};

const ACCOUNTS: [&str; 2] = ["mira", "tomas"];
const PASSWORDS: [&str; 2] = ["sunshine over 41", "marmalade at 87"];
/// Of each account: cookies, stored values, tokens of an answer, hidden fields.
const OF_EACH: usize = 32;
const OF_A_KIND: usize = 8;

struct Site {
    all: Vec<String>,
}

impl Site {
    fn of(&self, account: usize, kind: usize) -> &[String] {
        let from = account * OF_EACH + kind * OF_A_KIND;
        &self.all[from..from + OF_A_KIND]
    }

    fn account(&self, headers: &HeaderMap) -> Option<usize> {
        let cookies = headers.get("cookie")?.to_str().ok()?;
        (0..ACCOUNTS.len()).find(|it| cookies.contains(&encoded(&self.of(*it, 0)[0])))
    }
}

fn encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

type Words = BTreeMap<String, String>;

async fn log_in(State(site): State<Arc<Site>>, Form(it): Form<Words>) -> Response {
    let given = |name: &str| it.get(name).map_or("", String::as_str);
    let is_given =
        |(name, word): (&&str, &str)| (*name, word) == (given("name"), given("password"));
    let known = ACCOUNTS.iter().zip(PASSWORDS).position(is_given);
    let Some(account) = known else { return StatusCode::FORBIDDEN.into_response() };
    let mut answer = (StatusCode::SEE_OTHER, [(header::LOCATION, "/")]).into_response();
    for (i, value) in site.of(account, 0).iter().enumerate() {
        let name = if i == 0 { "sid".to_owned() } else { format!("auth_token_{i}") };
        let cookie = format!("{name}={}; Path=/", encoded(value));
        answer.headers_mut().append(header::SET_COOKIE, cookie.parse().unwrap());
    }
    answer
}

async fn answer(
    State(site): State<Arc<Site>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let html = |body: String| ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], body);
    match (method.as_str(), uri.path(), site.account(&headers)) {
        ("GET", "/", Some(account)) => html(page(&site, account)).into_response(),
        ("GET", "/", None) => html(
            "<form method=post action=/login><input name=name aria-label=Name>\
             <input type=password name=password aria-label=Password><button>Log in</button></form>"
                .to_owned(),
        )
        .into_response(),
        ("GET", "/api/me", Some(account)) => {
            let tokens: Vec<Value> =
                site.of(account, 2).iter().map(|it| json!({"access_token": it})).collect();
            Json(json!({"name": ACCOUNTS[account], "tokens": tokens})).into_response()
        }
        ("GET", "/api/orders", Some(account)) => {
            let orders: Vec<Value> = ["brass lamp", "oak bench", "copper kettle", "folding ladder", "garden hose", "wool blanket", "slate plate", "iron stove"]
                .iter()
                .enumerate()
                .map(|(i, it)| json!({"item": format!("{it} with a spare part, ordered by {} for the summer house", ACCOUNTS[account]), "price": 20 + 7 * i + account}))
                .collect();
            Json(json!({ "orders": orders })).into_response()
        }
        _ => StatusCode::UNAUTHORIZED.into_response(),
    }
}

fn page(site: &Site, account: usize) -> String {
    let script = |all: &[String]| Value::from(all.to_vec()).to_string().replace('<', "\\u003c");
    let hidden: String = site
        .of(account, 3)
        .iter()
        .map(|it| {
            let value = it.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
            format!("<input type=hidden name=csrf_token value=\"{value}\">")
        })
        .collect();
    format!(
        "<!doctype html><html><head><title>Orders</title></head><body><h1>My orders</h1><form>{hidden}</form>\
         <table><thead><tr><th>Item</th><th>Price</th></tr></thead><tbody id=rows></tbody></table><p id=state></p><script>
         {stored}.forEach((it, i) => localStorage.setItem('session_token_' + i, it));
         (async () => {{
           const bearer = localStorage.getItem('session_token_0');
           await fetch('/api/me', {{ headers: {{ authorization: 'Bearer ' + bearer }} }});
           const answer = await (await fetch('/api/orders')).json();
           document.querySelector('#rows').replaceChildren(...answer.orders.map(it => {{
             const row = document.createElement('tr');
             for (const text of [it.item, it.price]) row.append(Object.assign(document.createElement('td'), {{ textContent: text }}));
             return row; }}));
           document.querySelector('#state').textContent = answer.orders.length + ' orders';
         }})();</script></body></html>",
        stored = script(site.of(account, 1)),
    )
}

#[test]
fn no_canary_of_two_accounts_leaves_what_is_recorded_with_them() {
    if !has_chromium() {
        return;
    }
    let (listener, addr) = listen();
    let site = Arc::new(Site { all: canaries() });
    let app = Router::new().route("/login", axum::routing::post(log_in)).fallback(answer);
    serve(listener, app.with_state(Arc::clone(&site)));
    let mut secret = site.all.clone();
    secret.extend(PASSWORDS.map(str::to_owned));
    let hunt = Hunt::new(&secret);
    let (home, temp, given) = (Home::new(), Home::new(), Home::new());
    let pin = format!("orders.test={addr}");
    let mut caught = Vec::new();
    let mut run = |args: &[&str]| -> (bool, String) {
        let mut command = home.command(args);
        command.args(["--test-host", &pin]).env("TMPDIR", temp.path());
        for ((name, password), at) in ACCOUNTS.iter().zip(PASSWORDS).zip(["A", "B"]) {
            command.env(format!("NAME_{at}"), name).env(format!("WORD_{at}"), password);
        }
        let out = command.output().unwrap();
        hunt.through(&format!("stdout of {args:?}"), &out.stdout, &mut caught);
        hunt.through(&format!("stderr of {args:?}"), &out.stderr, &mut caught);
        let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
        (out.status.success(), text(&out.stdout) + &text(&out.stderr))
    };
    for (account, at) in ACCOUNTS.iter().zip(["A", "B"]) {
        let (name, word) = (
            format!("textbox \"Name\"=env:NAME_{at}"),
            format!("css=input[name=password]=env:WORD_{at}"),
        );
        let (well, said) = run(&[
            "session",
            "login",
            account,
            "http://orders.test/",
            "--fill",
            &name,
            "--fill",
            &word,
        ]);
        assert!(well, "{said}");
    }
    let steps = given.path().join("steps.yaml");
    write(&steps, "- wait_for: { text: \"8 orders\" }\n");
    let steps = steps.to_str().unwrap();
    let (_, said) = run(&[
        "recipe",
        "learn",
        "--url",
        "http://orders.test/",
        "--steps",
        steps,
        "--task",
        "List my orders",
        "--name",
        "orders",
        "--login",
        "mira",
        "--second-login",
        "tomas",
        "--json",
    ]);
    let learned: Value = serde_json::from_str(said.lines().next().unwrap_or_default())
        .or_else(|_| serde_json::from_str(said[..=said.rfind('}').unwrap_or_default()].trim()))
        .unwrap_or_else(|_| panic!("{said}"));
    let id = learned["task_id"].as_str().unwrap().to_owned();
    for args in [
        &["recipe", "debug", "--task-id", &id, "--json"][..],
        &["artifacts", "show", "orders", "record"],
        &["artifacts", "verify"],
        &["vault", "ls"],
    ] {
        run(args);
    }
    let (_, said) = run(&["artifacts", "ls"]);
    assert!(said.contains("private"), "{said}");
    hunt.below(home.path(), &mut caught);
    hunt.below(temp.path(), &mut caught);
    assert!(caught.is_empty(), "{caught:#?}");
}
