//! One traversal for both passes: it opens values (JSON in strings, forms, URLs, percent-encoding, base64) and hands every
//! secret to a [`Sink`]. The learning sink keeps them; the writing sink answers with a placeholder.

use std::{cell::RefCell, collections::BTreeMap, fmt::Write as _};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::Value;

use super::{
    detector::{Why, erratic, is_hex, is_uuid, natural, random, verdict},
    encode::{decode_percent, percent},
    formats,
    keys::{KeyClass, classify},
};

/// Where a value stands; some names mean different things in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    Header,
    Query,
    Form,
    Json,
    /// A leaf of an answer: data, unless its name or its format says otherwise.
    Answer,
}

/// What is done with a secret, and with text that is none by itself.
pub trait Sink {
    /// A secret found under `name`. The answer replaces it.
    fn secret(&mut self, name: &str, value: &str, why: Why) -> Option<String>;
    /// Text in which known secrets may stand. The answer replaces it.
    fn plain(&mut self, text: &str) -> Option<String>;
    /// What was replaced since the last call stands here: `header:NAME`, `query:NAME`, `json:/pointer`, `form:NAME`.
    fn stands_at(&mut self, _place: &str) {}
}

/// What the user and the task say about values.
pub struct Rules {
    allow: Vec<String>,
    /// Lower case. Exempt from the entropy rule alone.
    typed: Vec<String>,
    /// By place, then by name.
    classes: RefCell<BTreeMap<Place, BTreeMap<String, KeyClass>>>,
}

/// How deep containers are opened: JSON in a form in a query is 3.
const MAX_OPEN: u32 = 5;

impl Rules {
    pub fn new<'a>(allow: &[String], typed: impl Iterator<Item = &'a str>) -> Self {
        Self {
            allow: allow.iter().map(|it| it.to_lowercase()).collect(),
            typed: typed.map(str::to_lowercase).filter(|it| it.len() >= 2).collect(),
            classes: RefCell::default(),
        }
    }

    pub fn allowed(&self, key: &str) -> bool {
        !self.allow.is_empty() && self.allow.contains(&key.to_lowercase())
    }

    fn class(&self, key: &str, place: Place) -> KeyClass {
        let mut classes = self.classes.borrow_mut();
        let classes = classes.entry(place).or_default();
        if let Some(class) = classes.get(key) {
            return *class;
        }
        let class = if self.allowed(key) { KeyClass::Harmless } else { classify(key, place) };
        // A hostile answer with a million different keys must not fill the memory.
        if classes.len() < 20_000 {
            classes.insert(key.to_owned(), class);
        }
        class
    }

    fn was_typed(&self, value: &str) -> bool {
        let lower = value.to_lowercase();
        self.typed
            .iter()
            .any(|it| it.contains(&lower) || (lower.contains(it) && it.len() * 2 >= lower.len()))
    }
}

/// A traversal with one sink.
pub struct Walk<'a> {
    pub rules: &'a Rules,
    pub sink: &'a mut dyn Sink,
}

impl Walk<'_> {
    /// One named value. `None`: nothing to replace.
    pub fn leaf(&mut self, key: &str, value: &str, place: Place) -> Option<String> {
        self.open(key, value, place, 0)
    }

    fn open(&mut self, key: &str, value: &str, place: Place, depth: u32) -> Option<String> {
        if value.len() < 4 || value.starts_with("[REDACTED:") {
            return None;
        }
        let class = self.rules.class(key, place);
        if depth < MAX_OPEN
            && let Some(opened) = self.container(key, value, class, place, depth)
        {
            return opened;
        }
        if let Some(why) = verdict(class, value)
            && !(why == Why::Format && self.rules.allowed(key))
            && !(why == Why::Entropy
                && (self.rules.was_typed(value) || (place == Place::Answer && depth > 0)))
        {
            let new = self.sink.secret(key, value, why);
            return new.or_else(|| self.sink.plain(value));
        }
        if value.len() >= 15 && value.contains(char::is_whitespace) {
            return self.text(value, Prose::Spoken);
        }
        self.sink.plain(value)
    }

    /// `Some(answer)` if the value was a container and is thereby dealt with.
    fn container(
        &mut self,
        key: &str,
        value: &str,
        class: KeyClass,
        place: Place,
        depth: u32,
    ) -> Option<Option<String>> {
        let trimmed = value.trim();
        let (first, last) = (trimmed.as_bytes().first()?, trimmed.as_bytes().last()?);
        if matches!((first, last), (b'{', b'}') | (b'[', b']'))
            && let Ok(mut json) = serde_json::from_str::<Value>(trimmed)
        {
            let changed = self.json_at(key, &mut json, place, depth + 1, None);
            return Some(if changed { Some(json.to_string()) } else { self.sink.plain(value) });
        }
        let spaced = value.contains(char::is_whitespace);
        let inner = if place == Place::Answer { place } else { Place::Form };
        let told = matches!(class, KeyClass::Always | KeyClass::Likely | KeyClass::Perhaps);
        // A connection string: `Endpoint=https://…;Secret=…`.
        if value.contains(';')
            && value.find('=').is_some_and(|it| value.find("://").is_none_or(|url| it < url))
            && let Some(new) = self.pairs(value, ';', inner, depth + 1)
            && (new.is_some() || !told)
        {
            return Some(new);
        }
        if !spaced && (value.contains("://") || (*first == b'/' && value.contains(['?', '#', ';'])))
        {
            return Some(self.url(value, place, depth + 1));
        }
        if matches!(class, KeyClass::Always) && !spaced {
            return None;
        }
        if !spaced
            && (!told || value.contains('&'))
            && let Some(form) = self.pairs(value, '&', inner, depth + 1)
        {
            return Some(form);
        }
        if !spaced && value.contains('%') {
            let plain = decode_percent(value);
            if plain != value {
                return self.open(key, &plain, place, depth + 1).map(|new| Some(percent(&new)));
            }
        }
        if let Some(rest) = auth_scheme(value)
            && class != KeyClass::Harmless
        {
            let new = self.sink.secret(key, rest, Why::Key)?;
            return Some(Some(format!("{}{new}", &value[..value.len() - rest.len()])));
        }
        if !spaced
            && value.len() >= 16
            && let Some(inner) = base64_text(value)
        {
            let mut probe = Probe { sink: self.sink, hit: false };
            let mut walk = Walk { rules: self.rules, sink: &mut probe };
            walk.open(key, &inner, place, depth + 1);
            if probe.hit {
                return self.sink.secret(key, value, Why::Container).map(Some);
            }
            // What it holds is plain to see: the entropy rule has no business here.
            return match class {
                KeyClass::Silent | KeyClass::Harmless => Some(self.sink.plain(value)),
                _ => None,
            };
        }
        None
    }

    /// JSON in place. Returns whether anything was replaced.
    pub fn json(&mut self, value: &mut Value, place: Place) -> bool {
        let mut pointer = String::new();
        self.json_at("", value, place, 0, (place == Place::Json).then_some(&mut pointer))
    }

    fn json_at(
        &mut self,
        key: &str,
        value: &mut Value,
        place: Place,
        depth: u32,
        mut pointer: Option<&mut String>,
    ) -> bool {
        let mut changed = false;
        let inner = if place == Place::Answer { place } else { Place::Json };
        match value {
            Value::Object(fields) => {
                // `{"name": "csrf", "value": …}` names its value beside it.
                let named = ["name", "key", "id"]
                    .iter()
                    .find_map(|it| fields.get(*it)?.as_str())
                    .filter(|it| it.len() <= 64 && fields.len() <= 6)
                    .map(str::to_owned);
                let mut renamed = Vec::new();
                for (name, item) in fields.iter_mut() {
                    let under = match &named {
                        Some(named) if name == "value" && item.is_string() => named.as_str(),
                        _ => name.as_str(),
                    };
                    let len = pointer.as_mut().map(|it| push_pointer(it, name));
                    changed |= self.json_at(under, item, inner, depth, pointer.as_deref_mut());
                    if let (Some(len), Some(pointer)) = (len, pointer.as_mut()) {
                        pointer.truncate(len);
                    }
                    if name.len() >= 6
                        && let Some(new) = self.sink.plain(name)
                    {
                        renamed.push((name.clone(), new));
                    }
                }
                changed |= !renamed.is_empty();
                for (old, new) in renamed {
                    if let Some(item) = fields.remove(&old) {
                        fields.insert(new, item);
                    }
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter_mut().enumerate() {
                    let len = pointer.as_mut().map(|it| push_pointer(it, &i.to_string()));
                    changed |= self.json_at(key, item, place, depth, pointer.as_deref_mut());
                    if let (Some(len), Some(pointer)) = (len, pointer.as_mut()) {
                        pointer.truncate(len);
                    }
                }
            }
            Value::String(text) => {
                if let Some(new) = self.open(key, text, place, depth) {
                    *text = new;
                    changed = true;
                    if let Some(pointer) = pointer {
                        self.sink.stands_at(&format!("json:{pointer}"));
                    }
                }
            }
            // `"pin": 492039`: a number is a secret only where the name leaves no doubt.
            Value::Number(number) if self.rules.class(key, inner) == KeyClass::Always => {
                let text = number.to_string();
                if text.len() >= 4
                    && let Some(new) = self.sink.secret(key, &text, Why::Key)
                {
                    *value = Value::String(new);
                    changed = true;
                    if let Some(pointer) = pointer {
                        self.sink.stands_at(&format!("json:{pointer}"));
                    }
                }
            }
            _ => {}
        }
        changed
    }

    /// A URL in a value: user information, path, query and fragment, other bytes untouched.
    fn url(&mut self, text: &str, place: Place, depth: u32) -> Option<String> {
        let (front, fragment) = text.split_once('#').map_or((text, None), |(a, b)| (a, Some(b)));
        let (front, query) = front.split_once('?').map_or((front, None), |(a, b)| (a, Some(b)));
        let mut changed = false;
        let (mut head, path) = match front.find("://") {
            Some(at) => {
                let rest = &front[at + 3..];
                let end = at + 3 + rest.find('/').unwrap_or(rest.len());
                // A password may hold a slash; the last `@` before the host ends it.
                let end = match rest.rfind('@') {
                    Some(last)
                        if at + 3 + last > end
                            && rest[..last].contains(':')
                            && !rest[..last].contains('/') =>
                    {
                        at + 3 + last
                    }
                    _ => end,
                };
                (front[..end].to_owned(), &front[end..])
            }
            None => (String::new(), front),
        };
        if let Some((user, host)) = head.rsplit_once('@')
            && let Some((scheme, rest)) = user.split_once("://")
            && let Some((name, password)) = rest.split_once(':')
            && verdict(KeyClass::Always, password).is_some()
            && let Some(new) = self.sink.secret("password", password, Why::Key)
        {
            head = format!("{scheme}://{name}:{new}@{host}");
            changed = true;
        }
        let new = match path.rsplit_once('/') {
            // Web hooks are addressed by their secret.
            Some((front, last)) if head.contains("://hooks.") && last.len() >= 16 => self
                .sink
                .secret("webhook", last, Why::Key)
                .map(|new| format!("{front}/{}", percent(&new))),
            _ => self.path(path),
        };
        let mut out = head;
        changed |= new.is_some();
        out.push_str(new.as_deref().unwrap_or(path));
        for (mark, part) in [('?', query), ('#', fragment)] {
            let Some(part) = part else { continue };
            let new = self.query_at(
                part,
                if place == Place::Answer { place } else { Place::Query },
                depth,
            );
            changed |= new.is_some();
            let _ = write!(out, "{mark}{}", new.as_deref().unwrap_or(part));
        }
        if changed { Some(out) } else { self.sink.plain(text) }
    }

    /// A URL's path: known values anywhere, credentials by format, and what follows `reset` and the like.
    pub fn path(&mut self, path: &str) -> Option<String> {
        if path.len() < 2 {
            return None;
        }
        let mut out = Vec::new();
        let mut changed = false;
        let mut before = "";
        for segment in path.split('/') {
            let plain = decode_percent(segment);
            let new = if let Some((name, value)) = plain.split_once('=')
                && let Some((_, name)) = name.rsplit_once(';')
                && verdict(classify(name, Place::Query), value).is_some()
            {
                // `;jsessionid=…`
                let new = self.sink.secret(name, value, Why::Key);
                new.map(|new| percent(&plain.replace(value, &new)))
            } else if formats::known(&plain).is_some() {
                self.sink.secret("path", &plain, Why::Format).map(|it| percent(&it))
            } else if GRANTS.contains(&before) && plain.len() >= 16 && looks_issued(&plain) {
                self.sink.secret(before, &plain, Why::Key).map(|it| percent(&it))
            } else {
                None
            };
            let new = new.or_else(|| self.sink.plain(&plain).map(|it| percent(&it)));
            changed |= new.is_some();
            out.push(new.unwrap_or_else(|| segment.to_owned()));
            before = segment;
        }
        changed.then(|| out.join("/"))
    }

    /// A query string or one pair of it.
    pub fn query(&mut self, query: &str) -> Option<String> {
        self.query_at(query, Place::Query, 0)
    }

    /// A query string, byte for byte but for the values that are replaced.
    fn query_at(&mut self, query: &str, place: Place, depth: u32) -> Option<String> {
        self.pairs(query, '&', place, depth).unwrap_or_else(|| {
            let plain = decode_percent(query);
            self.open("", &plain, place, depth + 1).map(|it| percent(&it))
        })
    }

    /// `a=b&c=d`. `None`: it is not that.
    fn pairs(
        &mut self,
        text: &str,
        split: char,
        place: Place,
        depth: u32,
    ) -> Option<Option<String>> {
        let named = |it: &str| {
            it.split_once('=').is_some_and(|(name, value)| {
                (1..=80).contains(&name.len())
                    && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.[]:%$".contains(&b))
                    && !value.trim_matches('=').is_empty()
            })
        };
        let query = matches!(place, Place::Query | Place::Answer);
        if !text.split(split).any(named)
            || (!query && !text.split(split).all(|it| it.is_empty() || it.contains('=')))
        {
            return None;
        }
        let mut changed = false;
        let mut out = Vec::new();
        for pair in text.split(split) {
            let (name, value) = pair.split_once('=').unwrap_or(("", pair));
            let key = decode_form(name);
            let plain = decode_form(value);
            let new = if depth < MAX_OPEN {
                self.open(&key, &plain, place, depth + 1)
            } else {
                self.sink.plain(&plain)
            };
            let renamed = self.sink.plain(&key).map(|it| percent(&it));
            changed |= new.is_some() || renamed.is_some();
            let name = renamed.as_deref().unwrap_or(name);
            out.push(match new {
                Some(new) if name.is_empty() => percent(&new),
                Some(new) => format!("{name}={}", percent(&new)),
                None if renamed.is_some() => format!("{name}={value}"),
                None => pair.to_owned(),
            });
        }
        Some(changed.then(|| out.join(&split.to_string())))
    }

    /// Text in which secrets stand as `name = value` or by their format.
    pub fn text(&mut self, text: &str, prose: Prose) -> Option<String> {
        let mut found: Vec<(&str, &str, Why)> = Vec::new();
        let rules = self.rules;
        let wanted = |key: &str| {
            let class = rules.class(key, Place::Json);
            matches!(class, KeyClass::Always | KeyClass::Likely | KeyClass::Perhaps)
                .then_some(class)
        };
        assignments(text, wanted, |class, key, value, quoted| {
            if in_text(class, value, quoted, prose) && verdict(KeyClass::Always, value).is_some() {
                found.push((key, value, Why::Key));
            }
        });
        formats::in_text(text, |value, _| found.push(("token", value, Why::Format)));
        let mut cuts: Vec<(usize, usize, String)> = Vec::new();
        for (key, value, why) in found {
            if let Some(new) = self.sink.secret(key, value, why) {
                let at = value.as_ptr() as usize - text.as_ptr() as usize;
                cuts.push((at, at + value.len(), new));
            }
        }
        if cuts.is_empty() {
            return self.sink.plain(text);
        }
        cuts.sort();
        let (mut out, mut done) = (String::with_capacity(text.len()), 0);
        for (from, to, new) in cuts.into_iter().filter(|it| it.0 < it.1) {
            if from >= done {
                out.push_str(&text[done..from]);
                out.push_str(&new);
                done = to;
            }
        }
        out.push_str(&text[done..]);
        self.sink.plain(&out).or(Some(out))
    }
}

/// Whether `name = value` in a text gives a secret away. Code says `password: o.password`, and labels say
/// `password: "Wachtwoord"`: there the value has to look random.
fn in_text(class: KeyClass, value: &str, quoted: bool, prose: Prose) -> bool {
    let spaced = value.contains(char::is_whitespace);
    match (class, prose) {
        (KeyClass::Perhaps, _) => quoted && value.len() >= 16 && !spaced && random(value),
        (_, Prose::Code) => {
            quoted
                && value.len() >= 8
                && !spaced
                && erratic(value)
                && (value.len() >= 20 || !value.contains(['.', '/']))
        }
        (_, Prose::Spoken) if quoted => verdict(class, value).is_some(),
        (_, Prose::Spoken) => {
            value.len() >= 8
                && value.bytes().any(|b| b.is_ascii_digit())
                && value.bytes().any(|b| b.is_ascii_alphabetic())
                && verdict(KeyClass::Likely, value).is_some()
        }
    }
}

/// Whether a text was written by people or for machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prose {
    Spoken,
    Code,
}

/// A path segment after one of these is a one-time grant.
const GRANTS: &[&str] = &[
    "reset",
    "password-reset",
    "reset-password",
    "verify",
    "confirm",
    "activate",
    "invite",
    "magic",
    "unsubscribe",
    "token",
];

fn looks_issued(text: &str) -> bool {
    is_hex(text) || is_uuid(text) || erratic(text)
}

/// The credential after `Bearer ` and its like.
pub fn auth_scheme(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once(' ')?;
    let scheme = scheme.trim_end_matches(',').to_ascii_lowercase();
    (matches!(
        scheme.as_str(),
        "bearer" | "basic" | "token" | "jwt" | "apikey" | "splunk" | "negotiate"
    ) && rest.len() >= 8
        && !rest.contains(' ')
        && !natural(rest))
    .then_some(rest)
}

/// `name = value`, `"name": "value"`, `name=value` for wanted names; also where quotes are escaped. Linear: what a wanted
/// name holds is not looked at twice.
fn assignments<'a>(
    text: &'a str,
    wanted: impl Fn(&str) -> Option<KeyClass>,
    mut found: impl FnMut(KeyClass, &'a str, &'a str, bool),
) {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let at = i;
        i += 1;
        if !matches!(bytes[at], b':' | b'=') {
            continue;
        }
        let mut end = at;
        while end > 0 && at - end < 3 && matches!(bytes[end - 1], b' ' | b'"' | b'\'' | b'\\') {
            end -= 1;
        }
        let mut start = end;
        while start > 0
            && end - start < 64
            && (bytes[start - 1].is_ascii_alphanumeric() || matches!(bytes[start - 1], b'_' | b'-'))
        {
            start -= 1;
        }
        let Some(key) = text.get(start..end).filter(|it| it.len() >= 2) else {
            continue;
        };
        let Some(class) = wanted(key) else { continue };
        let mut from = at + 1;
        while from < bytes.len() && from - at < 4 && matches!(bytes[from], b' ' | b'\\') {
            from += 1;
        }
        let Some(&open) = bytes.get(from) else {
            continue;
        };
        let quoted = matches!(open, b'"' | b'\'' | b'`');
        let from = from + usize::from(quoted);
        let until = bytes[from..]
            .iter()
            .take(8192)
            .position(|b| {
                if quoted {
                    *b == open || matches!(b, b'\n' | b'\\')
                } else {
                    b.is_ascii_whitespace() || b"\"'`,;&<>(){}[]".contains(b)
                }
            })
            .map_or_else(|| bytes.len().min(from + 8192), |n| from + n);
        if let Some(value) = text.get(from..until)
            && value.len() >= 4
        {
            found(class, key, value, quoted);
            i = until.max(i);
        }
    }
}

/// Base64 of readable text: whatever it is, it can be looked into.
fn base64_text(value: &str) -> Option<String> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    if value.len() > 1 << 20
        || !value.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/-_=".contains(&b))
    {
        return None;
    }
    let alphabet = if value.contains(['-', '_']) { alphabet::URL_SAFE } else { alphabet::STANDARD };
    let bytes = GeneralPurpose::new(&alphabet, LENIENT).decode(value).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let odd = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    (odd == 0 && text.bytes().filter(u8::is_ascii_graphic).count() * 10 >= text.len() * 8)
        .then_some(text)
}

fn decode_form(text: &str) -> String {
    if text.contains('+') { decode_percent(&text.replace('+', " ")) } else { decode_percent(text) }
}

/// RFC 6901. Returns the length to go back to.
fn push_pointer(pointer: &mut String, key: &str) -> usize {
    let len = pointer.len();
    pointer.push('/');
    pointer.push_str(&key.replace('~', "~0").replace('/', "~1"));
    len
}

/// Notes that something was found, and passes it on so that the inner values are known too.
struct Probe<'a> {
    sink: &'a mut dyn Sink,
    hit: bool,
}

impl Sink for Probe<'_> {
    fn secret(&mut self, name: &str, value: &str, why: Why) -> Option<String> {
        self.hit |= why != Why::Entropy;
        if why == Why::Entropy { None } else { self.sink.secret(name, value, why) }
    }

    fn plain(&mut self, text: &str) -> Option<String> {
        let new = self.sink.plain(text);
        self.hit |= new.is_some();
        new
    }
}
