//! Batches from HARs, offline: what is told, kept, done again and taken away.

use std::{collections::BTreeSet, fmt::Write as _, path::Path, process::Stdio};

use serde_json::{Value, json};

use crate::support::{Home, batch_report, has_chromium, write};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/books.har");

/// `many.yaml` with so many tasks, each from the same HAR; a name in `broken` has a HAR that is none.
fn manifest(home: &Home, tasks: usize, broken: &[usize]) -> String {
    write(&home.path().join("broken.har"), "{\"log\": {\"entries\": [");
    let mut text = "version: 1\ndefaults: { retries: 0 }\nrecipes:\n".to_owned();
    for i in 0..tasks {
        let har = if broken.contains(&i) { "broken.har" } else { FIXTURE };
        let _ = writeln!(
            text,
            "  - {{ name: books-{i}, task: 'Find books about {{query}}', har: '{har}', examples: [{{ query: harbour }}] }}"
        );
    }
    let path = home.path().join("many.yaml");
    write(&path, &text);
    path.to_str().unwrap().to_owned()
}

const LEARN: [&str; 3] = ["recipe", "learn-batch", "--manifest"];

fn learn<'a>(manifest: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&LEARN[..], &[manifest, "--no-network", "--json"], more].concat()
}

fn ran(report: &Value) -> Vec<usize> {
    let all = report["entries"].as_array().unwrap();
    all.iter().map(|it| it["ran"].as_array().map_or(0, Vec::len)).collect()
}

fn tasks(home: &Home) -> Vec<(String, String)> {
    let (code, out) = home.json(&["artifacts", "ls", "--json"]);
    assert_eq!(code, 0, "{out}");
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    out.as_array().unwrap().iter().map(|it| (text(&it["name"]), text(&it["status"]))).collect()
}

#[test]
fn events_have_stable_names_and_the_totals_come_last() {
    let home = Home::new();
    let manifest = manifest(&home, 3, &[1]);
    let page = home.path().join("out.html");
    let out = home.run(&learn(&manifest, &["--report", page.to_str().unwrap()]));
    assert_eq!(out.status.code(), Some(1), "one failed");
    let text = String::from_utf8(out.stdout).unwrap();
    let events: Vec<Value> = text.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    let names: BTreeSet<&str> = events.iter().map(|it| it["event"].as_str().unwrap()).collect();
    let expected = [
        "batch_finished",
        "batch_started",
        "stage_finished",
        "stage_started",
        "task_finished",
        "task_started",
    ];
    assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(events[0]["event"], "batch_started");
    assert!(events.iter().all(|it| it["at_ms"].as_i64().unwrap() > 0));
    let last = events.last().unwrap();
    assert_eq!(
        last["outcomes"],
        json!({"draft": {"captured_only": 2}, "failed": {"HAR_INVALID": 1}})
    );
    let report = batch_report(&text).unwrap();
    assert_eq!(report["entries"][1]["error_code"], "HAR_INVALID", "{report}");
    let kept = std::fs::read(home.path().join("artifacts/batch_many.json")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    assert_eq!(kept["entries"], report["entries"]);

    let page = std::fs::read_to_string(page).unwrap();
    for part in ["books-2", "HAR_INVALID", "captured_only", "from a HAR", "saved as draft"] {
        assert!(page.contains(part), "{part}");
    }
    for part in ["id=\"task-books-0-", "data-why=\"HAR_INVALID\"", "commis recipe debug --task-id"]
    {
        assert!(page.contains(part), "{part}");
    }
    for part in ["http://", "https://", "src=", "file:"] {
        assert!(!page.contains(part), "{part}");
    }
}

#[test]
fn a_finished_batch_is_known_without_being_read() {
    let home = Home::new();
    let manifest = manifest(&home, 4, &[]);
    let (code, report) = home.batch(&learn(&manifest, &[]));
    assert_eq!((code, ran(&report)), (0, vec![11; 4]), "{report}");
    assert_eq!(home.run(&learn(&manifest, &[])).status.code(), Some(2), "was started before");
    let again = learn(&manifest, &["--resume"]);
    let out = home.run(&again);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(ran(&batch_report(&text).unwrap()), vec![0; 4]);
    assert!(!text.contains("task_started"), "{text}");

    // What somebody changed is looked at in full; so is everything when the database is gone.
    let id = report["entries"][2]["task_id"].as_str().unwrap();
    let damaged = home.path().join("artifacts").join(id).join("02_candidate_set.json");
    write(&damaged, "{}");
    let recipe = report["entries"][1]["recipe"].as_str().unwrap();
    std::fs::remove_file(recipe).unwrap();
    let (_, report) = home.batch(&again);
    assert_eq!(ran(&report), [0, 0, 1, 0]);
    assert!(Path::new(recipe).exists(), "published again");
    let before = tasks(&home);
    for it in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(home.path().join(format!("artifacts/state.db{it}")));
    }
    assert_eq!(tasks(&home), before);
    let (code, report) = home.batch(&again);
    assert_eq!((code, ran(&report)), (0, vec![0; 4]));
    assert_eq!(tasks(&home), before);

    // So is a task whose holder ended before it had tidied up.
    let left = ["lease.json", ".tmp-1-1"].map(|it| damaged.with_file_name(it));
    for it in &left {
        write(it, "{}");
    }
    let (_, report) = home.batch(&again);
    assert_eq!(ran(&report), vec![0; 4]);
    assert!(left.iter().all(|it| !it.exists()), "{left:?}");

    // A setting that a stage depends on is a new question.
    write(&home.path().join("config.toml"), "[ranking.weights]\nvisible_on_page = 2299\n");
    let (_, report) = home.batch(&again);
    assert!(ran(&report).iter().all(|it| *it > 0), "{report}");
}

#[test]
fn parts_and_choices_of_a_manifest() {
    let home = Home::new();
    let manifest = manifest(&home, 7, &[3]);
    let names = |report: &Value| -> Vec<String> {
        let all = report["entries"].as_array().unwrap();
        all.iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let mut seen = Vec::new();
    for part in ["1/3", "2/3", "3/3"] {
        let out = home.run(&learn(&manifest, &["--shard", part]));
        let report = batch_report(&String::from_utf8(out.stdout).unwrap()).unwrap();
        seen.extend(names(&report));
    }
    seen.sort_unstable();
    let expected: Vec<String> = (0..7).map(|i| format!("books-{i}")).collect();
    assert_eq!(seen, expected, "each task is in one part");

    let (code, report) =
        home.batch(&learn(&manifest, &["--only", "books-1", "books-5", "--force"]));
    assert_eq!((code, names(&report)), (0, vec!["books-1".to_owned(), "books-5".to_owned()]));
    assert_eq!(ran(&report), [11, 11]);
    let (_, report) =
        home.batch(&learn(&manifest, &["--only", "books-1", "--resume-from", "minimize"]));
    assert_eq!(report["entries"][0]["ran"], json!(["minimize", "parameterize", "verify"]));
    let out = home.run(&learn(&manifest, &["--only", "nobody"]));
    assert_eq!(out.status.code(), Some(2));

    std::fs::copy(FIXTURE, home.path().join("broken.har")).unwrap();
    let (code, report) = home.batch(&learn(&manifest, &["--retry-failed"]));
    assert_eq!((code, names(&report)), (0, vec!["books-3".to_owned()]));
    assert_eq!(home.run(&learn(&manifest, &["--retry-failed"])).status.code(), Some(2));
}

#[test]
fn two_processes_share_a_batch() {
    let home = Home::new();
    let manifest = manifest(&home, 12, &[]);
    let args = learn(&manifest, &["--resume"]);
    let start =
        || home.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let reports: Vec<Value> = [start(), start()]
        .map(|it| it.wait_with_output().unwrap())
        .map(|it| {
            assert_eq!(it.status.code(), Some(0));
            batch_report(&String::from_utf8(it.stdout).unwrap()).unwrap()
        })
        .into();
    let (one, other) = (ran(&reports[0]), ran(&reports[1]));
    for (i, (a, b)) in one.iter().zip(&other).enumerate() {
        assert_eq!(a + b, 11, "task {i} is done by one of them, once");
    }
}

#[test]
fn old_tasks_go_and_everything_else_stays() {
    let home = Home::new();
    let manifest = manifest(&home, 3, &[]);
    let (_, report) = home.batch(&learn(&manifest, &[]));
    let folder = |i: usize| {
        let id = report["entries"][i]["task_id"].as_str().unwrap();
        home.path().join("artifacts").join(id)
    };
    let age = |path: &Path, days: u64| {
        let then = std::time::SystemTime::UNIX_EPOCH
            + std::time::Duration::from_millis(newest(path) - days * 86_400_000);
        for it in std::fs::read_dir(path).unwrap() {
            let file = std::fs::File::open(it.unwrap().path()).unwrap();
            file.set_modified(then).unwrap();
        }
    };
    age(&folder(0), 8);
    age(&folder(1), 6);
    let prune = |more: &[&str]| {
        let out = home.run(&[&["artifacts", "prune"], more].concat());
        assert_eq!(out.status.code(), Some(0));
        String::from_utf8(out.stdout).unwrap()
    };
    let listed = prune(&["--dry-run"]);
    assert!(folder(0).exists() && listed.lines().count() == 1, "{listed}");
    assert_eq!(prune(&[]), listed);
    assert!(!folder(0).exists() && folder(1).exists() && folder(2).exists());
    let recipe = report["entries"][0]["recipe"].as_str().unwrap();
    assert!(Path::new(recipe).exists());
    let left: Vec<String> = tasks(&home).into_iter().map(|it| it.0).collect();
    assert_eq!(left, ["books-1", "books-2"]);

    // A batch takes old tasks away that are not its own.
    age(&folder(1), 9);
    age(&folder(2), 9);
    let other = home.path().join("other.yaml");
    write(&other, &std::fs::read_to_string(&manifest).unwrap());
    home.batch(&learn(other.to_str().unwrap(), &["--only", "books-0"]));
    assert!(!folder(1).exists() && !folder(2).exists());
}

/// Milliseconds since 1970 of the newest file.
fn newest(folder: &Path) -> u64 {
    let times = std::fs::read_dir(folder).unwrap().map(|it| {
        let time = it.unwrap().metadata().unwrap().modified().unwrap();
        time.duration_since(std::time::SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64
    });
    times.max().unwrap()
}

#[test]
fn every_hash_and_mode_is_checked() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let manifest = manifest(&home, 2, &[]);
    let (_, report) = home.batch(&learn(&manifest, &[]));
    let (code, out) = home.json(&["artifacts", "verify", "--json"]);
    assert_eq!((code, &out), (0, &json!({"tasks": 2, "findings": []})));
    let id = report["entries"][0]["task_id"].as_str().unwrap();
    let file = home.path().join("artifacts").join(id).join("01_session_recording.json");
    let text = std::fs::read_to_string(&file).unwrap();
    write(&file, &text.replacen("harbour", "harbor", 1));
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let (code, out) = home.json(&["artifacts", "verify", "--json"]);
    let found: Vec<&str> =
        out["findings"].as_array().unwrap().iter().map(|it| it["what"].as_str().unwrap()).collect();
    assert_eq!((code, found.len()), (1, 2), "{out}");
    assert!(
        found.iter().any(|it| it.contains("hash")) && found.iter().any(|it| it.contains("0640"))
    );
    let (code, shown) = home.json(&["artifacts", "show", id, "verify"]);
    assert_eq!((code, &shown["artifact"]), (0, &json!("verification_report")));
    assert_eq!(home.run(&["artifacts", "show", id, "record"]).status.code(), Some(1));
}

#[test]
fn a_recording_of_an_earlier_schema_is_brought_to_this_one() {
    let home = Home::new();
    let manifest = manifest(&home, 1, &[]);
    let (_, report) = home.batch(&learn(&manifest, &[]));
    let id = report["entries"][0]["task_id"].as_str().unwrap();
    let folder = home.path().join("artifacts").join(id);
    // What a commis wrote that did not know of `embedded[].variable`; this recording has none.
    for (file, old) in [
        (
            "01_session_recording.json",
            "d14c0eed853092b422fcd62116f7babe251306b6b987bfe49a254946c4491855",
        ),
        (
            "01b_session_recording.json",
            "20ee57179c3dbc6025371e4a1621454f225b0a0b6e140ae2e2c9eefe24b48fc6",
        ),
    ] {
        let path = folder.join(file);
        let mut it: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        it["schema_hash"] = old.into();
        write(&path, &it.to_string());
    }
    let again = learn(&manifest, &["--resume"]);
    let (_, report) = home.batch(&again);
    let entry = &report["entries"][0];
    assert_eq!(entry["error_code"], "ARTIFACT_SCHEMA_MISMATCH", "{entry}");
    assert!(entry["hint"].as_str().unwrap().contains("artifacts migrate"), "{entry}");
    let out = home.run(&["artifacts", "migrate"]);
    assert_eq!(String::from_utf8(out.stdout).unwrap().lines().count(), 2);
    let (code, report) = home.batch(&again);
    assert_eq!((code, ran(&report)), (0, vec![0]), "everything made from it is fresh");
    assert_eq!(home.run(&["artifacts", "verify"]).status.code(), Some(0));
}

/// Processes that are children of that process.
fn children(of: u32) -> Vec<String> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit_once(')').and_then(|it| it.1.split_whitespace().nth(1));
        if parent == Some(&of.to_string()) {
            out.push(entry.file_name().into_string().unwrap());
        }
    }
    out
}

#[test]
fn a_browser_that_is_killed_is_started_again() {
    if !has_chromium() {
        return;
    }
    let home = Home::new();
    let path = home.path().join("live.yaml");
    let entry = |name: &str, first: &str, second: &str| {
        format!(
            "  - name: {name}\n    task: 'Search the shop for {{query}}'\n    url: http://shop.test/\n    examples: [{{ query: {first} }}, {{ query: {second} }}]\n    record:\n      - fill: {{ role: searchbox, name: Search products, value: '{{query}}' }}\n      - press: Enter\n      - wait_for: {{ text: 'results for {{query}}' }}\n"
        )
    };
    write(
        &path,
        &format!(
            "version: 1\ndefaults: {{ delay_s: 0 }}\nrecipes:\n{}{}",
            entry("one", "lantern", "rope"),
            entry("two", "rope", "lantern")
        ),
    );
    let page = home.path().join("out.html");
    let more = [path.to_str().unwrap(), "--json", "--testbed", "--report", page.to_str().unwrap()];
    let mut child = home
        .command(&[&LEARN[..], &more].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut killed = false;
    for line in std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap())) {
        let line = line.unwrap();
        said = said + &line + "\n";
        // The second recording of a task: the browser is there, and most of the time at work. No event says when, so this gives it a
        // moment.
        if !killed && line.contains("\"stage_started\"") && line.contains("record_second") {
            std::thread::sleep(std::time::Duration::from_millis(300));
            let found = children(child.id());
            assert!(!found.is_empty(), "{said}");
            #[expect(
                clippy::disallowed_methods,
                reason = "the test kills what the program started"
            )]
            let sent = std::process::Command::new("kill").arg("-KILL").args(&found).status();
            assert!(sent.unwrap().success());
            killed = true;
        }
    }
    assert_eq!((child.wait().unwrap().code(), killed), (Some(0), true), "{said}");
    let ms = batch_report(&said).unwrap()["ms"].as_i64().unwrap();
    assert!(ms < 45_000, "a step waits 60 s for its page, not for a browser that is gone: {said}");
    let log = std::fs::read_dir(home.path().join("logs")).unwrap().next().unwrap().unwrap();
    let log = std::fs::read_to_string(log.path()).unwrap();
    assert_eq!(log.matches("browser started").count(), 2, "{log}");
    let report = batch_report(&said).unwrap();
    assert_eq!(report["outcomes"], json!({"verified": {"": 2}}), "{said}");
    let page = std::fs::read_to_string(page).unwrap();
    for part in ["<code>BROWSER_FAILED</code> in record_second", "the browser ended after"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn the_page_follows_a_batch_that_is_killed_and_gone_on_with() {
    const TASKS: usize = 60;
    let home = Home::new();
    let manifest = manifest(&home, TASKS, &[3]);
    let file = home.path().join("artifacts/batch_many.html");
    let mut child = home
        .command(&learn(&manifest, &["--jobs", "1"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    // It is there while the first tasks are learned.
    let seen = lines.find(|it| it.as_ref().unwrap().contains("task_finished") && file.exists());
    assert!(seen.is_some(), "the batch ended before its page was there");
    child.kill().unwrap();
    child.wait().unwrap();
    let page = std::fs::read_to_string(&file).unwrap();
    for part in [
        "<noscript><meta http-equiv=\"refresh\" content=\"2\"></noscript>",
        "class=\"badge now\">running</span>",
        "Running now",
        "waiting",
        "id=\"stale\"",
        "data-stale=",
        "the batch was interrupted",
        "books-59",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }

    let again = learn(&manifest, &["--resume"]);
    assert_eq!(home.run(&again).status.code(), Some(1), "one fails");
    let page = std::fs::read_to_string(&file).unwrap();
    for part in ["http-equiv=\"refresh\"", "running", "waiting", "id=\"stale\""] {
        assert!(!page.contains(part), "{part}");
    }
    assert!(page.contains("class=\"badge good\">ended</span>"), "{page}");
    assert_eq!(page.matches("<details class=\"task\"").count(), TASKS);

    // It leads to a page for each, from wherever it stands.
    let id = |text: &str| {
        text.split("/page.html").next().unwrap().rsplit(['"', '/']).next().unwrap().to_owned()
    };
    let first = id(&page[page.find("href=\"books-0-").unwrap()..]);
    let task =
        std::fs::read_to_string(home.path().join("artifacts").join(&first).join("page.html"))
            .unwrap();
    for part in
        ["What was weighed", "The request and the recipe", "Stages", "chosen", "not verified"]
    {
        assert!(task.contains(part), "{part} is not in {task}");
    }
    for part in ["<script", "http-equiv=\"refresh\"", "src=\"http", "href=\"http"] {
        assert!(!task.contains(part), "{part}");
    }
    let elsewhere = home.path().join("pages/out.html");
    let more = ["--resume", "--report", elsewhere.to_str().unwrap()];
    home.run(&learn(&manifest, &more));
    let page = std::fs::read_to_string(&elsewhere).unwrap();
    assert!(page.contains(&format!("href=\"../artifacts/{first}/page.html\"")), "{page}");
}
