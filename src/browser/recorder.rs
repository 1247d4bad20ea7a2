//! From the browser's network events to exchanges: who asked what, when, and what came back.
//!
//! A plain state machine over events: it asks for bodies by returning [`Read`]s and never touches the browser. One request
//! id may be several exchanges (redirects), may be reported by several sessions (a worker's script), and its extra
//! headers may come before or after it; all of that is joined in [`Recorder::finish`].

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use url::Url;

use super::{cdp::Event, proxy, wire};
use crate::{
    artifacts::recording::{
        Action, ActionKind, BodyStatus, Initiator, InitiatorKind, ResourceType, TargetKind, Timing,
    },
    redact::raw::{RawBody, RawExchange},
};

/// Longer bodies are not read.
pub const MAX_BODY: usize = 8 << 20;
/// All bodies of a recording together; later ones count as too large.
const MAX_BODIES: usize = 192 << 20;
/// More requests than this are not recorded: no learnable page sends them.
const MAX_REQUESTS: usize = 5000;

/// Everything seen since the recording began.
pub struct Recorder {
    begun: Instant,
    main_frame: String,
    actions: Vec<(Instant, Action)>,
    seen: Vec<Seen>,
    /// Index into `seen` of the last hop of a request id.
    by_id: BTreeMap<String, usize>,
    extras: BTreeMap<String, Vec<Extras>>,
    changed: Instant,
    /// Bytes of captured bodies.
    kept: usize,
}

/// One hop of one request.
struct Seen {
    id: String,
    session: Arc<str>,
    target: TargetKind,
    url: Url,
    sent: wire::RequestWillBeSent,
    arrived: Instant,
    post_data: Option<Vec<u8>>,
    redirected_from: Option<usize>,
    response: Option<wire::Response>,
    has_extra: bool,
    decoded: u64,
    encoded: Option<u64>,
    /// Seconds on the browser's clock.
    headers_at: Option<f64>,
    ended_at: Option<f64>,
    body: Body,
    reads: u32,
}

enum Body {
    /// No answer yet, or not whole yet.
    Coming,
    Known(RawBody),
}

/// Extra headers of one request id as one session saw them, in hop order.
struct Extras {
    session: Arc<str>,
    requests: Vec<wire::RequestExtra>,
    responses: Vec<wire::ResponseExtra>,
}

/// Something to ask the browser at once; answers come back through [`Recorder::read_body`] and [`Recorder::read_post`].
#[derive(Debug, PartialEq, Eq)]
pub enum Read {
    Body { index: usize, id: String },
    PostData { index: usize, id: String },
}

impl Recorder {
    pub fn new(begun: Instant, main_frame: &str) -> Self {
        Self {
            begun,
            main_frame: main_frame.to_owned(),
            actions: Vec::new(),
            seen: Vec::new(),
            by_id: BTreeMap::new(),
            extras: BTreeMap::new(),
            changed: begun,
            kept: 0,
        }
    }

    pub fn act(
        &mut self,
        kind: ActionKind,
        element: Option<(&str, &str)>,
        value: Option<&str>,
        now: Instant,
    ) {
        let action = Action {
            kind,
            role: element.map(|it| it.0.to_owned()),
            name: element.map(|it| it.1.to_owned()),
            value: value.map(str::to_owned),
            at_ms: millis(now - self.begun),
        };
        self.actions.push((now, action));
    }

    /// Takes in an event of the Network domain. Others are ignored.
    pub fn take(&mut self, event: &Event, target: TargetKind) -> Option<Read> {
        let session = event.session.as_ref()?;
        let read = match &*event.method {
            "Network.requestWillBeSent" => self.sent(event.read()?, session, target, event.at),
            "Network.requestWillBeSentExtraInfo" => {
                let (id, extra) = split::<wire::RequestExtra>(event)?;
                self.extras(id, session).requests.push(extra);
                None
            }
            "Network.responseReceivedExtraInfo" => {
                let (id, extra) = split::<wire::ResponseExtra>(event)?;
                self.extras(id, session).responses.push(extra);
                None
            }
            "Network.responseReceived" => {
                let it: wire::ResponseReceived = event.read()?;
                let hop = self.hop(&it.request_id)?;
                if hop.response.is_none() {
                    hop.headers_at = Some(it.timestamp);
                    hop.has_extra = it.has_extra_info;
                    hop.response = Some(it.response);
                }
                None
            }
            "Network.dataReceived" => {
                let it: wire::DataReceived = event.read()?;
                let hop = self.hop(&it.request_id)?;
                if hop.session == *session {
                    hop.decoded += it.data_length;
                }
                return None;
            }
            "Network.loadingFinished" => self.finished(event.read()?),
            "Network.loadingFailed" => {
                let it: wire::LoadingFailed = event.read()?;
                let hop = self.hop(&it.request_id)?;
                hop.ended_at.get_or_insert(it.timestamp);
                if matches!(hop.body, Body::Coming) && hop.reads == 0 {
                    hop.body = Body::Known(RawBody::Missing(BodyStatus::Failed));
                }
                None
            }
            "Network.webSocketCreated" => self.socket(event.read()?, session, target, event.at),
            "Network.webSocketHandshakeResponseReceived" => {
                let it: wire::SocketResponse = event.read()?;
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

    fn hop(&mut self, id: &str) -> Option<&mut Seen> {
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

    fn sent(
        &mut self,
        mut it: wire::RequestWillBeSent,
        session: &Arc<str>,
        target: TargetKind,
        at: Instant,
    ) -> Option<Read> {
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
            hop.body = Body::Known(RawBody::Missing(BodyStatus::Empty));
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
        self.seen.push(Seen {
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
            body: Body::Coming,
            reads: u32::from(wanted),
        });
        wanted.then_some(Read::PostData { index, id })
    }

    fn socket(
        &mut self,
        it: wire::SocketCreated,
        session: &Arc<str>,
        target: TargetKind,
        at: Instant,
    ) -> Option<Read> {
        let sent = wire::RequestWillBeSent::socket(it);
        self.sent(sent, session, target, at);
        None
    }

    fn finished(&mut self, it: wire::LoadingFinished) -> Option<Read> {
        let index = *self.by_id.get(&it.request_id)?;
        let hop = &mut self.seen[index];
        hop.ended_at.get_or_insert(it.timestamp);
        hop.encoded = Some(it.encoded_data_length.max(0.0) as u64);
        if !matches!(hop.body, Body::Coming) {
            return None;
        }
        if let Some(status) = hop.unread() {
            hop.body = Body::Known(RawBody::Missing(status));
            return None;
        }
        hop.reads += 1;
        let id = it.request_id;
        Some(Read::Body { index, id })
    }

    /// When it began; also tells one recording of a context from the next.
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// The answer to [`Read::Body`]; `None` when the browser no longer has it.
    pub fn read_body(&mut self, index: usize, body: Option<Vec<u8>>, now: Instant) {
        self.changed = now;
        let Some(hop) = self.seen.get_mut(index) else {
            return;
        };
        hop.reads = hop.reads.saturating_sub(1);
        if matches!(hop.body, Body::Known(RawBody::Captured(_))) {
            return;
        }
        let body = match body {
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
        hop.body = Body::Known(body);
    }

    /// The answer to [`Read::PostData`].
    pub fn read_post(&mut self, index: usize, data: Option<Vec<u8>>) {
        if let Some(hop) = self.seen.get_mut(index) {
            hop.reads = hop.reads.saturating_sub(1);
            hop.post_data = data;
        }
    }

    /// The session that reported a request; where its body can be read.
    pub fn session(&self, index: usize) -> Option<Arc<str>> {
        self.seen.get(index).map(|it| Arc::clone(&it.session))
    }

    /// Whether a finished request's URL contains `part`.
    pub fn has_finished(&self, part: &str) -> bool {
        self.seen
            .iter()
            .any(|it| it.ended_at.is_some() && it.reads == 0 && it.sent.request.url.contains(part))
    }

    /// Nothing in flight, nothing being read, and no news for `quiet`.
    pub fn is_idle(&self, quiet: Duration, now: Instant) -> bool {
        now.saturating_duration_since(self.changed) >= quiet
            && self.seen.iter().all(|it| {
                it.reads == 0
                    && (it.ended_at.is_some()
                        || matches!(
                            it.resource_type(&self.main_frame),
                            ResourceType::Websocket | ResourceType::EventSource
                        ))
            })
    }

    /// Actions and exchanges, in the order they happened.
    pub fn finish(self) -> (Vec<Action>, Vec<RawExchange>) {
        let Self {
            begun,
            main_frame,
            actions,
            seen,
            mut extras,
            ..
        } = self;
        let mut exchanges = Vec::with_capacity(seen.len());
        for hop in seen {
            let extra = extras.get_mut(&hop.id).and_then(|all| {
                let own = all.iter().position(|it| it.session == hop.session);
                all.get_mut(own.unwrap_or(0))
            });
            let answered = hop.response.is_some();
            let (request_extra, response_extra) = match extra {
                // A request that failed has no answer to tell whether extra headers belong to it: it takes what is left.
                Some(it) if hop.has_extra || !answered => (
                    take_first(&mut it.requests),
                    if answered {
                        take_first(&mut it.responses)
                    } else {
                        None
                    },
                ),
                _ => (None, None),
            };
            let after_action = actions
                .iter()
                .rposition(|(at, _)| *at <= hop.arrived)
                .map(|it| it as u32);
            let mut exchange = hop.into_exchange(begun, &main_frame, request_extra, response_extra);
            exchange.after_action = after_action;
            exchanges.push(exchange);
        }
        let actions = actions.into_iter().map(|(_, it)| it).collect();
        (actions, exchanges)
    }
}

impl Seen {
    /// Chromium 156 says so in the initiator, others in the type.
    fn is_preflight(&self) -> bool {
        self.sent.kind == "Preflight" || self.sent.initiator.kind == "preflight"
    }

    /// Why the body is not worth reading, if so.
    fn unread(&self) -> Option<BodyStatus> {
        let response = self.response.as_ref()?;
        let mime = response.mime_type.to_ascii_lowercase();
        let family = mime.split('/').next().unwrap_or("");
        if self.is_preflight() {
            return Some(BodyStatus::Empty);
        }
        match &*self.sent.kind {
            "Image" | "Font" | "Media" => return Some(BodyStatus::Binary),
            "Stylesheet" | "WebSocket" => return Some(BodyStatus::Absent),
            _ => {}
        }
        if self.sent.request.method == "HEAD" || matches!(response.status, 204 | 205 | 304) {
            return Some(BodyStatus::Empty);
        }
        if mime != "image/svg+xml" && matches!(family, "image" | "font" | "audio" | "video") {
            return Some(BodyStatus::Binary);
        }
        let size = self.decoded.max(self.encoded.unwrap_or(0));
        (size > MAX_BODY as u64).then_some(BodyStatus::TooLarge)
    }

    fn resource_type(&self, main_frame: &str) -> ResourceType {
        if self.is_preflight() {
            return ResourceType::Preflight;
        }
        match &*self.sent.kind {
            "Document" if self.sent.frame_id.as_deref() == Some(main_frame) => {
                ResourceType::Document
            }
            "Document" => ResourceType::Iframe,
            "XHR" => ResourceType::Xhr,
            "Fetch" => ResourceType::Fetch,
            "Script" => ResourceType::Script,
            "Stylesheet" => ResourceType::Stylesheet,
            "Image" => ResourceType::Image,
            "Font" => ResourceType::Font,
            "Media" | "TextTrack" => ResourceType::Media,
            "WebSocket" => ResourceType::Websocket,
            "EventSource" => ResourceType::EventSource,
            "Ping" | "CSPViolationReport" => ResourceType::Ping,
            "Prefetch" => ResourceType::Prefetch,
            "Manifest" => ResourceType::Manifest,
            _ => ResourceType::Other,
        }
    }

    fn timing(&self, begun: Instant) -> Timing {
        let sent = self.sent.timestamp;
        // A WebSocket's creation carries no time.
        let since = |at: Option<f64>| match at {
            Some(at) if sent > 0.0 => ((at - sent) * 1000.0).round().max(0.0) as u64,
            _ => 0,
        };
        // When the socket saw the headers, which is earlier than when the page's process heard of them.
        let precise = self.response.as_ref().and_then(|it| it.timing.as_ref());
        let headers_at = precise
            .filter(|it| it.request_time > 0.0 && it.receive_headers_end > 0.0)
            .map(|it| it.request_time + it.receive_headers_end / 1000.0)
            .or(self.headers_at);
        Timing {
            start_ms: millis(self.arrived.saturating_duration_since(begun)),
            ttfb_ms: since(headers_at),
            total_ms: since(self.ended_at),
        }
    }

    fn into_exchange(
        self,
        begun: Instant,
        main_frame: &str,
        request_extra: Option<wire::RequestExtra>,
        response_extra: Option<wire::ResponseExtra>,
    ) -> RawExchange {
        let resource_type = self.resource_type(main_frame);
        let timing = self.timing(begun);
        let mut status = None;
        let mut response_headers = Vec::new();
        let mut mime = String::new();
        if let Some(response) = &self.response {
            status = Some(response.status).filter(|it| *it > 0);
            response_headers = wire::pairs(&response.headers);
            mime.clone_from(&response.mime_type);
        }
        if let Some(extra) = response_extra {
            status = Some(extra.status_code).filter(|it| *it > 0).or(status);
            response_headers = wire::pairs(&extra.headers);
        }
        let declared = response_headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some((_, value)) = declared {
            mime.clone_from(value);
        }
        let mut body = match self.body {
            Body::Known(body) => body,
            Body::Coming if resource_type == ResourceType::Websocket => {
                RawBody::Missing(BodyStatus::Absent)
            }
            Body::Coming => RawBody::Missing(BodyStatus::Inflight),
        };
        // Our proxy's refusal is not an answer of the server.
        if response_headers
            .iter()
            .any(|(name, _)| name.eq_ignore_ascii_case(proxy::BLOCKED_HEADER))
        {
            status = None;
            response_headers.clear();
            mime.clear();
            body = RawBody::Missing(BodyStatus::Failed);
        }
        let sent = self.sent;
        let request_headers = match &request_extra {
            Some(extra) if !extra.headers.is_empty() => wire::pairs(&extra.headers),
            _ => wire::pairs(&sent.request.headers),
        };
        RawExchange {
            method: sent.request.method,
            url: self.url,
            request_headers,
            request_body: self.post_data,
            status,
            response_headers,
            mime,
            resource_type,
            initiator: Initiator {
                kind: match &*sent.initiator.kind {
                    "parser" => InitiatorKind::Parser,
                    "script" => InitiatorKind::Script,
                    "preload" => InitiatorKind::Preload,
                    _ => InitiatorKind::Other,
                },
                has_stack: sent.initiator.stack.is_some(),
                page_url: sent.document_url,
                target: self.target,
            },
            timing,
            after_action: None,
            redirected_from: self.redirected_from.map(|it| it as u32),
            encoded_bytes: self.encoded,
            body,
        }
    }
}

/// What goes over the network; `data:`, `blob:` and the like do not.
fn web_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    matches!(url.scheme(), "http" | "https" | "ws" | "wss").then_some(url)
}

fn split<T: serde::de::DeserializeOwned>(event: &Event) -> Option<(String, T)> {
    let wire::Id { request_id } = event.read()?;
    Some((request_id, event.read()?))
}

fn take_first<T>(all: &mut Vec<T>) -> Option<T> {
    (!all.is_empty()).then(|| all.remove(0))
}

fn millis(it: Duration) -> u64 {
    it.as_millis() as u64
}
