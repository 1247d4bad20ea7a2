//! A store whose objects are a fleet's: each begins with a code over its key and its bytes, by a key that its machines have.
//!
//! Digests say that an object is whole; who may write to the store can make them as well. What has no code of the fleet is an error
//! that names it, also where it was put there before a machine of the fleet could.

use std::sync::Arc;

use super::shelf::{Key, Object, Shelf};
use commis_base::{
    error::{Code, Error, Result},
    mac::MacKey,
};

const PURPOSE: &str = "commis store 1";
const SAID: &str = "commis fleet 1";
/// `commis-mac-1 `, 64 hexadecimal digits, a line break.
const MARK: &[u8] = b"commis-mac-1 ";
const DIGITS: usize = 64;
const HEAD: usize = MARK.len() + DIGITS + 1;

/// A store, by way of the fleet's key.
pub struct SignedShelf {
    inner: Arc<dyn Shelf>,
    key: MacKey,
}

impl SignedShelf {
    pub fn new(inner: Arc<dyn Shelf>, key: MacKey) -> Self {
        Self { inner, key }
    }

    fn parts<'a>(shown: &'a str, body: &'a [u8]) -> [&'a [u8]; 2] {
        [shown.as_bytes(), body]
    }

    /// What stands behind the code. Fails with [`Code::StoreUntrusted`].
    fn opened(&self, key: &Key, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        let shown = key.to_string();
        let holds = bytes.len() >= HEAD && bytes.starts_with(MARK) && bytes[HEAD - 1] == b'\n' && {
            let (head, body) = bytes.split_at(HEAD);
            std::str::from_utf8(&head[MARK.len()..HEAD - 1])
                .is_ok_and(|code| self.key.holds(PURPOSE, &Self::parts(&shown, body), code))
        };
        if holds {
            return Ok(bytes.split_off(HEAD));
        }
        let why =
            format!("{shown} in {} was not put there with the fleet's key", self.inner.shown());
        Err(Error::new(Code::StoreUntrusted, why).hint(
            "nothing in a store is replaced: look who wrote it, and take it away; all machines of a fleet have the same COMMIS_STORE_KEY",
        ))
    }
}

impl Shelf for SignedShelf {
    fn read(&self, key: &Key, max: usize) -> Result<Option<Vec<u8>>> {
        let found = self.inner.read(key, max.saturating_add(HEAD))?;
        found.map(|it| self.opened(key, it)).transpose()
    }

    fn create(&self, key: &Key, bytes: Vec<u8>) -> Result<bool> {
        let shown = key.to_string();
        let code = self.key.hex_code(PURPOSE, &Self::parts(&shown, &bytes));
        let mut out = Vec::with_capacity(HEAD + bytes.len());
        out.extend_from_slice(MARK);
        out.extend_from_slice(code.as_bytes());
        out.push(b'\n');
        out.extend_from_slice(&bytes);
        self.inner.create(key, out)
    }

    fn remove(&self, key: &Key) -> Result<bool> {
        self.inner.remove(key)
    }

    fn list(&self, each: &mut dyn FnMut(Object)) -> Result<()> {
        self.inner.list(each)
    }

    fn list_in(&self, folder: &str, each: &mut dyn FnMut(Object)) -> Result<()> {
        self.inner.list_in(folder, each)
    }

    fn tidy(&self, folder: &str) {
        self.inner.tidy(folder);
    }

    fn shown(&self) -> String {
        self.inner.shown()
    }

    fn code_of(&self, what: &[&[u8]]) -> Option<String> {
        Some(self.key.hex_code(SAID, what))
    }

    fn was_said(&self, what: &[&[u8]], code: Option<&str>) -> bool {
        code.is_some_and(|it| self.key.holds(SAID, what, it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shelf::{SharedFolder, probe};

    fn key(n: u8) -> MacKey {
        MacKey::new(&[n; 32]).unwrap()
    }

    #[test]
    fn only_what_the_fleet_put_there_is_taken() {
        let home = tempfile::tempdir().unwrap();
        let folder: Arc<dyn Shelf> = Arc::new(SharedFolder::open(home.path()).unwrap());
        let ours = SignedShelf::new(Arc::clone(&folder), key(1));
        probe(&ours).unwrap();
        let (a, b) = (Key::plain("t-0", "a.json").unwrap(), Key::plain("t-0", "b.json").unwrap());
        assert!(ours.create(&a, b"one".to_vec()).unwrap());
        assert_eq!(ours.read(&a, 3).unwrap().as_deref(), Some(&b"one"[..]));
        assert!(!ours.create(&a, b"two".to_vec()).unwrap());
        assert_eq!(ours.read(&b, 3).unwrap(), None);
        // Another fleet's, under another key, changed in any byte, cut, without a code, put there first.
        let theirs = SignedShelf::new(Arc::clone(&folder), key(2));
        let whole = folder.read(&a, 1000).unwrap().unwrap();
        let mut all: Vec<Vec<u8>> =
            vec![b"one".to_vec(), Vec::new(), whole[..whole.len() - 1].to_vec()];
        all.extend((0..whole.len()).map(|i| {
            let mut it = whole.clone();
            it[i] ^= 1;
            it
        }));
        for bytes in all {
            folder.remove(&a).unwrap();
            folder.create(&a, bytes.clone()).unwrap();
            let err = ours.read(&a, 1000).unwrap_err();
            assert_eq!(err.code(), Code::StoreUntrusted, "{bytes:?}");
            assert!(!ours.create(&a, b"one".to_vec()).unwrap());
        }
        folder.create(&b, whole).unwrap();
        assert_eq!(ours.read(&b, 1000).unwrap_err().code(), Code::StoreUntrusted);
        folder.remove(&b).unwrap();
        theirs.create(&b, b"x".to_vec()).unwrap();
        assert_eq!(ours.read(&b, 1000).unwrap_err().code(), Code::StoreUntrusted);
    }
}
