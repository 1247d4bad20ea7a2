//! What `/proc` says (proc(5)).

use std::{
    collections::BTreeMap,
    fs,
    io::Read as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// The processes below that one and itself.
pub fn family(root: u32) -> Vec<u32> {
    let mut parents = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if let Some(pid) = entry.file_name().to_str().and_then(|it| it.parse::<u32>().ok()) {
            // One line, in one call; `status` takes eight, for each process of the machine.
            let parent = stat(pid).and_then(|it| fields(&it)?.nth(1)?.parse::<u32>().ok());
            parents.insert(pid, parent);
        }
    }
    let ours = |mut pid: u32| {
        for _ in 0..16 {
            if pid == root {
                return true;
            }
            let Some(it) = parents.get(&pid).copied().flatten() else { return false };
            pid = it;
        }
        false
    };
    parents.keys().copied().filter(|it| ours(*it)).collect()
}

/// The processes below that one and itself, each with its `/proc/PID/status`.
fn with_status(root: u32) -> impl Iterator<Item = (u32, String)> {
    let status = |pid: u32| fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    family(root).into_iter().map(move |pid| (pid, status(pid)))
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
    with_status(root).filter_map(|(_, it)| field(&it, "RssAnon:")).sum::<u32>() / 1024
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
    let text = stat(pid)?;
    let mut fields = fields(&text)?;
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

/// `/proc/PID/stat`, in one call.
fn stat(pid: u32) -> Option<String> {
    let mut text = String::with_capacity(1024);
    fs::File::open(format!("/proc/{pid}/stat")).ok()?.read_to_string(&mut text).ok()?;
    Some(text)
}

/// The fields of that from the third on, the state. The second is a name in parentheses that may hold anything.
fn fields(stat: &str) -> Option<std::str::SplitWhitespace<'_>> {
    Some(stat.rsplit_once(')')?.1.split_whitespace())
}

/// A number of `/proc/PID/status`; of a memory, in KiB.
fn field(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find_map(|it| it.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
