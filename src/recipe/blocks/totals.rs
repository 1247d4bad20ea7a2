//! Rows of a table that add up those above them: a total is no item.

use std::collections::BTreeSet;

use scraper::ElementRef;

use super::{
    element_text::{chars, children, text},
    stable_names::classes,
};

/// A row of data, as one cell a column.
pub type RowCells<'a, 'r> = (ElementRef<'a>, &'r [Option<ElementRef<'a>>]);

/// Signs by which a total differs from data. One alone may be that of a kind: the row of a group that sums up its members is an item.
const SIGNS: usize = 2;

/// Rows that are added up, of a table that marks so many of them.
const MAX_MARKED: usize = 64;

/// Which rows are totals: their numbers are the sums of those above them, since the last total or in all, and they are marked as
/// different from data.
pub fn find_totals(rows: &[RowCells<'_, '_>], columns: usize) -> BTreeSet<usize> {
    let mut out = BTreeSet::new();
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let (mut above, mut all): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    let mut tried = 0;
    for (at, (row, _)) in rows.iter().enumerate() {
        let spans = children(*row).filter(is_cell).count() < columns;
        let is_new = classes(*row).any(|it| !known.contains(it));
        // Most rows have no sign, which costs nothing to see.
        let may_be = (spans || is_new || at + 1 == rows.len()) && tried < MAX_MARKED;
        tried += usize::from(may_be);
        if may_be
            && usize::from(spans) + usize::from(is_new) + other_signs(rows, at, &all, spans)
                >= SIGNS
            && (is_sum(rows, at, &above) || is_sum(rows, at, &all))
        {
            out.insert(at);
            above.clear();
        } else {
            known.extend(classes(*row));
            above.push(at);
            all.push(at);
        }
    }
    out
}

/// By how many further signs a row differs from the data above: empty cells where all of it has a text, bold numbers.
fn other_signs(rows: &[RowCells<'_, '_>], at: usize, data: &[usize], spans: bool) -> usize {
    let has_bold = |at: usize| children(rows[at].0).filter(is_cell).any(is_bold);
    let is_full =
        |column: usize| data.iter().all(|it| !empty_cells(rows[*it].1).any(|it| it == column));
    let lacks = !spans && empty_cells(rows[at].1).any(is_full);
    let is_bold = has_bold(at) && !data.iter().any(|it| has_bold(*it));
    usize::from(lacks) + usize::from(is_bold)
}

fn empty_cells(cells: &[Option<ElementRef<'_>>]) -> impl Iterator<Item = usize> {
    cells.iter().enumerate().filter(|it| it.1.is_none_or(|it| chars(it) == 0)).map(|it| it.0)
}

fn is_cell(it: &ElementRef<'_>) -> bool {
    matches!(it.value().name(), "td" | "th")
}

/// A cell with a number, all of it bold.
fn is_bold(cell: ElementRef<'_>) -> bool {
    let is_whole = |it: ElementRef<'_>| {
        matches!(it.value().name(), "b" | "strong") && chars(it) == chars(cell)
    };
    cell.descendants().filter_map(ElementRef::wrap).any(is_whole) && number(&text(cell)).is_some()
}

/// Whether a row holds sums of the rows above and a label, and nothing else. What also has numbers or texts of its own is an item,
/// such as the row of a group beside its members.
fn is_sum(rows: &[RowCells<'_, '_>], at: usize, above: &[usize]) -> bool {
    let value = |row: usize, column: usize| number(&text((*rows[row].1.get(column)?)?));
    let mut seen = BTreeSet::new();
    let (mut labels, mut sums) = (0, 0);
    for (column, cell) in rows[at].1.iter().enumerate() {
        let Some(cell) = cell.filter(|it| chars(*it) > 0) else { continue };
        let Some(total) = number(&text(cell)) else {
            labels += usize::from(seen.insert(cell.id()));
            continue;
        };
        let parts: Option<Vec<i64>> = above.iter().map(|it| value(*it, column)).collect();
        let sum = parts.and_then(|it| it.iter().try_fold(0_i64, |sum, it| sum.checked_add(*it)));
        if sum != Some(total) {
            return false;
        }
        sums += usize::from(total != 0);
    }
    !above.is_empty() && labels <= 1 && sums > 0
}

/// A number with its unit, in thousandths: `1.234,50 €`, `136`, `12 h`. `None` where a text says more than a number.
fn number(text: &str) -> Option<i64> {
    let from = text.find(|it: char| it.is_ascii_digit())?;
    let to = text.rfind(|it: char| it.is_ascii_digit())? + 1;
    let (unit, digits) = (text[..from].chars().chain(text[to..].chars()), &text[from..to]);
    let letters = unit.filter(|it| it.is_alphanumeric()).count();
    let is_part = |it: char| {
        it.is_ascii_digit() || matches!(it, '.' | ',' | '\'' | '’') || it.is_whitespace()
    };
    if letters > 4 || digits.len() > 20 || !digits.chars().all(is_part) {
        return None;
    }
    let decimal = digits.rfind(['.', ',']).filter(|at| {
        let after = digits.len() - at - 1;
        let mark = &digits[*at..=*at];
        // Three digits behind the only kind of mark are thousands.
        after < 3
            || after == 3
                && digits.matches(mark).count() == 1
                && digits.contains(if mark == "." { ',' } else { '.' })
    });
    let (whole, part) = decimal.map_or((digits, ""), |at| (&digits[..at], &digits[at + 1..]));
    let plain = |it: &str| it.chars().filter(char::is_ascii_digit).collect::<String>();
    let thousandths: i64 = format!("{:0<3}", plain(part)).parse().ok()?;
    let is_negative = text[..from].ends_with(['-', '−']);
    let value = plain(whole).parse::<i64>().ok()?.checked_mul(1_000)?.checked_add(thousandths)?;
    Some(if is_negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        for (text, expected) in [
            ("136", Some(136_000)),
            ("1.234,50 €", Some(1_234_500)),
            ("$ 3,363.05", Some(3_363_050)),
            ("12,5", Some(12_500)),
            ("1,234", Some(1_234_000)),
            ("-4 h", Some(-4_000)),
            ("2026-11-28", None),
            ("Gleis 4", None),
            ("–", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }
}
