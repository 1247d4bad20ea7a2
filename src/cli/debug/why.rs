//! Why a stage would run again, to the field.

use serde::Serialize;
use serde_json::Value;

use super::{
    task_view::StageRow,
    terminal_text::{bounded, cut, value},
};
use commis_learn::{
    fresh::{Change, Freshness},
    stage_inputs::{self, Difference},
};
use commis_stages::Stage;
use commis_state::State;

/// One reason. In `--json` each is an object with its name in `what`.
#[derive(Debug, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum StaleReason {
    Missing,
    /// The file cannot be used, and is not made again unasked.
    Broken {
        code: &'static str,
        detail: String,
        hint: Option<String>,
    },
    /// The file cannot be used, and is computed again.
    File {
        detail: String,
    },
    StageVersion {
        was: u32,
        is: u32,
    },
    /// `fields` is `null` when it is not known any more what they were, and empty when they differ in what is redacted alone.
    ManifestEntry {
        fields: Option<Vec<Difference>>,
    },
    Settings {
        fields: Option<Vec<Difference>>,
    },
    /// An input by its payload hash; `null` where there was, or is, none.
    Input {
        kind: &'static str,
        was: Option<String>,
        is: Option<String>,
    },
}

/// Empty when the stage is fresh.
pub fn why(row: &StageRow, state: Option<&State>) -> Vec<StaleReason> {
    match &row.freshness {
        Freshness::Fresh(_) => Vec::new(),
        Freshness::Missing => vec![StaleReason::Missing],
        Freshness::Broken(err) => vec![StaleReason::Broken {
            code: err.code().as_str(),
            detail: err.message().to_owned(),
            hint: err.hint_text().map(str::to_owned),
        }],
        Freshness::Stale(all) => all.iter().map(|it| to_reason(it, row, state)).collect(),
    }
}

fn to_reason(change: &Change, row: &StageRow, state: Option<&State>) -> StaleReason {
    match change {
        Change::File(detail) => StaleReason::File { detail: detail.clone() },
        &Change::StageVersion { was, is } => StaleReason::StageVersion { was, is },
        Change::Input { kind, was, is } => {
            StaleReason::Input { kind: kind.as_str(), was: was.clone(), is: is.clone() }
        }
        Change::Question { stage, was } => {
            let fields = find_question(row, was, state)
                .zip(row.question.as_ref())
                .map(|(was, is)| stage_inputs::differences(*stage, &was, is));
            let of_entry = |it: &[Difference]| {
                !it.is_empty() && it.iter().all(|it| it.field.starts_with("expect."))
            };
            let entry = stage.is_record()
                || (*stage == Stage::Verify && fields.as_deref().is_some_and(of_entry));
            if entry {
                StaleReason::ManifestEntry { fields }
            } else {
                StaleReason::Settings { fields }
            }
        }
    }
}

/// The question of that digest, redacted: as the database keeps it, or as the task was last begun.
fn find_question(row: &StageRow, digest: &str, state: Option<&State>) -> Option<Value> {
    let kept = || serde_json::from_str(&state?.question(digest).ok()??).ok();
    let begun = row.begun.as_ref().filter(|it| it.0 == digest).map(|it| it.1.clone());
    begun.or_else(kept)
}

impl StaleReason {
    /// For a person; may be of several lines.
    pub fn lines(&self) -> Vec<String> {
        match self {
            Self::Missing => vec!["nothing is written yet".to_owned()],
            Self::Broken { detail, hint, .. } => {
                let hint = hint.iter().map(|it| format!("hint: {}", cut(it, 200)));
                std::iter::once(cut(detail, 200)).chain(hint).collect()
            }
            Self::File { detail } => vec![cut(detail, 200)],
            Self::StageVersion { was, is } => vec![format!("stage version was {was}, is {is}")],
            Self::ManifestEntry { fields } => changed("the manifest entry", fields.as_deref()),
            Self::Settings { fields } => changed("settings", fields.as_deref()),
            Self::Input { kind, was, is } => {
                let hash = |it: &Option<String>| it.as_deref().map_or("none".to_owned(), short);
                vec![format!("{kind} changed: payload {} → {}", hash(was), hash(is))]
            }
        }
    }
}

fn changed(what: &str, fields: Option<&[Difference]>) -> Vec<String> {
    let Some(fields) = fields else {
        return vec![format!("{what} changed (what they were is not known any more)")];
    };
    if fields.is_empty() {
        return vec![format!("{what} changed, in what is redacted here")];
    }
    let lines = fields.iter().map(|it| {
        let told = |it: &Option<Value>| it.as_ref().map_or("not set".to_owned(), value);
        format!("{what} changed: {} was {}, is {}", cut(&it.field, 80), told(&it.was), told(&it.is))
    });
    bounded(lines, 12)
}

/// The beginning of a digest.
pub fn short(digest: &str) -> String {
    let start: String = digest.chars().take(8).collect();
    if start.len() == digest.len() { start } else { format!("{start}…") }
}
