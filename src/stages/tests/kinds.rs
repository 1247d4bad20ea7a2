//! Answers of another kind than the task names, and ids that other answers name.

use super::*;
use crate::{doubts::doubts, rank::order};
use commis_artifacts::payloads::SecondRecording;

/// A session without anything typed, in which nobody saw the page.
fn record_task(task: &str, entries: Vec<Entry>) -> SessionRecording {
    let mut out = session(&[], "", entries);
    task.clone_into(&mut out.task);
    out
}

/// Kinds of doubt about the candidate with this path, were it the best, and its signals.
fn judged(recording: &SessionRecording, path: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let all = order(recording, &SecondRecording::default(), &RankingSettings::default()).ranked;
    let at = all
        .iter()
        .position(|it| {
            it.1.exchange.url.ends_with(path) || it.1.exchange.url.contains(&format!("{path}?"))
        })
        .unwrap();
    let signals = all[at].1.shares.keys().copied().collect();
    (doubts(&all, at, recording).iter().map(|it| it.kind).collect(), signals)
}

#[track_caller]
fn check(task: &str, entries: &[Entry], path: &str, doubt: &str, expected: bool) {
    let recording = record_task(task, entries.to_vec());
    let (found, _) = judged(&recording, path);
    assert_eq!(found.contains(&doubt), expected, "{task}: {path}: {found:?}");
}

fn list(kind: &str) -> Value {
    let item = |n: u32| {
        let owner = json!({"kind": "user", "name": format!("owner {n}")});
        json!({"kind": kind, "id": n, "title": format!("title {n}"), "user": owner})
    };
    json!({"collection": (1..=6).map(item).collect::<Vec<_>>()})
}

#[test]
fn items_that_say_they_are_of_another_kind() {
    let entries = [get("http://music.test/search/tracks?q=lamp", &list("track"))];
    check("Search users for lamp", &entries, "/tracks", "other_kind", true);
    check("Search tracks for lamp", &entries, "/tracks", "other_kind", false);
    // Nothing of the site has the kind that the task names, by this word.
    check("Search singers for lamp", &entries, "/tracks", "other_kind", false);
    let entries = [get("http://music.test/search/people?q=lamp", &list("user"))];
    check("Search users for lamp", &entries, "/people", "other_kind", false);
}

#[test]
fn a_path_that_goes_on_to_a_part() {
    let activity = json!([{"message": "moved", "at": "noon"}, {"message": "made", "at": "one"}]);
    let is_part = |task: &str, path: &str| {
        let url = format!("http://tasks.test{path}");
        let recording = record_task(task, vec![get(url, &activity)]);
        judged(&recording, path).1.contains(&"part_of_thing")
    };
    assert!(is_part("Open the story 6672", "/v5/stories/6672/activity"));
    assert!(!is_part("Show the activity of story 6672", "/v5/stories/6672/activity"));
    // A version is no value.
    assert!(!is_part("Open the story 6672", "/stories/v1/found"));
}

#[test]
fn another_request_is_named_by_the_task() {
    let zone =
        json!({"zone": {"id": "z81", "name": "lamps.test", "servers": ["a.test", "b.test"]}});
    let known = get("http://shop.test/v5/zones/z81", &zone);
    let made =
        post("http://shop.test/v2/zones/z81/records", &json!({"type": "A"}), &json!({"uid": 7}));
    let task = "Show the records of lamps.test";
    check(task, &[known.clone(), made.clone()], "/v5/zones/z81", "named_elsewhere", true);
    check(task, std::slice::from_ref(&known), "/v5/zones/z81", "named_elsewhere", false);
    check("Show the zone lamps.test", &[known, made], "/v5/zones/z81", "named_elsewhere", false);
}

#[test]
fn an_answer_of_nothing_new() {
    let path = "http://shop.test/zones/lamps.test";
    let task = "Show records of lamps.test";
    let answer = |it: Value| [get(path, &it)];
    let echo = json!({"data": {"name": "lamps.test", "description": ""}, "meta": {}});
    check(task, &answer(echo), "/zones/lamps.test", "tells_nothing", true);
    let more = json!({"data": {"name": "lamps.test", "serial": 2041}});
    check(task, &answer(more), "/zones/lamps.test", "tells_nothing", false);
    check(task, &answer(json!({"data": []})), "/zones/lamps.test", "tells_nothing", false);
}

#[test]
fn another_value_under_the_same_name() {
    let answer = json!({"iid": 34, "risk": "none", "seen": "yesterday"});
    let entries = [get("http://threats.test/api/info?indicator=one.one.one", &answer)];
    check("Show the properties of indicator 100939", &entries, "/info", "other_value", true);
    check("Show the properties of indicator one.one.one", &entries, "/info", "other_value", false);
    let named = json!({"iid": 100_939, "risk": "none"});
    let entries = [get("http://threats.test/api/info?indicator=one.one.one", &named)];
    check("Show the properties of indicator 100939", &entries, "/info", "other_value", false);
}

#[test]
fn ids_that_another_answer_names() {
    let lists = json!({"lists": [{"id": "b675", "name": "Partners"}, {"id": "180a", "name": "Individuals"}]});
    let groups = json!({"groups": [{"title": "one"}, {"title": "two"}]});
    let recording = record_task(
        "Which groups does my Individuals audience have?",
        vec![
            get("http://mail.test/lists", &lists),
            get("http://mail.test/lists/b675/groups", &groups),
            get("http://mail.test/lists/180a/groups", &groups),
        ],
    );
    let is_named = |path: &str| judged(&recording, path).1.contains(&"id_named");
    assert!(is_named("/180a/groups"));
    assert!(!is_named("/b675/groups"));
    // What stands in the answer itself is no other answer's word.
    assert!(!judged(&recording, "test/lists").1.contains(&"id_named"));
}
