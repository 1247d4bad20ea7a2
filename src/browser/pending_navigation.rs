//! A page that is about to have another document: it says so before the request for that is seen.

use serde::Deserialize;

use super::cdp_event::Event;

/// How things stood when it said so.
pub struct PendingNavigation {
    /// How often the page's document had been asked for.
    pub documents: usize,
    /// How often a frame had come, gone or got another document.
    pub frames: u64,
}

/// The frame in whose place a script, a link or a form asks for another document.
pub fn navigating_frame(event: &Event) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct FrameRequestedNavigation {
        frame_id: String,
        disposition: Option<String>,
    }
    let it: FrameRequestedNavigation = event.read()?;
    (it.disposition.as_deref() == Some("currentTab")).then_some(it.frame_id)
}
