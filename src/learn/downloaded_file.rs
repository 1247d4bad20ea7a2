//! A file that a page downloads, as an answer of the recording.
//!
//! The browser of a recording refuses downloads and keeps nothing of them. Which request it was is known, and it is sent once more.

use commis_artifacts::recording::ResourceType;
use commis_base::error::Code;
use commis_browser::Context;
use commis_net::transport::PreparedRequest;
use commis_recipe::{file_facts::is_attachment, model::TransportKind};
use commis_redact::raw::{RawBody, RawExchange, RawRecording};

/// Asks for the file that was downloaded last, where a GET did. A failure, and an answer of another type, add nothing.
pub async fn fetch_download(context: &Context, raw: &mut RawRecording) {
    let refused = raw.blocked.iter().filter(|it| it.code == Code::DownloadBlocked.as_str());
    let refused: Vec<String> = refused.map(|it| it.url.clone()).collect();
    let Some(at) = raw.exchanges.iter().rposition(|it| is_download(it, &refused)) else { return };
    let found = &raw.exchanges[at];
    let accept = found.request_headers.iter().filter(|it| it.0.eq_ignore_ascii_case("accept"));
    let request = PreparedRequest {
        method: "GET".to_owned(),
        url: found.url.to_string(),
        headers: accept.cloned().collect(),
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    };
    let sent = context.transport(TransportKind::ContextRequest).send(&request).await;
    let Ok(reply) = sent else { return };
    let mime = found.mime.split(';').next().unwrap_or("").trim();
    if reply.status != 200 || !reply.mime().eq_ignore_ascii_case(mime) {
        return;
    }
    raw.notes.push("the file that the page downloaded was asked for once more".to_owned());
    raw.exchanges[at].body = RawBody::Captured(reply.body);
}

fn is_download(it: &RawExchange, refused: &[String]) -> bool {
    let is_page = matches!(it.resource_type, ResourceType::Document | ResourceType::Iframe);
    is_page
        && it.method == "GET"
        && it.status == Some(200)
        && matches!(it.body, RawBody::Missing(_))
        && (is_attachment(&it.response_headers) || refused.iter().any(|of| *of == it.url.as_str()))
}
