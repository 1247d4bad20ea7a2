//! A file that a page downloads, as an answer of the recording.
//!
//! The browser of a recording refuses downloads and keeps nothing of them. Which request it was is known, and it is sent once more.

use commis_artifacts::recording::{
    BodyStatus, Initiator, InitiatorKind, ResourceType, TargetKind, Timing,
};
use commis_browser::Context;
use commis_net::transport::{PreparedRequest, Reply};
use commis_recipe::{file_facts::is_attachment, model::TransportKind};
use commis_redact::raw::{RawBody, RawExchange, RawRecording};
use commis_stages::{download::unseen_download, signals::last_action};
use url::Url;

/// Says of an answer that it is a file. A link with `download` says so in the server's place.
const ATTACHMENT: (&str, &str) = ("content-disposition", "attachment");

/// Asks for the file that the last action downloaded, where a GET did. A failure, and an answer of another type, add nothing.
pub async fn fetch_download(context: &Context, raw: &mut RawRecording) {
    let last = last_action(&raw.actions);
    let is_download = |it: &RawExchange| {
        matches!(it.resource_type, ResourceType::Document | ResourceType::Iframe)
            && it.after_action == last
            && it.method == "GET"
            && it.status == Some(200)
            && matches!(it.body, RawBody::Missing(_))
            && is_attachment(&it.response_headers)
    };
    if let Some(at) = raw.exchanges.iter().rposition(is_download) {
        let found = &mut raw.exchanges[at];
        let accept = found.request_headers.iter().filter(|it| it.0.eq_ignore_ascii_case("accept"));
        let accept = accept.cloned().collect();
        let mime = found.mime.split(';').next().unwrap_or("").trim();
        if let Some(reply) = ask(context, &found.url, accept).await
            && reply.mime().eq_ignore_ascii_case(mime)
        {
            found.body = RawBody::Captured(reply.body);
            raw.notes.push("the file that the page downloaded was asked for once more".to_owned());
        }
        return;
    }
    let asked_after = raw.exchanges.iter().map(|it| it.after_action);
    let url = unseen_download(&raw.blocked, asked_after, &raw.actions);
    let url = url.and_then(|it| Url::parse(it).ok()).filter(|it| it.scheme().starts_with("http"));
    if let Some(url) = url
        && let Some(reply) = ask(context, &url, Vec::new()).await
    {
        raw.exchanges.push(saved_by_link(reply, url, raw, last));
        raw.notes.push("the file that a link of the page saves was asked for".to_owned());
    }
}

async fn ask(context: &Context, url: &Url, headers: Vec<(String, String)>) -> Option<Reply> {
    let request = PreparedRequest {
        method: "GET".to_owned(),
        url: url.to_string(),
        headers,
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    };
    let sent = context.transport(TransportKind::ContextRequest).send(&request).await;
    sent.ok().filter(|it| it.status == 200)
}

/// The exchange that the browser did not show.
fn saved_by_link(reply: Reply, url: Url, raw: &RawRecording, after: Option<u32>) -> RawExchange {
    let mime = reply.mime();
    let mut headers = reply.headers;
    if !is_attachment(&headers) {
        headers.retain(|it| it.0 != ATTACHMENT.0);
        headers.push((ATTACHMENT.0.to_owned(), ATTACHMENT.1.to_owned()));
    }
    let body = if reply.body.is_empty() {
        RawBody::Missing(BodyStatus::Empty)
    } else {
        RawBody::Captured(reply.body)
    };
    RawExchange {
        method: "GET".to_owned(),
        url,
        request_headers: Vec::new(),
        request_body: None,
        status: Some(reply.status),
        response_headers: headers,
        mime,
        resource_type: ResourceType::Document,
        initiator: Initiator {
            kind: InitiatorKind::Other,
            has_stack: false,
            page_url: raw.page.url.clone(),
            target: TargetKind::Page,
        },
        timing: Timing { start_ms: raw.duration_ms, ..Timing::default() },
        after_action: after,
        redirected_from: None,
        encoded_bytes: None,
        body,
    }
}
