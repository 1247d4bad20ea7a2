//! HAR files that were handed over to the daemon to be learned from. They are in memory alone and for a while: what of them comes
//! to disk is the redacted recording that learning makes.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};
use sha2::{Digest as _, Sha256};

use super::{
    Daemon,
    answer::{Answer, ApiError, Meta},
    principal::Principal,
    refusal::{answer_with, refuse},
};
use commis_base::{
    error::{Code, Error, Result},
    ids::hex,
};

/// Where they are handed over.
pub const PATH: &str = "/api/uploads/har";
/// Of one file, bytes. The command line reads larger ones.
pub const MAX_UPLOAD: usize = 64 << 20;
/// Of all files together; the oldest goes first.
const MAX_TOTAL: usize = 2 * MAX_UPLOAD;
/// A file that nobody learned from for so long is let go.
const RETENTION: Duration = Duration::from_secs(15 * 60);

/// A file that was handed over.
#[derive(Serialize, JsonSchema)]
pub struct HarUpload {
    /// What `upload` of `recipe_learn` takes.
    pub upload: String,
    /// Bytes.
    bytes: u64,
    /// Requests in it.
    entries: u64,
    /// How long it is held after its last use, seconds.
    holds_sec: u64,
}

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
    fn put(&self, owner: &str, bytes: Arc<[u8]>) -> String {
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
            return Err(Error::new(Code::Usage, "the uploaded HAR file is not held any more")
                .hint("upload it again; a file is held for 15 minutes, in memory alone"));
        };
        it.used = Instant::now();
        Ok(Arc::clone(&it.bytes))
    }

    /// Removes what is too old.
    fn sweep(&self) {
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

/// How many requests a HAR file says that it holds. Fails with `HAR_INVALID`.
fn entries(bytes: &[u8]) -> Result<u64> {
    #[derive(Deserialize)]
    struct Har {
        log: Log,
    }
    #[derive(Deserialize)]
    struct Log {
        entries: Vec<IgnoredAny>,
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match serde_json::from_slice::<Har>(bytes) {
        Ok(it) if !it.log.entries.is_empty() => Ok(it.log.entries.len() as u64),
        Ok(_) => Err(Error::new(Code::HarInvalid, "the HAR file holds no request")
            .hint("start to record before the page is loaded, and export the HAR with content")),
        // Where it is wrong may quote it.
        Err(_) => Err(Error::new(Code::HarInvalid, "the file is no HAR: it has no `log.entries`")
            .hint("in the network panel of a browser, choose “Save all as HAR with content”")),
    }
}

/// Takes a file. Only who may read files of this machine hands one over: the root token, and the dashboard.
pub async fn upload(
    State(daemon): State<Arc<Daemon>>,
    Extension(who): Extension<Principal>,
    body: Bytes,
) -> Response {
    if who.scopes.is_some() {
        return refuse(
            &Error::new(Code::Forbidden, "this token may not upload files")
                .hint("ask with the root token, or on the command line"),
        );
    }
    let read = tokio::task::spawn_blocking(move || {
        let found = entries(&body)?;
        Ok::<_, Error>((found, Arc::<[u8]>::from(body.as_ref())))
    });
    let (found, bytes) = match read.await {
        Ok(Ok(it)) => it,
        // It is the caller's file, and no site's answer.
        Ok(Err(err)) => {
            return answer_with(StatusCode::UNPROCESSABLE_ENTITY, ApiError::from_error(&err));
        }
        Err(err) => {
            return refuse(&Error::new(Code::Internal, "a HAR file was not read").source(err));
        }
    };
    let len = bytes.len() as u64;
    let upload = daemon.uploads.put(&who.id, bytes);
    tokio::spawn(async move {
        // An idle daemon keeps none.
        tokio::time::sleep(RETENTION + Duration::from_secs(1)).await;
        daemon.uploads.sweep();
    });
    let data = HarUpload { upload, bytes: len, entries: found, holds_sec: RETENTION.as_secs() };
    Json(Answer { ok: true, data, meta: Meta::default() }).into_response()
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

    #[test]
    fn what_is_no_har_is_told_before_anything_is_learned() {
        let check = |text: &str, found: Option<u64>| {
            let read = entries(text.as_bytes());
            assert_eq!(read.as_ref().ok(), found.as_ref(), "{text}");
            if let Err(err) = read {
                assert_eq!(err.code(), Code::HarInvalid);
                assert!(!err.to_string().contains("hunter2"));
            }
        };
        check(r#"{"log": {"entries": [{}, {}]}}"#, Some(2));
        check("\u{feff}{\"log\": {\"entries\": [1]}}", Some(1));
        check(r#"{"log": {"entries": []}}"#, None);
        check(r#"{"password": "hunter2"}"#, None);
        check("hunter2", None);
        check("", None);
    }
}
