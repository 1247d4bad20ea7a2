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

use super::shelf::{Key, Object, Shelf};
use commis_base::{
    error::{Code, Error, Result},
    ids::{TaskId, word},
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
pub struct InUse {
    /// The batch's name.
    pub batch: String,
    pub tasks: BTreeSet<String>,
}

/// Says that tasks are in use until it is dropped.
pub struct Hold {
    shelf: Arc<dyn Shelf>,
    now: Arc<(Mutex<Held>, Condvar)>,
}

struct Held {
    key: Key,
    ended: bool,
}

/// Says so from here on. Fails as [`Shelf::create`].
pub fn hold<'a>(
    shelf: &Arc<dyn Shelf>,
    batch: &str,
    tasks: impl Iterator<Item = &'a TaskId>,
) -> Result<Hold> {
    let it = InUse { batch: batch.to_owned(), tasks: tasks.map(ToString::to_string).collect() };
    let bytes = serde_json::to_vec(&it)
        .map_err(|err| Error::new(Code::Internal, "tasks in use").source(err))?;
    let now =
        Arc::new((Mutex::new(Held { key: said(&**shelf, &bytes)?, ended: false }), Condvar::new()));
    let (its, watched) = (Arc::clone(shelf), Arc::clone(&now));
    let renew = move || renewed(&*its, &watched, &bytes);
    std::thread::Builder::new()
        .name("in-use".to_owned())
        .spawn(renew)
        .map_err(|err| Error::new(Code::Internal, "no thread to say it on").source(err))?;
    Ok(Hold { shelf: Arc::clone(shelf), now })
}

fn said(shelf: &dyn Shelf, bytes: &[u8]) -> Result<Key> {
    let key = Key::plain(IN_USE, &format!("{}.json", word()?))
        .ok_or_else(|| Error::new(Code::Internal, "a key is none"))?;
    shelf.create(&key, bytes.to_vec())?;
    Ok(key)
}

/// Nothing in a store is replaced: the new one is there before the old one goes.
fn renewed(shelf: &dyn Shelf, (held, end): &(Mutex<Held>, Condvar), bytes: &[u8]) {
    let mut now = held.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let waited = end.wait_timeout_while(now, RENEWED, |it| !it.ended);
        now = waited.unwrap_or_else(PoisonError::into_inner).0;
        if now.ended {
            return;
        }
        // A store that is away for a while is asked again; what it has is believed for longer.
        match said(shelf, bytes) {
            Ok(key) => {
                let old = std::mem::replace(&mut now.key, key);
                let _ = shelf.remove(&old);
            }
            Err(err) => tracing::warn!(error = %err, "a store does not know what is in use"),
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut now = self.now.0.lock().unwrap_or_else(PoisonError::into_inner);
        now.ended = true;
        self.now.1.notify_all();
        // Else it is believed for a while.
        let _ = self.shelf.remove(&now.key);
    }
}

/// What a store has of one task, or of a part of `recipe map` or `recipe check`.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Kept {
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

/// Everything in a store, the oldest first. Fails as [`Shelf::list`] and [`Shelf::read`].
pub fn survey(shelf: &dyn Shelf) -> Result<Vec<Kept>> {
    let now = clock(shelf)?;
    let mut all: BTreeMap<String, (Kept, SystemTime)> = BTreeMap::new();
    shelf.list(&mut |it: Object| {
        if !is_ours(&it.folder) {
            return;
        }
        let (kept, newest) = all.entry(it.folder.clone()).or_insert_with(|| {
            let kept = Kept {
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
    let used = in_use(shelf, now)?;
    let mut all: Vec<Kept> = all
        .into_values()
        .map(|(kept, newest)| {
            let days = now.duration_since(newest).map_or(0, |it| it.as_secs() / (24 * 60 * 60));
            Kept { days, in_use: used.contains(&kept.name), ..kept }
        })
        .collect();
    all.sort_by(|a, b| b.days.cmp(&a.days).then_with(|| a.name.cmp(&b.name)));
    Ok(all)
}

/// Takes it away, unless somebody has begun to work with it; false then. What later stages made goes first: less is left to be done
/// again than nothing, whenever this is interrupted. Fails as [`Shelf`] does.
pub fn clear(shelf: &dyn Shelf, kept: &Kept) -> Result<bool> {
    if kept.in_use {
        return Ok(false);
    }
    let mut names = kept.keys.clone();
    names.sort_unstable();
    for name in names.iter().rev() {
        let Some(key) = Key::plain(&kept.name, name) else { continue };
        shelf.remove(&key)?;
    }
    shelf.tidy(&kept.name);
    Ok(true)
}

/// Tasks that somebody says are in use.
pub fn in_use(shelf: &dyn Shelf, now: SystemTime) -> Result<BTreeSet<String>> {
    let mut names = Vec::new();
    shelf.list_in(IN_USE, &mut |it: Object| {
        // A time in the future is another clock's.
        if now.duration_since(it.modified).is_ok_and(|age| age > BELIEVED) {
            return;
        }
        names.push(it.name);
    })?;
    let mut out = BTreeSet::new();
    for name in names {
        let Some(key) = Key::plain(IN_USE, &name) else { continue };
        // It may have ended since.
        let Some(bytes) = shelf.read(&key, MAX)? else { continue };
        let it: InUse = serde_json::from_slice(&bytes).map_err(|err| {
            Error::new(Code::ArtifactCorrupt, format!("{key} in {} says nothing", shelf.shown()))
                .hint("nothing is cleared before it is known what is in use; look at it")
                .source(err)
        })?;
        out.extend(it.tasks);
    }
    Ok(out)
}

/// What the store takes for now.
pub fn clock(shelf: &dyn Shelf) -> Result<SystemTime> {
    let key = Key::probe()?;
    shelf.create(&key, b"{}\n".to_vec())?;
    let mut now = None;
    let listed = shelf.list_in(key.folder(), &mut |it: Object| {
        if it.name == key.name() {
            now = Some(it.modified);
        }
    });
    let _ = shelf.remove(&key);
    listed?;
    now.ok_or_else(|| {
        Error::new(
            Code::StoreUnsafe,
            format!("{} does not list what was just put there", shelf.shown()),
        )
        .hint("what is in use there cannot be known")
    })
}

/// A task's folder. Whatever else lies there is somebody else's.
fn is_ours(folder: &str) -> bool {
    TaskId::parse(folder).is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::shelf::SharedFolder;
    use commis_base::ids::RecipeName;

    struct Shared {
        home: tempfile::TempDir,
        shelf: Arc<dyn Shelf>,
    }

    fn shared() -> Shared {
        let home = tempfile::tempdir().unwrap();
        let shelf = Arc::new(SharedFolder::open(&home.path().join("shared")).unwrap());
        Shared { home, shelf }
    }

    fn id(name: &str) -> TaskId {
        TaskId::of("m", &RecipeName::new(name).unwrap())
    }

    impl Shared {
        /// As old as that.
        fn put(&self, id: &str, name: &str, days: u64) {
            self.shelf.create(&Key::plain(id, name).unwrap(), b"12345".to_vec()).unwrap();
            let file = std::fs::File::options()
                .write(true)
                .open(self.home.path().join("shared").join(id).join(name))
                .unwrap();
            let now = clock(&*self.shelf).unwrap();
            file.set_modified(now - Duration::from_secs(days * 86_400 + 60)).unwrap();
        }

        fn names(&self) -> Vec<(String, u64, bool)> {
            let all = survey(&*self.shelf).unwrap();
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
        let all = survey(&*it.shelf).unwrap();
        assert_eq!((all[2].objects, all[2].bytes), (2, 10));
        assert!(clear(&*it.shelf, &all[1]).unwrap());
        assert_eq!(it.names().len(), 2);
        assert!(!it.home.path().join("shared").join(b.as_str()).exists());
        assert!(photos.join("01.json").exists());
    }

    #[test]
    fn what_is_in_use_is_not_cleared_however_old() {
        let it = shared();
        let a = id("a");
        it.put(a.as_str(), "01_record.aa.json", 40);
        let held = hold(&it.shelf, "mine", [&a].into_iter()).unwrap();
        let all = survey(&*it.shelf).unwrap();
        assert!(all[0].in_use);
        assert!(!clear(&*it.shelf, &all[0]).unwrap());
        drop(held);
        assert!(!survey(&*it.shelf).unwrap()[0].in_use);

        // Of one that was killed, for an hour; then by nobody.
        let held = hold(&it.shelf, "mine", [&a].into_iter()).unwrap();
        let now = clock(&*it.shelf).unwrap();
        assert_eq!(in_use(&*it.shelf, now + BELIEVED / 2).unwrap().len(), 1);
        assert_eq!(in_use(&*it.shelf, now + BELIEVED * 2).unwrap().len(), 0);
        drop(held);

        // What cannot be read may be anything.
        let key = Key::plain(IN_USE, "x.json").unwrap();
        it.shelf.create(&key, b"nothing".to_vec()).unwrap();
        assert_eq!(survey(&*it.shelf).unwrap_err().code(), Code::ArtifactCorrupt);
        assert!(now > UNIX_EPOCH);
    }
}
