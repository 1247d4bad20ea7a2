//! Callers that hang up, come all at once, come with less than the root token, or want more than is theirs.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Answer, Daemon, UNLIMITED, queue::CountingSite, rest::recipe};
use crate::support::{PATIENCE, wait_until};

/// A daemon with a recipe of a site that counts.
fn counting(settings: &str) -> (Daemon, CountingSite) {
    let site = CountingSite::start();
    let daemon = Daemon::start(settings, &["--test-host", &site.pinned]);
    daemon.home.proven("count", &recipe("count", "count.test"));
    (daemon, site)
}

/// The request as bytes, of whoever has that token.
fn bytes(
    daemon: &Daemon,
    token: &str,
    (method, path): (&str, &str),
    more: &str,
    body: &Value,
) -> String {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n\
         {more}Content-Length: {}\r\n\r\n{body}",
        daemon.port,
        body.len()
    )
}

fn ask(daemon: &Daemon, token: &str, what: (&str, &str), more: &str, body: &Value) -> Answer {
    let text = bytes(daemon, token, what, &format!("Connection: close\r\n{more}"), body);
    Answer::read(&daemon.raw(text.as_bytes(), Duration::from_secs(30)))
}

/// Asks, and goes away before there is an answer.
fn hang_up(daemon: &Daemon, what: (&str, &str), more: &str, body: &Value, after: Duration) {
    let mut stream = TcpStream::connect(daemon.addr()).unwrap();
    stream.write_all(bytes(daemon, &daemon.token, what, more, body).as_bytes()).unwrap();
    // Each call hangs up at another moment of the answer.
    std::thread::sleep(after);
}

fn token(daemon: &Daemon, can: &[&str]) -> (String, String) {
    let (status, it) = daemon.api("POST", "/api/tokens", &json!({"can": can}));
    assert_eq!(status, 200, "{it}");
    let text = |key: &str| it["data"][key].as_str().unwrap().to_owned();
    (text("token"), text("id"))
}

fn tasks(daemon: &Daemon) -> Vec<Value> {
    let (_, it) = daemon.api("GET", "/api/tasks?limit=1000", &Value::Null);
    it["data"]["tasks"].as_array().unwrap().clone()
}

const LEARN: (&str, &str) = ("POST", "/api/recipes/learn");
const RUN: (&str, &str) = ("POST", "/api/recipes/count/run");
const LATER: &str = "Prefer: respond-async\r\n";

fn run_of(q: &str) -> Value {
    json!({"params": {"q": q}, "draft": true})
}

#[test]
fn who_hangs_up_cuts_nothing_in_the_middle() {
    let (daemon, _site) = counting(UNLIMITED);
    for n in 0..25_u64 {
        let after = Duration::from_micros(n * 150);
        hang_up(&daemon, RUN, LATER, &run_of(&format!("n{n}")), after);
        let (_, id) = token(&daemon, &["run:*"]);
        let path = format!("/api/tokens/{id}");
        hang_up(&daemon, ("DELETE", &path), "", &Value::Null, after);
    }
    // At the moment when a run becomes a task.
    for n in 0..6_u64 {
        hang_up(&daemon, RUN, "", &run_of(&format!("slow{n}")), Duration::from_millis(1995 + n));
    }
    daemon.wait_until_idle();
    for it in tasks(&daemon) {
        let end = daemon.wait_for_task(it["task_id"].as_str().unwrap());
        assert_eq!(end["state"], "done", "{end}");
    }
    // What was revoked does not open anything, whoever waited for it to be.
    let (_, it) = daemon.api("GET", "/api/tokens", &Value::Null);
    let kept = it["data"]["tokens"].as_array().unwrap().len();
    let (fresh, id) = token(&daemon, &["run:*"]);
    let path = format!("/api/tokens/{id}");
    wait_until("end of the token", || {
        // Who goes before a busy daemon has looked at the request has asked for nothing.
        hang_up(&daemon, ("DELETE", &path), "", &Value::Null, Duration::from_millis(5));
        let (_, it) = daemon.api("GET", "/api/tokens", &Value::Null);
        it["data"]["tokens"].as_array().unwrap().len() == kept
    });
    assert_eq!(ask(&daemon, &fresh, ("GET", "/api/version"), "", &Value::Null).status, 401);
}

#[test]
fn the_queue_has_its_length_whoever_comes_at_once() {
    let (daemon, _site) = counting(&format!("{UNLIMITED}queue = 10\n"));
    let key = "Idempotency-Key: one\r\nPrefer: respond-async\r\n";
    let first = ask(&daemon, &daemon.token, RUN, key, &run_of("slow-first")).json();
    let accepted: usize = std::thread::scope(|scope| {
        let one = |n: usize| {
            let q = format!("slow{n}");
            let it = ask(&daemon, &daemon.token, RUN, LATER, &run_of(&q));
            assert!(matches!(it.status, 202 | 429), "{it:?}");
            usize::from(it.status == 202)
        };
        let all: Vec<_> = (0..60).map(|n| scope.spawn(move || one(n))).collect();
        all.into_iter().map(|it| it.join().unwrap()).sum()
    });
    // Ten that wait, and four at work.
    assert!((10..=14).contains(&accepted), "{accepted}");
    let same = ask(&daemon, &daemon.token, RUN, key, &run_of("slow-first"));
    assert_eq!((same.status, &same.json()["data"]["task_id"]), (202, &first["data"]["task_id"]));
    // The order of names is no other input.
    let turned = json!({"draft": true, "params": {"q": "slow-first"}});
    assert_eq!(ask(&daemon, &daemon.token, RUN, key, &turned).status, 202);
    assert_eq!(
        ask(&daemon, &daemon.token, RUN, key, &run_of("other")).json()["error"]["error_code"],
        "KEY_REUSED"
    );
}

#[test]
fn what_is_accepted_is_not_refused_later() {
    let settings = UNLIMITED.replace(
        "run_per_minute = 10000000\nrun_burst = 1000000",
        "run_per_minute = 1\nrun_burst = 5",
    );
    let (daemon, _site) = counting(&settings);
    let mut accepted = Vec::new();
    for n in 0..8 {
        let it = ask(&daemon, &daemon.token, RUN, LATER, &run_of(&format!("n{n}")));
        match it.status {
            202 => accepted.push(it.json()["data"]["task_id"].as_str().unwrap().to_owned()),
            429 => assert!(it.header("retry-after").is_some(), "{it:?}"),
            _ => panic!("{it:?}"),
        }
    }
    assert_eq!(accepted.len(), 5);
    for id in accepted {
        assert_eq!(daemon.wait_for_task(&id)["state"], "done");
    }
}

#[test]
fn watchers_see_all_events_in_the_order_of_their_ids() {
    const ALL: usize = 120;
    let (daemon, _site) = counting(&format!("{UNLIMITED}queue = 500\n"));
    let mut watch = TcpStream::connect(daemon.addr()).unwrap();
    watch
        .write_all(
            bytes(&daemon, &daemon.token, ("GET", "/api/events"), "", &Value::Null).as_bytes(),
        )
        .unwrap();
    let mut head = [0; 1];
    watch.read_exact(&mut head).unwrap();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let daemon = &daemon;
            scope.spawn(move || {
                for n in 0..ALL / 4 {
                    let it =
                        ask(daemon, &daemon.token, RUN, LATER, &run_of(&format!("p{part}n{n}")));
                    assert_eq!(it.status, 202, "{it:?}");
                }
            });
        }
    });
    let mut text = String::new();
    let begun = Instant::now();
    watch.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut part = [0; 8 * 1024];
    while text.matches("event: done").count() < ALL && begun.elapsed() < PATIENCE {
        if let Ok(n) = watch.read(&mut part) {
            text.push_str(&String::from_utf8_lossy(&part[..n]));
        }
    }
    let ids: Vec<u64> =
        text.lines().filter_map(|it| it.strip_prefix("id: ")?.trim().parse().ok()).collect();
    assert_eq!(ids.len(), 3 * ALL, "queued, running and done of each");
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
}

#[test]
fn commands_that_start_at_once_have_one_daemon() {
    let home = crate::support::Home::new();
    let all: Vec<_> =
        (0..4).map(|_| home.command(&["token", "list", "--json"]).spawn().unwrap()).collect();
    let ends: Vec<_> = all.into_iter().map(|mut it| it.wait().unwrap().code()).collect();
    let stopped = home.run(&["daemon", "stop"]);
    assert_eq!(ends, [Some(0); 4]);
    assert!(stopped.status.success());
}

#[test]
fn a_daemon_that_ends_is_not_found_any_more() {
    let (daemon, _site) = counting(UNLIMITED);
    let body = run_of("slow");
    let accepted = ask(&daemon, &daemon.token, RUN, LATER, &body);
    assert_eq!(accepted.status, 202);
    wait_until("run at work", || {
        daemon.api("GET", "/api/health", &Value::Null).1["data"]["running"] == 1
    });
    let pid = rustix::process::Pid::from_raw(daemon.pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let file = daemon.home.path().join("serve/daemon.json");
    wait_until("end of the listener", || TcpStream::connect(daemon.addr()).is_err());
    assert!(!file.exists(), "its port may be another's by now");
    // The next is started as soon as it has ended.
    let out = daemon.home.run(&["daemon", "start", "--json"]);
    let next: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
    let stopped = daemon.home.run(&["daemon", "stop"]);
    assert!(out.status.success() && stopped.status.success(), "{out:?}");
    assert_ne!(next["pid"], daemon.pid());
}

#[test]
fn a_token_with_scopes_learns_nothing_of_the_daemon_and_of_others() {
    let (daemon, _site) = counting(UNLIMITED);
    let (scoped, id) = token(&daemon, &["run:count", "learn:write", "tasks:read"]);
    let step = |value: &str| json!([{"fill": {"label": "Search", "value": value}}]);
    let named =
        json!({"task": "look it up", "url": "http://count.test/", "steps": step("env:HOME")});
    let code = |token: &str, body: &Value| {
        ask(&daemon, token, LEARN, "", body).json()["error"]["error_code"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(code(&scoped, &named).as_deref(), Some("FORBIDDEN"));
    let in_params =
        json!({"task": "look {it} up", "url": "http://count.test/", "params": {"it": "env:HOME"}});
    assert_eq!(code(&scoped, &in_params).as_deref(), Some("FORBIDDEN"));
    let har = json!({"task": "look it up", "har": "/etc/passwd"});
    assert_eq!(code(&scoped, &har).as_deref(), Some("FORBIDDEN"));
    // Nor does whoever has the root token send a variable where nothing binds it to.
    assert_eq!(code(&daemon.token, &named).as_deref(), Some("AUTH_NOT_ALLOWED"));

    // What a site answers is no word of ours.
    let it = ask(&daemon, &scoped, RUN, LATER, &run_of("whatever")).json();
    let task = it["data"]["task_id"].as_str().unwrap();
    daemon.wait_for_task(task);
    let path = format!("/api/tasks/{task}/candidates");
    assert_eq!(ask(&daemon, &scoped, ("GET", &path), "", &Value::Null).status, 404);

    // Of many tasks it finds its own.
    for n in 0..5 {
        ask(&daemon, &daemon.token, RUN, LATER, &run_of(&format!("n{n}")));
    }
    let it = ask(&daemon, &scoped, ("GET", "/api/tasks?limit=2"), "", &Value::Null).json();
    assert_eq!(it["data"]["tasks"].as_array().unwrap().len(), 1, "{it}");

    // Its streams end with it.
    let path = format!("/api/tasks/{}/events", slowest_task(&daemon, &scoped));
    let mut watch = TcpStream::connect(daemon.addr()).unwrap();
    watch.write_all(bytes(&daemon, &scoped, ("GET", &path), "", &Value::Null).as_bytes()).unwrap();
    watch.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut seen = [0; 4096];
    assert!(watch.read(&mut seen).unwrap() > 0);
    let revoke = format!("/api/tokens/{id}");
    assert_eq!(daemon.api("DELETE", &revoke, &Value::Null).0, 200);
    let mut text = String::new();
    while let Ok(n) = watch.read(&mut seen) {
        text.push_str(&String::from_utf8_lossy(&seen[..n]));
        if n == 0 || text.ends_with("0\r\n\r\n") {
            break;
        }
    }
    // The stream ends before the task does, which takes 25 s.
    assert!(!text.contains("event: done"), "{text}");
}

/// A run that takes longer than anything here waits, as a task.
fn slowest_task(daemon: &Daemon, token: &str) -> String {
    let it = ask(daemon, token, RUN, LATER, &run_of("slowest")).json();
    it["data"]["task_id"].as_str().unwrap().to_owned()
}

#[test]
fn secrets_are_seen_in_numbers_and_in_names() {
    let (daemon, _site) = counting(UNLIMITED);
    for params in
        [json!({"password": 84_739_201}), json!({"ghp_16C7e42F292c6912E7710c838347Ae178B4a": "x"})]
    {
        let body = json!({"params": params, "draft": true});
        let (status, it) = daemon.api("POST", "/api/recipes/count/run", &body);
        assert_eq!((status, &it["error"]["error_code"]), (400, &json!("SECRET_IN_TASK")), "{it}");
    }
    // What a password is typed into says that it is one; the file has no trace of it.
    let allowed = Daemon::start(&format!("{UNLIMITED}allow_task_secrets = true\n"), &[]);
    let value = "plainlookingword";
    let step = json!([{"fill": {"role": "textbox", "name": "Password", "value": value}}]);
    let body = json!({"task": "get in", "url": "http://nobody.test/", "steps": step});
    let (status, it) = allowed.api("POST", "/api/recipes/learn", &body);
    assert!(status == 202 && !it.to_string().contains(value), "{it}");
    allowed.wait_for_task(it["data"]["task_id"].as_str().unwrap());
    for file in std::fs::read_dir(allowed.home.path().join("serve")).unwrap().flatten() {
        let bytes = std::fs::read(file.path()).unwrap_or_default();
        assert!(!bytes.windows(value.len()).any(|it| it == value.as_bytes()), "{:?}", file.path());
    }
}

#[test]
fn a_request_in_the_wake_of_another_is_looked_at_too() {
    let daemon = Daemon::start(UNLIMITED, &[]);
    let first = bytes(&daemon, &daemon.token, ("GET", "/api/version"), "", &Value::Null);
    let second = bytes(
        &daemon,
        &daemon.token,
        ("POST", "/api/reload"),
        "Transfer-Encoding: chunked\r\n",
        &Value::Null,
    );
    let out = daemon.raw(format!("{first}{second}0\r\n\r\n").as_bytes(), Duration::from_secs(3));
    let text = String::from_utf8_lossy(&out);
    let answers: Vec<&str> = text.split("HTTP/1.1 ").skip(1).map(|it| &it[..3]).collect();
    assert_eq!(answers, ["200", "400"], "{text}");
    // One after the other is as it should be.
    let mut stream = TcpStream::connect(daemon.addr()).unwrap();
    for _ in 0..3 {
        stream.write_all(first.as_bytes()).unwrap();
        let mut seen = [0; 4096];
        let n = stream.read(&mut seen).unwrap();
        assert!(seen[..n].starts_with(b"HTTP/1.1 200"));
    }
    // Nobody's bodies are waited for.
    let waiting = format!(
        "GET /health HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Length: 10\r\n\r\n",
        daemon.port
    );
    let out = Answer::read(&daemon.raw(waiting.as_bytes(), Duration::from_secs(2)));
    assert_eq!(out.status, 400, "{out:?}");
}

#[test]
fn numbers_and_nulls_are_what_was_meant() {
    let (daemon, site) = counting(UNLIMITED);
    let run = |q: Value| {
        daemon.api("POST", "/api/recipes/count/run", &json!({"params": {"q": q}, "draft": true}))
    };
    assert_eq!(run(json!(3.0)).0, 200);
    assert_eq!(site.seen.lock().unwrap().get("3"), Some(&1));
    let (status, it) = run(serde_json::from_str("12345678901234567890123").unwrap());
    assert!(status == 400 && it["error"]["message"].as_str().unwrap().contains("`q`"), "{it}");
    let (status, it) = run(json!([1]));
    assert!(status == 400 && it["error"]["message"].as_str().unwrap().contains("`q`"), "{it}");
    // The document knows no null; models write it for what they do not give.
    let body = json!({"params": {"q": "a", "other": null}, "draft": true});
    assert_eq!(daemon.api("POST", "/api/recipes/count/run", &body).0, 400);
    assert_eq!(daemon.api("GET", "/api/tasks?limit=null", &Value::Null).0, 400);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "commis_run", "arguments": {"name": "count", "draft": true, "params": {"q": "b", "other": null}},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let more = "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
                Mcp-Method: tools/call\r\nMcp-Name: commis_run\r\n";
    let it = ask(&daemon, &daemon.token, ("POST", "/mcp"), more, &body).json();
    assert_eq!(it["result"]["structuredContent"]["ok"], true, "{it}");
}

#[test]
fn refusals_are_noted_and_do_not_fill_the_disk() {
    let daemon = Daemon::start(UNLIMITED, &[]);
    for n in 0..150 {
        let path = format!("/api/version?n={n}");
        assert_eq!(daemon.ask("GET", &path, &[("Host", "evil.test")], "").status, 403);
    }
    let log: String = std::fs::read_dir(daemon.home.path().join("logs"))
        .unwrap()
        .flatten()
        .map(|it| std::fs::read_to_string(it.path()).unwrap_or_default())
        .collect();
    let lines = log.lines().filter(|it| it.contains("refused")).count();
    assert!((1..=75).contains(&lines), "{lines}");
}

#[test]
fn a_run_that_became_a_task_is_cancelled_really() {
    let (daemon, _site) = counting(UNLIMITED);
    let it = ask(&daemon, &daemon.token, RUN, "", &run_of("slowest"));
    assert_eq!(it.status, 202, "{it:?}");
    let it = it.json();
    let id = it["data"]["task_id"].as_str().unwrap();
    let (status, it) = daemon.api("POST", &format!("/api/tasks/{id}/cancel"), &Value::Null);
    assert_eq!((status, &it["data"]["state"]), (200, &json!("cancelled")), "{it}");
    daemon.wait_until_idle();
    let (status, it) = daemon.api("GET", &format!("/api/tasks/{id}/result"), &Value::Null);
    assert_eq!((status, &it["error"]["error_code"]), (410, &json!("CANCELLED")), "{it}");
}

/// What an earlier daemon left, as no daemon of today writes it: each has an end, and none brings a daemon down for ever.
#[test]
fn what_cannot_go_on_ends() {
    let (daemon, site) = counting(UNLIMITED);
    let id = |q: &str| {
        let it = ask(&daemon, &daemon.token, RUN, LATER, &run_of(q)).json();
        let id = it["data"]["task_id"].as_str().unwrap().to_owned();
        daemon.wait_for_task(&id);
        id
    };
    let (gone, secret, poison) = (id("a"), id("b"), id("c"));
    let home = daemon.kill();
    let db = rusqlite::Connection::open(home.path().join("serve/daemon.db")).unwrap();
    let set = |id: &str, what: &str| {
        let sql = format!("UPDATE tasks SET ended_ms = NULL, result = NULL, {what} WHERE id = ?");
        assert_eq!(db.execute(&sql, [id]).unwrap(), 1);
    };
    set(&gone, "state = 'queued', began_ms = NULL, operation = 'none_of_today'");
    set(&secret, "state = 'queued', began_ms = NULL, hidden = 1");
    set(&poison, "state = 'running', operation = 'recipe_learn', again = 2");
    drop(db);
    let daemon = Daemon::start_in(home, &["--test-host", &site.pinned]);
    assert_eq!(daemon.wait_for_task(&gone)["state"], "failed");
    for id in [&secret, &poison] {
        let end = daemon.wait_for_task(id);
        assert_eq!(
            (&end["state"], &end["error"]["error_code"]),
            (&json!("interrupted"), &json!("INTERRUPTED")),
            "{end}"
        );
    }
    assert_eq!(site.seen.lock().unwrap().get("b"), Some(&1), "and none was done again");
}

#[test]
fn a_recipe_of_many_levels_brings_nothing_down() {
    let home = crate::support::Home::new();
    let deep = format!("${}:str", "[]".repeat(3000));
    let text = recipe("deep", "count.test").replace("status: draft", "status: verified");
    let text = text.strip_suffix('}').unwrap();
    let proof = "{fingerprint_version: 1, fingerprint_sha256: x, verified_at: '2026-01-01T00:00:00Z', transport: public_http, requires_session: false";
    let text = format!("{text}, verification: {proof}, shape: ['{deep}']}}}}");
    home.proven("deep", &text);
    let daemon = Daemon::start_in(home, &[]);
    let (status, it) = daemon.api("GET", "/api/recipes/deep", &Value::Null);
    assert_eq!((status, &it["data"]["status"]), (200, &json!("verified")), "{it}");
    assert_eq!(daemon.api("GET", "/api/health", &Value::Null).0, 200);
}
