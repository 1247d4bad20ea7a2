//! One hop of one request, and what it becomes in a recording.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use url::Url;

use super::{cdp_network, proxy};
use commis_artifacts::recording::{
    BodyStatus, Initiator, InitiatorKind, ResourceType, TargetKind, Timing,
};
use commis_recipe::file_facts::is_attachment;
use commis_redact::raw::{RawBody, RawExchange};

/// Longer bodies are not read.
pub const MAX_BODY: usize = 8 << 20;

/// One hop of one request.
#[derive(Clone)]
pub struct Hop {
    pub id: String,
    pub session: Arc<str>,
    pub target: TargetKind,
    pub url: Url,
    pub sent: cdp_network::RequestWillBeSent,
    pub arrived: Instant,
    pub post_data: Option<Vec<u8>>,
    pub redirected_from: Option<usize>,
    pub response: Option<cdp_network::Response>,
    pub has_extra: bool,
    pub decoded: u64,
    pub encoded: Option<u64>,
    /// Seconds on the browser's clock.
    pub headers_at: Option<f64>,
    pub ended_at: Option<f64>,
    pub end: HopEnd,
    pub body: HopBody,
    pub reads: u32,
}

/// How its answer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HopEnd {
    /// It has not, or it is whole.
    Well,
    Failed,
    /// The page gave it up.
    GivenUp,
}

/// How far its answer has come.
pub enum HopBody {
    /// No answer yet, or not whole yet.
    Coming,
    Known(RawBody),
}

impl Clone for HopBody {
    fn clone(&self) -> Self {
        Self::Known(match self {
            Self::Coming => return Self::Coming,
            Self::Known(RawBody::Captured(it)) => RawBody::Captured(it.clone()),
            Self::Known(RawBody::Missing(it)) => RawBody::Missing(*it),
            // Never a browser's.
            Self::Known(RawBody::Elsewhere(_)) => RawBody::Missing(BodyStatus::Absent),
        })
    }
}

impl Hop {
    /// Chromium 156 says so in the initiator, others in the type.
    pub fn is_preflight(&self) -> bool {
        self.sent.kind == "Preflight" || self.sent.initiator.kind == "preflight"
    }

    /// Whether URL or body hold a text that [`plain`] has made comparable.
    pub fn carries(&self, text: &str) -> bool {
        let body = self.post_data.as_deref().map(|it| plain(&String::from_utf8_lossy(it)));
        plain(self.url.as_str()).contains(text) || body.is_some_and(|it| it.contains(text))
    }

    /// Pictures and beacons carry words, too.
    pub fn may_hold_data(&self) -> bool {
        let kinds = ["Document", "XHR", "Fetch", "Script", "Other"];
        kinds.contains(&&*self.sent.kind) && !self.is_preflight()
    }

    /// It may stay open as long as the page does.
    pub fn is_stream(&self) -> bool {
        matches!(&*self.sent.kind, "WebSocket" | "EventSource")
    }

    /// Why the body is not worth reading, if so.
    pub fn unread(&self) -> Option<BodyStatus> {
        let response = self.response.as_ref()?;
        let mime = response.mime_type.to_ascii_lowercase();
        let family = mime.split('/').next().unwrap_or("");
        if self.is_preflight() {
            return Some(BodyStatus::Empty);
        }
        let size = self.decoded.max(self.encoded.unwrap_or(0));
        if is_attachment(&cdp_network::pairs(&response.headers)) {
            return (size > MAX_BODY as u64).then_some(BodyStatus::TooLarge);
        }
        match &*self.sent.kind {
            "Image" | "Font" | "Media" => return Some(BodyStatus::Binary),
            "Stylesheet" | "WebSocket" => return Some(BodyStatus::Absent),
            _ => {}
        }
        if self.sent.request.method == "HEAD" || matches!(response.status, 204 | 205 | 304) {
            return Some(BodyStatus::Empty);
        }
        if mime != "image/svg+xml" && matches!(family, "image" | "font" | "audio" | "video") {
            return Some(BodyStatus::Binary);
        }
        (size > MAX_BODY as u64).then_some(BodyStatus::TooLarge)
    }

    /// Nothing was to come after this body: it has the length that was announced, or is JSON, which says where it ends.
    pub fn is_whole(&self, body: &[u8]) -> bool {
        let Some(response) = &self.response else { return false };
        let headers = cdp_network::pairs(&response.headers);
        let header = |name: &str| {
            headers.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.as_str())
        };
        let announced = header("content-length").and_then(|it| it.trim().parse::<u64>().ok());
        let is_plain = header("content-encoding").is_none_or(|it| it == "identity");
        let is_json = || {
            let mut lines = body.split(|it| *it == b'\n').filter(|it| !it.trim_ascii().is_empty());
            serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
                || (lines.clone().next().is_some()
                    && lines.all(|it| serde_json::from_slice::<serde::de::IgnoredAny>(it).is_ok()))
        };
        (is_plain && announced == Some(self.decoded)) || is_json()
    }

    pub fn resource_type(&self, main_frame: &str) -> ResourceType {
        if self.is_preflight() {
            return ResourceType::Preflight;
        }
        match &*self.sent.kind {
            "Document" if self.sent.frame_id.as_deref() == Some(main_frame) => {
                ResourceType::Document
            }
            "Document" => ResourceType::Iframe,
            "XHR" => ResourceType::Xhr,
            "Fetch" => ResourceType::Fetch,
            "Script" => ResourceType::Script,
            "Stylesheet" => ResourceType::Stylesheet,
            "Image" => ResourceType::Image,
            "Font" => ResourceType::Font,
            "Media" | "TextTrack" => ResourceType::Media,
            "WebSocket" => ResourceType::Websocket,
            "EventSource" => ResourceType::EventSource,
            "Ping" | "CSPViolationReport" => ResourceType::Ping,
            "Prefetch" => ResourceType::Prefetch,
            "Manifest" => ResourceType::Manifest,
            _ => ResourceType::Other,
        }
    }

    fn timing(&self, begun: Instant) -> Timing {
        let sent = self.sent.timestamp;
        // A WebSocket's creation carries no time.
        let since = |at: Option<f64>| match at {
            Some(at) if sent > 0.0 => ((at - sent) * 1000.0).round().max(0.0) as u64,
            _ => 0,
        };
        // When the socket saw the headers, which is earlier than when the page's process heard of them.
        let precise = self.response.as_ref().and_then(|it| it.timing.as_ref());
        let headers_at = precise
            .filter(|it| it.request_time > 0.0 && it.receive_headers_end > 0.0)
            .map(|it| it.request_time + it.receive_headers_end / 1000.0)
            .or(self.headers_at);
        Timing {
            start_ms: millis(self.arrived.saturating_duration_since(begun)),
            ttfb_ms: since(headers_at),
            total_ms: since(self.ended_at),
        }
    }

    pub fn into_exchange(
        self,
        begun: Instant,
        main_frame: &str,
        request_extra: Option<cdp_network::RequestExtra>,
        response_extra: Option<cdp_network::ResponseExtra>,
    ) -> RawExchange {
        let resource_type = self.resource_type(main_frame);
        let timing = self.timing(begun);
        let mut status = None;
        let mut response_headers = Vec::new();
        let mut mime = String::new();
        if let Some(response) = &self.response {
            status = Some(response.status).filter(|it| *it > 0);
            response_headers = cdp_network::pairs(&response.headers);
            mime.clone_from(&response.mime_type);
        }
        if let Some(extra) = response_extra {
            status = Some(extra.status_code).filter(|it| *it > 0).or(status);
            response_headers = cdp_network::pairs(&extra.headers);
        }
        let declared =
            response_headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        if let Some((_, value)) = declared {
            mime.clone_from(value);
        }
        let mut body = match self.body {
            HopBody::Known(body) => body,
            HopBody::Coming if resource_type == ResourceType::Websocket => {
                RawBody::Missing(BodyStatus::Absent)
            }
            HopBody::Coming => RawBody::Missing(BodyStatus::Inflight),
        };
        // Our proxy's refusal is not an answer of the server. It comes over http alone: a server behind https could forge it.
        let ours = |name: &str| {
            name.eq_ignore_ascii_case(proxy::BLOCKED_HEADER)
                || name.eq_ignore_ascii_case(proxy::ERROR_HEADER)
        };
        if self.url.scheme() == "http" && response_headers.iter().any(|(name, _)| ours(name)) {
            status = None;
            response_headers.clear();
            mime.clear();
            body = RawBody::Missing(BodyStatus::Failed);
        }
        let sent = self.sent;
        let request_headers = match &request_extra {
            Some(extra) if !extra.headers.is_empty() => sent.request.as_on_the_wire(extra),
            _ => cdp_network::pairs(&sent.request.headers),
        };
        RawExchange {
            method: sent.request.method,
            url: self.url,
            request_headers,
            request_body: self.post_data,
            status,
            response_headers,
            mime,
            resource_type,
            initiator: Initiator {
                kind: match &*sent.initiator.kind {
                    "parser" => InitiatorKind::Parser,
                    "script" => InitiatorKind::Script,
                    "preload" => InitiatorKind::Preload,
                    _ => InitiatorKind::Other,
                },
                has_stack: sent.initiator.stack.is_some(),
                page_url: sent.document_url,
                target: self.target,
            },
            timing,
            after_action: None,
            redirected_from: self.redirected_from.map(|it| it as u32),
            encoded_bytes: self.encoded,
            body,
        }
    }
}

/// Decoded as a URL or a form is, in lower case, white space as one blank.
pub fn plain(text: &str) -> String {
    let text = text.replace('+', " ");
    let decoded = percent_encoding::percent_decode_str(&text).decode_utf8_lossy().to_lowercase();
    decoded.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whole milliseconds.
pub fn millis(it: Duration) -> u64 {
    it.as_millis() as u64
}
