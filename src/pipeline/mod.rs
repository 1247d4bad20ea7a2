//! The stage table, freshness, and the driver that learns one task.

mod choose;
pub mod fresh;
mod learn;
mod pacer;
mod publish;
mod reverify;
mod sessions;
mod stored;
pub mod stub;
pub mod table;
pub mod task;
mod world;

pub use choose::{Wish, choose};
pub use learn::{Cx, Learned, OnStage, learn};
pub use pacer::Pacer;
pub use reverify::{Reverified, reverify};
pub use sessions::Sessions;
pub use stored::StoredTask;
pub use table::{STAGES, Stage};
pub use task::{Source, Task, read_bounded};
pub use world::{BrowserPool, World};

#[cfg(test)]
mod tests;
