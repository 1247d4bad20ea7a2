//! `h2.wild.test`: what only HTTP/2 can do to a client. HTTP/2 alone is agreed on there, over TLS.

use std::{future::poll_fn, time::Duration};

use bytes::Bytes;
use h2::{Reason, RecvStream, SendStream, server::SendResponse};
use http::{HeaderMap, HeaderValue, Request, Response};
use tokio::sync::mpsc;

use super::{MAX_SEEN, ReceivedRequest, RequestLog, locked};
use crate::tls::Connection;

/// Paths below `/h2/`.
pub const H2: &[&str] = &[
    "plain",
    "early-hints",
    "many-hints",
    "trailers",
    "trailers-large",
    "reset-at-once",
    "refused",
    "reset-after-head",
    "reset-in-body",
    "reset-after-body",
    "length-long",
    "length-short",
    "header-large",
    "headers-many",
    "headers-flood",
    "endless",
    "hung",
    "goaway-after",
    "goaway-in-body",
    "cut",
];

/// How the connection ends.
enum ConnectionEnd {
    /// GOAWAY that lets what was asked be answered.
    Graceful,
    /// GOAWAY with an error.
    Abrupt(Reason),
    /// No word.
    Cut,
}

type H2Result = Result<(), h2::Error>;

/// Serves until the client goes or an answer ends the connection.
pub async fn serve(stream: Box<dyn Connection>, seen: RequestLog) -> H2Result {
    let mut connection = h2::server::handshake(stream).await?;
    let (end, mut ended) = mpsc::channel(8);
    loop {
        tokio::select! {
            last = ended.recv() => match last {
                Some(ConnectionEnd::Graceful) => connection.graceful_shutdown(),
                Some(ConnectionEnd::Abrupt(reason)) => connection.abrupt_shutdown(reason),
                Some(ConnectionEnd::Cut) | None => return Ok(()),
            },
            accepted = connection.accept() => {
                let Some(accepted) = accepted else { return Ok(()) };
                let (request, respond) = accepted?;
                let (seen, end) = (seen.clone(), end.clone());
                tokio::spawn(async move {
                    // A client that has had enough is not an error of the server.
                    let _ = answer(request, respond, &seen, &end).await;
                });
            }
        }
    }
}

fn read_request(request: &Request<RecvStream>) -> ReceivedRequest {
    let text = |it: &HeaderValue| String::from_utf8_lossy(it.as_bytes()).into_owned();
    ReceivedRequest {
        method: request.method().to_string(),
        host: request.uri().host().unwrap_or_default().to_owned(),
        path: request.uri().path().to_owned(),
        headers: request.headers().iter().map(|it| (it.0.to_string(), text(it.1))).collect(),
        body: Vec::new(),
        secure: true,
    }
}

async fn answer(
    request: Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
    seen: &RequestLog,
    end: &mpsc::Sender<ConnectionEnd>,
) -> H2Result {
    {
        let mut all = locked(seen);
        if all.len() < MAX_SEEN {
            all.push(read_request(&request));
        }
    }
    let name = request.uri().path().trim_start_matches("/h2/");
    match name {
        "early-hints" => hint(&mut respond)?,
        "many-hints" => {
            for _ in 0..20 {
                hint(&mut respond)?;
            }
        }
        "reset-at-once" => {
            respond.send_reset(Reason::INTERNAL_ERROR);
            return Ok(());
        }
        "refused" => {
            respond.send_reset(Reason::REFUSED_STREAM);
            return Ok(());
        }
        "goaway-after" => _ = end.send(ConnectionEnd::Graceful).await,
        _ => {}
    }
    let head = head(name);
    if name == "hung" {
        tokio::time::sleep(Duration::from_secs(60)).await;
    }
    let mut body = respond.send_response(head, false)?;
    if name == "reset-after-head" {
        body.send_reset(Reason::INTERNAL_ERROR);
        return Ok(());
    }
    if name == "endless" {
        loop {
            send(&mut body, Bytes::from_static(&[b' '; 16 * 1024]), false).await?;
        }
    }
    let ends_here = matches!(name, "plain" | "early-hints" | "many-hints" | "goaway-after")
        || name.starts_with("length-");
    send(&mut body, Bytes::from_static(b"ok"), ends_here).await?;
    if ends_here {
        return Ok(());
    }
    end_body(name, body, end).await
}

/// The head of the answer of that name.
fn head(name: &str) -> Response<()> {
    let mut head = Response::new(());
    let mut add = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_str(value) {
            head.headers_mut().append(name, value);
        }
    };
    add("access-control-allow-origin", "*");
    match name {
        "length-long" => add("content-length", "10"),
        "length-short" => add("content-length", "1"),
        "header-large" => add("x-large", &"y".repeat(70_000)),
        "headers-many" => (0..4000).for_each(|_| add("x-many", "0123456789abcdef")),
        "headers-flood" => (0..16_000).for_each(|_| add("x-many", "0123456789abcdef")),
        _ => {}
    }
    head
}

/// Ends a body after its data, in the way of that name.
async fn end_body(
    name: &str,
    mut body: SendStream<Bytes>,
    end: &mpsc::Sender<ConnectionEnd>,
) -> H2Result {
    // The data is on its way before the end.
    let pause = Duration::from_millis(50);
    match name {
        "trailers" => {
            body.send_trailers(HeaderMap::from_iter([(
                http::HeaderName::from_static("x-after"),
                HeaderValue::from_static("1"),
            )]))?;
        }
        "trailers-large" => {
            let mut many = HeaderMap::new();
            if let Ok(it) = HeaderValue::from_str(&"y".repeat(70_000)) {
                many.insert("x-after", it);
            }
            body.send_trailers(many)?;
        }
        "reset-in-body" => {
            tokio::time::sleep(pause).await;
            body.send_reset(Reason::INTERNAL_ERROR);
        }
        "reset-after-body" => {
            send(&mut body, Bytes::new(), true).await?;
            tokio::time::sleep(pause).await;
            body.send_reset(Reason::NO_ERROR);
        }
        "goaway-in-body" => {
            tokio::time::sleep(pause).await;
            _ = end.send(ConnectionEnd::Abrupt(Reason::PROTOCOL_ERROR)).await;
            tokio::time::sleep(pause).await;
        }
        "cut" => {
            tokio::time::sleep(pause).await;
            _ = end.send(ConnectionEnd::Cut).await;
            tokio::time::sleep(pause).await;
        }
        _ => send(&mut body, Bytes::new(), true).await?,
    }
    Ok(())
}

/// 103, with a link to where nothing may ask.
fn hint(respond: &mut SendResponse<Bytes>) -> H2Result {
    let mut hint = Response::new(());
    *hint.status_mut() = http::StatusCode::EARLY_HINTS;
    let link = HeaderValue::from_static("<https://127.0.0.1/hinted>; rel=preload; as=script");
    hint.headers_mut().insert("link", link);
    respond.send_informational(hint)
}

/// As fast as the client takes it.
async fn send(stream: &mut SendStream<Bytes>, mut bytes: Bytes, end: bool) -> H2Result {
    while !bytes.is_empty() {
        stream.reserve_capacity(bytes.len());
        match poll_fn(|cx| stream.poll_capacity(cx)).await {
            Some(Ok(0)) => {}
            Some(Ok(n)) => {
                let part = bytes.split_to(n.min(bytes.len()));
                stream.send_data(part, end && bytes.is_empty())?;
                if end && bytes.is_empty() {
                    return Ok(());
                }
            }
            Some(Err(err)) => return Err(err),
            None => return Err(Reason::CANCEL.into()),
        }
    }
    if end { stream.send_data(bytes, true) } else { Ok(()) }
}
