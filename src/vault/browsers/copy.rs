//! A copy of a cookie file in a folder of its own, which goes with it: the browser may have the file open, and nothing is written
//! beside it.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read as _},
    os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use rustix::process::Pid;

use commis_base::{
    error::{Code, Error, Result},
    files,
};

/// Bytes of a cookie file, and of what was written to it last.
const MOST: u64 = 256 << 20;
const PREFIX: &str = "commis-cookies-";
/// How often a file that is being written to is copied again.
const TRIES: usize = 3;

pub struct CookieFileCopy(PathBuf);

impl CookieFileCopy {
    /// Fails with `USAGE` where it cannot be read, and with `ARTIFACT_IO`.
    pub fn new(file: &Path) -> Result<Self> {
        let out = Self::folder()?;
        let beside = |end: &str| {
            let mut name = file.as_os_str().to_owned();
            name.push(end);
            PathBuf::from(name)
        };
        let stamp = || {
            [file.to_owned(), beside("-wal")]
                .map(|it| fs::metadata(it).ok().map(|it| (it.len(), it.mtime(), it.mtime_nsec())))
        };
        for _ in 0..TRIES {
            let before = stamp();
            out.copy_file(file, "cookies.db")?;
            for end in ["-wal", "-journal"] {
                let (from, to) = (beside(end), format!("cookies.db{end}"));
                if from.is_file() {
                    out.copy_file(&from, &to)?;
                } else {
                    // Of an earlier try.
                    let _ = fs::remove_file(out.0.join(to));
                }
            }
            if stamp() == before {
                return Ok(out);
            }
        }
        Err(Error::new(
            Code::ArtifactIo,
            "the browser wrote the cookie file while commis copied it",
        )
        .hint("close the browser and try again"))
    }

    pub fn path(&self) -> PathBuf {
        self.0.join("cookies.db")
    }

    fn folder() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let base = std::env::temp_dir();
        sweep(&base);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("{PREFIX}{}-{n}", std::process::id()));
        // Fails on anything that exists, a link included.
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Self(path)),
            Err(err) => Err(io_error(&path, err)),
        }
    }

    fn copy_file(&self, from: &Path, name: &str) -> Result<()> {
        let from = files::open(from)?;
        let to = self.0.join(name);
        let write = || -> io::Result<u64> {
            let mut options = OpenOptions::new();
            let mut to: File =
                options.write(true).create(true).truncate(true).mode(0o600).open(&to)?;
            io::copy(&mut from.take(MOST + 1), &mut to)
        };
        match write() {
            Ok(long) if long <= MOST => Ok(()),
            Ok(_) => Err(Error::new(Code::Usage, "the cookie file is larger than 256 MiB")
                .hint("cookie files are smaller; check that this is the right file")),
            Err(err) => Err(io_error(&to, err)),
        }
    }
}

fn io_error(path: &Path, err: io::Error) -> Error {
    Error::new(Code::ArtifactIo, format!("cannot copy the cookie file to {}", path.display()))
        .hint("check the disk, and the folder for temporary files")
        .source(err)
}

impl Drop for CookieFileCopy {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Removes copies whose process was killed.
fn sweep(base: &Path) {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid =
            name.to_str().and_then(|it| it.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok());
        // Of the entry itself: a link is no folder.
        let (Some(pid), Ok(found)) = (pid.and_then(Pid::from_raw), entry.metadata()) else {
            continue;
        };
        let gone = rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
        if found.is_dir() && found.uid() == own && gone {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
