//! Follows a task of the daemon: prints its events, and puts its questions to the person at the terminal.

use std::{io::Write as _, time::Duration};

use serde_json::{Value, json};

use super::context;
use commis_base::error::{Code, Result};
use commis_client::client::{Client, EventStream};

/// Pause between two polls of a task without an event stream.
const WITHOUT_STREAM: Duration = Duration::from_secs(1);

/// Prints the events of a task until it ends. With `asks`, a person answers its questions.
pub async fn follow(client: &Client, id: &str, asks: bool) -> Result<Value> {
    follow_with(client, id, asks, &mut event_line).await
}

/// As [`follow`], with another text for each event. Fails with the error of the daemon or of the task.
pub async fn follow_with(
    client: &Client,
    id: &str,
    asks: bool,
    line: &mut dyn FnMut(&Value) -> Option<String>,
) -> Result<Value> {
    let path = format!("/api/tasks/{id}/events");
    let mut after = None;
    loop {
        let mut events = match client.stream(&path, after).await {
            Ok(it) => Some(it),
            // The limit of streams is reached; the task can still be polled.
            Err(err) if err.code() == Code::RateLimited => None,
            Err(err) => return Err(err),
        };
        if events.is_none() {
            tokio::time::sleep(WITHOUT_STREAM).await;
        }
        while let Some(it) = next(&mut events).await {
            after = it["id"].as_u64().or(after);
            let data = &it["data"];
            if data["question"] == true && asks {
                let answer = prompt_approval(data).await;
                client.post(&format!("/api/tasks/{id}/answer"), &answer).await?;
            } else if let Some(line) = line(data) {
                context::say(&context::clean(&line));
            }
        }
        let task = client.get(&format!("/api/tasks/{id}")).await?;
        if !task["data"]["ended_ms"].is_null() {
            break;
        }
    }
    Ok(client.get(&format!("/api/tasks/{id}/result")).await?["data"].take())
}

async fn next(events: &mut Option<EventStream>) -> Option<Value> {
    events.as_mut()?.next().await
}

/// What happened, as one line.
pub fn event_line(it: &Value) -> Option<String> {
    let text = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
    let turn = &it["turn"];
    Some(match it["kind"].as_str()? {
        "act" => format!("[turn {turn}] {}", text("act")),
        "did" if it["failed"] == true => format!("           failed: {}", text("text")),
        "did" => format!("           {}", text("text").lines().next().unwrap_or_default()),
        "refused" => format!("           refused: {}", text("why")),
        "asked" => format!("           asks: {}", text("text")),
        "held" => format!("           held back: {} ({})", text("request"), text("why")),
        "claim" if it["verified"] == false => format!("           not verified: {}", text("why")),
        _ => return None,
    })
}

/// Asks a person: the question, the page, a picture, and `[y/N]` or a value.
async fn prompt_approval(it: &Value) -> Value {
    let text = |name: &str| context::clean(it[name].as_str().unwrap_or_default());
    let is_value = it["kind"] == "value";
    context::say(&format!("A person is needed: {}", text("text")));
    context::say(&format!("  page: {}", text("url")));
    if !it["picture"].is_null() {
        context::say(&format!("  picture: {}", text("picture")));
    }
    let prompt = if is_value { "Value (empty: stop): " } else { "Go on? [y/N]: " };
    let mut stderr = std::io::stderr();
    // A terminal that is gone answers nothing below.
    let _ = stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush());
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let said = read.await.ok().and_then(std::result::Result::ok).unwrap_or_default();
    let said = said.trim();
    if is_value && !said.is_empty() {
        return json!({ "value": said });
    }
    json!({ "yes": !is_value && said.eq_ignore_ascii_case("y") })
}
