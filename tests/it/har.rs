//! Learning from a HAR, offline: golden artifacts for a small one, real traffic where it is at hand.

use std::{collections::BTreeSet, path::Path};

use serde_json::Value;

use crate::support::{Home, shared, write};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");

/// A Chromium that cannot be started says nothing about the page: nothing is verified without it in silence.
#[test]
fn a_browser_that_fails_is_no_missing_page() {
    let home = Home::new();
    write(&home.path().join("config.toml"), "[browser]\npath = '/bin/false'\n");
    let task = ["--task", "Find books about {query}", "-p", "query=harbour", "--json"];
    let (code, out) = home.json(&[&["recipe", "learn", "--har", FIXTURE][..], &task].concat());
    assert_ne!(code, 0, "{out}");
    assert!(out.to_string().contains("BROWSER_FAILED"), "{out}");
}

/// `SNAPSHOTS=overwrite` accepts. A payload that changed while its stage's version did not is a mistake: bump the version in
/// `stages/table.rs`.
#[test]
fn golden_artifacts() {
    let home = Home::new();
    let args = [
        "recipe",
        "learn",
        "--har",
        FIXTURE,
        "--task",
        "Find books about {query}",
        "-p",
        "query=harbour",
        "--no-network",
        "--json",
    ];
    // What a browser draws is no golden file.
    write(&home.path().join("config.toml"), "[learning]\nrender_har = false\n");
    let (code, out) = home.json(&args);
    assert_eq!(
        (code, out["outcome"].as_str(), out["reason"].as_str()),
        (0, Some("saved_draft"), Some("captured_only"))
    );
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/har-books");
    let id = out["task_id"].as_str().unwrap();
    let files = home.artifacts(id);
    assert!(files.contains_key("task.json"));
    // It holds the path of the recording, and is no stage's output.
    let files: std::collections::BTreeMap<_, _> =
        files.into_iter().filter(|it| it.0 != "task.json").collect();
    assert_eq!(files.len(), 11, "{:?}", files.keys());
    for (name, bytes) in &files {
        let mut envelope: Value = serde_json::from_slice(bytes).unwrap();
        envelope["created_at"] = Value::Null;
        // The crate's version may move without a payload changing.
        envelope["producer"]["commis"] = Value::Null;
        envelope.sort_all_objects();
        must_have_bumped(&golden.join(name), &envelope);
        let text = serde_json::to_string_pretty(&envelope).unwrap() + "\n";
        snapbox::Assert::new().action_env(snapbox::assert::DEFAULT_ACTION_ENV).eq(
            text,
            snapbox::Data::read_from(&golden.join(name), Some(snapbox::data::DataFormat::Text)),
        );
    }
    let all: String = files.values().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
    for secret in
        ["Zk3vQ9xT7bLm2pWc8RfYhN4s", "eyJhbGciOiJIUzI1NiJ9", "c2lnbmF0dXJlLW9mLXRoZS10b2tlbg"]
    {
        assert!(!all.contains(secret), "{secret} is on disk");
    }
    // Learning it again with --resume does nothing; a damaged pure artifact is made again, a damaged recording is named.
    let resumed = home.json(&[&args[..], &["--resume"]].concat()).1;
    assert_eq!(resumed["ran"], Value::Array(vec![]));
    damage(&home, id, "02_candidate_set.json");
    assert_eq!(home.json(&[&args[..], &["--resume"]].concat()).1["ran"][0], "rank");
    assert_eq!(home.artifacts(id)["03_recipe_analysis.json"], files["03_recipe_analysis.json"]);
    damage(&home, id, "01_session_recording.json");
    let (code, out) = home.json(&[&args[..], &["--resume"]].concat());
    assert_eq!((code, out["error_code"].as_str()), (1, Some("ARTIFACT_CORRUPT")));
    assert_eq!(home.json(&[&args[..], &["--force"]].concat()).0, 0);
}

/// The same inputs and settings gave another payload: then the stage's version must have changed, or stored artifacts of that
/// stage would pass for fresh.
fn must_have_bumped(golden: &Path, now: &Value) {
    let Ok(bytes) = std::fs::read(golden) else { return };
    let then: Value = serde_json::from_slice(&bytes).unwrap();
    let same = |key: &str| then[key] == now[key];
    let silent =
        same("inputs") && same("settings_sha256") && same("producer") && !same("payload_sha256");
    assert!(
        !silent,
        "{}: the payload changed; bump the stage's version in stages/table.rs",
        golden.display()
    );
}

fn damage(home: &Home, task: &str, file: &str) {
    let path = home.path().join("artifacts").join(task).join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    crate::support::write(&path, &text.replacen("harbour", "barbour", 1));
}

/// Real traffic: the right request first in most, no crash, no header secret on disk.
#[test]
fn real_traffic() {
    let Some(folder) = shared("realworld") else {
        return;
    };
    let cases = std::fs::read_to_string(folder.join("cases.jsonl")).unwrap();
    let cases: Vec<Value> = cases.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let chosen: Vec<&Value> =
        cases.iter().filter(|it| it["expect"]["recipeable"] == true).step_by(12).collect();
    assert!(chosen.len() >= 10);
    let home = Home::new();
    let mut first = 0;
    for case in &chosen {
        let har = folder.join(case["har"].as_str().unwrap());
        let id = case["id"].as_str().unwrap();
        let name: String = id
            .chars()
            .map(|it| if it.is_ascii_alphanumeric() { it.to_ascii_lowercase() } else { '-' })
            .take(60)
            .collect();
        let mut args: Vec<String> =
            ["recipe", "learn", "--no-network", "--json", "--task", case["task"].as_str().unwrap()]
                .map(str::to_owned)
                .to_vec();
        args.extend([
            "--har".to_owned(),
            har.to_str().unwrap().to_owned(),
            "--name".to_owned(),
            name.trim_matches('-').to_owned(),
        ]);
        for (i, typed) in case["typed"].as_array().unwrap().iter().enumerate() {
            args.extend(["-p".to_owned(), format!("v{i}={}", typed["value"].as_str().unwrap())]);
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let (code, out) = home.json(&args);
        assert!(code == 0 || code == 1, "{id}: {out}");
        assert!(out.get("error_code").is_none(), "{id}: {out}");
        let files = home.artifacts(out["task_id"].as_str().unwrap());
        first += u32::from(right_first(case, &files));
        no_header_secret(&har, &files, id);
    }
    eprintln!("real traffic: the right request is first in {first} of {}", chosen.len());
    assert!(first * 10 >= chosen.len() as u32 * 8, "{first} of {}", chosen.len());
}

type Files = std::collections::BTreeMap<String, Vec<u8>>;

fn payload(files: &Files, name: &str) -> Value {
    files
        .get(name)
        .map_or(Value::Null, |it| serde_json::from_slice::<Value>(it).unwrap()["payload"].take())
}

fn right_first(case: &Value, files: &Files) -> bool {
    let set = payload(files, "02_candidate_set.json");
    let Some(id) = set["done"]["candidates"][0]["exchange"].as_u64() else {
        return false;
    };
    let exchange = &payload(files, "01_session_recording.json")["exchanges"][id as usize];
    let wanted = &case["expect"]["request"];
    // The cases give a regular expression; its literal text is enough here, and keeps a dependency out.
    let literal = wanted["url_regex"].as_str().unwrap().replace('\\', "");
    let parts: Vec<&str> = literal
        .split(['.', '*', '?', '^', '$', '(', ')', '[', ']', '|', '+'])
        .filter(|it| it.len() > 3)
        .collect();
    let url = exchange["url"].as_str().unwrap();
    exchange["method"] == wanted["method"] && parts.iter().all(|it| url.contains(it))
}

/// Values of cookies and authorization headers of the file are nowhere in what was written.
fn no_header_secret(har: &Path, files: &Files, id: &str) {
    let har: Value = serde_json::from_slice(&std::fs::read(har).unwrap()).unwrap();
    let mut secrets = BTreeSet::new();
    for entry in har["log"]["entries"].as_array().unwrap() {
        for header in entry["request"]["headers"].as_array().into_iter().flatten() {
            let name = header["name"].as_str().unwrap_or("").to_ascii_lowercase();
            let value = header["value"].as_str().unwrap_or("");
            if name == "authorization" || name == "cookie" {
                secrets.extend(
                    value.split([';', ' ', '=']).filter(|it| it.len() >= 20).map(str::to_owned),
                );
            }
        }
    }
    let all: String = files.values().map(|it| String::from_utf8_lossy(it).into_owned()).collect();
    for secret in &secrets {
        assert!(!all.contains(secret.as_str()), "{id}: a header's secret is on disk");
    }
}
