//! `wild.test`: a server that lies, stalls, floods and redirects, in its own TCP code because no HTTP library would.
//!
//! Over TLS it says the same in HTTP/1.1; `h2.wild.test` speaks HTTP/2 alone (`h2.rs`). Every answer is a list of [`Step`]s (`answers.rs`), so what goes over the wire is what stands there. Each answer ends
//! by itself: after its last step, when the client goes, or after a minute. `/seen` tells what arrived, and where.

mod answers;
mod bombs;
mod h2;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    task::{JoinHandle, JoinSet},
};

pub use answers::{LOCATIONS, RAW};
pub use h2::H2;

use super::tls::{self, Connection};

/// The hosts that it stands for; the second is where redirects lead away to.
pub const HOSTS: &[&str] = &["wild.test", "away.test", "h2.wild.test"];

const PATIENCE: Duration = Duration::from_secs(60);
const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 1024 * 1024;
const MAX_SEEN: usize = 10_000;
const MAX_CONNECTIONS: usize = 256;

/// What goes over the wire next.
pub enum Step {
    Send(Bytes),
    /// The same bytes so many times.
    Repeat(Bytes, u64),
    /// The same bytes so many times, a while apart.
    Drip(Bytes, Duration, u64),
    /// Nothing more, but the connection stays.
    Hang,
    /// The connection ends with RST instead of FIN.
    Reset,
}

/// One request as it arrived.
#[derive(Clone, Debug, Default)]
pub struct ReceivedRequest {
    pub method: String,
    /// As sent, in lower case, without port.
    pub host: String,
    /// With its query.
    pub path: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Over TLS.
    pub secure: bool,
}

impl ReceivedRequest {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    fn to_json(&self) -> Value {
        let headers: serde_json::Map<String, Value> = self
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()))
            .collect();
        json!({
            "method": self.method,
            "host": self.host,
            "path": self.path,
            "headers": headers,
            "body": String::from_utf8_lossy(&self.body),
            "secure": self.secure,
        })
    }
}

type RequestLog = Arc<Mutex<Vec<ReceivedRequest>>>;

fn locked(seen: &RequestLog) -> std::sync::MutexGuard<'_, Vec<ReceivedRequest>> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running server. It stops when dropped.
pub struct HostileServer {
    addr: SocketAddr,
    seen: RequestLog,
    accepting: JoinHandle<()>,
}

impl HostileServer {
    /// Binds 127.0.0.1:`port` (0 = any free port) and serves until dropped.
    pub async fn start(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let addr = listener.local_addr()?;
        let seen = RequestLog::default();
        let accepting = tokio::spawn(accept(listener, addr, Arc::clone(&seen)));
        Ok(Self { addr, seen, accepting })
    }

    /// Where it listens.
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Requests so far, `/seen` excepted.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        locked(&self.seen).clone()
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, addr: SocketAddr, seen: RequestLog) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < MAX_CONNECTIONS => {
                let Ok((stream, _)) = accepted else { continue };
                let seen = Arc::clone(&seen);
                connections.spawn(async move {
                    // A client that goes away is not an error of the server.
                    let _ = tokio::time::timeout(PATIENCE, answer(stream, addr, seen)).await;
                });
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

fn protocols(host: &str) -> &'static [&'static str] {
    if host == "h2.wild.test" { &["h2"] } else { &["http/1.1"] }
}

async fn answer(stream: TcpStream, addr: SocketAddr, seen: RequestLog) -> std::io::Result<()> {
    let arrived = tls::arrive(stream, protocols).await?;
    if arrived.h2 {
        return h2::serve(arrived.stream, seen).await.map_err(std::io::Error::other);
    }
    serve(arrived.stream, arrived.secure, addr, seen).await
}

async fn serve(
    mut stream: Box<dyn Connection>,
    secure: bool,
    addr: SocketAddr,
    seen: RequestLog,
) -> std::io::Result<()> {
    // One answer ends the connection, unless it says how long it is and stays.
    while let Some(ask) = read(&mut *stream).await? {
        let ask = ReceivedRequest { secure, ..ask };
        let all = if ask.path == "/seen" {
            Value::from(locked(&seen).iter().map(ReceivedRequest::to_json).collect::<Vec<_>>())
        } else {
            let mut all = locked(&seen);
            if all.len() < MAX_SEEN {
                all.push(ask.clone());
            }
            ask.to_json()
        };
        let (steps, stays) = answers::steps(&ask, addr, &all);
        for step in steps {
            play(&mut *stream, step).await?;
        }
        if !stays {
            break;
        }
    }
    stream.shutdown().await
}

async fn play(stream: &mut dyn Connection, step: Step) -> std::io::Result<()> {
    match step {
        // TLS keeps what a full socket does not take until it is told to send it.
        Step::Send(bytes) => {
            stream.write_all(&bytes).await?;
            stream.flush().await
        }
        Step::Repeat(bytes, times) => {
            for _ in 0..times {
                stream.write_all(&bytes).await?;
            }
            stream.flush().await
        }
        Step::Drip(bytes, pause, times) => {
            for _ in 0..times {
                stream.write_all(&bytes).await?;
                stream.flush().await?;
                tokio::time::sleep(pause).await;
            }
            Ok(())
        }
        Step::Hang => {
            // Ends when the client closes.
            while stream.read(&mut [0; 1024]).await? > 0 {}
            Ok(())
        }
        Step::Reset => stream.set_reset(),
    }
}

/// The next request, or `None` when the client closed. Only what our own clients send has to be understood.
async fn read(stream: &mut dyn Connection) -> std::io::Result<Option<ReceivedRequest>> {
    let mut bytes = Vec::new();
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|it| it == b"\r\n\r\n") {
            break at + 4;
        }
        if bytes.len() > MAX_HEAD || stream.read_buf(&mut bytes).await? == 0 {
            return Ok(None);
        }
    };
    let mut body = bytes.split_off(end);
    let head = String::from_utf8_lossy(&bytes);
    let mut lines = head.split("\r\n");
    let mut first = lines.next().unwrap_or("").split(' ');
    let mut ask = ReceivedRequest {
        method: first.next().unwrap_or("").to_owned(),
        path: first.next().unwrap_or("").to_owned(),
        headers: lines
            .filter_map(|it| it.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect(),
        ..ReceivedRequest::default()
    };
    let find = |name: &str| ask.headers.iter().find(|it| it.0 == name).map(|it| it.1.clone());
    let length: usize = find("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let host = find("host").unwrap_or_default().to_ascii_lowercase();
    host.rsplit_once(':').map_or(host.as_str(), |it| it.0).clone_into(&mut ask.host);
    while body.len() < length.min(MAX_BODY) {
        if stream.read_buf(&mut body).await? == 0 {
            break;
        }
    }
    ask.body = body;
    Ok(Some(ask))
}
