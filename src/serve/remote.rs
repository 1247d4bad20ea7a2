//! The other listener: for machines elsewhere, closed unless it is opened, and only for tokens that were made for a purpose.
//!
//! What keeps it safe is that it is another socket with other rules, never a header that a proxy may add: the root token is
//! refused here, there is no dashboard, and what a token's scopes do not name is not there.

use std::{
    io,
    net::SocketAddr,
    sync::{Arc, PoisonError},
    time::Instant,
};

use axum::{
    Json, Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header::ORIGIN},
    middleware::{self, Next},
    response::{IntoResponse as _, Response},
    routing::post,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    Daemon,
    answer::Answer,
    connections, guard, mcp,
    principal::digest,
    rates::RateKind,
    refusal::{answer_with, rate_limit_error, refuse},
    remote_listener::RemoteListener,
    rest,
    tokens::new_token,
};
use commis_base::error::{Code, Error, Result};

/// What it answers is of use at the local listener alone.
const LOOKS_ON: &str = "/api/browse/watch";

impl RemoteListener {
    /// Opens it. Fails with `FORBIDDEN` for an address that others reach when that was not allowed, or when no token was made,
    /// with `USAGE` when it is open, and with `DAEMON_FAILED`.
    pub async fn open(daemon: &Arc<Daemon>, bind: SocketAddr, allowed: bool) -> Result<SocketAddr> {
        if !bind.ip().is_loopback() && !allowed {
            return Err(Error::new(Code::Forbidden, format!("other machines can reach {bind}"))
                .hint("give --allow-remote to confirm; put TLS in front, because the traffic is not encrypted"));
        }
        if !daemon.remote.has_keys() && daemon.database.tokens()?.is_empty() {
            return Err(Error::new(
                Code::Forbidden,
                "there is no token for the remote listener",
            )
            .hint("make one first with `commis token create --can …` or `commis remote pair --can …`"));
        }
        let _one = daemon.remote.opening.lock().await;
        if let Some(it) = daemon.remote.addr() {
            return Err(Error::new(
                Code::Usage,
                format!("the remote listener is open already, at {it}"),
            ));
        }
        // Bound there, too: who binds a socket is who is told of what comes in.
        let bound = daemon.socket_handle.spawn(tokio::net::TcpListener::bind(bind)).await;
        let listener = bound.map_err(io::Error::other).flatten().map_err(|err| {
            Error::new(Code::DaemonFailed, format!("cannot listen on {bind}")).source(err)
        })?;
        let addr = listener.local_addr().map_err(|err| {
            Error::new(Code::DaemonFailed, "the listening socket has no address").source(err)
        })?;
        let stop = daemon.stop.child_token();
        let held = (addr, stop.clone());
        *daemon.remote.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        let with = (Arc::clone(&daemon.open_requests), stop, daemon.worker_handle.clone());
        daemon.socket_handle.spawn(connections::serve(listener, router(daemon), with, || ()));
        tracing::info!(%addr, "the remote listener is open");
        Ok(addr)
    }
}

fn router(daemon: &Arc<Daemon>) -> Router {
    rest::operations(Router::new())
        .route("/connect", post(connect))
        .route_service("/mcp", mcp::service(daemon))
        .fallback(|| async { nothing() })
        .method_not_allowed_fallback(|| async { nothing() })
        .layer(middleware::from_fn_with_state(Arc::clone(daemon), guard))
        .with_state(Arc::clone(daemon))
}

fn nothing() -> Response {
    refuse(&Error::new(Code::NoSuchAddress, "no operation has this address"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConnectRequest {
    key: String,
}

/// Trades a key for a token.
async fn connect(
    State(daemon): State<Arc<Daemon>>,
    given: Result<Json<ConnectRequest>, axum::extract::rejection::JsonRejection>,
) -> Response {
    let key = given.map(|it| it.0.key).unwrap_or_default();
    let pairing = {
        let mut keys = daemon.remote.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.remove(&digest(&key)).filter(|it| it.until > Instant::now())
    };
    let Some(it) = pairing else {
        return refuse(
            &Error::new(Code::Unauthorized, "the pairing key is unknown, used or expired").hint(
                "a key works once, within ten minutes; make a new one with `commis remote pair`",
            ),
        );
    };
    match new_token(&daemon, &it.scopes, it.expires_sec, &it.note).await {
        Ok((token, view)) => {
            Json(Answer::new(json!({"token": token, "id": view.id, "scopes": view.scopes, "expires_ms": view.expires_ms})))
                .into_response()
        }
        Err(err) => refuse(&err),
    }
}

/// The rules of this listener: no browser, no root, nothing without a token but `/connect`.
async fn guard(State(daemon): State<Arc<Daemon>>, request: Request, next: Next) -> Response {
    let mut answer = guarded(&daemon, request, next).await;
    guard::add_headers(&mut answer);
    answer
}

async fn guarded(daemon: &Arc<Daemon>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    if let Err(answer) = guard::has_one_length(daemon, &parts) {
        return answer;
    }
    if comes_from_a_page(&parts.headers) {
        const WHY: &str = "pages are not answered here";
        guard::log_refusal(daemon, &parts.uri, StatusCode::FORBIDDEN, WHY);
        return refuse(&Error::new(Code::Forbidden, WHY));
    }
    if parts.uri.path() == "/connect" {
        if let Err(wait) = daemon.rates.take(RateKind::Refused, "connect") {
            return answer_with(StatusCode::TOO_MANY_REQUESTS, *rate_limit_error(wait));
        }
    } else {
        let principal = match guard::token_of(daemon, &parts) {
            Ok(Some(it)) => it,
            Ok(None) => return guard::unauthorized(daemon, &parts.uri, "a token is needed"),
            Err(answer) => return answer,
        };
        if principal.scopes.is_none() {
            const WHY: &str = "this token is for the local listener";
            guard::log_refusal(daemon, &parts.uri, StatusCode::FORBIDDEN, WHY);
            return refuse(
                &Error::new(Code::Forbidden, WHY)
                    .hint("make a token with `commis token create --can …`"),
            );
        }
        if parts.uri.path() == LOOKS_ON {
            return nothing();
        }
        let counted = if guard::is_mcp(parts.uri.path()) { RateKind::Mcp } else { RateKind::Rest };
        if let Err(wait) = daemon.rates.take(counted, &principal.id) {
            return answer_with(StatusCode::TOO_MANY_REQUESTS, *rate_limit_error(wait));
        }
        parts.extensions.insert(principal);
    }
    let body = match guard::read(daemon, &parts, body, guard::MAX_BODY).await {
        Ok(it) => it,
        Err(answer) => return answer,
    };
    daemon.touch();
    let uri = parts.uri.clone();
    let answer = guard::passed(daemon, Request::from_parts(parts, Body::from(body)), next).await;
    if answer.status() == StatusCode::FORBIDDEN {
        // What a token's scopes do not name is not there.
        guard::log_refusal(
            daemon,
            &uri,
            StatusCode::FORBIDDEN,
            "the scopes of the token do not cover it",
        );
        return nothing();
    }
    answer
}

fn comes_from_a_page(headers: &HeaderMap) -> bool {
    headers.contains_key(ORIGIN)
        || headers.contains_key("sec-fetch-site")
        || headers.contains_key("cookie")
}
