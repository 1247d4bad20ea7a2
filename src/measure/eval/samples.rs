//! Every scored exchange of a corpus with its signals, for `scripts/fit-ranking.py`; and how honest confidence is.

use std::{collections::BTreeMap, path::Path};

use rayon::prelude::*;
use serde::Serialize;

use super::{
    CaseResult, Wanted,
    corpus::{self, Case},
    realworld::{self, Line},
};
use commis_artifacts::{
    payloads::{Outcome, SecondRecording},
    recording::SessionRecording,
};
use commis_base::{error::Result, settings::Settings};
use commis_stages::rank::{self, Scored};

/// One scored exchange.
#[derive(Clone, Debug, Serialize)]
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
}

/// Of every case. Fails as [`super::run`] does.
pub fn of(dir: &Path, settings: &Settings) -> Result<Vec<Sample>> {
    let all: Vec<Vec<Sample>> = if dir.join("cases.jsonl").is_file() {
        realworld::lines(dir)?
            .par_iter()
            .map(|line| of_line(line, &realworld::recording(dir, line, settings)?))
            .collect::<Result<_>>()?
    } else {
        corpus::names(dir)?
            .par_iter()
            .map(|it| Ok(of_case(&Case::read(&dir.join(it))?)))
            .collect::<Result<_>>()?
    };
    Ok(all.into_iter().flatten().collect())
}

fn of_line(line: &Line, recording: &SessionRecording) -> Result<Vec<Sample>> {
    let wanted = line.expect.request.as_ref().map(Wanted::new).transpose()?;
    let second = SecondRecording::default();
    let right = |it: &Scored<'_>| {
        let body = realworld::body(it.exchange).unwrap_or_default();
        wanted
            .as_ref()
            .is_some_and(|wanted| wanted.is(&it.exchange.method, &it.exchange.url, &body))
    };
    let samples = rank::scored(recording, &second).0.into_iter().map(|it| Sample {
        case: line.id.clone(),
        kind: line.made.clone(),
        site: line.site.clone(),
        recipeable: line.expect.recipeable,
        typed: !recording.typed.is_empty(),
        right: right(&it),
        endpoint: it.endpoint_key,
        shares: it.shares,
    });
    Ok(samples.collect())
}

fn of_case(case: &Case) -> Vec<Sample> {
    let recipeable = matches!(case.metadata.outcome, Outcome::Verified | Outcome::SavedDraft);
    let host = |url: &str| url.split('/').nth(2).unwrap_or_default().to_owned();
    let samples = rank::scored(&case.recording, &case.second).0.into_iter().map(|it| Sample {
        case: case.id.clone(),
        kind: case.metadata.kind.clone(),
        site: host(&case.recording.url),
        recipeable,
        typed: !case.recording.typed.is_empty(),
        right: case.right.right.contains(&it.exchange.id),
        endpoint: it.endpoint_key,
        shares: it.shares,
    });
    samples.collect()
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
