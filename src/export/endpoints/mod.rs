//! What a HAR says of the interfaces behind its pages: every data endpoint as one OpenAPI 3.1 document.
//!
//! Everything is read from the HAR as `redact` would share it, so that no secret gets here; answers are read whole. One document
//! holds all origins: where two have the same path, and where one address has many operations (GraphQL, JSON-RPC), what tells
//! them apart stands as a fragment behind the path, as others write it (`/graphql#operationName=GetUser`). Clients that are
//! made from such a document leave the fragment away when they send, so they ask what the page asked.

mod call;
mod document;
mod operation;
mod paths;
mod schema_inference;
mod segments;
mod string_formats;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use self::{
    call::{Answer, Call, Request, SentBody},
    operation::Operation,
    paths::{PathRequest, Piece},
};
use commis_artifacts::recording::ResourceType;
use commis_base::{error::Result, settings::RedactSettings};
use commis_recipe::shape;
use commis_recipe::trackers::{is_static_path, is_telemetry, is_tracker_path};
use commis_redact::{RemovalCounts, essence, har, raw::RawExchange};

/// Later ones are counted as left out.
const MAX_OPERATIONS: usize = 2_000;

#[derive(Default)]
pub struct Options {
    /// These and no other, with what is below them; all where empty.
    pub hosts: Vec<String>,
    /// A part of one answer for each status.
    pub examples: bool,
}

/// What became of the entries of a HAR.
#[derive(Debug, Serialize)]
pub struct Report {
    pub entries: usize,
    /// Entries that are in the document.
    pub described: usize,
    pub paths: usize,
    pub operations: usize,
    /// Operations by origin.
    pub origins: BTreeMap<String, usize>,
    /// Why entries are not in the document, and of which hosts most of them are.
    pub left_out: BTreeMap<&'static str, OmittedEntries>,
    pub removed: RemovalCounts,
}

#[derive(Debug, Default, Serialize)]
pub struct OmittedEntries {
    pub count: usize,
    /// At most five, by how many there are.
    pub hosts: Vec<String>,
}

/// The document, or `None` where the HAR holds no data endpoint, for which `left_out` has the reasons. Fails with
/// [`Code::HarInvalid`](commis_base::error::Code::HarInvalid) as [`har::share`] does.
pub fn describe(
    bytes: &[u8],
    settings: &RedactSettings,
    options: &Options,
) -> Result<(Option<Value>, Report)> {
    let shared = har::shared(bytes, settings)?;
    let mut report = Report {
        entries: shared.entries,
        described: 0,
        paths: 0,
        operations: 0,
        origins: BTreeMap::new(),
        left_out: BTreeMap::new(),
        removed: shared.removed,
    };
    let mut why: BTreeMap<&'static str, BTreeMap<String, usize>> = BTreeMap::new();
    if shared.skipped > 0 {
        why.entry(NO_REQUEST).or_default().insert(String::new(), shared.skipped);
    }
    let mut left = |reason: &'static str, host: &str| {
        *why.entry(reason).or_default().entry(host.to_owned()).or_default() += 1;
    };
    let (calls, waiting) = classify_entries(shared.exchanges, options, &mut left);
    report.described = calls.len();
    let mut calls: Vec<Call> = calls.into_iter().flatten().collect();
    // What answers without data belongs to an interface where its neighbours do.
    let origins: BTreeSet<String> = calls.iter().map(|it| it.origin.clone()).collect();
    let known: BTreeSet<Vec<String>> = calls.iter().map(Call::address).collect();
    for (mut all, is_write, reason) in waiting {
        let Some(first) = all.first() else { continue };
        if known.contains(&first.address()) || (is_write && origins.contains(&first.origin)) {
            report.described += 1;
            calls.append(&mut all);
        } else {
            left(reason, &first.host);
        }
    }
    let groups = groups(calls);
    let kept = groups.len().min(MAX_OPERATIONS);
    for it in &groups[kept..] {
        left("more than 2,000 operations", &it.calls[0].host);
    }
    report.left_out = why
        .into_iter()
        .map(|(reason, hosts)| (reason, OmittedEntries::from_hosts(hosts)))
        .collect();
    if groups.is_empty() {
        return Ok((None, report));
    }
    let told = document::write(&groups[..kept], &mut report, options);
    Ok((Some(told), report))
}

impl OmittedEntries {
    fn from_hosts(hosts: BTreeMap<String, usize>) -> Self {
        let count = hosts.values().sum();
        let mut all: Vec<(String, usize)> =
            hosts.into_iter().filter(|it| !it.0.is_empty()).collect();
        all.sort_by_key(|it| std::cmp::Reverse(it.1));
        Self { count, hosts: all.into_iter().take(5).map(|it| it.0).collect() }
    }
}

const NO_REQUEST: &str = "no request over HTTP";
const OTHER_HOST: &str = "host not asked for";
const PREFLIGHT: &str = "preflight";
const FAILED: &str = "no answer";
const TRACKER: &str = "tracker";
const STATIC: &str = "static file";
const PAGE: &str = "page";
const REDIRECT: &str = "redirect";
const NO_DATA: &str = "no data";

/// Calls that have to be proven by others, whether they change something, and why they are left out else.
type PendingCalls = (Vec<Call>, bool, &'static str);

/// The calls of each entry that is data, and what may be.
fn classify_entries(
    all: Vec<(RawExchange, Vec<String>)>,
    options: &Options,
    left: &mut dyn FnMut(&'static str, &str),
) -> (Vec<Vec<Call>>, Vec<PendingCalls>) {
    let opened = all.iter().find(|it| it.0.resource_type == ResourceType::Document);
    let opened = opened.and_then(|it| it.0.url.host_str()).unwrap_or("").to_owned();
    let (mut calls, mut waiting) = (Vec::new(), Vec::new());
    for (raw, cookies) in all {
        let host = raw.url.host_str().unwrap_or("").to_owned();
        let asked = options.hosts.is_empty()
            || options.hosts.iter().any(|it| {
                host.strip_suffix(it.as_str()).is_some_and(|it| it.is_empty() || it.ends_with('.'))
            });
        if !asked {
            left(OTHER_HOST, &host);
            continue;
        }
        let request = Request::from_exchange(&raw);
        let answer = call::read_answer(&raw);
        match judge_entry(&raw, &request, &answer, &opened) {
            EntryVerdict::Data => calls.push(call::calls(&raw, &cookies, request, answer)),
            EntryVerdict::Waits(is_write, reason) => {
                waiting.push((call::calls(&raw, &cookies, request, answer), is_write, reason));
            }
            EntryVerdict::No(reason) => left(reason, &host),
        }
    }
    (calls, waiting)
}

enum EntryVerdict {
    Data,
    /// If others at its address are data, or it changes something at an origin that has data.
    Waits(bool, &'static str),
    No(&'static str),
}

fn judge_entry(
    raw: &RawExchange,
    request: &Request,
    answer: &Answer,
    opened: &str,
) -> EntryVerdict {
    use ResourceType::{
        Document, Fetch, Font, Iframe, Image, Manifest, Media, Ping, Preflight, Script, Stylesheet,
        Websocket, Xhr,
    };
    let kind = raw.resource_type;
    if kind == Preflight || raw.method == "OPTIONS" {
        return EntryVerdict::No(PREFLIGHT);
    }
    let Some(status) = raw.status else { return EntryVerdict::No(FAILED) };
    let host = raw.url.host_str().unwrap_or("");
    let nodes = match answer {
        Answer::Json { value, .. } => nodes(value),
        Answer::Media(_) | Answer::None => 0,
    };
    if (host != opened && is_telemetry(host)) || kind == Ping {
        return EntryVerdict::No(TRACKER);
    }
    let is_call = matches!(kind, Xhr | Fetch);
    let is_read = matches!(raw.method.as_str(), "GET" | "HEAD");
    if !request.operations.is_empty() && (is_call || nodes > 0) {
        return EntryVerdict::Data;
    }
    // `POST /collect` that is told nothing of worth; `GET /api/metrics` with data is none.
    if is_tracker_path(&raw.url) && nodes < 4 {
        return EntryVerdict::No(TRACKER);
    }
    let mime = essence(&raw.mime);
    let is_html = mime.contains("html");
    let is_json = matches!(answer, Answer::Json { .. }) || mime.contains("json");
    if is_json {
        return if kind == Manifest || is_program_file(raw) {
            EntryVerdict::No(STATIC)
        } else {
            EntryVerdict::Data
        };
    }
    let is_shown = ["image/", "font/", "audio/", "video/"].iter().any(|it| mime.starts_with(it));
    if is_shown || matches!(kind, Script | Stylesheet | Image | Font | Media | Manifest | Websocket)
    {
        return EntryVerdict::No(STATIC);
    }
    if matches!(answer, Answer::Media(_)) && is_data_type(&mime) && (200..300).contains(&status) {
        return EntryVerdict::Data;
    }
    if is_html && matches!(kind, Document | Iframe) {
        return EntryVerdict::No(PAGE);
    }
    let reason = match status {
        301 | 302 | 303 | 307 | 308 => REDIRECT,
        _ => NO_DATA,
    };
    if !is_call {
        return EntryVerdict::No(reason);
    }
    let is_write = !is_read
        && (200..300).contains(&status)
        && !is_html
        && !matches!(request.sent, Some(SentBody::Other(_)))
        && mime != "text/javascript";
    EntryVerdict::Waits(is_write && !is_tracker_path(&raw.url), reason)
}

/// JSON that is a part of the program: its manifest, its texts.
fn is_program_file(raw: &RawExchange) -> bool {
    let path = raw.url.path();
    let name = path.rsplit('/').next().unwrap_or_default();
    let mime = essence(&raw.mime);
    let ending = name.rsplit_once('.').map_or("", |it| it.1);
    mime == "application/manifest+json"
        || ending == "map"
        || matches!(
            name,
            "manifest.json" | "asset-manifest.json" | "site.webmanifest" | "opensearch.json"
        )
        || (ending == "json" && is_static_path(&raw.url))
}

/// Types of data that are not JSON. Pages, pictures in XML and programs are none.
fn is_data_type(mime: &str) -> bool {
    let xml = mime.contains("xml") && !mime.contains("svg") && !mime.contains("html");
    xml || [
        "csv",
        "tab-separated",
        "ndjson",
        "jsonl",
        "event-stream",
        "protobuf",
        "grpc",
        "msgpack",
        "yaml",
        "x-amz-json",
        "rss",
        "cbor",
    ]
    .iter()
    .any(|it| mime.contains(it))
}

fn nodes(value: &Value) -> usize {
    match value {
        Value::Array(all) => 1 + all.iter().take(8).map(nodes).sum::<usize>(),
        Value::Object(all) => 1 + all.values().take(8).map(nodes).sum::<usize>(),
        _ => 1,
    }
}

impl Call {
    /// Method, origin and path.
    fn address(&self) -> Vec<String> {
        let mut out = vec![self.method.clone(), self.origin.clone()];
        out.extend(self.segments.iter().cloned());
        out
    }

    fn successful_json(&self) -> Option<&Value> {
        match &self.answer {
            Answer::Json { value, .. }
                if self.status.is_some_and(|it| (200..300).contains(&it)) =>
            {
                Some(value)
            }
            _ => None,
        }
    }
}

/// All calls of one operation.
pub struct Group {
    pub origin: String,
    pub path: Vec<Piece>,
    pub method: String,
    /// What stands behind the path, to tell it from others there.
    pub fragment: String,
    pub calls: Vec<Call>,
}

/// By origin, the one with most operations first, then by path.
fn groups(calls: Vec<Call>) -> Vec<Group> {
    let mut by_origin: BTreeMap<String, Vec<Call>> = BTreeMap::new();
    for it in calls {
        by_origin.entry(it.origin.clone()).or_default().push(it);
    }
    let mut origins: Vec<Vec<Group>> = Vec::new();
    for (origin, calls) in by_origin {
        let asked: Vec<PathRequest<'_>> = calls
            .iter()
            .map(|it| PathRequest {
                segments: it.segments.iter().map(String::as_str).collect(),
                how: format!("{} {}", it.method, fragment(it)),
                shape: it.successful_json().map(shape::paths),
            })
            .collect();
        let shapes: Vec<Option<Vec<String>>> = asked.iter().map(|it| it.shape.clone()).collect();
        let templates = paths::templates(&asked);
        drop(asked);
        let mut groups: BTreeMap<Key, (Vec<Piece>, Vec<ShapedCall>)> = BTreeMap::new();
        for ((call, path), shape) in calls.into_iter().zip(templates).zip(shapes) {
            let spelled = path.iter().map(Piece::to_path_text).collect();
            let key = (spelled, fragment(&call), call.method.clone());
            groups.entry(key).or_insert((path, Vec::new())).1.push((call, shape));
        }
        let mut all = Vec::new();
        for ((_, fragment, method), (path, calls)) in groups {
            for (action, calls) in split_by_action(calls) {
                let fragment = if fragment.is_empty() { action } else { fragment.clone() };
                let (origin, path, method) = (origin.clone(), path.clone(), method.clone());
                all.push(Group { origin, path, method, fragment, calls });
            }
        }
        origins.push(all);
    }
    origins.sort_by_key(|it| std::cmp::Reverse(it.len()));
    origins.into_iter().flatten().collect()
}

fn fragment(call: &Call) -> String {
    call.operation.as_ref().map(Operation::fragment).unwrap_or_default()
}

impl Piece {
    fn to_path_text(&self) -> String {
        match self {
            Self::Literal(it) => it.clone(),
            Self::Parameter { start, ending, .. } => format!("{start}{{}}{ending}"),
        }
    }
}

/// A call, and the typed paths of its answer.
type ShapedCall = (Call, Option<Vec<String>>);
/// Path as it is spelled, fragment, method.
type Key = (Vec<String>, String, String);

/// Names of parameters that say what to do, where one address does many things.
const ACTIONS: &[&str] = &[
    "action",
    "method",
    "op",
    "operation",
    "cmd",
    "command",
    "do",
    "function",
    "service",
    "rpcids",
    "list",
    "request",
];
/// Answers less alike than this are of different actions.
const ANOTHER: u32 = 5_000;

/// `api.php?action=…`: apart where each action answers in its own way.
fn split_by_action(calls: Vec<ShapedCall>) -> Vec<(String, Vec<Call>)> {
    let plain = |calls: Vec<ShapedCall>| calls.into_iter().map(|it| it.0).collect::<Vec<_>>();
    let Some(name) = ACTIONS.iter().find(|name| distinguishes_answers(&calls, name)) else {
        return vec![(String::new(), plain(calls))];
    };
    let mut out: BTreeMap<String, Vec<ShapedCall>> = BTreeMap::new();
    for it in calls {
        let value = action(&it.0, name).unwrap_or_default();
        out.entry(format!("{name}={value}")).or_default().push(it);
    }
    out.into_iter().map(|(fragment, calls)| (fragment, plain(calls))).collect()
}

fn action(call: &Call, name: &str) -> Option<String> {
    let form = match &call.sent {
        Some(SentBody::Form(fields)) => fields.as_slice(),
        _ => &[],
    };
    let found = call.query.iter().chain(form).find(|it| it.0 == name)?;
    let plain = found.1.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b));
    (plain && (1..=40).contains(&found.1.len())).then(|| found.1.clone())
}

/// Every call has it, and any two of its values answer unlike.
fn distinguishes_answers(calls: &[ShapedCall], name: &str) -> bool {
    let mut first: BTreeMap<String, &[String]> = BTreeMap::new();
    for (call, shape) in calls {
        let Some(value) = action(call, name) else { return false };
        if let Some(shape) = shape {
            first.entry(value).or_insert(shape);
        }
    }
    let shapes: Vec<&[String]> = first.into_values().take(12).collect();
    let pairs =
        shapes.iter().enumerate().flat_map(|(i, a)| shapes[..i].iter().map(move |b| (a, b)));
    shapes.len() > 1 && pairs.into_iter().all(|(a, b)| shape::similarity_bp(a, b) < ANOTHER)
}

#[cfg(test)]
mod tests;
