//! What a request took from an earlier answer: an id that a look-up gave for the typed value, a cursor of the page before.
//! Such a value must not be written down as if it were part of the question.

use std::collections::BTreeSet;

use serde_json::Value;
use url::Url;

use super::endpoint::operation;
use commis_artifacts::recording::{Excerpt, Exchange, RequestBody, SessionRecording};
use commis_recipe::{
    model::{BodyTemplate, RequestTemplate, Slot, SlotSource},
    template::Template,
};

/// Last words of names whose values other answers give.
const REFERENCES: &[&str] = &[
    "id",
    "ids",
    "key",
    "code",
    "cursor",
    "after",
    "before",
    "next",
    "continuation",
    "handle",
    "uuid",
    "guid",
    "ref",
    "slug",
    "place",
    "station",
    "lat",
    "lon",
    "lng",
    "latitude",
    "longitude",
];
/// Shorter values stand in any answer by chance.
const MIN_REFERENCE: usize = 2;
const MIN_TELLING: usize = 6;
/// A text of so many characters was given, and not thought of twice.
const MIN_GIVEN: usize = 16;
/// Fewer requests may carry a value of a list by chance.
const MIN_FETCHED: usize = 3;

/// The slot whose value is asked for at an address that what was typed is part of: another input needs another address.
pub fn typed_slot<'a>(slots: &'a [Slot], recording: &SessionRecording) -> Option<&'a str> {
    let follows = |url: &str| {
        recording.exchanges.iter().any(|it| {
            it.method == "GET" && it.url == url && !it.measures.typed_in_request.is_empty()
        })
    };
    slots.iter().find_map(|slot| match &slot.from {
        SlotSource::Response { url, .. } | SlotSource::Document { url, .. } if follows(url) => {
            Some(slot.name.as_str())
        }
        _ => None,
    })
}

/// The part of the request whose constant value stands in an earlier answer to the typed value, or of the same endpoint, and in
/// no answer that anybody gets.
pub fn borrowed(
    request: &RequestTemplate,
    exchange: &Exchange,
    recording: &SessionRecording,
) -> Option<String> {
    let earlier = || recording.exchanges.iter().filter(|it| it.id < exchange.id);
    let given = |it: &str| {
        literal(it).is_some_and(|it| earlier().any(|before| header_of(before, &it).is_some()))
    };
    if let Some((name, _)) = request.headers.iter().find(|it| given(it.1)) {
        return Some(format!("header `{name}`"));
    }
    let (mut own, mut anyones) = (BTreeSet::new(), BTreeSet::new());
    for it in earlier() {
        let Some(Excerpt::Json(answer)) = &it.excerpt else { continue };
        let follows = !it.measures.typed_in_request.is_empty() || same_endpoint(it, exchange);
        collect_leaves(answer, if follows { &mut own } else { &mut anyones });
        // What a request itself sent, its answer only echoes.
        if follows {
            collect_sent_values(it, &mut anyones);
        }
    }
    if own.is_empty() {
        return None;
    }
    // What the task sentence names was known before any call.
    let named: BTreeSet<&str> =
        recording.task.split(|c: char| c.is_whitespace() || "(),;:\"'?!".contains(c)).collect();
    let taken = |name: &str, text: &str| {
        let text = literal(text)?;
        (!named.contains(text.as_str())
            && is_distinctive(name, &text)
            && own.contains(&text)
            && !anyones.contains(&text))
        .then_some(())
    };
    let path = request.url.splitn(4, '/').nth(3).unwrap_or_default();
    for (i, segment) in path.split('/').enumerate() {
        if taken("", segment).is_some() {
            return Some(format!("path segment {i}"));
        }
    }
    for pair in &request.query {
        if taken(&pair.name, &pair.value).is_some() {
            return Some(format!("query `{}`", pair.name));
        }
    }
    match &request.body {
        Some(BodyTemplate::Form(fields)) => fields
            .iter()
            .find(|it| taken(&it.name, &it.value).is_some())
            .map(|it| format!("form field `{}`", it.name)),
        Some(BodyTemplate::Json(body)) => {
            in_json(body, "", "", &|name, text| taken(name, text).is_some())
        }
        _ => None,
    }
}

/// How many later requests ask by a value of this answer, where the answer is a list of bare values: ids, whose things the page
/// then fetched one by one. The things are the data, the list is the way to them.
pub fn fetched_one_by_one(exchange: &Exchange, recording: &SessionRecording) -> Option<usize> {
    let Some(Excerpt::Json(answer)) = &exchange.excerpt else { return None };
    let (mut all, mut bare) = (BTreeSet::new(), BTreeSet::new());
    collect_leaves(answer, &mut all);
    bare_items(answer, &mut bare);
    // A count or a cursor may stand beside the list.
    if bare.len() < MIN_FETCHED || all.len() > bare.len() + MIN_FETCHED {
        return None;
    }
    let later = recording.exchanges.iter().filter(|it| it.id > exchange.id);
    let asked: BTreeSet<String> = later
        .filter(|it| !same_endpoint(it, exchange))
        .filter_map(|it| {
            let mut values = BTreeSet::new();
            collect_sent_values(it, &mut values);
            values.into_iter().find(|value| value.len() >= MIN_REFERENCE && bare.contains(value))
        })
        .collect();
    (asked.len() >= MIN_FETCHED).then_some(asked.len())
}

/// The scalar items of every list in a document, as text.
fn bare_items(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => {
            for it in items {
                if it.is_array() || it.is_object() {
                    bare_items(it, out);
                } else {
                    collect_leaves(it, out);
                }
            }
        }
        Value::Object(fields) => fields.values().for_each(|it| bare_items(it, out)),
        _ => {}
    }
}

/// Every leaf of the JSON answers before an exchange.
pub fn answered_before(exchange: &Exchange, recording: &SessionRecording) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for it in recording.exchanges.iter().filter(|it| it.id < exchange.id) {
        if let Some(Excerpt::Json(answer)) = &it.excerpt {
            collect_leaves(answer, &mut out);
        }
    }
    out
}

/// The name of a header of an answer that is this value as a whole, and one that stands nowhere by chance.
pub fn header_of<'e>(exchange: &'e Exchange, value: &str) -> Option<&'e str> {
    let is_given = value.len() >= MIN_GIVEN && is_distinctive("", value);
    let found = exchange.response_headers.iter().find(|it| is_given && it.value == value);
    found.map(|it| it.name.as_str())
}

/// Whether an exchange depends on what was typed: by its request, or by a value that an answer gave to such a one, over `depth` requests
/// at most.
pub fn follows_typed(exchange: &Exchange, recording: &SessionRecording, depth: usize) -> bool {
    if !exchange.measures.typed_in_request.is_empty() {
        return true;
    }
    let mut sent = BTreeSet::new();
    collect_sent_values(exchange, &mut sent);
    sent.retain(|it| is_distinctive("", it));
    if depth == 0 || sent.is_empty() {
        return false;
    }
    let earlier = recording.exchanges.iter().filter(|it| it.id < exchange.id);
    earlier.filter(|it| !same_endpoint(it, exchange)).any(|it| {
        let Some(Excerpt::Json(answer)) = &it.excerpt else { return false };
        let (mut given, mut own) = (BTreeSet::new(), BTreeSet::new());
        collect_leaves(answer, &mut given);
        collect_sent_values(it, &mut own);
        sent.iter().any(|it| given.contains(it) && !own.contains(it))
            && follows_typed(it, recording, depth - 1)
    })
}

/// Values that a request holds.
pub fn collect_sent_values(exchange: &Exchange, out: &mut BTreeSet<String>) {
    if let Ok(url) = Url::parse(&exchange.url) {
        out.extend(url.path_segments().into_iter().flatten().map(str::to_owned));
        out.extend(url.query_pairs().map(|it| it.1.into_owned()));
    }
    match &exchange.request_body {
        Some(RequestBody::Json(it)) => collect_leaves(it, out),
        Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
            out.extend(fields.iter().map(|it| it.value.clone()));
        }
        _ => {}
    }
}

pub fn same_endpoint(a: &Exchange, b: &Exchange) -> bool {
    let base = |it: &Exchange| it.url.split('?').next().unwrap_or_default().to_owned();
    a.method == b.method && base(a) == base(b) && operation(a) == operation(b)
}

fn in_json(
    value: &Value,
    name: &str,
    pointer: &str,
    taken: &impl Fn(&str, &str) -> bool,
) -> Option<String> {
    match value {
        Value::Object(fields) => {
            fields.iter().find_map(|(key, it)| in_json(it, key, &format!("{pointer}/{key}"), taken))
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .find_map(|(i, it)| in_json(it, name, &format!("{pointer}/{i}"), taken)),
        Value::String(text) => taken(name, text).then(|| format!("body `{pointer}`")),
        Value::Number(it) => taken(name, &it.to_string()).then(|| format!("body `{pointer}`")),
        _ => None,
    }
}

/// The text of a template without parameters and slots.
fn literal(text: &str) -> Option<String> {
    let template = Template::parse(text).ok().filter(Template::is_literal)?;
    template.render(|_| Err::<String, ()>(())).ok()
}

/// Whether a value can be told from one that stands there by chance.
pub fn is_distinctive(name: &str, value: &str) -> bool {
    let last = name
        .rsplit(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .map(|it| {
            it.trim_start_matches(|c: char| {
                c.is_ascii_lowercase() && it.contains(char::is_uppercase)
            })
        })
        .unwrap_or_default()
        .to_ascii_lowercase();
    let reference = REFERENCES.contains(&last.as_str()) || REFERENCES.contains(&name);
    let has_digit = value.contains(|c: char| c.is_ascii_digit());
    (reference && value.len() >= MIN_REFERENCE && (has_digit || value.len() >= MIN_TELLING))
        || (has_digit && value.len() >= MIN_TELLING && !value.contains(' '))
}

fn collect_leaves(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Array(all) => all.iter().for_each(|it| collect_leaves(it, out)),
        Value::Object(all) => all.values().for_each(|it| collect_leaves(it, out)),
        Value::String(it) => _ = out.insert(it.clone()),
        Value::Number(it) => _ = out.insert(it.to_string()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_tell() {
        for (name, value, expected) in [
            ("id", "77", true),
            ("placeId", "77", true),
            ("place_id", "77", true),
            ("after", "YXJyYX", true),
            ("lat", "60.39", true),
            ("v", "77", false),
            ("page", "12", false),
            ("id", "all", false),
            ("sort", "relevance", false),
            ("x", "ab12cd", true),
            ("x", "in 2024 too", false),
        ] {
            assert_eq!(is_distinctive(name, value), expected, "{name}={value}");
        }
    }
}
