//! What a replay is to do differently, and what became of each action.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::sessions::locator_cache::ElementMemory;

/// What is to be another, and what may be done.
#[derive(Clone, Debug, Default)]
pub struct ReplayOptions {
    /// By number of the action.
    pub values: BTreeMap<u32, String>,
    /// Actions that may change something where they go.
    pub allow: Vec<u32>,
    /// Where it begins instead.
    pub url: Option<String>,
    /// What was found before.
    pub memory: Option<ElementMemory>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReplayOutcome {
    /// As recorded.
    Same,
    /// On an element that has changed since.
    Healed,
    /// Not done: the element is not there, or may not be acted on.
    Refused,
    /// Done, and something else came of it. Nothing left but what was expected.
    Differs,
}

/// What became of an action.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReplayedAction {
    pub n: u32,
    pub command: String,
    pub outcome: ReplayOutcome,
    /// How its element was found, where it is another than recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found_by: Option<MatchSource>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MatchSource {
    /// By what is left of it.
    Likeness,
    /// It was found before, and what it asked for was right twice.
    Memory,
}
