//! Reads bodies of answers and requests from the browser, before the page that has them is gone.

use std::{sync::Arc, time::Duration, time::Instant};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Deserialize;
use serde_json::json;

use super::{
    cdp::Reply,
    context_state::ContextInner,
    recorder::{ReadBody, ReadKind, ReadRequest, Recorder},
};

/// For one answer, and for all that are awaited in the end.
pub const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// Reads what waited until the page has time: it has, or it will be gone.
pub fn read_waiting(shared: &Arc<ContextInner>) {
    read_what(shared, Recorder::take_waiting_reads);
}

/// The same, and from now on bodies are read as they come.
pub fn hurry(shared: &Arc<ContextInner>) {
    read_what(shared, Recorder::hurry);
}

fn read_what(shared: &Arc<ContextInner>, what: fn(&mut Recorder) -> Vec<ReadRequest>) {
    let (reads, begun) = match &mut shared.lock().recorder {
        Some(recorder) => (what(recorder), recorder.started_at()),
        None => return,
    };
    for it in reads {
        read(shared, it, begun);
    }
}

/// Asks now, before the page can navigate away; the answer is awaited elsewhere.
pub fn read(shared: &Arc<ContextInner>, read: ReadRequest, begun: Instant) {
    // A late answer must not reach the context's next recording.
    let same = move |it: &&mut Recorder| it.started_at() == begun;
    let ReadRequest { what, session, index, id } = read;
    // What an archive answers is known.
    if shared.archive().is_some() {
        if let Some(recorder) = &mut shared.lock().recorder {
            match what {
                ReadKind::Body => recorder.read_body(index, None),
                ReadKind::PostData => recorder.read_post(index, None),
            }
        }
        return;
    }
    let params = json!({ "requestId": id });
    let shared = Arc::clone(shared);
    match what {
        ReadKind::Body => {
            let reply = shared.cdp.send(Some(&session), "Network.getResponseBody", params);
            tokio::spawn(async move {
                let mut body = read_body(reply).await;
                let owner = shared.lock().recorder.as_ref().and_then(|it| it.session(index));
                if body.is_none()
                    && let Some(owner) = owner.filter(|it| *it != session)
                {
                    let params = json!({ "requestId": id });
                    let reply = shared.cdp.send(Some(&owner), "Network.getResponseBody", params);
                    body = read_body(reply).await;
                }
                if let Some(recorder) = shared.lock().recorder.as_mut().filter(same) {
                    recorder.read_body(index, body);
                }
                shared.news.notify_waiters();
            });
        }
        ReadKind::PostData => {
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            struct PostData {
                post_data: String,
                #[serde(default)]
                base64_encoded: bool,
            }
            let reply = shared.cdp.send(Some(&session), "Network.getRequestPostData", params);
            tokio::spawn(async move {
                let read = reply.read::<PostData>(READ_TIMEOUT).await.ok();
                let data = read.and_then(|it| decode(it.post_data, it.base64_encoded));
                if let Some(recorder) = shared.lock().recorder.as_mut().filter(same) {
                    recorder.read_post(index, data);
                }
                shared.news.notify_waiters();
            });
        }
    }
}

async fn read_body(reply: Reply) -> Option<ReadBody> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ResponseBody {
        body: String,
        base64_encoded: bool,
    }
    let read: ResponseBody = reply.read(READ_TIMEOUT).await.ok()?;
    if read.base64_encoded {
        STANDARD.decode(read.body).ok().map(ReadBody::Bytes)
    } else {
        Some(ReadBody::Text(read.body))
    }
}

fn decode(text: String, base64: bool) -> Option<Vec<u8>> {
    if base64 { STANDARD.decode(text).ok() } else { Some(text.into_bytes()) }
}
