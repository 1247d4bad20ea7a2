//! validate: a canonical request from the chosen exchange, replayed at once. Nothing is saved that has not worked once.
//!
//! Only the chosen candidate is tried. Falling through to the next best would be a guess below the threshold.

use std::collections::BTreeMap;

use super::{
    judge::{Call, Replayer, observe},
    request::template,
};
use crate::{
    artifacts::{
        payloads::{Judged, Reason, RecipeAnalysis, RecipeDraft, Reject, Replay},
        recording::{Excerpt, Exchange, Place, SessionRecording},
    },
    error::{Code, Result},
    recipe::model::{ResponseSpec, TransportKind},
    runner::extract::{extract, fingerprint},
};

/// Observes: sends the request up to twice by each transport, least risky first, until one answers like the recording.
///
/// Rejects with `needs_login` or `replay_failed`. Fails with `BROWSER_*` and `LIVE_VALUES_LOST`.
pub async fn validate(
    replayer: &mut dyn Replayer,
    recording: &SessionRecording,
    analysis: &RecipeAnalysis,
) -> Result<Judged<RecipeDraft>> {
    let chosen = &analysis.chosen;
    let exchange = &recording.exchanges[chosen.exchange as usize];
    let Some((request, slots)) = template(exchange) else {
        return Ok(Judged::Rejected(Reject::new(
            Reason::ReplayFailed,
            "the request has a body of a kind that cannot be written as a template",
        )));
    };
    let captured = captured_shape(exchange, &chosen.response);
    let values = BTreeMap::new();
    let mut replays: Vec<Replay> = Vec::new();
    for transport in replayer.transports() {
        let call =
            Call { transport, request: &request, parameters: &[], values: &values, slots: &slots };
        let n = replays.len() as u32 + 1;
        let first =
            observe(replayer, call, &chosen.response, captured.as_deref(), n, "as recorded")
                .await?;
        replays.push(first.replay.clone());
        if !first.good() {
            continue;
        }
        let captured_only = transport == TransportKind::Stub;
        let deterministic = if captured_only {
            true
        } else {
            let again = observe(
                replayer,
                call,
                &chosen.response,
                captured.as_deref(),
                n + 1,
                "as recorded, again",
            )
            .await?;
            let same = again.good() && again.replay.data_sha256 == first.replay.data_sha256;
            replays.push(again.replay);
            same
        };
        return Ok(Judged::Done(RecipeDraft {
            exchange: chosen.exchange,
            second_exchange: chosen.second_exchange,
            request,
            slots,
            response: chosen.response.clone(),
            transport,
            deterministic,
            captured_only,
            carries: carries(exchange),
            shape: first.shape,
            items: first.replay.items,
            replays,
        }));
    }
    Ok(Judged::Rejected(failed(&replays)))
}

/// Shape of the captured answer after extraction; `None` when the recording does not hold enough of it.
pub fn captured_shape(exchange: &Exchange, response: &ResponseSpec) -> Option<Vec<String>> {
    if response.embedded.is_some() {
        return None;
    }
    let (mime, body) = match exchange.excerpt.as_ref()? {
        Excerpt::Json(it) => ("application/json", serde_json::to_vec(it).ok()?),
        Excerpt::Html(it) => ("text/html", it.clone().into_bytes()),
        Excerpt::Text(it) => ("text/plain", it.clone().into_bytes()),
    };
    let extracted = extract(response, mime, &body).ok()?;
    Some(fingerprint(response, &extracted))
}

fn carries(exchange: &Exchange) -> Vec<String> {
    let mut out: Vec<String> = exchange
        .measures
        .typed_in_request
        .iter()
        .map(|it| {
            let place = match it.place {
                Place::Path => "path",
                Place::Query => "query",
                Place::Json => "json",
                Place::Form => "form",
                Place::Text => "text",
                Place::Header => "header",
            };
            format!("{place}:{}", it.key)
        })
        .collect();
    out.sort_unstable();
    out.dedup();
    out
}

/// The most telling failure: a wall means login, whatever else was tried.
fn failed(replays: &[Replay]) -> Reject {
    let walled = replays.iter().any(|it| it.code.as_deref() == Some(Code::AuthRequired.as_str()));
    let tried: Vec<String> = replays
        .iter()
        .map(|it| format!("{} {}", it.transport.as_str(), it.code.as_deref().unwrap_or("?")))
        .collect();
    let reason = if walled { Reason::NeedsLogin } else { Reason::ReplayFailed };
    Reject::new(reason, format!("the request could not be replayed ({})", tried.join(", ")))
}
