//! From a recorded exchange to a request template: what is kept of it, where its secrets come from, and whether it reads.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::signals::words;
use crate::{
    artifacts::recording::{Excerpt, Exchange, Origin, RequestBody, SessionRecording, ValueOrigin},
    egress::site_of,
    recipe::{
        model::{BodyTemplate, Pair, RequestTemplate, Slot, SlotSource},
        template::escape,
    },
};

/// Headers that a browser adds by itself, that identify it, or that a client must set itself.
const NOISE: &[&str] = &[
    "accept-encoding",
    "accept-language",
    "authorization",
    "cache-control",
    "connection",
    "content-length",
    "cookie",
    "dnt",
    "expect",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "keep-alive",
    "origin",
    "pragma",
    "priority",
    "proxy-authorization",
    "proxy-connection",
    "range",
    "referer",
    "save-data",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "x-forwarded-for",
    "x-client-data",
    "traceparent",
    "tracestate",
    "baggage",
    "sentry-trace",
    "newrelic",
];

/// The request as recorded, its secrets as slots.
pub fn template(exchange: &Exchange) -> Option<(RequestTemplate, Vec<Slot>)> {
    let url = Url::parse(&exchange.url).ok()?;
    let mut slots = Slots { origins: &exchange.origins, slots: Vec::new() };
    let query: Vec<Pair> = url
        .query_pairs()
        .map(|(name, value)| Pair {
            value: slots.fill(&format!("query:{name}"), &name, &value),
            name: name.into_owned(),
        })
        .collect();
    let mut headers = BTreeMap::new();
    for header in &exchange.request_headers {
        let name = header.name.as_str();
        if NOISE.contains(&name) || name.starts_with("sec-") || name.starts_with(':') {
            continue;
        }
        headers.insert(name.to_owned(), slots.fill(&format!("header:{name}"), name, &header.value));
    }
    let body = match &exchange.request_body {
        None => None,
        Some(RequestBody::Json(it)) => Some(BodyTemplate::Json(slots.fill_json(it, ""))),
        Some(RequestBody::Form(fields)) => Some(BodyTemplate::Form(
            fields
                .iter()
                .map(|it| Pair {
                    name: it.name.clone(),
                    value: slots.fill(&format!("form:{}", it.name), &it.name, &it.value),
                })
                .collect(),
        )),
        Some(RequestBody::Text(it)) => Some(BodyTemplate::Text(slots.fill("text:", "text", it))),
        Some(RequestBody::Multipart(_) | RequestBody::Binary { .. }) => return None,
    };
    let mut base = url.clone();
    base.set_query(None);
    base.set_fragment(None);
    let host = url.host_str()?.to_owned();
    let request = RequestTemplate {
        method: exchange.method.clone(),
        url: slots.fill("path:", "path", base.as_str()),
        query,
        headers,
        body,
        allowed_sites: vec![site_of(&exchange.url)],
        allowed_domains: vec![host],
    };
    Some((request, slots.slots))
}

struct Slots<'a> {
    origins: &'a [ValueOrigin],
    slots: Vec<Slot>,
}

impl Slots<'_> {
    /// The value as a template: literal text escaped, each placeholder a slot.
    fn fill(&mut self, at: &str, key: &str, value: &str) -> String {
        let mut out = String::new();
        let mut rest = value;
        while let Some(start) = rest.find("[REDACTED:") {
            let Some(len) = rest[start..].find(']') else {
                break;
            };
            let placeholder = &rest[start..=start + len];
            out.push_str(&escape(&rest[..start]));
            out.push('{');
            out.push_str(&self.slot(at, key, placeholder));
            out.push('}');
            rest = &rest[start + len + 1..];
        }
        out.push_str(&escape(rest));
        out
    }

    fn fill_json(&mut self, value: &Value, pointer: &str) -> Value {
        match value {
            Value::String(it) => {
                let key = pointer.rsplit('/').next().unwrap_or("value").to_owned();
                Value::String(self.fill(&format!("json:{pointer}"), &key, it))
            }
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(i, it)| self.fill_json(it, &format!("{pointer}/{i}")))
                .collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, it)| {
                    let token = key.replace('~', "~0").replace('/', "~1");
                    (key.clone(), self.fill_json(it, &format!("{pointer}/{token}")))
                })
                .collect::<serde_json::Map<_, _>>()
                .into(),
            _ => value.clone(),
        }
    }

    fn slot(&mut self, at: &str, key: &str, placeholder: &str) -> String {
        let known = self.origins.iter().find(|it| it.placeholder == placeholder && it.at == at);
        let known = known.or_else(|| self.origins.iter().find(|it| it.placeholder == placeholder));
        let from = match known.and_then(|it| it.origin.clone()) {
            Some(Origin::Cookie { name }) => SlotSource::Cookie { name },
            Some(Origin::Meta { name }) => SlotSource::Meta { name },
            Some(Origin::Response { url, path }) => SlotSource::Response { url, path },
            Some(Origin::Document { url, after, until }) => {
                SlotSource::Document { url, after, until }
            }
            None => SlotSource::Live { placeholder: placeholder.to_owned() },
        };
        if let Some(it) = self.slots.iter().find(|it| it.from == from) {
            return it.name.clone();
        }
        let base = format!("slot_{}", identifier(key));
        let mut name = base.clone();
        let mut n = 2;
        while self.slots.iter().any(|it| it.name == name) {
            name = format!("{base}_{n}");
            n += 1;
        }
        self.slots.push(Slot { name: name.clone(), from });
        name
    }
}

/// A safe parameter or slot name: `[a-z_][a-z0-9_]*`, at most 40 characters.
pub fn identifier(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if out.len() >= 32 {
            break;
        }
    }
    let out = out.trim_matches('_');
    match out.as_bytes().first() {
        None => "value".to_owned(),
        Some(b) if b.is_ascii_digit() => format!("p_{out}"),
        _ => out.to_owned(),
    }
}

/// Words in a button, a path or a GraphQL operation that mean a change.
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
];

/// Words that mean a question.
const READ_WORDS: &[&str] = &[
    "search", "query", "find", "list", "filter", "lookup", "get", "fetch", "read", "browse",
    "suggest", "queries", "select", "graphql", "results", "match",
];

/// Whether replaying the exchange changes nothing, judged before any replay. GET and HEAD read by definition; anything else
/// needs evidence that it reads and none that it changes. `Err` says why not.
pub fn reads(exchange: &Exchange, recording: &SessionRecording) -> Result<(), String> {
    if matches!(exchange.method.as_str(), "GET" | "HEAD") {
        return Ok(());
    }
    let url = Url::parse(&exchange.url).ok();
    let path = url.as_ref().map(|it| words(it.path())).unwrap_or_default();
    let has = |set: &std::collections::BTreeSet<String>, list: &[&str]| {
        list.iter()
            .find(|it| set.contains(**it) || set.contains(it.trim_end_matches('s')))
            .map(|it| (*it).to_owned())
    };
    let line = format!("{} {}", exchange.method, url.as_ref().map_or("", |it| it.path()));
    if let Some(query) = graphql(exchange) {
        if query.trim_start().starts_with("mutation") {
            return Err(format!("{line} is a GraphQL mutation"));
        }
        return Ok(());
    }
    let reading_path = has(&path, READ_WORDS);
    if reading_path.is_none() {
        if let Some(word) = has(&path, CHANGE_WORDS) {
            return Err(format!("{line} is about `{word}`"));
        }
        let caused = exchange.after_action.and_then(|it| recording.actions.get(it as usize));
        let name = caused.and_then(|it| it.name.as_deref()).map(words).unwrap_or_default();
        if let Some(word) = has(&name, CHANGE_WORDS)
            && has(&name, READ_WORDS).is_none()
        {
            return Err(format!("{line} was caused by pressing something about `{word}`"));
        }
    }
    let query_shaped = exchange.measures.typed_in_request.iter().any(|it| {
        has(
            &words(&it.key),
            &["query", "search", "term", "text", "keyword", "keywords", "filter", "what"],
        )
        .is_some()
            || it.key == "q"
            || it.key.ends_with("/q")
    });
    let list_shaped = exchange.measures.lists.iter().any(|it| it.of_objects && it.len >= 2)
        || matches!(&exchange.excerpt, Some(Excerpt::Html(_)));
    if reading_path.is_some() && (query_shaped || list_shaped) || query_shaped && list_shaped {
        return Ok(());
    }
    Err(format!("{line} shows no evidence that it only reads"))
}

/// The query text of a GraphQL call.
fn graphql(exchange: &Exchange) -> Option<&str> {
    let Some(RequestBody::Json(body)) = &exchange.request_body else {
        return None;
    };
    let body = body.get(0).unwrap_or(body);
    body.get("query").and_then(Value::as_str).filter(|it| it.contains('{'))
}
