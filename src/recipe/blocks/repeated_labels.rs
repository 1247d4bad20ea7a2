//! Lists of labels and values whose labels come again and again on a page: each list is one item, and no list of items.

use std::collections::{BTreeMap, BTreeSet};

use ego_tree::NodeId;
use scraper::{ElementRef, Html};

use super::element_text::{children, is_read, text};

/// Fewer labels are no record.
const MIN_LABELS: usize = 2;
/// More labels are those of a list.
const MAX_LABELS: usize = 32;
/// Lists that are looked at.
const MAX_LISTS: usize = 1_000;

/// The `dl` and two-column `table` elements most of whose labels stand in another one of the page, too.
pub fn repeated_label_lists(page: &Html) -> BTreeSet<NodeId> {
    let lists: Vec<(NodeId, BTreeSet<String>)> = page
        .tree
        .nodes()
        .filter_map(ElementRef::wrap)
        .filter_map(|it| Some((it.id(), labels(it)?)))
        .take(MAX_LISTS)
        .collect();
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for it in lists.iter().flat_map(|it| &it.1) {
        *count.entry(it).or_default() += 1;
    }
    let is_repeated = |labels: &BTreeSet<String>| {
        labels.iter().filter(|it| count[it.as_str()] > 1).count() * 3 >= labels.len() * 2
    };
    lists.iter().filter(|it| is_repeated(&it.1)).map(|it| it.0).collect()
}

/// The labels of a list of labels and values, each of which it has once; `None` for all other elements.
fn labels(element: ElementRef<'_>) -> Option<BTreeSet<String>> {
    let all: Vec<String> = match element.value().name() {
        "dl" if is_read(element) => terms(element),
        "table" if is_read(element) => first_cells(element)?,
        _ => return None,
    };
    let distinct: BTreeSet<String> = all.iter().filter(|it| !it.is_empty()).cloned().collect();
    let is_record = distinct.len() == all.len() && (MIN_LABELS..=MAX_LABELS).contains(&all.len());
    is_record.then_some(distinct)
}

fn terms(list: ElementRef<'_>) -> Vec<String> {
    let wrapped = |it: ElementRef<'_>| it.value().name() == "div";
    let is_term = |it: &ElementRef<'_>| it.value().name() == "dt";
    let own = children(list).filter(is_term);
    own.chain(children(list).filter(|it| wrapped(*it)).flat_map(children).filter(is_term))
        .map(text)
        .collect()
}

/// Labels of a table whose rows are a label and a value; a row of one cell over both is a title.
fn first_cells(table: ElementRef<'_>) -> Option<Vec<String>> {
    let is_row = |it: &ElementRef<'_>| it.value().name() == "tr";
    let is_body = |it: &ElementRef<'_>| matches!(it.value().name(), "thead" | "tbody" | "tfoot");
    let rows = children(table).filter(is_row);
    let mut out = Vec::new();
    for row in rows.chain(children(table).filter(is_body).flat_map(children).filter(is_row)) {
        let mut cells = children(row).filter(|it| matches!(it.value().name(), "td" | "th"));
        match (cells.next(), cells.next(), cells.next()) {
            (Some(label), Some(_), None) => out.push(text(label)),
            (_, None, _) => {}
            _ => return None,
        }
    }
    Some(out)
}
