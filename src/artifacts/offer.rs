//! What a model may choose from.

use crate::payloads::Summary;

/// A candidate that may be chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer<'a> {
    pub exchange: u32,
    /// Unique among the offers; what the model repeats.
    pub line: String,
    /// Paths that may be chosen with it.
    pub paths: Vec<String>,
    pub summary: &'a Summary,
}
