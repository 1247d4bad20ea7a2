//! Waits for a recipe that the daemon was asked to learn, and reports the outcome.

use std::io::IsTerminal as _;

use serde::Deserialize as _;
use serde_json::Value;

use super::{context, follow_task, learn_result};
use commis_artifacts::payloads::Outcome;
use commis_base::error::Result;
use commis_client::client::Client;

/// The outcome of learning. At a terminal each stage is reported as it begins. Fails as [`follow_task::follow_with`].
pub async fn end(client: &Client, id: &str) -> Result<Value> {
    let is_seen = std::io::stderr().is_terminal();
    let stage = |data: &Value| data["stage"].as_str().filter(|_| is_seen).map(str::to_owned);
    follow_task::follow_with(client, id, false, &mut |data| stage(data)).await
}

/// Waits until the task has ended, and prints its outcome and what comes next. Returns 1 if no recipe was saved.
pub async fn wait(client: &Client, task: &Value, as_json: bool) -> Result<u8> {
    let id = task["task_id"].as_str().unwrap_or_default();
    let learned = end(client, id).await?;
    let outcome = Outcome::deserialize(&learned["outcome"]).ok();
    if as_json {
        context::out(&learned);
    } else {
        let text = |name: &str| context::clean(learned[name].as_str().unwrap_or_default());
        context::line(&format!("{}: {}", text("name"), text("outcome")));
        let why = [text("reason"), text("detail")].into_iter().filter(|it| !it.is_empty());
        let why = why.collect::<Vec<_>>().join(", ");
        if !why.is_empty() {
            context::line(&format!("  why: {why}"));
        }
        for it in outcome.iter().flat_map(|it| learn_result::next_steps(&text("name"), *it)) {
            context::say(&format!("  {it}"));
        }
        context::say(&format!("commis recipe debug --task-id {id} shows every decision"));
    }
    Ok(outcome.map_or(0, learn_result::exit_code))
}
