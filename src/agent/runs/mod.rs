//! Runs that a model did, kept: what happened in one, where it is now, what it came to, and how two compare.
//!
//! A run has two files. `ID.ndjson` is what happened, a line each, on disk before the next thing happens. `ID.json` says where the
//! run is, written whole every few seconds by the run itself, so that one that died is told apart from one that thinks; and in the
//! end what it came to. Where `ID.json` is missing or damaged, what happened says it. Nothing that goes wrong here fails a run, and
//! whoever reads is told what could not be read.

mod compare;
mod journal;
mod promotion;
mod store;

#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(test)]
pub use self::compare::{ActionPair, Side};
pub use self::{
    compare::{Comparison, RunTotals, apart, compare, totals},
    journal::{BEAT, Journal, RunSummary},
    promotion::{Graduation, graduation},
    store::{RunListing, StoredRun, UnreadableFile, is_run, listing, load_stored_run, sweep},
};

/// Without a sign for so long, a run whose process is gone is dead. Five beats: one that is late is not.
pub const SILENT_MS: i64 = 10_000;

/// How a run stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    #[default]
    Working,
    WaitingForApproval,
    /// Done, and seen to be done.
    Done,
    NotDone,
    DryRun,
    NeedsPerson,
    /// Something else than the model or the page ended it; `reason` is the error's code.
    Failed,
    /// Its process ended, and it with it.
    Died,
}

impl RunStatus {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::WaitingForApproval => "waiting_for_approval",
            Self::Done => "done",
            Self::NotDone => "not_done",
            Self::DryRun => "dry_run",
            Self::NeedsPerson => "needs_person",
            Self::Failed => "failed",
            Self::Died => "died",
        }
    }

    pub const fn is_open(self) -> bool {
        matches!(self, Self::Working | Self::WaitingForApproval)
    }
}

/// Which playbook, as which text: what another text came to says nothing of this one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaybookRef {
    pub name: String,
    /// The first 16 hex digits of its digest.
    pub digest: String,
}

/// One run: what it is about, where it is, what it came to. Texts hold no secrets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RunRecord {
    pub run: String,
    /// The process that does it: its number, and when it began.
    pub process: String,
    /// As it was told, with `{parameter}` where values go.
    pub task: String,
    pub playbook: Option<PlaybookRef>,
    /// `provider/name`.
    pub model: String,
    /// `commis` or `playwright-mcp`.
    pub backend: String,
    /// Milliseconds since 1970.
    pub begun_ms: i64,
    pub status: RunStatus,
    /// When it gave its last sign.
    pub at_ms: i64,
    /// What it does now, or did last, and since when.
    pub now: String,
    pub since_ms: i64,
    pub turns: u32,
    /// The action that was begun last, and how many there were; to say that it is done is none.
    pub last_action: Option<String>,
    pub actions: u32,
    /// The page's address.
    pub page: String,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub cost: Option<f64>,
    /// At work, waiting for a person not counted.
    pub ms: u64,
    /// Why it ended.
    pub reason: Option<String>,
    pub detail: Option<String>,
    /// What it answered, where that is not long.
    pub answer: Option<Value>,
}

impl RunRecord {
    /// As it stands for somebody who reads it now. `alive`: the process that does this home's runs, if there is one.
    #[must_use]
    pub fn with_current_status(mut self, alive: Option<&str>, now_ms: i64) -> Self {
        let lives = !self.process.is_empty() && alive == Some(self.process.as_str());
        if self.status.is_open() && !lives && self.silent_s(now_ms) * 1000 >= SILENT_MS {
            let now = if self.now.is_empty() { "nobody knows at what" } else { &self.now };
            let at = match &self.last_action {
                Some(it) if it == now => format!("at {it}"),
                Some(it) => format!("after {it} ({now})"),
                None => format!("before its first action ({now})"),
            };
            self.detail = Some(format!("no sign for {} s, died {at}", self.silent_s(now_ms)));
            self.status = RunStatus::Died;
            self.reason = Some("died".to_owned());
        }
        self
    }

    /// Seconds since its last sign; a clock that was set back gives none.
    pub fn silent_s(&self, now_ms: i64) -> i64 {
        (now_ms - self.at_ms).max(0) / 1000
    }

    pub fn tokens(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }
}
