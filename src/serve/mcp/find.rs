//! Which recipes are meant by a few words.

use std::sync::Arc;

use crate::pantry::Known;

/// Recipes that some of the words speak of, best first: words of the name count most, then those of the task and the site; what
/// is in service stands before what is not.
pub fn ranked<'a>(words: &str, all: &[&'a Arc<Known>]) -> Vec<&'a Arc<Known>> {
    scored(words, all).into_iter().map(|it| it.1).collect()
}

/// The same with how much each of them fits; 0 and 1 are no more than that it is there.
pub fn scored<'a>(words: &str, all: &[&'a Arc<Known>]) -> Vec<(u32, &'a Arc<Known>)> {
    let wanted = stems(words);
    let mut scored: Vec<(u32, &'a Arc<Known>)> = Vec::new();
    for it in all {
        let recipe = &it.recipe;
        let score = |text: &str, weight: u32| -> u32 {
            let there = stems(text);
            wanted.iter().filter(|it| there.contains(it)).count() as u32 * weight
        };
        let names =
            recipe.parameters.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(" ");
        let found = score(recipe.name.as_str(), 4)
            + score(&recipe.task, 3)
            + score(&recipe.request.url, 2)
            + score(recipe.category.as_deref().unwrap_or(""), 2)
            + score(&names, 1);
        if found > 0 || wanted.is_empty() {
            scored.push((found * 2 + u32::from(it.is_served()), it));
        }
    }
    scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.recipe.name.cmp(&b.1.recipe.name)));
    scored
}

/// Words as they are compared: lower case, stemmed, those that say nothing left out.
fn stems(text: &str) -> Vec<String> {
    const NOTHING: &[&str] = &[
        "the", "and", "for", "with", "from", "that", "this", "what", "get", "find", "show", "me",
        "all", "www", "com", "http", "https", "in", "on", "of", "to", "by", "a", "an", "is",
    ];
    let stemmer = rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English);
    let lower = text.to_lowercase();
    let mut out: Vec<String> = lower
        .split(|it: char| !it.is_alphanumeric())
        .filter(|it| it.len() > 1 && !NOTHING.contains(it))
        .take(200)
        .map(|it| stemmer.stem(it).into_owned())
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}
