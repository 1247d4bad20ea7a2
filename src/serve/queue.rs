//! Tasks: what waits its turn, what is at work, and what of it may be cancelled. A task is in the book before anybody hears of it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::{
    Daemon,
    answer::{Answer, ApiError},
    book::{KeyLookup, TaskState, TaskView},
    guard,
    operations::{
        ExecutionMode, Job, Operation, OperationContext, OperationResult, find, no_secrets,
    },
    principal::Principal,
    rates::RateKind,
};
use commis_artifacts::store::json_sha256;
use commis_base::{
    error::{Code, Error, Result},
    ids::{self, RecipeName, hex},
    settings::ServeSettings,
    work::{OPERATION, poll_bounded},
};
use commis_state::now_ms;

/// What takes longer is a task.
pub const AT_ONCE: Duration = Duration::from_secs(2);
/// Runs of recipes that are tasks, at once (seed 2.1.1).
const RUNS: usize = 4;

/// What is at work when the daemon ends gets so long.
const LAST: Duration = Duration::from_secs(3);

/// A task that waits.
struct QueuedTask {
    id: String,
    again: bool,
}

/// Tasks of one kind.
struct WorkerLane {
    send: mpsc::UnboundedSender<QueuedTask>,
    take: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<QueuedTask>>>,
    workers: usize,
}

impl WorkerLane {
    fn new(workers: usize) -> Self {
        let (send, take) = mpsc::unbounded_channel();
        Self { send, take: Arc::new(tokio::sync::Mutex::new(take)), workers }
    }
}

pub struct Queue {
    runs: WorkerLane,
    work: WorkerLane,
    most: usize,
    waiting: AtomicUsize,
    at_work: AtomicUsize,
    /// What can be cancelled, and arguments that are nowhere else.
    jobs: Mutex<BTreeMap<String, (CancellationToken, Option<Value>)>>,
    settled: Notify,
}

/// How an operation was asked for.
#[derive(Default)]
pub struct CallOptions {
    pub key: Option<String>,
    /// A task from the start, and not waited for.
    pub apart: bool,
}

/// What asking for an operation comes to.
pub enum PerformOutcome {
    Done(Answer),
    /// A task that goes on.
    Accepted(TaskView),
}

impl Queue {
    pub fn new(settings: &ServeSettings) -> Self {
        Self {
            runs: WorkerLane::new(RUNS),
            work: WorkerLane::new(settings.work_at_once as usize),
            most: settings.queue as usize,
            waiting: AtomicUsize::new(0),
            at_work: AtomicUsize::new(0),
            jobs: Mutex::default(),
            settled: Notify::new(),
        }
    }

    pub fn queued_count(&self) -> usize {
        self.waiting.load(Ordering::Relaxed)
    }

    pub fn at_work(&self) -> usize {
        self.at_work.load(Ordering::Relaxed)
    }

    pub fn is_at_work(&self) -> bool {
        self.queued_count() + self.at_work() > 0
    }

    /// Until nothing is at work.
    pub async fn settled(&self) {
        loop {
            let changed = self.settled.notified();
            if self.at_work() == 0 {
                return;
            }
            changed.await;
        }
    }

    /// Takes up what an earlier daemon left, and begins to work. Fails with `ARTIFACT_IO`.
    pub fn recover(daemon: &Arc<Daemon>) -> Result<()> {
        // Learning goes on by its artifacts; nothing else that had begun is begun again.
        let goes_on = |it: &TaskView| {
            matches!(it.operation.as_str(), "recipe_learn" | "recipe_create_from_candidate")
        };
        let (waiting, interrupted) = daemon.book.recover(goes_on)?;
        if interrupted + waiting.len() > 0 {
            tracing::info!(waiting = waiting.len(), interrupted, "tasks of an earlier daemon");
        }
        let queue = &daemon.queue;
        for task in waiting {
            let again = task.began_ms.is_some();
            // One whose operation there is no more has an end, too: it fails.
            queue.waiting.fetch_add(1, Ordering::Relaxed);
            queue.push(find(&task.operation), task.task_id, again, None);
        }
        for lane in [&queue.runs, &queue.work] {
            for _ in 0..lane.workers {
                let (daemon, take) = (Arc::clone(daemon), Arc::clone(&lane.take));
                let work = daemon.work.clone();
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

    /// A place for one more that waits. Fails with `QUEUE_FULL`.
    fn reserve(daemon: &Arc<Daemon>) -> Result<QueuePermit, Box<ApiError>> {
        let queue = &daemon.queue;
        let more = |it: usize| (it < queue.most).then_some(it + 1);
        match queue.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(QueuePermit(Some(Arc::clone(daemon)))),
            Err(_) => Err(full(queue.most)),
        }
    }

    /// Puts a task, whose place is reserved, behind the others.
    fn push(&self, row: Option<&Operation>, id: String, again: bool, args: Option<Value>) {
        self.jobs().insert(id.clone(), (CancellationToken::new(), args));
        let is_run = row.is_some_and(|it| it.spec.length == ExecutionMode::Run);
        let lane = if is_run { &self.runs } else { &self.work };
        // The receiver lives as long as the queue.
        let _ = lane.send.send(QueuedTask { id, again });
    }

    fn jobs(
        &self,
    ) -> std::sync::MutexGuard<'_, BTreeMap<String, (CancellationToken, Option<Value>)>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a task that has not ended: one that waits at once, one at work where it next waits. Fails with `ARTIFACT_IO`.
    pub async fn cancel(daemon: &Arc<Daemon>, id: &str) -> Result<()> {
        let token = daemon.queue.jobs().get(id).map(|it| it.0.clone());
        let error = serde_json::to_value(ApiError::from_error(&Error::new(
            Code::Cancelled,
            "the task was cancelled",
        )));
        daemon.book.end(id, TaskState::Cancelled, None, error.ok()).await?;
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
        who: Principal,
        how: CallOptions,
    ) -> Result<PerformOutcome, Box<ApiError>> {
        let daemon = Arc::clone(daemon);
        let work = async move { Box::pin(Self::performed(&daemon, row, args, who, how)).await };
        let work = tokio::spawn(poll_bounded(OPERATION, work));
        work.await.unwrap_or_else(|err| {
            Err(Error::new(Code::Internal, "the work ended by itself").source(err).into())
        })
    }

    async fn performed(
        daemon: &Arc<Daemon>,
        row: &'static Operation,
        args: Value,
        who: Principal,
        how: CallOptions,
    ) -> Result<PerformOutcome, Box<ApiError>> {
        let recipe = args["name"].as_str();
        who.must_at(row.spec.need, recipe, row.page(&args))?;
        if let Some(it) = recipe.filter(|_| row.in_path().any(|it| it == "name")) {
            // What is no name is not written down.
            RecipeName::new(it)?;
        }
        let hidden = match no_secrets(row, &args) {
            Err(err) if !daemon.world().settings.serve.allow_task_secrets => return Err(err.into()),
            Err(_) => true,
            Ok(()) => row.hides(&args),
        };
        let asked = OperationContext { daemon: Arc::clone(daemon), who: who.clone(), job: None };
        let is_run = row.spec.length == ExecutionMode::Run;
        if row.spec.length == ExecutionMode::Now {
            return row.call(asked, args).await.map(PerformOutcome::Done);
        }
        let may_run = || match daemon.rates.take(RateKind::Run, &who.id) {
            Err(wait) if is_run => Err(guard::too_often(wait)),
            _ => Ok(()),
        };
        if is_run && how.key.is_none() && !how.apart {
            may_run()?;
            return Self::at_once(row, asked, args, hidden).await;
        }
        row.check(&args, &daemon.world().settings, &who)?;
        let task = view(row, &args, &who, hidden)?;
        // Of what is written down anyway: a digest of a short password is as good as the password.
        let input = || sha256(&[row.spec.name, &json_sha256(&task.args)]);
        let key = how.key.map(|it| (sha256(&[&who.id, &it]), input()));
        let known = match &key {
            Some(it) => daemon.book.keyed(it.clone()).await?,
            None => None,
        };
        let task = if let Some(id) = known {
            daemon.book.task(&id).await?
        } else {
            let place = Self::reserve(daemon)?;
            may_run()?;
            match daemon.book.add(task.clone(), key).await? {
                KeyLookup::Old(id) => daemon.book.task(&id).await?,
                KeyLookup::New => {
                    place.consume();
                    let (id, args) = (task.task_id.clone(), hidden.then_some(args));
                    daemon.queue.push(Some(row), id, false, args);
                    task
                }
            }
        };
        if is_run && !how.apart {
            return Self::waited(daemon, task, AT_ONCE).await;
        }
        Ok(PerformOutcome::Accepted(task))
    }

    /// Done without a task, unless it takes too long: then it becomes one, and goes on.
    async fn at_once(
        row: &'static Operation,
        asked: OperationContext,
        args: Value,
        hidden: bool,
    ) -> Result<PerformOutcome, Box<ApiError>> {
        let daemon = Arc::clone(&asked.daemon);
        let (task, cancel) = (view(row, &args, &asked.who, hidden)?, CancellationToken::new());
        let job = Job { id: task.task_id.clone(), cancel: cancel.clone(), again: false };
        let asked = OperationContext { job: Some(job), ..asked };
        let (at_work, stop) = (RunningGuard::new(&daemon), cancel.clone());
        // Who asked may go away; what was begun is ended.
        let mut work = tokio::spawn(async move {
            let _at_work = at_work;
            tokio::select! {
                it = poll_bounded(OPERATION, row.call(asked, args)) => it,
                () = stop.cancelled() => Err(cancelled()),
            }
        });
        if let Ok(end) = tokio::time::timeout(AT_ONCE, &mut work).await {
            return joined(end).map(PerformOutcome::Done);
        }
        let task = TaskView { state: TaskState::Running, began_ms: Some(task.created_ms), ..task };
        daemon.queue.jobs().insert(task.task_id.clone(), (cancel, None));
        if let Err(err) = daemon.book.add(task.clone(), None).await {
            daemon.queue.jobs().remove(&task.task_id);
            return Err(err.into());
        }
        let of = Arc::clone(&daemon);
        let id = task.task_id.clone();
        tokio::spawn(async move {
            record_end(&of, &id, joined(work.await)).await;
            of.queue.jobs().remove(&id);
        });
        Ok(PerformOutcome::Accepted(task))
    }

    /// The end of a task, where it comes soon enough.
    pub async fn waited(
        daemon: &Arc<Daemon>,
        task: TaskView,
        patience: Duration,
    ) -> Result<PerformOutcome, Box<ApiError>> {
        let mut events = daemon.book.listen();
        let id = task.task_id.clone();
        let end = async {
            loop {
                let now = daemon.book.task(&id).await?;
                if now.state.has_ended() {
                    return Ok::<_, Error>(now);
                }
                // Whatever comes, or is missed: the book is looked into.
                while let Ok(it) = events.recv().await {
                    if it.task_id.as_ref() == Some(&id) {
                        break;
                    }
                }
            }
        };
        let Ok(ended) = tokio::time::timeout(patience, end).await else {
            return Ok(PerformOutcome::Accepted(task));
        };
        let ended = ended?;
        if ended.state != TaskState::Done {
            return Err(super::operations::task_error(&ended));
        }
        let data = daemon.book.result(&id).await?.unwrap_or_default();
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
struct RunningGuard(Arc<Daemon>);

impl RunningGuard {
    fn new(daemon: &Arc<Daemon>) -> Self {
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

fn joined(end: Result<OperationResult, tokio::task::JoinError>) -> OperationResult {
    end.unwrap_or_else(|err| {
        Err(Error::new(Code::Internal, "the work ended by itself").source(err).into())
    })
}

fn cancelled() -> Box<ApiError> {
    Error::new(Code::Cancelled, "the task was cancelled").into()
}

fn full(most: usize) -> Box<ApiError> {
    let err = Error::new(Code::QueueFull, format!("{most} tasks wait already"))
        .hint("ask again when some have ended");
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

fn view(row: &Operation, args: &Value, who: &Principal, hidden: bool) -> Result<TaskView> {
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
        principal: who.id.clone(),
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

/// Does a task that waited.
async fn execute(daemon: &Arc<Daemon>, next: QueuedTask) {
    let queue = &daemon.queue;
    queue.waiting.fetch_sub(1, Ordering::Relaxed);
    let _at_work = RunningGuard::new(daemon);
    if let Err(err) = executed(daemon, &next).await {
        tracing::error!(task = next.id, error = %err, "a task could not be written down");
    }
    queue.jobs().remove(&next.id);
}

async fn executed(daemon: &Arc<Daemon>, next: &QueuedTask) -> Result<()> {
    // Cancelled meanwhile, or gone.
    let Some(task) = daemon.book.begin(&next.id).await? else { return Ok(()) };
    let held = daemon.queue.jobs().get(&next.id).cloned();
    let (cancel, args) = held.unwrap_or_default();
    if args.is_none() && task.hidden {
        // Only the daemon that was asked knew it.
        let err = Error::new(
            Code::Interrupted,
            "what it works with held a secret, which was kept in memory alone",
        )
        .hint("ask again");
        record_end(daemon, &next.id, Err(err.into())).await;
        return Ok(());
    }
    let who = who(daemon, &task.principal);
    let end = match (find(&task.operation), who) {
        (Some(row), Some(who)) => {
            let job = Job { id: task.task_id.clone(), cancel: cancel.clone(), again: next.again };
            let asked = OperationContext { daemon: Arc::clone(daemon), who, job: Some(job) };
            let args = args.unwrap_or(task.args);
            let work = tokio::spawn(poll_bounded(OPERATION, row.call(asked, args)));
            let abort = work.abort_handle();
            tokio::select! {
                it = work => joined(it),
                () = async {
                    cancel.cancelled().await;
                    // It ends by itself where it can put down what it has in hand.
                    tokio::time::sleep(Duration::from_secs(2)).await;
                } => {
                    abort.abort();
                    Err(cancelled())
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
        (_, None) => Err(Error::new(Code::Forbidden, "the token that asked for it is gone").into()),
    };
    record_end(daemon, &next.id, end).await;
    Ok(())
}

/// Who asked for a task, as they may today.
fn who(daemon: &Daemon, id: &str) -> Option<Principal> {
    if id == "root" {
        return Some(Principal::root());
    }
    if let Some(it) = id.strip_prefix("dashboard-") {
        return Some(Principal::dashboard(it));
    }
    daemon.holder(id)
}

/// Writes down how a task ended, and tells.
async fn record_end(daemon: &Arc<Daemon>, id: &str, end: OperationResult) {
    let written = match end {
        Ok(it) => daemon.book.end(id, TaskState::Done, Some(&it), None).await,
        Err(it) => {
            let state = match it.error_code.as_str() {
                "CANCELLED" => TaskState::Cancelled,
                "INTERRUPTED" => TaskState::Interrupted,
                _ => TaskState::Failed,
            };
            daemon.book.end(id, state, None, serde_json::to_value(&*it).ok()).await
        }
    };
    if let Err(err) = written {
        tracing::error!(task = id, error = %err, "an end was not written down");
    }
}
