//! Waits for a recipe that the daemon was asked to learn, and reports the outcome.

use std::io::IsTerminal as _;

use serde_json::Value;

use super::{context, follow_task};
use commis_base::error::Result;
use commis_client::client::Client;

/// The outcome of learning. At a terminal each stage is reported as it begins. Fails as [`follow_task::follow_with`].
pub async fn end(client: &Client, id: &str) -> Result<Value> {
    let is_seen = std::io::stderr().is_terminal();
    let stage = |data: &Value| data["stage"].as_str().filter(|_| is_seen).map(str::to_owned);
    follow_task::follow_with(client, id, false, &mut |data| stage(data)).await
}

/// Waits until the task has ended, and prints its outcome.
pub async fn wait(client: &Client, task: &Value, as_json: bool) -> Result<u8> {
    let learned = end(client, task["task_id"].as_str().unwrap_or_default()).await?;
    if as_json {
        context::out(&learned);
    } else {
        let text = |name: &str| context::clean(learned[name].as_str().unwrap_or_default());
        context::line(&format!("{}: {}", text("name"), text("outcome")));
    }
    Ok(0)
}
