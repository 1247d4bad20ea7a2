//! A person's choice among candidates: made, kept, refused, and found again in another recording.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::support::{Home, Web, has_chromium, write};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");

const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/manifests/quickstart.yaml");

fn learn(home: &Home, with: &[&str]) -> (i32, Value) {
    let task = "Find books about {query}";
    let usual = ["recipe", "learn", "--har", FIXTURE, "--task", task, "-p", "query=harbour"];
    home.json(&[&usual[..], &["--no-network", "--json"], with].concat())
}

/// A task that learning leaves to a person; its id, and its folder.
fn undecided(home: &Home) -> (String, PathBuf) {
    write(&home.path().join("config.toml"), "[decision]\nmin_confidence_bp = 10001\n");
    let (code, out) = learn(home, &[]);
    assert_eq!((code, &out["outcome"]), (1, &json!("needs_selection")), "{out}");
    let id = out["task_id"].as_str().unwrap().to_owned();
    let folder = home.path().join("artifacts").join(&id);
    (id, folder)
}

fn choose(home: &Home, id: &str, with: &[&str]) -> (i32, Value) {
    let usual = ["recipe", "create-from-candidate", "--task-id", id, "--no-network", "--json"];
    home.json(&[&usual[..], with].concat())
}

fn chosen(folder: &Path) -> Value {
    let bytes = std::fs::read(folder.join("03_recipe_analysis.json")).unwrap();
    serde_json::from_slice::<Value>(&bytes).unwrap()["payload"].take()
}

#[test]
fn what_there_is_to_choose_from_is_shown() {
    let home = Home::new();
    let (id, _) = undecided(&home);
    for args in [
        &["recipe", "debug", "--task-id", &id][..],
        &[
            "recipe",
            "learn",
            "--har",
            FIXTURE,
            "--task",
            "Find books about {query}",
            "-p",
            "query=harbour",
            "--no-network",
            "--resume",
        ],
    ] {
        let out = home.run(args);
        let (table, said) =
            (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
        assert!(table.contains("sends words of the task"), "{table}");
        assert!(table.contains("does not carry query"), "{table}");
        let hint = format!("create-from-candidate --task-id {id} --candidate N");
        assert!(said.contains(&hint), "{said}");
    }
}

#[test]
fn a_choice_is_kept_until_it_is_forced_away() {
    let home = Home::new();
    let (id, folder) = undecided(&home);
    let (code, out) = choose(&home, "books", &["--candidate", "1"]);
    assert_eq!((code, &out["outcome"]), (0, &json!("saved_draft")), "{out}");
    assert_eq!(
        out["reused"],
        json!(["record", "record_second", "rank", "summarize", "consult"]),
        "{out}"
    );
    assert_eq!(out["ran"][0], "analyze");
    assert_eq!(chosen(&folder)["done"]["by"], "person");
    assert!(home.path().join("recipes/books.yaml").exists());
    let mode = folder.join("task.json").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // Learned again, by flags that know nothing of the choice, and under settings that would choose otherwise.
    let resumed = || learn(&home, &["--resume"]).1;
    assert_eq!(resumed()["ran"], json!([]));
    write(&home.path().join("config.toml"), "");
    assert_eq!(resumed()["ran"], json!([]), "settings of analyze are nothing to a person's choice");
    let (_, state) = home.json(&["recipe", "debug", "--task-id", &id, "--json"]);
    let stages = state["stages"].as_array().unwrap();
    assert!(stages.iter().all(|it| it["state"] == "fresh"), "{state}");

    // Other scores, the same endpoint: looked at again, and nothing after it changes.
    write(&home.path().join("config.toml"), "[ranking.weights]\nvisible_on_page = 2299\n");
    let out = resumed();
    assert_eq!(out["ran"], json!(["rank", "summarize", "consult", "analyze"]), "{out}");
    assert_eq!(
        (&out["outcome"], &chosen(&folder)["done"]["by"]),
        (&json!("saved_draft"), &json!("person"))
    );

    // Another choice for another choice; and none at all with --force.
    let (_, out) = choose(&home, &id, &["--candidate", "2"]);
    assert_eq!(
        (&out["ran"][0], &out["outcome"]),
        (&json!("analyze"), &json!("saved_draft")),
        "{out}"
    );
    let recipe = std::fs::read_to_string(home.path().join("recipes/books.yaml")).unwrap();
    assert!(recipe.contains("/api/suggest"), "{recipe}");
    let (_, out) = learn(&home, &["--force"]);
    assert_eq!(out["outcome"], "saved_draft", "{out}");
    assert_eq!(chosen(&folder)["done"]["by"], "heuristic");
}

#[test]
fn a_name_and_a_path_of_ones_own() {
    let home = Home::new();
    let (id, _) = undecided(&home);
    let extract = "items[].{title: title, price: price}";
    let wish = ["--candidate", "1", "--name", "book-prices", "--extract", extract];
    let (code, out) = choose(&home, &id, &wish);
    assert_eq!((code, &out["outcome"]), (0, &json!("saved_draft")), "{out}");
    let recipe = home.run(&["recipe", "get", "book-prices"]);
    assert!(String::from_utf8_lossy(&recipe.stdout).contains(extract));
    assert!(!home.path().join("recipes/books.yaml").exists());
    assert_eq!(learn(&home, &["--resume"]).1["ran"], json!([]), "the name is kept, too");

    // Another task's recipe is not written over.
    home.recipe(
        "other",
        &String::from_utf8_lossy(&recipe.stdout)
            .replace("book-prices", "other")
            .replace("Find books", "Count books"),
    );
    let (code, out) = choose(&home, &id, &["--candidate", "1", "--name", "other"]);
    assert_eq!((code, &out["error_code"]), (2, &json!("RECIPE_EXISTS")), "{out}");
}

#[test]
fn what_cannot_be_chosen() {
    let home = Home::new();
    let (id, folder) = undecided(&home);
    let before = home.artifacts(&id);
    for (with, exit, code) in [
        (&["--candidate", "9"][..], 2, "USAGE"),
        (&["--candidate", "1", "--extract", "items["], 2, "RECIPE_INVALID"),
        (&["--candidate", "1", "--name", "../x"], 2, "RECIPE_INVALID"),
    ] {
        let (got, out) = choose(&home, &id, with);
        assert_eq!((got, &out["error_code"]), (exit, &json!(code)), "{out}");
    }
    assert_eq!(choose(&home, "nothing", &["--candidate", "1"]).1["error_code"], "TASK_NOT_FOUND");
    assert_eq!(home.artifacts(&id), before);

    // What does not carry the input may be chosen; the warning is clear, and the pipeline says what comes of it.
    let flags =
        ["recipe", "create-from-candidate", "--task-id", &id, "--candidate", "4", "--no-network"];
    let out = home.run(&flags);
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(
        said.contains("warning: its request does not carry what was typed as `query`"),
        "{said}"
    );
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(!home.path().join("recipes/books.yaml").exists());

    // A damaged task file is named, and --force is the way out.
    write(&folder.join("task.json"), "{");
    assert_eq!(choose(&home, &id, &["--candidate", "1"]).1["error_code"], "ARTIFACT_CORRUPT");
    assert_eq!(learn(&home, &["--resume"]).1["error_code"], "ARTIFACT_CORRUPT");
    assert!(learn(&home, &["--force"]).1.get("error_code").is_none());
}

fn entry(method: &str, url: &str, headers: &Value, post: Option<&Value>, answer: &str) -> Value {
    let mut request = json!({"method": method, "url": url, "headers": headers});
    if let Some(body) = post {
        request["postData"] = json!({"mimeType": "application/json", "text": body.to_string()});
    }
    json!({
        "startedDateTime": "2026-11-20T10:00:00.000Z", "time": 5, "_resourceType": "fetch", "request": request,
        "response": {"status": 200, "headers": [{"name": "content-type", "value": "application/json"}],
            "content": {"mimeType": "application/json", "text": answer, "size": answer.len()}}
    })
}

fn har(home: &Home, entries: &[Value]) -> String {
    let path = home.path().join("own.har");
    let har = json!({"log": {"creator": {"name": "test"}, "entries": entries}});
    write(&path, &har.to_string());
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_mutation_is_refused_and_nothing_is_taken_down() {
    let home = Home::new();
    let answer = json!({"orders": [{"item": "lantern", "n": 1}, {"item": "lantern oil", "n": 2}]});
    let har = har(
        &home,
        &[entry(
            "POST",
            "http://shop.test/api/order",
            &json!([]),
            Some(&json!({"item": "lantern", "action": "buy"})),
            &answer.to_string(),
        )],
    );
    let (_, out) = home.json(&[
        "recipe",
        "learn",
        "--har",
        &har,
        "--task",
        "Order a {item}",
        "-p",
        "item=lantern",
        "--no-network",
        "--json",
    ]);
    assert_eq!(out["reason"], "mutation", "{out}");
    let id = out["task_id"].as_str().unwrap();
    let before = home.artifacts(id);
    let (code, out) = choose(&home, id, &["--candidate", "1"]);
    assert_eq!(
        (code, &out["outcome"], &out["reason"]),
        (1, &json!("refused"), &json!("mutation")),
        "{out}"
    );
    assert_eq!(home.artifacts(id), before);
}

#[test]
fn a_value_that_was_redacted_leaves_the_choice_to_be_gone_on_with() {
    let home = Home::new();
    let secret = "password=hunter2hunter2";
    let usual = [
        "recipe",
        "learn",
        "--har",
        FIXTURE,
        "--task",
        &format!("Find books about {{query}}, {secret}"),
        "-p",
        "query=harbour",
        "--no-network",
        "--json",
        "--allow-task-secrets",
    ];
    write(&home.path().join("config.toml"), "[decision]\nmin_confidence_bp = 10001\n");
    let (_, out) = home.json(&usual);
    assert_eq!(out["outcome"], "needs_selection", "{out}");
    let id = out["task_id"].as_str().unwrap();
    let (_, out) = choose(&home, id, &["--candidate", "1"]);
    assert_eq!(out["error_code"], "SECRET_IN_TASK", "{out}");
    for (name, bytes) in home.artifacts(id) {
        assert!(!String::from_utf8_lossy(&bytes).contains("hunter2hunter2"), "{name}");
    }
    let (code, out) = home.json(&[&usual[..], &["--resume"]].concat());
    assert_eq!((code, &out["outcome"]), (0, &json!("saved_draft")), "{out}");
}

/// The value that the request needs died with the first process: the file is read again, and the endpoint found again in it.
#[test]
fn a_choice_holds_for_a_recording_made_again() {
    let home = Home::new();
    let web = Web::start(&home);
    home.recipe(
        "raw",
        "version: 1\nname: raw\ntask: Get it whole\nstatus: draft\nsource_url: http://shop.test/\nrequest:\n  method: GET\n  url: http://shop.test/api/search\n  query: [{ name: q, value: lantern }]\n  allowed_domains: [shop.test]\nresponse: { type: json }\n",
    );
    let (_, whole) =
        home.json(&["recipe", "run", "raw", "--draft", "--json", "--test-host", &web.test_host]);
    let token = json!([{"name": "x-api-token", "value": "q7Zr4TnVb81LkXw0PdYs6HfCj2Mg95Ea"}]);
    let search = entry(
        "GET",
        "http://shop.test/api/search?q=lantern",
        &token,
        None,
        &whole["data"].to_string(),
    );
    let suggest = entry(
        "GET",
        "http://shop.test/api/suggest?q=lantern",
        &json!([]),
        None,
        &json!({"suggestions": [{"text": "lantern oil", "weight": 3}]}).to_string(),
    );
    let path = har(&home, &[suggest, search]);
    // With its page drawn, the file would be another recording online.
    let settings = "[decision]\nmin_confidence_bp = 10001\n[learning]\nrender_har = false\n";
    write(&home.path().join("config.toml"), settings);
    let (_, out) = home.json(&[
        "recipe",
        "learn",
        "--har",
        &path,
        "--name",
        "shop",
        "--task",
        "Search the shop for {query}",
        "-p",
        "query=lantern",
        "--second",
        "query=teapot",
        "--no-network",
        "--json",
    ]);
    assert_eq!(out["outcome"], "needs_selection", "{out}");
    let (_, state) = home.json(&["recipe", "debug", "--task-id", "shop", "--json"]);
    let stages = state["stages"].as_array().unwrap();
    let set = stages.iter().find(|it| it["stage"] == "rank").unwrap();
    let all = set["payload"]["done"]["candidates"].as_array().unwrap();
    let search =
        all.iter().find(|it| it["url_summary"].as_str().unwrap().contains("/search")).unwrap();
    let rank = search["rank"].to_string();
    let choose = || {
        let usual = ["recipe", "create-from-candidate", "--task-id", "shop", "--candidate", &rank];
        home.json(&[&usual[..], &["--json", "--test-host", &web.test_host]].concat())
    };
    // A file that has changed since is another recording.
    let text = std::fs::read_to_string(&path).unwrap();
    write(Path::new(&path), &text.replace("lantern oil", "lantern wick"));
    let (code, out) = choose();
    assert_eq!((code, &out["error_code"]), (1, &json!("HAR_INVALID")), "{out}");
    write(Path::new(&path), &text);
    let (code, out) = choose();
    assert_eq!(
        (code, &out["outcome"], &out["live_values_lost"]),
        (0, &json!("verified"), &json!(true)),
        "{out}"
    );
    let folder = home.path().join("artifacts").join(out["task_id"].as_str().unwrap());
    assert_eq!(chosen(&folder)["done"]["by"], "person");
}

/// The browser that recorded is gone: replays go by a new context where the site wants its session. What was ordered while
/// recording is not ordered again, whatever is chosen.
#[test]
fn live_tasks_by_their_id_alone() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let web = Web::start(&home);
    let text = std::fs::read_to_string(MANIFEST).unwrap();
    let (head, tasks) = text.split_once("\n  - name: ").unwrap();
    let two: Vec<&str> = tasks
        .split("\n  - name: ")
        .filter(|it| it.starts_with("tickets-search") || it.starts_with("store-order"))
        .collect();
    let manifest = home.path().join("two.yaml");
    write(&manifest, &format!("{head}\n  - name: {}\n", two.join("\n  - name: ")));
    write(&home.path().join("config.toml"), "[decision]\nmin_confidence_bp = 10001\n");
    let at = ["--test-host", &web.test_host, "--json"];
    let learn = ["recipe", "learn-batch", "--manifest", manifest.to_str().unwrap()];
    let (_, report) = home.batch(&[&learn[..], &at].concat());
    let reasons: Vec<&Value> =
        report["entries"].as_array().unwrap().iter().map(|it| &it["reason"]).collect();
    assert_eq!(reasons, ["ambiguous", "mutation"], "{report}");

    let choose = |task: &str, n: &str| {
        let usual = ["recipe", "create-from-candidate", "--task-id", task, "--candidate", n];
        home.json(&[&usual[..], &at].concat())
    };
    let (code, out) = choose("tickets-search", "1");
    assert_eq!((code, &out["outcome"]), (0, &json!("verified")), "{out}");
    assert_eq!(
        (&out["transport"], &out["live_values_lost"]),
        (&json!("in_page_fetch"), &json!(false))
    );
    // The batch, learned again, keeps it.
    let (_, report) = home.batch(&[&learn[..], &at, &["--resume"]].concat());
    assert_eq!(report["entries"][0]["ran"], json!([]), "{report}");
    assert_eq!(report["entries"][0]["outcome"], "verified");

    let (code, out) = choose("store-order", "1");
    assert_eq!(
        (code, &out["outcome"], &out["reason"]),
        (1, &json!("refused"), &json!("mutation")),
        "{out}"
    );
    let (_, out) = choose("store-order", "2");
    assert_ne!(out["outcome"], "verified", "{out}");
    assert_eq!(web.control(&home, "orders")["orders"], 1);
}
