//! Tasks: what is at work and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Spec, ToolExposure, row,
    with_default_meta,
};
use crate::{
    answer::ApiError,
    book::{TaskState, TaskView},
    principal::{AccessRequirement, AccessRight, Area},
    queue::Queue,
};
use commis_base::error::{Code, Error};

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

async fn list(asked: OperationContext, args: ListArgs) -> OperationOutput<TaskList> {
    let limit = super::within("limit", args.limit, 1000)?;
    let of = asked.who.scopes.is_some().then(|| asked.who.id.clone());
    with_default_meta(TaskList { tasks: asked.daemon.book.tasks(args.state, of, limit).await? })
}

/// A token with scopes knows of its own tasks alone.
fn is_theirs(asked: &OperationContext, it: &TaskView) -> bool {
    asked.who.scopes.is_none() || it.principal == asked.who.id
}

/// The task, if who asks may know of it. Fails with `TASK_NOT_FOUND`.
pub async fn theirs(asked: &OperationContext, id: &str) -> commis_base::error::Result<TaskView> {
    let task = asked.daemon.book.task(id).await?;
    if is_theirs(asked, &task) {
        return Ok(task);
    }
    Err(Error::new(Code::TaskNotFound, "there is no such task"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskIdArgs {
    /// The task's id.
    pub task_id: String,
}

async fn get(asked: OperationContext, args: TaskIdArgs) -> OperationOutput<TaskView> {
    with_default_meta(theirs(&asked, &args.task_id).await?)
}

async fn result(asked: OperationContext, args: TaskIdArgs) -> OperationOutput<Value> {
    let task = theirs(&asked, &args.task_id).await?;
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
    let data = asked.daemon.book.result(&task.task_id).await?.unwrap_or_default();
    Ok((data, meta))
}

/// What a task that came to nothing says of it.
pub fn task_error(task: &TaskView) -> Box<ApiError> {
    let text = |key: &str| task.error.as_ref().and_then(|it| it[key].as_str()).map(str::to_owned);
    let code = match task.state {
        TaskState::Cancelled => "CANCELLED",
        _ => "INTERNAL",
    };
    Box::new(ApiError {
        error_code: text("error_code").unwrap_or_else(|| code.to_owned()),
        message: text("message").unwrap_or_else(|| format!("the task is {}", task.state.as_str())),
        hint: text("hint"),
        retryable: task.error.as_ref().is_some_and(|it| it["retryable"] == true),
        retry_after_sec: None,
        stage: task.stage.clone(),
        reason_codes: Vec::new(),
        task_id: Some(task.task_id.clone()),
        by_site: false,
    })
}

async fn cancel(asked: OperationContext, args: TaskIdArgs) -> OperationOutput<TaskView> {
    let task = theirs(&asked, &args.task_id).await?;
    Queue::cancel(&asked.daemon, &task.task_id).await?;
    with_default_meta(asked.daemon.book.task(&task.task_id).await?)
}
