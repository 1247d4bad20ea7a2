//! How recipes do: a row of counters each, and whose fault a failure is.
//!
//! Nothing here says what a recipe is or whether it may run; its file does. A lost row is a recipe of which nothing is known.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params, params};
use serde::Serialize;

use super::State;
use commis_base::error::{Code, Result};

pub(super) const SCHEMA: &str = "
CREATE TABLE health (
    name TEXT NOT NULL,
    -- user or library.
    source TEXT NOT NULL,
    -- When it was proven, as the recipe says; failures in a row are of one proof.
    proof TEXT NOT NULL,
    runs INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    failed_in_a_row INTEGER NOT NULL,
    last_run_ms INTEGER NOT NULL,
    last_ok_ms INTEGER,
    last_code TEXT,
    last_similarity_bp INTEGER,
    PRIMARY KEY (name, source)
) WITHOUT ROWID;
";

/// How the days went, by name and source: what a chart shows. Days are since 1970, UTC.
pub(super) const DAYS: &str = "
CREATE TABLE health_days (
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    day INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    PRIMARY KEY (name, source, day)
) WITHOUT ROWID;
";
/// Days that are kept of a recipe, the last one counted.
pub const KEPT_DAYS: i64 = 90;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// One run of a recipe, for the counters.
#[derive(Clone, Copy, Debug)]
pub struct RecipeRun<'a> {
    pub name: &'a str,
    /// `user` or `library`.
    pub source: &'a str,
    /// When the recipe was proven; empty when it was not.
    pub proof: &'a str,
    /// What it failed with, if it did.
    pub failed: Option<Code>,
    /// Whether that was the recipe's fault.
    pub at_fault: bool,
    /// Of the data to what was verified, where they were compared.
    pub similarity_bp: Option<u32>,
    /// Milliseconds since 1970.
    pub at_ms: i64,
}

/// How a recipe has done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Health {
    #[serde(skip)]
    pub name: String,
    #[serde(skip)]
    pub source: String,
    pub runs: i64,
    pub ok: i64,
    pub failed: i64,
    /// By its own fault, since it last worked or was proven.
    pub failed_in_a_row: u32,
    /// Milliseconds since 1970.
    pub last_run_ms: i64,
    pub last_ok_ms: Option<i64>,
    /// What the last run failed with; `None` when it did not.
    pub last_code: Option<String>,
    /// Basis points, of the last answer that was compared.
    pub last_similarity_bp: Option<u32>,
}

impl Health {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            name: row.get("name")?,
            source: row.get("source")?,
            runs: row.get("runs")?,
            ok: row.get("ok")?,
            failed: row.get("failed")?,
            failed_in_a_row: row.get("failed_in_a_row")?,
            last_run_ms: row.get("last_run_ms")?,
            last_ok_ms: row.get("last_ok_ms")?,
            last_code: row.get("last_code")?,
            last_similarity_bp: row.get("last_similarity_bp")?,
        })
    }
}

/// How the runs of one day ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayCounts {
    /// Since 1970, UTC.
    pub at: i64,
    pub ok: i64,
    pub failed: i64,
}

/// The day of a moment, both since 1970.
pub const fn day_of(at_ms: i64) -> i64 {
    at_ms.div_euclid(DAY_MS)
}

impl State {
    /// Counts a run; returns how often the recipe has now failed in a row by its own fault. A failure that is not its fault
    /// changes nothing there. Fails with `ARTIFACT_IO`.
    pub fn record_run(&self, run: &RecipeRun<'_>) -> Result<u32> {
        let RecipeRun { name, source, proof, failed, at_fault, similarity_bp, at_ms } = *run;
        self.with_db(|db| {
            let change = db.unchecked_transaction()?;
            count_day(&change, run)?;
            let in_a_row = change.prepare_cached(
                "INSERT INTO health (name, source, proof, runs, ok, failed, failed_in_a_row, last_run_ms, last_ok_ms, last_code, last_similarity_bp)
                 VALUES (:name, :source, :proof, 1, :ok, 1 - :ok, :fault, :now, iif(:ok, :now, NULL), :code, :similarity)
                 ON CONFLICT DO UPDATE SET
                    runs = runs + 1, ok = ok + :ok, failed = failed + 1 - :ok,
                    failed_in_a_row = iif(:ok, 0, iif(proof = :proof, failed_in_a_row, 0) + :fault),
                    proof = :proof, last_run_ms = :now, last_ok_ms = iif(:ok, :now, last_ok_ms), last_code = :code,
                    last_similarity_bp = coalesce(:similarity, last_similarity_bp)
                 RETURNING failed_in_a_row",
            )?
            .query_row(
                named_params! {
                    ":name": name, ":source": source, ":proof": proof, ":ok": failed.is_none(), ":fault": at_fault,
                    ":now": at_ms, ":code": failed.map(Code::as_str), ":similarity": similarity_bp,
                },
                |row| row.get(0),
            )?;
            change.commit()?;
            Ok(in_a_row)
        })
    }

    /// How the days from that one on went on which a recipe was run, in order. Fails with `ARTIFACT_IO`.
    pub fn health_days(&self, name: &str, source: &str, from: i64) -> Result<Vec<DayCounts>> {
        self.with_db(|db| {
            db.prepare_cached(
                "SELECT day, ok, failed FROM health_days WHERE name = ? AND source = ? AND day >= ? ORDER BY day",
            )?
            .query_map(params![name, source, from], day)?
            .collect()
        })
    }

    /// As [`State::health_days`], of all recipes: name, source and day. Fails with `ARTIFACT_IO`.
    pub fn all_health_days(&self, from: i64) -> Result<Vec<(String, String, DayCounts)>> {
        self.with_db(|db| {
            db.prepare_cached(
                "SELECT * FROM health_days WHERE day >= ? ORDER BY name, source, day",
            )?
            .query_map([from], |it| Ok((it.get("name")?, it.get("source")?, day(it)?)))?
            .collect()
        })
    }

    /// How a recipe has done; `None` when it was never run. Fails with `ARTIFACT_IO`.
    pub fn health(&self, name: &str, source: &str) -> Result<Option<Health>> {
        self.with_db(|db| {
            db.prepare_cached("SELECT * FROM health WHERE name = ? AND source = ?")?
                .query_row([name, source], Health::read)
                .optional()
        })
    }

    /// How all recipes have done, by name. Fails with `ARTIFACT_IO`.
    pub fn all_health(&self) -> Result<Vec<Health>> {
        self.with_db(|db| {
            db.prepare_cached("SELECT * FROM health ORDER BY name, source")?
                .query_map([], Health::read)?
                .collect()
        })
    }

    /// Forgets the counters of a recipe that is gone. Fails with `ARTIFACT_IO`.
    pub fn forget_health(&self, name: &str, source: &str) -> Result<()> {
        self.with_db(|db| {
            db.execute("DELETE FROM health_days WHERE name = ? AND source = ?", [name, source])?;
            db.execute("DELETE FROM health WHERE name = ? AND source = ?", [name, source]).map(drop)
        })
    }
}

fn day(row: &Row<'_>) -> rusqlite::Result<DayCounts> {
    Ok(DayCounts { at: row.get("day")?, ok: row.get("ok")?, failed: row.get("failed")? })
}

/// Counts a run to its day; with the first of a day, the days go that are too old.
fn count_day(db: &Connection, run: &RecipeRun<'_>) -> rusqlite::Result<()> {
    let today = day_of(run.at_ms);
    let runs: i64 = db
        .prepare_cached(
            "INSERT INTO health_days VALUES (:name, :source, :day, :ok, 1 - :ok)
             ON CONFLICT DO UPDATE SET ok = ok + :ok, failed = failed + 1 - :ok
             RETURNING ok + failed",
        )?
        .query_row(
            named_params! { ":name": run.name, ":source": run.source, ":day": today, ":ok": run.failed.is_none() },
            |row| row.get(0),
        )?;
    if runs == 1 {
        db.prepare_cached("DELETE FROM health_days WHERE name = ? AND source = ? AND day <= ?")?
            .execute(params![run.name, run.source, today - KEPT_DAYS])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use commis_base::blame::{Blame, blame};

    use super::*;

    #[test]
    fn only_what_the_site_answers_is_the_recipes_fault() {
        let at_fault: Vec<&str> = Code::ALL
            .iter()
            .filter(|it| blame(**it, false) == Blame::Recipe)
            .map(|it| it.as_str())
            .collect();
        assert_eq!(
            at_fault,
            [
                "NOT_FOUND",
                "TOO_MANY_REDIRECTS",
                "RESPONSE_TOO_LARGE",
                "HEADERS_TOO_LARGE",
                "HTTP_STATUS",
                "AUTH_REQUIRED",
                "WORK_LIMIT",
                "PARSE_ERROR",
                "EXTRACT_EMPTY",
                "SHAPE_DRIFT",
                "SESSION_REQUIRED"
            ]
        );
        // What may pass by itself is nobody's to be demoted for.
        assert!(Code::ALL.iter().all(|it| !it.retryable() || blame(*it, false) != Blame::Recipe));
        for (code, keyed, whose) in [
            (Code::AuthRequired, true, Blame::User),
            (Code::AuthEnvMissing, true, Blame::User),
            (Code::ParamInvalid, false, Blame::User),
            (Code::Timeout, false, Blame::Network),
            (Code::DnsFailed, false, Blame::Network),
            (Code::DnsBlocked, false, Blame::Policy),
            (Code::DomainNotAllowed, false, Blame::Policy),
            (Code::RateLimited, false, Blame::Limits),
            (Code::ServerError, false, Blame::Site),
            (Code::BrowserMissing, false, Blame::Machine),
            (Code::ShapeDrift, true, Blame::Recipe),
        ] {
            assert_eq!(blame(code, keyed), whose, "{code}");
        }
    }

    #[test]
    fn runs_are_counted() {
        let home = tempfile::tempdir().unwrap();
        let state = State::open_briefly(home.path()).unwrap();
        let run = |failed: Option<Code>, proof: &str, at_ms: i64| {
            let at_fault = failed.is_some_and(|it| blame(it, false) == Blame::Recipe);
            let similarity_bp = failed.is_none().then_some(9_900);
            let run = RecipeRun {
                name: "it",
                source: "user",
                proof,
                failed,
                at_fault,
                similarity_bp,
                at_ms,
            };
            state.record_run(&run).unwrap()
        };
        assert_eq!(state.health("it", "user").unwrap(), None);
        let four_o_four = Some(Code::HttpStatus);
        assert_eq!(run(four_o_four, "a", 1), 1);
        assert_eq!(run(four_o_four, "a", 2), 2);
        assert_eq!(run(Some(Code::Timeout), "a", 3), 2, "the network's");
        assert_eq!(run(None, "a", 4), 0);
        assert_eq!(run(four_o_four, "a", 5), 1);
        assert_eq!(run(four_o_four, "b", 6), 1, "proven since");
        assert_eq!(run(Some(Code::Timeout), "c", 7), 0, "proven since");
        let expected = Health {
            name: "it".to_owned(),
            source: "user".to_owned(),
            runs: 7,
            ok: 1,
            failed: 6,
            failed_in_a_row: 0,
            last_run_ms: 7,
            last_ok_ms: Some(4),
            last_code: Some("TIMEOUT".to_owned()),
            last_similarity_bp: Some(9_900),
        };
        assert_eq!(state.health("it", "user").unwrap(), Some(expected.clone()));
        assert_eq!(state.health("it", "library").unwrap(), None);
        drop(state);
        // Without a checkpoint, what was noted is there all the same.
        let state = State::open_existing(home.path()).unwrap();
        assert_eq!(state.all_health().unwrap(), [expected]);
        assert_eq!(
            state.health_days("it", "user", 0).unwrap(),
            [DayCounts { at: 0, ok: 1, failed: 6 }]
        );
        state.forget_health("it", "user").unwrap();
        assert_eq!(state.all_health().unwrap(), []);
        assert_eq!(state.all_health_days(0).unwrap(), []);
    }

    #[test]
    fn days_are_kept_apart_and_for_ninety_days() {
        let home = tempfile::tempdir().unwrap();
        let state = State::open_briefly(home.path()).unwrap();
        let run = |name: &str, day: i64, failed: Option<Code>| {
            let at_ms = day * DAY_MS + 5;
            let run = RecipeRun {
                name,
                source: "user",
                proof: "",
                failed,
                at_fault: false,
                similarity_bp: None,
                at_ms,
            };
            state.record_run(&run).unwrap();
        };
        let days = |name: &str| -> Vec<(i64, i64, i64)> {
            let all = state.health_days(name, "user", 0).unwrap();
            all.iter().map(|it| (it.at, it.ok, it.failed)).collect()
        };
        run("other", 100, None);
        for day in [100, 100, 101] {
            run("it", day, None);
        }
        run("it", 101, Some(Code::Timeout));
        assert_eq!(days("it"), [(100, 2, 0), (101, 1, 1)]);
        assert_eq!(state.health_days("it", "user", 101).unwrap().len(), 1);
        run("it", 190, None);
        assert_eq!(days("it"), [(101, 1, 1), (190, 1, 0)]);
        assert_eq!(days("other"), [(100, 1, 0)]);
        assert_eq!(state.all_health_days(101).unwrap().len(), 2);
    }

    #[test]
    fn looking_makes_no_database() {
        let home = tempfile::tempdir().unwrap();
        assert!(State::open_existing(home.path()).is_none());
        assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    }
}
