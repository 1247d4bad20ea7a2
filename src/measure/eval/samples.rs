//! Every scored exchange of a corpus with its signals, for `scripts/fit-ranking.py`; and how honest confidence is.

use std::{collections::BTreeMap, path::Path};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    CaseResult, RightExchange,
    case::{self, Case},
    realworld::{self, CaseLine},
};
use commis_artifacts::{
    payloads::{Candidate, CandidateSet, Outcome, SecondRecording},
    recording::{Exchange, SessionRecording},
};
use commis_base::{
    error::Result,
    settings::{DecisionSettings, Settings},
};
use commis_stages::{analyze, doubts::doubts, rank};

/// One scored endpoint.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sample {
    pub case: String,
    pub kind: String,
    /// The site the case comes from: folds of a cross-validation are cut by it.
    pub site: String,
    pub recipeable: bool,
    /// Something was typed.
    pub typed: bool,
    pub right: bool,
    pub endpoint: String,
    pub shares: BTreeMap<&'static str, i32>,
    /// What would stop it if it were the best, confidence aside.
    pub stops: Vec<&'static str>,
}

/// Of every case. Fails as [`super::run`] does.
pub fn collect(dir: &Path, settings: &Settings) -> Result<Vec<Sample>> {
    let all: Vec<Vec<Sample>> = if dir.join("cases.jsonl").is_file() {
        realworld::lines(dir)?
            .par_iter()
            .map(|line| {
                let right = RightExchange::new(dir, line)?;
                of_line(line, &realworld::recording(dir, line, settings)?, &right, settings)
            })
            .collect::<Result<_>>()?
    } else {
        case::names(dir)?
            .par_iter()
            .map(|it| of_case(&Case::read(&dir.join(it))?, settings))
            .collect::<Result<_>>()?
    };
    Ok(all.into_iter().flatten().collect())
}

fn of_line(
    line: &CaseLine,
    recording: &SessionRecording,
    right: &RightExchange<'_>,
    settings: &Settings,
) -> Result<Vec<Sample>> {
    let second = SecondRecording::default();
    samples(recording, &second, settings, |exchange| Sample {
        case: line.id.clone(),
        kind: line.made.clone(),
        site: line.site.clone(),
        recipeable: line.expect.recipeable,
        typed: !recording.typed.is_empty(),
        right: right.matches(exchange),
        ..Sample::default()
    })
}

fn of_case(case: &Case, settings: &Settings) -> Result<Vec<Sample>> {
    let recipeable = matches!(case.metadata.outcome, Outcome::Verified | Outcome::SavedDraft);
    let host = |url: &str| url.split('/').nth(2).unwrap_or_default().to_owned();
    samples(&case.recording, &case.second, settings, |exchange| Sample {
        case: case.id.clone(),
        kind: case.metadata.kind.clone(),
        site: host(&case.recording.url),
        recipeable,
        typed: !case.recording.typed.is_empty(),
        right: case.right.right.contains(&exchange.id),
        ..Sample::default()
    })
}

/// One of each endpoint; what is known of its case comes from `begun`.
fn samples(
    recording: &SessionRecording,
    second: &SecondRecording,
    settings: &Settings,
    begun: impl Fn(&Exchange) -> Sample,
) -> Result<Vec<Sample>> {
    let all = rank::order(recording, second, &settings.ranking);
    let decision = DecisionSettings { min_confidence_bp: 0 };
    let mut out = Vec::new();
    for (i, (candidate, it)) in all.ranked.iter().enumerate() {
        let others =
            all.ranked.iter().map(|it| &it.0).filter(|it| it.exchange != candidate.exchange);
        let mut candidates: Vec<Candidate> =
            std::iter::once(candidate).chain(others.take(7)).cloned().collect();
        for (i, it) in candidates.iter_mut().enumerate() {
            it.rank = i as u32 + 1;
        }
        let set = CandidateSet {
            candidates,
            scored: 0,
            set_aside: BTreeMap::new(),
            doubt: None,
            main: all.main,
        };
        let mut stops = analyze::stops(recording, &set, &decision)?;
        stops.extend(doubts(&all.ranked, i, recording).iter().map(|it| it.kind));
        let endpoint = it.endpoint_key.clone();
        out.push(Sample { endpoint, shares: it.shares.clone(), stops, ..begun(it.exchange) });
    }
    Ok(out)
}

/// Cases whose best candidate was this sure, and in how many of them it was the right one.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Bin {
    /// Basis points; the end is left out, but for the last.
    pub from_bp: u32,
    pub to_bp: u32,
    pub cases: u32,
    pub right: u32,
    /// Mean confidence, basis points.
    pub mean_bp: u32,
}

/// How often a confidence was right.
pub fn calibration(cases: &[CaseResult]) -> Vec<Bin> {
    const EDGES: &[u32] = &[0, 1000, 2500, 4000, 5000, 6000, 7000, 8000, 9000, 9500, 10_001];
    EDGES
        .windows(2)
        .map(|edge| {
            let of: Vec<(&CaseResult, u32)> = cases
                .iter()
                .filter_map(|it| Some((it, it.top.as_ref()?.confidence_bp)))
                .filter(|it| (edge[0]..edge[1]).contains(&it.1))
                .collect();
            let sum: u32 = of.iter().map(|it| it.1).sum();
            Bin {
                from_bp: edge[0],
                to_bp: edge[1].min(10_000),
                cases: of.len() as u32,
                right: of.iter().filter(|it| it.0.right_rank == Some(1)).count() as u32,
                mean_bp: sum.checked_div(of.len() as u32).unwrap_or(0),
            }
        })
        .filter(|it| it.cases > 0)
        .collect()
}
