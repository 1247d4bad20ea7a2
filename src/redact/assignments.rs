//! `name = value` in a text, however settings, programs and people write it.

use super::{class::KeyClass, step_counter};

/// `name = value`, `"name": "value"`, `name=value`, `name => "value"` for wanted names; also where quotes are escaped. Linear: what a wanted
/// name holds is not looked at twice.
pub fn assignments<'a>(
    text: &'a str,
    wanted: impl Fn(&str) -> Option<KeyClass>,
    mut found: impl FnMut(KeyClass, &'a str, &'a str, bool),
) {
    let bytes = text.as_bytes();
    let mut i = 0;
    while let Some(found_at) = memchr::memchr2(b':', b'=', bytes.get(i..).unwrap_or_default()) {
        step_counter::record_bytes(found_at + 1);
        let at = i + found_at;
        i = at + 1;
        let mut end = at;
        while end > 0
            && (at - end < 3 && matches!(bytes[end - 1], b'"' | b'\'' | b'\\' | b']' | b'*' | b'!')
                || at - end < 32 && bytes[end - 1] == b' ')
        {
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
        // `:password=>"…"`, `'password' => '…'`; in a program `password=>…` is a function, and its value has no quotes.
        let is_arrow = bytes[at] == b'=' && bytes.get(at + 1) == Some(&b'>');
        // `password == "…"`: what a program compares with.
        let equal = bytes[at..].iter().take(3).take_while(|b| **b == b'=').count();
        let is_compared = bytes[at] == b'=' && (equal > 1 || at > 0 && bytes[at - 1] == b'!');
        let signs = if is_arrow { 2 } else { equal.max(1) };
        let mut from = at + signs;
        // `**Password:** …`
        let between = |b: u8| matches!(b, b' ' | b'\t' | b'\\' | b'*');
        while from < bytes.len() && from - at < 8 && between(bytes[from]) {
            from += 1;
        }
        // The value stands in the next line.
        let next = bytes[from..].iter().take(64).take_while(|b| b.is_ascii_whitespace()).count();
        if bytes.get(from) == Some(&b'\n')
            && matches!(bytes.get(from + next), Some(b'"' | b'\'' | b'`'))
        {
            from += next;
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
        // `"session": {"id": "…"`: the first of what stands under it.
        let mut open = open;
        if open == b'{'
            && matches!(class, KeyClass::Always | KeyClass::Likely)
            && let Some(inner) = first_value(&text[from..])
        {
            from += inner;
            open = bytes[from];
        }
        let quoted = matches!(open, b'"' | b'\'' | b'`');
        if (is_arrow || is_compared) && !quoted {
            continue;
        }
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
            .map_or_else(|| boundary(text, from + 8192), |n| from + n);
        step_counter::record_bytes(until - from);
        if let Some(value) = text.get(from..until)
            && value.len() >= 4
        {
            found(class, key, value, quoted);
            i = until.max(i);
        }
    }
}

/// How long the name of an authentication scheme is that a text begins with, with what follows up to the credential.
fn scheme(text: &str) -> Option<usize> {
    // No further than a scheme's name is long: this is asked at every name.
    let letters = text.bytes().take(10).inspect(|_| step_counter::record_bytes(1));
    let end = { letters }.position(|it| it == b' ').filter(|it| *it >= 3)?;
    let known = ["bearer", "basic", "token", "apikey", "splunk", "negotiate"];
    known.iter().any(|it| text[..end].eq_ignore_ascii_case(it)).then_some(end + 1)
}

/// Where the value of an object's first field begins, if that says no more than that it is one: `{id: "…"`.
fn first_value(text: &str) -> Option<usize> {
    let head = text.get(1..48.min(text.len())).unwrap_or("");
    let (name, rest) = head.split_once(':')?;
    let named = ["id", "value", "token", "key", "raw", "secret"]
        .contains(&name.trim().trim_matches(['"', '\'']));
    let at = 1 + head.len() - rest.trim_start().len();
    (named && rest.trim_start().starts_with(['"', '\''])).then_some(at)
}

/// The last end of a character up to there.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|it| text.is_char_boundary(*it)).unwrap_or(0)
}
