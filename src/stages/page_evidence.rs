//! Whether an answer says what only its own page showed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::replay::leaf_lines;

/// Fewer characters beside what was typed are on many a page.
const MIN_REST: usize = 3;

/// Whether leaves that only B has stand in lines that only the second page had: two of them, or the only
/// one that B has, if it is no short number. What was typed is cut out of the lines, so it is cut out of leaves too; what then
/// is left of leaves of both, such as `results for`, proves nothing.
pub fn seen_on_page(
    (a, first): (&Value, &BTreeMap<String, String>),
    (b, second): (&Value, &BTreeMap<String, String>),
    lines: &[String],
) -> bool {
    let all_of_a = leaf_lines(a, usize::MAX);
    let rests_of_a: BTreeSet<String> = all_of_a.iter().filter_map(|it| rest(it, first)).collect();
    let common: BTreeSet<String> = all_of_a.into_iter().collect();
    let typed: Vec<String> = second.values().map(|it| it.to_lowercase()).collect();
    let own: BTreeSet<String> = leaf_lines(b, usize::MAX)
        .into_iter()
        .filter(|it| !common.contains(it))
        .filter_map(|it| match rest(&it, second) {
            Some(rest) => Some(rest).filter(|it| !rests_of_a.contains(it)),
            None => text_of(&it),
        })
        .filter(|it| {
            it.chars().count() >= 2 && !typed.iter().any(|typed| typed.contains(it.as_str()))
        })
        .collect();
    let bounded = |line: &str, leaf: &str| {
        line.match_indices(leaf).any(|(start, it)| {
            let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !word(line[..start].chars().next_back())
                && !word(line[start + it.len()..].chars().next())
        })
    };
    let seen: Vec<&String> =
        own.iter().filter(|leaf| lines.iter().any(|line| bounded(line, leaf))).take(2).collect();
    // A lone short number (a count) is on many a page.
    seen.len() == 2 || (own.len() == 1 && seen.first().is_some_and(|it| it.chars().count() >= 4))
}

/// The value of a leaf line, as pages are compared.
fn text_of(line: &str) -> Option<String> {
    line.split_once('=').map(|it| it.1.trim_matches('"').trim().to_lowercase())
}

/// What is left of a leaf that holds what was typed and more.
fn rest(line: &str, typed: &BTreeMap<String, String>) -> Option<String> {
    let text = text_of(line)?;
    let typed = typed.values().map(|it| it.to_lowercase()).filter(|it| !it.is_empty());
    let rest = typed.fold(text.clone(), |it, typed| it.replace(&typed, " "));
    (rest != text && rest.trim().chars().count() >= MIN_REST).then(|| rest.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn second_page_evidence() {
        let lines: Vec<String> = ["20 m, rolled — $19.90", "12 results for", "blue   — $7.50"]
            .map(str::to_owned)
            .to_vec();
        let values = |it: &str| BTreeMap::from([("q".to_owned(), it.to_owned())]);
        let (first, second) = (values("brass"), values("garden hose"));
        let a = json!([{"name": "lantern", "price": 3, "currency": "usd"}]);
        let check = |b: Value| seen_on_page((&a, &first), (&b, &second), &lines);
        assert!(check(
            json!([{"name": "Garden hose 20 m, rolled", "price": 19.9, "currency": "usd"}, {"name": "Blue garden hose"}])
        ));
        // An echo, a common word, another list.
        assert!(!check(json!({"query": "garden hose", "total": 12})));
        assert!(!check(json!([{"name": "lantern", "price": 3, "currency": "usd"}])));
        assert!(!check(json!([{"name": "Teapot"}, {"name": "Kettle"}])));
        // Leaves that say the same of any input.
        let a = json!({"title": "results for brass", "label": "blue brass"});
        let b = json!({"title": "results for garden hose", "label": "blue garden hose"});
        assert!(!seen_on_page((&a, &first), (&b, &second), &lines));
    }
}
