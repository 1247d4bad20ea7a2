//! Answers that were not ready: a page asked for the same until it had what it wanted.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cursors::is_kind;
use commis_artifacts::recording::{Excerpt, Exchange, SessionRecording};
use commis_recipe::{
    expression::Query,
    pagination::{equals, scalars},
    steps::Poll,
};

/// How the answer to this request says that it is ready, where the page had asked for it before in the same words and got another
/// answer. Both examples must say it so.
pub fn polled(
    (first, own): (&SessionRecording, &Exchange),
    second: (&SessionRecording, &Exchange),
) -> Option<Poll> {
    let early = |(recording, ready): (&SessionRecording, &Exchange)| -> Vec<Value> {
        let polls = earlier_polls(&recording.exchanges, ready).into_iter();
        polls.filter_map(answer_of).cloned().collect()
    };
    let mut not_ready = early((first, own));
    if not_ready.is_empty() {
        return None;
    }
    not_ready.extend(early(second));
    let ready = [answer_of(own)?, answer_of(second.1)?];
    until(&not_ready, &ready).map(|until| Poll { until, at_most: None })
}

/// Earlier requests that are the same, with nothing in between that may have changed their answer: nobody did anything on the page, and
/// it sent nothing but requests that read by their method.
fn earlier_polls<'a>(all: &'a [Exchange], ready: &Exchange) -> Vec<&'a Exchange> {
    let is_same = |it: &Exchange| {
        (&it.method, &it.url) == (&ready.method, &ready.url)
            && it.request_body == ready.request_body
    };
    let reads = |it: &Exchange| matches!(it.method.as_str(), "GET" | "HEAD" | "OPTIONS");
    let before = || all.iter().filter(|it| it.id < ready.id);
    let last_change = before().filter(|it| !reads(it) && !is_same(it)).map(|it| it.id).max();
    let is_poll = |it: &&Exchange| {
        is_same(it)
            && it.after_action == ready.after_action
            && last_change.is_none_or(|at| at < it.id)
    };
    before().filter(is_poll).collect()
}

fn answer_of(exchange: &Exchange) -> Option<&Value> {
    match exchange.excerpt.as_ref()? {
        Excerpt::Json(it) if (200..300).contains(&exchange.status.unwrap_or(200)) => Some(it),
        _ => None,
    }
}

/// A field that has one value in all answers that are ready and another in each that is not: a word or a flag before a number.
fn until(not_ready: &[Value], ready: &[&Value]) -> Option<String> {
    let early: Vec<_> = not_ready.iter().map(scalars).collect();
    let ready: Vec<_> = ready.iter().map(|it| scalars(it)).collect();
    let (one, rest) = ready.split_first()?;
    let mut found: BTreeSet<(u8, String)> = BTreeSet::new();
    for (path, value) in one {
        let order = match value {
            Value::String(it) if is_kind(it) => 0,
            Value::Bool(_) => 1,
            Value::Number(_) => 2,
            _ => continue,
        };
        let is_same = rest.iter().all(|it| it.get(path) == Some(value));
        // A field that says so later has to be there before, or its absence may mean anything.
        let tells = early.iter().all(|it| it.get(path).is_some_and(|it| it != value));
        let query = equals(path, value);
        if is_same && tells && Query::compile(&query).is_ok() {
            found.insert((order, query));
        }
    }
    found.pop_first().map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::pages::tests::exchange;

    #[track_caller]
    fn check(not_ready: &[Value], ready: &[Value], expected: Option<&str>) {
        let ready: Vec<&Value> = ready.iter().collect();
        assert_eq!(until(not_ready, &ready).as_deref(), expected);
    }

    #[test]
    fn nothing_happens_between_polls() {
        let sent = |id: u32, method: &str, action: u32| {
            let mut it = exchange(id, "q=a", None);
            (it.method, it.after_action) = (method.to_owned(), Some(action));
            it
        };
        let polls = |all: &[Exchange]| {
            earlier_polls(all, &all[all.len() - 1]).iter().map(|it| it.id).collect::<Vec<_>>()
        };
        assert_eq!(polls(&[sent(1, "GET", 1), sent(2, "GET", 1), sent(3, "GET", 1)]), [1, 2]);
        // The job is started by what is sent before.
        assert_eq!(polls(&[sent(1, "POST", 1), sent(2, "GET", 1), sent(3, "GET", 1)]), [2]);
        // A state that is read again after it was changed.
        assert_eq!(polls(&[sent(1, "GET", 1), sent(2, "PUT", 1), sent(3, "GET", 1)]), [0; 0]);
        assert_eq!(polls(&[sent(1, "GET", 1), sent(2, "GET", 2)]), [0; 0]);
        // A question by POST is its own poll.
        assert_eq!(polls(&[sent(1, "POST", 1), sent(2, "POST", 1)]), [1]);
    }

    #[test]
    fn what_says_that_an_answer_is_ready() {
        let at =
            |state: &str, progress: u32| json!({"state": state, "progress": progress, "id": 7});
        check(
            &[at("queued", 0), at("running", 60)],
            &[at("done", 100), at("done", 100)],
            Some("state == `\"done\"`"),
        );
        check(
            &[json!({"n": 3, "ok": false})],
            &[json!({"n": 9, "ok": true})],
            Some("ok == `true`"),
        );
        check(&[at("run", 10)], &[at("run", 100)], Some("progress == `100`"));
        // Of each example its own, said before too, and not said before at all.
        check(&[at("run", 10)], &[at("run", 90), at("run", 95)], None);
        check(&[at("done", 100), at("run", 10)], &[at("done", 100)], None);
        check(&[json!({"wait": true})], &[json!({"state": "done"})], None);
    }
}
