//! What of a shared store is old, and what is in use.
//!
//! Whoever works with a store for long says so there: an object that lists its tasks, renewed while it is at work. Its age is told by
//! the store's clock, so those of machines may differ. What it lists is not cleared; and since nothing in a store is needed but to
//! save work, whatever is cleared too early is done again.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Condvar, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use serde::{Deserialize, Serialize};

use super::shared_store::{ObjectKey, ObjectMeta, SharedStore};
use commis_base::{
    error::{Code, Error, Result},
    ids::{TaskId, random_token},
};

/// Where those are who work with a store.
const IN_USE: &str = ".in-use";
/// Said again so often, and believed for so long: a machine may stand still for a while.
const RENEWED: Duration = Duration::from_secs(10 * 60);
const BELIEVED: Duration = Duration::from_secs(60 * 60);
/// Ids of a million tasks.
const MAX: usize = 96 << 20;

/// What somebody who works with a store says of it.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UsageMarker {
    /// The batch's name.
    pub batch: String,
    pub tasks: BTreeSet<String>,
}

/// Says that tasks are in use until it is dropped.
pub struct UsageGuard {
    shared_store: Arc<dyn SharedStore>,
    now: Arc<(Mutex<MarkerState>, Condvar)>,
}

struct MarkerState {
    key: ObjectKey,
    ended: bool,
}

/// Says so from here on. Fails as [`SharedStore::create`].
pub fn mark_in_use<'a>(
    shared_store: &Arc<dyn SharedStore>,
    batch: &str,
    tasks: impl Iterator<Item = &'a TaskId>,
) -> Result<UsageGuard> {
    let it =
        UsageMarker { batch: batch.to_owned(), tasks: tasks.map(ToString::to_string).collect() };
    let bytes = serde_json::to_vec(&it).map_err(|err| {
        Error::new(Code::Internal, "cannot write the list of tasks in use as JSON").source(err)
    })?;
    let now = Arc::new((
        Mutex::new(MarkerState { key: write_marker(&**shared_store, &bytes)?, ended: false }),
        Condvar::new(),
    ));
    let (its, watched) = (Arc::clone(shared_store), Arc::clone(&now));
    let renew = move || renew_markers(&*its, &watched, &bytes);
    std::thread::Builder::new().name("in-use".to_owned()).spawn(renew).map_err(|err| {
        Error::new(Code::Internal, "cannot start the thread that marks tasks as in use").source(err)
    })?;
    Ok(UsageGuard { shared_store: Arc::clone(shared_store), now })
}

fn write_marker(shared_store: &dyn SharedStore, bytes: &[u8]) -> Result<ObjectKey> {
    let key = ObjectKey::for_name(IN_USE, &format!("{}.json", random_token()?))
        .ok_or_else(|| Error::new(Code::Internal, "the marker of tasks in use has no valid key"))?;
    shared_store.create(&key, bytes.to_vec())?;
    Ok(key)
}

/// Nothing in a store is replaced: the new one is there before the old one goes.
fn renew_markers(
    shared_store: &dyn SharedStore,
    (held, end): &(Mutex<MarkerState>, Condvar),
    bytes: &[u8],
) {
    let mut now = held.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let waited = end.wait_timeout_while(now, RENEWED, |it| !it.ended);
        now = waited.unwrap_or_else(PoisonError::into_inner).0;
        if now.ended {
            return;
        }
        // A store that is away for a while is asked again; what it has is believed for longer.
        match write_marker(shared_store, bytes) {
            Ok(key) => {
                let old = std::mem::replace(&mut now.key, key);
                let _ = shared_store.remove(&old);
            }
            Err(err) => tracing::warn!(error = %err, "a store does not know what is in use"),
        }
    }
}

impl Drop for UsageGuard {
    fn drop(&mut self) {
        let mut now = self.now.0.lock().unwrap_or_else(PoisonError::into_inner);
        now.ended = true;
        self.now.1.notify_all();
        // Else it is believed for a while.
        let _ = self.shared_store.remove(&now.key);
    }
}

/// What a store has of one task, or of a part of `recipe map` or `recipe check`.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[schemars(rename = "Kept")]
pub struct StoreEntry {
    /// The task's id.
    pub name: String,
    pub objects: u64,
    pub bytes: u64,
    /// Whole days since the newest of them was made, by the store's clock.
    pub days: u64,
    pub in_use: bool,
    #[serde(skip)]
    keys: Vec<String>,
}

/// Everything in a store, the oldest first. Fails as [`SharedStore::list`] and [`SharedStore::read`].
pub fn list_entries(shared_store: &dyn SharedStore) -> Result<Vec<StoreEntry>> {
    let now = store_time(shared_store)?;
    let mut all: BTreeMap<String, (StoreEntry, SystemTime)> = BTreeMap::new();
    shared_store.list(&mut |it: ObjectMeta| {
        if !is_task_folder(&it.folder) {
            return;
        }
        let (kept, newest) = all.entry(it.folder.clone()).or_insert_with(|| {
            let kept = StoreEntry {
                name: it.folder,
                objects: 0,
                bytes: 0,
                days: 0,
                in_use: false,
                keys: Vec::new(),
            };
            (kept, it.modified)
        });
        kept.objects += 1;
        kept.bytes += it.bytes;
        kept.keys.push(it.name);
        *newest = (*newest).max(it.modified);
    })?;
    // Looked for last: whoever began meanwhile is among them.
    let used = tasks_in_use(shared_store, now)?;
    let mut all: Vec<StoreEntry> = all
        .into_values()
        .map(|(kept, newest)| {
            let days = now.duration_since(newest).map_or(0, |it| it.as_secs() / (24 * 60 * 60));
            StoreEntry { days, in_use: used.contains(&kept.name), ..kept }
        })
        .collect();
    all.sort_by(|a, b| b.days.cmp(&a.days).then_with(|| a.name.cmp(&b.name)));
    Ok(all)
}

/// Takes it away, unless somebody has begun to work with it; false then. What later stages made goes first: less is left to be done
/// again than nothing, whenever this is interrupted. Fails as [`SharedStore`] does.
pub fn clear(shared_store: &dyn SharedStore, kept: &StoreEntry) -> Result<bool> {
    if kept.in_use {
        return Ok(false);
    }
    let mut names = kept.keys.clone();
    names.sort_unstable();
    for name in names.iter().rev() {
        let Some(key) = ObjectKey::for_name(&kept.name, name) else { continue };
        shared_store.remove(&key)?;
    }
    shared_store.remove_empty_folder(&kept.name);
    Ok(true)
}

/// Tasks that somebody says are in use.
pub fn tasks_in_use(shared_store: &dyn SharedStore, now: SystemTime) -> Result<BTreeSet<String>> {
    let mut names = Vec::new();
    shared_store.list_in(IN_USE, &mut |it: ObjectMeta| {
        // A time in the future is another clock's.
        if now.duration_since(it.modified).is_ok_and(|age| age > BELIEVED) {
            return;
        }
        names.push(it.name);
    })?;
    let mut out = BTreeSet::new();
    for name in names {
        let Some(key) = ObjectKey::for_name(IN_USE, &name) else { continue };
        // It may have ended since.
        let Some(bytes) = shared_store.read(&key, MAX)? else { continue };
        let it: UsageMarker = serde_json::from_slice(&bytes).map_err(|err| {
            Error::new(
                Code::ArtifactCorrupt,
                format!("{key} in {} is empty or damaged", shared_store.location()),
            )
            .hint("nothing is removed until the objects in use are known; check this object")
            .source(err)
        })?;
        out.extend(it.tasks);
    }
    Ok(out)
}

/// What the store takes for now.
pub fn store_time(shared_store: &dyn SharedStore) -> Result<SystemTime> {
    let key = ObjectKey::probe()?;
    shared_store.create(&key, b"{}\n".to_vec())?;
    let mut now = None;
    let listed = shared_store.list_in(key.folder(), &mut |it: ObjectMeta| {
        if it.name == key.name() {
            now = Some(it.modified);
        }
    });
    let _ = shared_store.remove(&key);
    listed?;
    now.ok_or_else(|| {
        Error::new(
            Code::StoreUnsafe,
            format!(
                "{} does not list an object that was just created there",
                shared_store.location()
            ),
        )
        .hint("commis cannot tell which objects are in use there")
    })
}

/// A task's folder. Whatever else lies there is somebody else's.
fn is_task_folder(folder: &str) -> bool {
    TaskId::parse(folder).is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::shared_store::SharedFolder;
    use commis_base::ids::RecipeName;

    struct Shared {
        home: tempfile::TempDir,
        shared_store: Arc<dyn SharedStore>,
    }

    fn shared() -> Shared {
        let home = tempfile::tempdir().unwrap();
        let shared_store = Arc::new(SharedFolder::open(&home.path().join("shared")).unwrap());
        Shared { home, shared_store }
    }

    fn id(name: &str) -> TaskId {
        TaskId::new("m", &RecipeName::new(name).unwrap())
    }

    impl Shared {
        /// As old as that.
        fn put(&self, id: &str, name: &str, days: u64) {
            self.shared_store
                .create(&ObjectKey::for_name(id, name).unwrap(), b"12345".to_vec())
                .unwrap();
            let file = std::fs::File::options()
                .write(true)
                .open(self.home.path().join("shared").join(id).join(name))
                .unwrap();
            let now = store_time(&*self.shared_store).unwrap();
            file.set_modified(now - Duration::from_secs(days * 86_400 + 60)).unwrap();
        }

        fn names(&self) -> Vec<(String, u64, bool)> {
            let all = list_entries(&*self.shared_store).unwrap();
            all.into_iter().map(|it| (it.name, it.days, it.in_use)).collect()
        }
    }

    #[test]
    fn the_newest_object_says_how_old_a_task_is() {
        let it = shared();
        let (a, b) = (id("a"), id("b"));
        it.put(a.as_str(), "01_record.aa.json", 40);
        it.put(a.as_str(), "02_rank.bb.json", 3);
        it.put(b.as_str(), "01_record.aa.json", 20);
        it.put("map-00ff", "chunk.json", 50);
        let photos = it.home.path().join("shared/Photos");
        commis_base::files::write_atomic(&photos, "01.json", b"somebody else's").unwrap();
        let all = it.names();
        assert_eq!(
            all,
            [
                ("map-00ff".to_owned(), 50, false),
                (b.to_string(), 20, false),
                (a.to_string(), 3, false)
            ]
        );
        let all = list_entries(&*it.shared_store).unwrap();
        assert_eq!((all[2].objects, all[2].bytes), (2, 10));
        assert!(clear(&*it.shared_store, &all[1]).unwrap());
        assert_eq!(it.names().len(), 2);
        assert!(!it.home.path().join("shared").join(b.as_str()).exists());
        assert!(photos.join("01.json").exists());
    }

    #[test]
    fn what_is_in_use_is_not_cleared_however_old() {
        let it = shared();
        let a = id("a");
        it.put(a.as_str(), "01_record.aa.json", 40);
        let held = mark_in_use(&it.shared_store, "mine", [&a].into_iter()).unwrap();
        let all = list_entries(&*it.shared_store).unwrap();
        assert!(all[0].in_use);
        assert!(!clear(&*it.shared_store, &all[0]).unwrap());
        drop(held);
        assert!(!list_entries(&*it.shared_store).unwrap()[0].in_use);

        // Of one that was killed, for an hour; then by nobody.
        let held = mark_in_use(&it.shared_store, "mine", [&a].into_iter()).unwrap();
        let now = store_time(&*it.shared_store).unwrap();
        assert_eq!(tasks_in_use(&*it.shared_store, now + BELIEVED / 2).unwrap().len(), 1);
        assert_eq!(tasks_in_use(&*it.shared_store, now + BELIEVED * 2).unwrap().len(), 0);
        drop(held);

        // What cannot be read may be anything.
        let key = ObjectKey::for_name(IN_USE, "x.json").unwrap();
        it.shared_store.create(&key, b"nothing".to_vec()).unwrap();
        assert_eq!(list_entries(&*it.shared_store).unwrap_err().code(), Code::ArtifactCorrupt);
        assert!(now > UNIX_EPOCH);
    }
}
