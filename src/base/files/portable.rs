//! The same for systems without what [`files`](crate::files) on Unix rests on, as far as the library alone needs it: whole files or
//! none, a lock between processes. Folders are as private as the system makes those of a user; nothing is promised after a power cut.

#[path = "user_path.rs"]
mod user_path;

pub use user_path::{open, read_bounded, read_if_there};

use std::{
    fs::{self, File, TryLockError},
    io::{ErrorKind, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use crate::error::{Code, Error, Result};

const TEMP: &str = ".tmp-";
const LOCK: &str = ".lock";

/// A folder of ours.
pub struct Dir(PathBuf);

/// An advisory lock on a folder.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "held for its handle")] File);

impl Dir {
    /// `None` when it does not exist and `create` is false. Fails with [`Code::ArtifactIo`], also when a link stands in the way.
    pub fn open(path: &Path, create: bool) -> Result<Option<Self>> {
        if create {
            fs::create_dir_all(path).map_err(|err| trouble("create folder", path, err))?;
        }
        match fs::symlink_metadata(path) {
            Ok(it) if it.is_dir() => Ok(Some(Self(path.to_owned()))),
            Ok(_) => Err(in_the_way(path)),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(None),
            Err(err) => Err(trouble("open folder", path, err)),
        }
    }

    /// The whole file, or `None` when there is none. Refuses links, anything but a regular file, and more than `max` bytes.
    pub fn read(&self, name: &str, max: usize) -> Result<Option<Vec<u8>>> {
        let path = self.0.join(name);
        match fs::symlink_metadata(&path) {
            Ok(it) if it.is_file() => {}
            Ok(_) => return Err(in_the_way(&path)),
            Err(err) if err.kind() == ErrorKind::NotFound => return Ok(None),
            Err(err) => return Err(trouble("open", &path, err)),
        }
        let mut out = Vec::new();
        let file = File::open(&path).map_err(|err| trouble("open", &path, err))?;
        file.take(max as u64 + 1)
            .read_to_end(&mut out)
            .map_err(|err| trouble("read", &path, err))?;
        if out.len() > max {
            let message = format!("{} is larger than {max} bytes", path.display());
            return Err(Error::new(Code::ArtifactIo, message));
        }
        Ok(Some(out))
    }

    /// The same: here files are as private as the folder is.
    pub fn read_private(&self, name: &str, max: usize) -> Result<Option<Vec<u8>>> {
        self.read(name, max)
    }

    /// Writes the file unless one of that name is there; false when there is.
    pub fn create(&self, name: &str, bytes: &[u8]) -> Result<bool> {
        let path = self.0.join(name);
        match File::create_new(&path).and_then(|mut it| it.write_all(bytes)) {
            Ok(()) => Ok(true),
            Err(err) if err.kind() == ErrorKind::AlreadyExists => Ok(false),
            Err(err) => Err(trouble("create", &path, err)),
        }
    }

    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_unsynced(name, bytes)
    }

    /// No reader sees half a file.
    #[expect(clippy::disallowed_methods, reason = "the one place that renames here")]
    pub fn write_unsynced(&self, name: &str, bytes: &[u8]) -> Result<()> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let path = self.0.join(name);
        if fs::symlink_metadata(&path).is_ok_and(|it| !it.is_file()) {
            return Err(in_the_way(&path));
        }
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let temp = self.0.join(format!("{TEMP}{}-{n}", std::process::id()));
        let written = File::create_new(&temp)
            .and_then(|mut it| it.write_all(bytes).and_then(|()| it.sync_all()))
            .and_then(|()| fs::rename(&temp, &path));
        written.map_err(|err| {
            // What stays is swept by the next.
            let _ = fs::remove_file(&temp);
            trouble("write", &path, err)
        })
    }

    /// Removes a file; false when there was none.
    pub fn remove(&self, name: &str) -> Result<bool> {
        let path = self.0.join(name);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(err) if err.kind() == ErrorKind::NotFound => Ok(false),
            Err(err) => Err(trouble("remove", &path, err)),
        }
    }

    /// Names in the folder, sorted, those of ours left out.
    pub fn names(&self) -> Result<Vec<String>> {
        let mut out = self.all_names()?;
        out.retain(|it| !it.starts_with(TEMP) && it != LOCK);
        Ok(out)
    }

    /// Removes temporary files that a crash left. Only the holder of the folder's lock may call it.
    pub fn sweep(&self) -> Result<usize> {
        let mut n = 0;
        for name in self.all_names()?.iter().filter(|it| it.starts_with(TEMP)) {
            n += usize::from(self.remove(name)?);
        }
        Ok(n)
    }

    fn all_names(&self) -> Result<Vec<String>> {
        let entries = fs::read_dir(&self.0).map_err(|err| trouble("list", &self.0, err))?;
        let mut out = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|err| trouble("list", &self.0, err))?;
            out.extend(entry.file_name().into_string());
        }
        out.sort_unstable();
        Ok(out)
    }

    /// Takes the folder's lock until the returned value is dropped or the process ends; `None` when another process has it.
    pub fn try_lock(&self) -> Result<Option<Lock>> {
        let path = self.0.join(LOCK);
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(|err| trouble("open", &path, err))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(err)) => Err(trouble("lock", &path, err)),
        }
    }
}

/// Writes one file into a private folder that is made when absent.
pub fn write_atomic(dir: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    match Dir::open(dir, true)? {
        Some(it) => it.write(name, bytes),
        None => Err(in_the_way(dir)),
    }
}

/// Removes what crashes left in a folder that several processes write to, unless one is writing.
pub fn sweep_shared(dir: &Path) -> Result<()> {
    if let Some(dir) = Dir::open(dir, false)?
        && let Some(_lock) = dir.try_lock()?
    {
        dir.sweep()?;
    }
    Ok(())
}

fn in_the_way(path: &Path) -> Error {
    Error::new(Code::ArtifactIo, format!("{} is a link or a special file", path.display()))
        .hint("another user created it; check it and remove it")
}

fn trouble(verb: &str, path: &Path, err: std::io::Error) -> Error {
    Error::new(Code::ArtifactIo, format!("cannot {verb} {}", path.display()))
        .hint("check that the folder can be written to")
        .source(err)
}
