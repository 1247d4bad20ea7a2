//! The only way out of a browser context: a proxy on loopback that asks the egress policy about every hop.
//!
//! Plain http arrives in absolute form and is forwarded; https and WebSockets arrive as CONNECT, of which only host and
//! port can be judged here. What is blocked is answered with 403 and written down.
//!
//! Any process of this machine can connect to it. So it answers nobody but the browser, which is told a random word over its
//! pipe when it is asked for one (`guard.rs`), and then sends it by itself, with WebSockets and workers, too.

use std::{
    collections::VecDeque,
    convert::Infallible,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures::future::BoxFuture;
use http_body_util::{BodyExt, Empty, combinators::BoxBody};
use hyper::{
    Method, Request, Response, StatusCode, Uri,
    body::Incoming,
    header::{
        HeaderMap, HeaderName, HeaderValue, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, UPGRADE,
    },
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

use super::{
    own_host_scope::ContextPolicy,
    tls_trust::{Authorities, TlsTrust},
};
use commis_artifacts::recording::BlockedRequest;
use commis_base::{
    error::{Code, Error, Result},
    ids::random_token,
};
use commis_net::{
    egress::{EgressPolicy, PinnedUrl},
    transport::TransportLimits,
};
use commis_recipe::headers::HOP_BY_HOP;

pub(super) const USER: &str = "commis";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection on which nothing is asked for so long is closed. Chromium itself keeps one for each host for five minutes, and up to 256
/// of them; it opens another where it needs one.
pub(super) const IDLE: Duration = Duration::from_secs(30);
/// Refusals that are named one by one; a page can cause any number.
pub const MAX_BLOCKED: usize = 500;
/// Hosts of which it is known why they were not reached, newest first.
const MAX_UNREACHED: usize = 50;
/// Marks an answer as ours. Taken away from answers of servers, so that none can forge it over http.
pub const BLOCKED_HEADER: &str = "x-commis-blocked";
pub const ERROR_HEADER: &str = "x-commis-error";

pub(super) type Body = BoxBody<Bytes, hyper::Error>;

/// A listening proxy; dropping it closes the listener and every connection.
pub struct Proxy {
    addr: SocketAddr,
    word: String,
    log: Log,
    accepting: JoinHandle<()>,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1. Fails with [`Code::BrowserFailed`], and with [`Code::Internal`] without randomness.
    pub async fn start(visit: Arc<ContextPolicy>, vouched: Option<Arc<TlsTrust>>) -> Result<Self> {
        let failed =
            |err| Error::new(Code::BrowserFailed, "cannot start the egress proxy").source(err);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let addr = listener.local_addr().map_err(failed)?;
        let word = random_token()?;
        let log = Log::default();
        let credentials = credentials(&word)?;
        let gate = Gate { visit, vouched, log: Arc::clone(&log), credentials };
        let accepting = tokio::spawn(accept(listener, Arc::new(gate)));
        Ok(Self { addr, word, log, accepting })
    }

    /// As `createBrowserContext` wants it.
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// The answer to its question who is asking, as `Fetch.continueWithAuth` wants it.
    pub fn credentials(&self) -> Value {
        json!({ "response": "ProvideCredentials", "username": USER, "password": self.word })
    }

    /// What was refused so far. A CONNECT shows as `https://host:port/`.
    pub fn blocked(&self) -> Vec<BlockedRequest> {
        lock(&self.log).blocked.clone()
    }

    /// Why a host was not reached, when it was last asked for.
    pub fn trouble(&self, host: &str) -> Option<(Code, String)> {
        let log = lock(&self.log);
        let last = log.unreached.iter().find(|it| it.0 == host)?;
        Some((last.1, last.2.clone()))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

type Log = Arc<Mutex<ProxyLog>>;

#[derive(Default)]
struct ProxyLog {
    blocked: Vec<BlockedRequest>,
    /// Host, code and cause.
    unreached: VecDeque<(String, Code, String)>,
}

fn lock(log: &Log) -> std::sync::MutexGuard<'_, ProxyLog> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What every connection is held to.
struct Gate {
    visit: Arc<ContextPolicy>,
    vouched: Option<Arc<TlsTrust>>,
    log: Log,
    /// Without these, nothing is answered.
    credentials: HeaderValue,
}

/// RFC 7617.
pub(super) fn credentials(word: &str) -> Result<HeaderValue> {
    let mut out =
        HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(format!("{USER}:{word}"))))
            .map_err(|err| {
                Error::new(Code::Internal, "cannot write the credentials of the proxy as a header")
                    .source(err)
            })?;
    out.set_sensitive(true);
    Ok(out)
}

/// What runs beside a connection that became a tunnel.
pub(super) type Tunnels = Mutex<JoinSet<()>>;

/// Whoever answers a browser that takes it for its proxy.
pub(super) trait ProxyHandler: Send + Sync + 'static {
    /// Without these, nothing is answered.
    fn credentials(&self) -> &HeaderValue;

    fn answer(
        self: Arc<Self>,
        request: Request<Incoming>,
        tunnels: Arc<Tunnels>,
    ) -> BoxFuture<'static, Response<Body>>;
}

/// Takes connections until it is dropped; they end with it.
pub(super) async fn accept<G: ProxyHandler>(listener: TcpListener, gate: Arc<G>) {
    // Connections live in this task's set, so that aborting it ends them all.
    let mut connections = JoinSet::new();
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else {
                    // Out of descriptors, most likely.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                stream
            }
            Some(_) = connections.join_next() => continue,
        };
        let _ = stream.set_nodelay(true);
        let gate = Arc::clone(&gate);
        connections.spawn(async move {
            let tunnels = Arc::<Tunnels>::default();
            let service = service_fn(|request: Request<Incoming>| {
                let (gate, tunnels) = (Arc::clone(&gate), Arc::clone(&tunnels));
                async move {
                    let known =
                        request.headers().get(PROXY_AUTHORIZATION) == Some(gate.credentials());
                    let answer =
                        if known { gate.answer(request, tunnels).await } else { challenge() };
                    Ok::<_, Infallible>(answer)
                }
            });
            let _ = hyper::server::conn::http1::Builder::new()
                .preserve_header_case(true)
                .timer(TokioTimer::new())
                .header_read_timeout(IDLE)
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades()
                .await;
            let mut tunnels =
                std::mem::take(&mut *tunnels.lock().unwrap_or_else(PoisonError::into_inner));
            while tunnels.join_next().await.is_some() {}
        });
    }
}

/// Who asks has to say who it is.
fn challenge() -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::PROXY_AUTHENTICATION_REQUIRED;
    let challenge = HeaderValue::from_static("Basic realm=\"commis\"");
    response.headers_mut().insert(PROXY_AUTHENTICATE, challenge);
    response
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
        Box::pin(async move { answer(request, &self, &tunnels).await })
    }
}

async fn answer(request: Request<Incoming>, gate: &Gate, tunnels: &Tunnels) -> Response<Body> {
    let connect = request.method() == Method::CONNECT;
    let url = if connect { tunnel_url(request.uri()) } else { request.uri().to_string() };
    let outcome = if gate.visit.is_offline() {
        Err(Error::new(
            Code::UrlBlocked,
            "a page that is rendered from a recording may not use the network",
        ))
    } else if gate.visit.is_seen_alone() && is_unseen(&request, &url) {
        Err(Error::new(
            Code::UrlBlocked,
            "a WebSocket or prefetch is blocked, because the egress policy cannot check it",
        ))
    } else if connect {
        tunnel(request, &url, gate, tunnels).await
    } else {
        forward(request, &url, gate.visit.policy()).await
    };
    outcome.unwrap_or_else(|err| {
        let network = matches!(
            err.code(),
            Code::DnsFailed | Code::ConnectFailed | Code::Timeout | Code::HeadersTooLarge
        );
        if network {
            let url = url::Url::parse(&url).ok();
            let host = url.as_ref().and_then(url::Url::host_str).unwrap_or_default();
            let unreached = &mut lock(&gate.log).unreached;
            unreached.truncate(MAX_UNREACHED - 1);
            unreached.push_front((host.to_owned(), err.code(), err.to_string()));
            return refusal(StatusCode::BAD_GATEWAY, ERROR_HEADER, err.code());
        }
        note(&gate.log, url, &err);
        refusal(StatusCode::FORBIDDEN, BLOCKED_HEADER, err.code())
    })
}

fn note(log: &Log, url: String, err: &Error) {
    let (code, reason) = (err.code().as_str().to_owned(), err.message().to_owned());
    let entry = BlockedRequest { url, code, reason };
    let blocked = &mut lock(log).blocked;
    if blocked.len() < MAX_BLOCKED && !blocked.contains(&entry) {
        blocked.push(entry);
    }
}

/// Whether interception is told nothing of it. A WebSocket in the clear is a tunnel to a port of http; a secure one cannot be told
/// from a page's requests here.
fn is_unseen(request: &Request<Incoming>, url: &str) -> bool {
    let headers = request.headers();
    let ahead = |name: &str| {
        headers.get(name).and_then(|it| it.to_str().ok()).is_some_and(|it| it.contains("prefetch"))
    };
    headers.contains_key(UPGRADE)
        || request.method() == Method::CONNECT && url.starts_with("http:")
        || ahead("sec-purpose")
        || ahead("purpose")
}

/// `host:port` as a URL that the policy can judge; a tunnel to port 80 carries a WebSocket in the clear.
pub(super) fn tunnel_url(target: &Uri) -> String {
    let authority = target.authority().map_or("", |it| it.as_str());
    let scheme = if target.port_u16() == Some(80) { "http" } else { "https" };
    format!("{scheme}://{authority}/")
}

async fn tunnel(
    request: Request<Incoming>,
    url: &str,
    gate: &Gate,
    tunnels: &Tunnels,
) -> Result<Response<Body>> {
    let policy = gate.visit.policy();
    let pinned = policy.pin(&policy.check(url)?).await?;
    let mut upstream = connect(&pinned).await?;
    let host = pinned.url().host().to_owned();
    let authorities = match policy.test_ca(&host) {
        Some(ca) => Some(Authorities::Given(ca.to_vec())),
        None => policy.is_at_own_host(pinned.url()).then_some(Authorities::Machine),
    };
    let held = gate.vouched.clone().zip(authorities);
    let (url, log) = (url.to_owned(), Arc::clone(&gate.log));
    let name = host.clone();
    let task = tunnels.lock().unwrap_or_else(PoisonError::into_inner).spawn(async move {
        let Ok(upgraded) = hyper::upgrade::on(request).await else { return };
        let mut client = TokioIo::new(upgraded);
        let Some((vouched, authorities)) = held else {
            let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
            return;
        };
        if let Err(err) = vouched.carry(client, upstream, &host, authorities).await
            && err.code() == Code::TlsFailed
        {
            note(&log, url, &err);
        }
    });
    gate.visit.track_tunnel(&name, task);
    Ok(Response::new(empty()))
}

async fn forward(
    request: Request<Incoming>,
    url: &str,
    policy: &EgressPolicy,
) -> Result<Response<Body>> {
    let safe = policy.check(url)?;
    let pinned = policy.pin(&safe).await?;
    let stream = connect(&pinned).await?;
    send_request(request, safe.host(), stream).await
}

/// One request in absolute form, over a connection to its host that is for nothing else, and the head of its answer. Fails with
/// `CONNECT_FAILED`, `HEADERS_TOO_LARGE`, `URL_INVALID`.
pub(super) async fn send_request<B, S>(
    mut request: Request<B>,
    to: &str,
    stream: S,
) -> Result<Response<Body>>
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let too_large = || Error::new(Code::HeadersTooLarge, format!("{to} sent too many headers"));
    let failed = |err: hyper::Error| {
        if err.is_parse_too_large() {
            return too_large();
        }
        Error::new(Code::ConnectFailed, format!("no answer from {to}")).source(err)
    };
    let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
        .preserve_header_case(true)
        .handshake(TokioIo::new(stream))
        .await
        .map_err(failed)?;
    // Ends with the body: neither side keeps the connection after `sender` is gone.
    tokio::spawn(connection);

    let path = request.uri().path_and_query().map_or("/", |it| it.as_str());
    let path = path.parse().map_err(|err| {
        Error::new(Code::UrlInvalid, "the path of the request is invalid").source(err)
    })?;
    // The authority was judged; a Host header that says something else must not travel.
    let host = request.uri().authority().and_then(|it| {
        HeaderValue::from_str(it.as_str().rsplit('@').next().unwrap_or_default()).ok()
    });
    *request.uri_mut() = path;
    drop_hop_by_hop(request.headers_mut());
    if let Some(host) = host {
        request.headers_mut().insert(hyper::header::HOST, host);
    }
    let mut response = sender.send_request(request).await.map_err(failed)?;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        // The offer to switch did not travel, so this is no answer to it.
        return Err(Error::new(Code::ConnectFailed, format!("no answer from {to}")));
    }
    if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED {
        // A server is no proxy; the browser would take this for our question.
        return Err(Error::new(Code::ConnectFailed, format!("no answer from {to}")));
    }
    let size: usize =
        response.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > TransportLimits::DEFAULT.headers {
        return Err(too_large());
    }
    if response.headers().contains_key(hyper::header::TRANSFER_ENCODING) {
        // RFC 9112, 6.3: chunks say how long the body is, whatever a length beside them says.
        response.headers_mut().remove(hyper::header::CONTENT_LENGTH);
    }
    drop_hop_by_hop(response.headers_mut());
    response.headers_mut().remove(BLOCKED_HEADER);
    response.headers_mut().remove(ERROR_HEADER);
    Ok(response.map(BodyExt::boxed))
}

/// Only addresses that the policy pinned, in its order.
pub(super) async fn connect(pinned: &PinnedUrl) -> Result<TcpStream> {
    let attempt = async {
        let mut last = None;
        for addr in pinned.addrs() {
            match TcpStream::connect(addr).await {
                Ok(stream) => return Ok(stream),
                Err(err) => last = Some(err),
            }
        }
        let host = pinned.url().host();
        let err = Error::new(Code::ConnectFailed, format!("cannot connect to {host}"));
        Err(match last {
            Some(cause) => err.source(cause),
            None => err,
        })
    };
    let stream = tokio::time::timeout(CONNECT_TIMEOUT, attempt)
        .await
        .map_err(|_| Error::new(Code::Timeout, "connecting took too long"))??;
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// RFC 9110, 7.6.1, and what is meant for proxies.
pub(super) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(hyper::header::CONNECTION)
        .iter()
        .filter_map(|it| it.to_str().ok())
        .flat_map(|it| it.split(','))
        .filter_map(|it| it.trim().parse().ok())
        .collect();
    for name in named {
        headers.remove(name);
    }
    for name in HOP_BY_HOP.into_iter().chain(["proxy-authenticate", "proxy-authorization"]) {
        headers.remove(name);
    }
}

pub(super) fn refusal(status: StatusCode, header: &'static str, code: Code) -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = status;
    response.headers_mut().insert(header, HeaderValue::from_static(code.as_str()));
    response
}

pub(super) fn empty() -> Body {
    Empty::new().map_err(|it| match it {}).boxed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::settings::EgressSettings;

    #[tokio::test]
    async fn nobody_but_the_browser_is_answered() {
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
        let site = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let test_hosts = vec![format!("*.test={}", site.local_addr().unwrap())];
        let settings = EgressSettings { test_hosts, ..EgressSettings::default() };
        let proxy = started(&settings).await;
        let right = credentials(&proxy.word).unwrap();
        let ask = async |head: &str, said: Option<&HeaderValue>| {
            let mut stream = TcpStream::connect(proxy.addr).await.unwrap();
            let said = said.map_or_else(String::new, |it| {
                format!("proxy-authorization: {}\r\n", it.to_str().unwrap())
            });
            let head = format!("{head} HTTP/1.1\r\nhost: shop.test\r\n{said}\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut line = vec![0; 12];
            stream.read_exact(&mut line).await.unwrap();
            String::from_utf8(line).unwrap()
        };
        let wrong = [credentials("no").unwrap(), HeaderValue::from_static("Basic Og==")];
        for head in [
            "GET http://shop.test/",
            "CONNECT shop.test:443",
            "CONNECT shop.test:80",
            // Not even whether it would be refused.
            "GET http://10.0.0.1/",
        ] {
            for said in std::iter::once(None).chain(wrong.iter().map(Some)) {
                assert_eq!(ask(head, said).await, "HTTP/1.1 407", "{head} {said:?}");
            }
        }
        assert!(proxy.blocked().is_empty());
        assert_eq!(ask("CONNECT shop.test:443", Some(&right)).await, "HTTP/1.1 200");
        assert_eq!(ask("GET http://10.0.0.1/", Some(&right)).await, "HTTP/1.1 403");
        assert_ne!(credentials(&started(&settings).await.word).unwrap(), right);
    }

    async fn started(settings: &EgressSettings) -> Proxy {
        let policy = Arc::new(EgressPolicy::new(settings).unwrap());
        Proxy::start(Arc::new(ContextPolicy::new(policy)), None).await.unwrap()
    }

    #[test]
    fn tunnels_are_judged_as_urls() {
        let check = |target: &str, expected: &str| {
            assert_eq!(tunnel_url(&target.parse().unwrap()), expected);
        };
        check("shop.test:443", "https://shop.test:443/");
        check("shop.test:80", "http://shop.test:80/");
        check("[::1]:8443", "https://[::1]:8443/");
    }

    #[test]
    fn hop_by_hop_headers_go() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("connection", "close, x-secret-hop"),
            ("x-secret-hop", "1"),
            ("proxy-connection", "keep-alive"),
            ("accept", "*/*"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        drop_hop_by_hop(&mut headers);
        assert_eq!(headers.len(), 1);
    }
}
