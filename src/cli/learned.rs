//! Waits for a recipe that the daemon was asked to learn, and says what became of it.

use std::time::Duration;

use serde_json::Value;

use super::wire;
use crate::{error::Result, serve::client::Client};

/// Until the task has ended; each stage is told as it begins.
pub async fn wait(client: &Client, task: &Value, as_json: bool) -> Result<u8> {
    let id = task["task_id"].as_str().unwrap_or_default().to_owned();
    let mut stage = String::new();
    loop {
        let it = client.get(&format!("/api/tasks/{id}")).await?;
        let it = &it["data"];
        if let Some(now) = it["stage"].as_str().filter(|it| *it != stage) {
            wire::say(now);
            now.clone_into(&mut stage);
        }
        if !it["ended_ms"].is_null() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let done = client.get(&format!("/api/tasks/{id}/result")).await?;
    let learned = &done["data"];
    if as_json {
        wire::out(learned);
    } else {
        let text = |name: &str| wire::clean(learned[name].as_str().unwrap_or_default());
        wire::line(&format!("{}: {}", text("name"), text("outcome")));
    }
    Ok(0)
}
