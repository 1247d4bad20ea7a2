//! A recipe as the one who asks may see it, and the event that it is another now.

use std::sync::Arc;

use serde_json::json;

use crate::{operation::OperationContext, recipe_cache::CachedRecipe};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};

/// The recipe, if who asks may know of it. Fails as a recipe does that is not there.
pub(crate) fn find_visible_recipe(cx: &OperationContext, name: &str) -> Result<Arc<CachedRecipe>> {
    let name = RecipeName::new(name)?;
    if !cx.principal.sees(name.as_str()) {
        return Err(Error::new(Code::RecipeNotFound, format!("there is no recipe `{name}`")));
    }
    cx.daemon.recipes.get(&name)
}

/// Tells whoever watches that a recipe is another now.
pub(crate) fn announce_recipe_change(cx: &OperationContext, name: &str, status: &'static str) {
    let daemon = Arc::clone(&cx.daemon);
    let data = json!({"name": name, "status": status});
    tokio::spawn(async move {
        if let Err(err) = daemon.database.happened("recipe", data).await {
            tracing::error!(error = %err, "an event was not written down");
        }
    });
}
