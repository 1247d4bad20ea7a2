//! What stages leave on disk for one another.
pub mod files;
pub mod recording;
