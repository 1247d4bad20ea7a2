//! What a body is, and how a request's body is stored.

use std::borrow::Cow;

use serde_json::Value;

use super::{
    TextKind,
    class::Place,
    encode::decode_percent,
    raw::{RawBody, RawExchange},
    rules::Walk,
};
use commis_artifacts::recording::{Field, RequestBody, ResourceType};
use commis_recipe::{
    framing,
    model::Framing,
    shape::{self, nesting},
};

/// Excerpts and request bodies are kept within this.
pub const MAX_STORED: usize = 32 * 1024;
pub const MAX_TEXT: usize = 4 * 1024;
/// Parsing HTML is quadratic in its depth.
const MAX_HTML: usize = 3 << 20;
const MAX_FIELDS: usize = 256;
/// Excerpts of one recording, all together: what an artifact keeps bounds the memory of everyone who reads it.
const MAX_EXCERPTS: usize = 3 << 20;

/// What is kept of each answer at most: [`MAX_STORED`], and less where there are so many that all of them would take more than
/// [`MAX_EXCERPTS`]. The small ones are kept whole, and the large ones share what is left.
pub fn share(exchanges: &[RawExchange]) -> usize {
    let is_data = |it: &&RawExchange| {
        essence(&it.mime).contains("json")
            || matches!(
                it.resource_type,
                ResourceType::Xhr
                    | ResourceType::Fetch
                    | ResourceType::Document
                    | ResourceType::Iframe
                    | ResourceType::Other
            )
    };
    let lens = exchanges.iter().filter(is_data).map(|it| it.body.len().min(MAX_STORED));
    share_of(lens.collect(), MAX_EXCERPTS)
}

fn share_of(mut lens: Vec<usize>, mut room: usize) -> usize {
    lens.sort_unstable();
    let mut left = lens.len();
    for len in lens {
        let each = room / left;
        if len > each {
            return each.max(1024);
        }
        room -= len;
        left -= 1;
    }
    MAX_STORED
}

/// What stood around the JSON of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonFrame {
    pub framing: Option<Framing>,
    /// The query name whose value is the JSONP callback.
    pub callback: Option<String>,
}

/// An answer, parsed once a pass.
pub enum ParsedBody {
    Json(Value, JsonFrame),
    Html(String),
    /// Text of which an excerpt may be kept.
    Text(String),
    /// Scripts and styles: learned from, not kept.
    Code(String),
    Binary,
    None,
}

/// The answer that is at hand: nothing is read again.
pub fn parse(raw: &RawExchange) -> ParsedBody {
    match &raw.body {
        RawBody::Captured(bytes) => parse_bytes(raw, bytes),
        RawBody::Elsewhere(_) | RawBody::Missing(_) => ParsedBody::None,
    }
}

/// The answer whose bytes these are.
pub fn parse_bytes(raw: &RawExchange, bytes: &[u8]) -> ParsedBody {
    if bytes.is_empty() {
        return ParsedBody::None;
    }
    let mime = essence(&raw.mime);
    let data = matches!(
        raw.resource_type,
        ResourceType::Xhr | ResourceType::Fetch | ResourceType::EventSource
    ) || matches!(
        raw.resource_type,
        ResourceType::Document | ResourceType::Iframe | ResourceType::Other
    );
    let is_json = mime.contains("json");
    let textual = is_json
        || mime.starts_with("text/")
        || ["xml", "javascript", "ecmascript", "x-www-form-urlencoded", "graphql"]
            .iter()
            .any(|it| mime.contains(it));
    let readable = textual || (data && looks_textual(bytes));
    if !readable {
        return ParsedBody::Binary;
    }
    let text = text_of(bytes);
    let body = text.trim_start_matches('\u{feff}').trim_start();
    // A script that is nothing but data was asked for as data, if it calls what the request named.
    if (data || is_json || raw.resource_type == ResourceType::Script)
        && let Some(found) = framing::detect(body, &mime, is_json)
    {
        let callback = found.callback.and_then(|name| {
            raw.url.query_pairs().find(|it| it.1 == name).map(|it| it.0.into_owned())
        });
        if data || is_json || callback.is_some() || found.framing.is_none() {
            return ParsedBody::Json(
                shape::with_sorted_keys(found.value),
                JsonFrame { framing: found.framing, callback },
            );
        }
    }
    let html = mime.contains("html") || (mime.is_empty() && starts_like_html(body));
    if html && data {
        if bytes.len() <= MAX_HTML && nesting::check(body).is_ok() {
            return ParsedBody::Html(text.into_owned());
        }
        return ParsedBody::Text(text.into_owned());
    }
    let code = mime.contains("css") || mime.contains("svg") || !data;
    if code { ParsedBody::Code(text.into_owned()) } else { ParsedBody::Text(text.into_owned()) }
}

/// The type without parameters, lower case.
pub fn essence(mime: &str) -> String {
    mime.split(';').next().unwrap_or("").trim().to_ascii_lowercase()
}

fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    // Checked faster than repaired.
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Cow::Borrowed(text);
    }
    match String::from_utf8_lossy(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        // Not UTF-8: nearly always Latin-1 or its relative.
        Cow::Owned(lossy) if lossy.matches('\u{fffd}').count() * 20 > lossy.len() => {
            Cow::Owned(lossy)
        }
        Cow::Owned(_) => Cow::Owned(bytes.iter().map(|b| char::from(*b)).collect()),
    }
}

fn looks_textual(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(1024)];
    !head.contains(&0) && head.iter().filter(|b| **b < 32 && !b.is_ascii_whitespace()).count() == 0
}

fn starts_like_html(body: &str) -> bool {
    let head: String = body.chars().take(15).collect::<String>().to_ascii_lowercase();
    head.starts_with("<!doctype html") || head.starts_with("<html")
}

/// A request body as stored.
pub fn request(bytes: &[u8], content_type: &str, walk: &mut Walk<'_>) -> RequestBody {
    let mime = essence(content_type);
    let Ok(text) = std::str::from_utf8(bytes) else {
        if mime.starts_with("multipart/") {
            return RequestBody::Multipart(multipart(bytes, content_type, walk));
        }
        return RequestBody::Binary { bytes: bytes.len() as u64 };
    };
    if mime.starts_with("multipart/") {
        return RequestBody::Multipart(multipart(bytes, content_type, walk));
    }
    let trimmed = text.trim_start();
    if (mime.contains("json") || trimmed.starts_with(['{', '[']))
        && let Ok(mut value) = serde_json::from_str(text).map(shape::with_sorted_keys)
    {
        walk.json(&mut value, Place::Json);
        return RequestBody::Json(shape::truncate(&value, MAX_STORED).0);
    }
    if mime == "application/x-www-form-urlencoded" && text.contains('=') {
        let mut fields = Vec::new();
        let mut used = 0;
        for (name, value) in url::form_urlencoded::parse(bytes).take(MAX_FIELDS) {
            fields.push(field(&name, &value, &mut used, walk));
            walk.sink.stands_at(&format!("form:{name}"));
        }
        return RequestBody::Form(fields);
    }
    if text.contains('\0') {
        return RequestBody::Binary { bytes: bytes.len() as u64 };
    }
    let new = walk.leaf("", text, Place::Form).unwrap_or_else(|| text.to_owned());
    walk.sink.stands_at("text");
    RequestBody::Text(cut(&new, MAX_STORED).to_owned())
}

fn field(name: &str, value: &str, used: &mut usize, walk: &mut Walk<'_>) -> Field {
    let new = walk.leaf(name, value, Place::Form).unwrap_or_else(|| value.to_owned());
    let kept = cut(&new, MAX_STORED.saturating_sub(*used)).to_owned();
    *used += kept.len() + name.len();
    let name = walk.name(name).unwrap_or_else(|| name.to_owned());
    Field { name: cut(&name, 256).to_owned(), value: kept, file: false }
}

/// Text fields by value, files by their file name.
fn multipart(bytes: &[u8], content_type: &str, walk: &mut Walk<'_>) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut used = 0;
    for part in parts(bytes, content_type) {
        let value = part.file.as_deref().unwrap_or(&part.value);
        let field = field(&part.name, value, &mut used, walk);
        fields.push(Field { file: part.file.is_some(), ..field });
        walk.sink.stands_at(&format!("form:{}", part.name));
    }
    fields
}

/// One named part of a multipart body.
pub struct MultipartPart {
    pub name: String,
    pub file: Option<String>,
    pub value: String,
}

/// Nothing where there is no boundary.
pub fn parts(bytes: &[u8], content_type: &str) -> Vec<MultipartPart> {
    let text = String::from_utf8_lossy(bytes);
    let Some(boundary) = boundary(content_type, &text) else {
        return Vec::new();
    };
    let open = format!("--{boundary}");
    let all = text.split(&open).skip(1).take(MAX_FIELDS);
    all.filter_map(|part| {
        let (head, value) = head_of(part)?;
        let param = |key: &str| disposition(head, key);
        Some(MultipartPart {
            name: param("name")?,
            file: param("filename"),
            value: value.strip_suffix("\r\n").unwrap_or(value).to_owned(),
        })
    })
    .collect()
}

/// What stands between the parts: as the type says it, or else as the first line does.
pub fn boundary(content_type: &str, text: &str) -> Option<String> {
    let of_type = content_type.split(';').skip(1).find_map(|it| {
        let (name, value) = it.split_once('=')?;
        let is_it = name.trim().eq_ignore_ascii_case("boundary");
        is_it.then(|| value.trim().trim_matches('"')).filter(|it| !it.is_empty())
    });
    let of_text = || text.lines().next()?.strip_prefix("--").map(str::trim_end);
    of_type.or_else(of_text).filter(|it| !it.is_empty()).map(str::to_owned)
}

/// A part's head, with the empty line that ends it, and what it heads.
pub fn head_of(part: &str) -> Option<(&str, &str)> {
    let end = |line: &str| part.find(line).map(|it| it + line.len());
    end("\r\n\r\n").or_else(|| end("\n\n")).map(|it| part.split_at(it))
}

/// A parameter in the head of a part: `name="q"`, `name=q`, `name*=UTF-8''q`.
pub fn disposition(head: &str, key: &str) -> Option<String> {
    head.split([';', '\n']).find_map(|it| {
        let (name, value) = it.trim().split_once('=')?;
        let (name, value) = (name.trim_end(), value.trim());
        if name.strip_suffix('*').is_some_and(|it| it.eq_ignore_ascii_case(key)) {
            let plain = value.splitn(3, '\'').nth(2).unwrap_or(value);
            return Some(decode_percent(plain).into_owned());
        }
        name.eq_ignore_ascii_case(key).then(|| {
            let value =
                value.strip_prefix('"').map_or(value, |it| it.split('"').next().unwrap_or(it));
            decode_percent(value).into_owned()
        })
    })
}

/// Free text of an answer.
pub fn text_excerpt(text: &str, mime: &str, walk: &mut Walk<'_>) -> (String, bool) {
    let new = walk.lines(text, TextKind::detect(text, mime));
    let new = new.as_deref().unwrap_or(text);
    let kept = cut(new, MAX_TEXT);
    (kept.to_owned(), kept.len() < new.len())
}

/// At most `limit` bytes, never inside a character or a placeholder.
pub fn cut(text: &str, limit: usize) -> &str {
    if text.len() <= limit {
        return text;
    }
    let mut end = limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let kept = &text[..end];
    match kept.rfind('[') {
        Some(at) if kept[at..].starts_with("[REDACTED:") && !kept[at..].contains(']') => {
            &kept[..at]
        }
        Some(at) if "[REDACTED:".starts_with(&kept[at..]) => &kept[..at],
        _ => kept,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_large_answers_share_the_room() {
        for (lens, room, share) in [
            (vec![], 0, MAX_STORED),
            (vec![10_000, 20_000], 30_000, MAX_STORED),
            (vec![30_000, 10_000, 30_000], 50_000, 20_000),
            (vec![MAX_STORED; 100], 1000, 1024),
        ] {
            assert_eq!(share_of(lens.clone(), room), share, "{lens:?}");
        }
    }

    #[test]
    fn cuts_are_clean() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("x [REDACTED:tok]", 10), "x ");
        assert_eq!(cut("x [REDACTED:t] y", 15), "x [REDACTED:t] ");
    }
}
