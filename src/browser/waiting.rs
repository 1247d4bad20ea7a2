//! Waiting for what a page shows or sends.

use std::time::{Duration, Instant};

use super::{
    awaiting::{Awaited, PAUSE},
    page,
    plan::{Step, Wait},
    shared::Shared,
};
use crate::error::Result;

/// How often a page is laid out to say what is visible, shadow roots are looked into, and its frames are looked for whatever was
/// told of them.
const LOOK_WELL: Duration = Duration::from_millis(100);

/// Polls: the first pause is short, since most elements are there at once.
pub struct Poll {
    pause: Duration,
    longest: Duration,
    deadline: Instant,
}

impl Poll {
    pub fn until(deadline: Instant) -> Self {
        Self { pause: Duration::from_millis(15), longest: Duration::from_millis(100), deadline }
    }

    /// For what costs the page little to be asked.
    fn closely(deadline: Instant) -> Self {
        Self { longest: Duration::from_millis(30), ..Self::until(deadline) }
    }

    /// False when time is up.
    pub async fn again(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 3 / 2).min(self.longest);
        true
    }
}

/// Looks until what is waited for is there. Fails with `STEP_FAILED`.
pub async fn wait_for(shared: &Shared, step: &Step, wait: &Wait, deadline: Instant) -> Result<()> {
    let mut poll = Poll::closely(deadline);
    let mut look_well = Instant::now();
    let mut frames = Vec::new();
    let mut known = None;
    let mut untyped: Option<Instant> = None;
    loop {
        let sure = Instant::now() >= look_well;
        let changed = shared.lock().frames;
        // A page that is busy loading is asked no more often than needed.
        if !matches!(wait, Wait::Request(_)) && (sure || known != Some(changed)) {
            (frames, known) = (shared.frames().await?, Some(changed));
        }
        let _ = shared.page()?;
        let there = match wait {
            Wait::Text(it) => page::any_has_text(&shared.cdp, &frames, it, sure).await,
            Wait::Selector(it) => page::any_has_selector(&shared.cdp, &frames, it, sure).await,
            Wait::Request(it) => {
                let state = shared.lock();
                match state.recorder.as_ref().map_or(Awaited::No, |all| all.awaited(it)) {
                    Awaited::Ended => true,
                    // The page may be waiting for the next key.
                    Awaited::Untyped => untyped.get_or_insert_with(Instant::now).elapsed() >= PAUSE,
                    Awaited::No => false,
                }
            }
        };
        if sure {
            look_well = Instant::now() + LOOK_WELL;
        }
        if there {
            return Ok(());
        }
        if !poll.again().await {
            let err = step.failed("it did not happen in time");
            let mut state = shared.lock();
            if let Some(url) = state.popup.take() {
                let hint = format!("a popup to {url} was closed; navigate there instead");
                return Err(err.hint(hint));
            }
            return Err(match (wait, &state.recorder) {
                (Wait::Request(part), Some(recorder)) => err.hint(recorder.told_of(part)),
                _ => err,
            });
        }
    }
}
