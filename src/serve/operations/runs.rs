//! Runs that a model did, as they are kept: listed, shown, compared; and those that are too old taken away.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Spec, ToolExposure, row,
    with_default_meta, within,
};
use crate::{Daemon, answer::ApiError, principal::AccessRequirement};
use commis_agent::runs::{
    Comparison, RunListing, RunRecord, RunStatus, RunTotals, StoredRun, UnreadableFile, compare,
    listing, load_stored_run, sweep, totals,
};
use commis_base::{
    error::{Code, Error, Result},
    files,
};
use commis_client::state_file::this_process;
use commis_state::now_ms;

type OperationOutput<T> = std::result::Result<(T, Meta), Box<ApiError>>;

pub fn rows(out: &mut Vec<Operation>) {
    out.push(row(
        spec(
            "run_list",
            &[(HttpMethod::Get, "/api/transcripts")],
            "List runs with a model, newest first: where each is, or what it came to and at which action.\nOne that died is told by its silence. What could not be read is named.",
        ),
        list,
    ));
    out.push(row(
        spec(
            "run_get",
            &[(HttpMethod::Get, "/api/transcripts/{id}")],
            "Show what happened in a run with a model, line by line, secrets left out.",
        ),
        get,
    ));
    out.push(row(
        spec(
            "run_compare",
            &[(HttpMethod::Get, "/api/transcripts/{id}/compare/{other}")],
            "Compare two runs with a model: what differs, where their actions part, which was better and why.",
        ),
        compared,
    ));
}

const fn spec(
    name: &'static str,
    routes: &'static [(HttpMethod, &'static str)],
    help: &'static str,
) -> Spec {
    let (kind, need) = (Kind::Read, AccessRequirement::Root);
    Spec { name, kind, need, routes, tool: ToolExposure::Never, length: ExecutionMode::Now, help }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// Only those whose task holds these words.
    task: Option<String>,
    /// Only those of that playbook.
    playbook: Option<String>,
    /// Only those that stand there.
    status: Option<RunStatus>,
    /// At most so many.
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
}

fn fifty() -> u32 {
    50
}

#[derive(Serialize, JsonSchema)]
struct RunList {
    runs: Vec<RunRecord>,
    /// Of these runs.
    totals: RunTotals,
    /// Files that could not be read.
    unread: Vec<UnreadableFile>,
}

async fn list(cx: OperationContext, it: ListArgs) -> OperationOutput<RunList> {
    let limit = within("limit", it.limit, 1000)? as usize;
    let RunListing { mut runs, unread } = all(&cx.daemon)?;
    let words = it.task.map(|it| it.to_lowercase());
    runs.retain(|run| {
        words.as_ref().is_none_or(|it| run.task.to_lowercase().contains(it))
            && it.status.is_none_or(|it| run.status == it)
            && it
                .playbook
                .as_ref()
                .is_none_or(|name| run.playbook.as_ref().is_some_and(|it| it.name == *name))
    });
    runs.truncate(limit);
    with_default_meta(RunList { totals: totals(&runs), runs, unread })
}

/// All that are kept, newest first. Fails with `ARTIFACT_IO`.
pub fn all(daemon: &Daemon) -> Result<RunListing> {
    listing(&daemon.home.runs, (Some(&this_process()), now_ms()))
}

/// Fails with `TASK_NOT_FOUND` and `ARTIFACT_IO`.
pub fn find_run(daemon: &Daemon, id: &str) -> Result<StoredRun> {
    let it = load_stored_run(&daemon.home.runs, id, (Some(&this_process()), now_ms()))?;
    it.ok_or_else(|| Error::new(Code::TaskNotFound, "there is no such run"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RunIdArgs {
    /// The run's id, as its result says it.
    #[schemars(regex(pattern = "^r[a-f0-9]{12}$"))]
    id: String,
}

#[derive(Serialize, JsonSchema)]
struct RunDetails {
    id: String,
    run: RunRecord,
    /// What happened, in order: `at_ms` (milliseconds since 1970) and `what`.
    lines: Vec<Value>,
    /// What could not be read.
    unread: Vec<UnreadableFile>,
}

async fn get(cx: OperationContext, it: RunIdArgs) -> OperationOutput<RunDetails> {
    let StoredRun { record, lines, unread } = find_run(&cx.daemon, &it.id)?;
    with_default_meta(RunDetails { id: it.id, run: record, lines, unread })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompareArgs {
    /// The first run's id.
    #[schemars(regex(pattern = "^r[a-f0-9]{12}$"))]
    id: String,
    /// The second's.
    #[schemars(regex(pattern = "^r[a-f0-9]{12}$"))]
    other: String,
}

#[derive(Serialize, JsonSchema)]
struct CompareResult {
    first: RunRecord,
    second: RunRecord,
    #[serde(flatten)]
    comparison: Comparison,
    /// What could not be read.
    unread: Vec<UnreadableFile>,
}

async fn compared(cx: OperationContext, it: CompareArgs) -> OperationOutput<CompareResult> {
    let (a, b) = (find_run(&cx.daemon, &it.id)?, find_run(&cx.daemon, &it.other)?);
    let comparison = compare((&a.record, &a.lines), (&b.record, &b.lines));
    let unread = a.unread.into_iter().chain(b.unread).collect();
    with_default_meta(CompareResult { first: a.record, second: b.record, comparison, unread })
}

/// Takes away runs that are too old, and, as the daemon begins, what a crash left of files. Nothing rests on it.
pub fn tidy(daemon: &Daemon, begins: bool) {
    let (folder, days) = (&daemon.home.runs, daemon.runtime().settings.agent.retention_days);
    let swept = if begins { files::sweep_shared(folder) } else { Ok(()) };
    match swept.and_then(|()| sweep(folder, days, now_ms())) {
        Ok(0) => {}
        Ok(n) => tracing::info!(runs = n, "old runs were taken away"),
        Err(err) => tracing::error!(error = %err, "old runs could not be taken away"),
    }
}
