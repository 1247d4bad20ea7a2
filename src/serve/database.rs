//! A database of the daemon's: SQLite in its own folder, where a commit is on disk when it is done.

use std::{path::Path, time::Duration};

use rusqlite::{Connection, OpenFlags};

use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
};

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(10);

/// Opens the database of that name in that folder, or makes it (0600, never through a link), and brings it up to date. One that is
/// damaged is set aside, and the log says so. Fails with `ARTIFACT_IO`.
pub fn open(folder: &Path, file: &'static str, migrations: &[&str]) -> Result<Connection> {
    let dir = files::open_or_create(folder)?;
    let path = std::fs::canonicalize(folder)
        .map_err(|err| {
            Error::new(Code::ArtifactIo, format!("cannot open {}", folder.display())).source(err)
        })?
        .join(file);
    match connect(&dir, &path, file, migrations) {
        Err(err) if is_damage(&err) => {
            tracing::error!("{file} cannot be read and was renamed; its content is lost");
            for beside in ["", "-wal", "-shm"] {
                dir.rename(&format!("{file}{beside}"), &format!("{file}{beside}.damaged"))?;
            }
            connect(&dir, &path, file, migrations)
        }
        it => it,
    }
    .map_err(|err| io_error(file, err))
}

/// What the database says, as an error of ours.
pub fn io_error(file: &str, err: rusqlite::Error) -> Error {
    Error::new(Code::ArtifactIo, format!("{file} cannot be used"))
        .source(err)
        .hint("check the disk; after you move the file away, `commis daemon start` makes a new one")
}

fn connect(
    dir: &Dir,
    path: &Path,
    file: &str,
    migrations: &[&str],
) -> rusqlite::Result<Connection> {
    dir.make_file(file).map_err(|err| {
        rusqlite::Error::ToSqlConversionFailure(Box::new(std::io::Error::other(err)))
    })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(PATIENCE)?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    db.pragma_update(None, "trusted_schema", false)?;
    let applied: u32 = db.pragma_query_value(None, "user_version", |it| it.get(0))?;
    if applied as usize > migrations.len() {
        return Err(rusqlite::Error::ToSqlConversionFailure(
            "it was written by a newer commis".into(),
        ));
    }
    let change = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for sql in migrations.get(applied as usize..).unwrap_or_default() {
        change.execute_batch(sql)?;
    }
    change.pragma_update(None, "user_version", migrations.len() as u32)?;
    change.commit()?;
    Ok(db)
}

fn is_damage(err: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    matches!(err.sqlite_error_code(), Some(NotADatabase | DatabaseCorrupt))
}
