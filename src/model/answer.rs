//! Is an answer one of those that were offered? Everything else is wrong, and has one fixed name.

use serde::Deserialize;

use super::{Answer, EndReason};
use commis_artifacts::{offer::Offer, payloads::Verdict};

/// Instead of a request. No request line is so: they begin with a method and an address.
pub const NONE_FITS: &str = "none of these";

/// Instead of a path: it is computed as without a model.
pub const NO_PATH: &str = "none";

/// A good answer is a request line and a path.
const MAX_ANSWER: usize = 4096;

/// Why an answer is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerError {
    Refused,
    Cut,
    Empty,
    TooLong,
    NotTheObject,
    UnknownRequest,
    UnknownPath,
}

impl AnswerError {
    /// Fixed words, for the model and for a person.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "it was refused",
            Self::Cut => "it was cut at the token limit",
            Self::Empty => "it was empty",
            Self::TooLong => "it was too long",
            Self::NotTheObject => "it was not just the JSON object with `request` and `path`",
            Self::UnknownRequest => "its `request` is not one of the list",
            Self::UnknownPath => "its `path` is not one of those listed with that request",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChosenLine {
    request: String,
    path: String,
}

/// The choice that the answer makes among `offers`: exactly one of them, with one of its own paths or none.
pub fn parse_verdict(answer: &Answer, offers: &[Offer<'_>]) -> Result<Verdict, AnswerError> {
    match answer.end {
        EndReason::Refused => return Err(AnswerError::Refused),
        EndReason::Cut => return Err(AnswerError::Cut),
        EndReason::Complete => {}
    }
    if answer.text.trim().is_empty() {
        return Err(AnswerError::Empty);
    }
    if answer.text.len() > MAX_ANSWER {
        return Err(AnswerError::TooLong);
    }
    let said: ChosenLine =
        serde_json::from_str(&answer.text).map_err(|_| AnswerError::NotTheObject)?;
    if said.request == NONE_FITS {
        return Ok(Verdict::NoneFits);
    }
    let offer =
        offers.iter().find(|it| it.line == said.request).ok_or(AnswerError::UnknownRequest)?;
    let path = if offer.paths.contains(&said.path) {
        Some(said.path)
    } else if said.path == NO_PATH {
        None
    } else {
        return Err(AnswerError::UnknownPath);
    };
    Ok(Verdict::Chosen { exchange: offer.exchange, path })
}
