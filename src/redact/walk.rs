//! One traversal for both passes: it opens values (JSON in strings, forms, URLs, percent-encoding, base64) and hands every
//! secret to a [`SecretSink`]. The learning sink keeps them; the writing sink answers with a placeholder.

use std::borrow::Cow;

use super::{
    KeyClass, Place, TextKind, Walk,
    byte_classes::ByteKinds,
    class::SecretReason,
    detector::verdict_of,
    encode::{decode_percent, percent},
    fields::answer_class,
    formats, is_placeholder, rpc_arguments,
    rules::{MAX_OPEN, SecretSink},
    scan::{TextContext, auth_scheme, base64_text},
    text_kind::is_tagged,
    urls::PartReplacer,
};

/// Tells texts apart well enough: those with one mark are all looked at again.
pub fn mark(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let edge = |it: &[u8]| it.iter().fold(0, |all: u64, b| all << 8 | u64::from(*b));
    let (first, last) = (&bytes[..bytes.len().min(8)], &bytes[bytes.len().saturating_sub(8)..]);
    edge(first).rotate_left(17) ^ edge(last) ^ (bytes.len() as u64) << 40
}

/// Where the parts of a form stand that was found at `place`.
fn form_within(place: Place) -> Place {
    if place == Place::Answer { place } else { Place::Form }
}

/// A name of this class says that its value may be secret.
const fn names_secret(class: KeyClass) -> bool {
    matches!(class, KeyClass::Always | KeyClass::Code | KeyClass::Likely | KeyClass::Perhaps)
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
            && !(why == SecretReason::Format && self.rules.is_allowed(key))
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
        if let found @ Some(_) = self.structured(key, value, bytes, class, place, depth) {
            return found;
        }
        let spaced = bytes.spaced(value);
        if matches!(class, KeyClass::Always) && !spaced {
            return None;
        }
        if !spaced
            && bytes.any(ByteKinds::EQUALS)
            && (!names_secret(class) || value.contains('&'))
            && let Some(form) = self.pairs(value, '&', form_within(place), depth + 1)
        {
            return Some(form);
        }
        self.encoded(key, value, bytes, class, place, depth)
    }

    /// JSON, the arguments of a call, a connection string, or an address.
    #[expect(
        clippy::option_option,
        reason = "the outer says whether it is one, the inner what replaces it"
    )]
    fn structured(
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
            let changed = self.json_of(key, &mut json, place, depth + 1);
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
        // A connection string: `Endpoint=https://…;Secret=…`.
        if bytes.any(ByteKinds::SEMICOLON)
            && bytes.any(ByteKinds::EQUALS)
            && value.find('=').is_some_and(|it| value.find("://").is_none_or(|url| it < url))
            && let Some(new) = self.pairs(value, ';', form_within(place), depth + 1)
            && (new.is_some() || !names_secret(class))
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
        None
    }

    /// A text written in another one: percent-encoded, as markup, in hexadecimal or base64.
    #[expect(
        clippy::option_option,
        reason = "the outer says whether it is one, the inner what replaces it"
    )]
    fn encoded(
        &mut self,
        key: &str,
        value: &str,
        bytes: ByteKinds,
        class: KeyClass,
        place: Place,
        depth: u32,
    ) -> Option<Option<String>> {
        let spaced = bytes.spaced(value);
        let first = value.trim().as_bytes().first()?;
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

    /// A name in JSON, a form or a query: known values in it, or a credential in its place.
    pub fn name(&mut self, name: &str) -> Option<String> {
        if name.len() < 6 {
            return None;
        }
        let new =
            if is_token(name) { self.sink.secret("key", name, SecretReason::Format) } else { None };
        new.or_else(|| self.sink.replace_known(name))
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

/// Whether a name is a credential of a published format itself.
pub fn is_token(name: &str) -> bool {
    name.len() >= 15 && formats::known_format(name).is_some()
}

fn decode_form(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        decode_percent(&text.replace('+', " ")).into_owned().into()
    } else {
        decode_percent(text)
    }
}

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
