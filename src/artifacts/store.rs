//! The store: the only writer of artifacts.
//!
//! [`Store::task`] opens one task's folder and holds its lock. Reading says exactly what is wrong with a file; what to do
//! about it is `pipeline`'s business.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use super::{
    canonical,
    failure::Failure,
    kinds::{Artifact, Kind},
    lease::{self, Lease},
};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir, PreparedFile},
    ids::TaskId,
};

pub use super::digest::{json_sha256, now, sha256};
/// Beside the artifacts while somebody works on the task.
pub use super::lease::FILE as LEASE;

/// No artifact is larger. A recording of 20,000 requests takes about 80 MiB, most others are far below.
pub const MAX_FILE: usize = 128 * 1024 * 1024;

/// Lets so many bytes through, and fails with [`io::ErrorKind::FileTooLarge`] for more.
struct BoundedWriter<'a> {
    to: &'a mut dyn io::Write,
    left: usize,
}

impl io::Write for BoundedWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.left = self
            .left
            .checked_sub(bytes.len())
            .ok_or(io::Error::from(io::ErrorKind::FileTooLarge))?;
        self.to.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// The one shape of a file on disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Envelope<P = Value> {
    pub artifact: Kind,
    pub artifact_version: u32,
    /// SHA-256 of the payload's checked-in JSON Schema.
    pub schema_hash: String,
    pub task_id: TaskId,
    /// Redacted.
    pub source_url: String,
    /// RFC 3339, UTC. The only field that differs between two equal runs.
    pub created_at: String,
    pub producer: Producer,
    /// Kind read → payload hash it had.
    pub inputs: BTreeMap<String, String>,
    /// Of the settings and manifest fields that the stage depends on.
    pub settings_sha256: String,
    /// Over RFC 8785 canonical JSON.
    pub payload_sha256: String,
    pub payload: P,
}

/// As it stands in a file: a recording is large, and not every reader wants it.
pub type StoredEnvelope = Envelope<Box<RawValue>>;

impl<P> Envelope<P> {
    /// The same with another payload, or another form of it.
    pub fn with_payload<Q>(self, payload: Q) -> Envelope<Q> {
        Envelope {
            artifact: self.artifact,
            artifact_version: self.artifact_version,
            schema_hash: self.schema_hash,
            task_id: self.task_id,
            source_url: self.source_url,
            created_at: self.created_at,
            producer: self.producer,
            inputs: self.inputs,
            settings_sha256: self.settings_sha256,
            payload_sha256: self.payload_sha256,
            payload,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Producer {
    pub stage: String,
    pub stage_version: u32,
    pub commis: String,
}

/// What a stage's output is stamped with.
pub struct Stamp {
    pub source_url: String,
    pub stage: Cow<'static, str>,
    pub stage_version: u32,
    pub inputs: BTreeMap<String, String>,
    pub settings_sha256: String,
}

/// A file as found.
pub enum ArtifactState {
    Absent,
    /// Does not parse, another task's, or a hash does not hold.
    Corrupt(String),
    /// Intact, but of another schema or version.
    OtherSchema(String),
    Intact(Box<StoredEnvelope>),
}

/// All tasks' folders.
#[derive(Clone)]
pub struct Store {
    root: PathBuf,
}

impl Store {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens (or makes) a task's folder for work. Fails with [`Code::TaskBusy`] when another process holds it.
    pub fn task(&self, id: &TaskId) -> Result<TaskFolder> {
        let lease = Lease::take(files::open_or_create(&self.root)?, id)?;
        let path = self.root.join(id.as_str());
        Ok(TaskFolder::new(id, path, lease.dir(), Some(lease)))
    }

    /// Removes what crashes left beside the tasks' folders. What they left in those goes when the task is opened for work.
    pub fn sweep(&self) -> Result<()> {
        files::sweep_shared(&self.root)?;
        Dir::open(&self.root, false)?.map_or(Ok(()), |it| lease::sweep(&it))
    }

    /// Opens a task's folder to look at; `None` when there is none.
    pub fn peek(&self, id: &TaskId) -> Result<Option<TaskFolder>> {
        let path = self.root.join(id.as_str());
        let dir = Dir::open(&path, false)?;
        Ok(dir.map(|dir| TaskFolder::new(id, path, Arc::new(dir), None)))
    }

    /// Every task with a folder, sorted.
    pub fn tasks(&self) -> Result<Vec<TaskId>> {
        let Some(dir) = Dir::open(&self.root, false)? else {
            return Ok(Vec::new());
        };
        let names = dir.names()?;
        Ok(names
            .into_iter()
            .filter(|it| self.root.join(it).is_dir())
            .filter_map(|it| TaskId::parse(&it).ok())
            .collect())
    }
}

/// One task's artifacts.
///
/// What is written is read back from here at once. It has its name, and is on the disk, when [`settle`](Self::settle) returns;
/// until then a crash leaves what was there before. Dropping the folder settles it as well as can be.
pub struct TaskFolder {
    id: TaskId,
    path: PathBuf,
    dir: Arc<Dir>,
    /// Written since it was settled last.
    prepared: Mutex<Vec<PreparedFile>>,
    /// `None` when it is only looked at.
    lease: Option<Lease>,
}

impl TaskFolder {
    fn new(id: &TaskId, path: PathBuf, dir: Arc<Dir>, lease: Option<Lease>) -> Self {
        Self { id: id.clone(), path, dir, prepared: Mutex::default(), lease }
    }

    /// Fails with [`Code::TaskBusy`] when another process has taken the task over. To be asked before anything that cannot be
    /// taken back; files need no such question, they cannot be written then.
    pub fn check_lease(&self) -> Result<()> {
        self.lease.as_ref().map_or(Ok(()), Lease::check)
    }

    pub fn dir(&self) -> Arc<Dir> {
        Arc::clone(&self.dir)
    }

    fn prepared(&self) -> MutexGuard<'_, Vec<PreparedFile>> {
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts on the disk what was written, in this order. To be asked before anything that is built upon it leaves this process:
    /// a request, a result. Fails with [`Code::ArtifactIo`].
    pub fn sync(&self) -> Result<()> {
        let all = std::mem::take(&mut *self.prepared());
        self.explain_lost_folder(self.dir.commit(all))
    }

    fn write(&self, it: PreparedFile) {
        let mut all = self.prepared();
        if let Some(at) = all.iter().position(|old| old.name() == it.name()) {
            self.dir.forget(&all.remove(at));
        }
        all.push(it);
    }

    /// The file as it was written last.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let all = self.prepared();
        let at = all.iter().find(|it| it.name() == name).map_or(name, PreparedFile::temp);
        self.dir.read(at, MAX_FILE)
    }

    /// A failure in a folder that is gone says why it is gone.
    fn explain_lost_folder<T>(&self, done: Result<T>) -> Result<T> {
        done.or_else(|err| self.check_lease().and(Err(err)))
    }

    pub fn path(&self, kind: Kind) -> PathBuf {
        self.path.join(kind.file())
    }

    /// Reads and checks one file. Fails with [`Code::ArtifactIo`] only; everything about its content is in [`ArtifactState`].
    pub fn find(&self, kind: Kind) -> Result<ArtifactState> {
        let Some(bytes) = self.read(kind.file())? else {
            return Ok(ArtifactState::Absent);
        };
        Ok(inspect(&bytes, kind, &self.id))
    }

    /// The file as it is. Fails with [`Code::ArtifactIo`].
    pub fn bytes(&self, kind: Kind) -> Result<Option<Vec<u8>>> {
        self.read(kind.file())
    }

    /// Takes an artifact of this task as another folder has it; it was [inspected](inspect). Fails with [`Code::ArtifactIo`].
    pub fn take(&self, kind: Kind, bytes: &[u8]) -> Result<()> {
        self.write(
            self.explain_lost_folder(self.dir.prepare(kind.file(), &mut |to| to.write_all(bytes)))?,
        );
        Ok(())
    }

    /// An intact envelope, of whatever schema; `None` when there is none. Fails with [`Code::ArtifactIo`].
    pub fn envelope(&self, kind: Kind) -> Result<Option<StoredEnvelope>> {
        let Some(bytes) = self.read(kind.file())? else { return Ok(None) };
        Ok(match inspect(&bytes, kind, &self.id) {
            ArtifactState::Intact(it) => Some(*it),
            ArtifactState::OtherSchema(_) => serde_json::from_slice(&bytes).ok(),
            ArtifactState::Absent | ArtifactState::Corrupt(_) => None,
        })
    }

    /// The payload. Fails with [`Code::ArtifactMissing`], [`Code::ArtifactCorrupt`] or [`Code::ArtifactSchemaMismatch`].
    pub fn get<A: Artifact>(&self) -> Result<A> {
        match self.find(A::KIND)? {
            ArtifactState::Intact(it) => serde_json::from_str(it.payload.get())
                .map_err(|err| self.corrupt_error(A::KIND, &err.to_string())),
            ArtifactState::Absent => self.explain_lost_folder(Err(Error::new(
                Code::ArtifactMissing,
                format!("task {} has no {}", self.id, A::KIND.as_str()),
            )
            .hint("learn the task first"))),
            ArtifactState::Corrupt(why) => Err(self.corrupt_error(A::KIND, &why)),
            ArtifactState::OtherSchema(why) => Err(self.schema_error(A::KIND, &why)),
        }
    }

    pub fn corrupt_error(&self, kind: Kind, why: &str) -> Error {
        Error::new(
            Code::ArtifactCorrupt,
            format!("{} is damaged ({why})", self.path(kind).display()),
        )
        .hint("learn the task again with --force; the damaged file is replaced")
    }

    pub fn schema_error(&self, kind: Kind, why: &str) -> Error {
        Error::new(
            Code::ArtifactSchemaMismatch,
            format!(
                "{} was written by another version of commis ({why})",
                self.path(kind).display()
            ),
        )
        .hint("`commis artifacts migrate` brings what it can to this version; otherwise learn the task again with --force")
    }

    /// Writes one artifact and returns its payload hash, and the payload as it was written; [`settle`](Self::settle) puts it on
    /// the disk. Fails with [`Code::ArtifactIo`].
    pub fn put<A: Artifact>(&self, payload: &A, stamp: Stamp) -> Result<(String, Value)> {
        let mut payload = serde_json::to_value(payload).map_err(|err| {
            Error::new(Code::Internal, format!("{} cannot be written as JSON", A::KIND.as_str()))
                .source(err)
        })?;
        // Two equal payloads are equal files.
        payload.sort_all_objects();
        let payload_sha256 = canonical::sha256(&payload);
        let envelope = Envelope {
            artifact: A::KIND,
            artifact_version: A::KIND.version(),
            schema_hash: A::KIND.schema_hash().to_owned(),
            task_id: self.id.clone(),
            source_url: stamp.source_url,
            created_at: now(),
            producer: Producer {
                stage: stamp.stage.into_owned(),
                stage_version: stamp.stage_version,
                commis: env!("CARGO_PKG_VERSION").to_owned(),
            },
            inputs: stamp.inputs,
            settings_sha256: stamp.settings_sha256,
            payload_sha256: payload_sha256.clone(),
            payload,
        };
        // A large one is not held as text, too.
        let mut is_too_large = false;
        let written = self.dir.prepare(A::KIND.file(), &mut |to| {
            let mut to = BoundedWriter { to, left: MAX_FILE };
            let all = serde_json::to_writer_pretty(&mut to, &envelope)
                .map_err(io::Error::from)
                .and_then(|()| to.write_all(b"\n"));
            is_too_large = all.as_ref().is_err_and(|err| err.kind() == io::ErrorKind::FileTooLarge);
            all
        });
        // A file system that refuses so large a file fails in the same way.
        if is_too_large {
            return Err(Error::new(
                Code::ArtifactTooLarge,
                format!("{} would be larger than {MAX_FILE} bytes", A::KIND.as_str()),
            )
            .hint("record fewer pages, or export a HAR of fewer pages"));
        }
        self.write(self.explain_lost_folder(written)?);
        Ok((payload_sha256, envelope.payload))
    }

    /// What the folder says about the task itself. Fails with [`Code::ArtifactIo`].
    pub fn entry(&self) -> Result<Option<Vec<u8>>> {
        self.read(ENTRY)
    }

    pub fn put_entry(&self, bytes: &[u8]) -> Result<()> {
        self.write(
            self.explain_lost_folder(self.dir.prepare(ENTRY, &mut |to| to.write_all(bytes)))?,
        );
        Ok(())
    }

    /// Lines of the replay journal; a last line that a crash cut short is left out.
    pub fn journal(&self) -> Result<Vec<Value>> {
        let bytes = self.dir.read(JOURNAL, MAX_FILE)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        Ok(text.lines().filter_map(|it| serde_json::from_str(it).ok()).collect())
    }

    /// Appends a line to the replay journal and fsyncs it.
    pub fn note(&self, line: &Value) -> Result<()> {
        self.explain_lost_folder(self.dir.append(JOURNAL, &line.to_string()))
    }

    /// Keeps what a failing step saw in place of what an earlier one did. Fails with [`Code::ArtifactIo`].
    pub fn put_failure(&self, failure: &Failure, picture: Option<&[u8]>) -> Result<()> {
        let text = serde_json::to_vec_pretty(failure)
            .map_err(|err| Error::new(Code::Internal, FAILURE).source(err))?;
        // A picture is never that of another failure.
        self.explain_lost_folder(self.dir.discard(PICTURE).map(drop))?;
        self.explain_lost_folder(self.dir.write_unsynced(FAILURE, &text))?;
        picture.map_or(Ok(()), |it| self.explain_lost_folder(self.dir.write_unsynced(PICTURE, it)))
    }

    /// What the step saw that failed last, and where its picture is; `None` when the task got further since.
    pub fn failure(&self) -> Result<Option<(Failure, Option<PathBuf>)>> {
        let Some(bytes) = self.dir.read(FAILURE, MAX_FAILURE)? else { return Ok(None) };
        // Another version's, or half of it: it is only for looking at.
        let Ok(it) = serde_json::from_slice(&bytes) else { return Ok(None) };
        let picture = self.dir.stat(PICTURE)?.map(|_| self.path.join(PICTURE));
        Ok(Some((it, picture)))
    }

    pub fn forget_failure(&self) -> Result<()> {
        for it in [FAILURE, PICTURE] {
            self.explain_lost_folder(self.dir.discard(it).map(drop))?;
        }
        Ok(())
    }

    /// Drops the journal, when the stage it belongs to has written its artifact.
    pub fn forget_journal(&self) -> Result<()> {
        if self.dir.stat(JOURNAL)?.is_none() {
            return Ok(());
        }
        self.sync()?;
        self.explain_lost_folder(self.dir.remove(JOURNAL).map(drop))
    }
}

impl Drop for TaskFolder {
    fn drop(&mut self) {
        // What was computed is not lost where somebody stops.
        let _ = self.sync();
    }
}

/// The task as it was given, and what a person chose.
const ENTRY: &str = "task.json";
/// Replays as they happen, so that a crash repeats at most the one in flight.
const JOURNAL: &str = "replays.jsonl";

/// What the step saw that failed last, and how the page looked.
const FAILURE: &str = "failure.json";
const PICTURE: &str = "failure.png";
/// A longer one is none of ours.
const MAX_FAILURE: usize = 1 << 20;

/// What the bytes of a file are worth as the task's artifact of that kind.
pub fn inspect(bytes: &[u8], kind: Kind, task: &TaskId) -> ArtifactState {
    let read = serde_json::from_slice::<Envelope<&RawValue>>(bytes)
        .and_then(|it| Ok((canonical::canonical_sha256_of_text(it.payload)?, it)));
    let (hash, envelope) = match read {
        Ok(it) => it,
        Err(err) => return ArtifactState::Corrupt(format!("not an artifact: {err}")),
    };
    if envelope.artifact != kind {
        return ArtifactState::Corrupt(format!("it is a {}", envelope.artifact.as_str()));
    }
    if envelope.task_id != *task {
        return ArtifactState::Corrupt(format!("it belongs to task {}", envelope.task_id));
    }
    if envelope.payload_sha256 != hash {
        return ArtifactState::Corrupt("payload hash does not hold".to_owned());
    }
    if envelope.artifact_version != kind.version() {
        return ArtifactState::OtherSchema(format!(
            "version {} instead of {}",
            envelope.artifact_version,
            kind.version()
        ));
    }
    if envelope.schema_hash != kind.schema_hash() {
        return ArtifactState::OtherSchema("schema hash differs".to_owned());
    }
    let payload = envelope.payload.to_owned();
    ArtifactState::Intact(Box::new(envelope.with_payload(payload)))
}
