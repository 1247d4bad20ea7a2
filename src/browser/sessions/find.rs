//! Which sessions a few words mean: those that share the rarest of them, by name before task before address.

use std::collections::{BTreeMap, BTreeSet};

use rust_stemmers::{Algorithm, Stemmer};

use super::Manifest;

/// Words that say nothing of what a session is about.
const COMMON: &[&str] = &[
    "a", "an", "and", "at", "by", "for", "from", "http", "https", "in", "into", "of", "on", "or",
    "the", "to", "with", "www",
];
/// What a word counts in a name, a task, an address.
const WEIGHTS: [f64; 3] = [3.0, 2.0, 1.0];

fn words(text: &str, stemmer: &Stemmer) -> BTreeSet<String> {
    text.to_lowercase()
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| !it.is_empty() && !COMMON.contains(it))
        .map(|it| stemmer.stem(it).into_owned())
        .collect()
}

/// The best first; without words the newest. What shares none of them is left out.
pub fn ranked(mut all: Vec<Manifest>, query: &str) -> Vec<Manifest> {
    let stemmer = Stemmer::create(Algorithm::English);
    let asked = words(query, &stemmer);
    all.sort_by(|a, b| b.begun_ms.cmp(&a.begun_ms).then(a.id.cmp(&b.id)));
    if asked.is_empty() {
        return all;
    }
    let has: Vec<[BTreeSet<String>; 3]> =
        all.iter().map(|it| [&it.name, &it.task, &it.url].map(|it| words(it, &stemmer))).collect();
    let mut known: BTreeMap<&str, f64> = BTreeMap::new();
    for it in &asked {
        let in_how_many = has.iter().filter(|has| has.iter().any(|has| has.contains(it))).count();
        known.insert(it, (1.0 + all.len() as f64 / (in_how_many.max(1)) as f64).ln());
    }
    let score = |has: &[BTreeSet<String>; 3]| -> f64 {
        let each = known.iter().map(|(word, rare)| {
            let places = has.iter().zip(WEIGHTS).filter(|it| it.0.contains(*word));
            rare * places.map(|it| it.1).fold(0.0, f64::max)
        });
        each.sum()
    };
    let mut scored: Vec<(f64, Manifest)> =
        has.iter().map(score).zip(all).filter(|it| it.0 > 0.0).collect();
    // Equal ones stay in their order, the newest first.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    scored.into_iter().map(|it| it.1).collect()
}

#[cfg(test)]
mod tests {
    use crate::sessions::SessionStore;

    #[test]
    fn a_description_finds_its_session_among_many() {
        let home = tempfile::tempdir().unwrap();
        let all = SessionStore::new(home.path());
        for n in 0..20 {
            let task = format!("Search the shop for product {n}");
            all.record(&format!("shop {n}"), &task, "http://shop.test/", "").unwrap();
        }
        all.record("weather", "Look up the weather of a city", "http://city.test/", "").unwrap();
        all.record("orders", "Open the orders of last year", "http://shop.test/orders", "")
            .unwrap();
        let first = |query: &str| -> Vec<String> {
            all.list(None, query).unwrap().into_iter().take(3).map(|it| it.name).collect()
        };
        assert_eq!(first("looking at weather in cities")[0], "weather");
        assert_eq!(first("the order that was opened last year")[0], "orders");
        assert!(first("shop product 7").contains(&"shop 7".to_owned()));
        assert!(first("zebra").is_empty());
        assert_eq!(all.list(None, "").unwrap().len(), 22);
    }
}
