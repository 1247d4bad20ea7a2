//! Progress of learning one task: a bar on a terminal, nothing elsewhere.

use std::{
    collections::BTreeMap,
    io::IsTerminal as _,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use commis_learn::Task;
use commis_stages::Stage;

/// Shared by the stage callbacks of what is learned.
#[derive(Clone)]
pub struct Progress(Arc<Inner>);

struct Inner {
    bars: Option<(MultiProgress, ProgressBar)>,
    running: Mutex<BTreeMap<String, ProgressBar>>,
}

impl Progress {
    pub fn new(total: usize) -> Self {
        let bars = std::io::stderr().is_terminal().then(|| {
            let all = MultiProgress::new();
            let style =
                ProgressStyle::with_template("{bar:30.cyan/dim} {pos}/{len} {elapsed} {msg}");
            let main = all.add(ProgressBar::new(total as u64));
            if let Ok(style) = style {
                main.set_style(style);
            }
            (all, main)
        });
        Self(Arc::new(Inner { bars, running: Mutex::default() }))
    }

    /// A task enters a stage.
    pub fn stage(&self, task: &Task, stage: Stage) {
        let name = task.name.as_str();
        let Some((all, main)) = &self.0.bars else { return };
        let mut running = self.0.running.lock().unwrap_or_else(PoisonError::into_inner);
        let bar = running.entry(name.to_owned()).or_insert_with(|| {
            let it = all.insert_after(main, ProgressBar::new_spinner());
            it.enable_steady_tick(Duration::from_millis(100));
            it
        });
        bar.set_message(format!("{name}: {}", stage.as_str()));
    }

    pub fn finish(&self) {
        let running =
            std::mem::take(&mut *self.0.running.lock().unwrap_or_else(PoisonError::into_inner));
        for it in running.into_values() {
            it.finish_and_clear();
        }
        if let Some((_, main)) = &self.0.bars {
            main.finish_and_clear();
        }
    }
}
