//! What a request says of the account that a page or a cookie knows, and that is no secret: a user's number in an address, a tenant in
//! a header. Another account's page holds another value at the same place, so a run can take it from there.
//!
//! Of sessions with a login alone: elsewhere such a value is a visitor's, and any will do.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use super::{
    encode::decode_percent, headers::HARMLESS_HEADERS, measures::push_key, raw::RawRecording,
};
use commis_artifacts::recording::{Exchange, Origin, RequestBody, ValueOrigin};

/// Shorter values stand in a request by chance.
const LENGTHS: std::ops::RangeInclusive<usize> = 4..=64;
/// Headers that browsers and frameworks set by themselves.
const USUAL_HEADERS: &[&str] = &[
    "authorization",
    "cookie",
    "origin",
    "referer",
    "upgrade-insecure-requests",
    "x-requested-with",
];

/// Values of page storage and cookies that requests repeat.
pub struct AccountIds {
    /// By value: where a run finds it.
    known: BTreeMap<String, Origin>,
}

impl AccountIds {
    /// Of what the page's origin stored, and of the context's cookies. What was typed or stands in the task's addresses is nobody's.
    pub fn new(raw: &RawRecording) -> Self {
        let mut known = BTreeMap::new();
        let given: Vec<String> = std::iter::once(raw.url.as_str())
            .chain(raw.typed.values().map(String::as_str))
            .map(str::to_lowercase)
            .collect();
        let mut add = |value: &str, origin: Origin| {
            let low = value.to_lowercase();
            let is_given = given.iter().any(|it| it.contains(&low));
            if LENGTHS.contains(&value.len()) && is_plain(value) && !is_given {
                known.entry(value.to_owned()).or_insert(origin);
            }
        };
        if same_origin(&raw.url, &raw.page.url) {
            for it in &raw.page.stored {
                let place = |path: Option<String>| Origin::Storage {
                    area: it.area,
                    key: it.key.clone(),
                    path,
                };
                match serde_json::from_str::<Value>(&it.value) {
                    Ok(json @ (Value::Object(_) | Value::Array(_))) => {
                        each_leaf(&json, &mut String::new(), &mut |value, path| {
                            add(value, place(Some(path.to_owned())));
                        });
                    }
                    Ok(Value::String(text)) => add(&text, place(Some("@".to_owned()))),
                    _ => add(&it.value, place(None)),
                }
            }
        }
        for (name, value) in &raw.page.cookies {
            let decoded = decode_percent(value.trim_matches('"'));
            let is_decoded = *decoded != **value;
            add(&decoded, Origin::Cookie { name: name.clone(), decoded: is_decoded });
        }
        Self { known }
    }

    /// Adds the origins to the requests that hold such a value whole.
    pub fn trace(&self, exchanges: &mut [Exchange]) {
        if self.known.is_empty() {
            return;
        }
        for exchange in exchanges {
            let found: Vec<ValueOrigin> = places(exchange)
                .into_iter()
                .filter_map(|(at, value)| {
                    let origin = self.known.get(&value)?.clone();
                    // A word in an address names a thing; in a header of the site's own it says who asks.
                    let tells =
                        value.bytes().any(|it| it.is_ascii_digit()) || at.starts_with("header:");
                    tells.then(|| ValueOrigin { placeholder: value, at, origin: Some(origin) })
                })
                .collect();
            exchange.origins.extend(found);
        }
    }
}

/// The parts of a request, and what each holds.
fn places(exchange: &Exchange) -> Vec<(String, String)> {
    let mut out = Vec::new();
    if let Ok(url) = url::Url::parse(&exchange.url) {
        for it in url.path_segments().into_iter().flatten() {
            out.push(("path".to_owned(), decode_percent(it).into_owned()));
        }
        for (name, value) in url.query_pairs() {
            out.push((format!("query:{name}"), value.into_owned()));
        }
    }
    for it in &exchange.request_headers {
        let name = it.name.to_ascii_lowercase();
        let is_usual = HARMLESS_HEADERS.contains(&&*name)
            || USUAL_HEADERS.contains(&&*name)
            || name.starts_with("sec-");
        if !is_usual {
            out.push((format!("header:{name}"), it.value.clone()));
        }
    }
    match &exchange.request_body {
        Some(RequestBody::Form(fields)) => {
            out.extend(fields.iter().map(|it| (format!("form:{}", it.name), it.value.clone())));
        }
        Some(RequestBody::Json(it)) => json_places(it, "", &mut out),
        _ => {}
    }
    out
}

fn json_places(value: &Value, pointer: &str, out: &mut Vec<(String, String)>) {
    match value {
        Value::String(it) => out.push((format!("json:{pointer}"), it.clone())),
        Value::Array(items) => {
            for (i, it) in items.iter().enumerate() {
                json_places(it, &format!("{pointer}/{i}"), out);
            }
        }
        Value::Object(fields) => {
            for (key, it) in fields {
                let token = key.replace('~', "~0").replace('/', "~1");
                json_places(it, &format!("{pointer}/{token}"), out);
            }
        }
        _ => {}
    }
}

/// Texts and numbers with their JMESPath.
fn each_leaf(value: &Value, path: &mut String, found: &mut impl FnMut(&str, &str)) {
    let text: Cow<'_, str> = match value {
        Value::String(it) => it.as_str().into(),
        Value::Number(it) => it.to_string().into(),
        Value::Object(fields) => {
            for (key, item) in fields {
                let len = path.len();
                if !path.is_empty() {
                    path.push('.');
                }
                push_key(path, key);
                each_leaf(item, path, found);
                path.truncate(len);
            }
            return;
        }
        // Which item is another account's is not known.
        Value::Array(_) | Value::Bool(_) | Value::Null => return,
    };
    found(&text, path);
}

fn is_plain(value: &str) -> bool {
    value.bytes().all(|it| it.is_ascii_alphanumeric() || b"-_.@:+=/".contains(&it))
}

fn same_origin(one: &str, other: &str) -> bool {
    let origin = |it: &str| Some(url::Url::parse(it).ok()?.origin());
    origin(one).is_some_and(|it| it.is_tuple() && Some(it) == origin(other))
}
