//! The only way out for a model's traffic: a bounded hop in this process, in front of the configured endpoint.
//!
//! The client crate reads an answer to its end whatever its size, and puts answers into its errors. So it talks plain HTTP to
//! this hop on loopback, and the hop does what counts: TLS, no redirects, no proxies, no compression, limits of size
//! and time. The key is put in here, so the client crate never holds it; what stands in its place on loopback is a random
//! word, and whoever does not know it is refused.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{Request, Response, StatusCode, body::Incoming, service::service_fn};
use hyper_util::rt::TokioIo;
use reqwest::{
    Url,
    header::{CONTENT_TYPE, HeaderName, HeaderValue},
};
use serde_json::Value;
use tokio::{
    net::TcpListener,
    task::{AbortHandle, JoinSet},
};
use zeroize::Zeroizing;

use super::tool_call_repair::repair_tool_calls;
use commis_base::{
    error::{Code, Error, Result},
    ids::random_token,
};

/// A good answer with its wrapping is a few kilobytes.
const MAX_REPLY: usize = 256 * 1024;
/// What a request may carry upstream, besides the key.
const PASSED: &[&str] = &["content-type", "accept", "anthropic-version", "anthropic-beta"];
/// Where each provider wants the key.
const KEYED: &[&str] = &["authorization", "x-api-key", "x-goog-api-key"];

/// Where calls go, and with what.
pub struct Upstream {
    pub http: reqwest::Client,
    /// Base URL of the API, ending in `/`.
    pub base: Url,
    pub key: Option<Zeroizing<String>>,
}

/// Open until dropped.
pub struct Relay {
    addr: SocketAddr,
    word: String,
    path: String,
    trouble: Arc<Mutex<Option<Error>>>,
    counted: Arc<Mutex<(u64, u64)>>,
    task: AbortHandle,
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Relay {
    /// For requests of at most so many bytes. Fails with `MODEL_FAILED` when loopback cannot be listened on, `INTERNAL` without
    /// randomness.
    pub async fn open(upstream: Arc<Upstream>, most: usize) -> Result<Self> {
        let word = random_token()?;
        let no_port = |err| {
            Error::new(Code::ModelFailed, "cannot listen on loopback for the model").source(err)
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(no_port)?;
        let addr = listener.local_addr().map_err(no_port)?;
        let trouble = Arc::new(Mutex::new(None));
        let counted = Arc::new(Mutex::new((0, 0)));
        let path = upstream.base.path().to_owned();
        let hop = Hop {
            upstream,
            most,
            word: word.clone(),
            trouble: Arc::clone(&trouble),
            counted: Arc::clone(&counted),
        };
        let task = tokio::spawn(serve(listener, Arc::new(hop))).abort_handle();
        Ok(Self { addr, word, path, trouble, counted, task })
    }

    /// What stands for the API's base URL.
    pub fn base(&self) -> String {
        format!("http://{}{}", self.addr, self.path)
    }

    /// What stands for the key.
    pub fn placeholder_key(&self) -> &str {
        &self.word
    }

    /// Why there was no answer, once.
    pub fn take_error(&self) -> Option<Error> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Tokens in and out that the provider counted, whether what it sent was an answer or not.
    pub fn token_counts(&self) -> (u64, u64) {
        *self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Hop {
    upstream: Arc<Upstream>,
    most: usize,
    word: String,
    trouble: Arc<Mutex<Option<Error>>>,
    counted: Arc<Mutex<(u64, u64)>>,
}

/// Connections belong to the relay's own task, so that dropping the relay ends them.
async fn serve(listener: TcpListener, hop: Arc<Hop>) {
    let mut open = JoinSet::new();
    while let Ok((stream, _)) = listener.accept().await {
        let hop = Arc::clone(&hop);
        let service = service_fn(move |request| {
            let hop = Arc::clone(&hop);
            async move { hop.answer(request).await }
        });
        // What went wrong for the client is in `trouble`; a stranger's broken connection is nothing to us.
        open.spawn(
            hyper::server::conn::http1::Builder::new()
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service),
        );
    }
}

impl Hop {
    /// Every failure upstream is the same empty 502 to the client crate.
    async fn answer(
        &self,
        request: Request<Incoming>,
    ) -> std::result::Result<Response<Full<Bytes>>, hyper::Error> {
        if !self.is_authorized(&request) {
            return Ok(empty(StatusCode::FORBIDDEN));
        }
        Ok(self.forward(request).await.unwrap_or_else(|err| {
            *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(err);
            empty(StatusCode::BAD_GATEWAY)
        }))
    }

    fn count(&self, body: &[u8]) {
        if let Some(it) = usage(body) {
            *self.counted.lock().unwrap_or_else(PoisonError::into_inner) = it;
        }
    }

    fn is_authorized(&self, request: &Request<Incoming>) -> bool {
        let knows = |name: &&str| {
            let value = request.headers().get(*name).and_then(|it| it.to_str().ok());
            value.is_some_and(|it| it.ends_with(&self.word))
        };
        request.method() == hyper::Method::POST && KEYED.iter().any(knows)
    }

    async fn forward(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
        let failed = |what: String| Error::new(Code::ModelFailed, what);
        let (head, body) = request.into_parts();
        let body = Limited::new(body, self.most)
            .collect()
            .await
            .map_err(|_| failed(format!("the question is larger than {} bytes", self.most)))?
            .to_bytes();
        let mut url = self.upstream.base.clone();
        url.set_path(head.uri.path());
        if head.uri.query().is_some() {
            url.set_query(head.uri.query());
        }
        let mut sent = self.upstream.http.post(url).body(body);
        for name in PASSED {
            if let Some(value) = head.headers.get(*name) {
                sent = sent.header(*name, value);
            }
        }
        for name in KEYED {
            let value = head.headers.get(*name).and_then(|it| it.to_str().ok());
            if let (Some(value), Some(key)) = (value, &self.upstream.key) {
                let real = Zeroizing::new(value.replace(&self.word, key));
                let mut real = HeaderValue::from_str(&real)
                    .map_err(|_| failed("the key cannot be sent in a header".to_owned()))?;
                real.set_sensitive(true);
                sent = sent.header(HeaderName::from_static(name), real);
            }
        }
        let host = self.upstream.base.host_str().unwrap_or_default().to_owned();
        // A cause may hold a URL, never a header or a body; the URL is the endpoint's.
        let gone = |err: reqwest::Error| {
            let what = if err.is_timeout() {
                "did not answer in time"
            } else if err.is_connect() {
                "cannot be reached"
            } else {
                "broke the connection"
            };
            failed(format!("the model at `{host}` {what}"))
                .hint("check `timeout_s` and `endpoint` under [model], then try again (learning: with --resume)")
        };
        let mut reply = sent.send().await.map_err(gone)?;
        let status = reply.status();
        if !status.is_success() {
            let mut body = Vec::new();
            while let Ok(Some(chunk)) = reply.chunk().await
                && body.len() + chunk.len() <= MAX_REPLY
            {
                body.extend_from_slice(&chunk);
            }
            self.count(&body);
            return Err(failed(format!("the model at `{host}` answered with status {status}"))
                .hint(hint(status.as_u16())));
        }
        let mime = reply.headers().get(CONTENT_TYPE).cloned();
        let mut out = Vec::new();
        while let Some(chunk) = reply.chunk().await.map_err(gone)? {
            if out.len() + chunk.len() > MAX_REPLY {
                return Err(failed(format!(
                    "the model at `{host}` answered with more than {MAX_REPLY} bytes"
                )));
            }
            out.extend_from_slice(&chunk);
        }
        self.count(&out);
        let mut answer = Response::new(Full::new(Bytes::from(repair_tool_calls(out))));
        if let Some(mime) = mime {
            answer.headers_mut().insert(CONTENT_TYPE, mime);
        }
        Ok(answer)
    }
}

/// The tokens that an answer says it took, in the words of each provider.
fn usage(body: &[u8]) -> Option<(u64, u64)> {
    let answer: Value = serde_json::from_slice(body).ok()?;
    let usage = answer.get("usage").or_else(|| answer.get("usageMetadata"))?;
    let count =
        |names: [&str; 3]| names.iter().find_map(|it| usage.get(*it)?.as_u64()).unwrap_or(0);
    Some((
        count(["input_tokens", "prompt_tokens", "promptTokenCount"]),
        count(["output_tokens", "completion_tokens", "candidatesTokenCount"]),
    ))
}

fn hint(status: u16) -> &'static str {
    match status {
        300..=399 => "redirects are not followed; set `endpoint` under [model] to where it leads",
        401 | 403 => "check the key in the variable that `commis doctor` names",
        404 => "check the model's name, and that `endpoint` is the API's base URL",
        429 => "the provider limits the rate; try again later (learning: with --resume)",
        500..=599 => "the provider has trouble; try again later (learning: with --resume)",
        _ => "check name, endpoint and `max_tokens` under [model]",
    }
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut out = Response::new(Full::new(Bytes::new()));
    *out.status_mut() = status;
    out
}
