//! Kept runs: what is written, what is read of whatever stands in the folder, comparing, graduating, and how long they stay.

use std::{os::unix::fs::symlink, path::Path};

use serde_json::{Value, json};

use super::*;
use crate::{RunEvent, Usage};
use commis_base::{
    error::{Code, Error},
    files,
};
use commis_state::now_ms;

const ID: &str = "r0123456789ab";

fn record(run: &str) -> RunRecord {
    RunRecord {
        run: run.into(),
        process: "7-70".into(),
        task: "Buy a lantern".into(),
        page: "http://shop.test/".into(),
        ..RunRecord::default()
    }
}

fn begun(folder: &Path) -> Journal {
    let head =
        json!({"kind": "begin", "run": ID, "task": "Buy a lantern", "url": "http://shop.test/"});
    Journal::begin(folder, record(ID), &head)
}

fn act(turn: u32, act: &str) -> RunEvent {
    RunEvent::Act { turn, act: act.into(), page: "http://shop.test/cart".into() }
}

fn model(turn: u32) -> RunEvent {
    RunEvent::Model { turn, text: String::new(), calls: 1, tokens_in: 100, tokens_out: 10 }
}

fn did(turn: u32, failed: bool) -> RunEvent {
    RunEvent::Did { turn, text: "clicked".into(), failed }
}

fn ending(status: RunStatus, reason: &str) -> RunSummary {
    RunSummary {
        status,
        reason: reason.into(),
        detail: None,
        usage: Usage { turns: 2, tokens_in: 200, tokens_out: 20 },
        cost: None,
        ms: 40,
        page: "http://shop.test/thanks".into(),
        answer: Some(json!("R-1")),
    }
}

/// As the process reads it that does it.
fn read(folder: &Path) -> StoredRun {
    load_stored_run(folder, ID, (Some("7-70"), now_ms())).unwrap().unwrap()
}

#[test]
fn a_run_says_where_it_is_and_what_it_came_to() {
    let at = tempfile::tempdir().unwrap();
    let journal = begun(at.path());
    assert_eq!(read(at.path()).record.now, "opens the first page");
    for note in [model(1), act(1, "click button \"Buy\"")] {
        journal.note(&note);
    }
    let it = read(at.path()).record;
    assert_eq!((it.status, it.turns, it.tokens()), (RunStatus::Working, 1, 110));
    assert_eq!(it.now, "click button \"Buy\"");
    assert_eq!((it.page.as_str(), it.actions), ("http://shop.test/cart", 1));
    for note in [did(1, false), model(2), act(2, "complete_task success")] {
        journal.note(&note);
        let now = read(at.path()).record.now;
        assert!(["asks the model", "complete_task success"].contains(&now.as_str()), "{now}");
    }
    journal.ends(ending(RunStatus::Done, "completed"), &json!({"kind": "end"}));
    drop(journal);
    let StoredRun { record, lines, unread } = read(at.path());
    assert_eq!((record.status, record.reason.as_deref()), (RunStatus::Done, Some("completed")));
    assert_eq!(record.last_action.as_deref(), Some("click button \"Buy\""));
    assert_eq!((record.page.as_str(), record.ms), ("http://shop.test/thanks", 40));
    assert_eq!((record.actions, lines.len(), unread.len()), (1, 7, 0));
}

#[test]
fn one_that_died_is_told_from_one_that_thinks() {
    let it = RunRecord { at_ms: 1000, now: "click button \"Buy\"".into(), ..record(ID) };
    let check = |alive: Option<&str>, now_ms: i64, expected: RunStatus| {
        let seen = it.clone().with_current_status(alive, now_ms);
        assert_eq!(seen.status, expected, "{alive:?} {now_ms}");
        seen
    };
    // Its process lives: a model takes its time.
    check(Some("7-70"), 1_000_000, RunStatus::Working);
    check(Some("7-70"), 0, RunStatus::Working);
    check(None, 5_000, RunStatus::Working);
    let died = check(None, 35_000, RunStatus::Died);
    assert_eq!(
        died.detail.unwrap(),
        "no sign for 34 s, died before its first action (click button \"Buy\")"
    );
    let action = |last: &str, told: &str| {
        let it = RunRecord { last_action: Some(last.into()), ..it.clone() };
        assert_eq!(
            it.with_current_status(None, 35_000).detail.unwrap(),
            format!("no sign for 34 s, died {told}")
        );
    };
    action("click button \"Buy\"", "at click button \"Buy\"");
    action("goto", "after goto (click button \"Buy\")");
    // Another process of the same number.
    check(Some("7-71"), 35_000, RunStatus::Died);
    let ended = RunRecord { status: RunStatus::Done, ..it.clone() };
    assert_eq!(ended.with_current_status(None, 35_000).status, RunStatus::Done);
    let waits = RunRecord { status: RunStatus::WaitingForApproval, ..it.clone() };
    assert_eq!(waits.with_current_status(None, 35_000).status, RunStatus::Died);
}

#[test]
fn whatever_ends_a_run_is_kept() {
    let at = tempfile::tempdir().unwrap();
    let status = || {
        let it = read(at.path()).record;
        (it.status, it.reason.unwrap_or_default())
    };
    begun(at.path()).fail(&Error::new(Code::BrowserFailed, "it is gone"));
    assert_eq!(status(), (RunStatus::Failed, "BROWSER_FAILED".to_owned()));
    // Dropped without a word, as by a panic.
    drop(begun(at.path()));
    assert_eq!(status(), (RunStatus::Failed, "given_up".to_owned()));
    let journal = begun(at.path());
    journal.waits();
    journal.ends(ending(RunStatus::WaitingForApproval, "waiting_for_approval"), &json!({}));
    assert_eq!(status().0, RunStatus::WaitingForApproval);
    journal.closes(RunStatus::NotDone, "human_rejected");
    // Once.
    journal.closes(RunStatus::NotDone, "approval_expired");
    assert_eq!(status(), (RunStatus::NotDone, "human_rejected".to_owned()));
    let journal = begun(at.path());
    journal.waits();
    // Who approves may be quicker than who says that it waits.
    journal.goes_on(&json!({"kind": "approved"}));
    journal.ends(ending(RunStatus::WaitingForApproval, "waiting_for_approval"), &json!({}));
    assert_eq!(status().0, RunStatus::Working);
}

#[test]
fn secrets_are_in_neither_file() {
    let at = tempfile::tempdir().unwrap();
    let journal = begun(at.path());
    journal.note(&act(1, "fill Token value=ghp_0123456789abcdefghijklmnopqrstuvwxyz"));
    for end in ["json", "ndjson"] {
        let text = std::fs::read_to_string(at.path().join(format!("{ID}.{end}"))).unwrap();
        assert!(text.contains("fill Token") && !text.contains("ghp_0123"), "{text}");
    }
}

/// Something that stands where a file of a run belongs.
#[expect(clippy::disallowed_methods, reason = "the test plants foreign files")]
fn plant(what: &str, at: &Path, precious: &Path) {
    match what {
        "link" => symlink(precious, at).unwrap(),
        "folder" => std::fs::create_dir(at).unwrap(),
        "pipe" => {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(rustix::fs::CWD, at, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        }
        "huge" => std::fs::File::create(at).unwrap().set_len(64 << 20).unwrap(),
        "bad UTF-8" => std::fs::write(at, b"{\"run\": \"\xff\xfe\"}\n").unwrap(),
        "torn" => std::fs::write(at, b"{\"run\": \"r01234").unwrap(),
        "another's" => std::fs::write(at, b"{\"run\": \"rffffffffffff\"}").unwrap(),
        "deep" => std::fs::write(at, "[".repeat(60_000)).unwrap(),
        _ => std::fs::write(at, b"").unwrap(),
    }
}

const PLANTED: &[&str] =
    &["link", "folder", "pipe", "huge", "bad UTF-8", "torn", "another's", "deep", "empty"];

#[test]
fn what_stands_in_the_folder_is_named_and_hides_no_other_run() {
    for what in PLANTED {
        for end in ["json", "ndjson"] {
            let home = tempfile::tempdir().unwrap();
            let (runs, precious) = (home.path().join("runs"), home.path().join("precious"));
            files::write_atomic(home.path(), "precious", b"keep").unwrap();
            let journal = begun(&runs);
            journal.ends(
                ending(RunStatus::Done, "completed"),
                &json!({"kind": "end", "status": "done"}),
            );
            drop(journal);
            let file = format!("rffffffffff00.{end}");
            plant(what, &runs.join(&file), &precious);
            let RunListing { runs: all, unread } = listing(&runs, (None, now_ms())).unwrap();
            assert!(all.iter().any(|it| it.run == ID && it.status == RunStatus::Done), "{what}");
            let named = unread.iter().filter(|it| it.file == file).count();
            // An empty one says nothing, as one of a run that has only begun.
            let silent = end == "ndjson" && *what == "empty";
            // A line of JSON is a line, whoever wrote it.
            let is_line = end == "ndjson" && *what == "another's";
            assert_eq!(named, usize::from(!silent && !is_line), "{what} {end}: {unread:?}");
            let kept = load_stored_run(&runs, "rffffffffff00", (None, now_ms())).unwrap();
            assert_eq!(kept.is_none(), silent, "{what} {end}");
            assert_eq!(std::fs::read(&precious).unwrap(), b"keep");
        }
    }
    assert!(load_stored_run(Path::new("/nope"), "../../x", (None, 0)).unwrap().is_none());
}

#[test]
fn a_run_goes_on_whatever_stands_where_it_writes() {
    for what in PLANTED {
        for end in ["json", "ndjson"] {
            let home = tempfile::tempdir().unwrap();
            let (runs, precious) = (home.path().join("runs"), home.path().join("precious"));
            files::write_atomic(home.path(), "precious", b"keep").unwrap();
            files::ensure_private_dir(&runs).unwrap();
            plant(what, &runs.join(format!("{ID}.{end}")), &precious);
            let journal = begun(&runs);
            journal.note(&act(1, "click"));
            journal.beat();
            journal.ends(
                ending(RunStatus::Done, "completed"),
                &json!({"kind": "end", "status": "done"}),
            );
            drop(journal);
            assert_eq!(std::fs::read(&precious).unwrap(), b"keep", "{what}");
            // What could be written says it, by whichever file.
            let it = read(&runs);
            let both_lost = it.record.status != RunStatus::Done;
            assert!(!both_lost, "{what} {end}: {it:?}");
        }
    }
}

#[test]
fn a_folder_that_is_none_is_no_failure() {
    let home = tempfile::tempdir().unwrap();
    let runs = home.path().join("runs");
    files::write_atomic(home.path(), "runs", b"a file").unwrap();
    let journal = begun(&runs);
    journal.note(&act(1, "click"));
    journal.ends(ending(RunStatus::Done, "completed"), &json!({}));
    drop(journal);
    assert_eq!(listing(&runs, (None, 0)).unwrap_err().code(), Code::ArtifactIo);
    // It may be one later, and then the run is kept from there on.
    let journal = begun(&runs);
    std::fs::remove_file(&runs).unwrap();
    journal.ends(ending(RunStatus::Done, "completed"), &json!({}));
    assert_eq!(read(&runs).record.status, RunStatus::Done);
}

#[test]
fn what_happened_says_it_where_the_record_is_lost() {
    let at = tempfile::tempdir().unwrap();
    let journal = begun(at.path());
    for note in [model(1), act(1, "click button \"Buy\""), did(1, true), model(2)] {
        journal.note(&note);
    }
    let lost = at.path().join(format!("{ID}.json"));
    std::fs::remove_file(&lost).unwrap();
    let now = now_ms();
    // Nobody knows whose it is; it is young.
    assert_eq!(
        load_stored_run(at.path(), ID, (None, now)).unwrap().unwrap().record.status,
        RunStatus::Working
    );
    let died = load_stored_run(at.path(), ID, (None, now + 60_000)).unwrap().unwrap().record;
    assert_eq!(died.status, RunStatus::Died);
    assert!(died.detail.unwrap().contains("click button"));
    journal.ends(
        ending(RunStatus::NotDone, "gave_up"),
        &json!({"kind": "end", "status": "not_done", "reason": "gave_up", "ms": 40, "url": "http://shop.test/x"}),
    );
    let whole = read(at.path()).record;
    std::fs::remove_file(&lost).unwrap();
    let StoredRun { record: told, .. } = read(at.path());
    assert_eq!((told.turns, told.tokens(), told.ms), (2, 220, 40));
    assert_eq!(
        (told.status, told.reason, told.last_action, told.page),
        (whole.status, whole.reason, whole.last_action, "http://shop.test/x".to_owned())
    );
}

fn lines(all: &[RunEvent]) -> Vec<Value> {
    all.iter().map(|it| json!({"at_ms": 1, "what": it})).collect()
}

#[test]
fn two_runs_are_compared_where_they_part() {
    let done = RunRecord { status: RunStatus::Done, turns: 3, ms: 10, ..record("r1") };
    let not = RunRecord {
        status: RunStatus::NotDone,
        reason: Some("gave_up".into()),
        last_action: Some("click button \"Help\"".into()),
        turns: 2,
        ..record("r2")
    };
    let one = lines(&[
        act(1, "fill"),
        did(1, false),
        act(2, "click"),
        did(2, false),
        act(3, "complete_task"),
    ]);
    let two = lines(&[act(1, "fill"), did(1, false), act(2, "click"), did(2, true)]);
    let it = compare((&done, &one), (&not, &two));
    assert_eq!(it.part_at, Some(2));
    let pair = |same, first: &str, second: &str| ActionPair {
        same,
        first: Some(first.to_owned()).filter(|it| !it.is_empty()),
        second: Some(second.to_owned()).filter(|it| !it.is_empty()),
    };
    let expected = [
        pair(true, "fill", "fill"),
        pair(false, "click", "click (failed)"),
        pair(false, "complete_task", ""),
    ];
    assert_eq!(it.actions, expected);
    assert_eq!(it.better, Some(Side::First));
    assert_eq!(
        it.why,
        "the first was better: it was done, the other was not done (gave_up, at click button \"Help\")"
    );
    let names: Vec<&str> = it.differs.iter().map(|it| it.what.as_str()).collect();
    assert_eq!(names, ["status", "reason", "last action", "turns", "ms"]);
}

#[test]
fn what_is_better_is_said_in_a_sentence() {
    let done =
        RunRecord { status: RunStatus::Done, turns: 3, tokens_in: 100, ms: 10, ..record("r1") };
    let check = |a: &RunRecord, b: &RunRecord, side: Option<Side>, why: &str| {
        let it = compare((a, &[]), (b, &[]));
        assert_eq!((it.better, it.why.as_str()), (side, why));
    };
    check(&done, &done, None, "they are alike");
    let fewer = RunRecord { turns: 2, tokens_in: 900, ..done.clone() };
    check(
        &done,
        &fewer,
        Some(Side::Second),
        "the second was better: both got as far, it took 2 turns instead of 3",
    );
    let dearer = RunRecord { tokens_in: 150, answer: Some(json!("x")), ..done.clone() };
    check(
        &done,
        &dearer,
        Some(Side::First),
        "the first was better: both got as far, it took 100 tokens instead of 150, but they answer differently",
    );
    let other = RunRecord { task: "Sell a lantern".into(), ..done.clone() };
    check(&done, &other, None, "they are of two tasks, so neither was better");
    let died =
        RunRecord { status: RunStatus::Died, last_action: Some("click".into()), ..done.clone() };
    check(
        &died,
        &died,
        None,
        "neither was better: the first died, at click, the second died, at click",
    );
    let waits = RunRecord { status: RunStatus::WaitingForApproval, ..done.clone() };
    check(
        &waits,
        &died,
        Some(Side::First),
        "the first was better: it waits for approval, the other died, at click",
    );
}

#[test]
fn sets_are_compared_task_by_task() {
    use RunStatus::{Died, Done, NotDone};
    let run = |task: &str, begun_ms: i64, status: RunStatus, turns: u32| RunRecord {
        task: task.into(),
        begun_ms,
        status,
        turns,
        ..RunRecord::default()
    };
    let all = [
        run("a", 1, Done, 4),
        run("a", 2, NotDone, 4),
        run("a", 11, Done, 4),
        run("b", 1, Done, 8),
        run("b", 12, Done, 4),
        run("c", 1, Done, 4),
        run("d", 1, Done, 4),
        run("d", 13, Died, 1),
        run("e", 1, Done, 20),
        run("e", 14, Done, 20),
    ];
    let told: Vec<_> = apart(&all, 10).into_iter().map(|it| (it.task, it.better, it.why)).collect();
    let expected = [
        ("a", Some(Side::Second), "better since: 1 of 1 done instead of 1 of 2 done"),
        ("b", Some(Side::Second), "better since: as many done, in 4.0 turns instead of 8.0"),
        ("d", Some(Side::First), "worse since: 0 of 1 done instead of 1 of 1 done"),
        ("e", None, "as before"),
    ];
    assert_eq!(told, expected.map(|it| (it.0.to_owned(), it.1, it.2.to_owned())));
    let it = totals(&all);
    assert_eq!((it.runs, it.done, it.not_done, it.died, it.turns), (10, 8, 1, 1, 7.3));
    assert_eq!(totals([]), RunTotals::default());
}

#[test]
fn a_playbook_graduates_by_two_of_three_and_loses_it_the_same_way() {
    let book = PlaybookRef { name: "buy".into(), digest: "0011".into() };
    let run = |told: &str| {
        let (status, reason) = told.split_once(':').unwrap_or((told, ""));
        RunRecord {
            playbook: Some(book.clone()),
            status: serde_json::from_value(json!(status)).unwrap(),
            reason: Some(reason.into()),
            ..RunRecord::default()
        }
    };
    // Newest first.
    for (runs, graduated, passed, of) in [
        ("", false, 0, 0),
        ("done", false, 1, 1),
        ("done done", true, 2, 2),
        ("not_done:gave_up done done", true, 2, 3),
        ("not_done:gave_up not_done:gave_up done done", false, 1, 3),
        ("done not_done:gave_up not_done:gave_up done done", false, 1, 3),
        ("done not_done:gave_up done not_done:gave_up", true, 2, 3),
        ("not_done:gave_up done done done", true, 2, 3),
        // One that died did not pass.
        ("died died done done", false, 1, 3),
        ("needs_person needs_person done done", false, 1, 3),
        ("failed:CONNECT_FAILED failed:URL_BLOCKED done done", false, 1, 3),
        // These say nothing of a playbook.
        ("dry_run:dry_run working waiting_for_approval done done", true, 2, 2),
        ("not_done:human_rejected not_done:llm_error not_done:mcp_error done done", true, 2, 2),
        (
            "not_done:approval_expired failed:CANCELLED failed:BROWSER_FAILED failed:given_up done",
            false,
            1,
            1,
        ),
    ] {
        let all: Vec<RunRecord> = runs.split_whitespace().map(run).collect();
        assert_eq!(graduation(&book, &all), Graduation { graduated, passed, of }, "{runs}");
        // Another text, another playbook, and none.
        let others = [("buy", "ffff"), ("sell", "0011")];
        let others = others.map(|it| Some(PlaybookRef { name: it.0.into(), digest: it.1.into() }));
        let more =
            others.into_iter().chain([None]).map(|playbook| RunRecord { playbook, ..run("done") });
        let all: Vec<RunRecord> = more.chain(all).collect();
        assert_eq!(graduation(&book, &all), Graduation { graduated, passed, of }, "{runs}");
    }
}

#[test]
fn old_runs_go_and_nothing_else_does() {
    let at = tempfile::tempdir().unwrap();
    let dir = files::open_or_create(at.path()).unwrap();
    let id = |n: usize| format!("r{n:012x}");
    for n in 0..1005 {
        dir.write_unsynced(&format!("{}.json", id(n)), b"{}").unwrap();
    }
    for name in ["receipt-news.json", "notes.txt", "rfoo.json"] {
        dir.write_unsynced(name, b"{}").unwrap();
    }
    // Two of one run, a picture with them.
    dir.write_unsynced(&format!("{}.ndjson", id(3)), b"{}").unwrap();
    dir.write_unsynced(&format!("do-{}-1.png", id(3)), b"x").unwrap();
    symlink("/nowhere", at.path().join(format!("{}.json", id(9000)))).unwrap();
    let now = now_ms();
    assert_eq!(sweep(at.path(), 30, now).unwrap(), 0, "they are of this hour");
    let day = 24 * 60 * 60 * 1000;
    assert_eq!(sweep(at.path(), 30, now + day).unwrap(), 6, "a thousand stay");
    assert_eq!(sweep(at.path(), 0, now + 300 * day).unwrap(), 0);
    assert_eq!(sweep(at.path(), 30, now + 31 * day).unwrap(), 1000);
    assert_eq!(dir.names().unwrap(), ["notes.txt", "receipt-news.json", "rfoo.json"]);
    assert_eq!(sweep(&at.path().join("none"), 30, now).unwrap(), 0);
}
