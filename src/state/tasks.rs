//! Where each task stands: one row a task, one a stage it went through.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension as _, Row, named_params, params};
use serde::Serialize;

use super::State;
use commis_base::error::Result;

pub(super) const SCHEMA: &str = "
CREATE TABLE tasks (
    task_id TEXT PRIMARY KEY,
    manifest TEXT NOT NULL,
    name TEXT NOT NULL,
    host TEXT,
    status TEXT NOT NULL,
    -- A reason or an error's code.
    why TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    began_ms INTEGER,
    ended_ms INTEGER,
    -- What was asked, and the files that answer it: see `pipeline::finished`.
    question TEXT,
    files TEXT,
    -- Its line of the report, JSON.
    entry TEXT
) WITHOUT ROWID;
CREATE TABLE spans (
    task_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    stage TEXT NOT NULL,
    began_ms INTEGER NOT NULL,
    ended_ms INTEGER NOT NULL
);
CREATE INDEX spans_of ON spans (task_id);
";

/// Of the stage that an attempt ended in: the error's code.
pub(super) const FAILURES: &str = "ALTER TABLE spans ADD COLUMN failed TEXT;";

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    Recording,
    Analyzing,
    Verified,
    Draft,
    NeedsSelection,
    NonRecipeable,
    Failed,
}

impl Status {
    pub const ALL: &[Self] = &[
        Self::Pending,
        Self::Recording,
        Self::Analyzing,
        Self::Verified,
        Self::Draft,
        Self::NeedsSelection,
        Self::NonRecipeable,
        Self::Failed,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Recording => "recording",
            Self::Analyzing => "analyzing",
            Self::Verified => "verified",
            Self::Draft => "draft",
            Self::NeedsSelection => "needs_selection",
            Self::NonRecipeable => "non_recipeable",
            Self::Failed => "failed",
        }
    }

    /// For a person, after a number.
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Draft => "saved as draft",
            Self::NeedsSelection => "need a selection",
            Self::NonRecipeable => "not recipeable",
            it => it.as_str(),
        }
    }

    /// Somebody is, or was, at work on it.
    pub const fn is_under_way(self) -> bool {
        matches!(self, Self::Recording | Self::Analyzing)
    }
}

/// One task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct TaskRow {
    pub task_id: String,
    /// Empty when the row was rebuilt from artifacts, which do not say it.
    pub manifest: String,
    pub name: String,
    pub host: Option<String>,
    pub status: Status,
    /// A reason or an error's code.
    pub why: Option<String>,
    pub attempts: u32,
    /// Milliseconds since 1970.
    pub began_ms: Option<i64>,
    pub ended_ms: Option<i64>,
    /// What was recorded holds what an account saw. The task's folder knows, and not the database.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
}

impl TaskRow {
    /// One that nobody has begun.
    pub fn new(task_id: &str, manifest: &str, name: &str, host: Option<&str>) -> Self {
        Self {
            task_id: task_id.to_owned(),
            manifest: manifest.to_owned(),
            name: name.to_owned(),
            host: host.map(str::to_owned),
            status: Status::Pending,
            why: None,
            attempts: 0,
            began_ms: None,
            ended_ms: None,
            private: false,
        }
    }

    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let status: String = row.get("status")?;
        Ok(Self {
            task_id: row.get("task_id")?,
            manifest: row.get("manifest")?,
            name: row.get("name")?,
            host: row.get("host")?,
            // A word that nobody knows any more is a task to look at again.
            status: Status::ALL
                .iter()
                .copied()
                .find(|it| it.as_str() == status)
                .unwrap_or(Status::Pending),
            why: row.get("why")?,
            attempts: row.get("attempts")?,
            began_ms: row.get("began_ms")?,
            ended_ms: row.get("ended_ms")?,
            private: false,
        })
    }
}

/// What a finished task came to, and what that holds for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedTask {
    /// Digest of what was asked: manifest entry, settings, versions.
    pub question: String,
    /// Digest of name, size, time and inode of each file it left.
    pub files: String,
}

/// How a task ended.
pub struct Ending {
    pub status: Status,
    /// A reason or an error's code.
    pub why: Option<String>,
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// Its line of the report, JSON; empty when it has none.
    pub entry: String,
}

/// A stage that a task went through.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StageSpan {
    pub task_id: String,
    pub attempt: u32,
    pub stage: String,
    /// Milliseconds since 1970.
    pub began_ms: i64,
    pub ended_ms: i64,
    /// The error's code, where the attempt failed in this stage.
    pub failed: Option<String>,
}

impl StageSpan {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            task_id: row.get("task_id")?,
            attempt: row.get("attempt")?,
            stage: row.get("stage")?,
            began_ms: row.get("began_ms")?,
            ended_ms: row.get("ended_ms")?,
            failed: row.get("failed")?,
        })
    }
}

impl State {
    /// Makes the tasks known. What is known of them stays, but for manifest, name and host. Fails with `ARTIFACT_IO`.
    pub fn add_tasks(&self, rows: &[TaskRow]) -> Result<()> {
        self.with_db(|db| {
            let change = db.unchecked_transaction()?;
            let mut put = change.prepare_cached(
                "INSERT INTO tasks (task_id, manifest, name, host, status, why, attempts, began_ms, ended_ms)
                 VALUES (:task_id, :manifest, :name, :host, :status, :why, :attempts, :began_ms, :ended_ms)
                 ON CONFLICT DO UPDATE SET manifest = excluded.manifest, name = excluded.name, host = excluded.host",
            )?;
            for it in rows {
                put.execute(named_params! {
                    ":task_id": it.task_id, ":manifest": it.manifest, ":name": it.name, ":host": it.host,
                    ":status": it.status.as_str(), ":why": it.why, ":attempts": it.attempts,
                    ":began_ms": it.began_ms, ":ended_ms": it.ended_ms,
                })?;
            }
            drop(put);
            change.commit()
        })
    }

    /// All tasks, by id. Fails with `ARTIFACT_IO`.
    pub fn tasks(&self) -> Result<Vec<TaskRow>> {
        self.with_db(|db| {
            db.prepare_cached("SELECT * FROM tasks ORDER BY task_id")?
                .query_map([], TaskRow::read)?
                .collect()
        })
    }

    /// What finished tasks of a manifest came to, by task id, each with its line of the report. Fails with `ARTIFACT_IO`.
    pub fn finished_tasks(
        &self,
        manifest: &str,
    ) -> Result<BTreeMap<String, (FinishedTask, String)>> {
        self.with_db(|db| {
            db.prepare_cached(
                "SELECT task_id, question, files, entry FROM tasks
                 WHERE manifest = ? AND question IS NOT NULL AND files IS NOT NULL AND entry IS NOT NULL",
            )?
            .query_map([manifest], |row| {
                let it = FinishedTask { question: row.get(1)?, files: row.get(2)? };
                Ok((row.get(0)?, (it, row.get(3)?)))
            })?
            .collect()
        })
    }

    /// A task's line of the report, JSON; `None` when it has not ended. Fails with `ARTIFACT_IO`.
    pub fn entry(&self, task_id: &str) -> Result<Option<String>> {
        self.with_db(|db| {
            db.prepare_cached("SELECT entry FROM tasks WHERE task_id = ? AND entry <> ''")?
                .query_row([task_id], |row| row.get(0))
                .optional()
        })
    }

    /// An attempt at the task begins. What it came to before no longer holds. Fails with `ARTIFACT_IO`.
    pub fn begin(&self, task_id: &str, attempt: u32, now: i64) -> Result<()> {
        self.with_db(|db| {
            db.prepare_cached(
                "UPDATE tasks SET status = 'analyzing', why = NULL, attempts = ?2, began_ms = ?3, ended_ms = NULL,
                 question = NULL, files = NULL, entry = NULL WHERE task_id = ?1",
            )?
            .execute(params![task_id, attempt, now])?;
            if attempt == 1 {
                db.prepare_cached("DELETE FROM spans WHERE task_id = ?")?.execute([task_id])?;
            }
            Ok(())
        })
    }

    /// The task is being worked on. Fails with `ARTIFACT_IO`.
    pub fn set_status(&self, task_id: &str, status: Status) -> Result<()> {
        self.with_db(|db| {
            db.prepare_cached("UPDATE tasks SET status = ?2 WHERE task_id = ?1")?
                .execute(params![task_id, status.as_str()])
                .map(drop)
        })
    }

    /// The task ended. Fails with `ARTIFACT_IO`.
    pub fn end(
        &self,
        task_id: &str,
        ending: &Ending,
        finished: Option<&FinishedTask>,
        spans: &[StageSpan],
    ) -> Result<()> {
        self.with_db(|db| {
            let change = db.unchecked_transaction()?;
            change
                .prepare_cached(
                    "UPDATE tasks SET status = ?2, why = ?3, ended_ms = ?4, entry = ?5, question = ?6, files = ?7
                     WHERE task_id = ?1",
                )?
                .execute(params![
                    task_id,
                    ending.status.as_str(),
                    ending.why,
                    ending.at_ms,
                    ending.entry,
                    finished.map(|it| &it.question),
                    finished.map(|it| &it.files),
                ])?;
            let mut put = change.prepare_cached("INSERT INTO spans VALUES (?, ?, ?, ?, ?, ?)")?;
            for it in spans {
                put.execute(params![it.task_id, it.attempt, it.stage, it.began_ms, it.ended_ms, it.failed])?;
            }
            drop(put);
            change.commit()
        })
    }

    /// The stages that the tasks of a manifest went through when they were last begun, in that order.
    /// Fails with `ARTIFACT_IO`.
    pub fn spans(&self, manifest: &str) -> Result<Vec<StageSpan>> {
        self.with_db(|db| {
            db.prepare_cached(
                "SELECT spans.* FROM spans JOIN tasks USING (task_id) WHERE manifest = ? ORDER BY spans.began_ms, spans.rowid",
            )?
            .query_map([manifest], StageSpan::read)?
            .collect()
        })
    }

    /// The stages that one task went through when it was last begun. Fails with `ARTIFACT_IO`.
    pub fn spans_of(&self, task_id: &str) -> Result<Vec<StageSpan>> {
        self.with_db(|db| {
            db.prepare_cached("SELECT * FROM spans WHERE task_id = ? ORDER BY began_ms, rowid")?
                .query_map([task_id], StageSpan::read)?
                .collect()
        })
    }

    /// Forgets a task whose files are gone. Fails with `ARTIFACT_IO`.
    pub fn forget(&self, task_id: &str) -> Result<()> {
        self.with_db(|db| {
            db.execute("DELETE FROM tasks WHERE task_id = ?", [task_id])?;
            db.execute("DELETE FROM questions WHERE task_id = ?", [task_id])?;
            db.execute("DELETE FROM spans WHERE task_id = ?", [task_id]).map(drop)
        })
    }
}
