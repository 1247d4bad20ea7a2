//! `public_http`: our own client, with nothing from the environment, and no session unless a call brings one
//! ([`PublicHttp::call`], what `context_request` is made of).
//!
//! reqwest gets one client per set of pinned addresses, whose resolver knows that set and nothing else, so a pooled
//! connection always leads where the policy last looked. Proxies, redirects, retries and the referer are off; redirects
//! are followed here, hop by hop, each through the policy. Bodies are counted after decoding, because reqwest has no
//! limit of its own (measured: 522 KB of gzip became 512 MiB).
//!
//! `Timings::connect` is what a new connection took; on a pooled one it is 0.

use std::{
    collections::BTreeMap,
    error::Error as _,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::{StreamExt as _, future::BoxFuture};
use reqwest::{
    Certificate, Client, Method, Response, Url,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{self, HeaderMap, HeaderName, HeaderValue},
};

use super::{
    PreparedRequest, Reply, Session, Timings, Transport, TransportLimits, header_value,
    method_and_headers, tls,
};
use crate::egress::{EgressPolicy, PinnedUrl, SafeUrl};
use commis_base::error::{Code, Error, Result};
use commis_recipe::model::TransportKind;

const USER_AGENT: &str = concat!("commis/", env!("CARGO_PKG_VERSION"), " (+recipe runner)");
const CONNECT: Duration = Duration::from_secs(5);
const MAX_CLIENTS: usize = 64;
/// What may follow a redirect to another origin; anything else might be a credential under a name of its own.
const HARMLESS: &[HeaderName] =
    &[header::ACCEPT, header::ACCEPT_LANGUAGE, header::CONTENT_TYPE, header::USER_AGENT];
/// Sends requests from this process to pinned addresses.
pub struct PublicHttp {
    policy: Arc<EgressPolicy>,
    caps: TransportLimits,
    clients: Mutex<ClientPool>,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ClientKey {
    scheme: String,
    host: String,
    port: u16,
    addrs: Vec<SocketAddr>,
}

#[derive(Default)]
struct ClientPool {
    uses: u64,
    by_key: BTreeMap<ClientKey, (u64, Client)>,
}

impl PublicHttp {
    pub fn new(policy: Arc<EgressPolicy>) -> Result<Self> {
        Self::with_limits(policy, TransportLimits::DEFAULT)
    }

    /// Fails with `INTERNAL` when the TLS library can not be set up.
    pub fn with_limits(policy: Arc<EgressPolicy>, caps: TransportLimits) -> Result<Self> {
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            // Another thread may win; then its provider is the same one.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        if rustls::crypto::CryptoProvider::get_default().is_none() {
            return Err(Error::new(Code::Internal, "cannot set up TLS"));
        }
        Ok(Self { policy, caps, clients: Mutex::default() })
    }

    /// Sends a request, by itself or in a session. Fails with the codes of [`Transport::send`] and of the session.
    pub async fn call(
        &self,
        request: &PreparedRequest,
        session: Option<&dyn Session>,
    ) -> Result<Reply> {
        let mut timings = Timings::default();
        let follow = self.follow_redirects(request, session, &mut timings);
        match tokio::time::timeout(self.caps.total, follow).await {
            Ok(result) => result,
            Err(_) => Err(Error::new(
                Code::Timeout,
                format!("the site sent no complete answer within {:?}", self.caps.total),
            )),
        }
    }

    async fn follow_redirects(
        &self,
        request: &PreparedRequest,
        mut session: Option<&dyn Session>,
        timings: &mut Timings,
    ) -> Result<Reply> {
        let start = Instant::now();
        let mut hop = Hop::from_outgoing(request)?;
        let policy = self.policy.for_own_host(request.own_host.as_deref());
        let mut url = policy.check(&request.url)?;
        let own = [url.host().to_owned()];
        let allowed = if request.allowed_domains.is_empty() {
            &own[..]
        } else {
            &request.allowed_domains[..]
        };
        if !allowed.iter().any(|it| it == url.host()) {
            return Err(Error::new(
                Code::DomainNotAllowed,
                format!("`{}` is not one of the recipe's domains", url.host()),
            )
            .hint("list it in allowed_domains"));
        }
        if let Some(session) = session {
            hop.add_identity(session.identity_headers(&url))?;
        }
        timings.validate += micros(start);
        let mut hops = 0;
        loop {
            let start = Instant::now();
            let pinned = policy.pin(&url).await?;
            timings.dns += micros(start);
            if let Some(session) = session {
                hop.set_cookies(session.cookies(&url).await?)?;
            }

            let start = Instant::now();
            let (response, connect) =
                super::connect::measure_connects(self.exchange(&pinned, &hop)).await;
            let response = response?;
            timings.connect += connect;
            timings.ttfb += micros(start).saturating_sub(connect);
            let size: usize = response
                .headers()
                .iter()
                .map(|(name, value)| name.as_str().len() + value.len())
                .sum();
            if size > self.caps.headers {
                return Err(headers_too_large(&url));
            }
            if response.status() == reqwest::StatusCode::SWITCHING_PROTOCOLS {
                // Nothing was offered to switch to; what follows is no answer.
                return Err(Error::new(
                    Code::ConnectFailed,
                    format!("`{}` switched to an unsupported protocol", url.host()),
                ));
            }
            if let Some(session) = session {
                let set = response.headers().get_all(header::SET_COOKIE);
                // Chromium holds no text that is none either.
                let set = set.iter().filter_map(|it| Some(it.to_str().ok()?.to_owned()));
                session.store_cookies(&url, set.collect()).await?;
            }
            let Some(location) = redirect_location(&response)? else {
                return self.read_reply(response, &url, hops, timings).await;
            };

            let start = Instant::now();
            if hops == self.caps.redirects {
                return Err(Error::new(
                    Code::TooManyRedirects,
                    format!("more than {hops} redirects from `{}`", own[0]),
                ));
            }
            hops += 1;
            let next = policy.redirect(&url, &location, allowed)?;
            let status = response.status().as_u16();
            if hop.body.is_some() && matches!(status, 307 | 308) && !next.same_origin(&url) {
                // The body may hold what only the first origin may see.
                return Err(Error::new(
                    Code::RedirectBlocked,
                    format!(
                        "`{}` redirects a request with a body to `{}`",
                        url.host(),
                        next.host()
                    ),
                ));
            }
            hop.apply_redirect(status, next.same_origin(&url));
            session = session.filter(|_| next.same_origin(&url));
            url = next;
            timings.validate += micros(start);
        }
    }

    async fn exchange(&self, pinned: &PinnedUrl, hop: &Hop) -> Result<Response> {
        let url = pinned.url();
        let mut target = url.url().clone();
        let mut headers = hop.headers.clone();
        // reqwest lets a port in the URL win over the resolver's. For a test host the pinned one must win.
        if target.port().is_some() && pinned.addrs().iter().any(|it| it.port() != url.port()) {
            let host = format!("{}:{}", url.host(), url.port());
            headers.insert(header::HOST, header_value("host", &host)?);
            target
                .set_port(None)
                .map_err(|()| Error::new(Code::Internal, "cannot set the port of the URL"))?;
        }
        #[cfg(any(test, feature = "test-support"))]
        if url.literal().is_some_and(|it| pinned.addrs().iter().all(|addr| addr.ip() != it)) {
            // Nor does it ask a resolver for an address; a stand-in's must win over that too.
            headers.insert(header::HOST, header_value("host", url.host())?);
            let _ = target.set_host(Some("literal.invalid"));
        }
        let mut request =
            self.client(pinned, &target)?.request(hop.method.clone(), target).headers(headers);
        if let Some(body) = &hop.body {
            request = request.body(body.clone());
        }
        let response = request.send().await.map_err(|err| to_error(url, err))?;
        match response.remote_addr() {
            Some(peer) if pinned.addrs().contains(&peer) => Ok(response),
            peer => Err(Error::new(
                Code::UrlBlocked,
                format!(
                    "`{}` was reached at {peer:?}, which is not one of its resolved addresses",
                    url.host()
                ),
            )),
        }
    }

    async fn read_reply(
        &self,
        response: Response,
        url: &SafeUrl,
        hops: u32,
        timings: &mut Timings,
    ) -> Result<Reply> {
        let start = Instant::now();
        let too_large = || {
            Error::new(
                Code::ResponseTooLarge,
                format!("the answer of `{}` is larger than {} bytes", url.host(), self.caps.body),
            )
        };
        // reqwest takes the header away when it decodes.
        let coding = response.headers().get(header::CONTENT_ENCODING);
        if coding.is_some_and(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity")) {
            return Err(undecodable_error(url));
        }
        if response.content_length().is_some_and(|it| it > self.caps.body as u64) {
            return Err(too_large());
        }
        let status = response.status().as_u16();
        let headers: Vec<(String, String)> = response
            .headers()
            .iter()
            // A session's secrets are no part of an answer, as they are none for a page.
            .filter(|(name, _)| **name != header::SET_COOKIE)
            .map(|(name, value)| {
                let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                (name.as_str().to_owned(), value)
            })
            .collect();
        let length = response.content_length().unwrap_or(0);
        let mut body = Vec::with_capacity(length as usize);
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|err| to_error(url, err))?;
            if body.len() + chunk.len() > self.caps.body {
                return Err(too_large());
            }
            body.extend_from_slice(&chunk);
        }
        timings.download += micros(start);
        let url = url.as_str().to_owned();
        Ok(Reply { status, headers, body, url, hops, timings: *timings }.into_utf8())
    }

    /// The client whose connections lead to exactly these addresses.
    fn client(&self, pinned: &PinnedUrl, target: &Url) -> Result<Client> {
        let key = ClientKey {
            scheme: target.scheme().to_owned(),
            host: pinned.url().host().to_owned(),
            port: pinned.url().port(),
            addrs: pinned.addrs().to_vec(),
        };
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        clients.uses += 1;
        let uses = clients.uses;
        if let Some((used, client)) = clients.by_key.get_mut(&key) {
            *used = uses;
            return Ok(client.clone());
        }
        let client = build(pinned, target, &self.policy, self.caps.headers)?;
        if clients.by_key.len() >= MAX_CLIENTS {
            let oldest = clients.by_key.values().map(|it| it.0).min().unwrap_or(0);
            clients.by_key.retain(|_, (used, _)| *used != oldest);
        }
        clients.by_key.insert(key, (uses, client.clone()));
        Ok(client)
    }
}

impl Transport for PublicHttp {
    fn kind(&self) -> TransportKind {
        TransportKind::PublicHttp
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(self.call(request, None))
    }
}

fn build(
    pinned: &PinnedUrl,
    target: &Url,
    policy: &EgressPolicy,
    max_headers: usize,
) -> Result<Client> {
    let host = target.host_str().unwrap_or_default().to_owned();
    let only = FixedResolver { host, addrs: pinned.addrs().to_vec() };
    let mut builder = Client::builder()
        .connector_layer(super::connect::TimingLayer)
        .dns_resolver(Arc::new(only))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .tcp_nodelay(true)
        .connect_timeout(CONNECT)
        .pool_max_idle_per_host(8)
        .pool_idle_timeout(Duration::from_secs(60))
        // Above the cap, which says what was too large; HTTP/2 itself would call it a broken protocol.
        .http2_max_header_list_size(4 * max_headers as u32)
        .user_agent(USER_AGENT);
    if pinned.url().scheme() == "http" {
        // No certificates to load, and none to be missing.
        builder = builder.tls_certs_only([]);
    } else if let Some(ca) = policy.test_ca(pinned.url().host()) {
        // This client knows one host, so nobody else is held to the test CA.
        let failed = |err| Error::new(Code::SettingsInvalid, "cannot use the test CA").source(err);
        let ca: Result<Vec<_>, _> = ca.iter().map(|it| Certificate::from_der(it)).collect();
        builder = builder.tls_certs_only(ca.map_err(failed)?);
    }
    builder
        .build()
        .map_err(|err| Error::new(Code::ConnectFailed, "cannot set up the HTTP client").source(err))
}

/// A resolver that knows one name.
struct FixedResolver {
    host: String,
    addrs: Vec<SocketAddr>,
}

impl Resolve for FixedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let found = if name.as_str().eq_ignore_ascii_case(&self.host) {
            Ok(Box::new(self.addrs.clone().into_iter()) as Addrs)
        } else {
            Err("not the pinned host".into())
        };
        Box::pin(std::future::ready(found))
    }
}

/// What the next exchange sends.
struct Hop {
    method: Method,
    headers: HeaderMap,
    body: Option<Vec<u8>>,
}

impl Hop {
    /// Fails as [`parts`].
    fn from_outgoing(request: &PreparedRequest) -> Result<Self> {
        let (method, mut headers) = method_and_headers(request)?;
        for (name, value) in &mut headers {
            // It may be a credential: kept out of debug output and of HPACK's tables.
            value.set_sensitive(!HARMLESS.contains(name));
        }
        headers.entry(header::ACCEPT).or_insert(HeaderValue::from_static("*/*"));
        Ok(Self { method, headers, body: request.body.clone() })
    }

    fn add_identity(&mut self, headers: Vec<(&'static str, String)>) -> Result<()> {
        for (name, value) in headers {
            let value = header_value(name, &value)?;
            self.headers.entry(HeaderName::from_static(name)).or_insert(value);
        }
        Ok(())
    }

    /// The session's cookies and no others.
    fn set_cookies(&mut self, cookies: Option<String>) -> Result<()> {
        self.headers.remove(header::COOKIE);
        if let Some(cookies) = cookies {
            let mut value = header_value("cookie", &cookies)?;
            value.set_sensitive(true);
            self.headers.insert(header::COOKIE, value);
        }
        Ok(())
    }

    /// Fetch standard, "HTTP-redirect fetch": 307 and 308 repeat the request; the others make a POST a GET. Credentials do
    /// not cross origins.
    fn apply_redirect(&mut self, status: u16, same_origin: bool) {
        if !matches!(status, 307 | 308) && self.method != Method::HEAD {
            self.method = Method::GET;
            self.body = None;
            self.headers.remove(header::CONTENT_TYPE);
        }
        if !same_origin {
            let old = std::mem::take(&mut self.headers);
            for name in HARMLESS {
                if let Some(value) = old.get(name) {
                    self.headers.insert(name, value.clone());
                }
            }
        }
    }
}

/// Where the answer redirects to. Statuses 300, 304 and 305 are answers like any other, as they are for `fetch`.
fn redirect_location(response: &Response) -> Result<Option<String>> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(header::LOCATION) else {
        return Ok(None);
    };
    let location = std::str::from_utf8(location.as_bytes())
        .map_err(|_| Error::new(Code::RedirectBlocked, "the target of the redirect is not text"))?;
    Ok(Some(location.to_owned()))
}

fn to_error(url: &SafeUrl, err: reqwest::Error) -> Error {
    let host = url.host();
    if let Some(refused) = tls::tls_error(host, &err) {
        return refused.source(err.without_url());
    }
    let mut from_hyper = false;
    let mut cause = err.source();
    while let Some(it) = cause {
        if let Some(it) = it.downcast_ref::<hyper::Error>() {
            if it.is_parse_too_large() {
                return headers_too_large(url);
            }
            from_hyper = true;
        }
        cause = it.source();
    }
    if err.is_decode() && !from_hyper {
        return undecodable_error(url).source(err.without_url());
    }
    let (code, message) = if err.is_timeout() {
        (Code::Timeout, format!("`{host}` did not answer in time"))
    } else if err.is_connect() {
        (Code::ConnectFailed, format!("cannot connect to `{host}`"))
    } else {
        (Code::ConnectFailed, format!("the connection to `{host}` failed"))
    };
    // The URL may hold secrets in its query.
    Error::new(code, message).source(err.without_url())
}

fn undecodable_error(url: &SafeUrl) -> Error {
    Error::new(Code::ParseError, format!("the body that `{}` sent does not decompress", url.host()))
}

fn headers_too_large(url: &SafeUrl) -> Error {
    Error::new(
        Code::HeadersTooLarge,
        format!("`{}` sent too many or too large headers", url.host()),
    )
}

fn micros(since: Instant) -> u64 {
    since.elapsed().as_micros() as u64
}

#[cfg(test)]
#[path = "public_http_tests.rs"]
mod tests;
