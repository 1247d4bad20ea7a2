//! What of a run is kept, beside doing it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::{
    ModelRunReport, OutcomeSummary, RunPlan, Status,
    request::{Backend, TaskRequest},
};
use crate::{Daemon, operations::OperationContext};
use commis_agent::{
    RunOutcome,
    runs::{
        BEAT, Graduation, Journal, PlaybookRef, RunRecord, RunStatus, RunSummary, graduation,
        listing,
    },
};
use commis_base::error::Result;
use commis_client::state_file::this_process;
use commis_model::ChatModel;
use commis_state::now_ms;

/// How a playbook stands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct PlaybookStatus {
    pub name: String,
    #[serde(flatten)]
    pub graduation: Graduation,
    /// This run made the difference.
    pub changed: bool,
}

/// Begins to keep a run.
pub fn begin_journal(cx: &OperationContext, it: &TaskRequest, plan: &RunPlan) -> Journal {
    let backend = match it.backend {
        Backend::Commis => "commis",
        Backend::PlaywrightMcp => "playwright-mcp",
    };
    let record = RunRecord {
        run: plan.run.clone(),
        process: this_process(),
        task: it.task.clone(),
        playbook: plan.playbook.clone(),
        model: ChatModel::name(&plan.client).to_owned(),
        backend: backend.to_owned(),
        page: plan.goal.url.clone(),
        ..RunRecord::default()
    };
    let playbook = record.playbook.as_ref();
    let head = json!({"kind": "begin", "run": record.run, "task": record.task, "url": record.page,
        "model": record.model, "backend": backend, "playbook": playbook.map(|it| &it.name),
        "playbook_digest": playbook.map(|it| &it.digest), "sites": plan.task_policy.sites().collect::<Vec<_>>()});
    Journal::begin(&cx.daemon.home.runs, record, &head)
}

/// Gives signs as long as it is asked to, from the task that does the run: one that stands still gives none.
pub async fn beats(journal: &Journal) -> Result<RunOutcome> {
    let mut every = tokio::time::interval(BEAT);
    loop {
        every.tick().await;
        journal.beat();
    }
}

impl From<Status> for RunStatus {
    fn from(it: Status) -> Self {
        match it {
            Status::Done => Self::Done,
            Status::NotDone => Self::NotDone,
            Status::DryRun => Self::DryRun,
            Status::WaitingForApproval => Self::WaitingForApproval,
            Status::NeedsPerson => Self::NeedsPerson,
        }
    }
}

/// Keeps what a run came to, for now or for good. How its playbook stands then.
pub fn ends(
    cx: &OperationContext,
    journal: &Journal,
    ended: &OutcomeSummary,
    told: &ModelRunReport,
) -> Option<PlaybookStatus> {
    let mut line = json!({"kind": "end", "status": ended.status, "reason": ended.reason,
        "detail": ended.detail, "usage": told.usage, "ms": told.ms, "url": told.url,
        "held": told.held, "steps": told.steps});
    if !told.approvals.is_empty() {
        line["approvals"] = json!(told.approvals);
    }
    let ending = RunSummary {
        status: ended.status.into(),
        reason: ended.reason.clone(),
        detail: ended.detail.clone(),
        usage: told.usage,
        cost: told.cost,
        ms: told.ms,
        page: told.url.clone(),
        answer: ended.answer.clone(),
    };
    journal.ends(ending, &line);
    let playbook = journal.playbook()?;
    let all = load_records(&cx.daemon);
    let now = graduation(&playbook, &all);
    let before = graduation(&playbook, all.iter().filter(|it| it.run != told.run));
    let changed = now.graduated != before.graduated;
    Some(PlaybookStatus { name: playbook.name, graduation: now, changed })
}

/// All runs that can be read, newest first.
fn load_records(daemon: &Daemon) -> Vec<RunRecord> {
    let process = this_process();
    let read = listing(&daemon.home.runs, (Some(&process), now_ms()));
    read.inspect_err(|err| tracing::error!(error = %err, "kept runs cannot be read"))
        .map(|it| it.runs)
        .unwrap_or_default()
}

/// How playbooks stand, each as its text is now.
pub fn standings(daemon: &Daemon, books: &[PlaybookRef]) -> Vec<Graduation> {
    let all = load_records(daemon);
    books.iter().map(|it| graduation(it, &all)).collect()
}
