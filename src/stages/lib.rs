//! The stages of learning: one file and one public function each.
//!
//! Pure stages are plain functions over data. Observing ones take the part of the world they touch as an argument. Stages
//! never import each other; they meet only in artifacts.

mod account;
mod address;
pub mod analyze;
mod answer_addresses;
mod answer_kind;
pub mod baseline;
mod chained;
mod client_generated;
mod cursors;
mod dates;
mod detail;
pub mod doubts;
pub mod download;
mod endpoint;
mod extraction;
mod fan_out;
#[cfg(any(test, feature = "test-support"))]
pub mod fixtures;
mod folding;
mod follow;
mod gaps;
mod host_list;
pub mod in_memory;
mod item_kinds;
mod item_text;
mod joined;
mod labels;
mod length;
mod linked_ids;
mod login;
pub mod minimize;
pub mod model_options;
mod options;
pub mod pacer;
mod page_evidence;
mod pages;
mod paginate;
pub mod parameterize;
mod polling;
mod provenance;
pub mod publish;
pub mod rank;
mod recorded_timestamps;
mod refutation;
mod relevance;
mod replay;
mod request;
mod request_weaver;
mod rerecord_safety;
mod rivals;
mod scored_exchange;
pub mod select;
pub mod signals;
pub mod stub;
pub mod summarize;
pub mod table;
mod target_block;
mod template_match;
mod templating;
mod terms;
mod trace;
pub mod validate;
pub mod verify;
mod witness;

pub use commis_effect as effect;
pub use extraction::holds_references;
pub use replay::{Identity, ReplayCall, Replayer, data_difference_bp, example_answer};
pub use request::template as replay_template;
pub use rerecord_safety::may_repeat;
pub use signals::WEIGHTS;
pub use table::{STAGES, Stage};

#[cfg(test)]
mod tests;
