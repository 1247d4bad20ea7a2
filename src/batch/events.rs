//! What happens in a batch, as it happens: names and fields that scripts may rely on.

use serde::Serialize;

use super::report::{Entry, Totals};
use commis_base::error::Code;
use commis_stages::Stage;
use commis_state::now_ms;

/// One line of `learn-batch --json`. Fields may be added, none is renamed or removed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    BatchStarted {
        manifest: &'a str,
        tasks: usize,
        /// Finished by an earlier run, and left alone.
        finished: usize,
    },
    TaskStarted {
        task_id: &'a str,
        name: &'a str,
        /// From 1.
        attempt: u32,
    },
    StageStarted {
        task_id: &'a str,
        stage: Stage,
    },
    StageFinished {
        task_id: &'a str,
        stage: Stage,
        ms: i64,
    },
    /// It failed with something that may pass, and is tried again.
    TaskRetried {
        task_id: &'a str,
        attempt: u32,
        #[schemars(with = "String")]
        error_code: Code,
        in_ms: u64,
    },
    TaskFinished {
        /// In the manifest, from 0.
        position: usize,
        /// Absent when an earlier run finished it.
        ms: Option<i64>,
        entry: &'a Entry,
    },
    BatchFinished {
        ms: i64,
        #[serde(flatten)]
        totals: &'a Totals,
    },
}

/// An event with its time.
#[derive(Serialize, schemars::JsonSchema)]
pub struct TimedEvent<'a> {
    /// Milliseconds since 1970.
    at_ms: i64,
    #[serde(flatten)]
    event: &'a Event<'a>,
}

impl Event<'_> {
    /// Writes it to the log.
    pub fn log(&self) {
        match self {
            Self::BatchStarted { manifest, tasks, finished } => {
                tracing::info!(manifest, tasks, finished, "batch started");
            }
            Self::TaskStarted { task_id, attempt, .. } => {
                tracing::info!(task_id, attempt, "task started");
            }
            Self::StageStarted { .. } => {}
            Self::StageFinished { task_id, stage, ms } => {
                tracing::debug!(task_id, stage = stage.as_str(), ms, "stage finished");
            }
            Self::TaskRetried { task_id, attempt, error_code, in_ms } => {
                tracing::warn!(task_id, attempt, code = %error_code, in_ms, "task to be tried again");
            }
            Self::TaskFinished { ms, entry, .. } => {
                let (task_id, status) = (entry.task_id(), entry.status().as_str());
                match entry {
                    Entry::Failed { error, .. } => {
                        tracing::error!(
                            task_id,
                            status,
                            why = entry.why(),
                            error,
                            ms,
                            "task ended"
                        );
                    }
                    Entry::Learned(_) => {
                        tracing::info!(task_id, status, why = entry.why(), ms, "task ended");
                    }
                }
            }
            Self::BatchFinished { ms, totals } => {
                tracing::info!(ms, retries = totals.retries, stopped_by = ?totals.stopped_by, "batch ended");
            }
        }
    }

    /// One line of JSON, without the line break.
    pub fn to_json_line(&self) -> String {
        serde_json::to_string(&TimedEvent { at_ms: now_ms(), event: self }).unwrap_or_default()
    }
}
