//! What more than one machine can reach: artifacts by the question that they answer.
//!
//! A key says the task, the kind, and the question: the stage and its version, the settings, the payload hashes of what it
//! reads. So nothing is ever replaced: another question is another key. Objects come to be by create-if-absent and in no other
//! way; who comes second takes what is there. Whoever starts a stage twice, or wakes up late, changes nothing.
//!
//! A task's own folder ([`store`](super::store)) is where it is worked on; this is what such folders have in common.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    kinds::Kind,
    store::{ArtifactState, StoredEnvelope, inspect, json_sha256, sha256},
};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
    ids::{TaskId, random_token},
};

/// Objects by key, shared by any number of processes and machines.
///
/// Calls block, as those of a disk do; none may take longer than a few minutes. All fail with [`Code::ArtifactIo`]: what may
/// pass is retryable, what cannot is [`lasting`](Error::lasting). No message holds a credential.
pub trait SharedStore: Send + Sync {
    /// The whole object, or `None` when there is none. Refuses more than `max` bytes.
    fn read(&self, key: &ObjectKey, max: usize) -> Result<Option<Vec<u8>>>;

    /// Makes the object, whole or not at all; false when there is one of that key, which stays as it is.
    fn create(&self, key: &ObjectKey, bytes: Vec<u8>) -> Result<bool>;

    /// Takes the object away; false when there is none.
    fn remove(&self, key: &ObjectKey) -> Result<bool>;

    /// Tells of every object, in any order: those that come or go meanwhile, or not.
    fn list(&self, each: &mut dyn FnMut(ObjectMeta)) -> Result<()>;

    /// Those of one folder: the part of their keys before the slash.
    fn list_in(&self, folder: &str, each: &mut dyn FnMut(ObjectMeta)) -> Result<()>;

    /// What is left of a folder without objects may go.
    fn remove_empty_folder(&self, _folder: &str) {}

    /// Where it is, for people.
    fn location(&self) -> String;

    /// The code of a fleet's machine for what it says beside the store, in hexadecimal digits; `None` where the store has no key.
    fn sign(&self, _what: &[&[u8]]) -> Option<String> {
        None
    }

    /// Whether a machine of the fleet said it; always where the store has no key.
    fn verify(&self, _what: &[&[u8]], _code: Option<&str>) -> bool {
        true
    }
}

/// An object as a listing tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectMeta {
    /// The parts of its key.
    pub folder: String,
    pub name: String,
    pub bytes: u64,
    /// By the store's clock.
    pub modified: SystemTime,
}

/// `TASK/NAME`: safe as a path below a folder and as the key of an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ObjectKey {
    task: String,
    name: String,
}

impl ObjectKey {
    /// What the task itself is.
    pub fn for_task(id: &TaskId) -> Self {
        Self { task: id.to_string(), name: "task.json".to_owned() }
    }

    /// What the task is in one batch of several: by what it says.
    pub fn for_entry(id: &TaskId, bytes: &[u8]) -> Self {
        Self { task: id.to_string(), name: format!("task.{}.json", sha256(bytes)) }
    }

    /// As [`Display`](fmt::Display) has it; `None` for what is no key of that task.
    pub fn parse(text: &str, id: &TaskId) -> Option<Self> {
        Self::for_name(id.as_str(), text.strip_prefix(id.as_str())?.strip_prefix('/')?)
    }

    /// Of something that is no task; `None` for what is no key.
    pub fn for_name(folder: &str, name: &str) -> Option<Self> {
        let plain = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || b"._-".contains(&it);
        let fits = |it: &str| (1..=128).contains(&it.len()) && it.bytes().all(plain);
        let ok = fits(folder)
            && fits(name)
            && !name.starts_with('.')
            && !folder.trim_matches('.').is_empty();
        ok.then(|| Self { task: folder.to_owned(), name: name.to_owned() })
    }

    /// One that nobody else has.
    pub(super) fn probe() -> Result<Self> {
        Ok(Self { task: ".probe".to_owned(), name: format!("{}.json", random_token()?) })
    }

    /// The part before the slash.
    pub fn folder(&self) -> &str {
        &self.task
    }

    /// The part after it.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.task, self.name)
    }
}

/// What a stage is asked.
pub struct StageRequest<'a> {
    pub task: &'a TaskId,
    pub kind: Kind,
    pub stage: &'a str,
    pub stage_version: u32,
    /// Kind read → its payload hash.
    pub inputs: &'a BTreeMap<String, String>,
    pub settings_sha256: &'a str,
    /// How often what the stage saw was lost, and it looked again.
    pub again: u32,
}

impl StageRequest<'_> {
    pub fn key(&self) -> ObjectKey {
        let digest = json_sha256(&(
            self.stage,
            self.stage_version,
            // Versions of commis whose types differ have nothing to say to each other.
            (self.kind.version(), self.kind.schema_hash()),
            self.inputs,
            self.settings_sha256,
            self.again,
        ));
        let kind = self.kind.file().trim_end_matches(".json");
        ObjectKey { task: self.task.to_string(), name: format!("{kind}.{digest}.json") }
    }

    /// Reads what stands under that key; nothing that is not whole, and this question's, is taken. Fails with
    /// [`Code::ArtifactCorrupt`] and as [`SharedStore::read`].
    pub fn read(
        &self,
        shared_store: &dyn SharedStore,
    ) -> Result<Option<(Vec<u8>, StoredEnvelope)>> {
        let key = self.key();
        let Some(bytes) = shared_store.read(&key, super::store::MAX_FILE)? else { return Ok(None) };
        let damaged = |why: &str| {
            Error::new(Code::ArtifactCorrupt, format!("{key} in {} is damaged ({why})", shared_store.location()))
                .hint("objects of a store are never replaced: find out who wrote it and remove it; the stage then runs again")
        };
        match inspect(&bytes, self.kind, self.task) {
            ArtifactState::Intact(it) => match self.first_difference(&it) {
                None => Ok(Some((bytes, *it))),
                Some(what) => Err(damaged(&format!("it answers another question: {what}"))),
            },
            ArtifactState::Corrupt(why) | ArtifactState::OtherSchema(why) => Err(damaged(&why)),
            ArtifactState::Absent => Ok(None),
        }
    }

    /// What of the question an artifact has otherwise.
    fn first_difference(&self, it: &StoredEnvelope) -> Option<&'static str> {
        if it.producer.stage != self.stage {
            return Some("stage");
        }
        if it.producer.stage_version != self.stage_version {
            return Some("stage version");
        }
        if it.settings_sha256 != self.settings_sha256 {
            return Some("settings");
        }
        (it.inputs != *self.inputs).then_some("inputs")
    }
}

/// So many at one key: who looks first and writes then lets several be first.
const AT_ONCE: usize = 4;

/// Makes sure that what is there stays: creates one object twice, then another by several at once. Fails with
/// [`Code::StoreUnsafe`] when one took the place of another or was said to, and as [`SharedStore`] does.
pub fn probe(shared_store: &dyn SharedStore) -> Result<()> {
    const FIRST: &[u8] = b"{\"probe\":1}\n";
    let key = ObjectKey::probe()?;
    let unsafe_ = |why: &str| {
        Error::new(Code::StoreUnsafe, format!("{} {why}", shared_store.location()))
            .hint("use a store that supports create-if-absent (If-None-Match: * of S3); see docs/scale.md")
    };
    let first = shared_store.create(&key, FIRST.to_vec())?;
    let second = shared_store.create(&key, b"{\"probe\":2}\n".to_vec())?;
    let there = shared_store.read(&key, 1024)?;
    // Whoever may write may not always remove; a few bytes are left then.
    let _ = shared_store.remove(&key);
    if second {
        return Err(unsafe_("lets a second object replace the first"));
    }
    if !first || there.as_deref() != Some(FIRST) {
        return Err(unsafe_("does not return the object that was stored"));
    }
    let key = ObjectKey::probe()?;
    let body = |i: usize| format!("{{\"probe\":{i}}}\n").into_bytes();
    let all = std::sync::Barrier::new(AT_ONCE);
    let created: Vec<Result<bool>> = std::thread::scope(|scope| {
        let one = |i| {
            let (all, key) = (&all, &key);
            scope.spawn(move || {
                all.wait();
                shared_store.create(key, body(i))
            })
        };
        let each: Vec<_> = (0..AT_ONCE).map(one).collect();
        let gone = |_| Err(Error::new(Code::Internal, "a thread of the probe ended"));
        each.into_iter().map(|it| it.join().unwrap_or_else(gone)).collect()
    });
    let there = shared_store.read(&key, 1024)?;
    let _ = shared_store.remove(&key);
    let created = created.into_iter().collect::<Result<Vec<bool>>>()?;
    let first: Vec<usize> = (0..AT_ONCE).filter(|i| created[*i]).collect();
    match first[..] {
        [it] if there == Some(body(it)) => Ok(()),
        [_] => Err(unsafe_("stores another object than the one that it reported as the first")),
        _ => Err(unsafe_(&format!(
            "lets {} of {AT_ONCE} writers create the same object",
            first.len()
        ))),
    }
}

/// A folder that machines share, or that is carried to another: `TASK/NAME` below it, files at 0600 in folders at 0700, each
/// whole and on the disk before anybody is told of it.
pub struct SharedFolder {
    root: PathBuf,
}

impl SharedFolder {
    /// Makes the folder when absent. Fails with [`Code::ArtifactIo`].
    pub fn open(root: &Path) -> Result<Self> {
        files::ensure_private_dir(root)?;
        Ok(Self { root: root.to_owned() })
    }

    fn folder(&self, key: &ObjectKey) -> Result<Option<Dir>> {
        Dir::open(&self.root.join(key.folder()), false)
    }
}

impl SharedStore for SharedFolder {
    fn read(&self, key: &ObjectKey, max: usize) -> Result<Option<Vec<u8>>> {
        self.folder(key)?.map_or(Ok(None), |it| it.read(key.name(), max))
    }

    fn create(&self, key: &ObjectKey, bytes: Vec<u8>) -> Result<bool> {
        files::sweep_shared(&self.root.join(key.folder()))?;
        files::create_shared(&self.root, key.folder(), key.name(), &bytes)
    }

    fn remove(&self, key: &ObjectKey) -> Result<bool> {
        self.folder(key)?.map_or(Ok(false), |it| it.remove(key.name()))
    }

    fn list(&self, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        let Some(root) = Dir::open(&self.root, false)? else { return Ok(()) };
        for name in root.names()? {
            // Files and links that lie there are somebody else's.
            if std::fs::symlink_metadata(self.root.join(&name)).is_ok_and(|it| it.is_dir()) {
                self.list_in(&name, each)?;
            }
        }
        Ok(())
    }

    fn list_in(&self, folder: &str, each: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        let path = self.root.join(folder);
        let Some(dir) = Dir::open(&path, false)? else { return Ok(()) };
        for name in dir.names()? {
            // What vanishes meanwhile is not there.
            let Ok(meta) = std::fs::symlink_metadata(path.join(&name)) else { continue };
            let Ok(modified) = meta.modified() else { continue };
            if meta.is_file() {
                each(ObjectMeta { folder: folder.to_owned(), name, bytes: meta.len(), modified });
            }
        }
        Ok(())
    }

    fn remove_empty_folder(&self, folder: &str) {
        // One with files in it stays.
        let _ = std::fs::remove_dir(self.root.join(folder));
    }

    fn location(&self) -> String {
        self.root.display().to_string()
    }
}

#[cfg(test)]
#[path = "shared_store_tests.rs"]
mod tests;
