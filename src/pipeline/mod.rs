//! The stage table, freshness, and the driver that learns one task.

pub mod fresh;
mod learn;
mod publish;
pub mod table;
pub mod task;
mod world;

pub use learn::{Cx, Learned, OnStage, learn};
pub use table::{STAGES, Stage};
pub use task::{Source, Task};
pub use world::BrowserPool;
