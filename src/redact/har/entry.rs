//! One entry of a HAR, in any dialect.

use std::fmt::Write as _;

use serde_json::Value;
use url::Url;

use super::{
    bytes, missing,
    resource::{self, find},
};
use crate::raw::{RawBody, RawExchange};
use commis_artifacts::recording::{BodyStatus, Initiator, InitiatorKind, TargetKind, Timing};
use commis_base::charset;
use jiff::fmt::rfc2822::DateTimePrinter;

const MAX_HEADERS: usize = 256;
pub const MAX_URL: usize = 64 * 1024;
/// One header, name and value; a longer one is left out.
const MAX_HEADER: usize = 64 * 1024;
const MAX_MIME: usize = 1024;

/// A request with what is needed to place it among the others.
pub struct HarEntry {
    pub raw: RawExchange,
    /// Id of the page that it belongs to.
    pub page: Option<String>,
    /// Milliseconds since the epoch.
    pub started: Option<i64>,
    pub redirect_to: Option<String>,
    pub ttfb_ms: u64,
    pub total_ms: u64,
}

impl HarEntry {
    /// The body is kept while the budget of the whole file lasts.
    pub fn within(mut self, left: &mut usize) -> Self {
        if let RawBody::Captured(bytes) = &self.raw.body {
            match left.checked_sub(bytes.len()) {
                Some(rest) => *left = rest,
                None => self.raw.body = RawBody::Missing(BodyStatus::TooLarge),
            }
        }
        self
    }

    /// `None` when it is not a request over HTTP.
    pub fn read(entry: &Value) -> Option<Self> {
        let request = entry.get("request")?;
        let (method, url) = request_line(request)?;
        let nothing = Value::Null;
        let response = entry.get("response").unwrap_or(&nothing);
        let content = response.get("content").unwrap_or(&nothing);
        let request_headers = headers(request);
        let mut response_headers = headers(response);
        // What was asked for at a moment is known by the time of its answer, also where the server does not say it.
        if find(&response_headers, "date").is_none()
            && let Some(at) = text(entry, "startedDateTime").and_then(stamp)
            && let Ok(at) = jiff::Timestamp::from_millisecond(at)
            && let Ok(at) = DateTimePrinter::new().timestamp_to_rfc9110_string(&at)
        {
            response_headers.push(("date".to_owned(), at));
        }
        let status = status(response, content);
        let mime = text(content, "mimeType")
            .filter(|it| !it.is_empty() && *it != "x-unknown")
            .or_else(|| find(&response_headers, "content-type"))
            .filter(|it| it.len() <= MAX_MIME)
            .unwrap_or("")
            .to_owned();
        let initiator = initiator(entry);
        let resource_type = resource::infer(
            text(entry, "_resourceType"),
            &resource::ResourceClues {
                method: &method,
                mime: &mime,
                url: &url,
                request: &request_headers,
                response: &response_headers,
                script: initiator.kind == InitiatorKind::Script,
            },
        );
        let redirect_to = status
            .filter(|it| matches!(it, 301 | 302 | 303 | 307 | 308))
            .and_then(|_| redirect_target(response, &response_headers, &url));
        let timings = entry.get("timings").unwrap_or(&nothing);
        let span = |key: &str| float(timings, key).unwrap_or(0.0).clamp(0.0, 1e9);
        let total_ms = float(entry, "time").unwrap_or(0.0).clamp(0.0, 1e9) as u64;
        let ttfb_ms =
            (["blocked", "dns", "connect", "send", "wait"].iter().map(|it| span(it)).sum::<f64>())
                as u64;
        let body = body(&method, status, content, &mime, &response_headers);
        let encoded = number(response, "_transferSize")
            .filter(|it| *it > 0)
            .or_else(|| number(response, "bodySize").filter(|it| *it >= 0))
            .map(|it| it as u64);
        let request_body = post_data(request, &request_headers);
        let mut request_headers = request_headers;
        // The boundary decides how the body is read, and what is a secret in it.
        if find(&request_headers, "content-type").is_none()
            && let Some(it) = request.get("postData").and_then(|it| text(it, "mimeType"))
            && it.starts_with("multipart/")
        {
            request_headers.push(("content-type".to_owned(), it.to_owned()));
        }
        Some(Self {
            raw: RawExchange {
                method,
                url,
                request_headers,
                request_body,
                status,
                response_headers,
                mime,
                resource_type,
                initiator,
                timing: Timing::default(),
                after_action: None,
                redirected_from: None,
                encoded_bytes: encoded,
                body,
            },
            page: text(entry, "pageref").map(str::to_owned),
            started: text(entry, "startedDateTime").and_then(stamp),
            redirect_to,
            ttfb_ms: ttfb_ms.min(total_ms),
            total_ms,
        })
    }
}

/// The method, and the address without its fragment; `None` where they are not of the web.
fn request_line(request: &Value) -> Option<(String, Url)> {
    let url = text(request, "url").filter(|it| it.len() <= MAX_URL)?;
    let mut url =
        Url::parse(url.trim()).ok().filter(|it| matches!(it.scheme(), "http" | "https"))?;
    url.host_str()?;
    url.set_fragment(None);
    let method = text(request, "method").unwrap_or("GET").trim().to_ascii_uppercase();
    let is_method =
        (1..=32).contains(&method.len()) && method.bytes().all(|b| b.is_ascii_alphabetic());
    is_method.then_some((method, url))
}

/// `None` for 0 and -1: the request failed, or its answer was never read.
fn status(response: &Value, content: &Value) -> Option<u16> {
    let status = u16::try_from(number(response, "status")?).ok()?;
    let has_text = || text(content, "text").is_some_and(|it| !it.is_empty());
    match status {
        // The body that the browser had stored: the page was given it as a 200.
        304 if has_text() => Some(200),
        100..=599 => Some(status),
        _ => None,
    }
}

/// The address that an answer sends to, without its fragment.
fn redirect_target(response: &Value, headers: &[(String, String)], from: &Url) -> Option<String> {
    let to = text(response, "redirectURL").filter(|it| !it.is_empty());
    let mut to = from.join(to.or_else(|| find(headers, "location"))?).ok()?;
    to.set_fragment(None);
    Some(to.to_string())
}

/// RFC 3339, and without an offset as some tools write it.
fn stamp(text: &str) -> Option<i64> {
    let text = text.trim();
    text.parse::<jiff::Timestamp>()
        .or_else(|_| format!("{text}Z").parse::<jiff::Timestamp>())
        .ok()
        .map(jiff::Timestamp::as_millisecond)
}

/// `[{name, value}]`, or a map as older tools have it.
fn headers(message: &Value) -> Vec<(String, String)> {
    let as_text = |it: &Value| match it {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let fits = |it: &(String, String)| !it.0.is_empty() && it.0.len() + it.1.len() <= MAX_HEADER;
    match message.get("headers") {
        Some(Value::Array(all)) => all
            .iter()
            .filter_map(|it| Some((text(it, "name")?.to_owned(), as_text(it.get("value")?)?)))
            .filter(fits)
            .take(MAX_HEADERS)
            .collect(),
        Some(Value::Object(all)) => all
            .iter()
            .filter_map(|(name, it)| Some((name.clone(), as_text(it)?)))
            .filter(fits)
            .take(MAX_HEADERS)
            .collect(),
        _ => Vec::new(),
    }
}

fn body(
    method: &str,
    status: Option<u16>,
    content: &Value,
    mime: &str,
    headers: &[(String, String)],
) -> RawBody {
    let size = number(content, "size").and_then(|it| u64::try_from(it).ok());
    let text = match content.get("text") {
        Some(Value::String(text)) => text.clone(),
        // Seen from tools that parse JSON bodies.
        Some(it @ (Value::Object(_) | Value::Array(_))) => it.to_string(),
        _ => return missing(method, status, size),
    };
    if text.is_empty() {
        return if size.is_some_and(|it| it > 0) {
            missing(method, status, size)
        } else {
            missing(method, status, Some(0))
        };
    }
    let base64 =
        self::text(content, "encoding").is_some_and(|it| it.eq_ignore_ascii_case("base64"));
    if text.len() > bytes::MAX_BODY * 2 {
        return RawBody::Missing(BodyStatus::TooLarge);
    }
    let raw = if base64 { bytes::base64(&text) } else { bytes::unflagged(&text, mime) };
    // Bytes are in the charset of the site; text was decoded by whoever wrote it down.
    let content_type = raw.as_ref().map(|_| find(headers, "content-type").unwrap_or(mime));
    let raw = raw.unwrap_or_else(|| text.into_bytes());
    let encoding = find(headers, "content-encoding").unwrap_or("");
    match bytes::inflate(raw, encoding) {
        Some(it) if it.len() <= bytes::MAX_BODY => RawBody::Captured(match content_type {
            Some(content_type) => charset::to_utf8(content_type, it),
            None => it,
        }),
        _ => RawBody::Missing(BodyStatus::TooLarge),
    }
}

/// `text` where there is one (mitmproxy and Playwright write base64 for what is not text), else rebuilt from `params`.
fn post_data(request: &Value, headers: &[(String, String)]) -> Option<Vec<u8>> {
    let data = request.get("postData")?;
    let limit = |it: Vec<u8>| (it.len() <= bytes::MAX_BODY).then_some(it);
    match data.get("text") {
        Some(Value::String(it)) if !it.is_empty() => {
            let encoding = text(data, "encoding").or_else(|| text(data, "_encoding")).unwrap_or("");
            if encoding.eq_ignore_ascii_case("base64")
                && let Some(decoded) = bytes::base64(it)
            {
                let coding = find(headers, "content-encoding").unwrap_or("");
                return bytes::inflate(decoded, coding).and_then(limit);
            }
            return limit(it.clone().into_bytes());
        }
        Some(it @ (Value::Object(_) | Value::Array(_))) => {
            return limit(it.to_string().into_bytes());
        }
        _ => {}
    }
    let params = data.get("params")?.as_array().filter(|it| !it.is_empty())?;
    let mime = text(data, "mimeType").or_else(|| find(headers, "content-type")).unwrap_or("");
    let fields = params.iter().take(10_000).filter_map(|it| {
        let value = text(it, "value").or_else(|| text(it, "fileName")).unwrap_or("");
        Some((text(it, "name")?, value, text(it, "fileName")))
    });
    if mime.starts_with("multipart/") {
        let boundary = mime
            .split(';')
            .find_map(|it| it.trim().strip_prefix("boundary="))
            .map_or("boundary", |it| it.trim_matches('"'));
        let mut out = String::new();
        for (name, value, file) in fields {
            let file = file.map(|it| format!("; filename=\"{it}\"")).unwrap_or_default();
            let _ = write!(
                out,
                "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n"
            );
        }
        let _ = write!(out, "--{boundary}--\r\n");
        return limit(out.into_bytes());
    }
    let fields: Vec<(&str, &str)> = fields.map(|(name, value, _)| (name, value)).collect();
    limit(form(&fields, number(request, "bodySize")).into_bytes())
}

/// The body of a form of which there are names and values alone. Chrome leaves them encoded as sent, others decode them. `size`,
/// the length of the body, says which; without it, what no encoder would leave as it is.
fn form(fields: &[(&str, &str)], size: Option<i64>) -> String {
    let encoded = |fields: &mut dyn Iterator<Item = (String, String)>| {
        let mut out = url::form_urlencoded::Serializer::new(String::new());
        fields.for_each(|(name, value)| _ = out.append_pair(&name, &value));
        out.finish()
    };
    let decode = |it: &str| {
        let it = it.replace('+', " ");
        percent_encoding::percent_decode_str(&it)
            .decode_utf8()
            .map_or(it.clone(), std::borrow::Cow::into_owned)
    };
    let as_typed = encoded(&mut fields.iter().map(|it| (it.0.to_owned(), it.1.to_owned())));
    let as_sent = encoded(&mut fields.iter().map(|it| (decode(it.0), decode(it.1))));
    let raw: Vec<String> = fields.iter().map(|it| format!("{}={}", it.0, it.1)).collect();
    let is_size = |it: &str| size.is_some_and(|size| usize::try_from(size) == Ok(it.len()));
    if is_size(&as_typed) {
        return as_typed;
    }
    if is_size(&raw.join("&")) || is_size(&as_sent) {
        return as_sent;
    }
    let is_decoded = |it: &str| {
        let digits =
            |rest: &str| rest.len() >= 2 && rest.bytes().take(2).all(|it| it.is_ascii_hexdigit());
        !it.bytes().all(|it| it.is_ascii_graphic()) || it.split('%').skip(1).any(|it| !digits(it))
    };
    // Some tools decode values and leave names.
    encoded(&mut fields.iter().map(|(name, value)| {
        let pair = [*name, *value];
        let is_sent = pair.iter().any(|it| it.contains('%')) && !pair.into_iter().any(is_decoded);
        let [name, value] = pair.map(|it| if is_sent { decode(it) } else { it.to_owned() });
        (name, value)
    }))
}

/// Chrome and Playwright write an object, WebPageTest a URL and `_initiator_type`; Firefox and Safari nothing.
fn initiator(entry: &Value) -> Initiator {
    let it = entry.get("_initiator");
    let object = it.filter(|it| it.is_object());
    let kind = object.and_then(|it| text(it, "type")).or_else(|| text(entry, "_initiator_type"));
    let frames = object.and_then(|it| it.get("stack")).is_some_and(|it| {
        it.get("parent").is_some() || it["callFrames"].as_array().is_some_and(|it| !it.is_empty())
    });
    let kind = match kind.map(str::to_ascii_lowercase).as_deref() {
        Some("script" | "xmlhttprequest" | "fetch" | "json") => InitiatorKind::Script,
        Some("parser" | "html" | "css") => InitiatorKind::Parser,
        Some("preload") => InitiatorKind::Preload,
        _ if frames => InitiatorKind::Script,
        _ => InitiatorKind::Other,
    };
    Initiator { kind, has_stack: frames, page_url: String::new(), target: TargetKind::Page }
}

pub fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// Numbers, also where they were written as text.
fn number(value: &Value, key: &str) -> Option<i64> {
    float(value, key).map(|it| it as i64)
}

fn float(value: &Value, key: &str) -> Option<f64> {
    match value.get(key)? {
        Value::Number(it) => it.as_f64(),
        Value::String(it) => it.trim().parse().ok(),
        _ => None,
    }
    .filter(|it| it.is_finite())
}
