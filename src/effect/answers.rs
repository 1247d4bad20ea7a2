//! What an answer says: data, or a receipt for something that was done.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::verbs::{is_in_lists, words};

/// Members of an answer that only says how it went.
#[rustfmt::skip]
const RECEIPTS: &[&str] = &[
    "accepted", "access_token", "affected", "code", "csrf_token", "deleted", "done", "error", "errors", "expires_in", "guest_token", "id", "message", "modified", "msg", "ok", "pass", "passed", "refresh_token",
    "redirect", "result", "saved", "session", "session_id", "sessionid", "status", "success", "token", "token_type", "updated", "uuid",
];
/// Words by which a page says that something was done.
#[rustfmt::skip]
const DONE: &[&str] = &[
    "added to", "confirmed", "has been", "have been", "is booked", "is cancelled", "is confirmed", "is saved",
    "signed out", "logged out", "successfully", "thank you", "thanks for", "unsubscribed", "was added", "was deleted",
    "was removed", "was saved", "was sent", "were saved",
];

/// Whether a text says that something was done.
pub fn is_done(text: &str) -> bool {
    let lower: String = text.chars().take(2000).collect::<String>().to_lowercase();
    DONE.iter().any(|it| lower.contains(it))
}

/// By which a request or what was made is found again.
fn is_number_of(name: &str) -> bool {
    matches!(name, "requestid" | "traceid") || name.ends_with("_id") || name.ends_with("reference")
}

/// Whether an answer says how something went, and nothing else.
pub fn is_receipt(value: &Value) -> bool {
    match value {
        Value::Object(all) => all.iter().all(|(name, it)| {
            let lower = name.to_ascii_lowercase();
            let known = RECEIPTS.contains(&&*lower) || is_number_of(&lower);
            known && !it.is_array() && !it.is_object()
                || name == "data" && it.is_object() && is_receipt(it)
        }),
        Value::Array(_) => false,
        _ => true,
    }
}

/// Whether a part of a page stands in an answer as a text: frameworks send what they render anew so.
pub fn has_markup(value: &Value) -> bool {
    match value {
        Value::String(it) => it.trim_start().starts_with('<') && it.contains("</") && !is_done(it),
        Value::Array(all) => all.iter().any(has_markup),
        Value::Object(all) => all.values().any(has_markup),
        _ => false,
    }
}

/// Words of a member that says which part of a list an answer has, beside the list.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "count", "cursor", "found", "hits", "limit", "matched", "offset", "page", "pages", "paginate", "pagination", "paging", "skip", "start", "total",
];
/// Words of a member that says how much was done.
#[rustfmt::skip]
const WRITTEN: &[&str] = &[
    "affected", "applied", "created", "deleted", "failed", "failures", "imported", "inserted", "modified", "processed", "removed", "saved", "sent", "stored", "succeeded",
    "updated", "upserted", "written",
];

/// Whether the members beside a list describe paging (total, cursor, page). The answer to a change has no such members.
fn is_part_of_list<'a>(names: impl Iterator<Item = &'a str> + Clone) -> bool {
    let has = |list: &[&str]| {
        names.clone().any(|name| words(name).iter().any(|it| is_in_lists(it, &[list])))
    };
    let more = names.clone().any(|name| {
        let all = words(name);
        let first = all.first().map(String::as_str);
        let plain = all.concat();
        matches!(first, Some("next" | "prev" | "previous"))
            || matches!(&*plain, "hasmore" | "hasnext" | "morerecords")
            || ["total", "itemcount", "rowcount"].iter().any(|it| plain.starts_with(it))
    });
    has(PARTS) || more
}

/// Whether a member says what was done, or how often.
fn is_tally(name: &str) -> bool {
    words(name).iter().any(|it| is_in_lists(it, &[WRITTEN]))
}

/// Whether a list of objects stands in an answer beside what says which part of it this is.
pub fn has_part_of_list(value: &Value) -> bool {
    let Value::Object(all) = value else { return false };
    let is_list = |it: &Value| {
        it.as_array().is_some_and(|it| it.first().is_none_or(|it| !it.is_number() && !it.is_null()))
    };
    let lists = all.iter().filter(|it| is_list(it.1) && !it.0.starts_with("err")).count();
    let others = all.iter().filter(|it| !is_list(it.1)).map(|it| it.0.as_str());
    let tells = all.keys().any(|it| is_tally(it));
    lists > 0 && !tells && is_part_of_list(others) || all.values().any(has_part_of_list)
}

/// Items of a list that was looked for by a word.
const MIN_FILTERED: usize = 3;
/// Per cent of them that hold it. A judgement.
const FILTERED: usize = 80;

/// Whether the items of a list in an answer hold what was typed: see [`is_filtered_list`].
pub fn is_filtered(value: &Value, typed: &str) -> bool {
    match value {
        Value::Array(all) => {
            is_filtered_list(all, typed) || all.iter().any(|it| is_filtered(it, typed))
        }
        Value::Object(all) if tells_change(all) => false,
        Value::Object(all) => all.values().any(|it| is_filtered(it, typed)),
        _ => false,
    }
}

/// Whether beside a list it says how often something was done, or that it was.
fn tells_change(all: &Map<String, Value>) -> bool {
    all.iter().any(|(name, it)| match it {
        Value::Number(_) | Value::Bool(_) => is_tally(name),
        Value::String(it) => is_done(it),
        _ => false,
    })
}

/// Names of what identifies an item.
const IDENTIFIERS: &[&str] = &["_id", "guid", "id", "key", "sku", "slug", "uid", "uuid"];

/// The identifier of an item.
fn identifier(item: &Value) -> Option<String> {
    let all = item.as_object()?;
    let (_, it) = all.iter().find(|it| IDENTIFIERS.contains(&&*it.0.to_ascii_lowercase()))?;
    match it {
        Value::String(it) if !it.is_empty() => Some(it.clone()),
        Value::Number(it) => Some(it.to_string()),
        _ => None,
    }
}

/// The identifiers of the items of all lists, and the items.
fn items<'a>(value: &'a Value, out: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Array(all) => {
            out.extend(all.iter().filter_map(|it| Some((identifier(it)?, it))));
            for it in all {
                items(it, out);
            }
        }
        Value::Object(all) => {
            for it in all.values() {
                items(it, out);
            }
        }
        _ => {}
    }
}

/// Whether a request names items of its answer by their identifiers, two or more: what is looked for is not known so.
pub fn names_items(sent: &Value, answer: &Value) -> bool {
    fn texts(value: &Value, out: &mut BTreeSet<String>) {
        match value {
            Value::String(it) => out.extend(it.split([',', ' ']).map(str::to_owned)),
            Value::Number(it) => drop(out.insert(it.to_string())),
            Value::Array(all) => {
                for it in all {
                    texts(it, out);
                }
            }
            Value::Object(all) => {
                for it in all.values() {
                    texts(it, out);
                }
            }
            _ => {}
        }
    }
    let (mut found, mut named) = (Vec::new(), BTreeSet::new());
    items(answer, &mut found);
    texts(sent, &mut named);
    let found: BTreeSet<&String> = found.iter().map(|it| &it.0).collect();
    found.into_iter().filter(|it| named.contains(*it)).count() >= 2
}

/// Whether an item that was there before has its text now with what was typed beside it. An identifier may be but the place in a
/// list: another text under the same one says nothing.
pub fn has_changed(before: &Value, answer: &Value, typed: &str) -> bool {
    let typed = typed.trim().to_lowercase();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    items(before, &mut old);
    items(answer, &mut new);
    let old: BTreeMap<&String, &Value> = old.iter().map(|it| (&it.0, it.1)).collect();
    let is_put_to = |was: &Value, now: &Value| {
        let [Some(was), Some(now)] = [was, now].map(|it| it.as_str().map(str::to_lowercase)) else {
            return false;
        };
        !was.is_empty() && !was.contains(&typed) && now.contains(&typed) && now.contains(&was)
    };
    new.iter().any(|(id, item)| {
        let was = old.get(id).and_then(|it| it.as_object());
        let now = item.as_object().into_iter().flatten();
        was.is_some_and(|was| {
            now.into_iter().any(|(name, it)| was.get(name).is_some_and(|was| is_put_to(was, it)))
        })
    })
}

/// Whether nearly all items hold what was typed within longer texts, each in one of its own. What was added to a list stands in one
/// item, and what was set on many is the same in each, or but numbered.
pub fn is_filtered_list(items: &[Value], typed: &str) -> bool {
    fn text_with(value: &Value, typed: &str) -> Option<String> {
        match value {
            Value::String(it) => {
                let it = it.to_lowercase();
                (it.len() > typed.len() && it.contains(typed)).then_some(it)
            }
            Value::Array(all) => all.iter().find_map(|it| text_with(it, typed)),
            Value::Object(all) => all.values().find_map(|it| text_with(it, typed)),
            _ => None,
        }
    }
    let typed = typed.trim().to_lowercase();
    if typed.chars().count() < 3 || items.len() < MIN_FILTERED {
        return false;
    }
    let texts: BTreeSet<String> = items.iter().filter_map(|it| text_with(it, &typed)).collect();
    // `Oak 1`, `Oak 2`: named so, not found.
    let rests: BTreeSet<String> = texts
        .iter()
        .map(|it| it.replacen(&typed, "", 1).chars().filter(|c| c.is_alphabetic()).collect())
        .collect();
    texts.len() * 100 >= items.len() * FILTERED && rests.len() >= MIN_FILTERED
}

#[cfg(test)]
/// Whether a list of objects, or of texts, stands in it.
pub fn has_list(text: &str) -> bool {
    fn holds(it: &Value) -> bool {
        match it {
            Value::String(_) => has_markup(it),
            Value::Array(all) => {
                all.iter().any(|it| it.is_object() || it.is_string() || it.is_array())
            }
            Value::Object(all) => all.iter().any(|(name, it)| {
                let is_none = it.as_array().is_some_and(Vec::is_empty) && !name.starts_with("err");
                is_none || holds(it)
            }),
            _ => false,
        }
    }
    // What guards it stands before it.
    let at = text.find(['[', '{']).unwrap_or(0);
    let guarded = text.strip_prefix(")]}'").and_then(|it| it.find(['[', '{']));
    let at = guarded.map_or(at, |it| it + 4);
    serde_json::from_str::<Value>(&text[at..]).map_or_else(|_| text.contains("[{"), |it| holds(&it))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_says_which_part_of_a_list_it_is() {
        for (answer, expected) in [
            (json!({"total": 2, "records": [{"id": 1}]}), true),
            (json!({"list": {"pagination": {"count": 1}, "entries": [{"id": 1}]}}), true),
            (json!({"items": [{"id": 1}], "nextPageToken": "x"}), true),
            (json!({"has_more": false, "entries": []}), true),
            (json!({"recordsTotal": 9, "data": [["a"]]}), true),
            // What was done, and how often.
            (json!({"total": 4, "updated": 4, "failures": []}), false),
            (json!({"count": 1, "createdIds": [{"id": 1}]}), false),
            (json!({"total": 4, "sent": 4, "messages": [{"id": 1}]}), false),
            (json!({"status": 0, "data": [{"id": 4, "version": 2}]}), false),
            (json!({"total": 80}), false),
            (json!([{"id": 1}]), false),
        ] {
            assert_eq!(has_part_of_list(&answer), expected, "{answer}");
        }
    }

    #[test]
    fn items_that_were_looked_for_hold_the_word() {
        let all = |names: &[&str]| {
            let items: Vec<Value> =
                names.iter().map(|it| json!({"name": it, "tag": "oak"})).collect();
            json!({"found": {"items": items}})
        };
        assert!(is_filtered(&all(&["Oak table", "Red oak", "Oak lamp"]), "oak"));
        // A comment that was added, and a mark that was set on many.
        assert!(!is_filtered(&all(&["I like oak", "First", "Second"]), "oak"));
        assert!(!is_filtered(&all(&["First", "Second", "Third"]), "oak"));
        assert!(!is_filtered(&all(&["Oak table", "Red oak"]), "oak"), "too few");
        assert!(!is_filtered(&all(&["Oak 1", "Oak 2", "Oak 3", "Oak 4"]), "oak"), "numbered");
    }

    #[test]
    fn a_change_of_many_items_was_not_looked_for() {
        let list = json!([{"id": 4, "name": "Oak table"}, {"id": 5, "name": "Oak lamp"}, {"id": 9, "name": "Oak bed"}]);
        let told = |name: &str, it: Value| json!({"data": {"items": list, name: it}});
        assert!(is_filtered(&told("total", json!(3)), "oak"));
        assert!(!is_filtered(&told("updated", json!(3)), "oak"));
        assert!(!is_filtered(&told("message", json!("Three items were saved")), "oak"));
        // Which items are meant, says the request.
        for (sent, expected) in [
            (json!({"prefix": "oak", "ids": [4, 5, 9]}), true),
            (json!({"prefix": "oak", "rows": [{"id": "4"}, {"id": "5"}]}), true),
            (json!({"prefix": "oak", "ids": "4,5,9"}), true),
            (json!({"text": "oak", "page": 4, "size": 20}), false),
        ] {
            assert_eq!(names_items(&sent, &list), expected, "{sent}");
        }
        // What they were called before.
        let before = |name: &str| json!({"items": [{"id": 5, "name": name}]});
        assert!(has_changed(&before("Lamp"), &list, "oak"));
        assert!(!has_changed(&before("Oak lamp"), &list, "oak"));
        assert!(!has_changed(&before("Elm chair"), &list, "oak"), "another item at that place");
        assert!(!has_changed(&json!([{"id": 77, "name": "Lamp"}]), &list, "oak"));
    }

    #[test]
    fn a_part_of_a_page_is_no_receipt() {
        assert!(has_markup(&json!({"dom": "<li>Oak</li>"})));
        assert!(!has_markup(&json!({"rating": "<p>Your rating has been saved</p>"})));
        assert!(!has_markup(&json!({"text": "a < b", "n": [1, "<br>"]})));
    }
}
