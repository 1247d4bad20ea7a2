//! Until when this process may ask sites, where others take over what it does once it is not heard of.
//!
//! A process that was stopped, or cut off from the engine that gave it a task, does not know that it was taken over. So leave to
//! ask lasts until a moment that comes before the one at which it is taken for lost, and is renewed by whoever was heard. Past
//! that moment nothing is asked any more, whatever was under way; the clock is looked at before every request and connection.
//!
//! When one leave lapses, all that this process holds are lost: what was refused meanwhile may be missing in any of its
//! recordings. What stays possible: a request that had passed here when the process was stopped leaves when it wakes; so does
//! what was sent on a socket that is open already (WebSocket).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};

use commis_base::error::{Code, Error, Result};

/// Since the machine's start, with the time it slept; never set.
pub fn boot_clock() -> Duration {
    #[cfg(target_os = "linux")]
    let id = ClockId::Boottime;
    #[cfg(not(target_os = "linux"))]
    let id = ClockId::Monotonic;
    clock_gettime(id).try_into().unwrap_or_default()
}

/// What the tasks of this process have leave for. Without any there is nothing that could lapse.
#[derive(Clone, Default)]
pub struct TaskLeases(Arc<Mutex<LeaseTable>>);

#[derive(Default)]
struct LeaseTable {
    next: u64,
    until: BTreeMap<u64, Duration>,
    lost: BTreeSet<u64>,
}

impl LeaseTable {
    fn expire(&mut self, now: Duration) {
        if self.until.values().any(|it| *it <= now) {
            self.lost.extend(std::mem::take(&mut self.until).into_keys());
        }
    }
}

impl TaskLeases {
    /// For one task, until that moment on [`clock`]; `None` as long as another one is lost and not given back.
    pub fn take(&self, until: Duration) -> Option<TaskLease> {
        let mut held = self.lock_at(boot_clock());
        if !held.lost.is_empty() {
            return None;
        }
        let id = held.next;
        held.next += 1;
        held.until.insert(id, until);
        Some(TaskLease { leave: self.clone(), id })
    }

    /// Fails with [`Code::TaskBusy`] once one lapsed.
    pub fn check(&self) -> Result<()> {
        if self.lock_at(boot_clock()).lost.is_empty() {
            return Ok(());
        }
        Err(Error::new(
            Code::TaskBusy,
            "the lease of this process has expired; other workers have its tasks",
        )
        .hint(
            "this process stops sending requests and writing to the store; other workers do the tasks",
        ))
    }

    fn lock_at(&self, now: Duration) -> MutexGuard<'_, LeaseTable> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.expire(now);
        held
    }
}

/// One task's leave, given back when it is dropped.
pub struct TaskLease {
    leave: TaskLeases,
    id: u64,
}

impl TaskLease {
    /// Whoever gave it has heard of the task. False when it was lost before: that stays so.
    pub fn renew(&self, until: Duration) -> bool {
        let mut held = self.leave.lock_at(boot_clock());
        let Some(it) = held.until.get_mut(&self.id) else { return false };
        *it = until.max(*it);
        true
    }

    /// Whether it is not lost.
    pub fn is_valid(&self) -> bool {
        self.leave.lock_at(boot_clock()).until.contains_key(&self.id)
    }
}

impl Drop for TaskLease {
    fn drop(&mut self) {
        let mut held = self.leave.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.until.remove(&self.id);
        held.lost.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(3600);

    #[test]
    fn when_one_lapses_all_are_lost_until_they_are_given_back() {
        let leave = TaskLeases::default();
        leave.check().unwrap();
        let (one, two) =
            (leave.take(boot_clock() + LONG).unwrap(), leave.take(boot_clock() + LONG).unwrap());
        assert!(one.renew(boot_clock() + LONG) && one.is_valid());
        leave.check().unwrap();
        let three = leave.take(boot_clock()).unwrap();
        assert_eq!(leave.check().unwrap_err().code(), Code::TaskBusy);
        assert!(leave.take(boot_clock() + LONG).is_none());
        // To be heard of later does not help.
        for it in [&one, &two, &three] {
            assert!(!it.is_valid() && !it.renew(boot_clock() + LONG));
        }
        drop((one, three));
        assert!(leave.check().is_err());
        drop(two);
        leave.check().unwrap();
        assert!(leave.take(boot_clock() + LONG).is_some());
    }

    #[test]
    fn renewing_never_shortens() {
        let leave = TaskLeases::default();
        let it = leave.take(boot_clock() + LONG).unwrap();
        assert!(it.renew(Duration::ZERO) && it.is_valid());
    }
}
