//! The stage table, freshness, and the driver that learns one task.

mod blocking;
mod choose;
pub mod completion_cache;
mod consult;
mod context;
mod drive;
mod dry_run;
mod explain;
mod following;
pub mod fresh;
mod heal;
mod health;
mod inspect;
mod learn;
mod login_run;
pub mod manual;
mod own_address;
mod page_of_har;
mod prove;
mod published;
mod rebuild;
mod replay_context;
mod reverify;
mod runs;
mod secrets;
mod sessions;
pub mod stage_inputs;
pub mod task;
mod task_file;
pub mod task_view;
mod trusted;

pub use blocking::apart;
pub use choose::{ChoiceRequest, choose};
pub use context::{LearnContext, LearnResult, ModelUse, OnProgress, OnStage, RedoScope};
pub use drive::{DriveError, drive, plan};
pub use dry_run::{RenderedRequest, RenderedStep, choice, origin, render};
pub use explain::{moment, told_health, words};
pub use following::{Extent, OnPage, identify_call, narrow};
pub use heal::{Healer, Verdict};
pub use health::{HealthUpdate, note};
pub use inspect::{Finding, Inspection, inspect, is_finding};
pub use learn::{ArtifactSource, Span, StagesResult, learn, learn_from, run_key, stages};
pub use prove::{Consent, nobody_consents, prove};
pub use rebuild::{rebuild, status_of};
pub use replay_context::{BrowserPool, TaskReplayer};
pub use reverify::{ReverifyResult, reverify};
pub use runs::{Fallback, RecipeRunner, call_alone, refusal_error, way_back};
pub use secrets::{TaskSecrets, variable};
pub use sessions::{Sessions, may_use};
pub use task::{Source, Task};
pub use task_file::{StoredChoice, StoredTask};
pub use trusted::trust_what_was_learned;

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
