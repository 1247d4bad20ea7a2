//! May a session be made again by its steps? Not when anything in it may have changed something.
//!
//! Stricter than the judgement of one request that is to be replayed: nobody wrote these steps down, so that what they did
//! beside fetching the data is known from the traffic alone.

use url::Url;

use super::{effect, terms::split};
use commis_artifacts::recording::{Exchange, ResourceType, SessionRecording};
use commis_recipe::trackers::is_telemetry;

/// Last words of paths that only count what people do.
const COUNTERS: &[&str] =
    &["collect", "pixel", "beacon", "telemetry", "analytics", "rum", "metrics"];

/// `Err` names the request that may have changed something.
pub fn may_repeat(recording: &SessionRecording) -> Result<(), String> {
    for it in &recording.exchanges {
        if it.resource_type == ResourceType::Websocket {
            return Err("what was said over a WebSocket is not known".to_owned());
        }
        if !is_counter(it) {
            effect::judge_recorded_alone(it, recording).into_result()?;
        }
    }
    Ok(())
}

/// Tells somebody what a person does, and gets no data for it.
fn is_counter(it: &Exchange) -> bool {
    if it.method == "OPTIONS" || it.resource_type == ResourceType::Ping {
        return true;
    }
    let Ok(url) = Url::parse(&it.url) else { return false };
    if url.host_str().is_some_and(is_telemetry) {
        return true;
    }
    let last = split(url.path()).pop().unwrap_or_default();
    it.measures.json_nodes < 6 && COUNTERS.contains(&last.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(method: &str, url: &str, kind: &str, answered: u32, pressed: &str, expected: bool) {
        let recording: SessionRecording = serde_json::from_value(json!({
            "task": "Show t", "url": "http://a.test/", "driver": "steps", "typed": {}, "final_answer": null,
            "actions": [{"kind": "click", "role": "button", "name": pressed, "value": null, "at_ms": 1}],
            "page": {"url": "", "title": "", "visible_text": "", "has_password_field": false},
            "exchanges": [{
                "id": 0, "method": method, "url": url, "request_headers": [], "request_body": null, "status": 200,
                "response_headers": [], "mime": "application/json", "resource_type": kind,
                "initiator": {"kind": "script", "has_stack": true, "page_url": "", "target": "page"},
                "timing": {"start_ms": 0, "ttfb_ms": 0, "total_ms": 0}, "after_action": 0, "redirected_from": null,
                "encoded_bytes": null, "decoded_bytes": null, "body_status": "captured", "excerpt": null, "origins": [],
                "measures": {"shape": [], "lists": [], "leaves": 0, "leaves_visible": 0, "visible_weight": 0,
                    "page_coverage_bp": 0, "typed_in_request": [], "typed_in_response": [], "json_nodes": answered,
                    "json_depth": 0, "top_keys": [], "embedded_json": []}
            }],
            "blocked": [], "duration_ms": 0, "producer": ""
        }))
        .unwrap();
        let told = may_repeat(&recording);
        assert_eq!(told.is_ok(), expected, "{method} {url}: {told:?}");
    }

    #[test]
    fn a_session_that_may_have_changed_something_is_not_repeated() {
        check("GET", "http://a.test/api/search", "fetch", 20, "Search", true);
        check("POST", "http://a.test/orders", "fetch", 3, "Search", false);
        check("POST", "http://a.test/go", "fetch", 30, "Go", false);
        check("POST", "http://a.test/go", "document", 0, "Go", false);
        check("GET", "http://a.test/cart/add", "fetch", 3, "Add to cart", false);
        check("GET", "ws://a.test/live", "websocket", 0, "Go", false);
        check("POST", "http://a.test/v1/collect", "fetch", 0, "Go", true);
        check("POST", "http://a.test/v1/collect", "fetch", 30, "Go", false);
        check("POST", "http://metrics.a.test/e", "fetch", 0, "Go", true);
        check("POST", "http://a.test/left", "ping", 0, "Go", true);
        check("OPTIONS", "http://a.test/orders", "preflight", 0, "Go", true);
    }
}
