//! How often each reason not to choose stopped a right, a wrong, and a needless choice.

use std::{collections::BTreeMap, path::Path};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    RightExchange,
    case::{self, Case},
    realworld,
};
use commis_artifacts::{
    payloads::{CandidateSet, Judged, Outcome, SecondRecording},
    recording::SessionRecording,
};
use commis_base::{error::Result, settings::Settings};
use commis_stages::{analyze, rank};

/// What a reason stopped, in cases.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReasonCount {
    pub reason: String,
    /// The best candidate was the right one.
    pub right: u32,
    /// There was a right one, and it was not the best.
    pub wrong: u32,
    /// There was nothing to learn.
    pub nothing: u32,
    /// The same, where no other reason stopped it.
    pub alone_right: u32,
    pub alone_wrong: u32,
    pub alone_nothing: u32,
}

/// What was stopped in one case.
struct StoppedCase {
    reasons: Vec<&'static str>,
    recipeable: bool,
    right: bool,
}

/// Every reason that stopped anything, by how often. Fails as [`super::run`] does.
pub fn reasons(dir: &Path, settings: &Settings) -> Result<Vec<ReasonCount>> {
    let all: Vec<StoppedCase> = if dir.join("cases.jsonl").is_file() {
        realworld::lines(dir)?
            .par_iter()
            .map(|line| {
                let recording = realworld::recording(dir, line, settings)?;
                let right = RightExchange::new(dir, line)?;
                let second = SecondRecording::default();
                let is_right = |ranked: &CandidateSet| {
                    let first = ranked.candidates.first();
                    let exchange = first.and_then(|it| recording.exchange(it.exchange).ok());
                    exchange.is_some_and(|it| right.matches(it))
                };
                stopped(&recording, &second, settings, line.expect.recipeable, is_right)
            })
            .collect::<Result<_>>()?
    } else {
        case::names(dir)?
            .par_iter()
            .map(|name| {
                let case = Case::read(&dir.join(name))?;
                let outcome = case.metadata.outcome;
                let recipeable = matches!(outcome, Outcome::Verified | Outcome::SavedDraft);
                let is_right = |ranked: &CandidateSet| {
                    let first = ranked.candidates.first();
                    first.is_some_and(|it| case.right.right.contains(&it.exchange))
                };
                stopped(&case.recording, &case.second, settings, recipeable, is_right)
            })
            .collect::<Result<_>>()?
    };
    Ok(counts(&all))
}

fn stopped(
    recording: &SessionRecording,
    second: &SecondRecording,
    settings: &Settings,
    recipeable: bool,
    is_right: impl Fn(&CandidateSet) -> bool,
) -> Result<StoppedCase> {
    let (ranked, doubts) = rank::ranked(recording, second, &settings.ranking);
    let Judged::Done(ranked) = ranked else {
        return Ok(StoppedCase { reasons: Vec::new(), recipeable, right: false });
    };
    let mut reasons = analyze::stops(recording, &ranked, &settings.decision)?;
    reasons.extend(doubts.iter().map(|it| it.kind));
    Ok(StoppedCase { reasons, recipeable, right: is_right(&ranked) })
}

fn counts(all: &[StoppedCase]) -> Vec<ReasonCount> {
    let mut counts = BTreeMap::<&str, ReasonCount>::new();
    for case in all {
        let alone = case.reasons.len() == 1;
        for reason in &case.reasons {
            let it = counts.entry(reason).or_default();
            let (of, of_alone) = if !case.recipeable {
                (&mut it.nothing, &mut it.alone_nothing)
            } else if case.right {
                (&mut it.right, &mut it.alone_right)
            } else {
                (&mut it.wrong, &mut it.alone_wrong)
            };
            *of += 1;
            *of_alone += u32::from(alone);
        }
    }
    let mut out: Vec<ReasonCount> = counts
        .into_iter()
        .map(|(reason, it)| ReasonCount { reason: reason.to_owned(), ..it })
        .collect();
    out.sort_by_key(|it| std::cmp::Reverse(it.right + it.wrong + it.nothing));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_by_what_they_stopped() {
        let case = |reasons: &[&'static str], recipeable, right| StoppedCase {
            reasons: reasons.to_vec(),
            recipeable,
            right,
        };
        let got = counts(&[
            case(&["no_list"], true, true),
            case(&["no_list", "unsure"], true, false),
            case(&["no_list"], false, false),
            case(&[], true, true),
        ]);
        let it = &got[0];
        assert_eq!((it.reason.as_str(), it.right, it.wrong, it.nothing), ("no_list", 1, 1, 1));
        assert_eq!((it.alone_right, it.alone_wrong, it.alone_nothing), (1, 0, 1));
        assert_eq!((got[1].reason.as_str(), got[1].alone_wrong), ("unsure", 0));
    }
}
