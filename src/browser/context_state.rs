//! What steps, guard, recorder and transports look at together, and the questions that all of them ask of it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::{Notify, mpsc};
use url::Url;
use zeroize::Zeroizing;

use super::{
    archive::Archive,
    ask::BasicAuthResponder,
    cdp::{self, Cdp},
    cdp_event::Event,
    event_stream::{EventDetails, EventKind, Feed},
    hold_state::HoldState,
    log_buffer::LogBuffer,
    own_host_scope::ContextPolicy,
    page,
    pending_navigation::PendingNavigation,
    plan::BoundSecret,
    prompt_injection,
    proxy::Proxy,
    recorder::Recorder,
    sessions::network_expectations::{MASK, RequestTap},
    tabs::{self, Page, Tabs},
    text_sanitizer::plain,
    user_actions::ActionWatcher,
};
use commis_artifacts::{
    failure::Element as Seen,
    recording::{Action, ActionKind, BlockedRequest, TargetKind},
};
use commis_base::error::{Code, Error, Result};
use commis_net::{
    egress::{EgressPolicy, SafeUrl},
    transport::tls,
};

/// A page that is busy for longer is taken as it is.
const MARK: Duration = Duration::from_secs(3);
const TEST_HOST: &str = "the host is pinned, and held to the test CA alone";
/// Shorter ones stand in other words as well.
const SHORTEST: usize = 4;
/// Elements that a hint lists.
const IN_HINT: usize = 8;
/// Between two documents.
const BETWEEN: Duration = Duration::from_millis(50);
/// Requests after which a recording that nobody ends begins anew, and after which it does so though some have not ended.
const LONG: usize = 3000;
const LONGEST: usize = 4500;

/// Of one context; clones of its `Arc` outlive no context.
pub struct ContextInner {
    pub cdp: Cdp,
    pub id: String,
    pub visit: Arc<ContextPolicy>,
    pub proxy: Proxy,
    pub queue: mpsc::UnboundedSender<Event>,
    pub state: Mutex<ContextState>,
    /// Tells of each change of the state.
    pub news: Notify,
}

#[derive(Default)]
pub struct ContextState {
    pub page: Option<Page>,
    /// Every attached target of this context, by session.
    pub targets: BTreeMap<Arc<str>, TargetKind>,
    /// Whose frame or worker a session is.
    pub above: BTreeMap<Arc<str>, Arc<str>>,
    /// Where several pages may be open; elsewhere a popup is closed.
    pub tabs: Option<Tabs>,
    /// What pages save is taken in.
    pub saving: Option<Vec<SavedFile>>,
    pub recorder: Option<Recorder>,
    /// What interception refused; the proxy has its own list.
    pub blocked: Vec<BlockedRequest>,
    /// The same since the last act of a page that stays began, whether it was refused before or not: the address, and why.
    pub refused: Vec<(String, String)>,
    /// Times the page's document was parsed, and loaded with all it embeds.
    pub parsed: u64,
    pub loads: u64,
    /// Times a frame came, went or got another document.
    pub frames: u64,
    pub downloads: u64,
    /// The last of them in this recording.
    pub download: Option<String>,
    /// As the browser sends it with this context's pages; some send none.
    pub accept_language: Option<String>,
    /// Where the last popup wanted to go.
    pub popup: Option<String>,
    pub crashed: bool,
    /// Typed, and to stay nowhere.
    pub secrets: Vec<Zeroizing<String>>,
    /// What a server of the login's site is told that asks for a name and a password.
    pub basic: Option<BasicAuthResponder>,
    /// Which of them are typed at named hosts alone.
    pub bound: Vec<BoundSecret>,
    /// How the next dialog is answered, where a step said so, and what is typed into one that asks.
    pub dialog: Option<(bool, Option<String>)>,
    /// What dialogs said, and how they were answered; the last ones. How many there were.
    pub dialogs: Vec<String>,
    pub dialogs_told: usize,
    /// What the page wrote to its console, where that is asked for.
    pub console: Option<Vec<String>>,
    /// What a page that stays says and asks for, where that is kept.
    pub heard: Option<LogBuffer>,
    /// A command is at work on it.
    pub is_acting: bool,
    /// Its traffic is a session's, which ends it itself.
    pub is_kept: bool,
    /// What the last step acted on, as the browser calls it.
    pub took: Option<String>,
    /// What was around when an element was missing.
    pub around: Option<FailureContext>,
    /// Something was typed that looks like a secret, or into a field for one.
    pub typed_secret: bool,
    /// Where the last `navigate` was to go.
    pub asked: Option<String>,
    /// Id of the frame that steps act in; the page and all its frames otherwise.
    pub within: Option<String>,
    /// The hosts of the last https requests, by request.
    pub secured: VecDeque<(String, String)>,
    /// Hosts whose TLS Chromium refused, and its word for why.
    pub distrusted: BTreeMap<String, String>,
    /// What the page asks for is noted, and held back where it is not expected.
    pub tap: Option<RequestTap>,
    /// What all requests are answered from, without a network.
    pub archive: Option<Arc<Archive>>,
    /// What may change something waits.
    pub holding: Option<HoldState>,
    /// Frames in pages, where requests of pages have to be told from theirs.
    pub subframes: BTreeSet<String>,
    /// A person is at the page.
    pub watch: Option<ActionWatcher>,
    /// Who looks on is told there.
    pub feed: Option<Feed>,
    /// Marks put into the queue of what the browser reports, and how many of them were come to.
    pub marks: u64,
    pub come_to: u64,
    /// It is about to have another document.
    pub leaving: Option<PendingNavigation>,
    /// Our world in the page's last document, by the page's session.
    pub world: Option<(Arc<str>, i64)>,
    /// The page's next document, where it comes from us and is empty.
    pub stand_in: Option<String>,
}

/// What stands on the page, as far as a failing step is concerned.
#[derive(Default)]
pub struct FailureContext {
    /// Nearest first.
    pub elements: Vec<Seen>,
    pub causes: Vec<String>,
    /// Every text that is drawn, the values of fields included.
    pub drawn: Vec<String>,
}

impl FailureContext {
    /// What to do about it, for an error.
    pub fn hint(&self) -> String {
        let shown: Vec<String> = self.elements.iter().take(IN_HINT).map(Seen::describe).collect();
        let shown = match shown.as_slice() {
            [] => "the page shows no interactive elements".to_owned(),
            some => format!("the page shows {}", some.join(", ")),
        };
        self.causes.iter().cloned().chain([shown]).collect::<Vec<_>>().join("; ")
    }
}

/// What a page saves.
#[derive(Clone, Debug)]
pub struct SavedFile {
    /// By which the browser knows it; also the file's name.
    pub guid: String,
    pub url: String,
    /// What the page would have it called.
    pub name: String,
    pub bytes: u64,
    /// Absent while it comes.
    pub complete: Option<bool>,
}

impl ContextState {
    /// That frame asks for another document.
    pub fn note_leaving(&mut self, frame: &str) {
        if self.page.as_ref().is_some_and(|it| it.target == frame) {
            self.leaving =
                Some(PendingNavigation { documents: self.documents(), frames: self.frames });
        }
    }

    /// The page has asked for another document, and neither the request for it nor the document has been seen.
    pub fn is_leaving(&self) -> bool {
        self.leaving
            .as_ref()
            .is_some_and(|it| it.documents == self.documents() && it.frames == self.frames)
    }

    /// The page asked whether it is to be left, and that was dismissed.
    pub fn stays(&self) -> bool {
        self.dialogs
            .last()
            .is_some_and(|it| it.starts_with("beforeunload") && it.ends_with("dismissed"))
    }

    fn documents(&self) -> usize {
        self.recorder.as_ref().map_or(0, Recorder::documents)
    }

    /// A recording that nobody ends has grown long: it is held in memory.
    pub fn is_long(&self) -> bool {
        let long =
            |it: &Recorder| it.requests() > LONG && (it.is_idle() || it.requests() > LONGEST);
        self.recorder.as_ref().is_some_and(long)
    }
}

impl ContextState {
    /// Without what was typed and is secret.
    pub fn masked(&self, mut text: String) -> String {
        for it in self.secrets.iter().filter(|it| it.len() >= SHORTEST) {
            let encoded: String = url::form_urlencoded::byte_serialize(it.as_bytes()).collect();
            text = text.replace(it.as_str(), MASK).replace(&encoded, MASK);
        }
        text
    }

    /// Words of a page as they are shown.
    pub fn display_text(&self, text: &str) -> String {
        prompt_injection::mark_if_suspicious(plain(&commis_redact::message(
            &self.masked(text.to_owned()),
        )))
    }

    /// Tells those who look on.
    pub fn emit(&self, kind: EventKind, text: &str) {
        if let Some(feed) = &self.feed {
            feed.emit(kind, &self.display_text(text), EventDetails::default());
        }
    }

    pub fn tell_tab(&self, number: u32, what: &str) {
        if let Some(feed) = &self.feed {
            let more = EventDetails { tab: Some(number), ..EventDetails::default() };
            feed.emit(EventKind::Tab, &format!("tab {number} {what}"), more);
        }
    }
}

impl ContextState {
    /// Whether another page may come up and stay.
    pub fn takes_tabs(&self) -> bool {
        self.tabs.as_ref().is_some_and(|it| it.all.len() < tabs::MOST)
    }

    /// The number of the tab that is the page; 0 where there are no tabs.
    pub fn tab(&self) -> u32 {
        let page = self.page.as_ref();
        let tab = self.tabs.as_ref().zip(page).and_then(|(tabs, it)| tabs.by_session(&it.session));
        tab.map_or(0, |it| it.number)
    }

    /// From here on, that tab is the page. Whether there is one.
    pub fn turn_to(&mut self, number: u32) -> bool {
        let found = self.tabs.as_ref().and_then(|it| it.all.iter().find(|it| it.number == number));
        let Some(page) = found.map(|it| it.page.clone()) else { return false };
        if let Some(recorder) = &mut self.recorder {
            recorder.turn_to(&page.target);
        }
        if self.page.as_ref().is_none_or(|it| *it.session != *page.session) {
            self.tell_tab(number, "is the page");
        }
        self.page = Some(page);
        self.crashed = false;
        self.within = None;
        true
    }

    /// A page went away. Where it was the page, the one before it is.
    pub fn leave(&mut self, session: &str) {
        let left = self.tabs.as_ref().and_then(|it| it.by_session(session)).map(|it| it.number);
        if let Some(it) = left {
            self.tell_tab(it, "was closed");
        }
        if let Some(tabs) = &mut self.tabs {
            tabs.all.retain(|it| *it.page.session != *session);
        }
        if self.page.as_ref().is_some_and(|it| *it.session == *session) {
            self.page = None;
            let before = self.tabs.as_ref().and_then(|it| it.all.last()).map(|it| it.number);
            before.map(|it| self.turn_to(it));
        }
    }

    /// The session of the page that a frame or a worker belongs to.
    pub fn page_of(&self, session: Option<&Arc<str>>) -> Option<Arc<str>> {
        let mut at = session?;
        // Deeper than any page is.
        for _ in 0..64 {
            match self.above.get(at) {
                Some(up) => at = up,
                None => break,
            }
        }
        Some(Arc::clone(at))
    }

    /// Whether that frame's session belongs to the page, and not to another tab.
    pub fn is_frame_of(&self, frame: &str, page: &str) -> bool {
        let mut at = frame;
        // Deeper than any page is.
        for _ in 0..64 {
            match self.above.get(at) {
                Some(up) => at = up,
                None => break,
            }
        }
        at == page || self.tabs.as_ref().is_none_or(|it| it.by_session(at).is_none())
    }
}

impl ContextInner {
    pub fn policy(&self) -> &EgressPolicy {
        self.visit.policy()
    }

    pub fn lock(&self) -> MutexGuard<'_, ContextState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all requests are answered from, where there is no network.
    pub fn archive(&self) -> Option<Arc<Archive>> {
        self.lock().archive.clone()
    }

    pub fn page(&self) -> Result<Page> {
        if self.cdp.is_closed() {
            return Err(self.cdp.ended());
        }
        let state = self.lock();
        if state.crashed {
            return Err(Error::new(Code::BrowserFailed, "the page crashed"));
        }
        state.page.clone().ok_or_else(|| Error::new(Code::BrowserFailed, "the page was closed"))
    }

    /// The page's session first, then those of frames in other processes.
    pub fn frame_sessions(&self) -> Result<Vec<Arc<str>>> {
        let page = self.page()?.session;
        let state = self.lock();
        let frames = state
            .targets
            .iter()
            .filter(|it| *it.1 == TargetKind::Iframe && state.is_frame_of(it.0, &page))
            .map(|it| Arc::clone(it.0));
        Ok(std::iter::once(Arc::clone(&page)).chain(frames).collect())
    }

    pub async fn frames(&self) -> Result<Vec<page::Frame>> {
        let page = self.page()?;
        let asked = page::ask_frames(&self.cdp, self.frame_sessions()?, &page);
        Ok(asked.read(&self.cdp, &page).await)
    }

    /// Those that steps act in.
    pub async fn frames_within(&self) -> Result<Vec<page::Frame>> {
        let mut all = self.frames().await?;
        if let Some(id) = &self.lock().within {
            all.retain(|it| it.id == *id);
        }
        Ok(all)
    }

    /// The page's own document.
    pub async fn main_frame(&self) -> Result<page::Frame> {
        let page = self.page()?;
        page::main_frame(&self.cdp, &page.session, &page.target).await
    }

    /// Something asked of the page's own document, whose world is known from the last time.
    async fn of_main<T>(
        &self,
        ask: impl AsyncFnOnce(page::MainDocument<'_>) -> Result<(page::Frame, T)>,
    ) -> Result<(page::Frame, T)> {
        let Page { session, target, .. } = self.page()?;
        let last = self.lock().world.as_ref().filter(|it| it.0 == session).map(|it| it.1);
        let (frame, said) =
            ask(page::MainDocument { session: &session, frame: &target, last }).await?;
        self.lock().world = Some((session, frame.world));
        Ok((frame, said))
    }

    /// The page's own document, its address, and for how long nothing of it has changed.
    pub async fn read_document_state(&self) -> Result<(page::Frame, page::DocumentState)> {
        match self.of_main(async |main| page::read_document_state(&self.cdp, main).await).await {
            // Just where one document takes the place of another there is none for a moment.
            Err(err) if cdp::is_gone(&err) && !self.cdp.is_closed() => {
                tokio::time::sleep(BETWEEN).await;
                self.of_main(async |main| page::read_document_state(&self.cdp, main).await).await
            }
            it => it,
        }
    }

    /// The page's own document, its address and its title.
    pub async fn head(&self) -> Result<(page::Frame, (String, String))> {
        self.of_main(async |main| page::head(&self.cdp, main).await).await
    }

    /// Elements that were named to us are the page's alone again.
    pub fn let_go(&self) {
        for it in self.frame_sessions().unwrap_or_default() {
            let group = json!({ "objectGroup": page::OBJECTS });
            self.cdp.post(Some(&it), "Runtime.releaseObjectGroup", group);
        }
    }

    /// Asks the page's own document something that takes no arguments.
    pub async fn ask<T: DeserializeOwned>(
        &self,
        snippet: &'static str,
        timeout: Duration,
    ) -> Result<(page::Frame, T)> {
        self.of_main(async |main| page::call_main(&self.cdp, main, snippet, timeout).await).await
    }

    /// Waits until all that the browser has reported by now was heeded. Fails when the page is gone.
    pub async fn heed(&self, deadline: Instant) -> Result<()> {
        let mark = {
            let mut state = self.lock();
            state.marks += 1;
            state.marks
        };
        // Where nobody reads any more the page is gone.
        let _ = self.queue.send(Event::here());
        self.until(deadline, |it| it.come_to >= mark).await.map(drop)
    }

    /// Begins to note what the page asks for, anew. Fails with `BROWSER_FAILED`.
    pub fn listen(&self) -> Result<()> {
        let main_frame = self.page()?.target;
        let mut state = self.lock();
        let anew =
            Recorder::new(Instant::now(), &main_frame).after(state.recorder.as_ref()).staying();
        state.recorder = Some(anew);
        Ok(())
    }

    /// A recording that nobody ends begins anew when it has grown long. Not while a command looks at it.
    pub fn renew(&self) {
        let long = {
            let state = self.lock();
            !state.is_acting && !state.is_kept && state.is_long()
        };
        if long {
            // A page that is gone asks for nothing more.
            let _ = self.listen();
        }
    }

    /// Looks at the state now and whenever it changes, until it holds or time is up; whether it holds. Fails when the page is
    /// gone.
    pub async fn until(
        &self,
        deadline: Instant,
        holds: impl Fn(&ContextState) -> bool,
    ) -> Result<bool> {
        loop {
            let mut news = pin!(self.news.notified());
            // From here on, so that nothing is missed between looking and waiting.
            news.as_mut().enable();
            if holds(&self.lock()) {
                return Ok(true);
            }
            let _ = self.page()?;
            if tokio::time::timeout_at(deadline.into(), news).await.is_err() {
                return Ok(false);
            }
        }
    }

    /// Why that host was not trusted, where it was not: the proxy knows it of test hosts, Chromium of others.
    pub async fn distrusted(&self, url: &SafeUrl) -> Option<Error> {
        if url.scheme() != "https" {
            return None;
        }
        let proxied =
            self.proxy.blocked().into_iter().find(|it| {
                it.code == Code::TlsFailed.as_str() && same_origin(&it.url, url.as_str())
            });
        if let Some(it) = proxied {
            return Some(Error::new(Code::TlsFailed, it.reason).hint(TEST_HOST));
        }
        // It is told a moment after the page hears of the failure.
        let deadline = Instant::now() + Duration::from_millis(200);
        let _ = self.until(deadline, |it| it.distrusted.contains_key(url.host())).await;
        let text = self.lock().distrusted.get(url.host()).cloned()?;
        tls::chromium_tls_error(url.host(), &text)
    }

    /// What interception and proxy refused, each URL once.
    pub fn blocked(&self) -> Vec<BlockedRequest> {
        let mut all = self.lock().blocked.clone();
        for entry in self.proxy.blocked() {
            // A tunnel shows only its origin; interception may have named the whole URL.
            let known = all.iter().any(|it| {
                it.url == entry.url
                    || (entry.url.ends_with('/') && same_origin(&it.url, &entry.url))
            });
            if !known {
                all.push(entry);
            }
        }
        all
    }

    /// Notes what is about to be done. Requests from here on are its own.
    pub fn act(&self, action: Action) {
        let mut state = self.lock();
        // A key goes to the control that was used last.
        if let Some(holding) = &mut state.holding
            && !matches!(action.kind, ActionKind::Press | ActionKind::WaitFor)
        {
            holding.drives(action.role.clone().zip(action.name.clone()));
        }
        if let Some(recorder) = &mut state.recorder {
            let now = Instant::now();
            if action.kind != ActionKind::WaitFor {
                recorder.mark(None, now);
            }
            recorder.acted(action, now);
        }
    }

    /// What the last action is about to do sets requests off; before that, what came of the others has been heard of.
    pub async fn mark(&self, session: &str, typed: Option<&str>) {
        // The page answers in the order in which it tells of requests.
        let params = json!({ "expression": "0", "returnByValue": true });
        let _ = self.cdp.send(Some(session), "Runtime.evaluate", params).raw(MARK).await;
        if let Some(recorder) = &mut self.lock().recorder {
            recorder.mark(typed, Instant::now());
        }
    }
}

fn same_origin(a: &str, b: &str) -> bool {
    match (Url::parse(a), Url::parse(b)) {
        (Ok(a), Ok(b)) => a.origin() == b.origin(),
        _ => false,
    }
}

/// Bytes of a file that a page saves.
pub const MAX_SAVED: u64 = 100 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_leaving_until_something_of_its_next_document_is_seen() {
        let page = Page { session: "s".into(), target: "main".to_owned() };
        let mut state = ContextState { page: Some(page), ..ContextState::default() };
        let asked = |disposition: &str| {
            let params = json!({ "frameId": "main", "reason": "anchorClick", "url": "http://a.test/", "disposition": disposition });
            crate::pending_navigation::navigating_frame(&Event::literal(
                "s",
                "Page.frameRequestedNavigation",
                &params,
            ))
        };
        assert_eq!(asked("newTab"), None);
        state.note_leaving("inner");
        assert!(!state.is_leaving(), "a frame is no page");
        state.note_leaving(&asked("currentTab").unwrap());
        assert!(state.is_leaving());
        state.frames += 1;
        assert!(!state.is_leaving());
    }
}
