//! Is a stage's artifact still the answer to today's question? If not, why not, to the field.

use std::collections::BTreeMap;

use commis_artifacts::{
    kinds::Kind,
    store::{ArtifactState, TaskFolder},
};
use commis_base::error::{Error, Result};
use commis_stages::table::{Stage, StageEffect, StageSpec};

/// What a look at one artifact says.
pub enum Freshness {
    /// With its payload hash.
    Fresh(String),
    Missing,
    /// Intact, but its question changed.
    Stale(Vec<Change>),
    /// Damaged or of another schema; `observed` artifacts are not silently redone.
    Broken(Error),
}

/// What makes an artifact stale.
#[derive(Debug, PartialEq, Eq)]
pub enum Change {
    /// The file is no answer any more, whatever the question.
    File(String),
    StageVersion {
        was: u32,
        is: u32,
    },
    /// Settings or manifest fields; the digest is what is known of what they were.
    Question {
        stage: Stage,
        was: String,
    },
    /// An input, by the payload hash it had and has; `None` when there was, or is, none.
    Input {
        kind: Kind,
        was: Option<String>,
        is: Option<String>,
    },
}

impl Change {
    pub fn describe(&self) -> String {
        match self {
            Self::File(why) => why.clone(),
            Self::StageVersion { was, is } => format!("stage version was {was}, is {is}"),
            Self::Question { stage, .. } if stage.is_record() => {
                "the manifest entry changed".to_owned()
            }
            Self::Question { .. } => "settings changed".to_owned(),
            Self::Input { kind, .. } => format!("{} changed", kind.as_str()),
        }
    }
}

impl Freshness {
    /// One line for `recipe debug`.
    pub fn describe(&self) -> String {
        match self {
            Self::Fresh(_) => "fresh".to_owned(),
            Self::Missing => "missing".to_owned(),
            Self::Stale(why) => {
                let why: Vec<String> = why.iter().map(Change::describe).collect();
                format!("stale: {}", why.join("; "))
            }
            Self::Broken(err) => format!("broken: {err}"),
        }
    }
}

/// Looks at the artifact that `spec` writes. `upstream` holds the payload hashes that its inputs have now.
pub fn check_freshness(
    folder: &TaskFolder,
    spec: &StageSpec,
    upstream: &BTreeMap<Kind, String>,
    settings_sha256: &str,
) -> Result<Freshness> {
    let envelope = match folder.find(spec.writes)? {
        ArtifactState::Absent => return Ok(Freshness::Missing),
        ArtifactState::Corrupt(why) if spec.effect == StageEffect::Observes => {
            return Ok(Freshness::Broken(folder.corrupt_error(spec.writes, &why)));
        }
        ArtifactState::OtherSchema(why) if spec.effect == StageEffect::Observes => {
            return Ok(Freshness::Broken(folder.schema_error(spec.writes, &why)));
        }
        // A pure stage's output is cheap and certain: it is computed again.
        ArtifactState::Corrupt(why) | ArtifactState::OtherSchema(why) => {
            return Ok(Freshness::Stale(vec![Change::File(why)]));
        }
        ArtifactState::Intact(it) => it,
    };
    if spec.stage.is_record() && envelope.producer.stage_version != spec.version {
        let why = format!("recorded by version {}", envelope.producer.stage_version);
        return Ok(Freshness::Broken(folder.schema_error(spec.writes, &why)));
    }
    let mut why = Vec::new();
    let version = envelope.producer.stage_version;
    if version != spec.version {
        why.push(Change::StageVersion { was: version, is: spec.version });
    }
    if envelope.settings_sha256 != settings_sha256 {
        why.push(Change::Question { stage: spec.stage, was: envelope.settings_sha256.clone() });
    }
    for kind in spec.reads {
        let (was, is) = (envelope.inputs.get(kind.as_str()), upstream.get(kind));
        if was != is {
            why.push(Change::Input { kind: *kind, was: was.cloned(), is: is.cloned() });
        }
    }
    Ok(if why.is_empty() {
        Freshness::Fresh(envelope.payload_sha256)
    } else {
        Freshness::Stale(why)
    })
}
