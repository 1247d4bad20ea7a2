//! A recorded request, judged by everything that the recording says of it.

use serde_json::Value;

use super::{
    Answer, Call, Content, Effect, PressedControl, RequestContext, answers, is_data_status, judge,
    verbs::{TEXTS, words},
};
use commis_artifacts::recording::{ActionKind, Excerpt, Exchange, RequestBody, SessionRecording};

/// Names of fields that hold a question.
const QUESTION_KEYS: &[&str] = &["query", "search", "term", "keyword", "filter", "q"];

/// Whether a recorded request may be sent again: what may change something never is.
pub fn judge_recorded(exchange: &Exchange, recording: &SessionRecording) -> Effect {
    judge_exchange(exchange, recording, true)
}

/// The same where what the task says is no evidence: the request may have been made beside it.
pub fn judge_recorded_alone(exchange: &Exchange, recording: &SessionRecording) -> Effect {
    judge_exchange(exchange, recording, false)
}

fn judge_exchange(exchange: &Exchange, recording: &SessionRecording, is_wanted: bool) -> Effect {
    let headers = exchange.request_headers.iter().map(|it| (it.name.as_str(), it.value.as_str()));
    let content = match &exchange.request_body {
        None | Some(RequestBody::Json(Value::Null)) => Content::None,
        Some(RequestBody::Json(it)) => Content::Json(it),
        Some(RequestBody::Form(all) | RequestBody::Multipart(all)) => {
            Content::Form(all.iter().map(|it| (it.name.as_str(), it.value.as_str())).collect())
        }
        Some(RequestBody::Text(it)) => Content::Bytes(it.as_bytes().into()),
        Some(RequestBody::Binary { .. }) => Content::Opaque,
    };
    let call =
        Call { method: &exchange.method, url: &exchange.url, headers: headers.collect(), content };
    // What waits for something is done to nothing.
    let before = exchange.after_action.and_then(|it| recording.actions.get(..=it as usize));
    let action = before.into_iter().flatten().rfind(|it| it.kind != ActionKind::WaitFor);
    let pressed = action.and_then(|it| {
        let name = it.name.clone()?;
        Some(PressedControl { role: it.role.clone().unwrap_or_default(), name })
    });
    let answer = answer(exchange, recording);
    let known = RequestContext {
        pressed: pressed.as_ref(),
        task: is_wanted.then_some(recording.task.as_str()),
        answer: Some(answer),
    };
    judge(&call, &known)
}

fn answer(exchange: &Exchange, recording: &SessionRecording) -> Answer {
    let typed = &recording.typed;
    let it = &exchange.measures;
    let is_receipt = match &exchange.excerpt {
        Some(Excerpt::Json(it)) => answers::is_receipt(it),
        Some(Excerpt::Html(it) | Excerpt::Text(it)) => answers::is_done(it),
        None => false,
    };
    let key = |it: &str| it.rsplit('/').next().unwrap_or("").to_owned();
    let sent = it.typed_in_request.iter().filter_map(|it| typed.get(&it.name));
    let is_filtered = match &exchange.excerpt {
        Some(Excerpt::Json(answer)) => {
            sent.clone().any(|it| answers::is_filtered(answer, it))
                && !sent_fields(exchange).is_some_and(|it| answers::names_items(&it, answer))
                && !sent.clone().any(|it| has_changed(exchange, recording, answer, it))
        }
        _ => it
            .listings
            .iter()
            .any(|it| sent.clone().any(|typed| answers::is_filtered_list(&it.sample, typed))),
    };
    let typed = || it.typed_in_request.iter().map(|it| key(&it.key));
    let is = |key: &str, list: &[&str]| {
        let one = |it: &String| list.contains(&it.strip_suffix('s').unwrap_or(it));
        list.contains(&key) || words(key).iter().any(|it| list.contains(&it.as_str()) || one(it))
    };
    let is_page = matches!(&exchange.excerpt, Some(Excerpt::Html(_)));
    let has_markup =
        matches!(&exchange.excerpt, Some(Excerpt::Json(it)) if answers::has_markup(it));
    let is_list = is_page || has_markup || it.lists.iter().any(|it| it.of_objects && it.len >= 2);
    Answer {
        is_list,
        is_page,
        is_page_of_list: matches!(&exchange.excerpt, Some(Excerpt::Json(it)) if answers::has_part_of_list(it)),
        is_data: it.json_nodes >= 6
            && !is_receipt
            && exchange.status.is_some_and(|it| is_data_status(it) || it == 202 && is_list),
        is_shown: it.leaves_visible >= 2 || !it.typed_in_response.is_empty(),
        is_done: matches!(&exchange.excerpt, Some(Excerpt::Html(_) | Excerpt::Text(_)))
            && is_receipt,
        is_filtered,
        is_nothing: exchange.status == Some(204),
        is_empty_success: exchange.decoded_bytes == Some(0)
            && exchange.status.is_some_and(|it| (200..300).contains(&it)),
        asks: typed().any(|it| is(&it, QUESTION_KEYS)),
        keeps: typed().any(|it| is(&it, TEXTS)),
    }
}

/// The fields that a request sends, as JSON.
fn sent_fields(exchange: &Exchange) -> Option<Value> {
    match exchange.request_body.as_ref()? {
        RequestBody::Json(it) => Some(it.clone()),
        RequestBody::Form(all) | RequestBody::Multipart(all) => {
            Some(all.iter().map(|it| Value::from(it.value.clone())).collect())
        }
        RequestBody::Text(it) => serde_json::from_str(it).ok(),
        RequestBody::Binary { .. } => None,
    }
}

/// Whether items that an earlier answer had without what was typed have it now.
fn has_changed(
    exchange: &Exchange,
    recording: &SessionRecording,
    answer: &Value,
    typed: &str,
) -> bool {
    let earlier = recording.exchanges.iter().filter(|it| it.id < exchange.id);
    earlier
        .filter_map(|it| match &it.excerpt {
            Some(Excerpt::Json(it)) => Some(it),
            _ => None,
        })
        .any(|it| answers::has_changed(it, answer, typed))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn exchange(method: &str, url: &str, body: Value, list: bool, typed_at: &str) -> Exchange {
        let lists = if list {
            json!([{"path": "items", "len": 5, "of_objects": true, "keys": [], "leaves_visible": 0, "items_visible": 0}])
        } else {
            json!([])
        };
        let typed = if typed_at.is_empty() {
            json!([])
        } else {
            json!([{"name": "q", "place": "json", "key": typed_at, "exact": true}])
        };
        serde_json::from_value(json!({
            "id": 0, "method": method, "url": url, "request_headers": [], "request_body": {"json": body}, "status": 200,
            "response_headers": [], "mime": "application/json", "resource_type": "fetch",
            "initiator": {"kind": "script", "has_stack": true, "page_url": "", "target": "page"},
            "timing": {"start_ms": 0, "ttfb_ms": 0, "total_ms": 0}, "after_action": 1, "redirected_from": null,
            "encoded_bytes": null, "decoded_bytes": null, "body_status": "captured", "excerpt": null, "origins": [],
            "measures": {"shape": [], "lists": lists, "leaves": 0, "leaves_visible": 0, "visible_weight": 0,
                "page_coverage_bp": 0, "typed_in_request": typed, "typed_in_response": [], "json_nodes": if list { 20 } else { 2 }, "json_depth": 0,
                "top_keys": [], "embedded_json": []}
        }))
        .unwrap()
    }

    fn recording(pressed: &str) -> SessionRecording {
        serde_json::from_value(json!({
            "task": "Show t", "url": "http://a.test/", "driver": "steps", "typed": {}, "final_answer": null,
            "actions": [
                {"kind": "navigate", "role": null, "name": null, "value": null, "at_ms": 0},
                {"kind": "click", "role": "button", "name": pressed, "value": null, "at_ms": 1}
            ],
            "page": {"url": "", "title": "", "visible_text": "", "has_password_field": false},
            "exchanges": [], "blocked": [], "duration_ms": 0, "producer": ""
        }))
        .unwrap()
    }

    #[test]
    fn what_reads_and_what_does_not() {
        let none = Value::Null;
        let graphql = |text: &str| json!({"query": text});
        let cases: Vec<(&str, &str, Value, bool, &str, &str, bool)> = vec![
            // method, url, body, answers with a list, where the typed value stands, what was pressed, reads
            ("GET", "http://a.test/delete", none.clone(), false, "", "Show", false),
            ("GET", "http://a.test/items", none.clone(), false, "", "Delete", true),
            ("GET", "http://a.test/cart/add", none.clone(), false, "", "Add to cart", false),
            (
                "POST",
                "http://a.test/rpc",
                json!({"jsonrpc": "2.0", "method": "firms.find", "params": {"name": "x"}}),
                true,
                "/params/name",
                "Look up",
                true,
            ),
            (
                "POST",
                "http://a.test/rpc",
                json!([{"jsonrpc": "2.0", "method": "firms.find"}, {"jsonrpc": "2.0", "method": "firms.delete"}]),
                true,
                "",
                "Look up",
                false,
            ),
            (
                "POST",
                "http://a.test/ajax",
                json!({"action": "find_grants"}),
                true,
                "",
                "Find grants",
                true,
            ),
            (
                "POST",
                "http://a.test/ajax",
                json!({"action": "add_to_cart"}),
                true,
                "",
                "Find",
                false,
            ),
            ("POST", "http://a.test/api/search", json!({"q": "x"}), true, "/q", "Search", true),
            (
                "POST",
                "http://a.test/1/indexes/docs/query",
                json!({"query": "x"}),
                true,
                "/query",
                "",
                true,
            ),
            (
                "POST",
                "http://a.test/api/orders/search",
                json!({"q": "x"}),
                true,
                "/q",
                "Find order",
                true,
            ),
            ("POST", "http://a.test/data", json!({"query": "x"}), true, "/query", "Go", true),
            // The test's task asks to see something; only a typed text speaks against it.
            ("POST", "http://a.test/data", json!({"sid": "x"}), true, "/sid", "Go", true),
            ("POST", "http://a.test/data", json!({"title": "x"}), true, "/title", "Go", false),
            (
                "POST",
                "http://a.test/search/save",
                json!({"query": "x"}),
                true,
                "/query",
                "Go",
                false,
            ),
            (
                "POST",
                "http://a.test/api/orders",
                json!({"note": "x"}),
                false,
                "/note",
                "Place order",
                false,
            ),
            (
                "POST",
                "http://a.test/api/messages",
                json!({"text": "hi"}),
                true,
                "/text",
                "Go",
                false,
            ),
            (
                "POST",
                "http://a.test/api/threads",
                json!({"text": "hi"}),
                true,
                "/text",
                "Send",
                false,
            ),
            ("POST", "http://a.test/collect", json!({"q": "x"}), false, "/q", "Search", false),
            ("DELETE", "http://a.test/x", none, false, "", "Go", false),
        ];
        let stored =
            |name: &str| json!({"operationName": name, "extensions": {"persistedQuery": {}}});
        let documents = [
            (graphql("query Repos { search { id } }"), "Save", true),
            (graphql("{ mutation { id } }"), "", true),
            (graphql("mutation M { buy }"), "", false),
            (graphql("# x\nmutation M { buy }"), "", false),
            (graphql("fragment F on A { b } mutation M { buy }"), "", false),
            (graphql("query Q(a: \"mutation\") { b }"), "", true),
            (json!([graphql("{ a }"), graphql("mutation { b }")]), "", false),
            (stored("AddToCart"), "", false),
            (stored("SearchRepos"), "", true),
        ];
        let documents = documents.into_iter().map(|(body, pressed, reads)| {
            ("POST", "http://a.test/graphql", body, true, "", pressed, reads)
        });
        let cases = cases.into_iter().chain(documents);
        for (method, url, body, list, typed_at, pressed, expected) in cases {
            let got = judge_recorded(
                &exchange(method, url, body.clone(), list, typed_at),
                &recording(pressed),
            );
            assert_eq!(got.is_read(), expected, "{method} {url} {body} {pressed}: {got:?}");
        }
    }
}
