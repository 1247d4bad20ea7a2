//! 64 canaries of two accounts in their cookies, storage, tokens and forms: after logging in, recording, running, exporting and
//! asking the daemon none of them is anywhere but in the vault, which is sealed. Names and numbers of the accounts are where a
//! recording is, and in the answers to whoever may use the login.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use axum::{
    Form, Json, Router,
    extract::State,
    http::{HeaderMap, Method, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};

use crate::{
    canaries::{CanaryScanner, canaries, listen, serve},
    daemon::{Daemon, UNLIMITED},
    support::{Home, has_chromium, write},
};

const ACCOUNTS: [&str; 2] = ["mira", "tomas"];
const PASSWORDS: [&str; 2] = ["sunshine over 41", "marmalade at 87"];
/// Who they are, and their numbers: data of the account, which its answers hold.
const PERSONS: [[&str; 2]; 2] =
    [["Mirabelle Ostrander", "customer-7719043"], ["Tomasz Quillfeather", "customer-5820617"]];
/// Of each account: cookies, stored values, tokens of an answer, hidden fields.
const OF_EACH: usize = 32;
const OF_A_KIND: usize = 8;

struct Site {
    all: Vec<String>,
}

impl Site {
    fn values(&self, account: usize, kind: usize) -> &[String] {
        let from = account * OF_EACH + kind * OF_A_KIND;
        &self.all[from..from + OF_A_KIND]
    }

    fn account(&self, headers: &HeaderMap) -> Option<usize> {
        let cookies = headers.get("cookie")?.to_str().ok()?;
        (0..ACCOUNTS.len()).find(|it| cookies.contains(&encoded(&self.values(*it, 0)[0])))
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
    for (i, value) in site.values(account, 0).iter().enumerate() {
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
                site.values(account, 2).iter().map(|it| json!({"access_token": it})).collect();
            let [name, number] = PERSONS[account];
            Json(json!({"name": name, "number": number, "tokens": tokens})).into_response()
        }
        ("GET", "/api/orders", Some(account)) => {
            let orders: Vec<Value> = ["brass lamp", "oak bench", "copper kettle", "folding ladder", "garden hose", "wool blanket", "slate plate", "iron stove"]
                .iter()
                .enumerate()
                .map(|(i, it)| json!({"item": format!("{it} with a spare part, ordered by {} for the summer house", ACCOUNTS[account]), "price": 20 + 7 * i + account, "customer": PERSONS[account][1]}))
                .collect();
            Json(json!({ "orders": orders })).into_response()
        }
        _ => StatusCode::UNAUTHORIZED.into_response(),
    }
}

fn page(site: &Site, account: usize) -> String {
    let script = |all: &[String]| Value::from(all.to_vec()).to_string().replace('<', "\\u003c");
    let hidden: String = site
        .values(account, 3)
        .iter()
        .map(|it| {
            let value = it.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
            format!("<input type=hidden name=csrf_token value=\"{value}\">")
        })
        .collect();
    format!(
        "<!doctype html><html><head><title>Orders</title></head><body><h1>My orders</h1><p>Signed in as {name}, {number}</p><form>{hidden}</form>\
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
        stored = script(site.values(account, 1)),
        name = PERSONS[account][0],
        number = PERSONS[account][1],
    )
}

#[test]
fn no_canary_of_two_accounts_leaves_the_vault() {
    if !has_chromium() {
        return;
    }
    let (listener, addr) = listen();
    let site = Arc::new(Site { all: canaries() });
    let app = Router::new().route("/login", axum::routing::post(log_in)).fallback(answer);
    serve(listener, app.with_state(Arc::clone(&site)));
    let mut secret = site.all.clone();
    secret.extend(PASSWORDS.map(str::to_owned));
    let hunt = CanaryScanner::new(&secret);
    let persons =
        CanaryScanner::new(&PERSONS.concat().into_iter().map(str::to_owned).collect::<Vec<_>>());
    let (home, temp, given) = (Home::new(), Home::new(), Home::new());
    write(&home.path().join("config.toml"), UNLIMITED);
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
    assert_eq!(learned["outcome"], "verified", "{said}");
    let (_, said) = run(&["artifacts", "ls"]);
    assert!(said.contains("private"), "{said}");
    for (account, [_, number]) in ACCOUNTS.iter().zip(PERSONS) {
        let (well, said) = run(&["recipe", "run", "orders", "--as", account, "--json"]);
        assert!(well && said.contains(number), "{said}");
    }
    assert!(run(&["recipe", "check", "--as", "mira", "orders"]).0);
    assert!(run(&["recipe", "verify", "--as", "mira", "orders"]).0);
    let (proven, said) = run(&["recipe", "verify", "orders"]);
    assert!(!proven && said.contains("LOGIN_REQUIRED"), "{said}");
    // What is shown of the recipe, and given away, names nobody.
    let mut told = Vec::new();
    for form in [
        "openapi",
        "curl",
        "hurl",
        "python",
        "typescript",
        "postman",
        "openai-tools",
        "mcp",
        "skill",
    ] {
        let folder = given.path().join(form);
        run(&["recipe", "export", "orders", "--as", form, "--out", folder.to_str().unwrap()]);
    }
    for args in [
        &["recipe", "explain", "orders"][..],
        &["recipe", "get", "orders"],
        &["recipe", "list", "--json"],
        &["recipe", "run", "orders", "--json"],
        &["vault", "ls", "--json"],
    ] {
        told.push((args.join(" "), run(args).1));
    }
    // The one that `vault` started.
    run(&["daemon", "stop"]);
    let daemon = Daemon::start_in(home, &["--test-host", &pin]);
    for (place, said) in told.into_iter().chain(unscoped(&daemon)) {
        persons.through(&place, said.as_bytes(), &mut caught);
        hunt.through(&place, said.as_bytes(), &mut caught);
    }
    for said in scoped(&daemon) {
        assert!(said.contains(PERSONS[1][1]) && !said.contains(PERSONS[0][1]), "{said}");
        hunt.through("a scoped answer", said.as_bytes(), &mut caught);
    }
    let home = daemon.kill();
    for folder in [home.path(), temp.path(), given.path()] {
        hunt.below(folder, &mut caught);
        persons.below(folder, &mut caught);
    }
    // A recording is as private as the account.
    let recordings = home.path().join("artifacts").join(&id).display().to_string();
    let canary_of_person = |it: &String| it.starts_with(&recordings);
    let (kept, leaked): (Vec<String>, Vec<String>) = caught.into_iter().partition(canary_of_person);
    assert!(leaked.is_empty(), "{leaked:#?}");
    let mut secrets = Vec::new();
    hunt.below(Path::new(&recordings), &mut secrets);
    assert!(secrets.is_empty() && !kept.is_empty(), "{secrets:#?}");
}

/// A request of the daemon with that token, or with a token of these scopes.
fn ask(daemon: &Daemon, token: &str, path: &str, more: &[(&str, &str)], body: &Value) -> String {
    let (host, bearer) = (format!("127.0.0.1:{}", daemon.port), format!("Bearer {token}"));
    let mut headers = vec![
        ("Host", &*host),
        ("Authorization", &*bearer),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ];
    headers.extend(more);
    let (method, body) =
        if body.is_null() { ("GET", String::new()) } else { ("POST", body.to_string()) };
    let it = daemon.ask(method, path, &headers, &body);
    format!("{} {}", it.status, it.body)
}

fn token(daemon: &Daemon, scopes: &[&str]) -> String {
    let (_, it) = daemon.api("POST", "/api/tokens", &json!({"can": scopes, "note": ""}));
    it["data"]["token"].as_str().unwrap_or_else(|| panic!("{it}")).to_owned()
}

fn tool(daemon: &Daemon, token: &str, name: &str, arguments: &Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let (method, params) = if name.is_empty() {
        ("tools/list", json!({ "_meta": meta }))
    } else {
        ("tools/call", json!({"name": name, "arguments": arguments, "_meta": meta}))
    };
    let mut headers = vec![("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)];
    if !name.is_empty() {
        headers.push(("Mcp-Name", name));
    }
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    ask(daemon, token, "/mcp", &headers, &body)
}

/// Answers to whoever may run the recipe and use no login, by REST and MCP; none gives data.
fn unscoped(daemon: &Daemon) -> Vec<(String, String)> {
    let (orders, own) =
        (json!({"name": "orders"}), token(daemon, &["run:orders", "recipes:read", "tasks:read"]));
    let mut out = Vec::new();
    for (token, who) in [(&own, "a token"), (&daemon.token, "a model with the root token")] {
        let run = |more: Value| tool(daemon, token, "commis_run", &more);
        let refused = run(json!({"name": "orders", "login": "mira"}));
        assert!(refused.contains("FORBIDDEN"), "{who}: {refused}");
        let without = run(orders.clone());
        assert!(without.contains("LOGIN_REQUIRED"), "{who}: {without}");
        out.push((format!("MCP {who}"), refused + &without));
        out.push((format!("tools of {who}"), tool(daemon, token, "", &Value::Null)));
    }
    let run = "/api/recipes/orders/run";
    let refused = ask(daemon, &own, run, &[], &json!({"login": "mira"}));
    assert!(refused.starts_with("403") && refused.contains("FORBIDDEN"), "{refused}");
    let without = ask(daemon, &own, run, &[], &json!({}));
    assert!(without.contains("LOGIN_REQUIRED"), "{without}");
    out.push(("REST runs".to_owned(), refused + &without));
    for path in [
        "/api/recipes",
        "/api/recipes/orders",
        "/api/recipes/orders/explain",
        "/api/recipes/orders/export?as=curl",
        "/api/tasks",
        "/api/health",
    ] {
        out.push((path.to_owned(), ask(daemon, &own, path, &[], &Value::Null)));
    }
    for path in ["/api/vault/list", "/api/vault/mount", "/api/vault/check"] {
        let said = ask(daemon, &own, path, &[], &json!({"name": "mira"}));
        assert!(said.starts_with("40"), "{path}: {said}");
        out.push((path.to_owned(), said));
    }
    out
}

/// Answers to whoever may use the second account's login: named, and as the only one that the token names.
fn scoped(daemon: &Daemon) -> Vec<String> {
    let token = token(daemon, &["run:orders", "vault:tomas"]);
    let theirs = tool(daemon, &token, "commis_run", &json!({"name": "orders", "login": "mira"}));
    assert!(theirs.contains("FORBIDDEN"), "{theirs}");
    let named = json!({"name": "orders", "login": "tomas"});
    vec![
        tool(daemon, &token, "commis_run", &named),
        tool(daemon, &token, "commis_run", &json!({"name": "orders"})),
        ask(daemon, &token, "/api/recipes/orders/run", &[], &json!({"login": "tomas"})),
        ask(daemon, &token, "/api/recipes/orders/run", &[], &json!({})),
    ]
}
