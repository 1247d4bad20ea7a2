//! Requests as the sites want to see them, and the few kinds of answer they give.

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::http::header::{self, HeaderValue};
use axum::http::{HeaderMap, StatusCode, Version};
use axum::response::Response;
use bytes::Bytes;
use serde_json::{Value, json};
use url::form_urlencoded;

const MAX_BODY: usize = 1 << 20;

/// One request, read to the end.
pub struct SiteRequest {
    /// Lower case, without port; brackets of an IPv6 address are kept.
    pub host: String,
    /// `HEAD` reads as `GET`; the server drops the body of the answer.
    pub method: String,
    /// As sent, still percent-encoded.
    pub path: String,
    pub query: Vec<(String, String)>,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// It came over TLS.
    pub secure: bool,
    /// `HTTP/1.1`, `HTTP/2.0`.
    pub version: Version,
}

impl SiteRequest {
    /// The error is the answer to send instead.
    pub async fn read(request: Request) -> Result<SiteRequest, Response> {
        let (head, body) = request.into_parts();
        let named = head.headers.get(header::HOST).and_then(|v| v.to_str().ok());
        let authority = head.uri.authority().map(axum::http::uri::Authority::as_str).or(named);
        let Ok(body) = axum::body::to_bytes(body, MAX_BODY).await else {
            return Err(text(StatusCode::PAYLOAD_TOO_LARGE, "body too large\n"));
        };
        let peer = head.extensions.get::<ConnectInfo<super::Peer>>();
        let method = if head.method == "HEAD" { "GET" } else { head.method.as_str() };
        Ok(SiteRequest {
            host: without_port(authority.unwrap_or_default()).to_ascii_lowercase(),
            method: method.to_owned(),
            path: head.uri.path().to_owned(),
            query: pairs(head.uri.query().unwrap_or_default().as_bytes()),
            headers: head.headers,
            body,
            secure: peer.is_some_and(|it| it.0.secure),
            version: head.version,
        })
    }

    /// Method and path, to be matched on.
    pub fn route(&self) -> (&str, &str) {
        (&self.method, &self.path)
    }

    /// A query parameter that is present and not blank.
    pub fn param(&self, name: &str) -> Option<&str> {
        lookup(&self.query, name)
    }

    /// A query parameter as a number within `1..=max`, or `default`.
    pub fn number(&self, name: &str, default: u64, max: u64) -> u64 {
        self.param(name).and_then(|v| v.parse().ok()).unwrap_or(default).clamp(1, max)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|v| v.to_str().ok())
    }

    pub fn cookie(&self, name: &str) -> Option<&str> {
        // HTTP/2 sends one header for each.
        let all = self.headers.get_all("cookie").iter().filter_map(|it| it.to_str().ok());
        all.flat_map(|it| it.split(';'))
            .filter_map(|pair| pair.trim().split_once('='))
            .find_map(|(key, value)| (key == name).then_some(value))
    }

    /// The body as JSON, `Null` when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// The body as form fields.
    pub fn form(&self) -> Vec<(String, String)> {
        pairs(&self.body)
    }
}

/// The value of a field that is present and not blank.
pub fn lookup<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    let (_, value) = fields.iter().find(|(key, _)| key == name)?;
    Some(value.trim()).filter(|v| !v.is_empty())
}

fn pairs(encoded: &[u8]) -> Vec<(String, String)> {
    form_urlencoded::parse(encoded).into_owned().collect()
}

fn without_port(authority: &str) -> &str {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

/// Any answer: status, content type, body.
pub fn answer(status: StatusCode, mime: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    with(response, "content-type", mime)
}

/// The same answer with one more header. A value that is no header value is left out.
pub fn with(mut response: Response, name: &'static str, value: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().append(name, value);
    }
    response
}

pub fn text(status: StatusCode, body: impl Into<Body>) -> Response {
    answer(status, "text/plain; charset=utf-8", body)
}

pub fn html(body: String) -> Response {
    let page = answer(StatusCode::OK, "text/html; charset=utf-8", body);
    with(page, "cache-control", "no-cache")
}

pub fn script(body: impl Into<Body>) -> Response {
    let js = answer(StatusCode::OK, "text/javascript; charset=utf-8", body);
    with(js, "cache-control", "public, max-age=31536000")
}

/// 200 with JSON.
pub fn json(value: &Value) -> Response {
    json_status(StatusCode::OK, value)
}

pub fn json_status(status: StatusCode, value: &Value) -> Response {
    let made = answer(status, "application/json; charset=utf-8", value.to_string());
    with(made, "cache-control", "private, no-store")
}

/// A refusal with `{"error": …}`.
pub fn error(status: StatusCode, message: &str) -> Response {
    json_status(status, &json!({ "error": message }))
}

/// 400: the parameter that the call is about is missing.
pub fn missing(name: &str) -> Response {
    error(StatusCode::BAD_REQUEST, &format!("missing parameter: {name}"))
}

pub fn not_found() -> Response {
    error(StatusCode::NOT_FOUND, "not found")
}

pub fn redirect(to: &str) -> Response {
    with(text(StatusCode::FOUND, "found\n"), "location", to)
}

/// Lets scripts of other origins read the answer.
pub fn shared(ask: &SiteRequest, response: Response) -> Response {
    let origin = ask.header("origin").unwrap_or("*");
    let response = with(response, "access-control-allow-origin", origin);
    with(response, "vary", "origin")
}

/// The answer to a CORS preflight: everything it asked for.
pub fn preflight(ask: &SiteRequest) -> Response {
    let wanted = ask.header("access-control-request-headers").unwrap_or("content-type");
    let response = shared(ask, text(StatusCode::NO_CONTENT, ""));
    let response = with(response, "access-control-allow-methods", "GET, POST, OPTIONS");
    let response = with(response, "access-control-allow-headers", wanted);
    with(response, "access-control-max-age", "600")
}

/// Text made safe for HTML, also inside quoted attributes.
pub fn escape(raw: &str) -> String {
    raw.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_lose_their_port() {
        for (authority, host) in [
            ("shop.test", "shop.test"),
            ("shop.test:8080", "shop.test"),
            ("user@shop.test:80", "shop.test"),
            ("127.0.0.1:9", "127.0.0.1"),
            ("[::1]", "[::1]"),
            ("[::1]:80", "[::1]"),
            ("", ""),
        ] {
            assert_eq!(without_port(authority), host, "{authority}");
        }
    }
}
