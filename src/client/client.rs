//! The daemon as the command line asks it.

use std::time::Duration;

use http::{Method, Request, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper_util::{
    client::legacy::{self, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde_json::Value;
use zeroize::Zeroizing;

use crate::state_file::StateFile;
use commis_base::error::{Code, Error, Result};

/// Asks one daemon. It speaks HTTP on loopback only: without TLS, a proxy or redirects, whatever the environment says.
pub struct Client {
    http: legacy::Client<HttpConnector, Full<Bytes>>,
    url: String,
    token: Zeroizing<String>,
    pid: u32,
    /// Who is told that it takes long.
    tell: Option<fn(&str)>,
    /// For one request.
    timeout: Duration,
}

/// For one request, and for one that does many things.
const PATIENCE: Duration = Duration::from_secs(60);
const LONG: Duration = Duration::from_secs(3600);
/// A daemon that has not answered for so long is looked after, and waited for.
const SLOW: Duration = Duration::from_secs(2);
const CONNECT: Duration = Duration::from_secs(2);

impl Client {
    /// For the daemon of that file: one that was found alive, so that no other is sent the token.
    pub fn new(it: &StateFile) -> Self {
        let mut connector = HttpConnector::new();
        connector.set_connect_timeout(Some(CONNECT));
        connector.set_nodelay(true);
        let http = legacy::Client::builder(TokioExecutor::new()).build(connector);
        let token = Zeroizing::new(it.token.clone());
        Self { http, url: it.url(), token, pid: it.pid, tell: None, timeout: PATIENCE }
    }

    /// Tells somebody where the daemon does not answer for a while. It is never taken for dead: its process is there.
    #[must_use]
    pub fn telling(self, tell: fn(&str)) -> Self {
        Self { tell: Some(tell), ..self }
    }

    /// Asks for something that consists of many acts, each of which has a deadline of its own.
    #[must_use]
    pub fn patient(self) -> Self {
        Self { timeout: LONG, ..self }
    }

    pub async fn is_up(&self) -> bool {
        let Ok(request) = self.request(Method::GET, "/health").body(Full::default()) else {
            return false;
        };
        let answer = tokio::time::timeout(Duration::from_secs(1), self.http.request(request)).await;
        matches!(answer, Ok(Ok(it)) if it.status().is_success())
    }

    /// Reads. Where the daemon refuses for the rate of requests and says when to ask again, this waits and asks again, up to
    /// the patience for one request. Fails with `DAEMON_FAILED` when it does not answer, and with what it answers.
    pub async fn get(&self, path: &str) -> Result<Value> {
        let until = tokio::time::Instant::now() + self.timeout;
        loop {
            let body = self.exchange(self.request(Method::GET, path), None).await?;
            let wait = body["error"]["retry_after_sec"].as_u64().map(Duration::from_secs);
            match wait {
                _ if body["ok"] == true => return Ok(body),
                Some(wait) if tokio::time::Instant::now() + wait < until => {
                    tokio::time::sleep(wait).await;
                }
                _ => return Err(refusal(&body)),
            }
        }
    }

    /// As [`Client::get`].
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send(self.request(Method::POST, path), Some(body)).await
    }

    /// Asks for something as a task, which it does not wait for. As [`Client::get`].
    pub async fn begin(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.request(Method::POST, path).header("prefer", "respond-async");
        self.send(request, Some(body)).await
    }

    /// As [`Client::get`].
    pub async fn delete(&self, path: &str) -> Result<Value> {
        self.send(self.request(Method::DELETE, path), None).await
    }

    fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let token = Zeroizing::new(format!("Bearer {}", &*self.token));
        let url = format!("{}{path}", self.url);
        Request::builder().method(method).uri(url).header(header::AUTHORIZATION, &*token)
    }

    async fn send(&self, request: http::request::Builder, body: Option<&Value>) -> Result<Value> {
        let body = self.exchange(request, body).await?;
        if body["ok"] == true { Ok(body) } else { Err(refusal(&body)) }
    }

    /// The answer, be it a refusal. Fails with `DAEMON_FAILED`.
    async fn exchange(
        &self,
        request: http::request::Builder,
        body: Option<&Value>,
    ) -> Result<Value> {
        let request = with_body(request, body)?;
        let answer = async {
            let answer = self.http.request(request).await.map_err(daemon_error)?;
            let bytes = answer.into_body().collect().await.map_err(daemon_error)?.to_bytes();
            serde_json::from_slice(&bytes).map_err(daemon_error)
        };
        let mut answer = std::pin::pin!(tokio::time::timeout(self.timeout, answer));
        let answer = if let Ok(it) = tokio::time::timeout(SLOW, &mut answer).await {
            it
        } else {
            // Some things take long; a daemon that answers nothing else either is busy, or was stopped.
            if let Some(tell) = self.tell
                && !self.is_up().await
            {
                let pid = self.pid;
                tell(&format!(
                    "the daemon, process {pid}, is busy or was stopped: it is waited for, not replaced"
                ));
            }
            answer.await
        };
        answer.map_err(daemon_error)?
    }

    /// A stream of events from after that one on. Fails as [`Client::get`].
    pub async fn stream(&self, path: &str, after: Option<u64>) -> Result<EventStream> {
        let mut request = self.request(Method::GET, path);
        if let Some(it) = after {
            request = request.header("last-event-id", it.to_string());
        }
        let answer = self.http.request(with_body(request, None)?).await.map_err(daemon_error)?;
        let (head, body) = answer.into_parts();
        if !head.status.is_success() {
            let bytes = body.collect().await.map_err(daemon_error)?.to_bytes();
            return Err(refusal(&serde_json::from_slice(&bytes).map_err(daemon_error)?));
        }
        Ok(EventStream { body, rest: Vec::new() })
    }
}

/// The request with that body as JSON, or with none. Fails with `DAEMON_FAILED` where the path is none.
fn with_body(
    request: http::request::Builder,
    body: Option<&Value>,
) -> Result<Request<Full<Bytes>>> {
    let request = match body {
        Some(it) => request
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(it.to_string())),
        None => request.body(Full::default()),
    };
    request.map_err(|err| {
        Error::new(Code::DaemonFailed, "the path of the request is invalid").source(err)
    })
}

fn daemon_error(err: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(Code::DaemonFailed, "the daemon does not answer")
        .hint("run the command again, which starts a new daemon if this one has ended; see `commis daemon status`")
        .source(err)
}

fn refusal(body: &Value) -> Error {
    let it = &body["error"];
    let code = it["error_code"].as_str().and_then(Code::from_wire).unwrap_or(Code::DaemonFailed);
    let err = Error::new(code, it["message"].as_str().unwrap_or("it refuses"));
    match it["hint"].as_str() {
        Some(hint) => err.hint(hint),
        None => err,
    }
}

/// Server-sent events as ours are: what each says is one line of JSON.
pub struct EventStream {
    body: Incoming,
    rest: Vec<u8>,
}

impl EventStream {
    /// What the next one says; `None` when the stream has ended, or broke.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            while let Some(end) = self.rest.iter().position(|it| *it == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                let said =
                    line.strip_prefix(b"data:").and_then(|it| serde_json::from_slice(it).ok());
                if said.is_some() {
                    return said;
                }
            }
            if let Some(it) = self.body.frame().await?.ok()?.data_ref() {
                self.rest.extend_from_slice(it);
            }
        }
    }
}
