//! What changed between two answers, item by item: pure functions over data.
//!
//! Items are matched by a key: a field, or two, whose values are unique within an answer and stay between answers. It is found by
//! evidence: of all fields that could be the key, the one that explains the step from one answer to the next with the fewest
//! differences. A price that changes is then one change under an identifier, and an item gone and another come under the price.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Fields of one item that are looked at, and how deep.
const MAX_FIELDS: usize = 200;
const MAX_DEPTH: usize = 6;
/// A longer text is no key.
const MAX_KEY_TEXT: usize = 500;
/// Fields that are tried in pairs.
const MAX_PAIRED: usize = 12;

/// Fields of an item by path (`price.amount`), in their order; a list within an item is one value.
pub type Fields = Vec<(String, Value)>;

/// By what items are matched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Key {
    /// One field or two; without any, an item is matched by all that it says.
    pub paths: Vec<String>,
    /// Given by a person, or told apart from all other fields by an answer that was another.
    pub is_settled: bool,
    /// What no answer so far has ruled out, while several explain as much. Later answers choose from these alone: in a list that has
    /// shrunk to an item or two, any field is unique.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Added,
    Removed,
    Changed,
}

impl Kind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// One difference. Of an item that was added or removed, `path` is empty and the item stands in `new` or `old`.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub kind: Kind,
    pub key: String,
    pub path: String,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

/// The items of an answer. `list` is the field that holds them; without it they are the answer itself where it is a list, the only
/// list of records that it holds, or else the whole answer is the one item.
pub fn items(data: &Value, list: Option<&str>) -> Vec<Value> {
    let of_path = list.and_then(|path| at(data, path)).and_then(Value::as_array);
    let found = of_path.or_else(|| data.as_array()).or_else(|| only_list(data));
    match found {
        Some(all) => all.clone(),
        None if data.is_null() => Vec::new(),
        None => vec![data.clone()],
    }
}

fn at<'a>(data: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').filter(|it| !it.is_empty()).try_fold(data, |it, name| it.get(name))
}

fn only_list(data: &Value) -> Option<&Vec<Value>> {
    let lists = data.as_object()?.values().filter_map(Value::as_array);
    let mut of_records = lists.filter(|it| !it.is_empty() && it.iter().all(Value::is_object));
    of_records.next().filter(|_| of_records.next().is_none())
}

/// The fields of an item.
pub fn fields(item: &Value) -> Fields {
    fn walk(value: &Value, path: &str, depth: usize, out: &mut Fields) {
        match value {
            Value::Object(all) if depth < MAX_DEPTH && !all.is_empty() => {
                for (name, it) in all {
                    let path =
                        if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                    walk(it, &path, depth + 1, out);
                }
            }
            it if out.len() < MAX_FIELDS => out.push((path.to_owned(), it.clone())),
            _ => {}
        }
    }
    let mut out = Fields::new();
    walk(item, "", 0, &mut out);
    out
}

/// A value as a part of a key; `None` where it cannot be one.
fn part(value: &Value) -> Option<String> {
    match value {
        Value::String(it) if !it.trim().is_empty() && it.len() <= MAX_KEY_TEXT => Some(it.clone()),
        Value::Number(it) => Some(it.to_string()),
        _ => None,
    }
}

fn key_of(all: &Fields, paths: &[String]) -> Option<String> {
    if paths.is_empty() {
        let lines: Vec<String> = all.iter().map(|(path, it)| format!("{path}={it}")).collect();
        return Some(lines.join("\n"));
    }
    let parts: Option<Vec<String>> = paths
        .iter()
        .map(|path| all.iter().find(|it| it.0 == *path).and_then(|it| part(&it.1)))
        .collect();
    Some(parts?.join(" · "))
}

/// Items by key, in their order. What says twice the same is told apart by how often it came before.
fn keyed(items: &[Fields], paths: &[String]) -> Vec<(String, usize)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::with_capacity(items.len());
    for (i, it) in items.iter().enumerate() {
        let key = key_of(it, paths).or_else(|| key_of(it, &[])).unwrap_or_default();
        let n = seen.entry(key.clone()).or_default();
        *n += 1;
        out.push((if *n == 1 { key } else { format!("{key} #{n}") }, i));
    }
    out
}

fn is_unique(items: &[Fields], paths: &[String]) -> bool {
    let mut seen = BTreeSet::new();
    items.iter().all(|it| key_of(it, paths).is_some_and(|key| seen.insert(key)))
}

/// Whether a field counts the items: its values go up or down by the same step from one to the next.
fn is_position(items: &[Fields], path: &str) -> bool {
    let number = |it: &Fields| -> Option<f64> {
        let value = &it.iter().find(|it| it.0 == path)?.1;
        value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
    };
    let all: Option<Vec<f64>> = items.iter().map(number).collect();
    let Some(all) = all.filter(|it| it.len() > 2) else { return false };
    let step = all[1] - all[0];
    step != 0.0 && all.windows(2).all(|it| (it[1] - it[0] - step).abs() < 1e-9)
}

/// The key that explains best how one answer became the other. `watched`: paths whose changes are asked for, so they are no key.
/// `earlier`: the key so far, whose candidates are kept while one of them still fits.
pub fn choose_key(before: &[Fields], now: &[Fields], watched: &[String], earlier: &Key) -> Key {
    let is_key = |of: &Vec<String>| is_unique(now, of) && is_unique(before, of);
    let mut candidates: Vec<Vec<String>> =
        earlier.candidates.iter().filter(|it| is_key(it)).cloned().collect();
    if candidates.is_empty() {
        let fields = possible_keys(before, now, watched);
        candidates = fields.iter().filter(|it| is_key(it)).cloned().collect();
        if candidates.is_empty() {
            candidates = possible_pairs(&fields).into_iter().filter(is_key).collect();
        }
    }
    let mut weighed: Vec<(bool, usize, Vec<String>)> = candidates
        .into_iter()
        .map(|it| (it.len() == 1 && is_position(now, &it[0]), cost(before, now, &it), it))
        .collect();
    // A position says nothing of an item. The order of the fields decides where nothing else does: the sort is stable.
    weighed.sort_by_key(|it| (it.0, it.1));
    let Some(best) = weighed.first().map(|it| (it.0, it.1)) else { return Key::default() };
    // Of equal answers nothing is learned.
    if !before.is_empty() && best.1 > 0 {
        weighed.retain(|it| (it.0, it.1) == best);
    }
    let candidates: Vec<Vec<String>> = weighed.into_iter().map(|it| it.2).collect();
    let is_settled = !before.is_empty() && best.1 > 0 && candidates.len() == 1;
    Key { paths: candidates[0].clone(), is_settled, candidates }
}

/// Fields that could tell items apart, each by itself.
fn possible_keys(before: &[Fields], now: &[Fields], watched: &[String]) -> Vec<Vec<String>> {
    let mut paths: Vec<Vec<String>> = Vec::new();
    for it in now.iter().chain(before).take(200).flatten() {
        let path = vec![it.0.clone()];
        if part(&it.1).is_some() && !paths.contains(&path) && !watched.contains(&it.0) {
            paths.push(path);
        }
    }
    paths
}

/// The first of those fields, two together.
fn possible_pairs(fields: &[Vec<String>]) -> Vec<Vec<String>> {
    let few = &fields[..fields.len().min(MAX_PAIRED)];
    let with_later = |(i, a): (usize, &Vec<String>)| {
        few[i + 1..].iter().map(|b| [a.clone(), b.clone()].concat()).collect::<Vec<_>>()
    };
    few.iter().enumerate().flat_map(with_later).collect()
}

/// Whether items of an answer can be matched by that key.
pub fn fits(items: &[Fields], key: &Key) -> bool {
    is_unique(items, &key.paths)
}

/// Differences under that key; an item that is gone or new counts all its fields.
fn cost(before: &[Fields], now: &[Fields], paths: &[String]) -> usize {
    if before.is_empty() {
        return 0;
    }
    let old: BTreeMap<String, usize> = keyed(before, paths).into_iter().collect();
    let new: BTreeMap<String, usize> = keyed(now, paths).into_iter().collect();
    let gone = old.iter().filter(|it| !new.contains_key(it.0)).map(|it| before[*it.1].len());
    let come = new.iter().map(|(key, i)| match old.get(key) {
        Some(j) => changed(&before[*j], &now[*i]).count(),
        None => now[*i].len(),
    });
    gone.sum::<usize>() + come.sum::<usize>()
}

/// Paths whose values differ, with both values.
fn changed<'a>(
    old: &'a Fields,
    new: &'a Fields,
) -> impl Iterator<Item = (&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let find = |of: &'a Fields, path: &str| of.iter().find(|it| it.0 == path).map(|it| &it.1);
    let in_new = new.iter().filter_map(move |(path, it)| {
        let was = find(old, path);
        (was != Some(it)).then_some((path.as_str(), was, Some(it)))
    });
    let lost = old.iter().filter(move |it| find(new, &it.0).is_none());
    in_new.chain(lost.map(|(path, it)| (path.as_str(), Some(it), None)))
}

/// The differences, and the items that the next answer is compared with. Of an answer that holds not all items, those that are
/// missing stay: they may stand on a page that was not asked for.
pub fn compare(
    before: &[Value],
    now: &[Value],
    key: &Key,
    is_whole: bool,
) -> (Vec<Difference>, Vec<Value>) {
    let of = |all: &[Value]| all.iter().map(fields).collect::<Vec<Fields>>();
    let (old_fields, new_fields) = (of(before), of(now));
    let old = keyed(&old_fields, &key.paths);
    let new = keyed(&new_fields, &key.paths);
    let by_key: BTreeMap<&str, usize> = old.iter().map(|it| (it.0.as_str(), it.1)).collect();
    let mut out = Vec::new();
    for (key, i) in &new {
        let Some(j) = by_key.get(key.as_str()) else {
            let item = Some(now[*i].clone());
            out.push(Difference {
                kind: Kind::Added,
                key: key.clone(),
                path: String::new(),
                old: None,
                new: item,
            });
            continue;
        };
        for (path, was, is) in changed(&old_fields[*j], &new_fields[*i]) {
            let (old, new) = (was.cloned(), is.cloned());
            out.push(Difference {
                kind: Kind::Changed,
                key: key.clone(),
                path: path.to_owned(),
                old,
                new,
            });
        }
    }
    let there: BTreeSet<&str> = new.iter().map(|it| it.0.as_str()).collect();
    let mut rest = now.to_vec();
    for (key, j) in old.iter().filter(|it| !there.contains(it.0.as_str())) {
        if is_whole {
            let item = Some(before[*j].clone());
            out.push(Difference {
                kind: Kind::Removed,
                key: key.clone(),
                path: String::new(),
                old: item,
                new: None,
            });
        } else {
            rest.push(before[*j].clone());
        }
    }
    (out, rest)
}

/// Items with their keys, in their order.
pub fn by_key(all: &[Value], key: &Key) -> Vec<(String, Fields)> {
    let all: Vec<Fields> = all.iter().map(fields).collect();
    let keys = keyed(&all, &key.paths);
    keys.into_iter().map(|(key, i)| (key, all[i].clone())).collect()
}

/// A number as a page writes it, for a curve: JSON's own, or the only number of a text (`£1,234.50`).
pub fn number(value: &Value) -> Option<f64> {
    let text = match value {
        Value::Number(it) => return it.as_f64(),
        Value::String(it) if it.len() <= 40 => it,
        _ => return None,
    };
    let is_of_number =
        |it: char| it.is_ascii_digit() || matches!(it, '.' | ',' | '\u{a0}' | '\u{202f}');
    let start = text.find(|it: char| it.is_ascii_digit())?;
    let end = text[start..].find(|it| !is_of_number(it)).map_or(text.len(), |it| start + it);
    if text[end..].contains(|it: char| it.is_ascii_digit()) {
        return None;
    }
    let digits = text[start..end].trim_end_matches(|it: char| !it.is_ascii_digit());
    let digits: String = digits.chars().filter(|it| !it.is_whitespace()).collect();
    let (whole, decimals) = match digits.rfind(['.', ',']) {
        // Three digits after the only kind of separator are thousands.
        Some(i) if digits.len() - i == 4 && !mixed(&digits) => (digits.as_str(), ""),
        Some(i) => (&digits[..i], &digits[i + 1..]),
        None => (digits.as_str(), ""),
    };
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    let sign = if text[..start].trim_end().ends_with(['-', '\u{2212}']) { -1.0 } else { 1.0 };
    format!("{whole}.{decimals}").parse::<f64>().ok().map(|it| it * sign)
}

fn mixed(digits: &str) -> bool {
    digits.contains('.') && digits.contains(',')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn all(value: &Value) -> Vec<Fields> {
        value.as_array().unwrap().iter().map(fields).collect()
    }

    fn key(before: &Value, now: &Value, watched: &[&str]) -> (String, bool) {
        let watched: Vec<String> = watched.iter().map(|it| (*it).to_owned()).collect();
        let it = choose_key(&all(before), &all(now), &watched, &Key::default());
        (it.paths.join("+"), it.is_settled)
    }

    fn describe_changes(
        before: &Value,
        now: &Value,
        paths: &[&str],
        is_whole: bool,
    ) -> Vec<String> {
        let key =
            Key { paths: paths.iter().map(|it| (*it).to_owned()).collect(), ..Key::default() };
        let (before, now) = (items(before, None), items(now, None));
        let (out, _) = compare(&before, &now, &key, is_whole);
        let text = |it: &Option<Value>| it.as_ref().map_or(String::new(), ToString::to_string);
        out.iter()
            .map(|it| {
                format!(
                    "{} {} {} {}>{}",
                    it.kind.as_str(),
                    it.key,
                    it.path,
                    text(&it.old),
                    text(&it.new)
                )
            })
            .collect()
    }

    #[test]
    fn the_key_is_the_field_that_explains_best() {
        let none = json!([]);
        let one = json!([{"price": 5, "id": "a", "rank": 1}, {"price": 7, "id": "b", "rank": 2}, {"price": 9, "id": "c", "rank": 3}]);
        assert_eq!(key(&none, &one, &["price"]), ("id".into(), false));
        assert_eq!(key(&one, &one, &["price"]), ("id".into(), false), "nothing was learned");
        let dearer = json!([{"price": 6, "id": "a", "rank": 1}, {"price": 7, "id": "b", "rank": 2}, {"price": 9, "id": "c", "rank": 3}]);
        // Rank would do as well, but it counts.
        assert_eq!(key(&one, &dearer, &[]).0, "id");
        let other = json!([{"price": 8, "id": "d", "rank": 1}, {"price": 5, "id": "a", "rank": 2}, {"price": 7, "id": "b", "rank": 3}]);
        assert_eq!(key(&one, &other, &["price"]), ("id".into(), true));
    }

    #[test]
    fn a_field_that_was_ruled_out_is_no_key_of_a_shorter_list() {
        let row = |id: u32, state: &str, seen: &str| json!({"seen": seen, "id": id, "link": format!("/{id}"), "state": state});
        let first =
            json!([row(1, "new", "today"), row(2, "new", "today"), row(7, "done", "today")]);
        let one = json!([row(1, "new", "today")]);
        let other = json!([row(4, "new", "today")]);
        let mut key = Key::default();
        for (before, now) in [(&json!([]), &first), (&first, &one), (&one, &other)] {
            key = choose_key(&all(before), &all(now), &[], &key);
            assert_eq!(key.paths, ["id"]);
            assert!(!key.is_settled, "its link says the same");
        }
        let told = compare(&items(&one, None), &items(&other, None), &key, true).0;
        assert_eq!(told.iter().map(|it| it.kind).collect::<Vec<_>>(), [Kind::Added, Kind::Removed]);
        // Where none of them fits any more, it is begun anew.
        let twice = json!([row(4, "new", "a"), row(4, "new", "b")]);
        assert_eq!(choose_key(&[], &all(&twice), &[], &key).paths, ["seen"]);
    }

    #[test]
    fn two_fields_are_a_key_where_one_is_none_and_all_of_an_item_where_two_are_none() {
        let sizes = json!([{"name": "Lamp", "size": "S"}, {"name": "Lamp", "size": "L"}, {"name": "Rug", "size": "S"}]);
        assert_eq!(key(&json!([]), &sizes, &[]).0, "name+size");
        let same = json!([{"name": "Lamp"}, {"name": "Lamp"}]);
        assert_eq!(key(&json!([]), &same, &[]).0, "");
        assert_eq!(describe_changes(&same, &json!([{"name": "Lamp"}]), &[], true).len(), 1);
    }

    #[test]
    fn differences_are_told_by_item() {
        let one = json!([{"id": 1, "price": {"amount": 5}}, {"id": 2, "price": {"amount": 7}}]);
        let two = json!([{"id": 3, "price": {"amount": 1}}, {"id": 1, "price": {"amount": 6}, "new": true}]);
        assert_eq!(describe_changes(&one, &one, &["id"], true), Vec::<String>::new());
        assert_eq!(
            describe_changes(&one, &two, &["id"], true),
            [
                "added 3  >{\"id\":3,\"price\":{\"amount\":1}}",
                "changed 1 price.amount 5>6",
                "changed 1 new >true",
                "removed 2  {\"id\":2,\"price\":{\"amount\":7}}>",
            ]
        );
        // Another order is no change.
        let turned = json!([{"id": 2, "price": {"amount": 7}}, {"id": 1, "price": {"amount": 5}}]);
        assert_eq!(describe_changes(&one, &turned, &["id"], true), Vec::<String>::new());
    }

    #[test]
    fn an_incomplete_answer_removes_nothing_and_forgets_nothing() {
        let (one, part) = (json!([{"id": 1}, {"id": 2}]), json!([{"id": 2}, {"id": 3}]));
        assert_eq!(describe_changes(&one, &part, &["id"], false), ["added 3  >{\"id\":3}"]);
        let key = Key { paths: vec!["id".to_owned()], ..Key::default() };
        let (_, kept) = compare(&items(&one, None), &items(&part, None), &key, false);
        assert_eq!(kept, [json!({"id": 2}), json!({"id": 3}), json!({"id": 1})]);
        let (again, _) = compare(&kept, &items(&one, None), &key, true);
        assert_eq!(again.iter().map(|it| it.kind).collect::<Vec<_>>(), [Kind::Removed]);
    }

    #[test]
    fn items_are_found_in_answers_of_all_kinds() {
        let list = json!([{"a": 1}]);
        assert_eq!(items(&list, None).len(), 1);
        assert_eq!(items(&list, Some("items")).len(), 1, "the list may be the answer itself");
        assert_eq!(items(&json!({"total": 2, "hits": [{"a": 1}, {"a": 2}]}), None).len(), 2);
        assert_eq!(items(&json!({"x": {"hits": [1, 2, 3]}}), Some("x.hits")).len(), 3);
        assert_eq!(items(&json!({"temperature": 4}), None), [json!({"temperature": 4})]);
        assert_eq!(items(&Value::Null, None).len(), 0);
    }

    #[test]
    fn numbers_are_read_as_pages_write_them() {
        for (text, expected) in [
            ("31.97", Some(31.97)),
            ("£1,234.50", Some(1234.5)),
            ("1.234,50 €", Some(1234.5)),
            ("1\u{202f}234,5", Some(1234.5)),
            ("12,000", Some(12_000.0)),
            ("-4 °C", Some(-4.0)),
            ("$ 5.", Some(5.0)),
            ("2 of 10", None),
            ("none", None),
        ] {
            assert_eq!(number(&json!(text)), expected, "{text}");
        }
        assert_eq!(number(&json!(7)), Some(7.0));
        assert_eq!(number(&json!(true)), None);
    }
}
