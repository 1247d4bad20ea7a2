//! Has a task been finished, and does that still hold? Told by size, time and inode of its files, without reading them.
//!
//! A batch of thousands of finished tasks is looked through in a second or two this way. Whoever changes a file changes its
//! time or inode, and the task is then looked at in full, as if nothing were known. `artifacts verify` reads everything.

use std::{collections::BTreeMap, path::Path};

use serde_json::json;

use super::{
    context::LearnResult,
    task::{Task, settings_only},
};
use commis_artifacts::{
    kinds::Kind,
    store::{LEASE, Store, json_sha256},
};
use commis_base::{error::Result, files::Dir, settings::Settings};
use commis_stages::table::{STAGES, Stage};
use commis_state::FinishedTask;

/// What is asked of every task of a batch alike.
pub struct QuestionDigests {
    /// Versions, schemas, settings.
    common: String,
}

impl QuestionDigests {
    pub fn new(settings: &Settings) -> Self {
        let stages: Vec<_> = STAGES
            .iter()
            .map(|it| (it.stage, it.version, settings_only(it.stage, settings)))
            .collect();
        let kinds: BTreeMap<&str, (u32, &'static str)> =
            Kind::ALL.iter().map(|it| (it.as_str(), (it.version(), it.schema_hash()))).collect();
        Self { common: json_sha256(&json!([stages, kinds])) }
    }

    /// Digest of everything that the task's outcome and recipe depend on, but for its files.
    pub fn of(&self, task: &Task, settings: &Settings) -> String {
        let of = |stage| task.settings_sha256(stage, settings);
        json_sha256(&json!([
            self.common,
            task.name,
            task.sentence,
            task.category,
            task.requires_auth,
            of(Stage::Record),
            of(Stage::RecordSecond),
            of(Stage::Verify),
        ]))
    }
}

/// Digest of size, time and inode of each file that a task leaves: its artifacts, what its folder says of the task, its
/// recipe. `None` when it has no folder, or one with something left over from a crash. Fails with `ARTIFACT_IO`.
fn files(folder: &Path, recipe: Option<&Path>) -> Result<Option<String>> {
    let Some(dir) = Dir::open(folder, false)? else { return Ok(None) };
    // Who opens the task for work removes them.
    if dir.has_leftovers(LEASE)? {
        return Ok(None);
    }
    let mut all = Vec::new();
    for name in Kind::ALL.iter().map(|it| it.file()).chain(["task.json"]) {
        if let Some(it) = dir.stat(name)? {
            all.push((name.to_owned(), it));
        }
    }
    if let Some((recipes, name)) =
        recipe.and_then(|it| Some((it.parent()?, it.file_name()?.to_str()?)))
    {
        let stat = match Dir::open(recipes, false)? {
            Some(it) => it.stat(name)?,
            None => None,
        };
        let Some(it) = stat else { return Ok(None) };
        all.push((format!("recipe {name}"), it));
    }
    Ok(Some(json_sha256(&all)))
}

/// What is to be remembered of a task that came to this. `None` when its files cannot be told. Fails with `ARTIFACT_IO`.
pub fn remember(question: String, learned: &LearnResult) -> Result<Option<FinishedTask>> {
    let Some(files) = files(&learned.artifacts, learned.recipe.as_deref())? else {
        return Ok(None);
    };
    Ok(Some(FinishedTask { question, files }))
}

/// What the task came to, if what is known of it still holds; `entry` is its line of the report. Fails with `ARTIFACT_IO`.
pub fn recall(
    question: &str,
    known: &FinishedTask,
    entry: &str,
    store: &Store,
) -> Result<Option<LearnResult>> {
    if known.question != question {
        return Ok(None);
    }
    let Ok(mut learned) = serde_json::from_str::<LearnResult>(entry) else { return Ok(None) };
    // The home may have been moved.
    if learned.artifacts.parent() != Some(store.root())
        || files(&learned.artifacts, learned.recipe.as_deref())?.as_ref() != Some(&known.files)
    {
        return Ok(None);
    }
    learned.reused = STAGES
        .iter()
        .map(|it| it.stage)
        .filter(|it| learned.ran.contains(it) || learned.reused.contains(it))
        .collect();
    learned.ran.clear();
    learned.live_values_lost = false;
    learned.skipped_entries = 0;
    if let Some(it) = &mut learned.model {
        (it.calls, it.tokens_in, it.tokens_out, it.cost_micros) = (0, 0, 0, None);
    }
    Ok(Some(learned))
}
