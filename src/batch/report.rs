//! What a batch came to, for a script and for a person.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use serde::{Deserialize, Serialize, ser::SerializeSeq as _};
use serde_json::value::RawValue;

use commis_artifacts::store::Store;
use commis_base::{
    error::{Class, Code, Error, Result},
    ids::TaskId,
};
use commis_learn::{LearnResult, Task, status_of};
use commis_state::{Ending, State, Status};

/// The JSON report: totals, then a line for each task that ended. The lines are in the database: ten thousand of them need
/// not be in memory.
pub struct Report {
    pub totals: Totals,
    /// In the order of the manifest.
    pub order: Arc<Vec<TaskId>>,
    pub(super) state: Arc<State>,
    pub(super) store: Store,
}

/// The batch as a whole.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Totals {
    pub version: u32,
    pub manifest: String,
    pub interrupted: bool,
    /// The failure of the machine that stopped the batch.
    #[schemars(with = "Option<String>")]
    pub stopped_by: Option<Code>,
    pub trouble: Option<String>,
    pub not_started: usize,
    /// How many tasks ended so, by status and then by reason or error code.
    pub outcomes: BTreeMap<Status, BTreeMap<String, usize>>,
    /// Attempts that were made again.
    pub retries: usize,
    pub model: ModelTotals,
}

/// What the batch asked of a model.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct ModelTotals {
    pub calls: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Millionths of the currency that the prices in the settings are in; absent without prices or calls.
    pub cost_micros: Option<u64>,
}

/// One task's line.
#[derive(Debug, Serialize, schemars::JsonSchema)]
#[serde(untagged)]
pub enum Entry {
    Learned(Box<LearnResult>),
    Failed {
        task_id: String,
        name: String,
        outcome: &'static str,
        #[schemars(with = "String")]
        error_code: Code,
        error: String,
        hint: Option<String>,
        retryable: bool,
    },
}

/// What is shown of a line that was written down.
#[derive(Debug, Deserialize)]
pub struct ReportLine {
    pub name: String,
    pub outcome: String,
    pub reason: Option<String>,
    pub detail: Option<String>,
    pub error_code: Option<String>,
    pub error: Option<String>,
    pub hint: Option<String>,
    pub transport: Option<String>,
    pub artifacts: Option<PathBuf>,
    #[serde(default)]
    pub browser_ms: u64,
    #[serde(default)]
    pub ran: Vec<String>,
    #[serde(default)]
    pub reused: Vec<String>,
    #[serde(default)]
    pub live_values_lost: bool,
}

impl Entry {
    pub fn new(task: &Task, end: Result<LearnResult>) -> Self {
        match end {
            Ok(it) => Self::Learned(Box::new(it)),
            Err(err) => Self::Failed {
                task_id: task.id.to_string(),
                name: task.name.to_string(),
                outcome: "failed",
                error_code: err.code(),
                error: commis_redact::message(&err.to_string()),
                hint: err.hint_text().map(commis_redact::message),
                retryable: err.retryable(),
            },
        }
    }

    pub fn task_id(&self) -> &str {
        match self {
            Self::Learned(it) => &it.task_id,
            Self::Failed { task_id, .. } => task_id,
        }
    }

    /// A line for a person.
    pub fn describe(&self) -> String {
        match self {
            Self::Learned(it) => match &it.reason {
                Some(reason) => format!("{}: {} ({reason})", it.name, it.outcome.as_str()),
                None => format!("{}: {}", it.name, it.outcome.as_str()),
            },
            Self::Failed { name, error_code, error, hint, .. } => {
                let hint = hint.as_ref().map(|it| format!("\n  hint: {it}")).unwrap_or_default();
                format!("{name}: failed, {error} [{error_code}]{hint}")
            }
        }
    }

    /// Where the task stands now.
    pub fn status(&self) -> Status {
        match self {
            Self::Learned(it) => status_of(it.outcome),
            Self::Failed { .. } => Status::Failed,
        }
    }

    /// A reason or an error's code.
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Learned(it) => it.reason.as_deref(),
            Self::Failed { error_code, .. } => Some(error_code.as_str()),
        }
    }

    /// As the database keeps it.
    pub fn ending(&self, at_ms: i64) -> Ending {
        Ending {
            status: self.status(),
            why: self.why().map(str::to_owned),
            at_ms,
            entry: serde_json::to_string(self).unwrap_or_default(),
        }
    }
}

impl Totals {
    pub fn new(manifest: &str) -> Self {
        Self {
            version: 2,
            manifest: manifest.to_owned(),
            interrupted: false,
            stopped_by: None,
            trouble: None,
            not_started: 0,
            outcomes: BTreeMap::new(),
            retries: 0,
            model: ModelTotals::default(),
        }
    }

    /// Counts a task's end, and what it asked of a model.
    pub fn add(&mut self, entry: &Entry) {
        if let Entry::Learned(it) = entry
            && let Some(used) = it.model.as_ref().filter(|it| it.calls > 0)
        {
            self.model.calls += used.calls;
            self.model.tokens_in += used.tokens_in;
            self.model.tokens_out += used.tokens_out;
            if let Some(cost) = used.cost_micros {
                *self.model.cost_micros.get_or_insert(0) += cost;
            }
        }
        let why = entry.why().unwrap_or_default().to_owned();
        *self.outcomes.entry(entry.status()).or_default().entry(why).or_default() += 1;
    }

    /// How many ended so.
    pub fn count(&self, status: Status) -> usize {
        self.outcomes.get(&status).map_or(0, |it| it.values().sum())
    }

    /// How many ended.
    pub fn ended_count(&self) -> usize {
        self.outcomes.values().flat_map(BTreeMap::values).sum()
    }

    /// 0 all tasks came to an end, 1 some failed, 3 the machine failed, 70 we did, 130 interrupted.
    pub fn exit_code(&self) -> u8 {
        let of = |code: Code| code.class().exit_code();
        if self.interrupted {
            Class::Interrupted.exit_code()
        } else if let Some(code) = self.stopped_by {
            of(code)
        } else if self
            .outcomes
            .get(&Status::Failed)
            .is_some_and(|it| it.contains_key(Code::Internal.as_str()))
        {
            of(Code::Internal)
        } else {
            u8::from(self.count(Status::Failed) > 0)
        }
    }
}

impl Report {
    pub fn new(totals: Totals, order: Arc<Vec<TaskId>>, state: Arc<State>, store: Store) -> Self {
        Self { totals, order, state, store }
    }

    /// The lines of tasks that ended, in the order of the manifest. Each fails with `ARTIFACT_IO` where the database does.
    pub fn lines(&self) -> impl Iterator<Item = Result<ReportLine>> {
        self.texts().map(|it| read(&it?))
    }

    /// One task's line; `None` when it has not ended. Fails with `ARTIFACT_IO`.
    pub(super) fn line(&self, task: &TaskId) -> Result<Option<ReportLine>> {
        self.state.entry(task.as_str())?.as_deref().map(read).transpose()
    }

    fn texts(&self) -> impl Iterator<Item = Result<String>> {
        self.order.iter().filter_map(|it| self.state.entry(it.as_str()).transpose())
    }
}

fn read(text: &str) -> Result<ReportLine> {
    serde_json::from_str(text).map_err(|err| {
        Error::new(Code::ArtifactIo, "a line of the report cannot be read").source(err)
    })
}

impl Serialize for Report {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct ReportDocument<'a> {
            #[serde(flatten)]
            totals: &'a Totals,
            entries: Lines<'a>,
        }
        ReportDocument { totals: &self.totals, entries: Lines(self) }.serialize(serializer)
    }
}

struct Lines<'a>(&'a Report);

impl Serialize for Lines<'_> {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        let mut out = serializer.serialize_seq(None)?;
        for it in self.0.texts() {
            let it = it.map_err(serde::ser::Error::custom)?;
            out.serialize_element(&RawValue::from_string(it).map_err(serde::ser::Error::custom)?)?;
        }
        out.end()
    }
}
