//! The daemon as the command line asks it.

use std::time::Duration;

use serde_json::Value;
use zeroize::Zeroizing;

use super::lifecycle::StateFile;
use crate::error::{Code, Error, Result};

pub struct Client {
    http: reqwest::Client,
    url: String,
    token: Zeroizing<String>,
}

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
        Self { http, url: it.url(), token: Zeroizing::new(it.token.clone()) }
    }

    pub async fn is_up(&self) -> bool {
        let url = format!("{}/health", self.url);
        let asked = self.http.get(url).timeout(Duration::from_secs(1)).send().await;
        asked.is_ok_and(|it| it.status().is_success())
    }

    /// Fails with `DAEMON_FAILED` when it does not answer, and with what it answers.
    pub async fn get(&self, path: &str) -> Result<Value> {
        self.send(self.http.get(format!("{}{path}", self.url))).await
    }

    /// As [`Client::get`].
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.send(self.http.post(format!("{}{path}", self.url)).json(body)).await
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
        let failed = |err: reqwest::Error| {
            Error::new(Code::DaemonFailed, "the daemon does not answer")
                .hint("where it has just ended the next command starts another; `commis daemon status` says how it is")
                .source(err.without_url())
        };
        let request = request.bearer_auth(&*self.token).timeout(Duration::from_secs(60));
        let answer = request.send().await.map_err(failed)?;
        let body: Value = answer.json().await.map_err(failed)?;
        if body["ok"] == true {
            return Ok(body);
        }
        let it = &body["error"];
        let code =
            it["error_code"].as_str().and_then(Code::from_wire).unwrap_or(Code::DaemonFailed);
        let err = Error::new(code, it["message"].as_str().unwrap_or("it refuses"));
        Err(match it["hint"].as_str() {
            Some(hint) => err.hint(hint),
            None => err,
        })
    }
}
