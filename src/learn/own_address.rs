//! The page's own address as one more request of a recording.
//!
//! A page that goes from view to view by scripts asks for its data in a form that only its scripts read, and puts an address in the
//! browser's bar that its server answers with the same view as HTML. That answer can be read.

use url::Url;

use commis_artifacts::recording::{Initiator, InitiatorKind, ResourceType, TargetKind, Timing};
use commis_browser::Context;
use commis_net::transport::PreparedRequest;
use commis_recipe::model::TransportKind;
use commis_redact::{
    json_of,
    raw::{RawBody, RawExchange, RawRecording, contains_value},
};
use commis_stages::holds_references;

/// Asks for the page's address, where it holds what was typed, no document came from it, and what scripts were answered cannot be
/// read. A failure adds nothing.
pub async fn fetch_page_address(context: &Context, raw: &mut RawRecording) {
    let Some(url) = address(raw) else { return };
    let request = PreparedRequest {
        method: "GET".to_owned(),
        url: url.to_string(),
        headers: vec![("accept".to_owned(), "text/html".to_owned())],
        body: None,
        allowed_domains: Vec::new(),
        own_host: None,
    };
    let Ok(reply) = context.transport(TransportKind::InPageFetch).send(&request).await else {
        return;
    };
    let mime = reply.mime();
    if reply.status != 200 || !mime.contains("html") {
        return;
    }
    raw.notes.push("the page's own address was asked for, which a script had put there".to_owned());
    raw.exchanges.push(RawExchange {
        method: request.method,
        request_headers: request.headers,
        request_body: None,
        status: Some(reply.status),
        response_headers: reply.headers,
        mime,
        resource_type: ResourceType::Document,
        initiator: Initiator {
            kind: InitiatorKind::Other,
            has_stack: false,
            page_url: url.to_string(),
            target: TargetKind::Page,
        },
        url,
        timing: Timing::default(),
        after_action: raw.actions.len().checked_sub(1).map(|it| it as u32),
        redirected_from: None,
        encoded_bytes: None,
        body: RawBody::Captured(reply.body),
    });
}

fn address(raw: &RawRecording) -> Option<Url> {
    let mut url = Url::parse(&raw.page.url).ok()?;
    url.set_fragment(None);
    let is_web = matches!(url.scheme(), "http" | "https");
    let is_document = |it: &RawExchange| {
        it.resource_type == ResourceType::Document && it.method == "GET" && it.url == url
    };
    let holds = contains_value(&url, None, &raw.typed);
    if !is_web || !holds || raw.exchanges.iter().any(is_document) {
        return None;
    }
    let is_call = |it: &&RawExchange| {
        matches!(it.resource_type, ResourceType::Xhr | ResourceType::Fetch)
            && it.status.is_some_and(|it| (200..300).contains(&it))
            && contains_value(&it.url, it.request_body.as_deref(), &raw.typed)
    };
    let is_readable = |it: &RawExchange| {
        it.mime.contains("html") || json_of(it).is_some_and(|it| !holds_references(&it.0))
    };
    (!raw.exchanges.iter().filter(is_call).any(is_readable)).then_some(url)
}
