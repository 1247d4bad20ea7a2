//! One traversal for both passes: it opens values (JSON in strings, forms, URLs, percent-encoding, base64) and hands every
//! secret to a [`SecretSink`]. The learning sink keeps them; the writing sink answers with a placeholder.

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::{
    KeyClass, Place, TextKind, Walk,
    byte_classes::ByteKinds,
    cache::Memo,
    class::SecretReason,
    detector::{verdict, verdict_of},
    encode::{decode_percent, percent},
    fields::{
        answer_class, are_pairs, bytes_of, has_numbered_keys, is_jwk, is_numbered_key, sibling_name,
    },
    formats, is_placeholder, rpc_arguments,
    rules::{MAX_OPEN, SecretSink},
    scan::{TextContext, auth_scheme, base64_text},
    text_kind::is_tagged,
    urls::PartReplacer,
    value_flags::{is_flagged, is_flagged_value, is_row_of_texts, table},
};

/// Tells texts apart well enough: those with one mark are all looked at again.
pub fn mark(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let edge = |it: &[u8]| it.iter().fold(0, |all: u64, b| all << 8 | u64::from(*b));
    let (first, last) = (&bytes[..bytes.len().min(8)], &bytes[bytes.len().saturating_sub(8)..]);
    edge(first).rotate_left(17) ^ edge(last) ^ (bytes.len() as u64) << 40
}

/// Whether a value may be a container other than base64.
fn may_open(value: &str, bytes: ByteKinds) -> bool {
    bytes.any(ByteKinds::OPENS | ByteKinds::PERCENT)
        || bytes.any(ByteKinds::EQUALS) && value.trim_end_matches('=').contains('=')
        || bytes.any(ByteKinds::SLASH)
            && (value.starts_with('/') || bytes.any(ByteKinds::COLON) && value.contains("://"))
}

/// Whether a value of an answer is too short for every rule: it opens nothing, and its key claims nothing.
fn is_plain(key: &str, value: &str, bytes: ByteKinds, class: KeyClass) -> bool {
    const MAY_OPEN: u16 = ByteKinds::SPACE
        | ByteKinds::WIDE
        | ByteKinds::OPENS
        | ByteKinds::PERCENT
        | ByteKinds::EQUALS
        | ByteKinds::SLASH
        | ByteKinds::SEMICOLON;
    value.len() < 15
        && matches!(class, KeyClass::Silent | KeyClass::Harmless)
        && !bytes.any(MAY_OPEN)
        && !key.ends_with(['_', '-'])
}

/// Whether four digits stand in a text at least, as a code has them.
fn has_code(value: &str) -> bool {
    value.bytes().filter(u8::is_ascii_digit).take(4).count() == 4
}

impl Walk<'_> {
    /// One named value. `None`: nothing to replace.
    pub fn leaf(&mut self, key: &str, value: &str, place: Place) -> Option<String> {
        self.open(key, value, place, 0)
    }

    pub fn open(&mut self, key: &str, value: &str, place: Place, depth: u32) -> Option<String> {
        if value.len() < 3 {
            return None;
        }
        let bytes = ByteKinds::from_text(value);
        if bytes.any(ByteKinds::OPENS) && is_placeholder(value) {
            return self.sink.replace_known(value);
        }
        if depth == 0
            && let Some(suspects) = &self.judged
            && !may_open(value, bytes)
            && !suspects.contains(&mark(value))
            && (bytes.any(ByteKinds::NO_BASE64) || value.len() < 16 || base64_text(value).is_none())
        {
            return self.sink.replace_known(value);
        }
        let class = self.rules.class(key, place);
        if place == Place::Answer && is_plain(key, value, bytes, class) {
            return self.sink.replace_known(value);
        }
        if class == KeyClass::Harmless
            && place != Place::Answer
            && place != Place::Header
            && (16..=64).contains(&value.len())
        {
            self.sink.identifier(value);
        }
        if depth < MAX_OPEN
            && let Some(opened) = self.container(key, value, bytes, class, place, depth)
        {
            // Known values may stand between the parts, too.
            return opened.map(|it| self.sink.replace_known(&it).unwrap_or(it));
        }
        let class = if place == Place::Answer { answer_class(class, key, value) } else { class };
        // Where a key was cut behind its prefix: `sbp_ = 0f1e…`.
        let cut =
            key.ends_with(['_', '-']) && formats::known_format(&format!("{key}{value}")).is_some();
        if let Some(why) = verdict_of(class, value, bytes).or(cut.then_some(SecretReason::Format))
            && !(why == SecretReason::Format && self.rules.allowed(key))
            && !(why == SecretReason::Entropy
                && (self.rules.was_typed(value) || (place == Place::Answer && depth > 0)))
        {
            let new = self.sink.secret(key, value, why);
            return new.or_else(|| self.sink.replace_known(value));
        }
        // As `curl -u` takes it.
        if place != Place::Answer
            && self.rules.class(key, place) == KeyClass::Silent
            && key.to_ascii_lowercase().ends_with("user")
            && !value.contains(char::is_whitespace)
            && let Some((_, password)) = value.split_once(':')
            && password.len() >= 6
            && !password.starts_with('/')
            && let Some(new) = self.sink.secret(key, value, SecretReason::Key)
        {
            return Some(new);
        }
        let marked = bytes.any(ByteKinds::QUOTE | ByteKinds::ANGLE)
            || bytes.any(ByteKinds::OPENS) && value.contains('{');
        // `PIN: 4821`, `验证码：482913`
        let is_short = value.len() >= 8
            && bytes.any(ByteKinds::DIGIT)
            && (bytes.any(ByteKinds::WIDE) || bytes.spaced(value))
            && has_code(value);
        let is_network = value.starts_with("WIFI:");
        if value.len() >= 15 && (marked || bytes.spaced(value) || is_network) || is_short {
            let tagged = bytes.any(ByteKinds::ANGLE) && is_tagged(value);
            let prose = if tagged { TextKind::Markup } else { TextKind::Spoken };
            let lined = !tagged && value.contains('\n');
            let kind = TextContext { prose, place, depth, lined, every: false };
            return self.text_of(value, bytes, kind);
        }
        self.sink.replace_known(value)
    }

    /// Whether a secret stands in a value that is opened; what only looks random is none there.
    pub fn holds_secret(&mut self, key: &str, value: &str, depth: u32) -> bool {
        let mut probe = ProbeSink { sink: self.sink, hit: false };
        Walk::new(self.rules, &mut probe).open(key, value, Place::Answer, depth);
        probe.hit
    }

    /// `Some(answer)` if the value was a container and is thereby dealt with.
    #[expect(
        clippy::option_option,
        reason = "the outer says whether it is one, the inner what replaces it"
    )]
    fn container(
        &mut self,
        key: &str,
        value: &str,
        bytes: ByteKinds,
        class: KeyClass,
        place: Place,
        depth: u32,
    ) -> Option<Option<String>> {
        let trimmed = value.trim();
        let (first, last) = (trimmed.as_bytes().first()?, trimmed.as_bytes().last()?);
        if bytes.any(ByteKinds::OPENS)
            && matches!((first, last), (b'{', b'}') | (b'[', b']'))
            && let Ok(mut json) =
                serde_json::from_str(trimmed).map(commis_recipe::shape::with_sorted_keys)
        {
            let changed = self.json_at(key, &mut json, place, depth + 1, None);
            return Some(if changed {
                Some(json.to_string())
            } else {
                self.sink.replace_known(value)
            });
        }
        if bytes.any(ByteKinds::BAR)
            && first.is_ascii_digit()
            && let Some(found) = rpc_arguments::in_gwt(value).filter(|it| !it.is_empty())
        {
            let found = found.into_iter().map(|it| ("password", it, SecretReason::Key)).collect();
            return Some(self.replace(value, found, Vec::new()));
        }
        let spaced = bytes.spaced(value);
        // JDBC addresses of SQL Server and Hive have their properties behind semicolons.
        if bytes.any(ByteKinds::SEMICOLON)
            && value.starts_with("jdbc:")
            && let Some(new @ Some(_)) = self.pairs(value, ';', Place::Query, depth + 1)
        {
            return Some(new);
        }
        let inner = if place == Place::Answer { place } else { Place::Form };
        let told = matches!(
            class,
            KeyClass::Always | KeyClass::Code | KeyClass::Likely | KeyClass::Perhaps
        );
        // A connection string: `Endpoint=https://…;Secret=…`.
        if bytes.any(ByteKinds::SEMICOLON)
            && bytes.any(ByteKinds::EQUALS)
            && value.find('=').is_some_and(|it| value.find("://").is_none_or(|url| it < url))
            && let Some(new) = self.pairs(value, ';', inner, depth + 1)
            && (new.is_some() || !told)
        {
            return Some(new);
        }
        if !spaced
            && bytes.any(ByteKinds::SLASH)
            && (bytes.any(ByteKinds::COLON) && value.contains("://")
                || (*first == b'/' && value.contains(['?', '#', ';'])))
        {
            return Some(self.url(value, place, depth + 1));
        }
        if matches!(class, KeyClass::Always) && !spaced {
            return None;
        }
        if !spaced
            && bytes.any(ByteKinds::EQUALS)
            && (!told || value.contains('&'))
            && let Some(form) = self.pairs(value, '&', inner, depth + 1)
        {
            return Some(form);
        }
        if !spaced && bytes.any(ByteKinds::PERCENT) {
            // Encoded again and again: one container, however often.
            let mut plain = decode_percent(value);
            let mut times = usize::from(plain != value);
            while times > 0 && times < 5 && plain.contains('%') {
                let Some(next) = Some(decode_percent(&plain)).filter(|it| *it != plain) else {
                    break;
                };
                plain = next.into_owned().into();
                times += 1;
            }
            if times > 0 {
                let new = self.open(key, &plain, place, depth + 1);
                return new.map(|new| Some((0..times).fold(new, |it, _| percent(&it))));
            }
        }
        // A page as text of a page: `&lt;input type=&quot;password&quot; …`.
        if bytes.any(ByteKinds::SEMICOLON)
            && first == &b'&'
            && value.contains("&lt;")
            && value.len() <= 256 * 1024
        {
            let plain = super::markup::entities(value);
            if plain != value
                && is_tagged(&plain)
                && let Some(new) = self.open(key, &plain, place, depth + 1)
            {
                let new = new.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                return Some(Some(new.replace('"', "&quot;")));
            }
        }
        // A document as an address: `data:application/json;base64,…`.
        if !spaced
            && bytes.any(ByteKinds::SEMICOLON)
            && let Some((_, body)) = value
                .split_once(";base64,")
                .filter(|it| is_textual(it.0))
                .filter(|it| it.1.len() >= 16)
            && let Some(inner) = base64_text(body)
        {
            let mut probe = ProbeSink { sink: self.sink, hit: false };
            Walk::new(self.rules, &mut probe).open(key, &inner, place, depth + 1);
            if probe.hit {
                return self.sink.secret(key, value, SecretReason::Container).map(Some);
            }
        }
        // JSON written in hexadecimal, or as text of a page within text of a page.
        let inner = if !spaced && value.len() >= 40 && value.starts_with("7b22") {
            hex_text(value)
        } else if value.contains("quot;") && first == &b'{' {
            let once = super::markup::entities(value);
            Some(super::markup::entities(&once))
        } else {
            None
        };
        if let Some(inner) = inner.filter(|it| it != value) {
            let mut probe = ProbeSink { sink: self.sink, hit: false };
            Walk::new(self.rules, &mut probe).open(key, &inner, place, depth + 1);
            if probe.hit {
                return self.sink.secret(key, value, SecretReason::Container).map(Some);
            }
        }
        if spaced
            && let Some(rest) = auth_scheme(value)
            && class != KeyClass::Harmless
        {
            let new = self.sink.secret(key, rest, SecretReason::Key)?;
            return Some(Some(format!("{}{new}", &value[..value.len() - rest.len()])));
        }
        if !spaced
            && value.len() >= 16
            && !bytes.any(ByteKinds::NO_BASE64)
            && let Some(inner) = base64_text(value)
        {
            let mut probe = ProbeSink { sink: self.sink, hit: false };
            let mut walk = Walk::new(self.rules, &mut probe);
            walk.open(key, &inner, place, depth + 1);
            if probe.hit {
                return self.sink.secret(key, value, SecretReason::Container).map(Some);
            }
            // What it holds is plain to see: the entropy rule has no business here.
            return match class {
                KeyClass::Silent | KeyClass::Harmless => Some(self.sink.replace_known(value)),
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

    pub fn json_at(
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
                let named = sibling_name(fields).map(str::to_owned);
                let call = rpc_arguments::arguments(fields).map(|it| (it.0, it.1.to_owned()));
                let is_jwk = is_jwk(fields);
                let numbered = has_numbered_keys(fields);
                let flagged = is_flagged(fields);
                let table = table(fields).map(|(heads, rows)| {
                    (heads.into_iter().map(str::to_owned).collect::<Vec<_>>(), rows.to_owned())
                });
                let mut renamed = Vec::new();
                for (name, item) in fields.iter_mut() {
                    let under = self.under(key, named.as_deref(), name, item, is_jwk, inner);
                    let under = if numbered && is_numbered_key(name) {
                        NUMBERED
                    } else if flagged && item.is_string() && is_flagged_value(name) {
                        FLAGGED
                    } else {
                        &*under
                    };
                    let len = pointer.as_mut().map(|it| push_pointer(it, name));
                    if let Some((heads, rows)) = &table
                        && rows == name
                        && let Value::Array(rows) = item
                    {
                        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
                        for (i, row) in rows.iter_mut().enumerate() {
                            let cells = row.as_array_mut().into_iter().flatten();
                            for (column, it) in cells.enumerate() {
                                let under = self.head(&heads, column, under, inner);
                                let len = pointer.as_mut().map(|it| {
                                    let len = push_pointer(it, &i.to_string());
                                    push_pointer(it, &column.to_string());
                                    len
                                });
                                changed |=
                                    self.json_at(under, it, inner, depth, pointer.as_deref_mut());
                                if let (Some(len), Some(pointer)) = (len, pointer.as_mut()) {
                                    pointer.truncate(len);
                                }
                            }
                        }
                    } else if let Some((list, method)) = &call
                        && list == name
                        && let Value::Array(given) = item
                    {
                        for (i, it) in given.iter_mut().enumerate() {
                            let under = argument(method, i, it, under);
                            let len = pointer.as_mut().map(|it| push_pointer(it, &i.to_string()));
                            changed |=
                                self.json_at(under, it, inner, depth, pointer.as_deref_mut());
                            if let (Some(len), Some(pointer)) = (len, pointer.as_mut()) {
                                pointer.truncate(len);
                            }
                        }
                    } else {
                        changed |= self.json_at(under, item, inner, depth, pointer.as_deref_mut());
                    }
                    if let (Some(len), Some(pointer)) = (len, pointer.as_mut()) {
                        pointer.truncate(len);
                    }
                    if let Some(new) = self.name(name) {
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
                if let Some(new) = bytes_of(items).and_then(|it| self.sink.replace_known(&it)) {
                    *value = Value::String(new);
                    if let Some(pointer) = pointer {
                        self.sink.stands_at(&format!("json:{pointer}"));
                    }
                    return true;
                }
                let pairs = are_pairs(items);
                let named: Vec<Option<String>> = if is_row_of_texts(items) {
                    let named = |at| self.named_before(items, at, inner).map(str::to_owned);
                    (0..items.len()).map(named).collect()
                } else {
                    Vec::new()
                };
                for (i, item) in items.iter_mut().enumerate() {
                    let len = pointer.as_mut().map(|it| push_pointer(it, &i.to_string()));
                    if (pairs || self.is_told_pair(item, inner))
                        && let Value::Array(pair) = item
                        && let [Value::String(name), value] = &mut pair[..]
                    {
                        let len = pointer.as_mut().map(|it| push_pointer(it, "1"));
                        changed |= self.json_at(name, value, inner, depth, pointer.as_deref_mut());
                        if let (Some(len), Some(pointer)) = (len, pointer.as_mut()) {
                            pointer.truncate(len);
                        }
                        if let Some(new) = self.name(name) {
                            *name = new;
                            changed = true;
                        }
                    } else {
                        let before = named.get(i).and_then(Option::as_deref);
                        let key = before.unwrap_or(key);
                        changed |= self.json_at(key, item, place, depth, pointer.as_deref_mut());
                    }
                    if let (Some(len), Some(pointer)) = (len, pointer.as_mut()) {
                        pointer.truncate(len);
                    }
                }
            }
            Value::String(text) => {
                let new = self.open(key, text, place, depth);
                if depth == 0 {
                    self.sink.finish_value(text);
                }
                if let Some(new) = new {
                    *text = new;
                    changed = true;
                    if let Some(pointer) = pointer {
                        self.sink.stands_at(&format!("json:{pointer}"));
                    }
                }
            }
            Value::Number(number) => {
                if let Some(new) = self.number(key, number, inner) {
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

    /// A name in JSON, a form or a query: known values in it, or a credential in its place.
    pub fn name(&mut self, name: &str) -> Option<String> {
        if name.len() < 6 {
            return None;
        }
        let new =
            if is_token(name) { self.sink.secret("key", name, SecretReason::Format) } else { None };
        new.or_else(|| self.sink.replace_known(name))
    }

    /// `"pin": 492039`: a short number is a secret only where the name leaves no doubt.
    fn number(&mut self, key: &str, number: &Number, place: Place) -> Option<String> {
        let class = self.rules.class(key, place);
        let telling = matches!(class, KeyClass::Always | KeyClass::Code | KeyClass::Likely);
        if !telling && number.as_i64().is_some_and(|it| it.unsigned_abs() < 10_000_000_000) {
            return None;
        }
        let text = number.to_string();
        let secret = match class {
            KeyClass::Always => text.len() >= 3,
            KeyClass::Code | KeyClass::Likely => verdict(class, &text).is_some(),
            _ => false,
        };
        if secret {
            self.sink.secret(key, &text, SecretReason::Key)
        } else if text.len() >= 12 {
            self.sink.replace_known(&text)
        } else {
            None
        }
    }

    /// The first pass over the JSON of an answer: as [`json`](Self::json) at [`Place::Answer`], with a sink that replaces
    /// nothing.
    pub fn look_through(&mut self, answer: &Value) {
        self.look_through_at("", answer, &mut AnswerMemo::default());
    }

    fn look_through_at<'v>(&mut self, key: &str, value: &'v Value, seen: &mut AnswerMemo<'v>) {
        match value {
            Value::Object(fields) => {
                let named = sibling_name(fields);
                let call = rpc_arguments::arguments(fields);
                let is_jwk = is_jwk(fields);
                let numbered = has_numbered_keys(fields);
                let flagged = is_flagged(fields);
                let table = table(fields);
                for (name, item) in fields {
                    let under = self.under(key, named, name, item, is_jwk, Place::Answer);
                    let under = if numbered && is_numbered_key(name) {
                        NUMBERED
                    } else if flagged && item.is_string() && is_flagged_value(name) {
                        FLAGGED
                    } else {
                        &*under
                    };
                    match (call, item) {
                        (_, Value::Array(rows))
                            if table.as_ref().is_some_and(|it| it.1 == name) =>
                        {
                            let heads = table.as_ref().map_or(&[][..], |it| &it.0);
                            for row in rows {
                                for (at, it) in row.as_array().into_iter().flatten().enumerate() {
                                    let under = self.head(heads, at, under, Place::Answer);
                                    self.look_through_at(under, it, seen);
                                }
                            }
                        }
                        (Some((list, method)), Value::Array(given)) if list == name => {
                            for (i, it) in given.iter().enumerate() {
                                self.look_through_at(argument(method, i, it, under), it, seen);
                            }
                        }
                        _ => self.look_through_at(under, item, seen),
                    }
                    if name.len() >= 15 && seen.names.get(name).is_none() {
                        if is_token(name) {
                            self.sink.secret("key", name, SecretReason::Format);
                        } else {
                            seen.names.keep(name, ());
                        }
                    }
                }
            }
            Value::Array(items) => {
                let pairs = are_pairs(items);
                let is_row = is_row_of_texts(items);
                for (i, item) in items.iter().enumerate() {
                    match item {
                        Value::Array(pair) if pairs || self.is_told_pair(item, Place::Answer) => {
                            self.look_through_at(pair[0].as_str().unwrap_or(key), &pair[1], seen);
                        }
                        _ => {
                            let named = is_row
                                .then(|| self.named_before(items, i, Place::Answer))
                                .flatten();
                            self.look_through_at(named.unwrap_or(key), item, seen);
                        }
                    }
                }
            }
            Value::String(text) => {
                let class = self.rules.class(key, Place::Answer);
                // A key of the user's own, or one that was cut, says more than its class.
                let by_class = self.rules.allow.is_empty() && !key.ends_with(['_', '-']);
                if by_class && seen.clean.get(text) == Some(class) {
                    return;
                }
                self.open(key, text, Place::Answer, 0);
                if !self.sink.finish_value(text) && by_class {
                    seen.clean.keep(text, class);
                }
            }
            Value::Number(number) => _ = self.number(key, number, Place::Answer),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// A query string or one pair of it.
    pub fn query(&mut self, query: &str) -> Option<String> {
        self.query_at(query, Place::Query, 0)
    }

    /// A query string, byte for byte but for the values that are replaced.
    pub fn query_at(&mut self, query: &str, place: Place, depth: u32) -> Option<String> {
        self.pairs(query, '&', place, depth).unwrap_or_else(|| {
            let plain = decode_percent(query);
            self.open("", &plain, place, depth + 1).map(|it| percent(&it))
        })
    }

    /// `a=b&c=d`. `None`: it is not that.
    #[expect(
        clippy::option_option,
        reason = "the outer says whether it is one, the inner what replaces it"
    )]
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
        let mut out = PartReplacer::new(text);
        for pair in text.split(split) {
            let (name, value) = pair.split_once('=').unwrap_or(("", pair));
            let key = decode_form(name);
            let plain = decode_form(value);
            let new = if depth < MAX_OPEN {
                self.open(&key, &plain, place, depth + 1)
            } else {
                self.sink.replace_known(&plain)
            };
            let renamed = self.name(&key).map(|it| percent(&it));
            let name = renamed.as_deref().unwrap_or(name);
            let new = match new {
                Some(new) if name.is_empty() => Some(percent(&new)),
                Some(new) => Some(format!("{name}={}", percent(&new))),
                None if renamed.is_some() => Some(format!("{name}={value}")),
                None => None,
            };
            out.part(pair, new, split);
        }
        Some(out.changed)
    }
}

/// What was looked at in one answer.
#[derive(Default)]
struct AnswerMemo<'v> {
    /// Texts in which no rule found a secret under a key of that class.
    clean: Memo<'v, KeyClass>,
    /// Names that are no credentials.
    names: Memo<'v, ()>,
}

/// Whether an address that is a document says that it holds text: `data:image/svg+xml`.
fn is_textual(kind: &str) -> bool {
    kind.starts_with("data:") && ["svg", "json", "text/", "xml"].iter().any(|it| kind.contains(it))
}

/// Text written as hexadecimal digits.
fn hex_text(value: &str) -> Option<String> {
    if !value.len().is_multiple_of(2) || value.len() > 64 * 1024 || !value.is_ascii() {
        return None;
    }
    let bytes = (0..value.len()).step_by(2).map(|at| u8::from_str_radix(&value[at..at + 2], 16));
    String::from_utf8(bytes.collect::<Result<_, _>>().ok()?).ok()
}

/// What keys are called that are numbered.
const NUMBERED: &str = "secret_key";
/// What a value is called of which a flag says that it is one.
const FLAGGED: &str = "secret";

/// Whether a name is a credential of a published format itself.
fn is_token(name: &str) -> bool {
    name.len() >= 15 && formats::known_format(name).is_some()
}

/// What an argument stands under: a text that is a credential by its place, under a name that says so.
fn argument<'k>(method: &str, at: usize, it: &Value, under: &'k str) -> &'k str {
    if it.is_string() && rpc_arguments::is_credential(method, at) { "password" } else { under }
}

fn decode_form(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        decode_percent(&text.replace('+', " ")).into_owned().into()
    } else {
        decode_percent(text)
    }
}

/// RFC 6901, of keys of any length only the beginning. Returns the length to go back to.
fn push_pointer(pointer: &mut String, key: &str) -> usize {
    let len = pointer.len();
    pointer.push('/');
    pointer.push_str(&super::body::cut(key, MAX_KEY).replace('~', "~0").replace('/', "~1"));
    len
}

/// A key of a megabyte must not be copied for each value under it.
const MAX_KEY: usize = 512;

/// Notes that something was found, and passes it on so that the inner values are known too.
struct ProbeSink<'a> {
    sink: &'a mut dyn SecretSink,
    hit: bool,
}

impl SecretSink for ProbeSink<'_> {
    fn secret(&mut self, name: &str, value: &str, why: SecretReason) -> Option<String> {
        self.hit |= why != SecretReason::Entropy;
        if why == SecretReason::Entropy { None } else { self.sink.secret(name, value, why) }
    }

    fn replace_known(&mut self, text: &str) -> Option<String> {
        let new = self.sink.replace_known(text);
        self.hit |= new.is_some();
        new
    }
}
