//! Which candidates a model may choose from, and what its answer is worth. Pure.
//!
//! Offered is only what the heuristics could have chosen themselves: bound to the task, only reading, with an answer that
//! can be read. A choice is checked against the same list again, so that whatever was answered, the result is one of these or
//! `needs_selection`.

use std::collections::BTreeSet;

use super::{analyze::bound_to_task, effect::judge_recorded, extraction::response};
use commis_artifacts::offer::Offer;
use commis_artifacts::{
    payloads::{
        Analyst, Candidate, CandidateSet, CandidateSummary, Choice, DataSource, Judged,
        ModelAnswer, Reason, RecipeAnalysis, Reject, Summary, Verdict,
    },
    recording::{Exchange, SessionRecording},
};
use commis_base::error::Result;
use commis_recipe::expression::Query;

/// The candidates that may be chosen, best first. Fails with `ARTIFACT_CORRUPT`.
pub fn offers<'a>(
    recording: &SessionRecording,
    candidates: &CandidateSet,
    summaries: &'a CandidateSummary,
) -> Result<Vec<Offer<'a>>> {
    let mut out = Vec::new();
    let mut lines = BTreeSet::new();
    for it in candidates.candidates.iter().take(8) {
        let exchange = recording.exchange(it.exchange)?;
        let Some(summary) = summaries.summaries.iter().find(|s| s.exchange == it.exchange) else {
            continue;
        };
        if eligible(it, exchange, recording, candidates.main) {
            let line = line(it, summary, &mut lines);
            out.push(Offer {
                exchange: it.exchange,
                line,
                paths: paths(it, exchange, summary),
                summary,
            });
        }
    }
    Ok(out)
}

fn eligible(
    it: &Candidate,
    exchange: &Exchange,
    recording: &SessionRecording,
    main: Option<u32>,
) -> bool {
    bound_to_task(it, recording)
        && judge_recorded(exchange, recording).is_read()
        && response(exchange, it.source, recording, main).is_ok()
}

/// The request line without control characters, told apart by operation or number where two are the same.
fn line(it: &Candidate, summary: &Summary, taken: &mut BTreeSet<String>) -> String {
    let mut line: String = summary.request_line.chars().filter(|it| !it.is_control()).collect();
    if let Some(operation) = &it.operation {
        line.push(' ');
        line.extend(operation.chars().filter(|it| !it.is_control()).take(80));
    }
    let mut unique = line.clone();
    let mut n = 1;
    while !taken.insert(unique.clone()) {
        n += 1;
        unique = format!("{line} #{n}");
    }
    unique
}

/// The summary's paths, as far as they were not shortened and lead into the JSON that would be read.
fn paths(it: &Candidate, exchange: &Exchange, summary: &Summary) -> Vec<String> {
    let measures = &exchange.measures;
    let there = |path: &str| match it.source {
        DataSource::Json => true,
        DataSource::EmbeddedJson => measures
            .embedded_json
            .iter()
            .max_by_key(|it| it.leaves_visible)
            .is_some_and(|it| it.lists.iter().any(|list| list.path == path)),
        DataSource::Html | DataSource::Text => false,
    };
    let mut out: Vec<String> = Vec::new();
    for path in summary.paths.iter().map(|it| &it.path) {
        if there(path) && !out.contains(path) && Query::compile(path).is_ok() {
            out.push(path.clone());
        }
    }
    out
}

/// The heuristics' result, or a model's choice where they could not tell. Fails with `ARTIFACT_CORRUPT`.
pub fn settle(
    recording: &SessionRecording,
    candidates: &CandidateSet,
    summaries: &CandidateSummary,
    heuristic: Judged<RecipeAnalysis>,
    answer: &ModelAnswer,
) -> Result<Judged<RecipeAnalysis>> {
    let (reject, consultation) = match (heuristic, &answer.consultation) {
        (Judged::Rejected(it), Some(asked)) if it.reason == Reason::Ambiguous => (it, asked),
        (other, _) => return Ok(other),
    };
    let stays = |why: &str| {
        let detail = format!("{}; {why}", reject.detail);
        Ok(Judged::Rejected(Reject::new(Reason::Ambiguous, detail)))
    };
    let (exchange, path) = match &consultation.verdict {
        Verdict::Chosen { exchange, path } => (*exchange, path),
        Verdict::NoneFits => return stays("the model says that none of them holds the data"),
        Verdict::Inconsistent => {
            return stays("the model chose another one when the candidates were in reverse order");
        }
        Verdict::Unusable => return stays("no answer of the model could be accepted"),
    };
    let offers = offers(recording, candidates, summaries)?;
    let offered = offers.iter().find(|it| it.exchange == exchange);
    let fits = |it: &&Offer<'_>| path.as_ref().is_none_or(|path| it.paths.contains(path));
    let candidate = candidates.candidates.iter().find(|it| it.exchange == exchange);
    let (Some(_), Some(candidate)) = (offered.filter(fits), candidate) else {
        return stays("the model's choice was not offered");
    };
    let Ok(mut response) =
        response(recording.exchange(exchange)?, candidate.source, recording, candidates.main)
    else {
        return stays("the answer of the model's choice cannot be read");
    };
    if path.is_some() {
        response.extract.clone_from(path);
    }
    Ok(Judged::Done(RecipeAnalysis {
        chosen: Choice {
            exchange,
            second_exchange: candidate.second_exchange,
            source: candidate.source,
            response,
        },
        by: Analyst::Model,
    }))
}
