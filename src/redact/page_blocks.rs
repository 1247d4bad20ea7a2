//! What the page showed, as blocks: read from its markup when all was done, stored redacted and bounded.

use std::collections::BTreeSet;

use super::{body::cut, raw::RawPage, rules::Walk, spoken};
use commis_artifacts::recording::ShownBlock;
use commis_recipe::{
    blocks::{self, Block},
    pagination,
};

/// Blocks of the page and its frames together.
const MAX_BLOCKS: usize = 12;
const MAX_ROWS: usize = 600;
/// Per cent of the texts of a row, and of the rows of a block, that are the same before and after. Judgements.
const SAME_TEXTS: usize = 60;
const SAME_ROWS: usize = 70;
/// Rows of each block that are compared.
const MAX_COMPARED: usize = 100;
/// Bytes of one text.
const MAX_TEXT: usize = 400;
/// Bytes of all texts of a block.
const MAX_BYTES: usize = 192 * 1024;

/// Of all documents, weightiest first, without those that were there before anything was typed.
///
/// With `prose`, text alone is a thing.
pub fn blocks(page: &RawPage, prose: bool) -> Vec<Block> {
    let find = |documents: &[String]| -> Vec<Block> {
        let parsed = documents.iter().filter_map(|it| blocks::parse_bounded(it));
        parsed.flat_map(|it| blocks::find(&it, false, prose)).collect()
    };
    let mut out = find(&page.documents);
    let before = find(&page.documents_before);
    out.retain(|it| !before.iter().any(|other| shows_the_same(it, other)));
    out.sort_by_key(|it| std::cmp::Reverse(it.weight));
    out.truncate(MAX_BLOCKS);
    out
}

/// Most rows of each stand in the other: clocks tick, and a list that scrolls may be drawn a little further.
fn shows_the_same(a: &Block, b: &Block) -> bool {
    // One value that changed may be the whole answer of a record.
    let is_one = a.is_record || b.is_record || a.rows.len() == 1 || b.rows.len() == 1;
    let same_texts = if is_one { 100 } else { SAME_TEXTS };
    let texts =
        |row: &Vec<Option<String>>| -> BTreeSet<String> { row.iter().flatten().cloned().collect() };
    let (a, b): (Vec<_>, Vec<_>) = (
        a.rows.iter().take(MAX_COMPARED).map(texts).collect(),
        b.rows.iter().take(MAX_COMPARED).map(texts).collect(),
    );
    let most_stand = |own: &[BTreeSet<String>], other: &[BTreeSet<String>]| {
        let same = |row: &&BTreeSet<String>| {
            let common = |it: &BTreeSet<String>| it.intersection(row).count();
            other.iter().any(|it| common(it) * 100 >= it.len().max(row.len()) * same_texts)
        };
        own.iter().filter(same).count() * 100 >= own.len() * SAME_ROWS
    };
    most_stand(&a, &b) && most_stand(&b, &a)
}

/// What of the page or its frames says that a list goes on, in words of ours.
pub fn next(page: &RawPage) -> Option<String> {
    let mut documents = page.documents.iter().filter_map(|it| blocks::parse_bounded(it));
    let announced = documents.find_map(|it| pagination::next_page_hint(&it, &page.url));
    announced.or_else(|| page.grows.then(|| "more that it asks for as one scrolls".to_owned()))
}

pub fn redact_blocks(blocks: Vec<Block>, walk: &mut Walk<'_>) -> Vec<ShownBlock> {
    blocks.into_iter().map(|it| block(it, walk)).collect()
}

fn block(it: Block, walk: &mut Walk<'_>) -> ShownBlock {
    let count = it.rows.len() as u32;
    let mut bytes = 0;
    let mut text = |it: &str| cut(&spoken(walk, it), MAX_TEXT).to_owned();
    let mut rows = Vec::new();
    for row in it.rows.into_iter().take(MAX_ROWS) {
        let row: Vec<Option<String>> = row.into_iter().map(|it| it.map(|it| text(&it))).collect();
        bytes += row.iter().flatten().map(String::len).sum::<usize>();
        if bytes > MAX_BYTES {
            break;
        }
        rows.push(row);
    }
    ShownBlock {
        fields: it.fields.iter().map(|it| text(it)).collect(),
        rows,
        count,
        is_record: it.is_record,
        heading: it.heading.map(|it| text(&it)),
        about: it.about.iter().map(|it| text(it)).collect(),
        weight: it.weight as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(before: &[&str], after: &[&str]) -> RawPage {
        let list = |rows: &[&str], age: u32| {
            let row = |it: &&str| {
                format!("<tr><td>{it}</td><td>{it} of Kiel</td><td>{age} minutes ago</td></tr>")
            };
            let rows: String = rows.iter().map(row).collect();
            vec![format!("<table><tr><th>Name</th><th>Port</th><th>Age</th></tr>{rows}</table>")]
        };
        RawPage {
            documents: list(after, 21),
            documents_before: list(before, 20),
            ..RawPage::default()
        }
    }

    #[test]
    fn a_list_that_was_there_before_is_no_answer() {
        let all = ["Aurora", "Calypso", "Tern", "Gull"];
        assert_eq!(blocks(&page(&all, &all), false).len(), 0);
        // Some of them, and others.
        assert_eq!(blocks(&page(&all, &all[1..3]), false).len(), 1);
        assert_eq!(blocks(&page(&all, &["Kestrel", "Otter"]), false).len(), 1);
        assert_eq!(blocks(&page(&[], &all), false).len(), 1);
    }
}
