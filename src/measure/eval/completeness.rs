//! Whether the data is all of what was asked for: every item of both examples, with every fact of it, and nothing else.
//!
//! Which part of the right answer that is a person wrote down, as an expression over the raw answer; what is compared with it
//! comes from the recipe's own extraction.

use std::collections::{BTreeMap, BTreeSet};

use scraper::{Html, Selector};
use serde_json::Value;

use super::case::Case;
use commis_artifacts::payloads::{Judged, RecipeDraftMinimized};
use commis_net::transport::Reply;
use commis_runner::extract::{Extraction, HttpAnswer, extract};

/// `None` where the case does not say what all of it is.
///
/// `ask` gets the answer to an example's values.
pub fn is_complete(
    case: &Case,
    draft: Option<&Judged<RecipeDraftMinimized>>,
    ask: impl Fn(&RecipeDraftMinimized, &BTreeMap<String, String>) -> Option<Reply>,
) -> Option<bool> {
    if case.draft.items.is_none() && case.draft.rows.is_none() {
        return None;
    }
    let Some(Judged::Done(draft)) = draft else { return Some(false) };
    let is_whole = |reply: &Reply| {
        extract(&draft.response, HttpAnswer::from_body(&reply.mime(), &reply.body)).is_ok_and(
            |got| {
                expected(case, &got, reply)
                    .is_some_and(|expected| contains_all(&got.data, &expected))
            },
        )
    };
    let first = ask(draft, &draft.first).is_some_and(|it| is_whole(&it));
    // The second example of a task may be refused, which is for other figures to say.
    let second = draft.second.as_ref().and_then(|values| ask(draft, values));
    Some(first && second.is_none_or(|it| it.status >= 400 || is_whole(&it)))
}

/// The texts of each item, of the raw answer.
fn expected(case: &Case, got: &Extraction, reply: &Reply) -> Option<Vec<Vec<String>>> {
    if let Some(path) = &case.draft.items {
        let found = jmespath::compile(path).ok()?.search(got.whole.as_ref()?).ok()?;
        let items = match serde_json::to_value(&*found).ok()? {
            Value::Array(all) => all,
            Value::Null => Vec::new(),
            one => vec![one],
        };
        return Some(items.iter().map(facts).collect());
    }
    let selector = Selector::parse(case.draft.rows.as_ref()?).ok()?;
    let page = Html::parse_document(&String::from_utf8_lossy(&reply.body));
    let rows = page.select(&selector).map(|row| {
        // Texts of elements that hold nothing but text.
        row.descendants()
            .filter(|it| it.value().is_text())
            .filter_map(|it| it.value().as_text().map(|it| squash(it)))
            .filter(|it| it.chars().any(char::is_alphanumeric))
            .collect()
    });
    Some(rows.collect())
}

fn facts(item: &Value) -> Vec<String> {
    let mut out = Vec::new();
    texts(item, &mut out);
    out.retain(|it| !it.is_empty());
    out
}

/// Each expected item has one of its own that says all of it, and none is left over.
fn contains_all(data: &Value, expected: &[Vec<String>]) -> bool {
    let lists = lists(data);
    let is_one = expected.len() == 1 && !data.is_array();
    if lists.is_empty() || is_one {
        let said = facts(data);
        return match expected {
            [] => said.is_empty(),
            [one] => one.iter().all(|it| contains_text(&said, it)),
            _ => false,
        };
    }
    lists.iter().any(|items| items.len() == expected.len() && each_has_its_own(items, expected))
}

fn each_has_its_own(items: &[Value], expected: &[Vec<String>]) -> bool {
    let given: Vec<Vec<String>> = items.iter().map(facts).collect();
    let mut taken = BTreeSet::new();
    expected.iter().all(|wanted| {
        let own = (0..given.len()).find(|at| {
            !taken.contains(at) && wanted.iter().all(|it| contains_text(&given[*at], it))
        });
        own.is_some_and(|at| taken.insert(at))
    })
}

/// A text as a whole; a number is no part of another. Of a page, a field may hold several texts.
fn contains_text(facts: &[String], wanted: &str) -> bool {
    let bounded = |fact: &String| {
        fact.match_indices(wanted).any(|(at, it)| {
            let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !word(fact[..at].chars().next_back()) && !word(fact[at + it.len()..].chars().next())
        })
    };
    facts.iter().any(|it| it == wanted || bounded(it))
}

/// The data itself where it is a list; where it is not, every list in it.
fn lists(data: &Value) -> Vec<&Vec<Value>> {
    match data {
        Value::Array(all) => vec![all],
        Value::Object(fields) => fields.values().flat_map(lists).collect(),
        _ => Vec::new(),
    }
}

pub fn texts(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|it| texts(it, out)),
        Value::Object(fields) => fields.values().for_each(|it| texts(it, out)),
        Value::String(it) => out.push(squash(it)),
        Value::Null => {}
        other => out.push(other.to_string()),
    }
}

pub fn squash(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn all_of_it_and_nothing_else() {
        let expected = vec![
            vec!["Aurora".to_owned(), "12".to_owned()],
            vec!["Calypso".to_owned(), "7".to_owned()],
        ];
        let whole = json!([{"n": "Calypso", "w": 7}, {"n": "Aurora", "w": 12, "x": "y"}]);
        assert!(contains_all(&whole, &expected));
        assert!(contains_all(&json!({"total": 2, "hits": whole}), &expected));
        // An item, a fact, an item too many; one that stands for two.
        assert!(!contains_all(&json!([{"n": "Aurora", "w": 12}]), &expected));
        assert!(!contains_all(&json!([{"n": "Calypso"}, {"n": "Aurora", "w": 12}]), &expected));
        assert!(!contains_all(
            &json!([{"n": "Calypso", "w": 7}, {"n": "Aurora", "w": 12}, {"n": "Menu"}]),
            &expected
        ));
        assert!(!contains_all(
            &json!([{"n": "Calypso", "w": 17}, {"n": "Aurora", "w": 12}]),
            &expected
        ));
        // Nothing expected is no leave to give something.
        assert!(contains_all(&json!([]), &[]) && !contains_all(&json!({"n": "Menu"}), &[]));
        let both = json!([{"n": "Aurora Calypso", "w": "12 7"}, {"n": "x"}]);
        assert!(!contains_all(&both, &expected));
    }
}
