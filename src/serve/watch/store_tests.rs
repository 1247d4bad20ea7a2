//! What is kept of watches: runs that are made once, history that is whole and bounded.

use serde_json::json;

use super::*;

const HOUR: i64 = 3_600_000;

fn watch(name: &str, host: &str, next_ms: i64) -> Watch {
    let request = Request {
        recipe: "shop".to_owned(),
        params: [("query".to_owned(), "lamp".to_owned())].into(),
        every: "1h".to_owned(),
        on: vec!["change:price".to_owned()],
        key: None,
        notify: Vec::new(),
        quiet_hours: None,
        login: None,
    };
    Watch {
        watch: name.to_owned(),
        request,
        paused: false,
        private: false,
        key_found: Vec::new(),
        created_ms: 1,
        next_ms,
        running: false,
        last_run_ms: None,
        last_ok_ms: None,
        items: None,
        failures: 0,
        error_code: None,
        error: None,
        principal: "root".to_owned(),
        host: host.to_owned(),
        every_ms: HOUR,
        validators: None,
        key: Key::default(),
    }
}

fn finished(outcome: Outcome, next_ms: i64) -> Finished {
    Finished {
        outcome,
        failure: None,
        items: Some(2),
        differences: Vec::new(),
        took_ms: 5,
        next_ms,
        baseline: None,
        validators: None,
        notifications: Vec::new(),
    }
}

async fn due(store: &Store, now: i64) -> Vec<String> {
    let all = store.due(now, |_| Some(true)).await.unwrap().0;
    all.into_iter().map(|it| it.0).collect()
}

#[tokio::test]
async fn a_due_run_is_made_once_also_when_the_daemon_dies_in_it() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    store.add(watch("a", "a.test", 100), 10).await.unwrap();
    assert_eq!(due(&store, 99).await, [""; 0]);
    assert_eq!(store.due(50, |_| Some(true)).await.unwrap().1, Some(100));
    assert_eq!(due(&store, 100).await, ["a"]);
    assert!(store.claim("a", 100).await.unwrap());
    assert!(!store.claim("a", 101).await.unwrap(), "one run at a time");
    assert_eq!(due(&store, 5 * HOUR).await, [""; 0]);
    // The process is gone; what it claimed is made again, and that is in the history.
    drop(store);
    let store = Store::open(home.path()).unwrap();
    assert_eq!(store.recover(200).unwrap(), 1);
    assert_eq!(due(&store, 200).await, ["a"]);
    assert!(store.claim("a", 200).await.unwrap());
    let ended = finished(Outcome::First, 200 + HOUR);
    // A run that was claimed by another process is not written down.
    assert_eq!(store.finish("a", 100, 210, finished(Outcome::First, 1)).await.unwrap(), None);
    assert!(store.finish("a", 200, 210, ended).await.unwrap().is_some());
    assert_eq!(store.recover(300).unwrap(), 0);
    assert_eq!(due(&store, HOUR).await, [""; 0], "once");
    // After hours without a daemon one run is due, not several.
    assert_eq!(due(&store, 9 * HOUR).await, ["a"]);
    let log = store.log("a", 10, false).await.unwrap();
    let outcomes: Vec<Outcome> = log.iter().map(|it| it.outcome).collect();
    assert_eq!(outcomes, [Outcome::First, Outcome::Interrupted]);
}

#[tokio::test]
async fn a_run_is_written_down_with_all_that_belongs_to_it() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    store.add(watch("a", "a.test", 0), 10).await.unwrap();
    let key = Key { paths: vec!["id".to_owned()], is_settled: true, ..Key::default() };
    let changed = Difference {
        kind: Kind::Changed,
        key: "7".to_owned(),
        path: "price".to_owned(),
        old: Some(json!(5)),
        new: Some(json!("x".repeat(10_000))),
    };
    store.claim("a", 10).await.unwrap();
    let it = Finished {
        differences: vec![changed],
        baseline: Some((vec![json!({"id": 7})], key.clone())),
        validators: Some(Validators { etag: Some("e".to_owned()), last_modified: None }),
        notifications: vec![("webhook".to_owned(), 30, "{}".to_owned())],
        ..finished(Outcome::Changed, HOUR)
    };
    store.finish("a", 10, 20, it).await.unwrap();
    let it = store.get("a").await.unwrap();
    assert_eq!((it.key, it.items, it.last_ok_ms), (key, Some(2), Some(20)));
    assert_eq!(it.validators.unwrap().etag.as_deref(), Some("e"));
    assert_eq!(store.baseline("a").await.unwrap(), Some((vec![json!({"id": 7})], 20)));
    let run = store.log("a", 1, true).await.unwrap().pop().unwrap();
    assert_eq!((run.changed, run.changes.len()), (1, 1));
    let new = run.changes[0].new.as_ref().unwrap().as_str().unwrap();
    assert!(new.len() < 2000 && new.ends_with('…'), "a long value is cut");
    assert_eq!(store.of_item("a", "7").await.unwrap()[0].old, Some(json!(5)));
    // What waits is sent, or tried again, and is gone with the watch.
    assert_eq!(store.to_send(29).await.unwrap(), (None, Some(30)));
    let waiting = store.to_send(30).await.unwrap().0.unwrap();
    store.record_sent(waiting.id, Some(50)).await.unwrap();
    assert_eq!(store.to_send(40).await.unwrap(), (None, Some(50)));
    assert_eq!(store.to_send(50).await.unwrap().0.unwrap().tries, 1);
    store.remove("a").await.unwrap();
    assert_eq!(store.to_send(50).await.unwrap(), (None, None));
    assert_eq!(store.get("a").await.unwrap_err().code(), Code::WatchNotFound);
}

#[tokio::test]
async fn history_is_bounded_and_runs_without_a_change_are_one_line() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    store.add(watch("a", "a.test", 0), 10).await.unwrap();
    let run = async |at: i64, it: Finished| {
        store.claim("a", at).await.unwrap();
        store.finish("a", at, at, it).await.unwrap();
    };
    for at in 0..5 {
        run(at, finished(Outcome::Unchanged, 0)).await;
    }
    let failed = || Finished {
        failure: Some((Code::Timeout, "late".to_owned())),
        ..finished(Outcome::Failed, 0)
    };
    run(5, failed()).await;
    run(6, failed()).await;
    let log = store.log("a", 10, false).await.unwrap();
    assert_eq!(log.iter().map(|it| (it.runs, it.until_ms)).collect::<Vec<_>>(), [(2, 6), (5, 4)]);
    let it = store.get("a").await.unwrap();
    assert_eq!(
        (it.failures, it.error_code.as_deref(), it.last_ok_ms),
        (2, Some("TIMEOUT"), Some(4))
    );
    let change = |n: i64| Difference {
        kind: Kind::Added,
        key: n.to_string(),
        path: String::new(),
        old: None,
        new: Some(json!(n)),
    };
    for at in 10..20 {
        run(at, Finished { differences: vec![change(at)], ..finished(Outcome::Changed, 0) }).await;
    }
    store.prune(None, 4).unwrap();
    assert_eq!(store.of_item("a", "15").await.unwrap().len(), 0);
    assert_eq!(store.of_item("a", "16").await.unwrap().len(), 1);
    store.prune(Some(18), 4).unwrap();
    assert_eq!(store.log("a", 100, false).await.unwrap().len(), 2);
    assert_eq!(store.of_item("a", "17").await.unwrap().len(), 0);
}

#[tokio::test]
async fn names_are_used_once_and_there_is_a_most() {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open(home.path()).unwrap();
    store.add(watch("a", "a.test", 5), 2).await.unwrap();
    let again = store.add(watch("a", "a.test", 5), 2).await.unwrap_err();
    assert_eq!(again.code(), Code::WatchExists);
    store.add(watch("b", "b.test", 4), 2).await.unwrap();
    let more = store.add(watch("c", "c.test", 5), 2).await.unwrap_err();
    assert_eq!(more.code(), Code::WatchLimit);
    assert_eq!(due(&store, 10).await, ["b", "a"], "the longest due first");
    store.pause("b", true, 0).await.unwrap();
    assert_eq!((due(&store, 10).await, store.active().unwrap()), (vec!["a".to_owned()], 1));
    store.pause("b", false, 70).await.unwrap();
    assert_eq!(store.get("b").await.unwrap().next_ms, 70);
    store.pause("b", false, 90).await.unwrap();
    assert_eq!(store.get("b").await.unwrap().next_ms, 70, "it was not paused");
}
