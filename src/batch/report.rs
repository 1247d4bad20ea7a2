//! What a batch came to, for a script and for a person.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    artifacts::payloads::Outcome,
    error::{Class, Code, Result},
    pipeline::{Learned, Task},
};

/// The JSON report.
#[derive(Debug, Serialize)]
pub struct Report {
    pub version: u32,
    pub manifest: String,
    pub interrupted: bool,
    /// The failure of the machine that stopped the batch.
    pub stopped_by: Option<Code>,
    pub trouble: Option<String>,
    pub not_started: usize,
    pub model: ModelTotals,
    /// By position in the manifest.
    #[serde(serialize_with = "values")]
    pub entries: BTreeMap<usize, Entry>,
}

/// What the batch asked of a model.
#[derive(Debug, Default, Serialize)]
pub struct ModelTotals {
    pub calls: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Millionths of the currency that the prices in the settings are in; absent without prices or calls.
    pub cost_micros: Option<u64>,
}

/// One task's line.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Entry {
    Learned(Box<Learned>),
    Failed {
        task_id: String,
        name: String,
        outcome: &'static str,
        error_code: Code,
        error: String,
        hint: Option<String>,
        retryable: bool,
    },
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

fn values<S: serde::Serializer>(
    entries: &BTreeMap<usize, Entry>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(entries.values())
}

impl Entry {
    pub fn new(task: &Task, end: Result<Learned>) -> Self {
        match end {
            Ok(it) => Self::Learned(Box::new(it)),
            Err(err) => Self::Failed {
                task_id: task.id.to_string(),
                name: task.name.to_string(),
                outcome: "failed",
                error_code: err.code(),
                error: crate::redact::message(&err.to_string()),
                hint: err.hint_text().map(crate::redact::message),
                retryable: err.code().retryable(),
            },
        }
    }
}

impl Report {
    pub fn new(manifest: &str) -> Self {
        Self {
            version: 1,
            manifest: manifest.to_owned(),
            interrupted: false,
            stopped_by: None,
            trouble: None,
            not_started: 0,
            model: ModelTotals::default(),
            entries: BTreeMap::new(),
        }
    }

    /// Takes a task's end, and counts what it asked of a model.
    pub fn add(&mut self, position: usize, entry: Entry) {
        if let Entry::Learned(it) = &entry
            && let Some(used) = it.model.as_ref().filter(|it| it.calls > 0)
        {
            self.model.calls += used.calls;
            self.model.tokens_in += used.tokens_in;
            self.model.tokens_out += used.tokens_out;
            if let Some(cost) = used.cost_micros {
                *self.model.cost_micros.get_or_insert(0) += cost;
            }
        }
        self.entries.insert(position, entry);
    }

    /// How many ended so; `None` counts failures.
    pub fn count(&self, outcome: Option<Outcome>) -> usize {
        let same = |it: &&Entry| match it {
            Entry::Learned(it) => outcome == Some(it.outcome),
            Entry::Failed { .. } => outcome.is_none(),
        };
        self.entries.values().filter(same).count()
    }

    /// 0 all tasks came to an end, 1 some failed, 3 the machine failed, 70 we did, 130 interrupted.
    pub fn exit_code(&self) -> u8 {
        if self.interrupted {
            Class::Interrupted.exit_code()
        } else if let Some(code) = self.stopped_by {
            code.class().exit_code()
        } else {
            u8::from(self.count(None) > 0)
        }
    }
}
