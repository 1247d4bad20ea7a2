//! A store whose objects are a fleet's: each begins with a code over its key and its bytes, by a key that its machines have.
//!
//! Digests say that an object is whole; who may write to the store can make them as well. What has no code of the fleet is an error
//! that names it, also where it was put there before a machine of the fleet could.

use std::sync::Arc;

use super::shared_store::{ObjectKey, ObjectMeta, SharedStore};
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
pub struct SignedStore {
    inner: Arc<dyn SharedStore>,
    key: MacKey,
}

impl SignedStore {
    pub fn new(inner: Arc<dyn SharedStore>, key: MacKey) -> Self {
        Self { inner, key }
    }

    fn signed_parts<'a>(shown: &'a str, body: &'a [u8]) -> [&'a [u8]; 2] {
        [shown.as_bytes(), body]
    }

    /// What stands behind the code. Fails with [`Code::StoreUntrusted`].
    fn open_signed(&self, key: &ObjectKey, mut bytes: Vec<u8>) -> Result<Vec<u8>> {
        let shown = key.to_string();
        let holds = bytes.len() >= HEAD && bytes.starts_with(MARK) && bytes[HEAD - 1] == b'\n' && {
            let (head, body) = bytes.split_at(HEAD);
            std::str::from_utf8(&head[MARK.len()..HEAD - 1])
                .is_ok_and(|code| self.key.verify(PURPOSE, &Self::signed_parts(&shown, body), code))
        };
        if holds {
            return Ok(bytes.split_off(HEAD));
        }
        let why = format!(
            "{shown} in {} was not written with the key of the fleet",
            self.inner.location()
        );
        Err(Error::new(Code::StoreUntrusted, why).hint(
            "objects of a store are never replaced: find out who wrote it and remove it; all machines of a fleet need the same COMMIS_STORE_KEY",
        ))
    }
}

impl SharedStore for SignedStore {
    fn read(&self, key: &ObjectKey, max: usize) -> Result<Option<Vec<u8>>> {
        let found = self.inner.read(key, max.saturating_add(HEAD))?;
        found.map(|it| self.open_signed(key, it)).transpose()
    }

    fn create(&self, key: &ObjectKey, bytes: Vec<u8>) -> Result<bool> {
        let shown = key.to_string();
        let code = self.key.sign_hex(PURPOSE, &Self::signed_parts(&shown, &bytes));
        let mut out = Vec::with_capacity(HEAD + bytes.len());
        out.extend_from_slice(MARK);
        out.extend_from_slice(code.as_bytes());
        out.push(b'\n');
        out.extend_from_slice(&bytes);
        self.inner.create(key, out)
    }

    fn remove(&self, key: &ObjectKey) -> Result<bool> {
        self.inner.remove(key)
    }

    fn list(&self, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        self.inner.list(each)
    }

    fn list_in(&self, folder: &str, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        self.inner.list_in(folder, each)
    }

    fn remove_empty_folder(&self, folder: &str) {
        self.inner.remove_empty_folder(folder);
    }

    fn location(&self) -> String {
        self.inner.location()
    }

    fn sign(&self, what: &[&[u8]]) -> Option<String> {
        Some(self.key.sign_hex(SAID, what))
    }

    fn verify(&self, what: &[&[u8]], code: Option<&str>) -> bool {
        code.is_some_and(|it| self.key.verify(SAID, what, it))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared_store::{SharedFolder, probe};

    fn key(n: u8) -> MacKey {
        MacKey::new(&[n; 32]).unwrap()
    }

    #[test]
    fn only_what_the_fleet_put_there_is_taken() {
        let home = tempfile::tempdir().unwrap();
        let folder: Arc<dyn SharedStore> = Arc::new(SharedFolder::open(home.path()).unwrap());
        let ours = SignedStore::new(Arc::clone(&folder), key(1));
        probe(&ours).unwrap();
        let (a, b) = (
            ObjectKey::for_name("t-0", "a.json").unwrap(),
            ObjectKey::for_name("t-0", "b.json").unwrap(),
        );
        assert!(ours.create(&a, b"one".to_vec()).unwrap());
        assert_eq!(ours.read(&a, 3).unwrap().as_deref(), Some(&b"one"[..]));
        assert!(!ours.create(&a, b"two".to_vec()).unwrap());
        assert_eq!(ours.read(&b, 3).unwrap(), None);
        // Another fleet's, under another key, changed in any byte, cut, without a code, put there first.
        let theirs = SignedStore::new(Arc::clone(&folder), key(2));
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
