//! What kind of thing an answer holds, by its own words, and whether the task names that kind.
//!
//! An exchange says its kind in a field of every item (`"kind": "track"`), in the name before a value (`indicator=7`), and in what
//! the path goes on to after the thing that the task names (`/stories/7/activity`).

use std::collections::BTreeSet;

use serde_json::Value;
use url::Url;

use super::{folding::parts, relevance::TaskWording};
use commis_artifacts::recording::{Excerpt, Exchange};

/// Fields by which answers of many interfaces say what each object is.
const KIND_FIELDS: &[&str] =
    &["kind", "type", "object", "_type", "@type", "__typename", "resource_type", "resourcetype"];
/// Those of them that say nothing but the kind.
const NAMING_FIELDS: &[&str] =
    &["kind", "object", "_type", "@type", "__typename", "resource_type", "resourcetype"];
/// Depth to which a list is looked for.
const DEPTH: usize = 5;
/// Values of an answer in which kinds are looked for.
const MAX_VALUES: usize = 5000;
/// Items that are read.
const ITEMS: usize = 20;

/// Thousandths each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KindShares {
    /// Every item says that it is of a kind that the task names.
    pub kind_named: i32,
    /// The path goes on after the thing that the task names to a part of it that the task does not.
    pub part_of_thing: i32,
    /// The request has another value under the name that the task gives one.
    pub other_value: i32,
}

/// Of one exchange.
pub fn kind_shares(
    exchange: &Exchange,
    wording: &TaskWording,
    brands: &BTreeSet<String>,
) -> KindShares {
    let mut out = KindShares::default();
    let named = |word: &str| wording.names_thing(word, brands, true);
    if let Some(Excerpt::Json(answer)) = &exchange.excerpt
        && let Some(kind) = kind_of(main_value(answer, DEPTH).value, KIND_FIELDS)
    {
        out.kind_named = wording.names_thing(&kind, brands, false);
    }
    let Ok(url) = Url::parse(&exchange.url) else { return out };
    let segments: Vec<&str> = url.path_segments().into_iter().flatten().collect();
    out.part_of_thing = part_of_thing(&segments, wording, &named);
    let other = |name: &str, value: &str| {
        let kind = parts(name).pop();
        let is_value = value.chars().count() >= 3
            && value.bytes().any(|it| it.is_ascii_digit() || matches!(it, b'.' | b'-' | b'_'));
        is_value && kind.is_some_and(|it| named(&it) >= 700) && !wording.names(value)
    };
    if wording.has_number()
        && url.query_pairs().any(|it| other(&it.0, &it.1))
        && !wording.is_number_in(exchange)
    {
        out.other_value = 1000;
    }
    out
}

/// The kind that an answer, or every item of it, says it is of. `type` is left out: it also says which of a kind.
pub fn own_kind(exchange: &Exchange) -> Option<String> {
    let Some(Excerpt::Json(answer)) = &exchange.excerpt else { return None };
    let whole = answer.is_object().then(|| kind_of(answer, NAMING_FIELDS)).flatten();
    whole.or_else(|| kind_of(main_value(answer, DEPTH).value, NAMING_FIELDS))
}

/// Adds every kind that an answer gives to any of its objects.
pub fn add_kinds(exchange: &Exchange, out: &mut BTreeSet<String>) {
    fn add(value: &Value, left: &mut usize, out: &mut BTreeSet<String>) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        match value {
            Value::Object(fields) => {
                out.extend(kind_of(value, NAMING_FIELDS));
                fields.values().for_each(|it| add(it, left, out));
            }
            Value::Array(all) => all.iter().take(ITEMS).for_each(|it| add(it, left, out)),
            _ => {}
        }
    }
    if let Some(Excerpt::Json(answer)) = &exchange.excerpt {
        let mut left = MAX_VALUES;
        add(answer, &mut left, out);
    }
}

/// What an answer is mostly made of.
struct MainValue<'a> {
    value: &'a Value,
    size: usize,
}

/// The largest list, or the object that stands alone.
fn main_value(value: &Value, depth: usize) -> MainValue<'_> {
    let own = MainValue { value, size: 1 };
    match value {
        Value::Array(items) => MainValue { size: items.len(), ..own },
        Value::Object(fields) if depth > 0 => {
            let inner = fields
                .values()
                .filter(|it| it.is_object() || it.is_array())
                .map(|it| main_value(it, depth - 1))
                .max_by_key(|it| it.size);
            let alone = fields.values().filter(|it| !it.is_null()).count() <= 2;
            match inner {
                Some(it) if it.size > 1 || alone => it,
                _ => own,
            }
        }
        _ => own,
    }
}

/// The word that every item gives as its kind.
fn kind_of(value: &Value, fields: &[&str]) -> Option<String> {
    let items: Vec<&Value> = match value {
        Value::Array(all) => all.iter().take(ITEMS).collect(),
        other => vec![other],
    };
    let first = items.first()?.as_object()?;
    fields.iter().find_map(|field| {
        let (name, kind) = first.iter().find(|it| it.0.eq_ignore_ascii_case(field))?;
        let kind = kind.as_str().filter(|it| (3..=40).contains(&it.len()))?;
        let is_word = kind.bytes().all(|it| it.is_ascii_alphabetic() || b"_-#:./".contains(&it));
        let same = items.iter().all(|it| it.get(name).and_then(Value::as_str) == Some(kind));
        (is_word && same).then(|| parts(kind).pop()).flatten()
    })
}

/// `/stories/7/activity` for "open the story 7": a word after a value, which follows what the task names.
fn part_of_thing(segments: &[&str], wording: &TaskWording, named: &impl Fn(&str) -> i32) -> i32 {
    let is_version = |it: &str| {
        it.strip_prefix('v')
            .is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit() || it == b'.'))
    };
    let is_id =
        |it: &str| it.bytes().any(|it| it.is_ascii_digit()) && !is_version(it) || wording.names(it);
    let head = |it: &str| parts(it).pop().map_or(0, |it| named(&it));
    let Some(end) = segments.iter().rposition(|it| !it.is_empty()) else { return 0 };
    let last = segments[end];
    if is_id(last) || head(last) >= 700 || !last.bytes().any(|it| it.is_ascii_alphabetic()) {
        return 0;
    }
    let of_thing = segments[..end].windows(2).any(|it| head(it[0]) >= 700 && is_id(it[1]));
    1000 * i32::from(of_thing)
}
