//! The Model Context Protocol, both of its eras: recipes as tools with schemas, and the operations of the table.

mod approval;
mod complete;
pub mod find;
#[cfg(feature = "conformance")]
pub mod fixtures;
mod handler;
mod selection;
mod session;
pub mod state_sealer;
mod strange;
pub mod terms;
pub mod tool;
mod tool_list;
pub mod versions;

use std::{collections::BTreeMap, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, Method, StatusCode},
    response::{IntoResponse as _, Response},
};
use notify::{RecursiveMode, Watcher as _};
use rmcp::transport::{
    StreamableHttpServerConfig, StreamableHttpService,
    streamable_http_server::session::{SessionManager as _, local::LocalSessionManager},
};
use serde_json::json;
use tokio::sync::mpsc;
use tower::ServiceExt as _;

pub use self::selection::ToolSelection;
use self::session::McpHandler;
use super::{Daemon, principal::Principal};

const SESSION: &str = "mcp-session-id";
/// The first revision without sessions; revisions are dates.
const MODERN: &[u8] = b"2026-07-28";
/// A client that says nothing for so long has to begin again.
const QUIET: Duration = Duration::from_secs(8 * 60 * 60);
/// Sessions that a client may have; the oldest ends where it begins one more.
const SESSIONS: usize = 100;

/// Whose sessions there are. One that nobody is known to have is nobody's to use.
#[derive(Default)]
struct SessionOwners {
    all: BTreeMap<String, (String, u64)>,
    begun: u64,
}

impl SessionOwners {
    fn has(&self, id: &str, principal: &str) -> bool {
        self.all.get(id).is_some_and(|it| it.0 == principal)
    }

    /// Notes a session; one of the same client that has to end for it.
    fn add(&mut self, id: String, principal: String) -> Option<String> {
        if self.has(&id, &principal) {
            return None;
        }
        let own = || self.all.iter().filter(|it| it.1.0 == principal);
        let oldest = own().min_by_key(|it| it.1.1).map(|it| it.0.clone());
        let ends = oldest.filter(|_| own().count() >= SESSIONS);
        if let Some(it) = &ends {
            self.all.remove(it);
        }
        self.begun += 1;
        self.all.insert(id, (principal, self.begun));
        ends
    }
}

/// The service behind `/mcp`. What the guard let through is asked only whose session it names: an id is no proof of who asks.
pub fn service(
    daemon: &Arc<Daemon>,
) -> impl tower::Service<Request, Response = Response, Error = Infallible, Future: Send>
+ Clone
+ Send
+ Sync
+ 'static {
    let config = StreamableHttpServerConfig::default()
        // The guard has looked at both, and at the port.
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_json_response(true)
        .with_sse_keep_alive(Some(Duration::from_secs(15)))
        .with_max_request_body_bytes(super::guard::MAX_BODY)
        .with_cancellation_token(daemon.stop.child_token());
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = Some(QUIET);
    let handler = McpHandler { daemon: Arc::clone(daemon) };
    #[cfg(feature = "conformance")]
    let handler = fixtures::Fixtures::before(handler);
    let sessions = Arc::new(sessions);
    let held = Arc::clone(&sessions);
    let inner = StreamableHttpService::new(move || Ok(handler.clone()), sessions, config);
    let owners = Arc::new(std::sync::Mutex::new(SessionOwners::default()));
    tower::service_fn(move |request: Request| {
        let (inner, owners, held) = (inner.clone(), Arc::clone(&owners), Arc::clone(&held));
        async move {
            let principal = request.extensions().get::<Principal>().map(|it| it.id.clone());
            let principal = principal.unwrap_or_default();
            let lock = || owners.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let requested = id_of(request.headers());
            // The newer revision knows no sessions, and takes no notice of them.
            let version = request.headers().get("mcp-protocol-version");
            let has_sessions = version.is_none_or(|it| it.as_bytes() < MODERN);
            if has_sessions && requested.as_ref().is_some_and(|it| !lock().has(it, &principal)) {
                return Ok(StatusCode::NOT_FOUND.into_response());
            }
            let request = match said_twice(request).await {
                Ok(it) => it,
                Err(answer) => return Ok(answer),
            };
            let ends = request.method() == Method::DELETE;
            let Ok(mut answer) = inner.oneshot(request).await;
            if ends && answer.status() == StatusCode::ACCEPTED {
                // The session is gone, not about to go; Python's SDK takes 202 for a failure.
                *answer.status_mut() = StatusCode::NO_CONTENT;
            }
            if ends && answer.status().is_success() {
                requested.map(|it| lock().all.remove(&it));
            } else if let Some(id) = id_of(answer.headers()) {
                let old = lock().add(id, principal);
                if let Some(it) = old {
                    // One that has ended by itself is as well.
                    let _ = held.close_session(&it.into()).await;
                }
            }
            Ok(answer.map(Body::new))
        }
    })
}

/// Arguments that a request repeats in its headers have to be the same there: whoever routes by them reads no body.
async fn said_twice(request: Request) -> Result<Request, Response> {
    const PREFIX: &str = "mcp-param-";
    if !request.headers().keys().any(|it| it.as_str().starts_with(PREFIX)) {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, super::guard::MAX_BODY).await.unwrap_or_default();
    let message: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
    let args = message["params"]["arguments"].as_object();
    let other = parts.headers.iter().any(|(name, said)| {
        let Some(name) = name.as_str().strip_prefix(PREFIX) else { return false };
        let arg = args.and_then(|all| all.iter().find(|it| it.0.eq_ignore_ascii_case(name)));
        arg.is_some_and(|(_, it)| {
            let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
            said.to_str().map_or(true, |it| decoded(it) != text)
        })
    });
    if other {
        let error =
            json!({"code": -32020, "message": "a header says another argument than the body"});
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "error": error});
        return Err((StatusCode::BAD_REQUEST, axum::Json(answer)).into_response());
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}

/// What cannot stand in a header is written as `=?base64?…?=`.
fn decoded(text: &str) -> String {
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    let packed = text.strip_prefix("=?base64?").and_then(|it| it.strip_suffix("?="));
    packed
        .and_then(|it| String::from_utf8(STANDARD.decode(it).ok()?).ok())
        .unwrap_or_else(|| text.to_owned())
}

fn id_of(headers: &HeaderMap) -> Option<String> {
    headers.get(SESSION)?.to_str().ok().map(str::to_owned)
}

/// Looks after the definitions of tools: when recipes change, by whichever process, what is another now is told before it is
/// listed. Ends with the daemon.
pub async fn watch_recipes(daemon: Arc<Daemon>) {
    let (send, mut changed) = mpsc::channel(1);
    let folder = daemon.home.recipes.clone();
    // A folder that is not there cannot be watched.
    let _ = commis_base::files::ensure_private_dir(&folder);
    // As long as it is held, there is something to wait for, whether or not there is a watcher.
    let _held = send.clone();
    let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|it| !it.kind.is_access()) {
            // One that waits to be looked at stands for all.
            let _ = send.try_send(());
        }
    });
    let watching = watcher.and_then(|mut it| {
        it.watch(&folder, RecursiveMode::Recursive)?;
        Ok(it)
    });
    let _watching = watching
        .inspect_err(|err| tracing::warn!(error = %err, "changes of recipes by other processes are not seen"))
        .ok();
    tool_list::compare(&daemon).await;
    let mut events = daemon.database.listen();
    loop {
        tokio::select! {
            () = daemon.stop.cancelled() => return,
            _ = changed.recv() => {}
            it = events.recv() => match it {
                Ok(it) if it.kind == "recipe" => {}
                Ok(_) | Err(tokio::sync::broadcast::error::RecvError::Lagged(_)) => continue,
                Err(tokio::sync::broadcast::error::RecvError::Closed) => return,
            },
        }
        // Several files are often written at once.
        tokio::time::sleep(Duration::from_millis(20)).await;
        while changed.try_recv().is_ok() {}
        if let Some(what) = tool_list::compare(&daemon).await
            && let Err(err) = daemon.database.happened("tools", json!(what)).await
        {
            tracing::error!(error = %err, "an event was not written down");
        }
    }
}
