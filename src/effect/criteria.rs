//! Conditions in a body: by their shape, whatever the members around them are called.
//!
//! `{"field": "city", "operator": "eq", "value": "Oslo"}`, `["city", "=", "Oslo"]`, `{"price": {"$gte": 4}}` and `price__lte=4`
//! say which things are meant. What is to be done to them is said elsewhere.

use serde_json::{Map, Value};

/// Comparisons as query languages write them, without marks before them.
#[rustfmt::skip]
const COMPARISONS: &[&str] = &[
    "!=", "<", "<=", "<>", "=", "==", ">", ">=", "begins", "beginswith", "between", "contains", "containsany", "doesnotcontain", "ends", "endswith", "eq", "equal", "equals",
    "exists", "greaterthan", "gt", "gte", "hasproperty", "ieq", "ilike", "in", "inset", "is", "isempty", "isequalto", "isnot", "isnull", "lessthan", "like", "lt", "lte", "match",
    "matches", "ne", "neq", "nin", "not", "notcontains", "notequal", "notequals", "notin", "notlike", "prefix", "range", "regex", "starts", "startswith", "substring", "term", "terms",
];
/// Comparisons that are not ordinary words. Only these may be a member's name without a mark such as `$`.
const BARE: &[&str] = &["eq", "gt", "gte", "ilike", "lt", "lte", "neq", "nin"];
/// Names of the member that holds the comparison.
const NAMES: &[&str] =
    &["comparator", "comparison", "cond", "condition", "matchtype", "op", "operator"];
/// Deeper than this nothing is looked for.
const DEPTH: usize = 24;

fn plain(text: &str) -> String {
    text.to_ascii_lowercase().replace(['-', '_', ' '], "")
}

fn is_comparison(text: &str) -> bool {
    text.len() <= 24 && COMPARISONS.contains(&&*plain(text))
}

/// A member such as `$gte`, `_eq` or `lte`.
fn is_operator(name: &str) -> bool {
    let bare = name.trim_start_matches(['$', '_', '@']);
    if bare.len() < name.len() { is_comparison(bare) } else { BARE.contains(&&*plain(name)) }
}

/// `{"field": …, "operator": "eq", …}` and `{"$gte": 4, "$lt": 9}`.
fn is_condition(all: &Map<String, Value>) -> bool {
    let is_named = |(name, value): (&String, &Value)| {
        NAMES.contains(&&*plain(name)) && value.as_str().is_some_and(is_comparison)
    };
    all.len() >= 2 && all.iter().any(is_named)
        || !all.is_empty() && all.keys().all(|it| is_operator(it))
}

/// `["city", "=", "Oslo"]`, also with what it is of before it.
fn is_triple(all: &[Value]) -> bool {
    let text = |at: usize| all.get(at).and_then(Value::as_str);
    matches!(all.len(), 3 | 4)
        && text(0).is_some_and(|it| !it.is_empty())
        && [1, 2].iter().any(|at| *at + 1 < all.len() && text(*at).is_some_and(is_comparison))
}

/// Paths of all conditions in a document, in the form of the names in `fields`.
pub fn find_conditions(document: &Value) -> Vec<String> {
    let mut out = Vec::new();
    collect(String::new(), document, 0, &mut out);
    out
}

fn collect(at: String, value: &Value, depth: usize, out: &mut Vec<String>) {
    if depth > DEPTH {
        return;
    }
    match value {
        // A document that is one condition may be an alarm that is set.
        Value::Object(all) if !at.is_empty() && is_condition(all) => out.push(at),
        Value::Object(all) => {
            all.iter().for_each(|(name, it)| collect(format!("{at}/{name}"), it, depth + 1, out));
        }
        Value::Array(all) if is_triple(all) => out.push(at),
        Value::Array(all) => {
            let items = all.iter().enumerate();
            items.for_each(|(n, it)| collect(format!("{at}/{n}"), it, depth + 1, out));
        }
        _ => {}
    }
}

/// Whether a field of a form compares: `price__gte`, `date[lte]`, `filter[>ID]`.
pub fn is_comparing_field(name: &str) -> bool {
    let end = name.trim_end_matches(']').rsplit(['[', '.', '/']).next().unwrap_or_default();
    let last = end.rsplit("__").next().filter(|it| it.len() < end.len()).unwrap_or(end);
    let is_end = last.len() < name.len() && is_operator(last);
    is_end || end.len() < name.len() && end.starts_with(['<', '>', '!', '='])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_are_known_by_their_shape() {
        for (document, expected) in [
            (json!({"a": {"field": "city", "operator": "eq", "value": "Oslo"}}), vec!["/a"]),
            (json!({"a": [["city", "=", "Oslo"], ["n", ">", 4]]}), vec!["/a/0", "/a/1"]),
            (json!([["Invoice", "status", "in", ["open"]]]), vec!["/0"]),
            (json!({"price": {"$gte": 4, "$lt": 9}}), vec!["/price"]),
            (json!({"price": {"gte": 4}, "name": {"_eq": "x"}}), vec!["/price", "/name"]),
            (json!({"metric": "cpu", "operator": "gt", "value": 9}), vec![]),
            (json!({"op": "delete", "id": 4}), vec![]),
            (json!({"operator": "Ida", "shift": "late"}), vec![]),
            (json!({"op": "eq"}), vec![]),
            (json!(["is", "Ida", "in"]), vec![]),
            (json!({"in": 4, "out": 5}), vec![]),
            (json!({"like": true}), vec![]),
            (json!({}), vec![]),
        ] {
            let mut found = find_conditions(&document);
            let mut expected = expected;
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{document}");
        }
        for (name, expected) in [
            ("price__gte", true),
            ("date[lte]", true),
            ("filter[>ID]", true),
            ("gte", false),
            ("like", false),
            ("post[like]", false),
            ("name", false),
        ] {
            assert_eq!(is_comparing_field(name), expected, "{name}");
        }
    }
}
