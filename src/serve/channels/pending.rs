//! Questions about approvals that are open in a chat.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};
use tokio::sync::Notify;

/// What was asked and is not decided.
#[derive(Default)]
pub struct OpenQuestions {
    open: Mutex<QuestionTable>,
}

#[derive(Default)]
pub(super) struct QuestionTable {
    /// By the approval's id.
    pub(super) all: BTreeMap<String, Question>,
    /// Somebody fetches updates.
    pub(super) heard: bool,
}

/// One message.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) message: i32,
    pub(super) text: String,
    pub(super) digest: String,
    pub(super) word: String,
    /// The number of who pressed one of its buttons.
    pub(super) pressed: Option<u64>,
}

impl OpenQuestions {
    pub(super) fn lock(&self) -> MutexGuard<'_, QuestionTable> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
pub struct Channels {
    pub(super) telegram: OpenQuestions,
    /// Told when something was decided.
    pub(super) changed: Notify,
}

impl Channels {
    /// Something that waited was decided, by whatever way.
    pub fn decided(&self) {
        self.changed.notify_one();
    }
}
