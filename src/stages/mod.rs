//! The stages of learning: one file and one public function each.
//!
//! Pure stages are plain functions over data. Observing ones take the part of the world they touch as an argument. Stages
//! never import each other; they meet only in artifacts.

pub mod analyze;
pub mod baseline;
pub mod consult;
mod html_items;
mod judge;
pub mod minimize;
pub mod offers;
pub mod parameterize;
pub mod rank;
mod reads;
mod request;
mod signals;
pub mod summarize;
pub mod validate;
pub mod verify;

pub use judge::{Call, Replayer};
pub use request::template as replay_template;

#[cfg(test)]
mod tests;
