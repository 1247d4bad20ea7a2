//! `commis session`: the contracts that a kept session is held to, on the test web.

use std::{fs, path::Path};

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{
    daemon::{Daemon, UNLIMITED},
    support::{has_chromium, write},
};

pub struct ProgramOutput {
    pub code: i32,
    pub out: String,
    pub err: String,
}

pub fn run(daemon: &Daemon, args: &[&str]) -> ProgramOutput {
    let out = daemon.home.run(args);
    let text = |it: &[u8]| String::from_utf8_lossy(it).trim_end().to_owned();
    ProgramOutput {
        code: out.status.code().unwrap(),
        out: text(&out.stdout),
        err: text(&out.stderr),
    }
}

pub fn well(daemon: &Daemon, args: &[&str]) -> String {
    let it = run(daemon, args);
    assert_eq!(it.code, 0, "{args:?}: {} {}", it.out, it.err);
    it.out
}

pub fn data(daemon: &Daemon, args: &[&str]) -> Value {
    serde_json::from_str(&well(daemon, args)).unwrap()
}

pub fn daemon() -> Option<Daemon> {
    if !has_chromium() {
        return None;
    }
    Some(Daemon::start(UNLIMITED, &["--testbed"]))
}

/// Searches the shop while it is kept; the session's id.
pub fn searched(daemon: &Daemon, name: &str, query: &str) -> String {
    let task = "Search the shop for something";
    let it =
        data(daemon, &["session", "record", name, "https://shop.test/", "--task", task, "--json"]);
    well(daemon, &["browse", "fill", "searchbox \"Search products\"", query]);
    well(daemon, &["browse", "click", "button \"Search\""]);
    let ended = data(daemon, &["session", "end", "--json"]);
    assert_eq!((&ended["state"], &ended["actions"]), (&json!("complete"), &json!(3)));
    it["id"].as_str().unwrap().to_owned()
}

/// All that a session keeps, as one text.
pub fn session_text(home: &Path, id: &str) -> String {
    let all = fs::read_dir(home.join("sessions").join(id)).unwrap();
    let files = all.map(|it| it.unwrap().path()).filter(|it| it.is_file());
    files.map(|it| fs::read_to_string(it).unwrap()).collect()
}

#[test]
fn contract_1_and_2_a_session_is_kept_whole_and_found_by_its_task() {
    let Some(daemon) = daemon() else { return };
    let id = searched(&daemon, "lanterns", "lantern");
    let shown = data(&daemon, &["session", "show", &id, "--json"]);
    let commands: Vec<&str> = shown["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["command"].as_str().unwrap())
        .collect();
    assert_eq!(commands, ["goto", "fill", "click"]);
    assert!(shown["actions"][2]["requests"].to_string().contains("/api/search"), "{shown}");
    for n in 0..3 {
        let name = format!("other-{n}");
        well(&daemon, &["session", "record", &name, "https://city.test/", "--task", "Weather"]);
        well(&daemon, &["session", "end"]);
    }
    let found = data(&daemon, &["session", "ls", "--query", "search shop", "--json"]);
    let first: Vec<&Value> = found["sessions"].as_array().unwrap().iter().take(3).collect();
    assert!(first.iter().any(|it| it["id"] == *id), "{found}");
    let seen = well(&daemon, &["session", "show", &id, "--at", "1"]);
    assert!(seen.contains("searchbox \"Search products\""), "{seen}");
    let page = well(&daemon, &["session", "show", &id, "--html"]);
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("/api/search"), "{page}");
    // A page that is closed meanwhile ends its session.
    well(&daemon, &["session", "record", "closed", "https://city.test/"]);
    well(&daemon, &["browse", "close"]);
    let all = data(&daemon, &["session", "ls", "--query", "closed", "--json"]);
    assert_eq!(all["sessions"][0]["state"], "complete", "{all}");
}

#[test]
fn contract_3_and_5_what_is_secret_is_in_no_session() {
    let Some(daemon) = daemon() else { return };
    let it = data(&daemon, &["session", "record", "in", "https://members.test/", "--json"]);
    let id = it["id"].as_str().unwrap();
    well(&daemon, &["browse", "fill", "css=#name", "Moreau"]);
    well(&daemon, &["browse", "press", "Enter"]);
    well(&daemon, &["browse", "fill", "css=input[name=password]", "correct-horse-9"]);
    well(&daemon, &["browse", "press", "Enter"]);
    // Elsewhere, with a cookie that stands for a login.
    well(&daemon, &["browse", "goto", "https://forum.test/"]);
    well(&daemon, &["session", "end"]);
    let all = session_text(daemon.home.path(), id);
    assert!(!all.contains("correct-horse-9"), "{all}");
    assert!(all.contains("what was typed is a secret and is not here"), "{all}");
    let cookie = Sha256::digest(b"forum session 1");
    let cookie = cookie.iter().fold(String::new(), |it, byte| it + &format!("{byte:02x}"));
    assert!(!all.contains(&cookie), "{all}");
    let replayed = run(&daemon, &["session", "replay", id, "--context", "again", "--json"]);
    let told: Value = serde_json::from_str(&replayed.out).unwrap();
    assert_eq!((replayed.code, &told["verdict"]), (1, &json!("partial")), "{told}");
    assert!(told["first_difference"].as_str().unwrap().contains("kept nowhere"), "{told}");
}

#[test]
fn contract_4_a_session_is_done_again_and_nothing_that_changes_without_being_asked() {
    let Some(daemon) = daemon() else { return };
    let id = searched(&daemon, "lanterns", "lantern");
    for (context, more) in [("again", &[][..]), ("other", &["--value", "2=hose"])] {
        let args = ["session", "replay", &id, "--context", context, "--json"];
        let told = data(&daemon, &args.iter().chain(more).copied().collect::<Vec<_>>());
        assert_eq!(told["verdict"], "pass", "{told}");
        let order: Vec<i64> = told["actions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["n"].as_i64().unwrap())
            .collect();
        assert_eq!(order, [1, 2, 3]);
    }
    let text = well(&daemon, &["browse", "--context", "other", "text"]);
    assert!(text.contains("results for hose"), "{text}");
    // One that orders something.
    let it = data(&daemon, &["session", "record", "order", "http://store.test/", "--json"]);
    let order = it["id"].as_str().unwrap();
    well(&daemon, &["browse", "fill", "textbox \"Delivery note\"", "ring twice"]);
    well(&daemon, &["browse", "click", "button \"Place order\""]);
    well(&daemon, &["session", "end"]);
    let refused = run(&daemon, &["session", "replay", order, "--context", "third", "--json"]);
    let told: Value = serde_json::from_str(&refused.out).unwrap();
    assert_eq!((refused.code, &told["actions"][2]["outcome"]), (1, &json!("refused")), "{told}");
    assert!(told["first_difference"].as_str().unwrap().contains("may change something"), "{told}");
    well(&daemon, &["session", "replay", order, "--context", "third", "--allow", "3"]);
    // And what is compared and begun from.
    let hoses = searched(&daemon, "hoses", "hose");
    let differs = run(&daemon, &["session", "diff", &id, &hoses]);
    assert!(differs.code == 1 && differs.out.contains("\n- fill "), "{}", differs.out);
    assert_eq!(run(&daemon, &["session", "diff", &id, &id]).code, 0);
    let fork = ["session", "fork", &id, "forked", "--at", "2", "--context", "fork", "--json"];
    let forked = data(&daemon, &fork);
    assert_eq!(forked["parent"], json!({"session": id, "actions": 2}), "{forked}");
    well(&daemon, &["browse", "--context", "fork", "press", "Enter"]);
    let ended = data(&daemon, &["session", "end", "--context", "fork", "--json"]);
    assert_eq!(ended["actions"], 3, "{ended}");
}

#[test]
fn contract_6_a_session_of_another_home_is_done_here() {
    let Some(daemon) = daemon() else { return };
    let id = searched(&daemon, "lanterns", "lantern");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.tar.zst");
    let file = file.to_str().unwrap();
    well(&daemon, &["session", "export", &id, file]);
    let other = Daemon::start(UNLIMITED, &["--testbed"]);
    well(&other, &["session", "import", file]);
    drop(daemon);
    assert_eq!(data(&other, &["session", "replay", &id, "--json"])["verdict"], "pass");
    // What somebody changed on the way is refused, and what is no archive.
    let bad = folder.path().join("bad.tar.zst");
    fs::copy(file, &bad).unwrap();
    let half = fs::OpenOptions::new().write(true).open(&bad).unwrap();
    half.set_len(half.metadata().unwrap().len() / 2).unwrap();
    let refused = run(&other, &["session", "import", bad.to_str().unwrap()]);
    assert!(
        refused.code != 0 && refused.err.contains("not an archive of a session"),
        "{}",
        refused.err
    );
}

#[test]
fn contract_7_what_is_missing_is_told() {
    let Some(daemon) = daemon() else { return };
    assert_eq!(run(&daemon, &["session", "show", "nothing-1"]).code, 2);
    let id = searched(&daemon, "lanterns", "lantern");
    let lines = daemon.home.path().join("sessions").join(&id).join("trajectory.ndjson");
    write(&lines, "{}\n");
    let damaged = run(&daemon, &["session", "replay", &id]);
    assert!(damaged.code != 0 && damaged.err.contains("is damaged"), "{}", damaged.err);
    well(&daemon, &["session", "purge", &id]);
    let mut command = daemon.home.command(&["doctor", "--json"]);
    let out = command.env("COMMIS_CHROMIUM", "/nowhere/chromium").output().unwrap();
    assert!(!out.status.success());
}

/// The daemon is killed while a session is recorded: what was done is there, and says that it was interrupted.
#[test]
fn a_session_outlives_its_daemon() {
    let Some(daemon) = daemon() else { return };
    let it = data(&daemon, &["session", "record", "cut", "https://shop.test/", "--json"]);
    let id = it["id"].as_str().unwrap().to_owned();
    well(&daemon, &["browse", "fill", "searchbox \"Search products\"", "lantern"]);
    let home = daemon.kill();
    let daemon = Daemon::start_in(home, &["--testbed"]);
    let shown = data(&daemon, &["session", "show", &id, "--json"]);
    assert_eq!(shown["session"]["state"], "interrupted", "{shown}");
    assert_eq!(shown["actions"].as_array().unwrap().len(), 2);
    assert_eq!(data(&daemon, &["session", "replay", &id, "--json"])["verdict"], "pass");
}

#[test]
fn the_doctor_finds_all_seven_contracts_held() {
    let Some(daemon) = daemon() else { return };
    let it = data(&daemon, &["session", "doctor", "--json"]);
    assert_eq!((&it["passed"], &it["failed"]), (&json!(7), &json!(0)), "{it}");
}
