//! A file that a page downloads, as an answer of the recording.
//!
//! The browser of a recording refuses downloads and keeps nothing of them. Which request it was is known, and it is sent once more.

use commis_artifacts::recording::ResourceType;
use commis_browser::Context;
use commis_net::transport::PreparedRequest;
use commis_recipe::{file_facts::is_attachment, model::TransportKind};
use commis_redact::raw::{RawBody, RawExchange, RawRecording};
use commis_stages::signals::last_action;

/// Asks for the file that the last action downloaded, where a GET did. A failure, and an answer of another type, add nothing.
pub async fn fetch_download(context: &Context, raw: &mut RawRecording) {
    let last = last_action(&raw.actions);
    let is_download = |it: &&mut RawExchange| {
        matches!(it.resource_type, ResourceType::Document | ResourceType::Iframe)
            && it.after_action == last
            && it.method == "GET"
            && it.status == Some(200)
            && matches!(it.body, RawBody::Missing(_))
            && is_attachment(&it.response_headers)
    };
    let Some(found) = raw.exchanges.iter_mut().rfind(is_download) else { return };
    let accept = found.request_headers.iter().filter(|it| it.0.eq_ignore_ascii_case("accept"));
    let request = PreparedRequest {
        method: found.method.clone(),
        url: found.url.to_string(),
        headers: accept.cloned().collect(),
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    };
    let sent = context.transport(TransportKind::ContextRequest).send(&request).await;
    let mime = found.mime.split(';').next().unwrap_or("").trim();
    if let Ok(reply) = sent
        && reply.status == 200
        && reply.mime().eq_ignore_ascii_case(mime)
    {
        found.body = RawBody::Captured(reply.body);
        raw.notes.push("the file that the page downloaded was asked for once more".to_owned());
    }
}
