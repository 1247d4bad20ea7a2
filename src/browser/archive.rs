//! The exchanges of a recording, to be answered from.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use commis_artifacts::recording::ResourceType;
use commis_redact::raw::{RawBody, RawExchange, RawRecording, contains_value};
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::Notify;
use url::Url;

/// Bytes of all bodies of a recording that is rendered.
const MAX_BODIES: usize = 64 << 20;

/// Characters of a value that stands in any address.
const SHORT: usize = 3;

/// Digits of a clock or of chance in a query: such a value is another each time.
const CHANCE: usize = 8;

/// Headers that belong to the connection, or to the encoding that the body no longer has.
const DROPPED: &[&str] = &[
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "connection",
    "keep-alive",
    "alt-svc",
    "strict-transport-security",
];

/// The exchanges of a recording, to be answered from.
pub struct Archive {
    pub(super) entries: Vec<Entry>,
    /// Place of the document to open. It may have been the answer to a form.
    pub(super) start: usize,
    /// It was opened since the page was last left.
    pub(super) opened: AtomicBool,
    /// Places of entries that were asked for since then.
    pub(super) asked: Mutex<BTreeSet<usize>>,
    /// What scripts asked for since then, answered or not.
    pub(super) requests: Mutex<Vec<Request>>,
    /// Told whenever something is asked for.
    pub(super) news: Notify,
    /// Names of parameters in which scripts count their requests.
    pub(super) counters: BTreeSet<String>,
}

/// What was sent.
pub(super) struct Request {
    pub(super) method: String,
    pub(super) url: Url,
    pub(super) body: Option<Vec<u8>>,
}

pub(super) struct Entry {
    pub(super) request: Request,
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// A script of the page asked for it with something that was typed.
    pub(super) carries: bool,
}

impl Archive {
    /// `None` where there is no page to render: no document with its body, or too much of everything.
    pub fn from_recording(raw: &RawRecording) -> Option<Self> {
        let is_page = |it: &RawExchange| {
            it.resource_type == ResourceType::Document
                && it.mime.contains("html")
                && it.body.len() > 0
                && it.status.is_some_and(|it| (200..300).contains(&it))
        };
        let document = raw.exchanges.iter().rposition(is_page)?;
        if raw.exchanges.iter().map(|it| it.body.len()).sum::<usize>() > MAX_BODIES {
            return None;
        }
        let (mut entries, mut start) = (Vec::new(), 0);
        for (at, it) in raw.exchanges.iter().enumerate() {
            if at == document {
                start = entries.len();
            }
            let mut entry = Entry::from_exchange(it);
            if let Some(entry) = &mut entry {
                // What came before the page was opened is none of its own.
                entry.carries = at > document && carries(it, raw);
            }
            entries.extend(entry);
        }
        Some(Self::new(entries, start))
    }

    pub(super) fn new(entries: Vec<Entry>, start: usize) -> Self {
        Self {
            counters: find_counters(&entries),
            entries,
            start,
            opened: AtomicBool::new(false),
            asked: Mutex::default(),
            requests: Mutex::default(),
            news: Notify::new(),
        }
    }

    /// The address to open, with nothing asked for yet.
    pub(super) fn start(&self) -> &str {
        self.opened.store(false, Ordering::Relaxed);
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.requests().clear();
        self.entries[self.start].request.url.as_str()
    }

    fn requests(&self) -> MutexGuard<'_, Vec<Request>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many requests of scripts there were since the page was opened.
    pub(super) fn count_requests(&self) -> usize {
        self.requests().len()
    }

    /// Notes a request of a script.
    pub(super) fn note_request(&self, method: &str, url: &str, body: Option<&[u8]>) {
        let Ok(url) = Url::parse(url) else { return };
        let (method, url) = (method.to_owned(), without_fragment(url));
        self.requests().push(Request { method, url, body: body.map(<[u8]>::to_vec) });
        self.news.notify_waiters();
    }

    /// Ends when a script asks an endpoint for something else than it did in the first `count` requests.
    pub(super) async fn repeat_after(&self, count: usize) {
        loop {
            let mut news = pin!(self.news.notified());
            news.as_mut().enable();
            if has_repeat(&self.requests(), count, &self.counters) {
                return;
            }
            news.await;
        }
    }

    /// The recorded answer to a request, noted as asked for: to exactly this one, else to one that differs only in what is chance.
    pub(super) fn answer(
        &self,
        method: &str,
        url: &str,
        body: Option<&[u8]>,
    ) -> Option<ArchivedAnswer<'_>> {
        let url = without_fragment(Url::parse(url).ok()?);
        let start = &self.entries[self.start];
        if start.request.url == url && !self.opened.swap(true, Ordering::Relaxed) {
            return Some(ArchivedAnswer { entry: start, body: Cow::Borrowed(&start.body) });
        }
        let asked = Request { method: method.to_owned(), url, body: body.map(<[u8]>::to_vec) };
        let all = || self.entries.iter().enumerate().filter(|it| it.1.request.method == method);
        let here = || all().filter(|it| it.1.request.url == asked.url);
        let found = here()
            .find(|it| it.1.request.body == asked.body)
            .or_else(|| all().find(|it| it.1.request.asks_as(&asked, &self.counters)))
            .or_else(|| here().next())
            .or_else(|| all().find(|it| it.1.request.is_about(&asked.url, &self.counters)));
        let (at, entry) = found?;
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).insert(at);
        self.news.notify_waiters();
        Some(ArchivedAnswer { entry, body: self.with_count_of(&asked, entry) })
    }

    /// The body of an entry, with the number of the request that is answered where it says its own: tables drop an answer to another
    /// request than their last.
    fn with_count_of<'a>(&self, asked: &Request, entry: &'a Entry) -> Cow<'a, [u8]> {
        let recorded = Cow::Borrowed(&*entry.body);
        let (ours, theirs) = (asked.parameters(), entry.request.parameters());
        let differs =
            |name: &&String| theirs.contains_key(*name) && ours.get(*name) != theirs.get(*name);
        let counters: Vec<&String> = self.counters.iter().filter(differs).collect();
        if counters.is_empty() {
            return recorded;
        }
        let Ok(Value::Object(mut fields)) = serde_json::from_slice(&entry.body) else {
            return recorded;
        };
        for name in counters {
            let (Some(own), Some(field)) = (ours.get(name), fields.get_mut(name)) else { continue };
            match field {
                Value::String(it) if Some(&*it) == theirs.get(name) => it.clone_from(own),
                Value::Number(it) if Some(&it.to_string()) == theirs.get(name) => {
                    *field = serde_json::from_str(own).unwrap_or(Value::Null);
                }
                _ => {}
            }
        }
        serde_json::to_vec(&fields).map_or(recorded, Cow::Owned)
    }

    /// The last request of a script that carried typed values.
    pub(super) fn last_carrier(&self) -> Option<&Entry> {
        self.entries.iter().rfind(|it| it.carries)
    }

    /// Ends when [`Self::is_rendered`].
    pub(super) async fn rendered(&self) {
        loop {
            let mut news = pin!(self.news.notified());
            news.as_mut().enable();
            if self.is_rendered() {
                return;
            }
            news.await;
        }
    }

    /// Whether the page asked for what a script had asked for last with typed values, or nothing was.
    pub(super) fn is_rendered(&self) -> bool {
        let Some(last) = self.last_carrier() else { return true };
        self.asked_with_values(|it| it.asks_as(&last.request, &self.counters))
    }

    /// Whether the page asked the endpoint of the last request with typed values for them: what is missing is not where to type.
    pub(super) fn is_near(&self) -> bool {
        self.last_carrier()
            .is_some_and(|last| self.asked_with_values(|it| it.is_to_endpoint_of(&last.request)))
    }

    fn asked_with_values(&self, fits: impl Fn(&Request) -> bool) -> bool {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let mut entries = asked.iter().map(|at| &self.entries[*at]);
        entries.any(|it| it.carries && fits(&it.request))
    }
}

impl Request {
    /// The same request but for what is chance or counts requests: one that also sorts, or sorts the other way, shows another state
    /// of the page.
    pub fn asks_as(&self, other: &Self, counters: &BTreeSet<String>) -> bool {
        let is_same_body = || {
            is_same_body(self.body.as_deref(), other.body.as_deref())
                || matches!((self.form(), other.form()), (Some(a), Some(b)) if are_same(&a, &b, counters))
        };
        self.method == other.method && self.is_about(&other.url, counters) && is_same_body()
    }

    /// The same address, and the same query but for what is chance or counts requests.
    pub fn is_about(&self, url: &Url, counters: &BTreeSet<String>) -> bool {
        let pairs = |it: &Url| it.query_pairs().into_owned().collect();
        self.url.host() == url.host()
            && self.url.path() == url.path()
            && are_same(&pairs(&self.url), &pairs(url), counters)
    }

    /// The fields of a body that is a form.
    fn form(&self) -> Option<BTreeMap<String, String>> {
        let body = self.body.as_deref().filter(|it| it.contains(&b'='))?;
        Some(url::form_urlencoded::parse(body).into_owned().collect())
    }

    /// Of its query, and of its body where that is a form.
    fn parameters(&self) -> BTreeMap<String, String> {
        let mut all = self.form().unwrap_or_default();
        all.extend(self.url.query_pairs().into_owned());
        all
    }

    /// To the same address, whatever stands in its query.
    fn is_to_endpoint_of(&self, other: &Self) -> bool {
        let endpoint = |it: &Self| it.url[..url::Position::AfterPath].to_owned();
        self.method == other.method && endpoint(self) == endpoint(other)
    }
}

/// Whether one of the later requests is to an endpoint of the first `count`, and none of those.
fn has_repeat(requests: &[Request], count: usize, counters: &BTreeSet<String>) -> bool {
    let (before, after) = requests.split_at(count.min(requests.len()));
    after.iter().any(|now| {
        let mut known = before.iter().filter(|it| now.is_to_endpoint_of(it)).peekable();
        known.peek().is_some() && !known.any(|it| now.asks_as(it, counters))
    })
}

impl Entry {
    pub fn from_exchange(raw: &RawExchange) -> Option<Self> {
        let status = raw.status?;
        let body = match &raw.body {
            RawBody::Missing(_) if (200..300).contains(&status) && status != 204 => return None,
            it => it.bytes().map(Cow::into_owned).unwrap_or_default(),
        };
        Some(Self {
            request: Request {
                method: raw.method.to_ascii_uppercase(),
                url: without_fragment(raw.url.clone()),
                body: raw.request_body.clone(),
            },
            // The browser that recorded it had the body.
            status: if status == 304 { 200 } else { status },
            headers: in_utf8(&raw.response_headers, &body),
            body,
            carries: false,
        })
    }
}

/// A recorded answer to what is asked now.
pub(super) struct ArchivedAnswer<'a> {
    pub(super) entry: &'a Entry,
    pub(super) body: Cow<'a, [u8]>,
}

impl ArchivedAnswer<'_> {
    /// As `Fetch.fulfillRequest` wants it.
    pub(super) fn fulfilled(&self, request: &str) -> serde_json::Value {
        let headers = self.entry.headers.iter().filter(|it| {
            !it.0.starts_with(':') && !DROPPED.contains(&it.0.to_ascii_lowercase().as_str())
        });
        let headers: Vec<_> =
            headers.map(|(name, value)| json!({ "name": name, "value": value })).collect();
        json!({
            "requestId": request,
            "responseCode": self.entry.status,
            "responseHeaders": headers,
            "body": STANDARD.encode(&self.body),
        })
    }
}

/// Names of parameters that are one more with each request of an endpoint while something else changes, too: a page that asks more
/// often, or less, sends other values. A number of pages begins anew when something else changes.
pub(super) fn find_counters(entries: &[Entry]) -> BTreeSet<String> {
    let mut by_endpoint: BTreeMap<(&str, &str), Vec<BTreeMap<String, String>>> = BTreeMap::new();
    for Entry { request, .. } in entries {
        let parameters = request.parameters();
        if !parameters.is_empty() {
            let endpoint = (&*request.method, &request.url[..url::Position::AfterPath]);
            by_endpoint.entry(endpoint).or_default().push(parameters);
        }
    }
    let mut counters = BTreeSet::new();
    for requests in by_endpoint.values().filter(|it| it.len() > 1) {
        let counts = |name: &str| {
            let numbers: Option<Vec<u64>> =
                requests.iter().map(|it| it.get(name)?.parse().ok()).collect();
            numbers.is_some_and(|it| it.windows(2).all(|it| it[0].checked_add(1) == Some(it[1])))
        };
        let counting: BTreeSet<&String> = requests[0].keys().filter(|it| counts(it)).collect();
        let changes = |pair: &[BTreeMap<String, String>]| {
            let differs = |it: &(&String, &String)| {
                !counting.contains(it.0)
                    && !pair[1].get(it.0).is_some_and(|other| is_same(it.1, other))
            };
            pair[0].iter().any(|it| differs(&it))
        };
        if requests.windows(2).any(changes) {
            counters.extend(counting.into_iter().cloned());
        }
    }
    counters
}

/// Whether two lists of parameters are equal but for what is chance or counts requests.
fn are_same(
    a: &BTreeMap<String, String>,
    b: &BTreeMap<String, String>,
    counters: &BTreeSet<String>,
) -> bool {
    let is_count = |it: &str| it.parse::<u64>().is_ok();
    a.len() == b.len()
        && a.iter().all(|(name, a)| {
            b.get(name).is_some_and(|b| {
                is_same(a, b) || counters.contains(name) && is_count(a) && is_count(b)
            })
        })
}

/// Whether two values are equal, or both of chance.
fn is_same(a: &str, b: &str) -> bool {
    let by_chance = |it: &str| it.chars().filter(char::is_ascii_digit).count() >= CHANCE;
    a == b || (by_chance(a) && by_chance(b))
}

/// Whether two bodies are equal but for values of chance in JSON.
fn is_same_body(a: Option<&[u8]>, b: Option<&[u8]>) -> bool {
    fn is_same_json(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_json(a, b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same_json(a, b)))
            }
            (Value::String(a), Value::String(b)) => is_same(a, b),
            (Value::Number(a), Value::Number(b)) => is_same(&a.to_string(), &b.to_string()),
            _ => a == b,
        }
    }
    if a == b {
        return true;
    }
    let read = |it: Option<&[u8]>| serde_json::from_slice(it?).ok();
    matches!((read(a), read(b)), (Some(a), Some(b)) if is_same_json(&a, &b))
}

/// A script asked with something that was typed, or with what is sent for it, and was answered. A short value is the whole of a part.
fn carries(it: &RawExchange, raw: &RawRecording) -> bool {
    let by_script =
        matches!(it.resource_type, ResourceType::Xhr | ResourceType::Fetch | ResourceType::Script);
    if !by_script || it.body.len() == 0 {
        return false;
    }
    let parts = || {
        let segments = it.url.path_segments().into_iter().flatten();
        let path = segments.map(|it| percent_decode_str(it).decode_utf8_lossy().into_owned());
        let form = url::form_urlencoded::parse(it.request_body.as_deref().unwrap_or_default());
        let pairs = it.url.query_pairs().chain(form);
        path.chain(pairs.map(|it| it.1.into_owned()))
    };
    let sent = raw.actions.iter().filter_map(|it| it.control.as_ref());
    let sent =
        || sent.clone().flat_map(|it| raw.typed.values().filter_map(|word| it.sent_value(word)));
    let is_short = |it: &String| it.chars().count() < SHORT;
    let long: BTreeMap<String, String> = raw
        .typed
        .iter()
        .filter(|it| !is_short(it.1))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    contains_value(&it.url, it.request_body.as_deref(), &long)
        || raw.typed.values().filter(|it| is_short(it)).any(|it| parts().any(|part| part == *it))
        || sent().any(|it| parts().any(|part| part == it))
}

/// Headers of a text that is kept in UTF-8, whatever charset it came in.
fn in_utf8(headers: &[(String, String)], body: &[u8]) -> Vec<(String, String)> {
    let is_utf8 = std::str::from_utf8(body).is_ok();
    let rewritten = |(name, value): &(String, String)| {
        let essence = value.split(';').next().unwrap_or_default().trim();
        let names_charset = value.to_ascii_lowercase().contains("charset=");
        let is_text = essence.starts_with("text/") || names_charset;
        if is_utf8 && is_text && name.eq_ignore_ascii_case("content-type") {
            return (name.clone(), format!("{essence}; charset=utf-8"));
        }
        (name.clone(), value.clone())
    };
    headers.iter().map(rewritten).collect()
}

fn without_fragment(mut url: Url) -> Url {
    url.set_fragment(None);
    url
}
