//! What happened in a run, a line of JSON each, as it happens: what is there after a crash is whole up to its last line.
//!
//! Secrets are taken out before a line is written. Nothing that goes wrong here fails a run.

use std::path::Path;

use serde::Serialize;
use serde_json::{Value, json};

use commis_base::{
    error::Result,
    files::{self, Dir},
};

/// Bytes of one file; what comes then is left out.
const MOST: usize = 8 << 20;

pub struct Transcript {
    folder: Option<Dir>,
    name: String,
    written: usize,
}

impl Transcript {
    /// Begins one in that folder. Where the folder cannot be used, that is said in the log, and nothing is written.
    pub fn begin(folder: &Path, id: &str) -> Self {
        let name = format!("{id}.ndjson");
        let made = files::open_or_create(folder).and_then(|it| {
            it.make_file(&name)?;
            // One that goes on counts what is there.
            let written = it.stat(&name)?.map_or(0, |it| it.0 as usize);
            Ok((it, written))
        });
        let made = made.inspect_err(|err| {
            tracing::error!(error = %err, "what happens in a run is not written down");
        });
        let (folder, written) = made.map_or((None, 0), |it| (Some(it.0), it.1));
        Self { folder, name, written }
    }

    /// Writes one line: `what` with the time, milliseconds since 1970.
    pub fn note(&mut self, at_ms: i64, what: &impl Serialize) {
        let Some(folder) = &self.folder else { return };
        let mut line = serde_json::to_value(what).unwrap_or_default();
        masked(&mut line);
        let line = json!({ "at_ms": at_ms, "what": line }).to_string();
        if self.written + line.len() > MOST {
            return;
        }
        self.written += line.len() + 1;
        if let Err(err) = folder.append(&self.name, &line) {
            tracing::error!(error = %err, "what happens in a run is not written down any more");
            self.folder = None;
        }
    }
}

/// Texts without secrets.
pub(super) fn masked(it: &mut Value) {
    match it {
        Value::String(text) => *text = commis_redact::message(text),
        Value::Array(all) => all.iter_mut().for_each(masked),
        Value::Object(all) => all.values_mut().for_each(masked),
        _ => {}
    }
}

/// What a run left.
#[derive(Debug, Default, PartialEq)]
pub struct TranscriptLines {
    pub lines: Vec<Value>,
    /// Lines that are none: cut short by a crash, or somebody else's.
    pub unreadable: u32,
}

/// What a run left: its lines, as far as they are whole. Fails with `ARTIFACT_IO` where the file is none of ours or far too large.
pub fn read(folder: &Path, id: &str) -> Result<Option<TranscriptLines>> {
    let Some(dir) = Dir::open(folder, false)? else { return Ok(None) };
    let Some(bytes) = dir.read(&format!("{id}.ndjson"), MOST + (1 << 20))? else { return Ok(None) };
    let mut out = TranscriptLines::default();
    for line in bytes.split(|it| *it == b'\n').filter(|it| !it.is_empty()) {
        match serde_json::from_slice::<Value>(line) {
            Ok(it) if it.is_object() => out.lines.push(it),
            _ => out.unreadable += 1,
        }
    }
    Ok(Some(out))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn lines_are_whole_and_hold_no_secret() {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("runs");
        let mut it = Transcript::begin(&folder, "r-1");
        it.note(5, &json!({"kind": "did", "text": "Authorization: Bearer ghp_0123456789abcdefghijklmnopqrstuvwxyz"}));
        it.note(6, &json!({"kind": "end"}));
        drop(it);
        let read_1 = || read(&folder, "r-1").unwrap().unwrap();
        let TranscriptLines { lines, unreadable } = read_1();
        assert_eq!((lines.len(), unreadable), (2, 0));
        assert_eq!(lines[1]["at_ms"], 6);
        assert!(!lines[0].to_string().contains("ghp_0123"), "{}", lines[0]);
        assert!(read(&folder, "r-2").unwrap().is_none());
        // A line that was cut short costs itself, whatever bytes it has.
        let dir = files::open_or_create(&folder).unwrap();
        dir.open_to_append("r-1.ndjson").unwrap().write_all(b"{\"at_ms\": 7, \"wh\xff").unwrap();
        Transcript::begin(&folder, "r-1").note(8, &json!({"kind": "more"}));
        let TranscriptLines { lines, unreadable } = read_1();
        assert_eq!((lines.len(), unreadable), (3, 1));
        assert_eq!(lines[2]["at_ms"], 8);
    }

    #[test]
    fn one_that_goes_on_is_bounded_as_a_whole() {
        let at = tempfile::tempdir().unwrap();
        let long = json!({ "text": "x".repeat(MOST / 3) });
        for _ in 0..4 {
            let mut it = Transcript::begin(at.path(), "r-1");
            it.note(1, &long);
        }
        assert_eq!(read(at.path(), "r-1").unwrap().unwrap().lines.len(), 2);
    }

    #[test]
    fn a_folder_that_cannot_be_used_is_no_failure() {
        let at = tempfile::tempdir().unwrap();
        let file = at.path().join("runs");
        std::fs::File::create(&file).unwrap();
        let mut it = Transcript::begin(&file, "r-1");
        it.note(5, &json!({}));
        assert!(it.folder.is_none());
    }
}
