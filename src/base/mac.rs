//! Codes of authentication: HMAC-SHA-256 (RFC 2104) over parts, by a key that a home or a fleet of machines has.
//!
//! A digest says that bytes are whole; anybody can make one. A code says that somebody who has the key wrote them.

use ring::{
    hmac,
    rand::{SecureRandom as _, SystemRandom},
};
use zeroize::Zeroizing;

use super::{
    error::{Code, Error, Result},
    files::Dir,
    ids::hex,
};

/// Bytes of a key that is made here, and the fewest that one may have.
pub const KEY_LEN: usize = 32;
/// Bytes of a code.
pub const CODE_LEN: usize = 32;
const MAX_KEY: usize = 4096;

/// A key for codes. Silent in `Debug`.
pub struct MacKey(hmac::Key);

impl MacKey {
    /// At least [`KEY_LEN`] bytes; `None` for fewer.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let fits = (KEY_LEN..=MAX_KEY).contains(&bytes.len());
        fits.then(|| Self(hmac::Key::new(hmac::HMAC_SHA256, bytes)))
    }

    /// The key in that file of a folder of ours; `None` where there is none. Fails with [`Code::ArtifactIo`], also for a file that
    /// others can read: theirs it may be as well.
    pub fn read(dir: &Dir, name: &str) -> Result<Option<Self>> {
        let Some(bytes) = dir.read_private(name, MAX_KEY)? else { return Ok(None) };
        let bytes = Zeroizing::new(bytes);
        let key = Self::new(&bytes).ok_or_else(|| {
            let shown = dir.path().join(name);
            Error::new(Code::ArtifactIo, format!("{} does not hold a key", shown.display())).hint(
                format!(
                    "a key has {KEY_LEN} bytes or more; remove the file, and commis makes a new key"
                ),
            )
        })?;
        Ok(Some(key))
    }

    /// The same, made at random where there is none. Fails with [`Code::ArtifactIo`].
    pub fn read_or_make(dir: &Dir, name: &str) -> Result<Self> {
        if let Some(it) = Self::read(dir, name)? {
            return Ok(it);
        }
        let mut bytes = Zeroizing::new([0; KEY_LEN]);
        SystemRandom::new()
            .fill(&mut bytes[..])
            .map_err(|_| Error::new(Code::Internal, "the system provides no random bytes"))?;
        // Another process may be first: its key counts.
        dir.create(name, &bytes[..])?;
        Self::read(dir, name)?.ok_or_else(|| {
            Error::new(
                Code::ArtifactIo,
                format!("{} was removed while commis used it", dir.path().join(name).display()),
            )
        })
    }

    /// The code of those parts in that order. `purpose` keeps codes of one kind from being taken for another's.
    pub fn sign(&self, purpose: &str, parts: &[&[u8]]) -> [u8; CODE_LEN] {
        let mut it = hmac::Context::with_key(&self.0);
        for part in std::iter::once(&purpose.as_bytes()).chain(parts) {
            it.update(&(part.len() as u64).to_be_bytes());
            it.update(part);
        }
        let mut out = [0; CODE_LEN];
        out.copy_from_slice(it.sign().as_ref());
        out
    }

    /// [`code`](Self::code) in hexadecimal digits.
    pub fn sign_hex(&self, purpose: &str, parts: &[&[u8]]) -> String {
        hex(&self.sign(purpose, parts))
    }

    /// Whether that is the code of those parts; in a time that says nothing of it.
    pub fn verify(&self, purpose: &str, parts: &[&[u8]], code: &str) -> bool {
        // Both are codes' digits: how they differ is told by a second code, which nobody can choose.
        let digits = |it: &str| hmac::sign(&self.0, it.as_bytes());
        let ours = self.sign_hex(purpose, parts);
        hmac::verify(&self.0, code.as_bytes(), digits(&ours).as_ref()).is_ok()
    }
}

impl std::fmt::Debug for MacKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MacKey")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_of_one_key_one_purpose_and_those_parts() {
        let key = MacKey::new(&[7; 32]).unwrap();
        let code = key.sign_hex("a", &[b"x", b"yz"]);
        assert!(key.verify("a", &[b"x", b"yz"], &code));
        for (purpose, parts) in
            [("b", [&b"x"[..], b"yz"]), ("a", [b"xy", b"z"]), ("a", [b"yz", b"x"])]
        {
            assert!(!key.verify(purpose, &parts, &code), "{purpose} {parts:?}");
        }
        for other in ["", &code[1..], &code.to_uppercase(), &code.replacen(&code[..1], "g", 1)] {
            assert!(!key.verify("a", &[b"x", b"yz"], other), "{other}");
        }
        assert!(!MacKey::new(&[8; 32]).unwrap().verify("a", &[b"x", b"yz"], &code));
        assert!(MacKey::new(&[7; 31]).is_none());
    }

    #[cfg(unix)]
    #[test]
    fn a_key_is_made_once_and_is_ours_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let dir = crate::files::open_or_create(&home.path().join("trust")).unwrap();
        assert!(MacKey::read(&dir, "key").unwrap().is_none());
        let code = MacKey::read_or_make(&dir, "key").unwrap().sign_hex("a", &[]);
        assert_eq!(MacKey::read_or_make(&dir, "key").unwrap().sign_hex("a", &[]), code);
        let path = home.path().join("trust/key");
        for mode in [0o644, 0o660] {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, mode).unwrap();
            assert_eq!(MacKey::read(&dir, "key").unwrap_err().code(), Code::ArtifactIo);
        }
        dir.write("key", b"short").unwrap();
        assert_eq!(MacKey::read(&dir, "key").unwrap_err().code(), Code::ArtifactIo);
    }
}
