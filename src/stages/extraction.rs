//! How an answer is read: which list of it holds the data.

use super::html_items;
use crate::{
    artifacts::{
        payloads::DataSource,
        recording::{Excerpt, Exchange, ListMeasure, SessionRecording},
    },
    recipe::model::{ResponseSpec, ResponseType},
};

/// How to read the answer. `None` when an HTML page has no list that can be told.
pub fn response(
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
