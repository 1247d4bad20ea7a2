//! The DevTools protocol over Chromium's debugging pipe: NUL-framed JSON, flat sessions, ordered events.
//!
//! Messages stay raw JSON until someone reads the few fields they need, so a browser newer than this code costs no data.
//! Events are routed by session (or browser context) to unbounded queues: nothing is dropped under load. There is no
//! typed copy of the protocol on purpose.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::unix::pipe,
    sync::{mpsc, oneshot},
};

use super::{
    cdp_event::Event,
    final_intercept::{self, LateRequestGuard},
};
use commis_base::error::{Code, Error, Result};

/// A message longer than this ends the connection: nothing we ask for answers with more.
const MAX_MESSAGE: usize = 64 << 20;
const CALL_TIMEOUT: Duration = Duration::from_secs(10);

/// The last event of every queue: the browser has ended.
const CLOSED: &str = "commis.closed";

/// The last lines Chromium wrote to stderr.
pub type StderrTail = Arc<Mutex<VecDeque<String>>>;

/// A connection; clones share it.
#[derive(Clone)]
pub struct Cdp(Arc<Inner>);

struct Inner {
    next: AtomicU64,
    state: Mutex<State>,
    out: mpsc::UnboundedSender<Vec<u8>>,
    tail: StderrTail,
}

#[derive(Default)]
struct State {
    closed: bool,
    pending: BTreeMap<u64, Pending>,
    /// By session id; for events of the browser's own session, by browser context id or main frame id.
    routes: BTreeMap<Arc<str>, mpsc::UnboundedSender<Event>>,
    last: LateRequestGuard,
}

struct Pending {
    session: Option<Box<str>>,
    tx: oneshot::Sender<Answer>,
}

type Answer = std::result::Result<Box<RawValue>, String>;

/// An answer on its way; sending happened already, in order.
pub struct Reply {
    rx: oneshot::Receiver<Answer>,
    method: &'static str,
    cdp: Cdp,
    id: u64,
}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<ProtocolError>,
    method: Option<&'a str>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(rename = "sessionId")]
    session: Option<&'a str>,
}

#[derive(Deserialize)]
struct ProtocolError {
    #[serde(default)]
    message: String,
}

/// What routing needs of an event: the session it announces and the context it belongs to.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Routing {
    session_id: Option<String>,
    target_info: Option<RoutingTarget>,
    browser_context_id: Option<String>,
    frame_id: Option<String>,
    guid: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RoutingTarget {
    browser_context_id: Option<String>,
}

impl Cdp {
    /// Starts reading and writing. Ends when the browser closes its side.
    pub fn start(writer: pipe::Sender, reader: pipe::Receiver, tail: StderrTail) -> Self {
        let (out, queue) = mpsc::unbounded_channel();
        let cdp =
            Self(Arc::new(Inner { next: AtomicU64::new(1), state: Mutex::default(), out, tail }));
        tokio::spawn(write_all(writer, queue));
        tokio::spawn(read_all(reader, Arc::downgrade(&cdp.0)));
        cdp
    }

    /// Sends a command now, in order; the reply is awaited when the caller wishes.
    pub fn send(&self, session: Option<&str>, method: &'static str, params: Value) -> Reply {
        let (tx, rx) = oneshot::channel();
        let id = self.write(session, method, params, Some(tx));
        Reply { rx, method, cdp: self.clone(), id }
    }

    /// Sends a command whose reply nobody awaits.
    pub fn post(&self, session: Option<&str>, method: &'static str, params: Value) {
        self.write(session, method, params, None);
    }

    fn write(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
        tx: Option<oneshot::Sender<Answer>>,
    ) -> u64 {
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let mut message = serde_json::json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let mut state = self.lock();
        if !state.closed {
            if let Some(tx) = tx {
                let session = session.map(Into::into);
                state.pending.insert(id, Pending { session, tx });
            }
            // Inside the lock, so that what one task sends before another goes out before it.
            let _ = self.0.out.send(bytes);
        }
        id
    }

    /// Sends a command and reads what is wanted of its result.
    ///
    /// Fails with [`Code::BrowserFailed`] when the browser refuses, does not answer in time or is gone.
    pub async fn call<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<T> {
        self.send(session, method, params).read(CALL_TIMEOUT).await
    }

    /// [`Self::call`] for commands whose result does not matter.
    pub async fn run(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<()> {
        self.send(session, method, params).raw(CALL_TIMEOUT).await.map(drop)
    }

    /// Sends events of this session, browser context or main frame to `queue`. Sessions that it announces follow by themselves.
    pub fn route(&self, key: &str, queue: &mpsc::UnboundedSender<Event>) {
        self.lock().routes.insert(key.into(), queue.clone());
    }

    /// Forgets one route.
    pub fn forget(&self, key: &str) {
        self.lock().routes.remove(key);
    }

    /// Forgets every route into that queue.
    pub fn unroute(&self, queue: &mpsc::UnboundedSender<Event>) {
        let mut state = self.lock();
        state.routes.retain(|_, it| !it.same_channel(queue));
        state.last.end(queue);
    }

    /// From here on, what the context of that queue asks for leaves only after [`Cdp::let_go`], though its target is gone.
    pub fn look_last(&self, queue: &mpsc::UnboundedSender<Event>) {
        self.lock().last.begin(queue);
        self.post(None, "Fetch.enable", final_intercept::patterns());
    }

    /// That request, as network events know it, was let go where it was asked for.
    pub fn let_go(&self, network: Option<&str>) {
        let mut state = self.lock();
        if let Some(it) = network.filter(|_| state.last.is_on()) {
            state.last.let_go(it);
        }
    }

    /// What the browser's own session has paused.
    fn decide_last(&self, event: &Event, frame: Option<&str>) {
        let Some(it) = event.read::<final_intercept::RequestPaused>() else { return };
        let goes = {
            let mut state = self.lock();
            let of = frame.and_then(|it| state.routes.get(it)).cloned();
            state.last.admits(&it, of.as_ref())
        };
        let id = it.request_id;
        if goes {
            self.post(None, "Fetch.continueRequest", serde_json::json!({ "requestId": id }));
        } else {
            let params = serde_json::json!({ "requestId": id, "errorReason": "BlockedByClient" });
            self.post(None, "Fetch.failRequest", params);
        }
    }

    pub fn is_closed(&self) -> bool {
        self.lock().closed
    }

    /// Fails everything that waits for an answer, tells everything that waits for events, and lets go of the pipe's queue.
    fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.pending.clear();
        for queue in std::mem::take(&mut state.routes).into_values() {
            let closed = Event {
                at: Instant::now(),
                session: None,
                method: CLOSED.into(),
                params: RawValue::NULL.to_owned(),
            };
            // Nobody may be listening any more.
            let _ = queue.send(closed);
        }
    }

    /// That the browser has ended, with its last words.
    pub fn ended(&self) -> Error {
        let tail = self.0.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let mut message = "chromium closed its debugging pipe".to_owned();
        for line in tail.iter().rev().take(3).rev() {
            message.push_str("; ");
            message.push_str(line);
        }
        Error::new(Code::BrowserFailed, message)
            .hint("its pages are closed; the next command starts a new browser")
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_message(&self, bytes: &[u8]) {
        let Ok(message) = serde_json::from_slice::<Message>(bytes) else {
            return;
        };
        if let Some(id) = message.id {
            let Some(Pending { tx, .. }) = self.lock().pending.remove(&id) else {
                return;
            };
            let answer = match (message.error, message.result) {
                (Some(refusal), _) => Err(refusal.message),
                (None, Some(result)) => Ok(result.to_owned()),
                (None, None) => Err("neither a result nor an error".to_owned()),
            };
            let _ = tx.send(answer);
            return;
        }
        let (Some(method), Some(params)) = (message.method, message.params) else {
            return;
        };
        let event = Event {
            at: Instant::now(),
            session: message.session.map(Into::into),
            method: method.into(),
            params: params.to_owned(),
        };
        self.deliver(event);
    }

    fn deliver(&self, event: Event) {
        let announces = &*event.method == "Target.attachedToTarget";
        let ends = &*event.method == "Target.detachedFromTarget";
        let routing: Routing = if announces || event.session.is_none() {
            event.read().unwrap_or_default()
        } else {
            Routing::default()
        };
        let saves = routing.guid.clone().filter(|_| routing.frame_id.is_some());
        let context = routing
            .target_info
            .and_then(|it| it.browser_context_id)
            .or(routing.browser_context_id)
            // A download names only the frame that began it.
            .or(routing.frame_id)
            .or(routing.guid)
            // The end of a page names only its session.
            .or(routing.session_id.clone().filter(|_| ends));
        if event.session.is_none() && &*event.method == "Fetch.requestPaused" {
            return self.decide_last(&event, context.as_deref());
        }
        let mut state = self.lock();
        let key = event.session.as_deref().or(context.as_deref());
        let Some(queue) = key.and_then(|it| state.routes.get(it)).cloned() else {
            return;
        };
        if announces && let Some(child) = routing.session_id {
            state.routes.insert(child.into(), queue.clone());
        }
        if let Some(guid) = saves {
            // What follows of a download names nothing else.
            state.routes.insert(guid.into(), queue.clone());
        }
        if ends && let Some(Routing { session_id: Some(child), .. }) = event.read() {
            state.routes.remove(&*child);
            // Chromium does not answer what a target took with it.
            state.pending.retain(|_, it| it.session.as_deref() != Some(&*child));
        }
        let _ = queue.send(event);
    }
}

const GONE: &str = "the page or frame went away";

/// Whether what was asked was gone before it answered.
pub fn is_gone(err: &Error) -> bool {
    err.code() == Code::BrowserFailed && err.message().ends_with(GONE)
}

impl Reply {
    /// The result as it came.
    pub async fn raw(self, timeout: Duration) -> Result<Box<RawValue>> {
        let Self { rx, method, cdp, id } = self;
        match tokio::time::timeout(timeout, rx).await {
            Ok(Ok(Ok(result))) => Ok(result),
            Ok(Ok(Err(refusal))) => {
                Err(Error::new(Code::BrowserFailed, format!("{method}: {refusal}")))
            }
            Ok(Err(_)) if cdp.is_closed() => Err(cdp.ended()),
            Ok(Err(_)) => Err(Error::new(Code::BrowserFailed, format!("{method}: {GONE}"))),
            Err(_) => {
                cdp.lock().pending.remove(&id);
                let why = format!("{method}: no answer in {} s", timeout.as_secs());
                Err(Error::new(Code::BrowserFailed, why)
                    .hint("the page may be busy: try again, or go to another address"))
            }
        }
    }

    /// Waits until it was done. What was sent may itself have taken the page away, before it answered.
    pub async fn wait(self, timeout: Duration) -> Result<()> {
        match self.raw(timeout).await {
            Err(err) if !is_gone(&err) => Err(err),
            _ => Ok(()),
        }
    }

    pub async fn read<T: DeserializeOwned>(self, timeout: Duration) -> Result<T> {
        let method = self.method;
        let raw = self.raw(timeout).await?;
        serde_json::from_str(raw.get()).map_err(|err| {
            Error::new(Code::BrowserFailed, format!("{method}: unexpected answer")).source(err)
        })
    }
}

async fn write_all(mut writer: pipe::Sender, mut queue: mpsc::UnboundedReceiver<Vec<u8>>) {
    while let Some(bytes) = queue.recv().await {
        if writer.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

/// Holds the connection weakly: when the last handle goes, the writer's end closes, and Chromium with it.
async fn read_all(mut reader: pipe::Receiver, shared: std::sync::Weak<Inner>) {
    let mut buf: Vec<u8> = Vec::with_capacity(1 << 16);
    let mut chunk = vec![0; 1 << 16];
    let mut too_long = false;
    loop {
        let n = match reader.read(&mut chunk).await {
            Ok(0) | Err(_) => break,
            Ok(n) => n,
        };
        let Some(cdp) = shared.upgrade().map(Cdp) else {
            return;
        };
        let mut rest = &chunk[..n];
        while let Some(end) = rest.iter().position(|it| *it == 0) {
            if !too_long {
                buf.extend_from_slice(&rest[..end]);
                cdp.take_message(&buf);
            }
            buf.clear();
            too_long = false;
            rest = &rest[end + 1..];
        }
        buf.extend_from_slice(rest);
        if buf.len() > MAX_MESSAGE {
            // One page's doing must not end the browser of all: the message is dropped, its call times out.
            too_long = true;
            buf.clear();
        }
    }
    if let Some(cdp) = shared.upgrade().map(Cdp) {
        cdp.close();
    }
}
