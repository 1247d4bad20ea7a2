//! The floor: the same bytes through the same HTTP client, pooled, with no policy, no template and no extraction.
//!
//! The client is built with the transport's own options, but knows all hosts at once, and the requests are built before.

use std::time::Duration;

use bytes::Bytes;
use reqwest::{Certificate, Client, Request, header, redirect::Policy};
use url::Url;

use super::site::Site;
use commis_base::error::{Code, Error, Result};
use commis_net::transport::PreparedRequest;

const REDIRECTS: usize = 5;

/// The requests behind one recipe: one, or as many as there are redirects.
pub struct Floor {
    client: Client,
    hops: Vec<Request>,
}

/// The client; every host leads to the site, and is held to its authority.
pub fn client(site: &Site, hosts: &[String]) -> Result<Client> {
    let ca = Certificate::from_pem(site.ca_pem.as_bytes()).map_err(send_error)?;
    let mut out = Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_secs(5))
        .pool_max_idle_per_host(8)
        .pool_idle_timeout(Duration::from_secs(60))
        .user_agent("commis-bench")
        .tls_certs_only([ca]);
    for host in hosts {
        out = out.resolve(host, site.addr);
    }
    out.build().map_err(send_error)
}

impl Floor {
    /// Sends the request once and remembers its redirects. Also returns the body and its content type.
    ///
    /// Fails with `CONNECT_FAILED`, also when the answer is not a success.
    pub async fn new(client: Client, request: &PreparedRequest) -> Result<(Self, Bytes, String)> {
        let wrong = |what: &str| Error::new(Code::ConnectFailed, format!("the floor: {what}"));
        let method = request.method.parse().map_err(|_| wrong("no such method"))?;
        let mut first = client.request(method, &request.url);
        for (name, value) in &request.headers {
            first = first.header(name, value);
        }
        if let Some(body) = &request.body {
            first = first.body(body.clone());
        }
        let mut hops = vec![first.build().map_err(send_error)?];
        while hops.len() <= REDIRECTS {
            let Some(last) = hops.last().and_then(Request::try_clone) else {
                return Err(wrong("a request that cannot be repeated"));
            };
            let from = last.url().clone();
            let headers = last.headers().clone();
            let response = client.execute(last).await.map_err(send_error)?;
            if !response.status().is_redirection() {
                let response = response.error_for_status().map_err(send_error)?;
                let mime = text(response.headers(), &header::CONTENT_TYPE);
                let body = response.bytes().await.map_err(send_error)?;
                return Ok((Self { client, hops }, body, mime));
            }
            let next = from.join(&text(response.headers(), &header::LOCATION));
            let next: Url = next.map_err(|_| wrong("a redirect to nowhere"))?;
            hops.push(client.get(next).headers(headers).build().map_err(send_error)?);
        }
        Err(wrong("too many redirects"))
    }

    /// The body of the last answer. Fails with `CONNECT_FAILED`.
    pub async fn send(&self) -> Result<Bytes> {
        let mut body = Bytes::new();
        for hop in &self.hops {
            let Some(request) = hop.try_clone() else { continue };
            let response = self.client.execute(request).await.map_err(send_error)?;
            body = response.bytes().await.map_err(send_error)?;
        }
        Ok(body)
    }
}

fn text(headers: &header::HeaderMap, name: &header::HeaderName) -> String {
    headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default().to_owned()
}

fn send_error(err: reqwest::Error) -> Error {
    Error::new(Code::ConnectFailed, "the floor's request failed").source(err)
}
