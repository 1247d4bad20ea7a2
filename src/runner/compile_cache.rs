//! Compiled recipes, kept for the next call of the same process. A recipe that changed in any way is another one.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use super::{CompiledRecipe, compile};
use commis_base::{error::Result, ids::RecipeName};
use commis_recipe::model::Recipe;

/// More recipes than somebody has; each is a few kilobytes.
const MAX: usize = 256;

/// The last so many recipes that were called, by name.
#[derive(Default)]
pub struct CompiledRecipes(Mutex<CacheState>);

#[derive(Default)]
struct CacheState {
    calls: u64,
    hits: u64,
    /// With the number of the last call.
    by_name: BTreeMap<RecipeName, (u64, Arc<CompiledRecipe>)>,
}

impl CompiledRecipes {
    /// Fails as [`compile`].
    pub fn get(&self, recipe: &Recipe) -> Result<Arc<CompiledRecipe>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.calls += 1;
        let call = kept.calls;
        if let Some((used, it)) = kept.by_name.get_mut(&recipe.name)
            && it.recipe == *recipe
        {
            *used = call;
            let found = Arc::clone(it);
            kept.hits += 1;
            return Ok(found);
        }
        let compiled = Arc::new(compile(recipe)?);
        if kept.by_name.len() >= MAX && !kept.by_name.contains_key(&recipe.name) {
            let oldest = kept.by_name.values().map(|it| it.0).min().unwrap_or(0);
            kept.by_name.retain(|_, (used, _)| *used != oldest);
        }
        kept.by_name.insert(recipe.name.clone(), (call, Arc::clone(&compiled)));
        Ok(compiled)
    }

    /// How often a recipe was asked for, and how often it was there.
    pub fn calls_and_hits(&self) -> (u64, u64) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (kept.calls, kept.hits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_recipe::yaml;

    fn recipe(name: &str, path: &str) -> Recipe {
        let text = format!(
            "version: 1\nname: {name}\ntask: t\nstatus: draft\nsource_url: http://a.test/\n\
             request: {{ method: GET, url: 'http://a.test/{path}', allowed_domains: [a.test], allowed_sites: [a.test] }}\n\
             response: {{ type: text }}"
        );
        yaml::parse(&text).unwrap()
    }

    #[test]
    fn a_changed_recipe_is_compiled_again() {
        let kept = CompiledRecipes::default();
        let first = kept.get(&recipe("one", "a")).unwrap();
        assert!(Arc::ptr_eq(&first, &kept.get(&recipe("one", "a")).unwrap()));
        let other = kept.get(&recipe("one", "b")).unwrap();
        assert_eq!(other.recipe.request.url, "http://a.test/b");
        assert_eq!(kept.calls_and_hits(), (3, 1));
    }

    #[test]
    fn those_not_called_for_longest_are_dropped() {
        let kept = CompiledRecipes::default();
        for n in 0..MAX {
            kept.get(&recipe(&format!("r{n}"), "a")).unwrap();
        }
        kept.get(&recipe("r0", "a")).unwrap();
        kept.get(&recipe("more", "a")).unwrap();
        assert_eq!(kept.0.lock().unwrap().by_name.len(), MAX);
        let hits = |name: &str| {
            let before = kept.calls_and_hits().1;
            kept.get(&recipe(name, "a")).unwrap();
            kept.calls_and_hits().1 - before
        };
        assert_eq!((hits("r0"), hits("r1")), (1, 0));
    }
}
