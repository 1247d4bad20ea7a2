//! Digests of bytes and of JSON, and the stamp of an envelope.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::canonical;
use commis_base::ids::hex;

/// SHA-256, lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// SHA-256 over RFC 8785 canonical JSON.
pub fn json_sha256<T: Serialize>(value: &T) -> String {
    // This fails only on non-string keys; none can be in our types.
    serde_json::to_value(value).map_or_else(|_| String::new(), |it| canonical::sha256(&it))
}

/// RFC 3339, seconds.
#[expect(clippy::disallowed_methods, reason = "envelopes are stamped here and nowhere else")]
pub fn now() -> String {
    jiff::Timestamp::try_from(std::time::SystemTime::now())
        .map(|it| it.strftime("%Y-%m-%dT%H:%M:%SZ").to_string())
        .unwrap_or_default()
}
