//! The queue: what waits its turn, what is at work, and what of it may be cancelled.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::{answer::Answer, task_database::TaskView};
use commis_base::settings::ServeSettings;

/// Runs of recipes that are tasks, at once (seed 2.1.1).
const RUNS: usize = 4;

/// A task that waits.
pub(super) struct QueuedTask {
    pub(super) id: String,
    pub(super) again: bool,
}

/// Tasks of one kind.
pub(super) struct WorkerLane {
    send: mpsc::UnboundedSender<QueuedTask>,
    pub(super) take: Arc<tokio::sync::Mutex<mpsc::UnboundedReceiver<QueuedTask>>>,
    pub(super) workers: usize,
}

impl WorkerLane {
    fn new(workers: usize) -> Self {
        let (send, take) = mpsc::unbounded_channel();
        Self { send, take: Arc::new(tokio::sync::Mutex::new(take)), workers }
    }
}

pub struct Queue {
    pub(super) runs: WorkerLane,
    pub(super) work: WorkerLane,
    pub(super) most: usize,
    pub(super) waiting: AtomicUsize,
    pub(super) at_work: AtomicUsize,
    /// What can be cancelled, and arguments that are nowhere else.
    jobs: Mutex<BTreeMap<String, (CancellationToken, Option<Value>)>>,
    pub(super) settled: Notify,
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

    /// Puts a task, whose place is reserved, behind the others.
    pub(super) fn push(&self, is_run: bool, id: String, again: bool, args: Option<Value>) {
        self.jobs().insert(id.clone(), (CancellationToken::new(), args));
        let lane = if is_run { &self.runs } else { &self.work };
        // The receiver lives as long as the queue.
        let _ = lane.send.send(QueuedTask { id, again });
    }

    pub(super) fn jobs(
        &self,
    ) -> std::sync::MutexGuard<'_, BTreeMap<String, (CancellationToken, Option<Value>)>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
