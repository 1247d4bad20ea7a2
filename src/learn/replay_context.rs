//! The world as the replaying stages see it: transports, live values, pacing, budget, journal.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::{sync::Mutex, task::JoinHandle};

use commis_artifacts::{payloads::Replay, recording::SessionRecording, store::TaskFolder};
use commis_base::{
    error::{Code, Error, Result},
    settings::{BrowserSettings, LearningSettings},
};
use commis_browser::{Browser, Context, find_chromium};
use commis_net::{
    egress::EgressPolicy,
    transport::{Reply, Transport, public_http::PublicHttp, retry::retry_after},
};
use commis_recipe::{
    model::{Slot, SlotSource, TransportKind},
    request::PreparedRequest,
};
use commis_redact::LiveValues;
use commis_runner::{PauseBudget, slots};
use commis_stages::{Identity, ReplayCall, Replayer};
use commis_stages::{pacer::Pacer, stub};
use commis_vault::{Login, LoginHttp};

/// One Chromium for a whole batch, started when the first task needs it.
#[derive(Clone)]
pub struct BrowserPool {
    policy: Arc<EgressPolicy>,
    settings: BrowserSettings,
    held: Arc<Mutex<PoolState>>,
}

#[derive(Default)]
struct PoolState {
    browser: Option<Browser>,
    /// Blank, and nobody's yet. The process of a new context's page takes most of the time that a context takes.
    spare: Option<Context>,
    /// Counts the spares.
    spares: u64,
    /// Contexts that this browser has had.
    contexts: u32,
}

/// After so many contexts a browser has grown by what each leaves behind, and another takes its place.
const CONTEXTS: u32 = 60;
/// It serves so many whatever memory it holds: pages may simply be heavy, and starting a browser takes a second.
const AT_LEAST: u32 = 4;

/// What a stranger sends where a login fills a slot.
pub const NOBODYS_VALUE: &str = "none";

/// How long a context that was made ahead is kept.
const SPARE: Duration = Duration::from_secs(60);

impl BrowserPool {
    pub fn new(policy: Arc<EgressPolicy>, settings: BrowserSettings) -> Self {
        Self { policy, settings, held: Arc::default() }
    }

    /// What its browsers are held to.
    pub fn policy(&self) -> &Arc<EgressPolicy> {
        &self.policy
    }

    /// An isolated context, one that was made ahead if there is one. A browser that died, or that has grown, is
    /// replaced. Fails with `BROWSER_MISSING` or `BROWSER_FAILED`.
    pub async fn context(&self) -> Result<Context> {
        let mut held = self.held.lock().await;
        if let Some(it) = held.spare.take().filter(Context::is_alive) {
            return Ok(it);
        }
        self.replace_grown(&mut held).await;
        if let Some(browser) = held.browser.clone() {
            match browser.context().await {
                Ok(it) => {
                    held.contexts += 1;
                    return Ok(it);
                }
                // Other tasks may be at work in it: only a browser that is gone is replaced.
                Err(err) if err.code() != Code::BrowserFailed => return Err(err),
                Err(err) => {
                    tracing::warn!(error = %err, "browser is gone");
                    held.browser = None;
                }
            }
        }
        let (browser, context) = self.launch().await?;
        (held.browser, held.contexts) = (Some(browser), 1);
        Ok(context)
    }

    async fn launch(&self) -> Result<(Browser, Context)> {
        let exe = find_chromium(self.settings.path.as_deref())?;
        let browser = Browser::launch_with(&exe, Arc::clone(&self.policy), &self.settings).await?;
        tracing::info!(version = browser.version(), "browser started");
        let context = browser.context().await?;
        Ok((browser, context))
    }

    async fn replace_grown(&self, held: &mut PoolState) {
        let Some(browser) = held.browser.as_ref().filter(|_| held.contexts >= AT_LEAST) else {
            return;
        };
        let memory_mb = browser.memory().await;
        if held.contexts >= CONTEXTS || memory_mb > self.settings.max_memory_mb {
            tracing::info!(contexts = held.contexts, memory_mb, "browser is replaced");
            // It ends with the last of its contexts.
            held.browser = None;
        }
    }

    /// Makes the next context ahead, in the background, where a browser is running; it is forgotten when nobody wants it in a
    /// minute. What is returned ends when it is there.
    pub fn prepare(&self) -> JoinHandle<()> {
        let held = Arc::clone(&self.held);
        let most = self.settings.max_memory_mb;
        tokio::spawn(async move {
            let mut all = held.lock().await;
            let wanted = all.spare.is_none() && all.contexts < CONTEXTS;
            let Some(browser) = all.browser.clone().filter(|_| wanted) else { return };
            // One that has grown is replaced when the next is asked for.
            if all.contexts >= AT_LEAST && browser.memory().await > most {
                return;
            }
            // Who wants one next is told what is wrong.
            let Ok(context) = browser.context().await else { return };
            all.contexts += 1;
            all.keep_spare(context, &held);
        })
    }

    /// Starts a browser with its first context in the background, where none is running. That context is forgotten as one that
    /// [`Self::prepare`] makes.
    pub fn start(&self) -> JoinHandle<()> {
        let this = self.clone();
        tokio::spawn(async move {
            let mut all = this.held.lock().await;
            if all.browser.is_some() {
                return;
            }
            // Who wants a context next is told what is wrong.
            let Ok((browser, context)) = this.launch().await else { return };
            (all.browser, all.contexts) = (Some(browser), 1);
            all.keep_spare(context, &this.held);
        })
    }

    /// A browser can be found on this machine.
    pub fn is_there(&self) -> bool {
        find_chromium(self.settings.path.as_deref()).is_ok()
    }

    /// Ends the browser, if there is one.
    pub async fn close(&self) {
        let mut held = self.held.lock().await;
        held.spare = None;
        if let Some(browser) = held.browser.take() {
            // It is going away either way.
            let _ = browser.close().await;
        }
    }
}

impl PoolState {
    /// `held` is where this state is.
    fn keep_spare(&mut self, context: Context, held: &Arc<Mutex<Self>>) {
        self.spare = Some(context);
        self.spares += 1;
        tokio::spawn(forget(Arc::downgrade(held), self.spares));
    }
}

async fn forget(held: Weak<Mutex<PoolState>>, spare: u64) {
    tokio::time::sleep(SPARE).await;
    let Some(held) = held.upgrade() else { return };
    let mut held = held.lock().await;
    if held.spares == spare {
        held.spare = None;
    }
}

/// The session that was recorded, kept for replays in the same context.
pub struct LiveSession {
    pub context: Option<Context>,
    pub values: LiveValues,
}

/// What the replaying stages of one task may touch.
pub struct TaskReplayer<'a> {
    pub http: &'a PublicHttp,
    pub policy: &'a EgressPolicy,
    pub browser: &'a BrowserPool,
    pub learning: &'a LearningSettings,
    pub folder: &'a TaskFolder,
    /// The page that establishes a session.
    pub source_url: String,
    /// The host of the user's own that the task is at, where it is at one.
    pub own: Option<String>,
    pub timeout: Duration,
    pub session: Option<LiveSession>,
    /// The task's login, and a second one.
    pub logins: Vec<Login>,
    /// As whom is sent.
    identity: Identity,
    /// Answers of an offline recording instead of any network.
    pub stub: Option<&'a SessionRecording>,
    /// Names the stage run: its inputs and settings. Journal entries of other runs are not ours.
    run_key: String,
    journal: BTreeMap<String, Replay>,
    replays: u32,
    started: Instant,
    /// At least `pace_ms` between two calls to one host.
    pacer: Pacer,
    /// Slot values fetched since the last `fresh`.
    fetched: BTreeMap<String, String>,
    /// Every request that was answered, where they are kept.
    sent: Option<Vec<(PreparedRequest, Reply)>>,
}

impl<'a> TaskReplayer<'a> {
    pub fn new(
        http: &'a PublicHttp,
        policy: &'a EgressPolicy,
        browser: &'a BrowserPool,
        learning: &'a LearningSettings,
        folder: &'a TaskFolder,
        source_url: String,
        timeout: Duration,
    ) -> Self {
        Self {
            http,
            policy,
            browser,
            learning,
            folder,
            source_url,
            own: None,
            timeout,
            session: None,
            logins: Vec::new(),
            identity: Identity::default(),
            stub: None,
            run_key: String::new(),
            journal: BTreeMap::new(),
            replays: 0,
            started: Instant::now(),
            pacer: Pacer::new(Duration::from_millis(learning.pace_ms)),
            fetched: BTreeMap::new(),
            sent: None,
        }
    }

    /// Starts a stage's budget and reads what an interrupted run of the same stage on the same inputs has journalled.
    pub fn begin(&mut self, run_key: String) -> Result<()> {
        self.journal = self
            .folder
            .journal()?
            .into_iter()
            .filter(|it| it.get("run").and_then(Value::as_str) == Some(&run_key))
            .filter_map(|it| {
                let key = it.get("key")?.as_str()?.to_owned();
                let replay = serde_json::from_value(it.get("replay")?.clone()).ok()?;
                Some((key, replay))
            })
            .collect();
        self.run_key = run_key;
        self.replays = 0;
        self.started = Instant::now();
        Ok(())
    }

    /// What a page gave may be used up by one request: a refusal by a page that was used before is no answer until a new page was
    /// refused, too. A run asks in the same way.
    async fn send_now(&mut self, call: ReplayCall<'_>) -> Result<Reply> {
        let is_open = self.session.as_ref().is_some_and(|it| it.context.is_some());
        let reply = self.send_once(call).await?;
        let is_of_page = call.slots.iter().any(|it| it.from.needs_session());
        if is_open
            && is_of_page
            && call.transport.uses_session()
            && matches!(reply.status, 401 | 403)
        {
            self.fresh();
            return self.send_once(call).await;
        }
        Ok(reply)
    }

    async fn send_once(&mut self, call: ReplayCall<'_>) -> Result<Reply> {
        if call.transport == TransportKind::Stub {
            return stub::recorded_answer(self.stub, call);
        }
        if call.transport.uses_session() {
            self.open_page().await?;
        }
        if call.transport == TransportKind::LoginHttp
            && let Some(it) = self.login()
        {
            it.reload()?;
        }
        let mut values = call.values.clone();
        values.extend(self.fill(call.slots, call.transport, &call.request.url).await?);
        let draft = call.draft(&values)?;
        let mut walk = draft.start();
        let mut pauses = PauseBudget::default();
        while let Some(request) = walk.request()? {
            walk.pace().await;
            let mut reply = self.send_one(call.transport, request.clone()).await?;
            // Between calls for items a site may say how long it wants to be left alone; a run waits as well.
            while call.assembly.is_some()
                && reply.status == 429
                && let Some(pause) = pauses.take(retry_after(&reply))
            {
                tokio::time::sleep(pause).await;
                reply = self.send_one(call.transport, request.clone()).await?;
            }
            walk.take(request, reply)?;
        }
        walk.reply()
    }

    /// In its turn.
    async fn send_one(
        &mut self,
        kind: TransportKind,
        mut outgoing: PreparedRequest,
    ) -> Result<Reply> {
        outgoing.own_host.clone_from(&self.own);
        self.pacer.wait_to_ask(self.policy, &outgoing.url).await;
        self.replays += 1;
        let reply = self.transport(kind)?.send(&outgoing).await;
        self.keep_cookies(kind).await?;
        if let (Some(sent), Ok(reply)) = (&mut self.sent, &reply) {
            sent.push((outgoing, reply.clone()));
        }
        reply
    }

    /// From here on every request is kept with its answer.
    pub fn keep_sent(&mut self) {
        self.sent = Some(Vec::new());
    }

    /// The requests and answers that were kept, in their order.
    pub fn take_sent(&mut self) -> Vec<(PreparedRequest, Reply)> {
        self.sent.take().unwrap_or_default()
    }

    /// The login that requests are sent with now; `None` for a stranger.
    fn login(&self) -> Option<&Login> {
        match self.identity {
            Identity::Stranger => None,
            Identity::Login => self.logins.first(),
            Identity::SecondLogin => self.logins.get(1),
        }
    }

    /// Writes back what requests of a browser's context changed in its login.
    async fn keep_cookies(&self, transport: TransportKind) -> Result<()> {
        let context = self.session.as_ref().and_then(|it| it.context.as_ref());
        match (self.login(), context) {
            (Some(login), Some(context)) if transport.uses_session() => {
                login
                    .absorb(&context.capture_login(Some(login.contents().url()), "context").await?)
                    .await
            }
            _ => Ok(()),
        }
    }

    /// A page of the recorded session, or a new context on the source page.
    async fn open_page(&mut self) -> Result<()> {
        if self.session.as_ref().is_some_and(|it| it.context.is_some()) {
            return Ok(());
        }
        let mut context = self.browser.context().await?;
        context.visit(self.own.as_deref());
        if let Some(it) = self.login() {
            it.reload()?;
            context.mount(&it.contents()).await?;
        }
        context.open(&self.source_url, self.timeout).await?;
        let values = self.session.take().map(|it| it.values).unwrap_or_default();
        self.session = Some(LiveSession { context: Some(context), values });
        Ok(())
    }

    fn transport(&self, kind: TransportKind) -> Result<Box<dyn Transport + '_>> {
        if kind == TransportKind::LoginHttp {
            return Ok(Box::new(LoginHttp::new(self.http, self.login())));
        }
        if !kind.uses_session() {
            return Ok(Box::new(self.http));
        }
        let context = self.session.as_ref().and_then(|it| it.context.as_ref());
        let context = context.ok_or_else(|| Error::new(Code::Internal, "no page is open"))?;
        Ok(context.transport(kind))
    }

    /// Values of the slots of a request to `to`, each from where it comes from.
    async fn fill(
        &mut self,
        slots: &[Slot],
        transport: TransportKind,
        to: &str,
    ) -> Result<BTreeMap<String, String>> {
        let mut out = BTreeMap::new();
        let mut chained = Vec::new();
        for slot in slots {
            let context = self.session.as_ref().and_then(|it| it.context.as_ref());
            let value = match &slot.from {
                // What the site says to a value that is none of its own.
                it if it.needs_session()
                    && transport == TransportKind::LoginHttp
                    && self.login().is_none() =>
                {
                    NOBODYS_VALUE.to_owned()
                }
                SlotSource::Live { placeholder } => {
                    let live = self.session.as_ref().and_then(|it| it.values.get(placeholder));
                    let live = live.ok_or_else(|| {
                        Error::new(Code::LiveValuesLost, "a value of the recorded session is lost")
                            .hint("the task is recorded again")
                    })?;
                    live.to_owned()
                }
                SlotSource::Cookie { name, decoded } if transport == TransportKind::LoginHttp => {
                    let url = self.policy.for_own_host(self.own.as_deref()).check(to)?;
                    let value = self.login().and_then(|it| it.cookie(name, &url));
                    let value = value.map(|it| slots::cookie_text(it, *decoded));
                    require_value(value, &format!("cookie `{name}`"))?
                }
                SlotSource::Storage { area, key, path }
                    if transport == TransportKind::LoginHttp =>
                {
                    let of = |it: &Login| it.stored(&self.source_url, *area, key);
                    let value = self.login().and_then(of).map(|it| it.to_string());
                    let value = require_value(value, &format!("stored `{key}`"))?;
                    let value = slots::stored_text(&value, path.as_deref())?;
                    require_value(value, &format!("`{key}` as it was"))?
                }
                it if it.needs_session() && !transport.uses_session() => {
                    return Err(Error::new(
                        Code::SessionRequired,
                        format!(
                            "`{}` comes from a page, which this transport does not have",
                            slot.name
                        ),
                    ));
                }
                SlotSource::Cookie { name, decoded } => {
                    let value = match context {
                        Some(it) => it.cookie(name, to).await?,
                        None => None,
                    };
                    let value = value.map(|it| slots::cookie_text(it, *decoded));
                    require_value(value, &format!("cookie `{name}`"))?
                }
                SlotSource::Meta { name } => {
                    let value = match context {
                        Some(it) => it.meta(name).await?,
                        None => None,
                    };
                    require_value(value, &format!("meta `{name}`"))?
                }
                SlotSource::Storage { area, key, path } => {
                    let value = match context {
                        Some(it) => it.storage_item(*area, key).await?,
                        None => None,
                    };
                    let value = require_value(value, &format!("stored `{key}`"))?;
                    let value = slots::stored_text(&value, path.as_deref())?;
                    require_value(value, &format!("`{key}` as it was"))?
                }
                SlotSource::Response { .. } | SlotSource::Document { .. } => {
                    let Some(value) = self.fetched.get(&slot.name) else {
                        chained.push(slot.clone());
                        continue;
                    };
                    value.clone()
                }
            };
            out.insert(slot.name.clone(), value);
        }
        if !chained.is_empty() {
            let own = self.own.as_deref();
            let got = slots::fetch(&chained, own, &*self.transport(transport)?, |_| ()).await?;
            self.fetched.extend(got.clone());
            out.extend(got);
        }
        Ok(out)
    }
}

fn require_value(value: Option<String>, what: &str) -> Result<String> {
    value.ok_or_else(|| {
        Error::new(Code::SessionRequired, format!("the page has no {what}"))
            .hint("the site may ask for a login, or it changed; learn the task again")
    })
}

impl Replayer for TaskReplayer<'_> {
    fn transports(&self) -> Vec<TransportKind> {
        if self.stub.is_some() {
            vec![TransportKind::Stub]
        } else {
            let mut all = vec![TransportKind::PublicHttp];
            if !self.logins.is_empty() {
                all.push(TransportKind::LoginHttp);
            }
            // A HAR can be learned from without a browser, as far as no page is needed.
            if self.browser.is_there() {
                all.extend([TransportKind::ContextRequest, TransportKind::InPageFetch]);
            }
            all
        }
    }

    fn send<'b>(&'b mut self, call: ReplayCall<'b>) -> BoxFuture<'b, Result<Reply>> {
        Box::pin(self.send_now(call))
    }

    fn fresh(&mut self) {
        if let Some(session) = &mut self.session {
            // Dropping a context disposes it.
            session.context = None;
        }
        self.fetched.clear();
    }

    fn logins(&self) -> usize {
        self.logins.len()
    }

    fn act_as(&mut self, identity: Identity) {
        self.identity = identity;
        self.fresh();
    }

    fn spent(&self) -> bool {
        self.replays >= self.learning.max_replays
            || self.started.elapsed() >= Duration::from_secs(self.learning.max_seconds.into())
    }

    fn recall(&mut self, key: &str) -> Option<Replay> {
        self.journal.get(key).cloned()
    }

    fn note(&mut self, key: &str, replay: &Replay) -> Result<()> {
        self.folder.note(&json!({"run": self.run_key, "key": key, "replay": replay}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::settings::EgressSettings;
    use commis_testbed::Testbed;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_browser_that_has_grown_is_replaced() {
        if find_chromium(None).is_err() {
            commis_base::testing::skip_without("Chromium");
            return;
        }
        let policy = Arc::new(EgressPolicy::new(&EgressSettings::default()).unwrap());
        for (max_memory_mb, expected) in [(1, AT_LEAST), (100_000, AT_LEAST + 1)] {
            let settings = BrowserSettings { max_memory_mb, ..BrowserSettings::default() };
            let pool = BrowserPool::new(Arc::clone(&policy), settings);
            let mut most = 0;
            for _ in 0..=AT_LEAST {
                drop(pool.context().await.unwrap());
                most = most.max(pool.held.lock().await.contexts);
            }
            assert_eq!(most, expected, "{max_memory_mb} MiB");
            pool.close().await;
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_context_made_ahead_is_handed_out_once_and_only_while_its_browser_lives() {
        if find_chromium(None).is_err() {
            commis_base::testing::skip_without("Chromium");
            return;
        }
        let web = Testbed::start(0).await.unwrap();
        let settings = EgressSettings {
            test_hosts: vec![format!("*.test={}", web.addr())],
            ..EgressSettings::default()
        };
        let policy = Arc::new(EgressPolicy::new(&settings).unwrap());
        let pool = BrowserPool::new(policy, BrowserSettings::default());
        let ahead = async || pool.held.lock().await.spare.is_some();
        let page = "http://forum.test/";
        pool.prepare().await.unwrap();
        assert!(!ahead().await, "nobody asked for a browser yet");
        for _ in 0..2 {
            pool.start().await.unwrap();
            assert_eq!((ahead().await, pool.held.lock().await.contexts), (true, 1));
        }
        let mut first = pool.context().await.unwrap();
        pool.prepare().await.unwrap();
        assert!(ahead().await);
        let mut second = pool.context().await.unwrap();
        assert!(!ahead().await);
        for context in [&mut first, &mut second] {
            let had = context.cookie_names().await.unwrap();
            assert!(had.is_empty(), "{had:?}");
            context.open(page, Duration::from_secs(20)).await.unwrap();
            assert!(!context.cookie_names().await.unwrap().is_empty());
        }
        pool.prepare().await.unwrap();
        let browser = pool.held.lock().await.browser.clone().unwrap();
        browser.close().await.unwrap();
        let mut third = pool.context().await.unwrap();
        third.open(page, Duration::from_secs(20)).await.unwrap();
        pool.close().await;
    }
}
