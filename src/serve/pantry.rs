//! Recipes as the daemon has them at hand: read again when their file is another, and not before.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, OnceLock, PoisonError},
};

use super::mcp::tool::Tool;
use commis_base::{error::Result, files::Dir, ids::RecipeName};
use commis_recipe::{
    model::{Recipe, Status},
    registry::{Registry, Source},
};

/// A recipe that was read, and what was made of it.
pub struct Known {
    pub recipe: Recipe,
    pub source: Source,
    /// How it is offered as a tool; made when it is first asked for.
    tool: OnceLock<Tool>,
}

impl Known {
    pub fn is_served(&self) -> bool {
        self.recipe.status == Status::Verified
    }

    pub fn tool(&self) -> &Tool {
        self.tool.get_or_init(|| Tool::of(&self.recipe))
    }
}

/// Size, time and inode of the file that a recipe is read from.
type Stamp = Option<(u64, i64, u64, u64)>;
/// Of the user's file, and of what is noted of a library recipe.
type Stamps = (Stamp, Stamp);

/// All recipes of a home.
pub struct Pantry {
    pub registry: Registry,
    folder: PathBuf,
    read: Mutex<BTreeMap<String, (Stamps, Arc<Known>)>>,
}

impl Pantry {
    pub fn new(folder: PathBuf) -> Self {
        Self { registry: Registry::open(&folder), folder, read: Mutex::default() }
    }

    /// Fails with `RECIPE_NOT_FOUND`, `RECIPE_INVALID`, `ARTIFACT_IO`.
    pub fn get(&self, name: &RecipeName) -> Result<Arc<Known>> {
        let stamps = self.stamps(name.as_str())?;
        if let Some((then, known)) = self.lock().get(name.as_str())
            && *then == stamps
        {
            return Ok(Arc::clone(known));
        }
        let held = self.registry.get(name)?;
        let known =
            Arc::new(Known { recipe: held.recipe, source: held.source, tool: OnceLock::new() });
        self.lock().insert(name.to_string(), (stamps, Arc::clone(&known)));
        Ok(known)
    }

    /// All that can be read, by name. Fails with `ARTIFACT_IO`.
    pub fn all(&self) -> Result<Vec<Arc<Known>>> {
        let names = self.registry.names()?;
        self.lock().retain(|it, _| names.contains(it));
        Ok(names.into_iter().filter_map(|it| self.get(&RecipeName::new(it).ok()?).ok()).collect())
    }

    fn stamps(&self, name: &str) -> Result<Stamps> {
        let Some(dir) = Dir::open(&self.folder, false)? else { return Ok((None, None)) };
        let own = dir.stat(&format!("{name}.yaml"))?;
        // Where there is one of the user's, nothing is noted of the library's.
        let noted = if own.is_none() { dir.stat(&format!("library/{name}.json"))? } else { None };
        Ok((own, noted))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, (Stamps, Arc<Known>)>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
