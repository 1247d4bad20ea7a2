//! Waits for a recipe that the daemon was asked to learn, and says what became of it.

use std::time::Duration;

use serde_json::Value;

use super::wire;
use commis_base::error::Result;
use commis_serve::client::Client;

/// What learning came to; each stage is told as it begins.
pub async fn end(client: &Client, id: &str, tell: fn(&str)) -> Result<Value> {
    let mut stage = String::new();
    loop {
        let it = client.get(&format!("/api/tasks/{id}")).await?;
        let it = &it["data"];
        if let Some(now) = it["stage"].as_str().filter(|it| *it != stage) {
            tell(now);
            now.clone_into(&mut stage);
        }
        if !it["ended_ms"].is_null() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(client.get(&format!("/api/tasks/{id}/result")).await?["data"].take())
}

/// Until the task has ended.
pub async fn wait(client: &Client, task: &Value, as_json: bool) -> Result<u8> {
    let learned = end(client, task["task_id"].as_str().unwrap_or_default(), wire::say).await?;
    if as_json {
        wire::out(&learned);
    } else {
        let text = |name: &str| wire::clean(learned[name].as_str().unwrap_or_default());
        wire::line(&format!("{}: {}", text("name"), text("outcome")));
    }
    Ok(0)
}
