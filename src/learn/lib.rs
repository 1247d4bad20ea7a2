//! The stage table, freshness, and the driver that learns one task.

mod blocking;
mod choose;
pub mod completion_cache;
mod consult;
mod context;
mod downloaded_file;
mod drive;
mod dry_run;
mod explain;
pub mod fresh;
mod heal;
mod health;
mod inspect;
mod learn;
mod login_run;
pub mod manual;
mod own_address;
mod page_address;
mod page_of_har;
mod page_walk;
mod prove;
mod published_recipe;
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
mod trust_migration;

pub use blocking::run_until_stopped;
pub use choose::{ChoiceRequest, choose};
pub use consult::consult;
pub use context::{LearnContext, LearnResult, ModelUse, OnProgress, OnStage, RedoScope};
pub use drive::{DriveError, drive, plan};
pub use dry_run::{RenderedRequest, RenderedStep, choice, origin, render};
pub use explain::{moment, told_health, words};
pub use heal::{Healer, Verdict};
pub use health::{HealthUpdate, note};
pub use inspect::{Finding, Inspection, inspect, is_finding};
pub use learn::{ArtifactSource, Span, StagesResult, learn, learn_from, run_key, stages};
pub use page_address::split_address;
pub use page_walk::{Extent, OnPage, identify_call, narrow};
pub use prove::{Consent, nobody_consents, prove};
pub use rebuild::{rebuild, status_of};
pub use replay_context::{BrowserPool, TaskReplayer};
pub use reverify::{ReverifyResult, reverify};
pub use runs::{Fallback, RecipeRunner, call_alone, demotion_hint, refusal_error};
pub use secrets::{TaskSecrets, variable};
pub use sessions::{Sessions, may_use};
pub use task::{Source, Task};
pub use task_file::{StoredChoice, StoredTask};
pub use trust_migration::trust_what_was_learned;

#[cfg(test)]
mod shared_tests;
#[cfg(test)]
mod tests;
