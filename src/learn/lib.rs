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
pub use choose::{ChoiceRequest, choose};
pub use context::{LearnContext, LearnResult, ModelUse, OnProgress, OnStage, RedoScope};
pub use drive::{DriveError, drive, plan};
pub use explain::{moment, told_health, words};
pub use following::{Extent, OnPage, identify_call, narrow};
pub use heal::{Healer, Verdict};
pub use health::{HealthUpdate, note};
pub use inspect::{Finding, Inspection, inspect, is_finding};
pub use learn::{ArtifactSource, Span, StagesResult, learn, learn_from, run_key, stages};
pub use prove::{Consent, nobody_consents, prove};
pub use rebuild::{rebuild, status_of};
pub use rehearse::{RenderedRequest, RenderedStep, choice, origin, render};
pub use reverify::{ReverifyResult, reverify};
pub use runs::{Fallback, RecipeRunner, call_alone, refusal_error, way_back};
pub use secrets::{TaskSecrets, variable};
pub use sessions::{Sessions, may_use};
pub use stored::{StoredChoice, StoredTask};
pub use task::{Source, Task};
pub use trusted::trust_what_was_learned;
pub use world::{BrowserPool, TaskReplayer};

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
