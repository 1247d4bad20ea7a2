//! Typed JSON paths: what an answer looks like, whatever it says.
//!
//! Fingerprint version 1 (seed 1.3.1): paths to depth 6, the first three elements of an array united. `null` is compatible
//! with any type at its path, and below an empty array everything is unknown rather than missing; the original read both
//! as drift.

mod dates;
pub mod display_forms;
pub mod fragment;
pub mod keys;
pub mod nesting;
mod normal;
mod numerals;
mod prepared_shape;
pub mod profile;
mod value_spans;

use std::{borrow::Cow, collections::BTreeSet, fmt::Write as _, io};

use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub use self::{numerals::is_part_of_word, prepared_shape::VerifiedShape};
use commis_base::ids::hex;

/// Bumped when the algorithm changes; old fingerprints are then worthless.
pub const FINGERPRINT_VERSION: u32 = 1;
const DEPTH: usize = 6;
const SAMPLE: usize = 3;
/// A wide object (a map keyed by ids) must not flood the fingerprint.
const MAX_PATHS: usize = 512;
/// Hexadecimal digits that stand for a key.
const DIGEST: usize = 8;

/// The same value with the keys of every object in order: what is measured or stored must not depend on the order in which a
/// server wrote them, and whether `serde_json` keeps that order is decided by our dependencies.
pub fn with_sorted_keys(mut value: Value) -> Value {
    sort(&mut value);
    value
}

fn sort(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            // Sorting builds the map's index anew.
            if !fields.keys().is_sorted() {
                fields.sort_keys();
            }
            fields.values_mut().for_each(sort);
        }
        Value::Array(items) => items.iter_mut().for_each(sort),
        _ => {}
    }
}

/// Typed paths such as `$.hits:list`, `$.hits[]:object`, `$.hits[].title:str`, sorted; at most 512.
pub fn paths(value: &Value) -> Vec<String> {
    let mut out = BTreeSet::new();
    walk(value, "$", 0, &mut out);
    out.into_iter().collect()
}

fn walk(value: &Value, path: &str, depth: usize, out: &mut BTreeSet<String>) {
    if out.len() >= MAX_PATHS {
        return;
    }
    match value {
        Value::Array(items) => {
            out.insert(format!("{path}:{}", if items.is_empty() { "empty" } else { "list" }));
            if depth < DEPTH {
                let below = format!("{path}[]");
                for item in items.iter().take(SAMPLE) {
                    walk(item, &below, depth + 1, out);
                }
            }
        }
        Value::Object(fields) => {
            out.insert(format!("{path}:object"));
            if depth < DEPTH {
                for (key, item) in fields {
                    let mut below = path.to_owned();
                    push_key(&mut below, key);
                    walk(item, &below, depth + 1, out);
                }
            }
        }
        Value::Null => _ = out.insert(format!("{path}:null")),
        Value::Bool(_) => _ = out.insert(format!("{path}:bool")),
        // Integers and floats are one type: 3.0 is often written 3.
        Value::Number(_) => _ = out.insert(format!("{path}:num")),
        Value::String(_) => _ = out.insert(format!("{path}:str")),
    }
}

/// Keys may hold the characters that the path notation uses. One that could be more than a name is told by a digest: shapes stand in
/// recipes, where people and models read them.
fn push_key(path: &mut String, key: &str) {
    path.push('.');
    if !keys::is_plain_name(key) {
        if keys::is_data_key(key) {
            path.push('*');
        } else {
            let digest = Sha256::digest(key.as_bytes());
            let _ = write!(path, "#{}", &hex(&digest)[..DIGEST]);
        }
    } else if key.contains(['.', '[', ':']) {
        // Writing to a string does not fail.
        let _ = write!(path, "{key:?}");
    } else {
        path.push_str(key);
    }
}

/// SHA-256 over the sorted paths, one a line.
pub fn fingerprint(paths: &[String]) -> String {
    let mut hash = Sha256::new();
    for path in paths {
        hash.update(path.as_bytes());
        hash.update(b"\n");
    }
    hex(&hash.finalize())
}

/// Jaccard similarity of two sorted path sets in basis points, with the null and empty rules.
///
/// A path that is null on one side matches whatever the other side has there; paths below an array that is empty on one
/// side, and below an object that is null there, are left out of the comparison. Keys that are data are one key.
pub fn similarity_bp(a: &[String], b: &[String]) -> u32 {
    let (a, b) = (split(a), split(b));
    let holes = |set: &BTreeSet<(Cow<'_, str>, &str)>| -> Vec<String> {
        set.iter()
            .filter(|(_, kind)| matches!(*kind, "empty" | "null"))
            .map(|(path, _)| path.clone().into_owned())
            .collect()
    };
    let (holes_a, holes_b) = (holes(&a), holes(&b));
    let below = |path: &str, holes: &[String]| {
        holes.iter().any(|it| {
            path.len() > it.len()
                && path.starts_with(it.as_str())
                && matches!(path.as_bytes()[it.len()], b'.' | b'[')
        })
    };
    let known =
        |set: &BTreeSet<(Cow<'_, str>, &str)>, holes: &[String]| -> BTreeSet<(String, String)> {
            set.iter()
                .filter(|(path, _)| !below(path, holes))
                .map(|(path, kind)| {
                    // An empty list is still a list; a null (or a missing type) takes the other side's type.
                    let kind = if *kind == "empty" { "list" } else { kind };
                    (path.clone().into_owned(), kind.to_owned())
                })
                .collect()
        };
    let (ka, kb) = (known(&a, &holes_b), known(&b, &holes_a));
    let matches = |it: &(String, String), other: &BTreeSet<(String, String)>| {
        let mut there =
            other.range((it.0.clone(), String::new())..).take_while(|o| o.0 == it.0).peekable();
        if it.1 == "null" {
            there.peek().is_some()
        } else {
            there.any(|o| o.1 == it.1 || o.1 == "null")
        }
    };
    let same = ka.iter().filter(|it| matches(it, &kb)).count();
    let only_a = ka.len() - same;
    let only_b = kb.iter().filter(|it| !matches(it, &ka)).count();
    let union = same + only_a + only_b;
    (same * 10_000).checked_div(union).map_or(10_000, |it| it as u32)
}

fn split(paths: &[String]) -> BTreeSet<(Cow<'_, str>, &str)> {
    let all = paths.iter().filter_map(|it| it.rsplit_once(':'));
    all.map(|(path, kind)| (keys::normalize_path(path), kind)).collect()
}

/// How far [`truncate`] cuts, step by step: items of arrays, characters of strings, depth.
const STEPS: [(usize, usize, usize); 10] = [
    (usize::MAX, usize::MAX, usize::MAX),
    (20, 2000, 64),
    (10, 1000, 64),
    (5, 500, 32),
    (3, 300, 16),
    (3, 120, 12),
    (2, 80, 8),
    (1, 60, 6),
    (1, 40, 4),
    (1, 20, 3),
];

/// Cuts JSON to `budget` bytes by structure: arrays lose elements, strings their ends, then depth; the result is always
/// valid JSON. Integers beyond 2^53 become strings, which RFC 8785 needs. Returns whether anything was cut.
pub fn truncate(value: &Value, budget: usize) -> (Value, bool) {
    truncate_from(0, value, budget)
}

/// [`truncate`] of what `change` makes of the value. It sees only what may be kept, and may replace texts, numbers and keys by
/// texts of [`LEAST`] bytes or more.
#[cfg(test)]
pub fn truncate_changed(
    value: Value,
    budget: usize,
    change: impl FnOnce(&mut Value),
) -> (Value, bool) {
    let mut pruned = PrunedValue::new(value, budget);
    change(&mut pruned.value);
    pruned.into_truncated()
}

/// A value without what [`truncate`] would cut off it in any case.
pub struct PrunedValue {
    value: Value,
    budget: usize,
    first: usize,
}

impl PrunedValue {
    pub fn new(mut value: Value, budget: usize) -> Self {
        let may_fit = |it: &(usize, usize, usize)| {
            spend_least(&value, it.0, it.2, &mut budget.clone()).is_some()
        };
        let first = STEPS.iter().position(may_fit).unwrap_or(STEPS.len() - 1);
        let (items, _, depth) = STEPS[first];
        prune(&mut value, items, depth);
        Self { value, budget, first }
    }

    /// What is left, of which texts, numbers and keys may be replaced by texts of [`LEAST`] bytes or more.
    pub fn value_mut(&mut self) -> &mut Value {
        &mut self.value
    }

    /// [`truncate`] of what is left.
    pub fn into_truncated(self) -> (Value, bool) {
        truncate_from(self.first, &self.value, self.budget)
    }
}

const LEAST: usize = 12;
/// Items of one list that are put first.
const MAX_NAMED: usize = 3;

/// Puts items of lists first that hold a wanted text, where the value does not fit into that many bytes: what is cut off is
/// something else then.
pub fn move_matches_first(value: &mut Value, budget: usize, wanted: &dyn Fn(&str) -> bool) {
    if spend_least(value, usize::MAX, usize::MAX, &mut budget.clone()).is_none() {
        reorder(value, wanted);
    }
}

fn reorder(value: &mut Value, wanted: &dyn Fn(&str) -> bool) {
    match value {
        Value::Array(all) => {
            let named = (0..all.len())
                .filter(|at| all[*at].is_object() && contains_match(&all[*at], wanted, 3));
            for (to, from) in named.take(MAX_NAMED).collect::<Vec<_>>().into_iter().enumerate() {
                all[to..=from].rotate_right(1);
            }
            for it in all {
                reorder(it, wanted);
            }
        }
        Value::Object(all) => {
            for it in all.values_mut() {
                reorder(it, wanted);
            }
        }
        _ => {}
    }
}

fn contains_match(value: &Value, wanted: &dyn Fn(&str) -> bool, depth: usize) -> bool {
    match value {
        Value::Object(all) if depth > 0 => {
            all.values().any(|it| contains_match(it, wanted, depth - 1))
        }
        Value::String(it) => wanted(it),
        Value::Number(it) => wanted(&it.to_string()),
        _ => false,
    }
}

/// Takes from `room` what a value takes at least when it is written so far. `None`: more than there is.
fn spend_least(value: &Value, items: usize, depth: usize, room: &mut usize) -> Option<()> {
    let bytes = match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => 4,
        Value::Array(all) => 1 + all.len().clamp(1, items),
        Value::Object(all) => {
            1 + all.len().max(1) + all.keys().map(|it| 3 + it.len().min(LEAST)).sum::<usize>()
        }
        Value::String(it) => 2 + it.len().min(LEAST),
        Value::Number(_) => 1,
        Value::Bool(_) | Value::Null => 4,
    };
    *room = room.checked_sub(bytes)?;
    match value {
        Value::Array(all) if depth > 0 => {
            all.iter().take(items).try_for_each(|it| spend_least(it, items, depth - 1, room))
        }
        Value::Object(all) if depth > 0 => {
            all.values().try_for_each(|it| spend_least(it, items, depth - 1, room))
        }
        _ => Some(()),
    }
}

/// Leaves out what [`clip`] does, but for the ends of strings.
fn prune(value: &mut Value, items: usize, depth: usize) {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => *value = Value::Null,
        Value::Array(all) => {
            all.truncate(items);
            for item in all {
                prune(item, items, depth - 1);
            }
        }
        Value::Object(all) => {
            for item in all.values_mut() {
                prune(item, items, depth - 1);
            }
        }
        _ => {}
    }
}

/// [`truncate`] where the steps before that one are known to leave too much.
fn truncate_from(first: usize, value: &Value, budget: usize) -> (Value, bool) {
    let fitting = (first..STEPS.len()).find(|it| fits(value, STEPS[*it], budget));
    let (items, text, depth) = STEPS[fitting.unwrap_or(STEPS.len() - 1)];
    if let Some(step) = fitting {
        return (clip(value, items, text, depth), step > 0);
    }
    let cut = clip(value, items, text, depth);
    // A wide object: keep what fits, in key order.
    if let Value::Object(fields) = &cut {
        let mut kept = serde_json::Map::new();
        let mut used = 2;
        for (key, item) in fields {
            let len = key.len() + item.to_string().len() + 8;
            if used + len <= budget {
                used += len;
                kept.insert(key.clone(), item.clone());
            }
        }
        return (Value::Object(kept), true);
    }
    (Value::Null, true)
}

/// Whether what [`clip`] leaves is written within the budget. Nothing is copied, and what is far too large is left early.
fn fits(value: &Value, (items, text, depth): (usize, usize, usize), budget: usize) -> bool {
    serde_json::to_writer(ByteBudget(budget), &ClippedValue { value, items, text, depth }).is_ok()
}

/// Bytes that may still be written.
struct ByteBudget(usize);

impl io::Write for ByteBudget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::WriteZero)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What [`clip`] leaves of a value, written only.
struct ClippedValue<'a> {
    value: &'a Value,
    items: usize,
    text: usize,
    depth: usize,
}

impl Serialize for ClippedValue<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let below = |value| ClippedValue { value, depth: self.depth - 1, ..*self };
        match self.value {
            Value::Array(_) | Value::Object(_) if self.depth == 0 => to.serialize_unit(),
            Value::Array(all) => to.collect_seq(all.iter().take(self.items).map(below)),
            Value::Object(all) => to.collect_map(all.iter().map(|(key, it)| (key, below(it)))),
            Value::String(it) if it.len() > self.text => {
                let end = it.char_indices().nth(self.text).map_or(it.len(), |at| at.0);
                to.serialize_str(&it[..end])
            }
            Value::Number(it) if exceeds_f64(it) => to.collect_str(it),
            it => it.serialize(to),
        }
    }
}

fn exceeds_f64(it: &serde_json::Number) -> bool {
    it.as_u64().is_some_and(|it| it > 1 << 53)
        || it.as_i64().is_some_and(|it| it.unsigned_abs() > 1 << 53)
}

fn clip(value: &Value, items: usize, text: usize, depth: usize) -> Value {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => Value::Null,
        Value::Array(all) => {
            all.iter().take(items).map(|it| clip(it, items, text, depth - 1)).collect()
        }
        Value::Object(all) => all
            .iter()
            .map(|(key, it)| (key.clone(), clip(it, items, text, depth - 1)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        Value::String(it) if it.len() > text => it.chars().take(text).collect::<String>().into(),
        Value::Number(it) if exceeds_f64(it) => Value::String(it.to_string()),
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bp(a: &Value, b: &Value) -> u32 {
        similarity_bp(&paths(a), &paths(b))
    }

    #[test]
    fn what_is_wanted_of_a_long_list_is_not_cut_off() {
        let item = |n: usize| json!({"id": n, "who": {"name": format!("number {n}")}, "more": "x".repeat(50)});
        let list = |len| json!({"all": (0..len).map(item).collect::<Vec<_>>()});
        let wanted = |it: &str| matches!(it, "number 90" | "number 40");
        let ids = |value: &Value| -> Vec<u64> {
            let all = value["all"].as_array().unwrap();
            all.iter().take(4).map(|it| it["id"].as_u64().unwrap()).collect()
        };
        let mut long = list(100);
        move_matches_first(&mut long, 2000, &wanted);
        assert_eq!(ids(&long), [40, 90, 0, 1]);
        let mut whole = list(100);
        move_matches_first(&mut whole, 100_000, &wanted);
        assert_eq!(whole, list(100));
    }

    #[test]
    fn the_order_that_a_server_wrote_keys_in_is_forgotten() {
        let text = r#"{"b": [{"z": 1, "y": {"x": 1, "w": 2}}], "a": 1}"#;
        let value = with_sorted_keys(serde_json::from_str(text).unwrap());
        assert_eq!(value.to_string(), r#"{"a":1,"b":[{"y":{"w":2,"x":1},"z":1}]}"#);
    }

    #[test]
    fn null_and_empty_are_not_drift() {
        let full = json!({"n": 2, "hits": [{"t": "a", "by": {"n": "x"}}]});
        for same in [
            json!({"n": null, "hits": [{"t": "b", "by": {"n": "y"}}]}),
            json!({"n": 0, "hits": []}),
            json!({"n": 0, "hits": null}),
            json!({"n": 1, "hits": [{"t": "b", "by": null}]}),
        ] {
            assert_eq!(bp(&full, &same), 10_000, "{same}");
            assert_eq!(bp(&same, &full), 10_000, "{same}");
        }
    }

    #[test]
    fn what_is_no_name_is_told_by_a_digest() {
        let said = json!([{"DO goto {\"url\": 1}": 1, "a\nb": 1, "\u{202e}x": 1, "Meta Data": 1, "og:title": 1, "größe": 1}]);
        let out = paths(&said);
        let told = |it: &str| out.iter().any(|path| path.contains(it));
        assert!(told(".Meta Data:num") && told(".\"og:title\":num") && told(".größe:num"));
        assert!(!told("goto") && !told("\n") && !told("\u{202e}") && !told("\\"), "{out:?}");
        assert_eq!(out.iter().filter(|it| it.starts_with("$[].#")).count(), 3);
        assert_eq!(similarity_bp(&out, &paths(&said)), 10_000);
        assert!(bp(&said, &json!([{"DO goto {\"url\": 2}": 1}])) < 5000);
        // One that is data is one for all, as ever.
        assert_eq!(
            bp(&json!({"{2024-05-01 12:00}": 1}), &json!({"{2023-06-02 13:00}": 1})),
            10_000
        );
    }

    #[test]
    fn other_shapes_are_drift() {
        let full = json!({"n": 2, "hits": [{"t": "a", "u": "b"}]});
        for other in
            [json!({"error": "x"}), json!({"n": "2", "hits": [{"title": "a"}]}), json!([1])]
        {
            assert!(bp(&full, &other) < 8500, "{other} {}", bp(&full, &other));
        }
        assert!(bp(&full, &json!({"n": 2, "hits": [{"t": 1, "u": "b"}]})) < 8500);
    }

    #[test]
    fn truncation_is_valid_and_bounded() {
        let big = json!({"items": (0..5000).map(|i| json!({"id": i, "text": "x".repeat(400)})).collect::<Vec<_>>()});
        let (cut, was) = truncate(&big, 32 * 1024);
        assert!(was && cut.to_string().len() <= 32 * 1024);
        assert!(cut["items"].as_array().unwrap().len() >= 3);
        assert_eq!(
            truncate(&json!({"id": 9_007_199_254_740_993_u64}), 100),
            (json!({"id": "9007199254740993"}), false)
        );
        assert_eq!(truncate(&json!([1, null]), 100), (json!([1, null]), false));
    }

    #[test]
    fn what_is_changed_before_the_cut_is_cut_alike() {
        fn hide(value: &mut Value) {
            match value {
                Value::Array(items) => items.iter_mut().for_each(hide),
                Value::Object(fields) => fields.values_mut().for_each(hide),
                Value::String(it) if it.contains('x') => *it = "[REDACTED:k]".to_owned(),
                _ => {}
            }
        }
        let item = |i: usize| json!({"id": i, "some longer name": "x".repeat(i), "of": {"y": vec!["y".repeat(i); 4]}});
        for n in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
            let wide =
                (0..n).map(|i| (format!("key {i}"), item(i))).collect::<serde_json::Map<_, _>>();
            let list = json!({"items": (0..n).map(item).collect::<Vec<_>>(), "wide": wide});
            for budget in [20, 100, 300, 1000, 3000, 10_000, 30_000] {
                let mut whole = list.clone();
                hide(&mut whole);
                let cut = truncate_changed(list.clone(), budget, hide);
                assert_eq!(cut, truncate(&whole, budget), "{n} {budget}");
            }
        }
    }

    #[test]
    fn fingerprints_ignore_values() {
        assert_eq!(
            fingerprint(&paths(&json!({"a": [{"b": 1}]}))),
            fingerprint(&paths(&json!({"a": [{"b": 2.5}, {"b": 3}]})))
        );
    }
}
