//! The only way out of a browser that somebody else drives: a proxy on loopback at which what may change something waits.
//!
//! Interception is not ours there, so requests are judged here, by their bytes. For https that takes the place of the host: the
//! browser is told to trust a key of this process, and each host is checked first, as our own client checks it (`tls_trust.rs`).
//! What waits is a connection that is not answered, which the browser takes for a slow server; what is let go is what was held.
//! While another document is on its way nobody can look at the present one, so such a request is given up at once, and what led to
//! it is done again: only the very same bytes leave then, once.
//! A WebSocket does not get through, since nobody can judge what will be said on it. Hosts of the user's own are not reached: what
//! makes a context safe for them (`own_host_scope.rs`) takes interception.

use std::{
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use bytes::Bytes;
use futures::future::BoxFuture;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode, Uri,
    body::{Body as _, Incoming},
    header::{ACCEPT, COOKIE, HOST, HeaderMap, HeaderValue, REFERER, UPGRADE},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite},
    net::TcpListener,
    sync::{Notify, oneshot},
    task::JoinHandle,
};
use tokio_rustls::TlsAcceptor;

use super::{
    cookies::digest,
    hold_state::{OutgoingRequest, RequestDecision, RequestJudge},
    proxy::{
        BLOCKED_HEADER, Body, ERROR_HEADER, IDLE, ProxyHandler, Tunnels, USER, accept, connect,
        credentials, drop_hop_by_hop, empty, refusal, send_request, tunnel_url,
    },
    tls_trust::{Authorities, HANDSHAKE, TlsTrust},
};
use commis_base::{
    error::{Code, Error, Result},
    ids::random_token,
};
use commis_net::egress::EgressPolicy;

/// Held at once; more are refused.
const MOST: usize = 8;
/// Refusals that are told of one act.
const TOLD: usize = 8;
/// What an act sets off begins so soon after it.
const AFTER: Duration = Duration::from_secs(2);
/// Of a request's body. A larger one could not be shown to anybody.
const BODY: usize = 2 * 1024 * 1024;
/// For a request that was let go to be answered.
const PATIENCE: Duration = Duration::from_secs(60);
/// What leaves a page where it is when it comes in place of another (HTML, 7.4.5: 204 or 205). After 204 Playwright waits on.
const STAYS: StatusCode = StatusCode::RESET_CONTENT;
/// Chromium speaks nothing newer with us, so that each request has a beginning and an end that we see.
const PROTOCOL: &[u8] = b"http/1.1";

/// A request that waits at the gateway.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayRequest {
    /// Counted from 1; never given twice.
    pub number: u64,
    pub method: String,
    pub url: String,
    /// As the browser sends them, cookies aside.
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// Why it may change something.
    pub why: String,
    /// Names of the cookies that go with it, with digests of their values.
    pub cookies: Vec<(String, String)>,
}

/// A listening gateway; dropping it closes every connection, and what waits does not leave.
pub struct Gateway {
    addr: SocketAddr,
    word: String,
    gate: Arc<Gate>,
    accepting: JoinHandle<()>,
}

struct Gate {
    policy: EgressPolicy,
    judge: RequestJudge,
    vouched: TlsTrust,
    /// Without these, nothing is answered.
    credentials: HeaderValue,
    state: Mutex<State>,
    /// Something waits that did not.
    holds: Notify,
    /// What was made again is answered, or will not be.
    answers: Notify,
}

#[derive(Default)]
struct State {
    /// Those without a way to be let go were given up, and are made again.
    waiting: Vec<(GatewayRequest, Option<oneshot::Sender<StatusSender>>)>,
    expected: Option<ExpectedRequest>,
    count: u64,
    acting: bool,
    acted: Option<Instant>,
    /// The control that it is or was done to, by role and name.
    pressed: Option<(String, String)>,
    /// Address and why.
    refused: Vec<(String, String)>,
}

/// A request that may leave when it is made again.
struct ExpectedRequest {
    it: GatewayRequest,
    has_left: bool,
    is_answered: bool,
    status: Option<u16>,
}

impl ExpectedRequest {
    fn matches(&self, other: &GatewayRequest) -> bool {
        let it = &self.it;
        !self.has_left
            && (&it.method, &it.url, &it.body) == (&other.method, &other.url, &other.body)
            && it.content_type() == other.content_type()
            && it.cookies == other.cookies
    }
}

/// How a request that waited is let go.
#[derive(Debug, PartialEq, Eq)]
pub enum ReleaseOutcome {
    /// It was sent, and answered so; `None`: nobody knows.
    Sent(Option<u16>),
    /// What led to it is to be done again; then [`Gateway::settled`] says whether it was sent.
    Again,
}

/// How a request that was let go is answered: the status, or nothing where none came.
type StatusSender = oneshot::Sender<Option<u16>>;

impl GatewayRequest {
    fn content_type(&self) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == "content-type").map(|it| it.1.as_str())
    }
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gateway {
    /// Listens on a free port of 127.0.0.1. Fails with [`Code::BrowserFailed`], and with [`Code::Internal`] without randomness.
    pub async fn start(policy: &EgressPolicy, judge: RequestJudge) -> Result<Self> {
        let failed =
            |err| Error::new(Code::BrowserFailed, "cannot start the egress proxy").source(err);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let addr = listener.local_addr().map_err(failed)?;
        let word = random_token()?;
        let gate = Arc::new(Gate {
            policy: policy.for_own_host(None),
            judge,
            vouched: TlsTrust::new()?,
            credentials: credentials(&word)?,
            state: Mutex::default(),
            holds: Notify::new(),
            answers: Notify::new(),
        });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&gate)));
        Ok(Self { addr, word, gate, accepting })
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// Whom it answers, and that one's word.
    pub fn credentials(&self) -> (&str, &str) {
        (USER, &self.word)
    }

    /// What makes Chromium believe it: an argument of its command line.
    pub fn argument(&self) -> String {
        self.gate.vouched.argument()
    }

    /// An act begins, or something else that no change follows from. `pressed`: the control that it is done to, by role and name.
    pub fn begins(&self, acts: bool, pressed: Option<(String, String)>) {
        let mut state = self.gate.lock();
        (state.acting, state.acted) = (acts, None);
        state.pressed = pressed;
        state.refused.clear();
    }

    /// It has ended. What was refused meanwhile: address and why.
    pub fn ends(&self) -> Vec<(String, String)> {
        let mut state = self.gate.lock();
        if state.acting {
            (state.acting, state.acted) = (false, Some(Instant::now()));
        }
        std::mem::take(&mut state.refused)
    }

    /// Until something waits.
    pub async fn wait_for_held(&self) {
        loop {
            let woken = self.gate.holds.notified();
            if !self.gate.lock().waiting.is_empty() {
                return;
            }
            woken.await;
        }
    }

    /// What waits.
    pub fn held_requests(&self) -> Vec<GatewayRequest> {
        self.gate.lock().waiting.iter().map(|it| it.0.clone()).collect()
    }

    /// Refuses all that waits.
    pub fn take_back(&self) {
        let mut state = self.gate.lock();
        state.waiting.clear();
        state.expected = None;
    }

    /// Lets one request go, and refuses the others that wait. Fails with `APPROVAL_STALE` where it is not sent.
    pub async fn let_leave(&self, number: u64) -> Result<ReleaseOutcome> {
        let found = {
            let mut state = self.gate.lock();
            let at = state.waiting.iter().position(|it| it.0.number == number);
            let found = at.map(|at| state.waiting.swap_remove(at));
            state.waiting.clear();
            found
        };
        let gone = || Error::new(Code::ApprovalStale, "the request no longer waits");
        let (it, go) = found.ok_or_else(gone)?;
        let pressed = self.gate.lock().pressed.clone();
        self.begins(true, pressed);
        let Some(go) = go else {
            let expected =
                ExpectedRequest { it, has_left: false, is_answered: false, status: None };
            self.gate.lock().expected = Some(expected);
            return Ok(ReleaseOutcome::Again);
        };
        let (tell, told) = oneshot::channel();
        go.send(tell).map_err(|_| gone())?;
        let status = tokio::time::timeout(PATIENCE, told).await;
        self.ends();
        Ok(ReleaseOutcome::Sent(status.ok().and_then(std::result::Result::ok).flatten()))
    }

    /// After what led to a request was done again: how it was answered, where that is known; `None` where it was not made again, and
    /// does not leave any more.
    pub async fn settled(&self) -> Option<Option<u16>> {
        let answered = async {
            loop {
                let woken = self.gate.answers.notified();
                let is_known = {
                    let state = self.gate.lock();
                    state.expected.as_ref().is_none_or(|it| !it.has_left || it.is_answered)
                };
                if is_known {
                    return;
                }
                woken.await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, answered).await;
        self.gate.lock().expected.take().filter(|it| it.has_left).map(|it| it.status)
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl ProxyHandler for Gate {
    fn credentials(&self) -> &HeaderValue {
        &self.credentials
    }

    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        tunnels: Arc<Tunnels>,
    ) -> BoxFuture<'static, Response<Body>> {
        Box::pin(async move { serve_proxy_request(request, &self, &tunnels).await })
    }
}

/// What the browser asks its proxy for.
async fn serve_proxy_request(
    request: Request<Incoming>,
    gate: &Arc<Gate>,
    tunnels: &Tunnels,
) -> Response<Body> {
    if request.method() != Method::CONNECT {
        return judge_request(request, gate).await;
    }
    // What it is about is judged again, request by request.
    if let Err(err) = gate.policy.check(&tunnel_url(request.uri())) {
        return refuse(&tunnel_url(request.uri()), err.message(), false, gate);
    }
    let authority = request.uri().to_string();
    let gate = Arc::clone(gate);
    tunnels.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
        if let Ok(upgraded) = hyper::upgrade::on(request).await {
            tunnelled(TokioIo::new(upgraded), &authority, &gate).await;
        }
    });
    Response::new(empty())
}

/// A tunnel, in which requests come as they would come to the host.
async fn tunnelled(
    client: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    authority: &str,
    gate: &Arc<Gate>,
) {
    let (mut reader, writer) = tokio::io::split(client);
    let mut first = [0];
    let Ok(read) = reader.read(&mut first).await else { return };
    let begun = std::io::Cursor::new(first[..read].to_vec());
    let client = tokio::io::join(begun.chain(reader), writer);
    if first != [HANDSHAKE] {
        return serve(client, "http", authority, gate).await;
    }
    let host = authority.rsplit_once(':').map_or(authority, |it| it.0);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let Ok(config) = gate.vouched.answering(host, vec![PROTOCOL.to_vec()]) else { return };
    if let Ok(client) = TlsAcceptor::from(config).accept(client).await {
        serve(client, "https", authority, gate).await;
    }
}

async fn serve(
    client: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    scheme: &str,
    authority: &str,
    gate: &Arc<Gate>,
) {
    let usual = if scheme == "https" { ":443" } else { ":80" };
    let authority = authority.strip_suffix(usual).unwrap_or(authority);
    let service = service_fn(|mut request: Request<Incoming>| async move {
        let path = request.uri().path_and_query().map_or("/", |it| it.as_str());
        let named = request.headers().get(HOST).and_then(|it| it.to_str().ok());
        // A tunnel is for one host, which was checked.
        let is_its_own = named.is_none_or(|it| it.eq_ignore_ascii_case(authority));
        let Ok(uri) = format!("{scheme}://{authority}{path}").parse::<Uri>() else {
            return Ok::<_, Infallible>(refusal(
                StatusCode::BAD_REQUEST,
                BLOCKED_HEADER,
                Code::UrlInvalid,
            ));
        };
        if !is_its_own {
            return Ok(refuse(&uri.to_string(), "it names another host", false, gate));
        }
        *request.uri_mut() = uri;
        Ok(judge_request(request, gate).await)
    });
    let _ = hyper::server::conn::http1::Builder::new()
        .preserve_header_case(true)
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE)
        .serve_connection(TokioIo::new(client), service)
        .await;
}

/// Whether something is a document, and what it is for: what the browser says of it in headers that pages cannot set, or leave out.
fn purpose(headers: &HeaderMap) -> (bool, &'static str) {
    let text = |name: &str| headers.get(name).and_then(|it| it.to_str().ok());
    let accept = headers.get(ACCEPT).and_then(|it| it.to_str().ok()).unwrap_or_default();
    match text("sec-fetch-dest") {
        Some("document") => (true, "Document"),
        Some("iframe" | "frame" | "embed" | "object") => (false, "Document"),
        // A beacon, of which no page ever sees the answer.
        Some("empty") if text("sec-fetch-mode") == Some("no-cors") => (false, "Ping"),
        Some("empty") => (false, "Fetch"),
        Some(_) => (false, "Other"),
        // In the clear they are not sent. This is, with every document; so a frame counts as a page.
        None if headers.contains_key("upgrade-insecure-requests") => (true, "Document"),
        None if accept.starts_with("image/") || accept.starts_with("text/css") => (false, "Other"),
        None => (false, "Fetch"),
    }
}

/// One request in absolute form, judged, and then sent, held or refused.
async fn judge_request(request: Request<Incoming>, gate: &Arc<Gate>) -> Response<Body> {
    let url = request.uri().to_string();
    if request.headers().contains_key(UPGRADE) {
        return refuse(&url, "what is said on a WebSocket cannot be judged", false, gate);
    }
    let (is_page, kind) = purpose(request.headers());
    if let Err(err) = gate.policy.check(&url) {
        return refuse(&url, err.message(), is_page, gate);
    }
    let (head, body) = request.into_parts();
    let is_empty = body.is_end_stream();
    let body = match Limited::new(body, BODY).collect().await {
        Ok(it) => it.to_bytes(),
        Err(_) => {
            return refuse(&url, "its body is cut off, or too large to be shown", is_page, gate);
        }
    };
    let has_body = !is_empty && !body.is_empty();
    let headers = visible_headers(&head.headers);
    let (follows_act, pressed) = {
        let state = gate.lock();
        let follows = state.acting || state.acted.is_some_and(|it| it.elapsed() < AFTER);
        (follows, state.pressed.clone().filter(|_| follows))
    };
    // Whoever shows a frame is named there, and cannot say another.
    let at = head.headers.get(REFERER).and_then(|it| it.to_str().ok()).map(str::to_owned);
    let verdict = (gate.judge)(&OutgoingRequest {
        method: head.method.as_str(),
        url: &url,
        headers: &headers,
        body: has_body.then_some(&*body),
        is_opaque: false,
        is_page,
        at: at.as_deref(),
        kind,
        follows_act,
        pressed: pressed.as_ref(),
        has_person: false,
    });
    let request = Request::from_parts(head, Full::new(body.clone()));
    match verdict {
        RequestDecision::Go => leave(request, &url, gate).await.0,
        RequestDecision::Refuse(why) => refuse(&url, &why, is_page, gate),
        RequestDecision::Hold(why) => {
            let held = GatewayRequest {
                number: 0,
                method: request.method().to_string(),
                url: url.clone(),
                headers,
                cookies: cookies_of(request.headers()),
                body: has_body.then(|| body.to_vec()),
                why,
            };
            if !leaves_again(&held, gate) {
                return wait(request, held, kind == "Document", gate).await;
            }
            let (response, status) = leave(request, &url, gate).await;
            if let Some(it) = &mut gate.lock().expected {
                (it.is_answered, it.status) = (true, status);
            }
            gate.answers.notify_waiters();
            response
        }
    }
}

/// Whether it is the request that may leave when it is made again. Only the first one is.
fn leaves_again(it: &GatewayRequest, gate: &Gate) -> bool {
    let mut state = gate.lock();
    let expected = state.expected.as_mut().filter(|expected| expected.matches(it));
    expected.map(|it| it.has_left = true).is_some()
}

/// Lets a request wait until somebody decides; a document is given up, and the page stays where it is.
async fn wait(
    request: Request<Full<Bytes>>,
    held: GatewayRequest,
    is_document: bool,
    gate: &Arc<Gate>,
) -> Response<Body> {
    let (url, why) = (held.url.clone(), held.why.clone());
    let Some((_guard, wait)) = hold(held, is_document, gate) else {
        return refuse(&url, &format!("too many wait already: {why}"), is_document, gate);
    };
    let Some(wait) = wait else {
        return refusal(STAYS, BLOCKED_HEADER, Code::UrlBlocked);
    };
    let Ok(tell) = wait.await else { return refuse(&url, &why, false, gate) };
    let (response, status) = leave(request, &url, gate).await;
    // Nobody may wait for it any more.
    let _ = tell.send(status);
    response
}

/// Takes its request out of what waits when the browser does not wait for it any more.
struct WaitGuard {
    gate: Arc<Gate>,
    number: u64,
}

impl Drop for WaitGuard {
    fn drop(&mut self) {
        self.gate.lock().waiting.retain(|it| it.0.number != self.number);
    }
}

/// What a request that waits is told by, and what ends its waiting; nothing of it where it was given up. `None` where too many wait.
type WaitHandle = (Option<WaitGuard>, Option<oneshot::Receiver<StatusSender>>);

fn hold(mut it: GatewayRequest, is_given_up: bool, gate: &Arc<Gate>) -> Option<WaitHandle> {
    let (go, wait) = oneshot::channel();
    let mut state = gate.lock();
    if state.waiting.len() >= MOST {
        return None;
    }
    state.count += 1;
    it.number = state.count;
    let number = state.count;
    let (go, out) = if is_given_up {
        (None, (None, None))
    } else {
        (Some(go), (Some(WaitGuard { gate: Arc::clone(gate), number }), Some(wait)))
    };
    state.waiting.push((it, go));
    drop(state);
    gate.holds.notify_waiters();
    Some(out)
}

/// As they leave, but for the session's own.
/// Names of cookies, with digests of their values.
fn cookies_of(headers: &HeaderMap) -> Vec<(String, String)> {
    let all = headers.get_all(COOKIE).iter().filter_map(|it| it.to_str().ok());
    let mut out: Vec<(String, String)> = all
        .flat_map(|it| it.split(';'))
        .map(|it| it.trim().split_once('=').unwrap_or(("", it.trim())))
        .map(|(name, value)| (name.to_owned(), digest(&[value])))
        .collect();
    out.sort();
    out
}

fn visible_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let mut headers = headers.clone();
    drop_hop_by_hop(&mut headers);
    headers.remove(COOKIE);
    let text = |it: &HeaderValue| String::from_utf8_lossy(it.as_bytes()).into_owned();
    headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
}

/// Sends it, and says how it was answered, where it was.
async fn leave(
    request: Request<Full<Bytes>>,
    url: &str,
    gate: &Arc<Gate>,
) -> (Response<Body>, Option<u16>) {
    match send_upstream(request, url, gate).await {
        Ok(it) => {
            let status = it.status().as_u16();
            (it, Some(status))
        }
        Err(err) if err.retryable() || err.code() == Code::TlsFailed => {
            (refusal(StatusCode::BAD_GATEWAY, ERROR_HEADER, err.code()), None)
        }
        Err(err) => (refuse(url, err.message(), false, gate), None),
    }
}

async fn send_upstream(
    request: Request<Full<Bytes>>,
    url: &str,
    gate: &Gate,
) -> Result<Response<Body>> {
    let policy = &gate.policy;
    let pinned = policy.pin(&policy.check(url)?).await?;
    let stream = connect(&pinned).await?;
    let host = pinned.url().host().to_owned();
    if request.uri().scheme_str() != Some("https") {
        return send_request(request, &host, stream).await;
    }
    let authorities = match policy.test_ca(&host) {
        Some(ca) => Authorities::Given(ca.to_vec()),
        None => Authorities::Machine,
    };
    let stream = gate.vouched.reached(stream, &host, authorities, vec![PROTOCOL.to_vec()]).await?;
    send_request(request, &host, stream).await
}

/// A page that may not come leaves the present one where it is.
fn refuse(url: &str, why: &str, is_page: bool, gate: &Arc<Gate>) -> Response<Body> {
    let mut state = gate.lock();
    if state.refused.len() < TOLD {
        state.refused.push((url.to_owned(), why.to_owned()));
    }
    drop(state);
    let status = if is_page { STAYS } else { StatusCode::FORBIDDEN };
    refusal(status, BLOCKED_HEADER, Code::UrlBlocked)
}

#[cfg(test)]
#[path = "gateway_tests.rs"]
mod tests;
