//! A file of another program's in the user's folders: read, and replaced whole, where it really is.
//!
//! People link such files to where they keep them, so links are followed here, unlike anywhere else, to a regular file of the
//! user's own. Absent on purpose: writing in place, and a copy of the old file, which an atomic write does not need. What a
//! file system keeps of a file beside its owner, group and mode (ACLs, attributes) is not carried over.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Gid, Mode, OFlags, RenameFlags},
    io::{Errno, retry_on_intr},
};

use super::{Dir, open_or_create};
use crate::error::{Code, Error, Result};

/// A file of another program's, as it was read.
pub struct ForeignFile {
    /// Where it is, or would be, when all links are followed.
    pub real: PathBuf,
    /// What it held; `None`: there is none.
    pub bytes: Option<Vec<u8>>,
    /// Whether a link leads to it.
    pub linked: bool,
    was: Option<FileStamp>,
}

/// Who changes a file between being read and being replaced is noticed by these.
#[derive(PartialEq, Eq)]
struct FileStamp {
    inode: (u64, u64),
    size: u64,
    changed: (i64, i64),
    mode: u32,
    group: u32,
}

impl FileStamp {
    fn from_metadata(it: &std::fs::Metadata) -> Self {
        Self {
            inode: (it.dev(), it.ino()),
            size: it.size(),
            changed: (it.mtime(), it.mtime_nsec()),
            mode: it.mode() & 0o777,
            group: it.gid(),
        }
    }
}

fn io_error(verb: &str, what: &str, err: impl Into<std::io::Error>) -> Error {
    super::io_error(verb, what, err).hint("check the path, its permissions and the disk")
}

fn refusal_error(path: &Path, why: &str, hint: &str) -> Error {
    Error::new(Code::ArtifactIo, format!("{} {why}", path.display())).hint(hint).lasting(true)
}

/// The file that `path` leads to, of at most `max` bytes, or the place where it would be. With `within` it must lie in that
/// folder when all links are followed. Fails with [`Code::ArtifactIo`] for a link that leads nowhere, and what is no regular
/// file, somebody else's, read-only, too large, or known by a second name, which a write would part from it.
pub fn read_foreign(path: &Path, max: u64, within: Option<&Path>) -> Result<ForeignFile> {
    let shown = path.display().to_string();
    let found = |it: &Path| it.canonicalize().map_err(|err| io_error("find", &shown, err));
    let real = resolve_path(path)?;
    if let Some(root) = within
        && !real.starts_with(found(root)?)
    {
        let why = format!("leads out of the project, to {}", real.display());
        return Err(refusal_error(path, &why, "find out who made that link, and remove it"));
    }
    let linked = path.is_symlink();
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let special = || refusal_error(path, "is not a regular file", "check what is there");
    let mut file = match retry_on_intr(|| rustix::fs::open(&real, flags, Mode::empty())) {
        Ok(fd) => File::from(fd),
        Err(Errno::NOENT) => return Ok(ForeignFile { real, bytes: None, linked, was: None }),
        // A socket cannot be opened at all.
        Err(Errno::NXIO) => return Err(special()),
        Err(err) => return Err(io_error("open", &shown, err)),
    };
    let meta = file.metadata().map_err(|err| io_error("read", &shown, err))?;
    let by_hand = "change it by hand; --print shows what would be written";
    if !meta.is_file() {
        return Err(special());
    }
    if meta.uid() != rustix::process::geteuid().as_raw() {
        return Err(refusal_error(path, "belongs to somebody else", "run this as its owner"));
    }
    if meta.size() > max {
        return Err(refusal_error(path, &format!("is larger than {max} bytes"), by_hand));
    }
    let mut bytes = Vec::new();
    (&mut file)
        .take(max + 1)
        .read_to_end(&mut bytes)
        .map_err(|err| io_error("read", &shown, err))?;
    Ok(ForeignFile { real, bytes: Some(bytes), linked, was: Some(FileStamp::from_metadata(&meta)) })
}

/// Where `path` leads: as much of it as there is, links followed, and the rest as it is written.
fn resolve_path(path: &Path) -> Result<PathBuf> {
    let mut there = path;
    let mut missing = Vec::new();
    loop {
        match there.canonicalize() {
            Ok(mut it) => {
                it.extend(missing.iter().rev());
                return Ok(it);
            }
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => {
                if there.is_symlink() {
                    let hint = "make what it leads to, or remove the link";
                    return Err(refusal_error(there, "is a link that leads nowhere", hint));
                }
                let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else {
                    return Err(io_error("find", &path.display().to_string(), err));
                };
                missing.push(name.to_owned());
                there = parent;
            }
            Err(err) => return Err(io_error("find", &path.display().to_string(), err)),
        }
    }
}

impl ForeignFile {
    /// Writes `bytes` in its place, or removes the file for `None`: atomically, at the mode it had, 0600 when it is new, in
    /// folders that are made at 0700. False when somebody else changed, made or removed it since it was read: look again.
    /// Fails with [`Code::ArtifactIo`].
    pub fn replace(&self, bytes: Option<&[u8]>) -> Result<bool> {
        let shown = self.real.display().to_string();
        if let Some(was) = &self.was {
            let by_hand = "change it by hand; --print shows what would be written";
            if was.mode & 0o200 == 0 {
                return Err(refusal_error(&self.real, "is read-only", "make it writable first"));
            }
            let meta = std::fs::symlink_metadata(&self.real);
            if meta.is_ok_and(|it| it.nlink() > 1) {
                let why = "has a second name, which would keep the old text";
                return Err(refusal_error(&self.real, why, by_hand));
            }
        }
        // Whoever runs this as root in somebody's home leaves no files there that are root's.
        let me = rustix::process::geteuid();
        let there = self.real.ancestors().skip(1).find_map(|it| std::fs::metadata(it).ok());
        if self.was.is_none() && me.is_root() && there.is_some_and(|it| it.uid() != 0) {
            let why = "would be root's in a folder of somebody else";
            return Err(refusal_error(&self.real, why, "run this as the folder's owner"));
        }
        let (Some(folder), Some(name)) = (self.real.parent(), self.real.file_name()) else {
            return Err(refusal_error(&self.real, "is no file", "check what is there"));
        };
        let folder = open_or_create(folder)?;
        let Some(bytes) = bytes else {
            if !self.is_unchanged()? {
                return Ok(false);
            }
            rustix::fs::unlinkat(&folder.fd, name, AtFlags::empty())
                .map_err(|err| io_error("remove", &shown, err))?;
            return folder.sync().map(|()| true);
        };
        let temp = format!(".commis-{}.tmp", std::process::id());
        let done = self.write_temp(&folder, &temp, bytes).and_then(|()| {
            if !self.is_unchanged()? {
                return Ok(false);
            }
            // What is new must not take the place of what came meanwhile.
            let how =
                if self.was.is_none() { RenameFlags::NOREPLACE } else { RenameFlags::empty() };
            match rustix::fs::renameat_with(&folder.fd, temp.as_str(), &folder.fd, name, how) {
                Ok(()) => folder.sync().map(|()| true),
                Err(Errno::EXIST) => Ok(false),
                Err(err) => Err(io_error("rename to", &shown, err)),
            }
        });
        if !matches!(done, Ok(true)) {
            let _ = rustix::fs::unlinkat(&folder.fd, temp.as_str(), AtFlags::empty());
        }
        done
    }

    fn write_temp(&self, folder: &Dir, temp: &str, bytes: &[u8]) -> Result<()> {
        let failed = |err: std::io::Error| io_error("write", &folder.display_path(temp), err);
        // A crash of a process that had this number left it.
        let _ = rustix::fs::unlinkat(&folder.fd, temp, AtFlags::empty());
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&folder.fd, temp, flags, Mode::RUSR | Mode::WUSR)
            .map_err(|err| io_error("create", &folder.display_path(temp), err))?;
        let mut file = File::from(fd);
        file.write_all(bytes).map_err(failed)?;
        if let Some(was) = &self.was {
            // A group that the user is not in stays behind.
            let mut mode = was.mode;
            if rustix::fs::fchown(&file, None, Some(Gid::from_raw(was.group))).is_err() {
                mode &= 0o707;
            }
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode as rustix::fs::RawMode))
                .map_err(|err| failed(err.into()))?;
        }
        file.sync_all().map_err(failed)
    }

    /// Whether it is as it was read.
    fn is_unchanged(&self) -> Result<bool> {
        match std::fs::symlink_metadata(&self.real) {
            Ok(it) => Ok(self.was.as_ref() == Some(&FileStamp::from_metadata(&it))),
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => Ok(self.was.is_none()),
            Err(err) => Err(io_error("look at", &self.real.display().to_string(), err)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "as another program would leave it")]
    fn put(path: &Path, text: &str, mode: u32) {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    fn text(path: &Path) -> String {
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_file_is_replaced_where_it_is_at_the_mode_it_had() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let mode = |name: &str| std::fs::metadata(at(name)).unwrap().mode() & 0o777;
        for had in [0o600, 0o640, 0o644, 0o755] {
            put(&at("file"), "old", had);
            assert!(read_foreign(&at("file"), 99, None).unwrap().replace(Some(b"new")).unwrap());
            assert_eq!((text(&at("file")), mode("file")), ("new".to_owned(), had));
        }
        // A link stays one; so does a folder that is one.
        std::fs::create_dir(at("dotfiles")).unwrap();
        put(&at("dotfiles/f"), "old", 0o600);
        symlink(at("dotfiles/f"), at("link")).unwrap();
        symlink("dotfiles", at("folder")).unwrap();
        let it = read_foreign(&at("link"), 99, None).unwrap();
        assert!(it.linked && it.replace(Some(b"new")).unwrap());
        assert!(at("link").is_symlink() && text(&at("dotfiles/f")) == "new");
        let it = read_foreign(&at("folder/a/b"), 99, None).unwrap();
        assert!(!at("dotfiles/a").exists() && it.replace(Some(b"made")).unwrap());
        assert_eq!((mode("dotfiles/a"), mode("dotfiles/a/b")), (0o700, 0o600));
        let it = read_foreign(&at("folder/a/b"), 99, None).unwrap();
        assert!(it.replace(None).unwrap() && !at("dotfiles/a/b").exists());
        // Nothing is left beside them.
        let names: Vec<_> = std::fs::read_dir(home.path()).unwrap().collect();
        assert_eq!(names.len(), 4);
    }

    #[test]
    fn what_changes_meanwhile_is_not_lost() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        let none = read_foreign(&file, 99, None).unwrap();
        put(&file, "theirs", 0o600);
        assert!(!none.replace(Some(b"ours")).unwrap());
        let it = read_foreign(&file, 99, None).unwrap();
        put(&file, "theirs again", 0o600);
        assert!(!it.replace(Some(b"ours")).unwrap() && !it.replace(None).unwrap());
        assert_eq!(text(&file), "theirs again");
        let it = read_foreign(&file, 99, None).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(!it.replace(Some(b"ours")).unwrap());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_is_no_file_of_the_users_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        put(&at("large"), "12345", 0o600);
        put(&at("locked"), "x", 0o400);
        put(&at("twice"), "x", 0o600);
        std::fs::hard_link(at("twice"), at("second")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        symlink("/etc", at("out")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (name, part) in [
            ("large", "larger than 4"),
            ("locked", "read-only"),
            ("twice", "second name"),
            ("folder", "not a regular file"),
            ("dangling", "leads nowhere"),
            ("dangling/x", "leads nowhere"),
            ("loop", "cannot find"),
            ("out/passwd", "leads out of the project"),
            ("large/x", "cannot find"),
            ("pipe", "not a regular file"),
            ("socket", "not a regular file"),
        ] {
            let end = read_foreign(&at(name), 4, Some(home.path()));
            let err = end.and_then(|it| it.replace(Some(b"new"))).unwrap_err();
            assert_eq!(err.code(), Code::ArtifactIo, "{name}");
            assert!(err.to_string().contains(part), "{name}: {err}");
            assert!(err.hint_text().is_some(), "{name}: {err}");
        }
        assert_eq!(text(&at("locked")) + &text(&at("second")), "xx");
    }

    #[test]
    fn what_belongs_to_somebody_else_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("file");
        put(&file, "theirs", 0o666);
        // Only root can give a file away; to others one of root's is somebody else's.
        let theirs = rustix::fs::chown(&file, Some(rustix::fs::Uid::from_raw(4711)), None)
            .map_or_else(|_| PathBuf::from("/etc/passwd"), |()| file.clone());
        symlink(&theirs, home.path().join("link")).unwrap();
        for path in [&theirs, &home.path().join("link")] {
            let err = read_foreign(path, 1 << 20, None).err().unwrap();
            assert!(err.to_string().contains("somebody else"), "{err}");
        }
        let root = rustix::process::geteuid().is_root();
        let new = home.path().join("theirs/a/b");
        std::fs::create_dir(home.path().join("theirs")).unwrap();
        if root {
            let them = Some(rustix::fs::Uid::from_raw(4711));
            rustix::fs::chown(home.path().join("theirs"), them, None).unwrap();
        }
        let made = read_foreign(&new, 9, None).unwrap().replace(Some(b"x"));
        assert_eq!((made.is_err(), new.exists()), (root, !root));
    }
}
