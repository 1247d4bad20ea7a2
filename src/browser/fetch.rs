//! The transport that asks the page to fetch: its cookies, its origin, its storage partition; our policy and caps.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{context_state::ContextInner, page};
use commis_base::error::{Code, Error, Result};
use commis_net::transport::{
    self, CODINGS, PreparedRequest, Reply, Timings, Transport, TransportLimits,
};
use commis_recipe::{headers::is_connection_header, model::TransportKind};

/// Redirects are not followed: `manual` gives an opaque answer where `error` would look like a network failure.
const FETCH: &str = "async function (request) {
  const started = performance.now();
  const same = new URL(request.url).origin === location.origin;
  let body;
  if (request.body !== null) body = Uint8Array.from(atob(request.body), it => it.charCodeAt(0));
  let response;
  try {
    response = await fetch(request.url, {
      method: request.method, headers: request.headers, body, redirect: 'manual', cache: 'no-store',
      credentials: same || request.credentials ? 'include' : 'same-origin', signal: AbortSignal.timeout(request.timeout),
    });
    if (response.type === 'opaqueredirect') return { failure: 'redirect' };
    const answered = performance.now();
    const headers = Array.from(response.headers);
    if (headers.reduce((n, it) => n + it[0].length + it[1].length, 0) > request.maxHeaders) return { failure: 'headers' };
    const coding = response.headers.get('content-encoding');
    if (coding !== null && !request.codings.includes(coding.toLowerCase())) return { failure: 'coding' };
    if (coding === null && request.method !== 'HEAD' && Number(response.headers.get('content-length')) > request.maxBody) return { failure: 'body' };
    const chunks = [];
    let size = 0;
    const reader = response.body ? response.body.getReader() : null;
    while (reader) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > request.maxBody) {
        reader.cancel().catch(() => {});
        return { failure: 'body' };
      }
      chunks.push(value);
    }
    let text = '';
    for (const chunk of chunks)
      for (let i = 0; i < chunk.length; i += 32768) text += String.fromCharCode.apply(null, chunk.subarray(i, i + 32768));
    return {
      status: response.status, headers, body: btoa(text), url: response.url,
      ttfb: answered - started, download: performance.now() - answered,
    };
  } catch (error) {
    return { failure: error && error.name === 'TimeoutError' ? 'timeout' : 'network', message: String(error).slice(0, 200) };
  }
}";

/// Implements [`Transport`] in a context's page, which must be open on the site.
#[derive(Clone)]
pub struct InPageFetch {
    shared: Arc<ContextInner>,
    caps: TransportLimits,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Outcome {
    Failed {
        failure: String,
        #[serde(default)]
        message: String,
    },
    Answered {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
        url: String,
        ttfb: f64,
        download: f64,
    },
}

impl InPageFetch {
    pub(super) fn new(shared: Arc<ContextInner>) -> Self {
        Self { shared, caps: TransportLimits::DEFAULT }
    }

    #[must_use]
    #[cfg(test)]
    pub fn with_caps(mut self, caps: TransportLimits) -> Self {
        self.caps = caps;
        self
    }

    async fn fetch(&self, request: &PreparedRequest) -> Result<Reply> {
        let Self { shared, caps } = self;
        let begun = Instant::now();
        // Some that every transport refuses, a page would drop without a word.
        transport::method_and_headers(request)?;
        let policy = shared.policy().for_own_host(request.own_host.as_deref());
        let safe = policy.check(&request.url)?;
        let host = safe.host();
        if !request.allowed_domains.is_empty()
            && request.allowed_domains.iter().all(|it| it != host)
        {
            let message = format!("{host} is not among the recipe's domains");
            return Err(
                Error::new(Code::DomainNotAllowed, message).hint("list it in allowed_domains")
            );
        }
        let validated = Instant::now();
        // The proxy looks up again, through the same cache; here it gives the failure its name.
        policy.pin(&safe).await?;
        let pinned = Instant::now();

        let left = caps.total.saturating_sub(begun.elapsed());
        let headers: Vec<_> = request.headers.iter().filter(|it| is_settable(&it.0)).collect();
        let body = match &*request.method {
            "GET" | "HEAD" => None,
            _ => request.body.as_ref(),
        };
        let argument: Value = json!({
            "url": safe.as_str(),
            "method": request.method,
            "headers": headers,
            "body": body.map(|it| STANDARD.encode(it)),
            // A request that was seen with cookies is sent with them, across origins too.
            "credentials": request.headers.iter().any(|it| it.0.eq_ignore_ascii_case("cookie")),
            "timeout": left.as_millis() as u64,
            "maxBody": caps.body,
            "maxHeaders": caps.headers,
            "codings": CODINGS,
        });
        let page_failed = |err: Error| {
            if shared.cdp.is_closed() {
                return err;
            }
            // The browser lives: this page's failure is this task's.
            Error::new(Code::ConnectFailed, "the page cannot fetch").source(err)
        };
        let frame = shared.main_frame().await.map_err(page_failed)?;
        // The page's own clock ends it; ours is for a page that hangs.
        let patience = left + Duration::from_secs(2);
        let called = page::call(&shared.cdp, &frame, FETCH, &[argument], patience).await;
        let outcome = called.map_err(|err| {
            if begun.elapsed() < caps.total {
                return page_failed(err);
            }
            Error::new(Code::Timeout, format!("no answer from {host} in time")).source(err)
        })?;
        let (failure, message) = match outcome {
            Outcome::Failed { failure, message } => (failure, message),
            Outcome::Answered { status, headers, body, url, ttfb, download } => {
                return reply(
                    Reply {
                        status,
                        headers,
                        body: STANDARD.decode(body).unwrap_or_default(),
                        url: if url.is_empty() { safe.as_str().to_owned() } else { url },
                        hops: 0,
                        timings: Timings {
                            validate: micros(validated - begun),
                            dns: micros(pinned - validated),
                            connect: 0,
                            ttfb: (ttfb * 1000.0) as u64,
                            download: (download * 1000.0) as u64,
                        },
                    }
                    .into_utf8(),
                );
            }
        };
        let err = failed(host, &failure, &message);
        if err.code() == Code::ConnectFailed
            && let Some(distrusted) = shared.distrusted(&safe).await
        {
            return Err(distrusted);
        }
        Err(err)
    }
}

/// What a failure that the page reports means.
fn failed(host: &str, failure: &str, message: &str) -> Error {
    let (code, what) = match failure {
        "redirect" => {
            (Code::RedirectBlocked, "redirects, and a fetch of a page does not follow redirects")
        }
        "headers" => (Code::HeadersTooLarge, "sends headers over the cap"),
        "coding" => (Code::ParseError, "sends a body that cannot be decompressed"),
        "body" => (Code::ResponseTooLarge, "sends a body over the cap"),
        "timeout" => (Code::Timeout, "did not answer in time"),
        _ => (Code::ConnectFailed, "cannot be fetched from the page"),
    };
    let mut text = format!("{host} {what}");
    if !message.is_empty() {
        text = format!("{text}: {message}");
    }
    let err = Error::new(code, text);
    if code == Code::ConnectFailed {
        err.hint("the other origin may forbid this page to read its answers (CORS)")
    } else {
        err
    }
}

/// Our proxy's refusals are not answers of the server. They come over http alone, where the proxy takes such headers away
/// from servers; an https server could send them through its tunnel.
fn reply(mut reply: Reply) -> Result<Reply> {
    for (name, _) in &mut reply.headers {
        name.make_ascii_lowercase();
    }
    let refused =
        reply.header(super::proxy::BLOCKED_HEADER).or(reply.header(super::proxy::ERROR_HEADER));
    if let Some(wire) = refused.filter(|_| reply.url.starts_with("http:")) {
        let code = Code::ALL.iter().copied().find(|it| it.as_str() == wire);
        let host = url::Url::parse(&reply.url).ok().and_then(|it| it.host_str().map(str::to_owned));
        let message = format!("{} did not pass the egress proxy", host.unwrap_or_default());
        return Err(Error::new(code.unwrap_or(Code::ConnectFailed), message));
    }
    Ok(reply)
}

/// Names that a page may set (Fetch standard, "forbidden request-header"); others would be dropped or refused.
fn is_settable(name: &str) -> bool {
    const FORBIDDEN: &[&str] = &[
        "accept-charset",
        "accept-encoding",
        "access-control-request-headers",
        "access-control-request-method",
        "access-control-request-private-network",
        "cookie",
        "cookie2",
        "date",
        "dnt",
        "origin",
        "referer",
        "set-cookie",
        "user-agent",
        "via",
    ];
    let name = name.to_ascii_lowercase();
    !is_connection_header(&name)
        && !FORBIDDEN.contains(&&*name)
        && !name.starts_with("proxy-")
        && !name.starts_with("sec-")
}

fn micros(it: Duration) -> u64 {
    it.as_micros() as u64
}

impl Transport for InPageFetch {
    fn kind(&self) -> TransportKind {
        TransportKind::InPageFetch
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(self.fetch(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_proxy_speaks_for_the_proxy() {
        for (url, want) in [("http://a.test/", Some(Code::DnsBlocked)), ("https://a.test/", None)] {
            let headers = vec![("X-Commis-Blocked".to_owned(), "DNS_BLOCKED".to_owned())];
            let answer = Reply {
                status: 403,
                headers,
                body: Vec::new(),
                url: url.to_owned(),
                hops: 0,
                timings: Timings::default(),
            };
            assert_eq!(reply(answer).err().map(|it| it.code()), want, "{url}");
        }
    }
}
