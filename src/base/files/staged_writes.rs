//! Files that are written one by one and get their names together, so that the disk is waited for twice and not twice a file.

use std::{
    fs::File,
    panic::resume_unwind,
    sync::atomic::{AtomicU32, Ordering},
    thread::{self, ScopedJoinHandle},
};

use rustix::fs::AtFlags;

use super::{ContentWriter, Dir, TEMP, io_error};
use crate::error::Result;

/// A file that is written and does not have its name yet. Whoever forgets it leaves a temporary file, which a sweep removes.
pub struct PreparedFile {
    name: String,
    temp: String,
    file: File,
}

impl PreparedFile {
    /// The name that it is to have.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The name that it has until then.
    pub fn temp(&self) -> &str {
        &self.temp
    }
}

impl Dir {
    /// Writes a file at 0600 under a temporary name. Fails with `ARTIFACT_IO`, also when a link or a special file has its place.
    pub fn prepare(&self, name: &str, content: ContentWriter<'_>) -> Result<PreparedFile> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        self.refuse_link(name)?;
        let temp =
            format!("{TEMP}{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        match self.write_temp(&temp, content) {
            Ok(file) => Ok(PreparedFile { name: name.to_owned(), temp, file }),
            Err(err) => {
                self.drop_temp(&temp);
                Err(err)
            }
        }
    }

    /// Gives files their names, in their order, each with its content on the disk before; the names are there, too, when this
    /// returns. Where it fails with `ARTIFACT_IO` some may have theirs.
    pub fn commit(&self, all: Vec<PreparedFile>) -> Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        let done =
            self.sync_files(&all).and_then(|()| all.iter().try_for_each(|it| self.give_name(it)));
        if done.is_err() {
            for it in &all {
                self.forget(it);
            }
        }
        done.and_then(|()| self.sync())
    }

    /// Removes a file that is not to have its name.
    pub fn forget(&self, it: &PreparedFile) {
        self.drop_temp(&it.temp);
    }

    /// Side by side: a file system with a journal writes it once for all of them.
    fn sync_files(&self, all: &[PreparedFile]) -> Result<()> {
        let [first, rest @ ..] = all else { return Ok(()) };
        let sync = |it: &PreparedFile| self.sync_file(&it.file, &it.temp);
        thread::scope(|scope| {
            let begun: Vec<_> = rest
                .iter()
                .map(|it| (it, thread::Builder::new().spawn_scoped(scope, move || sync(it))))
                .collect();
            // Where there are no more threads to be had, one after the other.
            let rest =
                begun.into_iter().map(|(it, thread)| match thread.map(ScopedJoinHandle::join) {
                    Ok(Ok(done)) => done,
                    Ok(Err(panic)) => resume_unwind(panic),
                    Err(_) => sync(it),
                });
            rest.fold(sync(first), Result::and)
        })
    }

    /// Without waiting for the disk.
    pub(super) fn give_name(&self, it: &PreparedFile) -> Result<()> {
        rustix::fs::renameat(&self.fd, &it.temp, &self.fd, &it.name).map_err(|err| {
            self.drop_temp(&it.temp);
            io_error("rename to", &self.display_path(&it.name), err)
        })
    }

    /// Best effort: the sweep of the next run removes it otherwise.
    fn drop_temp(&self, temp: &str) {
        let _ = rustix::fs::unlinkat(&self.fd, temp, AtFlags::empty());
    }
}
