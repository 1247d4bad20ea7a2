//! What a shelf promises: one object a key, and nothing that is torn or somebody else's.

use std::{
    collections::BTreeMap,
    os::unix::fs::PermissionsExt as _,
    sync::{Mutex, PoisonError},
};

use super::*;
use crate::{
    payloads::BaselineFingerprint,
    store::{Stamp, Store},
};

fn id() -> TaskId {
    TaskId::parse("shop-search-0011aabb").unwrap()
}

/// The question, and an artifact that answers it.
fn with(check: impl FnOnce(&SharedFolder, &StageRequest<'_>, Vec<u8>)) {
    let home = tempfile::tempdir().unwrap();
    let (id, inputs) = (id(), BTreeMap::from([("recipe_draft".to_owned(), "aa".to_owned())]));
    let asked = StageRequest {
        task: &id,
        kind: Kind::BaselineFingerprint,
        stage: "baseline",
        stage_version: 1,
        inputs: &inputs,
        settings_sha256: "bb",
        again: 0,
    };
    let folder = Store::new(home.path().join("artifacts")).task(&id).unwrap();
    let payload = BaselineFingerprint {
        fingerprint_version: 1,
        fingerprint_sha256: "00".to_owned(),
        shape: vec!["$:object".to_owned()],
        items: Some(3),
    };
    let stamp = Stamp {
        source_url: String::new(),
        stage: "baseline".into(),
        stage_version: 1,
        inputs: inputs.clone(),
        settings_sha256: "bb".to_owned(),
    };
    folder.put(&payload, stamp).unwrap();
    let bytes = folder.bytes(asked.kind).unwrap().unwrap();
    check(&SharedFolder::open(&home.path().join("shared")).unwrap(), &asked, bytes);
}

#[test]
fn what_is_there_stays() {
    with(|shared_store, asked, bytes| {
        let key = asked.key();
        assert!(asked.read(shared_store).unwrap().is_none());
        assert!(shared_store.create(&key, bytes.clone()).unwrap());
        assert!(!shared_store.create(&key, b"another".to_vec()).unwrap());
        assert_eq!(asked.read(shared_store).unwrap().unwrap().0, bytes);
        let path = shared_store.root.join(key.to_string());
        let mode = |it: &Path| std::fs::metadata(it).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(mode(&shared_store.root), 0o700);
        assert!(shared_store.remove(&key).unwrap() && !shared_store.remove(&key).unwrap());
        probe(shared_store).unwrap();
    });
}

#[test]
fn another_question_is_another_key() {
    with(|_, asked, _| {
        let other = TaskId::parse("other-00000000").unwrap();
        let inputs = BTreeMap::from([("recipe_draft".to_owned(), "cc".to_owned())]);
        let of = |change: &dyn Fn(&mut StageRequest<'_>)| {
            let mut it = StageRequest { ..*asked };
            change(&mut it);
            it.key()
        };
        let mut keys = vec![asked.key()];
        keys.push(StageRequest { task: &other, ..*asked }.key());
        keys.push(StageRequest { inputs: &inputs, ..*asked }.key());
        keys.push(of(&|it| it.kind = Kind::RecipeDraft));
        keys.push(of(&|it| it.stage = "verify"));
        keys.push(of(&|it| it.stage_version = 2));
        keys.push(of(&|it| it.settings_sha256 = "b"));
        keys.push(of(&|it| it.again = 1));
        let n = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), n);
    });
}

#[test]
fn what_is_torn_or_foreign_is_refused() {
    with(|shared_store, asked, bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let edit = |from: &str, to: &str| {
            assert!(text.contains(from), "{text}");
            text.replacen(from, to, 1).into_bytes()
        };
        for (held, says) in [
            (bytes[..bytes.len() / 2].to_vec(), "not an artifact"),
            (Vec::new(), "not an artifact"),
            (edit("\"items\": 3", "\"items\": 4"), "payload hash does not hold"),
            (edit("shop-search-0011aabb", "other-00000000"), "belongs to task other-00000000"),
            (edit("\"recipe_draft\": \"aa\"", "\"recipe_draft\": \"ab\""), "inputs"),
            (edit("\"settings_sha256\": \"bb\"", "\"settings_sha256\": \"bc\""), "settings"),
            (edit("\"stage_version\": 1", "\"stage_version\": 2"), "stage version"),
            (edit("\"stage\": \"baseline\"", "\"stage\": \"verify\""), "stage"),
            (edit("\"baseline_fingerprint\"", "\"recipe_draft\""), "it is a recipe_draft"),
            (edit("\"artifact_version\": 1", "\"artifact_version\": 9"), "version 9"),
        ] {
            assert!(shared_store.create(&asked.key(), held).unwrap());
            let err = asked.read(shared_store).err().unwrap();
            assert_eq!(err.code(), Code::ArtifactCorrupt, "{says}");
            assert!(err.to_string().contains(says), "{err}");
            shared_store.remove(&asked.key()).unwrap();
        }
    });
}

/// A server that takes what is put, whatever was there.
#[derive(Default)]
struct OverwritingStore(Mutex<BTreeMap<ObjectKey, Vec<u8>>>, bool);

impl SharedStore for OverwritingStore {
    fn read(&self, key: &ObjectKey, _: usize) -> Result<Option<Vec<u8>>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned())
    }
    fn create(&self, key: &ObjectKey, bytes: Vec<u8>) -> Result<bool> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let was = all.insert(key.clone(), bytes).is_some();
        Ok(!(was && self.1))
    }
    fn remove(&self, key: &ObjectKey) -> Result<bool> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key).is_some())
    }
    fn list(&self, _: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        Ok(())
    }
    fn list_in(&self, _: &str, _: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        Ok(())
    }
    fn location(&self) -> String {
        "it".to_owned()
    }
}

#[test]
fn a_store_that_overwrites_is_refused() {
    // Whether it says that there was one or not.
    for says in [false, true] {
        let shared_store = OverwritingStore(Mutex::default(), says);
        assert_eq!(probe(&shared_store).unwrap_err().code(), Code::StoreUnsafe);
        assert!(shared_store.0.lock().unwrap().is_empty());
    }
}

/// A server that looks whether there is one, and then writes.
#[derive(Default)]
struct CheckThenWriteStore(OverwritingStore);

impl SharedStore for CheckThenWriteStore {
    fn read(&self, key: &ObjectKey, max: usize) -> Result<Option<Vec<u8>>> {
        self.0.read(key, max)
    }
    fn create(&self, key: &ObjectKey, bytes: Vec<u8>) -> Result<bool> {
        if self.0.read(key, bytes.len())?.is_some() {
            return Ok(false);
        }
        // As long as an answer of a disk.
        std::thread::sleep(std::time::Duration::from_millis(20));
        self.0.create(key, bytes)
    }
    fn remove(&self, key: &ObjectKey) -> Result<bool> {
        self.0.remove(key)
    }
    fn list(&self, _: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        Ok(())
    }
    fn list_in(&self, _: &str, _: &mut dyn FnMut(ObjectMeta)) -> Result<()> {
        Ok(())
    }
    fn location(&self) -> String {
        self.0.location()
    }
}

#[test]
fn a_store_that_looks_before_it_writes_is_refused() {
    let err = probe(&CheckThenWriteStore::default()).unwrap_err();
    assert_eq!(err.code(), Code::StoreUnsafe);
    assert!(err.to_string().contains("writers create the same object"), "{err}");
}

#[test]
fn keys_are_read_as_they_are_told() {
    let id = id();
    for it in [ObjectKey::for_task(&id), ObjectKey::for_entry(&id, b"x")] {
        assert_eq!(ObjectKey::parse(&it.to_string(), &id), Some(it));
    }
    for it in ["", "task.json", "other-00000000/task.json"] {
        assert_eq!(ObjectKey::parse(it, &id), None);
    }
    for name in ["", "../x", ".x", "a/b", "A", "a\n"] {
        assert_eq!(ObjectKey::parse(&format!("{id}/{name}"), &id), None, "{name:?}");
    }
}
