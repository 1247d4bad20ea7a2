//! Many tasks: manifest, scheduling, pacing, retries, interruption, report; and one recipe over many inputs.

mod events;
mod live_report;
pub mod manifest;
mod manifest_error;
pub mod map;
mod monitor;
pub mod page;
mod progress;
pub mod remote;
pub mod remote_checks;
mod report;
pub mod schedule;
mod secrets;
pub mod task_page;
mod work_units;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rayon::prelude::*;
use tokio::{sync::watch, task::JoinSet};

pub use events::Event;
pub use events::TimedEvent as EventLine;
pub use live_report::{LivePage, TaskPage};
pub use manifest::{Manifest, check_task, load, parameter_names};
pub use monitor::{BatchMonitor, StageRun};
pub use report::{Entry, Report, ReportLine, Totals};

use self::schedule::{NextAction, Schedule};
use commis_base::error::{Class, Code, Error, Result};
use commis_learn::{
    LearnContext, LearnResult, Task,
    completion_cache::{QuestionDigests, recall, remember},
};
use commis_state::{State, TaskRow, now_ms};

/// A task that another process holds is asked for again so often, for so long as other tasks end meanwhile.
const BUSY_AGAIN: Duration = Duration::from_millis(500);
/// Nothing ended here for so long: whoever holds the tasks that are left does not let go.
const BUSY_PATIENCE: Duration = Duration::from_secs(120);
/// A browser that failed so many tasks in a row, with none in between that ended well, is a failure of the machine.
const BROWSER_FAILURES: usize = 10;
/// Attempts at a task whose browser died. It may have died of another task, or been killed; a page that kills it is not
/// opened more often than that.
const BROWSER_ATTEMPTS: u32 = 3;
/// The pause before another attempt; doubled each time.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How a batch is run.
pub struct Options {
    /// Tasks at once.
    pub jobs: usize,
    /// Of those, on one host.
    pub per_host: usize,
    /// Between the starts of two on one host.
    pub delay: Duration,
    /// Further attempts at a task that failed with something that may pass.
    pub retries: u32,
    /// A task may take so long, all its stages together.
    pub deadline: Duration,
}

/// Refuses to start over finished work by accident. Fails with [`Code::Usage`].
pub fn refuse_if_begun(tasks: &[Task], cx: &LearnContext) -> Result<()> {
    for task in tasks {
        let folder = cx.store.peek(&task.id)?;
        let begun = folder.is_some_and(|it| it.path(commis_stages::STAGES[0].writes).exists());
        if begun {
            let last = commis_stages::STAGES.last().map(|it| it.writes);
            let is_done = match cx.store.peek(&task.id)? {
                Some(it) => last.is_some_and(|kind| it.path(kind).exists()),
                None => false,
            };
            let (what, hint) = if is_done {
                ("was learned before", "--resume prints its result again, --force learns it again")
            } else {
                ("was started before", "--resume continues it, --force starts again")
            };
            return Err(Error::new(Code::Usage, format!("task {} {what}", task.id)).hint(hint));
        }
    }
    Ok(())
}

/// Learns all tasks, `jobs` at a time. A task's failure touches no other; a failure of the machine stops the batch, and so
/// does Ctrl-C. Whatever was finished stays finished; what an earlier run finished, and what still holds, is not looked at
/// again.
///
/// Fails with `ARTIFACT_IO` when the database cannot be used; all else is in the report.
pub async fn run(
    manifest: &str,
    tasks: Vec<Task>,
    cx: Arc<LearnContext>,
    state: Arc<State>,
    monitor: Arc<BatchMonitor>,
    options: Options,
) -> Result<Report> {
    let began_ms = now_ms();
    let order = Arc::new(tasks.iter().map(|it| it.id.clone()).collect());
    let rows: Vec<TaskRow> = tasks
        .iter()
        .map(|it| TaskRow::new(it.id.as_str(), manifest, it.name.as_str(), it.host().as_deref()))
        .collect();
    state.add_tasks(&rows)?;
    drop(rows);
    let questions = QuestionDigests::new(&cx.settings);
    // What is here may not have been shared.
    let finished = if cx.redo.is_some() || cx.shared_store.is_some() {
        Vec::new()
    } else {
        recall_finished(&tasks, &questions, &cx, manifest, &state)?
    };

    let mut totals = Totals::new(manifest);
    monitor.emit(&Event::BatchStarted {
        manifest,
        tasks: tasks.len(),
        finished: finished.iter().flatten().count(),
    });
    let mut run = Run {
        schedule: Schedule::new(options.delay, options.per_host),
        attempts: vec![0; tasks.len()],
        retries_left: (tasks.len() / 5).max(10),
        browser_failures: 0,
        last_end: Instant::now(),
        stop: false,
        totals: &mut totals,
        monitor: &monitor,
        options: &options,
    };
    let mut finished = finished.into_iter();
    for (i, task) in tasks.iter().enumerate() {
        match finished.next().flatten() {
            Some(it) => {
                let entry = Entry::new(task, Ok(it));
                run.totals.add(&entry);
                monitor.emit_recalled(i, &entry);
            }
            None => run.schedule.add(i, task.host().as_deref()),
        }
    }
    let tasks = Arc::new(tasks);
    run.run_all(&tasks, &cx, &questions).await?;
    totals.not_started = tasks.len() - totals.ended_count();
    monitor.close(began_ms, &totals);
    Ok(Report::new(totals, order, state, cx.store.clone()))
}

/// What earlier runs finished and what still holds, by position.
fn recall_finished(
    tasks: &[Task],
    questions: &QuestionDigests,
    cx: &LearnContext,
    manifest: &str,
    state: &State,
) -> Result<Vec<Option<LearnResult>>> {
    let known = state.finished_tasks(manifest)?;
    if known.is_empty() {
        return Ok(Vec::new());
    }
    tasks
        .par_iter()
        .map(|task| match known.get(task.id.as_str()) {
            Some((held, entry)) => {
                recall(&questions.of(task, &cx.settings), held, entry, &cx.store)
            }
            None => Ok(None),
        })
        .collect()
}

/// A batch under way.
struct Run<'a> {
    schedule: Schedule,
    /// Attempts made, by task.
    attempts: Vec<u32>,
    /// Of the whole batch: where everything fails, trying everything again helps nobody.
    retries_left: usize,
    /// In a row.
    browser_failures: usize,
    last_end: Instant,
    stop: bool,
    totals: &'a mut Totals,
    monitor: &'a Arc<BatchMonitor>,
    options: &'a Options,
}

impl Run<'_> {
    async fn run_all(
        &mut self,
        tasks: &Arc<Vec<Task>>,
        cx: &Arc<LearnContext>,
        questions: &QuestionDigests,
    ) -> Result<()> {
        let mut running = JoinSet::new();
        let (cancel, cancelled) = watch::channel(false);
        let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
        loop {
            let mut wake = None;
            while !self.stop && running.len() < self.options.jobs {
                match self.schedule.next(Instant::now()) {
                    NextAction::Start(i) => {
                        self.attempts[i] += 1;
                        self.monitor.begin(&tasks[i], self.attempts[i])?;
                        let (tasks, cx) = (Arc::clone(tasks), Arc::clone(cx));
                        let (deadline, cancelled) = (self.options.deadline, cancelled.clone());
                        running.spawn(async move {
                            (i, attempt(tasks, i, cx, deadline, cancelled).await)
                        });
                    }
                    NextAction::At(when) => {
                        wake = Some(when);
                        break;
                    }
                    NextAction::AfterAnother | NextAction::Nothing => break,
                }
            }
            if running.is_empty() && (self.stop || wake.is_none()) {
                return Ok(());
            }
            let sleep = async {
                match wake {
                    Some(it) => tokio::time::sleep_until(it.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                _ = &mut interrupt, if !self.totals.interrupted => {
                    // What is in flight is dropped: its stages either wrote their artifact or did not.
                    self.totals.interrupted = true;
                    self.stop = true;
                    let _ = cancel.send(true);
                }
                Some(ended) = running.join_next() => {
                    let (i, end) = ended.map_err(|err| {
                        Error::new(Code::Internal, "the thread of a task ended unexpectedly").source(err)
                    })?;
                    self.finish_attempt(i, &tasks[i], end, cx, questions)?;
                }
                () = sleep => {}
            }
        }
    }

    /// A task's attempt has ended: put back, or done with.
    fn finish_attempt(
        &mut self,
        i: usize,
        task: &Task,
        end: Result<LearnResult>,
        cx: &LearnContext,
        questions: &QuestionDigests,
    ) -> Result<()> {
        let host = task.host();
        let host = host.as_deref();
        self.schedule.end_task(host);
        let code = end.as_ref().err().map(Error::code);
        if self.stop && code.is_some_and(|it| it == Code::Interrupted) {
            return self.monitor.retry(task, Code::Interrupted, 0);
        }
        if code == Some(Code::BrowserFailed) {
            self.browser_failures += 1;
        } else if code != Some(Code::TaskBusy) {
            self.browser_failures = 0;
        }
        if let Err(err) = &end
            && !self.stop
            && let Some(pause) = self.retry_delay(i, err)
        {
            self.schedule.put_back(i, host, Instant::now() + pause);
            return self.monitor.retry(task, err.code(), pause.as_millis() as u64);
        }
        if code != Some(Code::TaskBusy) {
            self.last_end = Instant::now();
        }
        if let Some(code) = code.filter(|it| self.is_fatal(*it)) {
            self.stop = true;
            self.totals.stopped_by.get_or_insert(code);
        }
        let finished = match &end {
            Ok(it) => remember(questions.of(task, &cx.settings), it)?,
            Err(_) => None,
        };
        let entry = Entry::new(task, end);
        self.totals.add(&entry);
        self.monitor.end(i, task, &entry, finished.as_ref())
    }

    /// Whether nothing else is worth trying after that.
    fn is_fatal(&self, code: Code) -> bool {
        match code {
            Code::BrowserFailed => self.browser_failures >= BROWSER_FAILURES,
            it => it.class() == Class::Environment,
        }
    }

    /// The pause after which a task that failed so is tried again; `None` when it is not.
    fn retry_delay(&mut self, i: usize, err: &Error) -> Option<Duration> {
        let code = err.code();
        if code == Code::TaskBusy {
            // Somebody else is doing it. When they have, there is nothing left to do.
            self.attempts[i] -= 1;
            return (self.last_end.elapsed() < BUSY_PATIENCE).then_some(BUSY_AGAIN);
        }
        let made = self.attempts[i];
        let most = match code {
            Code::BrowserFailed => BROWSER_ATTEMPTS.max(self.options.retries + 1),
            _ => self.options.retries + 1,
        };
        if !err.retryable() || made >= most || self.retries_left == 0 || self.is_fatal(code) {
            return None;
        }
        self.retries_left -= 1;
        self.totals.retries += 1;
        // Half of it to all of it, so that tasks that failed together do not come back together.
        let pause = RETRY_AFTER * 2u32.saturating_pow(made.saturating_sub(1));
        Some(pause.mul_f64(0.5 + fastrand::f64() / 2.0))
    }
}

/// One attempt at a task, within its time, on a thread of its own: parsing and waiting for the disk must not keep the browser's pipe
/// waiting, nor this one.
async fn attempt(
    tasks: Arc<Vec<Task>>,
    i: usize,
    cx: Arc<LearnContext>,
    deadline: Duration,
    mut cancelled: watch::Receiver<bool>,
) -> Result<LearnResult> {
    let stop = async move {
        tokio::select! {
            biased;
            _ = cancelled.wait_for(|it| *it) => Error::new(Code::Interrupted, "interrupted"),
            () = tokio::time::sleep(deadline) => Error::new(
                Code::Timeout,
                format!("the task took more than {} s", deadline.as_secs()),
            )
            .hint("give it more with defaults.deadline_s in the manifest"),
        }
    };
    commis_learn::run_until_stopped(
        move || async move { commis_learn::learn(&tasks[i], &cx).await },
        stop,
    )
    .await
}
