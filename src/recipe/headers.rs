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
pub fn is_connection_header(name: &str) -> bool {
    HOP_BY_HOP.contains(&name) || FRAMING.contains(&name)
}

/// Whether a header of that name says nothing of the request itself, because a client or what lies between would write it
/// anyway: those of the connection among them.
pub fn is_ambient(name: &str) -> bool {
    is_connection_header(name) || AMBIENT.contains(&name)
}

/// Whether a request header of that lower-case name makes servers take a request for another one: another method (`x-http-method`,
/// `x-method-override`, `x-http-verb`) or another address (`x-original-url`, `x-rewrite-url`). From the documentation of Rails,
/// Laravel, Symfony, Spring, ASP.NET, Express and IIS.
pub fn is_override_header(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("x-") else { return false };
    let words: Vec<&str> = rest.split(['-', '_']).collect();
    let has = |all: &[&str]| words.iter().any(|it| all.contains(it));
    has(&["override", "rewrite"])
        || (words.contains(&"original") && has(&["url", "uri", "method", "path"]))
        || (has(&["method", "verb"])
            && words
                .iter()
                .all(|it| ["http", "method", "verb", "forwarded", "requested"].contains(it)))
}

/// Whether a field of a query, a form or a JSON object of that name does the same: `_method`.
pub fn is_override_field(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    let bare = name.trim_start_matches('-');
    is_override_header(&name)
        || (bare.len() < name.len()
            && matches!(
                bare,
                "method" | "http-method" | "verb" | "methodoverride" | "method-override"
            ))
}

/// Belong to the session or the browser. `accept-encoding` is the client's own business, because it also decodes.
pub const FORBIDDEN: &[&str] =
    &["accept-encoding", "authorization", "cookie", "cookie2", "set-cookie", "via"];

/// Whether a header of that lower-case name is none of a recipe's business.
pub fn is_forbidden(name: &str) -> bool {
    is_connection_header(name)
        || FORBIDDEN.contains(&name)
        || name.starts_with("proxy-")
        || name.starts_with("sec-")
}

pub fn is_token(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_another_request_of_one() {
        for name in [
            "x-http-method-override",
            "x-method-override",
            "x-http-method",
            "x-http-verb",
            "x-verb",
            "x-original-url",
            "x-original-uri",
            "x-rewrite-url",
            "x-forwarded-method",
            "x-override-url",
        ] {
            assert!(is_override_header(name) && is_override_field(name), "{name}");
        }
        for name in
            ["_method", "_METHOD", "__method", "_http_method", "_verb", "X-HTTP-Method-Override"]
        {
            assert!(is_override_field(name), "{name}");
        }
        for name in
            ["x-requested-with", "x-api-method-id", "x-url", "method", "x-original", "accept"]
        {
            assert!(!is_override_header(name), "{name}");
        }
        for name in ["method", "shipping_method", "verb", "http_method", "q", "methods"] {
            assert!(!is_override_field(name), "{name}");
        }
    }

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
                (is_connection_header(name), is_ambient(name)),
                (of_connection, ambient),
                "{name}"
            );
        }
        assert!(HOP_BY_HOP.is_sorted() && FRAMING.is_sorted());
    }
}
