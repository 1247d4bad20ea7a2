//! Runs with a model, kept: listed, watched, compared, told dead; playbooks that graduate; and that no run fails for being kept.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use crate::{
    daemon::Daemon,
    doing::{Model, call, complete_task, fill, parsed, search, settings},
    session::{ProgramOutput, run, well},
    support::{has_chromium, wait_until, write},
};

fn start(scripts: &Value) -> Option<(Daemon, Model)> {
    if !has_chromium() {
        return None;
    }
    let model = Model::start(scripts);
    let daemon = Daemon::start(&settings(&model.endpoint), &["--testbed"]);
    Some((daemon, model))
}

fn runs(daemon: &Daemon) -> Value {
    parsed(&run(daemon, &["do", "runs", "--json"]))
}

/// A search that is done as it should be, one that takes a detour, and one that gives up at an action.
fn scripts() -> Value {
    let detour = json!({"when": ["news for tides"], "turns": [
        call("click", &json!({"target": "button \"Nothing of that name\""})),
        fill("searchbox \"Search the news\"", "tides"),
        call("press", &json!({"key": "Enter"})),
        call("wait", &json!({"text": "results for tides"})),
        complete_task(&json!({"evidence": "results for tides"})),
    ]});
    let gives_up = json!({"when": ["news for dragons"], "turns": [
        fill("searchbox \"Search the news\"", "dragons"),
        call("complete_task", &json!({"status": "failed", "reason": "there are no dragons"})),
    ]});
    json!([search("harbour", "election"), detour, gives_up])
}

const TASK: &str = "Search the news for {query}";

fn news(daemon: &Daemon, query: &str) -> ProgramOutput {
    let value = format!("query={query}");
    let url = ["--url", "http://news.test/", "--no-learn", "--no-recipe", "--json"];
    run(daemon, &[&["do", TASK, "-p", &value], &url[..]].concat())
}

fn id(said: &ProgramOutput) -> String {
    parsed(said)["model"]["run"].as_str().unwrap().to_owned()
}

#[test]
fn runs_are_listed_shown_compared_and_watched_after_they_ended() {
    let Some((daemon, _model)) = start(&scripts()) else { return };
    assert_eq!(runs(&daemon)["runs"], json!([]));
    let watched = run(&daemon, &["do", "watch"]);
    assert_eq!((watched.code, watched.err.as_str()), (0, "nothing runs now, and no run is kept"));
    let [good, slow, bad] = ["harbour", "tides", "dragons"].map(|it| id(&news(&daemon, it)));

    let all = runs(&daemon);
    let row =
        |id: &str| all["runs"].as_array().unwrap().iter().find(|it| it["run"] == *id).unwrap();
    let told = ["status", "reason", "turns", "last_action"].map(|it| &row(&good)[it]);
    assert_eq!(told[..3], [&json!("done"), &json!("completed"), &json!(4)]);
    assert_eq!(told[3], "wait text=results for harbour", "{all}");
    assert_eq!(
        (&row(&bad)["status"], &row(&bad)["reason"]),
        (&json!("not_done"), &json!("gave_up"))
    );
    assert_eq!(row(&bad)["detail"], "there are no dragons");
    assert!(row(&good)["page"].as_str().unwrap().starts_with("http://news.test/"), "{all}");
    assert_eq!(all["totals"]["done"], 2, "{all}");
    assert_eq!(all["unread"], json!([]));
    // Newest first, and the same by REST.
    assert_eq!(all["runs"][0]["run"], *bad);
    let rest = daemon.api("GET", "/api/transcripts?status=done&task=NEWS", &Value::Null).1;
    let rest = rest["data"]["runs"].as_array().unwrap();
    assert_eq!(rest.iter().map(|it| &it["run"]).collect::<Vec<_>>(), [&json!(slow), &json!(good)]);
    let table = run(&daemon, &["do", "runs"]);
    assert!(table.out.contains(&good) && table.out.contains("not_done"), "{}", table.out);
    assert!(table.err.contains("3 runs: 2 done, 1 not done, 0 died; on average"), "{}", table.err);
    let shown = well(&daemon, &["do", "runs", &bad]);
    for line in [
        "reason       gave_up",
        "detail       there are no dragons",
        "last action  fill searchbox \"Search the news\" value=dragons",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }

    let it = parsed(&run(&daemon, &["do", "compare", &good, &slow, "--json"]));
    assert_eq!((&it["better"], &it["part_at"]), (&json!("first"), &json!(1)), "{it}");
    assert_eq!(it["why"], "the first was better: both got as far, it took 4 turns instead of 5");
    assert!(it["actions"][0]["second"].as_str().unwrap().ends_with("(failed)"), "{it}");
    let path = format!("/api/transcripts/{bad}/compare/{good}");
    let rest = daemon.api("GET", &path, &Value::Null).1["data"].take();
    assert_eq!(rest["better"], "second", "{rest}");
    let text = well(&daemon, &["do", "compare", &good, &bad]);
    assert!(text.contains("(here they part)"), "{text}");
    assert!(
        text.contains("the first was better: it was done, the other was not done (gave_up"),
        "{text}"
    );
    let sets = parsed(&run(&daemon, &["do", "compare", "--since", &slow, "--json"]));
    assert_eq!(
        sets["tasks"][0]["why"], "worse since: 1 of 2 done instead of 1 of 1 done",
        "{sets}"
    );
    let sets = well(&daemon, &["do", "compare", "--since", "2026-01-01"]);
    assert!(sets.contains("before: 0 runs") && sets.contains("since:  3 runs"), "{sets}");

    let watched = run(&daemon, &["do", "watch", &good]);
    assert_eq!(watched.code, 0, "{}", watched.err);
    assert!(watched.out.contains("[turn 2] press key=Enter"), "{}", watched.out);
    assert!(watched.out.lines().last().unwrap().starts_with(&format!("✓ {good} done")));
    let watched = run(&daemon, &["do", "watch", &bad, "--json"]);
    let last: Value = serde_json::from_str(watched.out.lines().last().unwrap()).unwrap();
    assert_eq!((watched.code, &last["event"]), (1, &json!("ended")));
    assert!(watched.out.lines().count() > 6, "{}", watched.out);

    // What there is not, and what is a task though it is called like a command.
    for args in [
        &["do", "runs", "r000000000000"][..],
        &["do", "watch", "../../x"],
        &["do", "compare", &good, "r000000000000"],
        &["do", "compare", &good],
        &["do", "compare", "--since", "yesterday"],
    ] {
        assert_eq!(run(&daemon, args).code, 2, "{args:?}");
    }
    let said = run(&daemon, &["do", "--json", "--", "watch"]);
    assert_eq!(parsed(&said)["error_code"], "RECIPE_NOT_FOUND", "{}", said.out);
}

#[test]
fn a_run_that_died_is_told_from_one_that_works() {
    let slow = json!([{"when": ["news for harbour"], "turns": [
        fill("searchbox \"Search the news\"", "harbour"),
        {"slow_ms": 600_000},
    ]}]);
    let Some((daemon, model)) = start(&slow) else { return };
    let args = ["do", TASK, "-p", "query=harbour", "--url", "http://news.test/", "--no-learn"];
    let quiet = |args: &[&str]| {
        let mut command = daemon.home.command(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    let mut child = quiet(&args);
    wait_until("the second turn", || model.requests()["requests"].as_u64() == Some(2));
    let works = runs(&daemon)["runs"][0].take();
    assert_eq!((&works["status"], &works["now"]), (&json!("working"), &json!("asks the model")));
    let id = works["run"].as_str().unwrap();
    // It gives signs while the model thinks.
    let at = works["at_ms"].as_i64().unwrap();
    wait_until("a sign", || runs(&daemon)["runs"][0]["at_ms"].as_i64().unwrap() > at + 1500);
    let mut watch = quiet(&["do", "watch"]);
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    assert!(!first.is_empty());

    let home = daemon.kill();
    let told = || -> Value {
        let (_, mut it) = home.json(&["do", "runs", "--json"]);
        it["runs"][0].take()
    };
    assert_eq!(told()["status"], "working", "no sooner than it can be told");
    wait_until("its death", || told()["status"] == "died");
    let detail = told()["detail"].as_str().unwrap().to_owned();
    let action = "fill searchbox \"Search the news\" value=harbour";
    let died = format!("died after {action} (asks the model)");
    assert!(detail.starts_with("no sign for ") && detail.ends_with(&died), "{detail}");
    let last = lines.map_while(Result::ok).last().unwrap();
    assert!(last.starts_with(&format!("✗ {id} died")), "{last}");
    assert!(last.contains(&format!("last action: {action}, on http://news.test/")), "{last}");
    assert_eq!(watch.wait().unwrap().code(), Some(1));
    child.wait().unwrap();
    // Another daemon says the same, and takes it for none of its own.
    let daemon = Daemon::start_in(home, &["--testbed"]);
    let rest = daemon.api("GET", &format!("/api/transcripts/{id}"), &Value::Null).1;
    assert_eq!(rest["data"]["run"]["status"], "died", "{rest}");
}

#[test]
fn a_playbook_graduates_and_says_so_and_loses_it_the_same_way() {
    let mut all = vec![];
    for query in ["rust", "bees"] {
        all.push(json!({"when": [format!("books about {query}")], "turns": [
            fill("searchbox \"Search the catalogue\"", query),
            call("press", &json!({"key": "Enter"})),
            call("wait", &json!({"text": format!("results for {query}")})),
            complete_task(&json!({})),
        ]}));
    }
    all.push(json!({"when": ["books about dragons"], "turns": [
        call("complete_task", &json!({"status": "failed", "reason": "there are none"})),
    ]}));
    let Some((daemon, _model)) = start(&json!(all)) else { return };
    let look_up = |query: &str| {
        let value = format!("query={query}");
        let task = "Find books about {query} in the county library";
        run(&daemon, &["do", task, "-p", &value, "--playbook", "look-up", "--no-learn"])
    };
    let says =
        |said: &ProgramOutput, text: &str| assert!(said.err.contains(text), "{text}: {}", said.err);
    let first = look_up("rust");
    assert_eq!(first.code, 0, "{}", first.err);
    says(&first, "playbook look-up is not graduated: 1 of its last 1 runs passed");
    // A dry run says nothing of it.
    let dry = run(
        &daemon,
        &["do", "Find books about rust", "-p", "query=rust", "--playbook", "look-up", "--dry-run"],
    );
    assert_eq!(dry.code, 0, "{}", dry.err);
    says(&dry, "playbook look-up is not graduated: 1 of its last 1 runs passed");
    says(&look_up("bees"), "playbook look-up graduates: 2 of its last 2 runs passed");
    says(&look_up("dragons"), "playbook look-up stays graduated: 2 of its last 3 runs passed");
    let stands = || {
        let all = daemon.api("GET", "/api/playbooks", &Value::Null).1;
        let all = all["data"]["playbooks"].as_array().unwrap().clone();
        let it = all.into_iter().find(|it| it["name"] == "look-up").unwrap();
        (it["graduated"].clone(), it["passed"].clone(), it["of"].clone())
    };
    assert_eq!(stands(), (json!(true), json!(2), json!(3)));
    let books = well(&daemon, &["do", "--playbooks"]);
    assert!(books.contains("(graduated: 2 of its last 3 runs passed)"), "{books}");
    says(
        &look_up("dragons"),
        "playbook look-up is not graduated any more: 1 of its last 3 runs passed",
    );
    assert_eq!(stands(), (json!(false), json!(1), json!(3)));
    // It is counted from kept runs: another daemon knows it, too.
    let daemon = Daemon::start_in(daemon.kill(), &["--testbed"]);
    let books = well(&daemon, &["do", "--playbooks"]);
    assert!(books.contains("(not graduated: 1 of its last 3 runs passed)"), "{books}");
    // Another text of it begins anew.
    let yaml = include_str!("../../src/agent/playbook/library/look-up.yaml")
        .replace("county library\n", "library\n");
    std::fs::create_dir_all(daemon.home.path().join("playbooks")).unwrap();
    write(&daemon.home.path().join("playbooks/look-up.yaml"), &yaml);
    let books = well(&daemon, &["do", "--playbooks"]);
    let line = books.lines().find(|it| it.starts_with("look-up")).unwrap();
    assert!(!line.contains("graduated"), "{line}");
}

/// A file system of its own in place of a folder, as long as this lives.
struct MountedFolder(PathBuf);

impl MountedFolder {
    /// `None` for who may not mount.
    fn new(at: &Path, options: &str) -> Option<Self> {
        let at = at.to_owned();
        mount(&["-t", "tmpfs", "-o", options, "tmpfs", at.to_str()?]).then_some(Self(at))
    }
}

impl Drop for MountedFolder {
    fn drop(&mut self) {
        #[expect(clippy::disallowed_methods, reason = "the test takes its own mount away")]
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(args: &[&str]) -> bool {
    #[expect(clippy::disallowed_methods, reason = "the test puts a full disk in place")]
    let it = Command::new("mount").args(args).stderr(Stdio::null()).status();
    it.is_ok_and(|it| it.success())
}

#[test]
fn no_run_fails_for_being_kept() {
    let Some((daemon, _model)) = start(&json!([search("harbour", "election")])) else { return };
    let folder = daemon.home.path().join("runs");
    let good = |what: &str| {
        let said = news(&daemon, "harbour");
        assert_eq!(
            (said.code, &parsed(&said)["status"]),
            (0, &json!("done")),
            "{what}: {}",
            said.out
        );
        id(&said)
    };
    // A file where the folder belongs; then the folder cannot be looked into, and that is said.
    let _ = std::fs::remove_dir_all(&folder);
    write(&folder, "no folder");
    good("a file");
    let said = run(&daemon, &["do", "runs"]);
    assert_eq!(said.code, 3, "{} {}", said.out, said.err);
    let books = well(&daemon, &["do", "--playbooks"]);
    assert!(books.contains("look-up"), "{books}");
    std::fs::remove_file(&folder).unwrap();

    std::fs::create_dir(&folder).unwrap();
    if let Some(_full) = MountedFolder::new(&folder, "size=16k,mode=0700") {
        let whole = vec![b'x'; 64 << 10];
        let _ = std::io::Write::write_all(
            &mut std::fs::File::create(folder.join("filler")).unwrap(),
            &whole,
        );
        let id = good("a full disk");
        let all = runs(&daemon);
        let kept = all["runs"].as_array().unwrap().iter().any(|it| it["run"] == *id);
        assert!(!kept || all["unread"].as_array().is_some_and(|it| !it.is_empty()), "{all}");
        assert!(mount(&["-o", "remount,ro", folder.to_str().unwrap()]));
        good("a disk that is read-only");
        let said = run(&daemon, &["do", "runs", "--json"]);
        assert_eq!(said.code, 0, "{}", said.out);
    } else {
        eprintln!("nothing can be mounted here: a full disk is not tested");
    }

    // From one run to the next somebody leaves something there.
    let id = good("as it should be");
    std::os::unix::fs::symlink("/etc/passwd", folder.join("r000000000000.json")).unwrap();
    write(&folder.join("r000000000001.ndjson"), "{\"at_ms\": 1, \"wh");
    std::fs::create_dir(folder.join("r000000000002.json")).unwrap();
    std::fs::File::create(folder.join("r000000000003.ndjson")).unwrap().set_len(64 << 20).unwrap();
    let all = runs(&daemon);
    assert!(all["runs"].as_array().unwrap().iter().any(|it| it["run"] == *id), "{all}");
    let unread: Vec<&str> =
        all["unread"].as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap()).collect();
    assert_eq!(
        unread,
        [
            "r000000000000.json",
            "r000000000001.ndjson",
            "r000000000002.json",
            "r000000000003.ndjson"
        ]
    );
    let said = run(&daemon, &["do", "runs"]);
    assert!(said.err.contains("r000000000000.json could not be read"), "{}", said.err);
    assert!(!said.out.contains("root:"), "{}", said.out);
    let rest = daemon.api("GET", "/api/transcripts/r000000000001", &Value::Null).1;
    assert!(
        rest["data"]["unread"][0]["why"].as_str().unwrap().contains("1 line is cut short"),
        "{rest}"
    );
    good("whatever stands there");
}
