//! What the page showed, as blocks: read from its markup when all was done, stored redacted and bounded.

use super::{body::cut, raw::RawPage, spoken, walk::Walk};
use commis_artifacts::recording::ShownBlock;
use commis_recipe::{
    blocks::{self, Block},
    pagination,
};

/// Blocks of the page and its frames together.
const MAX_BLOCKS: usize = 12;
const MAX_ROWS: usize = 600;
/// Bytes of one text.
const MAX_TEXT: usize = 400;
/// Bytes of all texts of a block.
const MAX_BYTES: usize = 192 * 1024;

/// Of all documents, weightiest first.
///
/// With `prose`, text alone is a thing.
pub fn blocks(documents: &[String], prose: bool) -> Vec<Block> {
    let mut out: Vec<Block> = documents
        .iter()
        .filter_map(|it| blocks::parse_bounded(it))
        .flat_map(|it| blocks::find(&it, false, prose))
        .collect();
    out.sort_by_key(|it| std::cmp::Reverse(it.weight));
    out.truncate(MAX_BLOCKS);
    out
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
