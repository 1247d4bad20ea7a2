//! The page as the witness: whether an answer holds all of what the page showed of the data.
//!
//! An answer covers the block that the task was about when every item has one of its own in the data, and its columns stand
//! there too; columns that do not are named, and refused when the task asks for them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    follow::without_head,
    item_text::{CUT, Cell, ItemText, MIN_TEXT, SHARED, items_of, plain_words, stem, words},
    labels::labelled_records,
    target_block,
};
use commis_artifacts::{
    payloads::{Coverage, ListLength, SecondRecording, Witness},
    recording::{SessionRecording, ShownBlock},
};
use commis_recipe::{
    blocks::GROUP,
    pagination::{PageSample, stated_total},
};

/// Per cent of a column's texts that must stand in their items.
pub const COLUMN: usize = 60;
/// Per cent of a record's texts that must stand in the data.
const RECORD: usize = 60;
/// Words that so many per cent of a column's texts have are how the page says it.
pub const COMMON: usize = 80;
/// Per cent of an item's words, less than [`SHARED`], that are enough for one item in five where the others are held and its first
/// words (two to [`START`]) are its own: "mint unknown, no ruler" is how a page says that there is nothing to say.
const SHARED_BY_FEW: usize = 50;
const START: usize = 4;
const FEW: usize = 5;
/// Items that one text may point at.
const MAX_PLACES: usize = 64;
/// Items that are searched text by text.
const MAX_SCAN: usize = 4_000;

/// What the pages of the examples showed of the data. `pages` are what the chosen call answered and, after it, what calls that
/// went on with the same list did: items of theirs are none of the answer's. `apart` are entries of the answers that are no items.
pub fn witness(
    recording: &SessionRecording,
    second: &SecondRecording,
    (pages, pages_second): (&[Value], &[Value]),
    (apart, apart_second): (&[Value], &[Value]),
) -> Option<Witness> {
    let other = second.recording.as_ref();
    let main = target_block::of_first(recording, second)?;
    let block = |it: &SessionRecording, at: usize| it.page.shown.get(at).cloned();
    let mut first = block(recording, main.at)?;
    let mut second =
        other.and_then(|it| block(it, target_block::of_session(it, Some(recording))?.at));
    if let (Some(second), Some(other)) = (&mut second, other) {
        without_offers((&mut first, &recording.typed), (second, &other.typed));
    }
    if let (Some(second), [data, ..]) = (&mut second, pages) {
        without_head((&mut first, second), data);
        as_one_thing((&mut first, second), data, &recording.task);
    }
    if let (Some(second), Some(other)) = (&mut second, other) {
        without_constants((&mut first, &recording.typed), (second, &other.typed), &recording.task);
    }
    let rival = main.rival.and_then(|at| block(recording, at));
    without_entries(&mut first, apart, pages);
    let further = without_further(&mut first, pages);
    if let Some(second) = &mut second {
        without_entries(second, apart_second, pages_second);
        without_further(second, pages_second);
    }
    Some(Witness { task: recording.task.clone(), first, second, rival, further })
}

/// Takes a list of labelled texts for one thing where the answer is one and holds them only so.
fn as_one_thing((first, second): (&mut ShownBlock, &mut ShownBlock), data: &Value, task: &str) {
    if data.is_object()
        && !coverage(data, first, task).is_whole()
        && let Some(records) = labelled_records(first, second)
        && coverage(data, &records.0, task).held > 0
    {
        (*first, *second) = records;
    }
}

/// Leaves out the rows that only these entries hold, which are no items: advertisements that the page draws as it draws items.
pub fn without_entries(block: &mut ShownBlock, apart: &[Value], pages: &[Value]) {
    let [own, ..] = pages else { return };
    if apart.is_empty() || block.is_record {
        return;
    }
    let held = |items: &[ItemText]| -> BTreeSet<usize> {
        let found = pairs(items, block);
        found.into_iter().filter(|it| it.1.is_some()).map(|it| it.0).collect()
    };
    let own = held(&items_of(own));
    let theirs = held(&apart.iter().map(ItemText::from_value).collect::<Vec<_>>());
    let mut at = 0;
    block.rows.retain(|_| {
        let kept = own.contains(&at) || !theirs.contains(&at);
        at += 1;
        kept
    });
    block.count = block.count.saturating_sub((at - block.rows.len()) as u32);
}

/// Leaves out the rows at the end that only further pages of the list hold, and counts them.
fn without_further(block: &mut ShownBlock, pages: &[Value]) -> u32 {
    let Some((own, further)) = pages.split_first().filter(|it| !it.1.is_empty()) else { return 0 };
    let held = |data: &Value| -> BTreeSet<usize> {
        pairs(&items_of(data), block)
            .into_iter()
            .filter(|it| it.1.is_some())
            .map(|it| it.0)
            .collect()
    };
    let own = held(own);
    let theirs: BTreeSet<usize> = further.iter().flat_map(held).collect();
    let Some(start) = (0..block.rows.len()).find(|it| theirs.contains(it) && !own.contains(it))
    else {
        return 0;
    };
    // What was kept of an answer may be cut.
    let rest = start..block.rows.len();
    let known = rest.clone().filter(|it| theirs.contains(it)).count();
    if start == 0 || rest.clone().any(|it| own.contains(&it)) || known * 2 < rest.len() {
        return 0;
    }
    let left = block.rows.split_off(start).len() as u32;
    block.count = block.count.saturating_sub(left);
    left
}

/// The part of a list in groups whose heading the task names, where it names one of them: "list the users" where a page shows
/// products, users and orders. What was typed names none, and neither do words that say nothing.
pub fn named_group(
    block: &ShownBlock,
    task: &str,
    typed: &BTreeMap<String, String>,
) -> Option<ShownBlock> {
    let at = block.fields.iter().position(|it| it == GROUP)?;
    let typed: BTreeSet<String> = typed.values().flat_map(|it| words(it)).collect();
    let task = words(task);
    let task: BTreeSet<&str> =
        task.iter().filter(|it| it.len() > 3 && !typed.contains(*it)).map(|it| stem(it)).collect();
    let groups: BTreeSet<&str> =
        block.rows.iter().filter_map(|it| it.get(at)?.as_deref()).collect();
    let mut named = groups.iter().filter(|it| {
        let words = words(it);
        !words.is_empty() && words.iter().all(|it| it.len() > 3 && task.contains(stem(it)))
    });
    let (one, None) = (named.next()?, named.next()) else { return None };
    let mut out = block.clone();
    out.rows.retain(|it| it.get(at).and_then(Option::as_deref) == Some(*one));
    out.heading = Some((*one).to_owned());
    out.count = out.rows.len() as u32;
    for row in &mut out.rows {
        row.remove(at);
    }
    out.fields.remove(at);
    (out.rows.len() >= 2 && groups.len() >= 2).then_some(out)
}

/// Leaves out rows that only repeat what was typed: "Search for pages containing …" below the suggestions. One or two at the
/// ends of a list whose other rows differ.
fn without_offers(
    (first, typed): (&mut ShownBlock, &BTreeMap<String, String>),
    (second, typed_second): (&mut ShownBlock, &BTreeMap<String, String>),
) {
    let rest = |row: &[Option<String>], typed: &BTreeMap<String, String>| -> Option<String> {
        let text = plain_words(&row.iter().flatten().cloned().collect::<Vec<_>>().join(" "));
        let left =
            typed.values().fold(text.clone(), |it, typed| it.replace(&plain_words(typed), " "));
        (left != text).then(|| plain_words(&left))
    };
    let rests = |block: &ShownBlock, typed: &BTreeMap<String, String>| -> Vec<Option<String>> {
        block.rows.iter().map(|it| rest(it, typed)).collect()
    };
    let (a, b) = (rests(first, typed), rests(second, typed_second));
    let common: BTreeSet<&String> =
        a.iter().flatten().filter(|it| b.iter().flatten().any(|other| other == *it)).collect();
    let drop = |block: &mut ShownBlock, rests: &[Option<String>]| {
        let last = rests.len().saturating_sub(1);
        let is_offer = |at: usize| rests[at].as_ref().is_some_and(|it| common.contains(it));
        let count = (0..rests.len()).filter(|at| is_offer(*at)).count();
        if count == 0 || count > 2 || rests.len() < 3 {
            return;
        }
        let mut at = 0;
        block.rows.retain(|_| {
            let ends = at <= 1 || at + 1 >= last;
            let kept = !(ends && is_offer(at));
            at += 1;
            kept
        });
        block.count = block.rows.len() as u32;
    };
    drop(first, &a);
    drop(second, &b);
}

/// Leaves out of a record what both pages say alike, but for what was typed: headings and labels, of which no answer tells. What the
/// task asks for by its name stays.
fn without_constants(
    (first, typed): (&mut ShownBlock, &BTreeMap<String, String>),
    (second, typed_second): (&mut ShownBlock, &BTreeMap<String, String>),
    task: &str,
) {
    if !first.is_record || !second.is_record || first.fields != second.fields {
        return;
    }
    let rest = |cell: &Option<String>, typed: &BTreeMap<String, String>| {
        let text = plain_words(cell.as_deref().unwrap_or_default());
        typed.values().fold(text, |it, typed| it.replace(&plain_words(typed), " "))
    };
    let (Some(ours), Some(theirs)) = (first.rows.first(), second.rows.first()) else { return };
    let kept: Vec<bool> = first
        .fields
        .iter()
        .zip(ours.iter().zip(theirs))
        .map(|(name, (a, b))| rest(a, typed) != rest(b, typed_second) || names_column(name, task))
        .collect();
    // One text alone tells little.
    if kept.iter().filter(|it| **it).count() < 2 {
        return;
    }
    for block in [first, second] {
        let mut at = kept.iter();
        block.fields.retain(|_| at.next().copied().unwrap_or(true));
        for row in &mut block.rows {
            let mut at = kept.iter();
            row.retain(|_| at.next().copied().unwrap_or(true));
        }
    }
}

/// How much of the block the data holds. `task` says which columns are asked for.
pub fn coverage(data: &Value, block: &ShownBlock, task: &str) -> Coverage {
    let items = items_of(data);
    if block.is_record {
        return of_record(&items, data, block, task);
    }
    let pairs = pairs(&items, block);
    let held = pairs.iter().filter(|it| it.1.is_some()).count();
    let mut out = Coverage {
        shown: pairs.len() as u32,
        held: held as u32,
        fields: 0,
        fields_held: 0,
        left_out: Vec::new(),
        missing: pairs
            .iter()
            .find(|it| it.1.is_none())
            .and_then(|it| block.rows[it.0].iter().flatten().max_by_key(|it| it.len()))
            .map(|it| it.chars().take(80).collect()),
        asked_for: false,
        reordered: !in_order(&pairs),
    };
    for (at, name) in block.fields.iter().enumerate() {
        let cells: Vec<(&str, &ItemText)> = pairs
            .iter()
            .filter_map(|(n, item)| Some((block.rows[*n].get(at)?.as_deref()?, &items[(*item)?])))
            .collect();
        column(name, &cells, task, &mut out);
    }
    out
}

/// Each row of the block that says something, and the item that is it.
pub fn pairs(items: &[ItemText], block: &ShownBlock) -> Vec<(usize, Option<usize>)> {
    let index = index(items);
    let common = common_words(block);
    let rows: Vec<(usize, Vec<Cell<'_>>)> = block
        .rows
        .iter()
        .map(|row| {
            row.iter()
                .flatten()
                .map(|it| Cell { raw: it, plain: plain_words(it) })
                .filter(|it| it.plain.chars().count() >= MIN_TEXT)
                .collect::<Vec<_>>()
        })
        .enumerate()
        .filter(|it| !it.1.is_empty())
        .collect();
    let mut taken = BTreeSet::new();
    let mut out: Vec<(usize, Option<usize>)> = Vec::with_capacity(rows.len());
    for (n, cells) in &rows {
        let found = best(cells, &common, (items, &index), &taken, SHARED);
        taken.extend(found);
        out.push((*n, found));
    }
    let start = |cells: &[Cell<'_>], words: usize| {
        cells[0].plain.split(' ').take(words).collect::<Vec<_>>().join(" ")
    };
    if rows.len() - taken.len() <= (rows.len() / FEW).max(1) && rows.len() > 2 {
        for (it, (_, cells)) in out.iter_mut().zip(&rows).filter(|it| it.0.1.is_none()) {
            let alone = |words: &usize| {
                rows.iter().filter(|it| start(&it.1, *words) == start(cells, *words)).count() == 1
            };
            let Some(words) = (2..=START).find(alone) else { continue };
            let own = start(cells, words);
            let found = best(cells, &common, (items, &index), &taken, SHARED_BY_FEW);
            it.1 = found.filter(|at| items[*at].has_text(&own));
            taken.extend(it.1);
        }
    }
    out
}

/// The items stand in the answer as they do on the page, but for one in five: a sponsored one, one that moved.
fn in_order(pairs: &[(usize, Option<usize>)]) -> bool {
    // The longest run that rises, by the smallest end of each length.
    let mut ends: Vec<usize> = Vec::new();
    let places: Vec<usize> = pairs.iter().filter_map(|it| it.1).collect();
    for it in &places {
        let at = ends.partition_point(|end| end < it);
        if at == ends.len() { ends.push(*it) } else { ends[at] = *it }
    }
    ends.len() * 5 >= places.len() * 4
}

/// Notes whether the texts of a column stand in their items.
fn column(name: &str, cells: &[(&str, &ItemText)], task: &str, out: &mut Coverage) {
    let distinct: BTreeSet<&str> = cells.iter().map(|it| it.0).collect();
    // The same text beside every item is a label or a button.
    if cells.is_empty() || (distinct.len() < 2 && cells.len() > 2 && !names_column(name, task)) {
        return;
    }
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (cell, _) in cells {
        for word in words(cell) {
            *counts.entry(word).or_default() += 1;
        }
    }
    let common = |word: &String| counts[word] * 100 >= cells.len() * COMMON && cells.len() > 2;
    let said = cells.iter().filter(|(cell, item)| {
        if item.has_cell(cell) {
            return true;
        }
        let own: BTreeSet<String> = words(cell).into_iter().filter(|it| !common(it)).collect();
        !own.is_empty() && own.iter().all(|it| item.words.contains(it))
    });
    let said = said.count();
    out.fields += 1;
    if said * 100 >= cells.len() * COLUMN {
        out.fields_held += 1;
    } else {
        out.left_out.push(name.to_owned());
        out.asked_for |= names_column(name, task);
    }
}

/// The task says which items come first, in words that nobody typed.
pub fn asks_for_order(task: &str, typed: &BTreeMap<String, String>) -> bool {
    const ORDERS: &[&str] = &[
        "newest", "latest", "recent", "oldest", "earliest", "cheapest", "dearest", "nearest",
        "highest", "lowest", "largest", "smallest", "longest", "shortest", "top", "best", "most",
        "least", "first", "last", "popular", "sorted", "ordered", "ranked", "ranking",
    ];
    let typed: BTreeSet<String> = typed.values().flat_map(|it| words(it)).collect();
    words(task).iter().any(|it| ORDERS.contains(&it.as_str()) && !typed.contains(it))
}

/// The task asks for every item, in words that nobody typed.
pub fn asks_for_all(task: &str, typed: &BTreeMap<String, String>) -> bool {
    const ALL: &[&str] = &[
        "all",
        "every",
        "everything",
        "entire",
        "complete",
        "whole",
        "alle",
        "sämtliche",
        "tous",
        "toutes",
        "todos",
        "todas",
        "tutti",
        "tutte",
        "alla",
        "все",
        "всех",
        "wszystkie",
    ];
    let typed: BTreeSet<String> = typed.values().flat_map(|it| words(it)).collect();
    words(task).iter().any(|it| ALL.contains(&it.as_str()) && !typed.contains(it))
}

/// Shorter lines stand in an item by chance.
const MIN_ITEM_LINE: usize = 8;

/// Texts as one, without the spaces that a page may draw otherwise.
fn joined<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    texts.into_iter().flat_map(str::chars).filter(|it| !it.is_whitespace()).collect()
}

/// How long the list is, as far as the task and the first page say. A page speaks of the items that it shows.
pub fn list_length(
    recording: &SessionRecording,
    second: &SecondRecording,
    witness: Option<&Witness>,
) -> ListLength {
    let mut out = ListLength {
        asked_for_all: asks_for_all(&recording.task, &recording.typed),
        ..ListLength::default()
    };
    let Some(witness) = witness.filter(|it| !it.first.is_record) else { return out };
    let sample = |recording: &SessionRecording, block: &ShownBlock| {
        // A line may hold several cells of an item: its numbers are the item's.
        let rows: Vec<String> =
            block.rows.iter().map(|it| joined(it.iter().flatten().map(String::as_str))).collect();
        let cells: BTreeSet<&str> =
            block.rows.iter().flatten().flatten().map(String::as_str).collect();
        let is_of_item = |line: &str| {
            let letters = joined([line]);
            cells.contains(line)
                || letters.chars().count() >= MIN_ITEM_LINE
                    && rows.iter().any(|it| it.contains(&letters))
        };
        let lines = recording.page.visible_text.lines().map(str::trim);
        let lines = lines.filter(|it| !it.is_empty() && !is_of_item(it));
        PageSample { lines: lines.map(str::to_owned).collect(), items: u64::from(block.count) }
    };
    let other = second.recording.as_ref().zip(witness.second.as_ref());
    let samples: Vec<PageSample> = std::iter::once((recording, &witness.first))
        .chain(other)
        .map(|(recording, block)| sample(recording, block))
        .collect();
    let typed: Vec<&str> =
        recording.typed.values().chain(second.values.values()).map(String::as_str).collect();
    out.total = stated_total(&samples, &typed);
    out.numbers = samples[0].candidate_totals();
    out.next.clone_from(&recording.page.next);
    out
}

/// The task speaks of the column.
fn names_column(name: &str, task: &str) -> bool {
    let task = words(task);
    let task: BTreeSet<&str> = task.iter().map(|it| stem(it)).collect();
    words(name).iter().any(|it| it.len() > 2 && task.contains(stem(it)))
}

fn of_record(items: &[ItemText], data: &Value, block: &ShownBlock, task: &str) -> Coverage {
    let all = ItemText::from_value(data);
    let mut out = Coverage { shown: 1, ..Coverage::default() };
    let (mut cells, mut held) = (0, 0);
    let (mut chars, mut held_chars) = (0, 0);
    for (name, cell) in block.fields.iter().zip(block.rows.first().into_iter().flatten()) {
        let Some(cell) = cell.as_deref().filter(|it| plain_words(it).chars().count() >= 1) else {
            continue;
        };
        cells += 1;
        chars += cell.len();
        let own = words(cell);
        let said = all.has_cell(cell)
            || (own.len() > 1 && own.iter().all(|it| all.words.contains(it)))
            || items.iter().any(|it| it.has_cell(cell));
        if said {
            held += 1;
            held_chars += cell.len();
        } else {
            out.left_out.push(name.clone());
            out.asked_for |= names_column(name, task);
        }
    }
    (out.fields, out.fields_held) = (cells, held);
    // One long text outweighs many short ones.
    let most = held as usize * 100 >= cells as usize * RECORD && held_chars * 100 >= chars * COMMON;
    out.held = u32::from(held > 0 && most);
    if out.held == 0 {
        out.missing = out.left_out.first().cloned();
    }
    out
}

/// How the page says it: words of most items.
fn common_words(block: &ShownBlock) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for row in &block.rows {
        let all: BTreeSet<String> = row.iter().flatten().flat_map(|it| words(it)).collect();
        for word in all {
            *counts.entry(word).or_default() += 1;
        }
    }
    let n = block.rows.len();
    counts.into_iter().filter(|it| n > 1 && it.1 * 100 >= n * COMMON).map(|it| it.0).collect()
}

/// The item that says most of these texts, none that is taken: the one with the longest, or with half of them.
fn best(
    cells: &[Cell<'_>],
    common: &BTreeSet<String>,
    (items, index): (&[ItemText], &BTreeMap<String, Vec<usize>>),
    taken: &BTreeSet<usize>,
    least: usize,
) -> Option<usize> {
    let longest = cells.iter().max_by_key(|it| it.plain.len())?;
    // A date, a price or a share stands in the data in another form; it is looked for where another text points at the item.
    let score = |at: usize, forms: bool| {
        let item = &items[at];
        let holds = |it: &Cell<'_>| {
            item.has_text(&it.plain) || ((forms || it.raw.contains(CUT)) && item.has_cell(it.raw))
        };
        let said = cells.iter().filter(|it| holds(it)).count();
        let key = holds(longest);
        if key || said * 2 >= cells.len() {
            return Some((said, key, 0));
        }
        // Several texts of the item in one of the page.
        let shared = item.share_of(cells, common);
        (shared >= least).then_some((said, key, shared))
    };
    let pointed: BTreeSet<usize> = cells
        .iter()
        .filter_map(|it| index.get(&it.plain))
        .flat_map(|it| it.iter().take(MAX_PLACES))
        .copied()
        .collect();
    let choose = |all: &mut dyn Iterator<Item = usize>, forms: bool| {
        all.filter(|it| !taken.contains(it))
            .filter_map(|at| Some((score(at, forms)?, std::cmp::Reverse(at))))
            .filter(|it| it.0.0 > 0 || it.0.1 || it.0.2 > 0)
            .max()
            .map(|it| it.1.0)
    };
    choose(&mut pointed.into_iter(), true)
        .or_else(|| choose(&mut (0..items.len().min(MAX_SCAN)), false))
}

fn index(items: &[ItemText]) -> BTreeMap<String, Vec<usize>> {
    let mut out: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, item) in items.iter().enumerate() {
        for leaf in &item.leaves {
            out.entry(leaf.clone()).or_default().push(i);
        }
    }
    out
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_item_says_more_in_words_of_the_page() {
        let rows = [
            "Earnest Mirror CC-1, mint Ghent, Otto, 18.7 g",
            "Practical Orchard CC-2, mint Tartu, Anna, 29.8 g",
            "Portable Kettle CC-3, mint Espoo, Otto, 3.4 g",
            "Keen Bridge CC-4, mint York, Edward, 4.4 g",
            "Brisk Harbour Yard CC-5, mint unknown, no ruler, ? g",
        ];
        let shown: Vec<[&str; 1]> = rows.iter().map(|it| [*it]).collect();
        let shown = block(&["text"], &shown.iter().map(|it| &it[..]).collect::<Vec<_>>());
        let item = |name: &str,
                    id: &str,
                    mint: Option<&str>,
                    ruler: Option<&str>,
                    g: Option<f64>| {
            json!({"name": name, "id": id, "mint": mint, "ruler": ruler, "weight": g})
        };
        let mut data = vec![
            item("Earnest Mirror", "CC-1", Some("Ghent"), Some("Otto"), Some(18.7)),
            item("Practical Orchard", "CC-2", Some("Tartu"), Some("Anna"), Some(29.8)),
            item("Portable Kettle", "CC-3", Some("Espoo"), Some("Otto"), Some(3.4)),
            item("Keen Bridge", "CC-4", Some("York"), Some("Edward"), Some(4.4)),
            item("Brisk Harbour Yard", "CC-5", None, None, None),
        ];
        assert!(coverage(&json!(data), &shown, "List finds").is_whole());
        data.pop();
        assert!(!coverage(&json!(data), &shown, "List finds").is_whole());
    }

    #[test]
    fn another_order_is_noted() {
        let rows = [["Aurora lamp"], ["Calypso lamp"], ["Tern kettle"], ["Gull kettle"]];
        let all = block(&["name"], &rows.iter().map(|it| &it[..]).collect::<Vec<_>>());
        let reordered = |order: [usize; 4]| {
            let data = order.map(|at| json!({"n": rows[at][0], "id": at}));
            let it = coverage(&json!(data), &all, "List");
            assert!(it.is_whole());
            it.reordered
        };
        assert!(!reordered([0, 1, 2, 3]) && reordered([3, 2, 1, 0]) && reordered([2, 3, 0, 1]));
        let typed = BTreeMap::from([("q".to_owned(), "best of queen".to_owned())]);
        assert!(
            asks_for_order("The cheapest lamps", &typed)
                && !asks_for_order("The best of queen", &typed)
        );
    }

    #[test]
    fn further_pages_are_told_apart() {
        let rows = [["Aurora lamp"], ["Calypso lamp"], ["Tern kettle"], ["Gull kettle"]];
        let all = block(&["name"], &rows.iter().map(|it| &it[..]).collect::<Vec<_>>());
        let page =
            |names: &[&str]| json!(names.iter().map(|it| json!({"n": it})).collect::<Vec<_>>());
        let (one, two) =
            (page(&["Aurora lamp", "Calypso lamp"]), page(&["Tern kettle", "Gull kettle"]));
        let left = |pages: &[Value]| {
            let mut block = all.clone();
            (without_further(&mut block, pages), block.count)
        };
        assert_eq!(left(&[one.clone(), two.clone()]), (2, 2));
        // No call went on, or they came in another order: the list is held to all of it.
        assert_eq!(left(std::slice::from_ref(&one)), (0, 4));
        assert_eq!(left(&[two, one]), (0, 4));
    }

    #[test]
    fn rows_of_entries_that_are_no_items() {
        let mut shown = block(&["text"], &[&["Aurora rises"], &["Buy a whistle"], &["Terns left"]]);
        let items = json!([{"text": "Aurora rises"}, {"text": "Terns left"}]);
        // An entry that says what an item says takes no row away.
        let apart = [json!({"text": "Buy a whistle"}), json!({"text": "Terns left"})];
        without_entries(&mut shown, &apart, std::slice::from_ref(&items));
        let rows: Vec<_> = shown.rows.iter().map(|it| it[0].as_deref().unwrap()).collect();
        assert_eq!((rows, shown.count), (vec!["Aurora rises", "Terns left"], 2));
    }

    #[test]
    fn a_group_that_the_task_names() {
        let all = block(
            &["text", "group"],
            &[&["Lamp", "Products"], &["Kettle", "Products"], &["Ada", "Users"], &["Bo", "Users"]],
        );
        let typed = BTreeMap::from([("q".to_owned(), "products".to_owned())]);
        let named = |task: &str| named_group(&all, task, &typed).map(|it| it.rows.len());
        assert_eq!(named("Search for products"), None, "it was typed");
        assert_eq!(named("List the users that match {q}"), Some(2));
        assert_eq!(named("Search everything"), None);
        let none = BTreeMap::new();
        assert!(named_group(&all, "List products and users", &none).is_none());
    }

    pub fn block(fields: &[&str], rows: &[&[&str]]) -> ShownBlock {
        let row = |it: &&[&str]| it.iter().map(|it| Some((*it).to_owned())).collect();
        ShownBlock {
            fields: fields.iter().map(|it| (*it).to_owned()).collect(),
            rows: rows.iter().map(row).collect(),
            count: rows.len() as u32,
            is_record: false,
            heading: None,
            about: Vec::new(),
            weight: 1000,
        }
    }

    #[test]
    fn texts_that_the_page_cuts_short() {
        let page = block(&["text"], &[&["capstan_davit (ships)"], &["capstan_windlass (…s)"]]);
        let data = |last: &str| json!([{"t": "capstan_davit (ships)"}, {"t": last}]);
        assert!(coverage(&data("capstan_windlass (ships)"), &page, "List").is_whole());
        assert!(!coverage(&data("capstan_windlass (boat)"), &page, "List").is_whole());
    }

    #[test]
    fn half_of_a_table_is_not_all_of_it() {
        let page = block(
            &["name", "berth"],
            &[&["Aurora 12", "Kiel 4"], &["Aurora 13", "Brest 5"], &["Aurora 12", "Kiel 4"]],
        );
        let whole = json!([{"n": "Aurora 12", "w": "Kiel 4"}, {"n": "Aurora 13", "w": "Brest 5"}, {"n": "Aurora 12", "w": "Kiel 4"}]);
        let it = coverage(&whole, &page, "List ships");
        assert_eq!((it.shown, it.held, it.fields, it.fields_held), (3, 3, 2, 2));
        let half = json!([{"n": "Aurora 12", "w": "Kiel 4"}, {"n": "Aurora 13", "w": "Brest 5"}]);
        let it = coverage(&half, &page, "List ships");
        assert_eq!((it.shown, it.held), (3, 2));
        assert!(it.missing.is_some());
    }

    #[test]
    fn dates_stand_in_another_form() {
        let page = block(
            &["name", "made", "changed"],
            &[
                &["tide", "2026-11-22 23:03", "2026-11-22 23:04"],
                &["wave", "2026-11-22 23:05", "2026-11-22 23:06"],
            ],
        );
        let at = |minute: i64| (1_795_388_400_i64 + 60 * minute) * 1000;
        let data = json!([{"n": "wave", "made": at(5), "changed": at(6)}, {"n": "tide", "made": at(3), "changed": at(4)}]);
        let it = coverage(&data, &page, "List experiments");
        assert_eq!((it.shown, it.held), (2, 2));
        let day = 24 * 60;
        let other = json!([{"n": "wave", "made": at(5 * day), "changed": at(6 * day)}, {"n": "tide", "made": at(3 * day), "changed": at(4 * day)}]);
        assert_eq!(coverage(&other, &page, "List experiments").held, 0);
    }

    #[test]
    fn a_column_that_is_asked_for() {
        let page = block(
            &["title", "status"],
            &[&["Leak", "open"], &["Rust", "closed"], &["Rope", "open"]],
        );
        let data = json!([{"t": "Leak"}, {"t": "Rust"}, {"t": "Rope"}]);
        let it = coverage(&data, &page, "List issues");
        assert_eq!((it.held, it.left_out.len(), it.asked_for), (3, 1, false));
        assert!(coverage(&data, &page, "List issues with their status").asked_for);
    }
}
