//! What a person may go on typing with: names of recipes, and tasks that a recipe has an answer to.

use std::sync::Arc;

use super::find;
use crate::recipe_cache::CachedRecipe;

/// Names that begin so, then those that hold it.
pub fn names(typed: &str, all: &[Arc<CachedRecipe>]) -> Vec<String> {
    let typed = typed.to_lowercase();
    let mut out: Vec<&str> =
        all.iter().map(|it| it.recipe.name.as_str()).filter(|it| it.contains(&typed)).collect();
    out.sort_by_key(|it| (!it.starts_with(&typed), *it));
    out.into_iter().map(str::to_owned).collect()
}

/// Tasks in the words of recipes that are meant by what was typed, with the values of an example: `shop search: query umbrella`.
pub fn tasks(typed: &str, all: &[Arc<CachedRecipe>]) -> Vec<String> {
    let found = find::ranked(typed, &all.iter().collect::<Vec<_>>());
    let tasks = found.into_iter().map(|it| {
        let words = it.recipe.name.as_str().replace('-', " ");
        let parameters = it.recipe.parameters.iter();
        let values: Vec<String> = parameters
            .filter_map(|it| Some(format!("{} {}", it.name, it.examples.first()?)))
            .collect();
        if values.is_empty() { words } else { format!("{words}: {}", values.join(", ")) }
    });
    tasks.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe_cache::RecipeCache;
    use commis_recipe::registry::Registry;

    #[test]
    fn what_was_typed_leads_to_recipes() {
        let home = tempfile::tempdir().unwrap();
        let all = RecipeCache::new(Registry::open(home.path()), |_| false).all().unwrap();
        assert_eq!(names("hn-", &all), ["hn-newest", "hn-search"]);
        assert_eq!(names("Earthquakes", &all), ["usgs-earthquakes"]);
        assert_eq!(names("", &all).len(), all.len());
        assert_eq!(names("zebra-zebra", &all), [""; 0]);
        let found = tasks("earthquakes", &all);
        assert!(found.iter().any(|it| it.starts_with("usgs earthquakes: ")), "{found:?}");
        assert_eq!(tasks("", &all).len(), all.len());
    }
}
