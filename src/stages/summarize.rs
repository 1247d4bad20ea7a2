//! summarize: what a model or a person may see of each candidate, bounded.

use super::{extraction::ranked, rank::shorten};
use commis_artifacts::{
    payloads::{CandidateSet, CandidateSummary, Summary},
    recording::{Exchange, SessionRecording},
};

/// A longer path is of no use to a reader.
const MAX_PATH: usize = 160;

/// Pure. Each summary stays below 4 KB.
pub fn summarize(recording: &SessionRecording, candidates: &CandidateSet) -> CandidateSummary {
    let summaries = candidates
        .candidates
        .iter()
        .filter_map(|it| recording.exchanges.get(it.exchange as usize))
        .map(|it| summary(it, &recording.task))
        .collect();
    CandidateSummary { summaries }
}

fn summary(exchange: &Exchange, task: &str) -> Summary {
    let measures = &exchange.measures;
    let mut paths = ranked(&measures.lists, task);
    for embedded in &measures.embedded_json {
        paths.extend(ranked(&embedded.lists, task));
    }
    paths.sort_by_key(|it| std::cmp::Reverse(it.score_bp));
    paths.retain(|it| it.path.len() <= MAX_PATH);
    paths.truncate(6);
    let mut carries: Vec<String> =
        measures.typed_in_request.iter().map(|it| it.name.clone()).collect();
    carries.dedup();
    Summary {
        exchange: exchange.id,
        request_line: format!("{} {}", exchange.method, shorten(&exchange.url, 300)),
        status: exchange.status,
        content_type: shorten(&exchange.mime, 80),
        bytes: exchange.decoded_bytes,
        shape: measures.shape.iter().take(24).map(|it| shorten(it, 80)).collect(),
        paths,
        carries,
    }
}
