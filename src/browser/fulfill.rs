//! Answers requests without the network: from an archive, or with the empty document that stands in for a site.

use super::context_state::ContextInner;
use serde_json::json;

/// Answers the request for the document that stands in for a site's; whether it was that one.
pub fn fulfill_stand_in(
    shared: &ContextInner,
    session: Option<&str>,
    request: &str,
    url: &str,
) -> bool {
    let state = shared.lock();
    let of_page = state.page.as_ref().map(|it| &*it.session) == session;
    if !of_page || state.stand_in.as_deref() != Some(url) {
        return false;
    }
    drop(state);
    let headers = json!([
        { "name": "content-type", "value": "text/html" },
        { "name": "cache-control", "value": "no-store" },
    ]);
    let answer = json!({ "requestId": request, "responseCode": 200, "responseHeaders": headers, "body": "" });
    shared.cdp.post(session, "Fetch.fulfillRequest", answer);
    true
}

/// Answers a paused request of a context that is offline; whether it is one. What the recording does not hold fails as without a
/// connection.
pub fn fulfill_from_archive(
    shared: &ContextInner,
    session: Option<&str>,
    request: &str,
    (method, url, body): (&str, &str, Option<&str>),
    resource_type: &str,
) -> bool {
    let Some(archive) = shared.lock().archive.clone() else { return false };
    if !url.starts_with("http:") && !url.starts_with("https:") {
        return false;
    }
    let body = body.map(str::as_bytes);
    if matches!(resource_type, "XHR" | "Fetch") {
        archive.note_request(method, url, body);
    }
    if let Some(it) = archive.answer(method, url, body) {
        shared.cdp.post(session, "Fetch.fulfillRequest", it.fulfilled(request));
    } else {
        let params = json!({ "requestId": request, "errorReason": "InternetDisconnected" });
        shared.cdp.post(session, "Fetch.failRequest", params);
    }
    true
}
