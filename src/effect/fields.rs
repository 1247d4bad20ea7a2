//! Names and values of a request's body, as any server may read it: what two servers would read in two ways is not read here.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

/// Larger bodies are not looked through.
pub const BODY: usize = 256 * 1024;
const FIELDS: usize = 500;

/// Of a form, of parts, of JSON or of lines of it; names of JSON are paths such as `/a/0/b`. `None`: it is none of these, too large, has
/// files, or says something in a way that servers read differently (a key twice, two boundaries, a name behind another).
pub fn parse_fields(content_type: &str, body: &[u8]) -> Option<Vec<(String, String)>> {
    let text = std::str::from_utf8(body).ok().filter(|it| it.len() <= BODY)?;
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let mut out = Vec::new();
    if kind == "multipart/form-data" {
        parse_multipart(content_type, text, &mut out)?;
    } else if kind.ends_with("ndjson") {
        for line in text.lines().filter(|it| !it.trim().is_empty()) {
            collect_leaves("", &parse_unique_keys(line)?, &mut out);
        }
    } else if text.trim_start().starts_with(['{', '[']) {
        collect_leaves("", &parse_unique_keys(text)?, &mut out);
    } else if kind == "application/x-www-form-urlencoded"
        || (text.contains('=') && !text.contains(char::is_whitespace))
    {
        let mut take = |text: &str| {
            let all = url::form_urlencoded::parse(text.as_bytes());
            for (name, value) in all {
                // A call in a field: `message={"actions":[…]}`.
                if let Some(inner) =
                    parse_unique_keys(&value).filter(|it| it.is_object() || it.is_array())
                {
                    collect_leaves(&name, &inner, &mut out);
                }
                out.push((name.into_owned(), value.into_owned()));
            }
        };
        take(text);
        // To some servers `;` is `&`.
        for piece in text.split('&').filter(|it| it.contains(';')) {
            piece.split(';').filter(|it| it.contains('=')).for_each(&mut take);
        }
    } else {
        return None;
    }
    (out.len() <= FIELDS).then_some(out)
}

/// The same of JSON that was read already. `None`: it is too large.
pub fn json_fields(value: &Value) -> Option<Vec<(String, String)>> {
    let mut out = Vec::new();
    collect_leaves("", value, &mut out);
    (out.len() <= FIELDS).then_some(out)
}

/// Documents of JSON in a text: the whole, or one a line. Empty where it is something else, or says a key twice.
pub fn parse_documents(text: &str) -> Vec<Value> {
    let text = text.trim();
    if text.len() > BODY || !text.starts_with(['{', '[']) {
        return Vec::new();
    }
    if let Some(it) = parse_unique_keys(text) {
        return vec![it];
    }
    text.lines()
        .filter(|it| !it.trim().is_empty())
        .map(parse_unique_keys)
        .collect::<Option<_>>()
        .unwrap_or_default()
}

fn collect_leaves(at: &str, value: &Value, out: &mut Vec<(String, String)>) {
    if out.len() > FIELDS {
        return;
    }
    match value {
        Value::Object(all) if all.is_empty() && !at.is_empty() => {
            out.push((at.to_owned(), String::new()));
        }
        Value::Object(all) => {
            all.iter().for_each(|(name, it)| collect_leaves(&format!("{at}/{name}"), it, out));
        }
        Value::Array(all) => {
            all.iter()
                .enumerate()
                .for_each(|(n, it)| collect_leaves(&format!("{at}/{n}"), it, out));
        }
        Value::String(it) => out.push((at.to_owned(), it.clone())),
        it => out.push((at.to_owned(), if it.is_null() { String::new() } else { it.to_string() })),
    }
}

/// A form without files, in parts.
fn parse_multipart(content_type: &str, text: &str, out: &mut Vec<(String, String)>) -> Option<()> {
    let lower = content_type.to_ascii_lowercase();
    if lower.matches("boundary=").count() != 1 {
        return None;
    }
    let boundary = content_type.split(';').find_map(|it| it.trim().strip_prefix("boundary="))?;
    let boundary = boundary.trim_matches('"');
    if boundary.is_empty() {
        return None;
    }
    let line = format!("--{boundary}");
    for part in text.split(&line).skip(1).filter(|it| !it.starts_with("--")) {
        let (head, value) = part.split_once("\r\n\r\n")?;
        let lower = head.to_ascii_lowercase();
        if lower.contains("filename") || lower.matches("name=").count() != 1 {
            return None;
        }
        let (_, name) = head.split_once("; name=\"")?;
        let (name, _) = name.split_once('"')?;
        out.push((name.to_owned(), value.strip_suffix("\r\n")?.to_owned()));
    }
    Some(())
}

/// JSON in which no object has a key twice: of such a one some servers read the first, and some the last.
fn parse_unique_keys(text: &str) -> Option<Value> {
    serde_json::from_str::<UniqueKeyJson>(text).ok().map(|it| it.0)
}

struct UniqueKeyJson(Value);

impl<'de> Deserialize<'de> for UniqueKeyJson {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(UniqueKeyVisitor).map(Self)
    }
}

struct UniqueKeyVisitor;

impl<'de> Visitor<'de> for UniqueKeyVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, it: bool) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_i64<E>(self, it: i64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_u64<E>(self, it: u64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_f64<E>(self, it: f64) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_str<E>(self, it: &str) -> Result<Value, E> {
        Ok(it.into())
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(UniqueKeyJson(it)) = all.next_element()? {
            out.push(it);
        }
        Ok(out.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Value, A::Error> {
        let mut out = Map::new();
        while let Some((key, UniqueKeyJson(it))) = all.next_entry::<String, UniqueKeyJson>()? {
            if out.insert(key, it).is_some() {
                return Err(A::Error::custom("a key stands there twice"));
            }
        }
        Ok(out.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_servers_read_in_two_ways_is_not_read() {
        let form = "application/x-www-form-urlencoded";
        let parted = |boundary: &str| format!("multipart/form-data; boundary={boundary}");
        let one = "--x\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nlamp\r\n--x--\r\n";
        for (kind, body, expected) in [
            (form, "q=x&a=1", Some("q=x a=1")),
            // Read as `&` reads it, and as `;` does.
            (form, "q=x;action=delete", Some("q=x;action=delete q=x action=delete")),
            ("application/json", r#"{"a":{"b":[1,"x",null]}}"#, Some("/a/b/0=1 /a/b/1=x /a/b/2=")),
            ("application/json", r#"{"a":"delete","a":"list"}"#, None),
            ("application/json", r#"{"x":[{"a":1,"a":2}]}"#, None),
            ("application/x-ndjson", "{\"a\":1}\n{\"a\":2}", Some("/a=1 /a=2")),
            ("text/plain", r#"{"a":1.5e3,"b":-7,"c":true}"#, Some("/a=1500.0 /b=-7 /c=true")),
            (&parted("x"), one, Some("q=lamp")),
            (&parted("\"x\""), one, Some("q=lamp")),
            (
                &parted("----WebKitFormBoundaryx"),
                &one.replace("--x", "------WebKitFormBoundaryx"),
                Some("q=lamp"),
            ),
            (&parted("x; boundary=y"), one, None),
            (&parted("x; Boundary=y"), one, None),
            ("multipart/form-data", one, None),
            (
                &parted("x"),
                "--x\r\nContent-Disposition: form-data; filename=\"a\"; name=\"q\"\r\n\r\nb\r\n--x--\r\n",
                None,
            ),
            (
                &parted("x"),
                "--x\r\nContent-Disposition: form-data; name=\"q\"; name=\"action\"\r\n\r\nb\r\n--x--\r\n",
                None,
            ),
            ("image/png", "\u{7f}PNG", None),
        ] {
            let found = parse_fields(kind, body.as_bytes());
            let told = found.map(|all| {
                all.iter().map(|it| format!("{}={}", it.0, it.1)).collect::<Vec<_>>().join(" ")
            });
            assert_eq!(told.as_deref(), expected, "{kind} {body}");
        }
    }
}
