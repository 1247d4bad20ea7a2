//! What `sysinfo` finds out, on systems without `/proc`.

use std::{collections::BTreeMap, path::PathBuf};

use sysinfo::{
    Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind,
};

/// Memory and owners of all processes, or of one.
fn look(at: Option<u32>) -> System {
    let pid = at.map(Pid::from_u32);
    let which = match &pid {
        Some(it) => ProcessesToUpdate::Some(std::slice::from_ref(it)),
        None => ProcessesToUpdate::All,
    };
    let what = ProcessRefreshKind::nothing().with_memory().with_user(UpdateKind::Always);
    let mut out = System::new();
    out.refresh_processes_specifics(which, true, what);
    out
}

fn of<T>(pid: u32, read: impl FnOnce(&Process) -> T) -> Option<T> {
    look(Some(pid)).process(Pid::from_u32(pid)).map(read)
}

fn is_ended(it: &Process) -> bool {
    matches!(it.status(), ProcessStatus::Zombie | ProcessStatus::Dead)
}

/// Those below that one and itself, threads aside, with the bytes that each holds.
fn with_memory(root: u32) -> BTreeMap<u32, u64> {
    let all = look(None);
    let ours = |it: &Process| {
        let mut pid = it.pid();
        for _ in 0..16 {
            if pid.as_u32() == root {
                return true;
            }
            let Some(it) = all.process(pid).and_then(Process::parent) else { return false };
            pid = it;
        }
        false
    };
    let processes = all.processes().values().filter(|it| it.thread_kind().is_none());
    processes.filter(|it| ours(it)).map(|it| (it.pid().as_u32(), it.memory())).collect()
}

pub fn family(root: u32) -> Vec<u32> {
    with_memory(root).into_keys().collect()
}

pub fn renderer_sandboxed(_browser: u32) -> Option<bool> {
    None
}

pub fn memory(root: u32) -> u32 {
    u32::try_from(with_memory(root).values().sum::<u64>() >> 20).unwrap_or(u32::MAX)
}

pub fn is_over(pid: u32) -> bool {
    of(pid, is_ended).unwrap_or(false)
}

/// Seconds since 1970.
pub fn started(pid: u32) -> Option<u64> {
    of(pid, |it| (!is_ended(it)).then(|| it.start_time()))?
}

pub fn is_own(pid: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    of(pid, |it| it.effective_user_id().is_some_and(|it| **it == own)).unwrap_or(false)
}

pub fn lower_thread_priority() {}

pub fn program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}
