//! Files written whole or not at all, never through a link.
//!
//! A folder is opened once without following links and everything happens relative to that handle, because `O_NOFOLLOW`
//! protects only the last component of a path. After a crash at any instruction a file is the old one or the new one.
//! Modes are exact because the process has a umask of 077 (`cli::main`): a later chmod would leave a moment before it.

mod append_log;
mod external_file;
mod folder;
mod staged_writes;
mod user_path;

pub use append_log::LineFile;
pub use external_file::{ForeignFile, read_foreign};
pub use staged_writes::PreparedFile;
pub use user_path::{open, read_bounded, read_if_exists, save, split_path};

use std::{
    fs::File,
    io::{self, BufWriter, Read as _, Write},
    os::fd::OwnedFd,
    path::Path,
    time::Duration,
};

use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags},
    io::{Errno, retry_on_intr},
};

use crate::error::{Code, Error, Result};

/// Prefix of files being written; whatever bears it when nobody writes is left over from a crash.
const TEMP: &str = ".tmp-";

/// How long a writer waits for a sweep of its folder.
const SWEEPS: u32 = 500;

/// Writes what a file is to hold.
type ContentWriter<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

/// A 0700 folder of ours, held open.
pub struct Dir {
    fd: OwnedFd,
    shown: String,
}

impl Dir {
    /// Opens a folder, making it (and its parents) when `create`. `None` when it does not exist and `create` is false.
    /// Fails with [`Code::ArtifactIo`], also when a link stands in the way.
    pub fn open(path: &Path, create: bool) -> Result<Option<Self>> {
        if create {
            create_private(path)?;
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        match retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty())) {
            Ok(fd) => Ok(Some(Self { fd, shown: path.display().to_string() })),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(io_error("open folder", &path.display().to_string(), err)),
        }
    }

    /// The whole file, or `None` when there is none. Refuses links, anything but a regular file, and more than `max` bytes.
    pub fn read(&self, name: &str, max: usize) -> Result<Option<Vec<u8>>> {
        let Some(file) = self.open_file(name)? else { return Ok(None) };
        let len = file.metadata().map_or(0, |it| it.len() as usize);
        let mut out = Vec::with_capacity(len.min(max));
        file.take(max as u64 + 1)
            .read_to_end(&mut out)
            .map_err(|err| io_error("read", &self.display_path(name), err))?;
        if out.len() > max {
            return Err(Error::new(
                Code::ArtifactIo,
                format!("{} is larger than {max} bytes", self.display_path(name)),
            ));
        }
        Ok(Some(out))
    }

    /// [`read`](Self::read) of a file that nobody else may have read or written: it is ours, and its mode is at most 0600. Fails with
    /// [`Code::ArtifactIo`].
    pub fn read_private(&self, name: &str, max: usize) -> Result<Option<Vec<u8>>> {
        let known = match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(it) => it,
            Err(Errno::NOENT) => return Ok(None),
            Err(err) => return Err(io_error("stat", &self.display_path(name), err)),
        };
        let refused = |why: &str| {
            Error::new(Code::ArtifactIo, format!("{} {why}", self.display_path(name)))
                .hint("another user may have read or changed it; create a new one")
        };
        if known.st_uid != rustix::process::geteuid().as_raw() {
            return Err(refused("belongs to somebody else"));
        }
        if known.st_mode as u32 & 0o077 != 0 {
            return Err(refused("can be read or written by others"));
        }
        self.read(name, max)
    }

    /// A regular file, opened for reading; `None` when there is none.
    fn open_file(&self, name: &str) -> Result<Option<File>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let file = match retry_on_intr(|| rustix::fs::openat(&self.fd, name, flags, Mode::empty()))
        {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT) => return Ok(None),
            // A socket cannot be opened at all.
            Err(Errno::NXIO) => return Err(self.obstructed_error(name)),
            Err(err) => return Err(io_error("open", &self.display_path(name), err)),
        };
        match file.metadata() {
            Ok(it) if it.is_file() => Ok(Some(file)),
            Ok(_) => Err(self.obstructed_error(name)),
            Err(err) => Err(io_error("read", &self.display_path(name), err)),
        }
    }

    fn obstructed_error(&self, name: &str) -> Error {
        Error::new(
            Code::ArtifactIo,
            format!("{} is a link or a special file", self.display_path(name)),
        )
        .hint("another user created it; check it and remove it")
    }

    /// Writes the file at 0600: temporary file, fsync, rename, fsync of the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_with(name, &mut |to| to.write_all(bytes))
    }

    /// [`write`](Self::write) of what is made while it is written.
    pub fn write_with(&self, name: &str, content: ContentWriter<'_>) -> Result<()> {
        self.commit(vec![self.prepare(name, content)?])
    }

    /// [`write`](Self::write) without the fsyncs: no reader sees half a file, but a power cut may leave the old one or a
    /// damaged one. For what is cheap to lose.
    pub fn write_unsynced(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.give_name(&self.prepare(name, &mut |to| to.write_all(bytes))?)
    }

    /// Writes the file at 0600 unless one of that name is there; false when there is, whoever made it a moment ago. Of any number
    /// of processes, on this machine or on others that share the folder, one is told true, and no reader sees half a file.
    /// Whoever sweeps the folder must be held off. Fails with [`Code::ArtifactIo`], also where a file system has no second names.
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<bool> {
        if self.stat(name)?.is_some() {
            return Ok(false);
        }
        // Other machines count processes, too.
        let temp = format!("{TEMP}{}", crate::ids::random_token()?);
        let made = self.write_temp(&temp, &mut |to| to.write_all(bytes)).and_then(|file| {
            self.sync_file(&file, &temp)?;
            match rustix::fs::linkat(&self.fd, &temp, &self.fd, name, AtFlags::empty()) {
                Ok(()) => Ok(true),
                Err(Errno::EXIST) => Ok(false),
                Err(err) => Err(io_error("create", &self.display_path(name), err)),
            }
        });
        let _ = rustix::fs::unlinkat(&self.fd, &temp, AtFlags::empty());
        // Also when it is another's: it is built upon, and must not be gone after a power cut.
        self.sync()?;
        made
    }

    fn write_temp(&self, temp: &str, content: ContentWriter<'_>) -> Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let fd = retry_on_intr(|| rustix::fs::openat(&self.fd, temp, flags, mode))
            .map_err(|err| io_error("create", &self.display_path(temp), err))?;
        let mut to = BufWriter::with_capacity(1 << 16, File::from(fd));
        content(&mut to)
            .and_then(|()| to.into_inner().map_err(io::IntoInnerError::into_error))
            .map_err(|err| io_error("write", &self.display_path(temp), err))
    }

    fn sync_file(&self, file: &File, name: &str) -> Result<()> {
        file.sync_all().map_err(|err| io_error("write", &self.display_path(name), err))
    }

    fn refuse_link(&self, name: &str) -> Result<()> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() => Ok(()),
            Ok(_) => Err(self.obstructed_error(name)),
            Err(Errno::NOENT) => Ok(()),
            Err(err) => Err(io_error("stat", &self.display_path(name), err)),
        }
    }

    /// Opens a file to be added to, made at 0600 when absent. Refuses links, second names and special files.
    pub fn open_to_append(&self, name: &str) -> Result<File> {
        use std::os::unix::fs::MetadataExt as _;
        let flags = OFlags::RDWR
            | OFlags::CREATE
            | OFlags::APPEND
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|err| io_error("open", &self.display_path(name), err))?;
        let file = File::from(fd);
        let there =
            file.metadata().map_err(|err| io_error("append to", &self.display_path(name), err))?;
        // Whoever writes in place writes under a second name, too, which may be somebody else's.
        if !there.is_file() || there.nlink() > 1 {
            return Err(self.obstructed_error(name));
        }
        Ok(file)
    }

    /// Appends one line and fsyncs; a line that a crash cut short is closed first.
    pub fn append(&self, name: &str, line: &str) -> Result<()> {
        use std::io::{Seek as _, SeekFrom};
        let mut file = self.open_to_append(name)?;
        let failed = |err| io_error("append to", &self.display_path(name), err);
        let made = file.metadata().map_err(failed)?.len() == 0;
        let mut write = || -> std::io::Result<()> {
            let mut last = [b'\n'];
            if !made {
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
            }
            let close = if last == *b"\n" { "" } else { "\n" };
            file.write_all(format!("{close}{line}\n").as_bytes())?;
            file.sync_data()
        };
        write().map_err(failed)?;
        if made {
            self.sync()?;
        }
        Ok(())
    }

    /// Makes an empty file at 0600; false when there was one, which is then not looked into. Refuses links and special files.
    pub fn make_file(&self, name: &str) -> Result<bool> {
        self.refuse_link(name)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => rustix::fs::fchmod(&fd, Mode::RUSR | Mode::WUSR)
                .map(|()| true)
                .map_err(|err| io_error("chmod", &self.display_path(name), err)),
            Err(Errno::EXIST) => Ok(false),
            Err(err) => Err(io_error("create", &self.display_path(name), err)),
        }
    }

    /// Size, time of the last change (seconds, nanoseconds) and inode; `None` when there is no such name. Links are not followed.
    pub fn stat(&self, name: &str) -> Result<Option<(u64, i64, u64, u64)>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            // Nanoseconds have a sign on some systems.
            Ok(it) => Ok(Some((it.st_size as u64, it.st_mtime, it.st_mtime_nsec as _, it.st_ino))),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(io_error("stat", &self.display_path(name), err)),
        }
    }

    /// Removes a file; false when there was none.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let was = self.discard(name)?;
        if was {
            self.sync()?;
        }
        Ok(was)
    }

    /// [`remove`](Self::remove) without the fsync: after a power cut the file may be there again.
    pub fn discard(&self, name: &str) -> Result<bool> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(err) => Err(io_error("remove", &self.display_path(name), err)),
        }
    }

    fn sync(&self) -> Result<()> {
        retry_on_intr(|| sync_folder(&self.fd)).map_err(|err| io_error("fsync", &self.shown, err))
    }

    /// Names in the folder, sorted, temporary files left out.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut out = self.all_names()?;
        out.retain(|it| !it.starts_with(TEMP));
        Ok(out)
    }

    /// Whether a crash left a temporary file, or one of that name.
    pub fn has_leftovers(&self, name: &str) -> Result<bool> {
        Ok(self.all_names()?.iter().any(|it| it == name || it.starts_with(TEMP)))
    }

    /// Removes temporary files that a crash left. Only the holder of the folder's lock may call it.
    pub fn sweep(&self) -> Result<usize> {
        let stale: Vec<String> =
            self.all_names()?.into_iter().filter(|it| it.starts_with(TEMP)).collect();
        for name in &stale {
            self.discard(name)?;
        }
        if !stale.is_empty() {
            self.sync()?;
        }
        Ok(stale.len())
    }

    fn all_names(&self) -> Result<Vec<String>> {
        let entries = rustix::fs::Dir::read_from(&self.fd)
            .map_err(|err| io_error("list", &self.shown, err))?;
        let mut out = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|err| io_error("list", &self.shown, err))?;
            if let Ok(name) = entry.file_name().to_str()
                && name != "."
                && name != ".."
            {
                out.push(name.to_owned());
            }
        }
        out.sort_unstable();
        Ok(out)
    }

    /// Takes the folder's lock until the returned value is dropped or the process ends; `None` when another process has it, or
    /// the folder was removed.
    pub fn try_lock(&self) -> Result<Option<Lock>> {
        self.flock(FlockOperation::NonBlockingLockExclusive)
    }

    fn flock(&self, how: FlockOperation) -> Result<Option<Lock>> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = match retry_on_intr(|| rustix::fs::openat(&self.fd, ".", flags, Mode::empty())) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(err) => return Err(io_error("open folder", &self.shown, err)),
        };
        match retry_on_intr(|| rustix::fs::flock(&fd, how)) {
            Ok(()) => Ok(Some(Lock(fd))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(err) => Err(io_error("lock", &self.shown, err)),
        }
    }

    /// While it is held nobody sweeps. A sweep takes milliseconds; after half a second its holder stands still, and then its
    /// sweep can cost a write an error, never a file.
    fn lock_sweeps(&self) -> Result<Option<Lock>> {
        for _ in 0..SWEEPS {
            if let Some(lock) = self.flock(FlockOperation::NonBlockingLockShared)? {
                return Ok(Some(lock));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(None)
    }

    pub fn path(&self) -> &Path {
        Path::new(&self.shown)
    }

    fn display_path(&self, name: &str) -> String {
        format!("{}/{name}", self.shown)
    }
}

/// An advisory lock on a folder.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held for its file descriptor")] OwnedFd);

/// Writes a folder to the disk. What others call so, macOS only hands to the drive.
fn sync_folder(folder: &OwnedFd) -> rustix::io::Result<()> {
    #[cfg(target_vendor = "apple")]
    return rustix::fs::fcntl_fullfsync(folder);
    #[cfg(not(target_vendor = "apple"))]
    rustix::fs::fsync(folder)
}

/// Makes the folder and its missing parents at 0700. Each is on disk with its name when this returns.
fn create_private(path: &Path) -> Result<()> {
    let shown = || path.display().to_string();
    let mut made = rustix::fs::mkdir(path, Mode::RWXU);
    if made == Err(Errno::NOENT) {
        let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
        create_private(parent.ok_or_else(|| io_error("create folder", &shown(), Errno::NOENT))?)?;
        made = rustix::fs::mkdir(path, Mode::RWXU);
    }
    match made {
        Ok(()) => {
            let parent = path.parent().filter(|it| !it.as_os_str().is_empty());
            let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
            // Itself before its name, as in `make_folder`.
            for it in [path, parent.unwrap_or(Path::new("."))] {
                match rustix::fs::open(it, flags, Mode::empty()) {
                    Ok(fd) => sync_folder(&fd)
                        .map_err(|err| io_error("fsync", &it.display().to_string(), err))?,
                    // A folder that we may write to and not read cannot be made durable.
                    Err(Errno::ACCESS) => {}
                    Err(err) => return Err(io_error("open", &it.display().to_string(), err)),
                }
            }
            Ok(())
        }
        Err(Errno::EXIST) => Ok(()),
        // The parent is a name now, and still no folder: a link that leads nowhere.
        Err(Errno::NOENT) => Err(io_error("create folder", &shown(), Errno::LOOP)),
        Err(err) => Err(io_error("create folder", &shown(), err)),
    }
}

fn io_error(verb: &str, what: &str, err: impl Into<std::io::Error>) -> Error {
    let err = err.into();
    let hint = match Errno::from_io_error(&err) {
        Some(Errno::LOOP | Errno::NOTDIR) => {
            "a link or a file is in the place of a folder or file of commis"
        }
        Some(Errno::NOSPC | Errno::DQUOT) => {
            "free some space, then run the same command with --resume"
        }
        Some(Errno::ACCESS | Errno::PERM | Errno::ROFS) => {
            "check owner and permissions, or give another --home"
        }
        Some(Errno::FBIG) => "raise the limit on the size of files (`ulimit -f`)",
        Some(Errno::MFILE | Errno::NFILE) => {
            "raise the limit on open files (`ulimit -n`), or give fewer --jobs"
        }
        _ => "check the disk and the folder, then run the same command with --resume",
    };
    Error::new(Code::ArtifactIo, format!("cannot {verb} {what}")).hint(hint).source(err)
}

/// Writes one file into a private folder that is made when absent and that other processes may write to as well.
pub fn write_atomic(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let dir = open_or_create(dir)?;
    let _held = dir.lock_sweeps()?;
    dir.write(name, bytes)
}

/// [`Dir::create`] in the folder `under` of a folder, both made when absent.
pub fn create_shared(dir: &Path, under: &str, name: &str, bytes: &[u8]) -> Result<bool> {
    let dir = open_or_create(dir)?.make_folder(under)?;
    let _held = dir.lock_sweeps()?;
    dir.create(name, bytes)
}

/// Removes what crashes left in a folder that several processes write to with [`write_atomic`], unless one is writing.
pub fn sweep_shared(dir: &Path) -> Result<()> {
    if let Some(dir) = Dir::open(dir, false)?
        && let Some(_lock) = dir.try_lock()?
    {
        dir.sweep()?;
    }
    Ok(())
}

/// [`write_atomic`] of what is made while it is written.
pub fn write_atomic_with(dir: &Path, name: &str, content: ContentWriter<'_>) -> Result<()> {
    open_or_create(dir)?.write_with(name, content)
}

/// Makes a folder at 0700, parents included.
pub fn ensure_private_dir(dir: &Path) -> Result<()> {
    open_or_create(dir).map(drop)
}

/// [`Dir::open`] of a folder that is made when absent.
pub fn open_or_create(dir: &Path) -> Result<Dir> {
    Dir::open(dir, true)?.ok_or_else(|| {
        Error::new(
            Code::ArtifactIo,
            format!("{} was removed while commis created it", dir.display()),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn read(dir: &Path, name: &str, max: usize) -> Result<Option<Vec<u8>>> {
        Dir::open(dir, false)?.unwrap().read(name, max)
    }

    #[test]
    fn modes_and_round_trip() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("a/b");
        write_atomic(&dir, "x.json", b"one").unwrap();
        write_atomic(&dir, "x.json", b"two").unwrap();
        assert_eq!(read(&dir, "x.json", 10).unwrap().unwrap(), b"two");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(&dir.join("x.json"))), (0o700, 0o600));
        assert_eq!(read(&dir, "x.json", 2).unwrap_err().code(), Code::ArtifactIo);
        assert_eq!(read(&dir, "y.json", 2).unwrap(), None);
        let open = Dir::open(&dir, false).unwrap().unwrap();
        assert!(open.remove("x.json").unwrap());
        assert!(!open.remove("x.json").unwrap());
    }

    #[test]
    fn one_of_many_creates_a_file() {
        let home = tempfile::tempdir().unwrap();
        let made: Vec<bool> = std::thread::scope(|all| {
            let one = |i: u8| {
                let root = home.path();
                all.spawn(move || create_shared(root, "task", "x.json", &[i; 4096]).unwrap())
            };
            let threads: Vec<_> = (0..16).map(one).collect();
            threads.into_iter().map(|it| it.join().unwrap()).collect()
        });
        assert_eq!(made.iter().filter(|it| **it).count(), 1);
        let winner = made.iter().position(|it| *it).unwrap() as u8;
        let dir = home.path().join("task");
        assert_eq!(read(&dir, "x.json", 9999).unwrap().unwrap(), [winner; 4096]);
        let open = Dir::open(&dir, false).unwrap().unwrap();
        assert_eq!(open.all_names().unwrap(), ["x.json"]);
        let mode = std::fs::metadata(dir.join("x.json")).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        // What stands in the way is not written through.
        symlink("elsewhere", dir.join("y.json")).unwrap();
        assert!(!open.create("y.json", b"evil").unwrap());
        assert!(std::fs::symlink_metadata(dir.join("elsewhere")).is_err());
    }

    #[test]
    fn links_are_refused() {
        let home = tempfile::tempdir().unwrap();
        let outside = home.path().join("outside");
        std::fs::create_dir(&outside).unwrap();
        #[expect(clippy::disallowed_methods, reason = "the test plants a foreign file")]
        std::fs::write(outside.join("precious"), "keep").unwrap();
        let dir = home.path().join("ours");
        ensure_private_dir(&dir).unwrap();
        symlink(outside.join("precious"), dir.join("x.json")).unwrap();
        assert_eq!(write_atomic(&dir, "x.json", b"evil").unwrap_err().code(), Code::ArtifactIo);
        assert_eq!(read(&dir, "x.json", 99).unwrap_err().code(), Code::ArtifactIo);
        symlink(&outside, home.path().join("linked")).unwrap();
        let err = write_atomic(&home.path().join("linked"), "precious", b"evil").unwrap_err();
        assert_eq!(err.code(), Code::ArtifactIo);
        assert_eq!(std::fs::read_to_string(outside.join("precious")).unwrap(), "keep");
    }

    /// Things that may stand where a file of ours belongs. What they lead to must stay as it is.
    fn plant(what: &str, at: &Path, precious: &Path) {
        match what {
            "link" => symlink(precious, at).unwrap(),
            "dangling link" => symlink("nowhere", at).unwrap(),
            "second name" => std::fs::hard_link(precious, at).unwrap(),
            "folder" => std::fs::create_dir(at).unwrap(),
            "pipe" => rustix::fs::mknodat(
                rustix::fs::CWD,
                at,
                rustix::fs::FileType::Fifo,
                Mode::RUSR | Mode::WUSR,
                0,
            )
            .unwrap(),
            _ => drop(std::os::unix::net::UnixListener::bind(at).unwrap()),
        }
    }

    #[test]
    fn whatever_stands_in_the_way_is_named_and_left_alone() {
        type Use = fn(&Dir) -> Result<()>;
        let uses: [(&str, Use); 4] = [
            ("read", |it| it.read("x", 99).map(drop)),
            ("write", |it| it.write("x", b"new")),
            ("write_unsynced", |it| it.write_unsynced("x", b"new")),
            ("append", |it| it.append("x", "new")),
        ];
        for what in ["link", "dangling link", "second name", "folder", "pipe", "socket"] {
            for (name, used) in uses {
                let home = tempfile::tempdir().unwrap();
                let precious = home.path().join("precious");
                let dir = open_or_create(&home.path().join("ours")).unwrap();
                write_atomic(home.path(), "precious", b"keep").unwrap();
                plant(what, &dir.path().join("x"), &precious);
                let end = used(&dir);
                // A second name is taken away from the other file, or read; only writing in place would reach it.
                if what == "second name" && name != "append" {
                    assert!(end.is_ok(), "{name} {what}");
                } else {
                    let err = end.unwrap_err();
                    assert_eq!(err.code(), Code::ArtifactIo, "{name} {what}: {err}");
                    assert!(err.hint_text().is_some(), "{name} {what}: {err}");
                }
                assert_eq!(std::fs::read(&precious).unwrap(), b"keep", "{name} {what}");
                assert_eq!(dir.names().unwrap(), ["x"], "{name} {what}");
            }
        }
    }

    #[test]
    fn a_shared_folder_is_swept_when_nobody_writes() {
        let home = tempfile::tempdir().unwrap();
        let dir = open_or_create(home.path()).unwrap();
        dir.write_temp(".tmp-1-1", &mut |to| to.write_all(b"half")).unwrap();
        let writing = dir.lock_sweeps().unwrap();
        write_atomic(home.path(), "other", b"two write at once").unwrap();
        sweep_shared(home.path()).unwrap();
        assert!(dir.all_names().unwrap().contains(&".tmp-1-1".to_owned()));
        drop(writing);
        sweep_shared(home.path()).unwrap();
        assert_eq!(dir.all_names().unwrap(), ["other"]);
        sweep_shared(&home.path().join("none")).unwrap();
    }

    #[test]
    fn one_holder_and_a_sweep() {
        let home = tempfile::tempdir().unwrap();
        let dir = Dir::open(home.path(), true).unwrap().unwrap();
        let lock = dir.try_lock().unwrap();
        assert!(lock.is_some());
        assert!(dir.try_lock().unwrap().is_none());
        drop(lock);
        dir.write_temp(".tmp-1-1", &mut |to| to.write_all(b"half")).unwrap();
        assert!(dir.names().unwrap().is_empty());
        assert_eq!(dir.sweep().unwrap(), 1);
        assert!(dir.try_lock().unwrap().is_some());
    }
}
