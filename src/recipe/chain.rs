//! Several requests in a row, as files hold them.

use super::model::{RequestTemplate, ResponseSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Requests for one answer that is not ready, where a recipe does not say.
const USUAL_POLLS: u32 = 20;

/// One request of several, as files hold it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What later templates call its answer: `{name.field}`. As names of parameters are.
    pub name: String,
    /// Of the last step: the earlier step whose items it is called for, once for each, in their order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_each: Option<String>,
    /// What is sent. Its templates may use the answers of the steps before.
    pub request: RequestTemplate,
    /// What of the answer is used.
    pub response: ResponseSpec,
    /// Which item of its answer later steps use, where the answer is a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choose: Option<Choose>,
    /// Of a step before the last: it is asked again until its answer is ready, as of a job that was started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Poll>,
    /// With `for_each`: the field of each item that its answer becomes. Without it the fields of both are put together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// With `for_each`: the field of each item that says where it stands in the list, counted from 1. Items that the site has no
    /// answer for are then left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// With `output`: where the site answers 404 or 410, its answer is `null`, and the data says that it is not complete.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub optional: bool,
}

/// How the answers of several requests become the data, while it is learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Assembly {
    PerItem(PerItem),
    Output(JoinedOutput),
}

impl Assembly {
    /// What of the last request's answer is used.
    pub const fn response(&self) -> &ResponseSpec {
        match self {
            Self::PerItem(it) => &it.response,
            Self::Output(it) => &it.response,
        }
    }

    /// The calls for items, where that is what it is.
    pub const fn per_item(&self) -> Option<&PerItem> {
        match self {
            Self::PerItem(it) => Some(it),
            Self::Output(_) => None,
        }
    }
}

/// Answers of steps that do not need one another, put together while it is learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinedOutput {
    /// As [`Chain::output`].
    pub expression: String,
    /// The last step's name.
    pub last: String,
    /// What of the last answer is used.
    pub response: ResponseSpec,
}

/// A request that is sent once for each item of an earlier answer, while it is learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PerItem {
    /// The step whose items they are.
    pub step: String,
    /// As [`Step::into`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// As [`Step::position`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// What of each answer is used.
    pub response: ResponseSpec,
}

/// Until when a step is asked again. Each request waits a second after the one before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Poll {
    /// JMESPath over the step's answer that is true where it is ready: `status == 'done'`.
    pub until: String,
    /// Requests at most, 2 to 60; 20 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<u32>,
}

impl Poll {
    /// Requests at most.
    pub fn limit(&self) -> u32 {
        self.at_most.unwrap_or(USUAL_POLLS)
    }
}

/// Which items of a list are meant. Where one is meant and more than one could be, a run fails with `CHOICE_AMBIGUOUS`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choose {
    /// The one item that there is.
    Only,
    /// The first one: the site's order is what was asked for.
    First,
    /// The one whose fields are so: by field (`name`, `team.name`) a template, or another JSON value.
    Where(BTreeMap<String, Value>),
    /// The member of an object that has this name, a template: `key: "{size}"`.
    Key(String),
    /// All of them, at most 100, in one request: `{step.field}` stands for the values of all items with this text between them.
    /// Without a text between them it is a JSON list. Of an empty list nothing is asked: the data is an empty list.
    All(String),
}

/// What a recipe of several steps has beside its last request, which is [`Recipe::request`] with its answer
/// [`Recipe::response`].
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// The steps before the last, in the order they are sent.
    pub before: Vec<Step>,
    /// The last step's name.
    pub last: String,
    pub for_each: Option<String>,
    pub into: Option<String>,
    pub position: Option<String>,
    /// JMESPath over the steps' answers by name; without it the last answer is the data.
    pub output: Option<String>,
}
