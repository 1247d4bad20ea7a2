//! One task learned again: what is redone, what stops it, and what Ctrl-C leaves behind.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    os::unix::fs::symlink,
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::support::{Home, Web, batch_report, has_chromium, write};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");
const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/quickstart.yaml");

/// Learns the small HAR, or the home's own copy of it; `with` comes after the usual flags.
fn learn(home: &Home, with: &[&str]) -> (i32, Value) {
    let own = home.path().join("books.har");
    let har = if own.exists() { own.to_str().unwrap() } else { FIXTURE };
    let task = "Find books about {query}";
    let usual = ["recipe", "learn", "--har", har, "--task", task, "-p", "query=harbour", "--json"];
    home.json(&[&usual[..], with].concat())
}

/// Learned once, offline; with the folder of its artifacts.
fn learn_offline() -> (Home, PathBuf) {
    learned_in(Home::new())
}

fn learned_in(home: Home) -> (Home, PathBuf) {
    let (code, out) = learn(&home, &["--no-network"]);
    assert_eq!((code, &out["outcome"]), (0, &json!("saved_draft")), "{out}");
    let folder = home.path().join("artifacts").join(out["task_id"].as_str().unwrap());
    (home, folder)
}

fn resume(home: &Home) -> (i32, Value) {
    learn(home, &["--no-network", "--resume"])
}

#[test]
fn a_changed_decision_stops_where_the_choice_is_the_same() {
    let (home, _) = learn_offline();
    let config = home.path().join("config.toml");
    write(&config, "[decision]\nmin_confidence_bp = 5400\n");
    let (code, out) = resume(&home);
    assert_eq!((code, &out["ran"]), (0, &json!(["analyze"])), "{out}");
    assert_eq!(out["outcome"], "saved_draft");
    assert_eq!(resume(&home).1["ran"], json!([]));

    // A choice that nobody makes any more ends there, and the recipe is no longer offered.
    write(&config, "[decision]\nmin_confidence_bp = 10000\n");
    let (code, out) = resume(&home);
    assert_eq!((&out["ran"], &out["reason"]), (&json!(["analyze"]), &json!("ambiguous")), "{out}");
    assert_eq!((code, &out["outcome"]), (1, &json!("needs_selection")));
    let status = || {
        let (_, all) = home.json(&["recipe", "list", "--json", "--source", "user"]);
        all[0]["status"].as_str().unwrap_or_else(|| panic!("{all}")).to_owned()
    };
    assert_eq!(status(), "deprecated");

    // And back: nothing after analyze has to be done again.
    write(&config, "");
    let (code, out) = resume(&home);
    assert_eq!((code, &out["ran"]), (0, &json!(["analyze"])), "{out}");
    assert_eq!(status(), "draft");
}

#[test]
fn what_was_learned_offline_is_validated_again_online() {
    let home = Home::new();
    // With its page drawn, the file would be another recording online.
    write(&home.path().join("config.toml"), "[learning]\nrender_har = false\n");
    // A host that could be asked for.
    let text =
        std::fs::read_to_string(FIXTURE).unwrap().replace("books.example", "books.example.com");
    write(&home.path().join("books.har"), &text);
    let (home, folder) = learned_in(home);
    let web = Web::start(&home);
    let id = folder.file_name().unwrap().to_str().unwrap();
    let (_, state) = home.json(&["recipe", "debug", "--task-id", id, "--json"]);
    let stages = state["stages"].as_array().unwrap();
    let state = |name: &str| {
        stages.iter().find(|it| it["stage"] == name).unwrap()["state"].as_str().unwrap()
    };
    // What was learned offline is fresh as such; only asking for it online makes it stale.
    for name in ["record", "rank", "summarize", "analyze", "validate", "minimize"] {
        assert_eq!(state(name), "fresh", "{name}");
    }

    // The name server knows no such host: trouble that may pass, and nothing is stored.
    let before = home.artifacts(id);
    let (code, out) = learn(&home, &["--resume", "--nameserver", &web.nameserver]);
    assert_eq!((code, &out["error_code"]), (1, &json!("DNS_FAILED")), "{out}");
    assert_eq!(home.artifacts(id), before);
    assert_eq!(resume(&home).1["ran"], json!([]));
}

#[test]
fn a_task_is_worked_on_by_one_process() {
    let (home, folder) = learn_offline();
    let held = File::open(&folder).unwrap();
    held.lock().unwrap();
    for with in [&["--no-network", "--resume"][..], &["--no-network", "--force"]] {
        let (code, out) = learn(&home, with);
        assert_eq!((code, &out["error_code"]), (1, &json!("TASK_BUSY")), "{out}");
    }
    drop(held);
    assert_eq!(resume(&home).0, 0);
}

#[test]
fn a_planted_link_is_neither_read_nor_written() {
    for file in ["02_candidate_set.json", "01_session_recording.json", "replays.jsonl"] {
        let (home, folder) = learn_offline();
        let elsewhere = home.path().join("elsewhere");
        let path = folder.join(file);
        if path.exists() {
            std::fs::copy(&path, &elsewhere).unwrap();
            std::fs::remove_file(&path).unwrap();
        } else {
            write(&elsewhere, "");
        }
        symlink(&elsewhere, &path).unwrap();
        let before = std::fs::read(&elsewhere).unwrap();
        let (code, out) = match file {
            // The journal is opened when something is replayed.
            "replays.jsonl" => {
                std::fs::remove_file(folder.join("04_recipe_draft.json")).unwrap();
                resume(&home)
            }
            _ => resume(&home),
        };
        assert_eq!((code, &out["error_code"]), (3, &json!("ARTIFACT_IO")), "{file}: {out}");
        assert_eq!(std::fs::read(&elsewhere).unwrap(), before, "{file}");
    }
    // The task's whole folder.
    let (home, folder) = learn_offline();
    let elsewhere = home.path().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    symlink(&elsewhere, &folder).unwrap();
    let (code, out) = resume(&home);
    assert_eq!((code, &out["error_code"]), (3, &json!("ARTIFACT_IO")), "{out}");
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn ctrl_c_leaves_a_report_and_resume_goes_on() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    // Three tasks of the quickstart, one at a time.
    let text = std::fs::read_to_string(MANIFEST).unwrap();
    let at = text.match_indices("\n  - name: ").nth(3).unwrap().0;
    let manifest = home.path().join("three.yaml");
    write(&manifest, &text[..at]);
    let manifest = manifest.to_str().unwrap();
    let batch =
        ["recipe", "learn-batch", "--manifest", manifest, "--testbed", "--jobs", "1", "--json"];

    let mut child =
        home.command(&batch).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let ended = lines.by_ref().map(Result::unwrap).find(|it| it.contains(": verified"));
    assert!(ended.is_some(), "the first task ends");
    #[expect(clippy::disallowed_methods, reason = "the test sends what Ctrl-C sends")]
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    // Drained, so that the program is not stopped by a full pipe.
    let said: Vec<String> = lines.map(Result::unwrap).collect();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said:?}");
    assert!(said.iter().any(|it| it.contains("--resume goes on")), "{said:?}");

    let printed = batch_report(&out).unwrap();
    let kept = std::fs::read(home.path().join("artifacts/batch_three.json")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(printed["entries"], kept["entries"]);
    assert_eq!(
        (&kept["interrupted"], &kept["not_started"]),
        (&json!(true), &printed["not_started"])
    );
    assert_eq!(printed["interrupted"], true);
    let ends = printed["entries"].as_array().unwrap();
    assert!(ends.len() < 3, "{printed}");
    assert_eq!(ends[0]["outcome"], "verified");

    let (code, report) = home.batch(&[&batch[..], &["--resume"]].concat());
    assert_eq!((code, &report["interrupted"]), (0, &json!(false)), "{report}");
    let entries = report["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 3);
    assert!(entries.iter().all(|it| it["outcome"] == "verified"), "{report}");
    assert_eq!(entries[0]["ran"], json!([]), "what had ended is kept");
}

/// A request that needs a value of unknown origin, learned offline and then online: the value died with the first process,
/// so the recording is made again, and says so.
#[test]
fn live_values_lost_is_the_one_reason_to_record_again() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe(
        "raw",
        "version: 1\nname: raw\ntask: Get it whole\nstatus: draft\nsource_url: http://shop.test/\nrequest:\n  method: GET\n  url: http://shop.test/api/search\n  query: [{ name: q, value: lantern }]\n  allowed_domains: [shop.test]\nresponse: { type: json }\n",
    );
    let (_, whole) =
        home.json(&["recipe", "run", "raw", "--draft", "--json", "--test-host", &web.test_host]);
    let body = whole["data"].to_string();
    let har = json!({"log": {"creator": {"name": "test"}, "entries": [{
        "startedDateTime": "2026-11-20T10:00:00.000Z", "time": 5, "_resourceType": "fetch",
        "request": {"method": "GET", "url": "http://shop.test/api/search?q=lantern", "headers": [
            {"name": "x-api-token", "value": "q7Zr4TnVb81LkXw0PdYs6HfCj2Mg95Ea"}]},
        "response": {"status": 200, "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"mimeType": "application/json", "text": body, "size": body.len()}}
    }]}});
    let path = home.path().join("shop.har");
    write(&path, &har.to_string());
    // With its page drawn, the file would be another recording online.
    write(&home.path().join("config.toml"), "[learning]\nrender_har = false\n");
    let usual = [
        "recipe",
        "learn",
        "--har",
        path.to_str().unwrap(),
        "--task",
        "Search the shop for {query}",
        "-p",
        "query=lantern",
        "--second",
        "query=teapot",
        "--json",
    ];
    let (_, out) = home.json(&[&usual[..], &["--no-network"]].concat());
    assert_eq!(
        (&out["reason"], &out["live_values_lost"]),
        (&json!("needs_login"), &json!(false)),
        "{out}"
    );

    let online = ["--resume", "--test-host", &web.test_host];
    let (code, out) = home.json(&[&usual[..], &online].concat());
    assert_eq!(
        (code, &out["outcome"], &out["live_values_lost"]),
        (0, &json!("verified"), &json!(true)),
        "{out}"
    );
    assert_eq!(out["ran"][0], "record", "{out}");
    let recipe = home.run(&["recipe", "get", "search-the-shop-for-query"]);
    let yaml = String::from_utf8_lossy(&recipe.stdout).into_owned()
        + &String::from_utf8_lossy(&home.run(&["recipe", "get", "shop"]).stdout);
    assert!(
        yaml.contains("value: \"{query}\"") && !yaml.contains("q7Zr4TnVb81LkXw0PdYs6HfCj2Mg95Ea"),
        "{yaml}"
    );
}

/// The address has the value, by name or as it is: nothing else has to be said. Where nothing has it, the command says so at once.
#[test]
fn an_address_with_the_value_needs_no_steps() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let learn = |name: &str, url: &str| {
        let all = ["learn", "--testbed", "--json", "--name", name, "--url", url, "--task"];
        let rest =
            ["Search the shop for {query}", "-p", "query=lantern", "--second", "query=teapot"];
        home.json(&[&all[..], &rest].concat())
    };
    for (name, url) in [
        ("by-name", "https://shop.test/api/search?q={query}"),
        ("by-value", "https://shop.test/api/search?q=lantern"),
    ] {
        let (code, said) = learn(name, url);
        assert_eq!((code, &said["outcome"]), (0, &json!("verified")), "{said}");
        let (code, ran) = home.json(&["run", name, "-p", "query=hose", "--testbed", "--json"]);
        assert_eq!((code, &ran["success"]), (0, &json!(true)), "{ran}");
        assert!(ran["items"].as_u64() > Some(0), "{ran}");
    }
    let (code, said) = learn("by-nothing", "https://shop.test/");
    assert_eq!((code, &said["error_code"]), (2, &json!("USAGE")), "{said}");
    // One of two values would be the same with any second example.
    let args = ["learn", "--testbed", "--json", "--task", "Search the shop for {query} by {sort}"];
    let values = [
        "--url",
        "https://shop.test/api/search?q={query}",
        "-p",
        "query=lantern",
        "-p",
        "sort=price",
    ];
    let (code, said) = home.json(&[&args[..], &values].concat());
    assert_eq!((code, &said["error_code"]), (2, &json!("USAGE")), "{said}");
    assert!(said["error"].as_str().is_some_and(|it| it.contains("`sort`")), "{said}");
}
