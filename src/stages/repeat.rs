//! May a session be made again by its steps? Not when anything in it may have changed something.
//!
//! Stricter than the judgement of one request that is to be replayed: nobody wrote these steps down, so that what they did
//! beside fetching the data is known from the traffic alone.

use url::Url;

use super::{reads::reads, signals::is_telemetry, terms::split};
use crate::artifacts::recording::{Exchange, ResourceType, SessionRecording};

/// Last words of paths that only count what people do.
const COUNTERS: &[&str] =
    &["collect", "pixel", "beacon", "telemetry", "analytics", "rum", "metrics"];

/// `Err` names the request that may have changed something.
pub fn may_repeat(recording: &SessionRecording) -> Result<(), String> {
    for it in &recording.exchanges {
        if it.resource_type == ResourceType::Websocket {
            return Err("what was said over a WebSocket is not known".to_owned());
        }
        if !is_counter(it) {
            reads(it, recording)?;
        }
    }
    Ok(())
}

/// Tells somebody what a person does, and gets no data for it.
fn is_counter(it: &Exchange) -> bool {
    if it.method == "OPTIONS" || it.resource_type == ResourceType::Ping {
        return true;
    }
    let Ok(url) = Url::parse(&it.url) else { return false };
    if url.host_str().is_some_and(is_telemetry) {
        return true;
    }
    let last = split(url.path()).pop().unwrap_or_default();
    it.measures.json_nodes < 6 && COUNTERS.contains(&last.as_str())
}
