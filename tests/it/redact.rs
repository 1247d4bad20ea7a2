//! `commis redact`: what of a HAR may be shared.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Home, shared, write};

const SECRET: &str = "k3Jw9QmZx7Lp2VtR8sYb4Nd6";

fn example() -> Value {
    json!({"log": {
        "version": "1.2", "creator": {"name": "test", "version": "1"},
        "pages": [{"id": "page_1", "title": format!("http://shop.test/?token={SECRET}"), "startedDateTime": "2026-01-01T00:00:00.000Z",
            "pageTimings": {}, "comment": format!("signed in with token={SECRET}")}],
        "_tool": {"accessToken": SECRET, "version": 3},
        "entries": [
            {"pageref": "page_1", "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 5.5, "_resourceType": "fetch", "_odd": [1, null, {"a": 1.5}],
             "request": {"method": "POST", "url": format!("http://shop.test/api/search?q=lantern&api_key={SECRET}"), "httpVersion": "HTTP/1.1",
                "headers": [{"name": "Cookie", "value": "sid=accepted-all-the-cookies; theme=dark"}, {"name": "X-Csrf-Token", "value": "99887766554433221100"}],
                "cookies": [{"name": "sid", "value": "accepted-all-the-cookies", "path": "/"}, {"name": "pin", "value": "7261"}],
                "queryString": [{"name": "q", "value": "lantern"}, {"name": "api_key", "value": SECRET}],
                "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "q=lantern&otp=492039", "params": [{"name": "q", "value": "lantern"}, {"name": "otp", "value": "492039"}]}},
             "response": {"status": 200, "redirectURL": "/next?code=SplxlOBeZQQYbYS6WxSbIA",
                "headers": [{"name": "Set-Cookie", "value": "sid=accepted-all-the-cookies; Path=/"}, {"name": "content-type", "value": "application/json"}],
                "cookies": [], "content": {"mimeType": "application/json", "size": 9, "text":
                    json!({"results": [{"title": "lantern of brass", "price": 3}, {"title": "lantern of oak", "price": 4}], "echo": format!("you are {SECRET}"), "session": {"token": 1_234_567_890_123_456_789_u64}}).to_string()}},
             "_webSocketMessages": [{"type": "send", "opcode": 1, "time": 1, "data": json!({"token": SECRET}).to_string()}, {"type": "receive", "opcode": 2, "data": "AAEC"}]},
            {"startedDateTime": "2026-01-01T00:00:01.000Z", "time": 5, "request": {"method": "GET", "url": "http://shop.test/logo.png", "headers": []},
             "response": {"status": 200, "headers": [], "content": {"mimeType": "image/png", "size": 4, "encoding": "base64", "text": "iVBORwD/"}}},
            {"startedDateTime": "2026-01-01T00:00:02.000Z", "time": 5, "request": {"method": "GET", "url": "http://shop.test/", "headers": []},
             "response": {"status": 200, "headers": [{"name": "WWW-Authenticate", "value": "Digest realm=\"shop\", nonce=\"dcd98b7102dd2f0e8b11d0f6\""}], "content": {"mimeType": "text/html",
                "text": format!("<input type=\"hidden\" name=\"password\" value=\"letmein\"><p title='{SECRET}'>Hello</p>")}}}
        ]
    }})
}

#[test]
fn a_har_is_made_safe_to_share_and_still_good_to_learn_from() {
    let home = Home::new();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    write(home.path().join("in.har").as_path(), &example().to_string());
    let (code, report) =
        home.json(&["redact", &path("in.har"), "--out", &path("out.har"), "--json"]);
    assert_eq!(
        (code, &report["entries"], &report["bodies_dropped"]),
        (0, &json!(3), &json!(2)),
        "{report}"
    );
    assert_eq!(report["entries_touched"], 3, "{report}");
    assert!(report["removed"]["by_reason"]["key"].as_u64().unwrap() >= 3, "{report}");
    assert!(report["removed"]["by_key"]["otp"].as_u64().unwrap() >= 1, "{report}");
    let mode = std::fs::metadata(path("out.har")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let text = std::fs::read_to_string(path("out.har")).unwrap();
    for gone in [
        SECRET,
        "accepted-all",
        "99887766",
        "7261",
        "492039",
        "SplxlOBe",
        "1234567890123456789",
        "iVBORw",
        "AAEC",
        "dcd98b71",
        "letmein",
    ] {
        assert!(!text.contains(gone) && !report.to_string().contains(gone), "{gone} in {text}");
    }
    let har: Value = serde_json::from_str(&text).unwrap();
    let entry = &har["log"]["entries"][0];
    assert_eq!(entry["_odd"], json!([1, null, {"a": 1.5}]));
    assert_eq!(har["log"]["_tool"]["version"], 3);
    assert_eq!(entry["request"]["cookies"][0]["path"], "/");
    // The same value, the same placeholder.
    let key = entry["request"]["queryString"][1]["value"].as_str().unwrap();
    assert!(key.starts_with("[REDACTED:"), "{key}");
    assert!(
        entry["response"]["content"]["text"].as_str().unwrap().contains(&format!("you are {key}"))
    );
    let inner: Value =
        serde_json::from_str(entry["response"]["content"]["text"].as_str().unwrap()).unwrap();
    assert_eq!(inner["results"][0]["title"], "lantern of brass");

    // Twice is once; stdout is the same HAR; the file itself is never written over.
    let again = home.run(&["redact", &path("out.har")]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), text);
    let itself = home.run(&["redact", &path("in.har"), "--out", &path("in.har")]);
    assert_eq!(itself.status.code(), Some(2));
    assert_eq!(std::fs::read_to_string(path("in.har")).unwrap(), example().to_string());

    // Every name that the value stands under: what is a secret under one of them is one everywhere.
    let allow = ["--allow", "api_key", "--allow", "token", "--allow", "accessToken"];
    let mut plain = example();
    plain["log"]["pages"] = json!([]);
    write(&home.path().join("plain.har"), &plain.to_string());
    let kept = home.run(&[&["redact", &path("plain.har")], &allow[..]].concat());
    assert!(String::from_utf8_lossy(&kept.stdout).contains(&format!("api_key={SECRET}")));

    // A session around a search that does not need it.
    let mut session = example();
    let entries = session["log"]["entries"].as_array_mut().unwrap();
    entries.truncate(1);
    entries[0]["request"]["method"] = json!("GET");
    entries[0]["request"]["url"] = json!("http://shop.test/api/search?q=lantern");
    for gone in ["headers", "queryString", "postData"] {
        entries[0]["request"][gone] = json!([]);
    }
    write(home.path().join("session.har").as_path(), &session.to_string());
    home.run(&["redact", &path("session.har"), "--out", &path("shared.har")]);
    let learned = home.json(&[
        "recipe",
        "learn",
        "--har",
        &path("shared.har"),
        "--task",
        "Search the shop for {query}",
        "-p",
        "query=lantern",
        "--no-network",
        "--json",
    ]);
    assert_eq!(learned.1["outcome"], "saved_draft", "{}", learned.1);

    write(
        home.path().join("bad.har").as_path(),
        &format!("{{\"log\": {{\"token\": \"{SECRET}\"}}}}"),
    );
    let bad = home.run(&["redact", &path("bad.har")]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(!String::from_utf8_lossy(&bad.stderr).contains(SECRET));
}

/// Real traffic of other projects; all of it takes minutes, the small files show the same.
#[test]
fn real_traffic_is_made_safe_to_share() {
    let Some(folder) = shared("realworld/hars") else { return };
    let home = Home::new();
    let out = home.path().join("out.har");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.metadata().unwrap().len() < 96 * 1024)
        .collect();
    files.sort();
    for path in files.iter().take(30) {
        let shown = path.display();
        let done = home.run(&["redact", path.to_str().unwrap(), "--out", out.to_str().unwrap()]);
        assert!(done.status.success(), "{shown}");
        let before: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let text = std::fs::read_to_string(&out).unwrap();
        let after: Value = serde_json::from_str(&text).unwrap();
        let entries = |it: &Value| it["log"]["entries"].as_array().unwrap().len();
        assert_eq!(entries(&before), entries(&after), "{shown}");
        for value in session_values(&before) {
            assert!(!text.contains(&value), "{shown}: {value:.8}…");
        }
    }
}

/// Values of cookies and credentials that are long enough to matter.
fn session_values(har: &Value) -> Vec<String> {
    let mut out = Vec::new();
    for entry in har["log"]["entries"].as_array().unwrap() {
        for message in [&entry["request"], &entry["response"]] {
            for it in message["headers"].as_array().into_iter().flatten() {
                let value = it["value"].as_str().unwrap_or("");
                match it["name"].as_str().unwrap_or("").to_lowercase().as_str() {
                    "cookie" => out.extend(
                        value
                            .split(';')
                            .filter_map(|it| Some(it.split_once('=')?.1.trim().to_owned())),
                    ),
                    "set-cookie" => out.extend(value.lines().filter_map(|it| {
                        Some(it.split(';').next()?.split_once('=')?.1.trim().to_owned())
                    })),
                    "authorization" | "proxy-authorization" => {
                        out.extend(value.split(' ').next_back().map(str::to_owned));
                    }
                    _ => {}
                }
            }
            for it in message["cookies"].as_array().into_iter().flatten() {
                out.extend(it["value"].as_str().map(str::to_owned));
            }
        }
    }
    // An address in a cookie is also the address of requests.
    out.retain(|it| it.len() >= 16 && !it.contains("://") && !it.starts_with('/'));
    out
}
