//! An isolated browser context: its own cookies, cache and proxy, one page, and a guard over every target in it.

use std::{
    collections::BTreeMap,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
};
use url::Url;
use zeroize::Zeroizing;

use super::{
    Browser,
    awaiting::{self, Owed},
    by_hand,
    cdp::{Cdp, Event, Reply},
    fetch::InPageFetch,
    guard, page,
    plan::{Plan, Step, Wait},
    proxy::Proxy,
    recorder::Recorder,
    request::ContextRequest,
    steps,
    watch::Watch,
};
use crate::{
    artifacts::recording::{Action, ActionKind, BlockedRequest, Driver, TargetKind},
    egress::{EgressPolicy, site_of},
    error::{Code, Error, Result},
    recipe::model::TransportKind,
    redact::raw::RawRecording,
    transport::{Transport, public_http::PublicHttp},
};

/// How long after the last step requests may still be in flight.
const SETTLE: Duration = Duration::from_secs(3);
/// No news for so long counts as settled: a search as one types waits about that long for the next key.
const QUIET: Duration = Duration::from_millis(150);
/// The same where the plan says what the page shows in the end, and it is there: what follows is not waited for by a timer.
const QUIET_WHEN_SHOWN: Duration = Duration::from_millis(50);
const SECOND_LOOK_NOTE: &str = "a request that carries what was typed was still in flight after the last step; it was waited for";
/// How much longer is waited for a request that carries what was typed, and for one that is to be sent again.
const SECOND_LOOK: Duration = Duration::from_secs(3);
const SENT_AGAIN: Duration = Duration::from_secs(1);
/// A page that is busy for longer is taken as it is.
const MARK: Duration = Duration::from_secs(3);
const SETUP_TIMEOUT: Duration = Duration::from_secs(20);

/// Disposes itself when dropped, without waiting; [`Context::dispose`] waits.
pub struct Context {
    shared: Arc<Shared>,
    pump: JoinHandle<()>,
    http: Arc<PublicHttp>,
    /// Keeps the process.
    browser: Browser,
}

/// What the guard, the steps and the transport look at together.
pub struct Shared {
    pub cdp: Cdp,
    pub id: String,
    pub policy: Arc<EgressPolicy>,
    pub proxy: Proxy,
    pub queue: mpsc::UnboundedSender<Event>,
    state: Mutex<State>,
    /// Tells of each change of the state.
    pub news: Notify,
}

#[derive(Default)]
pub struct State {
    pub page: Option<Page>,
    /// Every attached target of this context, by session.
    pub targets: BTreeMap<Arc<str>, TargetKind>,
    pub recorder: Option<Recorder>,
    /// What interception refused; the proxy has its own list.
    pub blocked: Vec<BlockedRequest>,
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
    /// How the next dialog is answered, where a step said so.
    pub dialog: Option<bool>,
    /// Id of the frame that steps act in; the page and all its frames otherwise.
    pub within: Option<String>,
    /// A person is at the page.
    pub watch: Option<Watch>,
}

/// The one page of the context.
#[derive(Clone)]
pub struct Page {
    pub session: Arc<str>,
    /// Also the id of its main frame.
    pub target: String,
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn page(&self) -> Result<Page> {
        if self.cdp.is_closed() {
            return Err(self.cdp.gone());
        }
        let state = self.lock();
        if state.crashed {
            return Err(Error::new(Code::BrowserFailed, "the page crashed"));
        }
        state.page.clone().ok_or_else(|| Error::new(Code::BrowserFailed, "the page is gone"))
    }

    /// The page's session first, then those of frames in other processes.
    pub fn frame_sessions(&self) -> Result<Vec<Arc<str>>> {
        let page = self.page()?.session;
        let state = self.lock();
        let frames = state
            .targets
            .iter()
            .filter(|it| *it.1 == TargetKind::Iframe)
            .map(|it| Arc::clone(it.0));
        Ok(std::iter::once(Arc::clone(&page)).chain(frames).collect())
    }

    pub async fn frames(&self) -> Result<Vec<page::Frame>> {
        Ok(page::frames(&self.cdp, &self.frame_sessions()?).await)
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

    /// Looks at the state now and whenever it changes, until it holds or time is up; whether it holds. Fails when the page is
    /// gone.
    pub async fn until(&self, deadline: Instant, holds: impl Fn(&State) -> bool) -> Result<bool> {
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
        if let Some(recorder) = &mut self.lock().recorder {
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

impl Context {
    pub(super) async fn create(browser: Browser) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Created {
            browser_context_id: String,
        }
        let cdp = browser.cdp().clone();
        let policy = Arc::clone(browser.policy());
        let http = Arc::new(PublicHttp::new(Arc::clone(&policy))?);
        let proxy = Proxy::start(Arc::clone(&policy)).await?;
        let params = json!({
            "disposeOnDetach": true,
            "proxyServer": proxy.url(),
            "proxyBypassList": "<-loopback>",
        });
        let Created { browser_context_id: id } =
            cdp.call(None, "Target.createBrowserContext", params).await?;
        let (queue, events) = mpsc::unbounded_channel();
        cdp.route(&id, &queue);
        let (state, news) = (Mutex::default(), Notify::new());
        let shared = Arc::new(Shared { cdp, id, policy, proxy, queue, state, news });
        // From here on, dropping disposes of it.
        let (ready, setup) = tokio::sync::oneshot::channel();
        let pump = tokio::spawn(guard::run(Arc::clone(&shared), events, ready));
        let context = Self { shared, pump, http, browser };
        let timeout = tokio::time::timeout(SETUP_TIMEOUT, context.open_page(setup)).await;
        timeout.unwrap_or_else(|_| {
            Err(Error::new(Code::BrowserFailed, "a new page did not come up"))
        })?;
        Ok(context)
    }

    /// Creates the page; the guard sees it come up paused, sets it up and lets it go.
    async fn open_page(&self, setup: tokio::sync::oneshot::Receiver<Vec<Reply>>) -> Result<()> {
        let Shared { cdp, id, .. } = &*self.shared;
        let context = |mut params: Value| {
            params["browserContextId"] = id.as_str().into();
            params
        };
        let deny = context(json!({ "behavior": "deny", "eventsEnabled": true }));
        let denied = cdp.send(None, "Browser.setDownloadBehavior", deny);
        for name in guard::PERMISSIONS {
            let params = context(json!({ "permission": { "name": name }, "setting": "denied" }));
            cdp.post(None, "Browser.setPermission", params);
        }
        let params = context(json!({ "url": "about:blank" }));
        let created = cdp.send(None, "Target.createTarget", params);
        denied.raw(SETUP_TIMEOUT).await?;
        created.raw(SETUP_TIMEOUT).await?;
        let replies = setup
            .await
            .map_err(|_| Error::new(Code::BrowserFailed, "a new page closed at once"))?;
        for reply in replies {
            reply.raw(SETUP_TIMEOUT).await?;
        }
        Ok(())
    }

    #[cfg(test)]
    pub async fn record(&mut self, plan: &Plan) -> Result<RawRecording> {
        self.record_then(plan, || ()).await
    }

    /// Opens the plan's URL, runs the steps, waits for requests in flight, and reads the final page. `stepped` is called when
    /// the steps are done: from then on it mostly waits.
    ///
    /// Fails with `STEP_FAILED`, with the codes of [`Context::open`], or with `BROWSER_FAILED`.
    pub async fn record_then(
        &mut self,
        plan: &Plan,
        stepped: impl FnOnce(),
    ) -> Result<RawRecording> {
        let begun = Instant::now();
        let shared = &self.shared;
        let main_frame = shared.page()?.target;
        {
            let mut state = shared.lock();
            state.blocked.clear();
            (state.download, state.popup) = (None, None);
            (state.dialog, state.within) = (None, None);
            state.secrets.clone_from(&plan.secrets);
            let mut recorder = Recorder::new(begun, &main_frame);
            recorder.types(plan.typed.values());
            state.recorder = Some(recorder);
        }
        let first = Step::Navigate(plan.url.clone());
        for step in std::iter::once(&first).chain(&plan.steps) {
            if let Err(err) = steps::perform(shared, step, plan.timeout).await {
                shared.lock().recorder = None;
                return Err(self.blame(step, err));
            }
        }
        let duration_ms = begun.elapsed().as_millis() as u64;
        guard::hurry(shared);
        stepped();
        let last = plan.steps.last();
        self.settle(matches!(last, Some(Step::WaitFor(Wait::Text(_) | Wait::Selector(_))))).await;
        let notes = self.second_look().await.then(|| SECOND_LOOK_NOTE.to_owned());
        let read = |it: &State| it.recorder.as_ref().is_none_or(Recorder::has_read_all);
        // A page that is gone has taken the rest with it.
        let _ = shared.until(Instant::now() + guard::READ_TIMEOUT, read).await;
        let recorder = shared.lock().recorder.take();
        let frames = shared.frames().await.map_err(|err| self.page_fault(err))?;
        let cookies = page::cookies(&shared.cdp, &shared.id);
        let (mut page, cookies) = tokio::join!(page::summary(&shared.cdp, &frames), cookies);
        let cookies = cookies.map_err(|err| self.page_fault(err))?;
        page.cookies = cookies.into_iter().map(|it| (it.name, it.value)).collect();
        let (actions, exchanges) = recorder.map(Recorder::finish).unwrap_or_default();
        let secrets = by_hand::sent(&plan.secrets, &exchanges);
        Ok(RawRecording {
            task: plan.task.clone(),
            url: plan.url.clone(),
            driver: Driver::Steps,
            typed: plan.typed.clone(),
            actions,
            final_answer: None,
            page,
            exchanges,
            blocked: shared.blocked(),
            secrets,
            notes: notes.into_iter().collect(),
            duration_ms,
            producer: self.producer().to_owned(),
        })
    }

    /// While the browser lives, what goes wrong in a step is the page's fault: it must not stop a batch.
    fn blame(&self, step: &Step, err: Error) -> Error {
        if err.code() != Code::BrowserFailed || self.shared.cdp.is_closed() {
            return err;
        }
        Error::new(Code::StepFailed, step.describe()).source(err)
    }

    /// The same for what is not a step: a page that crashed is the task's trouble, a browser that is gone the machine's.
    fn page_fault(&self, err: Error) -> Error {
        if err.code() != Code::BrowserFailed || self.shared.cdp.is_closed() {
            return err;
        }
        Error::new(Code::StepFailed, "the page can no longer be read").source(err)
    }

    /// Waits until nothing is in flight and nothing new begins, [`SETTLE`] at most. What a page that is `shown` begins next is
    /// begun when its thread has nothing left to do.
    async fn settle(&self, shown: bool) {
        let quiet = if shown { QUIET_WHEN_SHOWN } else { QUIET };
        let deadline = Instant::now() + SETTLE;
        loop {
            self.silence(quiet, deadline).await;
            let before = self.shared.lock().recorder.as_ref().map(Recorder::changed);
            if !shown || Instant::now() >= deadline {
                return;
            }
            if let Ok(frame) = self.shared.main_frame().await {
                page::spare_time(&self.shared.cdp, &frame).await;
            }
            if self.shared.lock().recorder.as_ref().map(Recorder::changed) == before {
                return;
            }
        }
    }

    /// Waits for a request that carries what was typed, where one is in flight, or was given up to be sent again, or is not sent
    /// yet since the page waits for the next key. Returns whether there was one in flight.
    async fn second_look(&self) -> bool {
        let begun = Instant::now();
        let (mut looked, mut paused) = (false, false);
        loop {
            let mut news = pin!(self.shared.news.notified());
            news.as_mut().enable();
            let now = Instant::now();
            let owed = self.shared.lock().recorder.as_ref().and_then(|it| it.owed(now));
            let Some(owed) = owed else { break };
            let until = match owed {
                Owed::InFlight => begun + SECOND_LOOK,
                Owed::GivenUp => begun + SENT_AGAIN,
                Owed::Unsent if paused => break,
                // By the page's clock, and whole: on a busy machine keys are taken late, and timers run late.
                Owed::Unsent => {
                    paused = true;
                    if let Ok(frame) = self.shared.main_frame().await {
                        page::timers(&self.shared.cdp, &frame, awaiting::PAUSE).await;
                    }
                    continue;
                }
            };
            if now >= until {
                break;
            }
            looked |= owed == Owed::InFlight;
            let tick = until.min(now + Duration::from_millis(100));
            let _ = tokio::time::timeout_at(tick.into(), news).await;
        }
        if looked || paused {
            self.silence(QUIET, Instant::now() + SENT_AGAIN).await;
        }
        looked
    }

    async fn silence(&self, quiet: Duration, deadline: Instant) {
        loop {
            let mut news = pin!(self.shared.news.notified());
            news.as_mut().enable();
            let now = Instant::now();
            let wait = self.shared.lock().recorder.as_ref().map(|it| it.idle_in(quiet, now));
            let wait = match wait {
                None | Some(Some(Duration::ZERO)) => return,
                Some(wait) => wait.map_or(deadline, |it| deadline.min(now + it)),
            };
            if now >= deadline {
                return;
            }
            let _ = tokio::time::timeout_at(wait.into(), news).await;
        }
    }

    /// Stops reporting the page's traffic, which is then under proxy and interception alone: what recording is measured
    /// against. Fails with `BROWSER_FAILED`.
    pub async fn unwatch(&self) -> Result<()> {
        let session = self.shared.page()?.session;
        self.shared.cdp.run(Some(&session), "Network.disable", json!({})).await
    }

    /// Opens a page without recording it.
    ///
    /// Fails with the policy's codes, `CONNECT_FAILED`, `TIMEOUT`, `DOWNLOAD_BLOCKED` or `BROWSER_FAILED`.
    pub async fn open(&mut self, url: &str, timeout: Duration) -> Result<()> {
        self.shared.navigate(url, timeout).await
    }

    /// Content of the page's `<meta name=…>`.
    pub async fn meta(&self, name: &str) -> Result<Option<String>> {
        let frame = self.shared.main_frame().await.map_err(|err| self.page_fault(err))?;
        page::meta(&self.shared.cdp, &frame, name).await.map_err(|err| self.page_fault(err))
    }

    /// The value of a cookie that the page's host has, `HttpOnly` or not, for a request to `to`; the nearest domain wins. For
    /// another site than the page's there is none.
    pub async fn cookie(&self, name: &str, to: &str) -> Result<Option<String>> {
        let frame = self.shared.main_frame().await.map_err(|err| self.page_fault(err))?;
        let url = page::url(&self.shared.cdp, &frame).await.map_err(|err| self.page_fault(err))?;
        if site_of(&url) != site_of(to) {
            return Ok(None);
        }
        let host = Url::parse(&url)
            .ok()
            .and_then(|it| it.host_str().map(str::to_owned))
            .unwrap_or_default();
        let mut found = page::cookies(&self.shared.cdp, &self.shared.id).await?;
        // RFC 6265, 5.1.3: a cookie without a leading dot is its host's alone. Another site's never goes anywhere.
        found.retain(|it| {
            let applies = match it.domain.strip_prefix('.') {
                Some(domain) => host == domain || host.ends_with(&format!(".{domain}")),
                None => host == it.domain,
            };
            it.name == name && applies
        });
        found.sort_by_key(|it| std::cmp::Reverse(it.domain.len()));
        Ok(found.into_iter().next().map(|it| it.value))
    }

    /// Whether its page and its browser are still there.
    pub fn is_alive(&self) -> bool {
        !self.shared.cdp.is_closed() && self.shared.page().is_ok()
    }

    /// The transport of that kind in this session; only [`TransportKind::InPageFetch`] sends from within the page.
    pub fn transport(&self, kind: TransportKind) -> Box<dyn Transport> {
        match kind {
            TransportKind::InPageFetch => Box::new(self.in_page_fetch()),
            _ => Box::new(self.context_request()),
        }
    }

    /// Sends requests from within the page. It works as long as this context lives.
    pub fn in_page_fetch(&self) -> InPageFetch {
        InPageFetch::new(Arc::clone(&self.shared))
    }

    /// Sends requests from our client, in this context's session. It works as long as this context lives.
    pub fn context_request(&self) -> ContextRequest {
        let (shared, http) = (Arc::clone(&self.shared), Arc::clone(&self.http));
        ContextRequest::new(shared, http, self.browser.user_agent().to_owned())
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn producer(&self) -> &str {
        self.browser.version()
    }

    #[cfg(test)]
    pub async fn cookie_names(&self) -> Result<Vec<String>> {
        let all = page::cookies(&self.shared.cdp, &self.shared.id).await?;
        Ok(all.into_iter().map(|it| it.name).collect())
    }

    /// What the policy refused since the context was made or the last recording began.
    #[cfg(test)]
    pub fn blocked(&self) -> Vec<BlockedRequest> {
        self.shared.blocked()
    }

    /// What got as far as the proxy before it was refused.
    #[cfg(test)]
    pub fn blocked_by_proxy(&self) -> Vec<BlockedRequest> {
        self.shared.proxy.blocked()
    }

    /// Closes the page and forgets cookies and cache.
    pub async fn dispose(self) -> Result<()> {
        let params = json!({ "browserContextId": self.shared.id });
        let Shared { cdp, .. } = &*self.shared;
        // Dropping asks once more, which the browser refuses and nobody reads.
        cdp.run(None, "Target.disposeBrowserContext", params).await
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let params = json!({ "browserContextId": self.shared.id });
        let Shared { cdp, queue, .. } = &*self.shared;
        cdp.post(None, "Target.disposeBrowserContext", params);
        cdp.unroute(queue);
        self.pump.abort();
    }
}
