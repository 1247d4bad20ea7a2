//! A shape prepared for being compared with many answers: nothing is written down for what is as it was.
//!
//! [`VerifiedShape::similarity_bp`] is `similarity_bp(shape, &paths(value))`, which says what it means.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use super::{DEPTH, MAX_PATHS, SAMPLE, keys, push_key};

/// Kinds of values, a bit each, in the order of their bits.
const KINDS: [&str; 7] = ["null", "empty", "list", "object", "bool", "num", "str"];
const NULL: u8 = 1;
const EMPTY: u8 = 1 << 1;
const LIST: u8 = 1 << 2;
const OBJECT: u8 = 1 << 3;
const BOOL: u8 = 1 << 4;
const NUM: u8 = 1 << 5;
const STR: u8 = 1 << 6;

/// What stands at one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Kinds {
    known: u8,
    /// How many that no value has: somebody wrote them.
    others: u32,
}

/// Typed paths, as [`super::paths`] gives them, by path.
#[derive(Clone, Debug)]
pub struct VerifiedShape {
    paths: Vec<(String, Kinds)>,
}

impl VerifiedShape {
    pub fn new(shape: &[String]) -> Self {
        let mut all: Vec<(Cow<'_, str>, &str)> = shape
            .iter()
            .filter_map(|it| it.rsplit_once(':'))
            .map(|(path, kind)| (keys::normalize_path(path), kind))
            .collect();
        all.sort_unstable();
        all.dedup();
        let mut paths: Vec<(String, Kinds)> = Vec::new();
        for (path, kind) in all {
            if paths.last().is_none_or(|it| it.0 != path) {
                paths.push((path.into_owned(), Kinds::default()));
            }
            let Some((_, kinds)) = paths.last_mut() else { continue };
            match KINDS.iter().position(|it| *it == kind) {
                Some(bit) => kinds.known |= 1 << bit,
                None => kinds.others += 1,
            }
        }
        Self { paths }
    }

    /// How alike the value's shape is, in basis points.
    pub fn similarity_bp(&self, value: &Value) -> u32 {
        let mut seen = ShapeComparison {
            verified: &self.paths,
            at: vec![0; self.paths.len()],
            besides: BTreeMap::new(),
            count: 0,
            path: String::with_capacity(128),
        };
        seen.path.push('$');
        seen.walk(value, 0);
        seen.similarity()
    }
}

/// What a value has, beside what was verified.
struct ShapeComparison<'a> {
    verified: &'a [(String, Kinds)],
    /// Kinds at each verified path.
    at: Vec<u8>,
    /// Kinds at other paths.
    besides: BTreeMap<String, u8>,
    /// Typed paths so far.
    count: usize,
    path: String,
}

impl ShapeComparison<'_> {
    /// As `super::walk`.
    fn walk(&mut self, value: &Value, depth: usize) {
        if self.count >= MAX_PATHS {
            return;
        }
        self.note_kind(match value {
            Value::Null => NULL,
            Value::Bool(_) => BOOL,
            Value::Number(_) => NUM,
            Value::String(_) => STR,
            Value::Array(all) if all.is_empty() => EMPTY,
            Value::Array(_) => LIST,
            Value::Object(_) => OBJECT,
        });
        if depth == DEPTH {
            return;
        }
        let len = self.path.len();
        match value {
            Value::Array(all) => {
                self.path.push_str("[]");
                for it in all.iter().take(SAMPLE) {
                    self.walk(it, depth + 1);
                }
                self.path.truncate(len);
            }
            Value::Object(all) => {
                for (key, it) in all {
                    push_key(&mut self.path, keys::normalize_key(key));
                    self.walk(it, depth + 1);
                    self.path.truncate(len);
                }
            }
            _ => {}
        }
    }

    fn note_kind(&mut self, kind: u8) {
        let path = self.path.as_str();
        let kinds = match self.verified.binary_search_by(|it| it.0.as_str().cmp(path)) {
            Ok(n) => &mut self.at[n],
            Err(_) => match self.besides.get_mut(path) {
                Some(it) => it,
                None => self.besides.entry(path.to_owned()).or_default(),
            },
        };
        self.count += usize::from(*kinds & kind == 0);
        *kinds |= kind;
    }

    /// As `super::similarity_bp`: what is below a hole of the other side is left out.
    fn similarity(&self) -> u32 {
        let is_hole = |kinds: u8| kinds & (NULL | EMPTY) != 0;
        let here = || self.verified.iter().zip(&self.at);
        let theirs: Vec<&str> =
            self.verified.iter().filter(|it| is_hole(it.1.known)).map(|it| it.0.as_str()).collect();
        let ours: Vec<&str> = here()
            .map(|((path, _), seen)| (path, seen))
            .chain(&self.besides)
            .filter(|it| is_hole(*it.1))
            .map(|it| it.0.as_str())
            .collect();
        let (mut same, mut other) = (0, 0);
        let mut compare = |path: &str, verified: Kinds, seen: u8| {
            let left_out = |holes: &[&str]| holes.iter().any(|it| is_below(path, it));
            let mut a = Kinds { known: with_list_kind(verified.known), ..verified };
            let mut b = with_list_kind(seen);
            if left_out(&ours) {
                a = Kinds::default();
            }
            if left_out(&theirs) {
                b = 0;
            }
            let has_a = a != Kinds::default();
            // A null takes the other side's type, whatever it is.
            let a_matched = if b & NULL != 0 { a.known } else { a.known & b }
                | if b == 0 { 0 } else { a.known & NULL };
            let others = if b & NULL != 0 { a.others } else { 0 };
            let b_matched = if a.known & NULL != 0 { b } else { b & a.known }
                | if has_a { b & NULL } else { 0 };
            let matched = a_matched.count_ones() + others;
            same += matched;
            other += a.known.count_ones() + a.others - matched + (b & !b_matched).count_ones();
        };
        for ((path, verified), seen) in here() {
            compare(path, *verified, *seen);
        }
        for (path, seen) in &self.besides {
            compare(path, Kinds::default(), *seen);
        }
        (same * 10_000).checked_div(same + other).unwrap_or(10_000)
    }
}

/// An empty list is still a list.
fn with_list_kind(kinds: u8) -> u8 {
    if kinds & EMPTY == 0 { kinds } else { (kinds & !EMPTY) | LIST }
}

fn is_below(path: &str, hole: &str) -> bool {
    let rest = path.strip_prefix(hole).and_then(|it| it.bytes().next());
    matches!(rest, Some(b'.' | b'['))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::shape::{paths, similarity_bp};

    /// Few keys, so that values have much in common; some that path notation has to quote, or that look as if it had.
    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            Just(json!(true)),
            Just(json!(1)),
            Just(json!("x")),
            Just(json!([])),
            Just(json!({})),
        ];
        leaf.prop_recursive(8, 48, 5, |inner| {
            let key =
                prop::sample::select(vec!["a", "b", "c", "", "a.b", "a[", "\"a", "\"a.b\"", "é"]);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::Array),
                prop::collection::btree_map(key.prop_map(str::to_owned), inner, 0..5)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn compared_at_once_is_compared_by_its_paths(
            (verified, value) in (any_value(), any_value()),
            written in prop::collection::vec("[$]([.][a-c]|\\[\\]){0,3}(:(list|null|empty|str|date|x))?", 0..6),
        ) {
            let mut shape = paths(&verified);
            let check = |shape: &[String]| {
                let want = similarity_bp(shape, &paths(&value));
                prop_assert_eq!(VerifiedShape::new(shape).similarity_bp(&value), want);
                Ok(())
            };
            check(&shape)?;
            // What somebody wrote by hand counts as it did.
            shape.extend(written);
            shape.sort();
            check(&shape)?;
        }
    }

    #[test]
    fn what_is_too_wide_is_cut_at_the_same_place() {
        let wide = |n: usize| -> Value {
            let all: serde_json::Map<_, _> =
                (0..n).map(|i| (format!("k{i:04}"), json!({"a": i, "b": null}))).collect();
            all.into()
        };
        for (a, b) in [(600, 600), (600, 100), (100, 600), (171, 170)] {
            let (shape, value) = (paths(&wide(a)), wide(b));
            let want = similarity_bp(&shape, &paths(&value));
            assert_eq!(VerifiedShape::new(&shape).similarity_bp(&value), want, "{a} {b}");
        }
    }
}
