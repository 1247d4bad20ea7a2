//! summarize: what a model or a person may see of each candidate, bounded.

use super::rank::shorten;
use crate::artifacts::{
    payloads::{CandidateSet, CandidateSummary, Summary},
    recording::{Exchange, SessionRecording},
};

/// Pure. Each summary stays below 4 KB.
pub fn summarize(recording: &SessionRecording, candidates: &CandidateSet) -> CandidateSummary {
    let summaries = candidates
        .candidates
        .iter()
        .filter_map(|it| recording.exchanges.get(it.exchange as usize))
        .map(summary)
        .collect();
    CandidateSummary { summaries }
}

fn summary(exchange: &Exchange) -> Summary {
    let measures = &exchange.measures;
    let mut lists: Vec<_> = measures
        .lists
        .iter()
        .chain(measures.embedded_json.iter().flat_map(|it| &it.lists))
        .collect();
    lists.sort_by_key(|it| std::cmp::Reverse((it.items_visible, it.leaves_visible)));
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
        paths: lists.into_iter().take(6).map(|it| shorten(&it.path, 80)).collect(),
        carries,
    }
}
