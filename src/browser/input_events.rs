//! Keys that are sent to a page.

use super::context_state::ContextInner;
use commis_base::error::Result;
use serde_json::Value;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(5);

/// One key, down and up.
pub async fn type_events(shared: &ContextInner, session: &str, events: [Value; 2]) -> Result<()> {
    let method = "Input.dispatchKeyEvent";
    let [down, up] = events.map(|it| shared.cdp.send(Some(session), method, it));
    down.wait(PATIENCE).await?;
    // Enter may have navigated the page away from under the second one.
    let _ = up.raw(PATIENCE).await;
    Ok(())
}
