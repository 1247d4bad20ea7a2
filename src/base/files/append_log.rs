//! A file of lines that one process adds to: what is in it and whole is there after a crash, and what a crash cut short is cut off.

use std::{
    fs::File,
    io::{BufReader, Read as _, Seek as _, SeekFrom, Take, Write as _},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::{
    fs::FlockOperation,
    io::{Errno, retry_on_intr},
};

use super::{Dir, io_error, split_path};
use crate::error::{Code, Error, Result};

/// A power cut takes what was added since the disk was last waited for, which is no longer ago than this and one more line.
const SETTLED: Duration = Duration::from_secs(5);

/// Held until it is dropped or the process ends.
pub struct LineFile {
    file: File,
    path: PathBuf,
    len: u64,
    settled: Instant,
}

impl LineFile {
    /// Opens the file, or makes it at 0600. Fails with [`Code::Usage`] when there is no such folder, with [`Code::TaskBusy`] when another
    /// process adds to it, and with [`Code::ArtifactIo`], also for links and special files.
    pub fn open(path: &Path) -> Result<Self> {
        let (folder, name) = split_path(path);
        let dir = Dir::open(folder, false)?.ok_or_else(|| {
            Error::new(Code::Usage, format!("there is no folder {}", folder.display()))
        })?;
        let file = dir.open_to_append(&name)?;
        let lock = FlockOperation::NonBlockingLockExclusive;
        match retry_on_intr(|| rustix::fs::flock(&file, lock)) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let why = format!("another process writes to {}", path.display());
                return Err(
                    Error::new(Code::TaskBusy, why).hint("wait for it, or name another file")
                );
            }
            Err(err) => return Err(io_error("lock", &path.display().to_string(), err)),
        }
        let len = file.metadata().map_err(|err| file_error("read", path, err))?.len();
        Ok(Self { file, path: path.to_owned(), len, settled: Instant::now() })
    }

    /// Bytes in it.
    pub fn size(&self) -> u64 {
        self.len
    }

    /// From its beginning. What is added meanwhile is not of it.
    pub fn read(&self) -> Result<BufReader<Take<File>>> {
        let failed = |err| file_error("read", &self.path, err);
        let mut again = self.file.try_clone().map_err(failed)?;
        again.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok(BufReader::with_capacity(1 << 16, again.take(self.len)))
    }

    /// Leaves so many bytes of it.
    pub fn truncate(&mut self, len: u64) -> Result<()> {
        self.file.set_len(len).map_err(|err| file_error("cut", &self.path, err))?;
        self.len = len;
        Ok(())
    }

    /// Adds a line, whole or not at all.
    pub fn add(&mut self, line: &str) -> Result<()> {
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        if let Err(err) = self.file.write_all(&bytes) {
            // Whoever reads it next would cut it off otherwise.
            let _ = self.file.set_len(self.len);
            return Err(file_error("write to", &self.path, err));
        }
        self.len += bytes.len() as u64;
        if self.settled.elapsed() >= SETTLED {
            self.sync()?;
        }
        Ok(())
    }

    /// Waits for the disk.
    pub fn sync(&mut self) -> Result<()> {
        self.file.sync_data().map_err(|err| file_error("write to", &self.path, err))?;
        self.settled = Instant::now();
        Ok(())
    }

    /// Puts in its place what is made, whole or not at all, and goes on with that.
    pub fn replace(self, content: super::ContentWriter<'_>) -> Result<Self> {
        let (folder, name) = split_path(&self.path);
        super::write_atomic_with(folder, &name, content)?;
        // The old file is held until the new one is.
        Self::open(&self.path)
    }
}

fn file_error(verb: &str, path: &Path, err: std::io::Error) -> Error {
    io_error(verb, &path.display().to_string(), err)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(it: &LineFile) -> String {
        let mut out = String::new();
        it.read().unwrap().read_to_string(&mut out).unwrap();
        out
    }

    #[test]
    fn lines_are_added_cut_and_put_in_place_by_one_at_a_time() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("out.ndjson");
        let mut it = LineFile::open(&path).unwrap();
        it.add("one").unwrap();
        it.add("two").unwrap();
        assert_eq!((text(&it).as_str(), it.size()), ("one\ntwo\n", 8));
        assert_eq!(LineFile::open(&path).err().unwrap().code(), Code::TaskBusy);
        drop(it);
        let mut it = LineFile::open(&path).unwrap();
        it.truncate(6).unwrap();
        it.truncate(4).unwrap();
        it.add("three").unwrap();
        assert_eq!(text(&it), "one\nthree\n");
        let mut it = it.replace(&mut |to| to.write_all(b"new\n")).unwrap();
        it.add("more").unwrap();
        it.sync().unwrap();
        assert_eq!(text(&it), "new\nmore\n");
        assert_eq!(LineFile::open(&home.path().join("none/x")).err().unwrap().code(), Code::Usage);
    }
}
