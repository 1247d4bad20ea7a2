//! A whole document of another format made safe to share: its owner visits every field twice, first to learn the secrets,
//! then to have them replaced, by the same rules as a recording.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::{
    Learner, Writer,
    body::{boundary, disposition, essence, head_of},
    class::{Place, SecretReason},
    exchange, markup,
    placeholders::SecretIndex,
    rules::{RedactRules, SecretSink, Walk},
    text_kind::TextKind,
    walk::mark,
};
use commis_base::settings::RedactSettings;

/// What was taken out of a document; never the values.
#[derive(Debug, Default, Serialize)]
pub struct RemovalCounts {
    /// By reason: `header`, `cookie`, `key`, `format`, `container`, `entropy`, and `known` for what was secret elsewhere.
    pub by_reason: BTreeMap<&'static str, u64>,
    /// By the name in the placeholder, without its number.
    pub by_key: BTreeMap<String, u64>,
}

impl RemovalCounts {
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
    rules: RedactRules,
    vault: SecretIndex,
    writing: bool,
    removed: RemovalCounts,
    /// Marks of the texts of answers in which the first pass found a secret: in others there are only known ones.
    suspects: BTreeSet<u64>,
}

impl Redactor {
    pub fn new(settings: &RedactSettings) -> Self {
        Self {
            rules: RedactRules::new(&settings.allow, std::iter::empty()),
            vault: SecretIndex::thorough(),
            writing: false,
            removed: RemovalCounts::default(),
            suspects: BTreeSet::new(),
        }
    }

    /// Ends the first pass.
    pub fn write(&mut self) {
        self.vault.seal(Vec::new());
        self.writing = true;
    }

    /// Makes a value that was typed into a password field a secret wherever it stands.
    pub fn add_password(&mut self, value: &str) {
        self.vault.learn("password", value, SecretReason::Password);
    }

    pub fn removed(&self) -> &RemovalCounts {
        &self.removed
    }

    pub fn into_removed(self) -> RemovalCounts {
        self.removed
    }

    fn walk<T>(&mut self, visit: impl FnOnce(&mut Walk<'_>) -> T) -> T {
        let rules = &self.rules;
        if self.writing {
            let mut sink =
                CountingSink { writer: Writer::new(&mut self.vault), removed: &mut self.removed };
            visit(&mut Walk::new(rules, &mut sink))
        } else {
            visit(&mut Walk::new(rules, &mut Learner(&mut self.vault)))
        }
    }

    pub fn header(&mut self, name: &str, value: &str) -> Option<String> {
        let name = name.to_ascii_lowercase();
        self.walk(|it| exchange::header(&name, value, it))
    }

    /// A header's name.
    pub fn header_name(&mut self, name: &str) -> Option<String> {
        self.walk(|it| exchange::header_name(name, it).or_else(|| it.name(name)))
    }

    /// A cookie's value, whatever it is.
    pub fn cookie(&mut self, name: &str, value: &str) -> Option<String> {
        self.walk(|it| {
            if value.is_empty() || it.rules.is_allowed(name) {
                return it.sink.replace_known(value);
            }
            exchange::cookie(name, value, it);
            it.sink.secret(name, value, SecretReason::Cookie)
        })
    }

    /// A named value in a query, a form or JSON.
    pub fn redact_named(&mut self, name: &str, value: &str, place: Place) -> Option<String> {
        self.walk(|it| it.leaf(name, value, place))
    }

    /// An absolute or relative URL; placeholders stand percent-encoded in it.
    pub fn url(&mut self, text: &str) -> Option<String> {
        self.walk(|it| it.link(text))
    }

    /// Words of a person or a program.
    pub fn text(&mut self, text: &str) -> Option<String> {
        self.walk(|it| it.text(text, TextKind::Spoken))
    }

    /// Words of which each may be a secret by itself.
    pub fn words(&mut self, text: &str) -> Option<String> {
        let out = self.text(text);
        let now = out.as_deref().unwrap_or(text);
        let mut changed = false;
        let words = now.split(' ').map(|it| {
            // What has a name was judged under it.
            let new = if it.contains('=') { None } else { self.redact_named("", it, Place::Json) };
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
                let new = self.redact_named(name, word, Place::Form);
                new.map_or_else(|| it.to_owned(), |new| it.replacen(word, &new, 1))
            })
            .collect();
        (new != text[from..]).then(|| format!("{}{new}", &text[..from]))
    }

    /// JSON in place, each string by the key it stands under. Returns whether anything was replaced.
    pub fn json(&mut self, value: &mut Value, place: Place) -> bool {
        if place != Place::Answer {
            return self.walk(|it| it.json(value, place));
        }
        if !self.writing {
            let mut sink = LearningSink {
                learner: Learner(&mut self.vault),
                suspects: &mut self.suspects,
                found: false,
            };
            return Walk::new(&self.rules, &mut sink).json(value, place);
        }
        let suspects = std::mem::take(&mut self.suspects);
        let (changed, suspects) = self.walk(|it| {
            it.judged = Some(suspects);
            (it.json(value, place), it.judged.take())
        });
        self.suspects = suspects.unwrap_or_default();
        changed
    }

    /// A name in a query or a form.
    pub fn name(&mut self, name: &str) -> Option<String> {
        self.walk(|it| it.name(name))
    }

    /// Known secrets and nothing else.
    pub fn redact_known(&mut self, text: &str) -> Option<String> {
        self.walk(|it| it.sink.replace_known(text))
    }

    /// A body that is text. JSON is written anew where something in it was replaced; everything else keeps its bytes around
    /// the placeholders.
    pub fn body(&mut self, text: &str, mime: &str, place: Place) -> Option<String> {
        let kind = essence(mime);
        if kind.starts_with("multipart/") {
            return self.multipart(text, mime);
        }
        let start = text.trim_start_matches('\u{feff}').trim_start();
        let html = start.starts_with('<')
            || (kind.contains("html") || kind.contains("xml")) && !start.starts_with(['{', '[']);
        if html {
            return self.page(text, place);
        }
        if let Some(new) = self.framed(text, place) {
            return new;
        }
        if kind == "application/x-www-form-urlencoded" {
            return self.walk(|it| it.query(text));
        }
        if place != Place::Answer {
            return self.redact_named("", text, Place::Form);
        }
        match TextKind::detect(text, &kind) {
            TextKind::Code => self.walk(|it| it.text(text, TextKind::Code)),
            prose => self.walk(|it| it.lines(text, prose)),
        }
    }

    /// A page: its text, its fields, and JSON where a script is nothing else.
    fn page(&mut self, text: &str, place: Place) -> Option<String> {
        let mut out = String::new();
        let mut done = 0;
        for (from, to) in markup::scripts(text) {
            if let Some(Some(new)) = self.framed(&text[from..to], place) {
                out.push_str(&text[done..from]);
                out.push_str(&new);
                done = to;
            }
        }
        let out = (done > 0).then(|| out + &text[done..]);
        let now = out.as_deref().unwrap_or(text);
        self.walk(|it| {
            // JSON in an attribute.
            if text.contains("&quot;") || text.contains("&#34;") || text.contains("&#x22;") {
                it.text(&markup::entities(text), TextKind::Code);
            }
            it.markup(now)
        })
        .or(out)
    }

    /// JSON, also after a guard such as `)]}'` or inside a JSONP call. What stands around it is text.
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
        // "Your code is [123456].": a number in brackets is a word of the text around it.
        let holds_data = |it: &Value| it.is_object() || it.is_array();
        if text[..from].contains(char::is_alphabetic)
            && value.as_array().is_some_and(|all| !all.iter().any(holds_data))
        {
            return None;
        }
        let [front, back] = [&text[..from], &text[to..]].map(|it| (it, self.text(it)));
        let changed = self.json(&mut value, place);
        if !changed && front.1.is_none() && back.1.is_none() {
            return Some(self.redact_known(text));
        }
        let [front, back] = [front, back].map(|(old, new)| new.unwrap_or_else(|| old.to_owned()));
        let inside = if changed { value.to_string() } else { text[from..to].to_owned() };
        Some(Some(format!("{front}{inside}{back}")))
    }

    /// Fields by their names; what was a file is left out.
    fn multipart(&mut self, text: &str, mime: &str) -> Option<String> {
        let Some(boundary) = boundary(mime, text) else { return self.text(text) };
        let open = format!("--{boundary}");
        let mut changed = false;
        let mut out = Vec::new();
        for part in text.split(&open) {
            let (head, rest) = head_of(part).unwrap_or(("", part));
            let value = rest.trim_end_matches(['\r', '\n']);
            let end = &rest[value.len()..];
            let new = match disposition(head, "name") {
                Some(_) if disposition(head, "filename").is_some() && !value.is_empty() => {
                    self.writing.then(|| format!("{head}{end}"))
                }
                Some(name) => {
                    let told = self.text(head);
                    let new = self.redact_named(&name, value, Place::Form);
                    (told.is_some() || new.is_some()).then(|| {
                        let head = told.as_deref().unwrap_or(head);
                        format!("{head}{}{end}", new.as_deref().unwrap_or(value))
                    })
                }
                None => self.text(part),
            };
            changed |= new.is_some();
            out.push(new.unwrap_or_else(|| part.to_owned()));
        }
        changed.then(|| out.join(&open))
    }
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

/// Learns, and notes in which texts there was something.
struct LearningSink<'a> {
    learner: Learner<'a>,
    suspects: &'a mut BTreeSet<u64>,
    found: bool,
}

impl SecretSink for LearningSink<'_> {
    fn secret(&mut self, name: &str, value: &str, why: SecretReason) -> Option<String> {
        self.found = true;
        self.learner.secret(name, value, why)
    }

    fn replace_known(&mut self, text: &str) -> Option<String> {
        self.learner.replace_known(text)
    }

    fn identifier(&mut self, value: &str) {
        self.learner.identifier(value);
    }

    fn finish_value(&mut self, value: &str) -> bool {
        let found = std::mem::take(&mut self.found);
        if found {
            self.suspects.insert(mark(value));
        }
        found
    }
}

/// Counts what is replaced on its way to the writer.
struct CountingSink<'a> {
    writer: Writer<'a>,
    removed: &'a mut RemovalCounts,
}

impl SecretSink for CountingSink<'_> {
    fn secret(&mut self, name: &str, value: &str, why: SecretReason) -> Option<String> {
        let placeholder = self.writer.secret(name, value, why)?;
        let reason = match why {
            SecretReason::Password => "password",
            SecretReason::Header => "header",
            SecretReason::Cookie => "cookie",
            SecretReason::Key => "key",
            SecretReason::Format => "format",
            SecretReason::Context => "context",
            SecretReason::Container => "container",
            SecretReason::Entropy => "entropy",
        };
        self.removed.count(reason, &placeholder);
        Some(placeholder)
    }

    fn replace_known(&mut self, text: &str) -> Option<String> {
        self.writer.forget();
        let new = self.writer.replace_known(text)?;
        for placeholder in &self.writer.used {
            self.removed.count("known", placeholder);
        }
        Some(new)
    }
}
