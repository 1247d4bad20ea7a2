//! From the browser's network events to exchanges: who asked what, when, and what came back.
//!
//! A plain state machine over events: it asks for bodies by returning [`ReadRequest`]s and never touches the browser. One request
//! id may be several exchanges (redirects), may be reported by several sessions (a worker's script), and its extra
//! headers may come before or after it; all of that is joined in [`Recorder::finish`].
//!
//! Reading a body costs the browser about what loading it did, so the page's own wait until the steps are done. Frames and
//! workers of other processes may be gone by then: theirs are read at once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use url::Url;

use super::{
    cdp_event::Event,
    cdp_network,
    pending_requests::{ActionTracker, PendingReason, RequestProgress, UNREAD},
    request_hop::{Hop, HopBody, HopEnd, MAX_BODY, millis},
};
use commis_artifacts::recording::{Action, ActionKind, BodyStatus, TargetKind};
use commis_base::charset;
use commis_net::egress::site_of;
use commis_redact::raw::{RawBody, RawExchange};

/// All bodies of a recording together; later ones count as too large.
const MAX_BODIES: usize = 192 << 20;
/// The browser keeps 100 MB of bodies, the newest, of which text may count twice: no more than this comes after one that waits.
const MAX_WAITING: u64 = 32 << 20;
/// The same where it keeps 24 MB, for a page that stays.
const MAX_WAITING_STAYING: u64 = 8 << 20;
/// More requests than this are not recorded: no learnable page sends them.
const MAX_REQUESTS: usize = 5000;
/// `Proxy Authentication Required`: never of a server's, which the proxy keeps to itself.
const PROXY_ASKS: u16 = 407;

/// Everything seen since the recording began.
pub struct Recorder {
    begun: Instant,
    /// Requests of the context that were recorded before.
    before: u64,
    main_frame: String,
    actions: Vec<(Instant, Action)>,
    seen: Vec<Hop>,
    /// Index into `seen` of the last hop of a request id.
    by_id: BTreeMap<String, usize>,
    extras: BTreeMap<String, Vec<Extras>>,
    changed: Instant,
    /// Bytes of captured bodies.
    kept: usize,
    /// Bodies to be read when the page has time, oldest first.
    waiting: Vec<ReadRequest>,
    /// Bytes that came since the first of them.
    since_waiting: u64,
    most_waiting: u64,
    /// The page has nothing more to do for us: bodies are read as they come.
    at_once: bool,
    awaiting: ActionTracker,
    /// Requests that are no part of the recording.
    forgotten: BTreeSet<usize>,
}

/// Extra headers of one request id as one session saw them, in hop order.
#[derive(Clone)]
struct Extras {
    session: Arc<str>,
    requests: Vec<cdp_network::RequestExtra>,
    responses: Vec<cdp_network::ResponseExtra>,
}

/// A request, for whoever looks on.
#[derive(Clone, Debug)]
pub struct RequestSummary {
    /// Counted from 1 in a context, in the order they were sent.
    pub id: u64,
    pub method: String,
    pub url: String,
    /// Absent where there is no answer, or none yet.
    pub status: Option<u16>,
    /// A document, or what a script asked for; no picture, style or script.
    pub is_data: bool,
}

/// A body as the browser hands it out.
pub enum ReadBody {
    /// Decoded by the browser.
    Text(String),
    /// As it was sent, decompressed.
    Bytes(Vec<u8>),
}

/// Something to ask a session of the browser; answers come back through [`Recorder::read_body`] and [`Recorder::read_post`].
#[derive(Debug, PartialEq, Eq)]
pub struct ReadRequest {
    pub what: ReadKind,
    pub session: Arc<str>,
    pub index: usize,
    pub id: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadKind {
    Body,
    PostData,
}

impl Recorder {
    pub fn new(begun: Instant, main_frame: &str) -> Self {
        Self {
            begun,
            before: 0,
            main_frame: main_frame.to_owned(),
            actions: Vec::new(),
            seen: Vec::new(),
            by_id: BTreeMap::new(),
            extras: BTreeMap::new(),
            changed: begun,
            kept: 0,
            waiting: Vec::new(),
            since_waiting: 0,
            most_waiting: MAX_WAITING,
            at_once: false,
            awaiting: ActionTracker::new(begun),
            forgotten: BTreeSet::new(),
        }
    }

    /// Goes on counting where another recorder of the context ended.
    pub fn after(self, other: Option<&Self>) -> Self {
        Self { before: other.map_or(0, |it| it.before + it.seen.len() as u64), ..self }
    }

    /// Of a page that stays.
    pub fn staying(self) -> Self {
        Self { most_waiting: MAX_WAITING_STAYING, ..self }
    }

    /// The page is another from here on.
    pub fn turn_to(&mut self, main_frame: &str) {
        main_frame.clone_into(&mut self.main_frame);
    }

    /// What a person types in this recording.
    pub fn types<'a>(&mut self, values: impl Iterator<Item = &'a String>) {
        self.awaiting.types(values);
    }

    /// From here on requests are the last action's own: of a text, its last key is about to be typed.
    pub fn mark(&mut self, typed: Option<&str>, at: Instant) {
        self.awaiting.mark(typed, at);
    }

    /// How far a request is that the last action made and whose URL contains `part`.
    pub fn awaited(&self, part: &str) -> RequestProgress {
        self.awaiting.request_progress(&self.seen, &self.by_id, part)
    }

    /// What was seen of requests whose URL contains `part`, for a hint.
    pub fn told_of(&self, part: &str) -> String {
        self.awaiting.describe(&self.seen, &self.by_id, part)
    }

    /// Whether a request that carries what was typed is worth being waited for.
    pub fn owed(&self, now: Instant) -> Option<PendingReason> {
        self.awaiting.owed(&self.seen, now.saturating_duration_since(self.changed))
    }

    /// Something done at that moment, which is not before what was noted last. What it sets off may take a moment to begin.
    pub fn acted(&mut self, action: Action, at: Instant) {
        if action.kind != ActionKind::WaitFor {
            self.changed = self.changed.max(at);
        }
        let at_ms = millis(at.saturating_duration_since(self.begun));
        self.actions.push((at, Action { at_ms, ..action }));
    }

    /// Takes in an event of the Network domain, others are ignored; returns what is to be read now.
    pub fn take(&mut self, event: &Event, target: TargetKind) -> Vec<ReadRequest> {
        let Some(read) = self.note(event, target) else {
            return Vec::new();
        };
        let given_up = self.seen.get(read.index).is_some_and(|it| it.end == HopEnd::GivenUp);
        if self.at_once || given_up || read.what == ReadKind::PostData || target != TargetKind::Page
        {
            return vec![read];
        }
        self.waiting.push(read);
        if self.since_waiting > self.most_waiting { self.take_waiting_reads() } else { Vec::new() }
    }

    /// What waited to be read. It must be asked for before the page leaves its document, which takes its bodies with it.
    pub fn take_waiting_reads(&mut self) -> Vec<ReadRequest> {
        self.since_waiting = 0;
        std::mem::take(&mut self.waiting)
    }

    /// The same, and from now on nothing waits.
    pub fn hurry(&mut self) -> Vec<ReadRequest> {
        self.at_once = true;
        self.take_waiting_reads()
    }

    fn note(&mut self, event: &Event, target: TargetKind) -> Option<ReadRequest> {
        let session = event.session.as_ref()?;
        let read = match &*event.method {
            "Network.requestWillBeSent" => {
                self.on_request_sent(event.read()?, session, target, event.at)
            }
            "Network.requestWillBeSentExtraInfo" => {
                let (id, extra) = split::<cdp_network::RequestExtra>(event)?;
                self.extras(id, session).requests.push(extra);
                None
            }
            "Network.responseReceivedExtraInfo" => {
                let (id, extra) = split::<cdp_network::ResponseExtra>(event)?;
                let extras = self.extras(id, session);
                if extra.status_code == PROXY_ASKS {
                    // Our own asked who it is, and the request is sent once more.
                    extras.requests.pop();
                } else {
                    extras.responses.push(extra);
                }
                None
            }
            "Network.responseReceived" => {
                let it: cdp_network::ResponseReceived = event.read()?;
                let hop = self.hop(&it.request_id)?;
                if hop.response.is_none() {
                    hop.headers_at = Some(it.timestamp);
                    hop.has_extra = it.has_extra_info;
                    hop.response = Some(it.response);
                }
                None
            }
            "Network.dataReceived" => {
                let it: cdp_network::DataReceived = event.read()?;
                if !self.waiting.is_empty() {
                    self.since_waiting += it.data_length;
                }
                let hop = self.hop(&it.request_id)?;
                if hop.session == *session {
                    hop.decoded += it.data_length;
                }
                return None;
            }
            "Network.loadingFinished" => self.finished(event.read()?, session),
            "Network.loadingFailed" => self.on_loading_failed(event.read()?, session),
            "Network.webSocketCreated" => self.socket(event.read()?, session, target, event.at),
            "Network.webSocketHandshakeResponseReceived" => {
                let it: cdp_network::SocketResponse = event.read()?;
                let hop = self.hop(&it.request_id)?;
                hop.headers_at = Some(it.timestamp);
                hop.response = Some(it.response);
                None
            }
            _ => return None,
        };
        self.changed = event.at;
        read
    }

    fn hop(&mut self, id: &str) -> Option<&mut Hop> {
        let index = *self.by_id.get(id)?;
        self.seen.get_mut(index)
    }

    fn extras(&mut self, id: String, session: &Arc<str>) -> &mut Extras {
        let all = self.extras.entry(id).or_default();
        let at = all.iter().position(|it| it.session == *session);
        let at = at.unwrap_or_else(|| {
            all.push(Extras {
                session: Arc::clone(session),
                requests: Vec::new(),
                responses: Vec::new(),
            });
            all.len() - 1
        });
        &mut all[at]
    }

    fn on_request_sent(
        &mut self,
        mut it: cdp_network::RequestWillBeSent,
        session: &Arc<str>,
        target: TargetKind,
        at: Instant,
    ) -> Option<ReadRequest> {
        let url = web_url(&it.request.url)?;
        let mut redirected_from = None;
        if let Some(&before) = self.by_id.get(&it.request_id) {
            let hop = &mut self.seen[before];
            // A second session tells the same thing again: a worker's script.
            let redirect = it.redirect_response.take()?;
            if hop.session != *session {
                return None;
            }
            hop.response = Some(redirect);
            hop.has_extra = it.redirect_has_extra_info;
            hop.headers_at = Some(it.timestamp);
            hop.ended_at = Some(it.timestamp);
            hop.body = HopBody::Known(RawBody::Missing(BodyStatus::Empty));
            redirected_from = Some(before);
        }
        if self.seen.len() >= MAX_REQUESTS {
            return None;
        }
        let index = self.seen.len();
        let post_data = it.request.post_data();
        let wanted = it.request.has_post_data && post_data.is_none();
        let id = it.request_id.clone();
        self.by_id.insert(id.clone(), index);
        self.seen.push(Hop {
            id: id.clone(),
            session: Arc::clone(session),
            target,
            url,
            sent: it,
            arrived: at,
            post_data,
            redirected_from,
            response: None,
            has_extra: false,
            decoded: 0,
            encoded: None,
            headers_at: None,
            ended_at: None,
            end: HopEnd::Well,
            body: HopBody::Coming,
            reads: u32::from(wanted),
        });
        let session = Arc::clone(session);
        wanted.then_some(ReadRequest { what: ReadKind::PostData, session, index, id })
    }

    fn socket(
        &mut self,
        it: cdp_network::SocketCreated,
        session: &Arc<str>,
        target: TargetKind,
        at: Instant,
    ) -> Option<ReadRequest> {
        let sent = cdp_network::RequestWillBeSent::socket(it);
        self.on_request_sent(sent, session, target, at);
        None
    }

    fn finished(
        &mut self,
        it: cdp_network::LoadingFinished,
        session: &Arc<str>,
    ) -> Option<ReadRequest> {
        let index = *self.by_id.get(&it.request_id)?;
        let hop = &mut self.seen[index];
        hop.ended_at.get_or_insert(it.timestamp);
        hop.encoded = Some(it.encoded_data_length.max(0.0) as u64);
        if !matches!(hop.body, HopBody::Coming) {
            return None;
        }
        if let Some(status) = hop.unread() {
            hop.body = HopBody::Known(RawBody::Missing(status));
            return None;
        }
        hop.reads += 1;
        let (session, id) = (Arc::clone(session), it.request_id);
        Some(ReadRequest { what: ReadKind::Body, session, index, id })
    }

    /// A page may give up an answer that it has read to its end: what came of it is looked at.
    fn on_loading_failed(
        &mut self,
        it: cdp_network::LoadingFailed,
        session: &Arc<str>,
    ) -> Option<ReadRequest> {
        let index = *self.by_id.get(&it.request_id)?;
        let hop = &mut self.seen[index];
        if hop.ended_at.is_none() {
            hop.ended_at = Some(it.timestamp);
            hop.end = if it.canceled { HopEnd::GivenUp } else { HopEnd::Failed };
        }
        if !matches!(hop.body, HopBody::Coming) || hop.reads > 0 {
            return None;
        }
        if hop.end == HopEnd::GivenUp && hop.decoded > 0 && hop.unread().is_none() {
            hop.reads += 1;
            let (session, id) = (Arc::clone(session), it.request_id);
            return Some(ReadRequest { what: ReadKind::Body, session, index, id });
        }
        hop.body = HopBody::Known(RawBody::Missing(BodyStatus::Failed));
        None
    }

    /// When it began; also tells one recording of a context from the next.
    pub fn started_at(&self) -> Instant {
        self.begun
    }

    /// The answer to [`ReadKind::HopBody`]; `None` when the browser no longer has it.
    pub fn read_body(&mut self, index: usize, body: Option<ReadBody>) {
        let Some(hop) = self.seen.get_mut(index) else {
            return;
        };
        let content_type = hop.response.as_ref().map_or("", cdp_network::Response::content_type);
        let body = body.map(|it| match it {
            ReadBody::Text(it) => it.into_bytes(),
            ReadBody::Bytes(it) => charset::to_utf8(content_type, it),
        });
        hop.reads = hop.reads.saturating_sub(1);
        if matches!(hop.body, HopBody::Known(RawBody::Captured(_))) {
            return;
        }
        let given_up = hop.end == HopEnd::GivenUp;
        let is_whole = body.as_ref().is_some_and(|it| hop.is_whole(it));
        if given_up && is_whole {
            hop.end = HopEnd::Well;
        }
        let body = match body {
            _ if given_up && !is_whole => RawBody::Missing(BodyStatus::Failed),
            Some(it) if it.len() > MAX_BODY.min(MAX_BODIES - self.kept) => {
                RawBody::Missing(BodyStatus::TooLarge)
            }
            Some(it) if !it.is_empty() => {
                self.kept += it.len();
                RawBody::Captured(it)
            }
            _ if hop.decoded == 0 => RawBody::Missing(BodyStatus::Empty),
            _ => RawBody::Missing(BodyStatus::Evicted),
        };
        hop.body = HopBody::Known(body);
    }

    /// The answer to [`ReadKind::PostData`].
    pub fn read_post(&mut self, index: usize, data: Option<Vec<u8>>) {
        let left = MAX_BODY.min(MAX_BODIES.saturating_sub(self.kept));
        let data = data.filter(|it| it.len() <= left);
        if let Some(hop) = self.seen.get_mut(index) {
            hop.reads = hop.reads.saturating_sub(1);
            self.kept += data.as_ref().map_or(0, Vec::len);
            hop.post_data = data;
        }
    }

    /// The session that reported a request; where its body can be read.
    pub fn session(&self, index: usize) -> Option<Arc<str>> {
        self.seen.get(index).map(|it| Arc::clone(&it.session))
    }

    /// How many requests there were.
    pub fn requests(&self) -> usize {
        self.seen.len()
    }

    /// The first request after the first `count` with which a script asked an endpoint that it had asked among them, with other
    /// values.
    pub fn first_repeat_after(&self, count: usize) -> Option<usize> {
        let is_data = |it: &&Hop| matches!(&*it.sent.kind, "XHR" | "Fetch") && !it.is_preflight();
        let (before, after) = self.seen.split_at(count.min(self.seen.len()));
        let endpoint = |it: &Hop| {
            (it.sent.request.method.clone(), it.url[..url::Position::AfterPath].to_owned())
        };
        let same = |a: &Hop, b: &Hop| a.url == b.url && a.post_data == b.post_data;
        let repeats = |now: &Hop| {
            let known: Vec<&Hop> =
                before.iter().filter(is_data).filter(|it| endpoint(it) == endpoint(now)).collect();
            !known.is_empty() && !known.iter().any(|it| same(it, now))
        };
        after.iter().position(|it| is_data(&it) && repeats(it)).map(|it| before.len() + it)
    }

    /// Whether the request has ended and everything of it was read.
    pub fn has_read(&self, index: usize) -> bool {
        self.seen.get(index).is_none_or(|it| it.ended_at.is_some() && it.reads == 0)
    }

    /// Leaves out what was asked after the first `count` requests, but for that one.
    pub fn forget_after(&mut self, count: usize, kept: Option<usize>) {
        self.forgotten.extend((count..self.seen.len()).filter(|it| Some(*it) != kept));
        let forgotten = &self.forgotten;
        self.waiting.retain(|it| !forgotten.contains(&it.index));
    }

    /// Whether nothing is being read or to be read.
    pub fn has_read_all(&self) -> bool {
        self.seen.iter().all(|it| it.reads == 0)
    }

    /// How long there must still be no news until the page is idle: nothing in flight, and no news for `quiet`. `None` while
    /// something is in flight.
    ///
    /// A page that looks only at a status leaves the body unread, and then the browser never reports the end: an answer whose
    /// head came and that has been silent for [`UNREAD`] holds nobody up.
    pub fn idle_in(&self, quiet: Duration, now: Instant) -> Option<Duration> {
        let is_open = |it: &Hop| it.ended_at.is_none() && !it.is_stream();
        let mut needed = quiet;
        for it in &self.seen {
            if is_open(it) {
                it.response.as_ref()?;
                needed = needed.max(UNREAD);
            }
        }
        Some(needed.saturating_sub(now.saturating_duration_since(self.changed)))
    }

    /// What the page's own document was answered with: the last one.
    pub fn document(&self) -> Option<&Hop> {
        self.seen.iter().rfind(|it| self.is_document(it))
    }

    /// How often the page's own document was asked for.
    pub fn documents(&self) -> usize {
        self.seen.iter().filter(|it| self.is_document(it)).count()
    }

    fn is_document(&self, it: &Hop) -> bool {
        it.sent.kind == "Document" && it.sent.frame_id.as_deref() == Some(&*self.main_frame)
    }

    /// A stream is open, on which anything may come at any time.
    pub fn has_streams(&self) -> bool {
        self.seen.iter().any(|it| it.is_stream() && it.ended_at.is_none())
    }

    /// A request of the page to its own site came to nothing, which another time it may not.
    pub fn is_shaky(&self) -> bool {
        let Some(own) = self.document().map(|it| site_of(it.url.as_str())) else { return true };
        let failed = |it: &&Hop| {
            let status = it.response.as_ref().map_or(0, |it| it.status);
            it.end == HopEnd::Failed || status >= 500 || status == 429
        };
        let mut all = self.seen.iter().filter(|it| it.may_hold_data());
        all.any(|it| failed(&it) && site_of(it.url.as_str()) == own)
    }

    /// Those from `from` on that began before `until`: how each was answered so far, and how many there are in all.
    pub fn told_from(&self, from: usize, until: Instant) -> (Vec<RequestSummary>, usize) {
        let rest = self.seen.get(from..).unwrap_or_default();
        let begun = rest.iter().take_while(|it| it.arrived < until).count();
        let told = (from..from + begun)
            .filter(|it| !self.seen[*it].is_preflight() && !self.forgotten.contains(it));
        (told.map(|it| self.summarize(it)).collect(), from + begun)
    }

    fn summarize(&self, index: usize) -> RequestSummary {
        let it = &self.seen[index];
        RequestSummary {
            id: self.before + index as u64 + 1,
            method: it.sent.request.method.clone(),
            url: it.sent.request.url.clone(),
            status: it.response.as_ref().map(|it| it.status).filter(|it| *it > 0),
            is_data: it.is_stream() || matches!(&*it.sent.kind, "Document" | "XHR" | "Fetch"),
        }
    }

    /// The request that was answered with that event, or came to nothing; of several sessions that tell, its own does.
    pub fn answered_request(&self, event: &Event) -> Option<RequestSummary> {
        let redirects = match &*event.method {
            "Network.requestWillBeSent" => true,
            "Network.responseReceived"
            | "Network.webSocketHandshakeResponseReceived"
            | "Network.loadingFailed" => false,
            _ => return None,
        };
        let cdp_network::Id { request_id } = event.read()?;
        let mut index = *self.by_id.get(&request_id)?;
        if redirects {
            // Taken in by now: the one that was redirected is told.
            index = self.seen[index].redirected_from?;
        }
        let hop = &self.seen[index];
        let own = event.session.as_ref().is_some_and(|it| *it == hop.session);
        let late = &*event.method == "Network.loadingFailed" && hop.response.is_some();
        (own && !late && !hop.is_preflight()).then(|| self.summarize(index))
    }

    /// How the first request of that id was answered; what it redirected to has the same id.
    pub fn status(&self, id: &str) -> Option<u16> {
        let first = self.seen.iter().find(|it| it.id == id && !it.is_preflight())?;
        first.response.as_ref().map(|it| it.status).filter(|it| *it > 0)
    }

    /// Nothing is on its way.
    pub fn is_idle(&self) -> bool {
        self.idle_in(Duration::ZERO, Instant::now()) == Some(Duration::ZERO)
    }

    /// When it last had news.
    pub fn changed(&self) -> Instant {
        self.changed
    }

    /// What [`finish`](Self::finish) would give now; it goes on.
    pub fn so_far(&self) -> (Vec<Action>, Vec<RawExchange>) {
        let mut copy = Self::new(self.begun, &self.main_frame);
        copy.actions.clone_from(&self.actions);
        copy.seen.clone_from(&self.seen);
        copy.extras.clone_from(&self.extras);
        copy.finish()
    }

    /// Actions and exchanges, in the order they happened.
    pub fn finish(self) -> (Vec<Action>, Vec<RawExchange>) {
        let Self { begun, main_frame, actions, seen, mut extras, forgotten, .. } = self;
        let mut exchanges = Vec::with_capacity(seen.len());
        for (index, hop) in seen.into_iter().enumerate() {
            if forgotten.contains(&index) {
                continue;
            }
            let extra = extras.get_mut(&hop.id).and_then(|all| {
                let own = all.iter().position(|it| it.session == hop.session);
                all.get_mut(own.unwrap_or(0))
            });
            let answered = hop.response.is_some();
            let (request_extra, response_extra) = match extra {
                // A request that failed has no answer to tell whether extra headers belong to it: it takes what is left.
                Some(it) if hop.has_extra || !answered => (
                    take_first(&mut it.requests),
                    if answered { take_first(&mut it.responses) } else { None },
                ),
                _ => (None, None),
            };
            let after_action =
                actions.iter().rposition(|(at, _)| *at <= hop.arrived).map(|it| it as u32);
            let mut exchange = hop.into_exchange(begun, &main_frame, request_extra, response_extra);
            exchange.after_action = after_action;
            exchanges.push(exchange);
        }
        let actions = actions.into_iter().map(|(_, it)| it).collect();
        (actions, exchanges)
    }
}

/// What goes over the network; `data:`, `blob:` and the like do not.
fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    matches!(url.scheme(), "http" | "https" | "ws" | "wss").then_some(url)
}

fn split<T: serde::de::DeserializeOwned>(event: &Event) -> Option<(String, T)> {
    let cdp_network::Id { request_id } = event.read()?;
    Some((request_id, event.read()?))
}

fn take_first<T>(all: &mut Vec<T>) -> Option<T> {
    (!all.is_empty()).then(|| all.remove(0))
}

#[cfg(test)]
#[path = "recorder_tests.rs"]
mod tests;
