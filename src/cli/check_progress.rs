//! Progress of a check and its table; both stay readable when there are thousands of recipes.

use std::{
    collections::BTreeMap,
    io::IsTerminal as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};

use super::{
    check_row::{Row, Verdict},
    context::{self, clean},
    table::ruled,
};
use commis_base::ids::RecipeName;

/// Up to so many recipes, each has a line.
pub const FEW: usize = 100;
/// Beyond that, a line so often, and one for each that does not work.
const EVERY: Duration = Duration::from_secs(10);
/// More rows than this are for a file: those that work are counted.
const MAX_ROWS: usize = 60;

/// A bar on a terminal, plain lines otherwise.
#[derive(Clone)]
pub struct CheckProgress(Arc<Inner>);

struct Inner {
    bar: Option<ProgressBar>,
    all: usize,
    now: Mutex<ProgressState>,
}

struct ProgressState {
    ended: BTreeMap<&'static str, usize>,
    last: Instant,
}

impl CheckProgress {
    pub fn new(all: usize) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| ProgressBar::new(all as u64));
        let style = ProgressStyle::with_template("{bar:30.cyan/dim} {pos}/{len} {elapsed} {msg}");
        if let (Some(bar), Ok(style)) = (&bar, style) {
            bar.set_style(style);
        }
        let now = ProgressState { ended: BTreeMap::new(), last: Instant::now() };
        Self(Arc::new(Inner { bar, all, now: Mutex::new(now) }))
    }

    pub fn begin(&self, name: &RecipeName) {
        if let Some(bar) = &self.0.bar {
            bar.set_message(name.to_string());
        }
    }

    pub fn end(&self, row: &Row) {
        let mut now = self.0.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now.ended.entry(word(row)).or_default() += 1;
        if let Some(bar) = &self.0.bar {
            bar.inc(1);
        } else if self.0.all > FEW {
            if matches!(row.verdict, Verdict::Changed | Verdict::Drifted | Verdict::Failed) {
                context::say(&clean(&format!("{}: {}, {}", row.name, word(row), why(row))));
            }
            if now.last.elapsed() >= EVERY {
                now.last = Instant::now();
                let ended: usize = now.ended.values().sum();
                context::say(&format!(
                    "{ended} of {}: {}",
                    self.0.all,
                    describe_counts(&now.ended)
                ));
            }
        }
    }

    /// Lines that the bar must not run through.
    pub fn aside(&self, say: impl FnOnce()) {
        match &self.0.bar {
            None => say(),
            Some(bar) => bar.suspend(say),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.0.bar {
            bar.finish_and_clear();
        }
    }
}

/// `12 ok, 1 drifted`
fn describe_counts(ended: &BTreeMap<&'static str, usize>) -> String {
    let all: Vec<String> = ended.iter().map(|(word, n)| format!("{n} {word}")).collect();
    all.join(", ")
}

fn word(it: &Row) -> &'static str {
    match (it.verdict, it.demoted) {
        (Verdict::Ok, _) => "ok",
        (Verdict::Changed, _) => "changed",
        (Verdict::Drifted, Some(_)) => "drifted, deprecated",
        (Verdict::Drifted, None) => "drifted",
        (Verdict::Failed, Some(_)) => "failed, deprecated",
        (Verdict::Failed, None) => "failed",
        (Verdict::Unknown, _) => "could not tell",
    }
}

fn why(it: &Row) -> String {
    let error = it.error.clone().unwrap_or_default();
    it.error_code.map_or(error.clone(), |code| format!("{error} [{code}]"))
}

pub fn table(rows: &[Row]) {
    let few = rows.len() <= MAX_ROWS;
    let mut table = ruled(["recipe", "verdict", "why", "alike", "items", "ms"]);
    let mut ended = BTreeMap::new();
    let mut shown = 0;
    for it in rows {
        *ended.entry(word(it)).or_default() += 1;
        if !few && it.verdict == Verdict::Ok {
            continue;
        }
        shown += 1;
        let alike = it.similarity_bp;
        table.add_row([
            it.name.to_string(),
            word(it).to_owned(),
            clean(&why(it)),
            alike.map(|it| format!("{}.{:02} %", it / 100, it % 100)).unwrap_or_default(),
            match (it.items, it.total.filter(|_| it.complete == Some(false))) {
                (Some(items), Some(total)) => format!("{items} of {total}"),
                (Some(items), None) if it.complete == Some(false) => format!("{items}+"),
                (items, _) => items.map(|it| it.to_string()).unwrap_or_default(),
            },
            it.total_ms.map(|it| format!("{it:.1}")).unwrap_or_default(),
        ]);
    }
    if shown > 0 {
        context::line(&table.to_string());
    }
    if !few {
        context::line(&describe_counts(&ended));
    }
}
