//! The recipe language.
pub mod model;
