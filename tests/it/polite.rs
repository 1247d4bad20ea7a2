//! `recipe run` as a guest of other people's sites: how often it calls, what it tries again, what it never sends.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::{Home, Web, has_chromium, write};

/// A GET of this URL, with more fields of the recipe.
pub fn get(url: &str, more: &str) -> String {
    let host = url.split('/').nth(2).unwrap();
    format!(
        "version: 1\nname: it\ntask: Get it\nstatus: draft\nsource_url: 'http://{host}/'\nrequest:\n  method: GET\n  url: '{url}'\n  allowed_domains: ['{host}']\n{more}\n"
    )
}

const JSON: &str = "response: { type: json }";

fn limits(home: &Home, text: &str) {
    write(&home.path().join("config.toml"), &format!("[limits]\ntest_hosts = true\n{text}\n"));
}

fn run(web: &Web) -> Vec<&str> {
    vec!["recipe", "run", "it", "--draft", "--json", "--test-host", &web.test_host]
}

fn hits(web: &Web, of: &str) -> u64 {
    web.control(&Home::new(), "hits")[of].as_u64().unwrap_or(0)
}

#[test]
fn a_shell_loop_shares_one_bucket_per_host() {
    let home = Home::new();
    let web = Web::start(&home);
    limits(&home, "per_minute = 1\nburst = 2");
    home.recipe("it", &get("http://stock.test/status", "response: { type: text }"));
    let all: Vec<_> = (0..6)
        .map(|_| home.command(&run(&web)).stdout(Stdio::piped()).stderr(Stdio::null()).spawn())
        .collect();
    let mut refused = Vec::new();
    for child in all {
        let out = child.unwrap().wait_with_output().unwrap();
        let it: Value = serde_json::from_slice(&out.stdout).unwrap();
        if it["error_code"] == "RATE_LIMITED" {
            refused.push((out.status.code(), it));
        }
    }
    assert_eq!(refused.len(), 4, "{refused:?}");
    for (exit, it) in &refused {
        let after = it["retry_after_sec"].as_u64().unwrap();
        assert_eq!((*exit, &it["retryable"], &it["attempts"]), (Some(1), &json!(true), &json!(0)));
        assert!((30..=60).contains(&after), "{it}");
    }
    assert_eq!(hits(&web, "stock.test GET /status"), 2);

    // Another host has its own bucket, and a damaged file is an empty one.
    home.recipe("it", &get("http://shop.test/api/search", JSON));
    assert_ne!(home.json(&run(&web)).1["error_code"], "RATE_LIMITED");
    let folder = home.path().join("limits");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path()).collect();
    assert_eq!(files.len(), 2, "{files:?}");
    for file in &files {
        write(file, "no number");
    }
    assert_eq!(home.json(&run(&web)).1["error_code"], "RATE_LIMITED");
}

#[test]
fn a_short_wait_is_waited_and_told() {
    let home = Home::new();
    let web = Web::start(&home);
    limits(&home, "per_minute = 40\nburst = 1");
    home.recipe("it", &get("http://endless.test/slow", JSON));
    for told in [false, true] {
        let out = home.run(&run(&web));
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(0), "{said}");
        assert_eq!(said.contains("endless.test: waiting 1."), told, "{said}");
    }
}

#[test]
fn a_refusal_for_now_is_tried_once_more() {
    let home = Home::new();
    let web = Web::start(&home);
    // The museum answers 429 with `Retry-After: 1` to the first call after its page was loaded.
    let more = "  query: [{ name: q, value: clock }]\n  headers: { x-from: '{page}' }\nslots:\n  - { name: page, from: { document: { url: 'http://museum.test/', after: '<title>', until: '</title>' } } }\nresponse: { type: json, extract: objects }";
    home.recipe("it", &get("http://museum.test/api/objects", more));
    let out = home.run(&run(&web));
    let it: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((&it["success"], &it["attempts"]), (&json!(true), &json!(2)), "{it}");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(said.contains("the site answered 429; once more in 1.0 s"), "{said}");
    assert_eq!(hits(&web, "museum.test GET /api/objects"), 2);

    home.recipe("it", &get("http://endless.test/status/503", JSON));
    let (exit, it) = home.json(&run(&web));
    assert_eq!(
        (exit, &it["error_code"], &it["attempts"]),
        (1, &json!("SERVER_ERROR"), &json!(2)),
        "{it}"
    );
    assert_eq!(hits(&web, "endless.test GET /status/503"), 2);

    // What is no trouble of the moment, and what nobody has shown to be harmless, are sent once.
    home.recipe("it", &get("http://endless.test/status/404", JSON));
    assert_eq!(home.json(&run(&web)).1["attempts"], 1);
    home.recipe(
        "it",
        &get("http://endless.test/status/500", JSON).replace("method: GET", "method: POST"),
    );
    let (_, it) = home.json(&run(&web));
    assert_eq!((&it["error_code"], &it["attempts"]), (&json!("SERVER_ERROR"), &json!(1)), "{it}");
    assert_eq!(hits(&web, "endless.test POST /status/500"), 1);
}

#[test]
fn what_the_client_alone_cannot_fetch_is_fetched_in_a_session() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe("it", &get("http://endless.test/browsers-only", JSON));
    let (_, it) = home.json(&run(&web));
    assert_eq!(it["data"], json!({"browser": true}), "{it}");
    assert_eq!(
        (&it["transport_used"], &it["fallback_from"]),
        (&json!("context_request"), &json!("public_http"))
    );
    // No page of another site is opened for it.
    let elsewhere = get("http://endless.test/browsers-only", JSON)
        .replace("source_url: 'http://endless.test/'", "source_url: 'http://museum.test/'");
    home.recipe("other", &elsewhere.replace("name: it", "name: other"));
    let other = ["recipe", "run", "other", "--draft", "--json", "--test-host", &web.test_host];
    let (_, it) = home.json(&other);
    assert_eq!((&it["success"], &it["fallback_from"]), (&json!(false), &Value::Null), "{it}");
    assert_eq!(hits(&web, "museum.test GET /"), 0);
    // Proof is by the transport that was asked for.
    let (exit, it) =
        home.json(&["recipe", "verify", "it", "--json", "--test-host", &web.test_host]);
    assert_eq!(exit, 1);
    assert!(it[0]["result"]["reason"].as_str().unwrap().contains("CONNECT_FAILED"), "{it}");
}

#[test]
fn methods_that_change_things_are_never_sent() {
    let home = Home::new();
    let web = Web::start(&home);
    let proof = "verification: { fingerprint_version: 1, fingerprint_sha256: '', verified_at: null, transport: public_http, requires_session: false }";
    for method in ["PUT", "PATCH", "DELETE", "HEAD", "TRACE", "put"] {
        for status in ["draft", "verified"] {
            let recipe = get("http://shop.test/api/search", &format!("{JSON}\n{proof}"))
                .replace("method: GET", &format!("method: {method}"))
                .replace("status: draft", &format!("status: {status}"));
            home.recipe("it", &recipe);
            let (exit, it) = home.json(&run(&web));
            assert_eq!(
                (exit, &it["error_code"]),
                (2, &json!("METHOD_NOT_ALLOWED")),
                "{method} {status}: {it}"
            );
        }
    }
    let all = web.control(&Home::new(), "hits");
    assert!(all.as_object().unwrap().keys().all(|it| it.starts_with("control.test ")), "{all}");
}
