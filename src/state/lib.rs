//! State that may be lost: where each task of a batch stands, and how recipes have done. SQLite, beside the artifacts.
//!
//! Nothing here is a source of truth. What a task came to is rebuilt from its artifacts (`pipeline::rebuild`), recipes are
//! defined by their files. A database that cannot be read is set aside and begun again.

mod health;
mod stage_inputs;
mod tasks;

use std::{
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

pub use commis_base::blame::{Blame, blame};
pub use health::{DayCounts, Health, KEPT_DAYS, RecipeRun, day_of};
pub use tasks::{Ending, FinishedTask, StageSpan, Status, TaskRow};

use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
};

const FILE: &str = "state.db";
const HINT: &str = "check the disk; if you remove the file, commis rebuilds it from the artifacts";
/// Suffixes of the files that SQLite keeps beside it.
const BESIDE: &[&str] = &["", "-wal", "-shm"];
/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long one waits who has something to note that nobody misses.
const BRIEFLY: Duration = Duration::from_millis(250);
/// Bytes of a log that is left to the next process: about 30 runs.
const MAX_LOG: u64 = 64 * 4096;
/// How long `connect` waits between two attempts.
const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// What each version added; `user_version` counts those that were applied.
const MIGRATIONS: &[&str] =
    &[tasks::SCHEMA, health::SCHEMA, stage_inputs::SCHEMA, tasks::FAILURES, health::DAYS];

/// The open database, shared by the tasks of a process.
pub struct State {
    db: Mutex<Connection>,
}

impl State {
    /// Opens the database in that folder, or makes it (0600, never through a link). One that is damaged, or that a later
    /// commis wrote, is set aside as `state.db.damaged`. Fails with [`Code::ArtifactIo`].
    pub fn open(folder: &Path) -> Result<Self> {
        Self::open_within(folder, PATIENCE)
    }

    /// As [`State::open`], for what may go unnoted: who waits for another process, waits briefly, and what is written survives
    /// the process, but not always a power cut.
    pub fn open_briefly(folder: &Path) -> Result<Self> {
        let it = Self::open_within(folder, BRIEFLY)?;
        // Who closes it last copies the log into the file and removes it, and waits for the disk twice: once in many runs, because
        // who opens it next reads the whole log. Nothing else begins the log anew where each process is alone with it: what was
        // copied is only in the memory that they share.
        let log = folder.join(format!("{FILE}-wal")).metadata().map_or(0, |it| it.len());
        if log < MAX_LOG {
            it.with_db(|db| db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true))?;
        }
        Ok(it)
    }

    /// As [`State::open_briefly`], where there is a database; trouble with it counts as none.
    pub fn open_existing(folder: &Path) -> Option<Self> {
        let there = folder.join(FILE).symlink_metadata().is_ok();
        there.then(|| Self::open_briefly(folder).ok()).flatten()
    }

    fn open_within(folder: &Path, timeout: Duration) -> Result<Self> {
        let dir = Dir::open(folder, true)?.ok_or_else(|| {
            Error::new(
                Code::ArtifactIo,
                format!("{} was removed while commis used it", folder.display()),
            )
        })?;
        // The folder itself is no link, but one may lead there, and SQLite refuses any.
        let path = std::fs::canonicalize(folder)
            .map_err(|err| {
                Error::new(Code::ArtifactIo, format!("cannot open {}", folder.display()))
                    .source(err)
            })?
            .join(FILE);
        match Self::connect(&dir, &path, timeout) {
            Ok(it) => Ok(it),
            Err(OpenError::Sql(err)) if is_corruption(&err) => {
                Self::quarantine(&dir)?;
                Self::connect(&dir, &path, timeout).map_err(|it| it.into_error(&path))
            }
            Err(OpenError::Newer) => {
                Self::quarantine(&dir)?;
                Self::connect(&dir, &path, timeout).map_err(|it| it.into_error(&path))
            }
            Err(it) => Err(it.into_error(&path)),
        }
    }

    /// Connects, and retries while another process creates the database: SQLite reports a conflict over the journal mode at
    /// once instead of waiting for `busy_timeout`.
    fn connect(dir: &Dir, path: &Path, timeout: Duration) -> Result<Self, OpenError> {
        let deadline = Instant::now() + timeout;
        loop {
            match Self::connect_once(dir, path, timeout) {
                Err(OpenError::Sql(err)) if is_busy(&err) && Instant::now() < deadline => {
                    std::thread::sleep(RETRY_INTERVAL);
                }
                result => return result,
            }
        }
    }

    fn connect_once(dir: &Dir, path: &Path, timeout: Duration) -> Result<Self, OpenError> {
        // SQLite gives its other files the mode of this one.
        let new = dir.make_file(FILE).map_err(OpenError::Ours)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let mut db = Connection::open_with_flags(path, flags)?;
        db.busy_timeout(timeout)?;
        // A commit survives this process; after a power cut the last ones may be gone, and are found again on disk. While it is
        // made nothing waits for the disk: all but an empty page is in the log, of which only what is whole is read.
        db.pragma_update(None, "synchronous", if new { "OFF" } else { "NORMAL" })?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        db.pragma_update(None, "trusted_schema", false)?;
        let applied = |db: &Connection| -> rusqlite::Result<usize> {
            db.pragma_query_value(None, "user_version", |it| it.get::<_, u32>(0))
                .map(|it| it as usize)
        };
        // Usually there is nothing to change, and nobody has to wait for a turn to write.
        if applied(&db)? == MIGRATIONS.len() {
            db.pragma_update(None, "synchronous", "NORMAL")?;
            return Ok(Self { db: Mutex::new(db) });
        }
        let change = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        let applied = applied(&change)?;
        if applied > MIGRATIONS.len() {
            return Err(OpenError::Newer);
        }
        for sql in &MIGRATIONS[applied..] {
            change.execute_batch(sql)?;
        }
        change.pragma_update(None, "user_version", MIGRATIONS.len() as u32)?;
        change.commit()?;
        db.pragma_update(None, "synchronous", "NORMAL")?;
        Ok(Self { db: Mutex::new(db) })
    }

    fn quarantine(dir: &Dir) -> Result<()> {
        tracing::warn!("{FILE} cannot be read and is set aside");
        for it in BESIDE {
            dir.rename(&format!("{FILE}{it}"), &format!("{FILE}{it}.damaged"))?;
        }
        Ok(())
    }

    fn db(&self) -> MutexGuard<'_, Connection> {
        self.db.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something to the database. Fails with [`Code::ArtifactIo`].
    fn with_db<T>(&self, what: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        what(&self.db()).map_err(db_error)
    }
}

enum OpenError {
    Sql(rusqlite::Error),
    Ours(Error),
    Newer,
}

impl From<rusqlite::Error> for OpenError {
    fn from(it: rusqlite::Error) -> Self {
        Self::Sql(it)
    }
}

impl OpenError {
    fn into_error(self, path: &Path) -> Error {
        match self {
            Self::Ours(it) => it,
            Self::Sql(err) => {
                Error::new(Code::ArtifactIo, format!("cannot open {}", path.display()))
                    .source(err)
                    .hint(HINT)
            }
            Self::Newer => Error::new(
                Code::ArtifactIo,
                format!("{} was written by a later commis", path.display()),
            ),
        }
    }
}

fn db_error(err: rusqlite::Error) -> Error {
    Error::new(Code::ArtifactIo, format!("{FILE} cannot be used")).source(err).hint(HINT)
}

fn is_busy(err: &rusqlite::Error) -> bool {
    matches!(err.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn is_corruption(err: &rusqlite::Error) -> bool {
    matches!(
        err.sqlite_error_code(),
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt | ErrorCode::SchemaChanged)
    ) || matches!(err, rusqlite::Error::SqliteFailure(it, _) if it.code == ErrorCode::Unknown)
}

/// Milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "when a task began and ended; it reaches no payload")]
pub fn now_ms() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |it| it.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn several_that_create_it_at_once_all_open_it() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let start = std::sync::Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        start.wait();
                        State::open(folder.path()).unwrap();
                    });
                }
            });
        }
    }

    #[test]
    fn it_is_private_and_keeps_what_it_is_told() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("artifacts");
        let row = TaskRow::new("a-00000000", "m", "a", Some("shop.test"));
        {
            let state = State::open(&folder).unwrap();
            state.add_tasks(std::slice::from_ref(&row)).unwrap();
        }
        for it in std::fs::read_dir(&folder).unwrap() {
            assert_eq!(it.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        }
        let state = State::open(&folder).unwrap();
        assert_eq!(state.tasks().unwrap(), [row]);
    }

    /// Each of many short processes opens it alone; none finds a log that grew with their number.
    #[test]
    fn its_log_does_not_grow_with_the_number_of_runs() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("artifacts");
        let log = || folder.join("state.db-wal").metadata().map_or(0, |it| it.len());
        let mut largest = 0;
        for n in 0..200 {
            let state = State::open_briefly(&folder).unwrap();
            state.add_tasks(&[TaskRow::new(&format!("t-{n:08}"), "m", "a", None)]).unwrap();
            drop(state);
            largest = largest.max(log());
        }
        assert!(largest > 0, "each run has waited for the disk");
        assert!(largest < 2 * MAX_LOG, "{largest} bytes");
        assert_eq!(State::open(&folder).unwrap().tasks().unwrap().len(), 200);
    }

    #[test]
    fn what_cannot_be_read_is_set_aside() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("artifacts");
        let plant = |bytes: &[u8]| commis_base::files::write_atomic(&folder, FILE, bytes).unwrap();
        for junk in [&b"no database, whatever its name says. ".repeat(50)[..], &[0; 4096]] {
            plant(junk);
            let state = State::open(&folder).unwrap();
            assert_eq!(state.tasks().unwrap(), []);
            drop(state);
            assert!(folder.join("state.db.damaged").exists());
            std::fs::remove_file(folder.join("state.db.damaged")).unwrap();
        }
        let state = State::open(&folder).unwrap();
        state.with_db(|db| db.pragma_update(None, "user_version", 1000)).unwrap();
        drop(state);
        assert_eq!(State::open(&folder).unwrap().tasks().unwrap(), []);
        assert!(folder.join("state.db.damaged").exists());
    }

    #[test]
    fn a_link_is_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("artifacts");
        commis_base::files::ensure_private_dir(&folder).unwrap();
        let other = home.path().join("other");
        std::os::unix::fs::symlink(&other, folder.join(FILE)).unwrap();
        assert_eq!(State::open(&folder).err().map(|it| it.code()), Some(Code::ArtifactIo));
        assert!(!other.exists());
    }
}
