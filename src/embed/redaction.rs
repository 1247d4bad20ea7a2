//! Secrets taken out of HARs and of text.

use std::collections::BTreeMap;

use commis_base::{error::Result, settings::RedactSettings};
use commis_redact::har;

/// How HARs are redacted.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RedactOptions {
    /// Names of parameters and fields that are known to be harmless, as cursors are. Their values are still taken out where the
    /// same value is secret elsewhere.
    pub allow: Vec<String>,
}

/// What was taken out; never the values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedactReport {
    pub entries: usize,
    /// Entries in which something was replaced or dropped.
    pub entries_touched: usize,
    /// Bodies that were no text, and are left out.
    pub bodies_dropped: usize,
    /// How often, by reason: `header`, `cookie`, `key`, `format`, `container`, `entropy`, and `known` for what was secret
    /// elsewhere.
    pub by_reason: BTreeMap<String, u64>,
    /// How often, by the name that stands in the placeholder.
    pub by_key: BTreeMap<String, u64>,
}

/// A HAR file without its secrets, fit to be shared: credentials in headers, cookies, URLs, bodies, scripts and markup are
/// replaced by placeholders like `[REDACTED:session_id#2]`, the same value by the same one everywhere. Doing it again
/// changes nothing.
///
/// Fails with `HAR_INVALID` when the file is no HAR, is larger than 256 MiB, or has more than 20,000 entries.
pub fn redact_har(har: &[u8], options: &RedactOptions) -> Result<(Vec<u8>, RedactReport)> {
    let settings = RedactSettings { allow: options.allow.clone() };
    let (out, report) = har::share(har, &settings)?;
    let by_reason = report.removed.by_reason;
    Ok((
        out,
        RedactReport {
            entries: report.entries,
            entries_touched: report.entries_touched,
            bodies_dropped: report.bodies_dropped,
            by_reason: by_reason.into_iter().map(|(why, n)| (why.to_owned(), n)).collect(),
            by_key: report.removed.by_key,
        },
    ))
}

/// A message or a log line without credentials: what has the form of one, what stands under a name that says so, and what no
/// word looks like.
pub fn redact_text(text: &str) -> String {
    commis_redact::message(text)
}
