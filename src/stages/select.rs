//! The choice of analyze made by a person: which candidate, and how to read its answer if they know better.
//!
//! A person may prefer a candidate that the signals do not; they may not have a mutation replayed. The choice names an
//! endpoint, not an exchange, so that it holds for a recording made again.

use serde::{Deserialize, Serialize};

use super::{analyze::response, reads::reads};
use crate::{
    artifacts::{
        payloads::{Analyst, CandidateSet, Choice, Judged, Reason, RecipeAnalysis, Reject},
        recording::SessionRecording,
        store::json_sha256,
    },
    error::Result,
};

/// Which endpoint, and optionally a JMESPath instead of the one that would be chosen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// As in [`crate::artifacts::payloads::Candidate`].
    pub endpoint_key: String,
    pub extract: Option<String>,
}

impl Selection {
    /// Digest of the question that a selection puts instead of the settings of analyze.
    pub fn sha256(&self) -> String {
        json_sha256(self)
    }
}

/// Pure. Rejects with `mutation`, or with `ambiguous` when the endpoint is no longer a candidate or its answer cannot be
/// read as asked.
pub fn select(
    recording: &SessionRecording,
    candidates: &CandidateSet,
    selection: &Selection,
) -> Result<Judged<RecipeAnalysis>> {
    let rejected = |reason, why: String| Ok(Judged::Rejected(Reject::new(reason, why)));
    let all = &candidates.candidates;
    let Some(it) = all.iter().find(|it| it.endpoint_key == selection.endpoint_key) else {
        return rejected(
            Reason::Ambiguous,
            format!(
                "the candidate that a person chose ({}) is no longer among the candidates: choose again",
                selection.endpoint_key
            ),
        );
    };
    let exchange = recording.exchange(it.exchange)?;
    if let Err(why) = reads(exchange, recording) {
        return rejected(Reason::Mutation, why);
    }
    let Some(mut response) = response(exchange, it.source, recording) else {
        return rejected(
            Reason::Ambiguous,
            "the answer is a page in which no list of results could be told apart".to_owned(),
        );
    };
    if let Some(extract) = &selection.extract {
        response.extract = Some(extract.clone());
        if let Err(why) = crate::recipe::check::check_response(&response) {
            return rejected(Reason::Ambiguous, why.message().to_owned());
        }
    }
    Ok(Judged::Done(RecipeAnalysis {
        chosen: Choice {
            exchange: it.exchange,
            second_exchange: it.second_exchange,
            source: it.source,
            response,
        },
        by: Analyst::Person,
    }))
}
