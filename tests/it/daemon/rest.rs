//! REST: envelope, codes, tasks, keys, events.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Daemon, UNLIMITED};

const OPEN: &str = "{version: 1, name: NAME, task: 'Look for {q}', status: draft, source_url: 'http://HOST/', \
 parameters: [{name: q, type: str, required: true, source: task_input}], \
 request: {method: GET, url: 'http://HOST/x', query: [{name: q, value: '{q}'}], allowed_domains: [HOST]}, response: {type: json}}";

pub fn recipe(name: &str, host: &str) -> String {
    OPEN.replace("NAME", name).replace("HOST", host)
}

#[test]
fn every_answer_has_the_envelope_and_errors_have_codes() {
    let daemon = Daemon::start(UNLIMITED, &[]);
    let check = |method: &str, path: &str, body: Value, status: u16, code: &str| {
        let (seen, it) = daemon.api(method, path, &body);
        assert_eq!(seen, status, "{method} {path}: {it}");
        assert_eq!(it["ok"], code.is_empty(), "{it}");
        if !code.is_empty() {
            assert_eq!(it["error"]["error_code"], code, "{it}");
            assert!(it["error"]["retryable"].is_boolean(), "{it}");
        }
    };
    let none = Value::Null;
    check("GET", "/api/version", none.clone(), 200, "");
    check("GET", "/api/health", none.clone(), 200, "");
    check("GET", "/api/recipes?status=draft", none.clone(), 200, "");
    check("GET", "/api/recipes?status=nonsense", none.clone(), 400, "PARAM_INVALID");
    check("GET", "/api/recipes?other=1", none.clone(), 400, "PARAM_INVALID");
    check("GET", "/api/recipes?status=draft&status=draft", none.clone(), 400, "PARAM_INVALID");
    check("GET", "/api/recipes/none", none.clone(), 404, "RECIPE_NOT_FOUND");
    check("GET", "/api/recipes/A%20B", none.clone(), 422, "RECIPE_INVALID");
    check("GET", "/api/tasks?limit=x", none.clone(), 400, "PARAM_INVALID");
    check("GET", "/api/tasks/none", none.clone(), 404, "TASK_NOT_FOUND");
    check("GET", "/api/nothing", none.clone(), 404, "NO_SUCH_ADDRESS");
    check("DELETE", "/api/version", none.clone(), 405, "METHOD_NOT_ALLOWED");
    check("POST", "/api/recipes/archive-search/run", json!({}), 409, "RECIPE_NOT_VERIFIED");
    check("POST", "/api/recipes/archive-search/run", json!({"name": "x"}), 400, "PARAM_INVALID");
    check("POST", "/api/recipes/archive-search/run", json!([1]), 400, "PARAM_INVALID");
    check(
        "POST",
        "/api/recipes/archive-search/run",
        json!({"params": {"query": {}}}),
        400,
        "PARAM_INVALID",
    );
    check("DELETE", "/api/recipes/archive-search", none.clone(), 403, "RECIPE_READ_ONLY");
    check("POST", "/api/recipes/archive-search/fork", json!({"new_name": "mine"}), 200, "");
    check(
        "POST",
        "/api/recipes/archive-search/fork",
        json!({"new_name": "mine"}),
        409,
        "RECIPE_EXISTS",
    );
    check("DELETE", "/api/recipes/mine", none, 200, "");
    check(
        "POST",
        "/api/recipes/archive-search/dry-run",
        json!({"params": {"query": "a b"}}),
        200,
        "",
    );
    check("POST", "/api/recipes/validate", json!({"name": "archive-search"}), 200, "");
    check("POST", "/api/recipes/validate", json!({"yaml": "{"}), 200, "");
    check("POST", "/api/recipes/learn", json!({"task": "t"}), 400, "PARAM_INVALID");
    check(
        "POST",
        "/api/recipes/learn",
        json!({"task": "t", "url": "http://a.test/", "steps": [{"leap": 1}]}),
        400,
        "PARAM_INVALID",
    );
    check("POST", "/api/runs", json!({"task": "nothing like it"}), 404, "RECIPE_NOT_FOUND");
    let secret = format!(
        "log in with password hunter2 and token ghp_{}",
        "a1B2c3D4e5".repeat(4).get(..36).unwrap()
    );
    check(
        "POST",
        "/api/recipes/learn",
        json!({"task": secret, "url": "http://a.test/"}),
        400,
        "SECRET_IN_TASK",
    );
    check(
        "POST",
        "/api/recipes/archive-search/run",
        json!({"params": {"query": secret}}),
        400,
        "SECRET_IN_TASK",
    );
}

#[test]
fn a_run_that_takes_long_is_a_task_and_a_key_stands_for_one() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let pinned = format!("silent.test={}", silent.local_addr().unwrap());
    let daemon = Daemon::start(UNLIMITED, &["--test-host", &pinned]);
    daemon.home.recipe("silent", &recipe("silent", "silent.test"));
    let host = format!("127.0.0.1:{}", daemon.port);
    let token = format!("Bearer {}", daemon.token);
    let run = |q: &str, more: &[(&str, &str)]| {
        let mut headers = vec![
            ("Host", host.as_str()),
            ("Authorization", token.as_str()),
            ("Content-Type", "application/json"),
        ];
        headers.extend_from_slice(more);
        let body = json!({"params": {"q": q}, "draft": true}).to_string();
        daemon.ask("POST", "/api/recipes/silent/run", &headers, &body)
    };
    let first = run("a", &[]);
    assert_eq!(first.status, 202, "{first:?}");
    let id = first.json()["data"]["task_id"].as_str().unwrap().to_owned();
    assert_eq!(first.header("location"), Some(format!("/api/tasks/{id}").as_str()));
    let (status, it) = daemon.api("GET", &format!("/api/tasks/{id}/result"), &Value::Null);
    assert_eq!((status, it["error"]["error_code"].as_str()), (409, Some("TASK_NOT_DONE")));
    // It can be cancelled, and says so.
    let (status, it) = daemon.api("POST", &format!("/api/tasks/{id}/cancel"), &json!({}));
    assert_eq!((status, it["data"]["state"].as_str()), (200, Some("cancelled")), "{it}");
    let (status, it) = daemon.api("GET", &format!("/api/tasks/{id}/result"), &Value::Null);
    assert_eq!((status, it["error"]["error_code"].as_str()), (410, Some("CANCELLED")), "{it}");
    // A key: the same task, until the input is another.
    let apart = [("Prefer", "respond-async"), ("Idempotency-Key", "one")];
    let (one, two) = (run("b", &apart), run("b", &apart));
    assert_eq!((one.status, two.status), (202, 202));
    assert_eq!(one.json()["data"]["task_id"], two.json()["data"]["task_id"]);
    let other = run("c", &apart);
    assert_eq!(
        (other.status, other.json()["error"]["error_code"].as_str()),
        (409, Some("KEY_REUSED"))
    );
    let wal = std::fs::read(daemon.home.path().join("serve/daemon.db-wal")).unwrap();
    assert!(!String::from_utf8_lossy(&wal).contains("Idempotency"));
    drop(silent);
}

#[test]
fn events_come_as_they_happen_and_what_was_missed_first() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let pinned = format!("silent.test={}", silent.local_addr().unwrap());
    let daemon = Daemon::start(UNLIMITED, &["--test-host", &pinned]);
    daemon.home.recipe("silent", &recipe("silent", "silent.test"));
    let host = format!("127.0.0.1:{}", daemon.port);
    let token = format!("Bearer {}", daemon.token);
    let body = json!({"params": {"q": "a"}, "draft": true}).to_string();
    let headers = [
        ("Host", host.as_str()),
        ("Authorization", token.as_str()),
        ("Content-Type", "application/json"),
        ("Prefer", "respond-async"),
    ];
    let made = daemon.ask("POST", "/api/recipes/silent/run", &headers, &body).json();
    let id = made["data"]["task_id"].as_str().unwrap();
    daemon.api("POST", &format!("/api/tasks/{id}/cancel"), &json!({}));
    let stream = |more: &str| {
        let text = format!(
            "GET /api/tasks/{id}/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\nConnection: close\r\n{more}\r\n"
        );
        String::from_utf8_lossy(&daemon.raw(text.as_bytes(), Duration::from_secs(5))).into_owned()
    };
    let all = stream("");
    let ids: Vec<u64> =
        all.lines().filter_map(|it| it.strip_prefix("id: ")?.parse().ok()).collect();
    assert!(ids.len() >= 2 && ids.is_sorted(), "{all}");
    assert!(all.contains("event: queued") && all.contains("event: cancelled"), "{all}");
    let rest = stream(&format!("Last-Event-ID: {}\r\n", ids[0]));
    assert!(!rest.contains("event: queued") && rest.contains("event: cancelled"), "{rest}");
    assert!(stream("Last-Event-ID: x\r\n").starts_with("HTTP/1.1 400"));
    // Five at once.
    let open: Vec<_> = (0..5)
        .map(|_| {
            use std::io::{Read as _, Write as _};
            let mut it = std::net::TcpStream::connect(daemon.addr()).unwrap();
            let text = format!(
                "GET /api/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: {token}\r\n\r\n"
            );
            it.write_all(text.as_bytes()).unwrap();
            let mut head = [0; 15];
            it.read_exact(&mut head).unwrap();
            assert_eq!(&head, b"HTTP/1.1 200 OK");
            it
        })
        .collect();
    let (status, it) = daemon.api("GET", "/api/events", &Value::Null);
    assert_eq!((status, it["error"]["error_code"].as_str()), (429, Some("RATE_LIMITED")));
    drop(open);
    drop(silent);
}
