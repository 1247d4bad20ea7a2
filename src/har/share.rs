//! A HAR made safe to share: the same structure, without secrets and without what is not text.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{MAX_ENTRIES, bytes, entry::text, invalid, read};
use crate::{
    error::Result,
    redact::{Place, Redactor, Removed},
    settings::RedactSettings,
};

/// What was done to a HAR.
#[derive(Debug, Serialize)]
pub struct Report {
    pub entries: usize,
    /// Entries in which something was replaced or dropped.
    pub entries_touched: usize,
    /// Bodies and messages that were no text, and are left out.
    pub bodies_dropped: usize,
    pub bytes_before: usize,
    pub bytes_after: usize,
    pub removed: Removed,
}

/// A HAR file without its secrets, and what was removed. Doing it again changes nothing. Fails with
/// [`Code::HarInvalid`](crate::error::Code::HarInvalid) when the file is too large or no HAR.
pub fn share(bytes: &[u8], settings: &RedactSettings) -> Result<(Vec<u8>, Report)> {
    let text = read(bytes)?;
    // In the file's own order: it is not a payload of ours, and whoever compares the two files sees what changed.
    let mut har: Value = serde_json::from_str(text)
        .map_err(|err| invalid("the HAR file is not JSON").hint("export it again").source(err))?;
    let entries = har.pointer("/log/entries").and_then(Value::as_array).map(Vec::len);
    let entries = entries.ok_or_else(|| {
        invalid("the file is not a HAR: it needs an object `log` with a list `entries`")
    })?;
    if entries > MAX_ENTRIES {
        return Err(invalid("the HAR file has more than 20,000 entries"));
    }
    let mut redactor = Redactor::new(settings);
    Visit { redactor: &mut redactor, writing: false, dropped: 0, touched: 0 }.document(&mut har);
    redactor.write();
    let mut visit = Visit { redactor: &mut redactor, writing: true, dropped: 0, touched: 0 };
    visit.document(&mut har);
    let (bodies_dropped, entries_touched) = (visit.dropped, visit.touched);
    let mut out = serde_json::to_vec_pretty(&har)
        .map_err(|err| invalid("the HAR file cannot be written again").source(err))?;
    out.push(b'\n');
    let report = Report {
        entries,
        entries_touched,
        bodies_dropped,
        bytes_before: bytes.len(),
        bytes_after: out.len(),
        removed: redactor.into_removed(),
    };
    Ok((out, report))
}

/// One pass over every field; the first replaces nothing.
struct Visit<'a> {
    redactor: &'a mut Redactor,
    writing: bool,
    dropped: usize,
    touched: usize,
}

impl Visit<'_> {
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
                    all.iter_mut().filter_map(Value::as_object_mut).for_each(|it| self.sent(it));
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
                ("headers" | "_headers", it) => {
                    self.pairs(it, Redactor::header);
                }
                ("cookies", it) => {
                    self.pairs(it, Redactor::cookie);
                }
                ("queryString", it) => self
                    .pairs(it, |redactor, name, value| redactor.named(name, value, Place::Query)),
                ("postData", Value::Object(it)) => self.content(it, &mime, Place::Json),
                ("content", Value::Object(it)) => self.content(it, &mime, Place::Answer),
                (_, value) => self.other(name, value),
            }
        }
    }

    /// `[{name, value, …}]`, or a map as older tools have it.
    fn pairs(
        &mut self,
        list: &mut Value,
        new: impl Fn(&mut Redactor, &str, &str) -> Option<String>,
    ) {
        match list {
            Value::Array(all) => {
                for item in all.iter_mut().filter_map(Value::as_object_mut) {
                    let name = item.get("name").and_then(Value::as_str).unwrap_or("").to_owned();
                    for (key, value) in item.iter_mut() {
                        match (key.as_str(), value) {
                            ("value", Value::String(it)) => set(it, new(self.redactor, &name, it)),
                            ("value", it) if it.is_number() => {
                                if let Some(new) = new(self.redactor, &name, &it.to_string()) {
                                    *it = Value::String(new);
                                }
                            }
                            ("name", Value::String(it)) => set(it, self.redactor.known(it)),
                            (_, value) => self.other(key, value),
                        }
                    }
                }
            }
            Value::Object(all) => {
                for (name, value) in all.iter_mut() {
                    if let Value::String(it) = value {
                        set(it, new(self.redactor, name, it));
                    }
                }
            }
            _ => {}
        }
    }

    /// `postData` or `content`.
    fn content(&mut self, content: &mut Map<String, Value>, mime: &str, place: Place) {
        let encoded = ["encoding", "_encoding"]
            .iter()
            .any(|it| content.get(*it).and_then(Value::as_str) == Some("base64"));
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
                ("params", it) => {
                    self.pairs(it, |redactor, name, value| {
                        redactor.named(name, value, Place::Form)
                    });
                }
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
    fn sent(&mut self, message: &mut Map<String, Value>) {
        if message.get("opcode").and_then(Value::as_u64) == Some(2) && self.writing {
            self.dropped += usize::from(message.shift_remove("data").is_some());
        }
        for (name, value) in message.iter_mut() {
            match (name.as_str(), value) {
                ("data", Value::String(it)) => set(it, self.redactor.body(it, "", Place::Answer)),
                (_, value) => self.other(name, value),
            }
        }
    }

    /// A field that only some tool knows, or a comment.
    fn other(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::String(it) if name == "comment" => set(it, self.words(it)),
            Value::String(it) => set(it, self.redactor.named(name, it, Place::Json)),
            it => _ = self.redactor.json(it, Place::Json),
        }
    }

    fn words(&mut self, text: &str) -> Option<String> {
        if text.contains("://") && !text.contains(' ') {
            return self.redactor.url(text);
        }
        self.redactor.text(text)
    }
}

fn set(text: &mut String, new: Option<String>) {
    if let Some(new) = new {
        *text = new;
    }
}
