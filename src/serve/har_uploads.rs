//! HAR files that were handed over to the daemon to be learned from. They are in memory alone and for a while: what of them comes
//! to disk is the redacted recording that learning makes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use commis_base::{
    error::{Code, Error, Result},
    ids::hex,
};
use sha2::{Digest as _, Sha256};

/// Where they are handed over.
pub const PATH: &str = "/api/uploads/har";
/// Of one file, bytes. The command line reads larger ones.
pub const MAX_UPLOAD: usize = 64 << 20;
/// Of all files together; the oldest goes first.
const MAX_TOTAL: usize = 2 * MAX_UPLOAD;
/// A file that nobody learned from for so long is let go.
pub const RETENTION: Duration = Duration::from_secs(15 * 60);

struct UploadedHar {
    bytes: Arc<[u8]>,
    used: Instant,
}

/// By whom a file was handed over, and its id.
type UploadKey = (String, String);

#[derive(Default)]
pub struct HarUploads {
    files: Mutex<BTreeMap<UploadKey, UploadedHar>>,
}

impl HarUploads {
    /// Locks the files, without those that are too old.
    fn lock_recent(&self) -> MutexGuard<'_, BTreeMap<UploadKey, UploadedHar>> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.retain(|_, it| it.used.elapsed() < RETENTION);
        files
    }

    /// Holds a file for that caller; its id follows from what it holds, so the same file is held once.
    pub fn put(&self, owner: &str, bytes: Arc<[u8]>) -> String {
        let digest = hex(&Sha256::digest(&bytes));
        let id = format!("har-{}", digest.get(..12).unwrap_or_default());
        let mut files = self.lock_recent();
        files.insert(key(owner, &id), UploadedHar { bytes, used: Instant::now() });
        while files.values().map(|it| it.bytes.len()).sum::<usize>() > MAX_TOTAL {
            let oldest = files.iter().min_by_key(|it| it.1.used).map(|it| it.0.clone());
            let Some(oldest) = oldest else { break };
            files.remove(&oldest);
        }
        id
    }

    /// The file that this caller handed over under that id. Fails with `USAGE` where it is not held any more.
    pub fn get(&self, owner: &str, id: &str) -> Result<Arc<[u8]>> {
        let mut files = self.lock_recent();
        let Some(it) = files.get_mut(&key(owner, id)) else {
            return Err(Error::new(Code::Usage, "the daemon no longer has the uploaded HAR file")
                .hint("upload it again; the daemon keeps a file in memory for 15 minutes after its last use"));
        };
        it.used = Instant::now();
        Ok(Arc::clone(&it.bytes))
    }

    /// Removes what is too old.
    pub fn sweep(&self) {
        drop(self.lock_recent());
    }
}

/// Whether it is made as our ids are: then it says of a file which one it is, and nothing else.
pub fn is_id(it: &str) -> bool {
    let hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
    it.strip_prefix("har-").is_some_and(|it| it.len() == 12 && it.bytes().all(hex))
}

fn key(owner: &str, id: &str) -> UploadKey {
    (owner.to_owned(), id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_its_owners_and_the_oldest_goes_first() {
        let all = HarUploads::default();
        let id = all.put("dashboard-1", Arc::from(&b"one"[..]));
        assert!(is_id(&id) && !is_id("har-x") && !is_id(&format!("{id}0")));
        assert_eq!(&*all.get("dashboard-1", &id).unwrap(), b"one");
        assert_eq!(all.get("dashboard-2", &id).unwrap_err().code(), Code::Usage);
        assert_eq!(all.get("dashboard-1", "har-000000000000").unwrap_err().code(), Code::Usage);
        let large: Arc<[u8]> = vec![0; MAX_UPLOAD].into();
        let second = all.put("dashboard-1", large);
        let other: Arc<[u8]> = vec![1; MAX_UPLOAD].into();
        let third = all.put("dashboard-1", other);
        assert!(all.get("dashboard-1", &id).is_err());
        assert!(all.get("dashboard-1", &second).is_ok() && all.get("dashboard-1", &third).is_ok());
    }
}
