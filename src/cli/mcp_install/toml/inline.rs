//! One entry in an inline table, on one line or, as since TOML 1.1, on many.
//!
//! What a comma belongs to is found from the values beside it, past comments, which may have commas in them as well. A line with
//! nothing but the entry comes and goes whole, so that each comment stays with what it stands behind.

use std::ops::Range;

use toml_edit::{InlineTable, Value};

use super::{
    super::edit::{Change, line_break},
    line_end, line_start,
};

/// Puts `new` behind all that the table has.
pub fn insert(out: &mut Change, table: &InlineTable, new: &str) {
    let Some(whole) = table.span() else { return };
    let text = out.text.clone();
    let last = value_ranges(table).into_iter().max_by_key(|it| it.end);
    let from = last.as_ref().map_or(whole.start + 1, |it| it.end);
    let comma = comma(&text, from).filter(|it| !text[from..*it].contains('\n'));
    let behind = comma.map_or(from, |it| it + 1);
    let Some(line) = ends_line(&text, behind) else {
        let new = if last.is_some() { format!(", {new}") } else { format!(" {new} ") };
        return out.make(from..from, &new);
    };
    let beside = last.as_ref().map_or(whole.start, |it| it.start);
    let start = line_start(&text, beside);
    let indent = &text[start..start + blanks(&text[start..])];
    let deeper = if start <= whole.start { "  " } else { "" };
    let tail = if comma.is_some() { "," } else { "" };
    out.make(line..line, &format!("{}{indent}{deeper}{new}{tail}", line_break(&text)));
    if last.is_some() && comma.is_none() {
        out.make(from..from, ",");
    }
}

/// Takes the entry `name`, which is written without dotted keys, out of the table, with the comma that was for it.
pub fn remove(out: &mut Change, table: &InlineTable, name: &str) {
    let key = table.key(name).and_then(toml_edit::Key::span);
    let (Some(key), Some(value)) = (key, table.get(name).and_then(Value::span)) else { return };
    let (from, to) = (key.start, value.end);
    let text = out.text.clone();
    let previous = value_ranges(table).iter().map(|it| it.end).filter(|it| *it <= from).max();
    let before = previous.and_then(|it| comma(&text, it));
    let after = comma(&text, to);
    if let Some(lines) = lines(&text, from..to, before, after) {
        let took = before.iter().chain(&after).any(|it| lines.contains(it));
        let apart = before.or(after).filter(|_| !took);
        if let Some(at) = apart.filter(|it| *it > lines.start) {
            out.make(at..at + 1, "");
        }
        let start = lines.start;
        out.make(lines, "");
        if let Some(at) = apart.filter(|it| *it < start) {
            out.make(at..at + 1, "");
        }
        return;
    }
    let bare = |it: Range<usize>| text[it].trim().is_empty();
    match (before, after) {
        (Some(comma), _) if bare(comma + 1..from) => out.make(comma..to, ""),
        (_, Some(comma)) if bare(to..comma) => {
            let end = comma + 1;
            out.make(from..end + blanks(&text[end..]), "");
        }
        (Some(comma), _) => {
            out.make(from..to, "");
            out.make(comma..comma + 1, "");
        }
        (None, Some(comma)) => {
            out.make(comma..comma + 1, "");
            out.make(from..to, "");
        }
        (None, None) => {
            let one = |it: bool| usize::from(it);
            let from = from - one(text[..from].ends_with([' ', '\t']));
            out.make(from..to + one(text[to..].starts_with([' ', '\t'])), "");
        }
    }
}

/// From each key to the end of its value; of dotted keys the last part, as what they lead to stands in several places.
fn value_ranges(table: &InlineTable) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    for (name, it) in table {
        match it {
            Value::InlineTable(it) if it.is_dotted() => out.extend(value_ranges(it)),
            it => {
                let key = table.key(name).and_then(toml_edit::Key::span);
                out.extend(key.zip(it.span()).map(|(key, it)| key.start..it.end));
            }
        }
    }
    out
}

/// The comma behind what ends at `at`, with white space and comments between.
fn comma(text: &str, mut at: usize) -> Option<usize> {
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        match rest.chars().next()? {
            ',' => return Some(at),
            '#' => at = line_end(text, at),
            _ => return None,
        }
    }
}

/// The lines that have nothing in them but the entry, commas and a comment behind it; none where that would be both commas.
fn lines(
    text: &str,
    entry: Range<usize>,
    before: Option<usize>,
    after: Option<usize>,
) -> Option<Range<usize>> {
    let start = line_start(text, entry.start);
    let before = before.filter(|it| *it >= start);
    let after = after.filter(|it| !text[entry.end..*it].contains('\n'));
    let lead = &text[start..entry.start];
    let lead = if before.is_some() { lead.trim_start().strip_prefix(',')? } else { lead };
    if !lead.trim().is_empty() || before.is_some() && after.is_some() {
        return None;
    }
    let behind = after.map_or(entry.end, |it| it + 1);
    ends_line(text, behind).map(|_| start..line_end(text, behind))
}

/// Where the line of `at` ends, its line break left out, if nothing but a comment follows.
fn ends_line(text: &str, at: usize) -> Option<usize> {
    let line = text[at..line_end(text, at)].trim_end_matches(['\r', '\n']);
    let rest = line.trim_start();
    (rest.is_empty() || rest.starts_with('#')).then_some(at + line.len())
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t']).len()
}
