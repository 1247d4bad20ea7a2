//! Takes a HAR file to learn from.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json,
    body::Bytes,
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use commis_base::error::{Code, Error, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::IgnoredAny};

use super::{
    Daemon,
    answer::{Answer, ApiError, Meta},
    har_uploads::RETENTION,
    principal::Principal,
    refusal::{answer_with, refuse},
};

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
    Extension(principal): Extension<Principal>,
    body: Bytes,
) -> Response {
    if principal.scopes.is_some() {
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
            return refuse(
                &Error::new(
                    Code::Internal,
                    "the thread that reads the HAR file ended unexpectedly",
                )
                .source(err),
            );
        }
    };
    let len = bytes.len() as u64;
    let upload = daemon.uploads.put(&principal.id, bytes);
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
