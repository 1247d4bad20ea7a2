//! Where an answer gives the cursor of its next page.

use serde_json::Value;

use super::length::ProofAnswer;
use commis_recipe::{
    expression::Query,
    model::PageInfo,
    pagination::{expression, scalars, words},
    positions::is_position,
};

/// Places of one kind that are tried.
const MAX: usize = 3;
/// Bytes of a cursor.
const MAX_LEN: usize = 500;
/// Bytes of a value that says of what kind an entry is.
const MAX_KIND: usize = 40;
/// Objects and lists within one another in which a cursor is looked for.
const MAX_DEPTH: usize = 12;

/// Texts and numbers of the answer that may be cursors: where each stands, those that say that the list goes on first.
pub fn cursors(first: &ProofAnswer, info: Option<&PageInfo>) -> Vec<(Vec<String>, String)> {
    let Some(whole) = &first.whole else { return Vec::new() };
    let own = info.and_then(|it| it.next.as_deref());
    let mut out: Vec<(u8, Vec<String>, String)> = Vec::new();
    for (path, value) in scalars(whole) {
        let is_text = value.as_str().is_some_and(|it| {
            !it.is_empty()
                && it.len() <= MAX_LEN
                && !it.contains(char::is_whitespace)
                && !it.contains("://")
        });
        let query = expression(&path);
        let said = own == Some(query.as_str());
        let named = path
            .last()
            .is_some_and(|it| is_position(it) || words(it).iter().any(|it| it == "next"));
        if !(is_text || (value.is_number() && (said || named))) || Query::compile(&query).is_err() {
            continue;
        }
        let order = match (said, named) {
            (true, _) => 0,
            (_, true) => 1,
            _ => 2,
        };
        out.push((order, path, query));
    }
    out.sort();
    out.into_iter().take(MAX).map(|it| (it.1, it.2)).collect()
}

/// Names that a parameter for this field of an answer may have: the field's own, and without `next`.
pub fn names_for(path: &[String]) -> Vec<String> {
    let Some(key) = path.last() else { return Vec::new() };
    let mut out = Vec::new();
    for prefix in ["next_", "next-", "next", "Next", "end_", "end"] {
        if let Some(rest) = key.strip_prefix(prefix).filter(|it| !it.is_empty()) {
            let mut chars = rest.chars();
            let lower = chars.next().map(|it| it.to_lowercase().chain(chars).collect::<String>());
            out.extend(lower);
            break;
        }
    }
    out.push(key.clone());
    out
}

/// Where in the lists of an answer this value stands that the next call sent: as JMESPath that finds it in the answer to any page.
///
/// It is a field of the last entry, or of an entry of a kind of its own: one that a word beside it tells from all others, and whose
/// place most others do not have. A value that tells one item from the others by chance would end the list early.
pub fn in_lists(answer: &Value, sent: &str) -> Vec<String> {
    let mut out = Vec::new();
    if !sent.is_empty() && sent.len() <= MAX_LEN {
        go(answer, "", sent, 0, &mut out);
    }
    out.retain(|it| Query::compile(it).is_ok());
    out.sort_by_key(String::len);
    out.dedup();
    out.truncate(MAX);
    out
}

fn go(value: &Value, at: &str, sent: &str, depth: usize, out: &mut Vec<String>) {
    if depth > MAX_DEPTH {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, it) in fields {
                go(it, &below(at, key), sent, depth + 1, out);
            }
        }
        Value::Array(all) => {
            if let [one] = all.as_slice() {
                go(one, &format!("{at}[0]"), sent, depth + 1, out);
                return;
            }
            for (n, it) in all.iter().enumerate() {
                for (path, value) in scalars(it) {
                    if is_sent(value, sent) {
                        out.extend(place(all, n, at, &path));
                    }
                }
            }
        }
        _ => {}
    }
}

fn is_sent(value: &Value, sent: &str) -> bool {
    match value {
        Value::String(it) => it == sent,
        Value::Number(it) => it.to_string() == sent,
        _ => false,
    }
}

fn below(at: &str, key: &str) -> String {
    let key = expression(&[key.to_owned()]);
    if at.is_empty() { key } else { format!("{at}.{key}") }
}

/// The field at `path` of entry `n` of the list at `at`.
fn place(all: &[Value], n: usize, at: &str, path: &[String]) -> Vec<String> {
    let field = expression(path);
    let mut out = Vec::new();
    if n + 1 == all.len() {
        out.push(format!("{at}[-1].{field}"));
    }
    let others = || all.iter().enumerate().filter(|it| it.0 != n).map(|it| scalars(it.1));
    let with_field = others().filter(|it| it.contains_key(path)).count();
    if with_field * 2 >= all.len() {
        return out;
    }
    for (key, value) in scalars(&all[n]) {
        let Some(word) = value.as_str().filter(|it| key != path && is_kind(it)) else { continue };
        if others().all(|it| it.get(&key).is_none_or(|it| it.as_str() != Some(word))) {
            out.push(format!("{at}[?{}=='{word}'].{field} | [0]", expression(&key)));
        }
    }
    out
}

/// A word of a program: letters, and what joins them.
pub fn is_kind(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '-' | '.' | ':');
    !text.is_empty() && text.len() <= MAX_KIND && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(answer: &Value, sent: &str, expected: &[&str]) {
        assert_eq!(in_lists(answer, sent), expected, "{answer}");
    }

    #[test]
    fn a_cursor_among_the_entries() {
        let post = |n: u32| json!({"kind": "post", "post": {"id": n, "text": "a"}});
        let own = json!({"kind": "cursor", "value": "c7"});
        check(
            &json!({"entries": [post(1), post(2), own.clone()]}),
            "c7",
            &["entries[-1].value", "entries[?kind=='cursor'].value | [0]"],
        );
        check(
            &json!({"entries": [own, post(1), post(2)]}),
            "c7",
            &["entries[?kind=='cursor'].value | [0]"],
        );
        let entry = |id: &str, content: Value| json!({"entryId": id, "content": content});
        let nested = json!({"data": {"instructions": [{"type": "Add", "entries": [
            entry("post-1", json!({"entryType": "Item", "text": "a"})),
            entry("cursor-top-5", json!({"cursorType": "Top", "value": "t5"})),
            entry("cursor-bottom-9", json!({"cursorType": "Bottom", "value": "b9"})),
            entry("post-2", json!({"entryType": "Item", "text": "b"}))
        ]}]}});
        check(
            &nested,
            "b9",
            &["data.instructions[0].entries[?content.cursorType=='Bottom'].content.value | [0]"],
        );
    }

    #[test]
    fn the_last_items_own_id() {
        let item = |id: u32, by: &str| json!({"id": id, "by": by});
        let list = json!({"items": [item(9, "Ada"), item(8, "Ben"), item(7, "Cleo")]});
        check(&list, "7", &["items[-1].id"]);
        check(&json!([item(9, "Ada"), item(8, "Ben")]), "8", &["[-1].id"]);
        // Of an item in between, which its writer tells from the others.
        check(&list, "8", &[]);
        check(&list, "", &[]);
    }
}
