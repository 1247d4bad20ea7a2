//! Recipes that nobody here stands for, kept from models: their names, words and examples may be a stranger's instructions.
//!
//! Programs and people find them over REST, on the command line and at the dashboard, as drafts.

use serde_json::{Map, Value};

use crate::{
    answer::ApiError,
    operations::Operation,
    recipe_cache::{CachedRecipe, RecipeCache},
};
use commis_base::{
    error::{Code, Error},
    ids::RecipeName,
};

/// Operations that tell or do what a recipe of that name says.
const OF_ONE: &[&str] =
    &["recipe_get", "recipe_run", "recipe_dry_run", "recipe_verify", "recipe_heal", "recipe_fork"];
/// Those that quote it.
const QUOTING: &[&str] = &["recipe_explain", "recipe_export"];

/// Why a call of a model is refused, where it is.
pub fn check_call(
    recipes: &RecipeCache,
    row: &Operation,
    args: &Map<String, Value>,
) -> Option<ApiError> {
    let quotes = QUOTING.contains(&row.spec.name);
    let argument = match row.spec.name {
        "watch_add" => "recipe",
        it if quotes || OF_ONE.contains(&it) => "name",
        _ => return None,
    };
    let name = RecipeName::new(args.get(argument)?.as_str()?).ok()?;
    let known = recipes.get(&name).ok()?;
    let strange = if quotes { known.has_strange_words() } else { known.is_strange() };
    strange.then(|| {
        let err = Error::new(
            Code::RecipeNotVerified,
            format!("`{name}` was not learned on this machine, so its words may instruct the model"),
        );
        ApiError::from_error(&err.hint(format!(
            "a person must review it with `commis recipe explain {name}`, then run `commis recipe verify {name}`"
        )))
    })
}

/// What was found, without them, and without the words of those whose examples alone were proven.
pub fn hide_untrusted(recipes: &RecipeCache, row: &Operation, data: &mut Value) {
    match row.spec.name {
        "recipe_find" | "recipe_list" => {
            let Some(all) = data.get_mut("recipes").and_then(Value::as_array_mut) else { return };
            all.retain_mut(|it| match find_recipe(recipes, it) {
                Some(known) if known.is_strange() => false,
                Some(known) => {
                    wordless(&known, it);
                    true
                }
                None => true,
            });
        }
        "recipe_get" => {
            if let Some(known) = find_recipe(recipes, data) {
                wordless(&known, data);
            }
        }
        _ => {}
    }
}

fn find_recipe(recipes: &RecipeCache, line: &Value) -> Option<std::sync::Arc<CachedRecipe>> {
    recipes.get(&RecipeName::new(line.get("name")?.as_str()?).ok()?).ok()
}

fn wordless(known: &CachedRecipe, line: &mut Value) {
    if !known.has_strange_words() {
        return;
    }
    if let Some(it) = line.as_object_mut() {
        it.insert("task".to_owned(), "".into());
        it.remove("category");
        if it.contains_key("input_schema") {
            it.insert("input_schema".to_owned(), known.tool().brief.clone());
        }
    }
}
