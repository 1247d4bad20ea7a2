//! Files that a user names, or keeps where we look: links on the way are the user's business, special files are not read.

use std::{
    borrow::Cow,
    fs::File,
    io::{self, ErrorKind, Read as _},
    path::Path,
};

use crate::error::{Code, Error, Result};

/// A regular file, opened for reading; `None` where there is none. A pipe may never begin and a device never end, so they are
/// refused. Fails with [`Code::Usage`].
pub fn open_if_exists(path: &Path) -> Result<Option<File>> {
    let shown = path.display();
    let trouble = |verb: &str, err: io::Error| {
        Error::new(Code::Usage, format!("cannot {verb} {shown}"))
            .hint("give the name of a readable file")
            .source(err)
    };
    let file = match at_once(path) {
        Ok(it) => it,
        Err(err) if err.kind() == ErrorKind::NotFound => return Ok(None),
        Err(err) => return Err(trouble("open", err)),
    };
    let meta = file.metadata().map_err(|err| trouble("read", err))?;
    if !meta.is_file() {
        return Err(Error::new(Code::Usage, format!("{shown} is not a regular file"))
            .hint("give the name of a regular file; write the output of a pipe to a file first"));
    }
    Ok(Some(file))
}

/// Without waiting: opening a pipe would wait for whoever writes into it.
#[cfg(unix)]
fn at_once(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()));
    opened.map(File::from).map_err(io::Error::from)
}

#[cfg(not(unix))]
fn at_once(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// [`open_if_there`], and it must be.
pub fn open(path: &Path) -> Result<File> {
    open_if_exists(path)?.ok_or_else(|| {
        let message = format!("cannot open {}: there is no such file", path.display());
        Error::new(Code::Usage, message).hint("give the name of a readable file")
    })
}

/// The whole file, of at most so many bytes; `None` where there is none. Fails with [`Code::Usage`].
pub fn read_if_exists(path: &Path, max: u64) -> Result<Option<Vec<u8>>> {
    open_if_exists(path)?.map(|it| read_all(it, path, max)).transpose()
}

/// [`read_if_there`], and it must be.
pub fn read_bounded(path: &Path, max: u64) -> Result<Vec<u8>> {
    read_all(open(path)?, path, max)
}

/// The folder that a path names a file in, and the file's name in it.
pub fn split_path(path: &Path) -> (&Path, Cow<'_, str>) {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    (folder, path.file_name().unwrap_or_default().to_string_lossy())
}

/// Writes a file into a folder of the user's, which stays as it is. Fails with [`Code::Usage`].
pub fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    let (folder, name) = split_path(path);
    super::write_atomic(folder, &name, bytes).map_err(|err| {
        Error::new(Code::Usage, format!("cannot write {}", path.display())).source(err)
    })
}

fn read_all(file: File, path: &Path, max: u64) -> Result<Vec<u8>> {
    let shown = path.display();
    let mut out = Vec::new();
    file.take(max + 1).read_to_end(&mut out).map_err(|err| {
        Error::new(Code::Usage, format!("cannot read {shown}"))
            .hint("give the name of a readable file")
            .source(err)
    })?;
    if out.len() as u64 > max {
        return Err(Error::new(Code::Usage, format!("{shown} is larger than {max} bytes"))
            .hint("such files are smaller; check that this is the right file"));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use rustix::fs::Mode;

    use super::*;

    #[test]
    fn only_regular_files_are_read_and_no_more_than_may_be() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        crate::files::write_atomic(home.path(), "file", b"12345").unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, Mode::RWXU, 0)
            .unwrap();
        for name in ["file", "link"] {
            assert_eq!(read_bounded(&at(name), 5).unwrap(), b"12345");
        }
        assert_eq!(read_if_exists(&at("none"), 5).unwrap(), None);
        for (path, part) in [
            (at("file"), "larger than 4"),
            (at("pipe"), "not a regular file"),
            (at(""), "not a regular file"),
            ("/dev/zero".into(), "not a regular file"),
            (at("none"), "cannot open"),
        ] {
            let err = read_bounded(&path, 4).unwrap_err();
            assert_eq!(err.code(), Code::Usage);
            assert!(err.to_string().contains(part) && err.hint_text().is_some(), "{err}");
        }
    }
}
