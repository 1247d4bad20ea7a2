//! What is put to a person while a task is done: a checkpoint, a value that is missing, a wall that only they get past.

use std::path::PathBuf;

use futures::future::BoxFuture;
use serde::Serialize;

/// Something that a person is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HumanPrompt {
    pub kind: PromptKind,
    /// What it is about. What is in quotes is a model's or a page's.
    pub text: String,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PromptKind {
    /// Before the first step: where it goes, and what may be changed at most.
    Contract,
    /// Before an action that a playbook stops at, or that the model would rather be asked about.
    Checkpoint,
    /// A value that the task lacks.
    Value,
    /// A login, a second factor, a captcha: to be done in the page itself.
    Wall,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Yes,
    No,
    Text(String),
    /// There is nobody to ask.
    Nobody,
}

/// Whoever can be asked. An answer here lets the loop go on; it lets no request go (that takes an approval).
pub trait HumanInput: Send + Sync {
    fn ask(&self, it: HumanPrompt) -> BoxFuture<'_, Reply>;

    /// Whether anybody is there.
    fn is_there(&self) -> bool {
        true
    }
}

/// Where nobody is there.
pub struct NoHumanInput;

impl HumanInput for NoHumanInput {
    fn ask(&self, _: HumanPrompt) -> BoxFuture<'_, Reply> {
        Box::pin(std::future::ready(Reply::Nobody))
    }

    fn is_there(&self) -> bool {
        false
    }
}
