//! Progress of a batch: bars on a terminal, plain lines otherwise; both stay readable when there are thousands of tasks.

use std::{
    collections::BTreeMap,
    io::IsTerminal as _,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::context;
use commis_batch::{Entry, Event, Totals};
use commis_state::Status;

/// Up to so many tasks, each line of what happens is worth reading.
const FEW: usize = 100;
/// Beyond that, a line so often, and one for each failure.
const EVERY: Duration = Duration::from_secs(10);
/// Failures that are shown one by one beyond that.
const FAILURES: usize = 20;

/// Told of each event of a batch.
pub struct BatchProgress {
    bars: Option<(MultiProgress, ProgressBar)>,
    now: Mutex<ProgressState>,
}

struct ProgressState {
    began: Instant,
    tasks: usize,
    /// Finished by this run, and by an earlier one.
    ended: usize,
    recalled: usize,
    by_status: BTreeMap<Status, usize>,
    failures: usize,
    running: BTreeMap<String, (String, ProgressBar)>,
    last_line: Instant,
}

impl BatchProgress {
    pub fn new() -> Self {
        let bars = std::io::stderr().is_terminal().then(|| {
            let all = MultiProgress::new();
            let main = all.add(ProgressBar::new(0));
            if let Ok(style) =
                ProgressStyle::with_template("{bar:30.cyan/dim} {pos}/{len} {elapsed} {msg}")
            {
                main.set_style(style);
            }
            (all, main)
        });
        let now = Instant::now();
        let now = ProgressState {
            began: now,
            tasks: 0,
            ended: 0,
            recalled: 0,
            by_status: BTreeMap::new(),
            failures: 0,
            running: BTreeMap::new(),
            last_line: now,
        };
        Self { bars, now: Mutex::new(now) }
    }

    pub fn on_event(&self, event: &Event<'_>) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::BatchStarted { tasks, finished, .. } => {
                (now.tasks, now.began) = (*tasks, Instant::now());
                if let Some((_, main)) = &self.bars {
                    main.set_length(*tasks as u64);
                }
                if *finished > 0 {
                    self.print(&format!("{finished} of {tasks} tasks are finished already"));
                }
            }
            Event::TaskStarted { task_id, name, .. } => {
                let bar = match &self.bars {
                    Some((all, main)) => {
                        let it = all.insert_after(main, ProgressBar::new_spinner());
                        it.enable_steady_tick(Duration::from_millis(100));
                        it.set_message((*name).to_owned());
                        it
                    }
                    None => ProgressBar::hidden(),
                };
                now.running.insert((*task_id).to_owned(), ((*name).to_owned(), bar));
            }
            Event::StageStarted { task_id, stage } => {
                let Some((name, bar)) = now.running.get(*task_id) else { return };
                let text = format!("{name}: {}", stage.as_str());
                bar.set_message(text);
            }
            Event::StageFinished { .. } => {}
            Event::BatchFinished { .. } => {
                if let Some((_, main)) = &self.bars {
                    main.finish_and_clear();
                }
            }
            Event::TaskRetried { task_id, error_code, in_ms, .. } => {
                let Some((name, bar)) = now.running.remove(*task_id) else { return };
                bar.finish_and_clear();
                // Somebody else's task is looked at twice a second.
                if *in_ms > 0 && error_code.as_str() != "TASK_BUSY" {
                    let pause = *in_ms as f64 / 1000.0;
                    self.print(&format!("{name}: {error_code}, once more in {pause:.1} s"));
                }
            }
            Event::TaskFinished { ms, entry, .. } => {
                self.finish_task(&mut now, ms.is_some(), entry);
            }
        }
    }

    fn finish_task(&self, now: &mut ProgressState, by_us: bool, entry: &Entry) {
        *now.by_status.entry(entry.status()).or_default() += 1;
        now.ended += 1;
        if !by_us {
            now.recalled += 1;
        }
        if let Some((_, bar)) = now.running.remove(entry.task_id()) {
            bar.finish_and_clear();
        }
        let failed = matches!(entry, Entry::Failed { .. });
        now.failures += usize::from(failed);
        if now.tasks <= FEW || (failed && now.failures <= FAILURES) {
            // What an earlier run finished is counted, and stands in the table.
            if by_us {
                self.print(&entry.describe());
            }
            if failed && now.failures == FAILURES && now.tasks > FEW {
                self.print("further failures are in the report");
            }
        }
        match &self.bars {
            Some((_, main)) => {
                main.set_position(now.ended as u64);
                main.set_message(now.summary());
            }
            None if now.tasks > FEW && now.last_line.elapsed() >= EVERY => {
                now.last_line = Instant::now();
                let pace = now.pace();
                context::say(&format!("{} of {}: {}{pace}", now.ended, now.tasks, now.summary()));
            }
            None => {}
        }
    }

    /// A line above the bars, or among the others.
    fn print(&self, text: &str) {
        let text = context::clean(&commis_redact::message(text));
        match &self.bars {
            Some((all, _)) => {
                let _ = all.println(text);
            }
            None => context::say(&text),
        }
    }
}

impl ProgressState {
    /// `12 verified, 3 failed`
    fn summary(&self) -> String {
        let all: Vec<String> =
            self.by_status.iter().map(|(status, n)| format!("{n} {}", status.describe())).collect();
        all.join(", ")
    }

    /// `; 40 a minute, about 12 min left`
    fn pace(&self) -> String {
        let here = self.ended - self.recalled;
        let minutes = self.began.elapsed().as_secs_f64() / 60.0;
        if here == 0 || minutes <= 0.0 {
            return String::new();
        }
        let pace = here as f64 / minutes;
        let left = (self.tasks - self.ended) as f64 / pace;
        format!("; {pace:.0} a minute, about {left:.0} min left")
    }
}

/// `12 verified, 1 saved as draft, 2 failed, 3 not started`; what there is none of is left out.
pub fn totals(it: &Totals) -> String {
    let mut all: Vec<String> = Status::ALL
        .iter()
        .filter(|status| it.count(**status) > 0)
        .map(|status| format!("{} {}", it.count(*status), status.describe()))
        .collect();
    if it.not_started > 0 {
        all.push(format!("{} not started", it.not_started));
    }
    if it.retries > 0 {
        all.push(format!("{} tried again", it.retries));
    }
    all.join(", ")
}
