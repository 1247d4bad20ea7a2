//! Recipes that another machine checks: those of one host as an object in a store that both reach, what each came to as another.
//!
//! That machine calls; whose recipe it is judges, counts, and puts out of service.

use serde::{Deserialize, Serialize};

use super::work_units;
use commis_artifacts::shared_store::{ObjectKey, SharedStore};
use commis_base::{
    error::{Code, Error, Result},
    ids::{RecipeName, TaskId},
};
use commis_learn::{Fallback, RecipeRunner, Sessions};
use commis_recipe::{model::Recipe, yaml};
use commis_runner::{RecipeRunResult, call::Caller};

/// Recipes of a part: what a machine that is lost has to do again.
pub const RECIPES: usize = 25;
/// The name in the key of what a part is; tells it from a task.
pub const ENTRY: &str = "check.json";
const KIND: &str = "check";
const CHECKED: &str = "checked.json";
const VERSION: u32 = 1;
const MAX: usize = 16 << 20;
/// Our own limits are waited for, so often.
const TURNS: u32 = 100;

#[derive(Serialize, Deserialize)]
struct CheckPart {
    version: u32,
    /// What tells this check from another of the same recipes.
    check: String,
    /// YAML: the other machine may have others of these names, or none.
    recipes: Vec<String>,
}

/// What the call of a recipe's example came to.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CheckResult {
    pub name: RecipeName,
    success: bool,
    /// It came to no result.
    failed: bool,
    code: Option<String>,
    error: Option<String>,
    similarity_bp: Option<u32>,
    items: Option<u64>,
    total_ms: f64,
}

/// Puts a part there; its id. Fails as [`SharedStore::create`].
pub fn store(shared_store: &dyn SharedStore, check: &str, recipes: &[&Recipe]) -> Result<TaskId> {
    let recipes = recipes.iter().map(|it| yaml::to_yaml(it)).collect::<Result<_>>()?;
    work_units::store(
        shared_store,
        KIND,
        ENTRY,
        &CheckPart { version: VERSION, check: check.to_owned(), recipes },
    )
}

/// The key of what a part is.
pub fn entry_key(id: &TaskId) -> Result<ObjectKey> {
    work_units::key(id, ENTRY)
}

/// What a part came to; `None` when nobody has done it yet. Fails with `ARTIFACT_CORRUPT`, and as [`SharedStore::read`].
pub fn load_results(
    shared_store: &dyn SharedStore,
    id: &TaskId,
) -> Result<Option<Vec<CheckResult>>> {
    work_units::read(shared_store, id, CHECKED, MAX)
}

/// Calls each recipe once, unless that was done, and puts what came of it there. Fails as [`SharedStore`] does.
pub async fn run_part(
    shared_store: &dyn SharedStore,
    id: &TaskId,
    (caller, sessions): (&Caller, &Sessions),
) -> Result<()> {
    if load_results(shared_store, id)?.is_some() {
        return Ok(());
    }
    let part: CheckPart = work_units::load(shared_store, KIND, (id, ENTRY), MAX)?;
    if part.version != VERSION {
        return Err(Error::new(
            Code::ArtifactCorrupt,
            format!("{id} was written by another version of commis"),
        ));
    }
    let runs = RecipeRunner { caller, sessions, tell: &|_| () };
    let mut all = Vec::new();
    for text in &part.recipes {
        let recipe = yaml::parse(text)?;
        let Some(values) = recipe.example() else { continue };
        let mut turns = 0;
        let ended = loop {
            let ended = runs.call(&recipe, &values, Fallback::Never).await;
            let wait = ended.as_ref().ok().filter(|it| {
                it.error_code == Some(Code::RateLimited.as_str()) && it.status_code.is_none()
            });
            let wait = wait.map(|it| it.retry_after_sec.unwrap_or(1));
            match wait {
                Some(it) if turns < TURNS => {
                    turns += 1;
                    tokio::time::sleep(std::time::Duration::from_secs(it)).await;
                }
                _ => break ended,
            }
        };
        sessions.forget().await;
        all.push(CheckResult::from_run(recipe.name, ended));
    }
    work_units::store_result(shared_store, id, CHECKED, &all)
}

impl CheckResult {
    fn from_run(name: RecipeName, ended: Result<RecipeRunResult>) -> Self {
        let told = |it: &str| commis_redact::message(it);
        match ended {
            Ok(it) => Self {
                name,
                success: it.success,
                failed: false,
                code: it.error_code.map(str::to_owned),
                error: it.error.as_deref().map(told),
                similarity_bp: it.similarity_bp,
                items: it.items,
                total_ms: it.timings_ms.total,
            },
            Err(err) => Self {
                name,
                success: false,
                failed: true,
                code: Some(err.code().to_string()),
                error: Some(told(&err.to_string())),
                similarity_bp: None,
                items: None,
                total_ms: 0.0,
            },
        }
    }

    /// As a call of that recipe here would have come to it; there is no data.
    pub fn into_run_result(self, recipe: &Recipe) -> Result<RecipeRunResult> {
        let code = self.code.as_deref().map(|it| Code::from_wire(it).unwrap_or(Code::Internal));
        if self.failed {
            let why = self.error.unwrap_or_default();
            return Err(Error::new(code.unwrap_or(Code::Internal), why));
        }
        let mut out = RecipeRunResult::new(recipe.transport());
        out.success = self.success;
        out.error_code = code.map(Code::as_str);
        out.error = self.error;
        out.similarity_bp = self.similarity_bp;
        out.items = self.items;
        out.timings_ms.total = self.total_ms;
        Ok(out)
    }
}
