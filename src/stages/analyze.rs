//! analyze: choose one candidate and how to read it, or say that nobody can know.
//!
//! The heuristic path: above the threshold and ahead of the next by the lead, else `needs_selection` (`offers.rs` then takes
//! a model's answer, if there is one). Never a guess below it. Mutations are judged here, before anything is replayed.

use super::{html_items, reads::reads};
use crate::{
    artifacts::{
        payloads::{
            Analyst, Candidate, CandidateSet, Choice, DataSource, Judged, Reason, RecipeAnalysis,
            Reject,
        },
        recording::{Excerpt, Exchange, ListMeasure, SessionRecording},
    },
    error::Result,
    recipe::model::{ResponseSpec, ResponseType},
    settings::DecisionSettings,
};

/// Pure on this path. Rejects with `mutation`, `ambiguous` or `no_data_request`.
pub fn analyze(
    recording: &SessionRecording,
    candidates: &CandidateSet,
    settings: &DecisionSettings,
) -> Result<Judged<RecipeAnalysis>> {
    let Some(top) = candidates.candidates.first() else {
        return Ok(Judged::Rejected(Reject::new(Reason::NoDataRequest, "no candidate")));
    };
    if let Some(reject) = mutation(recording, candidates, settings.min_lead_bp)? {
        return Ok(Judged::Rejected(reject));
    }
    if !recording.typed.is_empty() && !candidates.candidates.iter().any(carries) {
        return Ok(Judged::Rejected(Reject::new(
            Reason::NoDataRequest,
            "no request carried what was typed",
        )));
    }
    let exchange = recording.exchange(top.exchange)?;
    let next = candidates.candidates.get(1).map_or(0, |it| it.score_bp);
    let lead = top.score_bp - next;
    let bound = bound_to_task(top, recording);
    if top.score_bp < settings.min_score_bp || !bound {
        let any_bound = candidates.candidates.iter().any(|it| bound_to_task(it, recording));
        let (reason, detail) = if any_bound {
            (
                Reason::Ambiguous,
                format!(
                    "the best candidate scores {} of 10000, below {}",
                    top.score_bp, settings.min_score_bp
                ),
            )
        } else {
            (
                Reason::NoDataRequest,
                "no request carried what was typed, and no answer holds what the page showed"
                    .to_owned(),
            )
        };
        return Ok(Judged::Rejected(Reject::new(reason, detail)));
    }
    if lead < settings.min_lead_bp {
        return Ok(Judged::Rejected(Reject::new(
            Reason::Ambiguous,
            format!("the best candidate leads by {lead}, below {}", settings.min_lead_bp),
        )));
    }
    let Some(response) = response(exchange, top.source, recording) else {
        return Ok(Judged::Rejected(Reject::new(
            Reason::Ambiguous,
            "the answer is a page in which no list of results could be told apart",
        )));
    };
    Ok(Judged::Done(RecipeAnalysis {
        chosen: Choice {
            exchange: top.exchange,
            second_exchange: top.second_exchange,
            source: top.source,
            response,
        },
        by: Analyst::Heuristic,
    }))
}

fn share(it: &Candidate, signal: &str) -> i32 {
    it.features.get(signal).copied().unwrap_or(0)
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
    share(it, "visible_on_page") >= 300
        || share(it, "url_task_overlap") > 0
        || share(it, "body_task_overlap") > 0
}

/// The session's deed changed something: the request that did it is the money request, and it must not be sent again. Looked
/// for among the best candidates only; beacons carry what was typed too and change nothing that matters.
fn mutation(
    recording: &SessionRecording,
    candidates: &CandidateSet,
    lead: i32,
) -> Result<Option<Reject>> {
    let Some(top) = candidates.candidates.first().map(|it| it.score_bp) else { return Ok(None) };
    let close = candidates.candidates.iter().take_while(|it| top - it.score_bp <= lead);
    for it in close.filter(|it| it.rank == 1 || carries(it)) {
        if let Err(why) = reads(recording.exchange(it.exchange)?, recording) {
            return Ok(Some(Reject::new(Reason::Mutation, why)));
        }
    }
    Ok(None)
}

/// How to read the answer. `None` when an HTML page has no list that can be told.
pub(super) fn response(
    exchange: &Exchange,
    source: DataSource,
    recording: &SessionRecording,
) -> Option<ResponseSpec> {
    let mut spec = ResponseSpec {
        kind: ResponseType::Json,
        extract: None,
        embedded: None,
        html: None,
        min_items: None,
        required_paths: Vec::new(),
    };
    match source {
        DataSource::Json => spec.extract = best_list(&exchange.measures.lists),
        DataSource::EmbeddedJson => {
            spec.kind = ResponseType::Html;
            let best = exchange.measures.embedded_json.iter().max_by_key(|it| it.leaves_visible)?;
            spec.embedded = Some(best.selector.clone());
            spec.extract = best_list(&best.lists);
        }
        DataSource::Html => {
            spec.kind = ResponseType::Html;
            let Some(Excerpt::Html(html)) = &exchange.excerpt else {
                return None;
            };
            spec.html = Some(html_items::find(html, &recording.page.visible_text)?);
        }
        DataSource::Text => spec.kind = ResponseType::Text,
    }
    Some(spec)
}

/// The list most of whose items the page showed; without sight of the page, the longest list of objects nearest the root.
/// None when the answer is a single thing.
fn best_list(lists: &[ListMeasure]) -> Option<String> {
    let depth = |it: &ListMeasure| it.path.matches(['.', '[']).count();
    let seen = lists
        .iter()
        .filter(|it| it.items_visible > 0 && it.of_objects && !it.path.contains("[]"))
        .max_by_key(|it| (it.items_visible, it.leaves_visible, std::cmp::Reverse(depth(it))));
    if let Some(it) = seen {
        return Some(it.path.clone());
    }
    let visible_elsewhere = lists.iter().any(|it| it.items_visible > 0);
    if visible_elsewhere {
        return None;
    }
    lists
        .iter()
        .filter(|it| it.of_objects && it.len >= 2 && !it.path.contains("[]"))
        .max_by_key(|it| (std::cmp::Reverse(depth(it)), it.len))
        .map(|it| it.path.clone())
}
