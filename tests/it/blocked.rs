//! Nothing reaches a forbidden address: from a page in the browser, from a recipe, through a redirect, by a name.

use serde_json::Value;

use crate::support::{Home, Web, has_chromium, write};

#[test]
fn a_hostile_page_reaches_nothing() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    write(
        &home.path().join("hostile.yaml"),
        "version: 1\nrecipes:\n  - name: hostile\n    task: Look at the hostile page\n    url: http://hostile.test/\n    record:\n      - wait_for: { text: done }\n",
    );
    let manifest = home.path().join("hostile.yaml");
    let manifest = manifest.to_str().unwrap();
    let (_, report) = home.batch(&[
        "recipe",
        "learn-batch",
        "--manifest",
        manifest,
        "--json",
        "--test-host",
        &web.test_host,
        "--nameserver",
        &web.nameserver,
    ]);
    assert_ne!(report["entries"][0]["outcome"], "verified", "{report}");
    assert_eq!(report["entries"][0]["recipe"], Value::Null, "{report}");

    let id = report["entries"][0]["task_id"].as_str().unwrap_or_else(|| panic!("{report}"));
    let recording: Value =
        serde_json::from_slice(&home.artifacts(id)["01_session_recording.json"]).unwrap();
    let blocked = recording["payload"]["blocked"].as_array().unwrap();
    for (part, code) in [
        ("127.0.0.1", "URL_BLOCKED"),
        ("169.254.169.254", "URL_BLOCKED"),
        ("[::1]", "URL_BLOCKED"),
        ("localhost", "URL_BLOCKED"),
        ("intranet.example.com", "DNS_BLOCKED"),
    ] {
        let hit = blocked.iter().find(|it| it["url"].as_str().unwrap().contains(part));
        let hit = hit.unwrap_or_else(|| panic!("{part} is not named in {blocked:#?}"));
        assert_eq!(hit["code"], code, "{hit}");
        assert!(!hit["reason"].as_str().unwrap().is_empty());
    }
    let hits = web.control(&home, "hits");
    let forbidden: Vec<&String> =
        hits.as_object().unwrap().keys().filter(|it| !of_test_web(it)).collect();
    assert!(forbidden.is_empty(), "arrived at the server: {forbidden:?}");
}

#[test]
fn a_recipe_reaches_nothing_forbidden() {
    let home = Home::new();
    let web = Web::start(&home);
    let cases = [
        ("http://127.0.0.1/latest", "127.0.0.1", "URL_BLOCKED"),
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254", "URL_BLOCKED"),
        ("http://[::ffff:10.0.0.1]/", "[::ffff:a00:1]", "URL_BLOCKED"),
        ("http://intranet.example.com/", "intranet.example.com", "DNS_BLOCKED"),
        ("http://mixed.example.com/", "mixed.example.com", "DNS_BLOCKED"),
        ("http://metadata.example.com/", "metadata.example.com", "DNS_BLOCKED"),
        ("http://endless.test/to-private", "endless.test", "REDIRECT_BLOCKED"),
        ("http://endless.test/to-metadata", "endless.test", "REDIRECT_BLOCKED"),
        ("http://endless.test/loop", "endless.test", "TOO_MANY_REDIRECTS"),
        ("http://endless.test/bomb.gz", "endless.test", "RESPONSE_TOO_LARGE"),
        ("http://endless.test/status/429", "endless.test", "RATE_LIMITED"),
        ("http://endless.test/status/503", "endless.test", "SERVER_ERROR"),
    ];
    for (url, host, code) in cases {
        home.recipe(
            "try",
            &format!(
                "version: 1\nname: try\ntask: Try it\nstatus: draft\nsource_url: http://shop.test/\nrequest:\n  method: GET\n  url: '{url}'\n  allowed_domains: ['{host}']\nresponse: {{ type: text }}\n"
            ),
        );
        let (exit, out) = home.json(&[
            "recipe",
            "run",
            "try",
            "--draft",
            "--json",
            "--test-host",
            &web.test_host,
            "--nameserver",
            &web.nameserver,
        ]);
        assert_eq!((out["error_code"].as_str(), exit), (Some(code), 1), "{url}: {out}");
        assert!(!out["error"].as_str().unwrap().is_empty());
    }
    let hits = web.control(&home, "hits");
    assert!(hits.as_object().unwrap().keys().all(|it| of_test_web(it)), "{hits}");
}

/// The host of a line such as `shop.test GET /api/search` is one that the web is pinned for.
fn of_test_web(hit: &str) -> bool {
    hit.split(' ').next().is_some_and(|host| host.rsplit('.').next() == Some("test"))
}
