//! Where the secret values of a request came from: an earlier answer, the page, a cookie. Never the value itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::Value;

use super::{
    body::ParsedBody,
    encode::decode_percent,
    measures::push_key,
    placeholders::SecretIndex,
    raw::{RawExchange, RawPage, RawStorageEntry},
};
use commis_artifacts::recording::Origin;
use commis_recipe::model::StorageArea;

const MAX_ANCHOR: usize = 48;
const MIN_ANCHOR: usize = 4;
/// A longer one is no path that a recipe would name.
const MAX_PATH: usize = 1024;

/// Finds sources. Built once per recording from the values that requests used.
pub struct OriginIndex<'a> {
    wanted: BTreeSet<&'a str>,
    /// A bit for each length of a wanted value, the last for all others.
    lengths: u64,
    /// By value: in which exchange and where, in order.
    answers: BTreeMap<String, ValuePlaces>,
    metas: BTreeMap<String, String>,
    /// By value: where the source page's origin stored it.
    stored: BTreeMap<String, (StorageArea, String, Option<String>)>,
    /// By value: name, whether it is decoded, and from which exchange on.
    cookies: BTreeMap<String, (String, bool, usize)>,
}

#[derive(Default)]
struct ValuePlaces {
    paths: Vec<(usize, String)>,
    anchors: Vec<(usize, String, String)>,
}

pub enum ValuePlace {
    Path(String),
    Anchor { after: String, until: String },
}

impl<'a> OriginIndex<'a> {
    /// `url` is the source page's: what other origins stored is not there at its next visit.
    pub fn new(values: &'a [String], exchanges: &[RawExchange], page: &RawPage, url: &str) -> Self {
        let wanted: BTreeSet<&str> =
            values.iter().filter(|it| it.len() >= 6).map(String::as_str).collect();
        let mut it = Self {
            lengths: wanted.iter().fold(0, |it, value| it | 1 << value.len().min(63)),
            wanted,
            answers: BTreeMap::new(),
            metas: BTreeMap::new(),
            stored: BTreeMap::new(),
            cookies: BTreeMap::new(),
        };
        if it.wanted.is_empty() {
            return it;
        }
        for (name, value) in &page.metas {
            if it.wanted.contains(value.as_str()) {
                it.metas.entry(value.clone()).or_insert_with(|| name.clone());
            }
        }
        if same_origin(url, &page.url) {
            for RawStorageEntry { area, key, value } in &page.stored {
                let mut found = |value: &str, path: Option<&str>| {
                    let place = (*area, key.clone(), path.map(str::to_owned));
                    it.stored.entry(value.to_owned()).or_insert(place);
                };
                if it.wanted.contains(value.as_str()) {
                    found(value, None);
                } else if let Ok(json) = serde_json::from_str::<Value>(value) {
                    each_wanted_leaf(&json, &it.wanted, &mut |value, path| {
                        if path.len() <= MAX_PATH {
                            found(value, Some(path));
                        }
                    });
                }
            }
        }
        let mut cookie = |name: &str, value: &str, from: usize| {
            for form in
                [value.into(), decode_percent(value), decode_percent(value.trim_matches('"'))]
            {
                if it.wanted.contains(&*form) {
                    let decoded = *form != *value;
                    let known = it
                        .cookies
                        .entry(form.into_owned())
                        .or_insert_with(|| (name.to_owned(), decoded, from));
                    known.2 = known.2.min(from);
                }
            }
        };
        for (name, value) in &page.cookies {
            cookie(name, value, 0);
        }
        for (i, raw) in exchanges.iter().enumerate() {
            for (name, value) in &raw.request_headers {
                if name.eq_ignore_ascii_case("cookie") {
                    value
                        .split(';')
                        .filter_map(|it| it.trim().split_once('='))
                        .for_each(|(k, v)| cookie(k, v, i));
                }
            }
            for (name, value) in &raw.response_headers {
                if name.eq_ignore_ascii_case("set-cookie") {
                    for line in value.lines() {
                        if let Some((k, v)) =
                            line.split(';').next().and_then(|it| it.split_once('='))
                        {
                            cookie(k.trim(), v.trim(), i + 1);
                        }
                    }
                }
            }
        }
        it
    }

    /// Wanted values in one answer and where they stand.
    pub fn in_answer(
        &self,
        raw: &RawExchange,
        body: &ParsedBody,
        vault: &SecretIndex,
    ) -> Vec<(String, ValuePlace)> {
        let mut out = Vec::new();
        let asked = raw.method.eq_ignore_ascii_case("GET") && raw.status == Some(200);
        if self.wanted.is_empty() || !asked {
            return out;
        }
        match body {
            ParsedBody::Json(value, _) if self.holds_wanted(value) => {
                // The last place of each is the one that counts.
                let mut places = BTreeMap::new();
                each_wanted_leaf(value, &self.wanted, &mut |value, path| {
                    if path.len() <= MAX_PATH {
                        path.clone_into(places.entry(value.to_owned()).or_default());
                    }
                });
                out.extend(places.into_iter().map(|(value, path)| (value, ValuePlace::Path(path))));
            }
            ParsedBody::Html(text) | ParsedBody::Code(text) | ParsedBody::Text(text) => {
                for (value, at) in vault.plain_hits(text) {
                    if self.wanted.contains(value.as_str())
                        && let Some(anchor) = anchor(text, at, value.len(), vault)
                    {
                        out.push((value, anchor));
                    }
                }
            }
            ParsedBody::Json(..) | ParsedBody::Binary | ParsedBody::None => {}
        }
        out
    }

    /// Whether a wanted value is anywhere in it; most answers hold none, and need no paths.
    fn holds_wanted(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                self.lengths >> text.len().min(63) & 1 == 1 && self.wanted.contains(text.as_str())
            }
            Value::Object(fields) => fields.values().any(|it| self.holds_wanted(it)),
            Value::Array(items) => items.iter().any(|it| self.holds_wanted(it)),
            _ => false,
        }
    }

    /// Keeps what stands in answer `i`; in order. `urls` are the stored URLs.
    pub fn add(&mut self, i: usize, found: Vec<(String, ValuePlace)>, urls: &[String]) {
        // An address that held a secret itself cannot be asked for again.
        if urls.get(i).is_none_or(|it| it.contains("REDACTED")) {
            return;
        }
        for (value, found) in found {
            let places = self.answers.entry(value).or_default();
            match found {
                ValuePlace::Path(path) => places.paths.push((i, path)),
                ValuePlace::Anchor { after, until } => places.anchors.push((i, after, until)),
            }
        }
    }

    /// For a value in exchange `at`; `urls` are the stored URLs.
    pub fn origin(&self, value: &str, at: usize, urls: &[String]) -> Option<Origin> {
        let places = self.answers.get(value);
        // The latest answer before the request: an older one may have held an older value of the same name.
        let path = places.and_then(|it| {
            let (i, path) = it.paths[..it.paths.partition_point(|it| it.0 < at)].last()?;
            Some(Origin::Response { url: urls.get(*i)?.clone(), path: path.clone() })
        });
        if path.is_some() {
            return path;
        }
        if let Some(name) = self.metas.get(value) {
            return Some(Origin::Meta { name: name.clone() });
        }
        let anchor = places.and_then(|it| {
            let before = it.anchors.partition_point(|it| it.0 < at);
            let (i, after, until) = it.anchors[..before].last()?;
            Some(Origin::Document {
                url: urls.get(*i)?.clone(),
                after: after.clone(),
                until: until.clone(),
            })
        });
        let cookie = || {
            let (name, decoded, from) = self.cookies.get(value)?;
            (*from <= at).then(|| Origin::Cookie { name: name.clone(), decoded: *decoded })
        };
        anchor.or_else(cookie).or_else(|| {
            let (area, key, path) = self.stored.get(value)?.clone();
            Some(Origin::Storage { area, key, path })
        })
    }
}

fn same_origin(one: &str, other: &str) -> bool {
    let origin = |it: &str| Some(url::Url::parse(it).ok()?.origin());
    origin(one).is_some_and(|it| it.is_tuple() && Some(it) == origin(other))
}

/// Text before the value by which it can be found again, and the character that ends it.
fn anchor(text: &str, at: usize, len: usize, vault: &SecretIndex) -> Option<ValuePlace> {
    let line = text[..at].rfind('\n').map_or(0, |it| it + 1);
    let until = text[at + len..].chars().next().filter(|it| !it.is_control())?;
    if text[at..at + len].contains(until) {
        return None;
    }
    let mut from = line.max(at.saturating_sub(MAX_ANCHOR));
    while !text.is_char_boundary(from) {
        from += 1;
    }
    // The longest that holds no secret.
    while vault.holds_secret(&text[from..at]) || text[from..at].contains("[REDACTED:") {
        from += (at - from).div_ceil(2);
        while !text.is_char_boundary(from) {
            from += 1;
        }
    }
    let after = &text[from..at];
    (after.len() >= MIN_ANCHOR && text.matches(after).take(2).count() == 1)
        .then(|| ValuePlace::Anchor { after: after.to_owned(), until: until.to_string() })
}

/// Wanted string leaves with their JMESPath.
fn each_wanted_leaf(value: &Value, wanted: &BTreeSet<&str>, found: &mut impl FnMut(&str, &str)) {
    fn walk(
        value: &Value,
        path: &mut String,
        wanted: &BTreeSet<&str>,
        found: &mut impl FnMut(&str, &str),
    ) {
        match value {
            Value::String(text) if text.len() >= 6 && wanted.contains(text.as_str()) => {
                found(text, if path.is_empty() { "@" } else { path });
            }
            Value::Object(fields) => {
                for (key, item) in fields {
                    let len = path.len();
                    if !path.is_empty() {
                        path.push('.');
                    }
                    push_key(path, key);
                    walk(item, path, wanted, found);
                    path.truncate(len);
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    let len = path.len();
                    let _ = write!(path, "[{i}]");
                    walk(item, path, wanted, found);
                    path.truncate(len);
                }
            }
            _ => {}
        }
    }
    walk(value, &mut String::new(), wanted, found);
}
