//! Errors of a manifest.

use commis_base::error::{Code, Error};

pub const HINT: &str = "see docs/reference/manifest.md for all fields";

/// [`Code::ManifestInvalid`] with the hint where the format is described.
pub fn invalid(message: impl Into<String>) -> Error {
    Error::new(Code::ManifestInvalid, message).hint(HINT)
}
