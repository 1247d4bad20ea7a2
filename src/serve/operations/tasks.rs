//! Tasks: what is at work and what came of it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Spec, ToolExposure, row,
    with_default_meta,
};
use crate::{
    Daemon,
    answer::ApiError,
    principal::{AccessRequirement, AccessRight, Area},
    queue::Queue,
    task_access::{find_visible_task, task_error},
    task_database::{TaskState, TaskView},
};
use commis_base::error::{Code, Error, Result};
use commis_learn::OnStage;
use commis_stages::STAGES;

type OperationOutput<T> = Result<(T, Meta), Box<ApiError>>;

const READ: AccessRequirement = AccessRequirement::May(Area::Tasks, AccessRight::Read);
const WRITE: AccessRequirement = AccessRequirement::May(Area::Tasks, AccessRight::Write);

pub fn rows(out: &mut Vec<Operation>) {
    out.push(row(
        Spec {
            name: "task_list",
            kind: Kind::Read,
            need: READ,
            routes: &[(HttpMethod::Get, "/api/tasks"), (HttpMethod::Get, "/api/runs")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "List tasks, newest first.",
        },
        list,
    ));
    out.push(row(
        Spec {
            name: "task_get",
            kind: Kind::Read,
            need: READ,
            routes: &[
                (HttpMethod::Get, "/api/tasks/{task_id}"),
                (HttpMethod::Get, "/api/runs/{task_id}"),
            ],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Say where a task stands.",
        },
        get,
    ));
    out.push(row(
        Spec {
            name: "task_result",
            kind: Kind::Read,
            need: READ,
            routes: &[(HttpMethod::Get, "/api/tasks/{task_id}/result")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Return what a task that ended came to.",
        },
        result,
    ));
    out.push(row(
        Spec {
            name: "task_cancel",
            kind: Kind::Write,
            need: WRITE,
            routes: &[
                (HttpMethod::Post, "/api/tasks/{task_id}/cancel"),
                (HttpMethod::Post, "/api/runs/{task_id}/cancel"),
            ],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Cancel a task that has not ended.\nWhat runs is ended where it next waits; one that has ended stays as it is.",
        },
        cancel,
    ));
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// Only those that stand there.
    state: Option<TaskState>,
    /// At most so many.
    #[serde(default = "fifty")]
    #[schemars(range(min = 1, max = 1000))]
    limit: u32,
}

fn fifty() -> u32 {
    50
}

#[derive(Serialize, JsonSchema)]
struct TaskList {
    tasks: Vec<TaskView>,
}

async fn list(cx: OperationContext, args: ListArgs) -> OperationOutput<TaskList> {
    let limit = super::within("limit", args.limit, 1000)?;
    let of = cx.principal.scopes.is_some().then(|| cx.principal.id.clone());
    with_default_meta(TaskList { tasks: cx.daemon.database.tasks(args.state, of, limit).await? })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskIdArgs {
    /// The task's id.
    pub task_id: String,
}

async fn get(cx: OperationContext, args: TaskIdArgs) -> OperationOutput<TaskView> {
    with_default_meta(find_visible_task(&cx, &args.task_id).await?)
}

async fn result(cx: OperationContext, args: TaskIdArgs) -> OperationOutput<Value> {
    let task = find_visible_task(&cx, &args.task_id).await?;
    let meta = Meta { task_id: Some(task.task_id.clone()), ..Meta::default() };
    match task.state {
        TaskState::Done => {}
        it if it.has_ended() => return Err(task_error(&task)),
        it => {
            let message = format!("the task is {}", it.as_str());
            let hint = "its events say when it ends: /api/tasks/{task_id}/events";
            return Err(Error::new(Code::TaskNotDone, message).hint(hint).into());
        }
    }
    let data = cx.daemon.database.result(&task.task_id).await?.unwrap_or_default();
    Ok((data, meta))
}

async fn cancel(cx: OperationContext, args: TaskIdArgs) -> OperationOutput<TaskView> {
    let task = find_visible_task(&cx, &args.task_id).await?;
    Queue::cancel(&cx.daemon, &task.task_id).await?;
    with_default_meta(cx.daemon.database.task(&task.task_id).await?)
}

/// Stages of a task, told as they begin.
pub fn on_stage(cx: &OperationContext) -> OnStage {
    let daemon: Arc<Daemon> = Arc::clone(&cx.daemon);
    let id = cx.job.as_ref().map(|it| it.id.clone()).unwrap_or_default();
    // One writes them all down, in their order.
    let (send, mut take) = tokio::sync::mpsc::unbounded_channel::<commis_stages::Stage>();
    tokio::spawn(async move {
        while let Some(stage) = take.recv().await {
            let at = STAGES.iter().position(|it| it.stage == stage).unwrap_or(0);
            let data = json!({"stage": stage.as_str(), "progress": at, "total": STAGES.len()});
            if let Err(err) = daemon.database.stage(&id, stage.as_str(), data).await {
                tracing::error!(error = %err, "an event was not written down");
            }
        }
    });
    // It ends with what learns.
    Box::new(move |_, stage| _ = send.send(stage))
}
