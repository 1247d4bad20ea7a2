//! Does a request only read? Judged before any replay: what may change something is never sent again.

use std::collections::BTreeSet;

use serde_json::Value;
use url::Url;

use super::terms::{split, words};
use commis_artifacts::recording::{Excerpt, Exchange, RequestBody, SessionRecording};

/// Words in a button, a path or an operation that mean a change. Singular: `words` strips a plural's s.
const CHANGE_WORDS: &[&str] = &[
    "order",
    "buy",
    "purchase",
    "pay",
    "payment",
    "checkout",
    "cart",
    "basket",
    "delete",
    "remove",
    "destroy",
    "create",
    "update",
    "insert",
    "save",
    "submit",
    "publish",
    "send",
    "subscribe",
    "unsubscribe",
    "signup",
    "register",
    "login",
    "logout",
    "signin",
    "signout",
    "place",
    "confirm",
    "cancel",
    "book",
    "reserve",
    "reservation",
    "transfer",
    "vote",
    "upload",
    "upvote",
    "comment",
    "reply",
    "follow",
    "mutation",
    "mutate",
    "donate",
    "apply",
    "add",
    "edit",
    "set",
    "post",
    "like",
    "rate",
    "invite",
    "accept",
    "archive",
    "move",
    "rename",
    "restore",
    "grant",
    "revoke",
    "import",
    "enroll",
    "message",
    "write",
    "put",
    "patch",
    "reset",
    "enable",
    "disable",
];

/// Words that mean a question.
const READ_WORDS: &[&str] = &[
    "search",
    "query",
    "querie",
    "find",
    "list",
    "filter",
    "lookup",
    "get",
    "fetch",
    "read",
    "browse",
    "suggest",
    "select",
    "result",
    "match",
    "autocomplete",
    "show",
    "view",
    "load",
];

/// Names of fields that hold a question.
const QUESTION_KEYS: &[&str] = &["query", "search", "term", "keyword", "filter", "q"];

/// GET and HEAD read by definition, unless both the path and what was pressed speak of a change; anything else needs evidence that it reads and none that it changes. `Err` says why not.
///
/// - GraphQL: no mutation among the operations of any document, no changing word in an operation's name. A persisted
///   operation, whose text is not there, is judged by its name like a path.
/// - Otherwise the path's last word that is known decides; then the name of what was pressed.
/// - Evidence of reading: a reading word with a question in the body or a list in the answer; or both of these; or a task
///   that begins by asking to see something, answered with data, when nothing typed went where a text to be kept would stand.
pub fn reads(exchange: &Exchange, recording: &SessionRecording) -> Result<(), String> {
    judge(exchange, recording, asks_to_see(&recording.task))
}

/// The same where what the task says is no evidence: the request may have been made beside it.
pub fn reads_by_itself(exchange: &Exchange, recording: &SessionRecording) -> Result<(), String> {
    judge(exchange, recording, false)
}

fn judge(exchange: &Exchange, recording: &SessionRecording, asked: bool) -> Result<(), String> {
    let path = Url::parse(&exchange.url).map_or_else(|_| String::new(), |it| it.path().to_owned());
    let line = format!("{} {path}", exchange.method);
    let pressed = exchange
        .after_action
        .and_then(|it| recording.actions.get(it as usize))
        .and_then(|it| it.name.as_deref())
        .and_then(first_known)
        .filter(|it| changes(it));
    if matches!(exchange.method.as_str(), "GET" | "HEAD") {
        // By definition they read; a site that adds to a basket by GET says so twice.
        let asked = pressed.or_else(|| {
            let task = Some(&recording.task).filter(|it| !asks_to_see(it))?;
            first_known(task).filter(|it| changes(it))
        });
        let says = split(&path).into_iter().rfind(|it| changes(it));
        return match asked.zip(says) {
            Some((asked, says)) => {
                Err(format!("{line} is about `{says}`, and so is what was done: `{asked}`"))
            }
            None => Ok(()),
        };
    }
    let operations = operations(exchange);
    for it in &operations {
        if it.is_mutation {
            return Err(format!("{line} is a GraphQL mutation"));
        }
        // In `find_grants` and `orders.list` the noun is a plural.
        if let Some(word) = split(&it.name).into_iter().find(|word| !it.has_text && changes(word)) {
            return Err(format!("{line} calls an operation about `{word}`"));
        }
    }
    if !operations.is_empty() && operations.iter().all(|it| it.has_text) {
        return Ok(());
    }
    let known = last_known(&path);
    if let Some(word) = known.as_ref().filter(|it| CHANGE_WORDS.contains(&it.as_str())) {
        return Err(format!("{line} is about `{word}`"));
    }
    let reads_by_name =
        |it: &Operation| split(&it.name).iter().any(|it| READ_WORDS.contains(&it.as_str()));
    let reading = known.is_some() || operations.iter().any(reads_by_name);
    if !reading && let Some(word) = pressed {
        return Err(format!("{line} was caused by pressing something about `{word}`"));
    }
    let asks = exchange.measures.typed_in_request.iter().any(|it| {
        let key = it.key.rsplit('/').next().unwrap_or("");
        QUESTION_KEYS.contains(&key)
            || words(key).iter().any(|it| QUESTION_KEYS.contains(&it.as_str()))
    });
    let lists = exchange.measures.lists.iter().any(|it| it.of_objects && it.len >= 2)
        || matches!(&exchange.excerpt, Some(Excerpt::Html(_)));
    let told = exchange.measures.json_nodes >= 6;
    if (reading && (asks || lists)) || (asks && lists) {
        return Ok(());
    }
    if told && asked && !keeps_text(exchange) {
        return Ok(());
    }
    Err(format!("{line} shows no evidence that it only reads"))
}

/// The task sentence begins by asking to see something, and asks for no change after an "and" or a "then".
pub fn asks_to_see(task: &str) -> bool {
    const SEE: &[&str] = &[
        "search",
        "find",
        "list",
        "show",
        "get",
        "look",
        "see",
        "count",
        "autocomplete",
        "suggest",
        "fetch",
        "browse",
        "view",
        "display",
        "read",
        "check",
        "compare",
        "what",
        "which",
        "how",
        "when",
        "where",
        "top",
        "geocode",
        "open",
        "translate",
        "convert",
        "resolve",
        "locate",
    ];
    let lower = task.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    let also = words.windows(2).filter(|it| matches!(it[0], "and" | "then")).map(|it| it[1]);
    words.first().is_some_and(|it| SEE.contains(it))
        && !also.into_iter().any(|it| CHANGE_WORDS.contains(&it))
}

/// Something typed stands where a text that is to be kept would.
fn keeps_text(exchange: &Exchange) -> bool {
    const TEXTS: &[&str] = &[
        "title",
        "name",
        "label",
        "item",
        "text",
        "body",
        "note",
        "message",
        "content",
        "comment",
        "email",
        "description",
        "subject",
        "address",
        "phone",
        "password",
        "quantity",
        "caption",
        "bio",
        "reply",
    ];
    exchange.measures.typed_in_request.iter().any(|it| {
        let key = it.key.rsplit('/').next().unwrap_or("");
        words(key).iter().any(|it| TEXTS.contains(&it.as_str()))
    })
}

pub(super) fn changes(word: &str) -> bool {
    CHANGE_WORDS.contains(&word)
}

/// The first word that is in either list: labels and tasks begin with the verb. A plural is a noun ("Find grants").
fn first_known(text: &str) -> Option<String> {
    split(text).into_iter().find(|it| changes(it) || READ_WORDS.contains(&it.as_str()))
}

/// The last word, in reading order, that is in either list. A plural is what is asked for, not what is done.
fn last_known(text: &str) -> Option<String> {
    let plain = split(text);
    let known = |it: &BTreeSet<String>| {
        it.iter()
            .find(|it| changes(it) && plain.contains(it))
            .or_else(|| it.iter().find(|it| READ_WORDS.contains(&it.as_str())))
            .cloned()
    };
    // One piece at a time keeps the order; within camel case (`getCartItems`) a changing word is the careful reading.
    text.split(|c: char| !c.is_alphanumeric()).map(words).filter_map(|it| known(&it)).next_back()
}

struct Operation {
    name: String,
    is_mutation: bool,
    /// The document is there to be judged.
    has_text: bool,
}

/// Operations of the request's body: GraphQL and JSON-RPC, batches included, and what a form's or an object's `action`
/// names; empty when it has none.
fn operations(exchange: &Exchange) -> Vec<Operation> {
    const ACTIONS: &[&str] = &["action", "operation", "op", "cmd", "command", "do"];
    let named =
        |name: &str| Operation { name: name.to_owned(), is_mutation: false, has_text: false };
    let body = match &exchange.request_body {
        Some(RequestBody::Json(body)) => body,
        Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
            let actions = fields.iter().filter(|it| ACTIONS.contains(&it.name.as_str()));
            return actions.map(|it| named(&it.value)).collect();
        }
        _ => return Vec::new(),
    };
    let calls: Vec<&Value> = body.as_array().map_or_else(|| vec![body], |it| it.iter().collect());
    calls
        .into_iter()
        .filter_map(|call| {
            if let Some(method) = call.get("method").and_then(Value::as_str)
                && call.get("jsonrpc").is_some()
            {
                return Some(named(method));
            }
            let action = ACTIONS.iter().find_map(|it| call.get(it).and_then(Value::as_str));
            let text = call.get("query").and_then(Value::as_str).filter(|it| it.contains('{'));
            let name = call.get("operationName").and_then(Value::as_str);
            let persisted = call.pointer("/extensions/persistedQuery").is_some()
                || call.get("doc_id").is_some();
            if text.is_none() && name.is_none() && !persisted {
                return action.map(named);
            }
            Some(Operation {
                name: name.unwrap_or("").to_owned(),
                is_mutation: text.is_some_and(has_mutation),
                has_text: text.is_some(),
            })
        })
        .collect()
}

/// Whether a document defines a mutation: the keyword outside braces, strings and comments.
fn has_mutation(document: &str) -> bool {
    let mut depth = 0_u32;
    let mut word = String::new();
    let mut chars = document.chars();
    while let Some(c) = chars.next() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if depth == 0 && word == "mutation" {
            return true;
        }
        word.clear();
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            '#' => _ = chars.by_ref().find(|it| *it == '\n'),
            '"' => {
                let mut escaped = false;
                _ = chars.by_ref().find(|it| {
                    let end = *it == '"' && !escaped;
                    escaped = *it == '\\' && !escaped;
                    end
                });
            }
            _ => {}
        }
    }
    false
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
            ("GET", "http://a.test/delete", none.clone(), false, "", "Show", true),
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
            (
                "POST",
                "http://a.test/graphql",
                graphql("query Repos { search { id } }"),
                true,
                "",
                "Save",
                true,
            ),
            ("POST", "http://a.test/graphql", graphql("{ mutation { id } }"), true, "", "", true),
            ("POST", "http://a.test/graphql", graphql("mutation M { buy }"), true, "", "", false),
            (
                "POST",
                "http://a.test/graphql",
                graphql("# x\nmutation M { buy }"),
                true,
                "",
                "",
                false,
            ),
            (
                "POST",
                "http://a.test/graphql",
                graphql("fragment F on A { b } mutation M { buy }"),
                true,
                "",
                "",
                false,
            ),
            (
                "POST",
                "http://a.test/graphql",
                graphql("query Q(a: \"mutation\") { b }"),
                true,
                "",
                "",
                true,
            ),
            (
                "POST",
                "http://a.test/graphql",
                json!([graphql("{ a }"), graphql("mutation { b }")]),
                true,
                "",
                "",
                false,
            ),
            (
                "POST",
                "http://a.test/graphql",
                json!({"operationName": "AddToCart", "extensions": {"persistedQuery": {}}}),
                true,
                "",
                "",
                false,
            ),
            (
                "POST",
                "http://a.test/graphql",
                json!({"operationName": "SearchRepos", "extensions": {"persistedQuery": {}}}),
                true,
                "",
                "",
                true,
            ),
        ];
        for (method, url, body, list, typed_at, pressed, expected) in cases {
            let got =
                reads(&exchange(method, url, body.clone(), list, typed_at), &recording(pressed));
            assert_eq!(got.is_ok(), expected, "{method} {url} {body} {pressed}: {got:?}");
        }
    }
}
