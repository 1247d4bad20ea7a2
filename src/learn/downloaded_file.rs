//! A file that a page downloads, as an answer of the recording.
//!
//! The browser of a recording refuses downloads and keeps nothing of them. Which request it was is known, and it is sent once more.

use url::Url;

use super::own_address::document;
use commis_artifacts::recording::ResourceType;
use commis_base::error::Code;
use commis_browser::Context;
use commis_net::transport::PreparedRequest;
use commis_recipe::{file_facts::is_attachment, model::TransportKind};
use commis_redact::raw::{RawBody, RawExchange, RawRecording};

const NOTE: &str = "the file that the page downloaded was asked for once more";

/// Asks for the file that was downloaded last, where a GET did. A failure, and an answer of another type, add nothing. Where only reads
/// are allowed, `reads_only`, it has to be a request that the browser was allowed.
pub async fn fetch_download(context: &Context, raw: &mut RawRecording, reads_only: bool) {
    let is_download = |it: &&mut RawExchange| {
        matches!(it.resource_type, ResourceType::Document | ResourceType::Iframe)
            && it.method == "GET"
            && it.status == Some(200)
            && matches!(it.body, RawBody::Missing(_))
            && is_attachment(&it.response_headers)
    };
    if let Some(found) = raw.exchanges.iter_mut().rfind(is_download) {
        let request = get(&found.url, &found.request_headers);
        let sent = context.transport(TransportKind::ContextRequest).send(&request).await;
        let mime = found.mime.split(';').next().unwrap_or("").trim();
        if let Ok(reply) = sent
            && reply.status == 200
            && reply.mime().eq_ignore_ascii_case(mime)
        {
            found.body = RawBody::Captured(reply.body);
            raw.notes.push(NOTE.to_owned());
        }
        return;
    }
    // What a link marks as a download, Chromium asks for out of the page's sight.
    let refused = raw.blocked.iter().rfind(|it| it.code == Code::DownloadBlocked.as_str());
    let Some(url) = refused.and_then(|it| Url::parse(&it.url).ok()) else { return };
    if reads_only || !matches!(url.scheme(), "http" | "https") {
        return;
    }
    let request = get(&url, &[]);
    let sent = context.transport(TransportKind::ContextRequest).send(&request).await;
    if let Ok(reply) = sent
        && reply.status == 200
        && !reply.mime().contains("html")
    {
        let exchange = document(raw, url, request, reply);
        raw.exchanges.push(exchange);
        raw.notes.push(NOTE.to_owned());
    }
}

/// The same request; of its headers the one that says which type is wanted.
fn get(url: &Url, headers: &[(String, String)]) -> PreparedRequest {
    let accept = headers.iter().filter(|it| it.0.eq_ignore_ascii_case("accept"));
    PreparedRequest {
        method: "GET".to_owned(),
        url: url.to_string(),
        headers: accept.cloned().collect(),
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    }
}
