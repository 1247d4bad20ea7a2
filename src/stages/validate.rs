//! validate: a canonical request from the chosen exchange, replayed at once. Nothing is saved that has not worked once.
//!
//! Only the chosen candidate is tried. Falling through to the next best would be a guess below the threshold.

use std::collections::BTreeMap;

use super::{
    judge::{Call, Observed, Replayer, observe, passing},
    request::template,
};
use commis_artifacts::{
    payloads::{Judged, Reason, RecipeAnalysis, RecipeDraft, Reject, Replay},
    recording::{EmbeddedJson, Excerpt, Exchange, Listing, Place, SessionRecording},
};
use commis_base::error::{Code, Error, Result};
use commis_recipe::{
    framing::framed,
    model::{HtmlSpec, ResponseSpec, TransportKind},
    shape::similarity_bp,
};
use commis_runner::{
    MIN_SIMILARITY_BP,
    extract::{Extracted, extract, fingerprint},
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
    let exchange = recording.exchange(chosen.exchange)?;
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
        let mut replay = first.replay.clone();
        if let Some(why) = unlike(exchange, &chosen.response, &first) {
            replay.code = Some(Code::ShapeDrift.as_str().to_owned());
            replay.detail = Some(why.to_owned());
        }
        let good = replay.ok();
        replays.push(replay);
        if !good {
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
            if let Some(code) = passing(&again.replay) {
                return Err(not_now(code));
            }
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
            compared: captured.is_some()
                || !first.root_shape.is_empty() && chosen.response.embedded.is_some(),
            shape: first.shape,
            items: first.replay.items,
            replays,
        }));
    }
    // Trouble that may pass says nothing about the task: it is an error, and a later run tries again. The last transport is the
    // one that can do most: while it was not heard, what the others said is no verdict.
    if let Some(code) = replays.last().and_then(passing) {
        return Err(not_now(code));
    }
    Ok(Judged::Rejected(failed(&replays)))
}

fn not_now(code: Code) -> Error {
    Error::new(code, "the request could not be replayed now").hint("run again with --resume")
}

/// What the shape alone does not tell: JSON in a page of another shape, or a page whose items are other elements.
fn unlike(exchange: &Exchange, response: &ResponseSpec, seen: &Observed) -> Option<&'static str> {
    if let Some(selector) = &response.embedded {
        let is_meant =
            |it: &&EmbeddedJson| it.selector == *selector && it.variable == response.variable;
        let recorded = exchange.measures.embedded_json.iter().find(is_meant)?;
        let alike = similarity_bp(&recorded.shape, &seen.root_shape);
        return (alike < MIN_SIMILARITY_BP).then_some("the JSON in the page has another shape");
    }
    if let Some(html) = response.html.as_ref().filter(|it| !it.single) {
        let recorded = u64::from(listing(exchange, html)?.items);
        let now = seen.replay.items.unwrap_or(0);
        // A page may have changed a little; another list differs a lot.
        let near = now.abs_diff(recorded) * 4 <= recorded.max(now);
        return (!near).then_some("the page has another number of items");
    }
    None
}

/// Shape of the captured answer after extraction; `None` when the recording does not hold enough of it.
pub fn captured_shape(exchange: &Exchange, response: &ResponseSpec) -> Option<Vec<String>> {
    if let Some(html) = &response.html {
        return listing(exchange, html).map(|it| it.shape.clone());
    }
    captured(exchange, response).map(|it| fingerprint(response, &it))
}

/// What the recording holds of these items, whatever it says of those that an item may be without.
fn listing<'a>(exchange: &'a Exchange, html: &HtmlSpec) -> Option<&'a Listing> {
    exchange.measures.listings.iter().find(|it| it.html == *html)
}

/// The captured answer, extracted.
pub fn captured(exchange: &Exchange, response: &ResponseSpec) -> Option<Extracted> {
    if response.embedded.is_some() {
        return None;
    }
    if let Some(html) = &response.html {
        let it = listing(exchange, html)?;
        let data = if html.single { it.sample.first()?.clone() } else { it.sample.clone().into() };
        return Some(Extracted {
            data,
            items: (!html.single).then_some(u64::from(it.items)),
            whole: None,
        });
    }
    let (mime, body) = match exchange.excerpt.as_ref()? {
        Excerpt::Json(it) => ("application/json", framed(response.framing, it).into_bytes()),
        Excerpt::Html(it) => ("text/html", it.clone().into_bytes()),
        Excerpt::Text(it) => ("text/plain", it.clone().into_bytes()),
    };
    extract(response, mime, &body).ok()
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
