//! Secrets in running text: as `name = value`, after an authentication scheme, or by their format.

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::{
    bytes::Bytes,
    detector::{Why, erratic, natural, random, verdict},
    encode::decode_escapes,
    formats,
    keys::KeyClass,
    walk::{Place, Walk},
};

impl Walk<'_> {
    /// Text in which secrets stand as `name = value` or by their format.
    pub fn text(&mut self, text: &str, prose: Prose) -> Option<String> {
        self.text_of(text, Bytes::of(text), prose)
    }

    /// The same where the kinds of its bytes are known.
    pub fn text_of(&mut self, text: &str, bytes: Bytes, prose: Prose) -> Option<String> {
        let mut found: Vec<(&str, &str, Why)> = Vec::new();
        let rules = self.rules;
        let wanted = |key: &str| {
            let class = rules.class(key, Place::Json);
            matches!(class, KeyClass::Always | KeyClass::Likely | KeyClass::Perhaps)
                .then_some(class)
        };
        let assigns = if bytes.any(Bytes::COLON | Bytes::EQUALS) { text } else { "" };
        assignments(assigns, wanted, |class, key, value, quoted| {
            if in_text(class, value, quoted, prose) && verdict(KeyClass::Always, value).is_some() {
                found.push((key, value, Why::Key));
            }
        });
        let tagged = if bytes.any(Bytes::ANGLE) { text } else { "" };
        elements(tagged, wanted, |class, key, value| {
            // Data, not code; but also labels: `<password>Wachtwoord</password>`.
            let class = if class == KeyClass::Always { KeyClass::Likely } else { class };
            if verdict(class, value).is_some() && !value.contains(char::is_whitespace) {
                found.push((key, value, Why::Key));
            }
        });
        formats::in_text(text, bytes, |value, _| found.push(("token", value, Why::Format)));
        self.replace(text, found)
    }

    /// A challenge such as `Digest realm="…", nonce="…"`, or its answer: what is good for one exchange is taken out.
    pub fn challenge(&mut self, name: &str, value: &str) -> Option<String> {
        let once = |key: &str| {
            ["nonce", "nextnonce", "cnonce", "opaque", "rspauth", "response"]
                .iter()
                .any(|it| key.eq_ignore_ascii_case(it))
                .then_some(KeyClass::Always)
        };
        let mut found = Vec::new();
        assignments(value, once, |_, key, value, _| found.push((key, value, Why::Key)));
        if let Some(token) = auth_scheme(value).filter(|it| !it.contains('"')) {
            found.push((name, token, Why::Header));
        }
        self.replace(value, found)
    }

    /// The text with these parts of it replaced, and known values wherever they stand.
    fn replace(&mut self, text: &str, found: Vec<(&str, &str, Why)>) -> Option<String> {
        let mut cuts: Vec<(usize, usize, String)> = Vec::new();
        for (key, value, why) in found {
            // As JSON and scripts write it: `\/`, `\u002f`.
            let plain = if value.contains('\\') { decode_escapes(value) } else { None };
            if let Some(new) = self.sink.secret(key, plain.as_deref().unwrap_or(value), why) {
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

/// Whether a text was written by people or for machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prose {
    Spoken,
    Code,
}

/// Whether `name = value` in a text gives a secret away. Code says `password: o.password`, and labels say
/// `password: "Wachtwoord"`: there the value has to look random.
fn in_text(class: KeyClass, value: &str, quoted: bool, prose: Prose) -> bool {
    let spaced = value.contains(char::is_whitespace);
    match (class, prose) {
        (KeyClass::Perhaps, _) => quoted && value.len() >= 16 && !spaced && random(value),
        (_, Prose::Code) if quoted => {
            value.len() >= 8
                && !spaced
                && erratic(value)
                && (value.len() >= 20 || !value.contains(['.', '/']))
        }
        (_, Prose::Code) => value.len() >= 20 && erratic(value) && !value.contains(['.', '/']),
        (_, Prose::Spoken) if quoted => verdict(class, value).is_some(),
        (_, Prose::Spoken) => {
            value.len() >= 8
                && value.bytes().any(|b| b.is_ascii_digit())
                && value.bytes().any(|b| b.is_ascii_alphabetic())
                && verdict(KeyClass::Likely, value).is_some()
        }
    }
}

/// The credential after `Bearer ` and its like.
pub fn auth_scheme(value: &str) -> Option<&str> {
    let (scheme, rest) = value.split_once(' ')?;
    let scheme = scheme.trim_end_matches(',');
    if scheme.len() > 9 || rest.contains(' ') {
        return None;
    }
    let scheme = scheme.to_ascii_lowercase();
    (matches!(
        scheme.as_str(),
        "bearer" | "basic" | "token" | "jwt" | "apikey" | "splunk" | "negotiate"
    ) && rest.len() >= 8
        && !natural(rest))
    .then_some(rest)
}

/// How long the name of an authentication scheme is that a text begins with, with what follows up to the credential.
fn scheme(text: &str) -> Option<usize> {
    let end = text.find(' ').filter(|it| (3..=9).contains(it))?;
    let known = ["bearer", "basic", "token", "apikey", "splunk", "negotiate"];
    known.iter().any(|it| text[..end].eq_ignore_ascii_case(it)).then_some(end + 1)
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
        let mut key = key;
        let mut class = wanted(key);
        // People write `API key: …`.
        if !matches!(class, Some(KeyClass::Always | KeyClass::Likely))
            && let Some(front) = text[..start].strip_suffix(' ')
            && let word = front.len()
                - front.bytes().rev().take(16).take_while(u8::is_ascii_alphabetic).count()
            && word < front.len()
            && let both = &text[word..end]
            && let Some(stronger) = wanted(both)
        {
            (key, class) = (both, Some(stronger));
        }
        let Some(class) = class else { continue };
        let mut from = at + 1;
        while from < bytes.len() && from - at < 8 && matches!(bytes[from], b' ' | b'\t' | b'\\') {
            from += 1;
        }
        // `Authorization: Bearer …`
        if class != KeyClass::Perhaps
            && let Some(after) = text.get(from..).and_then(scheme)
        {
            from += after;
        }
        let Some(&open) = bytes.get(from) else {
            continue;
        };
        let quoted = matches!(open, b'"' | b'\'' | b'`');
        // `\"` ends where `\"` stands again, `"` may hold escapes.
        let inside = bytes[from - 1] == b'\\';
        let from = from + usize::from(quoted);
        let mut escaped = false;
        let until = bytes[from..]
            .iter()
            .take(8192)
            .position(|b| {
                if quoted {
                    let ends =
                        !escaped && *b == open || matches!(b, b'\n') || inside && *b == b'\\';
                    escaped = !escaped && *b == b'\\';
                    ends
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

/// `<name>value</name>`, as XML has it.
fn elements<'a>(
    text: &'a str,
    wanted: impl Fn(&str) -> Option<KeyClass>,
    mut found: impl FnMut(KeyClass, &'a str, &'a str),
) {
    // Where the last tag began, and where it ended: a `>` before any `<` ends none.
    let (mut start, mut open) = (None, None);
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'<' => {
                if let Some((start, open)) = start.zip(open.take())
                    && text[i..].starts_with("</")
                    && open - start <= 80
                    && (4..8192).contains(&(i - open))
                {
                    let key = text[start + 1..open].split(' ').next().unwrap_or("");
                    let key = key.rsplit(':').next().unwrap_or(key);
                    if let Some(class) = wanted(key) {
                        found(class, key, &text[open + 1..i]);
                    }
                }
                start = Some(i);
            }
            b'>' if start.is_some() => open = open.or(Some(i)),
            _ => {}
        }
    }
}

/// Base64 of readable text: whatever it is, it can be looked into.
pub fn base64_text(value: &str) -> Option<String> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
    const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);
    if value.len() > 1 << 20
        || !value.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/-_=".contains(&b))
    {
        return None;
    }
    let from = if value.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    // Most of what is no text shows that at once.
    let mut first = [0; 32];
    if let Ok(len) = from.decode_slice(&value[..value.len().min(32) & !3], &mut first)
        && first[..len]
            .iter()
            .any(|b| b.is_ascii_control() && !b.is_ascii_whitespace() && *b != 0x0b)
    {
        return None;
    }
    let bytes = from.decode(value).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let odd = text.chars().filter(|c| c.is_control() && !c.is_whitespace()).count();
    (odd == 0 && text.bytes().filter(u8::is_ascii_graphic).count() * 10 >= text.len() * 8)
        .then_some(text)
}
