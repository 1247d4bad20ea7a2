//! Waiting for what a page shows or sends.

use std::time::{Duration, Instant};

use super::{
    context_state::ContextInner,
    page,
    pending_requests::{PAUSE, RequestProgress},
    plan::{Step, Wait},
};
use commis_artifacts::recording::TargetKind;
use commis_base::error::Result;

/// How often a page is laid out to say what is visible, shadow roots are looked into, and its frames are looked for whatever was
/// told of them.
const LOOK_WELL: Duration = Duration::from_millis(100);

/// So long nothing may happen on a page before what is missing on it is taken for missing. Pages that show something late by a
/// timer alone do so within a few seconds; those that ask a server again and again do so more often.
pub const REST: Duration = Duration::from_secs(8);
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LOOK_AGAIN: Duration = Duration::from_millis(250);

const PASSWORD_FIELD: &str = "input[type=password]";
const LOGIN_PAGE: &str = "the page asks to log in, and nothing has happened on it for 8 s";

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
    pub async fn pause(&mut self) -> bool {
        if Instant::now() >= self.deadline {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 3 / 2).min(self.longest);
        true
    }
}

/// Says of a page that nothing happens on it any more: no request is on its way and no stream open, no worker is there, nothing of
/// the document changes, finite animations are over, and nothing says that it is busy. What a timer of the page does later than
/// [`REST`] after all that is not foreseen.
pub struct IdleDetector {
    /// Not looked at before: most elements come at once.
    next: Instant,
}

impl IdleDetector {
    pub fn from_now() -> Self {
        Self { next: Instant::now() + FIRST_LOOK }
    }

    /// Whether it has lasted for [`REST`]. The first look begins to watch the document.
    pub async fn lasts(&mut self, shared: &ContextInner) -> bool {
        let now = Instant::now();
        if now < self.next {
            return false;
        }
        self.next = now + LOOK_AGAIN;
        let silent = {
            let state = shared.lock();
            let works = |it: &TargetKind| {
                matches!(
                    it,
                    TargetKind::Worker | TargetKind::SharedWorker | TargetKind::ServiceWorker
                )
            };
            let recorder = state.recorder.as_ref();
            !state.targets.values().any(works)
                && recorder.is_some_and(|it| {
                    !it.has_streams() && it.idle_in(REST, now) == Some(Duration::ZERO)
                })
        };
        // All frames, each time: one that is not watched would change unseen.
        let Ok(frames) = shared.frames().await else { return false };
        let mut still = silent;
        for frame in &frames {
            still &= page::still_for(&shared.cdp, frame).await >= REST;
        }
        still
    }
}

/// Whether a page at rest has a field for a password, and none of the steps gives one: nothing more comes on it by itself.
async fn asks_to_log_in(
    shared: &ContextInner,
    frames: &[page::Frame],
    rest: &mut IdleDetector,
) -> bool {
    let gives_one = shared.is_held() || shared.lock().typed_secret;
    !gives_one
        && rest.lasts(shared).await
        && page::any_has_selector(&shared.cdp, frames, PASSWORD_FIELD, true).await
}

/// Who acts on the page while it is waited for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// The steps alone: a login page stays one.
    Nobody,
    /// A person, or a program that has the page, may log in meanwhile.
    Somebody,
}

/// Looks until what is waited for is there. Fails with `STEP_FAILED`.
pub async fn wait_for(
    shared: &ContextInner,
    step: &Step,
    wait: &Wait,
    (deadline, beside): (Instant, Beside),
) -> Result<()> {
    let mut poll = Poll::closely(deadline);
    let mut look_well = Instant::now();
    let mut frames = Vec::new();
    let mut known = None;
    let mut untyped: Option<Instant> = None;
    let mut rest = IdleDetector::from_now();
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
                match state.recorder.as_ref().map_or(RequestProgress::No, |all| all.awaited(it)) {
                    RequestProgress::Ended => true,
                    // The page may be waiting for the next key.
                    RequestProgress::Untyped => {
                        untyped.get_or_insert_with(Instant::now).elapsed() >= PAUSE
                    }
                    RequestProgress::No => false,
                }
            }
        };
        if sure {
            look_well = Instant::now() + LOOK_WELL;
        }
        if there {
            return Ok(());
        }
        let may_end = beside == Beside::Nobody && !matches!(wait, Wait::Request(_));
        if may_end && asks_to_log_in(shared, &frames, &mut rest).await {
            return Err(step.failed_error(LOGIN_PAGE));
        }
        if !poll.pause().await {
            let err = step.failed_error("it did not happen in time");
            let state = shared.lock();
            if let Some(url) = state.popup.clone() {
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
