//! What the browser tells of a page that stays, for whoever looks on.

use serde::Deserialize;

use super::{
    cdp_event::Event,
    context_state::{ContextInner, ContextState},
    effect,
    event_stream::{EventDetails, EventKind, LONG},
    prompt_injection,
    recorder::RequestSummary,
    text_sanitizer::cut,
};

/// A frame got another document, or another address.
pub fn navigated(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Frame {
        #[serde(default)]
        parent_id: Option<String>,
        url: String,
        /// Where it was to go, where it could not.
        #[serde(default)]
        unreachable_url: Option<String>,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct NavigationEvent {
        frame: Option<Frame>,
        frame_id: Option<String>,
        url: Option<String>,
    }
    let state = shared.lock();
    let (Some(feed), Some(session), Some(it)) =
        (&state.feed, event.session.as_deref(), event.read::<NavigationEvent>())
    else {
        return;
    };
    let Some(tab) = state.tabs.as_ref().and_then(|it| it.by_session(session)) else { return };
    let url = match (it.frame, it.frame_id, it.url) {
        (Some(it), ..) if it.parent_id.is_none() => it.unreachable_url.unwrap_or(it.url),
        (None, Some(id), Some(url)) if id == tab.page.target => url,
        _ => return,
    };
    let text = cut(&state.display_text(&url), LONG);
    let number = tab.number;
    if number == state.tab() {
        feed.stand(|it| it.url.clone_from(&text));
    }
    let beside = if number == state.tab() { String::new() } else { format!("tab {number}: ") };
    let more = EventDetails { tab: Some(number), ..EventDetails::default() };
    feed.emit(EventKind::Went, &format!("{beside}{text}"), more);
}

/// A request was answered, or came to nothing.
pub fn emit_request(state: &ContextState, it: &RequestSummary) {
    let Some(feed) = state.feed.as_ref().filter(|_| it.is_data) else { return };
    let mut it = effect::request(it.clone(), &feed.status().url);
    it.path = state.masked(it.path);
    let status = it.status.map_or_else(|| "without an answer".to_owned(), |it| it.to_string());
    let text = prompt_injection::mark_if_suspicious(format!("{} {} {status}", it.method, it.path));
    feed.emit(
        EventKind::Request,
        &text,
        EventDetails { request: Some(it), ..EventDetails::default() },
    );
}
