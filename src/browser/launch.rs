//! Finds Chromium, starts it sandboxed and unprivileged, and cleans up after it. The only place that starts a process.

use std::{
    collections::VecDeque,
    fs,
    os::{
        fd::OwnedFd,
        unix::fs::{DirBuilderExt, MetadataExt, chown},
    },
    path::{Path, PathBuf},
    process::Stdio,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use command_fds::{CommandFdExt, FdMapping};
use rustix::{
    fs::{FlockOperation, Mode, OFlags},
    process::Pid,
};
use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::unix::pipe,
    process::{Child, ChildStderr, Command},
};

use super::{cdp::StderrTail, flags};
use commis_base::{
    error::{Code, Error, Result},
    processes,
    settings::Display,
};

/// For a killed process to be gone.
const KILL_TIMEOUT: Duration = Duration::from_secs(3);

/// A running Chromium and its profile folder. Dropping it kills the one and removes the other.
pub struct Process {
    child: Child,
    profile: Profile,
}

/// Our ends of the debugging pipe.
pub type PipeEnds = (pipe::Sender, pipe::Receiver);

impl Process {
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    pub fn profile(&self) -> &Path {
        &self.profile.path
    }

    /// Kills Chromium and removes the profile. Chromium has nothing to save: the profile is new for each start.
    pub async fn finish(mut self) {
        self.kill_group();
        // The kernel ends a killed process in its own time.
        let _ = tokio::time::timeout(KILL_TIMEOUT, self.child.wait()).await;
        // Helper processes may still be writing for a moment.
        for _ in 0..20 {
            if self.profile.remove() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        remove_left();
    }

    /// The whole group, so that no helper recreates files in the profile.
    fn kill_group(&self) {
        if let Some(pid) = self.child.id().and_then(|it| Pid::from_raw(i32::try_from(it).ok()?)) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

/// Starts Chromium, as an unprivileged user when we are root (it refuses to be sandboxed as root); with a window where a display
/// is given.
///
/// Fails with [`Code::BrowserFailed`].
pub fn spawn(
    exe: &Path,
    extra: &[String],
    display: Option<&Display>,
) -> Result<(Process, PipeEnds, StderrTail)> {
    let failed = |what: &str, err: std::io::Error| {
        Error::new(Code::BrowserFailed, format!("{what} {}", exe.display())).source(err)
    };
    if cfg!(target_os = "macos") && rustix::process::geteuid().is_root() {
        // There is no user there that a browser could be run as instead.
        return Err(Error::new(Code::BrowserFailed, "commis does not start a browser as root")
            .hint("run commis as an ordinary user"));
    }
    let user = unprivileged_user();
    let profile = Profile::create(user)?;
    let (command_read, command_write) = std::io::pipe().map_err(|it| failed("pipe for", it))?;
    let (event_read, event_write) = std::io::pipe().map_err(|it| failed("pipe for", it))?;

    let mut command = chromium(exe);
    command
        .args(flags::arguments(&profile.path, extra, display.is_some()))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .current_dir(&profile.path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "TMPDIR"] {
        command.env(name, &profile.path);
    }
    command.envs(display.into_iter().flat_map(Display::variables));
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    let mappings = vec![
        FdMapping { parent_fd: command_read.into(), child_fd: 3 },
        FdMapping { parent_fd: event_write.into(), child_fd: 4 },
    ];
    command
        .fd_mappings(mappings)
        .map_err(|it| failed("pipe for", std::io::Error::other(it.to_string())))?;
    let mut child = command.spawn().map_err(|it| failed("start", it))?;
    // Its ends of the pipe live in the command; a browser that dies must be seen as end of file.
    drop(command);

    let tail = StderrTail::default();
    if let Some(stderr) = child.stderr.take() {
        tokio::spawn(keep_tail(stderr, Arc::clone(&tail)));
    }
    let writer =
        pipe::Sender::from_owned_fd(command_write.into()).map_err(|it| failed("pipe for", it))?;
    let reader =
        pipe::Receiver::from_owned_fd(event_read.into()).map_err(|it| failed("pipe for", it))?;
    Ok((Process { child, profile }, (writer, reader), tail))
}

#[expect(clippy::disallowed_methods, reason = "the one process that commis starts")]
fn chromium(exe: &Path) -> Command {
    Command::new(exe)
}

/// User and group number of Chromium where no user `commis` exists. Neither systemd nor distributions assign 60578 to 61183.
const BROWSER_ID: u32 = 61_155;
const NOBODY: u32 = 65_534;

/// The user and group that a browser runs as if commis is root: `commis`, else an unused number, else `nobody`. Processes of one user
/// can read each other's memory, and other services run as `nobody`.
pub fn unprivileged_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let passwd = read("/etc/passwd");
    let own = ids_of(&passwd, "commis").or_else(|| {
        let is_free = !has_id(&passwd, BROWSER_ID) && !has_id(&read("/etc/group"), BROWSER_ID);
        let is_mapped = ["/proc/self/uid_map", "/proc/self/gid_map"]
            .iter()
            .all(|it| is_mapped_id(&read(it), BROWSER_ID));
        (is_free && is_mapped).then_some((BROWSER_ID, BROWSER_ID))
    });
    Some(own.unwrap_or((NOBODY, NOBODY)))
}

/// Whether a line of /etc/passwd or /etc/group has that number.
fn has_id(table: &str, id: u32) -> bool {
    table.lines().any(|it| it.split(':').nth(2).and_then(|it| it.parse().ok()) == Some(id))
}

/// Whether the user namespace maps that number. An empty map counts as yes.
fn is_mapped_id(map: &str, id: u32) -> bool {
    let mut ranges = map.lines().filter_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        let (first, count) = (numbers.next()?.ok()?, numbers.nth(1)?.ok()?);
        Some(id >= first && id - first < count)
    });
    map.trim().is_empty() || ranges.any(|it| it)
}

fn ids_of(passwd: &str, user: &str) -> Option<(u32, u32)> {
    passwd.lines().find_map(|line| {
        let mut fields = line.split(':');
        if fields.next() != Some(user) {
            return None;
        }
        let uid: u32 = fields.nth(1)?.parse().ok()?;
        let gid = fields.next()?.parse().ok()?;
        (uid != 0).then_some((uid, gid))
    })
}

/// How the folder of a process is called: its id, and a number.
const PROFILE: &str = "commis-browser-";

/// A fresh folder of mode 0700 that belongs to the browser's user; removed on drop. Whoever holds its lock is alive.
pub struct Profile {
    path: PathBuf,
    _lock: Option<OwnedFd>,
}

impl Profile {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Fails with [`Code::BrowserFailed`].
    pub fn create(user: Option<(u32, u32)>) -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::temp_dir();
        remove_left();
        sweep(&base, user.map(|it| it.0));
        for _ in 0..1000 {
            let n = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("{PROFILE}{}-{n}", std::process::id()));
            // Fails on anything that exists, a link included.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {
                    let lock = lock_folder(&path);
                    let profile = Self { path, _lock: lock };
                    if let Some((uid, gid)) = user {
                        chown(&profile.path, Some(uid), Some(gid))
                            .map_err(|it| profile_error(&profile.path, it))?;
                    }
                    return Ok(profile);
                }
                Err(err) if err.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(err) => return Err(profile_error(&path, err)),
            }
        }
        Err(Error::new(Code::BrowserFailed, format!("no free profile name in {}", base.display())))
    }

    /// Whether it is gone.
    fn remove(&self) -> bool {
        removed(&self.path)
    }
}

fn removed(path: &Path) -> bool {
    match fs::remove_dir_all(path) {
        Ok(()) => true,
        Err(err) => err.kind() == std::io::ErrorKind::NotFound,
    }
}

/// Profiles of this process in which something that was killed still wrote when they were to go.
static LEFT: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn remove_left() {
    LEFT.lock().unwrap_or_else(PoisonError::into_inner).retain(|it| !removed(it));
}

fn profile_error(profile: &Path, err: std::io::Error) -> Error {
    let message = format!("profile folder {}", profile.display());
    Error::new(Code::BrowserFailed, message).source(err)
}

/// The lock of a folder that is no link, if nobody has it. Ends with its process; Chromium does not inherit it.
fn lock_folder(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(folder)
}

/// Removes profiles whose process was killed: ours or our browser user's, of a process that is gone, and locked by nobody (ids
/// alone lie where process ids are reused or counted apart). What cannot be removed is left.
fn sweep(base: &Path, user: Option<u32>) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(pid) = name.to_str().and_then(owner) else {
            continue;
        };
        // Of the entry itself: a link is no folder.
        let Ok(found) = entry.metadata() else { continue };
        let ours = found.uid() == own || Some(found.uid()) == user;
        let gone = rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH)
            || processes::has_ended(pid);
        if !found.is_dir() || !ours || !gone {
            continue;
        }
        if let Some(_lock) = lock_folder(&entry.path()) {
            // Follows no link inside.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn owner(name: &str) -> Option<Pid> {
    let (pid, n) = name.strip_prefix(PROFILE)?.split_once('-')?;
    n.parse::<u32>().ok()?;
    Pid::from_raw(pid.parse().ok()?)
}

impl Drop for Profile {
    fn drop(&mut self) {
        // A killed browser's helpers may write for a moment longer.
        for _ in 0..10 {
            if self.remove() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        LEFT.lock().unwrap_or_else(PoisonError::into_inner).push(self.path.clone());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_group();
    }
}

async fn keep_tail(stderr: ChildStderr, tail: StderrTail) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(mut line)) = lines.next_line().await {
        // No D-Bus in containers: noise on every start.
        if line.contains("/dbus/") {
            continue;
        }
        line.retain(|it| !it.is_control());
        let mut tail = lock(&tail);
        if tail.len() == 20 {
            tail.pop_front();
        }
        tail.push_back(line.chars().take(400).collect());
    }
}

fn lock(tail: &Mutex<VecDeque<String>>) -> std::sync::MutexGuard<'_, VecDeque<String>> {
    tail.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwd_lines() {
        let passwd = "root:x:0:0::/:/bin/sh\ncommis:x:990:991::/:/bin/false\nzero:x:0:5::/:/\n";
        assert_eq!(ids_of(passwd, "commis"), Some((990, 991)));
        assert_eq!(ids_of(passwd, "zero"), None);
        assert_eq!(ids_of(passwd, "x"), None);
        assert!(has_id(passwd, 990) && !has_id(passwd, 991) && !has_id("", 990));
    }

    #[test]
    fn numbers_of_a_namespace() {
        let container = "         0     100000      65536\n";
        assert!(
            is_mapped_id(container, BROWSER_ID)
                && is_mapped_id("0 0 4294967295\n", BROWSER_ID)
                && is_mapped_id("", BROWSER_ID)
        );
        assert!(
            !is_mapped_id("0 1000 1\n", BROWSER_ID)
                && !is_mapped_id("0 1000 1\n1 100000 60000\n", BROWSER_ID)
        );
    }

    #[test]
    fn profiles_are_private_and_vanish() {
        use std::os::unix::fs::PermissionsExt;
        let profile = Profile::create(None).unwrap();
        let path = profile.path.clone();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
        drop(profile);
        assert!(!path.exists());
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a profile that a killed process still writes to"
    )]
    fn a_profile_that_could_not_be_removed_goes_with_the_next() {
        let profile = Profile::create(None).unwrap();
        let path = profile.path.clone();
        // Not even root removes a folder of that name, for it is a file's folder no more.
        let aside = path.with_extension("aside");
        fs::rename(&path, &aside).unwrap();
        fs::write(&path, "in the way").unwrap();
        drop(profile);
        fs::remove_file(&path).unwrap();
        fs::rename(&aside, &path).unwrap();
        drop(Profile::create(None).unwrap());
        assert!(!path.exists());
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "what a killed browser and a stranger leave behind"
    )]
    fn profiles_of_killed_processes_are_swept() {
        use std::os::unix::fs::symlink;
        let base = tempfile::tempdir().unwrap();
        let at = |name: &str| base.path().join(name);
        let kept = base.path().join("kept");
        fs::create_dir(&kept).unwrap();
        fs::write(kept.join("file"), "x").unwrap();
        // Above what the kernel hands out: nobody's.
        let gone = 5_000_000;
        let mine = std::process::id();
        for name in [
            &*format!("{PROFILE}{gone}-0"),
            &format!("{PROFILE}{mine}-7"),
            &format!("{PROFILE}{gone}-3"),
        ] {
            fs::create_dir(at(name)).unwrap();
        }
        let left = at(&format!("{PROFILE}{gone}-0"));
        fs::write(left.join("Cookies"), "secret").unwrap();
        symlink(&kept, left.join("inner")).unwrap();
        symlink(&kept, at(&format!("{PROFILE}{gone}-1"))).unwrap();
        fs::write(at(&format!("{PROFILE}{gone}-2")), "a file").unwrap();
        fs::create_dir(at(&format!("{PROFILE}{gone}-x"))).unwrap();
        let alive = lock_folder(&at(&format!("{PROFILE}{gone}-3"))).unwrap();
        sweep(base.path(), None);
        assert!(!left.exists());
        assert!(kept.join("file").exists());
        for name in [
            format!("{mine}-7"),
            format!("{gone}-1"),
            format!("{gone}-2"),
            format!("{gone}-x"),
            format!("{gone}-3"),
        ] {
            assert!(at(&format!("{PROFILE}{name}")).exists(), "{name}");
        }
        drop(alive);
        sweep(base.path(), None);
        assert!(!at(&format!("{PROFILE}{gone}-3")).exists());
        // One that has ended, and that nobody has collected.
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        let left = at(&format!("{PROFILE}{}-0", ended.id()));
        fs::create_dir(&left).unwrap();
        let pid = Pid::from_raw(ended.id().cast_signed()).unwrap();
        while std::path::Path::new("/proc").exists() && !processes::has_ended(pid) {
            std::thread::yield_now();
        }
        sweep(base.path(), None);
        assert!(!left.exists() || !std::path::Path::new("/proc").exists());
        ended.wait().unwrap();
    }
}
