//! The daemon as the command line asks it.

use std::time::Duration;

use serde_json::Value;
use zeroize::Zeroizing;

use super::state_file::StateFile;
use commis_base::error::{Code, Error, Result};

pub struct Client {
    http: reqwest::Client,
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

impl Client {
    /// For the daemon of that file: one that was found alive, so that no other is sent the token.
    pub fn new(it: &StateFile) -> Self {
        // Loopback speaks no TLS, but the client wants to know how it would. One that is chosen already does as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // Without a proxy, whatever the environment says: this is loopback.
        let http =
            reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        // And without certificates, which take longer to read than a command takes.
        let http = http.connect_timeout(Duration::from_secs(2)).tls_certs_only([]);
        let http = http.build().unwrap_or_default();
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
        let url = format!("{}/health", self.url);
        let asked = self.http.get(url).timeout(Duration::from_secs(1)).send().await;
        asked.is_ok_and(|it| it.status().is_success())
    }

    /// Reads. Where the daemon refuses for the rate of requests and says when to ask again, this waits and asks again, up to
    /// the patience for one request. Fails with `DAEMON_FAILED` when it does not answer, and with what it answers.
    pub async fn get(&self, path: &str) -> Result<Value> {
        let until = tokio::time::Instant::now() + self.timeout;
        loop {
            let body = self.exchange(self.http.get(format!("{}{path}", self.url))).await?;
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
        self.send(self.http.post(format!("{}{path}", self.url)).json(body)).await
    }

    /// Asks for something as a task, which it does not wait for. As [`Client::get`].
    pub async fn begin(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.http.post(format!("{}{path}", self.url)).json(body);
        self.send(request.header("prefer", "respond-async")).await
    }

    /// As [`Client::get`].
    pub async fn delete(&self, path: &str) -> Result<Value> {
        self.send(self.http.delete(format!("{}{path}", self.url))).await
    }

    /// A request of the caller's own, with the token.
    pub fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&*self.token)
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Value> {
        let body = self.exchange(request).await?;
        if body["ok"] == true { Ok(body) } else { Err(refusal(&body)) }
    }

    /// The answer, be it a refusal. Fails with `DAEMON_FAILED`.
    async fn exchange(&self, request: reqwest::RequestBuilder) -> Result<Value> {
        let request = request.bearer_auth(&*self.token).timeout(self.timeout);
        let mut answer = std::pin::pin!(request.send());
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
        answer.map_err(daemon_error)?.json().await.map_err(daemon_error)
    }

    /// A stream of events from after that one on. Fails as [`Client::get`].
    pub async fn stream(&self, path: &str, after: Option<u64>) -> Result<EventStream> {
        let mut request = self.request(reqwest::Method::GET, path);
        if let Some(it) = after {
            request = request.header("last-event-id", it.to_string());
        }
        let answer = request.send().await.map_err(daemon_error)?;
        if !answer.status().is_success() {
            return Err(refusal(&answer.json().await.map_err(daemon_error)?));
        }
        Ok(EventStream { answer, rest: Vec::new() })
    }
}

fn daemon_error(err: reqwest::Error) -> Error {
    Error::new(Code::DaemonFailed, "the daemon does not answer")
        .hint("run the command again, which starts a new daemon if this one has ended; see `commis daemon status`")
        .source(err.without_url())
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
    answer: reqwest::Response,
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
            self.rest.extend_from_slice(&self.answer.chunk().await.ok()??);
        }
    }
}
