//! What a task asks for.

use commis_recipe::params::Params;
use commis_vault::LoginName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What drives the browser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// Our own browser.
    #[default]
    Commis,
    /// Playwright's MCP server, as a process of its own.
    PlaywrightMcp,
}

#[derive(Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskRequest {
    /// What you want to know or do, in a sentence; `{name}` where values of `params` go.
    pub task: String,
    /// Values of the parameters.
    #[serde(default)]
    pub params: Params,
    /// Other values, to prove a recipe on that is learned from what was done.
    #[serde(default)]
    pub second: Params,
    /// Where a model begins when no recipe is meant. Without this or a playbook only recipes answer.
    pub url: Option<String>,
    /// A playbook by name: where to begin, what success looks like, what may be changed.
    pub playbook: Option<String>,
    /// `provider/name`, or a name that begins with `claude-`, `gpt-` or `gemini-`; else that of the settings.
    pub model: Option<String>,
    #[serde(default)]
    pub backend: Backend,
    /// A login of the vault that the model's page begins with; it is of the task's site.
    #[serde(default, rename = "as")]
    pub login: Option<String>,
    /// Calls of the model, at most.
    #[serde(default = "twenty")]
    #[schemars(range(min = 1, max = 100))]
    pub max_turns: u32,
    /// Tokens, in and out together, at most.
    pub max_tokens: Option<u64>,
    /// In the currency of the model's prices in the settings, at most.
    pub max_cost: Option<f64>,
    /// Other hosts where pages may be opened.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// Tell what the model would do first, and stop.
    #[serde(default)]
    pub dry_run: bool,
    /// Pass a playbook's checkpoints without asking.
    #[serde(default)]
    pub no_checkpoint: bool,
    /// A request that may change something waits for a person's approval; without this it is only shown.
    #[serde(default)]
    pub allow_submit: bool,
    /// Learn no recipe from it.
    #[serde(default)]
    pub no_learn: bool,
    /// Answer with a model though a recipe is meant.
    #[serde(default)]
    pub no_recipe: bool,
    /// Somebody answers the task's questions (`task_answer`).
    #[serde(default)]
    pub interactive: bool,
}

fn twenty() -> u32 {
    20
}

/// A login of the vault.
pub type NamedLogin = (LoginName, commis_vault::LoginData);
