//! Recipes as the daemon has them at hand: read again when their file is another, and not before.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::mcp::{terms::Terms, tool::ToolDefinition};
use commis_base::{error::Result, files::Dir, ids::RecipeName};
use commis_recipe::{
    model::{Recipe, Status},
    registry::{Registry, Source},
};
use commis_stages::effect::{Effect, recipe_effect};

/// A recipe that was read, and what was made of it.
pub struct CachedRecipe {
    pub recipe: Recipe,
    pub source: Source,
    is_operation: fn(&str) -> bool,
    /// How it is offered as a tool; made when it is first asked for.
    tool: OnceLock<ToolDefinition>,
    /// Words that it is found by; made when they are first asked for.
    terms: OnceLock<Terms>,
    /// What its request does, without regard to trust. Judged on the first run as a draft.
    effect: OnceLock<Effect>,
}

impl CachedRecipe {
    pub fn is_served(&self) -> bool {
        self.recipe.status == Status::Verified
    }

    /// Nobody here stands for it.
    pub fn is_strange(&self) -> bool {
        self.recipe.trust.is_untrusted()
    }

    /// Its task and examples may be a stranger's words.
    pub fn has_strange_words(&self) -> bool {
        self.recipe.trust.has_untrusted_text()
    }

    pub fn tool(&self) -> &ToolDefinition {
        self.tool.get_or_init(|| ToolDefinition::from_recipe(&self.recipe, self.is_operation))
    }

    /// What its request does, by what the recipe says alone.
    pub fn effect(&self) -> &Effect {
        self.effect.get_or_init(|| recipe_effect(&self.recipe, false))
    }

    pub fn terms(&self) -> &Terms {
        self.terms.get_or_init(|| Terms::from_recipe(&self.recipe, &self.tool().data))
    }
}

/// Size, time and inode of the file that a recipe is read from.
type FileStamp = Option<(u64, i64, u64, u64)>;
/// Stamps of the user's file, of the notes on a library recipe, and of the trust file of the one in use.
type RecipeStamps = (FileStamp, FileStamp, FileStamp);

/// All recipes of a home.
pub struct RecipeCache {
    pub registry: Registry,
    folder: PathBuf,
    /// Whether an operation has that name. A tool of a recipe then needs another name.
    is_operation: fn(&str) -> bool,
    read: Mutex<BTreeMap<String, (RecipeStamps, Arc<CachedRecipe>)>>,
}

impl RecipeCache {
    pub fn new(registry: Registry, is_operation: fn(&str) -> bool) -> Self {
        Self {
            folder: registry.folder().to_owned(),
            registry,
            is_operation,
            read: Mutex::default(),
        }
    }

    /// Fails with `RECIPE_NOT_FOUND`, `RECIPE_INVALID`, `ARTIFACT_IO`.
    pub fn get(&self, name: &RecipeName) -> Result<Arc<CachedRecipe>> {
        let stamps = self.stamps(name)?;
        if let Some((then, known)) = self.lock().get(name.as_str())
            && *then == stamps
        {
            return Ok(Arc::clone(known));
        }
        let held = self.registry.get(name)?;
        let known = Arc::new(CachedRecipe {
            recipe: held.recipe,
            source: held.source,
            is_operation: self.is_operation,
            tool: OnceLock::new(),
            terms: OnceLock::new(),
            effect: OnceLock::new(),
        });
        self.lock().insert(name.to_string(), (stamps, Arc::clone(&known)));
        Ok(known)
    }

    /// All that can be read, by name. Fails with `ARTIFACT_IO`.
    pub fn all(&self) -> Result<Vec<Arc<CachedRecipe>>> {
        let names = self.registry.names()?;
        self.lock().retain(|it, _| names.contains(it));
        Ok(names.into_iter().filter_map(|it| self.get(&RecipeName::new(it).ok()?).ok()).collect())
    }

    fn stamps(&self, name: &RecipeName) -> Result<RecipeStamps> {
        let dir = Dir::open(&self.folder, false)?;
        let stat = |file: String| dir.as_ref().map_or(Ok(None), |it| it.stat(&file));
        let own = stat(format!("{name}.yaml"))?;
        // Where there is one of the user's, nothing is noted of the library's.
        let noted = if own.is_none() { stat(format!("library/{name}.json"))? } else { None };
        Ok((own, noted, self.registry.stamp(name, own.is_some())))
    }

    fn lock(
        &self,
    ) -> std::sync::MutexGuard<'_, BTreeMap<String, (RecipeStamps, Arc<CachedRecipe>)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
