//! A list of labelled texts that is one thing: "npm install NAME@VERSION", "License: MIT" and "Updated on DATE" are properties.
//!
//! The pages of two examples tell: texts at the same place begin with, or hold, the same words, each in its own way, and differ in the
//! rest. Results of a search do not.

use std::collections::BTreeSet;

use super::item_text::{MIN_TEXT, plain_words};
use commis_artifacts::recording::ShownBlock;
use commis_recipe::blocks::{GROUP, numbers::without_numbers};

/// Fewer labelled texts may be alike by chance. A judgement.
const MIN_LABELLED: usize = 3;
/// Per cent of the texts that differ which need a label of their own. A judgement.
const LABELLED: usize = 80;

/// A text of a block: what both pages say there, and what only this one says.
struct LabelledText {
    label: String,
    value: String,
}

/// Both lists as records whose fields are what differs, named by what does not. `None` where they are lists of things.
pub fn labelled_records(
    first: &ShownBlock,
    second: &ShownBlock,
) -> Option<(ShownBlock, ShownBlock)> {
    if first.is_record || second.is_record || first.rows.len() != second.rows.len() {
        return None;
    }
    let pairs: Vec<(String, String)> = texts(first).into_iter().zip(texts(second)).collect();
    let differing: Vec<&(String, String)> = pairs.iter().filter(|it| it.0 != it.1).collect();
    let labelled: Vec<(LabelledText, LabelledText)> = differing
        .iter()
        .map(|(a, b)| (split_label(a, b), split_label(b, a)))
        .filter(|(a, b)| {
            let says = |it: &str| plain_words(it).chars().count() >= MIN_TEXT;
            says(&without_numbers(&a.label)) && says(&a.value) && says(&b.value)
        })
        .collect();
    // Labels that differ only in a number count items: `1. … points`, `2. … points`.
    let labels: BTreeSet<String> = labelled.iter().map(|it| without_numbers(&it.0.label)).collect();
    let is_one = labelled.len() >= MIN_LABELLED
        && labels.len() == labelled.len()
        && labelled.len() * 100 >= differing.len() * LABELLED;
    is_one.then(|| {
        let (a, b): (Vec<LabelledText>, Vec<LabelledText>) = labelled.into_iter().unzip();
        (record(first, a), record(second, b))
    })
}

/// The text of each item, without the heading it stands under.
fn texts(block: &ShownBlock) -> Vec<String> {
    let group = block.fields.iter().position(|it| it == GROUP);
    let text = |row: &Vec<Option<String>>| {
        let cells = row.iter().enumerate().filter(|it| Some(it.0) != group);
        let cells: Vec<&str> = cells.filter_map(|it| it.1.as_deref()).collect();
        cells.join(" ")
    };
    block.rows.iter().map(text).collect()
}

/// Splits a text into the words that the other text has too and the rest.
fn split_label(own: &str, other: &str) -> LabelledText {
    let theirs: BTreeSet<&str> = other.split_whitespace().collect();
    let (label, value): (Vec<&str>, Vec<&str>) =
        own.split_whitespace().partition(|it| theirs.contains(it));
    LabelledText { label: plain_words(&label.join(" ")), value: value.join(" ") }
}

fn record(block: &ShownBlock, fields: Vec<LabelledText>) -> ShownBlock {
    let (fields, row) = fields.into_iter().map(|it| (it.label, Some(it.value))).unzip();
    ShownBlock { fields, rows: vec![row], count: 1, is_record: true, ..block.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::witness::tests::block;

    #[test]
    fn labelled_texts_are_properties_of_one_thing() {
        let page = |name: &str, version: &str, day: &str| {
            let rows = [
                format!("npm install {name}@{version}"),
                format!("yarn add {name}@{version}"),
                "License: MIT".to_owned(),
                format!("Published on {day}"),
            ];
            let rows: Vec<[&str; 2]> = rows.iter().map(|it| [it.as_str(), name]).collect();
            block(&["text", GROUP], &rows.iter().map(|it| &it[..]).collect::<Vec<_>>())
        };
        let (a, b) = (page("clock-pro", "0.1.7", "Monday"), page("badge", "1.4.2", "Friday"));
        let (a, b) = labelled_records(&a, &b).unwrap();
        assert!(a.is_record && b.is_record);
        assert_eq!(a.fields, ["npm install", "yarn add", "published on"]);
        assert_eq!(a.rows[0][0].as_deref(), Some("clock-pro@0.1.7"));
        assert_eq!(b.rows[0][2].as_deref(), Some("Friday"));
    }

    #[test]
    fn results_stay_a_list() {
        let page = |rows: &[&str]| {
            let rows: Vec<[&str; 1]> = rows.iter().map(|it| [*it]).collect();
            block(&["text"], &rows.iter().map(|it| &it[..]).collect::<Vec<_>>())
        };
        // One label for all, and none.
        let priced = page(&["lamp for 12 EUR", "oil lamp for 14 EUR", "old lamp for 15 EUR"]);
        let other = page(&["oar for 2 EUR", "long oar for 24 EUR", "red oar for 25 EUR"]);
        assert!(labelled_records(&priced, &other).is_none());
        let named = page(&["Aurora", "Calypso", "Tern"]);
        assert!(labelled_records(&named, &page(&["Gull", "Kestrel", "Otter"])).is_none());
        // Two may be alike by chance.
        let two = page(&["Berth 12", "Length 9 m"]);
        assert!(labelled_records(&two, &page(&["Berth 14", "Length 8 m"])).is_none());
    }
}
