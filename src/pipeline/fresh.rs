//! Is a stage's artifact still the answer to today's question? If not, why not, to the field.

use std::collections::BTreeMap;

use super::table::{Effect, Spec};
use crate::{
    artifacts::{
        kinds::Kind,
        store::{Found, TaskFolder},
    },
    error::{Error, Result},
};

/// What a look at one artifact says.
pub enum Freshness {
    /// With its payload hash.
    Fresh(String),
    Missing,
    /// Intact, but its question changed.
    Stale(Vec<String>),
    /// Damaged or of another schema; `observed` artifacts are not silently redone.
    Broken(Error),
}

impl Freshness {
    /// One line for `recipe debug`.
    pub fn describe(&self) -> String {
        match self {
            Self::Fresh(_) => "fresh".to_owned(),
            Self::Missing => "missing".to_owned(),
            Self::Stale(why) => format!("stale: {}", why.join("; ")),
            Self::Broken(err) => format!("broken: {err}"),
        }
    }
}

/// Looks at the artifact that `spec` writes. `upstream` holds the payload hashes that its inputs have now.
pub fn look(
    folder: &TaskFolder,
    spec: &Spec,
    upstream: &BTreeMap<Kind, String>,
    settings_sha256: &str,
) -> Result<Freshness> {
    let envelope = match folder.find(spec.writes)? {
        Found::Absent => return Ok(Freshness::Missing),
        Found::Corrupt(why) if spec.effect == Effect::Observes => {
            return Ok(Freshness::Broken(folder.corrupt(spec.writes, &why)));
        }
        Found::OtherSchema(why) if spec.effect == Effect::Observes => {
            return Ok(Freshness::Broken(folder.other_schema(spec.writes, &why)));
        }
        // A pure stage's output is cheap and certain: it is computed again.
        Found::Corrupt(why) | Found::OtherSchema(why) => return Ok(Freshness::Stale(vec![why])),
        Found::Intact(it) => it,
    };
    if spec.stage.is_record() && envelope.producer.stage_version != spec.version {
        let why = format!("recorded by version {}", envelope.producer.stage_version);
        return Ok(Freshness::Broken(folder.other_schema(spec.writes, &why)));
    }
    let mut why = Vec::new();
    if envelope.producer.stage_version != spec.version {
        why.push(format!(
            "stage version was {}, is {}",
            envelope.producer.stage_version, spec.version
        ));
    }
    if envelope.settings_sha256 != settings_sha256 {
        why.push(
            if spec.stage.is_record() { "the manifest entry changed" } else { "settings changed" }
                .to_owned(),
        );
    }
    for kind in spec.reads {
        let was = envelope.inputs.get(kind.as_str());
        if was != upstream.get(kind) {
            why.push(format!("{} changed", kind.as_str()));
        }
    }
    Ok(if why.is_empty() {
        Freshness::Fresh(envelope.payload_sha256)
    } else {
        Freshness::Stale(why)
    })
}
