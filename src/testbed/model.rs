//! A model that plays a transcript: a small server on loopback that speaks three wire formats, for tests and demos.
//!
//! What it says next is read off the request: which script by the first message, which turn by how often the model spoke. It
//! keeps how often the very same request came, so that a turn may fail a few `times` and then not. It refuses what the
//! providers refuse (a call without its result, a name that no tool may have), so that what passes here passes there.
//!
//! With `obey` it is the worst model there can be: whatever a page commands in the form `DO name {arguments}`, it does.

mod commands;
mod script;
mod wires;

#[cfg(test)]
mod tests;

pub use script::Scripts;
pub use wires::WireFormat;

use std::{
    collections::{BTreeMap, VecDeque},
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{Method, StatusCode, Uri, header},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::{net::TcpListener, sync::oneshot};

use script::Reply;
use wires::{ChatRequest, Message, OBEYED};

const MAX_BODY: usize = 4 << 20;
/// Requests that are remembered.
const KEPT: usize = 64;

/// A running model. It stops when dropped.
pub struct ScriptedModel {
    addr: SocketAddr,
    stage: Arc<ModelState>,
    /// Closed on drop, which is what the server waits for.
    _stop: oneshot::Sender<()>,
}

/// For tests: on any free port, in all formats.
pub async fn serve(scripts: Scripts, obey: bool) -> std::io::Result<(SocketAddr, ScriptedModel)> {
    let it = ScriptedModel::start(0, scripts, obey, None).await?;
    Ok((it.addr(), it))
}

impl ScriptedModel {
    /// Binds 127.0.0.1:`port` (0 = any free port) and serves until dropped; in one wire format, or in each by its path.
    pub async fn start(
        port: u16,
        scripts: Scripts,
        obey: bool,
        only: Option<WireFormat>,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let addr = listener.local_addr()?;
        let stage = Arc::new(ModelState { scripts, obey, only, seen: Mutex::default() });
        let app = Router::new()
            .fallback(answer)
            .layer(DefaultBodyLimit::max(MAX_BODY))
            .with_state(Arc::clone(&stage));
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(async move {
            let server = axum::serve(listener, app);
            // A turn that waits is not waited for. The error of a dropped sender is the signal.
            tokio::select! {
                _ = server.into_future() => (),
                _ = stopped => (),
            }
        });
        Ok(Self { addr, stage, _stop: stop })
    }

    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// How many requests were answered, refused ones included.
    pub fn requests(&self) -> u64 {
        self.stage.lock_traffic().requests
    }

    /// The last requests, the newest last.
    pub fn bodies(&self) -> Vec<Value> {
        self.stage.lock_traffic().bodies.iter().cloned().collect()
    }
}

struct ModelState {
    scripts: Scripts,
    obey: bool,
    only: Option<WireFormat>,
    seen: Mutex<ModelTraffic>,
}

#[derive(Default)]
struct ModelTraffic {
    requests: u64,
    bodies: VecDeque<Value>,
    /// How often each came, by digest.
    alike: BTreeMap<[u8; 32], u32>,
}

impl ModelState {
    fn lock_traffic(&self) -> MutexGuard<'_, ModelTraffic> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts it; how often the very same came before.
    fn count(&self, bytes: &[u8], body: &Value) -> u32 {
        let mut seen = self.lock_traffic();
        seen.requests += 1;
        seen.bodies.push_back(body.clone());
        if seen.bodies.len() > KEPT {
            seen.bodies.pop_front();
        }
        let alike = seen.alike.entry(Sha256::digest(bytes).into()).or_default();
        *alike += 1;
        *alike - 1
    }

    /// After how long, and what.
    fn next(&self, chat: &ChatRequest, asked: u32) -> (Duration, Reply) {
        if self.obey
            && let Some(call) = commands::newest(&chat.said)
        {
            return (Duration::ZERO, Reply::obeying(call));
        }
        // Turns of the script are those that no page commanded.
        let own = |it: &&Message| matches!(it, Message::Model { calls } if !calls.iter().any(|it| it.id.starts_with(OBEYED)));
        let spoken = chat.said.iter().filter(own).count();
        self.scripts.next(chat.first(), spoken, asked)
    }
}

async fn answer(
    State(stage): State<Arc<ModelState>>,
    method: Method,
    uri: Uri,
    body: Bytes,
) -> Response {
    // Whoever started it in a process of its own asks here.
    if method == Method::GET && uri.path() == "/seen" {
        let seen = stage.lock_traffic();
        let told = json!({"requests": seen.requests, "bodies": seen.bodies});
        return json_of(StatusCode::OK, &told);
    }
    let wire =
        WireFormat::from_path(uri.path()).filter(|it| stage.only.is_none_or(|only| only == *it));
    let Some(wire) = wire.filter(|_| method == Method::POST) else {
        return refuse(StatusCode::NOT_FOUND, "no model there");
    };
    let Ok(asked) = serde_json::from_slice::<Value>(&body) else {
        return refuse(StatusCode::BAD_REQUEST, "that is no JSON");
    };
    let before = stage.count(&body, &asked);
    let chat = match wire.read(&asked) {
        Ok(chat) => chat,
        Err(why) => return refuse(StatusCode::BAD_REQUEST, &why),
    };
    let (wait, reply) = stage.next(&chat, before);
    tokio::time::sleep(wait).await;
    match reply {
        Reply::Fail(status) => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            refuse(status, "as the script has it")
        }
        Reply::Garbage(text) => {
            ([(header::CONTENT_TYPE, "application/json")], text).into_response()
        }
        Reply::Say { text, calls, obeyed } => {
            let said = wire.write(&chat, &text, &calls, obeyed, body.len());
            json_of(StatusCode::OK, &said)
        }
    }
}

fn refuse(status: StatusCode, why: &str) -> Response {
    json_of(status, &json!({"error": {"type": "invalid_request_error", "message": why}}))
}

fn json_of(status: StatusCode, value: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
