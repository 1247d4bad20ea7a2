//! What a batch tells as it goes: to the database, to a script, to the terminal.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde::{Deserialize, Serialize};

use super::{
    events::Event,
    report::{Entry, Totals},
};
use commis_base::error::{Code, Result};
use commis_learn::{ArtifactSource, Task};
use commis_stages::Stage;
use commis_state::{Ending, FinishedTask, StageSpan, State, Status, now_ms};

/// A stage that a machine ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StageRun {
    #[serde(rename = "s")]
    pub stage: Stage,
    #[serde(rename = "h")]
    pub how: ArtifactSource,
    pub ms: u64,
}

/// Told of each event, in order of what happens to one task.
pub type OnEvent = Box<dyn Fn(&Event<'_>) + Send + Sync>;

/// Shared by the tasks of a batch.
pub struct BatchMonitor {
    state: Arc<State>,
    on_event: OnEvent,
    running: Mutex<BTreeMap<String, TaskProgress>>,
}

struct TaskProgress {
    began_ms: i64,
    attempt: u32,
    stage: Option<(Stage, i64)>,
    spans: Vec<StageSpan>,
}

impl BatchMonitor {
    pub fn new(state: Arc<State>, on_event: OnEvent) -> Self {
        Self { state, on_event, running: Mutex::default() }
    }

    pub fn emit(&self, event: &Event<'_>) {
        event.log();
        (self.on_event)(event);
    }

    /// An attempt begins. Fails with `ARTIFACT_IO`.
    pub fn begin(&self, task: &Task, attempt: u32) -> Result<()> {
        let now = now_ms();
        self.state.begin(task.id.as_str(), attempt, now)?;
        let running = TaskProgress { began_ms: now, attempt, stage: None, spans: Vec::new() };
        self.lock().insert(task.id.to_string(), running);
        self.emit(&Event::TaskStarted {
            task_id: task.id.as_str(),
            name: task.name.as_str(),
            attempt,
        });
        Ok(())
    }

    /// A stage of a running task begins.
    pub fn begin_stage(&self, task: &Task, stage: Stage) {
        let now = now_ms();
        let task_id = task.id.as_str();
        let before =
            self.lock().get_mut(task_id).and_then(|it| it.switch_stage(task_id, Some(stage), now));
        self.emit_stage_end(task_id, before, now);
        let status = if stage.is_record() { Status::Recording } else { Status::Analyzing };
        // Where a task stands is for people; the task itself does not depend on it.
        if stage.is_record() || before.is_some_and(|it| it.0.is_record()) {
            let _ = self.state.set_status(task_id, status);
        }
        self.emit(&Event::StageStarted { task_id, stage });
    }

    /// The stages that another machine ran, told when it says so: each began when the one before it ended.
    pub fn record_stages(&self, task: &Task, all: &[StageRun]) {
        let task_id = task.id.as_str();
        let mut began = now_ms() - all.iter().map(|it| it.ms as i64).sum::<i64>();
        for &StageRun { stage, ms, .. } in all {
            self.emit(&Event::StageStarted { task_id, stage });
            if let Some(it) = self.lock().get_mut(task_id) {
                it.stage = Some((stage, began));
                it.switch_stage(task_id, None, began + ms as i64);
            }
            began += ms as i64;
            self.emit(&Event::StageFinished { task_id, stage, ms: ms as i64 });
        }
    }

    /// An attempt that is followed by another. Fails with `ARTIFACT_IO`.
    pub fn retry(&self, task: &Task, code: Code, in_ms: u64) -> Result<()> {
        let now = now_ms();
        let task_id = task.id.as_str();
        let Some((_, attempt, spans)) = self.stop(task_id, now, Some(code.as_str())) else {
            return Ok(());
        };
        let ending = Ending {
            status: Status::Pending,
            why: Some(code.as_str().to_owned()),
            at_ms: now,
            entry: String::new(),
        };
        self.state.end(task_id, &ending, None, &spans)?;
        self.emit(&Event::TaskRetried { task_id, attempt, error_code: code, in_ms });
        Ok(())
    }

    /// The task has ended. Fails with `ARTIFACT_IO`.
    pub fn end(
        &self,
        position: usize,
        task: &Task,
        entry: &Entry,
        finished: Option<&FinishedTask>,
    ) -> Result<()> {
        let now = now_ms();
        let task_id = task.id.as_str();
        let ending = entry.ending(now);
        let failed = ending.why.as_deref().filter(|_| ending.status == Status::Failed);
        let (began, _, spans) = self.stop(task_id, now, failed).unwrap_or((now, 0, Vec::new()));
        self.state.end(task_id, &ending, finished, &spans)?;
        self.emit(&Event::TaskFinished { position, ms: Some(now - began), entry });
        Ok(())
    }

    /// A task that an earlier run finished.
    pub fn emit_recalled(&self, position: usize, entry: &Entry) {
        self.emit(&Event::TaskFinished { position, ms: None, entry });
    }

    /// The batch has ended.
    pub fn close(&self, began_ms: i64, totals: &Totals) {
        self.emit(&Event::BatchFinished { ms: now_ms() - began_ms, totals });
    }

    /// The attempt is over; `failed` is why, if it came to nothing. When it began, which it was, and its stages.
    fn stop(
        &self,
        task_id: &str,
        now: i64,
        failed: Option<&str>,
    ) -> Option<(i64, u32, Vec<StageSpan>)> {
        let mut it = self.lock().remove(task_id)?;
        let last = it.switch_stage(task_id, None, now);
        if let Some(span) = it.spans.last_mut() {
            span.failed = failed.map(str::to_owned);
        }
        self.emit_stage_end(task_id, last, now);
        Some((it.began_ms, it.attempt, it.spans))
    }

    fn emit_stage_end(&self, task_id: &str, ended: Option<(Stage, i64)>, now: i64) {
        if let Some((stage, began)) = ended {
            self.emit(&Event::StageFinished { task_id, stage, ms: now - began });
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, TaskProgress>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TaskProgress {
    /// Goes over to another stage, or none; the one that ends with that, and when it began.
    fn switch_stage(&mut self, task_id: &str, to: Option<Stage>, now: i64) -> Option<(Stage, i64)> {
        let before = std::mem::replace(&mut self.stage, to.map(|it| (it, now)))?;
        self.spans.push(StageSpan {
            task_id: task_id.to_owned(),
            attempt: self.attempt,
            stage: before.0.as_str().to_owned(),
            began_ms: before.1,
            ended_ms: now,
            failed: None,
        });
        Some(before)
    }
}
