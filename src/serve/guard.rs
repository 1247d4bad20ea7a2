//! What a request has to pass before anything else looks at it: whose address it names, where it comes from, how much it is,
//! who sends it, how often.
//!
//! The rules are those of `SECURITY.md`, "The daemon". A page in a browser on this machine reaches the socket, too, so a
//! request is believed for what it shows, never for coming from here.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::{Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode, Uri,
        header::{self, AUTHORIZATION, CONTENT_LENGTH},
        request::Parts,
    },
    middleware::Next,
    response::{IntoResponse as _, Response},
};
use futures::StreamExt as _;
use serde::de::IgnoredAny;
use serde_json::json;

use super::{
    Daemon,
    answer::ApiError,
    connections::AmbiguousLength,
    dashboard,
    dashboard_auth::{AccessDeadline, CsrfToken, is_safe},
    har_uploads,
    principal::{Principal, is_equal_constant_time},
    rates::RateKind,
    refusal::{answer_with, rate_limit_error, refuse},
    viewer_access,
};
use commis_base::error::{Code, Error, Result};

/// Of a request (seed 2.1.1).
pub const MAX_BODY: usize = 256 * 1024;
/// In which a body has to come.
const BODY: Duration = Duration::from_secs(20);
/// Of what is too much, so much is read and thrown away: whoever sends it should read why.
const THROWN_AWAY: usize = 8 * 1024 * 1024;

pub const CSRF: &str = "x-csrf";

/// On every answer.
const HEADERS: [(HeaderName, &str); 8] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), "camera=(), geolocation=(), microphone=()"),
];

/// The rules, in their order. What passes has its [`Principal`] among its extensions, and its body in memory.
pub async fn guard(State(daemon): State<Arc<Daemon>>, request: Request, next: Next) -> Response {
    let mut answer = guarded(&daemon, request, next).await;
    add_headers(&mut answer);
    answer
}

/// Those that every answer has.
pub fn add_headers(answer: &mut Response) {
    for (name, value) in &HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}

async fn guarded(daemon: &Arc<Daemon>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let guard = &daemon.dashboard_auth;
    if let Err((status, why)) = guard.is_ours(&parts.uri, &parts.headers) {
        return log_and_refuse(daemon, &parts.uri, status, why);
    }
    if !guard.comes_from_us(&parts.method, &parts.headers) {
        return log_and_refuse(
            daemon,
            &parts.uri,
            StatusCode::FORBIDDEN,
            "cross-site requests are refused",
        );
    }
    if let Err(answer) = has_one_length(daemon, &parts) {
        return answer;
    }
    let path = parts.uri.path();
    let is_open = path == "/health"
        || path == "/"
        || path == "/bootstrap"
        || path.starts_with("/assets/")
        // What a cookie for one page opens, which is looked at there.
        || path == viewer_access::PATH
        || path.strip_prefix(viewer_access::PATH).is_some_and(|it| it.starts_with('/'));
    let principal = match principal(daemon, &parts) {
        Ok(it) => it,
        Err(_) if is_open && is_safe(&parts.method) => None,
        Err(err) => return err,
    };
    let Some(principal) = principal.or_else(|| (is_open && is_safe(&parts.method)).then(nobody))
    else {
        let refusal = unauthorized(daemon, &parts.uri, "a token is needed");
        return if is_safe(&parts.method) {
            dashboard::instead(refusal, &parts.uri, &parts.headers)
        } else {
            refusal
        };
    };
    if principal.is_dashboard {
        let session = guard.session(&parts.headers);
        let given = parts.headers.get(CSRF).and_then(|it| it.to_str().ok());
        let proven = session
            .as_ref()
            .zip(given)
            .is_some_and(|(it, given)| is_equal_constant_time(&it.csrf, given));
        if !is_safe(&parts.method) && !proven {
            return log_and_refuse(
                daemon,
                &parts.uri,
                StatusCode::FORBIDDEN,
                "the CSRF token of the page is missing",
            );
        }
        if let Some(it) = session {
            parts.extensions.insert(CsrfToken(it.csrf));
            parts.extensions.insert(AccessDeadline(it.until));
        }
    }
    let is_nobodys = principal.id == NOBODY;
    let counted = match path {
        it if is_mcp(it) => RateKind::Mcp,
        it if it.starts_with("/api/browse/") => RateKind::Browse,
        _ => RateKind::Rest,
    };
    if !is_open && let Err(wait) = daemon.rates.take(counted, &principal.id) {
        let trouble = rate_limit_error(wait);
        let refusal = answer_with(StatusCode::TOO_MANY_REQUESTS, *trouble);
        return if is_safe(&parts.method) {
            dashboard::instead(refusal, &parts.uri, &parts.headers)
        } else {
            refusal
        };
    }
    if is_nobodys && !body.is_end_stream() {
        return log_and_refuse(
            daemon,
            &parts.uri,
            StatusCode::BAD_REQUEST,
            "this request takes no body",
        );
    }
    let most = if path == har_uploads::PATH && principal.scopes.is_none() {
        har_uploads::MAX_UPLOAD
    } else {
        MAX_BODY
    };
    let body = match read(daemon, &parts, body, most).await {
        Ok(it) => it,
        Err(answer) => return answer,
    };
    daemon.touch();
    parts.extensions.insert(principal);
    passed(daemon, Request::from_parts(parts, Body::from(body)), next).await
}

/// Whether it is certain where the request ends.
#[expect(clippy::result_large_err, reason = "the answer, whole")]
pub fn has_one_length(daemon: &Daemon, parts: &Parts) -> Result<(), Response> {
    const WHY: &str = "a body has one length, and a request waits until the last is answered";
    if parts.extensions.get::<AmbiguousLength>().is_none() {
        return Ok(());
    }
    let mut out = log_and_refuse(daemon, &parts.uri, StatusCode::BAD_REQUEST, WHY);
    out.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    Err(out)
}

/// Whether what is asked for speaks MCP.
pub fn is_mcp(path: &str) -> bool {
    path == "/mcp" || path.starts_with("/mcp/")
}

/// Answers a request that has passed, whose [`Principal`] is beside it. A stream ends with the token that it was asked for with.
pub async fn passed(daemon: &Arc<Daemon>, request: Request, next: Next) -> Response {
    let principal = request.extensions().get::<Principal>().cloned();
    let answer = next.run(request).await;
    let kind = answer.headers().get(header::CONTENT_TYPE);
    let is_stream = kind.is_some_and(|it| it.as_bytes().starts_with(b"text/event-stream"));
    match principal {
        // Nobody's ends otherwise.
        Some(principal) if is_stream && principal.scopes.is_some() && principal.id != NOBODY => {
            let daemon = Arc::clone(daemon);
            let over = async move { daemon.wait_for_expiry(&principal.id).await };
            answer.map(|it| Body::from_stream(it.into_data_stream().take_until(Box::pin(over))))
        }
        _ => answer,
    }
}

const NOBODY: &str = "nobody";

fn nobody() -> Principal {
    Principal { id: NOBODY.to_owned(), scopes: Some(Vec::new()), is_dashboard: false, by_way: None }
}

/// Who sends it: `None` where it says nothing of that.
#[expect(clippy::result_large_err, reason = "the answer, whole")]
fn principal(daemon: &Arc<Daemon>, parts: &Parts) -> Result<Option<Principal>, Response> {
    let by_cookie =
        || daemon.dashboard_auth.session(&parts.headers).map(|it| Principal::dashboard(&it.id));
    Ok(token_of(daemon, parts)?.or_else(by_cookie))
}

/// Whose token it carries, if it carries one.
#[expect(clippy::result_large_err, reason = "the answer, whole")]
pub fn token_of(daemon: &Arc<Daemon>, parts: &Parts) -> Result<Option<Principal>, Response> {
    let mut given = parts.headers.get_all(AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (None, _) => Ok(None),
        (Some(it), None) => {
            let token = it.to_str().ok().and_then(bearer);
            match token.and_then(|it| daemon.principal(it)) {
                Some(it) => Ok(Some(it)),
                None => Err(unauthorized(daemon, &parts.uri, "the token is not one that holds")),
            }
        }
        _ => Err(unauthorized(daemon, &parts.uri, "one token is enough")),
    }
}

/// The token of `Bearer TOKEN`: one blank, and what a token is made of.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    let fits = token.len() <= 200
        && !token.is_empty()
        && token.bytes().all(|it| it.is_ascii_alphanumeric() || b"-._~+/=".contains(&it));
    (scheme.eq_ignore_ascii_case("bearer") && fits).then_some(token)
}

/// Whoever guesses waits for all who guess; whoever has a token does not.
pub fn unauthorized(daemon: &Daemon, uri: &Uri, why: &'static str) -> Response {
    if let Err(wait) = daemon.rates.take(RateKind::Refused, "") {
        return answer_with(StatusCode::TOO_MANY_REQUESTS, *rate_limit_error(wait));
    }
    log_refusal(daemon, uri, StatusCode::UNAUTHORIZED, why);
    let err = Error::new(Code::Unauthorized, why)
        .hint("send `Authorization: Bearer …`; `commis token create` makes one");
    let mut out = refuse(&err);
    out.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    out
}

/// Writes a refusal to the log; how many, whoever floods us does not decide.
pub fn log_refusal(daemon: &Daemon, uri: &Uri, status: StatusCode, why: &'static str) {
    if daemon.rates.take(RateKind::Noted, "").is_err() {
        return;
    }
    // What is asked for may be anything.
    let path: String = uri.path().chars().filter(|it| !it.is_control()).take(80).collect();
    tracing::warn!(status = status.as_u16(), path = %commis_redact::message(&path), why, "refused");
}

fn log_and_refuse(daemon: &Daemon, uri: &Uri, status: StatusCode, why: &'static str) -> Response {
    log_refusal(daemon, uri, status, why);
    let code = match status {
        StatusCode::FORBIDDEN => Code::Forbidden,
        StatusCode::PAYLOAD_TOO_LARGE => Code::BodyTooLarge,
        StatusCode::REQUEST_TIMEOUT => Code::Timeout,
        _ => Code::Usage,
    };
    answer_with(status, ApiError::from_error(&Error::new(code, why)))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    kind.eq_ignore_ascii_case("application/json")
}

/// The body, whole, and JSON if there is one; too large, too slow, cut off or of another kind are answers.
pub async fn read(
    daemon: &Daemon,
    parts: &Parts,
    body: Body,
    most: usize,
) -> Result<Bytes, Response> {
    let body = whole(daemon, (&parts.uri, &parts.headers), body, most).await?;
    if !body.is_empty() && !is_json(&parts.headers) {
        let (status, why) = (
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the content type of a body must be application/json",
        );
        return Err(log_and_refuse(daemon, &parts.uri, status, why));
    }
    let is_mcp = is_mcp(parts.uri.path());
    if is_mcp && !body.is_empty() && serde_json::from_slice::<IgnoredAny>(&body).is_err() {
        let error = json!({"code": -32700, "message": "the body is no JSON, or goes too deep"});
        let answer = json!({"jsonrpc": "2.0", "id": null, "error": error});
        return Err((StatusCode::BAD_REQUEST, axum::Json(answer)).into_response());
    }
    Ok(body)
}

async fn whole(
    daemon: &Daemon,
    (uri, headers): (&Uri, &HeaderMap),
    body: Body,
    most: usize,
) -> Result<Bytes, Response> {
    let said = headers.get(CONTENT_LENGTH).and_then(|it| it.to_str().ok()?.parse::<u64>().ok());
    let mut stream = body.into_data_stream();
    let mut out = Vec::new();
    let all = async {
        if said.is_some_and(|it| it > most as u64) {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        while let Some(part) = stream.next().await {
            let part = part.map_err(|_| StatusCode::BAD_REQUEST)?;
            if out.len() + part.len() > most {
                return Err(StatusCode::PAYLOAD_TOO_LARGE);
            }
            out.extend_from_slice(&part);
        }
        Ok(())
    };
    match tokio::time::timeout(BODY, all).await {
        Ok(Ok(())) => Ok(out.into()),
        Ok(Err(StatusCode::PAYLOAD_TOO_LARGE)) => {
            // Else the answer is lost with the connection.
            tokio::spawn(async move {
                let mut left = THROWN_AWAY;
                let rest = async {
                    while let Some(Ok(part)) = stream.next().await {
                        left = left.saturating_sub(part.len());
                        if left == 0 {
                            break;
                        }
                    }
                };
                let _ = tokio::time::timeout(Duration::from_secs(2), rest).await;
            });
            Err(log_and_refuse(
                daemon,
                uri,
                StatusCode::PAYLOAD_TOO_LARGE,
                if most == MAX_BODY {
                    "a body has at most 256 KiB"
                } else {
                    "an uploaded HAR file has at most 64 MiB; `commis recipe learn --har` reads larger ones"
                },
            ))
        }
        Ok(Err(status)) => Err(log_and_refuse(daemon, uri, status, "the body ended early")),
        Err(_) => Err(log_and_refuse(
            daemon,
            uri,
            StatusCode::REQUEST_TIMEOUT,
            "the body did not come in time",
        )),
    }
}
