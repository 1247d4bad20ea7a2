//! Questions of tasks that wait for a person's answer.

use commis_agent::Reply;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};
use tokio::sync::oneshot;

/// Questions without an answer, by task.
#[derive(Default)]
pub struct OpenPrompts(Mutex<BTreeMap<String, oneshot::Sender<Reply>>>);

impl OpenPrompts {
    /// Passes the reply to the task. Returns false if that task has no open question.
    pub fn answer(&self, task: &str, reply: Reply) -> bool {
        let prompt = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(task);
        prompt.is_some_and(|it| it.send(reply).is_ok())
    }

    pub(super) fn ask(&self, task: &str) -> oneshot::Receiver<Reply> {
        let (send, take) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task.to_owned(), send);
        take
    }
}
