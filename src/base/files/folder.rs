//! Folders within a folder: made, compared, exchanged and removed by handle.

use std::{io, time::Duration};

use rustix::{
    fs::{AtFlags, Mode, OFlags, RenameFlags, Timespec, Timestamps},
    io::Errno,
};

use super::{Dir, io_error};
use crate::error::Result;

impl Dir {
    /// The folder of that name in this one, made at 0700 when absent and set to 0700 when it is not. It is on disk with its
    /// name when this returns. Fails with `ARTIFACT_IO`, also when a link or a file stands in the way.
    pub fn make_folder(&self, name: &str) -> Result<Self> {
        let dir = loop {
            let made = match rustix::fs::mkdirat(&self.fd, name, Mode::RWXU) {
                Ok(()) => true,
                Err(Errno::EXIST) => false,
                Err(err) => return Err(io_error("create folder", &self.display_path(name), err)),
            };
            // Another process may have removed it since.
            let Some(dir) = self.folder(name)? else { continue };
            if made {
                // Itself before its name: without a journal, a name can outlive a power cut and lead to a file of before.
                dir.sync()?;
                self.sync()?;
            }
            break dir;
        };
        let stat = rustix::fs::fstat(&dir.fd).map_err(|err| io_error("stat", &dir.shown, err))?;
        if Mode::from_raw_mode(stat.st_mode) != Mode::RWXU {
            rustix::fs::fchmod(&dir.fd, Mode::RWXU)
                .map_err(|err| io_error("chmod", &dir.shown, err))?;
        }
        Ok(dir)
    }

    /// A new folder of that name at 0700, on disk with its name when this returns; `None` when something of that name is there.
    pub fn create_folder(&self, name: &str) -> Result<Option<Self>> {
        match rustix::fs::mkdirat(&self.fd, name, Mode::RWXU) {
            Err(Errno::EXIST) => return Ok(None),
            made => made.map_err(|err| io_error("create folder", &self.display_path(name), err))?,
        }
        self.sync()?;
        self.make_folder(name).map(Some)
    }

    /// The folder of that name; `None` when there is none.
    pub fn folder(&self, name: &str) -> Result<Option<Self>> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        match rustix::fs::openat(&self.fd, name, flags, Mode::empty()) {
            Ok(fd) => Ok(Some(Self { fd, shown: self.display_path(name) })),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(io_error("open folder", &self.display_path(name), err)),
        }
    }

    /// Whether `dir` is what stands under that name now; false when it was removed or something else took its place.
    pub fn is_current(&self, name: &str, dir: &Self) -> Result<bool> {
        let ours = rustix::fs::fstat(&dir.fd).map_err(|err| io_error("stat", &dir.shown, err))?;
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(it) => Ok((it.st_dev, it.st_ino) == (ours.st_dev, ours.st_ino)),
            Err(Errno::NOENT) => Ok(false),
            Err(err) => Err(io_error("stat", &self.display_path(name), err)),
        }
    }

    /// Lets two folders change places, at once and on disk; false when the file system cannot.
    pub fn exchange(&self, one: &str, other: &str) -> Result<bool> {
        match rustix::fs::renameat_with(&self.fd, one, &self.fd, other, RenameFlags::EXCHANGE) {
            Ok(()) => self.sync().map(|()| true),
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Ok(false),
            Err(err) => Err(io_error("exchange", &self.display_path(one), err)),
        }
    }

    /// Gives a folder another name, on disk; false when it is not there, or something is under that name.
    pub fn rename(&self, from: &str, to: &str) -> Result<bool> {
        match rustix::fs::renameat(&self.fd, from, &self.fd, to) {
            Ok(()) => self.sync().map(|()| true),
            Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
            Err(err) => Err(io_error("rename", &self.display_path(from), err)),
        }
    }

    /// Removes `dir` and the files in it. A folder that has taken its name since is left alone; so is `dir` when somebody goes
    /// on writing into it.
    pub fn remove_folder(&self, name: &str, dir: &Self) -> Result<()> {
        for file in dir.all_names()? {
            dir.discard(&file)?;
        }
        if self.is_current(name, dir)? {
            match rustix::fs::unlinkat(&self.fd, name, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => self.sync()?,
                Err(err) => return Err(io_error("remove folder", &self.display_path(name), err)),
            }
        }
        Ok(())
    }

    /// Copies a regular file into another folder, as durable as [`write`](Self::write); nothing when it is gone.
    pub fn copy(&self, name: &str, to: &Self) -> Result<()> {
        let Some(mut file) = self.open_file(name)? else { return Ok(()) };
        to.write_with(name, &mut |out| io::copy(&mut file, out).map(drop))
    }

    /// Sets a file's modification time, which may count from any beginning.
    pub fn touch(&self, name: &str, at: Duration) -> Result<()> {
        let at = Timespec::try_from(at)
            .map_err(|_| io_error("touch", &self.display_path(name), Errno::OVERFLOW))?;
        let times = Timestamps { last_access: at, last_modification: at };
        rustix::fs::utimensat(&self.fd, name, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|err| io_error("touch", &self.display_path(name), err))
    }

    /// What [`touch`](Self::touch) set; `None` when there is no such file, or its time is before the beginning.
    pub fn modified_time(&self, name: &str) -> Result<Option<Duration>> {
        match rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(it) => Ok(u64::try_from(it.st_mtime).ok().map(Duration::from_secs)),
            Err(Errno::NOENT) => Ok(None),
            Err(err) => Err(io_error("stat", &self.display_path(name), err)),
        }
    }
}
