//! How an answer of a watch is judged, and what is told of it.

use crate::watch::notify::{event_body, is_told};
use serde_json::json;

use super::{super::store::Request, *};
use commis_base::error::Error;

fn watch(on: &[&str]) -> Watch {
    Watch {
        watch: "lamps".to_owned(),
        request: Request {
            recipe: "shop".to_owned(),
            params: BTreeMap::new(),
            every: "1h".to_owned(),
            on: on.iter().map(|it| (*it).to_owned()).collect(),
            key: None,
            notify: vec!["desktop".to_owned()],
            quiet_hours: None,
            login: None,
        },
        paused: false,
        private: false,
        key_found: Vec::new(),
        created_ms: 0,
        next_ms: 0,
        running: true,
        last_run_ms: None,
        last_ok_ms: None,
        items: None,
        failures: 0,
        error_code: None,
        error: None,
        principal: "root".to_owned(),
        host: "shop.test".to_owned(),
        every_ms: 3_600_000,
        validators: Some(Validators { etag: Some("\"1\"".to_owned()), last_modified: None }),
        key: Key::default(),
    }
}

fn answer(data: Value, is_whole: bool, may_be_empty: bool) -> CallResult {
    CallResult::Data { data, is_whole, may_be_empty, validators: None }
}

fn all(value: &Value) -> Option<Vec<Value>> {
    value.as_array().cloned()
}

#[test]
fn an_answer_is_compared_with_the_one_before() {
    let it = watch(&["change:items[].price"]);
    let one = json!([{"id": "a", "price": 5}, {"id": "b", "price": 7}]);
    let first = judge(&it, None, answer(one.clone(), true, false), 0);
    assert_eq!((first.outcome, first.items), (Outcome::First, Some(2)));
    let same = judge(&it, all(&one), answer(one.clone(), true, false), 0);
    assert_eq!(same.outcome, Outcome::Unchanged);
    let two = json!([{"id": "b", "price": 6}, {"id": "c", "price": 1}]);
    let changed = judge(&it, all(&one), answer(two.clone(), true, false), 0);
    let (key, kinds) = (changed.baseline.unwrap().1, &changed.differences);
    assert_eq!((key.paths, key.is_settled), (vec!["id".to_owned()], true));
    // Nobody asked for what came and went.
    assert_eq!((changed.outcome, kinds.len()), (Outcome::Changed, 1));
    assert_eq!((kinds[0].key.as_str(), kinds[0].path.as_str()), ("b", "price"));
    let every = judge(&watch(&[]), all(&one), answer(two, true, false), 0);
    assert_eq!(every.differences.len(), 3);
}

#[test]
fn nothing_that_is_not_proven_says_that_items_are_gone() {
    let it = watch(&[]);
    let one = json!([{"id": "a"}, {"id": "b"}]);
    let unproven = judge(&it, all(&one), answer(json!([]), true, false), 0);
    assert_eq!((unproven.outcome, unproven.baseline.is_none()), (Outcome::Empty, true));
    assert!(unproven.differences.is_empty() && unproven.validators.is_none());
    let proven = judge(&it, all(&one), answer(json!([]), true, true), 0);
    assert_eq!(proven.differences.len(), 2);
    let part = judge(&it, all(&one), answer(json!([{"id": "b"}]), false, false), 0);
    assert_eq!(part.outcome, Outcome::Unchanged);
    assert_eq!(part.baseline.unwrap().0.len(), 2, "what was not shown is not forgotten");
    let whole = judge(&it, all(&one), answer(json!([{"id": "b"}]), true, false), 0);
    assert_eq!(whole.differences.len(), 1);
    // Nothing again is nothing new.
    let still = judge(&it, Some(Vec::new()), answer(json!([]), true, false), 0);
    assert_eq!(still.outcome, Outcome::Unchanged);
}

#[test]
fn not_modified_is_unchanged_and_keeps_what_the_site_said() {
    let it = watch(&[]);
    let out = judge(&it, Some(vec![json!(1)]), CallResult::NotModified, 0);
    assert_eq!((out.outcome, &out.validators), (Outcome::Unchanged, &it.validators));
    assert!(out.baseline.is_none() && out.next_ms > 3_000_000);
}

#[test]
fn a_failure_is_no_change_and_somebody_is_told_once() {
    let late = ApiError::from_error(&Error::new(Code::Timeout, "late"));
    let mut told = Vec::new();
    for failures in 0..6 {
        let it = Watch { failures, ..watch(&[]) };
        let out = outcome_of_error(&it, &late, 0);
        assert!(out.differences.is_empty() && out.baseline.is_none());
        told.push(is_told(&it, &out));
    }
    assert_eq!(told, [false, false, true, false, false, false]);
    let bare = ApiError::from_error(&Error::new(Code::ExtractEmpty, "the selectors match nothing"));
    let out = outcome_of_error(&watch(&[]), &bare, 0);
    assert_eq!((out.outcome, out.items, out.baseline.is_none()), (Outcome::Empty, Some(0), true));
    assert!(out.failure.is_none(), "nobody is told of a failure");
    let own = ApiError::from_error(&Error::new(Code::RateLimited, "others kept it waiting"));
    assert!(is_our_limit(&own) && !is_our_limit(&ApiError { by_site: true, ..own }));
}

#[test]
fn values_of_an_account_are_in_no_notification() {
    let one = json!([{"id": "a", "balance": 5}]);
    let two = json!([{"id": "a", "balance": 6}]);
    for private in [false, true] {
        let it = Watch { private, ..watch(&[]) };
        let out = judge(&it, all(&one), answer(two.clone(), true, false), 0);
        let body = event_body(&it, &out, 0);
        assert_eq!(body["data"]["changed"], 1);
        assert_eq!(body["data"]["changes"].as_array().unwrap().is_empty(), private);
        assert_eq!(body.to_string().contains("balance"), !private);
    }
}

#[test]
fn what_is_too_large_to_be_kept_is_a_failure() {
    let items: Vec<Value> = (0..5).map(|n| json!({"id": n, "text": "x".repeat(1 << 20)})).collect();
    let out = judge(&watch(&[]), None, answer(items.into(), true, false), 0);
    assert_eq!(out.failure.map(|it| it.0), Some(Code::ResponseTooLarge));
    assert!(out.baseline.is_none());
}
