//! The other listener: for machines elsewhere, closed unless it is opened, and only for tokens that were made for a purpose.
//!
//! What keeps it safe is that it is another socket with other rules, never a header that a proxy may add: the root token is
//! refused here, there is no dashboard, and what a token's scopes do not name is not there.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
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
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{
    Daemon,
    answer::Answer,
    book::TokenView,
    connections,
    guard::{self, answer_with, refuse},
    mcp,
    principal::{Scope, digest},
    rates::RateKind,
    rest,
};
use commis_base::{
    error::{Code, Error, Result},
    ids,
};
use commis_state::now_ms;

/// How long a key waits to be used.
const KEY: Duration = Duration::from_secs(10 * 60);

/// What it answers is of use at the local listener alone.
const LOOKS_ON: &str = "/api/browse/watch";

#[derive(Default)]
pub struct RemoteListener {
    open: Mutex<Option<(SocketAddr, CancellationToken)>>,
    /// Held while it is opened: there is one.
    opening: tokio::sync::Mutex<()>,
    keys: Mutex<BTreeMap<String, Pairing>>,
}

struct Pairing {
    scopes: Vec<Scope>,
    expires_sec: Option<u32>,
    note: String,
    until: Instant,
}

/// A key as it is shown, once.
#[derive(Serialize, JsonSchema)]
pub struct PairingKey {
    key: String,
    /// How long it can be traded for a token.
    holds_sec: u64,
}

impl RemoteListener {
    /// Where it listens, if it does.
    pub fn addr(&self) -> Option<SocketAddr> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(|it| it.0)
    }

    /// Opens it. Fails with `FORBIDDEN` for an address that others reach when that was not allowed, or when no token was made,
    /// with `USAGE` when it is open, and with `DAEMON_FAILED`.
    pub async fn open(daemon: &Arc<Daemon>, bind: SocketAddr, allowed: bool) -> Result<SocketAddr> {
        if !bind.ip().is_loopback() && !allowed {
            return Err(Error::new(Code::Forbidden, format!("{bind} is reached from elsewhere"))
                .hint("say so with --allow-remote; put TLS before it, for what is sent can be read on the way"));
        }
        if !daemon.remote.has_keys() && daemon.book.tokens()?.is_empty() {
            return Err(Error::new(
                Code::Forbidden,
                "nobody could ask anything: there is no token",
            )
            .hint("`commis token create --can …` or `commis remote pair --can …` first"));
        }
        let _one = daemon.remote.opening.lock().await;
        if let Some(it) = daemon.remote.addr() {
            return Err(Error::new(Code::Usage, format!("it is open already, at {it}")));
        }
        let listener = tokio::net::TcpListener::bind(bind).await.map_err(|err| {
            Error::new(Code::DaemonFailed, format!("cannot listen on {bind}")).source(err)
        })?;
        let addr = listener.local_addr().map_err(|err| {
            Error::new(Code::DaemonFailed, "the socket has no address").source(err)
        })?;
        let stop = daemon.stop.child_token();
        let held = (addr, stop.clone());
        *daemon.remote.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(held);
        let with = (Arc::clone(&daemon.open), stop, daemon.work.clone());
        tokio::spawn(connections::serve(listener, router(daemon), with, || ()));
        tracing::info!(%addr, "the remote listener is open");
        Ok(addr)
    }

    /// Closes it; false when it was not open.
    pub fn close(&self) -> bool {
        let held = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        held.is_some_and(|it| {
            it.1.cancel();
            tracing::info!("the remote listener is closed");
            true
        })
    }

    fn has_keys(&self) -> bool {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.retain(|_, it| it.until > Instant::now());
        !keys.is_empty()
    }

    /// A key that can be traded once for a token with these scopes. Fails with `USAGE`, `INTERNAL`.
    pub fn pair(
        &self,
        can: &[String],
        expires_sec: Option<u32>,
        note: String,
    ) -> Result<PairingKey> {
        let scopes = can.iter().map(|it| Scope::parse(it)).collect::<Result<Vec<_>>>()?;
        if scopes.is_empty() {
            return Err(Error::new(Code::ParamInvalid, "give at least one scope"));
        }
        let key = ids::random_token()?;
        let pairing = Pairing { scopes, expires_sec, note, until: Instant::now() + KEY };
        self.has_keys();
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.insert(digest(&key), pairing);
        Ok(PairingKey { key, holds_sec: KEY.as_secs() })
    }
}

/// Makes a token and keeps a digest of it. Fails with `INTERNAL`, `ARTIFACT_IO`.
pub async fn new_token(
    daemon: &Arc<Daemon>,
    scopes: &[Scope],
    expires_sec: Option<u32>,
    note: &str,
) -> Result<(String, TokenView)> {
    let token = format!("cms_{}{}", ids::random_token()?, ids::random_token()?);
    let created_ms = now_ms();
    let view = TokenView {
        id: format!("tok-{}", ids::random_token()?.get(..12).unwrap_or_default()),
        hash: digest(&token),
        scopes: scopes.iter().map(Scope::to_string).collect(),
        note: note.chars().filter(|it| !it.is_control()).collect(),
        created_ms,
        expires_ms: expires_sec.map(|it| created_ms + i64::from(it) * 1000),
    };
    daemon.book.add_token(view.clone()).await?;
    daemon.read_tokens()?;
    Ok((token, view))
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
    refuse(&Error::new(Code::NoSuchAddress, "there is nothing at this address"))
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
            &Error::new(Code::Unauthorized, "this key opens nothing").hint(
                "a key is for one use within ten minutes; `commis remote pair` makes another",
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
            return answer_with(StatusCode::TOO_MANY_REQUESTS, *guard::too_often(wait));
        }
    } else {
        let who = match guard::token_of(daemon, &parts) {
            Ok(Some(it)) => it,
            Ok(None) => return guard::unauthorized(daemon, &parts.uri, "a token is needed"),
            Err(answer) => return answer,
        };
        if who.scopes.is_none() {
            const WHY: &str = "this token is for the local listener";
            guard::log_refusal(daemon, &parts.uri, StatusCode::FORBIDDEN, WHY);
            return refuse(
                &Error::new(Code::Forbidden, WHY)
                    .hint("`commis token create` makes one for a purpose"),
            );
        }
        if parts.uri.path() == LOOKS_ON {
            return nothing();
        }
        let counted = if guard::is_mcp(parts.uri.path()) { RateKind::Mcp } else { RateKind::Rest };
        if let Err(wait) = daemon.rates.take(counted, &who.id) {
            return answer_with(StatusCode::TOO_MANY_REQUESTS, *guard::too_often(wait));
        }
        parts.extensions.insert(who);
    }
    let body = match guard::read(daemon, &parts, body).await {
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
            "the token's scopes do not name it",
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
