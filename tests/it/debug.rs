//! `recipe debug`: what stages read, decided and wrote, why they are stale, and two tasks side by side. From HARs, offline.

use std::{collections::BTreeMap, fmt::Write as _};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::support::{Home, write};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");

/// A batch of `books-0`, `books-1`, …, each with what was typed.
fn learn_batch(home: &Home, typed: &[&str]) {
    let manifest = manifest(home, typed);
    let (code, report) =
        home.batch(&["recipe", "learn-batch", "--manifest", &manifest, "--no-network", "--json"]);
    assert!(code < 2, "{report}");
}

fn manifest(home: &Home, typed: &[&str]) -> String {
    let mut text = "version: 1\ndefaults: { retries: 0 }\nrecipes:\n".to_owned();
    for (i, query) in typed.iter().enumerate() {
        let _ = writeln!(
            text,
            "  - {{ name: books-{i}, task: 'Find books about {{query}}', har: '{FIXTURE}', examples: [{{ query: {query} }}] }}"
        );
    }
    let path = home.path().join("books.yaml");
    write(&path, &text);
    path.to_str().unwrap().to_owned()
}

fn debug<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["recipe", "debug", "--task-id"], more].concat()
}

fn run_debug(home: &Home, more: &[&str]) -> String {
    let out = home.run(&debug(more));
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

fn stages(home: &Home, more: &[&str]) -> BTreeMap<String, Value> {
    let (code, out) = home.json(&debug(&[more, &["--json"]].concat()));
    assert_eq!(code, 0, "{out}");
    let all = out["stages"].as_array().unwrap();
    all.iter().map(|it| (it["stage"].as_str().unwrap().to_owned(), it.clone())).collect()
}

#[test]
fn a_stale_stage_is_explained_to_the_field() {
    let home = Home::new();
    learn_batch(&home, &["harbour"]);
    let fresh = stages(&home, &["books-0", "--why"]);
    assert!(fresh.len() == 11 && fresh.values().all(|it| it["why"] == json!([])), "{fresh:?}");

    let config = "[ranking.weights]\nvisible_on_page = 1\n[learning]\nmax_replays = 7\n";
    write(&home.path().join("config.toml"), config);
    let now = stages(&home, &["books-0"]);
    let field = &now["rank"]["why"][0]["fields"][0];
    assert_eq!(now["rank"]["why"][0]["what"], "settings");
    assert_eq!(
        (&field["field"], &field["is"]),
        (&json!("ranking.weights.visible_on_page"), &json!(1))
    );
    let weight = field["was"].as_i64().unwrap();
    let budget = json!([{"field": "learning.max_replays", "was": 24, "is": 7}]);
    assert_eq!(now["minimize"]["why"], json!([{"what": "settings", "fields": budget}]));
    let text = run_debug(&home, &["books-0", "--why"]);
    let line = format!("settings changed: ranking.weights.visible_on_page was {weight}, is 1");
    assert!(text.contains(&line), "{text}");

    // Another manifest entry, an input that is gone, a stage of another version.
    let manifest = manifest(&home, &["lighthouse"]);
    let text = run_debug(&home, &["books-0", "--why", "--manifest", &manifest]);
    let line = "the manifest entry changed: examples[0].query was harbour, is lighthouse";
    assert!(text.contains(line), "{text}");
    let id = home.run(&["recipe", "debug"]).stdout;
    let folder = home.path().join("artifacts").join(String::from_utf8(id).unwrap().trim());
    std::fs::remove_file(folder.join("01b_session_recording.json")).unwrap();
    let path = folder.join("02_candidate_set.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let version = format!("\"stage_version\": {}", now["rank"]["wrote"]["stage_version"]);
    write(&path, &text.replacen(&version, "\"stage_version\": 99", 1));
    let now = stages(&home, &["books-0", "--stage", "rank"]);
    let why = now["rank"]["why"].as_array().unwrap();
    assert_eq!((&why[0]["what"], &why[0]["was"]), (&json!("stage_version"), &json!(99)));
    assert_eq!((&why[2]["kind"], &why[2]["is"]), (&json!("second_recording"), &Value::Null));
    assert!(why[2]["was"].as_str().unwrap().len() == 64, "{why:?}");

    // What the settings were is known to the database alone; what the entry was, to the task as well.
    for it in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(home.path().join(format!("artifacts/state.db{it}")));
    }
    let text = run_debug(&home, &["books-0", "--why", "--manifest", &manifest]);
    assert!(text.contains("settings changed (what they were is not known any more)"), "{text}");
    assert!(text.contains(line), "{text}");
    assert!(!home.path().join("artifacts/state.db").exists(), "looking makes no database");
}

#[test]
fn what_was_asked_is_kept_without_its_secrets() {
    const SECRET: &str = "hunter2hunter2";
    let home = Home::new();
    let task = format!("Find books with password={SECRET} about {{query}}");
    let learn = ["recipe", "learn", "--har", FIXTURE, "--task", &task, "-p", "query=harbour"];
    let more = ["--name", "books", "--no-network", "--allow-task-secrets"];
    let out = home.run(&[&learn[..], &more].concat());
    assert!(out.status.code() < Some(2), "{}", String::from_utf8_lossy(&out.stderr));
    write(&home.path().join("config.toml"), "[learning]\nmax_replays = 7\n");
    let text = run_debug(&home, &["books", "--why"]);
    assert!(text.contains("learning.max_replays was 24, is 7"), "kept by `recipe learn`: {text}");
    for it in ["state.db", "state.db-wal"] {
        let bytes = std::fs::read(home.path().join("artifacts").join(it)).unwrap_or_default();
        assert!(!bytes.windows(SECRET.len()).any(|it| it == SECRET.as_bytes()), "{it}");
    }
    assert!(!text.contains(SECRET));
}

#[test]
fn one_stage_is_shown_in_full() {
    let home = Home::new();
    learn_batch(&home, &["harbour"]);
    let text = run_debug(&home, &["books-0", "--stage", "rank"]);
    for part in [
        "read session_recording",
        "wrote /",
        "02_candidate_set.json",
        "sure: ",
        "visible_on_page +",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("\nverify"), "{text}");
    let (_, out) = home.json(&debug(&["books-0", "--json"]));
    let part = |name: &str| {
        let all = out["draft"]["parts"].as_array().unwrap();
        all.iter()
            .find(|it| it["part"] == name)
            .unwrap_or_else(|| panic!("{name}: {all:?}"))
            .clone()
    };
    assert_eq!(
        (&part("method")["recorded"], &part("method")["last"]),
        (&json!("GET"), &json!("GET"))
    );
    let typed = out["draft"]["parts"].as_array().unwrap().iter();
    let typed: Vec<&Value> = typed.filter(|it| it["last"] == "{query}").collect();
    assert_eq!(typed.len(), 1, "{out}");
    assert_eq!(typed[0]["recorded"], "harbour");
    assert_eq!(out["draft"]["parameters"][0]["name"], "query");

    // A run that was killed while it minimized: what it has replayed stands in the journal.
    let stage = &stages(&home, &["books-0"])["minimize"];
    let question = json!([
        "minimize",
        stage["wrote"]["stage_version"],
        stage["wrote"]["settings_sha256"],
        stage["inputs"].as_object().unwrap().iter().collect::<BTreeMap<_, _>>(),
    ]);
    let run = Sha256::digest(question.to_string());
    let run = run.iter().fold(String::new(), |text, it| text + &format!("{it:02x}"));
    let replay = json!({
        "n": 1, "what": "without header:accept", "transport": "public_http", "status": 503,
        "items": null, "similarity_bp": null, "data_sha256": null, "code": "HTTP_STATUS",
        "detail": "bad \u{1b}[2J gateway",
    });
    let path = std::path::PathBuf::from(stage["path"].as_str().unwrap());
    std::fs::remove_file(&path).unwrap();
    let lines = [&run, "another question"].map(|run| {
        json!({"run": run, "key": "header:accept", "replay": replay}).to_string() + "\n"
    });
    write(&path.with_file_name("replays.jsonl"), &lines.concat());
    let now = stages(&home, &["books-0", "--stage", "minimize"]);
    assert_eq!(now["minimize"]["journal"], json!([replay]));
    let text = run_debug(&home, &["books-0", "--stage", "minimize"]);
    assert!(
        text.contains("without header:accept by public_http: HTTP_STATUS status 503"),
        "{text}"
    );
    assert!(text.contains("bad \u{fffd}[2J gateway") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn two_tasks_are_held_side_by_side() {
    let home = Home::new();
    learn_batch(&home, &["harbour", "lighthouse"]);
    let with = |other: &'static str| stages(&home, &["books-0", "--diff", other]);
    let itself = with("books-0");
    assert!(itself.len() == 11 && itself.values().all(|it| it["same"] == true), "{itself:?}");
    let other = with("books-1");
    assert_eq!(other["record"]["same"], false);
    let facts = other["record"]["facts"].as_array().unwrap();
    assert!(facts.iter().all(|it| it["this"] != it["other"]), "{facts:?}");
    let typed = facts.iter().find(|it| it["fact"] == "typed.query").unwrap();
    assert_eq!((&typed["this"], &typed["other"]), (&json!("harbour"), &json!("lighthouse")));
    let outcome = json!([{"fact": "outcome", "this": "done", "other": "not reached"}]);
    assert_eq!(other["verify"]["facts"], outcome, "where one ended earlier, that is all");
    let one = stages(&home, &["books-0", "--diff", "books-1", "--stage", "record"]);
    assert_eq!(one.len(), 1);
    let facts = one["record"]["facts"].as_array().unwrap();
    assert!(facts.iter().any(|it| it["this"] == it["other"]), "all of one stage: {facts:?}");
    let text = run_debug(&home, &["books-0", "--diff", "books-1"]);
    assert!(text.contains("typed.query") && text.contains("lighthouse"), "{text}");
    let out = home.run(&debug(&["books-0", "--diff", "nothing"]));
    assert_eq!(out.status.code(), Some(2));
}

#[test]
fn a_task_is_one_page() {
    let home = Home::new();
    let path = home.path().join("hostile.yaml");
    let hostile = "<script>alert(1)</script> & \\u202e \\\"x";
    let text = format!(
        "version: 1\nrecipes:\n  - {{ name: books-0, task: \"Find books about {{query}} {hostile}\", har: '{FIXTURE}', examples: [{{ query: harbour }}] }}\n"
    );
    write(&path, &text);
    let manifest = path.to_str().unwrap();
    let (code, report) =
        home.batch(&["recipe", "learn-batch", "--manifest", manifest, "--no-network", "--json"]);
    assert!(code < 2, "{report}");
    let file = home.path().join("task.html");
    let out = home.run(&debug(&["books-0", "--report", file.to_str().unwrap()]));
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let page = std::fs::read_to_string(&file).unwrap();
    for part in [
        "&lt;script&gt;alert(1)&lt;/script&gt; &amp; \u{fffd}",
        "as the page sent it",
        "as the recipe sends it",
        "sure: ",
        "typed in request",
        "still holds",
        "What the page asked for",
        "default-src 'none'",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    for part in ["<script", "\u{202e}", "src=\"http", "href=", "@import", "url("] {
        assert!(!page.contains(part), "{part}");
    }
    // One page is of all of it.
    let file = file.to_str().unwrap();
    for more in [["--report", file, "--why", "--json"], ["--report", file, "--stage", "rank"]] {
        assert_eq!(home.run(&debug(&[&["books-0"], &more[..]].concat())).status.code(), Some(2));
    }
}
