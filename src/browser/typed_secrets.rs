//! Secrets that were typed, as they are looked for in what was recorded.

use zeroize::Zeroizing;

use super::user_actions;
use commis_redact::raw::RawExchange;

/// Each whole, and as far as they were typed when a request was sent.
pub fn sent_parts(
    secrets: &[Zeroizing<String>],
    exchanges: &[RawExchange],
) -> Vec<Zeroizing<String>> {
    let mut out = secrets.to_vec();
    for it in secrets {
        let ends = it.char_indices().map(|it| it.0).filter(|it| *it >= user_actions::MIN_SECRET);
        let parts = ends.map(|end| Zeroizing::new(it[..end].to_owned()));
        out.extend(parts.filter(|it| is_sent(exchanges, it)));
    }
    out
}

/// Whether some request carries it as it is, not as the beginning of something longer.
pub fn is_sent(exchanges: &[RawExchange], part: &str) -> bool {
    let holds = |text: &str| {
        text.match_indices(part).any(|(at, _)| {
            let next = text[at + part.len()..].chars().next();
            !next.is_some_and(char::is_alphanumeric)
        })
    };
    exchanges.iter().any(|it| {
        let body = it.request_body.as_deref().map(String::from_utf8_lossy);
        body.is_some_and(|it| holds(&it)) || it.url.query_pairs().any(|it| holds(&it.1))
    })
}
