//! The stage table, freshness, and the driver that learns one task.

#[cfg(feature = "cli")]
mod apart;
#[cfg(feature = "cli")]
pub mod by_hand;
pub mod chain;
#[cfg(feature = "cli")]
mod choose;
#[cfg(feature = "cli")]
mod drive;
#[cfg(feature = "cli")]
mod explain;
#[cfg(feature = "cli")]
pub mod finished;
#[cfg(feature = "cli")]
pub mod fresh;
#[cfg(feature = "cli")]
mod heal;
#[cfg(feature = "cli")]
mod health;
#[cfg(feature = "cli")]
mod held;
#[cfg(feature = "cli")]
mod inspect;
#[cfg(feature = "cli")]
mod learn;
#[cfg(feature = "cli")]
pub mod look;
#[cfg(feature = "cli")]
mod pacer;
#[cfg(feature = "cli")]
mod prove;
pub mod publish;
#[cfg(feature = "cli")]
pub mod question;
#[cfg(feature = "cli")]
mod rebuild;
#[cfg(feature = "cli")]
mod rehearse;
#[cfg(feature = "cli")]
mod reverify;
#[cfg(feature = "cli")]
mod runs;
#[cfg(feature = "cli")]
mod secrets;
#[cfg(feature = "cli")]
mod sessions;
#[cfg(feature = "cli")]
mod stored;
pub mod stub;
pub mod table;
#[cfg(feature = "cli")]
pub mod task;
#[cfg(feature = "cli")]
mod world;

#[cfg(feature = "cli")]
pub use apart::apart;
#[cfg(feature = "cli")]
pub use choose::{Wish, choose};
#[cfg(feature = "cli")]
pub use drive::{Stopped, drive, plan};
#[cfg(feature = "cli")]
pub use explain::{moment, told_health, words};
#[cfg(feature = "cli")]
pub use heal::{Heal, Verdict};
#[cfg(feature = "cli")]
pub use health::{Noted, note};
#[cfg(feature = "cli")]
pub use inspect::{Finding, Inspected, inspect, is_finding};
#[cfg(feature = "cli")]
pub use learn::{Cx, Learned, OnStage, Redo, learn, learn_from, run_key};
#[cfg(feature = "cli")]
pub use prove::prove;
#[cfg(feature = "cli")]
pub use rebuild::{rebuild, status_of};
#[cfg(feature = "cli")]
pub use rehearse::{Shown, origin, render};
#[cfg(feature = "cli")]
pub use reverify::{Reverified, reverify};
#[cfg(feature = "cli")]
pub use runs::{Fallback, Runs, Tell, call_alone, refused, way_back};
#[cfg(feature = "cli")]
pub use secrets::{Secrets, variable};
#[cfg(feature = "cli")]
pub use sessions::Sessions;
#[cfg(feature = "cli")]
pub use stored::{Chosen, StoredTask};
#[cfg(feature = "cli")]
pub use table::STAGES;
pub use table::Stage;
#[cfg(feature = "cli")]
pub use task::{Source, Task};
#[cfg(feature = "cli")]
pub use world::{BrowserPool, World};

#[cfg(test)]
mod tests;
