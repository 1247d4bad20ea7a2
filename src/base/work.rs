//! Work on bytes of strangers: on a thread that the async runtime does not wait for, and within a budget.
//!
//! A computation does not yield: while it runs, no timer and no deadline of its task fires. So its loops call [`step`]. When
//! the budget is used up, `step` unwinds out of the computation, and whoever gave the budget answers with `WORK_LIMIT`. It is
//! no panic: no hook runs and nothing is printed. Without a budget `step` does nothing.

use std::{
    any::Any,
    cell::Cell,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::pin,
    sync::atomic::{AtomicUsize, Ordering},
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Semaphore, SemaphorePermit},
    task::block_in_place,
};

use crate::error::{Code, Error, Result};

/// What reading one answer may take.
pub const ANSWER: Budget = Budget::new(Duration::from_secs(10));
/// What one step of learning may take: the largest recordings take a tenth of it.
pub const STAGE: Budget = Budget::new(Duration::from_secs(120));

/// What one operation of the daemon may take at a stretch, besides what it has one of the others for.
pub const OPERATION: Budget = Budget::new(Duration::from_secs(60));

/// Steps after which the clock is read.
const LOOK: u64 = 16_384;
/// Computations at once: as many as recipes run at once.
const AT_ONCE: usize = 4;
/// Computations that wait for a place.
const WAITING: usize = 64;
/// How long one waits for a place.
const PATIENCE: Duration = Duration::from_secs(30);

static PLACES: Semaphore = Semaphore::const_new(AT_ONCE);
static WAIT: AtomicUsize = AtomicUsize::new(0);

/// What a computation may take.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Of processor time, on each thread that has a part in it: a machine that is busy with something else costs nothing.
    time: Duration,
    steps: u64,
}

impl Budget {
    pub const fn new(time: Duration) -> Self {
        Self { time, steps: u64::MAX }
    }

    /// The same, and at most so many steps.
    #[must_use]
    pub const fn with_steps(self, steps: u64) -> Self {
        Self { steps, ..self }
    }
}

/// The budget of the computation that runs on this thread.
#[derive(Clone, Copy)]
struct ActiveBudget {
    budget: Budget,
    /// Processor time of this thread at which it is used up.
    until: Duration,
    /// Steps that are left besides those in `NEXT`.
    steps: u64,
}

thread_local! {
    static CURRENT: Cell<Option<ActiveBudget>> = const { Cell::new(None) };
    /// Steps until `CURRENT` is looked at.
    static NEXT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// What unwinds.
struct BudgetExceeded;

/// Counts so many steps of what the current computation does: elements visited, values compared, some tens of bytes read.
#[inline]
pub fn step(steps: usize) {
    NEXT.with(|next| match next.get().checked_sub(steps as u64) {
        Some(left) => next.set(left),
        None => check_budget(steps as u64),
    });
}

#[cold]
fn check_budget(steps: u64) {
    let Some(it) = CURRENT.get() else {
        NEXT.set(u64::MAX);
        return;
    };
    let over = steps - NEXT.get();
    let is_spent = over > it.steps || processor_time() >= it.until;
    if is_spent && !std::thread::panicking() {
        resume_unwind(Box::new(BudgetExceeded));
    }
    let left = it.steps.saturating_sub(over);
    let next = left.min(LOOK);
    NEXT.set(next);
    CURRENT.set(Some(ActiveBudget { steps: left - next, ..it }));
}

/// Gives this thread back the budget that it had.
struct BudgetGuard(Option<ActiveBudget>, u64);

impl Drop for BudgetGuard {
    fn drop(&mut self) {
        CURRENT.set(self.0);
        NEXT.set(self.1);
    }
}

fn begin(budget: Budget) -> BudgetGuard {
    let outer = CURRENT.get();
    let now = processor_time();
    let until = now.saturating_add(budget.time);
    // An inner computation gets no more than what is around it.
    let until = outer.map_or(until, |it| until.min(it.until));
    let out = BudgetGuard(outer, NEXT.get());
    let next = budget.steps.min(LOOK);
    CURRENT.set(Some(ActiveBudget { budget, until, steps: budget.steps - next }));
    NEXT.set(next);
    out
}

/// Runs the work on this thread. Fails with `WORK_LIMIT` when it takes more than the budget.
pub fn run_bounded<T>(budget: Budget, work: impl FnOnce() -> T) -> Result<T> {
    let restore = begin(budget);
    let done = catch_unwind(AssertUnwindSafe(work));
    drop(restore);
    done.map_err(to_limit_error)
}

/// What the work comes to, and how many steps it took on this thread.
pub fn run_counted<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let _restore = begin(Budget::new(Duration::MAX));
    let out = work();
    let left = CURRENT.get().map_or(0, |it| it.steps) + NEXT.get();
    (out, u64::MAX - left)
}

fn to_limit_error(thrown: Box<dyn Any + Send>) -> Error {
    if !thrown.is::<BudgetExceeded>() {
        resume_unwind(thrown);
    }
    Error::new(Code::WorkLimit, "the work limit is exceeded")
        .hint("the page, answer or file, or a selector or expression of the recipe, takes too long to process")
}

/// The budget of the computation that runs here, to be taken to the threads that share its work.
#[derive(Clone, Copy)]
pub struct SharedBudget(Option<Budget>);

/// See [`SharedBudget`].
pub fn share() -> SharedBudget {
    SharedBudget(CURRENT.get().map(|it| it.budget))
}

impl SharedBudget {
    /// Runs a part of the work on this thread. What unwinds out of it is for the caller of [`bounded`], as a panic would be.
    pub fn run<T>(self, work: impl FnOnce() -> T) -> T {
        let _restore = self.0.map(begin);
        work()
    }
}

/// Runs the work where the runtime does not wait for it: its other tasks go on. One task of a runtime with one thread computes
/// where it is, since nothing else would be held up by it but what it was asked for.
///
/// Fails with `WORK_LIMIT` when it takes more than the budget, and with `OVERLOADED` where so much is computed already that no
/// place is free within half a minute.
pub async fn compute<T>(budget: Budget, work: impl FnOnce() -> T + Send) -> Result<T> {
    if !has_threads() {
        return run_bounded(budget, work);
    }
    let _place = acquire_place().await?;
    block_in_place(|| run_bounded(budget, work))
}

/// Work that waits for something now and then: each time it goes on, it may take the budget. It computes on the thread that polls it.
///
/// Fails as the work does, and with `WORK_LIMIT`.
pub async fn poll_bounded<T, E: From<Error>>(
    budget: Budget,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let mut work = pin!(work);
    std::future::poll_fn(|cx: &mut Context<'_>| {
        let done = run_bounded(budget, || work.as_mut().poll(cx));
        done.unwrap_or_else(|err| Poll::Ready(Err(err.into())))
    })
    .await
}

/// What a computation that is usually short may take on a thread of the runtime.
const SHORT: Budget = Budget::new(Duration::from_millis(2)).with_steps(LOOK);

/// [`compute`] for work that is usually short. The work first runs on this thread within a small budget. If that is exceeded, it
/// starts again as in [`compute`], so it must be safe to run twice. A computation that does not call [`step`] is not stopped.
///
/// Fails as [`compute`].
pub async fn compute_short<T>(budget: Budget, mut work: impl FnMut() -> T + Send) -> Result<T> {
    if has_threads()
        && let Ok(done) = run_bounded(SHORT, &mut work)
    {
        return Ok(done);
    }
    compute(budget, work).await
}

fn has_threads() -> bool {
    Handle::try_current().is_ok_and(|it| it.runtime_flavor() == RuntimeFlavor::MultiThread)
}

/// One computation that waits for a place, until this is dropped.
struct WaitGuard;

impl Drop for WaitGuard {
    fn drop(&mut self) {
        WAIT.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn acquire_place() -> Result<SemaphorePermit<'static>> {
    if let Ok(it) = PLACES.try_acquire() {
        return Ok(it);
    }
    let overloaded = || {
        Error::new(Code::Overloaded, "too many computations are running already")
            .hint("try again when some of them have ended")
    };
    let before = WAIT.fetch_add(1, Ordering::Relaxed);
    let _waits = WaitGuard;
    if before >= WAITING {
        return Err(overloaded());
    }
    match tokio::time::timeout(PATIENCE, PLACES.acquire()).await {
        Ok(Ok(it)) => Ok(it),
        _ => Err(overloaded()),
    }
}

/// What this thread has computed since it began.
fn processor_time() -> Duration {
    #[cfg(unix)]
    {
        let it = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(it.tv_sec.unsigned_abs(), it.tv_nsec.unsigned_abs() as u32)
    }
    #[cfg(not(unix))]
    {
        static BEGUN: std::sync::LazyLock<std::time::Instant> =
            std::sync::LazyLock::new(std::time::Instant::now);
        BEGUN.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forever() {
        loop {
            step(1);
        }
    }

    #[test]
    fn a_loop_ends_with_its_budget() {
        let budget = Budget::new(Duration::from_millis(20));
        assert_eq!(run_bounded(budget, forever).unwrap_err().code(), Code::WorkLimit);
        let steps = STAGE.with_steps(100_000);
        assert_eq!(run_bounded(steps, forever).unwrap_err().code(), Code::WorkLimit);
        assert!(run_bounded(steps, || step(100_000)).is_ok());
        assert_eq!(run_bounded(steps, || step(100_001)).unwrap_err().code(), Code::WorkLimit);
        // Nobody's budget is used up by what comes after.
        step(1 << 40);
    }

    #[test]
    fn steps_are_counted() {
        assert_eq!(run_counted(|| (0..100).for_each(|_| step(1_000))).1, 100_000);
        assert_eq!(run_counted(|| run_counted(|| step(7)).1), (7, 0));
    }

    #[tokio::test]
    async fn each_poll_has_the_budget() {
        let work = async {
            run_bounded(STAGE, || ())?;
            tokio::task::yield_now().await;
            forever();
            Ok::<(), Error>(())
        };
        let end = poll_bounded(Budget::new(Duration::from_millis(20)), work).await;
        assert_eq!(end.unwrap_err().code(), Code::WorkLimit);
    }

    #[test]
    fn an_inner_budget_is_no_way_out_of_the_outer_one() {
        let outer = Budget::new(Duration::from_millis(20));
        let all = run_bounded(outer, || {
            assert_eq!(run_bounded(STAGE, forever).unwrap_err().code(), Code::WorkLimit);
            forever();
        });
        assert_eq!(all.unwrap_err().code(), Code::WorkLimit);
    }

    #[test]
    fn parts_on_other_threads_have_the_same_budget() {
        let done = run_bounded(Budget::new(Duration::from_millis(20)), || {
            let share = share();
            let part = std::thread::spawn(move || share.run(forever));
            part.join().map_err(resume_unwind)
        });
        assert_eq!(done.unwrap_err().code(), Code::WorkLimit);
    }

    #[test]
    #[should_panic(expected = "as ever")]
    fn a_panic_is_still_one() {
        let _ = run_bounded(STAGE, || panic!("as ever"));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn short_work_is_done_once_and_long_work_again_beside_the_runtime() {
        let begun = AtomicUsize::new(0);
        let short = compute_short(STAGE, || begun.fetch_add(1, Ordering::Relaxed)).await;
        assert_eq!((short.unwrap(), begun.load(Ordering::Relaxed)), (0, 1));
        let long = compute_short(STAGE, || {
            begun.fetch_add(1, Ordering::Relaxed);
            step(LOOK as usize + 1);
        });
        long.await.unwrap();
        assert_eq!(begun.load(Ordering::Relaxed), 3);
        let budget = Budget::new(Duration::from_millis(20));
        assert_eq!(compute_short(budget, forever).await.unwrap_err().code(), Code::WorkLimit);
    }

    /// Both threads of the runtime compute, and it goes on.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn the_runtime_goes_on_beside_it() {
        let budget = Budget::new(Duration::from_millis(100));
        let busy = [(); 4].map(|()| tokio::spawn(compute(budget, forever)));
        let (tell, told) = std::sync::mpsc::channel();
        tokio::spawn(async move {
            // A timer is a part of the runtime that has to go on.
            tokio::time::sleep(Duration::from_millis(1)).await;
            tell.send(()).unwrap();
        });
        // This thread is no worker: only they can tell.
        let others_went_on = block_in_place(|| told.recv_timeout(Duration::from_secs(60)).is_ok());
        assert!(others_went_on);
        for it in busy {
            assert_eq!(it.await.unwrap().unwrap_err().code(), Code::WorkLimit);
        }
    }
}
