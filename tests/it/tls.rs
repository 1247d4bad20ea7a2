//! https as a user meets it: hosts that cannot be trusted, recipes that are learned over it, keys that go over it.

use serde_json::{Value, json};

use crate::support::{Home, Web, has_chromium};

fn recipe(home: &Home, name: &str, url: &str, more: &str) {
    let host = url.split('/').nth(2).unwrap();
    let (url, query) = url.split_once('?').unwrap_or((url, ""));
    let query = query.split_once('=').map_or_else(String::new, |(name, value)| {
        format!("  query: [{{ name: {name}, value: {value} }}]\n")
    });
    home.recipe(
        name,
        &format!(
            "version: 1\nname: {name}\ntask: Try it\nstatus: draft\nsource_url: '{url}'\nrequest:\n  method: GET\n  url: '{url}'\n{query}  allowed_domains: ['{host}']\n{more}response: {{ type: json }}\n"
        ),
    );
}

/// `error_code`, or `ok`, and all of it.
fn run(home: &Home, web: &Web, name: &str, more: &[&str]) -> (String, Value) {
    let usual = ["recipe", "run", name, "--draft", "--json", "--test-host", &web.test_host];
    let (_, out) = home.json(&[&usual[..], more].concat());
    (out["error_code"].as_str().unwrap_or("ok").to_owned(), out)
}

#[test]
fn a_host_that_cannot_be_trusted_is_named_with_the_reason() {
    let home = Home::new();
    let web = Web::start(&home);
    recipe(&home, "good", "https://shop.test/api/search?q=lantern", "");
    assert_eq!(run(&home, &web, "good", &[]).0, "ok");
    for (host, words) in [
        ("expired", "has expired"),
        ("not-yet", "not valid yet"),
        ("other-name", "another name"),
        ("self-signed", "no trusted authority"),
        ("unknown-authority", "no trusted authority"),
        ("old-version", "no version of TLS"),
        ("version-alert", "no version of TLS"),
    ] {
        recipe(&home, host, &format!("https://{host}.wrong.test/"), "");
        let (code, out) = run(&home, &web, host, &[]);
        assert_eq!(code, "TLS_FAILED", "{host}: {out}");
        assert!(out["error"].as_str().unwrap().contains(words), "{host}: {out}");
        assert!(out["hint"].is_string(), "{out}");
        // Neither asked again nor tried by a browser.
        assert_eq!((&out["attempts"], &out["retryable"]), (&json!(1), &json!(false)), "{out}");
        assert_eq!(out["transport_used"], "public_http", "{out}");
    }
    if has_chromium() {
        let steps = home.path().join("steps.yaml");
        crate::support::write(&steps, "- wait_for: { text: anything }\n");
        let (code, out) = home.json(&[
            "recipe",
            "learn",
            "--url",
            "https://expired.wrong.test/",
            "--steps",
            steps.to_str().unwrap(),
            "--task",
            "Search it for {query}",
            "-p",
            "query=x",
            "--json",
            "--test-host",
            &web.test_host,
        ]);
        assert_eq!((code, &out["error_code"]), (1, &json!("TLS_FAILED")), "{out}");
        // The web in the program itself, for one task.
        let steps = steps.to_str().unwrap();
        let (_, out) = home.json(&[
            "recipe",
            "learn",
            "--testbed",
            "--url",
            "https://self-signed.wrong.test/",
            "--steps",
            steps,
            "--task",
            "Look it up: {query}",
            "-p",
            "query=x",
            "--json",
        ]);
        assert_eq!(out["error_code"], "TLS_FAILED", "{out}");
    }
    // Nobody is trusted without the CA, and no file that is none is taken for one.
    std::fs::remove_file(home.ca()).unwrap();
    let (code, out) = run(&home, &web, "good", &[]);
    assert_eq!(code, "TLS_FAILED", "{out}");
    assert!(out["hint"].as_str().unwrap().contains("--test-ca"), "{out}");
    let none = home.path().join("recipes/good.yaml");
    let (code, out) = run(&home, &web, "good", &["--test-ca", none.to_str().unwrap()]);
    assert_eq!(code, "SETTINGS_INVALID", "{out}");
}

#[test]
fn a_session_that_only_https_knows_is_learned_and_run() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let steps = home.path().join("vault.yaml");
    crate::support::write(
        &steps,
        "version: 1\nrecipes:\n  - name: vault-boxes\n    task: 'Search the boxes for {query} with their keepers'\n    url: https://vault.test/\n    examples: [{ query: silver }, { query: letters }]\n    record:\n      - navigate: https://vault.test/\n      - fill: { role: searchbox, name: Search boxes, value: '{query}' }\n      - click: { role: button, name: Search }\n      - wait_for: { text: 'results for {query}' }\n",
    );
    let manifest = steps.to_str().unwrap();
    let (code, report) = home.batch(&[
        "recipe",
        "learn-batch",
        "--manifest",
        manifest,
        "--test-host",
        &web.test_host,
        "--json",
    ]);
    assert_eq!((code, &report["entries"][0]["outcome"]), (0, &json!("verified")), "{report}");
    let (_, out) = home.json(&[
        "recipe",
        "run",
        "vault-boxes",
        "-p",
        "query=maps",
        "--json",
        "--test-host",
        &web.test_host,
    ]);
    assert_eq!(out["success"], true, "{out}");
    assert_eq!(out["transport_used"], "context_request", "{out}");
}

#[test]
fn a_key_goes_over_https() {
    let home = Home::new();
    let web = Web::start(&home);
    let auth = "auth: { type: bearer, env: COMMIS_AUTH_API_OBSERVATORY_TEST }\n";
    recipe(&home, "readings", "https://api.observatory.test/v1/readings?q=moon", auth);
    let args = ["recipe", "run", "readings", "--draft", "--json", "--test-host", &web.test_host];
    let mut command = home.command(&args);
    command.env("COMMIS_AUTH_API_OBSERVATORY_TEST", "night-Sky/42+open=");
    let out = command.output().unwrap();
    let out: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out["success"], true, "{out}");
    assert!(!out.to_string().contains("night-Sky"));
}
