//! Names of request headers that are not the request's own: one list for whoever sends, reads, keeps or refuses them.
//!
//! All names are in lower case. Lists that mean something else stay where they are: values that are no secrets
//! (`redact/headers.rs`), and what a person is not shown of a request (`agent/render.rs`).

/// Of one connection, never passed on: RFC 9110, 7.6.1, with the one that old proxies take for `connection`.
pub const HOP_BY_HOP: [&str; 7] = [
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Others that only whoever holds the connection can write.
const FRAMING: &[&str] = &["content-length", "expect", "host", "proxy-authorization"];

/// What browsers add by themselves, and networks and measuring scripts on the way, whatever is asked for.
const AMBIENT: &[&str] = &[
    "accept-encoding",
    "accept-language",
    "cache-control",
    "cookie",
    "dnt",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "origin",
    "pragma",
    "priority",
    "range",
    "referer",
    "save-data",
    "upgrade-insecure-requests",
    "user-agent",
    "via",
    "x-forwarded-for",
    "x-client-data",
    "traceparent",
    "tracestate",
    "baggage",
    "sentry-trace",
    "newrelic",
];

/// Whether a header of that name belongs to the connection, so that nobody may set it for a request.
pub fn is_of_connection(name: &str) -> bool {
    HOP_BY_HOP.contains(&name) || FRAMING.contains(&name)
}

/// Whether a header of that name says nothing of the request itself, because a client or what lies between would write it
/// anyway: those of the connection among them.
pub fn is_ambient(name: &str) -> bool {
    is_of_connection(name) || AMBIENT.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_headers_they_are() {
        for (name, of_connection, ambient) in [
            ("connection", true, true),
            ("content-length", true, true),
            ("proxy-authorization", true, true),
            ("transfer-encoding", true, true),
            ("accept-encoding", false, true),
            ("cookie", false, true),
            ("user-agent", false, true),
            // The request's own: what it takes, what it sends, who asks.
            ("accept", false, false),
            ("content-type", false, false),
            ("authorization", false, false),
            ("x-requested-with", false, false),
        ] {
            assert_eq!(
                (is_of_connection(name), is_ambient(name)),
                (of_connection, ambient),
                "{name}"
            );
        }
        assert!(HOP_BY_HOP.is_sorted() && FRAMING.is_sorted());
    }
}
