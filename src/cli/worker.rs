//! One machine of many, for a program that takes its tasks from an engine: `engine/temporal` is one.
//!
//! What is handed around are ids and keys; artifacts go through the store alone.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{Extensions, Global, StoreOpener, context, logs, stores};
use commis_artifacts::shared_store::{ObjectKey, SharedStore};
use commis_base::{
    error::{Code, Error, Result},
    ids::TaskId,
};
use commis_batch::{
    StageRun,
    remote::{TaskOutcome, TaskRef},
};
use commis_learn::{ArtifactSource, LearnContext, Span, StagesResult, StoredTask, Task};
use commis_net::egress::send_lease::{TaskLease, boot_clock};
use commis_stages::Stage;

/// What a task says of itself is not larger.
const MAX_ENTRY: usize = 1 << 20;

#[derive(Clone, clap::Args)]
pub struct WorkerArgs {
    /// The store that the workers share: a folder, or the URL of a bucket
    #[arg(long, value_name = "URL")]
    pub store: String,
    /// Let this model choose if the heuristics cannot decide (default: [model] in the settings) [env: COMMIS_MODEL]
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub model: Option<String>,
    /// Send nothing: HAR entries only, nothing is verified
    #[arg(long)]
    pub no_network: bool,
}

/// When each stage of a task that is under way began, on [`clock`].
type StageStarts = Mutex<BTreeMap<String, Vec<(Stage, Duration)>>>;

/// This machine: folders, settings, a browser when one is needed, and the store.
pub struct TaskWorker {
    pub(super) cx: Arc<LearnContext>,
    pub(super) shared_store: Arc<dyn SharedStore>,
    begun: Arc<StageStarts>,
    pub(super) place: context::Environment,
}

impl TaskWorker {
    /// Makes files private whatever the umask was, begins the log, probes the store. Fails with `STORE_UNSAFE`, `USAGE`,
    /// `SETTINGS_INVALID`, `ARTIFACT_IO`, `MODEL_KEY_MISSING`.
    pub async fn open(global: &Global, args: &WorkerArgs, known: StoreOpener) -> Result<Self> {
        rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
        let built = Extensions { stores: Some(known), engines: None };
        let global = Global { built, ..global.clone() };
        logs::start(context::home(&global).ok().as_ref(), global.verbose);
        let mut place = context::open(&global).await?;
        place.settings.egress.no_network = args.no_network;
        if let Some(model) = &args.model {
            place.settings.model.choose(model)?;
        }
        // Opening one blocks, as using it does.
        let shared_store =
            tokio::task::block_in_place(|| stores::open(&args.store, &global, &place.home))?;
        let begun: Arc<StageStarts> = Arc::default();
        let told = Arc::clone(&begun);
        let on_stage = Box::new(move |task: &Task, stage: Stage| {
            tracing::info!(task_id = task.id.as_str(), stage = stage.as_str(), "begins");
            let mut all = told.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(it) = all.get_mut(task.id.as_str()) {
                it.push((stage, boot_clock()));
            }
        });
        let its = (Some(Arc::clone(&shared_store)), false);
        let cx = context::learning_with(&place, None, Duration::ZERO, its, on_stage)?;
        Ok(Self { cx, shared_store, begun, place })
    }

    /// Leave to ask sites until that moment on [`clock`], where the engine takes this machine for lost later than that. Waits as
    /// long as other tasks of this machine are lost and not put down.
    pub async fn hold(&self, until: Duration) -> TaskLease {
        loop {
            if let Some(it) = self.cx.policy.task_leases().take(until) {
                return it;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The stage that a task is at, if one of its stages runs here.
    pub fn stage_of(&self, id: &str) -> Option<&'static str> {
        let all = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(id)?.last().map(|it| it.0.as_str())
    }

    /// Runs what is missing of an enlisted task, each stage committed as it ends; or a part of a map or a check. `stop` ends it early, with `INTERRUPTED`; all
    /// that it fails with is in what it came to.
    pub async fn run(
        &self,
        task: &TaskRef,
        attempt: u32,
        stop: impl Future<Output = ()> + Send,
    ) -> TaskOutcome {
        let begun = |it: Option<Vec<_>>| {
            let mut all = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
            match it {
                Some(it) => all.insert(task.id.clone(), it),
                None => all.remove(&task.id),
            }
        };
        if let Some(host) = &task.host {
            self.cx.pacer.set(host, Duration::from_millis(task.delay_ms));
        }
        begun(Some(Vec::new()));
        let mut stop = std::pin::pin!(stop);
        let end = match self.part((&task.entry, &task.id), &mut stop).await {
            Some(Ok(())) => {
                begun(None);
                let id = task.id.clone();
                let ran = Vec::new();
                return TaskOutcome {
                    id,
                    failed: None,
                    ran,
                    live_values_lost: false,
                    model: None,
                    attempts: attempt,
                    code: None,
                }
                .sign(&*self.shared_store);
            }
            Some(Err(err)) => Err(err),
            None => self.stages(task, stop).await,
        };
        let stages = begun(None).unwrap_or_default();
        let ends = stages.iter().skip(1).map(|it| it.1).chain([boot_clock()]);
        let took = |((stage, began), ended): (&(Stage, Duration), Duration)| {
            let how = |came: &StagesResult| {
                came.stages.iter().find(|it| it.stage == *stage).map(|it| it.how)
            };
            let how = end.as_ref().ok().and_then(how).unwrap_or(ArtifactSource::Made);
            let ms = ended.saturating_sub(*began).as_millis() as u64;
            StageRun { stage: *stage, how, ms }
        };
        let ran = stages.iter().zip(ends).map(took).collect();
        let end = match end {
            Ok(it) => TaskOutcome {
                id: task.id.clone(),
                failed: None,
                ran,
                live_values_lost: it.live_values_lost,
                model: it.model,
                attempts: attempt,
                code: None,
            },
            Err(err) => TaskOutcome { ran, ..TaskOutcome::from_error(&task.id, attempt, &err) },
        };
        end.sign(&*self.shared_store)
    }

    async fn stages(
        &self,
        task: &TaskRef,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<StagesResult> {
        let id = TaskId::parse(&task.id)?;
        let unknown = || {
            Error::new(
                Code::TaskNotFound,
                format!("{} has no task {id}", self.shared_store.location()),
            )
        };
        let key = ObjectKey::parse(&task.entry, &id).ok_or_else(unknown)?;
        let (shared_store, cx) = (Arc::clone(&self.shared_store), Arc::clone(&self.cx));
        let work = move || async move {
            let bytes = shared_store.read(&key, MAX_ENTRY)?.ok_or_else(|| {
                Error::new(Code::TaskNotFound, format!("{} has no {key}", shared_store.location()))
            })?;
            let task = StoredTask::parse(&bytes, &id)?.task().ok_or_else(|| {
                Error::new(
                    Code::SecretInTask,
                    format!("the stored task {id} has a redacted value, so it cannot run"),
                )
            })?;
            commis_learn::stages(&task, &cx, Span::ALL).await
        };
        let stopped = async {
            stop.await;
            Error::new(Code::Interrupted, "stopped; finished work is kept")
        };
        commis_learn::run_until_stopped(work, stopped).await
    }

    /// Ends the browser.
    pub async fn close(&self) {
        self.cx.browser.close().await;
    }
}
