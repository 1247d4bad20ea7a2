//! Does the tasks that wait in the queue.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use super::{
    Daemon,
    operations::{self, ExecutionMode, Job, Operation, OperationContext},
    perform::{RunningGuard, cancelled_error, flatten_join, record_end},
    principal::Principal,
    queue::{Queue, QueuedTask},
    task_database::TaskView,
};
use commis_base::{
    error::{Code, Error, Result},
    work::{OPERATION, poll_bounded},
};

/// What is at work when the daemon ends gets so long.
const LAST: Duration = Duration::from_secs(3);

impl Queue {
    /// Takes up what an earlier daemon left, and begins to work. Fails with `ARTIFACT_IO`.
    pub fn recover(daemon: &Arc<Daemon>) -> Result<()> {
        // Learning goes on by its artifacts; nothing else that had begun is begun again.
        let goes_on = |it: &TaskView| {
            matches!(it.operation.as_str(), "recipe_learn" | "recipe_create_from_candidate")
        };
        let (waiting, interrupted) = daemon.database.recover(goes_on)?;
        if interrupted + waiting.len() > 0 {
            tracing::info!(waiting = waiting.len(), interrupted, "tasks of an earlier daemon");
        }
        let queue = &daemon.queue;
        for task in waiting {
            let again = task.began_ms.is_some();
            // One whose operation there is no more has an end, too: it fails.
            queue.waiting.fetch_add(1, Ordering::Relaxed);
            let is_run =
                find(&task.operation).is_some_and(|it| it.spec.length == ExecutionMode::Run);
            queue.push(is_run, task.task_id, again, None);
        }
        for lane in [&queue.runs, &queue.work] {
            for _ in 0..lane.workers {
                let (daemon, take) = (Arc::clone(daemon), Arc::clone(&lane.take));
                let work = daemon.worker_handle.clone();
                work.spawn(async move {
                    loop {
                        let next = async { take.lock().await.recv().await };
                        let next = tokio::select! {
                            () = daemon.stop.cancelled() => return,
                            it = next => it,
                        };
                        let Some(next) = next else { return };
                        execute(&daemon, next).await;
                    }
                });
            }
        }
        Ok(())
    }
}

/// Does a task that waited.
async fn execute(daemon: &Arc<Daemon>, next: QueuedTask) {
    let queue = &daemon.queue;
    queue.waiting.fetch_sub(1, Ordering::Relaxed);
    let _at_work = RunningGuard::new(daemon);
    if let Err(err) = execute_inner(daemon, &next).await {
        tracing::error!(task = next.id, error = %err, "a task could not be written down");
    }
    queue.jobs().remove(&next.id);
}

async fn execute_inner(daemon: &Arc<Daemon>, next: &QueuedTask) -> Result<()> {
    // Cancelled meanwhile, or gone.
    let Some(task) = daemon.database.begin(&next.id).await? else { return Ok(()) };
    let held = daemon.queue.jobs().get(&next.id).cloned();
    let (cancel, args) = held.unwrap_or_default();
    if args.is_none() && task.hidden {
        // Only the daemon that was asked knew it.
        let err = Error::new(
            Code::Interrupted,
            "an argument held a secret, which was lost when the daemon restarted",
        )
        .hint("send the call again");
        record_end(daemon, &next.id, Err(err.into())).await;
        return Ok(());
    }
    let principal = find_principal(daemon, &task.principal);
    let end = match (find(&task.operation), principal) {
        (Some(row), Some(principal)) => {
            let job = Job { id: task.task_id.clone(), cancel: cancel.clone(), again: next.again };
            let cx = OperationContext { daemon: Arc::clone(daemon), principal, job: Some(job) };
            let args = args.unwrap_or(task.args);
            let work = tokio::spawn(poll_bounded(OPERATION, row.call(cx, args)));
            let abort = work.abort_handle();
            tokio::select! {
                it = work => flatten_join(it),
                () = async {
                    cancel.cancelled().await;
                    // It ends by itself where it can put down what it has in hand.
                    tokio::time::sleep(Duration::from_secs(2)).await;
                } => {
                    abort.abort();
                    Err(cancelled_error())
                }
                // What can go on later is left as it is.
                () = async {
                    daemon.stop.cancelled().await;
                    tokio::time::sleep(LAST).await;
                } => {
                    abort.abort();
                    return Ok(());
                }
            }
        }
        (None, _) => Err(Error::new(Code::Internal, "there is no such operation any more").into()),
        (_, None) => {
            Err(Error::new(Code::Forbidden, "the token of this task was revoked or has expired")
                .into())
        }
    };
    record_end(daemon, &next.id, end).await;
    Ok(())
}

/// Who asked for a task, as they may today.
fn find_principal(daemon: &Daemon, id: &str) -> Option<Principal> {
    if id == "root" {
        return Some(Principal::root());
    }
    if let Some(it) = id.strip_prefix("dashboard-") {
        return Some(Principal::dashboard(it));
    }
    daemon.principal_of_token(id)
}

/// The operation of that name.
#[cfg(not(feature = "conformance"))]
fn find(name: &str) -> Option<&'static Operation> {
    operations::find(name)
}

/// The operation of that name, or the fixture.
#[cfg(feature = "conformance")]
fn find(name: &str) -> Option<&'static Operation> {
    operations::find(name).or_else(|| super::mcp::fixtures::work::of_tool(name))
}
