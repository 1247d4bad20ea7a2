//! Watches: a shop whose prices change, as the daemon sees it run after run.
//!
//! The shop is a server of our own, so that it can count what it was asked, say that nothing is new, and fail.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};

use crate::{
    daemon::{Daemon, UNLIMITED},
    support::{Home, wait_for, wait_until, write},
};

const RECIPE: &str = "version: 1
name: shop
task: Things of a shop with their prices
status: verified
source_url: http://shop.test/
parameters: [{ name: query, type: str, required: true, source: task_input, examples: [lamp, rug] }]
request:
  method: GET
  url: http://shop.test/things
  query: [{ name: q, value: '{query}' }]
  allowed_domains: [shop.test]
response: { type: json, extract: things }
verification: { fingerprint_version: 1, fingerprint_sha256: x, verified_at: '2026-01-01T00:00:00Z', transport: public_http, requires_session: false }
";

#[derive(Default)]
struct Stock {
    things: Value,
    /// What it answers instead.
    status: Option<u16>,
    etag: Option<String>,
    /// Requests, and those that were told that nothing is new.
    asked: u32,
    not_modified: u32,
    /// Bodies that came to the webhook, with their signatures.
    hooks: Vec<(String, Value)>,
}

#[derive(Clone)]
struct Shop {
    port: u16,
    stock: Arc<Mutex<Stock>>,
}

impl Shop {
    fn open(things: Value) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stock = Arc::new(Mutex::new(Stock { things, ..Stock::default() }));
        let it = Self { port: listener.local_addr().unwrap().port(), stock };
        let serving = it.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shop = serving.clone();
                std::thread::spawn(move || {
                    let mut reader = BufReader::new(stream.try_clone().unwrap());
                    let mut to = stream;
                    while let Some(answer) = shop.answer(&mut reader) {
                        if to.write_all(answer.as_bytes()).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        it
    }

    fn answer(&self, reader: &mut BufReader<std::net::TcpStream>) -> Option<String> {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let (mut length, mut etag, mut signature) = (0, None, String::new());
        loop {
            let mut head = String::new();
            reader.read_line(&mut head).ok()?;
            let Some((name, value)) = head.trim_end().split_once(": ") else { break };
            match name.to_lowercase().as_str() {
                "content-length" => length = value.parse().ok()?,
                "if-none-match" => etag = Some(value.to_owned()),
                "webhook-signature" => value.clone_into(&mut signature),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let mut stock = self.stock.lock().unwrap();
        if line.starts_with("POST /hook") {
            stock.hooks.push((signature, serde_json::from_slice(&body).unwrap()));
            return Some("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n".to_owned());
        }
        stock.asked += 1;
        if let Some(status) = stock.status {
            return Some(format!("HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n"));
        }
        if etag.is_some() && etag == stock.etag {
            stock.not_modified += 1;
            return Some("HTTP/1.1 304 Not Modified\r\n\r\n".to_owned());
        }
        let body = json!({"things": stock.things}).to_string();
        let tag = stock.etag.as_ref().map_or(String::new(), |it| format!("ETag: {it}\r\n"));
        Some(format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{tag}Content-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    fn set(&self, change: impl FnOnce(&mut Stock)) {
        change(&mut self.stock.lock().unwrap());
    }

    fn get<T>(&self, of: impl FnOnce(&Stock) -> T) -> T {
        of(&self.stock.lock().unwrap())
    }

    fn home(&self, settings: &str) -> Home {
        let home = Home::new();
        let settings = format!("{UNLIMITED}\n[watch]\nleast_seconds = 1\nnotify = []\n{settings}");
        write(&home.path().join("config.toml"), &settings);
        home.proven("shop", RECIPE);
        home
    }

    fn serve(&self, home: Home, env: &[(&str, &str)]) -> Daemon {
        // Programs and webhooks are the user's word: no variable says where the settings are.
        let root = home.path().to_str().unwrap().to_owned();
        let at = format!("*.test=127.0.0.1:{}", self.port);
        Daemon::of_env(home, &["--home", &root, "--test-host", &at], env)
    }
}

fn things(prices: &[(&str, f64)]) -> Value {
    prices.iter().map(|it| json!({"name": it.0, "price": it.1})).collect()
}

fn add(daemon: &Daemon, more: &Value) -> Value {
    let mut body = json!({"recipe": "shop", "params": {"query": "lamp"}, "every": "1h"});
    for (name, it) in more.as_object().unwrap() {
        body[name] = it.clone();
    }
    let (status, out) = daemon.api("POST", "/api/watches", &body);
    assert_eq!(status, 200, "{out}");
    out["data"].clone()
}

fn run(daemon: &Daemon, watch: &str) -> Value {
    let (status, out) = daemon.api("POST", &format!("/api/watches/{watch}/run"), &json!({}));
    assert_eq!(status, 200, "{out}");
    out["data"]["run"].clone()
}

fn log(daemon: &Daemon, watch: &str) -> Value {
    let (status, out) = daemon.api("GET", &format!("/api/watches/{watch}/log"), &Value::Null);
    assert_eq!(status, 200, "{out}");
    out["data"].clone()
}

/// Until that holds of its log.
fn until(daemon: &Daemon, watch: &str, holds: impl Fn(&Value) -> bool) -> Value {
    wait_for("such log of the watch", || {
        let it = log(daemon, watch);
        if holds(&it) { Ok(it) } else { Err(it.to_string()) }
    })
}

/// A watch whose first answer is there.
fn watched(daemon: &Daemon, more: &Value) -> String {
    let name = add(daemon, more)["watch"].as_str().unwrap().to_owned();
    until(daemon, &name, |it| it["runs"][0]["outcome"] == "first");
    name
}

#[test]
fn prices_that_change_are_told_by_item() {
    let shop = Shop::open(things(&[("Lamp", 5.0), ("Rug", 9.0)]));
    let daemon = shop.serve(shop.home(""), &[]);
    let name = watched(&daemon, &json!({"on": ["change:items[].price"]}));
    assert_eq!(name, "shop-lamp");
    shop.set(|it| it.things = things(&[("Vase", 2.0), ("Rug", 8.5), ("Lamp", 5.0)]));
    let it = run(&daemon, &name);
    let expected =
        json!([{"kind": "changed", "item": "Rug", "path": "price", "old": 9.0, "new": 8.5}]);
    assert_eq!((&it["outcome"], &it["changes"]), (&json!("changed"), &expected), "{it}");
    assert_eq!(run(&daemon, &name)["outcome"], "unchanged");
    let it = log(&daemon, &name);
    assert_eq!(it["watch"]["key_found"], json!(["name"]));
    // Everything counts where nothing is said.
    let all = watched(&daemon, &json!({"watch": "all"}));
    shop.set(|it| it.things = things(&[("Rug", 8.5), ("Lamp", 4.0)]));
    let it = run(&daemon, &all);
    assert_eq!((&it["removed"], &it["changed"], &it["added"]), (&json!(1), &json!(1), &json!(0)));
    // As a person asks for it.
    let out = daemon.home.run(&["watch", "log", "all", "--changes"]);
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(said.contains("Lamp: price 5.0 -> 4.0") && said.contains("removed: Vase"), "{said}");
    let out = daemon.home.run(&["watch", "list"]);
    assert!(String::from_utf8_lossy(&out.stdout).contains("shop-lamp"), "{out:?}");
    assert!(daemon.home.run(&["watch", "pause", "all"]).status.success());
    assert_eq!(log(&daemon, "all")["watch"]["paused"], true);
    assert!(daemon.home.run(&["watch", "rm", "all"]).status.success());
    assert_eq!(daemon.api("GET", "/api/watches/all/log", &Value::Null).0, 404);
}

#[test]
fn a_failure_and_an_answer_that_says_little_are_no_change() {
    let shop = Shop::open(things(&[("Lamp", 5.0), ("Rug", 9.0)]));
    let daemon = shop.serve(shop.home(""), &[]);
    let name = watched(&daemon, &json!({}));
    shop.set(|it| it.status = Some(503));
    let it = run(&daemon, &name);
    assert_eq!((&it["outcome"], &it["error_code"]), (&json!("failed"), &json!("SERVER_ERROR")));
    let watch = log(&daemon, &name)["watch"].clone();
    let pause = watch["next_ms"].as_i64().unwrap() - watch["last_run_ms"].as_i64().unwrap();
    assert!((30_000..120_000).contains(&pause), "it is tried again soon: {pause}");
    // The example's values find nothing either, or are these: nothing proves that all are gone.
    shop.set(|it| (it.status, it.things) = (None, json!([])));
    assert_eq!(run(&daemon, &name)["outcome"], "empty");
    shop.set(|it| it.things = things(&[("Lamp", 5.0), ("Rug", 9.0)]));
    assert_eq!(run(&daemon, &name)["outcome"], "unchanged");
}

#[test]
fn a_site_that_says_that_nothing_is_new_sends_nothing_again() {
    let shop = Shop::open(things(&[("Lamp", 5.0)]));
    shop.set(|it| it.etag = Some("\"one\"".to_owned()));
    let daemon = shop.serve(shop.home(""), &[]);
    let name = watched(&daemon, &json!({}));
    assert_eq!(run(&daemon, &name)["outcome"], "unchanged");
    assert_eq!(run(&daemon, &name)["outcome"], "unchanged");
    assert_eq!(shop.get(|it| (it.asked, it.not_modified)), (3, 2));
    shop.set(|it| (it.etag, it.things) = (Some("\"two\"".to_owned()), things(&[("Lamp", 6.0)])));
    assert_eq!(run(&daemon, &name)["changed"], 1);
    assert_eq!(log(&daemon, &name)["runs"][1]["runs"], 2, "runs in a row are one line");
}

#[test]
fn a_due_run_is_made_once_and_history_survives_kill_nine() {
    let shop = Shop::open(things(&[("Lamp", 5.0)]));
    let daemon = shop.serve(shop.home(""), &[]);
    let name = watched(&daemon, &json!({}));
    let home = daemon.kill();
    let asked = shop.get(|it| it.asked);
    let daemon = shop.serve(home, &[]);
    // The first answer is there, and an hour has not passed.
    let it = log(&daemon, &name);
    assert_eq!(
        (&it["runs"][0]["outcome"], &it["watch"]["running"]),
        (&json!("first"), &json!(false))
    );
    assert_eq!(shop.get(|it| it.asked), asked);
    shop.set(|it| it.things = things(&[("Lamp", 4.0)]));
    assert_eq!(run(&daemon, &name)["changed"], 1);
    // On its own schedule as well.
    let soon = watched(&daemon, &json!({"watch": "soon", "every": "1s"}));
    shop.set(|it| it.things = things(&[("Lamp", 3.0)]));
    until(&daemon, &soon, |it| {
        it["runs"][0]["outcome"] == "changed" || it["runs"][1]["outcome"] == "changed"
    });
}

#[test]
fn a_webhook_is_signed_and_a_program_reads_json() {
    let shop = Shop::open(things(&[("Lamp", 5.0)]));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("told.json");
    let settings = format!(
        "[watch.webhook]\nurl = \"http://hook.test/hook\"\nsecret_env = \"HOOK\"\n[watch.commands]\nkeep = [\"/bin/sh\", \"-c\", \"cat > {0}.part && mv {0}.part {0}\"]\n",
        file.display()
    );
    let secret = [("HOOK", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")];
    let daemon = shop.serve(shop.home(&settings), &secret);
    let wrong = json!({"recipe": "shop", "params": {"query": "x"}, "every": "1h", "notify": ["command:rm"]});
    let (status, out) = daemon.api("POST", "/api/watches", &wrong);
    assert_eq!((status, &out["error"]["error_code"]), (400, &json!("PARAM_INVALID")));
    let name = watched(&daemon, &json!({"notify": ["webhook", "command:keep"]}));
    shop.set(|it| it.things = things(&[("Lamp", 4.5)]));
    assert_eq!(run(&daemon, &name)["changed"], 1);
    wait_until("call of the webhook and the command", || {
        shop.get(|it| !it.hooks.is_empty()) && file.exists()
    });
    let (signature, body) = shop.get(|it| it.hooks[0].clone());
    assert!(signature.starts_with("v1,"), "{signature}");
    assert_eq!(
        (&body["type"], &body["data"]["changes"][0]["new"]),
        (&json!("watch.changed"), &json!(4.5))
    );
    let told: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(told, body);
}

#[test]
fn who_may_run_a_recipe_may_watch_it_and_sees_no_other_watch() {
    let shop = Shop::open(things(&[("Lamp", 5.0)]));
    let daemon = shop.serve(shop.home(""), &[]);
    let ours = watched(&daemon, &json!({}));
    let token = |can: &str| {
        let (_, out) = daemon.api("POST", "/api/tokens", &json!({"can": [can], "note": ""}));
        (
            out["data"]["token"].as_str().unwrap().to_owned(),
            out["data"]["id"].as_str().unwrap().to_owned(),
        )
    };
    let ask = |token: &str, method: &str, path: &str, body: &Value| {
        let host = format!("127.0.0.1:{}", daemon.port);
        let bearer = format!("Bearer {token}");
        let head =
            [("Host", &*host), ("Authorization", &*bearer), ("Content-Type", "application/json")];
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let it = daemon.ask(method, path, &head, &body);
        (it.status, it.json())
    };
    let body = json!({"recipe": "shop", "params": {"query": "rug"}, "every": "1h"});
    let (other, _) = token("run:another");
    assert_eq!(ask(&other, "POST", "/api/watches", &body).0, 404);
    let (own, id) = token("run:shop");
    let (status, out) = ask(&own, "POST", "/api/watches", &body);
    assert_eq!(status, 200, "{out}");
    let (_, all) = ask(&own, "GET", "/api/watches", &Value::Null);
    let names: Vec<&Value> =
        all["data"]["watches"].as_array().unwrap().iter().map(|it| &it["watch"]).collect();
    assert_eq!(names, ["shop-rug"]);
    assert_eq!(ask(&own, "GET", &format!("/api/watches/{ours}/log"), &Value::Null).0, 404);
    assert_eq!(ask(&own, "DELETE", &format!("/api/watches/{ours}"), &Value::Null).0, 404);
    // A token that is taken back runs nothing any more.
    until(&daemon, "shop-rug", |it| it["runs"][0]["outcome"] == "first");
    daemon.api("DELETE", &format!("/api/tokens/{id}"), &Value::Null);
    assert_eq!(run(&daemon, "shop-rug")["error_code"], "FORBIDDEN");
    // A value that is a secret is not kept.
    let secret =
        json!({"recipe": "shop", "params": {"query": "x", "password": "hunter2"}, "every": "1h"});
    assert_eq!(
        daemon.api("POST", "/api/watches", &secret).1["error"]["error_code"],
        "SECRET_IN_TASK"
    );
}

#[test]
fn pages_of_watches_show_the_list_the_log_and_the_curve() {
    let shop = Shop::open(things(&[("Lamp", 5.0), ("<b>Rug</b>", 9.0)]));
    let daemon = shop.serve(shop.home(""), &[]);
    let name = watched(&daemon, &json!({"on": ["change:price"]}));
    shop.set(|it| it.things = things(&[("Lamp", 5.0), ("<b>Rug</b>", 7.5)]));
    assert_eq!(run(&daemon, &name)["changed"], 1);
    let page = |path: &str| {
        let host = format!("127.0.0.1:{}", daemon.port);
        let bearer = format!("Bearer {}", daemon.token);
        daemon
            .ask(
                "GET",
                path,
                &[("Host", &host), ("Authorization", &bearer), ("Accept", "text/html")],
                "",
            )
            .body
    };
    assert!(page("/watches").contains("/watches/shop-lamp"));
    let one = page("/watches/shop-lamp");
    assert!(
        one.contains("price: 7.5 now, 9 at first") && one.contains("class=\"course\""),
        "{one}"
    );
    assert!(one.contains("&lt;b&gt;Rug") && !one.contains("<b>Rug"), "{one}");
    assert!(page("/watches/shop-lamp?item=Lamp").contains("price: 5 now"));
    assert!(page("/watches/none").contains("WATCH_NOT_FOUND"));
}
