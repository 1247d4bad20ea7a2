//! The stage table, freshness, and the driver that learns one task.

mod apart;
pub mod by_hand;
mod choose;
mod drive;
pub mod finished;
pub mod fresh;
mod health;
mod held;
mod learn;
mod pacer;
mod publish;
pub mod question;
mod rebuild;
mod reverify;
mod secrets;
mod sessions;
mod stored;
pub mod stub;
pub mod table;
pub mod task;
mod world;

pub use apart::apart;
pub use choose::{Wish, choose};
pub use drive::{Stopped, drive, plan};
pub use health::{Noted, note};
pub use learn::{Cx, Learned, OnStage, Redo, learn, learn_from, run_key};
pub use pacer::Pacer;
pub use rebuild::{rebuild, status_of};
pub use reverify::{Reverified, reverify};
pub use secrets::{Secrets, variable};
pub use sessions::Sessions;
pub use stored::{Chosen, StoredTask};
pub use table::{STAGES, Stage};
pub use task::{Source, Task};
pub use world::{BrowserPool, World};

#[cfg(test)]
mod tests;
