//! The recipe language: its data model, its YAML form and rules, its templates, and the folder that recipes are kept in.
//!
//! Everything here is pure except `registry`, which reads and writes the folder it is given.

pub mod check;
pub mod expression;
pub mod framing;
pub mod model;
pub mod registry;
pub mod request;
pub mod selector;
pub mod template;
pub mod values;
pub mod yaml;
