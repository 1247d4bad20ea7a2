//! Which tasks a caller may see, and what a task that failed says.

use super::{
    answer::ApiError,
    operation::OperationContext,
    task_database::{TaskState, TaskView},
};
use commis_base::error::{Code, Error};

/// A token with scopes knows of its own tasks alone.
fn is_visible(cx: &OperationContext, it: &TaskView) -> bool {
    cx.principal.scopes.is_none() || it.principal == cx.principal.id
}

/// The task, if who asks may know of it. Fails with `TASK_NOT_FOUND`.
pub async fn find_visible_task(
    cx: &OperationContext,
    id: &str,
) -> commis_base::error::Result<TaskView> {
    let task = cx.daemon.database.task(id).await?;
    if is_visible(cx, &task) {
        return Ok(task);
    }
    Err(Error::new(Code::TaskNotFound, "there is no such task"))
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
