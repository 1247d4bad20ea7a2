//! The key that logins are sealed with: 32 random bytes in a file of their own, beside the settings.

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use ring::rand::{SecureRandom as _, SystemRandom};
use rustix::{
    fs::{Mode, OFlags},
    io::Errno,
};
use zeroize::Zeroizing;

use commis_base::{
    error::{Code, Error, Result},
    files,
    settings::Home,
};

pub type Secret = Zeroizing<[u8; 32]>;

const FILE: &str = "vault.key";

#[derive(Clone)]
pub struct Key {
    file: PathBuf,
    /// What is sealed with it.
    vault: PathBuf,
}

impl Key {
    pub fn new(home: &Home) -> Self {
        let folder = home.config.parent().unwrap_or(Path::new("."));
        Self { file: folder.join(FILE), vault: home.vault.clone() }
    }

    /// Made where there is none, if `make`, and nothing was sealed yet. Fails with `ARTIFACT_IO`.
    pub fn get(&self, make: bool) -> Result<Secret> {
        if let Some(it) = self.read()? {
            return Ok(it);
        }
        if !make || self.has_sealed_logins()? {
            return Err(self.key_error("is not there").hint(
                "restore it from a backup; without it, sealed logins can only be removed (`commis vault rm`)",
            ));
        }
        self.make()
    }

    fn has_sealed_logins(&self) -> Result<bool> {
        let names = files::Dir::open(&self.vault, false)?.map_or(Ok(Vec::new()), |it| it.names());
        Ok(!names?.is_empty())
    }

    fn key_error(&self, why: &str) -> Error {
        Error::new(Code::ArtifactIo, format!("the key of the vault {} {why}", self.file.display()))
    }

    /// `None` where there is none.
    fn read(&self) -> Result<Option<Secret>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = match rustix::fs::open(&self.file, flags, Mode::empty()) {
            Ok(it) => it,
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(self.key_error("is a link").hint("put the file there")),
            Err(err) => {
                return Err(self.key_error("cannot be opened").source(std::io::Error::from(err)));
            }
        };
        let mut file = File::from(fd);
        let known = file.metadata().map_err(|err| self.key_error("cannot be read").source(err))?;
        if !known.is_file() || known.nlink() != 1 {
            return Err(self
                .key_error("is a link or not a regular file")
                .hint("the file must have one name and may not be a link"));
        }
        if known.mode() & 0o077 != 0 {
            return Err(self
                .key_error("can be read by others")
                .hint("somebody may have read it: `chmod 600` it; to be safe, remove the logins with `commis vault rm`, remove the file and log in again"));
        }
        if known.uid() != rustix::process::geteuid().as_raw() {
            return Err(self
                .key_error("belongs to somebody else")
                .hint("the file must belong to its user alone"));
        }
        let mut out = Zeroizing::new([0; 32]);
        let whole = known.len() == 32 && file.read_exact(&mut out[..]).is_ok();
        if !whole {
            return Err(self.key_error("is damaged").hint(
                "a key has 32 bytes; restore it from a backup, or remove it if nothing is sealed",
            ));
        }
        Ok(Some(out))
    }

    fn make(&self) -> Result<Secret> {
        let mut out = Zeroizing::new([0; 32]);
        SystemRandom::new()
            .fill(&mut out[..])
            .map_err(|_| Error::new(Code::Internal, "the system provides no random bytes"))?;
        let folder = self.file.parent().unwrap_or(Path::new("."));
        files::ensure_private_dir(folder)?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let failed = |err: std::io::Error| self.key_error("cannot be made").source(err);
        let fd = match rustix::fs::open(&self.file, flags, Mode::RUSR | Mode::WUSR) {
            Ok(it) => it,
            // Another process was first.
            Err(Errno::EXIST) => return self.wait_for_key(),
            Err(err) => return Err(failed(err.into())),
        };
        let mut file = File::from(fd);
        file.write_all(&out[..]).and_then(|()| file.sync_all()).map_err(failed)?;
        let folder = File::open(folder).and_then(|it| it.sync_all());
        folder.map_err(failed)?;
        Ok(out)
    }

    /// The one that another process has just made; it may not have written it to its end.
    fn wait_for_key(&self) -> Result<Secret> {
        let mut end = Err(self.key_error("is damaged"));
        for _ in 0..100 {
            end = self.read();
            if let Ok(Some(it)) = end {
                return Ok(it);
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        end.and_then(|_| Err(self.key_error("vanished")))
    }
}
