//! What the events of a page change: targets that go, dialogs, popups, frames, downloads, lines of the console.

use serde::Deserialize;
use serde_json::json;

use super::{
    cdp_event::Event,
    console,
    context_state::{ContextInner, MAX_SAVED, SavedFile},
    event_stream::EventKind,
    log_buffer::LogKind,
};
use commis_artifacts::recording::BlockedRequest;
use commis_base::error::{Code, Error};

/// Of a recording.
const MAX_DIALOGS: usize = 20;
/// Refusals that an act tells of.
const MAX_REFUSED: usize = 5;
const MAX_CONSOLE: usize = 500;

/// A target is gone.
pub fn on_target_detached(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct DetachedFromTarget {
        session_id: String,
    }
    if let Some(DetachedFromTarget { session_id }) = event.read() {
        let mut state = shared.lock();
        state.targets.remove(&*session_id);
        state.above.remove(&*session_id);
        state.frames += 1;
        state.leave(&session_id);
    }
}

/// A page crashed.
pub fn on_target_crashed(shared: &ContextInner, event: &Event) {
    let session = event.session.as_deref();
    let mut state = shared.lock();
    if state.page.as_ref().map(|it| &*it.session) == session {
        state.crashed = true;
    } else if let (Some(session), Some(tabs)) = (session, &state.tabs)
        && let Some(it) = tabs.by_session(session)
    {
        let params = json!({ "targetId": it.page.target });
        shared.cdp.post(None, "Target.closeTarget", params);
    }
}

/// Answers a request of a server or of our proxy for credentials.
pub fn answer_auth_challenge(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct AuthRequired {
        request_id: String,
        auth_challenge: Challenge,
    }
    #[derive(Deserialize)]
    struct Challenge {
        source: Option<String>,
        #[serde(default)]
        origin: String,
    }
    let session = event.session.as_deref();
    if let Some(AuthRequired { request_id, auth_challenge }) = event.read() {
        // The proxy is our own, and passes no question of a server on as one of a proxy. Where a server asks, full
        // Chromium would wait for a person; so the page gets the 401.
        let answer = match auth_challenge.source.as_deref() {
            Some("Proxy") => shared.proxy.credentials(),
            _ => shared
                .lock()
                .basic
                .as_mut()
                .and_then(|it| it.answer(&request_id, &auth_challenge.origin))
                .unwrap_or_else(|| json!({ "response": "CancelAuth" })),
        };
        let params = json!({ "requestId": request_id, "authChallengeResponse": answer });
        shared.cdp.post(session, "Fetch.continueWithAuth", params);
    }
}

/// Answers a dialog of the page.
pub fn answer_dialog(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize, Default)]
    #[serde(default)]
    struct DialogOpening {
        #[serde(rename = "type")]
        kind: String,
        message: String,
    }
    let session = event.session.as_deref();
    // Refusing `beforeunload` keeps the page from navigating: only where that was asked for.
    let dialog: DialogOpening = event.read().unwrap_or_default();
    let unloads = dialog.kind == "beforeunload";
    let said = shared.lock().dialog.take();
    let (accept, text) = said.unwrap_or((unloads, None));
    {
        let mut state = shared.lock();
        let message: String = dialog.message.chars().take(300).collect();
        let answer = if accept { "accepted" } else { "dismissed" };
        let told = format!("{} {message:?} was {answer}", dialog.kind);
        if let Some(heard) = &mut state.heard {
            heard.add(LogKind::Dialogs, told.clone());
        }
        state.emit(EventKind::Dialog, &told);
        if state.dialogs.len() == MAX_DIALOGS {
            state.dialogs.remove(0);
        }
        state.dialogs.push(told);
        state.dialogs_told += 1;
    }
    if !accept && let Some(watch) = &mut shared.lock().watch {
        watch.refuse("a dialog of the page was dismissed".to_owned());
    }
    let mut params = json!({ "accept": accept });
    if let Some(text) = text.filter(|_| dialog.kind == "prompt") {
        params["promptText"] = text.into();
    }
    shared.cdp.post(session, "Page.handleJavaScriptDialog", params);
}

/// A page writes to its console.
pub fn record_console_line(shared: &ContextInner, event: &Event) {
    let mut state = shared.lock();
    if let Some(heard) = &mut state.heard
        && let Some(line) = console::line(event)
    {
        heard.add(LogKind::Console, line);
    } else if let Some(console) = &mut state.console {
        console.extend(console::line(event).filter(|_| console.len() < MAX_CONSOLE));
    }
}

/// A page loaded with all it embeds.
pub fn on_page_loaded(shared: &ContextInner, event: &Event) {
    let session = event.session.as_deref();
    let mut state = shared.lock();
    if state.page.as_ref().map(|it| &*it.session) == session {
        state.loads += 1;
    }
    if let (Some(session), Some(tabs)) = (session, &mut state.tabs) {
        let own = tabs.all.iter_mut().find(|it| *it.page.session == *session);
        if let Some(it) = own {
            it.loaded = true;
        }
    }
}

/// A page opens a popup.
pub fn on_window_open(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    struct WindowOpen {
        url: String,
    }
    // A popup may be gone before its request is seen.
    let Some(WindowOpen { url }) = event.read() else { return };
    let named = url.starts_with("http");
    let mut state = shared.lock();
    if state.takes_tabs() {
        state.popup = Some(url).filter(|_| named);
        state.tabs.iter_mut().for_each(|it| it.coming = true);
    } else if named {
        drop(state);
        refuse_popup(shared, &url);
    }
}

/// A frame was attached.
pub fn on_frame_attached(shared: &ContextInner, event: &Event) {
    shared.lock().frames += 1;
    if let Some(FrameChange { frame_id, .. }) = event.read() {
        shared.cdp.route(&frame_id, &shared.queue);
        let mut state = shared.lock();
        if state.holding.is_some() {
            state.subframes.insert(frame_id);
        }
    }
}

/// A frame was detached.
pub fn on_frame_detached(shared: &ContextInner, event: &Event) {
    shared.lock().frames += 1;
    // One that moves to another process stays.
    if let Some(FrameChange { frame_id, reason }) = event.read()
        && reason.as_deref() == Some("remove")
    {
        let mut state = shared.lock();
        state.subframes.remove(&frame_id);
        // What it asked for and is held may come by yet.
        if state.holding.is_none() {
            shared.cdp.forget(&frame_id);
        }
    }
}

/// A page saves a file.
pub fn on_download_begin(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct DownloadWillBegin {
        url: String,
        #[serde(default)]
        guid: String,
        #[serde(default)]
        suggested_filename: String,
    }
    if let Some(DownloadWillBegin { url, guid, suggested_filename: name }) = event.read() {
        let mut state = shared.lock();
        if let Some(saving) = &mut state.saving {
            saving.push(SavedFile { guid, url, name, bytes: 0, complete: None });
        } else {
            drop(state);
            refuse_download(shared, &url);
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FrameChange {
    frame_id: String,
    reason: Option<String>,
}

/// It goes nowhere; what it wanted is named where that is forbidden to every page.
pub fn refuse_popup(shared: &ContextInner, url: &str) {
    {
        let mut state = shared.lock();
        if let Some(watch) = &mut state.watch {
            watch.refuse(format!("a popup to {url} was closed: open it in the window itself"));
        }
        state.emit(EventKind::Refused, &format!("a popup to {url} was closed"));
        state.popup = Some(url.to_owned());
    }
    if let Err(err) = shared.policy().check(url) {
        note_blocked(shared, url, &err);
    }
}

/// How far what a page saves has come; what grows too large is given up.
pub fn on_download_progress(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct DownloadProgress {
        guid: String,
        #[serde(default)]
        received_bytes: f64,
        #[serde(default)]
        state: String,
    }
    let Some(it) = event.read::<DownloadProgress>() else { return };
    let mut state = shared.lock();
    let known = state.saving.iter_mut().flatten().find(|saved| saved.guid == it.guid);
    if let Some(saved) = known {
        saved.bytes = it.received_bytes as u64;
        saved.complete = match &*it.state {
            "completed" => Some(true),
            "canceled" => Some(false),
            _ => None,
        };
        if saved.bytes > MAX_SAVED && saved.complete.is_none() {
            let params = json!({ "guid": it.guid, "browserContextId": shared.id });
            shared.cdp.post(None, "Browser.cancelDownload", params);
        }
    }
    if it.state != "inProgress" {
        shared.cdp.forget(&it.guid);
    }
}

/// The browser denies it; here it gets its name.
fn refuse_download(shared: &ContextInner, url: &str) {
    // What `data:` holds is the page's own, of any size.
    let end = if url.starts_with("data:") { url.find(',').unwrap_or(0) } else { url.len() };
    let url = &url[..end];
    note_blocked(
        shared,
        url,
        &Error::new(Code::DownloadBlocked, "a page tried to save a file, which is not allowed"),
    );
    let mut state = shared.lock();
    state.downloads += 1;
    if let Some(watch) = &mut state.watch {
        watch.refuse(format!("a download of {url} was refused"));
    }
    state.download = Some(url.to_owned());
}

/// Notes an address that was refused, and why.
pub fn note_blocked(shared: &ContextInner, url: &str, err: &Error) {
    let mut state = shared.lock();
    if state.refused.len() < MAX_REFUSED {
        state.refused.push((url.to_owned(), err.message().to_owned()));
    }
    if state.blocked.len() < super::proxy::MAX_BLOCKED
        && state.blocked.iter().all(|it| it.url != url)
    {
        state.emit(EventKind::Refused, &format!("{url} was refused: {}", err.message()));
        state.blocked.push(BlockedRequest {
            url: url.to_owned(),
            code: err.code().as_str().to_owned(),
            reason: err.message().to_owned(),
        });
    }
}
