//! What `/proc` says (proc(5)).

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// The processes below that one and itself, each with its `/proc/PID/status`.
fn with_status(root: u32) -> BTreeMap<u32, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse::<u32>().ok()) {
            let status = fs::read_to_string(entry.path().join("status")).unwrap_or_default();
            all.insert(pid, status);
        }
    }
    let parent = |pid: u32| all.get(&pid).and_then(|it| field(it, "PPid:"));
    let ours = |mut pid: u32| {
        for _ in 0..16 {
            if pid == root {
                return true;
            }
            let Some(it) = parent(pid) else { return false };
            pid = it;
        }
        false
    };
    let pids: Vec<u32> = all.keys().copied().filter(|it| ours(*it)).collect();
    pids.into_iter().filter_map(|it| all.remove_entry(&it)).collect()
}

pub fn family(root: u32) -> Vec<u32> {
    with_status(root).into_keys().collect()
}

pub fn renderer_sandboxed(browser: u32) -> Option<bool> {
    let mut found = None;
    for (pid, status) in with_status(browser) {
        let cmdline = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&cmdline).contains("--type=renderer") {
            found = Some(found.unwrap_or(true) && field(&status, "Seccomp:") == Some(2));
        }
    }
    found
}

pub fn memory(root: u32) -> u32 {
    with_status(root).values().filter_map(|it| field(it, "RssAnon:")).sum::<u32>() / 1024
}

pub fn is_over(pid: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status"));
    let state = status.ok().and_then(|it| {
        it.lines().find_map(|it| it.strip_prefix("State:")).map(|it| it.trim().to_owned())
    });
    state.is_some_and(|it| it.starts_with(['Z', 'X']))
}

/// Field 22 of `/proc/PID/stat`, clock ticks since the machine's start.
pub fn started(pid: u32) -> Option<u64> {
    let mut text = String::new();
    fs::File::open(format!("/proc/{pid}/stat")).ok()?.read_to_string(&mut text).ok()?;
    // The second is a name in parentheses that may hold anything.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18)?.parse().ok()
}

pub fn is_own(pid: u32) -> bool {
    let uid = fs::metadata(Path::new("/proc").join(pid.to_string())).map(|it| it.uid());
    uid.is_ok_and(|it| it == rustix::process::geteuid().as_raw())
}

/// To what a thread is nice that computes: others on the same processor get three times as much of it.
const LOWER: i32 = 5;

/// The calls name a process. On Linux they act on a thread.
pub fn lower_thread_priority() {
    use rustix::process::{getpriority_process, setpriority_process};
    // Of the first thread that asks. Those that lowered threads start have it already.
    static LOWERED: LazyLock<Option<i32>> =
        LazyLock::new(|| getpriority_process(None).ok().map(|it| it + LOWER));
    if let Some(it) = *LOWERED {
        let _ = setpriority_process(None, it);
    }
}

#[expect(clippy::unnecessary_wraps, reason = "other systems may not know")]
pub fn program() -> Option<PathBuf> {
    Some(PathBuf::from("/proc/self/exe"))
}

/// A number of `/proc/PID/status`; of a memory, in KiB.
fn field(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find_map(|it| it.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
