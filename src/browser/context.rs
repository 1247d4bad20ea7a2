//! An isolated browser context: its own cookies, cache and proxy, one page, and a guard over every target in it.

use std::{
    pin::pin,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    sync::{Notify, mpsc},
    task::JoinHandle,
};
use url::Url;

use super::{
    Browser,
    ask::{self, Prompt},
    bodies,
    cdp::Reply,
    context_state::{ContextInner, ContextState},
    failure::{FailedStep, see},
    fetch::InPageFetch,
    guard,
    own_host_scope::ContextPolicy,
    page,
    pending_requests::{self, PendingReason},
    plan::{Fill, Plan, Step, Wait},
    proxy::Proxy,
    recorder::{Recorder, RequestSummary},
    request::ContextRequest,
    scrolling, steps,
    tabs::Tabs,
    typed_secrets,
};
use commis_artifacts::recording::Driver;
use commis_base::error::{Code, Error, Result};
use commis_net::{
    egress::site_of,
    transport::{Transport, public_http::PublicHttp},
};
use commis_recipe::model::{StorageArea, TransportKind};
use commis_redact::raw::{RawFailure, RawPage, RawRecording};

/// How long after the last step requests may still be in flight.
const SETTLE: Duration = Duration::from_secs(3);
/// No news for so long counts as settled: a search as one types waits about that long for the next key.
const QUIET: Duration = Duration::from_millis(150);
/// The same where the plan says what the page shows in the end, and it is there: what follows is not waited for by a timer.
pub(super) const QUIET_WHEN_SHOWN: Duration = Duration::from_millis(50);
const SECOND_LOOK_NOTE: &str = "a request that carries what was typed was still in flight after the last step; it was waited for";
/// How much longer is waited for a request that carries what was typed, and for one that is to be sent again.
const SECOND_LOOK: Duration = Duration::from_secs(3);
const SENT_AGAIN: Duration = Duration::from_secs(1);
/// After so long, a page has set its timers for what was typed.
const TIMERS_SET: Duration = Duration::from_millis(40);
const SETUP_TIMEOUT: Duration = Duration::from_secs(20);

/// Disposes itself when dropped, without waiting; [`Context::dispose`] waits.
pub struct Context {
    shared: Arc<ContextInner>,
    pump: JoinHandle<()>,
    http: Arc<PublicHttp>,
    /// Keeps the process.
    browser: Browser,
    failure: Option<Box<RawFailure>>,
    /// Who is asked for what the plan does not hold.
    ask: Option<Prompt>,
}

/// Fills in what a person says, when the field is there: a code is sent by then, and does not last.
async fn fill_asked(
    shared: &Arc<ContextInner>,
    field: &Fill,
    label: &str,
    ask: &Prompt,
    timeout: Duration,
) -> Result<()> {
    let with = |value: &str| Step::Fill(Fill { value: value.to_owned(), ..field.clone() });
    steps::perform(shared, &with(""), timeout).await?;
    let value = ask(label.to_owned()).await?;
    commis_redact::hide_all(std::slice::from_ref(&value));
    shared.lock().secrets.push(value.clone());
    steps::perform(shared, &with(&value), timeout).await
}

/// What is told of a recording as it is made, raw.
#[derive(Clone, Debug)]
pub enum RecordingEvent {
    /// The step is done.
    Step {
        what: String,
        ms: u64,
        /// The element it acted on, as the browser calls it.
        took: Option<String>,
    },
    /// What the step before had the page ask for.
    Requests(Vec<RequestSummary>),
}

impl Context {
    pub(super) async fn create(browser: Browser) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct CreateContextResult {
            browser_context_id: String,
        }
        let cdp = browser.cdp().clone();
        let policy = Arc::clone(browser.policy());
        let http = Arc::new(PublicHttp::new(Arc::clone(&policy))?);
        let visit = Arc::new(ContextPolicy::new(policy));
        let proxy = Proxy::start(Arc::clone(&visit), browser.custom_tls_trust()).await?;
        let params = json!({
            "disposeOnDetach": true,
            "proxyServer": proxy.url(),
            "proxyBypassList": "<-loopback>",
        });
        let CreateContextResult { browser_context_id: id } =
            cdp.call(None, "Target.createBrowserContext", params).await?;
        let (queue, events) = mpsc::unbounded_channel();
        cdp.route(&id, &queue);
        let (state, news) = (Mutex::default(), Notify::new());
        let shared = Arc::new(ContextInner { cdp, id, visit, proxy, queue, state, news });
        // From here on, dropping disposes of it.
        let (ready, setup) = tokio::sync::oneshot::channel();
        let pump = tokio::spawn(guard::run(Arc::clone(&shared), events, ready));
        let context = Self { shared, pump, http, browser, failure: None, ask: None };
        let timeout = tokio::time::timeout(SETUP_TIMEOUT, context.open_page(setup)).await;
        timeout.unwrap_or_else(|_| {
            Err(Error::new(Code::BrowserFailed, "the browser did not open a new page"))
        })?;
        Ok(context)
    }

    /// Creates the page; the guard sees it come up paused, sets it up and lets it go.
    async fn open_page(&self, setup: tokio::sync::oneshot::Receiver<Vec<Reply>>) -> Result<()> {
        let ContextInner { cdp, id, .. } = &*self.shared;
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
            .map_err(|_| Error::new(Code::BrowserFailed, "the new page closed immediately"))?;
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
        self.record_told(plan, &mut |_| (), stepped).await
    }

    /// What was seen when a step of the last recording failed.
    pub fn failure(&mut self) -> Option<Box<RawFailure>> {
        self.failure.take()
    }

    /// Who is asked for values of a plan that it does not hold ([`asked_value`](super::asked_value)).
    pub fn asks(&mut self, ask: Prompt) {
        self.ask = Some(ask);
    }

    /// [`Self::record_then`], with each step told as it is done.
    pub async fn record_told(
        &mut self,
        plan: &Plan,
        told: &mut (dyn FnMut(RecordingEvent) + Send),
        stepped: impl FnOnce(),
    ) -> Result<RawRecording> {
        self.shared.visit.begin_at(&plan.url);
        let first = Step::Navigate(plan.url.clone());
        self.record_steps(plan, Some(&first), told, stepped).await
    }

    /// Carries out the steps on the page that is open, and records what they bring: [`Self::record_then`] without opening a page.
    pub(super) async fn record_open_page(&mut self, plan: &Plan) -> Result<RawRecording> {
        self.record_steps(plan, None, &mut |_| (), || ()).await
    }

    async fn record_steps(
        &mut self,
        plan: &Plan,
        first: Option<&Step>,
        told: &mut (dyn FnMut(RecordingEvent) + Send),
        stepped: impl FnOnce(),
    ) -> Result<RawRecording> {
        let begun = Instant::now();
        self.failure = None;
        let shared = &self.shared;
        let main_frame = shared.page()?.target;
        {
            let mut state = shared.lock();
            state.blocked.clear();
            (state.download, state.popup) = (None, None);
            (state.dialog, state.within) = (None, None);
            (state.around, state.asked) = (None, None);
            // No picture, then: not even of what is not typed yet.
            state.typed_secret = !plan.secrets.is_empty();
            state.dialogs.clear();
            state.secrets.clone_from(&plan.secrets);
            state.bound.clone_from(&plan.bound);
            let mut recorder = Recorder::new(begun, &main_frame);
            recorder.types(plan.typed.values());
            state.recorder = Some(recorder);
        }
        let mut seen = 0;
        let numbered = first.map(|it| (0, it)).into_iter().chain((1..).zip(&plan.steps));
        for (n, step) in numbered {
            let at = Instant::now();
            shared.lock().took = None;
            let done = match ask::label(step).zip(self.ask.as_ref()) {
                Some(((field, label), ask)) => {
                    fill_asked(shared, field, label, ask, plan.timeout).await
                }
                None => steps::perform(shared, step, plan.timeout).await,
            };
            // While a wait lasts, the page does what the step before it set off.
            let until = if matches!(step, Step::WaitFor(_)) { Instant::now() } else { at };
            tell_requests(shared, &mut seen, until, told);
            let waited = at.elapsed();
            if let Err(err) = done {
                let err = self.blame(step, err);
                let failed = FailedStep { plan, n, step, waited, begun };
                let producer = self.browser.version();
                self.failure = Some(Box::new(see(shared, failed, &err, producer).await));
                return Err(err);
            }
            let took = shared.lock().took.take();
            told(RecordingEvent::Step {
                what: step.describe(),
                ms: waited.as_millis() as u64,
                took,
            });
        }
        let duration_ms = begun.elapsed().as_millis() as u64;
        bodies::hurry(shared);
        stepped();
        let last = plan.steps.last();
        self.settle(matches!(last, Some(Step::WaitFor(Wait::Text(_) | Wait::Selector(_))))).await;
        let notes = self.second_look().await.then(|| SECOND_LOOK_NOTE.to_owned());
        let read = |it: &ContextState| it.recorder.as_ref().is_none_or(Recorder::has_read_all);
        // A page that is gone has taken the rest with it.
        let _ = shared.until(Instant::now() + bodies::READ_TIMEOUT, read).await;
        let frames = shared.frames().await.map_err(|err| self.page_fault(err))?;
        let page = self.read_frames(&frames).await;
        // A page that is opened again is scrolled once it is at rest.
        let mut grows = false;
        if let Some(frame) = frames.first().filter(|_| shared.archive().is_none()) {
            grows = scrolling::asks_for_more(shared, frame).await;
        }
        // Of a page that is answered from an archive, requests are watched between recordings, too.
        let next = shared.archive().map(|_| Recorder::new(Instant::now(), &main_frame));
        let recorder = std::mem::replace(&mut shared.lock().recorder, next);
        let page = RawPage { grows, ..page? };
        if let Some(it) = &recorder {
            told(RecordingEvent::Requests(it.told_from(seen, Instant::now()).0));
        }
        let (actions, exchanges) = recorder.map(Recorder::finish).unwrap_or_default();
        let secrets = typed_secrets::sent_parts(&plan.secrets, &exchanges);
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

    /// What the open page shows, with its cookies. Fails with `BROWSER_FAILED`, and with `STEP_FAILED` where the page is gone.
    pub(super) async fn read_page(&self) -> Result<RawPage> {
        let frames = self.shared.frames().await.map_err(|err| self.page_fault(err))?;
        self.read_frames(&frames).await
    }

    async fn read_frames(&self, frames: &[page::Frame]) -> Result<RawPage> {
        let shared = &self.shared;
        let cookies = page::cookies(&shared.cdp, &shared.id);
        let (page, cookies) = tokio::join!(page::summary(&shared.cdp, frames), cookies);
        let cookies = cookies.map_err(|err| self.page_fault(err))?;
        Ok(RawPage { cookies: cookies.into_iter().map(|it| (it.name, it.value)).collect(), ..page })
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
        Error::new(Code::StepFailed, "the page cannot be read any more").source(err)
    }

    /// Begins to note what the page asks for, anew. Fails with `BROWSER_FAILED`.
    pub(super) fn listen(&self) -> Result<()> {
        self.shared.listen()
    }

    /// From here on popups stay, and the page is one of several. Fails with `BROWSER_FAILED`.
    pub(super) fn keep_tabs(&self) -> Result<()> {
        let page = self.shared.page()?;
        guard::keep_bodies(&self.shared, &page.session, guard::KEPT_OF_STAYING);
        let mut tabs = Tabs::default();
        tabs.add(page);
        self.shared.lock().tabs = Some(tabs);
        Ok(())
    }

    /// Where the browser may write, whoever it runs as. Fails with `BROWSER_FAILED` where it has ended.
    pub(super) fn own_folder(&self) -> Result<std::path::PathBuf> {
        self.browser.profile().ok_or_else(|| self.shared.cdp.ended())
    }

    /// What this Chromium calls itself on a telephone.
    pub(super) fn mobile_agent(&self) -> String {
        let agent = self.browser.user_agent();
        let major = agent.split("Chrome/").nth(1).and_then(|it| it.split('.').next());
        let major = major.unwrap_or("0");
        format!(
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{major}.0.0.0 Mobile Safari/537.36"
        )
    }

    /// Waits until nothing is in flight and nothing new begins, [`SETTLE`] at most. What a page that is `shown` begins next is
    /// begun when its thread has nothing left to do.
    async fn settle(&self, shown: bool) {
        // What an archive answers is there at once.
        let at_once = shown || self.shared.archive().is_some();
        let quiet = if at_once { QUIET_WHEN_SHOWN } else { QUIET };
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
                PendingReason::InFlight => begun + SECOND_LOOK,
                PendingReason::GivenUp => begun + SENT_AGAIN,
                PendingReason::Unsent if paused => break,
                // By the page's clock, and whole: on a busy machine keys are taken late, and timers run late.
                PendingReason::Unsent => {
                    paused = true;
                    self.typing_pause(pending_requests::PAUSE).await;
                    continue;
                }
            };
            if now >= until {
                break;
            }
            looked |= owed == PendingReason::InFlight;
            let tick = until.min(now + Duration::from_millis(100));
            let _ = tokio::time::timeout_at(tick.into(), news).await;
        }
        if looked || paused {
            self.silence(QUIET, Instant::now() + SENT_AGAIN).await;
        }
        looked
    }

    /// Waits until the page asks for what was typed, as many do once the typing pauses, or until so much time has passed by the page's
    /// clock: on a busy machine, timers run late. That a page has asked is known for recordings that are opened again alone.
    pub(super) async fn typing_pause(&self, most: Duration) {
        let shared = &self.shared;
        let Ok(frame) = shared.main_frame().await else { return };
        let Some(archive) = shared.archive() else {
            return page::timers(&shared.cdp, &frame, most).await;
        };
        tokio::select! {
            () = self.timers_run(&frame, most) => {}
            () = archive.rendered() => {}
        }
    }

    /// Waits until the timers of a page of a recording have run, for so long at most. Its clock is faster: half the time is twice as
    /// long for it.
    async fn timers_run(&self, frame: &page::Frame, most: Duration) {
        let shared = &self.shared;
        let until = Instant::now() + most * 2 / page::CLOCK_SPEED;
        loop {
            // What was typed is taken, and sets a timer.
            page::timers(&shared.cdp, frame, TIMERS_SET).await;
            let left = until.saturating_duration_since(Instant::now());
            let due = page::timers_due(&shared.cdp, &frame.session, left).await;
            if due.is_zero() {
                return;
            }
            page::timers(&shared.cdp, frame, due).await;
        }
    }

    /// Waits until nothing is in flight and there was no news for so long.
    pub(super) async fn silence(&self, quiet: Duration, deadline: Instant) {
        loop {
            let mut news = pin!(self.shared.news.notified());
            news.as_mut().enable();
            let now = Instant::now();
            // What waits for a person ends in its own time.
            if self.shared.is_held() {
                tokio::time::sleep(quiet).await;
                return;
            }
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

    /// From here on, what its pages ask for is judged before it leaves.
    pub fn hold(&self, judge: super::hold_state::RequestJudge) {
        self.shared.hold(judge);
    }

    /// The host of the user's own that what this context opens is at; heeded before its first page alone.
    pub fn visit(&self, own: Option<&str>) {
        self.shared.visit.begin(own);
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

    /// What the page's origin stored under a key.
    pub async fn storage_item(&self, area: StorageArea, key: &str) -> Result<Option<String>> {
        let frame = self.shared.main_frame().await.map_err(|err| self.page_fault(err))?;
        let all = super::page::stored_in(&self.shared.cdp, &frame).await;
        let mut items = all.into_iter().flat_map(|it| it.1);
        Ok(items.find(|it| it.area == area && it.name == key).map(|it| it.value.to_string()))
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

    pub(super) fn shared(&self) -> &Arc<ContextInner> {
        &self.shared
    }

    pub(super) fn producer(&self) -> &str {
        self.browser.version()
    }

    /// Names of the cookies that it holds.
    pub async fn cookie_names(&self) -> Result<Vec<String>> {
        let all = page::cookies(&self.shared.cdp, &self.shared.id).await?;
        Ok(all.into_iter().map(|it| it.name).collect())
    }

    /// What the policy refused since the context was made or the last recording began.
    #[cfg(test)]
    pub fn blocked(&self) -> Vec<commis_artifacts::recording::BlockedRequest> {
        self.shared.blocked()
    }

    /// What got as far as the proxy before it was refused.
    #[cfg(test)]
    pub fn blocked_by_proxy(&self) -> Vec<commis_artifacts::recording::BlockedRequest> {
        self.shared.proxy.blocked()
    }

    /// Closes the page and forgets cookies and cache.
    pub async fn dispose(self) -> Result<()> {
        self.shared.take_all_back();
        let params = json!({ "browserContextId": self.shared.id });
        let ContextInner { cdp, .. } = &*self.shared;
        // Dropping asks once more, which the browser refuses and nobody reads.
        cdp.run(None, "Target.disposeBrowserContext", params).await
    }
}

/// Those that began before `until`, and after the last that were told.
fn tell_requests(
    shared: &ContextInner,
    seen: &mut usize,
    until: Instant,
    told: &mut (dyn FnMut(RecordingEvent) + Send),
) {
    let new = shared.lock().recorder.as_ref().map(|it| it.told_from(*seen, until));
    if let Some((requests, at)) = new {
        *seen = at;
        told(RecordingEvent::Requests(requests));
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        self.shared.take_all_back();
        let params = json!({ "browserContextId": self.shared.id });
        let ContextInner { cdp, queue, .. } = &*self.shared;
        cdp.post(None, "Target.disposeBrowserContext", params);
        cdp.unroute(queue);
        self.pump.abort();
    }
}
