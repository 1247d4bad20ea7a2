//! Which recipes are meant by a few words.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::terms::{CHANGES, NOTHING, STRONG, opening, stem, with_pairs, words};
use crate::recipe_cache::CachedRecipe;

/// Recipes that some of the words speak of, best first: words of the name count most, then those of the task and the site; what
/// is in service stands before what is not.
pub fn ranked<'a>(words: &str, all: &[&'a Arc<CachedRecipe>]) -> Vec<&'a Arc<CachedRecipe>> {
    scored(words, all).into_iter().map(|it| it.1).collect()
}

/// The same with how much each of them fits; 0 and 1 are no more than that it is there.
pub fn scored<'a>(words: &str, all: &[&'a Arc<CachedRecipe>]) -> Vec<(u32, &'a Arc<CachedRecipe>)> {
    let wanted = stems(words);
    let mut scored: Vec<(u32, &'a Arc<CachedRecipe>)> = Vec::new();
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

/// What is offered comes so near to the best.
const NEAR: f64 = 0.45;

/// Recipes that answer what a sentence asks, best first; none where the sentence is about something else.
///
/// A recipe is meant where the sentence names its site, or one of the words that say what it is about and that few recipes have. What
/// else the sentence says tells nothing against it: most of it is values. Words that fewer recipes have count more. Whoever asks for a
/// change is offered nothing that only reads.
pub fn offered<'a>(sentence: &str, all: &[&'a Arc<CachedRecipe>]) -> Vec<&'a Arc<CachedRecipe>> {
    let plain = words(sentence);
    if plain.is_empty() {
        return ranked(sentence, all);
    }
    let mut asked: BTreeSet<String> = plain.iter().map(|it| stem(it)).collect();
    let has = |it: &str| all.iter().filter(|known| known.terms().weight(it) > 0.0).count();
    // Two words that are one elsewhere.
    let joined = plain.windows(2).map(|it| stem(&it.concat())).filter(|it| has(it) > 0);
    asked.extend(joined.collect::<Vec<_>>());
    let n = all.len() as f64;
    let common = (n / 5.0).max(1.0);
    let of = |it: &str| all.iter().filter(|known| known.terms().weight(it) == STRONG).count();
    let rare = |count: usize| ((n + 1.0) / (count as f64 + 0.5)).ln().max(0.1);
    let counts: Vec<usize> = asked.iter().map(|it| of(it)).collect();
    let asked: Vec<(&str, usize)> = asked.iter().map(String::as_str).zip(counts).collect();
    // `book a table` is no question for books; `convert` is one for what converts.
    let opening = opening(sentence);
    let mut stems: BTreeMap<&str, bool> =
        asked.iter().map(|it| (it.0, it.1 as f64 <= common)).collect();
    let verb = opening.as_deref().and_then(|it| stems.remove_entry(it));
    let changes = asks_for_change(sentence);
    let said = with_pairs(&plain);
    // The name of a site that is what other sites are about, such as `weather`, is a word like others.
    let is_common_noun = |it: &str| {
        let stem = stem(it);
        all.iter().any(|known| {
            let terms = known.terms();
            terms.is_about(&stem) && !terms.site.contains(it)
        })
    };
    let (nouns, names): (Vec<&str>, Vec<&str>) =
        said.iter().map(String::as_str).partition(|it| is_common_noun(it));
    let mut found: Vec<(f64, &'a Arc<CachedRecipe>)> = Vec::new();
    for known in all {
        if changes && known.effect().is_read() {
            continue;
        }
        let terms = known.terms();
        let site = names.iter().any(|it| terms.site.contains(*it));
        let kind = nouns.iter().any(|it| terms.site.contains(*it));
        let does = verb.is_some_and(|(it, tells)| tells && terms.opening.as_deref() == Some(it));
        if site || kind || does || terms.is_meant(&stems) {
            let score: f64 =
                asked.iter().map(|(word, count)| terms.weight(word) * rare(*count)).sum();
            found.push((score + if site { STRONG * rare(1) } else { 0.0 }, known));
        }
    }
    found.sort_by(|a, b| {
        let served = |it: &Arc<CachedRecipe>| !it.is_served();
        b.0.total_cmp(&a.0)
            .then_with(|| served(a.1).cmp(&served(b.1)))
            .then_with(|| a.1.recipe.name.cmp(&b.1.recipe.name))
    });
    let best = found.first().map_or(0.0, |it| it.0);
    found.into_iter().filter(|it| it.0 >= best * NEAR).map(|it| it.1).collect()
}

/// Whether a sentence begins by asking for a change.
fn asks_for_change(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    let all: Vec<&str> =
        lower.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).take(4).collect();
    let is_change = |it: &&str| CHANGES.contains(it);
    let asks = ["please", "can", "could", "i"].iter().any(|it| all.first() == Some(it));
    all.first().is_some_and(is_change) || asks && all.iter().any(is_change)
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
