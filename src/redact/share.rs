//! A whole document of another format made safe to share: its owner visits every field twice, first to learn the secrets,
//! then to have them replaced, by the same rules as a recording.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{
    Learner, Writer,
    body::essence,
    detector::Why,
    exchange, keys, markup,
    scan::Prose,
    vault::Vault,
    walk::{Place, Rules, Sink, Walk},
};
use crate::settings::RedactSettings;

/// What was taken out of a document; never the values.
#[derive(Debug, Default, Serialize)]
pub struct Removed {
    /// By reason: `header`, `cookie`, `key`, `format`, `container`, `entropy`, and `known` for what was secret elsewhere.
    pub by_reason: BTreeMap<&'static str, u64>,
    /// By the name in the placeholder, without its number.
    pub by_key: BTreeMap<String, u64>,
}

impl Removed {
    /// How often something was replaced.
    pub fn total(&self) -> u64 {
        self.by_reason.values().sum()
    }

    fn count(&mut self, reason: &'static str, placeholder: &str) {
        *self.by_reason.entry(reason).or_default() += 1;
        let name = placeholder.trim_start_matches("[REDACTED:").trim_end_matches(']');
        let name = name.split('#').next().unwrap_or(name);
        *self.by_key.entry(name.to_owned()).or_default() += 1;
    }
}

/// Every method answers with what replaces its argument; `None`: nothing, as always before [`Redactor::write`].
pub struct Redactor {
    rules: Rules,
    vault: Vault,
    writing: bool,
    removed: Removed,
}

impl Redactor {
    pub fn new(settings: &RedactSettings) -> Self {
        Self {
            rules: Rules::new(&settings.allow, std::iter::empty()),
            vault: Vault::thorough(),
            writing: false,
            removed: Removed::default(),
        }
    }

    /// Ends the first pass.
    pub fn write(&mut self) {
        self.vault.seal(Vec::new());
        self.writing = true;
    }

    pub fn removed(&self) -> &Removed {
        &self.removed
    }

    pub fn into_removed(self) -> Removed {
        self.removed
    }

    fn walk<T>(&mut self, visit: impl FnOnce(&mut Walk<'_>) -> T) -> T {
        let rules = &self.rules;
        if self.writing {
            let mut sink =
                Counting { writer: Writer::new(&mut self.vault), removed: &mut self.removed };
            visit(&mut Walk::new(rules, &mut sink))
        } else {
            visit(&mut Walk::new(rules, &mut Learner(&mut self.vault)))
        }
    }

    pub fn header(&mut self, name: &str, value: &str) -> Option<String> {
        let name = name.to_ascii_lowercase();
        self.walk(|it| exchange::header(&name, value, it))
    }

    /// A cookie's value, whatever it is.
    pub fn cookie(&mut self, name: &str, value: &str) -> Option<String> {
        self.walk(|it| {
            if value.is_empty() || it.rules.allowed(name) {
                return it.sink.plain(value);
            }
            exchange::cookie(name, value, it);
            it.sink.secret(name, value, Why::Cookie)
        })
    }

    /// A named value in a query, a form or JSON.
    pub fn named(&mut self, name: &str, value: &str, place: Place) -> Option<String> {
        self.walk(|it| it.leaf(name, value, place))
    }

    /// An absolute or relative URL; placeholders stand percent-encoded in it.
    pub fn url(&mut self, text: &str) -> Option<String> {
        self.walk(|it| it.link(text))
    }

    /// Words of a person or a program.
    pub fn text(&mut self, text: &str) -> Option<String> {
        self.walk(|it| it.text(text, Prose::Spoken))
    }

    /// Words of which each may be a secret by itself.
    pub fn words(&mut self, text: &str) -> Option<String> {
        let out = self.text(text);
        let now = out.as_deref().unwrap_or(text);
        let mut changed = false;
        let words = now.split(' ').map(|it| {
            // What has a name was judged under it.
            let new = if it.contains('=') { None } else { self.named("", it, Place::Json) };
            changed |= new.is_some();
            new.unwrap_or_else(|| it.to_owned())
        });
        let joined = words.collect::<Vec<_>>().join(" ");
        if changed { Some(joined) } else { out }
    }

    /// A message of a web socket: a body, or a command such as `AUTH …`.
    pub fn message(&mut self, text: &str) -> Option<String> {
        if let Some((verb, rest)) = text.split_once(char::is_whitespace)
            && VERBS.iter().any(|it| verb.eq_ignore_ascii_case(it))
            && !rest.contains(['{', '['])
        {
            return self.words_under("token", text, verb.len());
        }
        self.body(text, "text/plain", Place::Answer)
    }

    fn words_under(&mut self, name: &str, text: &str, from: usize) -> Option<String> {
        let new: String = text[from..]
            .split_inclusive(char::is_whitespace)
            .map(|it| {
                let word = it.trim_end();
                let new = self.named(name, word, Place::Form);
                new.map_or_else(|| it.to_owned(), |new| it.replacen(word, &new, 1))
            })
            .collect();
        (new != text[from..]).then(|| format!("{}{new}", &text[..from]))
    }

    /// JSON in place, each string by the key it stands under. Returns whether anything was replaced.
    pub fn json(&mut self, value: &mut Value, place: Place) -> bool {
        self.walk(|it| it.json(value, place))
    }

    /// Known secrets and nothing else.
    pub fn known(&mut self, text: &str) -> Option<String> {
        self.walk(|it| it.sink.plain(text))
    }

    /// A body that is text. JSON is written anew where something in it was replaced; everything else keeps its bytes around
    /// the placeholders.
    pub fn body(&mut self, text: &str, mime: &str, place: Place) -> Option<String> {
        let kind = essence(mime);
        if let Some(new) = self.framed(text, place) {
            return new;
        }
        if kind.starts_with("multipart/") {
            return self.multipart(text, mime);
        }
        if kind == "application/x-www-form-urlencoded" {
            return self.walk(|it| it.query(text));
        }
        if ["event-stream", "ndjson", "jsonl", "json-seq"].iter().any(|it| kind.contains(it)) {
            return self.lines(text, place);
        }
        let prose = if kind == "text/plain" { Prose::Spoken } else { Prose::Code };
        let html = kind.contains("html") || kind.contains("xml");
        self.walk(|it| {
            let mut out = if html { markup_values(text, it) } else { None };
            if html && text.contains("&quot;") {
                it.text(&markup::entities(text), prose);
            }
            let new = it.text(out.as_deref().unwrap_or(text), prose);
            out = new.or(out);
            out
        })
    }

    /// JSON, also after a guard such as `)]}'` or inside a JSONP call.
    #[expect(
        clippy::option_option,
        reason = "the outer says whether it is one, the inner what replaces it"
    )]
    fn framed(&mut self, text: &str, place: Place) -> Option<Option<String>> {
        let (from, to) = (text.find(['{', '['])?, text.rfind(['}', ']'])? + 1);
        if from >= to || from > 256 || text.len() - to > 64 {
            return None;
        }
        // The file's own order is kept: this is no payload of ours.
        let mut value: Value = serde_json::from_str(&text[from..to]).ok()?;
        if !self.json(&mut value, place) {
            return Some(self.known(text));
        }
        Some(Some(format!("{}{value}{}", &text[..from], &text[to..])))
    }

    fn lines(&mut self, text: &str, place: Place) -> Option<String> {
        let mut changed = false;
        let mut out = Vec::new();
        for line in text.split('\n') {
            let new = match self.framed(line, place) {
                Some(new) => new,
                None => self.text(line),
            };
            changed |= new.is_some();
            out.push(new.unwrap_or_else(|| line.to_owned()));
        }
        changed.then(|| out.join("\n"))
    }

    /// Fields by their names; what was a file is left out.
    fn multipart(&mut self, text: &str, mime: &str) -> Option<String> {
        let boundary = mime.split_once("boundary=")?.1.split(';').next()?.trim_matches('"');
        if boundary.is_empty() {
            return self.text(text);
        }
        let open = format!("--{boundary}");
        let mut changed = false;
        let mut out = Vec::new();
        for part in text.split(&open) {
            let value = part.split_once("\r\n\r\n").map(|it| it.1.trim_end_matches("\r\n"));
            let name =
                part.split_once("name=\"").and_then(|it| it.1.split_once('"')).map(|it| it.0);
            let new = match (name, value) {
                (Some(_), Some(value)) if part.contains("filename=\"") && !value.is_empty() => {
                    self.writing.then(|| part.replace(value, ""))
                }
                (Some(name), Some(value)) => self
                    .named(name, value, Place::Form)
                    .map(|new| part.replacen(value, &new, if value == name { 2 } else { 1 })),
                _ => self.text(part),
            };
            changed |= new.is_some();
            out.push(new.unwrap_or_else(|| part.to_owned()));
        }
        changed.then(|| out.join(&open))
    }
}

/// Values of `<meta>` and `<input>` whose names say that they are secret, where they stand in quotes.
fn markup_values(text: &str, walk: &mut Walk<'_>) -> Option<String> {
    let mut found = Vec::new();
    markup::named_values(text, |_, name, value| {
        if keys::classify(name, Place::Json) != keys::KeyClass::Harmless {
            found.push((name.to_owned(), value.to_owned()));
        }
    });
    let mut out: Option<String> = None;
    for (name, value) in found {
        let Some(new) = walk.leaf(&name, &value, Place::Json).filter(|_| value.len() >= 3) else {
            continue;
        };
        let now = out.as_deref().unwrap_or(text);
        let replaced = ['"', '\''].iter().fold(now.to_owned(), |it, quote| {
            it.replace(&format!("{quote}{value}{quote}"), &format!("{quote}{new}{quote}"))
        });
        out = Some(replaced);
    }
    out
}

/// What a message begins with that logs in.
const VERBS: &[&str] = &[
    "auth",
    "authenticate",
    "authorization",
    "bearer",
    "token",
    "login",
    "pass",
    "password",
    "identify",
];

/// Counts what is replaced on its way to the writer.
struct Counting<'a> {
    writer: Writer<'a>,
    removed: &'a mut Removed,
}

impl Sink for Counting<'_> {
    fn secret(&mut self, name: &str, value: &str, why: Why) -> Option<String> {
        let placeholder = self.writer.secret(name, value, why)?;
        let reason = match why {
            Why::Password => "password",
            Why::Header => "header",
            Why::Cookie => "cookie",
            Why::Key => "key",
            Why::Format => "format",
            Why::Container => "container",
            Why::Entropy => "entropy",
        };
        self.removed.count(reason, &placeholder);
        Some(placeholder)
    }

    fn plain(&mut self, text: &str) -> Option<String> {
        self.writer.forget();
        let new = self.writer.plain(text)?;
        for placeholder in &self.writer.used {
            self.removed.count("known", placeholder);
        }
        Some(new)
    }
}
