//! What the system says of the browser's processes. All of it is `None` or nothing where `/proc` does not tell.

use std::{collections::BTreeMap, fs};

use rustix::process::Pid;

/// The processes below that one and itself, each with its `/proc/PID/status`.
fn family(browser: u32) -> BTreeMap<u32, String> {
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
            if pid == browser {
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

/// The processes below that one and itself, as long as they are its own: for whoever ends it later.
pub fn below(root: u32) -> Vec<Pid> {
    let raw = |it: &u32| Pid::from_raw(i32::try_from(*it).ok()?);
    family(root).keys().filter_map(raw).collect()
}

/// Whether the renderers below `browser` run under seccomp; `None` when there is none yet.
pub fn renderer_sandboxed(browser: u32) -> Option<bool> {
    let mut found = None;
    for (pid, status) in family(browser) {
        let cmdline = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if String::from_utf8_lossy(&cmdline).contains("--type=renderer") {
            found = Some(found.unwrap_or(true) && field(&status, "Seccomp:") == Some(2));
        }
    }
    found
}

/// Memory that is the browser's own, not shared with others and not a file's, all its processes together: MiB.
pub fn memory(browser: u32) -> u32 {
    family(browser).values().filter_map(|it| field(it, "RssAnon:")).sum::<u32>() / 1024
}

/// Whether it has ended and nobody has collected it, as where the first process of a container collects none.
pub fn is_over(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", pid.as_raw_nonzero()));
    let state = status.ok().and_then(|it| {
        it.lines().find_map(|it| it.strip_prefix("State:")).map(|it| it.trim().to_owned())
    });
    state.is_some_and(|it| it.starts_with(['Z', 'X']))
}

/// A number of `/proc/PID/status`; of a memory, in KiB.
fn field(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find_map(|it| it.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_of_its_own_family_and_has_memory() {
        let own = std::process::id();
        assert!(family(own).contains_key(&own));
        assert!(!family(own).contains_key(&1));
        assert!(memory(own) > 0);
        // Above what the kernel hands out: nobody's.
        assert_eq!((memory(5_000_000), renderer_sandboxed(5_000_000)), (0, None));
    }
}
