//! Errors of a manifest.

use commis_base::error::{Code, Error};

pub const HINT: &str = "docs/reference/manifest.md says what may stand where";

/// [`Code::ManifestInvalid`] with the hint where the format is described.
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::ManifestInvalid, message).hint(HINT)
}
