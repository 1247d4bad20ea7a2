//! Work on a thread of its own: what computes for long holds up neither Ctrl-C nor a deadline.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use futures::FutureExt as _;
use tokio::sync::oneshot;

use commis_base::{
    error::{Code, Error, Result},
    work::{STAGE, poll_bounded},
};

/// What is waited for after `stop`, for it to put down what it has in hand.
const GRACE: Duration = Duration::from_millis(500);
/// Threads that compute on after they were stopped. With so many nothing more is begun.
const MOST: usize = 4;

static LEFT: Mutex<Vec<Weak<()>>> = Mutex::new(Vec::new());

/// Those that still compute.
fn running_tasks() -> std::sync::MutexGuard<'static, Vec<Weak<()>>> {
    let mut all = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|it| it.strong_count() > 0);
    all
}

/// What `work` comes to, or what `stop` says, whichever is first. Work that is stopped ends where it next waits, its stages either
/// wrote their artifact or did not; if it does not wait within half a second, it is left to itself: it holds the task until it
/// waits, and does not go on to another stage. What it computes at a stretch may take [`STAGE`]; more is `WORK_LIMIT`. A panic is an
/// error of its own.
///
/// Fails with `OVERLOADED` where too many compute on that nobody waits for any more.
pub async fn run_until_stopped<T: Send + 'static, F: Future<Output = Result<T>>>(
    work: impl FnOnce() -> F + Send + 'static,
    stop: impl Future<Output = Error>,
) -> Result<T> {
    if running_tasks().len() >= MOST {
        let why = "too many tasks compute on that were stopped";
        return Err(Error::new(Code::Overloaded, why).hint("try again when they have ended"));
    }
    let at_work = Arc::new(());
    let watched = Arc::downgrade(&at_work);
    let runtime = tokio::runtime::Handle::current();
    let (end, ended) = oneshot::channel();
    let (go_on, stopped) = oneshot::channel::<()>();
    let run = move || {
        let all = async {
            tokio::select! {
                biased;
                _ = stopped => Err(Error::new(Code::Interrupted, "interrupted")),
                it = AssertUnwindSafe(poll_bounded(STAGE, async { work().await })).catch_unwind() => {
                    it.unwrap_or_else(|panic| Err(Error::new(Code::Internal, panic_message(&*panic))))
                }
            }
        };
        // Nobody may be waiting any more.
        let _ = end.send(runtime.block_on(all));
        drop(at_work);
    };
    std::thread::Builder::new().name("apart".to_owned()).spawn(run).map_err(|err| {
        Error::new(Code::Internal, "cannot start a thread for the computation").source(err)
    })?;
    let mut ended = ended.map(|it| {
        it.unwrap_or_else(|err| {
            Err(Error::new(Code::Internal, "the thread of the computation ended").source(err))
        })
    });
    tokio::select! {
        biased;
        it = &mut ended => it,
        why = stop => {
            drop(go_on);
            if tokio::time::timeout(GRACE, ended).await.is_err() {
                running_tasks().push(watched);
            }
            Err(why)
        }
    }
}

/// What a panic says of itself.
fn panic_message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panic: {}", text.unwrap_or("it says nothing"))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    fn interrupted() -> Error {
        Error::new(Code::Timeout, "late")
    }

    #[tokio::test]
    async fn work_that_computes_for_long_holds_nobody_up() {
        // It would be waited for forever.
        let (keep, never) = mpsc::channel::<()>();
        let (begin, began) = oneshot::channel();
        let work = move || async move {
            let _ = begin.send(());
            let _ = never.recv();
            Err::<(), _>(Error::new(Code::Internal, "it ended"))
        };
        let stop = async {
            let _ = began.await;
            interrupted()
        };
        assert_eq!(run_until_stopped(work, stop).await.unwrap_err().code(), Code::Timeout);
        drop(keep);
    }

    #[tokio::test]
    async fn work_that_waits_is_dropped_before_the_answer() {
        struct DropSignal(mpsc::Sender<()>);
        impl Drop for DropSignal {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        let (gone, told) = mpsc::channel();
        let work = move || async move {
            let _told = DropSignal(gone);
            std::future::pending::<Result<()>>().await
        };
        let end = run_until_stopped(work, async { interrupted() }).await;
        assert_eq!(end.unwrap_err().code(), Code::Timeout);
        // Sent before, or not at all.
        assert!(told.try_recv() != Err(mpsc::TryRecvError::Empty));
    }

    #[tokio::test]
    async fn a_panic_is_an_error() {
        let work = || async { panic!("of its own") as Result<()> };
        let end = run_until_stopped(work, std::future::pending()).await.unwrap_err();
        assert_eq!(end.code(), Code::Internal);
        assert!(end.to_string().contains("of its own"), "{end}");
    }
}
