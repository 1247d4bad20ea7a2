//! The stage table, freshness, and the driver that learns one task.

pub mod fresh;
mod learn;
mod pacer;
mod publish;
mod reverify;
pub mod table;
pub mod task;
mod world;

pub use learn::{Cx, Learned, OnStage, learn};
pub use pacer::Pacer;
pub use reverify::{Reverified, reverify};
pub use table::{STAGES, Stage};
pub use task::{Source, Task, read_bounded};
pub use world::BrowserPool;

#[cfg(test)]
mod tests;
