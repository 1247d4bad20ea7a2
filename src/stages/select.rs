//! The choice of analyze made by a person: which candidate, and how to read its answer if they know better.
//!
//! A person may prefer a candidate that the signals do not; they may not have a mutation replayed. The choice names an
//! endpoint, not an exchange, so that it holds for a recording made again.

use serde::{Deserialize, Serialize};

use super::{effect::judge_recorded, extraction::response};
use commis_artifacts::{
    payloads::{Analyst, CandidateSet, Choice, Judged, Reason, RecipeAnalysis, Reject},
    recording::SessionRecording,
};
use commis_base::error::Result;

/// Which endpoint, and optionally a JMESPath instead of the one that would be chosen. It is asked of analyze in place of the
/// settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// As in [`commis_artifacts::payloads::Candidate`].
    pub endpoint_key: String,
    pub extract: Option<String>,
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
    if let Err(why) = judge_recorded(exchange, recording).into_result() {
        return rejected(Reason::Mutation, why);
    }
    let mut response = match response(exchange, it.source, recording, candidates.main) {
        Ok(it) => it,
        Err(why) => return rejected(Reason::Ambiguous, why.to_owned()),
    };
    if let Some(extract) = &selection.extract {
        response.extract = Some(extract.clone());
        if let Err(why) = commis_recipe::check::check_response(&response) {
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::rank::rank;
    use commis_artifacts::payloads::SecondRecording;
    use commis_base::settings::Settings;
    use commis_redact::{har, redact};

    fn recorded() -> (SessionRecording, CandidateSet) {
        let typed = BTreeMap::from([("query".to_owned(), "harbour".to_owned())]);
        let bytes = include_bytes!("../../tests/fixtures/books.har");
        let imported = har::import(bytes, "Find books about harbour", typed).unwrap();
        let settings = Settings::default();
        let recording = redact(imported.recording, &settings.redact).recording;
        let alone = SecondRecording::default();
        match rank(&recording, &alone, &settings.ranking) {
            Judged::Done(set) => (recording, set),
            Judged::Rejected(it) => panic!("{}", it.detail),
        }
    }

    fn wish(set: &CandidateSet, part: &str, extract: Option<&str>) -> Selection {
        let it = set.candidates.iter().find(|it| it.url_summary.contains(part)).unwrap();
        Selection { endpoint_key: it.endpoint_key.clone(), extract: extract.map(str::to_owned) }
    }

    #[test]
    fn any_candidate_that_only_reads() {
        let (recording, set) = recorded();
        for (part, extract, want) in [
            ("/v1/books", None, Some("items")),
            ("/v1/books", Some("items[].title"), Some("items[].title")),
            ("/api/suggest", Some("suggestions"), Some("suggestions")),
        ] {
            let Judged::Done(it) = select(&recording, &set, &wish(&set, part, extract)).unwrap()
            else {
                panic!("{part}")
            };
            assert_eq!(it.by, Analyst::Person);
            assert_eq!(it.chosen.response.extract.as_deref(), want, "{part}");
            assert!(recording.exchange(it.chosen.exchange).unwrap().url.contains(part));
        }
    }

    #[test]
    fn refusals() {
        let (mut recording, mut set) = recorded();
        let books = wish(&set, "/v1/books", None);
        let reason =
            |recording: &SessionRecording, set: &CandidateSet, wish: &Selection| match select(
                recording, set, wish,
            )
            .unwrap()
            {
                Judged::Rejected(it) => (it.reason, it.detail),
                Judged::Done(it) => panic!("{it:?}"),
            };
        let broken = wish(&set, "/v1/books", Some("items["));
        assert_eq!(reason(&recording, &set, &broken).0, Reason::Ambiguous);
        // The same request by a method that changes things.
        let it = set.candidates.iter().find(|it| it.endpoint_key == books.endpoint_key).unwrap();
        recording.exchanges[it.exchange as usize].method = "POST".to_owned();
        recording.exchanges[it.exchange as usize].url =
            "https://books.example/api/order".to_owned();
        assert_eq!(reason(&recording, &set, &books).0, Reason::Mutation);
        set.candidates.retain(|it| it.endpoint_key != books.endpoint_key);
        let (reason, detail) = reason(&recording, &set, &books);
        assert!(reason == Reason::Ambiguous && detail.contains("choose again"), "{detail}");
    }
}
