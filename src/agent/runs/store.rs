//! Kept runs as they are read, and how long they are kept.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{PlaybookRef, RunRecord, RunStatus};
use crate::{
    actions::COMPLETE,
    transcript::{self, TranscriptLines},
};
use commis_base::{error::Result, files::Dir};

/// Bytes of where a run is.
const RECORD: usize = 64 << 10;
/// Runs that are kept, and bytes of all that they leave, whatever their age.
const RUNS: usize = 1000;
const BYTES: u64 = 512 << 20;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Whether that is how a run is called.
pub fn is_run(id: &str) -> bool {
    let hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    id.len() == 13 && id.starts_with('r') && id.bytes().skip(1).all(hex)
}

/// What of a run a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    Record,
    Lines,
    Picture,
}

/// The run that a file is of; what is called otherwise is none of ours.
fn parse_file_name(file: &str) -> Option<(&str, FileKind)> {
    let (id, kind) = if let Some(id) = file.strip_suffix(".ndjson") {
        (id, FileKind::Lines)
    } else if let Some(id) = file.strip_suffix(".json") {
        (id, FileKind::Record)
    } else {
        (file.strip_prefix("do-")?.strip_suffix(".png")?.split_once('-')?.0, FileKind::Picture)
    };
    is_run(id).then_some((id, kind))
}

/// A file that could not be read, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UnreadableFile {
    pub file: String,
    pub why: String,
}

/// All runs that are kept, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunListing {
    pub runs: Vec<RunRecord>,
    pub unread: Vec<UnreadableFile>,
}

/// One run whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredRun {
    pub record: RunRecord,
    /// What happened, in order.
    pub lines: Vec<Value>,
    pub unread: Vec<UnreadableFile>,
}

/// Who reads: the process that does this home's runs, if there is one, and when.
type ReadContext<'a> = (Option<&'a str>, i64);

/// Fails with `ARTIFACT_IO` where the folder cannot be looked into.
pub fn listing(folder: &Path, (alive, now_ms): ReadContext<'_>) -> Result<RunListing> {
    let Some(dir) = Dir::open(folder, false)? else { return Ok(RunListing::default()) };
    let names = dir.names()?;
    let ids: BTreeSet<&str> = names
        .iter()
        .filter_map(|it| parse_file_name(it))
        .filter(|it| it.1 != FileKind::Picture)
        .map(|it| it.0)
        .collect();
    let mut out = RunListing::default();
    for id in ids {
        let known = record(&dir, id, &mut out.unread).or_else(|| {
            let lines = lines(folder, id, &mut out.unread)?;
            from_lines(id, &lines.lines)
        });
        out.runs.extend(known.map(|it| it.with_current_status(alive, now_ms)));
    }
    out.runs.sort_by(|a, b| (b.begun_ms, &b.run).cmp(&(a.begun_ms, &a.run)));
    Ok(out)
}

/// `None` where there is no such run. Fails with `ARTIFACT_IO` where the folder cannot be looked into.
pub fn load_stored_run(
    folder: &Path,
    id: &str,
    (alive, now_ms): ReadContext<'_>,
) -> Result<Option<StoredRun>> {
    if !is_run(id) {
        return Ok(None);
    }
    let Some(dir) = Dir::open(folder, false)? else { return Ok(None) };
    let mut unread = Vec::new();
    let known = record(&dir, id, &mut unread);
    let lines = lines(folder, id, &mut unread);
    let Some(record) = known.or_else(|| from_lines(id, &lines.as_ref()?.lines)) else {
        // A file of that name that says nothing is still told of.
        let none = StoredRun { unread, ..StoredRun::default() };
        return Ok((!none.unread.is_empty()).then_some(none));
    };
    let lines = lines.map(|it| it.lines).unwrap_or_default();
    Ok(Some(StoredRun { record: record.with_current_status(alive, now_ms), lines, unread }))
}

fn record(dir: &Dir, id: &str, unread: &mut Vec<UnreadableFile>) -> Option<RunRecord> {
    let file = format!("{id}.json");
    let parsed = dir.read(&file, RECORD).map_err(|err| err.to_string()).and_then(|bytes| {
        let Some(bytes) = bytes else { return Ok(None) };
        let it: RunRecord = serde_json::from_slice(&bytes)
            .map_err(|_| "it does not say where a run is".to_owned())?;
        if it.run == id { Ok(Some(it)) } else { Err("it is of another run".to_owned()) }
    });
    parsed.unwrap_or_else(|why| {
        unread.push(UnreadableFile { file, why });
        None
    })
}

fn lines(folder: &Path, id: &str, unread: &mut Vec<UnreadableFile>) -> Option<TranscriptLines> {
    let file = format!("{id}.ndjson");
    match transcript::read(folder, id) {
        Ok(it) => {
            if let Some(n) = it.as_ref().map(|it| it.unreadable).filter(|it| *it > 0) {
                let lines = if n == 1 { "line is" } else { "lines are" };
                unread.push(UnreadableFile {
                    file,
                    why: format!("{n} {lines} cut short or damaged"),
                });
            }
            it
        }
        Err(err) => {
            unread.push(UnreadableFile { file, why: err.to_string() });
            None
        }
    }
}

/// What happened says where a run is, where nothing else does.
fn from_lines(id: &str, lines: &[Value]) -> Option<RunRecord> {
    let mut out = RunRecord { run: id.to_owned(), ..RunRecord::default() };
    for line in lines {
        let (at_ms, what) = (line["at_ms"].as_i64().unwrap_or_default(), &line["what"]);
        let text = |name: &str| what[name].as_str().map(str::to_owned);
        let count = |name: &str| what[name].as_u64().unwrap_or_default();
        if out.begun_ms == 0 {
            out.begun_ms = at_ms;
        }
        out.at_ms = at_ms;
        match what["kind"].as_str().unwrap_or_default() {
            "begin" => {
                out.task = text("task").unwrap_or_default();
                out.model = text("model").unwrap_or_default();
                out.backend = text("backend").unwrap_or_default();
                out.page = text("url").unwrap_or_default();
                let digest = text("playbook_digest").unwrap_or_default();
                out.playbook = text("playbook").map(|name| PlaybookRef { name, digest });
            }
            "act" => {
                if !text("act").is_some_and(|it| it.starts_with(COMPLETE)) {
                    out.actions += 1;
                    out.last_action = text("act");
                }
                out.page = text("page").unwrap_or(out.page);
                out.now = text("act").unwrap_or_default();
                out.since_ms = at_ms;
            }
            "model" => {
                out.turns = count("turn") as u32;
                out.tokens_in += count("tokens_in");
                out.tokens_out += count("tokens_out");
            }
            "approved" => out.status = RunStatus::Working,
            "failed" => {
                out.status = RunStatus::Failed;
                (out.reason, out.detail) = (text("code"), text("message"));
            }
            "end" => {
                out.status = serde_json::from_value(what["status"].clone()).unwrap_or_default();
                (out.reason, out.detail) = (text("reason"), text("detail"));
                out.page = text("url").unwrap_or(out.page);
                out.ms = what["ms"].as_u64().unwrap_or(out.ms);
            }
            _ => {}
        }
    }
    (!lines.is_empty()).then_some(out)
}

/// Takes away what is too old, and the oldest where there is too much: runs of `days` ago (0: no age is too great), and all but the
/// newest thousand or half a gigabyte. A run that gave a sign within the hour stays. How many went. Fails with `ARTIFACT_IO` where
/// the folder cannot be looked into; what cannot be taken away is said in the log.
pub fn sweep(folder: &Path, days: u32, now_ms: i64) -> Result<usize> {
    let Some(dir) = Dir::open(folder, false)? else { return Ok(0) };
    let names = dir.names()?;
    // Newest change, bytes, files.
    let mut all: BTreeMap<&str, (i64, u64, Vec<&str>)> = BTreeMap::new();
    for name in &names {
        let Some((id, _)) = parse_file_name(name) else { continue };
        // What vanishes meanwhile is not old.
        let Ok(Some((size, seconds, _, _))) = dir.stat(name) else { continue };
        let it = all.entry(id).or_default();
        it.0 = it.0.max(seconds.saturating_mul(1000));
        it.1 += size;
        it.2.push(name);
    }
    let mut all: Vec<_> = all.into_values().collect();
    all.sort_by_key(|it| std::cmp::Reverse(it.0));
    let (mut bytes, mut gone) = (0, 0);
    for (n, (at_ms, size, files)) in all.into_iter().enumerate() {
        bytes += size;
        let age = now_ms - at_ms;
        let old = days > 0 && age > i64::from(days) * DAY_MS;
        if age < DAY_MS / 24 || !(old || n >= RUNS || bytes > BYTES) {
            continue;
        }
        gone += 1;
        for name in files {
            if let Err(err) = dir.discard(name) {
                tracing::error!(error = %err, "an old run could not be taken away");
            }
        }
    }
    Ok(gone)
}
