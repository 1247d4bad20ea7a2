//! Looking over all of the store: what is old, what is damaged, and taking things away.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    time::{Duration, SystemTime},
};

use super::{
    kinds::Kind,
    lease::GONE,
    store::{ArtifactState, Store},
};
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
    ids::TaskId,
};

/// Something in the store that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Finding {
    /// Below the root.
    pub file: String,
    pub what: String,
}

impl Store {
    /// When a file of the task was last written; `None` when it has none.
    pub fn last_written(&self, id: &TaskId) -> Result<Option<SystemTime>> {
        let path = self.root().join(id.as_str());
        let Some(dir) = Dir::open(&path, false)? else { return Ok(None) };
        let mut last = None;
        for name in dir.names()? {
            // What vanishes meanwhile is not old.
            if let Ok(it) = std::fs::symlink_metadata(path.join(&name)).and_then(|it| it.modified())
            {
                last = last.max(Some(it));
            }
        }
        Ok(last)
    }

    /// Whether the task's newest file is at least that old. An empty folder is as old as itself.
    pub fn is_older(&self, id: &TaskId, than: Duration, now: SystemTime) -> Result<bool> {
        let last = match self.last_written(id)? {
            Some(it) => Some(it),
            None => std::fs::symlink_metadata(self.root().join(id.as_str()))
                .and_then(|it| it.modified())
                .ok(),
        };
        // A time in the future is a clock that was set, not an old file.
        Ok(last.is_some_and(|it| now.duration_since(it).is_ok_and(|age| age >= than)))
    }

    /// Whether a process works on the task at this moment. Fails with [`Code::ArtifactIo`].
    pub fn is_busy(&self, id: &TaskId) -> Result<bool> {
        let Some(dir) = Dir::open(&self.root().join(id.as_str()), false)? else { return Ok(false) };
        Ok(dir.try_lock()?.is_none())
    }

    /// Removes a task's folder: out of sight at once, then from the disk. False when another process works on it, or when
    /// there is none. Fails with [`Code::ArtifactIo`].
    pub fn remove(&self, id: &TaskId) -> Result<bool> {
        if self.peek(id)?.is_none() {
            return Ok(false);
        }
        let held = match self.task(id) {
            Err(err) if err.code() == Code::TaskBusy => return Ok(false),
            other => other?,
        };
        let Some(root) = Dir::open(self.root(), false)? else { return Ok(false) };
        let (gone, dir) = (format!("{GONE}{id}"), held.dir());
        // Half removed it would look like a task that is not finished.
        if root.rename(id.as_str(), &gone)? {
            root.remove_folder(&gone, &dir)?;
        }
        drop(held);
        Ok(true)
    }

    /// Reads one task whole: each file's mode, and each artifact's hashes. Fails with [`Code::ArtifactIo`] where a folder
    /// cannot be opened.
    pub fn examine(&self, id: &TaskId) -> Result<Vec<Finding>> {
        let Some(folder) = self.peek(id)? else { return Ok(Vec::new()) };
        let path = self.root().join(id.as_str());
        let mut out = check_modes(&path, &format!("{id}/"))?;
        for &kind in Kind::ALL {
            let what = match folder.find(kind) {
                Ok(ArtifactState::Absent | ArtifactState::Intact(_)) => continue,
                Ok(ArtifactState::Corrupt(why)) => format!("damaged: {why}"),
                Ok(ArtifactState::OtherSchema(why)) => {
                    format!("of another version of commis: {why}")
                }
                Err(err) => err.to_string(),
            };
            out.push(Finding { file: format!("{id}/{}", kind.file()), what });
        }
        Ok(out)
    }

    /// The modes of the root and of the files in it. Fails with [`Code::ArtifactIo`].
    pub fn examine_root(&self) -> Result<Vec<Finding>> {
        if Dir::open(self.root(), false)?.is_none() {
            return Ok(Vec::new());
        }
        check_modes(self.root(), "")
    }
}

/// Whoever is not the owner may do nothing with a folder and the files in it; there are no links and special files.
fn check_modes(folder: &Path, shown: &str) -> Result<Vec<Finding>> {
    let io =
        |err| Error::new(Code::ArtifactIo, format!("cannot list {}", folder.display())).source(err);
    let mut out = Vec::new();
    let mut check = |path: &Path, name: &str, wanted: u32| {
        let Ok(it) = std::fs::symlink_metadata(path) else { return };
        let mode = it.permissions().mode() & 0o7777;
        let what = if it.is_symlink() || !(it.is_file() || it.is_dir()) {
            "a link or a special file".to_owned()
        } else if mode != wanted {
            format!("mode {mode:04o} instead of {wanted:04o}")
        } else {
            return;
        };
        out.push(Finding { file: format!("{shown}{name}"), what });
    };
    check(folder, "", 0o700);
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let is_folder = entry.file_type().map_err(io)?.is_dir();
        // Folders of tasks have their turn.
        if !(is_folder && shown.is_empty()) {
            let wanted = if is_folder { 0o700 } else { 0o600 };
            check(&entry.path(), &entry.file_name().to_string_lossy(), wanted);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::{files::write_atomic, ids::RecipeName};

    fn task(store: &Store, name: &str) -> TaskId {
        let id = TaskId::new("m", &RecipeName::new(name).unwrap());
        write_atomic(&store.root().join(id.as_str()), "task.json", b"{}").unwrap();
        id
    }

    #[test]
    fn a_task_at_work_is_not_removed() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("artifacts"));
        let id = task(&store, "a");
        let held = store.task(&id).unwrap();
        assert!(!store.remove(&id).unwrap());
        assert!(store.peek(&id).unwrap().is_some());
        drop(held);
        assert!(store.remove(&id).unwrap());
        assert!(store.peek(&id).unwrap().is_none());
        assert!(!store.remove(&id).unwrap());
        assert_eq!(store.tasks().unwrap(), []);
    }

    #[test]
    fn age_is_that_of_the_newest_file() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("artifacts"));
        let id = task(&store, "a");
        let written = store.last_written(&id).unwrap().unwrap();
        let hour = Duration::from_secs(3600);
        assert!(!store.is_older(&id, hour, written + hour / 2).unwrap());
        assert!(store.is_older(&id, hour, written + hour).unwrap());
        assert!(!store.is_older(&id, hour, written - hour).unwrap(), "from the future");
    }

    #[test]
    fn modes_and_links_are_found() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::new(home.path().join("artifacts"));
        let id = task(&store, "a");
        assert_eq!((store.examine(&id).unwrap(), store.examine_root().unwrap()), (vec![], vec![]));
        let folder = store.root().join(id.as_str());
        let chmod = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        chmod(&folder.join("task.json"), 0o644);
        chmod(&folder, 0o755);
        std::os::unix::fs::symlink("/dev/null", folder.join("01_session_recording.json")).unwrap();
        write_atomic(&folder, "02_candidate_set.json", b"{}").unwrap();
        let found: Vec<String> =
            store.examine(&id).unwrap().into_iter().map(|it| it.what).collect();
        for part in ["0644", "0755", "a link", "damaged"] {
            assert!(found.iter().any(|it| it.contains(part)), "{part}: {found:?}");
        }
    }
}
