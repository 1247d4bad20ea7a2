//! The revisions of the protocol that are spoken.

use rmcp::model::ProtocolVersion;

/// Revisions that are spoken, newest last.
pub fn versions() -> Vec<String> {
    ProtocolVersion::KNOWN_VERSIONS.iter().map(|it| it.as_str().to_owned()).collect()
}
