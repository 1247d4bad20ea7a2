//! One way to send a request: the trait, its caps and its timings.
//!
//! Transports that need a page live in `browser/` and implement [`Transport`] too. Every one of them asks the same
//! `EgressPolicy` for every hop and applies the same [`TransportLimits`]. `context_request` is [`public_http`]'s code with a [`Session`].

mod connect;
pub mod public_http;
pub mod retry;
mod session;
pub mod tls;

use std::time::Duration;

use futures::future::BoxFuture;
use reqwest::{
    Method,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde::{Deserialize, Serialize};

use commis_base::{
    charset,
    error::{Code, Error, Result},
};
use commis_recipe::{headers::is_connection_header, model::TransportKind};

pub use self::session::Session;
pub use commis_recipe::request::PreparedRequest;

/// An answer within the caps. `status` may be anything: judging it is the caller's business.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    /// Decompressed; text in UTF-8.
    pub body: Vec<u8>,
    /// Where the last hop went.
    pub url: String,
    /// Redirects followed.
    pub hops: u32,
    pub timings: Timings,
}

impl Reply {
    /// The first header of that lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// The same with text in UTF-8, as a browser would decode it.
    #[must_use]
    pub fn into_utf8(mut self) -> Self {
        let content_type = self.header("content-type").unwrap_or("").to_owned();
        self.body = charset::to_utf8(&content_type, self.body);
        self
    }

    /// MIME essence, lower case, or empty.
    pub fn mime(&self) -> String {
        let value = self.header("content-type").unwrap_or("");
        value.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
    }
}

/// Microseconds spent; a phase that did not happen is 0. Sums over hops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timings {
    pub validate: u64,
    pub dns: u64,
    /// TCP and TLS; 0 on a pooled connection.
    pub connect: u64,
    /// From sent to response head, connect excluded.
    pub ttfb: u64,
    pub download: u64,
}

/// The same limits for every transport (seed 0.2, `security.md` "Hostile input").
#[derive(Clone, Copy, Debug)]
pub struct TransportLimits {
    /// Decoded body bytes.
    pub body: usize,
    /// Response header bytes, names and values.
    pub headers: usize,
    pub redirects: u32,
    /// Whole call, all hops and the body.
    pub total: Duration,
}

impl TransportLimits {
    pub const DEFAULT: Self = Self {
        body: 1024 * 1024,
        headers: 64 * 1024,
        redirects: 5,
        total: Duration::from_secs(15),
    };
}

/// Content codings that are undone, one at a time: a body under several, or under another, is refused as `PARSE_ERROR` by
/// every transport, because clients differ in what they hand over then.
pub const CODINGS: &[&str] = &["gzip", "deflate", "br", "zstd", "identity"];

/// Method and headers of a request as every transport checks them before it sends anything.
///
/// Fails with `METHOD_NOT_ALLOWED`, or `RECIPE_INVALID` for a header that can not be sent.
pub fn method_and_headers(request: &PreparedRequest) -> Result<(Method, HeaderMap)> {
    let method = match request.method.as_str() {
        "GET" => Method::GET,
        "HEAD" => Method::HEAD,
        "POST" => Method::POST,
        other => {
            let shown: String = other.escape_default().take(20).collect();
            return Err(Error::new(
                Code::MethodNotAllowed,
                format!("method `{shown}` is not allowed"),
            )
            .hint("use GET or POST"));
        }
    };
    let mut headers = HeaderMap::new();
    for (name, value) in &request.headers {
        let parsed = HeaderName::from_bytes(name.as_bytes())
            .ok()
            .filter(|it| !is_connection_header(it.as_str()))
            .ok_or_else(|| bad_header(name))?;
        headers.append(parsed, header_value(name, value)?);
    }
    Ok((method, headers))
}

fn header_value(name: &str, value: &str) -> Result<HeaderValue> {
    HeaderValue::from_bytes(value.as_bytes()).map_err(|_| bad_header(name))
}

fn bad_header(name: &str) -> Error {
    let shown: String = name.escape_default().take(60).collect();
    Error::new(Code::RecipeInvalid, format!("header `{shown}` cannot be sent"))
}

/// Sends one request through the egress policy and returns the answer within the caps.
///
/// Fails with the codes of the policy (`URL_BLOCKED`, `DNS_BLOCKED`, `REDIRECT_BLOCKED`, …), `TIMEOUT`, `CONNECT_FAILED`,
/// `TLS_FAILED`, `PARSE_ERROR` (the body does not decompress), `RESPONSE_TOO_LARGE`, `HEADERS_TOO_LARGE`, `TOO_MANY_REDIRECTS`, `NETWORK_DISABLED`.
pub trait Transport: Send + Sync {
    fn kind(&self) -> TransportKind;
    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>>;
}

impl<T: Transport + ?Sized> Transport for &T {
    fn kind(&self) -> TransportKind {
        (**self).kind()
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        (**self).send(request)
    }
}

#[cfg(test)]
mod vectors_tests;
