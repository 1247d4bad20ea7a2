//! Ids of requests, by what other answers of the session say of them: `/lists/180a` is the list of that name, where another
//! answer has `{"id": "180a", "name": "Individuals"}` and the task names it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use url::Url;

use super::{folding::parts, relevance::TaskWording, scored_exchange::ScoredExchange};
use commis_artifacts::recording::{Excerpt, Exchange, RequestBody};

/// Objects of one answer that are read.
const MAX_OBJECTS: usize = 3000;
/// Characters of an id.
const ID: std::ops::RangeInclusive<usize> = 3..=80;

/// Adds `id_named`: how many of the names of the task the object holds whose id a request sends.
pub fn link(all: &mut [ScoredExchange<'_>], wording: &TaskWording, brands: &BTreeSet<String>) {
    let names = wording.names_of_things(brands);
    if names.is_empty() {
        return;
    }
    let asked: Vec<BTreeSet<String>> = all.iter().map(|it| ids(it.exchange, wording)).collect();
    let wanted: BTreeSet<&str> = asked.iter().flatten().map(String::as_str).collect();
    if wanted.is_empty() {
        return;
    }
    // Of each id, by place in `all`: how many of the names its object holds.
    let mut known: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
    for (i, it) in all.iter().enumerate() {
        let Some(Excerpt::Json(answer)) = &it.exchange.excerpt else { continue };
        let mut left = MAX_OBJECTS;
        read(answer, &names, &wanted, &mut left, &mut |id, held| {
            known.entry(id).or_default().push((i, held));
        });
    }
    let held: Vec<usize> = asked
        .iter()
        .enumerate()
        .map(|(i, ids)| {
            let all_known = ids.iter().filter_map(|it| known.get(it.as_str())).flatten();
            let of_others = all_known.filter(|it| all[it.0].endpoint_key != all[i].endpoint_key);
            of_others.map(|it| it.1).max().unwrap_or(0)
        })
        .collect();
    for (it, held) in all.iter_mut().zip(held).filter(|it| it.1 > 0) {
        it.shares.insert("id_named", (1000 * held / names.len()) as i32);
    }
}

/// Values of a request that the task does not say and that may be ids.
fn ids(exchange: &Exchange, wording: &TaskWording) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    let mut add = |it: &str| {
        let is_id = ID.contains(&it.len())
            && !it.contains(char::is_whitespace)
            && it.bytes().any(|it| it.is_ascii_digit());
        if is_id && !wording.names(it) {
            out.insert(it.to_owned());
        }
    };
    if let Ok(url) = Url::parse(&exchange.url) {
        url.path_segments().into_iter().flatten().for_each(&mut add);
        url.query_pairs().for_each(|it| add(&it.1));
    }
    match &exchange.request_body {
        Some(RequestBody::Json(it)) => scalars_below(it, &mut add),
        Some(RequestBody::Form(fields) | RequestBody::Multipart(fields)) => {
            for it in fields {
                add(&it.value);
            }
        }
        _ => {}
    }
    out
}

fn scalars_below(value: &Value, add: &mut impl FnMut(&str)) {
    match value {
        Value::String(it) => add(it),
        Value::Number(it) => add(&it.to_string()),
        Value::Array(all) => all.iter().for_each(|it| scalars_below(it, add)),
        Value::Object(all) => all.values().for_each(|it| scalars_below(it, add)),
        _ => {}
    }
}

fn read<'w>(
    value: &Value,
    names: &[String],
    wanted: &BTreeSet<&'w str>,
    left: &mut usize,
    found: &mut impl FnMut(&'w str, usize),
) {
    match value {
        Value::Array(items) => {
            // What stands in several items tells none of them.
            let mut seen: BTreeMap<&'w str, Option<usize>> = BTreeMap::new();
            for item in items.iter().take(*left) {
                *left -= 1;
                for id in ids_of(item, wanted) {
                    let held = names_held(item, names);
                    seen.entry(id).and_modify(|it| *it = None).or_insert(Some(held));
                }
            }
            seen.into_iter().filter_map(|it| Some((it.0, it.1?))).for_each(|it| found(it.0, it.1));
            for it in items {
                read_below(it, names, wanted, left, found);
            }
        }
        Value::Object(_) => {
            let held = names_held(value, names);
            for id in ids_of(value, wanted) {
                found(id, held);
            }
            read_below(value, names, wanted, left, found);
        }
        _ => {}
    }
}

/// What stands in the fields of an object or the items of a list.
fn read_below<'w>(
    value: &Value,
    names: &[String],
    wanted: &BTreeSet<&'w str>,
    left: &mut usize,
    found: &mut impl FnMut(&'w str, usize),
) {
    if let Value::Object(fields) = value {
        fields.values().for_each(|it| read(it, names, wanted, left, found));
    } else if value.is_array() {
        read(value, names, wanted, left, found);
    }
}

/// Scalars of an object that a request sends.
fn ids_of<'w>(value: &Value, wanted: &BTreeSet<&'w str>) -> Vec<&'w str> {
    let Value::Object(fields) = value else { return Vec::new() };
    let id = |it: &Value| match it {
        Value::String(it) => wanted.get(it.as_str()).copied(),
        Value::Number(it) => wanted.get(it.to_string().as_str()).copied(),
        _ => None,
    };
    fields.values().filter_map(id).collect()
}

/// How many of the names the texts of an object hold, its inner objects left out.
fn names_held(value: &Value, names: &[String]) -> usize {
    let Value::Object(fields) = value else { return 0 };
    let words: BTreeSet<String> = fields
        .values()
        .filter_map(Value::as_str)
        .filter(|it| it.len() <= 200)
        .flat_map(parts)
        .collect();
    names.iter().filter(|it| words.contains(*it)).count()
}
