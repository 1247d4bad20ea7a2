//! Why a proof ends before its end.

use super::replay::passing;
use commis_artifacts::payloads::{RecipeDraftMinimized, Replay, VerificationReport};
use commis_base::error::{Code, Error};

/// Why a transport did not prove the draft.
pub struct Failure {
    pub text: String,
    /// No other transport can do better.
    pub is_final: bool,
    /// The code of a failure that may pass.
    pub transient: Option<Code>,
}

/// What ends a proof before its end.
pub enum Halt {
    /// The answers do not prove the draft.
    Refuted(Failure),
    /// The world failed; that says nothing of the draft.
    Failed(Error),
}

impl From<Failure> for Halt {
    fn from(it: Failure) -> Self {
        Self::Refuted(it)
    }
}

impl From<Error> for Halt {
    fn from(it: Error) -> Self {
        Self::Failed(it)
    }
}

pub type Proof<T> = std::result::Result<T, Halt>;

/// What was not shown to have an effect is published as a constant.
pub fn freeze_optional(draft: &RecipeDraftMinimized, report: &mut VerificationReport) {
    report.frozen = draft
        .parameters
        .iter()
        .filter(|it| !it.required && !report.effective.contains(&it.name))
        .map(|it| it.name.clone())
        .collect();
}

pub fn final_(text: &str) -> Failure {
    Failure { text: text.to_owned(), is_final: true, transient: None }
}

/// Fails where the site could not be asked now, which says nothing of the draft. A 500 is an answer: sites give it to values that
/// they do not expect.
pub fn require_answer(what: &str, replay: &Replay) -> Proof<()> {
    match passing(replay).filter(|_| replay.status != Some(500)) {
        Some(code) => {
            Err(Failure { text: format!("{what}: {code}"), is_final: false, transient: Some(code) }
                .into())
        }
        None => Ok(()),
    }
}
