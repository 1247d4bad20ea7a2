//! One exchange as calls of an interface: usually one, and of a batch of GraphQL or JSON-RPC one each.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{operation, operation::Operation, string_formats::is_redacted};
use commis_artifacts::recording::BodyStatus;
use commis_recipe::{headers::is_ambient, model::Framing};
use commis_redact::{
    JsonFrame, essence, json_of, parts,
    raw::{RawBody, RawExchange},
};
use commis_report::is_unsafe_char;

/// Longer names of parameters are none.
const MAX_NAME: usize = 100;
const MAX_FIELDS: usize = 256;
/// What is behind the last of so many is one segment.
const MAX_SEGMENTS: usize = 48;

/// One call: what was sent, and what came. Everything in it is redacted.
pub struct Call {
    pub method: String,
    /// Scheme, host and port.
    pub origin: String,
    pub host: String,
    /// Segments of the path as written, without the first slash.
    pub segments: Vec<String>,
    pub query: Vec<(String, String)>,
    /// Lower-case names of headers that a program set.
    pub headers: Vec<(String, String)>,
    pub auth: BTreeSet<Auth>,
    pub operation: Option<Operation>,
    /// It was one of several in a list.
    pub is_batch: bool,
    pub sent: Option<SentBody>,
    pub status: Option<u16>,
    pub answer: Answer,
}

/// How a call says who it is from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Auth {
    /// A scheme of HTTP, lower case: `bearer`, `basic`.
    Http(String),
    Header(String),
    Query(String),
    Cookie(String),
}

/// A request body.
pub enum SentBody {
    Json(String, Value),
    Form(Vec<(String, String)>),
    /// Name, value, and whether it is a file.
    Multipart(Vec<(String, String, bool)>),
    /// Its type.
    Other(String),
}

pub enum Answer {
    Json {
        mime: String,
        value: Value,
        framing: Option<Framing>,
    },
    /// There is one of that type, and it is no JSON, or it was not recorded.
    Media(String),
    None,
}

/// What an exchange sent, read once.
pub struct Request {
    pub query: Vec<(String, String)>,
    pub sent: Option<SentBody>,
    /// Empty for what is neither GraphQL nor JSON-RPC; several for a batch.
    pub operations: Vec<Operation>,
    pub is_batch: bool,
}

impl Request {
    pub fn from_exchange(raw: &RawExchange) -> Self {
        let query: Vec<(String, String)> = raw
            .url
            .query_pairs()
            .take(MAX_FIELDS)
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .filter(|it| is_name(&it.0))
            .collect();
        let sent = read_body(raw);
        let (operations, is_batch) = match &sent {
            Some(SentBody::Json(_, Value::Array(all))) if !all.is_empty() => {
                let found = all.iter().map(operation::find_in_json).collect::<Option<Vec<_>>>();
                (found.unwrap_or_default(), true)
            }
            Some(SentBody::Json(_, it)) => {
                (operation::find_in_json(it).into_iter().collect(), false)
            }
            Some(SentBody::Form(fields)) => {
                (operation::find_in_fields(fields).into_iter().collect(), false)
            }
            _ => (operation::find_in_fields(&query).into_iter().collect(), false),
        };
        Self { query, sent, operations, is_batch }
    }
}

/// The answer's data, if there is any to tell.
pub fn read_answer(raw: &RawExchange) -> Answer {
    let mime = essence(&raw.mime);
    if let Some((value, JsonFrame { framing, .. })) = json_of(raw) {
        let mime = if mime.is_empty() { "application/json".to_owned() } else { mime };
        return Answer::Json { mime, value, framing };
    }
    let is_empty = matches!(raw.body, RawBody::Missing(BodyStatus::Empty | BodyStatus::Failed));
    if mime.is_empty() || is_empty { Answer::None } else { Answer::Media(mime) }
}

/// The calls that an exchange is.
pub fn calls(raw: &RawExchange, cookies: &[String], request: Request, answer: Answer) -> Vec<Call> {
    let auth = find_auth(raw, cookies, &request.query);
    let origin = raw.url.origin().ascii_serialization();
    let path = raw.url.path().strip_prefix('/').unwrap_or(raw.url.path());
    // `;jsessionid=…` is no part of the name.
    let segments: Vec<String> = path
        .splitn(MAX_SEGMENTS, '/')
        .map(|it| it.split(';').next().unwrap_or_default().to_owned())
        .collect();
    let secret = |name: &str| auth.contains(&Auth::Query(name.to_owned()));
    let query: Vec<(String, String)> =
        request.query.into_iter().filter(|it| !secret(&it.0)).collect();
    let headers = headers(raw, &auth);
    let one = |operation, is_batch, sent, answer| Call {
        method: raw.method.clone(),
        origin: origin.clone(),
        host: raw.url.host_str().unwrap_or_default().to_owned(),
        segments: segments.clone(),
        query: query.clone(),
        headers: headers.clone(),
        auth: auth.clone(),
        operation,
        is_batch,
        sent,
        status: raw.status,
        answer,
    };
    let mut operations = request.operations;
    match (request.sent, answer) {
        (Some(SentBody::Json(mime, Value::Array(sent))), answer)
            if request.is_batch && !operations.is_empty() =>
        {
            let (answers, type_of, framing) = match answer {
                Answer::Json { mime, value: Value::Array(all), framing }
                    if all.len() == sent.len() =>
                {
                    (all.into_iter().map(Some).collect(), mime, framing)
                }
                _ => (vec![None; sent.len()], String::new(), None),
            };
            let each = operations.into_iter().zip(sent).zip(answers);
            each.map(|((operation, sent), answer)| {
                let answer = match answer {
                    Some(it) => Answer::Json {
                        mime: type_of.clone(),
                        value: Value::Array(vec![it]),
                        framing,
                    },
                    None => Answer::None,
                };
                let sent = SentBody::Json(mime.clone(), Value::Array(vec![sent]));
                one(Some(operation), true, Some(sent), answer)
            })
            .collect()
        }
        (sent, answer) => vec![one(operations.pop(), false, sent, answer)],
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.chars().count() <= MAX_NAME
        && !is_redacted(name)
        && !name.chars().any(|it| is_unsafe_char(it) || it.is_whitespace())
}

fn header<'a>(raw: &'a RawExchange, name: &str) -> Option<&'a str> {
    let found = raw.request_headers.iter().find(|it| it.0.eq_ignore_ascii_case(name));
    found.map(|it| it.1.as_str())
}

fn read_body(raw: &RawExchange) -> Option<SentBody> {
    let bytes = raw.request_body.as_deref().filter(|it| !it.is_empty())?;
    let written = header(raw, "content-type").unwrap_or("");
    let mime = essence(written);
    if mime.starts_with("multipart/") {
        let all = parts(bytes, written).into_iter().filter(|it| is_name(&it.name));
        let fields = all.map(|it| (it.name, it.value, it.file.is_some())).collect();
        return Some(SentBody::Multipart(fields));
    }
    let start = bytes.iter().find(|b| !b.is_ascii_whitespace());
    if (mime.contains("json") || matches!(start, Some(b'{' | b'[')))
        && let Ok(value) = serde_json::from_slice(bytes)
    {
        let is_json = mime.contains("json") || mime.contains("graphql");
        // Some send JSON as text, so that no preflight is made.
        let mime =
            if is_json || mime == "text/plain" { mime } else { "application/json".to_owned() };
        return Some(SentBody::Json(mime, value));
    }
    let is_form = mime == "application/x-www-form-urlencoded"
        || (mime.is_empty() && bytes.contains(&b'=') && !bytes.contains(&b'\n'));
    if is_form {
        let all = url::form_urlencoded::parse(bytes).take(MAX_FIELDS);
        let all = all.map(|(name, value)| (name.into_owned(), value.into_owned()));
        return Some(SentBody::Form(all.filter(|it| is_name(&it.0)).collect()));
    }
    if mime == "application/graphql" {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return Some(SentBody::Json(mime, serde_json::json!({"query": text})));
    }
    let mime = if mime.is_empty() { "application/octet-stream".to_owned() } else { mime };
    Some(SentBody::Other(mime))
}

fn find_auth(raw: &RawExchange, cookies: &[String], query: &[(String, String)]) -> BTreeSet<Auth> {
    let mut out = BTreeSet::new();
    for (name, value) in &raw.request_headers {
        let name = name.to_ascii_lowercase();
        match name.as_str() {
            "authorization" => {
                let scheme = value.split(' ').next().unwrap_or_default().to_ascii_lowercase();
                let plain = value.contains(' ')
                    && scheme.len() <= 24
                    && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
                out.insert(if plain { Auth::Http(scheme) } else { Auth::Header(name) });
            }
            // Values that only a browser sets.
            _ if is_browser_header(&name) => {}
            _ if is_redacted(value) => _ = out.insert(Auth::Header(name)),
            _ => {}
        }
    }
    let hidden = query.iter().filter(|it| is_redacted(&it.1) && is_key_name(&it.0));
    out.extend(hidden.map(|it| Auth::Query(it.0.clone())));
    let session = cookies.iter().filter(|it| {
        let name = it.to_ascii_lowercase();
        is_name(it)
            && !it.contains(['=', ';', ','])
            && SESSION.iter().any(|word| name.contains(word))
            && !ASIDE.iter().any(|word| name.contains(word))
    });
    out.extend(session.take(4).map(|it| Auth::Cookie(it.clone())));
    out
}

/// What names of query parameters that hold a key are made of; other hidden values are parameters.
pub fn is_key_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    [
        "key",
        "token",
        "secret",
        "auth",
        "sig",
        "apikey",
        "appid",
        "client_id",
        "session",
        "sid",
        "password",
        "jwt",
    ]
    .iter()
    .any(|it| name.contains(it))
}

/// What names of cookies that say who asks are made of, and of those that only count visitors.
const SESSION: &[&str] = &["sess", "auth", "token", "jwt", "sid", "login", "remember"];
const ASIDE: &[&str] = &[
    "_ga",
    "_gid",
    "analytics",
    "consent",
    "amplitude",
    "optimizely",
    "visitor",
    "csrf",
    "xsrf",
    "aside",
    "side_",
];

/// Headers that browsers and networks write, whatever the interface is.
fn is_browser_header(name: &str) -> bool {
    const OWN: &[&str] = &[
        "accept",
        "accept-charset",
        "content-type",
        "content-encoding",
        "forwarded",
        "purpose",
        "warning",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
        "b3",
        "x-request-id",
        "x-correlation-id",
        "x-devtools-emulate-network-conditions-client-id",
        "device-memory",
        "downlink",
        "dpr",
        "ect",
        "rtt",
        "viewport-width",
        "width",
        "authorization",
    ];
    name.starts_with(':')
        || name.starts_with("sec-")
        || name.starts_with("access-control-")
        || name.starts_with("x-datadog-")
        || name.starts_with("x-b3-")
        || name.starts_with("x-newrelic-")
        || name.starts_with("cf-")
        || is_ambient(name)
        || OWN.contains(&name)
}

/// What a program of the page set, without what says who it is.
fn headers(raw: &RawExchange, auth: &BTreeSet<Auth>) -> Vec<(String, String)> {
    let mut out: BTreeMap<String, String> = BTreeMap::new();
    for (name, value) in &raw.request_headers {
        let name = name.to_ascii_lowercase();
        let token = name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
        if token
            && is_name(&name)
            && !is_browser_header(&name)
            && !auth.contains(&Auth::Header(name.clone()))
        {
            out.insert(name, value.clone());
        }
    }
    out.into_iter().collect()
}
