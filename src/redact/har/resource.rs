//! The kind of a resource: what the exporter says, else what the request and its answer suggest.

use url::Url;

use commis_artifacts::recording::ResourceType;

/// What Firefox, Safari and mitmproxy leave us with.
pub struct ResourceClues<'a> {
    pub method: &'a str,
    pub mime: &'a str,
    pub url: &'a Url,
    pub request: &'a [(String, String)],
    pub response: &'a [(String, String)],
    /// A script is known to have asked.
    pub script: bool,
}

pub fn infer(said: Option<&str>, clues: &ResourceClues<'_>) -> ResourceType {
    said.and_then(from_name).unwrap_or_else(|| guess(clues))
}

/// Names of Chrome and Playwright; WebKit capitalises them. `other` says nothing.
fn from_name(name: &str) -> Option<ResourceType> {
    Some(match name.to_ascii_lowercase().as_str() {
        "document" | "main_frame" => ResourceType::Document,
        "iframe" | "sub_frame" | "subdocument" | "frame" => ResourceType::Iframe,
        "xhr" | "xmlhttprequest" => ResourceType::Xhr,
        "fetch" => ResourceType::Fetch,
        "script" => ResourceType::Script,
        "stylesheet" => ResourceType::Stylesheet,
        "image" | "imageset" => ResourceType::Image,
        "font" => ResourceType::Font,
        "media" | "texttrack" => ResourceType::Media,
        "websocket" => ResourceType::Websocket,
        "eventsource" => ResourceType::EventSource,
        "ping" | "beacon" | "cspviolationreport" | "csp-violation-report" => ResourceType::Ping,
        "preflight" => ResourceType::Preflight,
        "prefetch" | "preload" => ResourceType::Prefetch,
        "manifest" | "webmanifest" => ResourceType::Manifest,
        "signedexchange" | "signed-exchange" => ResourceType::Other,
        _ => return None,
    })
}

fn guess(clues: &ResourceClues<'_>) -> ResourceType {
    let header = |name: &str| find(clues.request, name).unwrap_or("").to_ascii_lowercase();
    if clues.method == "OPTIONS" && !header("access-control-request-method").is_empty() {
        return ResourceType::Preflight;
    }
    match header("sec-fetch-dest").as_str() {
        "document" => return ResourceType::Document,
        "iframe" | "frame" => return ResourceType::Iframe,
        "script" | "worker" | "sharedworker" | "serviceworker" => return ResourceType::Script,
        "style" => return ResourceType::Stylesheet,
        "image" => return ResourceType::Image,
        "font" => return ResourceType::Font,
        "audio" | "video" | "track" => return ResourceType::Media,
        "manifest" => return ResourceType::Manifest,
        "empty" => return ResourceType::Fetch,
        _ => {}
    }
    if header("x-requested-with") == "xmlhttprequest" {
        return ResourceType::Xhr;
    }
    let mime = clues.mime.split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    let accept = header("accept");
    let by_mime = match mime.as_str() {
        "text/css" => Some(ResourceType::Stylesheet),
        "text/event-stream" => Some(ResourceType::EventSource),
        "application/manifest+json" => Some(ResourceType::Manifest),
        _ if mime.starts_with("image/") => Some(ResourceType::Image),
        _ if mime.starts_with("font/") || mime.contains("font") => Some(ResourceType::Font),
        _ if mime.starts_with("video/") || mime.starts_with("audio/") => Some(ResourceType::Media),
        _ if mime.contains("javascript") || mime.contains("ecmascript") => {
            Some(ResourceType::Script)
        }
        _ => None,
    };
    if let Some(it) = by_mime {
        return it;
    }
    if mime.contains("json") || mime.contains("graphql") {
        // Opened in the address bar it would be a document.
        let navigated = accept.starts_with("text/html") && !clues.script;
        return if navigated { ResourceType::Document } else { ResourceType::Xhr };
    }
    if mime.contains("html") {
        let fetched = clues.script
            || accept.starts_with("application/json")
            || (accept == "*/*" && find(clues.request, "upgrade-insecure-requests") != Some("1"));
        return if fetched { ResourceType::Xhr } else { ResourceType::Document };
    }
    let redirect = find(clues.response, "location").is_some() && accept.starts_with("text/html");
    if redirect {
        return ResourceType::Document;
    }
    if mime.starts_with("text/") || mime.contains("xml") {
        return ResourceType::Xhr;
    }
    let path = clues.url.path();
    let end = path.rsplit_once('.').map_or("", |it| it.1);
    match end {
        "js" | "mjs" => ResourceType::Script,
        "css" => ResourceType::Stylesheet,
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "svg" | "ico" | "avif" => ResourceType::Image,
        "woff" | "woff2" | "ttf" | "otf" => ResourceType::Font,
        "mp4" | "webm" | "mp3" | "m4s" => ResourceType::Media,
        _ => ResourceType::Other,
    }
}

/// The value of a header.
pub fn find<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|it| it.0.eq_ignore_ascii_case(name)).map(|it| it.1.as_str())
}
