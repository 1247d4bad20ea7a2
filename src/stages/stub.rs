//! Answers out of a recording, for learning without any network.

use std::collections::BTreeMap;

use futures::future::{BoxFuture, ready};

use crate::{ReplayCall, Replayer, replay_template};
use commis_artifacts::{
    payloads::Replay,
    recording::{Excerpt, Exchange, SessionRecording},
};
use commis_base::error::{Code, Error, Result};
use commis_net::transport::{Reply, Timings};
use commis_recipe::{
    framing::{apply_framing, mime},
    model::{Slot, TransportKind},
    request::{PreparedRequest, prepare_request},
};

/// Something in place of each slot.
fn blank(slots: &[Slot]) -> BTreeMap<String, String> {
    slots.iter().map(|it| (it.name.clone(), "0".to_owned())).collect()
}

/// The recorded answer to exactly this request. Fails with [`Code::NetworkDisabled`] when the recording holds none.
pub fn recorded_answer(
    recording: Option<&SessionRecording>,
    call: ReplayCall<'_>,
) -> Result<Reply> {
    let offline =
        || Error::new(Code::NetworkDisabled, "the recording holds no answer to this request");
    let recording = recording.ok_or_else(offline)?;
    let mut values = call.values.clone();
    values.extend(blank(call.slots));
    let draft = call.draft(&values)?;
    let mut walk = draft.start();
    while let Some(request) = walk.request()? {
        let reply = answer(recording, &request).ok_or_else(offline)?;
        walk.take(request, reply)?;
    }
    walk.reply()
}

/// What the recording was answered to that request.
fn answer(recording: &SessionRecording, wanted: &PreparedRequest) -> Option<Reply> {
    // A request that failed first and was made again was answered by the second.
    let good = |it: &&Exchange| matches!(it.status, Some(200..300));
    let all = recording.exchanges.iter();
    for exchange in all.clone().filter(good).chain(all.filter(|it| !good(it))) {
        let Some((template, slots)) = replay_template(exchange) else {
            continue;
        };
        if template.method != wanted.method {
            continue;
        }
        let same = prepare_request(&template, &[], &blank(&slots))
            .is_ok_and(|it| it.url == wanted.url && it.body == wanted.body);
        if !same {
            continue;
        }
        let (kind, body) = match &exchange.excerpt {
            Some(Excerpt::Json(it)) => {
                (mime(exchange.framing), apply_framing(exchange.framing, it))
            }
            Some(Excerpt::Html(it)) => ("text/html", it.clone()),
            Some(Excerpt::Text(it)) => ("text/plain", it.clone()),
            None => continue,
        };
        return Some(Reply {
            status: exchange.status.unwrap_or(200),
            headers: vec![("content-type".to_owned(), kind.to_owned())],
            body: body.into_bytes(),
            url: exchange.url.clone(),
            hops: 0,
            timings: Timings::default(),
        });
    }
    None
}

/// A world of the recording's own answers.
pub struct RecordingReplayer<'a>(pub &'a SessionRecording);

impl Replayer for RecordingReplayer<'_> {
    fn transports(&self) -> Vec<TransportKind> {
        vec![TransportKind::Stub]
    }

    fn send<'b>(&'b mut self, call: ReplayCall<'b>) -> BoxFuture<'b, Result<Reply>> {
        Box::pin(ready(recorded_answer(Some(self.0), call)))
    }

    fn fresh(&mut self) {}

    fn spent(&self) -> bool {
        false
    }

    fn recall(&mut self, _key: &str) -> Option<Replay> {
        None
    }

    fn note(&mut self, _key: &str, _replay: &Replay) -> Result<()> {
        Ok(())
    }
}
