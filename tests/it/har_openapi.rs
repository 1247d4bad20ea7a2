//! `commis har openapi`: what a HAR tells of interfaces.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Home, shared, write};

const SECRET: &str = "k3Jw9QmZx7Lp2VtR8sYb4Nd6";

fn har() -> Value {
    let entry = |method: &str, url: &str, mime: &str, text: String| {
        json!({"_resourceType": "fetch", "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 5,
            "request": {"method": method, "url": url, "headers": [{"name": "Authorization", "value": format!("Bearer {SECRET}")}]},
            "response": {"status": 200, "headers": [], "content": {"mimeType": mime, "size": text.len(), "text": text}}})
    };
    let item = |id: u32| json!({"id": id, "title": "A lamp", "price": 2.5, "note": null});
    json!({"log": {"version": "1.2", "entries": [
        entry("GET", "https://shop.test/api/items/12", "application/json", item(12).to_string()),
        entry("GET", "https://shop.test/api/items/13", "application/json", item(13).to_string()),
        entry("GET", &format!("https://shop.test/api/items?q=lamp&token={SECRET}"), "application/json", json!([item(1)]).to_string()),
        entry("GET", "https://shop.test/logo.png", "image/png", "x".to_owned()),
    ]}})
}

#[test]
fn data_endpoints_of_a_har_are_one_document() {
    let home = Home::new();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    write(home.path().join("in.har").as_path(), &har().to_string());
    let (code, report) =
        home.json(&["har", "openapi", &path("in.har"), "--out", &path("api.json"), "--json"]);
    assert_eq!(
        (code, &report["operations"], &report["paths"], &report["described"]),
        (0, &json!(2), &json!(2), &json!(3)),
        "{report}"
    );
    assert_eq!(report["left_out"]["static file"], json!({"count": 1, "hosts": ["shop.test"]}));
    let text = std::fs::read_to_string(path("api.json")).unwrap();
    assert!(!text.contains(SECRET), "{text}");
    let mode = std::fs::metadata(path("api.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let told: Value = serde_json::from_str(&text).unwrap();
    let item = &told["paths"]["/api/items/{item_id}"]["get"];
    assert_eq!(item["x-calls"], 2);
    assert_eq!(item["security"], json!([{"bearer": []}]));

    // The same as YAML, and on stdout.
    let (code, _) =
        home.json(&["har", "openapi", &path("in.har"), "--out", &path("api.yaml"), "--json"]);
    let yaml = std::fs::read_to_string(path("api.yaml")).unwrap();
    assert_eq!(code, 0);
    assert!(yaml.starts_with("openapi: 3.1.0") || yaml.starts_with("openapi: \"3.1.0\""), "{yaml}");
    let out = home.run(&["har", "openapi", &path("in.har")]);
    assert_eq!(serde_json::from_slice::<Value>(&out.stdout).unwrap(), told);
    assert!(
        String::from_utf8_lossy(&out.stderr)
            .contains("2 operations at 2 paths from 3 of 4 entries")
    );
}

#[test]
fn without_data_nothing_is_written_and_the_reason_is_told() {
    let home = Home::new();
    let path = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
    write(home.path().join("in.har").as_path(), &har().to_string());
    let args = [
        "har",
        "openapi",
        &path("in.har"),
        "--out",
        &path("api.json"),
        "--host",
        "other.test",
        "--json",
    ];
    let (code, report) = home.json(&args);
    assert_eq!((code, &report["operations"]), (1, &json!(0)));
    assert_eq!(report["left_out"]["host not asked for"]["count"], 4);
    assert!(!std::fs::exists(path("api.json")).unwrap());
    write(home.path().join("no.har").as_path(), "{}");
    let (code, report) =
        home.json(&["har", "openapi", &path("no.har"), "--out", &path("api.json"), "--json"]);
    assert_eq!((code, &report["error_code"]), (1, &json!("HAR_INVALID")));
    let (code, report) =
        home.json(&["har", "openapi", &path("in.har"), "--out", &path("in.har"), "--json"]);
    assert_eq!((code, &report["error_code"]), (2, &json!("USAGE")));
}

#[test]
fn recorded_hars_give_a_document_or_a_reason() {
    let Some(folder) = shared("realworld/hars") else { return };
    let home = Home::new();
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).collect();
    files.sort();
    // A part of them is enough here; all are gone through by `ci/har-openapi`.
    for file in files.iter().step_by(23) {
        let out = home.path().join("api.json").to_str().unwrap().to_owned();
        let (code, report) =
            home.json(&["har", "openapi", file.to_str().unwrap(), "--out", &out, "--json"]);
        assert_eq!(code == 0, report["operations"].as_u64().unwrap() > 0, "{report}");
    }
}
