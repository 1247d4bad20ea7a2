//! analyze: choose one candidate and how to read it, or say that nobody can know.
//!
//! Only the heuristic path exists: above the threshold and ahead of the next by the lead, else `needs_selection`. Never a
//! guess below it. Mutations are judged here, before anything is replayed.

use super::{html_items, request::reads};
use crate::{
    artifacts::{
        payloads::{
            Analyst, Candidate, CandidateSet, Choice, DataSource, Judged, Reason, RecipeAnalysis,
            Reject,
        },
        recording::{Exchange, Excerpt, ListMeasure, SessionRecording},
    },
    recipe::model::{ResponseSpec, ResponseType},
    settings::DecisionSettings,
};

/// Pure on this path. Rejects with `mutation`, `ambiguous` or `no_data_request`.
pub fn analyze(
    recording: &SessionRecording,
    candidates: &CandidateSet,
    settings: &DecisionSettings,
) -> Judged<RecipeAnalysis> {
    if let Some(reject) = mutation(recording) {
        return Judged::Rejected(reject);
    }
    let Some(top) = candidates.candidates.first() else {
        return Judged::Rejected(Reject::new(Reason::NoDataRequest, "no candidate"));
    };
    let exchange = &recording.exchanges[top.exchange as usize];
    let next = candidates.candidates.get(1).map_or(0, |it| it.score_bp);
    let lead = top.score_bp - next;
    let bound = bound_to_task(top);
    if top.score_bp < settings.min_score_bp || !bound {
        let any_bound = candidates.candidates.iter().any(bound_to_task);
        let (reason, detail) = if any_bound {
            (Reason::Ambiguous, format!(
                "the best candidate scores {} of 10000, below {}",
                top.score_bp, settings.min_score_bp
            ))
        } else {
            (Reason::NoDataRequest, "no request carried what was typed, and no answer holds what the page showed".to_owned())
        };
        return Judged::Rejected(Reject::new(reason, detail));
    }
    if lead < settings.min_lead_bp {
        return Judged::Rejected(Reject::new(
            Reason::Ambiguous,
            format!("the best candidate leads by {lead}, below {}", settings.min_lead_bp),
        ));
    }
    if let Err(why) = reads(exchange, recording) {
        return Judged::Rejected(Reject::new(Reason::Mutation, why));
    }
    let Some(response) = response(exchange, top.source, recording) else {
        return Judged::Rejected(Reject::new(
            Reason::Ambiguous,
            "the answer is a page in which no list of results could be told apart",
        ));
    };
    Judged::Done(RecipeAnalysis {
        chosen: Choice { exchange: top.exchange, second_exchange: top.second_exchange, source: top.source, response },
        by: Analyst::Heuristic,
    })
}

/// Something ties the candidate to this task: a typed value it carried, or data that the page showed.
fn bound_to_task(it: &Candidate) -> bool {
    let share = |name: &str| it.features.get(name).copied().unwrap_or(0);
    share("typed_in_request") > 0 || share("visible_on_page") >= 300 || share("url_task_overlap") > 0
}

/// The session's last deed changed something: its own request is the money request, and it must not be sent again.
fn mutation(recording: &SessionRecording) -> Option<Reject> {
    let last = recording.actions.iter().rposition(|it| it.kind != crate::artifacts::recording::ActionKind::WaitFor)? as u32;
    let caused = recording.exchanges.iter().filter(|it| {
        it.after_action == Some(last) && !matches!(it.method.as_str(), "GET" | "HEAD" | "OPTIONS")
    });
    for exchange in caused {
        if exchange.measures.typed_in_request.is_empty() {
            continue;
        }
        if let Err(why) = reads(exchange, recording) {
            return Some(Reject::new(Reason::Mutation, why));
        }
    }
    None
}

/// How to read the answer. `None` when an HTML page has no list that can be told.
fn response(exchange: &Exchange, source: DataSource, recording: &SessionRecording) -> Option<ResponseSpec> {
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
            let Some(Excerpt::Html(html)) = &exchange.excerpt else { return None };
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
