//! A request's body taken apart into fields, every byte of it accounted for, or not at all.
//!
//! Servers read bodies more leniently than the standards say. What two of them could read differently (a name twice in one object, a
//! part with a coding of its own, text around the parts) is not taken apart: it is opaque.

use std::{collections::BTreeSet, fmt::Write as _};

use serde::{Deserialize, Serialize, de::IgnoredAny};

/// Larger ones could not be shown, however they are written.
const BODY: usize = 64 * 1024;
/// Fields that are taken apart; fewer are shown.
const FIELDS: usize = 256;
const DEPTH: usize = 48;

/// Where in a request a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FieldLocation {
    Header,
    Query,
    Form,
    Json,
    /// Of a form with files.
    Part,
    /// What such a part calls its file, and says that it holds.
    FileName,
    FileType,
    /// A line of a body that is text.
    Body,
    /// Names of cookies that scripts of the page can write.
    Cookies,
}

impl FieldLocation {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Header => "header",
            Self::Query => "query",
            Self::Form => "form",
            Self::Json => "json",
            Self::Part => "part",
            Self::FileName => "file name",
            Self::FileType => "file type",
            Self::Body => "line",
            Self::Cookies => "cookies",
        }
    }
}

/// Why something is not shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenderError {
    TooLarge(String),
    Opaque(String),
}

/// A name and its value as they are, not yet for anybody's eyes.
#[derive(Debug, PartialEq, Eq)]
pub struct Field {
    pub place: FieldLocation,
    pub name: Vec<u8>,
    pub value: Vec<u8>,
    /// A number, `true`, `null`, `{}`: shown without quotes.
    pub bare: bool,
}

impl Field {
    pub fn new(place: FieldLocation, name: impl Into<Vec<u8>>, value: impl Into<Vec<u8>>) -> Self {
        Self { place, name: name.into(), value: value.into(), bare: false }
    }
}

/// The fields of a body of that type.
pub fn fields(content_type: &str, body: &[u8]) -> Result<Vec<Field>, RenderError> {
    if body.len() > BODY {
        return Err(RenderError::TooLarge(format!("a body of {} bytes", body.len())));
    }
    let mut parameters = content_type.split(';').map(str::trim);
    let kind = parameters.next().unwrap_or_default().to_ascii_lowercase();
    for it in parameters {
        let (name, value) = it.split_once('=').unwrap_or((it, ""));
        let value = value.trim_matches('"').to_ascii_lowercase();
        if name.eq_ignore_ascii_case("charset") && !matches!(&*value, "utf-8" | "utf8" | "us-ascii")
        {
            return Err(RenderError::Opaque("a body in another coding than UTF-8".to_owned()));
        }
    }
    if kind == "application/x-www-form-urlencoded" {
        return pairs(FieldLocation::Form, body);
    }
    if kind == "multipart/form-data" {
        return parts(content_type, body);
    }
    let is_json = kind.ends_with("/json") || kind.ends_with("+json");
    let is_text = kind.is_empty()
        || kind.starts_with("text/")
        || kind.ends_with("+xml")
        || matches!(&*kind, "application/xml" | "application/graphql" | "application/csp-report");
    let text = std::str::from_utf8(body).ok().filter(|_| is_json || is_text);
    let Some(text) = text else {
        return Err(RenderError::Opaque("a body that is no text that is known here".to_owned()));
    };
    if (is_json || text.trim_start().starts_with(['{', '[']))
        && serde_json::from_str::<IgnoredAny>(text).is_ok()
    {
        return parse_json_leaves(text);
    }
    let lines = text.split('\n').take(FIELDS).enumerate();
    Ok(lines.map(|(at, it)| Field::new(FieldLocation::Body, (at + 1).to_string(), it)).collect())
}

/// What is joined by `&`, as in a form or a query.
pub fn pairs(place: FieldLocation, text: &[u8]) -> Result<Vec<Field>, RenderError> {
    let mut out = Vec::new();
    for pair in text.split(|it| *it == b'&').filter(|it| !it.is_empty()) {
        if out.len() == FIELDS {
            return Err(too_many());
        }
        let at = pair.iter().position(|it| *it == b'=').unwrap_or(pair.len());
        let (name, value) = (&pair[..at], pair.get(at + 1..).unwrap_or_default());
        out.push(Field::new(place, decoded(name), decoded(value)));
    }
    Ok(out)
}

fn decoded(text: &[u8]) -> Vec<u8> {
    let blanks: Vec<u8> = text.iter().map(|it| if *it == b'+' { b' ' } else { *it }).collect();
    percent_encoding::percent_decode(&blanks).collect()
}

fn too_many() -> RenderError {
    RenderError::TooLarge(format!("more than {FIELDS} fields"))
}

fn opaque(what: &str) -> RenderError {
    RenderError::Opaque(what.to_owned())
}

/// Every leaf of valid JSON, under its pointer, numbers as they are written.
fn parse_json_leaves(text: &str) -> Result<Vec<Field>, RenderError> {
    let mut walk = JsonLeafParser { text, at: 0, out: Vec::new() };
    let mut path = String::new();
    walk.value(&mut path, 0)?;
    Ok(walk.out)
}

struct JsonLeafParser<'a> {
    text: &'a str,
    at: usize,
    out: Vec<Field>,
}

impl JsonLeafParser<'_> {
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or_default()
    }

    fn value(&mut self, path: &mut String, depth: usize) -> Result<(), RenderError> {
        if depth > DEPTH {
            return Err(opaque("JSON that is nested deeper than anybody reads"));
        }
        match self.peek() {
            b'{' => self.all(path, depth, b'}'),
            b'[' => self.all(path, depth, b']'),
            b'"' => {
                let value = self.string()?;
                self.push(path, value.into_bytes(), false)
            }
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find(|it: char| matches!(it, ',' | ']' | '}') || it.is_whitespace());
                let value = &rest[..end.unwrap_or(rest.len())];
                self.at += value.len();
                self.push(path, value.as_bytes().to_vec(), true)
            }
        }
    }

    /// What is in an object or a list.
    fn all(&mut self, path: &mut String, depth: usize, close: u8) -> Result<(), RenderError> {
        self.at += 1;
        let (mut names, mut index) = (BTreeSet::new(), 0_usize);
        let here = path.len();
        if self.peek() == close {
            self.at += 1;
            let empty = if close == b'}' { "{}" } else { "[]" };
            return self.push(path, empty.into(), true);
        }
        loop {
            if close == b'}' {
                self.peek();
                let name = self.string()?;
                path.push('/');
                path.push_str(&name.replace('~', "~0").replace('/', "~1"));
                // The colon.
                self.peek();
                self.at += 1;
                if !names.insert(name) {
                    return Err(opaque("JSON with one name twice in an object"));
                }
            } else {
                _ = write!(path, "/{index}");
                index += 1;
            }
            self.value(path, depth + 1)?;
            path.truncate(here);
            let next = self.peek();
            self.at += 1;
            if next != b',' {
                return Ok(());
            }
        }
    }

    /// A string, decoded. What no text could hold (half a surrogate pair) is opaque.
    fn string(&mut self) -> Result<String, RenderError> {
        let rest = &self.text[self.at..];
        let (mut end, mut escaped) = (1, false);
        for it in rest.bytes().skip(1) {
            end += 1;
            if it == b'"' && !escaped {
                break;
            }
            escaped = it == b'\\' && !escaped;
        }
        self.at += end;
        let text = rest.get(..end).unwrap_or(rest);
        serde_json::from_str(text).map_err(|_| opaque("JSON with text that is none"))
    }

    fn push(&mut self, path: &str, value: Vec<u8>, bare: bool) -> Result<(), RenderError> {
        if self.out.len() == FIELDS {
            return Err(too_many());
        }
        let name = if path.is_empty() { "/" } else { path };
        self.out.push(Field { bare, ..Field::new(FieldLocation::Json, name, value) });
        Ok(())
    }
}

/// The parts of a form with files (RFC 7578), as browsers write them.
fn parts(content_type: &str, body: &[u8]) -> Result<Vec<Field>, RenderError> {
    let boundary = content_type
        .split(';')
        .skip(1)
        .filter_map(|it| it.trim().split_once('='))
        .filter(|it| it.0.eq_ignore_ascii_case("boundary"))
        .map(|it| it.1.trim_matches('"'))
        .collect::<Vec<_>>();
    let [boundary] = boundary[..] else { return Err(opaque("parts without one boundary")) };
    let odd = || opaque("parts that are not written as browsers write them");
    if boundary.is_empty() || boundary.len() > 70 {
        return Err(odd());
    }
    let line = format!("--{boundary}");
    let mut rest = body.strip_prefix(line.as_bytes()).ok_or_else(odd)?;
    let mut out = Vec::new();
    loop {
        if matches!(rest, b"--" | b"--\r\n") {
            return Ok(out);
        }
        if out.len() >= FIELDS {
            return Err(too_many());
        }
        rest = rest.strip_prefix(b"\r\n").ok_or_else(odd)?;
        let end = find(rest, format!("\r\n{line}").as_bytes()).ok_or_else(odd)?;
        let part = &rest[..end];
        rest = &rest[end + 2 + line.len()..];
        let head = find(part, b"\r\n\r\n").ok_or_else(odd)?;
        let (head, value) = (&part[..head], &part[head + 4..]);
        let head = std::str::from_utf8(head).map_err(|_| odd())?;
        let (name, more) = part_head(head).ok_or_else(odd)?;
        if std::str::from_utf8(value).is_err() {
            return Err(opaque("a file that is no text"));
        }
        out.push(Field::new(FieldLocation::Part, name.clone(), value));
        out.extend(more.into_iter().map(|it| Field::new(it.0, name.clone(), it.1)));
    }
}

/// Name, and what else is said of a part.
fn part_head(head: &str) -> Option<(String, Vec<(FieldLocation, String)>)> {
    let (mut name, mut more) = (None, Vec::new());
    for line in head.split("\r\n") {
        let (key, value) = line.split_once(':')?;
        let value = value.trim();
        if key.eq_ignore_ascii_case("content-disposition") && name.is_none() {
            let rest = value.strip_prefix("form-data; name=\"")?;
            let (its, rest) = rest.split_once('"')?;
            name = Some(its.to_owned());
            if !rest.is_empty() {
                let file = rest.strip_prefix("; filename=\"")?.strip_suffix('"')?;
                more.push((FieldLocation::FileName, file.to_owned()));
                if file.contains('"') {
                    return None;
                }
            }
        } else if key.eq_ignore_ascii_case("content-type") {
            more.push((FieldLocation::FileType, value.to_owned()));
        } else {
            // A coding of its own, and whatever else there may be.
            return None;
        }
    }
    Some((name?, more))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|it| it == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe_fields(content_type: &str, body: &str) -> Result<String, RenderError> {
        let all = fields(content_type, body.as_bytes())?;
        let line = |it: &Field| {
            let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
            let mark = if it.bare { ":" } else { "=" };
            format!("{}{mark}{}", text(&it.name), text(&it.value))
        };
        Ok(all.iter().map(line).collect::<Vec<_>>().join("|"))
    }

    const FORM: &str = "application/x-www-form-urlencoded";

    #[test]
    fn forms_and_json_are_taken_apart() {
        for (kind, body, expected) in [
            (FORM, "item=17&qty=1", "item=17|qty=1"),
            (FORM, "a=b+c%20d%2B&&x&=y&a=2", "a=b c d+|x=|=y|a=2"),
            (FORM, "a=%zz%4&b=%F0%9F", "a=%zz%4|b=\u{fffd}"),
            (
                "application/json",
                r#"{"a":1.50,"b":["x",{"c":null}]}"#,
                "/a:1.50|/b/0=x|/b/1/c:null",
            ),
            ("application/json", " {\n \"a\" : { } , \"b\" : [ ] }\n", "/a:{}|/b:[]"),
            ("application/json; charset=utf-8", r#""x""#, "/=x"),
            ("application/json", "[[1,[2]],true]", "/0/0:1|/0/1/0:2|/1:true"),
            ("application/vnd.api+json", r#"{"a/b~":"\u0041\n\"]}"}"#, "/a~1b~0=A\n\"]}"),
            (
                "application/json",
                "123456789012345678901234567890",
                "/:123456789012345678901234567890",
            ),
            ("text/plain;charset=UTF-8", r#"{"q":"x"}"#, "/q=x"),
            ("", "[1]", "/0:1"),
            // What is no JSON is shown as it is, line by line.
            ("application/json", "{\"a\":1}\n{\"a\":2}\n", "1={\"a\":1}|2={\"a\":2}|3="),
            ("text/plain", "to=ann\r\nsum=5\r\n", "1=to=ann\r|2=sum=5\r|3="),
            ("application/xml", "<a>1</a>", "1=<a>1</a>"),
        ] {
            assert_eq!(describe_fields(kind, body), Ok(expected.to_owned()), "{kind} {body}");
        }
    }

    #[test]
    fn what_may_be_read_in_two_ways_is_opaque() {
        for (kind, body) in [
            ("application/json", r#"{"to":"ann","to":"bob"}"#.to_owned()),
            ("application/json", r#"{"a":{"to":1,"\u0074o":2}}"#.to_owned()),
            ("application/json", r#"{"a":"\ud800"}"#.to_owned()),
            ("application/json", format!("{}1{}", "[".repeat(60), "]".repeat(60))),
            ("application/octet-stream", "abc".to_owned()),
            ("application/x-protobuf", "abc".to_owned()),
            ("image/png", "abc".to_owned()),
            ("multipart/mixed; boundary=x", "--x--".to_owned()),
            ("text/plain; charset=utf-16", "abc".to_owned()),
            ("application/x-www-form-urlencoded; charset=utf-7", "a=b".to_owned()),
        ] {
            let end = describe_fields(kind, &body);
            assert!(matches!(end, Err(RenderError::Opaque(_))), "{kind} {body}: {end:?}");
        }
        assert!(matches!(fields("text/plain", b"a\xff"), Err(RenderError::Opaque(_))));
        let many = (0..300).map(|it| format!("a{it}=1&")).collect::<Vec<_>>().concat();
        assert!(matches!(describe_fields(FORM, &many), Err(RenderError::TooLarge(_))));
        assert!(matches!(
            describe_fields(FORM, &"a".repeat(BODY + 1)),
            Err(RenderError::TooLarge(_))
        ));
        let list = format!("[{}1]", "1,".repeat(300));
        assert!(matches!(
            describe_fields("application/json", &list),
            Err(RenderError::TooLarge(_))
        ));
    }

    #[test]
    fn parts_are_taken_apart_or_opaque() {
        let kind = "multipart/form-data; boundary=----x";
        let part = |head: &str, value: &str| format!("------x\r\n{head}\r\n\r\n{value}\r\n");
        let named = "Content-Disposition: form-data; name=\"to\"";
        let file = "Content-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain";
        let end = "------x--\r\n";
        let good = format!("{}{}{end}", part(named, "ann\r\nbob"), part(file, "hello"));
        assert_eq!(
            describe_fields(kind, &good).unwrap(),
            "to=ann\r\nbob|f=hello|f=a.txt|f=text/plain"
        );
        assert_eq!(describe_fields(kind, "------x--\r\n").unwrap(), "");
        for bad in [
            format!("before\r\n{}{end}", part(named, "ann")),
            format!("{}{end}after", part(named, "ann")),
            part(named, "ann"),
            format!("{}{end}", part("Content-Disposition: form-data; filename=\"x\"", "ann")),
            format!("{}{end}", part("Content-Disposition: attachment; name=\"to\"", "ann")),
            format!(
                "{}{end}",
                part(&format!("{named}\r\nContent-Transfer-Encoding: base64"), "YQ==")
            ),
            format!("{}{end}", part(&format!("{named}; name=\"from\""), "ann")),
            format!("{}{end}", part(&format!("{named}; filename*=UTF-8''x"), "ann")),
            format!("{}{end}", part(&format!("{named}\r\n{named}"), "ann")),
            good.replace("\r\n", "\n"),
        ] {
            assert!(matches!(describe_fields(kind, &bad), Err(RenderError::Opaque(_))), "{bad}");
        }
        for kind in [
            "multipart/form-data",
            "multipart/form-data; boundary=",
            "multipart/form-data; boundary=a; boundary=b",
        ] {
            assert!(matches!(describe_fields(kind, &good), Err(RenderError::Opaque(_))), "{kind}");
        }
        let picture = [&b"------x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.png\"\r\n\r\n\x89PNG\xff"[..], b"\r\n------x--"].concat();
        assert!(matches!(fields(kind, &picture), Err(RenderError::Opaque(_))));
    }
}
