//! Runs the stages on a case of the corpus, and judges what they did.

use std::collections::BTreeMap;

use futures::executor::block_on;

use super::{
    Case, CaseResult, Checks, Detail, Rejection, Verdict, baseline,
    completeness::{self, squash, texts},
    stubs::StubReplayer,
};
use commis_artifacts::payloads::{Judged, Outcome, Reason, RecipeDraftMinimized, Reject};
use commis_base::{error::Error, settings::Settings};
use commis_net::transport::Reply;
use commis_recipe::shape;
use commis_runner::{
    MIN_SIMILARITY_BP,
    extract::{Extraction, HttpAnswer, extract},
};
use commis_stages::{
    ReplayCall, Replayer as _, Stage,
    in_memory::{self, Trace},
    rank,
    verify::Expectation,
};

/// Runs a case's stages over its stubs, and judges what came of it. What only a report shows is left out unless `detailed`.
pub fn run(case: &Case, settings: &Settings, detailed: bool) -> CaseResult {
    let expect = Expectation {
        min_items: case.metadata.min_items,
        required_paths: case.metadata.required_paths.clone(),
        further: case.metadata.further.clone(),
    };
    let mut replayer = StubReplayer::new(&case.stubs, settings.learning.max_replays);
    let trace =
        block_on(in_memory::run(&case.recording, &case.second, settings, &expect, &mut replayer))
            .unwrap_or_else(|err| failed_trace(case, settings, &err));
    let mut out = judge(case, &trace, replayer.sent);
    out.detail = detailed.then(|| Detail::from_trace(case, &trace));
    out
}

/// Trouble of the world ends a task without a verdict of the stages; the ranking is shown all the same.
fn failed_trace(case: &Case, settings: &Settings, err: &Error) -> Trace {
    let detail = format!("{}: {}", err.code(), err.message());
    Trace {
        candidates: Some(rank::rank(&case.recording, &case.second, &settings.ranking)),
        reject: Some((Stage::Validate, Reject::new(Reason::ReplayFailed, detail))),
        ..Trace::default()
    }
}

fn judge(case: &Case, trace: &Trace, replays: u32) -> CaseResult {
    let ranked = trace.ranked().map(|it| it.candidates.as_slice()).unwrap_or_default();
    let right_rank =
        ranked.iter().position(|it| case.right.right.contains(&it.exchange)).map(|i| i as u32 + 1);
    let outcome = trace.outcome();
    let chosen = match &trace.analysis {
        Some(Judged::Done(it)) => case.recording.exchanges.get(it.chosen.exchange as usize),
        _ => None,
    };
    let recipeable = matches!(case.metadata.outcome, Outcome::Verified | Outcome::SavedDraft);
    let published = matches!(outcome, Outcome::Verified | Outcome::SavedDraft);
    let checks = published.then(|| Checks {
        endpoint: chosen.is_some_and(|it| case.right.right.contains(&it.id)),
        parameters: parameters_right(case, trace),
        extraction: extraction_right(case, trace),
        complete: completeness::is_complete(case, trace.parameterized.as_ref(), |draft, values| {
            answer(case, trace, draft, values)
        }),
    });
    let whole = checks.is_some_and(|it| it.failed_parts().is_empty());
    let reason = trace.reject.as_ref().map(|it| it.1.reason);
    let as_expected = outcome == case.metadata.outcome
        && (case.metadata.reason.is_none() || published || case.metadata.reason == reason);
    let verdict = match (published, recipeable) {
        (true, true) if whole && as_expected => Verdict::Right,
        // The right recipe, only not proven: nothing false is claimed.
        (true, true) if whole && outcome == Outcome::SavedDraft => Verdict::Abstained,
        (true, _) => Verdict::Wrong,
        (false, false) if as_expected => Verdict::Right,
        (false, _) => Verdict::Abstained,
    };
    CaseResult {
        id: case.id.clone(),
        kind: case.metadata.kind.clone(),
        recipeable,
        outcome,
        verdict,
        right_rank,
        rejected: trace.reject.as_ref().map(|(stage, it)| Rejection {
            stage: stage.as_str(),
            reason: it.reason.as_str(),
            detail: it.detail.clone(),
        }),
        top: super::top(trace),
        expected: Some(case.metadata.outcome),
        expected_reason: case.metadata.reason.map(Reason::as_str),
        unproven: trace.report.as_ref().filter(|it| !it.verified).and_then(|it| it.reason.clone()),
        chosen: chosen.map(|it| format!("{} {}", it.method, it.url)),
        checks,
        false_verified: outcome == Outcome::Verified
            && !(whole && case.metadata.outcome == Outcome::Verified),
        replays,
        input_sha256: case.input_sha256.clone(),
        stages: baseline::digests(trace),
        detail: None,
    }
}

/// Every value a caller must give is one that a caller should give, and the other way round.
fn parameters_right(case: &Case, trace: &Trace) -> bool {
    let Some(Judged::Done(draft)) = &trace.parameterized else { return false };
    // What verify froze is published as a constant.
    let frozen = trace.report.as_ref().map(|it| it.frozen.as_slice()).unwrap_or_default();
    let has = |name: &str| {
        draft.parameters.iter().any(|it| it.name == name) && !frozen.iter().any(|it| it == name)
    };
    let wanted = &case.draft.parameters;
    wanted.iter().all(|it| has(it))
        && draft.parameters.iter().filter(|it| it.required).all(|it| wanted.contains(&it.name))
}

/// The draft is asked for the first example once more: its data must hold what the page's did.
fn extraction_right(case: &Case, trace: &Trace) -> bool {
    let Some(it) = first_answer(case, trace) else { return false };
    let shape_right = match &it.whole {
        Some(whole) if !case.fingerprint.shape.is_empty() => {
            shape::similarity_bp(&case.fingerprint.shape, &shape::paths(whole)) >= MIN_SIMILARITY_BP
        }
        _ => true,
    };
    let mut leaves = Vec::new();
    texts(&it.data, &mut leaves);
    let wanted = case.draft.extract_contains.iter().map(|it| squash(it));
    shape_right && wanted.into_iter().all(|wanted| leaves.iter().any(|it| it.contains(&wanted)))
}

fn first_answer(case: &Case, trace: &Trace) -> Option<Extraction> {
    let Some(Judged::Done(draft)) = &trace.parameterized else { return None };
    let reply = answer(case, trace, draft, &draft.first)?;
    extract(&draft.response, HttpAnswer::from_body(&reply.mime(), &reply.body)).ok()
}

/// What the stubs answer to these values.
fn answer(
    case: &Case,
    trace: &Trace,
    draft: &RecipeDraftMinimized,
    values: &BTreeMap<String, String>,
) -> Option<Reply> {
    let verified = trace.report.as_ref().filter(|it| it.verified);
    let mut replayer = StubReplayer::new(&case.stubs, u32::MAX);
    let call = ReplayCall {
        transport: verified.map_or(draft.transport, |it| it.transport),
        request: &draft.request,
        parameters: &draft.parameters,
        values,
        slots: &draft.slots,
        steps: &draft.steps,
        assembly: draft.assembly.as_ref(),
    };
    block_on(replayer.send(call)).ok()
}

#[cfg(test)]
#[path = "typed_tests.rs"]
mod typed_tests;
