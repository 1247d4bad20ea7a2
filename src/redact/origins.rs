//! Where the secret values of a request came from: an earlier answer, the page, a cookie. Never the value itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use serde_json::Value;

use super::{
    body::Parsed,
    encode::decode_percent,
    measures::push_key,
    raw::{RawExchange, RawPage},
    vault::Vault,
};
use crate::artifacts::recording::Origin;

const MAX_ANCHOR: usize = 48;
const MIN_ANCHOR: usize = 4;

/// Finds sources. Built once per recording from the values that requests used.
pub struct Sources {
    /// By value: in which exchange and where.
    answers: BTreeMap<String, Vec<(usize, Found)>>,
    metas: BTreeMap<String, String>,
    /// By value: name, and from which exchange on.
    cookies: BTreeMap<String, (String, usize)>,
}

#[derive(Clone)]
enum Found {
    Path(String),
    Anchor { after: String, until: String },
}

impl Sources {
    pub fn new(
        values: &[String],
        exchanges: &[RawExchange],
        parsed: &[Parsed],
        page: &RawPage,
        vault: &Vault,
    ) -> Self {
        let mut it =
            Self { answers: BTreeMap::new(), metas: BTreeMap::new(), cookies: BTreeMap::new() };
        let wanted: BTreeSet<&str> =
            values.iter().filter(|it| it.len() >= 6).map(String::as_str).collect();
        if wanted.is_empty() {
            return it;
        }
        for (name, value) in &page.metas {
            if wanted.contains(value.as_str()) {
                it.metas.entry(value.clone()).or_insert_with(|| name.clone());
            }
        }
        let mut cookie = |name: &str, value: &str, from: usize| {
            for form in
                [value.to_owned(), decode_percent(value), decode_percent(value.trim_matches('"'))]
            {
                if wanted.contains(form.as_str()) {
                    let known = it.cookies.entry(form).or_insert_with(|| (name.to_owned(), from));
                    known.1 = known.1.min(from);
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
        for (i, (raw, body)) in exchanges.iter().zip(parsed).enumerate() {
            if !raw.method.eq_ignore_ascii_case("GET") || raw.status != Some(200) {
                continue;
            }
            match body {
                Parsed::Json(value, _) => leaves(value, &wanted, &mut |value, path| {
                    it.answers.entry(value.to_owned()).or_default().push((i, Found::Path(path)));
                }),
                Parsed::Html(text) | Parsed::Code(text) | Parsed::Text(text) => {
                    for (value, at) in vault.plain_hits(text) {
                        if wanted.contains(value.as_str())
                            && let Some(anchor) = anchor(text, at, value.len(), vault)
                        {
                            it.answers.entry(value).or_default().push((i, anchor));
                        }
                    }
                }
                Parsed::Binary | Parsed::None => {}
            }
        }
        it
    }

    /// For a value in exchange `at`; `urls` are the stored URLs.
    pub fn origin(&self, value: &str, at: usize, urls: &[String]) -> Option<Origin> {
        let before: Vec<&(usize, Found)> =
            self.answers.get(value).into_iter().flatten().filter(|it| it.0 < at).collect();
        // An address that held a secret itself cannot be asked for again.
        let plain = |i: usize| urls.get(i).filter(|it| !it.contains("REDACTED")).cloned();
        // The latest answer before the request: an older one may have held an older value of the same name.
        let path = before.iter().rev().find_map(|(i, it)| match it {
            Found::Path(path) => Some(Origin::Response { url: plain(*i)?, path: path.clone() }),
            Found::Anchor { .. } => None,
        });
        if path.is_some() {
            return path;
        }
        if let Some(name) = self.metas.get(value) {
            return Some(Origin::Meta { name: name.clone() });
        }
        let anchor = before.iter().rev().find_map(|(i, it)| match it {
            Found::Anchor { after, until } => Some(Origin::Document {
                url: plain(*i)?,
                after: after.clone(),
                until: until.clone(),
            }),
            Found::Path(_) => None,
        });
        anchor.or_else(|| {
            let (name, from) = self.cookies.get(value)?;
            (*from <= at).then(|| Origin::Cookie { name: name.clone() })
        })
    }
}

/// Text before the value by which it can be found again, and the character that ends it.
fn anchor(text: &str, at: usize, len: usize, vault: &Vault) -> Option<Found> {
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
        .then(|| Found::Anchor { after: after.to_owned(), until: until.to_string() })
}

/// Wanted string leaves with their JMESPath.
fn leaves(value: &Value, wanted: &BTreeSet<&str>, found: &mut impl FnMut(&str, String)) {
    fn walk(
        value: &Value,
        path: &mut String,
        wanted: &BTreeSet<&str>,
        found: &mut impl FnMut(&str, String),
    ) {
        match value {
            Value::String(text) if text.len() >= 6 && wanted.contains(text.as_str()) => {
                found(text, if path.is_empty() { "@".to_owned() } else { path.clone() });
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
