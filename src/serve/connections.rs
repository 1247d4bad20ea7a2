//! The socket: HTTP/1.1 alone, with a deadline for a request's head, and no more connections than files may be open.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use axum::{Router, body::HttpBody, extract::Request, response::Response};
use hyper::{
    body::{Frame, SizeHint},
    server::conn::http1,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    runtime::Handle,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::refusal::refuse;
use commis_base::{
    error::{Code, Error, Result},
    work::{OPERATION, poll_bounded},
};

/// For the head of a request, and between two requests of a connection.
const HEAD: Duration = Duration::from_secs(8);
/// Of a head; it may be half as much again, as the reader's buffer grows.
const MAX_HEAD: usize = 32 * 1024;
/// Open at once; beyond that the one goes that has been quiet for the longest.
const MOST: usize = 512;
/// What those get to end that are at work when the daemon stops.
const GRACE: Duration = Duration::from_secs(2);
const LATE: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Fails with `DAEMON_FAILED` when the port is taken: whoever has it is not to be sent anything.
pub async fn bind(port: u16) -> Result<TcpListener> {
    let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(addr).await.map_err(|err| {
        Error::new(Code::DaemonFailed, format!("cannot listen on {addr}"))
            .source(err)
            .hint("another program has the port; choose one with serve.port or --port, 0 for any")
    })
}

/// A connection as the others see it.
struct ConnectionState {
    /// Since when no request is being answered.
    quiet: Option<Instant>,
    close: CancellationToken,
}

#[derive(Clone, Default)]
struct ConnectionTable(Arc<Mutex<BTreeMap<u64, ConnectionState>>>);

impl ConnectionTable {
    fn with<T>(&self, what: impl FnOnce(&mut BTreeMap<u64, ConnectionState>) -> T) -> T {
        what(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes room for one more; `None` where all others are at work.
    fn enter(&self, id: u64) -> Option<CancellationToken> {
        let close = CancellationToken::new();
        let open = ConnectionState { quiet: Some(Instant::now()), close: close.clone() };
        self.with(|all| {
            if all.len() >= MOST {
                let quiet = all.iter().filter_map(|(id, it)| Some((it.quiet?, *id)));
                all.remove(&quiet.min()?.1)?.close.cancel();
            }
            all.insert(id, open);
            Some(close)
        })
    }

    fn set(&self, id: u64, quiet: Option<Instant>) {
        self.with(|all| {
            if let Some(it) = all.get_mut(&id) {
                it.quiet = quiet;
            }
        });
    }
}

/// A request that is being answered, to the last byte of the answer.
struct ActiveRequest {
    id: u64,
    all: ConnectionTable,
    open: Arc<AtomicUsize>,
}

impl ActiveRequest {
    fn new(id: u64, all: ConnectionTable, open: Arc<AtomicUsize>) -> Self {
        all.set(id, None);
        open.fetch_add(1, Ordering::Relaxed);
        Self { id, all, open }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
        self.all.set(self.id, Some(Instant::now()));
    }
}

/// The body of an answer, with what ends when it is over.
struct TrackedBody(axum::body::Body, Option<ActiveRequest>);

impl HttpBody for TrackedBody {
    type Data = axum::body::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let out = ready!(Pin::new(&mut self.0).poll_frame(cx));
        if !matches!(out, Some(Ok(_))) {
            self.1 = None;
        }
        Poll::Ready(out)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

/// Answers until it is stopped, says so, and lets what is being answered end. `open` counts that. Returns what `stopping` said.
pub async fn serve<T>(
    listener: TcpListener,
    router: Router,
    (open, stop, work): (Arc<AtomicUsize>, CancellationToken, Handle),
    stopping: impl FnOnce() -> T,
) -> T {
    let all = ConnectionTable::default();
    let ids = AtomicU64::new(0);
    let mut tasks = tokio::task::JoinSet::new();
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            Some(_) = tasks.join_next(), if !tasks.is_empty() => continue,
            it = listener.accept() => it,
        };
        let stream = match accepted {
            Ok((it, _)) => it,
            Err(err) => {
                // No more files, most likely: somebody has to go first.
                tracing::warn!(error = %err, "a connection could not be taken");
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let id = ids.fetch_add(1, Ordering::Relaxed);
        let Some(close) = all.enter(id) else { continue };
        let with = (id, all.clone(), Arc::clone(&open));
        tasks.spawn(serve_connection(
            stream,
            (router.clone(), work.clone()),
            with,
            close,
            stop.clone(),
        ));
    }
    let said = stopping();
    drop(listener);
    let rest = async { while tasks.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(GRACE, rest).await;
    said
}

async fn serve_connection(
    stream: TcpStream,
    (router, work): (Router, Handle),
    (id, all, open): (u64, ConnectionTable, Arc<AtomicUsize>),
    close: CancellationToken,
    stop: CancellationToken,
) {
    // Small answers must not wait for each other (40 ms of it).
    let _ = stream.set_nodelay(true);
    let stream = Arc::new(Socket::new(stream));
    let (watched, socket) = (all.clone(), Arc::clone(&stream));
    let service = tower::service_fn(move |mut request: Request<hyper::body::Incoming>| {
        let (router, work, all) = (router.clone(), work.clone(), watched.clone());
        let exchange = ActiveRequest::new(id, all, Arc::clone(&open));
        let socket = Arc::clone(&socket);
        async move {
            if !socket.is_plain.swap(false, Ordering::Relaxed) {
                request.extensions_mut().insert(AmbiguousLength);
            }
            let answer = dispatch(router, &work, request.map(axum::body::Body::new)).await;
            socket.begun.store(false, Ordering::Relaxed);
            answer.map(|it| it.map(|it| axum::body::Body::new(TrackedBody(it, Some(exchange)))))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(MAX_HEAD).max_headers(100);
    let io = TokioIo::new(SharedSocket(Arc::clone(&stream)));
    let connection = http.serve_connection(io, TowerToHyperService::new(service));
    tokio::pin!(connection);
    let ended = tokio::select! {
        it = connection.as_mut() => it,
        () = close.cancelled() => return drop(all.with(|it| it.remove(&id))),
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
    all.with(|it| it.remove(&id));
    if let Err(err) = ended {
        // A head that was begun and did not come; of a connection that was merely kept nobody waits for an answer.
        if err.is_timeout() && stream.begun.load(Ordering::Relaxed) {
            let _ = stream.stream.try_write(LATE);
        }
        tracing::debug!(error = %err, "a connection ended");
    }
}

/// What the router answers: whether the daemon is there at once, and all else on the threads that work, so that nothing which
/// is asked holds up the socket. What computes on for too long is refused with `WORK_LIMIT`.
async fn dispatch(router: Router, work: &Handle, request: Request) -> Result<Response, Infallible> {
    if request.uri().path() == "/health" {
        return router.oneshot(request).await;
    }
    let answer =
        poll_bounded(OPERATION, async { router.oneshot(request).await.map_err(|it| match it {}) });
    let mut task = AbortOnDrop(work.spawn(answer));
    let answer: Result<Response> = (&mut task.0).await.unwrap_or_else(|err| {
        Err(Error::new(Code::Internal, "the operation ended unexpectedly").source(err))
    });
    Ok(answer.unwrap_or_else(|err| refuse(&err)))
}

/// Who has gone away is answered no longer.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A socket that can be written to when the protocol has given it up.
struct Socket {
    stream: TcpStream,
    /// Something came in since the last answer.
    begun: AtomicBool,
    /// What came since then, up to the end of the head.
    head: Mutex<Vec<u8>>,
    /// A head was looked at, and it says but once how long its body is. Of two the protocol's reader believes one, and who stands
    /// before us may have believed the other; and what follows a request before that is answered is looked at by nobody.
    is_plain: AtomicBool,
}

/// Beside a request whose length is in doubt.
#[derive(Clone)]
pub struct AmbiguousLength;

impl Socket {
    fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            begun: AtomicBool::new(false),
            head: Mutex::default(),
            is_plain: AtomicBool::new(false),
        }
    }

    fn came(&self, bytes: &[u8]) {
        const END: &[u8] = b"\r\n\r\n";
        let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.begun.swap(true, Ordering::Relaxed) {
            head.clear();
        } else if head.ends_with(END) || head.len() > 2 * MAX_HEAD {
            return;
        }
        let from = head.len().saturating_sub(END.len());
        head.extend_from_slice(bytes);
        let Some(at) = head[from..].windows(END.len()).position(|it| it == END) else { return };
        head.truncate(from + at + END.len());
        let has = |name: &[u8]| {
            let mut lines = head.split(|it| *it == b'\n');
            lines.any(|it| it.get(..name.len()).is_some_and(|it| it.eq_ignore_ascii_case(name)))
        };
        let two = has(b"content-length:") && has(b"transfer-encoding:");
        self.is_plain.store(!two, Ordering::Relaxed);
    }
}

struct SharedSocket(Arc<Socket>);

impl AsyncRead for SharedSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let socket = &self.0.stream;
        loop {
            ready!(socket.poll_read_ready(cx))?;
            match socket.try_read(buf.initialize_unfilled()) {
                Ok(n) => {
                    self.0.came(&buf.initialize_unfilled()[..n]);
                    buf.advance(n);
                    return Poll::Ready(Ok(()));
                }
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => {}
                Err(err) => return Poll::Ready(Err(err)),
            }
        }
    }
}

impl AsyncWrite for SharedSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let socket = &self.0.stream;
        loop {
            ready!(socket.poll_write_ready(cx))?;
            match socket.try_write(buf) {
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => {}
                it => return Poll::Ready(it),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = rustix::net::shutdown(&self.0.stream, rustix::net::Shutdown::Write);
        Poll::Ready(ended.map_err(Into::into))
    }
}
