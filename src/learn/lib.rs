//! The stage table, freshness, and the driver that learns one task.

mod apart;
pub mod by_hand;
mod choose;
mod consult;
mod context;
mod drive;
mod explain;
pub mod finished;
mod following;
pub mod fresh;
mod heal;
mod health;
mod held;
mod inspect;
mod learn;
mod login_run;
pub mod look;
mod own_address;
mod page_of_har;
mod prove;
pub mod question;
mod rebuild;
mod rehearse;
mod reverify;
mod runs;
mod secrets;
mod sessions;
mod stored;
pub mod task;
mod trusted;
mod world;

pub use apart::apart;
pub use choose::{Wish, choose};
pub use context::{Cx, Learned, ModelUse, OnStage, Redo, Tell};
pub use drive::{Stopped, drive, plan};
pub use explain::{moment, told_health, words};
pub use following::{Extent, OnPage, identify_call, narrow};
pub use heal::{Heal, Verdict};
pub use health::{Noted, note};
pub use inspect::{Finding, Inspected, inspect, is_finding};
pub use learn::{Came, How, Span, learn, learn_from, run_key, stages};
pub use prove::{Consent, nobody_consents, prove};
pub use rebuild::{rebuild, status_of};
pub use rehearse::{Shown, ShownStep, choice, origin, render};
pub use reverify::{Reverified, reverify};
pub use runs::{Fallback, Runs, call_alone, refused, way_back};
pub use secrets::{Secrets, variable};
pub use sessions::{Sessions, may_use};
pub use stored::{Chosen, StoredTask};
pub use task::{Source, Task};
pub use trusted::trust_what_was_learned;
pub use world::{BrowserPool, World};

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
