//! Lists whose entries are of several kinds: items, advertisements between them, and the place where the list goes on.
//!
//! Where a word in every entry says its kind, one kind is most of the list, and all others are seen to be no items, the recipe takes
//! that kind alone. Everything else stays: kinds beside one another are usually all asked for.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{cursors::is_kind, pages::continues};
use commis_artifacts::recording::{Excerpt, Exchange, SessionRecording};
use commis_recipe::{
    document::Document,
    expression::Query,
    pagination::{expression, scalars, words},
};

/// Kinds of one list.
const MAX_KINDS: usize = 6;
/// Characters of a text that a page does not show by chance.
const MIN_FACT: usize = 4;

/// `extract` with the items' kind, where the list has entries that are none.
pub fn of_one_kind(
    extract: &str,
    exchange: &Exchange,
    recording: &SessionRecording,
) -> Option<String> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    if !extract.chars().all(is_path) {
        return None;
    }
    let further: Vec<Value> = recording
        .exchanges
        .iter()
        .filter(|it| continues(it, exchange))
        .filter_map(|it| list_of(it, extract))
        .flatten()
        .collect();
    let list = list_of(exchange, extract)?;
    let page = recording.page.visible_text.to_lowercase();
    let (field, kind) = kind_of_items(&list, &further, &page, &recording.task)?;
    let out = format!("{extract}[?{field}=='{kind}']");
    Query::compile(&out).is_ok().then_some(out)
}

/// The entries of the same list that [`of_one_kind`] leaves out.
pub fn other_kinds(extract: &str, exchange: &Exchange) -> Vec<Value> {
    let Some((list, condition)) = extract.strip_suffix("']").and_then(|it| it.split_once("[?"))
    else {
        return Vec::new();
    };
    let Some((field, kind)) = condition.split_once("=='") else { return Vec::new() };
    list_of(exchange, &format!("{list}[?{field}!='{kind}']")).unwrap_or_default()
}

fn list_of(exchange: &Exchange, extract: &str) -> Option<Vec<Value>> {
    let Some(Excerpt::Json(answer)) = &exchange.excerpt else { return None };
    match Query::compile(extract).ok()?.search(&Document::from(answer)).ok()? {
        Value::Array(all) => Some(all),
        _ => None,
    }
}

/// The field that says the kind, and the kind of the items.
fn kind_of_items(
    list: &[Value],
    further: &[Value],
    page: &str,
    task: &str,
) -> Option<(String, String)> {
    let task: BTreeSet<String> = words(task).into_iter().collect();
    let entries: Vec<BTreeMap<Vec<String>, &Value>> = list.iter().map(scalars).collect();
    let first = entries.first()?;
    for field in first.keys() {
        let kinds: Vec<&str> = entries
            .iter()
            .map_while(|it| it.get(field)?.as_str().filter(|it| is_kind(it)))
            .collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for it in &kinds {
            *counts.entry(it).or_default() += 1;
        }
        if kinds.len() < list.len() || !(2..=MAX_KINDS).contains(&counts.len()) {
            continue;
        }
        let (kind, count) = counts.iter().max_by_key(|it| it.1)?;
        let of = |wanted: &str| -> Vec<&Value> {
            list.iter().zip(&kinds).filter(|it| *it.1 == wanted).map(|it| it.0).collect()
        };
        let items = of(kind);
        let is_none = |other: &&str| {
            let is_asked_for =
                words(other).iter().any(|it| task.contains(it) || task.contains(&format!("{it}s")));
            !is_asked_for
                && (of(other).iter().all(|it| further.contains(it))
                    && !items.iter().any(|it| further.contains(it))
                    || of(other)
                        .iter()
                        .all(|it| is_apart(it, &items, field) && !is_shown(it, page)))
        };
        if count * 2 > list.len() && counts.keys().filter(|it| *it != kind).all(is_none) {
            return Some((expression(field), (*kind).to_owned()));
        }
    }
    None
}

/// The entry has nothing that the items have, but for what says the kind.
fn is_apart(entry: &Value, items: &[&Value], field: &[String]) -> bool {
    let Some(own) = entry.as_object() else { return false };
    let is_other =
        |key: &String| field.first() == Some(key) || !items.iter().any(|it| it.get(key).is_some());
    own.keys().all(is_other)
}

/// The page held a text of the entry.
fn is_shown(entry: &Value, page: &str) -> bool {
    scalars(entry).values().filter_map(|it| it.as_str()).any(|it| {
        let text = it.trim().to_lowercase();
        text.chars().count() >= MIN_FACT && page.contains(&text)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn post(n: u32) -> Value {
        json!({"kind": "post", "post": {"id": n, "text": format!("text {n}")}})
    }

    #[track_caller]
    fn check(more: &[Value], further: &[Value], page: &str, expected: Option<&str>) {
        let mut list: Vec<Value> = (1..=4).map(post).collect();
        list.extend(more.iter().cloned());
        let found = kind_of_items(&list, further, page, "List all posts of my timeline");
        assert_eq!(found.map(|it| it.1).as_deref(), expected, "{more:?}");
    }

    #[test]
    fn entries_that_are_no_items() {
        let cursor = json!({"kind": "cursor", "value": "c7"});
        let ad = json!({"kind": "promotion", "post": {"id": 1, "text": "Buy"}});
        let tip = json!({"kind": "tip", "post": {"id": 1, "text": "Did you know"}});
        check(&[ad.clone(), cursor.clone()], &[post(7), ad.clone()], "text 1 buy", Some("post"));
        // Nothing but its name says so.
        check(&[ad.clone(), cursor.clone()], &[], "text 1 buy", None);
        check(std::slice::from_ref(&cursor), &[], "text 1", Some("post"));
        // The same entry on the next page, and no item of it.
        check(std::slice::from_ref(&tip), &[post(7), tip.clone()], "", Some("post"));
        check(std::slice::from_ref(&tip), &[], "", None);
        check(std::slice::from_ref(&tip), &[post(1), tip.clone()], "", None);
        // Another kind of item, a kind that the page showed, and one that the task asks for.
        check(&[json!({"kind": "poll", "post": {"id": 8, "text": "a poll"}})], &[], "", None);
        check(&[json!({"kind": "link", "target": "elsewhere"})], &[], "elsewhere", None);
        check(&[], &[], "", None);
        let list = [post(1), post(2), post(3), json!({"kind": "ad", "post": {"id": 9}})];
        assert_eq!(kind_of_items(&list, &[], "", "List all ads and posts"), None);
    }
}
