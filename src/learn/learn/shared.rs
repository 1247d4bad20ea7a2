//! A task's folder and the shelf that machines share: what is there is taken before a stage runs, and what was made is put there
//! as soon as it is.

use std::{collections::BTreeMap, sync::Arc};

use super::{Freshness, Kind, Run, Stage, StageSpec, StoredTask, Task, check_freshness};
use commis_artifacts::{
    shared_store::{ObjectKey, SharedStore, StageRequest},
    store::{StoredEnvelope, json_sha256},
};
use commis_base::error::{Code, Error, Result};

/// A session whose values are lost so often is not recorded once more.
const MOST: u32 = 64;

impl Run<'_> {
    /// Makes the folder hold what the shelf has for an answer; false when it has none. Fails with `ARTIFACT_CORRUPT`,
    /// `ARTIFACT_IO`.
    pub(super) fn take_down(&mut self, spec: &StageSpec, settings_sha256: &str) -> Result<bool> {
        let Some(shared_store) = self.cx.shared_store.clone() else { return Ok(true) };
        let Some((bytes, theirs)) = self.answer(&*shared_store, spec, settings_sha256)? else {
            return Ok(false);
        };
        let own = check_freshness(self.folder, spec, &self.hashes, settings_sha256)?;
        if !matches!(own, Freshness::Fresh(hash) if hash == theirs.payload_sha256) {
            self.folder.take(spec.writes, &bytes)?;
        }
        Ok(true)
    }

    /// The last one, where a recording was made again.
    fn answer(
        &mut self,
        shared_store: &dyn SharedStore,
        spec: &StageSpec,
        settings_sha256: &str,
    ) -> Result<Option<(Vec<u8>, StoredEnvelope)>> {
        let inputs = self.inputs(spec);
        if spec.stage != Stage::Record {
            return shared_question(self.task, spec, &inputs, settings_sha256, 0)
                .read(shared_store);
        }
        let (mut last, mut made) = (None, 0);
        while made < MOST
            && let Some(it) = shared_question(self.task, spec, &inputs, settings_sha256, made)
                .read(shared_store)?
        {
            (last, made) = (Some(it), made + 1);
        }
        self.generation = made;
        Ok(last)
    }

    /// Puts there what the folder holds. Where another machine was first, theirs is what counts from here on.
    pub(super) fn put_up(&mut self, spec: &StageSpec, settings_sha256: &str) -> Result<()> {
        let Some(shared_store) = self.cx.shared_store.clone() else { return Ok(()) };
        let again = if spec.stage == Stage::Record { self.generation } else { 0 };
        if again == MOST {
            return Err(Error::new(
                Code::LiveValuesLost,
                format!(
                    "task {} was recorded {MOST} times, and the session values were lost each time",
                    self.task.id
                ),
            )
            .hint("run its stages from record to verify in one process"));
        }
        if spec.stage == Stage::Record {
            self.put_up_task(&shared_store)?;
        }
        let inputs = self.inputs(spec);
        let ours = shared_question(self.task, spec, &inputs, settings_sha256, again);
        let lost = |what: &str| {
            Error::new(
                Code::ArtifactIo,
                format!("{} {what} while it was copied to the store", ours.key()),
            )
        };
        // Who was taken over, on this machine or by another, commits nothing.
        self.folder.check_lease()?;
        self.cx.policy.task_leases().check()?;
        let bytes = self.folder.bytes(spec.writes)?.ok_or_else(|| lost("left the folder"))?;
        let first = shared_store.create(&ours.key(), bytes)?;
        let theirs = if first { None } else { ours.read(&*shared_store)? };
        if spec.stage == Stage::Record {
            self.generation = again + 1;
        }
        if first {
            return Ok(());
        }
        let (bytes, theirs) = theirs.ok_or_else(|| lost("left the store"))?;
        if self.hashes.get(&spec.writes) != Some(&theirs.payload_sha256) {
            self.folder.take(spec.writes, &bytes)?;
            self.hashes.insert(spec.writes, theirs.payload_sha256);
            if spec.stage == Stage::Record {
                // Its values are of the session that does not count.
                self.session = None;
            }
        }
        tracing::info!(task_id = self.task.id.as_str(), stage = spec.stage.as_str(), "adopted");
        self.adopted.push(spec.stage);
        Ok(())
    }

    /// What the task is goes there before its recording, so that who finds that one can go on with it.
    fn put_up_task(&self, shared_store: &Arc<dyn SharedStore>) -> Result<()> {
        let stored = StoredTask::new(self.task, None)?;
        let key = ObjectKey::for_task(&self.task.id);
        if !shared_store.create(&key, stored.to_bytes()?)? {
            tracing::debug!(task_id = self.task.id.as_str(), "the task is known there");
        }
        Ok(())
    }

    /// Where the artifact of that kind is, for people and programs.
    pub(super) fn key(&self, spec: &StageSpec) -> String {
        let file = || format!("{}/{}", self.task.id, spec.writes.file());
        if self.cx.shared_store.is_none() {
            return file();
        }
        let settings = json_sha256(&self.question(spec.stage));
        let again = match spec.stage {
            Stage::Record => self.generation.saturating_sub(1),
            _ => 0,
        };
        shared_question(self.task, spec, &self.inputs(spec), &settings, again).key().to_string()
    }

    /// The payload hash of what counts.
    pub(super) fn hash(&self, kind: Kind) -> Option<&String> {
        self.hashes.get(&kind)
    }
}

fn shared_question<'a>(
    task: &'a Task,
    spec: &StageSpec,
    inputs: &'a BTreeMap<String, String>,
    settings_sha256: &'a str,
    again: u32,
) -> StageRequest<'a> {
    StageRequest {
        task: &task.id,
        kind: spec.writes,
        stage: spec.stage.as_str(),
        stage_version: spec.version,
        inputs,
        settings_sha256,
        again,
    }
}
