//! What an answer lacks of what the page showed, as reasons not to verify it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    item_text::{ItemText, items_of, words},
    witness::{COLUMN, COMMON, pairs},
};
use commis_artifacts::{payloads::Coverage, recording::ShownBlock};
use commis_recipe::blocks::GROUP;

/// Fewer items show no column.
const MIN_ITEMS: usize = 2;

/// Why an answer that covers so much of a page is not the data.
pub fn incomplete_reason(it: &Coverage) -> Option<String> {
    if it.is_whole() {
        return None;
    }
    if it.held == 0 {
        let missing = it.missing.as_deref().unwrap_or_default();
        return Some(format!("it is not what the page showed: {missing:?} is not in the answer"));
    }
    if it.held < it.shown {
        return Some(format!(
            "the answer is only part of what the page showed: {} of {} items, {:?} is missing",
            it.held,
            it.shown,
            it.missing.as_deref().unwrap_or_default()
        ));
    }
    Some(format!(
        "the answer lacks what the task asks for and the page showed: {}",
        it.left_out.join(", ")
    ))
}

/// Why the items of a page, read from its markup, are not whole: the drawn page showed a column of them that the answer has not.
///
/// Of JSON such a column may come from another call, and is only named in the recipe. What the server's page lacks was written by a
/// script, or is not read.
pub fn lost_columns_reason(data: &Value, block: &ShownBlock) -> Option<String> {
    let lost = lost_columns(data, block);
    (!lost.is_empty()).then(|| {
        format!("the page shows of every item what the answer leaves out: {}", lost.join(", "))
    })
}

/// Columns with a text of their own in nearly every item, of which the answer's items hold nearly nothing. A heading above several
/// items is none of them.
fn lost_columns(data: &Value, block: &ShownBlock) -> Vec<String> {
    if block.is_record {
        return Vec::new();
    }
    let items = items_of(data);
    let pairs: Vec<(usize, &ItemText)> = pairs(&items, block)
        .into_iter()
        .filter_map(|(row, item)| Some((row, &items[item?])))
        .collect();
    let most = |n: usize, of: usize| n * 100 >= of * COMMON;
    let is_lost = |at: usize, name: &str| {
        let cells: Vec<(&str, &ItemText)> = pairs
            .iter()
            .filter_map(|(row, item)| Some((block.rows[*row].get(at)?.as_deref()?, *item)))
            .collect();
        let distinct: BTreeSet<&str> = cells.iter().map(|it| it.0).collect();
        if name == GROUP
            || cells.len() < MIN_ITEMS
            || distinct.len() < 2
            || !most(cells.len(), pairs.len())
        {
            return false;
        }
        let common = common_words(&cells);
        let gone = cells.iter().filter(|it| is_gone(it.0, it.1, &common)).count();
        most(gone, cells.len()) && !is_of_another_moment(data, name, &cells)
    };
    let fields = block.fields.iter().enumerate();
    fields.filter(|it| is_lost(it.0, it.1)).map(|it| it.1.clone()).collect()
}

/// Words of most texts of a column.
fn common_words(cells: &[(&str, &ItemText)]) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for word in cells.iter().flat_map(|it| words(it.0)) {
        *counts.entry(word).or_default() += 1;
    }
    counts.into_iter().filter(|it| it.1 * 100 >= cells.len() * COMMON).map(|it| it.0).collect()
}

/// The item says less of the text's own words than must be held of a column.
fn is_gone(cell: &str, item: &ItemText, common: &BTreeSet<String>) -> bool {
    let own: Vec<String> = words(cell).into_iter().filter(|it| !common.contains(it)).collect();
    let held = own.iter().filter(|it| item.says_word(it)).count();
    !own.is_empty() && !item.has_cell(cell) && held * 100 < own.len() * COLUMN
}

/// The answer has the column, with other numbers: a duration, an age, a rate.
fn is_of_another_moment(data: &Value, name: &str, cells: &[(&str, &ItemText)]) -> bool {
    let items = data.as_array().into_iter().flatten();
    let forms: BTreeSet<String> = items.filter_map(|it| it.get(name)?.as_str()).map(form).collect();
    let same = cells.iter().filter(|it| forms.contains(&form(it.0))).count();
    same * 2 >= cells.len()
}

/// A text with `#` for each run of digits.
pub fn form(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if c != '#' || !out.ends_with('#') {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::witness::tests::block;
    use super::*;

    #[test]
    fn a_column_of_every_item_is_not_left_out() {
        let page = block(
            &["name", "text"],
            &[
                &["Capstan 139", "Modified: 2023-12-12 Size: 158 bytes"],
                &["Capstan 165", "Modified: 2023-06-15 Size: 159 bytes"],
                &["Capstan 84", "Modified: 2022-05-25 Size: 155 bytes"],
            ],
        );
        let items = |texts: [&str; 3]| {
            json!([{"name": "Capstan 139", "text": texts[0]}, {"name": "Capstan 165", "text": texts[1]},
                {"name": "Capstan 84", "text": texts[2]}])
        };
        let part = items(["Size: 158 bytes", "Size: 159 bytes", "Size: 155 bytes"]);
        assert_eq!(lost_columns(&part, &page), ["text"]);
        let whole = items([
            "Modified: 2023-12-12 Size: 158 bytes",
            "Modified: 2023-06-15 Size: 159 bytes",
            "Modified: 2022-05-25 Size: 155 bytes",
        ]);
        assert!(lost_columns_reason(&whole, &page).is_none());
    }

    #[test]
    fn a_duration_goes_on() {
        let page = block(
            &["host", "duration", "status"],
            &[&["db1", "0d 0h 12m 5s", "OK"], &["db2", "0d 0h 9m 59s", "OK"]],
        );
        let now = json!([{"host": "db1", "duration": "0d 0h 13m 41s"}, {"host": "db2", "duration": "0d 0h 11m 35s"}]);
        assert!(
            lost_columns_reason(&now, &page).is_none(),
            "and the same status in each is a label"
        );
        let without = json!([{"host": "db1", "status": "OK"}, {"host": "db2", "status": "OK"}]);
        assert_eq!(lost_columns(&without, &page), ["duration"]);
    }

    #[test]
    fn what_few_items_have_is_no_column_of_the_list() {
        let mut page = block(
            &["name", "note"],
            &[&["Aurora", "new engine"], &["Calypso", "x"], &["Tern", "x"], &["Gull", "x"]],
        );
        for row in &mut page.rows[1..] {
            row[1] = None;
        }
        let data = json!([{"n": "Aurora"}, {"n": "Calypso"}, {"n": "Tern"}, {"n": "Gull"}]);
        assert!(lost_columns_reason(&data, &page).is_none());
    }
}
