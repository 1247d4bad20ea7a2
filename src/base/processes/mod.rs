//! What the system says of processes: which are below one, what they hold, when one began. Linux tells it in `/proc`; elsewhere
//! `sysinfo` asks the system, which says less: nothing there tells whether a process is sandboxed.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
#[cfg_attr(
    target_os = "linux",
    expect(dead_code, reason = "compared with what /proc says, and otherwise for other systems")
)]
mod portable;

use rustix::process::Pid;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;

/// Whether the system tells if a process is sandboxed.
pub const TELLS_SANDBOX: bool = cfg!(target_os = "linux");

/// The processes below that one and itself, as long as they are its own: for whoever ends it later.
pub fn descendants(root: u32) -> Vec<Pid> {
    let raw = |it: u32| Pid::from_raw(i32::try_from(it).ok()?);
    system::family(root).into_iter().filter_map(raw).collect()
}

/// Whether the renderers below `browser` run under seccomp; `None` when there is none yet, or where nobody tells.
pub fn renderer_sandboxed(browser: u32) -> Option<bool> {
    system::renderer_sandboxed(browser)
}

/// Memory of all processes below that one together, MiB. On Linux what is their own, not shared with others and not a file's.
pub fn memory(root: u32) -> u32 {
    system::memory(root)
}

/// Whether it has ended and nobody has collected it, as where the first process of a container collects none.
pub fn has_ended(pid: Pid) -> bool {
    system::is_over(pid.as_raw_nonzero().get().unsigned_abs())
}

/// When a process began, in a unit of the system's; `None` when there is none, or it has ended and waits to be collected.
pub fn start_time(pid: u32) -> Option<u64> {
    system::started(pid)
}

/// Whether it is a process of the user that this one is of.
pub fn is_own(pid: u32) -> bool {
    system::is_own(pid)
}

/// Where this process' program is. On Linux that file itself, though another may have its name by now.
pub fn program() -> Option<std::path::PathBuf> {
    system::program()
}

/// Gives this thread, and the threads that it starts, less of a busy processor than the other threads of the process. It cannot be
/// taken back. Only Linux has priorities of threads; elsewhere, and where the system refuses, this does nothing.
pub fn lower_thread_priority() {
    system::lower_thread_priority();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_of_its_own_family_and_has_memory() {
        let own = std::process::id();
        let has =
            |pid: u32| descendants(own).iter().any(|it| it.as_raw_pid().cast_unsigned() == pid);
        assert!(has(own));
        assert!(!has(1));
        // Whole megabytes are counted, and this program has less of its own.
        let held = std::hint::black_box(vec![1_u8; 4 << 20]);
        assert!(memory(own) > 0);
        drop(held);
        assert!(is_own(own) && start_time(own).is_some() && program().is_some());
        // Above what the kernel hands out: nobody's.
        assert_eq!((memory(5_000_000), renderer_sandboxed(5_000_000)), (0, None));
        assert_eq!((start_time(5_000_000), is_own(5_000_000)), (None, false));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_and_those_that_it_starts_leave_the_processor_to_others() {
        let now = || rustix::process::getpriority_process(None).unwrap();
        let before = now();
        let lower = std::thread::spawn(move || {
            lower_thread_priority();
            let below = std::thread::spawn(move || {
                lower_thread_priority();
                now()
            });
            (now(), below.join().unwrap())
        });
        // The lowest that there is is 19.
        let wanted = (before + 5).min(19);
        assert_eq!(lower.join().unwrap(), (wanted, wanted));
        assert_eq!(now(), before);
    }

    #[test]
    fn other_systems_say_the_same_where_they_say_something() {
        use std::process::{Command, Stdio};
        #[expect(clippy::disallowed_methods, reason = "a child to look at")]
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let (own, below) = (std::process::id(), child.id());
        assert_eq!(portable::family(below), system::family(below));
        assert!(portable::family(own).contains(&below));
        assert!(portable::memory(own) >= memory(own), "files and shared memory count there");
        assert!(portable::started(below) >= portable::started(own));
        assert!(portable::started(own).is_some());
        assert!(portable::is_own(below) && portable::program().is_some());
        child.kill().unwrap();
        // It has ended, and nobody has collected it.
        while !has_ended(Pid::from_raw(below.cast_signed()).unwrap()) {
            std::thread::yield_now();
        }
        assert!(portable::is_over(below));
        assert_eq!((portable::started(below), start_time(below)), (None, None));
        child.wait().unwrap();
        assert_eq!((portable::started(5_000_000), portable::is_own(5_000_000)), (None, false));
        assert!(!portable::is_over(5_000_000));
    }
}
