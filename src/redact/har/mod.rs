//! HAR import: recordings of other tools as if we had watched; and a HAR made safe to share.
//!
//! Read tolerantly, for every exporter bends the format: an entry that makes no sense is skipped and counted, a field of
//! the wrong type is taken as absent. Only a file that is no HAR at all is an error.

mod bytes;
pub mod choices;
mod entry;
mod page;
mod resource;
mod share;
#[cfg(unix)]
mod stream;

pub use share::{ShareReport, share, shared};
#[cfg(unix)]
pub use stream::{changed, open};

use std::{collections::BTreeMap, sync::Arc};

use rayon::prelude::*;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use self::{entry::HarEntry, page::PageUrls};
use super::raw::{RawBody, RawExchange, RawRecording};
use commis_artifacts::recording::{Action, ActionKind, BodyStatus, Driver, ResourceType, Timing};
use commis_base::error::{Code, Error, Result};

/// Larger files are refused.
pub const MAX_FILE: usize = 256 << 20;
const MAX_ENTRIES: usize = 20_000;
/// All bodies together, inflated; later ones count as too large. As the recorder.
const MAX_BODIES: usize = 192 << 20;
/// A file that one thread has read before another has woken.
const LITTLE: usize = 64 << 10;

/// A HAR file as a raw recording.
pub struct ImportedHar {
    pub recording: RawRecording,
    /// Entries that were no requests: malformed, or not over HTTP.
    pub skipped: u32,
    /// The file from which bodies are read again.
    #[cfg(unix)]
    unchanged: Option<Arc<stream::SourceFile>>,
}

/// Whether every body that was read again was the one that was there before.
#[cfg(unix)]
pub struct SourceCheck(Option<Arc<stream::SourceFile>>);

#[cfg(unix)]
impl SourceCheck {
    pub fn is_unchanged(&self) -> bool {
        self.0.as_ref().is_none_or(|it| it.is_unchanged())
    }
}

#[cfg(unix)]
impl ImportedHar {
    /// What to ask when the recording was redacted.
    pub fn unchanged(&self) -> SourceCheck {
        SourceCheck(self.unchanged.clone())
    }
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    log: Log<'a>,
}

/// Only `entries` has to be there; the rest is read as far as it makes sense.
#[derive(Deserialize)]
struct Log<'a> {
    #[serde(borrow)]
    entries: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    creator: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pages: Option<&'a RawValue>,
}

/// Reads a HAR file. `task` is the sentence with the example's values filled in, `typed` those values by name.
/// Fails with [`Code::HarInvalid`] when the file is too large, is not JSON, or has no usable entries.
pub fn import(bytes: &[u8], task: &str, typed: BTreeMap<String, String>) -> Result<ImportedHar> {
    let text = read(bytes)?;
    let file: File<'_> = serde_json::from_str(text).map_err(no_har)?;
    if file.log.entries.len() > MAX_ENTRIES {
        return Err(invalid("the HAR file has more than 20,000 entries")
            .hint("export the HAR of fewer pages"));
    }
    let parse =
        |raw: Option<&RawValue>| raw.and_then(|it| serde_json::from_str::<Value>(it.get()).ok());
    let total = file.log.entries.len();
    let mut left = MAX_BODIES;
    let entries: Vec<Option<HarEntry>> = file
        .log
        .entries
        .into_par_iter()
        .with_min_len(if bytes.len() < LITTLE { usize::MAX } else { 1 })
        .map(|raw| HarEntry::read(&serde_json::from_str(raw.get()).ok()?))
        .collect();
    let entries = entries.into_iter().flatten().map(|it| it.within(&mut left)).collect();
    finish(entries, total, parse(file.log.pages), parse(file.log.creator), task, typed)
}

/// The recording that the entries of a file make. `total` counts those that were no requests, too.
fn finish(
    mut entries: Vec<HarEntry>,
    total: usize,
    pages: Option<Value>,
    creator: Option<Value>,
    task: &str,
    typed: BTreeMap<String, String>,
) -> Result<ImportedHar> {
    if entries.is_empty() {
        return Err(invalid("the HAR file holds no request over HTTP")
            .hint("start to record before the page is loaded, and export the HAR with content"));
    }
    let skipped = (total - entries.len()) as u32;
    let pages = PageUrls::new(pages.as_ref());
    for it in &mut entries {
        if let Some(url) = it.page.take().and_then(|id| pages.url(&id)) {
            url.clone_into(&mut it.raw.initiator.page_url);
        }
    }
    order(&mut entries);
    let exchanges = exchanges(entries);
    let part = |key: &str| {
        creator.as_ref().and_then(|it| it.get(key)).and_then(Value::as_str).unwrap_or("")
    };
    let url = start_url(&exchanges);
    let page = page::last(&exchanges, &url);
    let chosen = choices::choices(&exchanges, &typed);
    let opened = Action {
        kind: ActionKind::Navigate,
        role: None,
        name: None,
        value: Some(url.clone()),
        at_ms: 0,
        control: None,
    };
    Ok(ImportedHar {
        recording: RawRecording {
            task: task.to_owned(),
            driver: Driver::Har,
            typed,
            actions: std::iter::once(opened).chain(chosen).collect(),
            url,
            final_answer: None,
            page,
            exchanges,
            blocked: Vec::new(),
            secrets: Vec::new(),
            notes: Vec::new(),
            duration_ms: 0,
            producer: format!("{} {}", part("name"), part("version"))
                .trim()
                .chars()
                .take(120)
                .collect(),
        },
        skipped,
        #[cfg(unix)]
        unchanged: None,
    })
}

/// The text of a file, without its byte order mark.
fn read(bytes: &[u8]) -> Result<&str> {
    if bytes.len() > MAX_FILE {
        return Err(
            invalid("the HAR file is larger than 256 MiB").hint("export the HAR of fewer pages")
        );
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|err| {
        invalid("the HAR file is not UTF-8").hint("export it again as JSON").source(err)
    })
}

fn no_har(err: serde_json::Error) -> Error {
    let hint = match err.classify() {
        serde_json::error::Category::Eof => {
            "the file ends early, as a download that broke off does: export it again from the browser's network panel"
        }
        serde_json::error::Category::Data => {
            "it is JSON of another kind; the browser's network panel exports a HAR with \"Save all as HAR\""
        }
        _ => "it is no JSON; the browser's network panel exports a HAR with \"Save all as HAR\"",
    };
    invalid("the file is not a HAR: it needs an object `log` with a list `entries`")
        .hint(hint)
        .source(err)
}

fn invalid(message: &str) -> Error {
    Error::new(Code::HarInvalid, message)
}

/// By start time where every entry has one (Firefox sorts by end), else as written; equal times keep the file's order.
fn order(entries: &mut [HarEntry]) {
    if entries.iter().all(|it| it.started.is_some()) {
        entries.sort_by_key(|it| it.started);
    }
}

fn exchanges(entries: Vec<HarEntry>) -> Vec<RawExchange> {
    let base = entries.iter().filter_map(|it| it.started).min();
    let mut redirects: BTreeMap<String, u32> = BTreeMap::new();
    let mut document: Option<String> = None;
    let mut out = Vec::with_capacity(entries.len());
    for (i, entry) in entries.into_iter().enumerate() {
        let HarEntry { mut raw, started, redirect_to, total_ms, ttfb_ms, page: _ } = entry;
        raw.timing = Timing {
            start_ms: started
                .zip(base)
                .map_or(0, |(it, base)| it.saturating_sub(base).clamp(0, 1 << 40) as u64),
            ttfb_ms,
            total_ms,
        };
        raw.redirected_from = redirects.remove(raw.url.as_str());
        if let Some(to) = redirect_to {
            redirects.insert(to, i as u32);
        }
        if raw.initiator.page_url.is_empty()
            && let Some(url) = &document
        {
            raw.initiator.page_url.clone_from(url);
        }
        if raw.resource_type == ResourceType::Document
            && raw.status.is_some_and(|it| (200..300).contains(&it))
        {
            document = Some(raw.url.to_string());
        }
        raw.after_action = Some(0);
        out.push(raw);
    }
    out
}

fn start_url(exchanges: &[RawExchange]) -> String {
    let first = exchanges.iter().find(|it| it.resource_type == ResourceType::Document);
    match first {
        Some(it) => it.url.to_string(),
        None => exchanges
            .first()
            .map(|it| {
                if it.initiator.page_url.is_empty() {
                    it.url.to_string()
                } else {
                    it.initiator.page_url.clone()
                }
            })
            .unwrap_or_default(),
    }
}

/// What a missing body means.
fn missing(method: &str, status: Option<u16>, size: Option<u64>) -> RawBody {
    RawBody::Missing(match status {
        None => BodyStatus::Failed,
        Some(204 | 205 | 300..=303 | 307 | 308) => BodyStatus::Empty,
        // The browser had it, and the file has it not.
        Some(304) => BodyStatus::Absent,
        _ if method == "HEAD" || method == "OPTIONS" => BodyStatus::Empty,
        Some(_) if size == Some(0) => BodyStatus::Empty,
        Some(_) => BodyStatus::Absent,
    })
}

#[cfg(test)]
mod tests;
