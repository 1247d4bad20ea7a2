//! People who follow a task: it asks as an event, and waits for `task_answer`.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::future::BoxFuture;
use serde_json::json;
use tokio::sync::oneshot;

use crate::Daemon;
use commis_agent::{HumanInput, HumanPrompt, Reply};

/// Nobody answers any more after that.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

/// What waits for an answer, by task.
#[derive(Default)]
pub struct OpenPrompts(Mutex<BTreeMap<String, oneshot::Sender<Reply>>>);

impl OpenPrompts {
    /// Whether that task had asked something.
    pub fn answer(&self, task: &str, reply: Reply) -> bool {
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(task);
        asked.is_some_and(|it| it.send(reply).is_ok())
    }

    fn ask(&self, task: &str) -> oneshot::Receiver<Reply> {
        let (send, take) = oneshot::channel();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(task.to_owned(), send);
        take
    }
}

pub struct TaskPrompter {
    daemon: Arc<Daemon>,
    task: String,
}

impl TaskPrompter {
    pub fn new(daemon: &Arc<Daemon>, task: String) -> Self {
        Self { daemon: Arc::clone(daemon), task }
    }
}

impl HumanInput for TaskPrompter {
    fn ask(&self, it: HumanPrompt) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            let answer = self.daemon.questions.ask(&self.task);
            let mut data = serde_json::to_value(&it).unwrap_or_default();
            data["question"] = json!(true);
            if self.daemon.book.stage(&self.task, "question", data).await.is_err() {
                return Reply::Nobody;
            }
            match tokio::time::timeout(PATIENCE, answer).await {
                Ok(Ok(it)) => it,
                _ => Reply::Nobody,
            }
        })
    }
}
