//! The table of operations. Every face is made of it: routes, tools, the OpenAPI document, the reference, the skill.

mod action_history;
mod agent_runs;
mod arguments;
mod browse;
mod files;
mod learning;
mod meta;
mod recipes;
mod research;
pub(crate) mod run_login;
mod run_recipe;
pub mod runs;
mod sessions;
mod tasks;
mod templates;
mod vault;
mod watches;

use super::answer::Meta;
use std::sync::LazyLock;

pub(crate) use self::{
    action_history::{LearnRequest, start_learning, trail},
    agent_runs::{MatchedRecipe, RecipeQuery, match_recipe},
    run_recipe::{count_run, run_usual, run_usual_as},
};
pub use self::{
    arguments::{Params, coerced, no_secrets},
    vault::login_expired,
};
pub use super::{
    operation::{
        ExecutionMode, FIRST, HttpMethod, Job, Kind, Operation, OperationContext, OperationResult,
        Spec, ToolExposure, output_schema, properties, requires, without,
    },
    task_access::{find_visible_task, task_error},
};
pub(crate) use super::{
    operation::{row, spec, stopped, with_default_meta, within},
    recipe_access::{announce_recipe_change, find_visible_recipe},
};

/// All operations, in the order of the reference.
pub static TABLE: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let mut out = Vec::new();
    recipes::rows(&mut out);
    agent_runs::rows(&mut out);
    runs::rows(&mut out);
    research::rows(&mut out);
    learning::rows(&mut out);
    tasks::rows(&mut out);
    browse::rows(&mut out);
    sessions::rows(&mut out);
    templates::rows(&mut out);
    vault::rows(&mut out);
    watches::rows(&mut out);
    meta::rows(&mut out);
    out
});

/// The operation of that name.
pub fn find(name: &str) -> Option<&'static Operation> {
    TABLE.iter().find(|it| it.spec.name == name)
}
