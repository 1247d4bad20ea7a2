//! Requests that wait: what may change something does not leave the browser before somebody lets it.
//!
//! What a script asks for stays paused where interception caught it, and the page waits for it as for a slow server. What is let go is
//! that one, with the bytes that it was held with: nobody can change a paused request. While another document is on its way the
//! browser answers nothing about the present one, so that the page could not be looked at before it goes; such a request is given
//! up at once, the page stays as it is, and what led to it is done again: only the very same bytes leave then, once.
//! What a request redirects to is asked about anew. What is let go leaves over a connection of its own, on which the browser does not
//! send it a second time when the server hangs up. A context that closes takes back what it holds first, since the browser would
//! let it go.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::{Value, json};

pub use super::hold_state::{HeldRequest, OutgoingRequest, RequestDecision, RequestJudge};
use super::{
    cdp,
    cdp_event::Event,
    cdp_network::pairs,
    context_state::ContextInner,
    cookies,
    event_stream::EventKind,
    hold_state::{ExpectedRequest, HoldState},
};
use commis_artifacts::recording::TargetKind;
use commis_base::error::{Code, Error, Result};
use commis_net::egress::site_of;

/// Held at once; more are refused.
const MOST: usize = 8;
/// To take in what the browser has reported.
const HEED: Duration = Duration::from_secs(1);

/// What interception says of a request, more of it than is looked at elsewhere.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestPaused {
    request_id: String,
    network_id: Option<String>,
    frame_id: Option<String>,
    request: Request,
    #[serde(default)]
    resource_type: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Request {
    url: String,
    #[serde(default)]
    method: String,
    #[serde(default)]
    headers: BTreeMap<String, Value>,
    #[serde(default)]
    has_post_data: bool,
    post_data: Option<String>,
    #[serde(default)]
    post_data_entries: Vec<PostDataEntry>,
}

#[derive(Deserialize)]
struct PostDataEntry {
    bytes: Option<String>,
}

impl Request {
    /// The body, and whether there is one that cannot be seen whole.
    fn body(&self) -> (Option<Vec<u8>>, bool) {
        let mut out = Vec::new();
        for it in &self.post_data_entries {
            match it.bytes.as_ref().map(|it| STANDARD.decode(it)) {
                Some(Ok(bytes)) => out.extend(bytes),
                _ => return (None, true),
            }
        }
        if !self.post_data_entries.is_empty() {
            return (Some(out), false);
        }
        match &self.post_data {
            Some(it) => (Some(it.clone().into_bytes()), false),
            None => (None, self.has_post_data),
        }
    }
}

/// All that is read of a request that cannot be read whole.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PausedId {
    request_id: String,
}

/// Fails a paused request for that reason of the protocol, and notes why.
fn refuse(shared: &ContextInner, event: &Event, (id, reason): (&str, &str), url: &str, why: &str) {
    let params = json!({ "requestId": id, "errorReason": reason });
    shared.cdp.post(event.session.as_deref(), "Fetch.failRequest", params);
    let mut state = shared.lock();
    state.emit(EventKind::Refused, &format!("{url} was refused: {why}"));
    if state.refused.len() < MOST {
        state.refused.push((url.to_owned(), why.to_owned()));
    }
}

/// Decides about a paused request that everything else admits. Whether it is let go; otherwise it was dealt with here.
pub fn admits(shared: &ContextInner, event: &Event, target: TargetKind) -> bool {
    if shared.lock().holding.is_none() {
        return true;
    }
    let session = event.session.as_ref();
    let refuse = |id: &str, kind: &str, url: &str, why: &str| {
        // A page that asks for another document stays as it is.
        let aborts = target == TargetKind::Page && kind == "Document";
        refuse(shared, event, (id, if aborts { "Aborted" } else { "BlockedByClient" }), url, why);
    };
    let Some(paused) = event.read::<RequestPaused>() else {
        // What cannot be read cannot be shown to anyone.
        if let Some(it) = event.read::<PausedId>() {
            refuse(&it.request_id, "", "a request", "it cannot be read");
        }
        return false;
    };
    let RequestPaused { request_id, network_id, frame_id, request, resource_type: kind } = paused;
    let headers = pairs(&request.headers);
    let (body, is_opaque) = request.body();
    let mut state = shared.lock();
    let is_page = kind == "Document"
        && target == TargetKind::Page
        && frame_id.is_none_or(|it| !state.subframes.contains(&it));
    let page = state.page_of(session);
    let is_first = page.is_none() || state.page.as_ref().map(|it| &it.session) == page.as_ref();
    let Some(holding) = &mut state.holding else { return true };
    let at = page.as_ref().and_then(|it| holding.at.get(it).cloned());
    let turns = is_page && at.as_ref().is_some_and(|it| site_of(it) != site_of(&request.url));
    if turns && holding.typing {
        drop(state);
        let why = "a value is being typed in a page of another site";
        refuse(&request_id, &kind, &request.url, why);
        return false;
    }
    let follows_act = holding.follows(Instant::now());
    let judged = (holding.judge)(&OutgoingRequest {
        method: &request.method,
        url: &request.url,
        headers: &headers,
        body: body.as_deref(),
        is_opaque,
        is_page,
        at: at.as_deref(),
        kind: &kind,
        follows_act,
        pressed: holding.pressed.as_ref().filter(|_| follows_act).or(holding.driven.as_ref()),
        has_person: holding.has_person,
    });
    let is_expected = !is_opaque
        && holding.expected.as_ref().is_some_and(|it| {
            it.awaits((&request.method, &request.url), &headers, body.as_deref(), &kind)
        });
    if let Some(page) = page.filter(|_| turns)
        && (judged == RequestDecision::Go || is_expected)
    {
        holding.turning.insert(page);
    }
    let is_theirs = holding.is_touched(Instant::now());
    let why = match judged {
        RequestDecision::Go => return true,
        RequestDecision::Hold(_) | RequestDecision::Refuse(_) if is_theirs => return true,
        RequestDecision::Hold(why) if holding.has_person => {
            format!("the page sends it by itself while a person has it: {why}")
        }
        RequestDecision::Hold(_) if is_expected => {
            if let Some(it) = &mut holding.expected {
                (it.has_left, it.network) = (true, network_id);
            }
            shared.visit.hang_up(&request.url);
            return true;
        }
        RequestDecision::Hold(why) if holding.waiting.len() < MOST => {
            holding.count += 1;
            // Nor does a target wait that may go away before a person has decided: the browser would let its requests go.
            let is_given_up = kind == "Document" || !is_first || target != TargetKind::Page;
            let paused = (!is_given_up).then(|| request_id.clone());
            holding.waiting.push(HeldRequest {
                number: holding.count,
                method: request.method.clone(),
                url: request.url.clone(),
                headers,
                body,
                is_opaque,
                kind,
                why,
                cookies: Vec::new(),
                network: network_id,
                session: session.cloned(),
                paused,
            });
            state.emit(EventKind::Refused, &format!("{} {} waits", request.method, request.url));
            drop(state);
            if is_given_up {
                let params = json!({ "requestId": request_id, "errorReason": "Aborted" });
                shared.cdp.post(session.map(|it| &**it), "Fetch.failRequest", params);
            }
            return false;
        }
        RequestDecision::Hold(_) => "too many requests wait already".to_owned(),
        RequestDecision::Refuse(why) => why,
    };
    drop(state);
    refuse(&request_id, &kind, &request.url, &why);
    false
}

/// WebSockets are no requests: what goes over them can be neither judged nor shown.
const SOCKETS: &[&str] = &["ws://*:*/*", "wss://*:*/*"];

const NO_SOCKETS: &str = "for (const it of ['WebSocket', 'WebSocketStream', 'WebTransport', 'RTCPeerConnection']) delete globalThis[it];";

/// The world of the script that hears what a person does, and how it says so.
const WORLD: &str = "commis-person";
const BINDING: &str = "commisPerson";
/// No page makes an event that is trusted of these kinds. A page that stops it before it comes here is refused more, and not less.
const HEARS: &str = "for (const it of ['pointerdown', 'mousedown', 'touchstart', 'keydown'])
  addEventListener(it, event => { if (event.isTrusted) commisPerson(''); }, { capture: true, passive: true });";

/// A person did something in a page of the context.
pub fn note_user_action(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    struct BindingCalled {
        name: String,
    }
    let Some(call) = event.read::<BindingCalled>().filter(|it| it.name == BINDING) else { return };
    let mut state = shared.lock();
    let is_ours = event.session.as_ref().is_some_and(|it| state.targets.contains_key(it));
    if let Some(holding) = state.holding.as_mut().filter(|_| is_ours && call.name == BINDING) {
        holding.touches(Instant::now());
    }
}

/// Keeps a target of a context that holds from opening what is not seen by interception.
pub fn close_others(shared: &ContextInner, session: &str) {
    let all: Vec<Value> =
        SOCKETS.iter().map(|it| json!({ "urlPattern": it, "block": true })).collect();
    let params = json!({ "urlPatterns": all });
    shared.cdp.post(Some(session), "Network.setBlockedURLs", params);
    shared.cdp.post(Some(session), "Page.setPrerenderingAllowed", json!({ "isAllowed": false }));
    // Over TLS one looks like a page's other requests from outside: there is no way to make one. Of a document to come, and of a worker
    // that has not begun.
    let source = json!({ "source": NO_SOCKETS, "runImmediately": true });
    shared.cdp.post(Some(session), "Page.addScriptToEvaluateOnNewDocument", source);
    shared.cdp.post(Some(session), "Runtime.evaluate", json!({ "expression": NO_SOCKETS }));
    // Without it, calls of the binding are not told.
    shared.cdp.post(Some(session), "Runtime.enable", json!({}));
    let binding = json!({ "name": BINDING, "executionContextName": WORLD });
    shared.cdp.post(Some(session), "Runtime.addBinding", binding);
    let hears = json!({ "source": HEARS, "worldName": WORLD, "runImmediately": true });
    shared.cdp.post(Some(session), "Page.addScriptToEvaluateOnNewDocument", hears);
}

/// A page has another document: its frames are judged by it from here on, and not before, since one that was asked for may not come.
pub fn arrived(shared: &ContextInner, event: &Event) {
    #[derive(Deserialize)]
    struct FrameNavigated {
        frame: Frame,
    }
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Frame {
        url: String,
        parent_id: Option<String>,
    }
    let mut state = shared.lock();
    let page = state.page_of(event.session.as_ref());
    let is_page = page.as_ref() == event.session.as_ref();
    if let (Some(holding), Some(page)) = (&mut state.holding, page.filter(|_| is_page))
        && let Some(FrameNavigated { frame }) = event.read()
        && frame.parent_id.is_none()
    {
        let before = holding.at.get(&page).map(|it| site_of(it));
        holding.turned |= holding.typing && before.is_some_and(|it| it != site_of(&frame.url));
        holding.turning.remove(&page);
        holding.at.insert(page, frame.url);
    }
}

/// Before a value, and each key of it, is typed: the page is the one that was meant, and is not about to turn into one of another
/// site. Fails with `REF_STALE`.
pub async fn may_type(shared: &ContextInner, session: &str) -> Result<()> {
    let all = match &mut shared.lock().holding {
        Some(it) => std::mem::take(&mut it.turning),
        None => return Ok(()),
    };
    for it in all {
        let stopped = shared.cdp.run(Some(&it), "Page.stopLoading", json!({})).await;
        // One that is gone turns into nothing.
        stopped.or_else(|err| if cdp::is_gone(&err) { Ok(()) } else { Err(err) })?;
    }
    shared.heed(Instant::now() + HEED).await?;
    let state = shared.lock();
    let page = state.page_of(Some(&session.into()));
    let Some(holding) = &state.holding else { return Ok(()) };
    let at = page.and_then(|it| holding.at.get(&it)).map(|it| site_of(it));
    let (at, meant) = (at.as_deref(), holding.keeps_to.as_deref());
    if holding.turned || at.zip(meant).is_some_and(|it| it.0 != it.1) {
        let why = "the page is of another site now than when it was looked at";
        return Err(Error::new(Code::RefStale, why).hint("take a new snapshot"));
    }
    Ok(())
}

impl ContextInner {
    /// From here on, what pages ask for is judged before it leaves.
    pub fn hold(&self, judge: RequestJudge) {
        self.hold_as(HoldState::new(judge));
    }

    /// From here on it is judged as in that context, where it is.
    pub fn hold_like(&self, other: &Self) {
        let holding = other.lock().holding.as_ref().map(HoldState::afresh);
        if let Some(it) = holding {
            self.hold_as(it);
        }
    }

    fn hold_as(&self, holding: HoldState) {
        let sessions: Vec<Arc<str>> = {
            self.visit.see_alone();
            let mut state = self.lock();
            state.holding = Some(holding);
            state.targets.keys().cloned().collect()
        };
        self.cdp.look_last(&self.queue);
        for it in &sessions {
            close_others(self, it);
        }
    }

    /// Whether what pages ask for is judged.
    pub fn is_holding(&self) -> bool {
        self.lock().holding.is_some()
    }

    /// Whether something waits.
    pub fn is_held(&self) -> bool {
        self.lock().holding.as_ref().is_some_and(|it| !it.waiting.is_empty())
    }

    /// What waits.
    pub fn held_requests(&self) -> Vec<HeldRequest> {
        self.lock().holding.as_ref().map(|it| it.waiting.clone()).unwrap_or_default()
    }

    /// The same, with the cookies that go with each now and that scripts can write. Fails with `BROWSER_FAILED`.
    pub async fn waiting_now(&self) -> Result<Vec<HeldRequest>> {
        let mut out = self.held_requests();
        for it in &mut out {
            it.cookies = self.cookies_of(it).await?;
        }
        if let Some(holding) = &mut self.lock().holding {
            for it in &mut holding.waiting {
                if let Some(now) = out.iter().find(|now| now.number == it.number) {
                    it.cookies.clone_from(&now.cookies);
                }
            }
        }
        Ok(out)
    }

    async fn cookies_of(&self, it: &HeldRequest) -> Result<Vec<(String, String)>> {
        let session = match &it.session {
            Some(it) if self.lock().targets.contains_key(it) => Arc::clone(it),
            _ => self.page()?.session,
        };
        cookies::writable(&self.cdp, &session, &it.url).await
    }

    fn remove_held(&self, number: u64) -> Option<HeldRequest> {
        let mut state = self.lock();
        let holding = state.holding.as_mut()?;
        let at = holding.waiting.iter().position(|it| it.number == number)?;
        Some(holding.waiting.remove(at))
    }

    /// Lets that one go, where it is still there; `false` where it was given up, and leaves when the very same is made again. Fails
    /// with `APPROVAL_STALE` where it does not wait any more, and with what the browser fails with; then nobody knows whether it left.
    pub async fn let_leave(&self, number: u64) -> Result<bool> {
        let shown = self
            .held_requests()
            .into_iter()
            .find(|it| it.number == number)
            .ok_or_else(request_gone)?;
        if self.cookies_of(&shown).await? != shown.cookies {
            self.take_back(number);
            let why = "a cookie of the request has changed since it was shown";
            return Err(Error::new(Code::ApprovalStale, why).hint("do the task again"));
        }
        let it = self.remove_held(number).ok_or_else(request_gone)?;
        let (session, paused, url) = (it.session.clone(), it.paused.clone(), it.url.clone());
        let network = it.network.clone();
        if let Some(holding) = &mut self.lock().holding {
            let (has_left, network) = (paused.is_some(), network.clone());
            holding.expected = Some(ExpectedRequest { waiting: it, has_left, network });
        }
        let Some(paused) = paused else { return Ok(false) };
        self.cdp.let_go(network.as_deref());
        self.visit.hang_up(&url);
        let params = json!({ "requestId": paused });
        self.cdp.run(session.as_deref(), "Fetch.continueRequest", params).await?;
        Ok(true)
    }

    /// What became of the one that was let go: whether it left, and how it was answered. Nothing more leaves in its place.
    pub fn settled(&self) -> (bool, Option<u16>) {
        let mut state = self.lock();
        let expected = state.holding.as_mut().and_then(|it| it.expected.take());
        let Some(it) = expected.filter(|it| it.has_left) else { return (false, None) };
        let recorder = state.recorder.as_ref();
        (true, it.network.and_then(|id| recorder.and_then(|it| it.status(&id))))
    }

    /// Takes it back: the page is told that it failed. Whether it was there.
    pub fn take_back(&self, number: u64) -> bool {
        let Some(it) = self.remove_held(number) else { return false };
        if let Some(paused) = it.paused {
            let params = json!({ "requestId": paused, "errorReason": "Aborted" });
            self.cdp.post(it.session.as_deref(), "Fetch.failRequest", params);
        }
        true
    }

    /// Gives up what a page stands still for: it is told that it failed, and what led to it is done again when it is let go.
    pub fn give_up(&self) {
        let mut state = self.lock();
        let all = state.holding.iter_mut().flat_map(|it| &mut it.waiting);
        for it in all.filter(|it| it.kind == "XHR") {
            if let Some(paused) = it.paused.take() {
                let params = json!({ "requestId": paused, "errorReason": "Aborted" });
                self.cdp.post(it.session.as_deref(), "Fetch.failRequest", params);
            }
        }
    }

    /// Takes everything back, and goes on to hold.
    pub fn take_all_back(&self) {
        for it in self.held_requests() {
            self.take_back(it.number);
        }
    }
}

fn request_gone() -> Error {
    Error::new(Code::ApprovalStale, "the request no longer waits")
        .hint("the page cancelled it, or was closed: do the task again")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hold_state::{ACTIVE, AFTER};

    #[test]
    fn a_body_is_seen_whole_or_not_at_all() {
        let of = |it: Value| serde_json::from_value::<Request>(it).unwrap().body();
        let url = "http://a.test/";
        assert_eq!(of(json!({"url": url})), (None, false));
        assert_eq!(of(json!({"url": url, "hasPostData": true})), (None, true));
        let text = json!({"url": url, "hasPostData": true, "postData": "a=1"});
        assert_eq!(of(text), (Some(b"a=1".to_vec()), false));
        let two = json!({"url": url, "postDataEntries": [{"bytes": "YT0x"}, {"bytes": "/w=="}]});
        assert_eq!(of(two), (Some(b"a=1\xff".to_vec()), false));
        let file =
            json!({"url": url, "postData": "a=1", "postDataEntries": [{"bytes": "YT0x"}, {}]});
        assert_eq!(of(file), (None, true));
    }

    #[test]
    fn only_what_comes_soon_after_an_act_follows_from_it() {
        let mut it = HoldState::new(Arc::new(|_| RequestDecision::Go));
        let now = Instant::now();
        assert!(!it.follows(now));
        it.begins(true, false);
        assert!(it.follows(now));
        it.ends(now);
        assert!(it.follows(now + AFTER / 2));
        assert!(!it.follows(now + AFTER));
        it.begins(false, false);
        assert!(!it.follows(now));
    }

    #[test]
    fn what_a_person_does_counts_while_they_have_the_page() {
        let mut it = HoldState::new(Arc::new(|_| RequestDecision::Go));
        let now = Instant::now();
        it.touches(now);
        assert!(!it.is_touched(now), "nobody has it");
        it.hands_over(true);
        assert!(!it.is_touched(now), "nothing was done since");
        it.touches(now);
        assert!(it.is_touched(now + ACTIVE / 2) && !it.is_touched(now + ACTIVE));
        it.hands_over(false);
        assert!(!it.is_touched(now));
    }
}
