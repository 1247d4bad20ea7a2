//! What this home knows of a recipe: who proved it, by what was noted here and never by what its file says.
//!
//! A recipe's file may be a stranger's: its status, its proof and its words are claims. What was proven here is noted beside the
//! state of the home, in `trust/NAME.json`: a digest of the recipe, and a code over it by the key of this home (`trust/key`, 0600).
//! Who can only put files into the folder of recipes can make neither. A recipe whose digest is not noted is a draft.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::model::{Recipe, Status};
pub use super::trust_level::Trust;
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
    ids::{RecipeName, hex},
    mac::MacKey,
};

const KEY: &str = "key";
const PURPOSE: &str = "commis recipe 1";
const MAX_RECORD: usize = 4096;

/// Digest of all that a recipe says, however its file is laid out. Fails with `INTERNAL`.
pub fn digest(recipe: &Recipe) -> Result<String> {
    let bytes = serde_json::to_vec(recipe)
        .map_err(|err| Error::new(Code::Internal, "cannot write the recipe as JSON").source(err))?;
    Ok(hex(&Sha256::digest(&bytes)))
}

/// Whose note it is: the user's recipe, or a proof of one of the library.
#[derive(Clone, Copy)]
pub(super) enum NoteOwner {
    User,
    Library,
}

impl NoteOwner {
    const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Library => "library",
        }
    }

    /// Names of recipes have no dot.
    fn file(self, name: &RecipeName) -> String {
        match self {
            Self::User => format!("{name}.json"),
            Self::Library => format!("library.{name}.json"),
        }
    }
}

/// The folder of what is noted.
#[derive(Clone, Debug)]
pub(super) struct TrustStore {
    dir: PathBuf,
}

/// The same, opened.
pub(super) struct TrustNotes(Option<(Dir, MacKey)>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Record {
    sha256: String,
    trust: Trust,
    /// Over all of it, and the name.
    code: String,
}

impl TrustStore {
    pub fn new(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Whether nothing was ever noted here.
    pub fn is_new(&self) -> bool {
        self.dir.join(KEY).symlink_metadata().is_err()
    }

    /// What was noted. Notes that cannot be read are none.
    pub fn read(&self) -> TrustNotes {
        let opened = || {
            let Some(dir) = Dir::open(&self.dir, false)? else { return Ok(None) };
            Ok::<_, Error>(MacKey::read(&dir, KEY)?.map(|key| (dir, key)))
        };
        TrustNotes(opened().unwrap_or_else(|err| {
            tracing::warn!(error = %err, "what is known of recipes cannot be read: all are drafts");
            None
        }))
    }

    /// Makes the key, so that this home is no longer new. Fails with `ARTIFACT_IO`.
    pub fn create_key(&self) -> Result<()> {
        MacKey::read_or_make(&files::open_or_create(&self.dir)?, KEY).map(drop)
    }

    /// Notes who stands for what has that digest, in place of what was noted under the name. Fails with `ARTIFACT_IO`.
    pub fn note(&self, of: NoteOwner, name: &RecipeName, sha256: &str, trust: Trust) -> Result<()> {
        if trust.is_untrusted() {
            return self.forget(of, name);
        }
        let dir = files::open_or_create(&self.dir)?;
        let key = MacKey::read_or_make(&dir, KEY)?;
        let code = key.sign_hex(PURPOSE, &signed_parts(of, name, sha256, trust));
        let record = Record { sha256: sha256.to_owned(), trust, code };
        let bytes = serde_json::to_vec(&record).map_err(|err| {
            Error::new(Code::Internal, "cannot write the note as JSON").source(err)
        })?;
        let file = of.file(name);
        if dir.read(&file, MAX_RECORD)?.as_deref() == Some(&bytes) {
            return Ok(());
        }
        dir.write(&file, &bytes)
    }

    /// Fails with `ARTIFACT_IO`.
    pub fn forget(&self, of: NoteOwner, name: &RecipeName) -> Result<()> {
        let dir = Dir::open(&self.dir, false)?;
        dir.map_or(Ok(()), |it| it.remove(&of.file(name)).map(drop))
    }

    /// What changes when another note is made.
    #[cfg(unix)]
    pub fn stamp(&self, of: NoteOwner, name: &RecipeName) -> Option<(u64, i64, u64, u64)> {
        Dir::open(&self.dir, false).ok()??.stat(&of.file(name)).ok()?
    }

    /// Removes what crashes left. Fails with `ARTIFACT_IO`.
    pub fn sweep(&self) -> Result<()> {
        files::sweep_shared(&self.dir)
    }
}

impl TrustNotes {
    /// Who stands for what has that digest.
    pub fn trust_of(&self, of: NoteOwner, name: &RecipeName, sha256: &str) -> Option<Trust> {
        let (dir, key) = self.0.as_ref()?;
        let bytes = dir.read_private(&of.file(name), MAX_RECORD).ok()??;
        let it: Record = serde_json::from_slice(&bytes).ok()?;
        let signed = signed_parts(of, name, &it.sha256, it.trust);
        (it.sha256 == sha256 && key.verify(PURPOSE, &signed, &it.code)).then_some(it.trust)
    }

    /// The recipe as it stands here: one that nobody here stands for is a draft, and what it says of its proof is left out.
    pub fn apply_to(&self, recipe: &mut Recipe) -> Result<()> {
        if let Some(it) = self.trust_of(NoteOwner::User, &recipe.name, &digest(recipe)?) {
            recipe.trust = it;
            return Ok(());
        }
        let claims = recipe.status != Status::Draft;
        recipe.trust = if claims { Trust::Claimed } else { Trust::Unknown };
        // What was taken back stays so: nothing can be done with it.
        if recipe.status == Status::Verified || recipe.demotion.is_some() {
            (recipe.status, recipe.demotion) = (Status::Draft, None);
        }
        if let Some(it) = &mut recipe.verification {
            (it.verified_at, it.witness, it.complete, it.first_page) = (None, None, None, None);
            it.browser_ms = None;
            it.examples.clear();
        }
        Ok(())
    }
}

fn signed_parts<'a>(
    of: NoteOwner,
    name: &'a RecipeName,
    sha256: &'a str,
    trust: Trust,
) -> [&'a [u8]; 4] {
    let trust = match trust {
        Trust::Unknown => "unknown",
        Trust::Claimed => "claimed",
        Trust::Library => "library",
        Trust::Learned => "learned",
        Trust::Person => "person",
        Trust::Examples => "examples",
        Trust::Proven => "proven",
    };
    [of.as_str().as_bytes(), name.as_str().as_bytes(), sha256.as_bytes(), trust.as_bytes()]
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
