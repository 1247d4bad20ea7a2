//! Watches every target of a context: sets it up before it runs, judges its requests, refuses what pages may not do.
//!
//! Setting up sends everything in one burst and then lets the target go; waiting for replies first would deadlock
//! service workers. The boundary is the proxy; interception here names what was blocked, by its full URL.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use super::{
    bodies,
    cdp::Reply,
    cdp_event::{Event, HERE},
    cdp_network::{self, RequestExtra, pairs},
    context_state::ContextInner,
    fulfill,
    own_host_scope::InterceptedRequest,
    page_events::{self, refuse_popup},
    paused_requests, pending_navigation,
    request_hop::MAX_BODY,
    sessions::network_expectations::SentRequest,
    tabs::Page,
    user_action_events, viewer_events,
};
use commis_artifacts::recording::TargetKind;
use commis_base::{
    error::{Code, Result},
    settings::BrowserMode,
};
use commis_net::transport::tls;

/// Denied in every context.
pub const PERMISSIONS: &[&str] = &[
    "geolocation",
    "notifications",
    "camera",
    "microphone",
    "clipboard-read",
    "clipboard-write",
    "midi",
    "persistent-storage",
    "background-sync",
    "screen-wake-lock",
    "local-fonts",
    "window-management",
    "display-capture",
    "idle-detection",
];

/// Bytes of bodies that the browser keeps of a page until they are read; of one that stays, whose bodies are read as they come.
const KEPT: usize = 100 << 20;
pub const KEPT_OF_STAYING: usize = 24 << 20;

/// For what has to hold before another page may run.
const BEFORE_IT_RUNS: Duration = Duration::from_secs(1);
/// https requests whose hosts are remembered, in case they fail.
const MAX_SECURED: usize = 256;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AttachedToTarget {
    session_id: String,
    target_info: TargetInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TargetInfo {
    target_id: String,
    #[serde(rename = "type")]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    /// By which network events know it.
    network_id: Option<String>,
    request: PausedRequest,
    #[serde(default)]
    resource_type: String,
    #[serde(default)]
    frame_id: String,
    /// The paused request that this one is the redirect of.
    redirected_request_id: Option<String>,
}

#[derive(Deserialize)]
struct PausedRequest {
    url: String,
    #[serde(default)]
    method: String,
    #[serde(rename = "postData")]
    body: Option<String>,
}

/// Handles events until the queue ends. `ready` gets the replies of the first page's set-up.
pub async fn run(
    shared: Arc<ContextInner>,
    mut events: mpsc::UnboundedReceiver<Event>,
    ready: oneshot::Sender<Vec<Reply>>,
) {
    let mut ready = Some(ready);
    while let Some(event) = events.recv().await {
        handle(&shared, &event, &mut ready);
        shared.news.notify_waiters();
    }
}

fn handle(
    shared: &Arc<ContextInner>,
    event: &Event,
    ready: &mut Option<oneshot::Sender<Vec<Reply>>>,
) {
    let session = event.session.as_deref();
    match &*event.method {
        HERE => shared.lock().come_to += 1,
        "Target.attachedToTarget" => {
            if let Some(attached) = event.read() {
                attach(shared, attached, event.session.as_ref(), ready);
            }
        }
        "Target.detachedFromTarget" => page_events::on_target_detached(shared, event),
        "Inspector.targetCrashed" => page_events::on_target_crashed(shared, event),
        "Fetch.requestPaused" => on_request_paused(shared, event),
        // Where the next document comes from no network.
        "Page.frameRequestedNavigation" | "Page.frameStartedNavigating" => {
            bodies::read_waiting(shared);
            if let Some(frame) = pending_navigation::navigating_frame(event) {
                shared.lock().note_leaving(&frame);
            }
            user_action_events::navigating(shared, event);
        }
        "Runtime.bindingCalled" => {
            paused_requests::note_user_action(shared, event);
            user_action_events::called(shared, event);
        }
        "Fetch.authRequired" => page_events::answer_auth_challenge(shared, event),
        "Page.javascriptDialogOpening" => page_events::answer_dialog(shared, event),
        "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded" => {
            page_events::record_console_line(shared, event);
        }
        "Page.loadEventFired" => page_events::on_page_loaded(shared, event),
        "Page.domContentEventFired" => {
            let mut state = shared.lock();
            if state.page.as_ref().map(|it| &*it.session) == session {
                state.parsed += 1;
            }
        }
        "Page.windowOpen" => page_events::on_window_open(shared, event),
        "Page.frameNavigated" => {
            paused_requests::arrived(shared, event);
            shared.lock().frames += 1;
            user_action_events::navigated(shared, event);
            viewer_events::navigated(shared, event);
        }
        "Page.navigatedWithinDocument" => {
            shared.lock().leaving = None;
            user_action_events::navigated(shared, event);
            viewer_events::navigated(shared, event);
        }
        // A download names only the frame that began it.
        "Page.frameAttached" => page_events::on_frame_attached(shared, event),
        "Page.frameDetached" => page_events::on_frame_detached(shared, event),
        "Browser.downloadWillBegin" => page_events::on_download_begin(shared, event),
        "Browser.downloadProgress" => page_events::on_download_progress(shared, event),
        method if method.starts_with("Network.") => {
            if method == "Network.requestWillBeSentExtraInfo" {
                note_language(shared, event);
            }
            if method == "Network.loadingFailed" {
                note_distrusted(shared, event);
            }
            record(shared, event);
        }
        _ => {}
    }
}

/// Judges a request that interception has stopped.
fn on_request_paused(shared: &Arc<ContextInner>, event: &Event) {
    let session = event.session.as_deref();
    if let Some(paused) = event.read::<RequestPaused>() {
        if fulfill::fulfill_stand_in(shared, session, &paused.request_id, &paused.request.url) {
            return;
        }
        let asked = &paused.request;
        let request = (&*asked.method, &*asked.url, asked.body.as_deref());
        let kind = &paused.resource_type;
        if fulfill::fulfill_from_archive(shared, session, &paused.request_id, request, kind) {
            return;
        }
        note_asked(shared, &paused);
        if paused.resource_type == "Document" {
            bodies::read_waiting(shared);
        }
        judge(shared, event, paused);
    }
}

/// One page is ours; every other one is a popup, which becomes a tab or goes away without having sent anything.
fn attach(
    shared: &Arc<ContextInner>,
    attached: AttachedToTarget,
    above: Option<&Arc<str>>,
    ready: &mut Option<oneshot::Sender<Vec<Reply>>>,
) {
    let AttachedToTarget { session_id, target_info } = attached;
    let session: Arc<str> = session_id.into();
    let kind = match &*target_info.kind {
        "page" => TargetKind::Page,
        "iframe" => TargetKind::Iframe,
        "shared_worker" => TargetKind::SharedWorker,
        "service_worker" => TargetKind::ServiceWorker,
        _ => TargetKind::Worker,
    };
    if kind == TargetKind::Page {
        let Some(ready) = ready.take() else {
            if shared.lock().takes_tabs() {
                shared.cdp.route(&target_info.target_id, &shared.queue);
                {
                    let mut state = shared.lock();
                    state.targets.insert(Arc::clone(&session), kind);
                    state.tabs.iter_mut().for_each(|it| it.coming = true);
                }
                let page = Page { session, target: target_info.target_id };
                tokio::spawn(adopt(Arc::clone(shared), page));
                return;
            }
            tokio::spawn(close_popup(Arc::clone(shared), session, target_info.target_id));
            return;
        };
        shared.cdp.route(&target_info.target_id, &shared.queue);
        shared.lock().page =
            Some(Page { session: Arc::clone(&session), target: target_info.target_id });
        shared.lock().targets.insert(Arc::clone(&session), kind);
        let _ = ready.send(set_up(shared, &session, kind));
        return;
    }
    {
        let mut state = shared.lock();
        state.targets.insert(Arc::clone(&session), kind);
        if let Some(above) = above {
            state.above.insert(Arc::clone(&session), Arc::clone(above));
        }
        state.frames += 1;
    }
    // A dedicated worker refuses `Fetch.enable`: its page's interception covers it.
    drop(set_up(shared, &session, kind));
}

/// A paused popup keeps its opener waiting, so it is let go in the end, when every request of it is stopped: its session is
/// not among our targets. A burst would not do: interception sets in a moment after it was asked for.
async fn close_popup(shared: Arc<ContextInner>, session: Arc<str>, target: String) {
    let session = Some(&*session);
    let intercept = shared.cdp.send(session, "Fetch.enable", intercept_all());
    let _ = intercept.raw(Duration::from_secs(1)).await;
    let params = json!({ "targetId": target });
    shared.cdp.post(None, "Target.closeTarget", params);
    let method = "Runtime.runIfWaitingForDebugger";
    shared.cdp.post(session, method, json!({}));
}

/// Takes a page in: it runs when every request of it is seen and judged.
async fn adopt(shared: Arc<ContextInner>, page: Page) {
    let session = Arc::clone(&page.session);
    let target = json!({ "targetId": page.target });
    let (intercepts, others) = prepare(&shared, &session);
    let held = intercepts.raw(BEFORE_IT_RUNS).await.is_ok();
    if !held {
        shared.cdp.post(None, "Target.closeTarget", target.clone());
    }
    {
        let mut state = shared.lock();
        let mut came = None;
        if let Some(tabs) = &mut state.tabs {
            tabs.coming = false;
            if held {
                tabs.add(page);
                came = Some(tabs.last);
            }
        }
        if let Some(it) = came {
            state.tell_tab(it, "was opened");
        }
    }
    // One that is closed keeps its opener waiting as long as it waits itself.
    shared.cdp.post(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
    shared.news.notify_waiters();
    for it in others {
        if it.raw(BEFORE_IT_RUNS).await.is_err() {
            shared.cdp.post(None, "Target.closeTarget", target);
            return;
        }
    }
}

fn intercept_all() -> Value {
    let all = json!([{ "urlPattern": "*", "requestStage": "Request" }]);
    json!({ "patterns": all, "handleAuthRequests": true })
}

/// Sets a target up and lets it go. Returns the replies that must not be refusals.
fn set_up(shared: &ContextInner, session: &str, kind: TargetKind) -> Vec<Reply> {
    let mut replies = watched_from(shared, session, kind);
    replies.push(shared.cdp.send(Some(session), "Runtime.runIfWaitingForDebugger", json!({})));
    replies
}

/// The same of another page, which does not run yet: interception sets in when the first reply is there. The others may have to
/// wait until it runs, since it may have no process before.
pub(super) fn prepare(shared: &ContextInner, session: &str) -> (Reply, Vec<Reply>) {
    let intercepts = shared.cdp.send(Some(session), "Fetch.enable", intercept_all());
    (intercepts, watched_from(shared, session, TargetKind::Page))
}

fn watched_from(shared: &ContextInner, session: &str, kind: TargetKind) -> Vec<Reply> {
    let send = |method, params: Value| shared.cdp.send(Some(session), method, params);
    let post = |method, params: Value| shared.cdp.post(Some(session), method, params);
    let document = matches!(kind, TargetKind::Page | TargetKind::Iframe);
    let network = json!({
        "maxTotalBufferSize": 100 << 20,
        "maxResourceBufferSize": MAX_BODY + (1 << 20),
        "maxPostDataSize": 1 << 20,
        "enableDurableMessages": true,
    });
    let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
    let mut replies = vec![
        send("Network.enable", network),
        send("Target.setAutoAttach", attach),
        send("Fetch.enable", intercept_all()),
    ];
    post("Network.setCacheDisabled", json!({ "cacheDisabled": true }));
    if document {
        replies.push(send("Page.enable", json!({})));
        let cancel = json!({ "enabled": true, "cancel": true });
        replies.push(send("Page.setInterceptFileChooserDialog", cancel));
    }
    // Of a page, of its frames, and of each worker, which has one for itself.
    let bypass = json!({ "bypass": true });
    if document {
        replies.push(send("Network.setBypassServiceWorker", bypass));
    } else {
        post("Network.setBypassServiceWorker", bypass);
    }
    if kind == TargetKind::Page {
        let stays = shared.lock().tabs.is_some();
        keep_bodies(shared, session, if stays { KEPT_OF_STAYING } else { KEPT });
        post("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        post("Inspector.enable", json!({}));
    }
    if shared.lock().holding.is_some() {
        paused_requests::close_others(shared, session);
    }
    let (watches, hears) = {
        let state = shared.lock();
        (state.watch.is_some(), state.heard.is_some())
    };
    if document && watches {
        user_action_events::set_up(shared, session);
    }
    if hears {
        hear(shared, session);
    }
    replies
}

/// Keeps bodies over a navigation to another process. Young and experimental: what it misses ends as evicted.
pub fn keep_bodies(shared: &ContextInner, session: &str, bytes: usize) {
    let most =
        json!({ "maxTotalBufferSize": bytes, "maxResourceBufferSize": MAX_BODY + (1 << 20) });
    shared.cdp.post(Some(session), "Network.configureDurableMessages", most);
}

/// From here on what is written to the console is told, also what was written before.
pub fn hear(shared: &ContextInner, session: &str) {
    shared.cdp.post(Some(session), "Runtime.enable", json!({}));
    shared.cdp.post(Some(session), "Log.enable", json!({}));
}

fn judge(shared: &Arc<ContextInner>, event: &Event, paused: RequestPaused) {
    let session = event.session.as_deref();
    let url = &paused.request.url;
    // Chromium answers these itself.
    let inner = ["data:", "blob:", "about:", "chrome-error:"];
    let target = session.and_then(|it| shared.lock().targets.get(it).copied());
    let Some(target) = target else {
        let params = json!({ "requestId": paused.request_id, "errorReason": "BlockedByClient" });
        shared.cdp.post(session, "Fetch.failRequest", params);
        refuse_popup(shared, url);
        return;
    };
    let asked = InterceptedRequest {
        id: &paused.request_id,
        redirected_from: paused.redirected_request_id.as_deref(),
        document: paused.resource_type == "Document",
        from: target,
    };
    let verdict = if inner.iter().any(|it| url.starts_with(it)) {
        Ok(None)
    } else {
        shared.policy().check(url).and_then(|it| shared.visit.admit(&it, &asked).map(|()| Some(it)))
    };
    if matches!(verdict, Ok(Some(_))) && !is_admitted(shared, &paused) {
        let params = json!({ "requestId": paused.request_id, "errorReason": "Aborted" });
        shared.cdp.post(session, "Fetch.failRequest", params);
        return;
    }
    if matches!(verdict, Ok(Some(_))) && !paused_requests::admits(shared, event, target) {
        return;
    }
    match verdict {
        // The proxy resolves and pins anyway; in strict mode a forbidden address is not even asked of it.
        Ok(Some(safe)) if shared.policy().browser_mode() == BrowserMode::Strict => {
            let (shared, session) = (Arc::clone(shared), session.map(Arc::<str>::from));
            tokio::spawn(async move {
                let verdict = shared.policy().pin(&safe).await.map(drop);
                decide(&shared, session.as_deref(), &paused, verdict);
            });
        }
        verdict => decide(shared, session, &paused, verdict.map(drop)),
    }
}

/// Whether a session that is done again lets it go. What a redirect asks for was the server's wish.
fn is_admitted(shared: &ContextInner, paused: &RequestPaused) -> bool {
    if paused.redirected_request_id.is_some() {
        return true;
    }
    let it = &paused.request;
    let mut state = shared.lock();
    let is_page = paused.resource_type == "Document"
        && state.page.as_ref().is_some_and(|it| it.target == paused.frame_id);
    let Some(tap) = &mut state.tap else { return true };
    let Some(mut sent) = SentRequest::from_parts(&it.method, &it.url, it.body.as_deref()) else {
        return true;
    };
    sent.beacon = paused.resource_type == "Ping";
    let is_data = matches!(&*paused.resource_type, "Document" | "XHR" | "Fetch");
    (!is_data && !sent.changes()) || tap.admits(sent, is_page)
}

fn decide(
    shared: &ContextInner,
    session: Option<&str>,
    paused: &RequestPaused,
    verdict: Result<()>,
) {
    let (id, url) = (&paused.request_id, &paused.request.url);
    let Err(err) = verdict else {
        shared.cdp.let_go(paused.network_id.as_deref());
        shared.cdp.post(session, "Fetch.continueRequest", json!({ "requestId": id }));
        return;
    };
    // A name that does not resolve is no one's refusal.
    let unknown = err.code() == Code::DnsFailed;
    let reason = if unknown { "NameNotResolved" } else { "BlockedByClient" };
    let params = json!({ "requestId": id, "errorReason": reason });
    shared.cdp.post(session, "Fetch.failRequest", params);
    if !unknown {
        page_events::note_blocked(shared, url, &err);
    }
}

fn note_asked(shared: &ContextInner, paused: &RequestPaused) {
    let host = paused
        .request
        .url
        .strip_prefix("https://")
        .and_then(|it| it.split(['/', '?', '#', ':']).next());
    if let (Some(host), Some(id)) = (host, &paused.network_id) {
        let mut state = shared.lock();
        if state.secured.len() == MAX_SECURED {
            state.secured.pop_front();
        }
        state.secured.push_back((id.clone(), host.to_owned()));
    }
}

/// A failed request names neither its URL nor its host.
fn note_distrusted(shared: &ContextInner, event: &Event) {
    let Some(failed) = event.read::<cdp_network::LoadingFailed>() else { return };
    if tls::chromium_tls_error("", &failed.error_text).is_none() {
        return;
    }
    let mut state = shared.lock();
    let host =
        state.secured.iter().rev().find(|it| it.0 == failed.request_id).map(|it| it.1.clone());
    if let Some(host) = host.filter(|_| state.distrusted.len() < MAX_SECURED) {
        state.distrusted.insert(host, failed.error_text);
    }
}

/// Only what is on the wire tells: flags, languages of the page and the header differ between builds of Chromium.
fn note_language(shared: &ContextInner, event: &Event) {
    if shared.lock().accept_language.is_some() {
        return;
    }
    let Some(extra) = event.read::<RequestExtra>() else { return };
    let header = |it: &(String, String)| it.0.eq_ignore_ascii_case("accept-language");
    let found = pairs(&extra.headers).into_iter().find(header);
    shared.lock().accept_language = found.map(|it| it.1);
}

fn record(shared: &Arc<ContextInner>, event: &Event) {
    let Some(session) = &event.session else {
        return;
    };
    let (reads, begun) = {
        let mut state = shared.lock();
        // Popups are not recorded.
        let Some(kind) = state.targets.get(session).copied() else {
            return;
        };
        let state = &mut *state;
        let Some(recorder) = &mut state.recorder else {
            return;
        };
        let out = (recorder.take(event, kind), recorder.started_at());
        if let Some(it) = recorder.answered_request(event) {
            if let Some(heard) = &mut state.heard {
                heard.add_request(&it);
            }
            viewer_events::emit_request(state, &it);
        }
        out
    };
    for it in reads {
        bodies::read(shared, it, begun);
    }
}
