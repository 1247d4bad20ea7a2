//! What the artifacts say of tasks that the database does not know: after it was lost, or when tasks were learned one by one.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde_json::Value;

use super::task_file::StoredTask;
use commis_artifacts::{
    kinds::Kind,
    payloads::{NO_EFFECT, Outcome, Reason},
    store::{ArtifactState, Store},
};
use commis_base::{error::Result, ids::TaskId};
use commis_state::{State, Status, TaskRow};

/// Makes tasks that have a folder and no row known to the database; how many there were. A failure leaves no artifact: such
/// a task counts as one that is not finished. Fails with `ARTIFACT_IO`.
pub fn rebuild(store: &Store, state: &State) -> Result<usize> {
    let known: BTreeSet<String> = state.tasks()?.into_iter().map(|it| it.task_id).collect();
    let missing: Vec<TaskId> =
        store.tasks()?.into_iter().filter(|it| !known.contains(it.as_str())).collect();
    let rows: Vec<Option<TaskRow>> =
        missing.par_iter().map(|it| row(store, it)).collect::<Result<_>>()?;
    let rows: Vec<TaskRow> = rows.into_iter().flatten().collect();
    state.add_tasks(&rows)?;
    Ok(rows.len())
}

/// What the folder of a task says; `None` when it says nothing: an orphan.
fn row(store: &Store, id: &TaskId) -> Result<Option<TaskRow>> {
    let Some(folder) = store.peek(id)? else { return Ok(None) };
    // The last artifact tells how far it came; those before it need not be read.
    let last = Kind::ALL.iter().rev().find(|it| folder.path(**it).exists());
    let stored = StoredTask::read(&folder, id).ok().flatten();
    if last.is_none() && stored.is_none() {
        return Ok(None);
    }
    let name = stored.as_ref().map_or_else(
        || id.as_str().rsplit_once('-').map_or(id.as_str(), |it| it.0).to_owned(),
        |it| it.name().to_string(),
    );
    let host = stored.as_ref().and_then(StoredTask::host);
    let mut out = TaskRow::new(id.as_str(), "", &name, host.as_deref());
    if let Some(&kind) = last
        && let Ok(ArtifactState::Intact(it)) = folder.find(kind)
    {
        let payload: Value = serde_json::from_str(it.payload.get()).unwrap_or_default();
        (out.status, out.why) = task_status(kind, &payload);
        out.ended_ms = it
            .created_at
            .parse::<jiff::Timestamp>()
            .ok()
            .map(jiff::Timestamp::as_millisecond)
            .filter(|_| out.status != Status::Pending);
    }
    Ok(Some(out))
}

/// Where a task stands whose last artifact is this one.
fn task_status(kind: Kind, payload: &Value) -> (Status, Option<String>) {
    if kind == Kind::VerificationReport {
        let status = match payload["reason"].as_str() {
            _ if payload["verified"] == true => Status::Verified,
            Some(NO_EFFECT) => {
                let reason = Reason::NoEffect;
                return (status_of(reason.outcome()), Some(reason.as_str().to_owned()));
            }
            _ => Status::Draft,
        };
        return (status, payload["reason"].as_str().map(str::to_owned));
    }
    let Some(reason) = payload.pointer("/rejected/reason") else { return (Status::Pending, None) };
    let Ok(reason) = serde_json::from_value::<Reason>(reason.clone()) else {
        return (Status::Pending, None);
    };
    (status_of(reason.outcome()), Some(reason.as_str().to_owned()))
}

/// The status of a task that came to this.
pub const fn status_of(outcome: Outcome) -> Status {
    match outcome {
        Outcome::Verified => Status::Verified,
        Outcome::SavedDraft => Status::Draft,
        Outcome::NeedsSelection => Status::NeedsSelection,
        Outcome::NonRecipeable => Status::NonRecipeable,
    }
}
