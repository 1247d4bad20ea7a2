//! Which recipes are meant by a few words.

use std::{collections::BTreeSet, sync::Arc};

use super::terms::{NOTHING, STRONG, stem, with_pairs, words};
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

/// Of what was asked, a recipe has to cover so much.
const LEAST_COVER: f64 = 0.35;
/// What is offered comes so near to the best.
const NEAR: f64 = 0.45;

/// Recipes that answer what a sentence asks, best first; none where the sentence is about something else. Words that few recipes have
/// say more than words that many have, and words that none has are values, or say that nothing fits.
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
    let rare = |count: usize| ((n + 1.0) / (count as f64 + 0.5)).ln().max(0.1);
    let values = values(sentence);
    let asked: Vec<(String, usize, f64)> = asked
        .into_iter()
        .map(|it| {
            let count = has(&it);
            let weight = match count {
                0 if values.contains(&it) => 0.1,
                0 => 0.6 * rare(0),
                _ => rare(count),
            };
            (it, count, weight)
        })
        .collect();
    let total: f64 = asked.iter().map(|it| it.2).sum();
    // A word that no recipe has, and that is no value, says that something else is wanted.
    let is_foreign = asked.iter().any(|it| it.1 == 0 && !values.contains(&it.0));
    let common = (n / 5.0).max(1.0);
    let said = with_pairs(&plain);
    let mut found: Vec<(f64, &'a Arc<CachedRecipe>)> = Vec::new();
    for known in all {
        let terms = known.terms();
        let matched: Vec<(f64, usize, f64)> = asked
            .iter()
            .map(|(word, count, weight)| (terms.weight(word), *count, *weight))
            .filter(|it| it.0 > 0.0)
            .collect();
        let cover: f64 = matched.iter().map(|it| it.2).sum::<f64>() / total;
        let strong = matched.iter().filter(|it| it.0 == STRONG).count();
        let telling = matched.iter().any(|it| it.0 == STRONG && it.1 as f64 <= common);
        let is_meant = match matched.len() {
            0 => false,
            1 => strong == 1 && telling && !is_foreign,
            _ => (telling || strong > 1) && cover >= LEAST_COVER,
        };
        let site = said.iter().filter(|it| terms.site.contains(*it)).count();
        if is_meant || site > 0 {
            let named = if site > 0 { STRONG * rare(1) } else { 0.0 };
            let score = matched.iter().map(|it| it.0 * it.2).sum::<f64>();
            found.push((score + named, known));
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

/// Words of a sentence that are values rather than what is asked: numbers, and names in the middle of it.
fn values(sentence: &str) -> BTreeSet<String> {
    let mut all = sentence.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    let first = all.next().filter(|it| it.bytes().any(|it| it.is_ascii_digit()));
    let is_value = |it: &&str| it.starts_with(|it: char| it.is_uppercase() || it.is_ascii_digit());
    first.into_iter().chain(all.filter(is_value)).map(|it| stem(&it.to_lowercase())).collect()
}

#[cfg(test)]
#[path = "find_tests.rs"]
mod tests;
