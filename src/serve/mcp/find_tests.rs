//! Sentences and the recipe that answers each.

use super::*;
use crate::recipe_cache::RecipeCache;
use commis_recipe::registry::Registry;

const SENTENCES: &str = include_str!("../../../tests/vectors/find/sentences.tsv");

/// Of so many sentences that a recipe of the library answers, that one is first; for those that none answers, none is offered.
#[test]
fn sentences_find_the_recipe_that_answers_them_and_no_other() {
    let home = tempfile::tempdir().unwrap();
    let recipes = RecipeCache::new(Registry::open(home.path()), |_| false);
    let all = recipes.all().unwrap();
    let all: Vec<&Arc<CachedRecipe>> = all.iter().collect();
    assert!(all.len() > 40);
    let (mut right, mut wrong, mut offered_none) = (0, Vec::new(), Vec::new());
    let mut none = 0;
    for line in SENTENCES.lines().filter(|it| !it.starts_with('#')) {
        let (address, sentence) = line.split_once('\t').unwrap();
        let found = offered(sentence, &all);
        let first = found.first().map(|it| it.recipe.request.url.as_str());
        if address.is_empty() {
            none += 1;
            if let Some(it) = first {
                offered_none.push(format!("{sentence}: {it}"));
            }
        } else if first.is_some_and(|it| address.split('|').any(|part| it.contains(part))) {
            right += 1;
        } else {
            wrong.push(format!("{sentence}: {first:?}"));
        }
    }
    let known = right + wrong.len();
    println!(
        "{right} of {known} right, {} of {none} offered though nothing fits",
        offered_none.len()
    );
    println!("{}\n--\n{}", wrong.join("\n"), offered_none.join("\n"));
    assert!(known >= 200 && none >= 50);
    assert!(right * 100 >= known * 90, "{right} of {known}:\n{}", wrong.join("\n"));
    assert!(offered_none.is_empty(), "{}", offered_none.join("\n"));
}

#[test]
fn inflections_and_compounds_are_one_word() {
    let home = tempfile::tempdir().unwrap();
    let recipes = RecipeCache::new(Registry::open(home.path()), |_| false);
    let all = recipes.all().unwrap();
    let all: Vec<&Arc<CachedRecipe>> = all.iter().collect();
    let first = |it: &str| offered(it, &all).first().map(|it| it.recipe.name.to_string());
    assert_eq!(first("earthquake"), first("the earthquakes of 2023"));
    assert_eq!(first("books in the open library"), first("openlibrary book"));
    // Without words everything is listed.
    assert_eq!(offered("", &all).len(), all.len());
}
