//! What a page's own headers say of a request.

use url::Url;

use super::{
    Call,
    conventions::CalledOperation,
    names::{NameMeaning, operation_meaning},
    verbs::{DESCRIBING, DOING, is_in_lists, words},
};

/// Headers that say nothing of what is done: what a browser says of itself, proofs, caches and how a page wants its parts.
#[rustfmt::skip]
const PLAIN: &[&str] = &[
    "accept", "authorization", "connection", "cookie", "date", "dnt", "downlink", "expect", "faces-request",
    "host", "hx-boosted", "hx-current-url", "hx-history-restore-request", "hx-request", "hx-target", "next-url",
    "origin", "pragma", "priority", "purpose", "range", "referer", "rsc", "rtt", "te", "turbo-frame", "via",
    "x-inertia", "x-inertia-partial-component", "x-inertia-partial-data", "x-inertia-partial-except",
    "x-livewire", "x-microsoftajax", "x-moz", "x-nextjs-data", "x-pjax", "x-pjax-container", "x-powered-by",
    "x-purpose", "x-requested-with", "x-requestedwith", "x-sveltekit-action", "x-up-context", "x-up-mode",
    "x-up-target", "x-up-version",
];
/// Beginnings of such names.
#[rustfmt::skip]
const FAMILIES: &[&str] = &[
    "accept-", "access-control-", "apollographql-", "baggage", "cache-", "cf-", "connect-protocol-",
    "connect-timeout", "content-", "fly-", "grpc-", "if-", "next-router-", "newrelic", "proxy-", "save-data",
    "sec-", "sentry-", "trace", "upgrade", "user-agent", "x-algolia-", "x-amz-content-", "x-amz-date",
    "x-amz-security-", "x-amz-user-", "x-amzn-trace", "x-apollo-", "x-b3-", "x-datadog-", "x-forwarded-for",
    "x-goog-", "x-grpc-", "x-ig-", "x-newrelic", "x-ratelimit", "x-sveltekit-", "x-turbo-", "x-youtube-",
];
/// They name another address than that of the request.
#[rustfmt::skip]
const ELSEWHERE: &[&str] = &[
    "x-forwarded-path", "x-forwarded-uri", "x-original-uri", "x-original-url", "x-override-url",
    "x-request-uri", "x-rewrite-uri", "x-rewrite-url",
];
/// By which an action is named that cannot be seen.
const OPAQUE: &[&str] = &["next-action", "x-server-action", "x-server-function"];

/// What headers say.
#[derive(Default)]
pub struct HeaderEvidence {
    /// What they call.
    pub called: Vec<CalledOperation>,
    /// One of them is not known.
    pub is_strange: bool,
    /// The server is told to take it for a GET, or to check it alone.
    pub is_get: bool,
}

/// Fails with why it may change something.
pub fn inspect_headers(call: &Call<'_>, url: &Url) -> Result<HeaderEvidence, String> {
    let mut out = HeaderEvidence::default();
    let is_safe = call.method != "POST";
    for (name, value) in &call.headers {
        let name = name.to_ascii_lowercase();
        let value = value.trim();
        if name.starts_with(':') || value.is_empty() {
            continue;
        }
        if ELSEWHERE.contains(&&*name) {
            if value != url.path() && value != url.as_str() {
                return Err("has a header that names another address".to_owned());
            }
            continue;
        }
        // Laravel and Unpoly: what is filled in is checked, and nothing else is done.
        if name == "precognition" && value == "true" || name == "x-up-validate" {
            out.is_get = true;
            continue;
        }
        if name == "precognition-validate-only" {
            continue;
        }
        if matches!(&*name, "idempotency-key" | "x-idempotency-key" | "idempotency") {
            return Err("has a key by which it is done once".to_owned());
        }
        if OPAQUE.contains(&&*name) {
            out.called.push(CalledOperation::opaque("an action of its page"));
            continue;
        }
        let said = |name: &str| words(name.trim_start_matches("x-"));
        if PLAIN.contains(&&*name) || FAMILIES.iter().any(|it| name.starts_with(it)) {
            continue;
        }
        let all = said(&name);
        let has = |list: &[&str]| all.iter().any(|it| is_in_lists(it, &[list]));
        if has(&["method", "verb", "override"]) {
            let method = value.to_ascii_uppercase();
            let asks = matches!(&*method, "GET" | "HEAD" | "OPTIONS");
            if method != call.method && !asks {
                return Err("has a header that asks for another method".to_owned());
            }
            out.is_get |= asks;
            continue;
        }
        if has(DOING) || matches!(&*name, "soapaction" | "x-amz-target" | "hx-prompt") {
            let says = operation_meaning(value);
            // What a list or a field is called says nothing.
            let is_element = name.starts_with("hx-");
            if says != NameMeaning::Nothing || !(is_element || is_safe) {
                out.called.push(CalledOperation { name: value.to_owned(), says });
            }
            continue;
        }
        // `x-shop-space-id`: whose it is may be any word.
        if !all.last().is_some_and(|it| is_in_lists(it, &[DESCRIBING])) {
            out.is_strange = true;
        }
    }
    Ok(out)
}
