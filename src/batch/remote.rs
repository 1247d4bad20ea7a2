//! A batch whose stages run on other machines: handed to an engine, its ends taken from the store and published here.
//!
//! What is told, kept and reported is what a batch on this machine does. No stage is run here, so no host is asked from here.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
};

use super::{BatchMonitor, Entry, Event, Options, Report, Totals, attempt, monitor::StageRun};
use commis_artifacts::shared_store::{ObjectKey, SharedStore};
use commis_base::error::{Class, Code, Error, Result};
use commis_learn::{
    LearnContext, LearnResult, ModelUse, StoredTask, Task,
    completion_cache::{QuestionDigests, remember},
};
use commis_state::{State, TaskRow, now_ms};

/// Looks at a task in the store when that fails with something of the machine's that may pass, and the pause before the second;
/// doubled each time.
const LOOKS: u32 = 6;
const PAUSE: Duration = Duration::from_secs(1);

/// A task that machines know of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRef {
    pub id: String,
    /// The key of what the task is.
    pub entry: String,
    /// Where a live recording begins; `None` for a file.
    pub host: Option<String>,
    /// Between two recordings on that host, milliseconds.
    pub delay_ms: u64,
}

/// Tasks for other machines.
#[derive(Clone, Debug)]
pub struct WorkRequest {
    /// The manifest's.
    pub name: String,
    pub tasks: Vec<TaskRef>,
    /// At once.
    pub per_host: usize,
    /// Of a task, all its stages together.
    pub deadline: Duration,
    pub retries: u32,
}

/// How an enlisted task ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaskOutcome {
    pub id: String,
    /// Absent when all is in the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<TaskFailure>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<StageRun>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub live_values_lost: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelUse>,
    pub attempts: u32,
    /// Of the machine that ran it, over the task and why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TaskFailure {
    /// The wire name of a [`Code`].
    pub code: String,
    pub error: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl TaskOutcome {
    pub fn from_error(id: &str, attempts: u32, err: &Error) -> Self {
        let failed = TaskFailure {
            code: err.code().to_string(),
            // It is kept by the engine.
            error: commis_redact::message(&err.to_string()),
            hint: err.hint_text().map(commis_redact::message),
        };
        let id = id.to_owned();
        let failed = Some(failed);
        let ran = Vec::new();
        Self { id, failed, ran, live_values_lost: false, model: None, attempts, code: None }
    }

    /// Signed by a machine of the fleet. What an engine may leave out, because there is much of it, is not covered.
    #[must_use]
    pub fn sign(mut self, shared_store: &dyn SharedStore) -> Self {
        self.code = shared_store.sign(&[self.id.as_bytes(), self.reason().as_bytes()]);
        self
    }

    /// As it counts here, whatever the engine that carried it says: what no machine of the fleet signed is a failure. Those that the
    /// engine's workflows make themselves keep their code, without their words.
    #[must_use]
    pub fn verify_signature(self, shared_store: &dyn SharedStore) -> Self {
        if shared_store
            .verify(&[self.id.as_bytes(), self.reason().as_bytes()], self.code.as_deref())
        {
            return self;
        }
        let own = self.code().filter(|it| matches!(it, Code::Timeout | Code::TaskBusy));
        let why = match own {
            Some(_) => "the engine reports that no worker finished the task".to_owned(),
            None => format!("the result of {} is not signed by a machine of the fleet", self.id),
        };
        let err = Error::new(own.unwrap_or(Code::StoreUntrusted), why)
            .hint("the same command with --resume submits it again; all machines need the same COMMIS_STORE_KEY");
        Self::from_error(&self.id, self.attempts, &err)
    }

    fn reason(&self) -> String {
        let parts =
            |it: &TaskFailure| [Some(it.code.clone()), Some(it.error.clone()), it.hint.clone()];
        serde_json::to_string(&self.failed.as_ref().map(parts)).unwrap_or_default()
    }

    /// Why it failed.
    pub fn code(&self) -> Option<Code> {
        let it = self.failed.as_ref()?;
        Some(Code::from_wire(&it.code).unwrap_or(Code::Internal))
    }
}

/// What an engine tells as it goes.
#[derive(Clone, Debug)]
pub enum EngineEvent {
    Began { id: String },
    Ended(TaskOutcome),
}

/// What has tasks done on other machines, each by `Station::run`.
pub trait Engine: Send + Sync {
    /// Hands the tasks over and tells of each as it begins and ends, until all have. When it is dropped before, they go on.
    /// Fails with `CONNECT_FAILED`, `USAGE`.
    fn learn(
        &self,
        all: WorkRequest,
        tell: mpsc::UnboundedSender<EngineEvent>,
    ) -> BoxFuture<'_, Result<()>>;
}

/// Has them done, and gives `each` as it ends; false as soon as that wants no more. Fails as the engine does, and as `each`.
pub async fn for_each_outcome(
    engine: &dyn Engine,
    (all, shared_store): (WorkRequest, &dyn SharedStore),
    mut each: impl FnMut(TaskOutcome) -> Result<bool>,
) -> Result<bool> {
    let (tell, mut heard) = mpsc::unbounded_channel();
    let mut work = engine.learn(all, tell);
    let mut end = None;
    loop {
        tokio::select! {
            it = &mut work, if end.is_none() => end = Some(it),
            Some(it) = heard.recv() => {
                if let EngineEvent::Ended(it) = it && !each(it.verify_signature(shared_store))? {
                    return Ok(false);
                }
            }
            // The engine is done, and nothing is to be heard any more.
            else => break,
        }
    }
    end.unwrap_or(Ok(())).map(|()| true)
}

/// As [`run`](super::run), on other machines. `cx` has a shelf and runs nothing ([`LearnContext::elsewhere`]).
pub async fn run(
    manifest: &str,
    tasks: Vec<Task>,
    cx: Arc<LearnContext>,
    state: Arc<State>,
    monitor: Arc<BatchMonitor>,
    options: Options,
    engine: Arc<dyn Engine>,
) -> Result<Report> {
    let began_ms = now_ms();
    let order = Arc::new(tasks.iter().map(|it| it.id.clone()).collect());
    let row =
        |it: &Task| TaskRow::new(it.id.as_str(), manifest, it.name.as_str(), it.host().as_deref());
    state.add_tasks(&tasks.iter().map(row).collect::<Vec<_>>())?;
    let mut totals = Totals::new(manifest);
    monitor.emit(&Event::BatchStarted { manifest, tasks: tasks.len(), finished: 0 });
    let by_id = tasks.iter().enumerate().map(|(i, it)| (it.id.to_string(), i)).collect();
    let (cancel, cancelled) = watch::channel(false);
    let mut run = Run {
        tasks: Arc::new(tasks),
        by_id,
        questions: QuestionDigests::new(&cx.settings),
        cx: Arc::clone(&cx),
        monitor: &monitor,
        options: &options,
        totals: &mut totals,
        begun: BTreeMap::new(),
        jobs: JoinSet::new(),
        waiting: VecDeque::new(),
        cancelled,
    };
    let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
    let whole = async {
        let handed = run.look_up_stored(manifest).await?;
        if handed.tasks.is_empty() { Ok(()) } else { run.hand_over(&*engine, handed).await }
    };
    let end = tokio::select! {
        biased;
        _ = &mut interrupt => None,
        end = whole => Some(end),
    };
    run.jobs.abort_all();
    let n = run.tasks.len();
    for (i, _) in run.begun.iter().filter(|it| !it.1) {
        monitor.retry(&run.tasks[*i], Code::Interrupted, 0)?;
    }
    drop(run);
    match end {
        // What was handed over goes on; nothing is lost with what was looked at here.
        None => {
            totals.interrupted = true;
            let _ = cancel.send(true);
        }
        Some(Err(err)) if matches!(err.code().class(), Class::Usage | Class::Bug) => {
            return Err(err);
        }
        Some(Err(err)) => {
            totals.stopped_by = Some(err.code());
            totals.trouble = Some(commis_redact::message(&err.to_string()));
        }
        Some(Ok(())) => {}
    }
    totals.not_started = n - totals.ended_count();
    monitor.close(began_ms, &totals);
    Ok(Report::new(totals, order, state, cx.store.clone()))
}

struct Run<'a> {
    tasks: Arc<Vec<Task>>,
    by_id: BTreeMap<String, usize>,
    questions: QuestionDigests,
    cx: Arc<LearnContext>,
    monitor: &'a Arc<BatchMonitor>,
    options: &'a Options,
    totals: &'a mut Totals,
    /// What was told of as under way; whether it has ended.
    begun: BTreeMap<usize, bool>,
    jobs: JoinSet<(usize, Option<TaskOutcome>, Result<StoreLookup>)>,
    /// To be taken from the store.
    waiting: VecDeque<(usize, Option<TaskOutcome>)>,
    cancelled: watch::Receiver<bool>,
}

/// What a look into the store came to.
enum StoreLookup {
    Learned(Box<LearnResult>),
    /// Something is to be done; what the task is, is there now.
    Open(TaskRef),
}

impl Run<'_> {
    /// Takes what is there; what is not is to be handed over.
    async fn look_up_stored(&mut self, name: &str) -> Result<WorkRequest> {
        self.waiting = (0..self.tasks.len()).map(|i| (i, None)).collect();
        let mut tasks = BTreeMap::new();
        loop {
            self.start_lookups();
            let Some((i, _, took)) = self.next_lookup().await? else { break };
            match took {
                Ok(StoreLookup::Open(it)) => _ = tasks.insert(i, it),
                Ok(StoreLookup::Learned(it)) => self.end(i, None, Ok(*it))?,
                Err(err) if err.code().class() != Class::Task => return Err(err),
                Err(err) => self.end(i, None, Err(err))?,
            }
        }
        let options = self.options;
        Ok(WorkRequest {
            name: name.to_owned(),
            tasks: tasks.into_values().collect(),
            per_host: options.per_host,
            deadline: options.deadline,
            retries: options.retries,
        })
    }

    /// Has them done, and takes each as it ends.
    async fn hand_over(&mut self, engine: &dyn Engine, all: WorkRequest) -> Result<()> {
        let (tell, mut heard) = mpsc::unbounded_channel();
        let mut work = engine.learn(all, tell);
        let mut end = None;
        loop {
            self.start_lookups();
            tokio::select! {
                it = &mut work, if end.is_none() => end = Some(it),
                Some(it) = heard.recv() => self.handle_event(it)?,
                Some(it) = self.jobs.join_next() => {
                    let (i, ended, took) = join_result(it)?;
                    let end = match took {
                        Ok(StoreLookup::Learned(it)) => Ok(*it),
                        Ok(StoreLookup::Open(_)) => Err(handed_over_twice_error(&self.tasks[i])),
                        Err(err) => Err(err),
                    };
                    self.end(i, ended, end)?;
                }
                // The engine is done, nothing is to be heard any more, and all was taken.
                else => break,
            }
        }
        drop(work);
        end.unwrap_or(Ok(()))
    }

    fn handle_event(&mut self, it: EngineEvent) -> Result<()> {
        match it {
            EngineEvent::Began { id } => {
                if let Some(i) = self.by_id.get(&id).copied() {
                    self.begin(i)?;
                }
            }
            EngineEvent::Ended(it) => {
                let it = match &self.cx.shared_store {
                    Some(shared_store) => it.verify_signature(&**shared_store),
                    None => it,
                };
                let Some(i) = self.by_id.get(&it.id).copied() else { return Ok(()) };
                self.begin(i)?;
                self.totals.retries += it.attempts.saturating_sub(1) as usize;
                let Some(failed) = &it.failed else {
                    self.waiting.push_back((i, Some(it)));
                    return Ok(());
                };
                let code = it.code().unwrap_or(Code::Internal);
                let mut err = Error::new(code, failed.error.clone());
                if let Some(hint) = &failed.hint {
                    err = err.hint(hint.clone());
                }
                self.end(i, Some(it), Err(err))?;
            }
        }
        Ok(())
    }

    fn begin(&mut self, i: usize) -> Result<()> {
        if self.begun.contains_key(&i) {
            return Ok(());
        }
        self.begun.insert(i, false);
        self.monitor.begin(&self.tasks[i], 1)
    }

    fn end(
        &mut self,
        i: usize,
        ended: Option<TaskOutcome>,
        end: Result<LearnResult>,
    ) -> Result<()> {
        self.begin(i)?;
        self.begun.insert(i, true);
        let task = &self.tasks[i];
        if let Err(err) = &end
            && err.code().class() == Class::Environment
        {
            self.totals.stopped_by.get_or_insert(err.code());
        }
        let end = end.map(|mut it| {
            if let Some(ended) = &ended {
                it.ran = ended.ran.iter().map(|it| it.stage).collect();
                it.reused.retain(|stage| !it.ran.contains(stage));
                it.live_values_lost = ended.live_values_lost;
                it.model = ended.model.clone().or(it.model);
            }
            it
        });
        if let Some(it) = &ended {
            self.monitor.record_stages(task, &it.ran);
        }
        let finished = match &end {
            Ok(it) => remember(self.questions.of(task, &self.cx.settings), it)?,
            Err(_) => None,
        };
        let entry = Entry::new(task, end);
        self.totals.add(&entry);
        self.monitor.end(i, task, &entry, finished.as_ref())
    }

    /// As many looks into the store as may be under way.
    fn start_lookups(&mut self) {
        while self.jobs.len() < self.options.jobs
            && let Some((i, ended)) = self.waiting.pop_front()
        {
            let (tasks, cx) = (Arc::clone(&self.tasks), Arc::clone(&self.cx));
            let (deadline, cancelled) = (self.options.deadline, self.cancelled.clone());
            let delay = self.options.delay;
            self.jobs.spawn(async move {
                let mut made = 0;
                let end = loop {
                    let its = (Arc::clone(&tasks), Arc::clone(&cx), cancelled.clone());
                    let end = attempt(its.0, i, its.1, deadline, its.2).await;
                    made += 1;
                    let passes =
                        |it: &Error| it.code().class() == Class::Environment && it.retryable();
                    if made == LOOKS || !end.as_ref().is_err_and(passes) {
                        break end;
                    }
                    tokio::time::sleep(PAUSE * 2u32.pow(made - 1)).await;
                };
                let took = match end {
                    Ok(it) => Ok(StoreLookup::Learned(Box::new(it))),
                    Err(err) if err.code() == Code::ArtifactMissing && ended.is_none() => {
                        let work = move || store_task(&tasks[i], delay, &cx).map(StoreLookup::Open);
                        tokio::task::spawn_blocking(work).await.unwrap_or_else(|err| {
                            Err(Error::new(
                                Code::Internal,
                                "the thread of a computation ended unexpectedly",
                            )
                            .source(err))
                        })
                    }
                    Err(err) => Err(err),
                };
                (i, ended, took)
            });
        }
    }

    async fn next_lookup(
        &mut self,
    ) -> Result<Option<(usize, Option<TaskOutcome>, Result<StoreLookup>)>> {
        self.jobs.join_next().await.map(join_result).transpose()
    }
}

fn join_result<T>(it: std::result::Result<T, tokio::task::JoinError>) -> Result<T> {
    it.map_err(|err| {
        Error::new(Code::Internal, "the thread of a task ended unexpectedly").source(err)
    })
}

fn handed_over_twice_error(task: &Task) -> Error {
    Error::new(Code::Internal, format!("task {} was submitted twice", task.id))
}

/// Puts what the task is into the store. Fails with `ARTIFACT_IO`, and with `SECRET_IN_TASK` for one that cannot be written down.
fn store_task(task: &Task, delay: Duration, cx: &LearnContext) -> Result<TaskRef> {
    let stored = StoredTask::new(task, None)?;
    let bytes = stored.to_bytes()?;
    if stored.task().is_none() {
        return Err(Error::new(
            Code::SecretInTask,
            format!("task {} needs a secret value, which other machines do not have", task.id),
        )
        .hint("learn it on one machine, with recipe learn-batch --only"));
    }
    let key = ObjectKey::for_entry(&task.id, &bytes);
    let shared_store = cx.shared_store.as_ref().ok_or_else(|| {
        Error::new(Code::Usage, "--engine needs a store").hint("give it with --store")
    })?;
    shared_store.create(&key, bytes)?;
    let (id, entry, host) = (task.id.to_string(), key.to_string(), task.host());
    // A file is read at once; pauses are a site's.
    let delay_ms = if host.is_some() { delay.as_millis() as u64 } else { 0 };
    Ok(TaskRef { id, entry, host, delay_ms })
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;
