//! An HTTP client that stays out of private networks.

use std::time::Duration;

use super::EgressPolicy;
use commis_base::error::Result;
use commis_net::transport::{PreparedRequest, TransportLimits, public_http::PublicHttp};

/// Sends requests to addresses that the policy has checked, and to no others: each redirect goes through the policy again,
/// proxies of the environment are ignored, answers are bounded after decompression.
pub struct SafeClient(PublicHttp);

/// The most that a call may take.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ClientLimits {
    /// Bytes of a decoded body: 1 MiB.
    pub body: usize,
    /// Bytes of all header names and values of an answer: 64 KiB.
    pub headers: usize,
    /// 5.
    pub redirects: u32,
    /// The whole call with all its redirects: 15 s.
    pub total: Duration,
}

impl Default for ClientLimits {
    fn default() -> Self {
        let TransportLimits { body, headers, redirects, total } = TransportLimits::DEFAULT;
        Self { body, headers, redirects, total }
    }
}

/// What to send.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request {
    pub method: String,
    pub url: String,
    /// Sent to the request's own origin; a redirect elsewhere takes only what can hold no credential.
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// Hosts that redirects may lead to besides the request's own.
    pub hosts: Vec<String>,
}

impl Request {
    /// A GET request without headers. Redirects may lead to its own host alone.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: "GET".to_owned(),
            url: url.into(),
            headers: Vec::new(),
            body: None,
            hosts: Vec::new(),
        }
    }

    /// A POST request with that body. Set `content-type` with [`header`](Self::header).
    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self { method: "POST".to_owned(), body: Some(body.into()), ..Self::get(url) }
    }

    /// Adds a header and returns the request. The name is stored in lower case.
    #[must_use]
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_ascii_lowercase(), value.into()));
        self
    }

    /// Lets redirects lead to that host, too.
    #[must_use]
    pub fn allow_host(mut self, host: &str) -> Self {
        self.hosts.push(host.to_owned());
        self
    }
}

/// What came, whatever its status.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Response {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// Decoded.
    pub body: Vec<u8>,
    /// Where the last redirect led.
    pub url: String,
    pub redirects: u32,
}

impl SafeClient {
    /// Fails with `INTERNAL` when the TLS library cannot be set up.
    pub fn new(policy: &EgressPolicy) -> Result<Self> {
        Self::with_limits(policy, ClientLimits::default())
    }

    /// [`new`](Self::new) with limits of your own. Fails as `new` does.
    pub fn with_limits(policy: &EgressPolicy, limits: ClientLimits) -> Result<Self> {
        let ClientLimits { body, headers, redirects, total } = limits;
        let caps = TransportLimits { body, headers, redirects, total };
        PublicHttp::with_limits(policy.0.clone(), caps).map(Self)
    }

    /// Sends one request. Any status is an answer.
    ///
    /// Fails with the policy's codes (`URL_INVALID`, `URL_BLOCKED`, `DNS_FAILED`, `DNS_BLOCKED`), with `DOMAIN_NOT_ALLOWED` for
    /// a redirect to a host that was not named, with `METHOD_NOT_ALLOWED` and `RECIPE_INVALID` for what cannot be sent, with
    /// `RESPONSE_TOO_LARGE`, `TOO_MANY_REDIRECTS`, `TIMEOUT`, `CONNECT_FAILED`, `TLS_FAILED` or `PARSE_ERROR`.
    pub async fn send(&self, request: &Request) -> Result<Response> {
        let mut allowed_domains = Vec::new();
        if !request.hosts.is_empty() {
            let own = url::Url::parse(&request.url).ok();
            allowed_domains.extend(own.and_then(|it| it.host_str().map(str::to_owned)));
            allowed_domains.extend(request.hosts.iter().cloned());
        }
        let outgoing = PreparedRequest {
            method: request.method.clone(),
            url: request.url.clone(),
            headers: request.headers.clone(),
            body: request.body.clone(),
            allowed_domains,
            own_host: None,
        };
        let reply = self.0.call(&outgoing, None).await?;
        Ok(Response {
            status: reply.status,
            headers: reply.headers,
            body: reply.body,
            url: reply.url,
            redirects: reply.hops,
        })
    }
}
