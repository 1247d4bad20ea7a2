//! What a request says of the account that a page or a cookie knows, and that is no secret: a user's number in an address, a tenant in
//! a header. Another account's page holds another value at the same place, so a run can take it from there.
//!
//! Of sessions with a login alone: elsewhere such a value is a visitor's, and any will do.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

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

/// Values of page storage and cookies that requests repeat, and of answers that headers do.
pub struct AccountIds {
    /// By value: where a run finds it.
    known: BTreeMap<String, Origin>,
    /// By value of a header: the first answer to a plain GET that holds it, and where.
    answered: BTreeMap<String, (usize, String)>,
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
        let answered = locate_in_answers(raw, &|it| {
            let low = it.to_lowercase();
            !known.contains_key(it) && !given.iter().any(|given| given.contains(&low))
        });
        Self { known, answered }
    }

    /// Adds the origins to the requests that hold such a value whole.
    pub fn trace(&self, exchanges: &mut [Exchange]) {
        if self.known.is_empty() && self.answered.is_empty() {
            return;
        }
        let urls: Vec<String> = exchanges.iter().map(|it| it.url.clone()).collect();
        for (i, exchange) in exchanges.iter_mut().enumerate() {
            let answered = |at: &str, value: &str| {
                let (from, path) = self.answered.get(value)?;
                let url = urls.get(*from).filter(|it| !it.contains("REDACTED"))?;
                (*from < i && at.starts_with("header:"))
                    .then(|| Origin::Response { url: url.clone(), path: path.clone() })
            };
            let found: Vec<ValueOrigin> = places(exchange)
                .into_iter()
                .filter_map(|(at, value)| {
                    let known = self.known.get(&value).cloned();
                    let origin = known.or_else(|| answered(&at, &value))?;
                    // A word in an address names a thing; in a header of the site's own it says who asks.
                    let tells =
                        value.bytes().any(|it| it.is_ascii_digit()) || at.starts_with("header:");
                    tells.then_some(ValueOrigin { placeholder: value, at, origin: Some(origin) })
                })
                .collect();
            exchange.origins.extend(found);
        }
    }
}

/// Where values of headers of the site's own stand in answers to plain GETs.
fn locate_in_answers(
    raw: &RawRecording,
    is_wanted: &dyn Fn(&str) -> bool,
) -> BTreeMap<String, (usize, String)> {
    let mut wanted = BTreeSet::new();
    for (name, value) in raw.exchanges.iter().flat_map(|it| &it.request_headers) {
        let fits = LENGTHS.contains(&value.len()) && is_plain(value) && is_wanted(value);
        if fits && is_own_header(&name.to_ascii_lowercase()) {
            wanted.insert(value.as_str());
        }
    }
    let mut out = BTreeMap::new();
    if wanted.is_empty() {
        return out;
    }
    for (i, it) in raw.exchanges.iter().enumerate() {
        let is_read = it.method.eq_ignore_ascii_case("GET") && it.status == Some(200);
        let Some(body) = it.body.bytes().filter(|_| is_read && it.mime.contains("json")) else {
            continue;
        };
        let Ok(json) = serde_json::from_slice(&body) else { continue };
        each_leaf(&json, &mut String::new(), &mut |value, path| {
            if wanted.contains(value) && !path.is_empty() {
                out.entry(value.to_owned()).or_insert_with(|| (i, path.to_owned()));
            }
        });
    }
    out
}

/// None that browsers and frameworks set by themselves.
fn is_own_header(name: &str) -> bool {
    !(HARMLESS_HEADERS.contains(&name)
        || USUAL_HEADERS.contains(&name)
        || name.starts_with("sec-")
        || name.starts_with(':'))
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
        if is_own_header(&name) {
            out.push((format!("header:{name}"), it.value.clone()));
        }
    }
    match &exchange.request_body {
        Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
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
        // Of several, which one is another account's is not known.
        Value::Array(items) if items.len() == 1 => {
            let len = path.len();
            path.push_str("[0]");
            each_leaf(&items[0], path, found);
            path.truncate(len);
            return;
        }
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
