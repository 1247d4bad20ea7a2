//! Where in a request the values are that a person typed.

use std::collections::BTreeMap;

use serde_json::Value;
use url::Url;

use super::{
    body::{essence, parts},
    choice_spelling::is_in_host,
    encode::decode_percent,
    raw::RawExchange,
};
use commis_artifacts::recording::{Action, Place, TypedHit};
use commis_recipe::{shape, template::Filter};

const MAX_HITS: usize = 64;

/// What a person typed, ready to be compared.
pub struct TypedValues {
    /// As typed, by name.
    plain: Vec<(String, String)>,
    changed: Vec<ChangedValue>,
    /// What a form sends for those that name an option.
    sent: Vec<SentOption>,
    /// What was chosen of several, by name, as a request sends it: may choose a host.
    chosen: Vec<(String, String)>,
}

/// The value of the option that was chosen by its label.
struct SentOption {
    name: String,
    value: String,
    /// Of the form's field.
    field: String,
}

/// What a page may have made of a typed value.
struct ChangedValue {
    name: String,
    text: String,
    /// Of how many words, and which.
    word: Option<(usize, usize)>,
}

/// What a value was encoded as must be so long to count.
const LEAST_CODE: usize = 6;

/// A changed value must be so long to count inside another text.
const LEAST_PART: usize = 8;

impl TypedValues {
    pub fn new(typed: &BTreeMap<String, String>, actions: &[Action]) -> Self {
        let plain: Vec<(String, String)> = typed
            .iter()
            .map(|(name, value)| (name.clone(), squash(value)))
            .filter(|it| !it.1.is_empty())
            .collect();
        let mut changed: Vec<ChangedValue> = Vec::new();
        for (name, value) in typed.iter().filter(|it| it.1.len() <= 200) {
            for chain in Filter::CHAINS {
                let text = chain.iter().fold(value.clone(), |it, filter| filter.apply(&it));
                let words = value.split_whitespace().count();
                let word = chain.iter().find_map(|it| it.word()).map(|it| (it, words));
                let text = squash(&text);
                let known =
                    |it: &ChangedValue| it.name == *name && it.text == text && it.word == word;
                let is_new = text != squash(value) && !changed.iter().any(known);
                let least = if chain.iter().any(|it| it.is_encoding()) { LEAST_CODE } else { 2 };
                if is_new && text.chars().count() >= least && word.is_none_or(|it| it.1 <= 4) {
                    changed.push(ChangedValue { name: name.clone(), text, word });
                }
            }
        }
        let controls = || actions.iter().filter_map(|it| it.control.as_ref());
        let sent = typed.iter().filter_map(|(name, word)| {
            let (value, field) =
                controls().find_map(|it| Some((it.sent_value(word)?, &it.name)))?;
            let (name, value) = (name.clone(), squash(value));
            Some(SentOption { name, value, field: field.to_lowercase() })
        });
        let chosen = typed.iter().filter_map(|(name, word)| {
            let control = controls().find(|it| it.offers(word) && it.choices().nth(1).is_some())?;
            Some((name.clone(), squash(control.sent_value(word).unwrap_or(word))))
        });
        let chosen = chosen.filter(|it| !it.1.is_empty()).collect();
        Self { plain, changed, sent: sent.collect(), chosen }
    }

    /// Every place, in the order path, query, body; by name within a place.
    pub fn find(&self, raw: &RawExchange, content_type: &str) -> Vec<TypedHit> {
        let mut out = Vec::new();
        if self.plain.is_empty() {
            return out;
        }
        self.as_typed(raw, content_type, &mut out);
        self.as_changed(raw, content_type, &mut out);
        self.as_host(&raw.url, &mut out);
        let named: Vec<String> = out
            .iter()
            .filter(|it| it.option && self.has_field_name(it))
            .map(|it| it.name.clone())
            .collect();
        out.retain(|it| !it.option || !named.contains(&it.name) || self.has_field_name(it));
        out.truncate(MAX_HITS);
        out
    }

    /// A value as short as an option's stands anywhere: where the field's own name is, it is meant there.
    fn has_field_name(&self, hit: &TypedHit) -> bool {
        let key = hit.key.rsplit('/').next().unwrap_or_default().to_lowercase();
        self.sent.iter().any(|it| it.name == hit.name && !it.field.is_empty() && it.field == key)
    }

    /// Choices that stand nowhere else: one may be the host, or the first labels of its name.
    fn as_host(&self, url: &Url, out: &mut Vec<TypedHit>) {
        for (name, value) in &self.chosen {
            if is_in_host(url, value) && !out.iter().any(|it| it.name == *name) {
                let option = self.sent.iter().any(|it| it.name == *name);
                push(out, TypedHit { option, ..hit(name, Place::Host, String::new(), true) });
            }
        }
    }

    /// Values that stand nowhere as they were typed, as a page may have changed them.
    fn as_changed(&self, raw: &RawExchange, content_type: &str, out: &mut Vec<TypedHit>) {
        let left: Vec<&ChangedValue> =
            self.changed.iter().filter(|it| !out.iter().any(|hit| hit.name == it.name)).collect();
        if left.is_empty() {
            return;
        }
        let mut words: Vec<(&str, usize, usize, TypedHit)> = Vec::new();
        each_part(raw, content_type, &mut |text, place, key| {
            let text = squash(text);
            for it in &left {
                let exact = text == it.text;
                let inside =
                    it.text.chars().count() >= LEAST_PART && contains_typed(&text, &it.text);
                let hit = || hit(&it.name, place, key.to_owned(), exact);
                match it.word {
                    Some((n, of)) if exact => words.push((&it.name, n, of, hit())),
                    None if exact || inside => {
                        push(out, hit());
                    }
                    _ => {}
                }
            }
        });
        for (name, _, of, hit) in &words {
            let whole = (1..=*of).all(|n| words.iter().any(|it| it.0 == *name && it.1 == n));
            if whole {
                push(out, hit.clone());
            }
        }
    }

    fn as_typed(&self, raw: &RawExchange, content_type: &str, out: &mut Vec<TypedHit>) {
        for (i, segment) in raw.url.path_segments().into_iter().flatten().enumerate() {
            let text = decode_percent(segment);
            self.check(&text, true, Place::Path, || i.to_string(), out);
        }
        for (name, value) in raw.url.query_pairs() {
            if !self.check(&value, false, Place::Query, || name.to_string(), out) {
                self.inside(&value, Place::Query, &name, out);
            }
        }
        self.check_fragmentless(&raw.url, out);
        if let Some(text) = raw.request_body.as_deref().and_then(|it| std::str::from_utf8(it).ok())
        {
            let mime = essence(content_type);
            if (mime.contains("json") || text.trim_start().starts_with(['{', '[']))
                && let Ok(value) = serde_json::from_str(text).map(shape::with_sorted_keys)
            {
                self.json(&value, &mut String::new(), out);
            } else if let Some(pairs) = form_pairs(text, content_type) {
                for (name, value) in pairs {
                    if !self.check(&value, false, Place::Form, || name.clone(), out) {
                        self.inside(&value, Place::Form, &name, out);
                    }
                }
            } else {
                let text = decode_percent(text);
                self.check(&text, false, Place::Text, String::new, out);
            }
        }
    }

    /// A query that is no list of pairs: `?rust`.
    fn check_fragmentless(&self, url: &Url, out: &mut Vec<TypedHit>) {
        if let Some(query) = url.query().filter(|it| !it.contains('=')) {
            self.check(&decode_percent(query), true, Place::Query, String::new, out);
        }
    }

    fn json(&self, value: &Value, pointer: &mut String, out: &mut Vec<TypedHit>) {
        if out.len() >= MAX_HITS {
            return;
        }
        match value {
            Value::Object(fields) => {
                for (key, item) in fields {
                    let len = pointer.len();
                    pointer.push('/');
                    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                    self.json(item, pointer, out);
                    pointer.truncate(len);
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    let len = pointer.len();
                    pointer.push('/');
                    pointer.push_str(&i.to_string());
                    self.json(item, pointer, out);
                    pointer.truncate(len);
                }
            }
            Value::String(text) => {
                let found = self.check(text, false, Place::Json, || pointer.clone(), out);
                if !found {
                    self.inside(text, Place::Json, pointer, out);
                }
            }
            Value::Number(number) => {
                let text = number.to_string();
                for (name, _) in self.plain.iter().filter(|it| it.1 == text) {
                    push(out, hit(name, Place::Json, pointer.clone(), true));
                }
                self.options(&text, Place::Json, || pointer.clone(), out);
            }
            _ => {}
        }
    }

    /// Values inside a value: JSON or a form in a string, whose parts are encoded once more.
    fn inside(&self, text: &str, place: Place, key: &str, out: &mut Vec<TypedHit>) {
        let mut part = |text: &str| {
            let text = squash(text);
            for (name, typed) in &self.plain {
                if contains_typed(&text, typed) {
                    push(out, hit(name, place, key.to_owned(), false));
                }
            }
            for it in self.sent.iter().filter(|it| it.value == text) {
                push(out, TypedHit { option: true, ..hit(&it.name, place, key.to_owned(), false) });
            }
        };
        let trimmed = text.trim_start();
        if trimmed.starts_with(['{', '['])
            && let Ok(value) = serde_json::from_str(text).map(shape::with_sorted_keys)
        {
            leaves(&value, &mut part);
        } else if text.contains(['%', '+']) {
            part(&decode_percent(&text.replace('+', " ")));
        }
    }

    /// Compares one value; returns whether anything was found in it.
    fn check(
        &self,
        text: &str,
        slug: bool,
        place: Place,
        key: impl Fn() -> String,
        out: &mut Vec<TypedHit>,
    ) -> bool {
        let plain = squash(text);
        let slugged = slug.then(|| squash(&text.replace(['+', '-', '_'], " ")));
        let mut found = false;
        for (name, typed) in &self.plain {
            let unslugged = || squash(&typed.replace(['+', '-', '_'], " "));
            // `new-york` as a whole value; as a part of one it could be any words.
            let spelled = typed.contains(' ')
                && !text.contains(' ')
                && squash(&text.replace(['+', '-', '_'], " ")) == unslugged();
            let exact =
                plain == *typed || spelled || slugged.as_ref().is_some_and(|it| *it == unslugged());
            let inside = exact
                || contains_typed(&plain, typed)
                || slugged.as_ref().is_some_and(|it| contains_typed(it, &unslugged()));
            if inside {
                push(out, hit(name, place, key(), exact));
                found = true;
            }
        }
        self.options(&plain, place, key, out);
        found
    }

    /// Only as the whole value.
    fn options(
        &self,
        plain: &str,
        place: Place,
        key: impl Fn() -> String,
        out: &mut Vec<TypedHit>,
    ) {
        for it in self.sent.iter().filter(|it| it.value == plain) {
            // `deck_4` is what stands for `Deck`, and not a text with that word.
            let key = key();
            out.retain(|hit| {
                hit.exact || hit.name != it.name || hit.place != place || hit.key != key
            });
            push(out, TypedHit { option: true, ..hit(&it.name, place, key, true) });
        }
    }
}

fn hit(name: &str, place: Place, key: String, exact: bool) -> TypedHit {
    TypedHit { name: name.to_owned(), place, key, exact, option: false }
}

/// Each value of a request with its place.
fn each_part(raw: &RawExchange, content_type: &str, part: &mut dyn FnMut(&str, Place, &str)) {
    for (i, segment) in raw.url.path_segments().into_iter().flatten().enumerate() {
        part(&decode_percent(segment), Place::Path, &i.to_string());
    }
    for (name, value) in raw.url.query_pairs() {
        part(&value, Place::Query, &name);
    }
    let Some(text) = raw.request_body.as_deref().and_then(|it| std::str::from_utf8(it).ok()) else {
        return;
    };
    let mime = essence(content_type);
    if (mime.contains("json") || text.trim_start().starts_with(['{', '[']))
        && let Ok(value) = serde_json::from_str(text).map(shape::with_sorted_keys)
    {
        json_parts(&value, &mut String::new(), part);
    } else if let Some(pairs) = form_pairs(text, content_type) {
        for (name, value) in pairs {
            part(&value, Place::Form, &name);
        }
    }
}

/// The fields of a form, whole or in parts, but for its files; `None` for another body.
fn form_pairs(text: &str, content_type: &str) -> Option<Vec<(String, String)>> {
    match essence(content_type).as_str() {
        "application/x-www-form-urlencoded" => {
            Some(url::form_urlencoded::parse(text.as_bytes()).into_owned().collect())
        }
        "multipart/form-data" => {
            let fields = parts(text.as_bytes(), content_type).into_iter();
            Some(fields.filter(|it| it.file.is_none()).map(|it| (it.name, it.value)).collect())
        }
        _ => None,
    }
}

fn json_parts(value: &Value, pointer: &mut String, part: &mut dyn FnMut(&str, Place, &str)) {
    let len = pointer.len();
    match value {
        Value::Object(fields) => {
            for (key, item) in fields {
                pointer.push('/');
                pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
                json_parts(item, pointer, part);
                pointer.truncate(len);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                pointer.push('/');
                pointer.push_str(&i.to_string());
                json_parts(item, pointer, part);
                pointer.truncate(len);
            }
        }
        Value::String(text) => part(text, Place::Json, pointer),
        Value::Number(it) => part(&it.to_string(), Place::Json, pointer),
        _ => {}
    }
}

fn push(out: &mut Vec<TypedHit>, hit: TypedHit) {
    if !out.iter().any(|it| it.name == hit.name && it.place == hit.place && it.key == hit.key) {
        out.push(hit);
    }
}

fn leaves(value: &Value, part: &mut impl FnMut(&str)) {
    match value {
        Value::Object(fields) => fields.values().for_each(|it| leaves(it, part)),
        Value::Array(items) => items.iter().for_each(|it| leaves(it, part)),
        Value::String(text) => part(text),
        Value::Number(number) => part(&number.to_string()),
        _ => {}
    }
}

/// Lower case, white space as one blank.
fn squash(text: &str) -> String {
    text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Contains it, not inside a word. Single characters are everywhere and prove nothing.
fn contains_typed(text: &str, typed: &str) -> bool {
    if typed.chars().count() < 2 {
        return false;
    }
    let word = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    let (starts, ends) = (word(typed.chars().next()), word(typed.chars().next_back()));
    text.match_indices(typed).any(|(at, _)| {
        let before = starts
            && word(text[..at].chars().next_back())
            && !shape::is_part_of_word(&text[..at], typed);
        let after = ends && word(text[at + typed.len()..].chars().next());
        !before && !after
    })
}
