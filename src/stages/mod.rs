//! The stages of learning: one file and one public function each.
//!
//! Pure stages are plain functions over data. Observing ones take the part of the world they touch as an argument. Stages
//! never import each other; they meet only in artifacts.

pub mod analyze;
pub mod baseline;
#[cfg(feature = "browser")]
pub mod before;
mod chained;
#[cfg(feature = "model")]
pub mod consult;
mod doubts;
mod extraction;
mod fields;
mod judge;
pub mod minimize;
mod moment;
#[cfg(feature = "model")]
pub mod offers;
mod options;
mod page_made;
mod pages;
pub mod parameterize;
pub mod rank;
mod read_back;
mod reads;
mod repeat;
mod request;
pub mod select;
pub mod signals;
mod subject;
pub mod summarize;
mod terms;
pub mod validate;
mod verbs;
pub mod verify;
mod weave;
mod witness;

pub use judge::{Call, Replayer, data_difference_bp};
pub use reads::reads;
pub use repeat::may_repeat;
pub use request::template as replay_template;
pub use signals::WEIGHTS;

#[cfg(test)]
mod tests;
