//! A HAR made safe to share: the same structure, without secrets and without what is not text.

use serde::Serialize;
use serde_json::{Map, Value};
use zeroize::Zeroizing;

use super::{
    MAX_ENTRIES, bytes,
    entry::{HarEntry, text},
    invalid, read,
};
use crate::{Place, Redactor, RemovalCounts, password_fields::PasswordFields, raw::RawExchange};
use commis_base::{error::Result, settings::RedactSettings};

/// What was done to a HAR.
#[derive(Debug, Serialize)]
pub struct ShareReport {
    pub entries: usize,
    /// Entries in which something was replaced or dropped.
    pub entries_touched: usize,
    /// Bodies and messages that were no text, and are left out.
    pub bodies_dropped: usize,
    pub bytes_before: usize,
    pub bytes_after: usize,
    pub removed: RemovalCounts,
}

/// A HAR file without its secrets, and what was removed. Doing it again changes nothing. Fails with
/// [`Code::HarInvalid`](commis_base::error::Code::HarInvalid) when the file is too large or no HAR.
pub fn share(bytes: &[u8], settings: &RedactSettings) -> Result<(Vec<u8>, ShareReport)> {
    let (har, entries, visited) = without_secrets(bytes, settings)?;
    let mut out = serde_json::to_vec_pretty(&har)
        .map_err(|err| invalid("cannot write the redacted HAR as JSON").source(err))?;
    out.push(b'\n');
    let report = ShareReport {
        entries,
        entries_touched: visited.touched,
        bodies_dropped: visited.dropped,
        bytes_before: bytes.len(),
        bytes_after: out.len(),
        removed: visited.removed,
    };
    Ok((out, report))
}

/// The requests of a HAR with placeholders where secrets stood, answers whole.
pub struct SharedHar {
    /// In the file's order; cookies by name beside each.
    pub exchanges: Vec<(RawExchange, Vec<String>)>,
    pub entries: usize,
    /// Entries that were no requests: malformed, or not over HTTP.
    pub skipped: usize,
    pub removed: RemovalCounts,
}

/// What [`share`] would write, read at once. Fails as it does.
pub fn shared(bytes: &[u8], settings: &RedactSettings) -> Result<SharedHar> {
    let (har, entries, visited) = without_secrets(bytes, settings)?;
    let all = har.pointer("/log/entries").and_then(Value::as_array);
    let mut left = super::MAX_BODIES;
    let mut exchanges = Vec::with_capacity(entries);
    for entry in all.into_iter().flatten() {
        if let Some(read) = HarEntry::read(entry) {
            exchanges.push((read.within(&mut left).raw, cookies(entry)));
        }
    }
    let skipped = entries - exchanges.len();
    Ok(SharedHar { exchanges, entries, skipped, removed: visited.removed })
}

/// Names of the cookies that a request took along.
fn cookies(entry: &Value) -> Vec<String> {
    let all = entry.pointer("/request/cookies").and_then(Value::as_array);
    all.into_iter().flatten().filter_map(|it| text(it, "name").map(str::to_owned)).collect()
}

struct VisitResult {
    touched: usize,
    dropped: usize,
    removed: RemovalCounts,
}

/// The document with placeholders, and how many entries it has.
fn without_secrets(bytes: &[u8], settings: &RedactSettings) -> Result<(Value, usize, VisitResult)> {
    let text = read(bytes)?;
    // In the file's own order: it is not a payload of ours, and whoever compares the two files sees what changed.
    let mut har: Value = serde_json::from_str(text).map_err(|err| {
        invalid("the HAR file is not JSON").hint("export the HAR again").source(err)
    })?;
    let entries = har.pointer("/log/entries").and_then(Value::as_array).map(Vec::len);
    let entries = entries.ok_or_else(|| {
        invalid("the file is not a HAR: it needs an object `log` with a list `entries`")
    })?;
    if entries > MAX_ENTRIES {
        return Err(invalid("the HAR file has more than 20,000 entries"));
    }
    let mut redactor = Redactor::new(settings);
    for it in sent_passwords(&har) {
        redactor.add_password(&it);
    }
    HarVisitor { redactor: &mut redactor, writing: false, dropped: 0, touched: 0 }
        .document(&mut har);
    redactor.write();
    let mut visit = HarVisitor { redactor: &mut redactor, writing: true, dropped: 0, touched: 0 };
    visit.document(&mut har);
    let (dropped, touched) = (visit.dropped, visit.touched);
    Ok((har, entries, VisitResult { touched, dropped, removed: redactor.into_removed() }))
}

/// What the entries send from password fields of their own pages.
fn sent_passwords(har: &Value) -> Vec<Zeroizing<String>> {
    let entries = || har.pointer("/log/entries").and_then(Value::as_array).into_iter().flatten();
    let bodies: Vec<&str> = entries()
        .filter_map(|it| it.pointer("/request/postData/text").and_then(Value::as_str))
        .collect();
    let mut fields = PasswordFields::default();
    for it in entries().filter(|_| !bodies.is_empty()) {
        let content = it.pointer("/response/content");
        let Some(content) = content.filter(|it| text(it, "mimeType").is_some_and(is_page)) else {
            continue;
        };
        match (text(content, "text"), text(content, "encoding")) {
            (Some(it), Some("base64")) => {
                if let Some(bytes) = bytes::base64(it) {
                    fields.add_page(&bytes);
                }
            }
            (Some(it), _) => fields.add_page(it.as_bytes()),
            (None, _) => {}
        }
    }
    bodies.iter().flat_map(|it| fields.sent_values(it.as_bytes())).collect()
}

fn is_page(mime: &str) -> bool {
    mime.contains("html")
}

/// One pass over every field; the first replaces nothing.
struct HarVisitor<'a> {
    redactor: &'a mut Redactor,
    writing: bool,
    dropped: usize,
    touched: usize,
}

impl HarVisitor<'_> {
    fn document(&mut self, har: &mut Value) {
        let mut entries = Vec::new();
        if let Some(it) = har.pointer_mut("/log/entries").and_then(Value::as_array_mut) {
            entries = std::mem::take(it);
        }
        for it in &mut entries {
            let before = self.redactor.removed().total() + self.dropped as u64;
            self.entry(it);
            let after = self.redactor.removed().total() + self.dropped as u64;
            self.touched += usize::from(after > before);
        }
        if let Some(pages) = har.pointer_mut("/log/pages").and_then(Value::as_array_mut) {
            for page in pages.iter_mut().filter_map(Value::as_object_mut) {
                // Several exporters put the page's URL there.
                for name in ["title", "_URL"] {
                    if let Some(Value::String(it)) = page.get_mut(name) {
                        set(it, self.words(it));
                    }
                }
            }
        }
        // Whatever else a browser or a tool wrote.
        self.redactor.json(har, Place::Json);
        if let Some(it) = har.pointer_mut("/log/entries").and_then(Value::as_array_mut) {
            *it = entries;
        }
    }

    fn entry(&mut self, entry: &mut Value) {
        let Some(entry) = entry.as_object_mut() else {
            self.redactor.json(entry, Place::Json);
            return;
        };
        for (name, value) in entry.iter_mut() {
            match (name.as_str(), value) {
                ("request" | "response", Value::Object(message)) => self.message(message),
                ("_webSocketMessages" | "_eventSourceMessages", Value::Array(all)) => {
                    for it in all {
                        self.visit_socket_message(it);
                    }
                }
                ("_webSocketMessages" | "_eventSourceMessages", it) => {
                    self.visit_socket_message(it);
                }
                (_, value) => self.other(name, value),
            }
        }
    }

    fn message(&mut self, message: &mut Map<String, Value>) {
        let mime = ["postData", "content"]
            .iter()
            .find_map(|it| text(message.get(*it)?, "mimeType"))
            .unwrap_or("")
            .to_owned();
        for (name, value) in message.iter_mut() {
            match (name.as_str(), value) {
                ("url" | "redirectURL" | "fullUrl", Value::String(it)) => {
                    set(it, self.redactor.url(it));
                }
                ("headers" | "_headers" | "rawHeaders" | "trailers", it) => {
                    self.pairs(it, PairKind::Header);
                }
                ("cookies", it) => self.pairs(it, PairKind::Cookie),
                ("queryString", it) => self.pairs(it, PairKind::Query),
                ("postData", Value::Object(it)) => self.content(it, &mime, Place::Json),
                ("content", Value::Object(it)) => self.content(it, &mime, Place::Answer),
                ("postData" | "content", Value::String(it)) => {
                    set(it, self.redactor.body(it, "text/plain", Place::Json));
                }
                (_, value) => self.other(name, value),
            }
        }
    }

    /// `[{name, value, …}]`, a map as older tools have it, pairs, lines: in whatever shape, every value is judged under
    /// its name, and what has none is replaced whole.
    fn pairs(&mut self, list: &mut Value, kind: PairKind) {
        match list {
            Value::Array(all) => match all.split_first_mut() {
                Some((Value::String(name), rest)) if !kind.is_whole(name) && !rest.is_empty() => {
                    if rest.iter().all(Value::is_string) {
                        // `[name, value, name, value]`
                        for pair in all.chunks_mut(2) {
                            let (name, value) = pair.split_at_mut(1);
                            match value {
                                [value] => self.value(name[0].as_str().unwrap_or(""), value, kind),
                                _ => self.pairs(&mut name[0], kind),
                            }
                        }
                    } else {
                        for it in rest {
                            self.value(name, it, kind);
                        }
                    }
                }
                _ => all.iter_mut().for_each(|it| self.pairs(it, kind)),
            },
            Value::Object(fields) => {
                let name = ["name", "Name", "key"].iter().find_map(|it| fields.get(*it)?.as_str());
                let named = name.filter(|_| fields.len() > 1).map(str::to_owned);
                for (key, value) in fields.iter_mut() {
                    match (&named, value) {
                        (None, value) => self.value(key, value, kind),
                        (Some(name), Value::String(it)) if name == it => {
                            set(it, kind.name(self.redactor, it));
                        }
                        (Some(_), value) if ABOUT.contains(&key.as_str()) => self.other(key, value),
                        (Some(name), value) => self.value(name, value, kind),
                    }
                }
            }
            Value::String(it) => set(it, kind.whole(self.redactor, it)),
            it => _ = self.redactor.json(it, Place::Json),
        }
    }

    /// Everything that stands under one name.
    fn value(&mut self, name: &str, value: &mut Value, kind: PairKind) {
        match value {
            Value::String(it) => set(it, kind.redact_value(self.redactor, name, it)),
            Value::Number(it) => {
                if let Some(new) = kind.redact_value(self.redactor, name, &it.to_string()) {
                    *value = Value::String(new);
                }
            }
            Value::Array(all) => all.iter_mut().for_each(|it| self.value(name, it, kind)),
            Value::Object(all) => all.values_mut().for_each(|it| self.value(name, it, kind)),
            Value::Bool(_) | Value::Null => {}
        }
    }

    /// `postData` or `content`.
    fn content(&mut self, content: &mut Map<String, Value>, mime: &str, place: Place) {
        let encoded = ["encoding", "_encoding"]
            .iter()
            .filter_map(|it| content.get(*it)?.as_str())
            .any(|it| it.trim().eq_ignore_ascii_case("base64"));
        let text = content.get("text").and_then(Value::as_str);
        let encoded = encoded || text.is_some_and(|it| bytes::unflagged(it, mime).is_some());
        if encoded && let Some(body) = content.get("text").and_then(Value::as_str) {
            let plain = bytes::base64(body).and_then(|it| String::from_utf8(it).ok());
            match plain.filter(|it| !it.contains('\0')) {
                Some(plain) => {
                    if let Some(new) = self.redactor.body(&plain, mime, place) {
                        content.insert("text".to_owned(), Value::String(new));
                        content.shift_remove("encoding");
                        content.shift_remove("_encoding");
                    }
                }
                None => self.drop_text(content),
            }
        } else if content.get("text").and_then(Value::as_str).is_some_and(|it| it.contains('\0')) {
            self.drop_text(content);
        }
        for (name, value) in content.iter_mut() {
            match (name.as_str(), value) {
                ("text", Value::String(_)) if encoded => {}
                ("text", Value::String(it)) => set(it, self.redactor.body(it, mime, place)),
                ("text", it) => _ = self.redactor.json(it, place),
                ("params", it) => self.pairs(it, PairKind::Form),
                (_, value) => self.other(name, value),
            }
        }
    }

    fn drop_text(&mut self, content: &mut Map<String, Value>) {
        if self.writing {
            self.dropped += 1;
            for name in ["text", "encoding", "_encoding"] {
                content.shift_remove(name);
            }
        }
    }

    /// A message of a web socket or an event stream. What is no text is left out.
    fn visit_socket_message(&mut self, message: &mut Value) {
        let Value::Object(message) = message else {
            match message {
                Value::String(it) => set(it, self.redactor.message(it)),
                it => _ = self.redactor.json(it, Place::Answer),
            }
            return;
        };
        if message.get("opcode").and_then(Value::as_u64) == Some(2) && self.writing {
            self.dropped += usize::from(message.shift_remove("data").is_some());
        }
        for (name, value) in message.iter_mut() {
            match (name.as_str(), value) {
                ("data", Value::String(it)) => set(it, self.redactor.message(it)),
                (_, value) => self.other(name, value),
            }
        }
    }

    /// A field that only some tool knows, or a comment.
    fn other(&mut self, name: &str, value: &mut Value) {
        match value {
            // A name such as `httpVersion` would exempt the value from the entropy rule.
            Value::String(it) if WORDS.contains(&name) => set(it, self.words(it)),
            Value::String(it) if it.contains(' ') => {
                set(it, self.redactor.redact_named(name, it, Place::Json));
                set(it, self.words(it));
            }
            Value::String(it) => set(it, self.redactor.redact_named(name, it, Place::Json)),
            it => _ = self.redactor.json(it, Place::Json),
        }
    }

    fn words(&mut self, text: &str) -> Option<String> {
        if text.contains("://") && !text.contains(' ') {
            return self.redactor.url(text);
        }
        self.redactor.words(text)
    }
}

/// Fields that hold words, whatever their names say.
const WORDS: &[&str] = &["comment", "statusText", "httpVersion", "_error"];

/// What an item of a list says about its value.
const ABOUT: &[&str] = &[
    "comment",
    "path",
    "domain",
    "expires",
    "httpOnly",
    "secure",
    "sameSite",
    "fileName",
    "contentType",
];

/// What a list of names and values holds.
#[derive(Clone, Copy)]
enum PairKind {
    Header,
    Cookie,
    Query,
    Form,
}

impl PairKind {
    fn redact_value(self, redactor: &mut Redactor, name: &str, value: &str) -> Option<String> {
        match self {
            Self::Header => redactor.header(name, value),
            Self::Cookie => redactor.cookie(name, value),
            Self::Query => redactor.redact_named(name, value, Place::Query),
            Self::Form => redactor.redact_named(name, value, Place::Form),
        }
    }

    fn name(self, redactor: &mut Redactor, name: &str) -> Option<String> {
        match self {
            Self::Header => redactor.header_name(name),
            Self::Cookie | Self::Query | Self::Form => redactor.name(name),
        }
    }

    /// Whether a string holds names and values by itself.
    fn is_whole(self, text: &str) -> bool {
        match self {
            Self::Header => line(text).is_some() || text.contains('\n'),
            Self::Cookie => true,
            Self::Query | Self::Form => text.contains('='),
        }
    }

    /// A string where a list should be.
    fn whole(self, redactor: &mut Redactor, text: &str) -> Option<String> {
        match self {
            Self::Header => {
                let lines = text.split('\n').map(|it| match line(it) {
                    Some((name, value)) => {
                        let value = value.trim();
                        redactor
                            .header(name.trim(), value)
                            .map_or_else(|| it.to_owned(), |new| it.replacen(value, &new, 1))
                    }
                    None => redactor.cookie("headers", it.trim()).unwrap_or_else(|| it.to_owned()),
                });
                let new = lines.collect::<Vec<_>>().join("\n");
                (new != text).then_some(new)
            }
            Self::Cookie => redactor.cookie("cookies", text),
            Self::Query | Self::Form if text.contains('=') => {
                redactor.body(text, "application/x-www-form-urlencoded", Place::Query)
            }
            Self::Query | Self::Form => redactor.cookie("queryString", text),
        }
    }
}

/// `Name: value`
fn line(text: &str) -> Option<(&str, &str)> {
    let token = |it: &str| {
        !it.is_empty()
            && it.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
    };
    text.split_once(':').filter(|it| token(it.0.trim()))
}

fn set(text: &mut String, new: Option<String>) {
    if let Some(new) = new {
        *text = new;
    }
}
