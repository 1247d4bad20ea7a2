//! Tables and lists of terms: what stands in a cell is what the head of its column, or the term before it, says.

use super::{
    class::{KeyClass, Place, SecretReason},
    configs::tells,
    messages::looks_chosen,
    randomness::{erratic, random},
    rules::Walk,
    step_counter,
};

/// Cells of a row that are looked at.
const COLUMNS: usize = 32;
/// Bytes of a head or a term.
const NAME: usize = 48;

/// The text of a cell, if it is one: `None` for more than one, or none.
#[derive(Clone, Copy, Default)]
struct Cell<'t> {
    text: Option<&'t str>,
    is_head: bool,
    many: bool,
}

impl<'t> Cell<'t> {
    fn add(&mut self, piece: &'t str) {
        let piece = piece.trim();
        if piece.is_empty() || piece.len() > 4096 {
            return;
        }
        self.many |= self.text.is_some();
        self.text = self.text.or(Some(piece));
    }

    fn into_text(self) -> Option<&'t str> {
        self.text.filter(|_| !self.many)
    }
}

impl Walk<'_> {
    /// Secrets in cells that a head names, and behind terms.
    pub fn cells_in<'t>(
        &mut self,
        html: &'t str,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        let mut heads: Vec<Option<&str>> = Vec::new();
        let mut row: Vec<Cell<'t>> = Vec::new();
        let mut open: Option<Cell<'t>> = None;
        let mut term: Option<&str> = None;
        let mut is_first = true;
        let mut at = 0;
        while let Some(next) = memchr::memchr(b'<', &html.as_bytes()[at..]) {
            let from = at + next;
            if let Some(cell) = &mut open {
                cell.add(&html[at..from]);
            }
            let Some(len) = memchr::memchr(b'>', &html.as_bytes()[from..]) else { break };
            step_counter::record_bytes(next + 1);
            let tag = &html[from + 1..from + len];
            at = from + len + 1;
            let name = tag
                .trim_start_matches('/')
                .split(|c: char| !c.is_ascii_alphanumeric())
                .next()
                .unwrap_or_default();
            if name.len() > 5 {
                continue;
            }
            let is = |it: &str| name.eq_ignore_ascii_case(it);
            if is("input")
                && let Some(cell) = &mut open
                && let Some((_, rest)) = tag.split_once("value=")
                && let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\''))
                && let Some((value, _)) = rest[1..].split_once(quote)
            {
                cell.add(value);
            }
            let (is_cell, is_term, is_value) = (is("td") || is("th"), is("dt"), is("dd"));
            let (is_row, is_table) = (is("tr"), is("table"));
            if !(is_cell || is_term || is_value || is_row || is_table) {
                continue;
            }
            // Ends of cells may be left out.
            if let Some(cell) = open.take() {
                row.push(cell);
            }
            if is_term || is_value {
                let last = row.pop();
                row.clear();
                if tag.starts_with('/') {
                    match last.and_then(Cell::into_text) {
                        Some(text) if is_term => term = Some(text),
                        Some(text) => self.judge_cell(term, text, found),
                        None => {}
                    }
                } else {
                    open = Some(Cell::default());
                }
                continue;
            }
            if is_cell && !tag.starts_with('/') && row.len() < COLUMNS {
                open = Some(Cell { is_head: is("th"), ..Cell::default() });
            }
            if is_row || is_table {
                self.row(&row, &mut heads, is_first, found);
                is_first &= row.is_empty();
                row.clear();
            }
            if is_table {
                heads.clear();
                is_first = true;
            }
        }
    }

    fn row<'t>(
        &mut self,
        row: &[Cell<'t>],
        heads: &mut Vec<Option<&'t str>>,
        is_first: bool,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        // `<th>API key</th><td>…</td>`, or a term in a plain cell.
        if let [name, value] = row
            && let (Some(name), Some(value)) = (name.into_text(), value.into_text())
        {
            self.judge_cell(Some(name), value, found);
        }
        if row.len() > 1 && (is_first || row.iter().all(|it| it.is_head)) {
            *heads = row.iter().map(|it| it.into_text()).collect();
            return;
        }
        for (head, cell) in heads.iter().zip(row) {
            if let Some(text) = cell.into_text() {
                self.judge_cell(*head, text, found);
            }
        }
    }

    /// A value under its head.
    pub fn judge_cell<'t>(
        &mut self,
        name: Option<&'t str>,
        value: &'t str,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        let Some(name) = name.map(|it| it.trim_end_matches([':', ' '])) else { return };
        if name.len() > NAME || !(4..=512).contains(&value.len()) {
            return;
        }
        // A label has words between which others have none.
        let key = name.replace([' ', '-', '\u{a0}'], "_");
        let class = self.rules.class(&key, Place::Form);
        let is_made = random(value) || erratic(value) || looks_chosen(value);
        let told = match class {
            KeyClass::Always | KeyClass::Likely => tells(class, value, false, false) && is_made,
            KeyClass::Code => tells(class, value, false, false),
            KeyClass::Perhaps => value.len() >= 16 && random(value),
            KeyClass::Silent | KeyClass::Harmless => false,
        };
        let is_code = matches!(&*key.to_ascii_lowercase(), "pin" | "puk" | "cvc" | "cvv")
            && value.bytes().all(|it| it.is_ascii_digit());
        if told || is_code {
            found.push((name, value, SecretReason::Key));
        }
    }
}
