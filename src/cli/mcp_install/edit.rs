//! What is changed in a client's file, as pieces of text between which everything stays to the byte.

use std::ops::Range;

use commis_base::error::{Code, Error, Result};

/// What the file is to say of commis.
#[derive(Clone, Debug)]
pub struct Entry {
    pub name: String,
    /// Whether it says `"type": "stdio"`.
    pub typed: bool,
    pub command: String,
    pub args: Vec<String>,
}

/// What was done, or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditOutcome {
    Added,
    Updated,
    /// It says so already.
    Unchanged,
    Removed,
    /// There was nothing to remove.
    Absent,
}

impl EditOutcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Absent => "absent",
        }
    }
}

/// One piece, as a person is shown it.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
pub struct Hunk {
    /// From 1, in the text with the pieces before it.
    pub line: usize,
    pub removed: String,
    pub added: String,
}

/// A file's text with what was done to it.
#[derive(Debug)]
pub struct Change {
    pub done: EditOutcome,
    pub text: String,
    pub pieces: Vec<Hunk>,
    /// What else stands in the entry and stays.
    pub kept: Vec<String>,
    /// Nothing is left that anybody wrote: the file was ours.
    pub empty: bool,
}

impl Change {
    pub fn none(done: EditOutcome, text: &str) -> Self {
        let text = text.to_owned();
        Self { done, text, pieces: Vec::new(), kept: Vec::new(), empty: false }
    }

    /// Puts `new` in the place of `at`. Several at once are made from the last to the first.
    pub fn make(&mut self, at: Range<usize>, new: &str) {
        let line = self.text[..at.start].matches('\n').count() + 1;
        self.pieces.push(Hunk {
            line,
            removed: self.text[at.clone()].to_owned(),
            added: new.to_owned(),
        });
        self.text.replace_range(at, new);
    }
}

/// The line break that the text uses.
pub fn line_break(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Whether a command is ours: by its last name, wherever it is, or by the one this program bears.
pub fn is_ours(command: &str, wanted: &str) -> bool {
    let last = |it: &str| it.rsplit('/').next().unwrap_or_default().to_owned();
    let name = last(command);
    !name.is_empty() && (name == "commis" || name == last(wanted))
}

/// Line and column, from 1, of a byte.
pub fn position(text: &str, at: usize) -> (usize, usize) {
    let at = (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0);
    let before = &text[..at];
    let line = before.rfind('\n').map_or(0, |it| it + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

/// `SETTINGS_INVALID` at a place in the file; the caller names the file.
pub fn invalid(text: &str, at: usize, what: &str) -> Error {
    let (line, column) = position(text, at);
    Error::new(Code::SettingsInvalid, format!("line {line}, column {column}: {what}"))
        .hint("nothing was changed; correct the file, then run this again")
}

/// The entry of that name is somebody else's.
pub fn foreign(text: &str, at: usize, name: &str) -> Error {
    let (line, _) = position(text, at);
    Error::new(Code::Usage, format!("line {line}: the entry `{name}` starts another program"))
        .hint("give another --name, or --force to replace it")
}

/// Fails as a bug where the new text does not read as it should: then nothing is written.
pub fn expect(holds: bool) -> Result<()> {
    if holds {
        return Ok(());
    }
    Err(Error::new(Code::Internal, "the edited file would not parse as intended")
        .hint("nothing was changed; --print shows what the entry would be"))
}
