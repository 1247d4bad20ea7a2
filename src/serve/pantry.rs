//! Recipes as the daemon has them at hand: read again when their file is another, and not before.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::mcp::{find::Terms, tool::ToolDefinition};
use commis_base::{error::Result, files::Dir, ids::RecipeName};
use commis_recipe::{
    model::{Recipe, Status},
    registry::{Registry, Source},
};

/// A recipe that was read, and what was made of it.
pub struct CachedRecipe {
    pub recipe: Recipe,
    pub source: Source,
    /// How it is offered as a tool; made when it is first asked for.
    tool: OnceLock<ToolDefinition>,
    /// Words that it is found by; made when they are first asked for.
    terms: OnceLock<Terms>,
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
        self.tool.get_or_init(|| ToolDefinition::from_recipe(&self.recipe))
    }

    pub fn terms(&self) -> &Terms {
        self.terms.get_or_init(|| Terms::from_recipe(&self.recipe, &self.tool().data))
    }
}

/// Size, time and inode of the file that a recipe is read from.
type FileStamp = Option<(u64, i64, u64, u64)>;
/// Of the user's file, of what is noted of a library recipe, and of who stands for either.
type RecipeStamps = (FileStamp, FileStamp, [FileStamp; 2]);

/// All recipes of a home.
pub struct RecipeCache {
    pub registry: Registry,
    folder: PathBuf,
    read: Mutex<BTreeMap<String, (RecipeStamps, Arc<CachedRecipe>)>>,
}

impl RecipeCache {
    pub fn new(registry: Registry) -> Self {
        Self { folder: registry.folder().to_owned(), registry, read: Mutex::default() }
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
            tool: OnceLock::new(),
            terms: OnceLock::new(),
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
        let trust = self.registry.stamp(name);
        let Some(dir) = Dir::open(&self.folder, false)? else { return Ok((None, None, trust)) };
        let own = dir.stat(&format!("{name}.yaml"))?;
        // Where there is one of the user's, nothing is noted of the library's.
        let noted = if own.is_none() { dir.stat(&format!("library/{name}.json"))? } else { None };
        Ok((own, noted, trust))
    }

    fn lock(
        &self,
    ) -> std::sync::MutexGuard<'_, BTreeMap<String, (RecipeStamps, Arc<CachedRecipe>)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
