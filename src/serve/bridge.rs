//! MCP over stdin and stdout for clients that know nothing else: each line goes to the daemon, what it says comes back as lines.
//!
//! Nothing is understood that need not be: which revision a message is of, which session it belongs to, and what it answers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::StreamExt as _;
use reqwest::{Method, Response, StatusCode, header};
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    sync::{RwLock, mpsc},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::raw_client::RawClient;
use commis_base::error::{Code, Error, Result};
use commis_client::state_file::StateFile;

/// Of a line.
const MAX_LINE: usize = 4 * 1024 * 1024;
const MODERN: &str = "2026-07-28";
const SESSION: &str = "mcp-session-id";
/// How long a message waits for its turn, where the client asks more often than it may.
const PATIENCE: Duration = Duration::from_secs(60);
/// Answers that are still awaited when the client has ended its input.
const LAST: Duration = Duration::from_secs(60);

/// What the bridge knows of the daemon and of the client's session with it.
struct Bridge<F> {
    find: Arc<F>,
    client: RwLock<RawClient>,
    path: String,
    session: RwLock<Session>,
    /// Requests that can be cancelled, by id.
    open: Mutex<BTreeMap<String, CancellationToken>>,
    /// How often it was begun with another daemon; held while it is.
    begun: tokio::sync::Mutex<u64>,
    out: mpsc::UnboundedSender<String>,
}

#[derive(Clone, Default)]
struct Session {
    id: Option<String>,
    version: Option<String>,
    /// How it was begun, to begin it again with another daemon.
    initialize: Option<Value>,
}

/// Serves until stdin ends; `find` finds the daemon, or starts it. Fails with `DAEMON_FAILED`.
pub async fn serve<F, G>(find: Arc<F>, tools: Option<&str>) -> Result<()>
where
    F: Fn() -> G + Send + Sync + 'static,
    G: Future<Output = Result<StateFile>> + Send + 'static,
{
    let client = RwLock::new(RawClient::new(&find().await?));
    let query = tools.map(|it| {
        let it: String = url::form_urlencoded::byte_serialize(it.as_bytes()).collect();
        format!("?tools={it}")
    });
    let (out, lines) = mpsc::unbounded_channel();
    let bridge = Arc::new(Bridge {
        find,
        client,
        path: format!("/mcp{}", query.unwrap_or_default()),
        session: RwLock::default(),
        open: Mutex::default(),
        begun: tokio::sync::Mutex::new(0),
        out,
    });
    let writer = tokio::spawn(write(lines));
    let mut input = BufReader::new(tokio::io::stdin());
    let mut work = JoinSet::new();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = {
            use tokio::io::AsyncReadExt as _;
            (&mut input).take(MAX_LINE as u64).read_until(b'\n', &mut line).await
        };
        match read {
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        while work.try_join_next().is_some() {}
        let Ok(message) = serde_json::from_slice::<Value>(&line) else {
            if !line.trim_ascii().is_empty() {
                bridge.say(&error_reply(&Value::Null, -32700, "this line is not JSON"));
            }
            continue;
        };
        if message["method"] == "notifications/cancelled" && bridge.cancelled(&message) {
            continue;
        }
        let is_first = message["method"] == "initialize";
        let bridge = Arc::clone(&bridge);
        let one = async move { bridge.pass(message).await };
        // What follows belongs to the session that this begins.
        if is_first {
            one.await;
        } else {
            work.spawn(one);
        }
    }
    let rest = async { while work.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(LAST, rest).await;
    bridge.leave().await;
    drop(bridge);
    // Streams that are still open hold their sender.
    let _ = tokio::time::timeout(Duration::from_millis(200), writer).await;
    Ok(())
}

async fn write(mut lines: mpsc::UnboundedReceiver<String>) {
    let mut out = tokio::io::stdout();
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if out.write_all(line.as_bytes()).await.is_err() || out.flush().await.is_err() {
            return;
        }
    }
}

fn error_reply(id: &Value, code: i32, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// The revision that a message names itself.
fn version(message: &Value) -> Option<&str> {
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str()
}

impl<F, G> Bridge<F>
where
    F: Fn() -> G + Send + Sync + 'static,
    G: Future<Output = Result<StateFile>> + Send + 'static,
{
    fn say(&self, message: &Value) {
        // Nobody reads any more: the client has gone.
        let _ = self.out.send(message.to_string());
    }

    fn open(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, CancellationToken>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request of the newer revision is cancelled by closing its stream; of the older ones the daemon is told.
    fn cancelled(&self, message: &Value) -> bool {
        let id = message["params"]["requestId"].to_string();
        let open = self.open().get(&id).cloned();
        open.inspect(CancellationToken::cancel).is_some()
    }

    /// Sends one message, and says what comes back; where the daemon is gone, another is found first.
    async fn pass(self: &Arc<Self>, message: Value) {
        let id = message.get("id").cloned();
        let cancel = CancellationToken::new();
        let is_modern = version(&message).is_some_and(|it| it >= MODERN);
        if let Some(id) = &id
            && is_modern
        {
            self.open().insert(id.to_string(), cancel.clone());
        }
        let done = async {
            let before = *self.begun.lock().await;
            let mut sent = self.send(&message).await;
            let anew = match &sent {
                // What may have been done is not asked for once more.
                Err(err) if err.code() == Code::Interrupted => message["method"] != "tools/call",
                Err(_) => true,
                Ok(it) => it.status() == StatusCode::NOT_FOUND && !is_modern,
            };
            if anew {
                sent = match self.reconnect(before).await {
                    Ok(()) => self.send(&message).await,
                    Err(err) => Err(err),
                };
            }
            self.answer(&message, sent).await;
        };
        tokio::select! {
            () = done => {}
            () = cancel.cancelled() => {}
        }
        if let Some(id) = &id {
            self.open().remove(&id.to_string());
        }
    }

    /// Sends one message. Where the daemon refuses it for the rate of requests and says when to ask again, this waits and sends it again:
    /// nothing of it was carried out.
    async fn send(&self, message: &Value) -> Result<Response> {
        let until = Instant::now() + PATIENCE;
        loop {
            let answer = self.send_once(message).await?;
            let wait = answer.headers().get(header::RETRY_AFTER).and_then(|it| it.to_str().ok());
            let wait = wait.and_then(|it| it.parse().ok()).map(Duration::from_secs);
            match wait.filter(|_| answer.status() == StatusCode::TOO_MANY_REQUESTS) {
                Some(wait) if Instant::now() + wait < until => tokio::time::sleep(wait).await,
                _ => return Ok(answer),
            }
        }
    }

    async fn send_once(&self, message: &Value) -> Result<Response> {
        let session = self.session.read().await.clone();
        let mut request = self
            .client
            .read()
            .await
            .request(Method::POST, &self.path)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .json(message);
        if let Some(version) = version(message) {
            request = request.header("mcp-protocol-version", version);
            if let Some(method) = message["method"].as_str() {
                request = request.header("mcp-method", method);
            }
            let params = &message["params"];
            let name = [&params["name"], &params["uri"], &params["taskId"]]
                .into_iter()
                .find_map(Value::as_str);
            if let Some(name) = name {
                request = request.header("mcp-name", name);
            }
        } else if message["method"] != "initialize" {
            if let Some(id) = session.id {
                request = request.header(SESSION, id);
            }
            if let Some(version) = session.version {
                request = request.header("mcp-protocol-version", version);
            }
        }
        request.send().await.map_err(|err| {
            if err.is_connect() {
                let err = err.without_url();
                return Error::new(Code::DaemonFailed, "the daemon does not answer").source(err);
            }
            Error::new(Code::Interrupted, "the daemon ended during the call")
                .hint("the call may have been carried out; check before you repeat it")
                .source(err.without_url())
        })
    }

    async fn answer(self: &Arc<Self>, message: &Value, sent: Result<Response>) {
        let id = message.get("id");
        let answer = match sent {
            Ok(it) => it,
            Err(err) => {
                if let Some(id) = id {
                    self.say(&error_reply(id, -32603, &err.to_string()));
                }
                return;
            }
        };
        let status = answer.status();
        if message["method"] == "initialize"
            && let Some(it) = answer.headers().get(SESSION)
        {
            let mut session = self.session.write().await;
            session.id = it.to_str().ok().map(str::to_owned);
            session.initialize = Some(message.clone());
        }
        let mut answered = false;
        let kind = answer.headers().get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        if kind.is_some_and(|it| it.starts_with("text/event-stream")) {
            self.stream(answer, |it| {
                answered |= it.get("id") == id;
            })
            .await;
        } else if let Ok(it) = answer.json::<Value>().await
            && it.get("jsonrpc").is_some()
        {
            self.say(&it);
            answered = true;
        }
        if !answered && let Some(id) = id {
            self.say(&error_reply(id, -32603, &format!("the daemon answered {status}")));
        }
        if message["method"] == "notifications/initialized" {
            tokio::spawn(Arc::clone(self).listen());
        }
    }

    /// Says what a stream brings, and learns the revision that was agreed on.
    async fn stream(&self, answer: Response, mut seen: impl FnMut(&Value)) {
        let mut events = SseStream::from_bytes_stream(answer.bytes_stream());
        while let Some(Ok(event)) = events.next().await {
            let data = event.data.unwrap_or_default();
            let Ok(message) = serde_json::from_str::<Value>(&data) else { continue };
            if let Some(it) = message["result"]["protocolVersion"].as_str() {
                self.session.write().await.version = Some(it.to_owned());
            }
            seen(&message);
            self.say(&message);
        }
    }

    /// What the daemon says by itself in a session.
    async fn listen(self: Arc<Self>) {
        let session = self.session.read().await.clone();
        let Some(id) = session.id else { return };
        let request = self
            .client
            .read()
            .await
            .request(Method::GET, &self.path)
            .header(header::ACCEPT, "text/event-stream")
            .header(SESSION, id)
            .header("mcp-protocol-version", session.version.unwrap_or_default());
        if let Ok(it) = request.send().await
            && it.status().is_success()
        {
            self.stream(it, |_| {}).await;
        }
    }

    /// Finds a daemon anew, and begins the session with it as it was begun before; unless another message did since `before`.
    async fn reconnect(self: &Arc<Self>, before: u64) -> Result<()> {
        let mut begun = self.begun.lock().await;
        if *begun != before {
            return Ok(());
        }
        *begun += 1;
        let mut client = self.client.write().await;
        *client = RawClient::new(&(self.find)().await?);
        drop(client);
        let Some(initialize) = self.session.read().await.initialize.clone() else { return Ok(()) };
        let answer = self.send(&initialize).await?;
        let id = answer.headers().get(SESSION).and_then(|it| it.to_str().ok()).map(str::to_owned);
        self.session.write().await.id = id;
        // Its answer was given to the client long ago.
        let mut events = SseStream::from_bytes_stream(answer.bytes_stream());
        while let Some(Ok(_)) = events.next().await {}
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        self.send(&ready).await?;
        tokio::spawn(Arc::clone(self).listen());
        Ok(())
    }

    /// Ends the session.
    async fn leave(&self) {
        let session = self.session.read().await.clone();
        let Some(id) = session.id else { return };
        let client = self.client.read().await;
        let request = client.request(Method::DELETE, &self.path).header(SESSION, id);
        // It ends by itself, else.
        let _ = request.timeout(Duration::from_secs(2)).send().await;
    }
}
