//! Watches: verified recipes that the daemon runs on a schedule, with what changed from one answer to the next.

mod condition;
pub mod diff;
mod notify;
pub mod registry;
mod run;
mod schedule;
pub mod store;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

pub use self::{
    condition::Condition,
    notify::deliver,
    run::may_be_watched,
    schedule::{interval, next},
};
use self::{
    run::{RunEnd, run},
    store::{Finished, Outcome},
};
use super::Daemon;
use commis_base::{
    error::{Code, Error, Result},
    work::{OPERATION, poll_bounded},
};
use commis_net::egress::limits::HostLimiter;
use commis_state::now_ms;

/// However far away the next run is, the table is looked at again after this time: clocks are set.
const LOOK: Duration = Duration::from_secs(60);
/// After trouble with the database.
const PAUSE: Duration = Duration::from_secs(10);

/// One of the places for scheduled runs, at its host.
struct Place(Arc<Daemon>, String);

impl Place {
    fn take(daemon: &Arc<Daemon>, host: String) -> Self {
        *daemon.watches.running().entry(host.clone()).or_default() += 1;
        Self(Arc::clone(daemon), host)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut running = self.0.watches.running();
        if let Some(n) = running.get_mut(&self.1) {
            *n -= 1;
            if *n == 0 {
                running.remove(&self.1);
            }
        }
        drop(running);
        self.0.watches.changed.notify_one();
    }
}

/// Which of the watches that are due may begin now: a pure count of places, and of the time until a host may be asked again.
struct Plan {
    /// Places that are free.
    free: u32,
    running: BTreeMap<String, u32>,
    /// Runs at once to one host.
    per_host: u32,
    /// Milliseconds until a host may be asked again, by host.
    waits: BTreeMap<String, i64>,
}

impl Plan {
    /// Whether a watch of that host begins; `None` where no place is left for any. `limit`: runs at once and milliseconds to wait, as the
    /// host's limits say.
    fn take(&mut self, host: &str, limit: impl FnOnce(&str) -> (Option<u32>, i64)) -> Option<bool> {
        if self.free == 0 {
            return None;
        }
        if self.waits.contains_key(host) {
            return Some(false);
        }
        let at_work = self.running.get(host).copied().unwrap_or(0);
        if at_work > 0 && at_work >= self.per_host {
            return Some(false);
        }
        let (most, wait) = limit(host);
        if wait > 0 {
            self.waits.insert(host.to_owned(), wait);
            return Some(false);
        }
        if most.is_some_and(|it| at_work >= it) {
            return Some(false);
        }
        *self.running.entry(host.to_owned()).or_default() += 1;
        self.free -= 1;
        Some(true)
    }
}

/// Runs watches when they are due, until the daemon ends.
pub async fn schedule(daemon: Arc<Daemon>) {
    loop {
        let pause = match begin(&daemon).await {
            Ok(it) => it,
            Err(err) => {
                tracing::error!(error = %err, "watches that are due cannot be read");
                PAUSE
            }
        };
        // What changed since is not lost: the permit stays.
        tokio::select! {
            () = daemon.stop.cancelled() => return,
            () = daemon.watches.changed.notified() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Begins what is due and has a place; how long to wait for the next. Fails with `ARTIFACT_IO`.
async fn begin(daemon: &Arc<Daemon>) -> Result<Duration> {
    if !daemon.watches.is_needed() {
        return Ok(LOOK);
    }
    let (now, runtime) = (now_ms(), daemon.runtime());
    let running = daemon.watches.running().clone();
    let at_once = runtime.settings.watch.at_once;
    let plan = Arc::new(Mutex::new(Plan {
        free: at_once.saturating_sub(running.values().sum()),
        running,
        per_host: runtime.settings.limits.runs_per_host,
        waits: BTreeMap::new(),
    }));
    let of = Arc::clone(&plan);
    let take = move |host: &str| {
        let limits: &HostLimiter = runtime.caller.limits();
        let mut plan = of.lock().unwrap_or_else(PoisonError::into_inner);
        plan.take(host, |host| {
            let wait = limits.wait_time(host).unwrap_or_default().as_millis() as i64;
            (limits.max_concurrent_runs(host), wait)
        })
    };
    let (due, next) = daemon.watches.store.due(now, take).await?;
    for (name, host) in due {
        let place = Place::take(daemon, host);
        let of = Arc::clone(daemon);
        daemon.worker_handle.spawn(async move {
            let _place = place;
            match execute(&of, &name).await {
                Ok(_) => {}
                Err(err) if err.code() == Code::TaskBusy => {}
                Err(err) => tracing::error!(watch = name, error = %err, "a watch was not run"),
            }
        });
    }
    let plan = plan.lock().unwrap_or_else(PoisonError::into_inner);
    let wait = plan.waits.values().copied().chain(next.map(|it| it - now)).min();
    Ok(wait.map_or(LOOK, |it| Duration::from_millis(it.max(1) as u64)).min(LOOK))
}

/// Runs a watch now, and writes down what came of it; its number in the history, where there is something to say. Fails with
/// `WATCH_NOT_FOUND`, `TASK_BUSY` while a run of it is at work, `ARTIFACT_IO`.
pub async fn execute(daemon: &Arc<Daemon>, name: &str) -> Result<Option<i64>> {
    let store = &daemon.watches.store;
    let began_ms = now_ms();
    let watch = store.get(name).await?;
    if !store.claim(name, began_ms).await? {
        let why = format!("a run of `{name}` is at work");
        return Err(Error::new(Code::TaskBusy, why).hint("see the result with `commis watch log`"));
    }
    let work = {
        let (daemon, watch) = (Arc::clone(daemon), watch.clone());
        tokio::spawn(async move {
            poll_bounded(OPERATION, Box::pin(run(&daemon, &watch, began_ms))).await
        })
    };
    let ended = match work.await {
        Ok(Ok(it)) => it,
        Ok(Err(err)) => RunEnd::Finished(Box::new(broken(&watch, &err))),
        Err(err) => {
            let err = Error::new(Code::Internal, "the run ended by itself").source(err);
            RunEnd::Finished(Box::new(broken(&watch, &err)))
        }
    };
    match ended {
        RunEnd::PutOff(next_ms) => store.put_off(name, next_ms).await.map(|()| None),
        RunEnd::Finished(it) => {
            let notifies = !it.notifications.is_empty();
            let (outcome, failed) = (it.outcome, it.failure.as_ref().map(|it| it.0));
            let id = store.finish(name, began_ms, now_ms(), *it).await?;
            if notifies {
                daemon.watches.to_send.notify_one();
            }
            // Whoever watches the daemon is told once of a change, and of a failure.
            if outcome == Outcome::Changed || failed.is_some() && watch.failures == 0 {
                let data = serde_json::json!({
                    "watch": name, "outcome": outcome, "error_code": failed.map(Code::as_str),
                });
                daemon.database.happened("watch", data).await?;
            }
            Ok(id)
        }
    }
}

fn broken(watch: &store::Watch, err: &Error) -> Finished {
    Finished {
        outcome: Outcome::Failed,
        failure: Some((err.code(), crate::answer::redact_text(&err.to_string()))),
        items: None,
        differences: Vec::new(),
        took_ms: 0,
        next_ms: next(&watch.watch, watch.every_ms, now_ms()),
        baseline: None,
        validators: None,
        notifications: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_host_keeps_no_place_from_the_others() {
        let mut plan = Plan {
            free: 4,
            running: [("slow.test".to_owned(), 2)].into(),
            per_host: 2,
            waits: BTreeMap::new(),
        };
        let free = |_: &str| (Some(2), 0);
        assert_eq!(plan.take("slow.test", free), Some(false));
        assert_eq!(plan.take("a.test", free), Some(true));
        assert_eq!(plan.take("a.test", free), Some(true));
        assert_eq!(plan.take("a.test", free), Some(false), "two at once to a host");
        // One that asks for a pause is not asked what it says again.
        assert_eq!(plan.take("b.test", |_| (Some(2), 700)), Some(false));
        assert_eq!(plan.take("b.test", |_| unreachable!()), Some(false));
        assert_eq!(plan.waits, [("b.test".to_owned(), 700)].into());
        assert_eq!(plan.take("c.test", |_| (Some(1), 0)), Some(true));
        assert_eq!(plan.take("c.test", |_| (Some(1), 0)), Some(false));
        assert_eq!(plan.take("d.test", |_| (None, 0)), Some(true));
        assert_eq!(plan.take("e.test", free), None, "no place is left");
    }
}
