//! Runs operations: at once, or as tasks. A task is stored before its id is returned.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio_util::sync::CancellationToken;

use super::{
    Daemon,
    answer::{Answer, ApiError},
    operations::{ExecutionMode, Job, Operation, OperationContext, OperationResult, no_secrets},
    principal::Principal,
    queue::{CallOptions, PerformOutcome, Queue},
    rates::RateKind,
    refusal::rate_limit_error,
    task_access::task_error,
    task_database::{KeyLookup, TaskState, TaskView},
};
use commis_artifacts::store::json_sha256;
use commis_base::{
    error::{Code, Error, Result},
    ids::{self, RecipeName, hex},
    work::{OPERATION, poll_bounded},
};
use commis_state::now_ms;

/// What takes longer is a task.
pub const AT_ONCE: Duration = Duration::from_secs(2);

impl Queue {
    /// A place for one more that waits. Fails with `QUEUE_FULL`.
    fn reserve(daemon: &Arc<Daemon>) -> Result<QueuePermit, Box<ApiError>> {
        let queue = &daemon.queue;
        let more = |it: usize| (it < queue.most).then_some(it + 1);
        match queue.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(QueuePermit(Some(Arc::clone(daemon)))),
            Err(_) => Err(queue_full_error(queue.most)),
        }
    }

    /// Ends a task that has not ended: one that waits at once, one at work where it next waits. Fails with `ARTIFACT_IO`.
    pub async fn cancel(daemon: &Arc<Daemon>, id: &str) -> Result<()> {
        let token = daemon.queue.jobs().get(id).map(|it| it.0.clone());
        let error = serde_json::to_value(ApiError::from_error(&Error::new(
            Code::Cancelled,
            "the task was cancelled",
        )));
        daemon.database.end(id, TaskState::Cancelled, None, error.ok()).await?;
        if let Some(it) = token {
            it.cancel();
        }
        Ok(())
    }

    /// Does an operation for that caller: at once, or as a task. What was begun is ended, also where the caller goes away: dropping
    /// the future is to wait no longer. Fails with `FORBIDDEN`, `SECRET_IN_TASK`, `PARAM_INVALID`, `RATE_LIMITED`, `QUEUE_FULL`,
    /// `KEY_REUSED` and what the operation fails with.
    pub async fn perform(
        daemon: &Arc<Daemon>,
        row: &'static Operation,
        args: Value,
        principal: Principal,
        options: CallOptions,
    ) -> Result<PerformOutcome, Box<ApiError>> {
        let daemon = Arc::clone(daemon);
        let work = async move {
            Box::pin(Self::perform_inner(&daemon, row, args, principal, options)).await
        };
        let work = tokio::spawn(poll_bounded(OPERATION, work));
        work.await.unwrap_or_else(|err| {
            Err(Error::new(Code::Internal, "the operation ended unexpectedly").source(err).into())
        })
    }

    async fn perform_inner(
        daemon: &Arc<Daemon>,
        row: &'static Operation,
        args: Value,
        principal: Principal,
        options: CallOptions,
    ) -> Result<PerformOutcome, Box<ApiError>> {
        let recipe = args["name"].as_str();
        principal.must_at(row.spec.need, recipe, row.page(&args))?;
        if let Some(it) = recipe.filter(|_| row.in_path().any(|it| it == "name")) {
            // What is no name is not written down.
            RecipeName::new(it)?;
        }
        let hidden = match no_secrets(row, &args) {
            Err(err) if !daemon.runtime().settings.serve.allow_task_secrets => {
                return Err(err.into());
            }
            Err(_) => true,
            Ok(()) => row.hides(&args),
        };
        let cx = OperationContext {
            daemon: Arc::clone(daemon),
            principal: principal.clone(),
            job: None,
        };
        let is_run = row.spec.length == ExecutionMode::Run;
        if row.spec.length == ExecutionMode::Now {
            return row.call(cx, args).await.map(PerformOutcome::Done);
        }
        let may_run = || match daemon.rates.take(RateKind::Run, &principal.id) {
            Err(wait) if is_run => Err(rate_limit_error(wait)),
            _ => Ok(()),
        };
        if is_run && options.key.is_none() && !options.apart {
            may_run()?;
            return Self::at_once(row, cx, args, hidden).await;
        }
        row.check(&args, &daemon.runtime().settings, &principal)?;
        let task = view(row, &args, &principal, hidden)?;
        // Of what is written down anyway: a digest of a short password is as good as the password.
        let input = || sha256(&[row.spec.name, &json_sha256(&task.args)]);
        let key = options.key.map(|it| (sha256(&[&principal.id, &it]), input()));
        let known = match &key {
            Some(it) => daemon.database.keyed(it.clone()).await?,
            None => None,
        };
        let task = if let Some(id) = known {
            daemon.database.task(&id).await?
        } else {
            let place = Self::reserve(daemon)?;
            may_run()?;
            match daemon.database.add(task.clone(), key).await? {
                KeyLookup::Old(id) => daemon.database.task(&id).await?,
                KeyLookup::New => {
                    place.consume();
                    let (id, args) = (task.task_id.clone(), hidden.then_some(args));
                    daemon.queue.push(is_run, id, false, args);
                    task
                }
            }
        };
        if is_run && !options.apart {
            return Self::wait_for_end(daemon, task, AT_ONCE).await;
        }
        Ok(PerformOutcome::Accepted(task))
    }

    /// Done without a task, unless it takes too long: then it becomes one, and goes on.
    async fn at_once(
        row: &'static Operation,
        cx: OperationContext,
        args: Value,
        hidden: bool,
    ) -> Result<PerformOutcome, Box<ApiError>> {
        let daemon = Arc::clone(&cx.daemon);
        let (task, cancel) = (view(row, &args, &cx.principal, hidden)?, CancellationToken::new());
        let job = Job { id: task.task_id.clone(), cancel: cancel.clone(), again: false };
        let cx = OperationContext { job: Some(job), ..cx };
        let (at_work, stop) = (RunningGuard::new(&daemon), cancel.clone());
        // Who asked may go away; what was begun is ended.
        let mut work = tokio::spawn(async move {
            let _at_work = at_work;
            tokio::select! {
                it = poll_bounded(OPERATION, row.call(cx, args)) => it,
                () = stop.cancelled() => Err(cancelled_error()),
            }
        });
        if let Ok(end) = tokio::time::timeout(AT_ONCE, &mut work).await {
            return flatten_join(end).map(PerformOutcome::Done);
        }
        let task = TaskView { state: TaskState::Running, began_ms: Some(task.created_ms), ..task };
        daemon.queue.jobs().insert(task.task_id.clone(), (cancel, None));
        if let Err(err) = daemon.database.add(task.clone(), None).await {
            daemon.queue.jobs().remove(&task.task_id);
            return Err(err.into());
        }
        let of = Arc::clone(&daemon);
        let id = task.task_id.clone();
        tokio::spawn(async move {
            record_end(&of, &id, flatten_join(work.await)).await;
            of.queue.jobs().remove(&id);
        });
        Ok(PerformOutcome::Accepted(task))
    }

    /// The end of a task, where it comes soon enough.
    pub async fn wait_for_end(
        daemon: &Arc<Daemon>,
        task: TaskView,
        timeout: Duration,
    ) -> Result<PerformOutcome, Box<ApiError>> {
        let mut events = daemon.database.listen();
        let id = task.task_id.clone();
        let end = async {
            loop {
                let now = daemon.database.task(&id).await?;
                if now.state.has_ended() {
                    return Ok::<_, Error>(now);
                }
                // After any event, or missed events, the database is read again.
                while let Ok(it) = events.recv().await {
                    if it.task_id.as_ref() == Some(&id) {
                        break;
                    }
                }
            }
        };
        let Ok(ended) = tokio::time::timeout(timeout, end).await else {
            return Ok(PerformOutcome::Accepted(task));
        };
        let ended = ended?;
        if ended.state != TaskState::Done {
            return Err(task_error(&ended));
        }
        let data = daemon.database.result(&id).await?.unwrap_or_default();
        let mut answer = Answer::new(data);
        (answer.meta.task_id, answer.meta.off_schema) = (Some(id), ended.off_schema);
        Ok(PerformOutcome::Done(answer))
    }
}

/// A place in the queue; given back where nothing takes it.
struct QueuePermit(Option<Arc<Daemon>>);

impl QueuePermit {
    fn consume(mut self) {
        self.0 = None;
    }
}

impl Drop for QueuePermit {
    fn drop(&mut self) {
        if let Some(it) = &self.0 {
            it.queue.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

/// One more at work, until this is dropped: also where the work panics.
pub(super) struct RunningGuard(Arc<Daemon>);

impl RunningGuard {
    pub(super) fn new(daemon: &Arc<Daemon>) -> Self {
        daemon.queue.at_work.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(daemon))
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.0.queue.at_work.fetch_sub(1, Ordering::Relaxed);
        // Who asked for it has yet to fetch what it came to.
        self.0.touch();
        self.0.queue.settled.notify_waiters();
    }
}

pub(super) fn flatten_join(
    end: Result<OperationResult, tokio::task::JoinError>,
) -> OperationResult {
    end.unwrap_or_else(|err| {
        Err(Error::new(Code::Internal, "the operation ended unexpectedly").source(err).into())
    })
}

pub(super) fn cancelled_error() -> Box<ApiError> {
    Error::new(Code::Cancelled, "the task was cancelled").into()
}

fn queue_full_error(most: usize) -> Box<ApiError> {
    let err = Error::new(Code::QueueFull, format!("{most} tasks wait already"))
        .hint("try again when some of them have ended");
    let mut out = ApiError::from_error(&err);
    out.retry_after_sec = Some(1);
    Box::new(out)
}

fn sha256(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for it in parts {
        hash.update((it.len() as u64).to_le_bytes());
        hash.update(it.as_bytes());
    }
    hex(&hash.finalize())
}

fn view(row: &Operation, args: &Value, principal: &Principal, hidden: bool) -> Result<TaskView> {
    let mut shown = args.clone();
    if hidden {
        conceal("", &mut shown, row.hides(args));
    }
    Ok(TaskView {
        task_id: format!("t-{}", ids::random_token()?.get(..20).unwrap_or_default()),
        operation: row.spec.name.to_owned(),
        args: shown,
        state: TaskState::Queued,
        stage: None,
        created_ms: now_ms(),
        began_ms: None,
        ended_ms: None,
        error: None,
        principal: principal.id.clone(),
        hidden,
        off_schema: false,
    })
}

/// What is written down of arguments that hold a secret, which is in memory alone; with `typed` all that is typed is one.
fn conceal(name: &str, value: &mut Value, typed: bool) {
    const HIDDEN: &str = "[REDACTED]";
    match value {
        Value::String(it) => {
            let is_typed = typed && matches!(name, "params" | "second" | "value");
            let seems = || {
                commis_redact::probable_secret(it).or_else(|| commis_redact::typed_secret(name, it))
            };
            if is_typed || seems().is_some() {
                HIDDEN.clone_into(it);
            } else {
                *it = commis_redact::message(it);
            }
        }
        Value::Number(it) => {
            let text = it.to_string();
            if typed || commis_redact::typed_secret(name, &text).is_some() {
                *value = HIDDEN.into();
            }
        }
        Value::Array(all) => all.iter_mut().for_each(|it| conceal(name, it, typed)),
        Value::Object(all) => {
            let inner = matches!(name, "params" | "second" if typed).then_some(name);
            for (key, it) in &mut *all {
                conceal(inner.unwrap_or(key), it, typed);
            }
            let secret = |it: &String| commis_redact::probable_secret(it).is_some();
            let names: Vec<String> = all.keys().filter(|it| secret(it)).cloned().collect();
            for it in names {
                all.remove(&it);
                all.insert(HIDDEN.to_owned(), Value::Null);
            }
        }
        Value::Bool(_) | Value::Null => {}
    }
}

/// Writes down how a task ended, and tells.
pub(super) async fn record_end(daemon: &Arc<Daemon>, id: &str, end: OperationResult) {
    let written = match end {
        Ok(it) => daemon.database.end(id, TaskState::Done, Some(&it), None).await,
        Err(it) => {
            let state = match it.error_code.as_str() {
                "CANCELLED" => TaskState::Cancelled,
                "INTERRUPTED" => TaskState::Interrupted,
                _ => TaskState::Failed,
            };
            daemon.database.end(id, state, None, serde_json::to_value(&*it).ok()).await
        }
    };
    if let Err(err) = written {
        tracing::error!(task = id, error = %err, "an end was not written down");
    }
}
