//! Reasons not to choose a candidate, however well its request fits: its answer is not the data, or it was asked for something
//! else.
//!
//! A request says what was wanted and nothing of what came. Where no second recording and no page speaks for an answer, it has
//! to look like data.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::Value;
use url::Url;

use super::{
    extraction::has_only_what_stands_beside,
    rank::{Scored, is_further_page, operation},
    terms::Terms,
};
use crate::{
    artifacts::{
        payloads::Candidate,
        recording::{BodyStatus, Excerpt, Exchange, RequestBody, ResourceType, SessionRecording},
    },
    blocks::asks_for_one,
};

/// The page showed so much of an answer, in thousandths, that it is data.
const SHOWN: i32 = 300;
/// Thousandths of the task's nouns that a request does not name.
const NOUNS_OFF: i32 = 500;
/// Values of an object that is more than an error's.
const MIN_FACTS: usize = 3;
/// Values of a receipt for work that goes on.
const MAX_RECEIPT: usize = 10;
/// Per cent of a list's objects that describe columns, for it to describe a table.
const COLUMNS: usize = 80;
/// Names of query pairs and fields that say how many items are wanted.
const LIMITS: &[&str] =
    &["limit", "size", "rows", "per_page", "perpage", "pagesize", "hitsperpage", "count", "first"];

/// Why the best candidate may not be chosen, in a sentence.
pub fn doubt(ranked: &[(Candidate, Scored<'_>)], recording: &SessionRecording) -> Option<String> {
    let (top, others) = ranked.split_first()?;
    if share(&top.1, "follows_input") > 0 {
        return None;
    }
    let terms = Terms::new(&recording.task, &[]);
    asked_for_something_else(top, others, recording, &terms)
        .or_else(|| no_data(&top.1, recording, &terms).map(str::to_owned))
}

fn share(it: &Scored<'_>, name: &str) -> i32 {
    it.shares.get(name).copied().unwrap_or(0)
}

fn asked_for_something_else(
    top: &(Candidate, Scored<'_>),
    others: &[(Candidate, Scored<'_>)],
    recording: &SessionRecording,
    terms: &Terms,
) -> Option<String> {
    // A synonym of what is asked for is no other kind of thing when nothing else could be meant.
    let typed = !recording.typed.is_empty();
    let alone = typed
        && !top.1.after_search
        && others.iter().all(|it| share(&it.1, "typed_in_request") == 0);
    if let Some(word) = &top.1.aside {
        return Some(format!("it asks for `{word}`, which the task does not"));
    }
    if !typed && share(&top.1, "values_off") == 1000 && share(&top.1, "body_task_overlap") == 0 {
        return Some("neither it nor its answer holds what the task names".to_owned());
    }
    if !typed && let Some(value) = lost_value(top.1.exchange, &recording.task) {
        return Some(format!("neither it nor its answer holds `{value}`, which the task names"));
    }
    if share(&top.1, "other_collection") > 0 && !alone {
        return Some(
            "its path names another kind of thing than the task, and it names nothing that the task asks for"
                .to_owned(),
        );
    }
    if share(&top.1, "nouns_off") >= NOUNS_OFF
        && let Some(kind) = kind_beside_search(top.1.exchange, terms)
    {
        return Some(format!("it searches for `{kind}`, which the task does not ask for"));
    }
    if asks_to_suggest(&recording.task) && searches(top.1.exchange) {
        return Some("it searches, and the task asks for suggestions".to_owned());
    }
    if !terms.counts() && asks_for_no_items(top.1.exchange) {
        return Some("it asks for no items".to_owned());
    }
    let path = |it: &Exchange| it.url.split('?').next().map(str::to_owned);
    let told = |it: &Scored<'_>| share(it, "task_keys") + share(it, "body_task_overlap");
    let rival = others.iter().find(|(_, it)| {
        it.exchange.method == top.1.exchange.method
            && path(it.exchange) == path(top.1.exchange)
            && operation(it.exchange) == operation(top.1.exchange)
            && !is_further_page(it.exchange, top.1.exchange)
            && share(it, "has_list") >= 700
            && (recording.typed.is_empty() || share(it, "typed_in_request") > 0)
            && 100 * told(it) >= 85 * told(&top.1)
    });
    if rival.is_some() && share(&top.1, "nouns_off") >= 300 {
        return Some(
            "the same path was called in another way with an answer as good, and neither request says what the task asks for"
                .to_owned(),
        );
    }
    None
}

/// Why the answer is none, whatever was asked for.
fn no_data(top: &Scored<'_>, recording: &SessionRecording, terms: &Terms) -> Option<&'static str> {
    let exchange = top.exchange;
    let measures = &exchange.measures;
    if is_page_for_data(exchange) {
        return Some("a script asked for data and got a page");
    }
    let shown = share(top, "shown_share") > 0 || share(top, "visible_on_page") >= SHOWN;
    let counts = terms.counts();
    let one = asks_for_one(&recording.task);
    if !shown && !counts && !one && share(top, "has_list") == 0 && measures.listings.is_empty() {
        return Some("its answer holds no list, and no page showed anything of it");
    }
    if !shown && !counts && !one && has_only_what_stands_beside(&measures.lists, &recording.task) {
        return Some("the lists of its answer are what stands beside results");
    }
    let Some(Excerpt::Json(answer)) = &exchange.excerpt else { return None };
    if says_what_went_wrong(answer) {
        return Some("its answer says what went wrong");
    }
    if is_pending(answer) {
        return Some("its answer says that the work is not done");
    }
    if describes_columns(answer) {
        return Some("its answer describes the columns of a table");
    }
    if !asks_to_suggest(&recording.task) && suggests(answer, &recording.typed) {
        return Some("its answer lists ways to go on typing");
    }
    None
}

/// `Accept: application/json`, or an API's address, answered by HTML: a login, a challenge, an error.
fn is_page_for_data(exchange: &Exchange) -> bool {
    let accept = exchange.request_headers.iter().find(|it| it.name == "accept");
    let url = Url::parse(&exchange.url).ok();
    let asks_api = url.as_ref().is_some_and(|it| {
        it.host_str().is_some_and(|it| it.starts_with("api.") || it.starts_with("api-"))
            || Path::new(it.path()).extension().is_some_and(|it| it == "json")
    });
    exchange.resource_type != ResourceType::Document
        && matches!(exchange.excerpt, Some(Excerpt::Html(_)))
        && (asks_api
            || accept.is_some_and(|it| it.value.contains("json") && !it.value.contains("html")))
}

/// A word of the task that can only be a value (a digit, marks within, all capitals), and that stands nowhere.
fn lost_value<'t>(exchange: &Exchange, task: &'t str) -> Option<&'t str> {
    if exchange.body_status != BodyStatus::Captured {
        return None;
    }
    let answer = match exchange.excerpt.as_ref()? {
        Excerpt::Json(it) => it.to_string(),
        Excerpt::Html(it) | Excerpt::Text(it) => it.clone(),
    };
    let url = percent_encoding::percent_decode_str(&exchange.url).decode_utf8_lossy();
    let body = exchange.request_body.as_ref().map(|it| serde_json::to_string(it).ok());
    let said = format!("{url} {answer} {}", body.flatten().unwrap_or_default()).to_lowercase();
    let is_value = |it: &&str| {
        it.len() >= 3
            && !it.contains('.')
            && (it.bytes().any(|b| b.is_ascii_digit())
                || it.contains(['-', '/', '_'])
                || it.bytes().all(|b| b.is_ascii_uppercase()))
    };
    let parts = |it: &str| -> Vec<String> {
        let digits = it.bytes().any(|b| b.is_ascii_digit());
        it.to_lowercase()
            .split(|c: char| !c.is_alphanumeric())
            .filter(|it| it.len() >= 3 && (!digits || it.bytes().any(|b| b.is_ascii_digit())))
            .map(str::to_owned)
            .collect()
    };
    task.split(|c: char| c.is_whitespace() || "\",()".contains(c))
        .map(|it| it.trim_matches(|c: char| ".,:;?!'".contains(c)))
        .filter(is_value)
        .find(|it| parts(it).iter().any(|part| !said.contains(part.as_str())))
}

/// `/teams/search`, `/search/teams`: a kind that the task does not name.
fn kind_beside_search(exchange: &Exchange, terms: &Terms) -> Option<String> {
    const GENERAL: &[&str] = &[
        "rest", "data", "public", "search", "find", "query", "lookup", "index", "indexes", "pages",
        "services", "json", "graphql", "default", "results", "ajax", "html",
    ];
    let url = Url::parse(&exchange.url).ok()?;
    let segments: Vec<String> = url
        .path_segments()?
        .map(|it| it.split('.').next().unwrap_or(it).to_ascii_lowercase())
        .filter(|it| !it.is_empty())
        .collect();
    let searches = |it: &String| ["search", "find", "query", "lookup"].contains(&it.as_str());
    let at = segments.iter().position(searches)?;
    let before = at.checked_sub(1).and_then(|it| segments.get(it));
    let is_kind = |it: &&String| {
        it.len() >= 4
            && it.bytes().all(|b| b.is_ascii_lowercase() || b == b'_' || b == b'-')
            && !GENERAL.contains(&it.as_str())
            && !url.host_str().is_some_and(|host| host.contains(it.as_str()))
            && !it.split(['_', '-']).any(|it| terms.ask_for(it))
    };
    before.into_iter().chain(segments.get(at + 1)).find(is_kind).cloned()
}

fn asks_to_suggest(text: &str) -> bool {
    let low = text.to_lowercase();
    ["suggest", "complet", "typeahead"].iter().any(|it| low.contains(it))
}

/// The last segment of its path is `search`, and nothing of the request says that it suggests.
fn searches(exchange: &Exchange) -> bool {
    let url = Url::parse(&exchange.url).ok();
    let last = url.as_ref().and_then(|it| it.path_segments()?.next_back().map(str::to_owned));
    let body = exchange.request_body.as_ref().and_then(|it| serde_json::to_string(it).ok());
    last.is_some_and(|it| it.split('.').next() == Some("search"))
        && !asks_to_suggest(&exchange.url)
        && !body.is_some_and(|it| asks_to_suggest(&it))
}

fn asks_for_no_items(exchange: &Exchange) -> bool {
    let is_none = |name: &str, value: &str| {
        value == "0" && LIMITS.contains(&name.to_ascii_lowercase().as_str())
    };
    let url = Url::parse(&exchange.url).ok();
    let in_url = url.iter().flat_map(Url::query_pairs).any(|it| is_none(&it.0, &it.1));
    in_url
        || match &exchange.request_body {
            Some(RequestBody::Json(Value::Object(fields))) => {
                fields.iter().any(|(name, value)| is_none(name, &value.to_string()))
            }
            Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
                fields.iter().any(|it| is_none(&it.name, &it.value))
            }
            _ => false,
        }
}

/// An error, or a failure, and beside it nothing that could be data.
fn says_what_went_wrong(answer: &Value) -> bool {
    const ERRORS: &[&str] =
        &["error", "errors", "fault", "exception", "error_message", "errormessage"];
    let Value::Object(fields) = answer else { return false };
    let is_error = |key: &str| ERRORS.contains(&key.to_ascii_lowercase().as_str());
    let says = |it: &Value| match it {
        Value::Null | Value::Bool(false) => false,
        Value::String(it) => !it.is_empty(),
        Value::Array(it) => !it.is_empty(),
        Value::Object(it) => !it.is_empty(),
        other => other.as_f64() != Some(0.0),
    };
    // Problem details, RFC 9457.
    let is_problem = |key: &str, it: &Value| {
        ["status", "code", "statuscode"].contains(&key)
            && it.as_u64().is_some_and(|it| (400..600).contains(&it))
    };
    let failed = fields.iter().any(|(key, it)| {
        (is_error(key) && says(it))
            || is_problem(&key.to_ascii_lowercase(), it)
            || (["success", "ok"].contains(&key.to_ascii_lowercase().as_str())
                && *it == Value::Bool(false))
    });
    let is_data = |it: &Value| {
        outer_lists(it).iter().any(|it| it.iter().any(|it| it.is_object() || it.is_array()))
            || (it.is_object() && facts(it) >= MIN_FACTS)
    };
    failed && !fields.iter().any(|(key, it)| !is_error(key) && is_data(it))
}

/// The work is not done: whoever asks again later gets the answer.
fn is_pending(answer: &Value) -> bool {
    const STATES: &[&str] = &[
        "accepted",
        "queued",
        "pending",
        "running",
        "processing",
        "in_progress",
        "scheduled",
        "started",
        "waiting",
    ];
    let Value::Object(fields) = answer else { return false };
    let state = fields.iter().any(|(key, it)| {
        let key = key.to_ascii_lowercase();
        ["status", "state"].iter().any(|end| key.ends_with(end))
            && it.as_str().is_some_and(|it| STATES.contains(&it.to_ascii_lowercase().as_str()))
    });
    state && facts(answer) <= MAX_RECEIPT
}

/// Names of columns with the types of what stands in them.
fn describes_columns(answer: &Value) -> bool {
    const TYPES: &[&str] = &[
        "string",
        "integer",
        "int",
        "number",
        "boolean",
        "bool",
        "float",
        "double",
        "date",
        "datetime",
        "object",
        "array",
        "text",
        "varchar",
        "scalar",
        "timestamp",
    ];
    let is_type = |(key, it): (&String, &Value)| {
        let key = key.to_ascii_lowercase();
        ["type", "kind", "format"].iter().any(|end| key.ends_with(end))
            && it.as_str().is_some_and(|it| TYPES.contains(&it.to_ascii_lowercase().as_str()))
    };
    let describes = |it: &Value| {
        it.as_object().is_some_and(|fields| {
            let inner = fields.values().filter_map(Value::as_object).flatten();
            fields.iter().chain(inner).any(is_type)
        })
    };
    outer_lists(answer).iter().any(|all| {
        let columns = all.iter().filter(|it| describes(it)).count();
        all.len() >= 2 && all.iter().all(Value::is_object) && columns * 100 >= all.len() * COLUMNS
    })
}

/// Two thirds of its longest list begin with what was typed, and say nothing else.
fn suggests(answer: &Value, typed: &BTreeMap<String, String>) -> bool {
    let typed: BTreeSet<String> = typed
        .values()
        .map(|it| it.trim_matches('"').to_lowercase())
        .filter(|it| !it.is_empty())
        .collect();
    // `["typed", ["one", "two"]]`
    let lists = match answer {
        Value::Array(all) if all.first().is_some_and(Value::is_string) => {
            all.iter().skip(1).flat_map(outer_lists).collect()
        }
        other => outer_lists(other),
    };
    let Some(longest) = lists.into_iter().max_by_key(|it| it.len()) else { return false };
    let text = |it: &'_ Value| -> Option<String> {
        match it {
            Value::String(it) => Some(it.to_lowercase()),
            Value::Array(all) => all.first()?.as_str().map(str::to_lowercase),
            Value::Object(fields) if fields.len() == 1 => {
                fields.values().next()?.as_str().map(str::to_lowercase)
            }
            _ => None,
        }
    };
    let texts: Option<Vec<String>> = longest.iter().map(text).collect();
    texts.is_some_and(|all| {
        let goes_on = |it: &&String| typed.iter().any(|typed| it.starts_with(typed.as_str()));
        all.len() >= 2 && 3 * all.iter().filter(goes_on).count() >= 2 * all.len()
    })
}

/// Lists that stand in no other.
fn outer_lists(value: &Value) -> Vec<&Vec<Value>> {
    match value {
        Value::Array(all) => vec![all],
        Value::Object(fields) => fields.values().flat_map(outer_lists).collect(),
        _ => Vec::new(),
    }
}

/// Values within, not counting those that are null.
fn facts(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Array(all) => all.iter().map(facts).sum(),
        Value::Object(fields) => fields.values().map(facts).sum(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_went_wrong_is_no_data() {
        for (answer, expected) in [
            (json!({"error": {"code": 404, "message": "no such thing", "id": "x"}}), true),
            (json!({"errors": [{"message": "boom", "path": ["a"]}], "data": null}), true),
            (json!({"success": false, "reason": "quota"}), true),
            (
                json!({"title": "Gone", "status": 410, "detail": "It was here", "traceId": "a"}),
                true,
            ),
            (json!({"status": 200, "text": "fine"}), false),
            (json!({"error": null, "items": []}), false),
            (json!({"errors": [{"message": "partly"}], "data": {"items": [{"a": 1}]}}), false),
            (json!({"ok": true, "result": {"a": 1}}), false),
        ] {
            assert_eq!(says_what_went_wrong(&answer), expected, "{answer}");
        }
    }

    #[test]
    fn a_receipt_is_no_answer() {
        assert!(is_pending(&json!({"job": "1c", "state": "queued", "poll": "/jobs/1c"})));
        assert!(!is_pending(&json!({"id": 7, "title": "Mend the crane", "state": "open"})));
    }

    #[test]
    fn columns_are_no_rows() {
        assert!(describes_columns(
            &json!({"fields": [{"name": "id", "type": "integer"}, {"name": "t", "type": "text"}]})
        ));
        assert!(!describes_columns(
            &json!({"hits": [{"name": "id", "type": "post"}, {"name": "t", "type": "page"}]})
        ));
    }

    #[test]
    fn ways_to_go_on_typing() {
        let typed = |it: &str| BTreeMap::from([("q".to_owned(), it.to_owned())]);
        assert!(suggests(&json!(["lam", ["lamp", "lamb", "lamella"]]), &typed("lam")));
        assert!(suggests(&json!({"s": [{"text": "lamp"}, {"text": "lamb"}]}), &typed("lam")));
        assert!(!suggests(
            &json!({"s": [{"text": "a red lamp"}, {"text": "lamb"}]}),
            &typed("lam")
        ));
        assert!(!suggests(
            &json!([{"t": "lamp", "price": 7}, {"t": "lamb", "price": 9}]),
            &typed("lam")
        ));
    }
}
