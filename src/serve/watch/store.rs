//! What is kept of watches: SQLite in the daemon's folder. A run is claimed before it begins and written down whole or not at all,
//! with its changes, its notifications and what the next answer is compared with.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use rusqlite::{Connection, OptionalExtension as _, Row, named_params, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

use super::diff::{Difference, Key, Kind};
use crate::database;
use commis_base::error::{Code, Error, Result};

const FILE: &str = "watch.db";
/// Changes of one run that are kept; more are counted alone.
const MAX_CHANGES: usize = 1000;
/// Bytes of a value that is kept, as JSON; a longer one is cut and kept as text.
const MAX_VALUE: usize = 4096;
/// Runs that are kept of one watch; runs in a row without a change are one line.
const MAX_RUNS: i64 = 5000;

const MIGRATIONS: &[&str] = &["
CREATE TABLE watches (
    name TEXT PRIMARY KEY,
    -- JSON: what a person asked for.
    request TEXT NOT NULL,
    recipe TEXT NOT NULL,
    principal TEXT NOT NULL,
    host TEXT NOT NULL,
    private INTEGER NOT NULL,
    every_ms INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    paused INTEGER NOT NULL DEFAULT 0,
    next_ms INTEGER NOT NULL,
    -- When the run began that is at work.
    began_ms INTEGER,
    -- Failures in a row.
    failures INTEGER NOT NULL DEFAULT 0,
    ran_ms INTEGER,
    ok_ms INTEGER,
    items INTEGER,
    code TEXT,
    message TEXT,
    -- JSON: ETag and Last-Modified of the last answer, and the key of items.
    validators TEXT,
    key TEXT
) WITHOUT ROWID;
CREATE INDEX watches_due ON watches (paused, next_ms);
CREATE TABLE baselines (
    watch TEXT PRIMARY KEY,
    -- JSON: the items that the next answer is compared with, and since when.
    items TEXT NOT NULL,
    since_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    watch TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    -- The last of so many runs that came to the same.
    until_ms INTEGER NOT NULL,
    n INTEGER NOT NULL DEFAULT 1,
    outcome TEXT NOT NULL,
    code TEXT,
    message TEXT,
    items INTEGER,
    added INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    changed INTEGER NOT NULL DEFAULT 0,
    took_ms INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX runs_of ON runs (watch, id);
CREATE TABLE changes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    run INTEGER NOT NULL,
    watch TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    item TEXT NOT NULL,
    path TEXT NOT NULL,
    old TEXT,
    new TEXT
);
CREATE INDEX changes_of ON changes (watch, item, id);
CREATE INDEX changes_of_run ON changes (run);
CREATE TABLE outbox (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    watch TEXT NOT NULL,
    channel TEXT NOT NULL,
    body TEXT NOT NULL,
    due_ms INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX outbox_due ON outbox (due_ms);
"];

/// What a person asks for: which recipe, with which values, how often, and what counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Request {
    pub recipe: String,
    pub params: std::collections::BTreeMap<String, String>,
    /// `1h`, `30m`, `90s`, `7d`.
    pub every: String,
    /// What counts: `added`, `removed`, `change`, `change:PATH`.
    pub on: Vec<String>,
    /// The field that items are matched by, where a person said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub notify: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quiet_hours: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
}

/// A watch as it stands.
#[expect(clippy::struct_field_names, reason = "its name is called so on the wire")]
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Watch {
    pub watch: String,
    #[serde(flatten)]
    pub request: Request,
    pub paused: bool,
    /// The answers are an account's.
    pub private: bool,
    /// By what items are matched: a field, or two; empty where by all that they say.
    pub key_found: Vec<String>,
    pub created_ms: i64,
    pub next_ms: i64,
    /// A run is at work.
    pub running: bool,
    pub last_run_ms: Option<i64>,
    pub last_ok_ms: Option<i64>,
    /// Items of the last answer.
    pub items: Option<i64>,
    /// Runs that failed in a row.
    pub failures: u32,
    /// What the last run failed with, if it did.
    pub error_code: Option<String>,
    pub error: Option<String>,
    #[serde(skip)]
    pub principal: String,
    #[serde(skip)]
    pub host: String,
    #[serde(skip)]
    pub every_ms: i64,
    #[serde(skip)]
    pub validators: Option<Validators>,
    #[serde(skip)]
    pub key: Key,
}

/// What a conditional request sends.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Validators {
    pub etag: Option<String>,
    pub last_modified: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The first answer: later ones are compared with it.
    First,
    Unchanged,
    Changed,
    /// The answer has no items, and nothing proves that there are none: it is compared with nothing.
    Empty,
    Failed,
    /// The daemon ended while it ran; it is made again.
    Interrupted,
}

impl Outcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Empty => "empty",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }
}

/// One run, or several in a row that came to the same.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RunRecord {
    pub id: i64,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// The last of `runs` that came to the same.
    pub until_ms: i64,
    pub runs: i64,
    pub outcome: Outcome,
    pub error_code: Option<String>,
    pub error: Option<String>,
    pub items: Option<i64>,
    pub added: i64,
    pub removed: i64,
    pub changed: i64,
    pub took_ms: i64,
    /// What changed, at most a thousand.
    pub changes: Vec<Change>,
}

/// One change of one item.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    #[serde(skip)]
    pub at_ms: i64,
    pub kind: Kind,
    /// The item's key.
    pub item: String,
    /// The field that changed; empty where the item came or went.
    pub path: String,
    pub old: Option<Value>,
    pub new: Option<Value>,
}

/// What a run came to, for the history.
#[derive(Debug)]
pub struct Finished {
    pub outcome: Outcome,
    pub failure: Option<(Code, String)>,
    pub items: Option<usize>,
    pub differences: Vec<Difference>,
    pub took_ms: i64,
    pub next_ms: i64,
    /// What the next answer is compared with; `None` where that stays.
    pub baseline: Option<(Vec<Value>, Key)>,
    /// Of the answer; an answer that is compared with nothing leaves them.
    pub validators: Option<Validators>,
    /// Channel, when it may be sent, and what.
    pub notifications: Vec<(String, i64, String)>,
}

/// A notification that waits to be sent.
#[derive(Debug, PartialEq)]
pub struct Waiting {
    pub id: i64,
    pub watch: String,
    pub channel: String,
    pub body: String,
    pub tries: u32,
}

/// The open database.
#[derive(Clone)]
pub struct Store(Arc<Mutex<Connection>>);

impl Store {
    /// Fails with `ARTIFACT_IO`.
    pub fn open(folder: &Path) -> Result<Self> {
        database::open(folder, FILE, MIGRATIONS).map(|it| Self(Arc::new(Mutex::new(it))))
    }

    /// Does something to the database, off the threads that answer. Fails with `ARTIFACT_IO`.
    async fn with<T: Send + 'static>(
        &self,
        what: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T> {
        let it = self.clone();
        tokio::task::spawn_blocking(move || it.now(what)).await.map_err(|err| {
            Error::new(Code::Internal, "the work on the database ended unexpectedly").source(err)
        })?
    }

    fn now<T>(&self, what: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T> {
        what(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
            .map_err(|err| database::io_error(FILE, err))
    }

    /// Fails with `WATCH_EXISTS`, `WATCH_LIMIT`, `ARTIFACT_IO`.
    pub async fn add(&self, it: Watch, most: u32) -> Result<()> {
        let name = it.watch.clone();
        let request = to_text(&it.request)?;
        let key = to_text(&it.key)?;
        let added = self
            .with(move |db| {
                let change = db.unchecked_transaction()?;
                let there: i64 =
                    change.query_row("SELECT count(*) FROM watches", [], |row| row.get(0))?;
                if there >= i64::from(most) {
                    return Ok(None);
                }
                let n = change.execute(
                    "INSERT OR IGNORE INTO watches (name, request, recipe, principal, host, private, every_ms, created_ms, next_ms, key)
                     VALUES (:name, :request, :recipe, :principal, :host, :private, :every, :created, :next, :key)",
                    named_params! {
                        ":name": it.watch, ":request": request, ":recipe": it.request.recipe, ":principal": it.principal,
                        ":host": it.host, ":private": it.private, ":every": it.every_ms, ":created": it.created_ms,
                        ":next": it.next_ms, ":key": key,
                    },
                )?;
                change.commit()?;
                Ok(Some(n))
            })
            .await?;
        match added {
            None => {
                Err(Error::new(Code::WatchLimit, format!("the limit of {most} watches is reached"))
                    .hint("remove one, or raise watch.most"))
            }
            Some(0) => {
                Err(Error::new(Code::WatchExists, format!("there is a watch `{name}` already"))
                    .hint("give another name with --name, over REST and MCP `watch`"))
            }
            Some(_) => Ok(()),
        }
    }

    /// All of them by name. Fails with `ARTIFACT_IO`.
    pub async fn all(&self) -> Result<Vec<Watch>> {
        self.with(|db| {
            db.prepare_cached("SELECT * FROM watches ORDER BY name")?.query_map([], read)?.collect()
        })
        .await
    }

    /// Fails with `WATCH_NOT_FOUND`, `ARTIFACT_IO`.
    pub async fn get(&self, name: &str) -> Result<Watch> {
        let wanted = name.to_owned();
        let found = self
            .with(move |db| {
                db.prepare_cached("SELECT * FROM watches WHERE name = ?")?
                    .query_row([wanted], read)
                    .optional()
            })
            .await?;
        found.ok_or_else(|| not_found(name))
    }

    /// With its history. Fails with `WATCH_NOT_FOUND`, `ARTIFACT_IO`.
    pub async fn remove(&self, name: &str) -> Result<()> {
        let of = name.to_owned();
        let n = self
            .with(move |db| {
                let change = db.unchecked_transaction()?;
                for table in ["baselines", "runs", "changes", "outbox"] {
                    change.execute(&format!("DELETE FROM {table} WHERE watch = ?"), [&of])?;
                }
                let n = change.execute("DELETE FROM watches WHERE name = ?", [&of])?;
                change.commit()?;
                Ok(n)
            })
            .await?;
        if n == 0 { Err(not_found(name)) } else { Ok(()) }
    }

    /// Stops its schedule, or goes on with it at `next_ms`. Fails with `WATCH_NOT_FOUND`, `ARTIFACT_IO`.
    pub async fn pause(&self, name: &str, paused: bool, next_ms: i64) -> Result<()> {
        let of = name.to_owned();
        let n = self
            .with(move |db| {
                db.execute(
                    "UPDATE watches SET next_ms = iif(paused AND NOT ?2, ?3, next_ms), paused = ?2 WHERE name = ?1",
                    params![of, paused, next_ms],
                )
            })
            .await?;
        if n == 0 { Err(not_found(name)) } else { Ok(()) }
    }

    /// How many are not paused. Fails with `ARTIFACT_IO`.
    pub fn active(&self) -> Result<i64> {
        self.now(|db| {
            db.prepare_cached("SELECT count(*) FROM watches WHERE paused = 0")?
                .query_row([], |row| row.get(0))
        })
    }

    /// Watches that are due and not at work, the longest due first, as name and host; and when the next one is due after them.
    /// `take` says of each whether it is wanted, and `None` to look no further. Fails with `ARTIFACT_IO`.
    pub async fn due(
        &self,
        now_ms: i64,
        mut take: impl FnMut(&str) -> Option<bool> + Send + 'static,
    ) -> Result<(Vec<(String, String)>, Option<i64>)> {
        self.with(move |db| {
            let mut all = db.prepare_cached(
                "SELECT name, host FROM watches WHERE paused = 0 AND next_ms <= ? AND began_ms IS NULL ORDER BY next_ms",
            )?;
            let mut rows = all.query([now_ms])?;
            let mut out = Vec::new();
            while let Some(row) = rows.next()? {
                let (name, host): (String, String) = (row.get(0)?, row.get(1)?);
                match take(&host) {
                    Some(true) => out.push((name, host)),
                    Some(false) => {}
                    None => break,
                }
            }
            let next = db
                .prepare_cached("SELECT min(next_ms) FROM watches WHERE paused = 0 AND next_ms > ?")?
                .query_row([now_ms], |row| row.get(0))?;
            Ok((out, next))
        })
        .await
    }

    /// Begins a run of it, if none is at work: then nobody else does. Fails with `ARTIFACT_IO`.
    pub async fn claim(&self, name: &str, now_ms: i64) -> Result<bool> {
        let of = name.to_owned();
        let n = self
            .with(move |db| {
                db.prepare_cached(
                    "UPDATE watches SET began_ms = ?2 WHERE name = ?1 AND began_ms IS NULL",
                )?
                .execute(params![of, now_ms])
            })
            .await?;
        Ok(n > 0)
    }

    /// Gives a claimed run back without a word of it: it is made at `next_ms`. Fails with `ARTIFACT_IO`.
    pub async fn put_off(&self, name: &str, next_ms: i64) -> Result<()> {
        let of = name.to_owned();
        self.with(move |db| {
            db.execute(
                "UPDATE watches SET began_ms = NULL, next_ms = ?2 WHERE name = ?1",
                params![of, next_ms],
            )
            .map(drop)
        })
        .await
    }

    /// What was at work when an earlier daemon ended is written down as that and is due again. How many those are. Fails with
    /// `ARTIFACT_IO`.
    pub fn recover(&self, now_ms: i64) -> Result<usize> {
        self.now(|db| {
            let change = db.unchecked_transaction()?;
            change.execute(
                "INSERT INTO runs (watch, at_ms, until_ms, outcome) SELECT name, began_ms, ?, 'interrupted' FROM watches WHERE began_ms IS NOT NULL",
                [now_ms],
            )?;
            let n = change.execute(
                // One that brings the daemon down is not made again and again.
                "UPDATE watches SET began_ms = NULL, next_ms = ?1 + failures * 60000, failures = failures + 1 WHERE began_ms IS NOT NULL",
                [now_ms],
            )?;
            change.commit()?;
            Ok(n)
        })
    }

    /// The items that the next answer is compared with, and since when there are any. Fails with `ARTIFACT_IO`.
    pub async fn baseline(&self, name: &str) -> Result<Option<(Vec<Value>, i64)>> {
        let of = name.to_owned();
        self.with(move |db| {
            db.prepare_cached("SELECT items, since_ms FROM baselines WHERE watch = ?")?
                .query_row([of], |row| Ok((from_text(row, 0)?, row.get(1)?)))
                .optional()
        })
        .await
    }

    /// Writes down what a claimed run came to, all of it or nothing; its number in the history. `None` where the watch is gone. Fails
    /// with `ARTIFACT_IO`.
    pub async fn finish(
        &self,
        name: &str,
        began_ms: i64,
        now_ms: i64,
        it: Finished,
    ) -> Result<Option<i64>> {
        let of = name.to_owned();
        let baseline = match &it.baseline {
            Some((items, key)) => Some((to_text(items)?, to_text(key)?)),
            None => None,
        };
        let validators = it.validators.as_ref().map(to_text).transpose()?;
        let count = |kind: Kind| it.differences.iter().filter(|d| d.kind == kind).count() as i64;
        let counts = (count(Kind::Added), count(Kind::Removed), count(Kind::Changed));
        self.with(move |db| {
            let change = db.unchecked_transaction()?;
            let failed = it.failure.is_some();
            let (code, message) = match &it.failure {
                Some((code, message)) => (Some(code.as_str()), Some(message.as_str())),
                None => (None, None),
            };
            let items = it.items.map(|it| it as i64);
            let n = change.prepare_cached(
                "UPDATE watches SET began_ms = NULL, next_ms = :next, ran_ms = :now, ok_ms = iif(:failed, ok_ms, :now),
                    failures = iif(:failed, failures + 1, 0), code = :code, message = :message,
                    items = coalesce(:items, items), validators = iif(:failed, validators, :validators),
                    key = coalesce(:key, key)
                 WHERE name = :name AND began_ms = :began",
            )?
            .execute(named_params! {
                ":next": it.next_ms, ":now": now_ms, ":failed": failed, ":code": code, ":message": message, ":items": items,
                ":validators": validators, ":key": baseline.as_ref().map(|it| &it.1), ":name": of, ":began": began_ms,
            })?;
            if n == 0 {
                return Ok(None);
            }
            if let Some((items, _)) = &baseline {
                change.prepare_cached(
                    "INSERT INTO baselines VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET items = ?2",
                )?
                .execute(params![of, items, now_ms])?;
            }
            let id = note(&change, &of, (began_ms, now_ms), &it, counts)?;
            for (d, _) in it.differences.iter().zip(0..MAX_CHANGES) {
                change.prepare_cached(
                    "INSERT INTO changes (run, watch, at_ms, kind, item, path, old, new) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                )?
                .execute(params![id, of, began_ms, d.kind.as_str(), d.key, d.path, short(d.old.as_ref()), short(d.new.as_ref())])?;
            }
            for (channel, due_ms, body) in &it.notifications {
                change.prepare_cached("INSERT INTO outbox (watch, channel, body, due_ms) VALUES (?, ?, ?, ?)")?
                    .execute(params![of, channel, body, due_ms])?;
            }
            change.commit()?;
            Ok(Some(id))
        })
        .await
    }

    /// The last runs, newest first, with what changed in each. Fails with `ARTIFACT_IO`.
    pub async fn log(&self, name: &str, limit: u32, only_changes: bool) -> Result<Vec<RunRecord>> {
        let of = name.to_owned();
        self.with(move |db| {
            let mut out: Vec<RunRecord> = db
                .prepare_cached(
                    "SELECT * FROM runs WHERE watch = ?1 AND (NOT ?2 OR outcome = 'changed') ORDER BY id DESC LIMIT ?3",
                )?
                .query_map(params![of, only_changes, limit], ran)?
                .collect::<rusqlite::Result<_>>()?;
            for it in out.iter_mut().filter(|it| it.outcome == Outcome::Changed) {
                it.changes = db
                    .prepare_cached("SELECT * FROM changes WHERE run = ? ORDER BY id")?
                    .query_map([it.id], changed)?
                    .collect::<rusqlite::Result<_>>()?;
            }
            Ok(out)
        })
        .await
    }

    /// The changes of one item, oldest first. Fails with `ARTIFACT_IO`.
    pub async fn of_item(&self, name: &str, item: &str) -> Result<Vec<Change>> {
        let of = (name.to_owned(), item.to_owned());
        self.with(move |db| {
            db.prepare_cached("SELECT * FROM changes WHERE watch = ? AND item = ? ORDER BY id")?
                .query_map(params![of.0, of.1], changed)?
                .collect()
        })
        .await
    }

    /// The first notification that may be sent now, and when the next one may. Fails with `ARTIFACT_IO`.
    pub async fn to_send(&self, now_ms: i64) -> Result<(Option<Waiting>, Option<i64>)> {
        self.with(move |db| {
            let first = db
                .prepare_cached(
                    "SELECT * FROM outbox WHERE due_ms <= ? ORDER BY due_ms, id LIMIT 1",
                )?
                .query_row([now_ms], |row| {
                    Ok(Waiting {
                        id: row.get("id")?,
                        watch: row.get("watch")?,
                        channel: row.get("channel")?,
                        body: row.get("body")?,
                        tries: row.get("tries")?,
                    })
                })
                .optional()?;
            let next = db.query_row("SELECT min(due_ms) FROM outbox", [], |row| row.get(0))?;
            Ok((first, next))
        })
        .await
    }

    /// A notification was sent, or is given up; else it is tried again at `again_ms`. Fails with `ARTIFACT_IO`.
    pub async fn record_sent(&self, id: i64, again_ms: Option<i64>) -> Result<()> {
        self.with(move |db| {
            match again_ms {
                Some(at) => db.execute(
                    "UPDATE outbox SET tries = tries + 1, due_ms = ?2 WHERE id = ?1",
                    params![id, at],
                )?,
                None => db.execute("DELETE FROM outbox WHERE id = ?", [id])?,
            };
            Ok(())
        })
        .await
    }

    /// Forgets what is older than `oldest_ms`, and of each watch all but its last runs and `changes`. Fails with `ARTIFACT_IO`.
    pub fn prune(&self, oldest_ms: Option<i64>, changes: u32) -> Result<()> {
        self.now(|db| {
            let change = db.unchecked_transaction()?;
            if let Some(at) = oldest_ms {
                change.execute("DELETE FROM runs WHERE until_ms < ?", [at])?;
                change.execute("DELETE FROM changes WHERE at_ms < ?", [at])?;
            }
            let names: Vec<String> = change
                .prepare("SELECT name FROM watches")?
                .query_map([], |row| row.get(0))?
                .collect::<rusqlite::Result<_>>()?;
            for it in names {
                for (table, most) in [("runs", MAX_RUNS), ("changes", i64::from(changes))] {
                    change.execute(
                        &format!(
                            "DELETE FROM {table} WHERE watch = ?1 AND id <= (SELECT id FROM {table} WHERE watch = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)"
                        ),
                        params![it, most],
                    )?;
                }
            }
            change.commit()
        })
    }
}

/// A line of the history; a run that came to the same as the one before, without a change, is counted there.
fn note(
    db: &Connection,
    of: &str,
    (began_ms, now_ms): (i64, i64),
    it: &Finished,
    (added, removed, changed): (i64, i64, i64),
) -> rusqlite::Result<i64> {
    let (code, message) = match &it.failure {
        Some((code, message)) => (Some(code.as_str()), Some(message.as_str())),
        None => (None, None),
    };
    if matches!(it.outcome, Outcome::Unchanged | Outcome::Failed | Outcome::Empty) {
        let same: Option<i64> = db
            .prepare_cached(
                "UPDATE runs SET n = n + 1, until_ms = ?4, message = ?5, took_ms = ?6
                 WHERE id = (SELECT max(id) FROM runs WHERE watch = ?1) AND outcome = ?2 AND code IS ?3 RETURNING id",
            )?
            .query_row(
                params![of, it.outcome.as_str(), code, now_ms, message, it.took_ms],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(id) = same {
            return Ok(id);
        }
    }
    db.prepare_cached(
        "INSERT INTO runs (watch, at_ms, until_ms, outcome, code, message, items, added, removed, changed, took_ms)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        of,
        began_ms,
        now_ms,
        it.outcome.as_str(),
        code,
        message,
        it.items.map(|it| it as i64),
        added,
        removed,
        changed,
        it.took_ms
    ])?;
    Ok(db.last_insert_rowid())
}

fn not_found(name: &str) -> Error {
    let shown: String = name.chars().filter(|it| !it.is_control()).take(64).collect();
    Error::new(Code::WatchNotFound, format!("no watch is named `{shown}`"))
        .hint("`commis watch list` shows them")
}

/// A value as it is kept.
fn short(value: Option<&Value>) -> Option<String> {
    let text = value?.to_string();
    if text.len() <= MAX_VALUE {
        return Some(text);
    }
    let cut: String = text.chars().take(MAX_VALUE / 4).collect();
    Some(Value::String(format!("{cut}…")).to_string())
}

fn to_text(it: &impl Serialize) -> Result<String> {
    serde_json::to_string(it)
        .map_err(|err| Error::new(Code::Internal, "a watch cannot be written as JSON").source(err))
}

fn from_text<T: DeserializeOwned>(row: &Row<'_>, at: usize) -> rusqlite::Result<T> {
    let text: String = row.get(at)?;
    serde_json::from_str(&text).map_err(|err| {
        rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, Box::new(err))
    })
}

fn optional<T: DeserializeOwned>(row: &Row<'_>, name: &str) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(name)?;
    Ok(text.and_then(|it| serde_json::from_str(&it).ok()))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Watch> {
    let key: Key = optional(row, "key")?.unwrap_or_default();
    Ok(Watch {
        watch: row.get("name")?,
        request: from_text(row, 1)?,
        paused: row.get("paused")?,
        private: row.get("private")?,
        key_found: key.paths.clone(),
        created_ms: row.get("created_ms")?,
        next_ms: row.get("next_ms")?,
        running: row.get::<_, Option<i64>>("began_ms")?.is_some(),
        last_run_ms: row.get("ran_ms")?,
        last_ok_ms: row.get("ok_ms")?,
        items: row.get("items")?,
        failures: row.get("failures")?,
        error_code: row.get("code")?,
        error: row.get("message")?,
        principal: row.get("principal")?,
        host: row.get("host")?,
        every_ms: row.get("every_ms")?,
        validators: optional(row, "validators")?,
        key,
    })
}

fn ran(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let outcome: String = row.get("outcome")?;
    Ok(RunRecord {
        id: row.get("id")?,
        at_ms: row.get("at_ms")?,
        until_ms: row.get("until_ms")?,
        runs: row.get("n")?,
        outcome: serde_json::from_value(outcome.into()).unwrap_or(Outcome::Failed),
        error_code: row.get("code")?,
        error: row.get("message")?,
        items: row.get("items")?,
        added: row.get("added")?,
        removed: row.get("removed")?,
        changed: row.get("changed")?,
        took_ms: row.get("took_ms")?,
        changes: Vec::new(),
    })
}

fn changed(row: &Row<'_>) -> rusqlite::Result<Change> {
    let kind: String = row.get("kind")?;
    Ok(Change {
        at_ms: row.get("at_ms")?,
        kind: match kind.as_str() {
            "added" => Kind::Added,
            "removed" => Kind::Removed,
            _ => Kind::Changed,
        },
        item: row.get("item")?,
        path: row.get("path")?,
        old: optional(row, "old")?,
        new: optional(row, "new")?,
    })
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
