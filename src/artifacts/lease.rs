//! Who works on a task: one process at a time, and none that stands still.
//!
//! `flock` on the task's folder decides, and dies with its holder. The file beside the artifacts only says who holds it and
//! since when; its modification time says when the holder was last heard of, on the clock that counts from the machine's start:
//! that one is never set, and does not run while the machine sleeps.
//!
//! A holder that was stopped keeps its lock. Its folder then changes places with a copy and is removed: whatever it does when
//! it wakes, it does in a folder that is gone. The folder itself is the fencing token, so there is no moment between a check
//! and a write. When in doubt (a damaged file, one of a process that has ended, a time to come) nothing is taken over.

use std::{
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::store::now;
use commis_base::{
    error::{Code, Error, Result},
    files::{Dir, Lock},
    ids::TaskId,
    processes,
};

pub const FILE: &str = "lease.json";
/// Much larger than any lease of ours.
const MAX_FILE: usize = 4096;
const BEAT: Duration = Duration::from_secs(5);
/// Twelve beats missed: no load of a machine that still gets work done is that high.
const STALE: Duration = Duration::from_secs(60);
/// Before a task's id: the folder that is to take the place of its folder, then the one whose place was taken. No task id
/// begins with a dot.
const TAKEN: &str = ".taken-";
/// Before a task's id: a folder that is being removed, whoever has it locked.
pub const GONE: &str = ".gone-";
/// How often the folder may be exchanged while it is being opened.
const TRIES: usize = 5;

/// A task's folder, held for work. Given back when it is dropped.
pub struct Lease {
    root: Dir,
    id: TaskId,
    dir: Arc<Dir>,
    _lock: Lock,
}

impl Lease {
    /// Opens (or makes) the task's folder in `root`. Fails with `TASK_BUSY`, saying by whom, or `ARTIFACT_IO`.
    pub fn take(root: Dir, id: &TaskId) -> Result<Self> {
        for _ in 0..TRIES {
            let dir = root.make_folder(id.as_str())?;
            let lock = dir.try_lock()?;
            // It may have been exchanged while it was opened.
            if !root.is_current(id.as_str(), &dir)? {
                continue;
            }
            if let Some(lock) = lock {
                return Self::begin(root, id, dir, lock);
            }
            let holder = Holder::read(&dir);
            if holder.as_ref().is_some_and(Holder::is_stale)
                && let Some((dir, lock)) = take_over(&root, id, &dir)?
            {
                return Self::begin(root, id, dir, lock);
            }
            return Err(busy_error(id, holder.as_ref()));
        }
        Err(busy_error(id, None))
    }

    fn begin(root: Dir, id: &TaskId, dir: Dir, lock: Lock) -> Result<Self> {
        dir.sweep()?;
        clear(&root, id)?;
        let record = Record::for_this_process();
        let bytes = serde_json::to_vec(&record).map_err(|err| {
            Error::new(Code::Internal, "cannot write the lease as JSON").source(err)
        })?;
        dir.write_unsynced(FILE, &bytes)?;
        dir.touch(FILE, monotonic_clock())?;
        let dir = Arc::new(dir);
        register_heartbeat(&dir)?;
        Ok(Self { root, id: id.clone(), dir, _lock: lock })
    }

    pub fn dir(&self) -> Arc<Dir> {
        Arc::clone(&self.dir)
    }

    /// Fails with `TASK_BUSY` when another process has taken the task over.
    pub fn check(&self) -> Result<()> {
        if self.root.is_current(self.id.as_str(), &self.dir)? {
            return Ok(());
        }
        Err(Error::new(
            Code::TaskBusy,
            format!("another process took over task {} while this one was stopped, or its folder was removed", self.id),
        )
        .hint("the work of this process since then is discarded; run the same command with --resume"))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Best effort: a lease of a process that has ended, or that no longer holds the lock, means nothing.
        let _ = self.dir.discard(FILE);
    }
}

/// Removes what crashes of takeovers left in the root of the store.
pub fn sweep(root: &Dir) -> Result<()> {
    for name in root.names()? {
        let id = name.strip_prefix(TAKEN).or_else(|| name.strip_prefix(GONE));
        if let Some(Ok(id)) = id.map(TaskId::parse) {
            clear(root, &id)?;
        }
    }
    Ok(())
}

/// Removes what a takeover of the task left; false while one is going on: then its folder is locked, and has no lease yet.
fn clear(root: &Dir, id: &TaskId) -> Result<bool> {
    let (taken, gone) = (format!("{TAKEN}{id}"), format!("{GONE}{id}"));
    if let Some(left) = root.folder(&gone)? {
        root.remove_folder(&gone, &left)?;
    }
    let Some(left) = root.folder(&taken)? else { return Ok(true) };
    let lock = left.try_lock()?;
    if lock.is_none() && left.modified_time(FILE)?.is_none() {
        return Ok(false);
    }
    // Half removed it would look like one that is being filled.
    if root.is_current(&taken, &left)? && root.rename(&taken, &gone)? {
        root.remove_folder(&gone, &left)?;
    }
    Ok(true)
}

/// Puts a copy of `old` in its place. `None` when another process is at it, or the holder was heard of after all.
fn take_over(root: &Dir, id: &TaskId, old: &Dir) -> Result<Option<(Dir, Lock)>> {
    if !clear(root, id)? {
        return Ok(None);
    }
    let taken = format!("{TAKEN}{id}");
    let new = root.make_folder(&taken)?;
    // Whoever holds the lock of the folder under this name is the one that takes over.
    let Some(lock) = new.try_lock()? else { return Ok(None) };
    let exchanged = copy(old, &new).and_then(|()| {
        let still = root.is_current(id.as_str(), old)?
            && root.is_current(&taken, &new)?
            && Holder::read(old).as_ref().is_some_and(Holder::is_stale);
        if still && !root.exchange(&taken, id.as_str())? {
            return Err(Error::new(
                Code::TaskBusy,
                format!("a stopped process has locked task {id}, and this file system cannot exchange folders"),
            )
            .hint("end that process and run the command again"));
        }
        Ok(still)
    });
    if matches!(exchanged, Ok(true)) {
        tracing::warn!(task_id = id.as_str(), "taken over from a stopped process");
        // What its holder writes between these lands nowhere. Best effort: the next that opens the task does it otherwise.
        let _ = clear(root, id);
        return Ok(Some((new, lock)));
    }
    if !root.is_current(&taken, &new)? {
        // Somebody took it for a leftover before it was locked.
        return Ok(None);
    }
    let _ = root.remove_folder(&taken, &new);
    exchanged.map(|_| None)
}

/// Everything finished, and nothing of the holder's own.
fn copy(old: &Dir, new: &Dir) -> Result<()> {
    for name in old.names()?.iter().filter(|it| *it != FILE) {
        old.copy(name, new)?;
    }
    Ok(())
}

fn busy_error(id: &TaskId, holder: Option<&Holder>) -> Error {
    let who = match holder {
        None => "another process".to_owned(),
        Some(Holder { record, silent: None }) => {
            format!("process {}, since {}", record.pid, record.since)
        }
        Some(Holder { record, silent: Some(silent) }) => format!(
            "process {}, since {}, last heard of {} s ago",
            record.pid,
            record.since,
            silent.as_secs()
        ),
    };
    Error::new(Code::TaskBusy, format!("task {id} is locked by {who}")).hint(format!(
        "wait for it, or end it; a process without a heartbeat for {} s loses the task",
        STALE.as_secs()
    ))
}

/// What the file holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    pid: u32,
    /// When the process began, in ticks since the machine did: a pid is given out again, the two together are not.
    started: u64,
    /// RFC 3339, for people.
    since: String,
}

impl Record {
    fn for_this_process() -> Self {
        let pid = std::process::id();
        Self { pid, started: processes::start_time(pid).unwrap_or(0), since: now() }
    }
}

/// The process that a lease names.
struct Holder {
    record: Record,
    /// `None` when the time is one to come.
    silent: Option<Duration>,
}

impl Holder {
    /// `None` when the lease is absent or damaged, or when its process has ended: then it is not that process that holds the
    /// lock now, but one that has not written its own lease yet.
    fn read(dir: &Dir) -> Option<Self> {
        let bytes = dir.read(FILE, MAX_FILE).ok()??;
        let record: Record = serde_json::from_slice(&bytes).ok()?;
        record.since.parse::<jiff::Timestamp>().ok()?;
        (processes::start_time(record.pid)? == record.started).then_some(())?;
        let heard = dir.modified_time(FILE).ok()?;
        Some(Self { record, silent: heard.and_then(|it| monotonic_clock().checked_sub(it)) })
    }

    fn is_stale(&self) -> bool {
        self.silent.is_some_and(|it| it >= STALE)
    }
}

/// Since the machine's start, without the time it slept. The same for all processes.
fn monotonic_clock() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.try_into().unwrap_or_default()
}

/// Folders whose leases this process keeps warm.
static HELD: Mutex<Heartbeats> = Mutex::new(Heartbeats { dirs: Vec::new(), beating: false });

struct Heartbeats {
    dirs: Vec<Weak<Dir>>,
    beating: bool,
}

/// Adds the folder to those of the one thread that touches leases; starts it if it is the first.
fn register_heartbeat(dir: &Arc<Dir>) -> Result<()> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    held.dirs.retain(|it| it.strong_count() > 0);
    held.dirs.push(Arc::downgrade(dir));
    if !held.beating {
        std::thread::Builder::new().name("lease".to_owned()).spawn(run_heartbeats).map_err(
            |err| {
                Error::new(Code::ArtifactIo, "cannot start the thread that keeps leases")
                    .hint("raise the limit on processes (`ulimit -u`)")
                    .source(err)
            },
        )?;
        held.beating = true;
    }
    Ok(())
}

fn run_heartbeats() {
    loop {
        std::thread::sleep(BEAT);
        let held: Vec<_> = {
            let held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
            held.dirs.iter().filter_map(Weak::upgrade).collect()
        };
        for dir in held {
            // Given back meanwhile, or taken over; a disk that fails will say so to the next writer.
            let _ = dir.touch(FILE, monotonic_clock());
        }
    }
}

#[cfg(test)]
#[path = "lease_tests.rs"]
mod tests;
