//! What a batch is doing at a moment: its tasks that run, and how long the rest will take.

use std::collections::{BTreeMap, VecDeque};

use super::events::Event;
use commis_base::ids::TaskId;
use commis_state::StageSpan;

/// The pace is that of so many tasks.
const PACE: usize = 30;
/// Fewer say nothing about it.
const PACE_LEAST: usize = 3;

/// What goes on, as of a moment.
#[derive(Clone, Default)]
pub struct BatchSnapshot {
    pub began_ms: i64,
    pub at_ms: i64,
    /// Without a page for so long, nobody writes it any more.
    pub stale_ms: i64,
    pub running: BTreeMap<String, Running>,
    /// When the last tasks of this run ended.
    pub ended: VecDeque<i64>,
    pub left: usize,
}

#[derive(Clone)]
pub struct Running {
    pub name: String,
    pub began_ms: i64,
    pub attempt: u32,
    pub stage: Option<(&'static str, i64)>,
    done: Vec<(&'static str, i64, i64)>,
}

impl Running {
    /// Its stages; what it is at lasts until now.
    pub fn spans(&self, id: &TaskId, now: i64) -> impl Iterator<Item = StageSpan> {
        let at = self.stage.map(|(stage, began)| (stage, began, now));
        self.done.iter().copied().chain(at).map(|(stage, began_ms, ended_ms)| StageSpan {
            task_id: id.to_string(),
            attempt: self.attempt,
            stage: stage.to_owned(),
            began_ms,
            ended_ms,
            failed: None,
        })
    }
}

impl BatchSnapshot {
    /// Milliseconds until the last task ends, at the pace of the last ones; `None` while there were too few.
    pub fn remaining_ms(&self) -> Option<i64> {
        let n = self.ended.len();
        if n < PACE_LEAST {
            return None;
        }
        // The first of them only says when the pace began, unless it began with the batch.
        let (from, n) = if n > PACE { (self.ended[0], n - 1) } else { (self.began_ms, n) };
        let took = self.at_ms.max(*self.ended.back()?) - from;
        Some(took.max(0) * self.left as i64 / n as i64)
    }

    pub fn record_end(&mut self, at: i64) {
        self.ended.push_back(at);
        if self.ended.len() > PACE + 1 {
            self.ended.pop_front();
        }
    }

    pub fn apply_event(&mut self, event: &Event<'_>, now: i64) {
        match event {
            Event::BatchStarted { tasks, .. } => {
                (self.began_ms, self.left) = (now, *tasks);
            }
            Event::TaskStarted { task_id, name, attempt } => {
                let it = Running {
                    name: (*name).to_owned(),
                    began_ms: now,
                    attempt: *attempt,
                    stage: None,
                    done: Vec::new(),
                };
                self.running.insert((*task_id).to_owned(), it);
            }
            Event::StageStarted { task_id, stage } => {
                if let Some(it) = self.running.get_mut(*task_id) {
                    it.stage = Some((stage.as_str(), now));
                }
            }
            Event::StageFinished { task_id, stage, ms } => {
                if let Some(it) = self.running.get_mut(*task_id) {
                    it.stage = None;
                    it.done.push((stage.as_str(), now - ms, now));
                }
            }
            Event::TaskRetried { task_id, .. } => {
                self.running.remove(*task_id);
            }
            Event::TaskFinished { ms, entry, .. } => {
                self.running.remove(entry.task_id());
                self.left = self.left.saturating_sub(1);
                if ms.is_some() {
                    self.record_end(now);
                }
            }
            Event::BatchFinished { .. } => {}
        }
    }
}
