//! Files written whole or not at all, never through a link.
//!
//! A folder is opened once without following links and everything happens relative to that handle, because `O_NOFOLLOW`
//! protects only the last component of a path. After a crash at any instruction a file is the old one or the new one.

use std::{
    fs::File,
    io::{BufWriter, Read as _, Write},
    os::fd::OwnedFd,
    path::Path,
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::{
    fs::{AtFlags, FlockOperation, Mode, OFlags},
    io::Errno,
};

use crate::error::{Code, Error, Result};

/// Prefix of files being written; whatever bears it when nobody writes is left over from a crash.
const TEMP: &str = ".tmp-";

/// Writes what a file is to hold.
type Content<'a> = &'a mut dyn FnMut(&mut dyn Write) -> std::io::Result<()>;

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
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, shown: path.display().to_string() })),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(trouble("open folder", &path.display().to_string(), err)),
        }
    }

    /// The whole file, or `None` when there is none. Refuses links, anything but a regular file, and more than `max` bytes.
    pub fn read(&self, name: &str, max: usize) -> Result<Option<Vec<u8>>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => fd,
            Err(Errno::NOENT) => return Ok(None),
            Err(err) => return Err(trouble("open", &self.shown(name), err)),
        };
        let file = File::from(fd);
        let io = |err: std::io::Error| {
            Error::new(Code::ArtifactIo, format!("read {}", self.shown(name))).source(err)
        };
        if !file.metadata().map_err(io)?.is_file() {
            return Err(Error::new(
                Code::ArtifactIo,
                format!("{} is not a regular file", self.shown(name)),
            ));
        }
        let mut out = Vec::new();
        file.take(max as u64 + 1).read_to_end(&mut out).map_err(io)?;
        if out.len() > max {
            return Err(Error::new(
                Code::ArtifactIo,
                format!("{} is larger than {max} bytes", self.shown(name)),
            ));
        }
        Ok(Some(out))
    }

    /// Writes the file at 0600: temporary file, fsync, rename, fsync of the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.replace(name, &mut |to| to.write_all(bytes), true)
    }

    /// [`write`](Self::write) of what is made while it is written.
    pub fn write_with(&self, name: &str, content: Content<'_>) -> Result<()> {
        self.replace(name, content, true)
    }

    /// [`write`](Self::write) without the fsyncs: no reader sees half a file, but a power cut may leave the old one or a
    /// damaged one. For what is cheap to lose.
    pub fn write_unsynced(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.replace(name, &mut |to| to.write_all(bytes), false)
    }

    fn replace(&self, name: &str, content: Content<'_>, durable: bool) -> Result<()> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        self.refuse_link(name)?;
        let temp =
            format!("{TEMP}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let done = self.write_temp(&temp, content, durable).and_then(|()| {
            rustix::fs::renameat(&self.fd, &temp, &self.fd, name)
                .map_err(|err| trouble("rename to", &self.shown(name), err))?;
            if durable {
                rustix::fs::fsync(&self.fd).map_err(|err| trouble("fsync", &self.shown, err))?;
            }
            Ok(())
        });
        if done.is_err() {
            // Best effort: the sweep of the next run removes it otherwise.
            let _ = rustix::fs::unlinkat(&self.fd, &temp, AtFlags::empty());
        }
        done
    }

    fn write_temp(&self, temp: &str, content: Content<'_>, durable: bool) -> Result<()> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, temp, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|err| trouble("create", &self.shown(temp), err))?;
        // An odd umask must not make it unreadable for ourselves, nor a lax one readable for others.
        rustix::fs::fchmod(&fd, Mode::RUSR | Mode::WUSR)
            .map_err(|err| trouble("chmod", &self.shown(temp), err))?;
        let mut to = BufWriter::with_capacity(1 << 16, File::from(fd));
        let done = content(&mut to).and_then(|()| to.flush());
        let file = to.get_ref();
        done.and_then(|()| if durable { file.sync_all() } else { Ok(()) }).map_err(|err| {
            Error::new(Code::ArtifactIo, format!("write {}", self.shown(temp))).source(err)
        })
    }

    fn refuse_link(&self, name: &str) -> Result<()> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() => Ok(()),
            Ok(_) => Err(Error::new(
                Code::ArtifactIo,
                format!("{} is a link or a special file", self.shown(name)),
            )
            .hint("someone put it there; look at it and remove it")),
            Err(Errno::NOENT) => Ok(()),
            Err(err) => Err(trouble("stat", &self.shown(name), err)),
        }
    }

    /// Appends one line and fsyncs. The file is made at 0600 when absent; a line that a crash cut short is closed first.
    pub fn append(&self, name: &str, line: &str) -> Result<()> {
        use std::io::{Seek as _, SeekFrom};
        let flags = OFlags::RDWR
            | OFlags::CREATE
            | OFlags::APPEND
            | OFlags::NOFOLLOW
            | OFlags::CLOEXEC
            | OFlags::NONBLOCK;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|err| trouble("open", &self.shown(name), err))?;
        let mut file = File::from(fd);
        let mut write = || -> std::io::Result<bool> {
            let made = file.metadata()?.len() == 0;
            let mut last = [b'\n'];
            if !made {
                file.seek(SeekFrom::End(-1))?;
                file.read_exact(&mut last)?;
            }
            let close = if last == *b"\n" { "" } else { "\n" };
            file.write_all(format!("{close}{line}\n").as_bytes())?;
            file.sync_data()?;
            Ok(made)
        };
        let made = write().map_err(|err| {
            Error::new(Code::ArtifactIo, format!("append {}", self.shown(name))).source(err)
        })?;
        if made {
            rustix::fs::fsync(&self.fd).map_err(|err| trouble("fsync", &self.shown, err))?;
        }
        Ok(())
    }

    /// Makes an empty file at 0600; false when there was one, which is then not looked into. Refuses links and special files.
    pub fn touch(&self, name: &str) -> Result<bool> {
        self.refuse_link(name)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(fd) => rustix::fs::fchmod(&fd, Mode::RUSR | Mode::WUSR)
                .map(|()| true)
                .map_err(|err| trouble("chmod", &self.shown(name), err)),
            Err(Errno::EXIST) => Ok(false),
            Err(err) => Err(trouble("create", &self.shown(name), err)),
        }
    }

    /// Gives a file another name in the same folder; whatever had that name is gone. Nothing happens when there is no file.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        match rustix::fs::renameat(&self.fd, from, &self.fd, to) {
            Ok(()) => rustix::fs::fsync(&self.fd).map_err(|err| trouble("fsync", &self.shown, err)),
            Err(Errno::NOENT) => Ok(()),
            Err(err) => Err(trouble("rename", &self.shown(from), err)),
        }
    }

    /// Size, time of the last change (seconds, nanoseconds) and inode; `None` when there is no such name. Links are not followed.
    pub fn stat(&self, name: &str) -> Result<Option<(u64, i64, u64, u64)>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(it) => Ok(Some((it.st_size as u64, it.st_mtime, it.st_mtime_nsec, it.st_ino))),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(trouble("stat", &self.shown(name), err)),
        }
    }

    /// Removes a file; false when there was none.
    pub fn remove(&self, name: &str) -> Result<bool> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) => {
                rustix::fs::fsync(&self.fd).map_err(|err| trouble("fsync", &self.shown, err))?;
                Ok(true)
            }
            Err(Errno::NOENT) => Ok(false),
            Err(err) => Err(trouble("remove", &self.shown(name), err)),
        }
    }

    /// Names in the folder, sorted, temporary files left out.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut out = self.all_names()?;
        out.retain(|it| !it.starts_with(TEMP));
        Ok(out)
    }

    /// Removes temporary files that a crash left. Only the holder of the folder's lock may call it.
    pub fn sweep(&self) -> Result<usize> {
        let stale: Vec<String> =
            self.all_names()?.into_iter().filter(|it| it.starts_with(TEMP)).collect();
        for name in &stale {
            self.remove(name)?;
        }
        Ok(stale.len())
    }

    fn all_names(&self) -> Result<Vec<String>> {
        let entries = rustix::fs::Dir::read_from(&self.fd)
            .map_err(|err| trouble("list", &self.shown, err))?;
        let mut out = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|err| trouble("list", &self.shown, err))?;
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

    /// Takes the folder's lock until the returned value is dropped or the process ends; `None` when another process has it.
    pub fn try_lock(&self) -> Result<Option<Lock>> {
        let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, ".", flags, Mode::empty())
            .map_err(|err| trouble("open folder", &self.shown, err))?;
        match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock(fd))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(err) => Err(trouble("lock", &self.shown, err)),
        }
    }

    fn shown(&self, name: &str) -> String {
        format!("{}/{name}", self.shown)
    }
}

/// An advisory lock on a folder.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held for its file descriptor")] OwnedFd);

/// Makes the folder and its missing parents at 0700, whatever the umask.
fn create_private(path: &Path) -> Result<()> {
    match rustix::fs::mkdir(path, Mode::RWXU) {
        Ok(()) => rustix::fs::chmod(path, Mode::RWXU)
            .map_err(|err| trouble("chmod", &path.display().to_string(), err)),
        Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            let parent =
                path.parent().filter(|it| !it.as_os_str().is_empty()).ok_or_else(|| {
                    trouble("create folder", &path.display().to_string(), Errno::NOENT)
                })?;
            create_private(parent)?;
            create_private(path)
        }
        Err(err) => Err(trouble("create folder", &path.display().to_string(), err)),
    }
}

fn trouble(verb: &str, what: &str, err: Errno) -> Error {
    let hint = match err {
        Errno::LOOP | Errno::NOTDIR => {
            "a link or a file stands where a folder or file of ours belongs"
        }
        Errno::NOSPC | Errno::DQUOT => "free some space, then run the same command with --resume",
        Errno::ACCESS | Errno::PERM | Errno::ROFS => {
            "check owner and permissions, or give another --home"
        }
        _ => "check the disk and the folder, then run the same command with --resume",
    };
    Error::new(Code::ArtifactIo, format!("cannot {verb} {what}"))
        .hint(hint)
        .source(std::io::Error::from(err))
}

/// Writes one file into a private folder that is made when absent.
pub fn write_atomic(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    open_made(dir)?.write(name, bytes)
}

/// [`write_atomic`] of what is made while it is written.
pub fn write_atomic_with(dir: &Path, name: &str, content: Content<'_>) -> Result<()> {
    open_made(dir)?.write_with(name, content)
}

/// Makes a folder at 0700, parents included.
pub fn ensure_private_dir(dir: &Path) -> Result<()> {
    open_made(dir).map(drop)
}

fn open_made(dir: &Path) -> Result<Dir> {
    Dir::open(dir, true)?.ok_or_else(|| {
        Error::new(Code::ArtifactIo, format!("{} vanished while it was made", dir.display()))
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

    #[test]
    fn one_holder_and_a_sweep() {
        let home = tempfile::tempdir().unwrap();
        let dir = Dir::open(home.path(), true).unwrap().unwrap();
        let lock = dir.try_lock().unwrap();
        assert!(lock.is_some());
        assert!(dir.try_lock().unwrap().is_none());
        drop(lock);
        dir.write_temp(".tmp-1-1", &mut |to| to.write_all(b"half"), true).unwrap();
        assert!(dir.names().unwrap().is_empty());
        assert_eq!(dir.sweep().unwrap(), 1);
        assert!(dir.try_lock().unwrap().is_some());
    }
}
