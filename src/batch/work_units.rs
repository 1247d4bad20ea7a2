//! Work that is handed to other machines as an object in a store that both reach; what came of it is another. A part's id is made of
//! all that it holds.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use commis_artifacts::shared_store::{ObjectKey, SharedStore};
use commis_base::{
    error::{Code, Error, Result},
    ids::{TaskId, hex},
};

/// Puts a part there under that name; its id begins with `kind`. Fails as [`SharedStore::create`].
pub fn store<T: Serialize>(
    shared_store: &dyn SharedStore,
    kind: &str,
    name: &str,
    part: &T,
) -> Result<TaskId> {
    let bytes = json(part)?;
    let id = TaskId::parse(&part_id(kind, &bytes))?;
    shared_store.create(&key(&id, name)?, bytes)?;
    Ok(id)
}

/// As [`read`], a part as it was put. Fails with `TASK_NOT_FOUND` also, and with `ARTIFACT_CORRUPT` for one that is another's.
pub fn load<T: for<'a> Deserialize<'a>>(
    shared_store: &dyn SharedStore,
    kind: &str,
    (id, name): (&TaskId, &str),
    max: usize,
) -> Result<T> {
    let key = key(id, name)?;
    let bytes = shared_store.read(&key, max)?.ok_or_else(|| {
        Error::new(Code::TaskNotFound, format!("{} has no {key}", shared_store.location()))
    })?;
    if part_id(kind, &bytes) != id.as_str() {
        let why = format!("{key} in {} is not what it was", shared_store.location());
        return Err(Error::new(Code::ArtifactCorrupt, why));
    }
    parsed(shared_store, &key, &bytes)
}

/// Puts there what came of a part; what is there already stays. Fails as [`SharedStore::create`].
pub fn store_result<T: Serialize>(
    shared_store: &dyn SharedStore,
    id: &TaskId,
    name: &str,
    it: &T,
) -> Result<()> {
    shared_store.create(&key(id, name)?, json(it)?).map(drop)
}

/// What is there; `None` when nothing is. Fails with `ARTIFACT_CORRUPT`, and as [`SharedStore::read`].
pub fn read<T: for<'a> Deserialize<'a>>(
    shared_store: &dyn SharedStore,
    id: &TaskId,
    name: &str,
    max: usize,
) -> Result<Option<T>> {
    let key = key(id, name)?;
    let Some(bytes) = shared_store.read(&key, max)? else { return Ok(None) };
    parsed(shared_store, &key, &bytes).map(Some)
}

pub fn key(id: &TaskId, name: &str) -> Result<ObjectKey> {
    ObjectKey::for_name(id.as_str(), name)
        .ok_or_else(|| Error::new(Code::Internal, "a work unit has no valid key"))
}

/// The id of a part of those bytes.
fn part_id(kind: &str, bytes: &[u8]) -> String {
    format!("{kind}-{}", &hex(&Sha256::digest(bytes))[..16])
}

fn json<T: Serialize>(it: &T) -> Result<Vec<u8>> {
    serde_json::to_vec(it)
        .map_err(|err| Error::new(Code::Internal, "cannot write a work unit as JSON").source(err))
}

fn parsed<T: for<'a> Deserialize<'a>>(
    shared_store: &dyn SharedStore,
    key: &ObjectKey,
    bytes: &[u8],
) -> Result<T> {
    serde_json::from_slice(bytes).map_err(|err| {
        Error::new(
            Code::ArtifactCorrupt,
            format!("{key} in {} is damaged", shared_store.location()),
        )
        .hint("find out who wrote it and remove it; the part then runs again")
        .source(err)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use commis_artifacts::shared_store::SharedFolder;

    #[test]
    fn a_part_is_what_its_name_says_or_nothing() {
        let home = tempfile::tempdir().unwrap();
        let shared_store = SharedFolder::open(home.path()).unwrap();
        let id = store(&shared_store, "map", "chunk.json", &json!({"lines": [1, 2]})).unwrap();
        assert_eq!(
            store(&shared_store, "map", "chunk.json", &json!({"lines": [1, 2]})).unwrap(),
            id
        );
        let got = |kind| load::<Value>(&shared_store, kind, (&id, "chunk.json"), 100);
        assert_eq!(got("map").unwrap(), json!({"lines": [1, 2]}));
        // Of another kind, other content, none.
        assert_eq!(got("check").unwrap_err().code(), Code::ArtifactCorrupt);
        let path = home.path().join(id.as_str()).join("chunk.json");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(got("map").unwrap_err().code(), Code::TaskNotFound);
        shared_store
            .create(&key(&id, "chunk.json").unwrap(), b"{\"lines\":[1,3]}".to_vec())
            .unwrap();
        assert_eq!(got("map").unwrap_err().code(), Code::ArtifactCorrupt);

        // What came of it: the first counts, a damaged one says so.
        assert_eq!(read::<Value>(&shared_store, &id, "results.json", 100).unwrap(), None);
        store_result(&shared_store, &id, "results.json", &json!([1])).unwrap();
        store_result(&shared_store, &id, "results.json", &json!([2])).unwrap();
        assert_eq!(read(&shared_store, &id, "results.json", 100).unwrap(), Some(json!([1])));
        shared_store.create(&key(&id, "other.json").unwrap(), b"[1".to_vec()).unwrap();
        let err = read::<Value>(&shared_store, &id, "other.json", 100).unwrap_err();
        assert_eq!(err.code(), Code::ArtifactCorrupt);
        assert!(err.hint_text().unwrap().contains("runs again"));
    }
}
