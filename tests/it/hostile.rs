//! `recipe run` against a server and a name server that lie: the right code, in time, and within memory.

use std::{
    fs::File,
    path::PathBuf,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::{Home, Web, has_chromium, wait_until};

/// A recipe that asks for the URL as JSON; `session` is the transport, if one needs a browser.
fn recipe(home: &Home, name: &str, method: &str, url: &str, session: Option<&str>) {
    let host = url.split('/').nth(2).unwrap();
    let proof = session.map_or_else(String::new, |it| {
        let hash = "0".repeat(64);
        format!(
            "verification: {{ fingerprint_version: 1, fingerprint_sha256: '{hash}', transport: {it}, requires_session: true }}\n"
        )
    });
    home.recipe(
        name,
        &format!(
            "version: 1\nname: {name}\ntask: Try it\nstatus: draft\nsource_url: http://wild.test/\nrequest:\n  method: {method}\n  url: '{url}'\n  allowed_domains: ['{host}', away.test]\nresponse: {{ type: json }}\n{proof}"
        ),
    );
}

/// A run under way. Its output goes to a file: a pipe that nobody reads would hold it up.
struct Run {
    child: Child,
    output: PathBuf,
}

fn start(home: &Home, web: &Web, name: &str) -> Run {
    let output = home.path().join(format!("{name}.json"));
    let child = home
        .command(&["recipe", "run", name, "--draft", "--json"])
        .args(["--nameserver", &web.nameserver, "--test-host", &web.test_host])
        .args(["--test-host", &web.wild[0], "--test-host", &web.wild[1]])
        .stdout(File::create(&output).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    Run { child, output }
}

/// `error_code`, or `ok`.
fn end(mut run: Run) -> (String, Value) {
    run.child.wait().unwrap();
    let text = std::fs::read(run.output).unwrap();
    let value: Value = serde_json::from_slice(&text).unwrap_or_default();
    (value["error_code"].as_str().unwrap_or("ok").to_owned(), value)
}

#[test]
fn lies_get_their_code() {
    let home = Home::new();
    let web = Web::start(&home);
    let cases = [
        ("http://wild.test/ok", "ok"),
        ("http://wild.test/chain/302/5", "ok"),
        ("http://wild.test/to/302/away", "ok"),
        ("http://wild.test/chain/302/6", "TOO_MANY_REDIRECTS"),
        ("http://wild.test/to/307/self", "REDIRECT_BLOCKED"),
        ("http://wild.test/to/302/look-alike-idn", "REDIRECT_BLOCKED"),
        ("http://wild.test/to/302/file", "REDIRECT_BLOCKED"),
        ("http://wild.test/raw/length-two", "CONNECT_FAILED"),
        ("http://wild.test/raw/coding-lie", "PARSE_ERROR"),
        ("http://wild.test/headers/x-many/500/1", "HEADERS_TOO_LARGE"),
        ("http://wild.test/endless/body", "RESPONSE_TOO_LARGE"),
        ("http://wild.test/deep/100000", "PARSE_ERROR"),
        ("http://wild.test/not-utf8", "PARSE_ERROR"),
        ("http://wild.test/raw/unauthorized", "AUTH_REQUIRED"),
        ("http://wild.test/raw/forbidden", "AUTH_REQUIRED"),
        ("http://unique-local.example.com/", "DNS_BLOCKED"),
        ("http://mapped.example.com/", "DNS_BLOCKED"),
        ("http://alias.example.com/", "DNS_BLOCKED"),
        ("http://rebind.example.com/", "DNS_BLOCKED"),
        ("http://empty.example.com/", "DNS_FAILED"),
        ("http://broken.example.com/", "DNS_FAILED"),
        ("http://refused.example.com/", "DNS_FAILED"),
        ("http://silent.example.com/", "DNS_FAILED"),
        ("http://alias-circle.example.com/", "DNS_FAILED"),
        ("http://gone.example.com/", "DNS_FAILED"),
    ];
    // As many as may run at once.
    for (n, some) in cases.chunks(4).enumerate() {
        let run = |(m, (url, _)): (usize, &(&str, &str))| {
            let name = format!("case-{n}-{m}");
            recipe(&home, &name, "POST", url, None);
            start(&home, &web, &name)
        };
        let started: Vec<Run> = some.iter().enumerate().map(run).collect();
        for ((url, want), run) in some.iter().zip(started) {
            let (got, out) = end(run);
            assert_eq!(got, *want, "{url}: {out}");
            assert!(!out["error"].as_str().unwrap_or("").contains(char::is_control), "{out}");
        }
    }
    recipe(&home, "seen", "GET", "http://wild.test/seen", None);
    let (_, out) = end(start(&home, &web, "seen"));
    for it in out["data"].as_array().unwrap() {
        assert!(matches!(it["host"].as_str(), Some("wild.test" | "away.test")), "{it}");
    }
}

#[test]
fn a_parameter_stays_in_its_place() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe(
        "place",
        "version: 1\nname: place\ntask: Look up {q}\nstatus: draft\nsource_url: http://wild.test/\nparameters:\n  - { name: q, type: str, required: true, source: task_input, examples: [a] }\nrequest:\n  method: POST\n  url: 'http://wild.test/ok/{q}/end'\n  query: [{ name: q, value: '{q}' }]\n  headers: { x-q: '{q}' }\n  body: { json: { q: '{q}' } }\n  allowed_domains: [wild.test]\nresponse: { type: text }\n",
    );
    for value in [
        "..",
        "../../seen",
        "..\\..\\seen",
        "%2e%2e/%2e%2e",
        "a/../../seen",
        "//away.test/",
        "@away.test",
        "?x=1#y",
        "a\r\nx-injected: 1",
        "a\nhost: away.test",
        "\"}, \"admin\": {\"x\": \"",
        "{{q}}",
        "\u{ff0e}\u{ff0e}/seen",
        ":8080",
        "http://127.0.0.1/",
    ] {
        let out = home
            .command(&["recipe", "run", "place", "--draft", "--json", "-p", &format!("q={value}")])
            .args(["--test-host", &web.wild[0], "--test-host", &web.wild[1]])
            .output()
            .unwrap();
        let out: Value = serde_json::from_slice(&out.stdout).unwrap_or_default();
        // Refused before it is sent, or sent to where it belongs and not found there.
        let code = out["error_code"].as_str().unwrap_or("ok");
        assert!(
            matches!(code, "PARAM_INVALID" | "RECIPE_INVALID" | "NOT_FOUND"),
            "{value:?}: {out}"
        );
        assert!(!value.contains(char::is_control) || code != "NOT_FOUND", "{value:?}: {out}");
    }
    recipe(&home, "seen", "GET", "http://wild.test/seen", None);
    let (_, out) = end(start(&home, &web, "seen"));
    let seen = out["data"].as_array().unwrap();
    assert!(seen.len() > 3, "some values are harmless: {out}");
    for it in seen {
        let path = it["path"].as_str().unwrap();
        let (path, _) = path.split_once('?').unwrap();
        assert!(path.starts_with("/ok/") && path.ends_with("/end"), "{it}");
        assert_eq!(
            (path.matches('/').count(), it["host"].as_str()),
            (3, Some("wild.test")),
            "{it}"
        );
        assert_eq!(it["headers"].get("x-injected"), None);
        let body: Value = serde_json::from_str(it["body"].as_str().unwrap()).unwrap();
        assert_eq!(body.as_object().unwrap().len(), 1, "{it}");
    }
}

#[test]
fn a_proxy_from_the_environment_is_ignored() {
    let home = Home::new();
    let web = Web::start(&home);
    recipe(&home, "direct", "GET", "http://wild.test/ok", None);
    let mut command = home.command(&["recipe", "run", "direct", "--draft", "--json"]);
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] {
        command.env(name, "http://127.0.0.1:9");
    }
    let out = command.args(["--test-host", &web.wild[0]]).output().unwrap();
    let out: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(out["success"], true, "{out}");
}

/// The most memory that the process had so far, in bytes.
fn peak(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

/// How it ended, how long it took, and the most memory it had. Looked at until it ends: what is freed does not lower it.
fn measured(home: &Home, web: &Web, name: &str) -> (String, Duration, u64) {
    let begun = Instant::now();
    let mut run = start(home, web, name);
    let mut most = 0;
    wait_until(&format!("end of {name}"), || {
        let ended = run.child.try_wait().unwrap().is_some();
        most = most.max(peak(run.child.id()).unwrap_or(0));
        ended
    });
    let took = begun.elapsed();
    (end(run).0, took, most)
}

const MARGIN: u64 = 8 << 20;

/// Each transport by the name that a recipe's proof has for it.
fn bombs_cost_little(session: Option<&str>) {
    let home = Home::new();
    let web = Web::start(&home);
    // A page is not told why an answer failed, and Chromium undoes `br` and `zstd` over https alone.
    let page = session == Some("in_page_fetch");
    let unasked = if page { "CONNECT_FAILED" } else { "RESPONSE_TOO_LARGE" };
    let cases = [
        // A process that ends quickly may reach its most after it was last looked at.
        ("small-1", "ok", "ok"),
        ("small-2", "ok", "ok"),
        ("small-3", "ok", "ok"),
        ("gzip", "bomb/gzip", "RESPONSE_TOO_LARGE"),
        ("deflate", "bomb/deflate", "RESPONSE_TOO_LARGE"),
        ("br", "bomb/br", unasked),
        ("zstd", "bomb/zstd", unasked),
        ("deep", "deep/100000", "PARSE_ERROR"),
    ];
    let mut small = 0;
    std::thread::scope(|scope| {
        let (home, web) = (&home, &web);
        let run = move |name: &str, path: &str| {
            let name = format!("try-{name}");
            // A POST is neither repeated nor tried in another way.
            recipe(home, &name, "POST", &format!("http://wild.test/{path}"), session);
            measured(home, web, &name)
        };
        // It waits for its time to be over; the others need not wait for it.
        let drip = scope.spawn(move || run("drip", "drip/body"));
        for (name, path, want) in cases {
            let (got, _, most) = run(name, path);
            assert_eq!(got, want, "{session:?} {path}");
            if path == "ok" {
                small = small.max(most);
                assert!(small > 0);
            }
            eprintln!("{session:?} {path}: {} KiB more", most.saturating_sub(small) / 1024);
            assert!(most < small + MARGIN, "{session:?} {path}: {most} after {small}");
        }
        let (got, took, most) = drip.join().unwrap();
        assert_eq!(got, "TIMEOUT", "{session:?}");
        assert!(most < small + MARGIN, "{session:?} drip: {most} after {small}");
        assert!(took >= Duration::from_secs(15), "{took:?}");
    });
}

#[test]
fn bombs_cost_little_by_public_http() {
    bombs_cost_little(None);
}

#[test]
fn bombs_cost_little_in_a_session() {
    if has_chromium() {
        bombs_cost_little(Some("context_request"));
    }
}

#[test]
fn bombs_cost_little_in_a_page() {
    if has_chromium() {
        bombs_cost_little(Some("in_page_fetch"));
    }
}
