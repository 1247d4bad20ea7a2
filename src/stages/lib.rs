//! The stages of learning: one file and one public function each.
//!
//! Pure stages are plain functions over data. Observing ones take the part of the world they touch as an argument. Stages
//! never import each other; they meet only in artifacts.

mod account;
mod address;
pub mod analyze;
pub mod baseline;
pub mod chain;
mod chained;
mod dates;
mod detail;
pub mod doubts;
mod endpoint;
mod extraction;
mod fan_out;
#[cfg(any(test, feature = "test-support"))]
pub mod fixtures;
mod folding;
mod follow;
mod gaps;
mod item_text;
mod judge;
mod labels;
mod length;
mod login;
pub mod minimize;
mod moment;
pub mod offers;
mod options;
pub mod pacer;
mod page_made;
mod pages;
mod paginate;
pub mod parameterize;
mod provenance;
pub mod publish;
pub mod rank;
mod read_back;
mod refutation;
mod relevance;
mod repeat;
mod request;
mod rivals;
mod scored_exchange;
mod seen;
pub mod select;
pub mod signals;
pub mod stub;
mod subject;
pub mod summarize;
pub mod table;
mod terms;
mod trace;
pub mod validate;
pub mod verify;
mod weave;
mod witness;
mod woven;

pub use commis_effect as effect;
pub use extraction::holds_references;
pub use judge::{Identity, ReplayCall, Replayer, data_difference_bp, example_answer};
pub use repeat::may_repeat;
pub use request::template as replay_template;
pub use signals::WEIGHTS;
pub use table::{STAGES, Stage};

#[cfg(test)]
mod tests;
