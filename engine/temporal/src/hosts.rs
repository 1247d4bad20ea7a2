//! One workflow a host, whoever hands in tasks for it: what keeps a site from being asked by two machines at once, and too soon.
//!
//! Only ids and keys pass through the engine. A task is one activity: its stages are committed one by one in the store, so
//! another machine goes on where a lost one stopped, and what a session knows stays with the process that recorded it.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    sync::Arc,
    time::Duration,
};

use commis_base::error::{Class, Code, Error};
use commis_batch::remote::{TaskOutcome, TaskRef};
use commis_cli::TaskWorker;
use serde::{Deserialize, Serialize};
use temporalio_common::RetryPolicy;
use temporalio_macros::{activities, workflow, workflow_methods};
use temporalio_sdk::{
    ActivityOptions, ApplicationFailure, ContinueAsNewOptions, SyncWorkflowContext,
    WorkflowContext, WorkflowContextView, WorkflowResult,
    activities::{ActivityContext, ActivityError},
};

use crate::{
    heart::{self, Heart},
    metrics::Metrics,
};

/// The queue of the workflows: one for all stores, as a host is one for all of them.
pub const QUEUE: &str = "commis-hosts";
/// Tasks of one run of a workflow. A task leaves some 12 events, and 10,240 are too many.
const AT_A_TIME: usize = 100;
/// Tasks at once on one host, or of one part, at most.
const LANES: usize = 32;
/// A run hands at most 2 MB on to the next: a task that waits takes some 300 bytes.
const MOST_WAITING: usize = 3_000;
/// Bytes of what ended tasks came to.
const MOST_ENDED: usize = 1_000_000;
/// Attempts beyond those that a task may fail in: its machine was lost.
const LOSSES: u32 = 5;

/// What a workflow is started with: what an earlier run of it has left.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct HostJob {
    waiting: VecDeque<Turn>,
    ended: BTreeMap<String, Vec<TaskOutcome>>,
}

/// Tasks that are handed in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Who asks for them; begins with the time, so that the first was first.
    pub batch: String,
    pub tasks: Vec<TaskRef>,
    /// The queue of the machines that have their store.
    pub queue: String,
    /// Tasks at once.
    pub parallel: u32,
    /// A task may take so long.
    pub deadline_s: u64,
    pub retries: u32,
}

/// A task that waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Turn {
    task: TaskRef,
    batches: Vec<String>,
    queue: String,
    parallel: u32,
    deadline_s: u64,
    retries: u32,
}

impl Turn {
    /// Another text of the task, or another store, is another one.
    fn name(&self) -> String {
        format!("{}:{}", self.queue, self.task.entry)
    }
}

/// What a machine is given.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Work {
    task: TaskRef,
    retries: u32,
}

impl Work {
    /// A task may fail so often. What is the machine's fault, or the store's, counts as a loss of the machine.
    fn attempts(&self, code: Code) -> u32 {
        match code.class() {
            Class::Environment => self.retries + LOSSES,
            _ => self.retries,
        }
    }
}

/// Whether a batch's tasks have ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatusQuery {
    pub batch: String,
    /// So many are known already.
    pub since: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HostStatus {
    pub ended: Vec<TaskOutcome>,
    pub running: Vec<String>,
}

#[workflow]
#[derive(Default)]
pub struct Host {
    waiting: VecDeque<Turn>,
    running: BTreeMap<String, Turn>,
    ended: BTreeMap<String, Vec<TaskOutcome>>,
    /// Turns that are taken: tasks that run, and pauses after them.
    busy: u32,
    begun: usize,
    /// By batch, the number of the task of it that was begun last.
    turns: BTreeMap<String, usize>,
}

#[workflow_methods]
impl Host {
    /// Until nothing waits.
    #[run]
    pub async fn run(
        ctx: &mut WorkflowContext<Self>,
        job: HostJob,
    ) -> WorkflowResult<BTreeMap<String, Vec<TaskOutcome>>> {
        ctx.state_mut(|it| it.go_on(job));
        let ctx = &*ctx;
        temporalio_sdk::workflows::join_all((0..LANES).map(|_| lane(ctx))).await;
        let left = ctx.state_mut(Host::leave);
        if !left.waiting.is_empty() {
            match ctx.continue_as_new(left, ContinueAsNewOptions::default())? {}
        }
        Ok(left.ended)
    }

    #[signal]
    pub fn enlist(&mut self, _ctx: &mut SyncWorkflowContext<Self>, part: Part) {
        self.add(part);
    }

    /// What became of a batch's tasks here; `None` when nothing is known of it.
    #[query]
    pub fn seen(&self, _ctx: &WorkflowContextView, ask: StatusQuery) -> Option<HostStatus> {
        let ended = self.ended.get(&ask.batch)?;
        let its = |it: &&Turn| it.batches.contains(&ask.batch);
        let running = self.running.values().filter(its).map(|it| it.task.id.clone()).collect();
        Some(HostStatus { ended: ended.get(ask.since..).unwrap_or_default().to_vec(), running })
    }
}

/// What names the workflow to a client.
pub type HostRun = host::Run;

impl Host {
    fn go_on(&mut self, job: HostJob) {
        // Signals may have been first.
        let signalled = std::mem::replace(&mut self.waiting, job.waiting);
        self.waiting.extend(signalled);
        for (batch, all) in job.ended {
            self.ended.entry(batch).or_default().splice(0..0, all);
        }
    }

    fn add(&mut self, part: Part) {
        let ended = self.ended.entry(part.batch.clone()).or_default();
        for task in part.tasks {
            // As `Turn::name` says it: another pause between tasks makes no other task.
            let same = |it: &&mut Turn| it.task.entry == task.entry && it.queue == part.queue;
            let known = self.waiting.iter_mut().chain(self.running.values_mut()).find(same);
            if let Some(it) = known {
                it.task.delay_ms = it.task.delay_ms.max(task.delay_ms);
                it.batches.push(part.batch.clone());
            } else if self.waiting.len() < MOST_WAITING {
                self.waiting.push_back(Turn {
                    task,
                    batches: vec![part.batch.clone()],
                    queue: part.queue.clone(),
                    parallel: part.parallel,
                    deadline_s: part.deadline_s,
                    retries: part.retries,
                });
            } else {
                let why = format!("{MOST_WAITING} tasks wait for this host already");
                let err = Error::new(Code::TaskBusy, why).hint("try again later");
                ended.push(TaskOutcome::from_error(&task.id, 0, &err));
            }
        }
    }

    /// Batches take turns: the next is of the batch whose last task was begun the longest ago.
    fn next(&self) -> Option<usize> {
        let begun = |batch: &String| self.turns.get(batch).copied().unwrap_or(0);
        let turn = |i: &usize| self.waiting[*i].batches.iter().map(begun).min();
        (0..self.waiting.len()).min_by_key(turn)
    }

    /// Whether the next may begin; of two that allow another number at once, the one that is next decides.
    fn ready(&self) -> bool {
        let free = |i: usize| self.busy < self.waiting[i].parallel;
        self.begun < AT_A_TIME && self.next().is_some_and(free)
    }

    /// Whether this run is at its end.
    fn over(&self) -> bool {
        self.busy == 0 && (self.waiting.is_empty() || self.begun >= AT_A_TIME)
    }

    fn begin(&mut self) -> Option<Turn> {
        if !self.ready() {
            return None;
        }
        let turn = self.waiting.remove(self.next()?)?;
        self.busy += 1;
        self.begun += 1;
        for it in &turn.batches {
            self.turns.insert(it.clone(), self.begun);
        }
        self.running.insert(turn.name(), turn.clone());
        Some(turn)
    }

    fn end(&mut self, name: &str, end: TaskOutcome) {
        let Some(turn) = self.running.remove(name) else { return };
        for it in turn.batches {
            self.ended.entry(it).or_default().push(end.clone());
        }
    }

    fn leave(&mut self) -> HostJob {
        let (waiting, mut ended) =
            (std::mem::take(&mut self.waiting), std::mem::take(&mut self.ended));
        let mut size: usize = ended.values().flatten().map(bytes).sum();
        // The details of the oldest first, which most have read; that a task is done is never forgotten while its batch waits.
        for it in ended.values_mut().flatten() {
            if size <= MOST_ENDED {
                break;
            }
            size -= bytes(it);
            it.ran.clear();
            it.model = None;
            size += bytes(it);
        }
        let waits: BTreeSet<&String> = waiting.iter().flat_map(|it: &Turn| &it.batches).collect();
        ended.retain(|batch, all| {
            let keeps = size <= MOST_ENDED || waits.contains(batch);
            if !keeps {
                size -= all.iter().map(bytes).sum::<usize>();
            }
            keeps
        });
        HostJob { waiting, ended }
    }
}

/// About how many bytes it takes as JSON.
fn bytes(it: &TaskOutcome) -> usize {
    let failed = it
        .failed
        .as_ref()
        .map_or(0, |it| 100 + it.error.len() + it.hint.as_ref().map_or(0, String::len));
    let model = if it.model.is_some() { 100 } else { 0 };
    let code = if it.code.is_some() { 80 } else { 0 };
    60 + it.id.len() + it.ran.len() * 40 + failed + model + code
}

/// One task after another, as long as there are any.
async fn lane(ctx: &WorkflowContext<Host>) {
    loop {
        if ctx.wait_condition(|it| it.ready() || it.over()).await.is_err() {
            return;
        }
        let Some(turn) = ctx.state_mut(Host::begin) else {
            if ctx.state(Host::over) {
                return;
            }
            continue;
        };
        one(ctx, &turn).await;
    }
}

/// Has a task done, and keeps the next waiting for as long as the site is to be left alone.
async fn one(ctx: &WorkflowContext<Host>, turn: &Turn) {
    let id = &turn.task.id;
    let pause = Duration::from_millis(turn.task.delay_ms);
    let attempts = turn.retries + 1 + LOSSES;
    let options =
        ActivityOptions::with_start_to_close_timeout(Duration::from_secs(turn.deadline_s))
            .heartbeat_timeout(heart::LOST)
            .activity_id(turn.name())
            .task_queue(turn.queue.clone())
            // Another machine has a slot, too.
            .do_not_eagerly_execute(true)
            .retry_policy(
                RetryPolicy::builder()
                    // Another attempt asks the site, too.
                    .initial_interval(pause.max(Duration::from_secs(1)))
                    .maximum_attempts(attempts as _)
                    .build(),
            )
            .build();
    let work = Work { task: turn.task.clone(), retries: turn.retries };
    let end = ctx.execute_activity(Tasks::learn, work, options).await;
    let end = end.unwrap_or_else(|err| {
        let why = format!("the task came to no end in {attempts} attempts: {err}");
        TaskOutcome::from_error(id, attempts, &Error::new(Code::Timeout, why))
    });
    ctx.state_mut(|it| it.end(&turn.name(), end));
    if !pause.is_zero() {
        ctx.timer(pause).await;
    }
    ctx.state_mut(|it| it.busy -= 1);
}

/// What this machine can do.
pub struct Tasks {
    pub station: Arc<TaskWorker>,
    pub metrics: Arc<Metrics>,
}

#[activities]
impl Tasks {
    #[activity]
    pub async fn learn(
        self: Arc<Self>,
        ctx: ActivityContext,
        work: Work,
    ) -> Result<TaskOutcome, ActivityError> {
        let (id, attempt) = (work.task.id.clone(), ctx.info().attempt);
        let again =
            |why: String| ActivityError::Application(Box::new(ApplicationFailure::new(why)));
        let Some(heart) = Heart::begin(&ctx, &self.station).await else {
            return Err(again("the task was another one's before it began".to_owned()));
        };
        let stop = heart.stopped();
        let mut running = std::pin::pin!(self.station.run(&work.task, attempt, stop));
        let mut beating = std::pin::pin!(heart.beat(&ctx, &self.station, &id));
        let end = tokio::select! {
            biased;
            end = &mut running => Some(end),
            () = &mut beating => None,
        };
        let end = if let Some(it) = end {
            it
        } else {
            // What was under way is put down; until then this machine asks nothing.
            let end = running.await;
            tokio::time::sleep(heart::GRACE).await;
            end
        };
        self.metrics.ended(&end);
        if !heart.holds() {
            return Err(again("this machine was not heard of, or was told to stop".to_owned()));
        }
        match end.code() {
            // The engine tries it again, here or elsewhere.
            Some(Code::Interrupted) => Err(again("the machine ends".to_owned())),
            Some(code) if code.retryable() && attempt <= work.attempts(code) => {
                let error = end.failed.map_or_else(String::new, |it| it.error);
                Err(again(format!("{code}: {error}")))
            }
            _ => Ok(end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(n: usize) -> TaskRef {
        let id = format!("t{n}-00000000");
        TaskRef { entry: format!("{id}/task.json"), id, host: None, delay_ms: 0 }
    }

    fn part(batch: &str, tasks: std::ops::Range<usize>, parallel: u32) -> Part {
        let tasks = tasks.map(task).collect();
        let (batch, queue) = (batch.to_owned(), "q".to_owned());
        Part { batch, tasks, queue, parallel, deadline_s: 1, retries: 0 }
    }

    fn done(n: usize) -> TaskOutcome {
        let mut it = TaskOutcome::from_error(&task(n).id, 1, &Error::new(Code::Timeout, ""));
        it.failed = None;
        it
    }

    #[test]
    fn two_batches_share_a_host_and_a_task() {
        let mut it = Host::default();
        it.add(part("a", 0..3, 1));
        it.add(part("b", 2..4, 1));
        assert_eq!(it.waiting.len(), 4);
        // They take turns; the third is both's.
        for n in [0, 2, 1, 3] {
            assert!(!it.over());
            assert_eq!(it.begin().unwrap().task, task(n));
            // Nobody else, whoever asks.
            assert!(it.begin().is_none());
            it.end(&format!("q:{}", task(n).entry), done(n));
            assert!(it.begin().is_none(), "the pause is over");
            it.busy -= 1;
        }
        assert!(it.over());
        let left = it.leave();
        let ids = |of: &str| left.ended[of].iter().map(|it| &it.id[..2]).collect::<Vec<_>>();
        assert_eq!((ids("a"), ids("b")), (vec!["t0", "t2", "t1"], vec!["t2", "t3"]));
    }

    #[test]
    fn three_batches_take_turns() {
        let mut it = Host::default();
        for (i, batch) in ["a", "b", "c"].into_iter().enumerate() {
            it.add(part(batch, i * 4..i * 4 + 4, 12));
        }
        let begun = std::iter::from_fn(|| it.begin().map(|it| it.batches.concat()));
        assert_eq!(begun.collect::<String>(), "abcabcabcabc");
    }

    #[test]
    fn a_task_of_two_batches_with_other_pauses_is_one() {
        let mut it = Host::default();
        it.add(part("a", 0..1, 2));
        let mut other = part("b", 0..1, 2);
        other.tasks[0].delay_ms = 700;
        it.add(other);
        let turn = it.begin().unwrap();
        assert_eq!((turn.task.delay_ms, it.begin().is_none()), (700, true));
        it.end(&turn.name(), done(0));
        assert_eq!((it.ended["a"].len(), it.ended["b"].len()), (1, 1));
    }

    #[test]
    fn that_a_task_is_done_is_kept_while_its_batch_waits() {
        let ran = serde_json::json!({"s": "record", "h": "made", "ms": 12_345});
        let ran: commis_batch::StageRun = serde_json::from_value(ran).unwrap();
        let mut it = Host::default();
        for (i, batch) in ["a", "b", "c"].into_iter().enumerate() {
            it.add(part(batch, i * 900..i * 900 + 900, 1));
            let all = (0..3_000).map(|n| TaskOutcome { ran: vec![ran.clone(); 8], ..done(n) });
            it.ended.insert(batch.to_owned(), all.collect());
        }
        it.ended.insert("0".to_owned(), (0..9_000).map(done).collect());
        let left = it.leave();
        let count = |batch: &str| left.ended.get(batch).map_or(0, Vec::len);
        assert_eq!((count("0"), count("a"), count("b"), count("c")), (0, 3_000, 3_000, 3_000));
        let size = serde_json::to_string(&left).unwrap().len();
        assert!(size < 2_000_000, "{size}");
    }

    #[test]
    fn a_run_ends_after_so_many_and_the_next_goes_on() {
        let mut it = Host::default();
        it.add(part("a", 0..AT_A_TIME + 1, 200));
        while let Some(turn) = it.begin() {
            it.end(&turn.name(), done(0));
        }
        assert_eq!(it.busy as usize, AT_A_TIME);
        assert!(!it.over());
        it.busy = 0;
        assert!(it.over());
        let mut next = Host::default();
        next.add(part("b", 200..201, 1));
        next.go_on(it.leave());
        assert_eq!(next.ended["a"].len(), AT_A_TIME);
        assert_eq!(next.begin().unwrap().task, task(AT_A_TIME));
    }

    #[test]
    fn what_would_not_fit_is_refused() {
        let mut it = Host::default();
        it.add(part("a", 0..MOST_WAITING + 2, 1));
        assert_eq!((it.waiting.len(), it.ended["a"].len()), (MOST_WAITING, 2));
        let waiting = serde_json::to_string(&it.waiting[0]).unwrap().len();
        assert!(waiting * MOST_WAITING < 1_000_000, "{waiting} bytes");
    }
}
