//! What stages were asked besides their inputs: an artifact holds only a digest of that.
//!
//! The digest in the artifact stays the judge. This only says, to a person, what it was of.

use rusqlite::{OptionalExtension as _, params};

use super::State;
use commis_base::error::Result;

pub(super) const SCHEMA: &str = "
CREATE TABLE questions (
    sha256 TEXT NOT NULL,
    -- Empty where many tasks are asked the same: settings alone.
    task_id TEXT NOT NULL,
    -- JSON, redacted: the digest may be of another text.
    text TEXT NOT NULL,
    PRIMARY KEY (sha256, task_id)
) WITHOUT ROWID;
";

impl State {
    /// Keeps the redacted text of what that digest is of; `task_id` is empty when it is not one task's own. Fails with
    /// `ARTIFACT_IO`.
    pub fn keep_question(&self, sha256: &str, task_id: &str, text: &str) -> Result<()> {
        self.with_db(|db| {
            // Of most it is known already, and asking takes no lock.
            let known = db
                .prepare_cached("SELECT 1 FROM questions WHERE sha256 = ? AND task_id = ?")?
                .exists([sha256, task_id])?;
            if known {
                return Ok(());
            }
            db.prepare_cached("INSERT OR IGNORE INTO questions VALUES (?, ?, ?)")?
                .execute(params![sha256, task_id, text])
                .map(drop)
        })
    }

    /// The redacted text of what that digest is of, JSON; `None` when it is not known (any more). Fails with `ARTIFACT_IO`.
    pub fn question(&self, sha256: &str) -> Result<Option<String>> {
        self.with_db(|db| {
            db.prepare_cached("SELECT text FROM questions WHERE sha256 = ? LIMIT 1")?
                .query_row([sha256], |row| row.get(0))
                .optional()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_of_two_tasks_is_kept_until_both_are_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let state = State::open(home.path()).unwrap();
        assert_eq!(state.question("aa").unwrap(), None);
        for task in ["a-00000000", "b-00000000", "a-00000000"] {
            state.keep_question("aa", task, "{}").unwrap();
        }
        state.keep_question("bb", "", "[]").unwrap();
        state.forget("a-00000000").unwrap();
        assert_eq!(state.question("aa").unwrap().as_deref(), Some("{}"));
        state.forget("b-00000000").unwrap();
        assert_eq!(state.question("aa").unwrap(), None);
        assert_eq!(state.question("bb").unwrap().as_deref(), Some("[]"));
    }
}
