//! One way to send a request: the trait, its caps and its timings.
//!
//! Transports that need a page live in `browser/` and implement [`Transport`] too. Every one of them asks the same
//! `EgressPolicy` for every hop and applies the same [`Caps`]. `context_request` is [`public_http`]'s code with a [`Session`].

mod connect;
pub mod public_http;
pub mod retry;
mod session;

use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::{error::Result, recipe::model::TransportKind};

pub use self::session::Session;
pub use crate::recipe::request::Outgoing;

/// An answer within the caps, body decoded. `status` may be anything: judging it is the caller's business.
#[derive(Clone)]
pub struct Reply {
    pub status: u16,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
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
pub struct Caps {
    /// Decoded body bytes.
    pub body: usize,
    /// Response header bytes, names and values.
    pub headers: usize,
    pub redirects: u32,
    /// Whole call, all hops and the body.
    pub total: Duration,
}

impl Caps {
    pub const DEFAULT: Self = Self {
        body: 1024 * 1024,
        headers: 64 * 1024,
        redirects: 5,
        total: Duration::from_secs(15),
    };
}

/// Sends one request through the egress policy and returns the answer within the caps.
///
/// Fails with the codes of the policy (`URL_BLOCKED`, `DNS_BLOCKED`, `REDIRECT_BLOCKED`, …), `TIMEOUT`, `CONNECT_FAILED`,
/// `RESPONSE_TOO_LARGE`, `HEADERS_TOO_LARGE`, `TOO_MANY_REDIRECTS`, `NETWORK_DISABLED`.
pub trait Transport: Send + Sync {
    fn kind(&self) -> TransportKind;
    fn send<'a>(&'a self, request: &'a Outgoing) -> BoxFuture<'a, Result<Reply>>;
}

impl<T: Transport + ?Sized> Transport for &T {
    fn kind(&self) -> TransportKind {
        (**self).kind()
    }

    fn send<'a>(&'a self, request: &'a Outgoing) -> BoxFuture<'a, Result<Reply>> {
        (**self).send(request)
    }
}
