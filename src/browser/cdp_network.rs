//! The fields of network events that the recorder reads. All tolerant: unknown ones are skipped, missing ones defaulted.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

pub type Headers = BTreeMap<String, Value>;

/// Repeated headers come joined by a newline.
pub fn pairs(headers: &Headers) -> Vec<(String, String)> {
    let mut pairs = Vec::with_capacity(headers.len());
    for (name, value) in headers {
        // HTTP/2's `:authority` and relatives.
        let Some(value) = value.as_str().filter(|_| !name.starts_with(':')) else {
            continue;
        };
        for line in value.split('\n') {
            pairs.push((name.clone(), line.to_owned()));
        }
    }
    pairs
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Id {
    pub request_id: String,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestWillBeSent {
    pub request_id: String,
    #[serde(default, rename = "documentURL")]
    pub document_url: String,
    pub request: Request,
    #[serde(default)]
    pub timestamp: f64,
    #[serde(default)]
    pub initiator: Initiator,
    pub redirect_response: Option<Response>,
    #[serde(default)]
    pub redirect_has_extra_info: bool,
    #[serde(default, rename = "type")]
    pub kind: String,
    pub frame_id: Option<String>,
}

impl RequestWillBeSent {
    /// A WebSocket as a request that never ends.
    pub fn socket(it: SocketCreated) -> Self {
        Self {
            request_id: it.request_id,
            document_url: String::new(),
            request: Request {
                url: it.url,
                method: "GET".to_owned(),
                headers: Headers::new(),
                post_data: None,
                has_post_data: false,
                post_data_entries: Vec::new(),
            },
            timestamp: 0.0,
            initiator: it.initiator,
            redirect_response: None,
            redirect_has_extra_info: false,
            kind: "WebSocket".to_owned(),
            frame_id: None,
        }
    }
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub url: String,
    pub method: String,
    #[serde(default)]
    pub headers: Headers,
    post_data: Option<String>,
    #[serde(default)]
    pub has_post_data: bool,
    #[serde(default)]
    post_data_entries: Vec<PostDataEntry>,
}

#[derive(Clone, Deserialize)]
struct PostDataEntry {
    bytes: Option<String>,
}

impl Request {
    /// The extra headers without what only our set-up added: the proxy's, and those of a disabled cache.
    pub fn as_on_the_wire(&self, extra: &RequestExtra) -> Vec<(String, String)> {
        let asked = |name: &str| self.headers.keys().any(|it| it.eq_ignore_ascii_case(name));
        let mut pairs = pairs(&extra.headers);
        pairs.retain(|(name, _)| match &*name.to_ascii_lowercase() {
            "proxy-connection" | "proxy-authorization" => false,
            "cache-control" | "pragma" => asked(name),
            _ => true,
        });
        pairs
    }

    /// The body as bytes, if the event holds all of it. Entries are exact; the text form is lossy for binary data.
    pub fn post_data(&self) -> Option<Vec<u8>> {
        let decode = |it: &PostDataEntry| STANDARD.decode(it.bytes.as_ref()?).ok();
        let parts: Option<Vec<_>> = self.post_data_entries.iter().map(decode).collect();
        match parts {
            Some(parts) if !parts.is_empty() => Some(parts.concat()),
            _ => self.post_data.clone().map(String::into_bytes),
        }
    }
}

#[derive(Clone, Deserialize, Default)]
#[serde(default)]
pub struct Initiator {
    #[serde(rename = "type")]
    pub kind: String,
    pub stack: Option<IgnoredAny>,
}

#[derive(Clone, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct Response {
    pub status: u16,
    pub headers: Headers,
    pub mime_type: String,
    pub timing: Option<ResourceTiming>,
}

impl Response {
    /// The header of that name; the type alone where there is none.
    pub fn content_type(&self) -> &str {
        let found = self.headers.iter().find(|it| it.0.eq_ignore_ascii_case("content-type"));
        found.and_then(|it| it.1.as_str()).unwrap_or(&self.mime_type)
    }
}

/// Seconds and, relative to them, milliseconds.
#[derive(Clone, Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceTiming {
    pub request_time: f64,
    pub receive_headers_end: f64,
}

#[derive(Clone, Deserialize)]
pub struct RequestExtra {
    #[serde(default)]
    pub headers: Headers,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseExtra {
    #[serde(default)]
    pub headers: Headers,
    #[serde(default)]
    pub status_code: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResponseReceived {
    pub request_id: String,
    pub timestamp: f64,
    pub response: Response,
    #[serde(default)]
    pub has_extra_info: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DataReceived {
    pub request_id: String,
    pub data_length: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadingFinished {
    pub request_id: String,
    pub timestamp: f64,
    #[serde(default)]
    pub encoded_data_length: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoadingFailed {
    pub request_id: String,
    pub timestamp: f64,
    /// The page gave it up itself.
    #[serde(default)]
    pub canceled: bool,
    /// Chromium's name of the failure.
    #[serde(default)]
    pub error_text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SocketCreated {
    pub request_id: String,
    pub url: String,
    #[serde(default)]
    pub initiator: Initiator,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SocketResponse {
    pub request_id: String,
    pub timestamp: f64,
    pub response: Response,
}
