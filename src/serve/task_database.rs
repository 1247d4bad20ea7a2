//! What the daemon must not forget: tasks, their events, keys of requests, tokens. SQLite, in a folder of its own.
//!
//! A task is written down before anyone is told of it, and its end before anyone is told of that. Unlike `state/` this is a
//! source of truth: a commit is on disk when it is done.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::broadcast;

use super::{answer::Answer, database};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
};
use commis_state::now_ms;

const FILE: &str = "daemon.db";
const RESULTS: &str = "results";
/// A result that is larger is a file (seed 0.1).
const MAX_RESULT: usize = 10 * 1024;
/// Of one task (seed 7).
pub const MAX_EVENTS: i64 = 200;
/// How long a key stands for its task.
const KEY_MS: i64 = 24 * 60 * 60 * 1000;
/// Tasks that ended are forgotten after this time, and the oldest of them where there are more.
const KEPT_MS: i64 = 7 * 24 * 60 * 60 * 1000;
const KEPT: i64 = 20_000;
/// A task that was taken up so often and brought the daemon down each time is not taken up again.
const AGAIN: i64 = 2;
/// What a watcher may be behind by; then its stream ends, and it comes back with the last id that it saw.
const BEHIND: usize = 256;

const MIGRATIONS: &[&str] = &[
    "
CREATE TABLE tasks (
    id TEXT PRIMARY KEY,
    operation TEXT NOT NULL,
    -- JSON; what it works with.
    args TEXT NOT NULL,
    principal TEXT NOT NULL,
    state TEXT NOT NULL,
    stage TEXT,
    created_ms INTEGER NOT NULL,
    began_ms INTEGER,
    ended_ms INTEGER,
    -- JSON; NULL where it is a file, or there is none.
    result TEXT,
    -- JSON.
    error TEXT
) WITHOUT ROWID;
CREATE INDEX tasks_by_time ON tasks (created_ms);
CREATE INDEX tasks_by_state ON tasks (state);
CREATE TABLE events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL
);
CREATE INDEX events_of ON events (task_id);
CREATE TABLE keys (
    hash TEXT PRIMARY KEY,
    input TEXT NOT NULL,
    task_id TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    scopes TEXT NOT NULL,
    note TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER
) WITHOUT ROWID;
CREATE TABLE nonces (
    nonce TEXT PRIMARY KEY,
    expires_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE digests (
    name TEXT PRIMARY KEY,
    digest TEXT NOT NULL
) WITHOUT ROWID;
",
    "
-- What it works with held a secret, which is in memory alone.
ALTER TABLE tasks ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
-- How often it was taken up again by a later daemon.
ALTER TABLE tasks ADD COLUMN again INTEGER NOT NULL DEFAULT 0;
-- The result does not fit the schema that its tool declares.
ALTER TABLE tasks ADD COLUMN off_schema INTEGER NOT NULL DEFAULT 0;
",
];

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    Queued,
    Running,
    WaitingForApproval,
    Done,
    Failed,
    Cancelled,
    /// The daemon ended while it ran.
    Interrupted,
}

impl TaskState {
    const ALL: [Self; 7] = [
        Self::Queued,
        Self::Running,
        Self::WaitingForApproval,
        Self::Done,
        Self::Failed,
        Self::Cancelled,
        Self::Interrupted,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::WaitingForApproval => "waiting_for_approval",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }

    pub const fn has_ended(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled | Self::Interrupted)
    }
}

/// One task, without its result.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TaskView {
    pub task_id: String,
    /// The operation that it is.
    pub operation: String,
    /// What it works with.
    pub args: Value,
    pub state: TaskState,
    /// The stage of learning that it is in, or ended in.
    pub stage: Option<String>,
    /// Milliseconds since 1970.
    pub created_ms: i64,
    pub began_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// Why it came to nothing.
    pub error: Option<Value>,
    /// Who asked for it.
    pub principal: String,
    /// What it works with held a secret, which only the daemon knows that was asked.
    #[serde(skip)]
    pub hidden: bool,
    /// What it came to does not fit the schema that its tool declares.
    #[serde(skip)]
    pub off_schema: bool,
}

/// One thing that happened.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Grows.
    pub id: i64,
    pub task_id: Option<String>,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    pub kind: String,
    pub data: Value,
}

/// A token as it is kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TokenView {
    pub id: String,
    #[serde(skip)]
    pub hash: String,
    pub scopes: Vec<String>,
    /// What it is for, in the words of who made it.
    pub note: String,
    pub created_ms: i64,
    pub expires_ms: Option<i64>,
}

/// What a key of a request stands for.
pub enum KeyLookup {
    /// Nothing yet; now for the task that was given.
    New,
    /// That task, made with the same input.
    Old(String),
}

/// The open database.
pub struct Database {
    db: Arc<Mutex<Connection>>,
    /// Events are told in the order of their ids: while the database is held.
    told: broadcast::Sender<Event>,
    folder: PathBuf,
}

fn trouble(err: rusqlite::Error) -> Error {
    database::io_error(FILE, err)
}

impl Database {
    /// Opens it in that folder, or makes it (0600, never through a link). One that is damaged is set aside, and that is
    /// said in the log. Fails with `ARTIFACT_IO`.
    pub fn open(folder: &Path) -> Result<Self> {
        drop(files::open_or_create(&folder.join(RESULTS))?);
        let db = database::open(folder, FILE, MIGRATIONS)?;
        let told = broadcast::channel(BEHIND).0;
        Ok(Self { db: Arc::new(Mutex::new(db)), told, folder: folder.to_owned() })
    }

    /// Events as they happen, from now on.
    pub fn listen(&self) -> broadcast::Receiver<Event> {
        self.told.subscribe()
    }

    /// Does something to the database, off the threads that answer. Fails with `ARTIFACT_IO`.
    async fn with<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        self.telling(move |db| Ok((what(db)?, None))).await
    }

    /// The same with an event, which is told when it is written down, before another can be.
    async fn telling<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Connection) -> rusqlite::Result<(T, Option<Event>)> + Send + 'static,
    ) -> Result<T> {
        let (db, told) = (Arc::clone(&self.db), self.told.clone());
        let work = move || {
            let db = db.lock().unwrap_or_else(PoisonError::into_inner);
            let (out, event) = what(&db)?;
            if let Some(it) = event {
                // Nobody may be watching.
                let _ = told.send(it);
            }
            Ok(out)
        };
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|err| {
                Error::new(Code::Internal, "the work on the database ended unexpectedly")
                    .source(err)
            })?
            .map_err(trouble)
    }

    fn now<T>(&self, what: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        what(&self.db.lock().unwrap_or_else(PoisonError::into_inner)).map_err(trouble)
    }

    /// Writes a new task down, in that state, with its first event; or finds the one that `key` (a digest of the key, and one of
    /// the input) stands for. Fails with `KEY_REUSED`, `ARTIFACT_IO`.
    pub async fn add(&self, task: TaskView, key: Option<(String, String)>) -> Result<KeyLookup> {
        let (reused, out) = self
            .telling(move |db| {
                let change = db.unchecked_transaction()?;
                if let Some((hash, input)) = key {
                    if let Some((same, id)) = keyed(&change, &hash)? {
                        return Ok(((same != input, KeyLookup::Old(id)), None));
                    }
                    change
                        .prepare_cached("INSERT OR REPLACE INTO keys VALUES (?, ?, ?, ?)")?
                        .execute(params![hash, input, task.task_id, task.created_ms])?;
                }
                change
                    .prepare_cached(
                        "INSERT INTO tasks (id, operation, args, principal, state, created_ms, began_ms, hidden)
                         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    )?
                    .execute(params![
                        task.task_id,
                        task.operation,
                        task.args.to_string(),
                        task.principal,
                        task.state.as_str(),
                        task.created_ms,
                        task.began_ms,
                        task.hidden,
                    ])?;
                let data = serde_json::json!({"operation": task.operation});
                let event = note(&change, Some(&task.task_id), task.state.as_str(), data)?;
                change.commit()?;
                Ok(((false, KeyLookup::New), Some(event)))
            })
            .await?;
        if reused { Err(key_reused()) } else { Ok(out) }
    }

    /// The task that a key (as for [`add`](Self::add)) stands for already. Fails with `KEY_REUSED`, `ARTIFACT_IO`.
    pub async fn keyed(&self, (hash, input): (String, String)) -> Result<Option<String>> {
        match self.with(move |db| keyed(db, &hash)).await? {
            Some((same, _)) if same != input => Err(key_reused()),
            it => Ok(it.map(|it| it.1)),
        }
    }

    /// A queued task begins; `None` when it is not queued any more. Fails with `ARTIFACT_IO`.
    pub async fn begin(&self, id: &str) -> Result<Option<TaskView>> {
        let id = id.to_owned();
        self.telling(move |db| {
            let change = db.unchecked_transaction()?;
            let changed = change
                .prepare_cached(
                    "UPDATE tasks SET state = 'running', began_ms = ?2 WHERE id = ?1 AND state = 'queued'",
                )?
                .execute(params![id, now_ms()])?;
            if changed == 0 {
                return Ok((None, None));
            }
            let task = load_task(&change, &id)?;
            let event = note(&change, Some(&id), "running", serde_json::json!({}))?;
            change.commit()?;
            Ok((task, Some(event)))
        })
        .await
    }

    /// A task ends, if it has not ended before. A large result becomes a file first. Fails with `ARTIFACT_IO`.
    pub async fn end(
        &self,
        id: &str,
        state: TaskState,
        result: Option<&Answer>,
        error: Option<Value>,
    ) -> Result<()> {
        let off_schema = result.is_some_and(|it| it.meta.off_schema);
        let text = result.map(|it| it.data.to_string());
        let text = match text {
            Some(it) if it.len() > MAX_RESULT => {
                self.write_result(id, it).await?;
                None
            }
            it => it,
        };
        let id = id.to_owned();
        self.telling(move |db| {
            let change = db.unchecked_transaction()?;
            let changed = change
                .prepare_cached(
                    "UPDATE tasks SET state = ?2, ended_ms = ?3, result = ?4, error = ?5, off_schema = ?6
                     WHERE id = ?1 AND ended_ms IS NULL",
                )?
                .execute(params![
                    id,
                    state.as_str(),
                    now_ms(),
                    text,
                    error.as_ref().map(Value::to_string),
                    off_schema,
                ])?;
            if changed == 0 {
                return Ok(((), None));
            }
            let data = match error {
                Some(it) => serde_json::json!({"error_code": it["error_code"]}),
                None => serde_json::json!({}),
            };
            let event = note(&change, Some(&id), state.as_str(), data)?;
            change.commit()?;
            Ok(((), Some(event)))
        })
        .await
    }

    async fn write_result(&self, id: &str, text: String) -> Result<()> {
        let (folder, name) = (self.folder.join(RESULTS), format!("{id}.json"));
        tokio::task::spawn_blocking(move || files::write_atomic(&folder, &name, text.as_bytes()))
            .await
            .map_err(|err| {
                Error::new(Code::Internal, "the thread that writes a result ended unexpectedly")
                    .source(err)
            })?
    }

    /// The stage that a task is in, as an event; not of one that has ended. Fails with `ARTIFACT_IO`.
    pub async fn stage(&self, id: &str, stage: &str, data: Value) -> Result<()> {
        let (id, stage) = (id.to_owned(), stage.to_owned());
        self.telling(move |db| {
            let change = db.unchecked_transaction()?;
            let changed = change
                .prepare_cached("UPDATE tasks SET stage = ?2 WHERE id = ?1 AND ended_ms IS NULL")?
                .execute(params![id, stage])?;
            if changed == 0 {
                return Ok(((), None));
            }
            let event = note(&change, Some(&id), "stage", data)?;
            change.commit()?;
            Ok(((), Some(event)))
        })
        .await
    }

    /// Something that happened to no task. Fails with `ARTIFACT_IO`.
    pub async fn happened(&self, kind: &'static str, data: Value) -> Result<()> {
        self.telling(move |db| Ok(((), Some(note(db, None, kind, data)?)))).await
    }

    /// Fails with `TASK_NOT_FOUND`, `ARTIFACT_IO`.
    pub async fn task(&self, id: &str) -> Result<TaskView> {
        let wanted = id.to_owned();
        self.with(move |db| load_task(db, &wanted)).await?.ok_or_else(|| not_found(id))
    }

    /// The newest first, at most `limit`, of that state and of whom, where they are given. Fails with `ARTIFACT_IO`.
    pub async fn tasks(
        &self,
        state: Option<TaskState>,
        of: Option<String>,
        limit: u32,
    ) -> Result<Vec<TaskView>> {
        self.tasks_from(state, of, limit, 0).await
    }

    /// The same, without the newest `skip`. Fails with `ARTIFACT_IO`.
    pub async fn tasks_from(
        &self,
        state: Option<TaskState>,
        of: Option<String>,
        limit: u32,
        skip: u32,
    ) -> Result<Vec<TaskView>> {
        self.with(move |db| {
            db.prepare_cached(
                "SELECT * FROM tasks WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR principal = ?2)
                 ORDER BY created_ms DESC, id DESC LIMIT ?3 OFFSET ?4",
            )?
            .query_map(params![state.map(TaskState::as_str), of, limit, skip], view)?
            .collect()
        })
        .await
    }

    /// What a task came to; `None` without a result. Fails with `ARTIFACT_IO`.
    pub async fn result(&self, id: &str) -> Result<Option<Value>> {
        let wanted = id.to_owned();
        let text: Option<String> = self
            .with(move |db| {
                db.prepare_cached("SELECT result FROM tasks WHERE id = ?")?
                    .query_row([wanted], |it| it.get(0))
                    .optional()
                    .map(Option::flatten)
            })
            .await?;
        let (folder, id) = (self.folder.join(RESULTS), id.to_owned());
        let read = move || {
            let text = match text {
                Some(it) => Some(it.into_bytes()),
                None => match Dir::open(&folder, false)? {
                    Some(dir) => dir.read(&format!("{id}.json"), 256 * 1024 * 1024)?,
                    None => None,
                },
            };
            let Some(text) = text else { return Ok(None) };
            serde_json::from_slice(&text).map(Some).map_err(|err| {
                Error::new(Code::ArtifactCorrupt, format!("the result of {id} is damaged"))
                    .source(err)
            })
        };
        tokio::task::spawn_blocking(read).await.map_err(|err| {
            Error::new(Code::Internal, "the thread that reads a result ended unexpectedly")
                .source(err)
        })?
    }

    /// Events after that one, of a task or of all, at most as many as a task keeps. Fails with `ARTIFACT_IO`.
    pub async fn events_after(&self, task: Option<&str>, after: i64) -> Result<Vec<Event>> {
        let task = task.map(str::to_owned);
        self.with(move |db| {
            // The last ones: what is older than those is not kept either.
            db.prepare_cached(
                "SELECT * FROM (SELECT id, task_id, at_ms, kind, data FROM events
                 WHERE id > ?1 AND (?2 IS NULL OR task_id = ?2) ORDER BY id DESC LIMIT ?3) ORDER BY id",
            )?
            .query_map(params![after, task, MAX_EVENTS], |it| {
                let data: String = it.get(4)?;
                Ok(Event {
                    id: it.get(0)?,
                    task_id: it.get(1)?,
                    at_ms: it.get(2)?,
                    kind: it.get(3)?,
                    data: serde_json::from_str(&data).unwrap_or_default(),
                })
            })?
            .collect()
        })
        .await
    }

    /// What is left of an earlier daemon: tasks that were running are told by `again`, whether they are to be gone on with; else
    /// they are interrupted. Returns those that wait, in order, and how many were interrupted. Fails with `ARTIFACT_IO`.
    pub fn recover(&self, again: impl Fn(&TaskView) -> bool) -> Result<(Vec<TaskView>, usize)> {
        self.now(|db| {
            let change = db.unchecked_transaction()?;
            let open: Vec<TaskView> = change
                .prepare(
                    "SELECT * FROM tasks WHERE state IN ('queued', 'running', 'waiting_for_approval')
                     ORDER BY created_ms, id",
                )?
                .query_map([], view)?
                .collect::<rusqlite::Result<_>>()?;
            let (mut waiting, mut interrupted) = (Vec::new(), 0);
            for task in open {
                let taken: i64 = change.query_row(
                    "SELECT again FROM tasks WHERE id = ?",
                    [&task.task_id],
                    |it| it.get(0),
                )?;
                let has_begun = task.state != TaskState::Queued || task.began_ms.is_some();
                if !has_begun || again(&task) && taken < AGAIN {
                    change.execute(
                        "UPDATE tasks SET state = 'queued', again = again + ?2 WHERE id = ?1",
                        params![task.task_id, has_begun],
                    )?;
                    waiting.push(task);
                    continue;
                }
                interrupted += 1;
                let error = super::answer::ApiError::from_error(
                    &Error::new(Code::Interrupted, "the daemon ended while this ran")
                        .hint("the task may have been carried out; check before you repeat it"),
                );
                let error = serde_json::to_string(&error).unwrap_or_default();
                change.execute(
                    "UPDATE tasks SET state = 'interrupted', ended_ms = ?2, error = ?3 WHERE id = ?1",
                    params![task.task_id, now_ms(), error],
                )?;
                let data = serde_json::json!({"error_code": Code::Interrupted.as_str()});
                note(&change, Some(&task.task_id), "interrupted", data)?;
            }
            change.commit()?;
            Ok((waiting, interrupted))
        })
    }

    /// Forgets what is too old or too much. Fails with `ARTIFACT_IO`.
    pub fn prune(&self) -> Result<()> {
        let gone: Vec<String> = self.now(|db| {
            let change = db.unchecked_transaction()?;
            let gone = change
                .prepare(
                    "SELECT id FROM tasks WHERE ended_ms IS NOT NULL AND (ended_ms < ?1 OR created_ms <
                     (SELECT created_ms FROM tasks ORDER BY created_ms DESC LIMIT 1 OFFSET ?2))",
                )?
                .query_map(params![now_ms() - KEPT_MS, KEPT], |it| it.get(0))?
                .collect::<rusqlite::Result<Vec<String>>>()?;
            for id in &gone {
                change.execute("DELETE FROM tasks WHERE id = ?", [id])?;
                change.execute("DELETE FROM events WHERE task_id = ?", [id])?;
            }
            change.execute("DELETE FROM keys WHERE at_ms < ?", [now_ms() - KEY_MS])?;
            change.execute("DELETE FROM nonces WHERE expires_ms < ?", [now_ms()])?;
            change.execute(
                "DELETE FROM events WHERE task_id IS NULL AND id <=
                 (SELECT id FROM events WHERE task_id IS NULL ORDER BY id DESC LIMIT 1 OFFSET 1000)",
                [],
            )?;
            change.commit()?;
            Ok(gone)
        })?;
        if let Some(dir) = Dir::open(&self.folder.join(RESULTS), false)? {
            dir.sweep()?;
            for id in gone {
                dir.remove(&format!("{id}.json"))?;
            }
        }
        Ok(())
    }

    /// Keeps a token. Fails with `ARTIFACT_IO`.
    pub async fn add_token(&self, it: TokenView) -> Result<()> {
        self.with(move |db| {
            db.execute(
                "INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?)",
                params![it.id, it.hash, it.scopes.join(" "), it.note, it.created_ms, it.expires_ms],
            )
            .map(drop)
        })
        .await
    }

    /// Tokens that hold, oldest first. Fails with `ARTIFACT_IO`.
    pub fn tokens(&self) -> Result<Vec<TokenView>> {
        self.now(|db| {
            db.execute("DELETE FROM tokens WHERE expires_ms < ?", [now_ms()])?;
            db.prepare("SELECT * FROM tokens ORDER BY created_ms, id")?
                .query_map([], |it| {
                    let scopes: String = it.get("scopes")?;
                    Ok(TokenView {
                        id: it.get("id")?,
                        hash: it.get("hash")?,
                        scopes: scopes.split_whitespace().map(str::to_owned).collect(),
                        note: it.get("note")?,
                        created_ms: it.get("created_ms")?,
                        expires_ms: it.get("expires_ms")?,
                    })
                })?
                .collect()
        })
    }

    /// Whether there was such a token; there is none now. Fails with `ARTIFACT_IO`.
    pub async fn revoke(&self, id: &str) -> Result<bool> {
        let id = id.to_owned();
        self.with(move |db| db.execute("DELETE FROM tokens WHERE id = ?", [id]).map(|it| it > 0))
            .await
    }

    /// Uses a nonce up: false when it was used before. Fails with `ARTIFACT_IO`.
    pub async fn use_up(&self, nonce: &str, expires_ms: i64) -> Result<bool> {
        let nonce = nonce.to_owned();
        self.with(move |db| {
            db.execute("INSERT OR IGNORE INTO nonces VALUES (?, ?)", params![nonce, expires_ms])
                .map(|it| it > 0)
        })
        .await
    }

    /// The digest that a definition was last listed with, and keeps this one. Fails with `ARTIFACT_IO`.
    pub fn pin(&self, name: &str, digest: &str) -> Result<Option<String>> {
        self.now(|db| {
            let old = db
                .prepare_cached("SELECT digest FROM digests WHERE name = ?")?
                .query_row([name], |it| it.get(0))
                .optional()?;
            if old.as_deref() != Some(digest) {
                db.prepare_cached("INSERT OR REPLACE INTO digests VALUES (?, ?)")?
                    .execute([name, digest])?;
            }
            Ok(old)
        })
    }
}

/// The digest of the input, and the task, that a key stands for.
fn keyed(db: &Connection, hash: &str) -> rusqlite::Result<Option<(String, String)>> {
    db.prepare_cached("SELECT input, task_id FROM keys WHERE hash = ? AND at_ms > ?")?
        .query_row(params![hash, now_ms() - KEY_MS], |it| Ok((it.get(0)?, it.get(1)?)))
        .optional()
}

fn key_reused() -> Error {
    Error::new(Code::KeyReused, "the Idempotency-Key was used with another input")
        .hint("use a new key for each input")
}

fn not_found(id: &str) -> Error {
    let shown: String = id.chars().filter(|it| !it.is_control()).take(40).collect();
    Error::new(Code::TaskNotFound, format!("there is no task `{shown}`"))
        .hint("see /api/tasks; tasks are removed a week after their end")
}

fn load_task(db: &Connection, id: &str) -> rusqlite::Result<Option<TaskView>> {
    db.prepare_cached("SELECT * FROM tasks WHERE id = ?")?.query_row([id], view).optional()
}

fn view(row: &Row<'_>) -> rusqlite::Result<TaskView> {
    let (state, args): (String, String) = (row.get("state")?, row.get("args")?);
    let error: Option<String> = row.get("error")?;
    Ok(TaskView {
        task_id: row.get("id")?,
        operation: row.get("operation")?,
        args: serde_json::from_str(&args).unwrap_or_default(),
        state: TaskState::ALL
            .into_iter()
            .find(|it| it.as_str() == state)
            .unwrap_or(TaskState::Interrupted),
        stage: row.get("stage")?,
        created_ms: row.get("created_ms")?,
        began_ms: row.get("began_ms")?,
        ended_ms: row.get("ended_ms")?,
        error: error.and_then(|it| serde_json::from_str(&it).ok()),
        principal: row.get("principal")?,
        hidden: row.get("hidden")?,
        off_schema: row.get("off_schema")?,
    })
}

/// Writes an event down; of a task's, the oldest go where there are too many.
fn note(db: &Connection, task: Option<&str>, kind: &str, data: Value) -> rusqlite::Result<Event> {
    let at_ms = now_ms();
    db.prepare_cached("INSERT INTO events (task_id, at_ms, kind, data) VALUES (?, ?, ?, ?)")?
        .execute(params![task, at_ms, kind, data.to_string()])?;
    let id = db.last_insert_rowid();
    if let Some(task) = task {
        db.prepare_cached(
            "DELETE FROM events WHERE task_id = ?1 AND id <=
             (SELECT id FROM events WHERE task_id = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
        )?
        .execute(params![task, MAX_EVENTS])?;
    }
    Ok(Event { id, task_id: task.map(str::to_owned), at_ms, kind: kind.to_owned(), data })
}
