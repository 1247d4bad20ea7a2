//! Tasks: what is at work and what came of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Asked, Kind, Length, Meta, Row, Spec, Tool, Verb, plain, row};
use crate::{
    answer::Trouble,
    book::{TaskState, TaskView},
    principal::{Area, Need, Right},
    queue::Queue,
};
use commis_base::error::{Code, Error};

type Out<T> = Result<(T, Meta), Box<Trouble>>;

const READ: Need = Need::May(Area::Tasks, Right::Read);
const WRITE: Need = Need::May(Area::Tasks, Right::Write);

pub fn rows(out: &mut Vec<Row>) {
    out.push(row(
        Spec {
            name: "task_list",
            kind: Kind::Read,
            need: READ,
            routes: &[(Verb::Get, "/api/tasks"), (Verb::Get, "/api/runs")],
            tool: Tool::All,
            length: Length::Now,
            help: "List tasks, newest first.",
        },
        list,
    ));
    out.push(row(
        Spec {
            name: "task_get",
            kind: Kind::Read,
            need: READ,
            routes: &[(Verb::Get, "/api/tasks/{task_id}"), (Verb::Get, "/api/runs/{task_id}")],
            tool: Tool::All,
            length: Length::Now,
            help: "Say where a task stands.",
        },
        get,
    ));
    out.push(row(
        Spec {
            name: "task_result",
            kind: Kind::Read,
            need: READ,
            routes: &[(Verb::Get, "/api/tasks/{task_id}/result")],
            tool: Tool::All,
            length: Length::Now,
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
                (Verb::Post, "/api/tasks/{task_id}/cancel"),
                (Verb::Post, "/api/runs/{task_id}/cancel"),
            ],
            tool: Tool::All,
            length: Length::Now,
            help: "Cancel a task that has not ended.\nWhat runs is ended where it next waits; one that has ended stays as it is.",
        },
        cancel,
    ));
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct List {
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
struct Tasks {
    tasks: Vec<TaskView>,
}

async fn list(asked: Asked, args: List) -> Out<Tasks> {
    let limit = super::within("limit", args.limit, 1000)?;
    let of = asked.who.scopes.is_some().then(|| asked.who.id.clone());
    plain(Tasks { tasks: asked.daemon.book.tasks(args.state, of, limit).await? })
}

/// A token with scopes knows of its own tasks alone.
fn is_theirs(asked: &Asked, it: &TaskView) -> bool {
    asked.who.scopes.is_none() || it.principal == asked.who.id
}

/// The task, if who asks may know of it. Fails with `TASK_NOT_FOUND`.
pub async fn theirs(asked: &Asked, id: &str) -> commis_base::error::Result<TaskView> {
    let task = asked.daemon.book.task(id).await?;
    if is_theirs(asked, &task) {
        return Ok(task);
    }
    Err(Error::new(Code::TaskNotFound, "there is no such task"))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Numbered {
    /// The task's id.
    pub task_id: String,
}

async fn get(asked: Asked, args: Numbered) -> Out<TaskView> {
    plain(theirs(&asked, &args.task_id).await?)
}

async fn result(asked: Asked, args: Numbered) -> Out<Value> {
    let task = theirs(&asked, &args.task_id).await?;
    let meta = Meta { task_id: Some(task.task_id.clone()), ..Meta::default() };
    match task.state {
        TaskState::Done => {}
        it if it.has_ended() => return Err(failed(&task)),
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
pub fn failed(task: &TaskView) -> Box<Trouble> {
    let text = |key: &str| task.error.as_ref().and_then(|it| it[key].as_str()).map(str::to_owned);
    let code = match task.state {
        TaskState::Cancelled => "CANCELLED",
        _ => "INTERNAL",
    };
    Box::new(Trouble {
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

async fn cancel(asked: Asked, args: Numbered) -> Out<TaskView> {
    let task = theirs(&asked, &args.task_id).await?;
    Queue::cancel(&asked.daemon, &task.task_id).await?;
    plain(asked.daemon.book.task(&task.task_id).await?)
}
