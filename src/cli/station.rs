//! One machine of many, for a program that takes its tasks from an engine: `engine/temporal` is one.
//!
//! What is handed around are ids and keys; artifacts go through the store alone.

use std::{path::Path, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Global, Opener, logs, stores, wire};
use crate::{
    artifacts::shelf::{Key, Shelf},
    batch,
    error::{Code, Error, Result},
    ids::TaskId,
    pipeline::{self, Cx, Span, StoredTask},
};

/// What a task says of itself is not larger.
const MAX_ENTRY: usize = 1 << 20;

#[derive(Clone, clap::Args)]
pub struct StationArgs {
    /// Where machines have artifacts in common: a folder, or what else the program was built with
    #[arg(long, value_name = "URL")]
    pub store: String,
    /// Let this model choose where the heuristics cannot tell (default: [model] in the settings) [env: COMMIS_MODEL]
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub model: Option<String>,
    /// Send nothing: HAR entries only, nothing is verified
    #[arg(long)]
    pub no_network: bool,
}

/// A task that machines know of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enlisted {
    pub id: String,
    /// The key of what the task is.
    pub entry: String,
    /// Where a live recording begins; `None` for a file.
    pub host: Option<String>,
}

/// A manifest whose tasks are enlisted.
#[derive(Clone, Debug)]
pub struct Batch {
    pub name: String,
    pub tasks: Vec<Enlisted>,
    /// Between two starts on one host.
    pub delay: Duration,
    /// Of a task, all its stages together.
    pub deadline: Duration,
    pub retries: u32,
}

/// This machine: folders, settings, a browser when one is needed, and the store.
pub struct Station {
    cx: Arc<Cx>,
    shelf: Arc<dyn Shelf>,
    _place: wire::Place,
}

impl Station {
    /// Makes files private whatever the umask was, begins the log, probes the store. Fails with `STORE_UNSAFE`, `USAGE`,
    /// `SETTINGS_INVALID`, `ARTIFACT_IO`, `MODEL_KEY_MISSING`.
    pub async fn open(global: &Global, args: &StationArgs, stores: Opener) -> Result<Self> {
        rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
        let global = Global { stores: Some(stores), ..global.clone() };
        logs::start(wire::home(&global).ok().as_ref(), global.verbose);
        let mut place = wire::open(&global).await?;
        place.settings.egress.no_network = args.no_network;
        if let Some(model) = &args.model {
            place.settings.model.choose(model)?;
        }
        // Opening one blocks, as using it does.
        let shelf =
            tokio::task::block_in_place(|| stores::open(&args.store, &global, &place.home))?;
        let on_stage = Box::new(|task: &pipeline::Task, stage: pipeline::Stage| {
            tracing::info!(task_id = task.id.as_str(), stage = stage.as_str(), "begins");
        });
        let its = Some(Arc::clone(&shelf));
        let cx = wire::learning_with(&place, None, Duration::ZERO, its, on_stage)?;
        Ok(Self { cx, shelf, _place: place })
    }

    /// Puts what the tasks of a manifest are into the store. Tasks that want a login are left out: there is nothing to be done for
    /// them. Fails with `MANIFEST_INVALID`, `ARTIFACT_IO`, and with `SECRET_IN_TASK` for one that cannot be written down.
    pub fn enlist(&self, manifest: &Path, allow_task_secrets: bool) -> Result<Batch> {
        let all = batch::load(manifest, allow_task_secrets)?;
        let mut tasks = Vec::new();
        for task in all.tasks.iter().filter(|it| !it.requires_auth) {
            let stored = StoredTask::new(task, None)?;
            let bytes = stored.to_bytes()?;
            if stored.task().is_none() {
                return Err(Error::new(
                    Code::SecretInTask,
                    format!("task {} needs a value that is written down nowhere", task.id),
                )
                .hint("learn it on one machine, with recipe learn-batch --only"));
            }
            let key = Key::entry(&task.id, &bytes);
            self.shelf.create(&key, bytes)?;
            let (id, entry) = (task.id.to_string(), key.to_string());
            tasks.push(Enlisted { id, entry, host: task.host() });
        }
        let (delay, deadline, retries) = (all.delay, all.deadline, all.retries);
        Ok(Batch { name: all.name, tasks, delay, deadline, retries })
    }

    /// Runs what is missing of an enlisted task, each stage committed as it ends: as `commis stage run --stage record --through
    /// verify --json` prints it. `stop` ends it early, with `INTERRUPTED`. Fails with `TASK_NOT_FOUND`, and as that does.
    pub async fn run(
        &self,
        task: &Enlisted,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<Value> {
        let id = TaskId::parse(&task.id)?;
        let unknown =
            || Error::new(Code::TaskNotFound, format!("{} has no task {id}", self.shelf.shown()));
        let key = Key::parse(&task.entry, &id).ok_or_else(unknown)?;
        let (shelf, cx) = (Arc::clone(&self.shelf), Arc::clone(&self.cx));
        let work = move || async move {
            let bytes = shelf.read(&key, MAX_ENTRY)?.ok_or_else(|| {
                Error::new(Code::TaskNotFound, format!("{} has no {key}", shelf.shown()))
            })?;
            let task = StoredTask::parse(&bytes, &id)?.task().ok_or_else(|| {
                Error::new(Code::SecretInTask, format!("a value of task {id} is stored redacted"))
            })?;
            pipeline::stages(&task, &cx, Span::ALL).await
        };
        let stopped = async {
            stop.await;
            Error::new(Code::Interrupted, "stopped; what was finished is kept")
        };
        let came = pipeline::apart(work, stopped).await.map_err(|err| {
            // It is kept by the engine.
            let (message, lasting) = (crate::redact::message(&err.to_string()), !err.retryable());
            Error::new(err.code(), message).lasting(lasting)
        })?;
        serde_json::to_value(came)
            .map_err(|err| Error::new(Code::Internal, "what stages came to").source(err))
    }

    /// Ends the browser.
    pub async fn close(&self) {
        self.cx.browser.close().await;
    }
}
