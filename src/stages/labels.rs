//! A list of labelled texts that is one thing: "npm install NAME@VERSION", "License: MIT" and "Updated on DATE" are properties.
//!
//! The pages of two examples tell: texts at the same place begin with, or hold, the same words, each in its own way, and differ in the
//! rest. Results of a search do not.

use std::collections::{BTreeMap, BTreeSet};

use super::item_text::{MIN_TEXT, plain_words, words};
use commis_artifacts::recording::ShownBlock;
use commis_recipe::{
    blocks::{self, GROUP, numbers::without_numbers, read::HtmlReader},
    model::HtmlSpec,
};
use serde_json::Value;

/// Fewer labelled texts may be alike by chance. A judgement.
const MIN_LABELLED: usize = 3;
/// Per cent of the texts that differ which need a label of their own. A judgement.
const LABELLED: usize = 80;

/// More rows are a list, whatever they are called. A judgement.
const MAX_PARTS: usize = 12;

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

/// A labelled fact of the first page that stands before a list of labels and values, under the same heading, where the second page
/// says there another: the list is a part of what the page says of one thing. `first` and `second` are the pages and what was read
/// of them. What was `typed` is none.
pub fn fact_before(
    html: &HtmlSpec,
    typed: &BTreeMap<String, String>,
    first: (&[u8], &Value),
    second: (&[u8], &Value),
) -> Option<(String, String)> {
    if html.single || !has_labels(first.1, second.1) {
        return None;
    }
    let reader = HtmlReader::new(html).ok()?;
    let lines = |page: &[u8]| {
        let page = blocks::parse_bounded(&String::from_utf8_lossy(page))?;
        Some(blocks::lines_before_items(&page, &reader))
    };
    let (own, theirs) = (lines(first.0)?, lines(second.0)?);
    let typed: BTreeSet<String> = typed.values().flat_map(|it| words(it)).collect();
    own.iter().find_map(|it| {
        theirs.iter().find_map(|other| {
            let (a, b) = (split_label(it, other), split_label(other, it));
            let is_labelled = plain_words(&without_numbers(&a.label)).chars().count() >= MIN_TEXT;
            let is_typed = words(&a.value).is_subset(&typed);
            (is_labelled && !is_typed && !b.value.is_empty()).then_some((a.label, a.value))
        })
    })
}

/// One field is the same texts in both, each once, and another is not: labels, and their values.
fn has_labels(first: &Value, second: &Value) -> bool {
    let (Some(first), Some(second)) = (first.as_array(), second.as_array()) else { return false };
    if first.len() != second.len() || !(2..=MAX_PARTS).contains(&first.len()) {
        return false;
    }
    let column = |rows: &[Value], name: &str| -> Option<Vec<String>> {
        rows.iter().map(|it| Some(it.get(name)?.as_str()?.to_owned())).collect()
    };
    let names = first[0].as_object().into_iter().flatten().map(|it| it.0);
    let columns: Vec<_> =
        names.filter_map(|it| column(first, it).zip(column(second, it))).collect();
    let is_label = |(a, b): &(Vec<String>, Vec<String>)| {
        let distinct: BTreeSet<String> = a.iter().map(|it| without_numbers(it)).collect();
        a == b && distinct.len() == a.len() && a.iter().all(|it| it.contains(char::is_alphabetic))
    };
    columns.iter().any(is_label) && columns.iter().any(|(a, b)| a != b)
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
    use serde_json::json;

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
    fn facts_before_labels_and_values_belong_to_the_same_thing() {
        let html = HtmlSpec {
            items: "li".to_owned(),
            fields: [("name", "span"), ("value", "b")]
                .map(|(name, css)| (name.to_owned(), css.to_owned()))
                .into(),
            run: false,
            single: false,
            group: None,
            optional: Vec::new(),
            types: BTreeMap::new(),
        };
        let page = |before: &str, rows: [[&str; 2]; 2]| {
            let items = rows.map(|[name, it]| format!("<li><span>{name}</span> <b>{it}</b>"));
            let text = format!("<h1>Gauge</h1>{before}<ul>{}</ul><p>Page 12", items.concat());
            (text, json!(rows.map(|[name, value]| json!({"name": name, "value": value}))))
        };
        let rows = |trend, water| [["Trend", trend], ["Water", water]];
        let fact = |a: &(String, Value), b: &(String, Value)| {
            let typed = [("gauge".to_owned(), "zp-04".to_owned())].into();
            fact_before(&html, &typed, (a.0.as_bytes(), &a.1), (b.0.as_bytes(), &b.1))
        };
        let level = |it: &str| format!("<p>How to read it<p>Level: <strong>{it} cm</strong>");
        let first = page(&level("247"), rows("falling", "3.4"));
        let second = page(&level("78"), rows("falling", "5.1"));
        assert_eq!(fact(&first, &second), Some(("level cm".to_owned(), "247".to_owned())));
        let echo = |it: &str, trend| page(&format!("<p>Results for {it}"), rows(trend, "4.1"));
        assert_eq!(fact(&echo("zp-04", "even"), &echo("zp-17", "rising")), None);
        // What all pages say, and what stands below them.
        let plain = |rows| page("<p>How to read it", rows);
        assert_eq!(fact(&plain(rows("rising", "4.0")), &plain(rows("even", "4.1"))), None);
        // Rows that are others are a list of things.
        assert_eq!(fact(&first, &page(&level("78"), [["Oar", "12"], ["Lamp", "5.1"]])), None);
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
