//! One entry in TOML, put in and taken out again.
//!
//! `toml_edit` says where things stand; what is written goes behind the file's last line, so that all before it stays to the
//! byte, line breaks included, which its own writer would make alike. Each new text is read again: if it says anything else than
//! the old one did, apart from the entry, it is not written.

mod equivalence;
mod inline;

use std::ops::Range;

use toml::Value;
use toml_edit::{Document, Item, Table, TableLike};

use super::edit::{Change, EditOutcome, Entry, expect, foreign, invalid, is_ours, line_break};
use commis_base::error::Result;

fn read(text: &str) -> Result<Document<&str>> {
    Document::parse(text).map_err(|err| {
        let what = err.message().lines().next().unwrap_or_default().to_owned();
        invalid(text, err.span().map_or(0, |it| it.start), &what)
    })
}

/// The table of servers. Fails with `SETTINGS_INVALID` where it is none.
fn servers<'d>(document: &'d Document<&str>, key: &str) -> Result<Option<&'d Item>> {
    match document.get(key) {
        Some(it) if it.is_table_like() => Ok(Some(it)),
        None => Ok(None),
        Some(it) => Err(invalid(document.raw(), start(it), &format!("`{key}` is no table"))),
    }
}

fn entry_of<'d>(servers: Option<&'d Item>, name: &str) -> Option<&'d Item> {
    servers.and_then(|it| it.get(name))
}

fn fields(entry: &Entry) -> [(&'static str, Value); 2] {
    [("command", entry.command.clone().into()), ("args", entry.args.clone().into())]
}

fn ours(entry: &Item, wanted: &str) -> bool {
    entry.get("command").and_then(Item::as_str).is_some_and(|it| is_ours(it, wanted))
}

fn start(of: &Item) -> usize {
    of.span().map_or(0, |it| it.start)
}

/// Puts the entry under `key`. Fails with `SETTINGS_INVALID` for a text that is no TOML, and with `USAGE` where the name is
/// somebody else's, unless `force`.
pub fn put(text: &str, key: &str, entry: &Entry, force: bool) -> Result<Change> {
    let mut out = Change::none(EditOutcome::Added, text);
    let document = read(text)?;
    let servers = servers(&document, key)?;
    match (entry_of(servers, &entry.name), servers.and_then(Item::as_inline_table)) {
        (Some(old), _) if ours(old, &entry.command) => {
            out.done = EditOutcome::Unchanged;
            update(&mut out, key, entry)?;
        }
        (Some(old), _) => {
            if !force {
                return Err(foreign(text, start(old), &entry.name));
            }
            out = take(text, key, &entry.name, &entry.command, true)?;
            let rest = put(&out.text, key, entry, false)?;
            out.pieces.extend(rest.pieces);
            out.text = rest.text;
            out.done = EditOutcome::Updated;
            out.empty = false;
        }
        (None, Some(table)) => {
            let all = fields(entry).map(|(name, it)| format!("{name} = {it}")).join(", ");
            let new = format!("{} = {{ {all} }}", entry.name);
            inline::insert(&mut out, table, &new);
        }
        (None, None) => append(&mut out, key, entry),
    }
    expect(contains_entry(&out, text, key, entry))?;
    Ok(out)
}

/// A table of its own behind the last line. It ends as the file did: with a line break or without.
fn append(out: &mut Change, key: &str, entry: &Entry) {
    let next = line_break(&out.text);
    let ended = out.text.ends_with('\n');
    let mut lines = Vec::new();
    if !out.text.is_empty() && !ended {
        lines.push(String::new());
    }
    if !out.text.trim().is_empty() {
        lines.push(String::new());
    }
    lines.push(format!("[{key}.{}]", entry.name));
    lines.extend(fields(entry).map(|(name, value)| format!("{name} = {value}")));
    if ended {
        lines.push(String::new());
    }
    let at = out.text.len();
    out.make(at..at, &lines.join(next));
}

/// Brings one field after the other up to date.
fn update(out: &mut Change, key: &str, entry: &Entry) -> Result<()> {
    for (name, value) in fields(entry) {
        let text = out.text.clone();
        let document = read(&text)?;
        let Some(old) = entry_of(servers(&document, key)?, &entry.name) else { continue };
        let table = old.as_table_like();
        let command = old.get("command").and_then(Item::span);
        let known = equivalence::entry(&text, key, &entry.name);
        if known.is_some_and(|it| it.get(name) == Some(&value)) {
            continue;
        }
        match (old.get(name).and_then(Item::as_value), command) {
            (Some(it), _) => {
                let Some(at) = it.span() else { continue };
                out.make(at, &value.to_string());
            }
            (None, Some(command)) if old.is_inline_table() => {
                let dotted = table.is_some_and(TableLike::is_dotted);
                let before = if dotted { format!("{}.", entry.name) } else { String::new() };
                out.make(command.end..command.end, &format!(", {before}{name} = {value}"));
            }
            (None, Some(command)) => {
                let at = line_end(&text, command.end);
                let at = text[..at].trim_end_matches(['\r', '\n']).len();
                // White space, or what the key is dotted to.
                let beside = table.and_then(|it| it.key("command")).and_then(toml_edit::Key::span);
                let before = beside.map_or("", |it| &text[line_start(&text, it.start)..it.start]);
                out.make(at..at, &format!("{}{before}{name} = {value}", line_break(&text)));
            }
            (None, None) => {}
        }
        out.done = EditOutcome::Updated;
    }
    let document = read(&out.text)?;
    let found = entry_of(servers(&document, key)?, &entry.name).and_then(Item::as_table_like);
    let names = found.into_iter().flat_map(|it| it.iter().map(|(name, _)| name.to_owned()));
    out.kept = names.filter(|it| !["command", "args"].contains(&it.as_str())).collect();
    Ok(())
}

/// Whether the new text has that entry, with all that was kept of it, and else says what the old one did.
fn contains_entry(new: &Change, old: &str, key: &str, entry: &Entry) -> bool {
    let Some(mut found) = equivalence::entry(&new.text, key, &entry.name) else { return false };
    let mut before = equivalence::entry(old, key, &entry.name).unwrap_or_default();
    // Of one that was replaced nothing is kept.
    if !before.get("command").and_then(Value::as_str).is_some_and(|it| is_ours(it, &entry.command))
    {
        before.clear();
    }
    let said = fields(entry).into_iter().all(|(name, value)| {
        before.remove(name);
        found.remove(name) == Some(value)
    });
    said && equivalence::same(&before, &found)
        && equivalence::but_for(old, &new.text, key, &entry.name)
}

/// Just behind the line break that ends the line of `at`.
fn line_end(text: &str, at: usize) -> usize {
    text[at..].find('\n').map_or(text.len(), |it| at + it + 1)
}

/// Where the line of `at` begins.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |it| it + 1)
}

/// The lines of a table with a heading, and of those below it.
fn lines_of(text: &str, table: &Table, out: &mut Vec<Range<usize>>) {
    let end = last_value(text, table, out);
    if let Some(heading) = table.span().filter(|_| !table.is_implicit()) {
        out.push(line_start(text, heading.start)..line_end(text, end.max(heading.end)));
    }
}

/// Where the last value of a table ends, also of one below a dotted key, whose own span is that key. What has a heading of its
/// own goes to `out`.
fn last_value(text: &str, table: &Table, out: &mut Vec<Range<usize>>) -> usize {
    let mut end = 0;
    for (_, it) in table {
        match it {
            Item::Table(it) if it.is_dotted() => end = end.max(last_value(text, it, out)),
            Item::Table(it) => lines_of(text, it, out),
            Item::ArrayOfTables(all) => all.iter().for_each(|it| lines_of(text, it, out)),
            it => end = end.max(it.span().map_or(0, |it| it.end)),
        }
    }
    end
}

/// Takes these tables out, from the last to the first.
fn remove(out: &mut Change, mut all: Vec<Range<usize>>) {
    let text = out.text.clone();
    all.sort_by_key(|it| it.start);
    let mut joined: Vec<Range<usize>> = Vec::new();
    for it in all {
        match joined.last_mut() {
            Some(last) if text[last.end..it.start].trim().is_empty() => last.end = it.end,
            _ => joined.push(it),
        }
    }
    for it in joined.into_iter().rev() {
        let unended = it.end == text.len() && !text.ends_with('\n');
        out.make(leading(&text[..it.start], unended)..it.end, "");
    }
}

/// Takes the entry out. Fails as [`put`], and with `SETTINGS_INVALID` where it is written with dotted keys.
pub fn take(text: &str, key: &str, name: &str, command: &str, force: bool) -> Result<Change> {
    let mut out = Change::none(EditOutcome::Absent, text);
    let document = read(text)?;
    let servers = servers(&document, key)?;
    let Some(entry) = entry_of(servers, name) else { return Ok(out) };
    if !force && !ours(entry, command) {
        return Err(foreign(text, start(entry), name));
    }
    out.done = EditOutcome::Removed;
    let inline = servers.and_then(Item::as_inline_table);
    let dotted = entry.as_table_like().is_some_and(TableLike::is_dotted);
    match (entry, inline) {
        _ if dotted => {
            let what = format!("`{name}` is written with dotted keys");
            return Err(invalid(text, start(entry), &what).hint("remove its lines by hand"));
        }
        (Item::Table(table), _) => {
            let mut all = Vec::new();
            lines_of(text, table, &mut all);
            remove(&mut out, all);
        }
        (Item::ArrayOfTables(tables), _) => {
            let mut all = Vec::new();
            tables.iter().for_each(|it| lines_of(text, it, &mut all));
            remove(&mut out, all);
        }
        (_, Some(table)) => inline::remove(&mut out, table, name),
        (Item::Value(value), None) => {
            let table = servers.and_then(Item::as_table).and_then(|it| it.key(name));
            if let Some((key, value)) = table.and_then(toml_edit::Key::span).zip(value.span()) {
                out.make(line_start(text, key.start)..line_end(text, value.end), "");
            }
        }
        (Item::None, None) => {}
    }
    out.empty = out.text.trim().is_empty();
    expect(
        read(&out.text).is_ok_and(|it| entry_of(it.get(key), name).is_none())
            && equivalence::but_for(text, &out.text, key, name),
    )?;
    Ok(out)
}

/// Where the text before a table ends, without the empty line that was put between them; with `unended` also without the line
/// break that its last line had not.
fn leading(before: &str, unended: bool) -> usize {
    let less = |it: &str| {
        let it = it.strip_suffix('\n').unwrap_or(it);
        it.strip_suffix('\r').unwrap_or(it).len()
    };
    let once = less(before);
    match (unended, before[..once].ends_with('\n')) {
        (true, true) => less(&before[..once]),
        (false, true) | (true, false) => once,
        (false, false) => before.len(),
    }
}

#[cfg(test)]
#[path = "toml_tests.rs"]
mod tests;
