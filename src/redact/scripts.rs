//! Secrets that programs hold: what they store, what they assign, cookies that they set.

use memchr::memmem;
use serde_json::Value;

use super::{
    class::{KeyClass, Place, SecretReason},
    configs::{is_code, tells},
    detector::verdict,
    markup::Replacement,
    messages::looks_chosen,
    randomness::{erratic, natural, random},
    rules::Walk,
    scan::{TextContext, cut},
    stand_in::is_stand_in,
    step_counter,
    triggers::Triggers,
};

/// Where each occurrence begins and ends.
fn occurrences<'t>(text: &'t str, needle: &'t str) -> impl Iterator<Item = (usize, usize)> + 't {
    memmem::find_iter(text.as_bytes(), needle).map(|at| (at, at + needle.len()))
}

/// Bytes of a literal that are read.
const LONGEST: usize = 8192;
/// The same of one with escapes, which may hold a document.
const LONGEST_ESCAPED: usize = 64 * 1024;

impl Walk<'_> {
    /// `setItem('jwt', '…')`, `Cookies.set("sid", "…")`, `document.cookie = "sid=…; path=/"`, `var t = "…"`.
    pub fn stored_in<'t>(
        &mut self,
        text: &'t str,
        has: Triggers,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        let of = |kind: u16| if has.any(kind) { text } else { "" };
        self.passed_in(of(Triggers::CALL), found);
        self.called_in(of(Triggers::CALLED), found);
        self.named_in(of(Triggers::NAMED), found);
        self.joined_in(text, found);
        self.cookies_in(of(Triggers::COOKIE), found);
        self.storage_in(of(Triggers::ASSIGN), found);
        self.variables_in(of(Triggers::ASSIGN), found);
    }

    /// A name and a value that a function is given: `setItem('token', '…')`.
    fn passed_in<'t>(&mut self, text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for quote in ["('", "(\"", "(`", "( '", "( \""] {
            for (at, _) in occurrences(text, quote) {
                let Some((name, rest)) = literal(text[at + 1..].trim_start())
                    .filter(|it| (1..=80).contains(&it.0.len()))
                else {
                    continue;
                };
                step_counter::record_bytes(name.len());
                let Some(rest) = rest.trim_start().strip_prefix(',') else { continue };
                let Some((value, _)) = literal(rest.trim_start()) else { continue };
                step_counter::record_bytes(value.len());
                let called = &text[..at];
                let stores = ["setItem", "define", "putenv", "setenv"]
                    .iter()
                    .any(|it| called.trim_end().ends_with(it));
                let class = self.rules.class(name, Place::Json);
                let told = match class {
                    KeyClass::Always | KeyClass::Likely => {
                        tells(class, value, true, false)
                            && (value.len() >= 20 || random(value) || erratic(value) || stores)
                    }
                    KeyClass::Perhaps | KeyClass::Silent
                        if stores || class == KeyClass::Perhaps =>
                    {
                        value.len() >= 16 && verdict(class, value).is_some()
                    }
                    _ => false,
                };
                if told {
                    found.push((name, value, SecretReason::Key));
                }
            }
        }
    }

    /// What is written to `document.cookie`.
    fn cookies_in<'t>(&mut self, text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for (_, end) in occurrences(text, ".cookie") {
            let rest = text[end..].trim_start();
            let Some((line, more)) = rest.strip_prefix('=').and_then(|it| literal(it.trim_start()))
            else {
                continue;
            };
            step_counter::record_bytes(line.len());
            // `'sid=' + '…'`
            let joined = line.strip_suffix('=').and_then(|name| {
                let more = more.trim_start().strip_prefix('+')?;
                Some((name, literal(more.trim_start())?.0))
            });
            if let Some((name, value)) = joined.filter(|it| it.1.len() >= 8 && random(it.1)) {
                found.push((name, value, SecretReason::Cookie));
            }
            if let Some((name, value)) = line.split(';').next().and_then(|it| it.split_once('='))
                && value.len() >= 8
                && (random(value) || tells(self.rules.class(name, Place::Json), value, true, false))
            {
                found.push((name, value, SecretReason::Cookie));
            }
        }
    }

    /// What is written to a storage by its field: `localStorage.token = '…'`.
    fn storage_in<'t>(&mut self, text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for (_, end) in occurrences(text, "Storage") {
            let rest = &text[end..];
            let named = match rest.strip_prefix('[') {
                Some(rest) => literal(rest).and_then(|it| Some((it.0, it.1.strip_prefix(']')?))),
                None => rest.strip_prefix('.').map(|it| {
                    let len = it.bytes().take(80).take_while(u8::is_ascii_alphanumeric).count();
                    it.split_at(len)
                }),
            };
            let value = named.and_then(|(name, rest)| {
                let rest = rest.trim_start().strip_prefix('=')?;
                Some((name, literal(rest.trim_start())?.0))
            });
            step_counter::record_bytes(24);
            if let Some((name, value)) = value {
                let class = self.rules.class(name, Place::Json);
                let told = match class {
                    KeyClass::Always | KeyClass::Likely => tells(class, value, true, false),
                    _ => value.len() >= 16 && verdict(KeyClass::Perhaps, value).is_some(),
                };
                if told {
                    found.push((name, value, SecretReason::Key));
                }
            }
        }
    }

    /// Variables whose value looks random.
    fn variables_in<'t>(
        &mut self,
        text: &'t str,
        found: &mut Vec<(&'t str, &'t str, SecretReason)>,
    ) {
        for keyword in ["var ", "let ", "const "] {
            for (_, end) in occurrences(text, keyword) {
                let rest = &text[end..];
                let len = rest
                    .bytes()
                    .take(40)
                    .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
                    .count();
                step_counter::record_bytes(len + 1);
                let (name, rest) = rest.split_at(len);
                let Some((value, _)) =
                    rest.trim_start().strip_prefix('=').and_then(|it| literal(it.trim_start()))
                else {
                    continue;
                };
                step_counter::record_bytes(value.len());
                if value.len() >= 24
                    && !is_code(value)
                    && !is_stand_in(value)
                    && self.rules.class(name, Place::Json) == KeyClass::Silent
                    && verdict(KeyClass::Silent, value).is_some()
                {
                    found.push((name, value, SecretReason::Entropy));
                }
            }
        }
    }
}

impl Walk<'_> {
    /// `signInWithCustomToken("…")`, `login(auth, "ann", "…")`: what is called says what its last text is.
    fn called_in<'t>(&mut self, text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for quote in ['\'', '"'] {
            let end = format!("{quote})");
            for (at, _) in occurrences(text, &end) {
                let mut from = at.saturating_sub(200);
                while !text.is_char_boundary(from) {
                    from += 1;
                }
                let before = &text[from..at];
                step_counter::record_bytes(before.len());
                // Most are too short, and the code around them is not looked at.
                let Some((front, value)) = before.rsplit_once(quote).filter(|it| it.1.len() >= 8)
                else {
                    continue;
                };
                let Some((called, given)) = front.rsplit_once('(') else { continue };
                // What was given before it are names and texts.
                if given.contains([';', '{', '}', '\n', '='])
                    || !given.is_empty() && !given.trim_end().ends_with(',')
                {
                    continue;
                }
                // `auth=("ann", "…")`, a pair that has a name.
                let pair = called.strip_suffix('=').filter(|_| !given.is_empty());
                let called = pair.unwrap_or(called).trim_end();
                let len = called
                    .bytes()
                    .rev()
                    .take(64)
                    .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$'))
                    .count();
                let name = &called[called.len() - len..];
                let class = self.rules.class(name, Place::Json);
                if matches!(class, KeyClass::Always | KeyClass::Likely)
                    && (random(value)
                        || erratic(value)
                        || looks_chosen(value)
                        || value.len() >= 12
                            && !natural(value)
                            && value.bytes().all(|b| b.is_ascii_alphanumeric()))
                    && tells(class, value, true, false)
                {
                    found.push((name, value, SecretReason::Key));
                }
            }
        }
    }

    /// `{key: 'session', value: '…'}`, and `"Bearer …"` wherever a program has it.
    fn named_in<'t>(&mut self, text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for (at, end) in occurrences(text, "value:") {
            let Some((value, _)) = literal(text[end..].trim_start()) else { continue };
            let mut from = at.saturating_sub(80);
            while !text.is_char_boundary(from) {
                from += 1;
            }
            let before = &text[from..at];
            step_counter::record_bytes(before.len() + value.len());
            let before = before.rsplit_once('{').map_or("", |it| it.1);
            let named = ["key:", "name:"].iter().find_map(|it| before.rsplit_once(it));
            let Some((name, _)) = named.and_then(|it| literal(it.1.trim_start())) else { continue };
            let class = self.rules.class(name, Place::Json);
            if matches!(class, KeyClass::Always | KeyClass::Likely)
                && tells(class, value, true, false)
            {
                found.push((name, value, SecretReason::Key));
            }
        }
        for scheme in ["Bearer ", "Basic ", "Token "] {
            for (at, _) in occurrences(text, scheme) {
                if !text[..at].ends_with(['"', '\'', '`']) {
                    continue;
                }
                let Some((whole, _)) = literal(&text[at - 1..]) else { continue };
                let value = &whole[scheme.len()..];
                step_counter::record_bytes(value.len());
                if value.len() >= 16 && !is_stand_in(value) && (random(value) || erratic(value)) {
                    found.push(("authorization", value, SecretReason::Key));
                }
            }
        }
    }
}

impl Walk<'_> {
    /// JSON and addresses as strings of a program: `"{\"token\":\"…\"}"`, `"/log?access_token=…"`.
    pub fn literals_in(&mut self, text: &str, kind: TextContext, cuts: &mut Vec<Replacement>) {
        for lead in ["\"{\\\"", "\"[\\\"", "\"/"] {
            let mut done = 0;
            for (at, _) in occurrences(text, lead) {
                if at < done {
                    continue;
                }
                let Some(whole) = escaped_literal(&text[at..]) else {
                    done = at + LONGEST_ESCAPED;
                    step_counter::record_bytes(LONGEST_ESCAPED);
                    continue;
                };
                step_counter::record_bytes(whole.len());
                done = at + whole.len();
                let Ok(inner) = serde_json::from_str::<String>(whole) else { continue };
                let new = if lead == "\"/" {
                    let has_value = inner.split_once('?').is_some_and(|it| it.1.contains('='));
                    let is_one = has_value && !inner.contains(char::is_whitespace);
                    is_one.then(|| self.url(&inner, Place::Answer, kind.depth + 1)).flatten()
                } else {
                    let Ok(mut json) = serde_json::from_str::<Value>(&inner) else { continue };
                    self.json_of("", &mut json, Place::Answer, kind.depth + 1)
                        .then(|| json.to_string())
                };
                cuts.extend(new.map(|new| cut(text, whole, Value::from(new).to_string())));
            }
        }
    }

    /// `'auth_token=' + encodeURIComponent("…")`
    fn joined_in<'t>(&mut self, text: &'t str, found: &mut Vec<(&'t str, &'t str, SecretReason)>) {
        for end in ["=' +", "=\" +", "='+", "=\"+"] {
            for (at, behind) in occurrences(text, end) {
                let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
                let len = text.as_bytes()[..at].iter().rev().take(64).take_while(|b| is_part(b));
                let len = len.count();
                step_counter::record_bytes(len + 1);
                let name = &text[at - len..at];
                let rest = text[behind..].trim_start();
                let rest = rest.strip_prefix("encodeURIComponent(").unwrap_or(rest).trim_start();
                let Some((value, _)) = literal(rest) else { continue };
                let class = self.rules.class(name, Place::Query);
                if matches!(class, KeyClass::Always | KeyClass::Likely)
                    && tells(class, value, true, false)
                {
                    found.push((name, value, SecretReason::Key));
                }
            }
        }
    }
}

/// A string in double quotes that a text begins with, with its escapes.
fn escaped_literal(text: &str) -> Option<&str> {
    let mut is_escaped = false;
    let end = text.bytes().skip(1).take(LONGEST_ESCAPED).position(|b| {
        let ends = b == b'"' && !is_escaped;
        is_escaped = b == b'\\' && !is_escaped;
        ends
    })?;
    text.get(..end + 2)
}

/// A string that a text begins with, and what follows it. One with escapes is none.
fn literal(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inside = &text[1..];
    let end =
        inside.bytes().take(LONGEST).position(|b| b == quote as u8 || b == b'\n' || b == b'\\')?;
    (inside.as_bytes()[end] == quote as u8).then(|| (&inside[..end], &inside[end + 1..]))
}
