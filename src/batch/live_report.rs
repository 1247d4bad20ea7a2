//! The page of a batch while it runs: told of each event, written again as tasks go on.
//!
//! A thread of its own writes it, at most once a second and for at most a twentieth of the time, so that neither the tasks nor whoever
//! looks at the page wait. Who kills the batch leaves the last page: it says when it was written, and when that is too long ago to be true.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::{Duration, Instant},
};

use super::{
    events::Event,
    page,
    progress::BatchSnapshot,
    report::{Report, Totals},
};
use commis_artifacts::store::Store;
use commis_base::{
    error::{Code, Result},
    files,
    ids::TaskId,
};
use commis_state::{State, now_ms};

/// Between two pages, at least.
const EVERY: Duration = Duration::from_secs(1);
/// With nothing to tell, it is written all the same, so that it is seen to live.
const BEAT: Duration = Duration::from_secs(5);
/// A page took a twentieth of the time.
const SHARE: u32 = 20;
/// Writes the page of one task; what it fails with leaves that task without one.
pub type TaskPage = Box<dyn Fn(&TaskId) -> Result<()> + Send>;

/// Shared by who tells and who writes.
struct SharedState {
    now: Mutex<LiveState>,
    changed: Condvar,
}

struct LiveState {
    going: BatchSnapshot,
    totals: Totals,
    /// Tasks that ended, and whose page is to be written.
    ended: Vec<TaskId>,
    dirty: bool,
    over: bool,
}

/// The page, and the thread that writes it.
pub struct LivePage {
    shared: Arc<SharedState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Where the page goes and what it is made of.
struct Writer {
    order: Arc<Vec<TaskId>>,
    state: Arc<State>,
    store: Store,
    folder: PathBuf,
    name: String,
    task_page: TaskPage,
}

impl LivePage {
    /// Begins to write the page of a batch of these tasks to `file`, and `task_page` of each that ends. A page that cannot be written
    /// is logged and not missed.
    pub fn start(
        manifest: &str,
        order: Vec<TaskId>,
        state: Arc<State>,
        store: Store,
        file: &Path,
        task_page: TaskPage,
    ) -> Self {
        let now = LiveState {
            going: BatchSnapshot {
                left: order.len(),
                began_ms: now_ms(),
                ..BatchSnapshot::default()
            },
            totals: Totals::new(manifest),
            ended: Vec::new(),
            dirty: false,
            over: false,
        };
        let shared = Arc::new(SharedState { now: Mutex::new(now), changed: Condvar::new() });
        let (folder, name) = files::split_path(file);
        let (folder, name) = (folder.to_owned(), name.into_owned());
        let writer = Writer { order: Arc::new(order), state, store, folder, name, task_page };
        let theirs = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("page".to_owned()).spawn(move || writer.run(&theirs));
        if let Err(err) = &thread {
            tracing::warn!(%err, "no page while the batch runs");
        }
        Self { shared, thread: Mutex::new(thread.ok()) }
    }

    pub fn apply_event(&self, event: &Event<'_>) {
        let mut now = self.shared.lock();
        now.going.apply_event(event, now_ms());
        match event {
            Event::TaskFinished { ms, entry, .. } => {
                now.totals.add(entry);
                if ms.is_some()
                    && let Ok(id) = TaskId::parse(entry.task_id())
                {
                    now.ended.push(id);
                }
            }
            Event::TaskRetried { error_code, .. } if *error_code != Code::TaskBusy => {
                now.totals.retries += 1;
            }
            _ => {}
        }
        now.dirty = true;
        self.shared.changed.notify_one();
    }

    /// Ends the writing; the pages of all tasks are there when it returns, that of the batch is the caller's to write.
    pub fn close(&self) {
        self.shared.lock().over = true;
        self.shared.changed.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(it) = thread {
            let _ = it.join();
        }
    }
}

impl Drop for LivePage {
    fn drop(&mut self) {
        self.close();
    }
}

impl SharedState {
    fn lock(&self) -> MutexGuard<'_, LiveState> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Until there is something to write, or for so long. What is to be written, and whether it is the end.
    fn wait(&self, most: Duration) -> (BatchSnapshot, Totals, Vec<TaskId>, bool) {
        let idle = |it: &mut LiveState| !it.dirty && !it.over;
        let waited = self.changed.wait_timeout_while(self.lock(), most, idle);
        let mut now = waited.unwrap_or_else(PoisonError::into_inner).0;
        now.dirty = false;
        (now.going.clone(), now.totals.clone(), std::mem::take(&mut now.ended), now.over)
    }

    /// For so long, unless it is over.
    fn pause(&self, time: Duration) {
        drop(self.changed.wait_timeout_while(self.lock(), time, |it| !it.over));
    }
}

impl Writer {
    fn run(&self, shared: &SharedState) {
        let mut pause = EVERY;
        loop {
            let (mut going, totals, ended, over) = shared.wait(BEAT);
            for id in ended {
                if let Err(err) = (self.task_page)(&id) {
                    tracing::debug!(task_id = id.as_str(), %err, "no page for this task");
                }
            }
            if over {
                return;
            }
            going.at_ms = now_ms();
            going.stale_ms = 3 * (pause + BEAT).as_millis() as i64;
            let began = Instant::now();
            if let Err(err) = self.write(&going, totals) {
                tracing::debug!(%err, "the page of the batch was not written");
            }
            pause = EVERY.max(began.elapsed() * SHARE);
            shared.pause(pause);
        }
    }

    fn write(&self, going: &BatchSnapshot, totals: Totals) -> Result<()> {
        let (order, state) = (Arc::clone(&self.order), Arc::clone(&self.state));
        let report = Report::new(totals, order, state, self.store.clone());
        let text = page::render(&report, Some(going), &self.folder)?;
        files::open_or_create(&self.folder)?.write_unsynced(&self.name, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_stages::Stage;

    fn check(began: i64, ended: &[i64], at: i64, left: usize, expected: Option<i64>) {
        let mut it = BatchSnapshot { began_ms: began, at_ms: at, left, ..BatchSnapshot::default() };
        for at in ended {
            it.record_end(*at);
        }
        assert_eq!(it.remaining_ms(), expected, "{ended:?} at {at}, {left} left");
    }

    #[test]
    fn what_is_left_is_told_by_the_pace() {
        check(0, &[], 5000, 4, None);
        check(0, &[1000, 2000], 2000, 4, None);
        check(0, &[1000, 2000, 3000], 3000, 4, Some(4000));
        check(0, &[1000, 2000, 3000], 3000, 0, Some(0));
        // Nothing ended for a while: slower than it was.
        check(0, &[1000, 2000, 3000], 6000, 4, Some(8000));
        // A slow beginning is forgotten.
        let many: Vec<i64> = (0..100).map(|it| 1_000_000 + it * 100).collect();
        check(0, &many, 1_009_900, 10, Some(1000));
    }

    #[test]
    fn events_say_what_runs() {
        let mut it = BatchSnapshot::default();
        it.apply_event(&Event::BatchStarted { manifest: "m", tasks: 2, finished: 0 }, 10);
        it.apply_event(&Event::TaskStarted { task_id: "a-00000000", name: "a", attempt: 2 }, 20);
        it.apply_event(&Event::StageStarted { task_id: "a-00000000", stage: Stage::Record }, 30);
        it.apply_event(
            &Event::StageFinished { task_id: "a-00000000", stage: Stage::Record, ms: 10 },
            40,
        );
        it.apply_event(&Event::StageStarted { task_id: "a-00000000", stage: Stage::Rank }, 40);
        let id = TaskId::parse("a-00000000").unwrap();
        let running = &it.running[id.as_str()];
        assert_eq!((running.attempt, running.stage), (2, Some(("rank", 40))));
        let spans: Vec<_> =
            running.spans(&id, 55).map(|it| (it.stage, it.began_ms, it.ended_ms)).collect();
        assert_eq!(spans, [("record".to_owned(), 30, 40), ("rank".to_owned(), 40, 55)]);
        let failed = Event::TaskRetried {
            task_id: "a-00000000",
            attempt: 2,
            error_code: Code::Timeout,
            in_ms: 5,
        };
        it.apply_event(&failed, 60);
        assert!(it.running.is_empty() && it.left == 2);
    }
}
