//! People who follow a task: it asks as an event, and waits for `task_answer`.

use std::{sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::json;

use crate::Daemon;
use commis_agent::{HumanInput, HumanPrompt, Reply};

/// Nobody answers any more after that.
const PATIENCE: Duration = Duration::from_secs(15 * 60);

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
            let answer = self.daemon.open_prompts.ask(&self.task);
            let mut data = serde_json::to_value(&it).unwrap_or_default();
            data["question"] = json!(true);
            if self.daemon.database.stage(&self.task, "question", data).await.is_err() {
                return Reply::Nobody;
            }
            match tokio::time::timeout(PATIENCE, answer).await {
                Ok(Ok(it)) => it,
                _ => Reply::Nobody,
            }
        })
    }
}
