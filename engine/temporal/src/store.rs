//! Artifacts in an object store: S3 and its likenesses, Google Cloud Storage, Azure.
//!
//! Keys, endpoints and encryption are read from the environment under the names that `object_store` documents (`AWS_…`,
//! `GOOGLE_…`, `AZURE_…`), never from the URL.

use std::{
    future::Future,
    sync::{Arc, mpsc},
    time::Duration,
};

use commis_artifacts::shared_store::{ObjectKey, ObjectMeta, SharedStore};
use commis_base::error::{Code, Error, Result};
use futures::StreamExt as _;
use object_store::{
    BackoffConfig, Error as Trouble, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions,
    RetryConfig, path::Path,
};
use tokio::runtime::{Handle, Runtime};
use url::Url;

/// A call may take so long, with its retries.
const PATIENCE: Duration = Duration::from_secs(120);
/// A server may be begun again meanwhile: a minute is tried, with pauses that grow. Create-if-absent stays right however often it is
/// sent.
const RETRIES: usize = 60;
const PAUSES: (Duration, Duration) = (Duration::from_millis(200), Duration::from_secs(5));
/// Objects of a list that nobody has looked at yet.
const AHEAD: usize = 1_000;

/// What `--store` names, if it is one of ours. Fails with `USAGE` for a URL with a login or settings that are none.
pub fn open(url: &Url) -> Option<Result<Arc<dyn SharedStore>>> {
    let known = ["s3", "s3a", "gs", "az", "azure", "abfs", "abfss"];
    known.contains(&url.scheme()).then(|| Ok(Arc::new(Objects::open(url, environment())?) as _))
}

/// Keys, endpoint, encryption: whatever the library has a name for.
fn environment() -> Vec<(String, String)> {
    let named = ["AWS_", "GOOGLE_", "AZURE_"];
    std::env::vars()
        .filter(|(name, _)| named.iter().any(|it| name.starts_with(it)))
        .map(|(name, value)| (name.to_ascii_lowercase(), value))
        .collect()
}

struct Objects {
    store: Arc<dyn ObjectStore>,
    prefix: Path,
    shown: String,
    /// Its own: calls come from threads that have another one.
    calls: Handle,
    runtime: Option<Runtime>,
}

impl Drop for Objects {
    fn drop(&mut self) {
        // Whoever lets go of it may not wait.
        if let Some(it) = self.runtime.take() {
            it.shutdown_background();
        }
    }
}

impl Objects {
    fn open(url: &Url, settings: Vec<(String, String)>) -> Result<Self> {
        let bad = |why: String| {
            Error::new(Code::Usage, format!("--store {why}"))
                .hint("s3://BUCKET/PREFIX; keys are read from the environment")
        };
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(bad("holds a login or settings, which would be written down".to_owned()));
        }
        let internal =
            |err| Error::new(Code::Internal, "cannot start the store's runtime").source(err);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("store")
            .enable_all()
            .build()
            .map_err(internal)?;
        let (store, prefix) = build(url, settings).map_err(|err| bad(err.to_string()))?;
        let shown =
            format!("{}://{}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path());
        let calls = runtime.handle().clone();
        Ok(Self { store, prefix, shown, calls, runtime: Some(runtime) })
    }

    fn path(&self, key: &ObjectKey) -> Path {
        self.prefix.clone().join(key.folder()).join(key.name())
    }

    /// Tells of what is below that; each part of the list may take as long as a call.
    fn listed(&self, below: Path, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        let store = Arc::clone(&self.store);
        let (tell, told) = mpsc::sync_channel(AHEAD);
        self.calls.spawn(async move {
            let mut all = store.list(Some(&below));
            while let Some(it) = all.next().await {
                let failed = it.is_err();
                // Sending waits while nobody takes: this thread has others beside it.
                let sent = tokio::task::block_in_place(|| tell.send(it));
                if failed || sent.is_err() {
                    return;
                }
            }
        });
        let failed = || Error::new(Code::ArtifactIo, format!("cannot list {}", self.shown));
        loop {
            let it = match told.recv_timeout(PATIENCE) {
                Ok(Ok(it)) => it,
                Ok(Err(err)) => {
                    let hint = "to list is a right of its own; check the store's keys";
                    return Err(failed().hint(hint).source(err));
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => return Ok(()),
                Err(mpsc::RecvTimeoutError::Timeout) => return Err(failed()),
            };
            let Some(parts) = it.location.prefix_match(&self.prefix) else { continue };
            let parts: Vec<String> = parts.map(|it| it.as_ref().to_owned()).collect();
            // What lies deeper is somebody else's.
            if let [folder, name] = &parts[..] {
                let (folder, name) = (folder.clone(), name.clone());
                each(ObjectMeta {
                    folder,
                    name,
                    bytes: it.size,
                    modified: it.last_modified.into(),
                });
            }
        }
    }

    /// Waits for it, off this thread.
    fn wait<T: Send + 'static>(
        &self,
        what: &'static str,
        key: &ObjectKey,
        work: impl Future<Output = object_store::Result<T>> + Send + 'static,
    ) -> Result<T> {
        let (tell, told) = mpsc::channel();
        self.calls.spawn(async move {
            let end = tokio::time::timeout(PATIENCE, work).await;
            // Nobody may be waiting any more.
            let _ = tell.send(end);
        });
        let place = format!("{what} {key} in {}", self.shown);
        match told.recv() {
            Ok(Ok(Ok(it))) => Ok(it),
            Ok(Ok(Err(err))) => {
                let lasting = matches!(
                    err,
                    Trouble::PermissionDenied { .. }
                        | Trouble::Unauthenticated { .. }
                        | Trouble::NotSupported { .. }
                        | Trouble::NotImplemented { .. }
                        | Trouble::InvalidPath { .. }
                );
                let hint = "check the store's address and keys (AWS_ENDPOINT, AWS_ACCESS_KEY_ID, … in the environment)";
                Err(Error::new(Code::ArtifactIo, format!("cannot {place}"))
                    .hint(hint)
                    .source(err)
                    .lasting(lasting))
            }
            Ok(Err(_)) | Err(_) => Err(Error::new(
                Code::ArtifactIo,
                format!("cannot {place}: no answer in {} s", PATIENCE.as_secs()),
            )),
        }
    }
}

/// As `object_store::parse_url_opts`, with limits on what a call may take.
fn build(
    url: &Url,
    settings: Vec<(String, String)>,
) -> object_store::Result<(Arc<dyn ObjectStore>, Path)> {
    use object_store::{
        ObjectStoreScheme as Scheme, aws::AmazonS3Builder, azure::MicrosoftAzureBuilder,
        gcp::GoogleCloudStorageBuilder,
    };
    let retry = RetryConfig {
        backoff: BackoffConfig { init_backoff: PAUSES.0, max_backoff: PAUSES.1, base: 2.0 },
        max_retries: RETRIES,
        retry_timeout: PATIENCE / 2,
    };
    macro_rules! with {
        ($builder:ty) => {{
            let mut it = <$builder>::new().with_url(url.as_str()).with_retry(retry);
            for (name, value) in settings {
                // What it does not know of may be another program's.
                if let Ok(known) = name.parse() {
                    it = it.with_config(known, value);
                }
            }
            Arc::new(it.build()?) as Arc<dyn ObjectStore>
        }};
    }
    let (scheme, prefix) = Scheme::parse(url).map_err(object_store::Error::from)?;
    let store = match scheme {
        Scheme::AmazonS3 => with!(AmazonS3Builder),
        Scheme::GoogleCloudStorage => with!(GoogleCloudStorageBuilder),
        _ => with!(MicrosoftAzureBuilder),
    };
    Ok((store, prefix))
}

impl SharedStore for Objects {
    fn read(&self, key: &ObjectKey, max: usize) -> Result<Option<Vec<u8>>> {
        let (store, path) = (Arc::clone(&self.store), self.path(key));
        let bytes = self.wait("read", key, async move {
            let found = match store.get(&path).await {
                Err(Trouble::NotFound { .. }) => return Ok(None),
                other => other?,
            };
            if found.meta.size > max as u64 {
                return Ok(Some(Err(found.meta.size)));
            }
            Ok(Some(Ok(found.bytes().await?)))
        })?;
        match bytes {
            None => Ok(None),
            Some(Ok(it)) if it.len() <= max => Ok(Some(it.to_vec())),
            _ => Err(Error::new(
                Code::ArtifactIo,
                format!("{key} in {} is larger than {max} bytes", self.shown),
            )
            .lasting(true)),
        }
    }

    fn create(&self, key: &ObjectKey, bytes: Vec<u8>) -> Result<bool> {
        let (store, path) = (Arc::clone(&self.store), self.path(key));
        self.wait("create", key, async move {
            match store.put_opts(&path, bytes.into(), PutOptions::from(PutMode::Create)).await {
                Ok(_) => Ok(true),
                Err(Trouble::AlreadyExists { .. } | Trouble::Precondition { .. }) => Ok(false),
                Err(err) => Err(err),
            }
        })
    }

    fn remove(&self, key: &ObjectKey) -> Result<bool> {
        let (store, path) = (Arc::clone(&self.store), self.path(key));
        self.wait("remove", key, async move {
            match store.delete(&path).await {
                Ok(()) => Ok(true),
                Err(Trouble::NotFound { .. }) => Ok(false),
                Err(err) => Err(err),
            }
        })
    }

    fn list(&self, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        self.listed(self.prefix.clone(), each)
    }

    fn list_in(&self, folder: &str, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        self.listed(self.prefix.clone().join(folder), each)
    }

    fn location(&self) -> String {
        self.shown.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ours_is_told_by_its_scheme() {
        let open = |it: &str| open(&Url::parse(it).unwrap());
        for it in ["http://bucket/x", "file:///x", "memory:///x"] {
            assert!(open(it).is_none(), "{it}");
        }
        for it in ["s3://key:secret@bucket/x", "s3://bucket/x?versioning=1"] {
            let err = open(it).unwrap().err().unwrap();
            assert_eq!(err.code(), Code::Usage);
            assert!(!err.to_string().contains("secret"), "{err}");
        }
    }

    /// Answers each request with 200, and tells of their first lines and headers.
    fn recorder() -> (u16, mpsc::Receiver<String>) {
        use std::io::{Read as _, Write as _};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap().port();
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, mut head) = (stream.unwrap(), Vec::new());
                let mut byte = [0];
                while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
                    head.push(byte[0]);
                }
                let head = String::from_utf8_lossy(&head).to_ascii_lowercase();
                let length =
                    head.lines().find_map(|it| it.strip_prefix("content-length: ")?.parse().ok());
                let mut body = vec![0; length.unwrap_or(0)];
                let _ = stream.read_exact(&mut body);
                let answer = "HTTP/1.1 200 OK\r\netag: \"x\"\r\nlast-modified: Thu, 01 Jan 2026 00:00:00 GMT\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
                let _ = stream.write_all(answer.as_bytes());
                if tell.send(head).is_err() {
                    return;
                }
            }
        });
        (at, told)
    }

    /// The heads of a create and a read with these settings.
    fn sent(more: &[(&str, &str)]) -> (String, String) {
        let (at, told) = recorder();
        let endpoint = format!("http://127.0.0.1:{at}");
        let settings = [
            ("aws_endpoint", endpoint.as_str()),
            ("aws_allow_http", "true"),
            ("aws_region", "us-east-1"),
            ("aws_access_key_id", "test"),
            ("aws_secret_access_key", "test"),
        ];
        let all =
            settings.iter().chain(more).map(|(name, it)| ((*name).to_owned(), (*it).to_owned()));
        let store = Objects::open(&Url::parse("s3://bucket/x").unwrap(), all.collect()).unwrap();
        let key = ObjectKey::for_name("task-0011aabb", "it.json").unwrap();
        store.create(&key, b"{}".to_vec()).unwrap();
        store.read(&key, 99).unwrap();
        let soon = Duration::from_secs(10);
        (told.recv_timeout(soon).unwrap(), told.recv_timeout(soon).unwrap())
    }

    #[test]
    fn encryption_that_the_environment_asks_for_reaches_the_server() {
        let (create, _) = sent(&[]);
        assert!(create.contains("if-none-match: *") && !create.contains("encryption"), "{create}");
        let (create, _) = sent(&[("aws_server_side_encryption", "AES256")]);
        assert!(create.contains("x-amz-server-side-encryption: aes256\r\n"), "{create}");
        let (create, _) = sent(&[
            ("aws_server_side_encryption", "aws:kms"),
            ("aws_sse_kms_key_id", "arn:aws:kms:us-east-1:1:key/2"),
            ("aws_sse_bucket_key_enabled", "true"),
        ]);
        for it in [
            "x-amz-server-side-encryption: aws:kms\r\n",
            "x-amz-server-side-encryption-aws-kms-key-id: arn:aws:kms:us-east-1:1:key/2\r\n",
            "x-amz-server-side-encryption-bucket-key-enabled: true\r\n",
        ] {
            assert!(create.contains(it), "{it}\n{create}");
        }
        // A customer's key goes with each request, those that read as well.
        let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
        let (create, read) =
            sent(&[("aws_server_side_encryption", "sse-c"), ("aws_sse_customer_key_base64", key)]);
        for it in [create, read] {
            assert!(
                it.contains("x-amz-server-side-encryption-customer-algorithm: aes256\r\n"),
                "{it}"
            );
            assert!(
                it.contains(&format!("customer-key: {}\r\n", key.to_ascii_lowercase())),
                "{it}"
            );
        }
        let err = Objects::open(
            &Url::parse("s3://bucket/x").unwrap(),
            vec![("aws_server_side_encryption".to_owned(), "rot13".to_owned())],
        );
        assert_eq!(err.err().unwrap().code(), Code::Usage);
    }
}
