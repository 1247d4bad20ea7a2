//! analyze: choose one candidate and how to read it, or say that nobody can know.
//!
//! The heuristic path: above the threshold of confidence, else `needs_selection` (`model_options.rs` then takes a model's answer, if
//! there is one). Never a guess below it. Mutations are judged here, before anything is replayed.

use super::{
    chained::{borrowed, fetched_one_by_one},
    detail::{detail, whole_thing},
    download::{last_download, lost_download},
    effect::{is_read_task, judge_recorded},
    extraction::response,
    fan_out::fan_out,
    rank::{full_signal_bp, shorten},
    request::template,
};
use commis_artifacts::{
    payloads::{Analyst, Candidate, CandidateSet, Choice, Judged, Reason, RecipeAnalysis, Reject},
    recording::SessionRecording,
};
use commis_base::{error::Result, settings::DecisionSettings};
use commis_recipe::model::ResponseSpec;

/// A candidate of this confidence is chosen where the page of both recordings shows most of the answer: verify refuses a wrong
/// choice. A judgement, not fitted: with it nothing wrong was verified in `corpus/` and on eleven applications of `ci/apps`.
const SHOWN_BP: u32 = 4200;
/// A candidate of this confidence is looked at for a change it made, basis points.
const MUTATION_BP: u32 = 1000;
/// What the page showed ties an answer to a task without words, per cent of the signal in full.
const MUCH_VISIBLE: i32 = 70;
/// A best candidate of this confidence leaves no doubt about the others.
const SETTLED_BP: u32 = 6000;

/// Pure on this path. Rejects with `mutation`, `ambiguous` or `no_data_request`.
pub fn analyze(
    recording: &SessionRecording,
    candidates: &CandidateSet,
    settings: &DecisionSettings,
) -> Result<Judged<RecipeAnalysis>> {
    let Some(top) = candidates.candidates.first() else {
        return Ok(Judged::Rejected(Reject::new(Reason::NoDataRequest, "no candidate")));
    };
    if let Some(reject) = mutation(recording, candidates)? {
        return Ok(Judged::Rejected(reject));
    }
    if let Some(why) = lost_download(recording) {
        return Ok(Judged::Rejected(Reject::new(Reason::NoDataRequest, why)));
    }
    let exchange = recording.exchange(top.exchange)?;
    // What the steps came to is known, though one example may not show how the input asks for it.
    if last_download(recording) == Some(top.exchange)
        && let Ok(response) = response(exchange, top.source, recording, candidates.main)
    {
        return Ok(Judged::Done(analysis_of(top, response)));
    }
    if bound_to_task(top, recording)
        && fetched_one_by_one(exchange, recording).is_some()
        && let Some(it) = fan_out(exchange, recording)
    {
        return Ok(Judged::Done(analysis_of(top, it.response(exchange))));
    }
    // Proof is for verify: without its steps such a request answers one input alone.
    if let Some(it) = detail(recording, candidates, carries)? {
        let exchange = recording.exchange(it.exchange)?;
        if let Ok(response) = response(exchange, it.source, recording, candidates.main) {
            return Ok(Judged::Done(analysis_of(it, whole_thing(response, exchange))));
        }
    }
    if let Some(reject) = two_calls(recording, candidates)? {
        return Ok(Judged::Rejected(reject));
    }
    if !recording.typed.is_empty() && !candidates.candidates.iter().any(carries) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::NoDataRequest,
            "no request carried what was typed",
        )));
    }
    let exchange = recording.exchange(top.exchange)?;
    if !candidates.candidates.iter().any(|it| bound_to_task(it, recording)) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::NoDataRequest,
            "no request carried what was typed, and no answer holds what the page showed",
        )));
    }
    if let Some(why) = unsure(top, candidates, recording, settings) {
        return Ok(Judged::Rejected(Reject::new(Reason::Ambiguous, why)));
    }
    let response = match response(exchange, top.source, recording, candidates.main) {
        Ok(it) => it,
        Err(why) => return Ok(Judged::Rejected(Reject::new(Reason::Ambiguous, why))),
    };
    Ok(Judged::Done(analysis_of(top, response)))
}

fn analysis_of(it: &Candidate, response: ResponseSpec) -> RecipeAnalysis {
    RecipeAnalysis {
        chosen: Choice {
            exchange: it.exchange,
            second_exchange: it.second_exchange,
            source: it.source,
            response,
        },
        by: Analyst::Heuristic,
    }
}

/// Every reason of this stage that would stop the best candidate, doubts about it not counted, for `eval --reasons`.
pub fn stops(
    recording: &SessionRecording,
    candidates: &CandidateSet,
    settings: &DecisionSettings,
) -> Result<Vec<&'static str>> {
    let mut out = Vec::new();
    let Some(top) = candidates.candidates.first() else { return Ok(out) };
    if mutation(recording, candidates)?.is_some() {
        out.push("mutation");
    }
    if two_calls(recording, candidates)?.is_some() {
        out.push("several_calls");
    }
    let (confidence, threshold) = judged_confidence(top, candidates, settings);
    if confidence < threshold {
        out.push("unsure");
    }
    if !bound_to_task(top, recording) {
        out.push("unbound");
    }
    if response(recording.exchange(top.exchange)?, top.source, recording, candidates.main).is_err()
    {
        out.push("unreadable");
    }
    Ok(out)
}

fn share(it: &Candidate, signal: &str) -> i32 {
    it.features.get(signal).copied().unwrap_or(0)
}

/// The page showed much of the answer.
fn is_much_visible(it: &Candidate) -> bool {
    share(it, "visible_on_page") * 100 >= full_signal_bp("visible_on_page") * MUCH_VISIBLE
}

fn carries(it: &Candidate) -> bool {
    share(it, "typed_in_request") > 0
}

/// Something ties the candidate to this task: a typed value it carries; where nothing was typed, data that the page showed or
/// words of the task in request or answer.
pub(super) fn bound_to_task(it: &Candidate, recording: &SessionRecording) -> bool {
    if !recording.typed.is_empty() {
        return carries(it);
    }
    is_much_visible(it)
        || [
            "url_task_overlap",
            "body_task_overlap",
            "words_anywhere",
            "abbreviated",
            "pairs_in_answer",
        ]
        .iter()
        .any(|signal| share(it, signal) > 0)
}

/// What the page showed came from other requests, which ask by what the best candidate answers: a list of ids whose things are
/// fetched one by one, or a look-up and then the detail.
fn two_calls(recording: &SessionRecording, candidates: &CandidateSet) -> Result<Option<Reject>> {
    if let Some(top) = candidates.candidates.first()
        && let Some(count) = fetched_one_by_one(recording.exchange(top.exchange)?, recording)
    {
        return Ok(Some(Reject::new(
            Reason::SeveralCalls,
            format!(
                "{} lists values by which the page then made {count} requests: what it shows is in their answers",
                shorten(&recording.exchange(top.exchange)?.url, 100)
            ),
        )));
    }
    let Some(top) = candidates.candidates.iter().find(|it| carries(it)) else { return Ok(None) };
    let looked_up = recording.exchange(top.exchange)?;
    for it in candidates.candidates.iter().filter(|it| !carries(it)) {
        let exchange = recording.exchange(it.exchange)?;
        if exchange.measures.visible_weight <= 2 * looked_up.measures.visible_weight {
            continue;
        }
        let part = template(exchange).and_then(|it| borrowed(&it.0, exchange, recording));
        if let Some(part) = part {
            return Ok(Some(Reject::new(
                Reason::SeveralCalls,
                format!(
                    "{} {} holds what the page showed, and its {part} stands in an earlier answer",
                    exchange.method,
                    shorten(&exchange.url, 100)
                ),
            )));
        }
    }
    Ok(None)
}

/// The confidence in the best candidate and the threshold that it has to reach, both in basis points.
///
/// Candidates that carry what was typed and hold the items of the page as well as the best one are as right as it is, so their
/// confidence counts. A choice that the drawn page of both recordings will confirm or refuse needs less confidence.
fn judged_confidence(
    top: &Candidate,
    candidates: &CandidateSet,
    settings: &DecisionSettings,
) -> (u32, u32) {
    let threshold = settings.min_confidence_bp;
    if !carries(top) || share(top, "follows_input") <= 0 {
        return (top.confidence_bp, threshold);
    }
    let held = share(top, "holds_items");
    let is_equal = |it: &&Candidate| {
        it.exchange != top.exchange && carries(it) && share(it, "holds_items") >= held
    };
    let equal = candidates.candidates.iter().filter(|it| held > 0 && is_equal(it));
    let confidence = top.confidence_bp + equal.map(|it| it.confidence_bp).sum::<u32>();
    let is_shown = held > 0 || is_much_visible(top);
    // A user who asks for more than usual gets it.
    let is_usual = threshold <= DecisionSettings::default().min_confidence_bp;
    let threshold = if is_shown && is_usual { threshold.min(SHOWN_BP) } else { threshold };
    (confidence.min(10_000), threshold)
}

/// Why the best candidate is not chosen.
fn unsure(
    top: &Candidate,
    candidates: &CandidateSet,
    recording: &SessionRecording,
    settings: &DecisionSettings,
) -> Option<String> {
    let (confidence, threshold) = judged_confidence(top, candidates, settings);
    if confidence < threshold {
        return Some(format!(
            "the best candidate is right with {} % confidence, below {} %",
            confidence / 100,
            threshold.div_ceil(100)
        ));
    }
    if !bound_to_task(top, recording) {
        return Some("the best candidate does not carry what was typed, another does".to_owned());
    }
    candidates.doubt.as_ref().map(|it| format!("the best candidate is doubtful: {it}"))
}

/// The session's deed changed something: the request that did it is the money request, and it must not be sent again. Looked
/// for among the best candidates only; beacons carry what was typed too and change nothing that matters.
fn mutation(recording: &SessionRecording, candidates: &CandidateSet) -> Result<Option<Reject>> {
    // A session that asks to see something, and surely saw it by a GET, did not do it by another request.
    let settled = candidates.candidates.first().is_some_and(|it| {
        it.method == "GET" && it.confidence_bp >= SETTLED_BP && is_read_task(&recording.task)
    });
    let serious = candidates
        .candidates
        .iter()
        .filter(|it| it.confidence_bp >= MUTATION_BP)
        .take(if settled { 1 } else { usize::MAX });
    for it in serious.filter(|it| it.rank == 1 || carries(it)) {
        if let Err(why) = judge_recorded(recording.exchange(it.exchange)?, recording).into_result()
        {
            return Ok(Some(Reject::new(Reason::Mutation, why)));
        }
    }
    Ok(None)
}
