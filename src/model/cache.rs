//! Answers by digest of their question, one file each, so that the same question is paid for once.

use std::path::PathBuf;

use commis_artifacts::payloads::{Consultation, Verdict};
use commis_base::{error::Result, files::Dir};

const MAX_FILE: usize = 256 * 1024;

/// `model_<digest>.json` in one folder.
pub struct Cache {
    folder: PathBuf,
}

impl Cache {
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What was answered to that question. A file that is damaged, of another form or of another question is as none.
    /// Fails with `ARTIFACT_IO` when a link or a special file stands in its place.
    pub fn get(&self, digest: &str) -> Result<Option<Consultation>> {
        let Some(dir) = Dir::open(&self.folder, false)? else { return Ok(None) };
        let Some(bytes) = dir.read(&name(digest), MAX_FILE)? else { return Ok(None) };
        Ok(serde_json::from_slice(&bytes).ok().filter(|it: &Consultation| it.digest == digest))
    }

    /// Keeps an answer; an unusable one is not kept, another time may bring a better. Fails with `ARTIFACT_IO`.
    pub fn put(&self, consultation: &Consultation) -> Result<()> {
        if consultation.verdict == Verdict::Unusable {
            return Ok(());
        }
        let bytes = serde_json::to_vec_pretty(consultation).unwrap_or_default();
        commis_base::files::write_atomic(&self.folder, &name(&consultation.digest), &bytes)
    }
}

fn name(digest: &str) -> String {
    format!("model_{digest}.json")
}
