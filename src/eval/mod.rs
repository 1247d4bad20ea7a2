//! Learning measured with no network: every case goes through the stages in memory, and what came of it is compared with
//! what is right.
//!
//! Cases run in parallel and are reported in the order of the corpus; nothing here reads a clock, so that two runs of one
//! build give the same bytes.

mod chain;
mod realworld;

use std::{collections::BTreeMap, path::Path};

use fancy_regex::Regex;
use rayon::prelude::*;
use serde::Serialize;

pub use self::realworld::Prediction;
use self::{
    chain::Trace,
    realworld::{Line, RightRequest},
};
use crate::{
    artifacts::{
        payloads::{Outcome, SecondRecording},
        recording::SessionRecording,
    },
    error::{Code, Error, Result},
    settings::Settings,
    stages::rank,
};

/// How one case ended.
#[derive(Clone, Debug, Serialize)]
pub struct CaseResult {
    pub id: String,
    /// What kind of recording it is; results are counted by it.
    pub kind: String,
    /// There is something to learn.
    pub recipeable: bool,
    pub outcome: Outcome,
    pub verdict: Verdict,
    /// Rank of the right request among the candidates, from 1.
    pub right_rank: Option<u32>,
    /// The stage that rejected it, the reason, and the reason in words.
    pub rejected: Option<Rejected>,
    /// The best candidate: its request line, score and lead over the next, basis points.
    pub top: Option<Top>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Rejected {
    pub stage: &'static str,
    pub reason: &'static str,
    pub detail: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct Top {
    pub request: String,
    pub score_bp: i32,
    pub lead_bp: i32,
    pub features: BTreeMap<String, i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The right request was chosen, or rightly nothing.
    Right,
    /// Another request was chosen, or one where there was none.
    Wrong,
    /// There was a right request and nothing was chosen.
    Abstained,
}

/// Counts over some cases.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    /// Cases with something to learn.
    pub recipeable: u32,
    pub rank_1: u32,
    pub rank_8: u32,
    pub right: u32,
    pub wrong: u32,
    pub abstained: u32,
    /// Cases with nothing to learn, and those in which something was chosen all the same.
    pub nothing: u32,
    pub nothing_chosen: u32,
}

/// What an eval comes to.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    pub cases: Vec<CaseResult>,
    /// By kind, and over all.
    pub tallies: BTreeMap<String, Tally>,
    /// How often each stage rejected for each reason.
    pub rejections: BTreeMap<String, u32>,
    #[serde(skip)]
    pub predictions: Vec<Prediction>,
    /// Every scored exchange of every case, for fitting weights.
    #[serde(skip)]
    pub samples: Vec<Sample>,
}

/// One scored exchange: what a fit of the weights reads.
#[derive(Clone, Debug, Serialize)]
pub struct Sample {
    pub case: String,
    pub kind: String,
    /// The site the case comes from: folds of a cross-validation are cut by it.
    pub site: String,
    pub recipeable: bool,
    pub right: bool,
    pub endpoint: String,
    pub request: String,
    pub shares: BTreeMap<&'static str, i32>,
}

/// Runs every case of a corpus. Fails with [`Code::Usage`] when the folder holds no corpus, and with what a case fails with
/// when its files cannot be read.
pub fn run(dir: &Path, settings: &Settings) -> Result<Evaluation> {
    let lines = realworld::lines(dir)?;
    let done: Vec<(CaseResult, Prediction, Vec<Sample>)> = lines
        .par_iter()
        .map(|line| {
            let (recording, trace) = realworld::learn(dir, line, settings)?;
            let prediction = realworld::prediction(line, &recording, &trace);
            Ok((judge(line, &prediction, &trace)?, prediction, samples(line, &recording)?))
        })
        .collect::<Result<_>>()?;
    let (mut cases, mut predictions, mut samples) = (Vec::new(), Vec::new(), Vec::new());
    for (case, prediction, all) in done {
        cases.push(case);
        predictions.push(prediction);
        samples.extend(all);
    }
    let mut tallies = BTreeMap::<String, Tally>::new();
    let mut rejections = BTreeMap::new();
    for it in &cases {
        tallies.entry(it.kind.clone()).or_default().count(it);
        let group = if it.kind.starts_with("stress") { "(stress)" } else { "(plain)" };
        tallies.entry(group.to_owned()).or_default().count(it);
        tallies.entry("(all)".to_owned()).or_default().count(it);
        if let Some(it) = &it.rejected {
            *rejections.entry(format!("{} {}", it.stage, it.reason)).or_insert(0) += 1;
        }
    }
    Ok(Evaluation { cases, tallies, rejections, predictions, samples })
}

impl Tally {
    fn count(&mut self, it: &CaseResult) {
        if !it.recipeable {
            self.nothing += 1;
            self.nothing_chosen += u32::from(it.verdict == Verdict::Wrong);
            return;
        }
        self.recipeable += 1;
        self.rank_1 += u32::from(it.right_rank == Some(1));
        self.rank_8 += u32::from(it.right_rank.is_some());
        match it.verdict {
            Verdict::Right => self.right += 1,
            Verdict::Wrong => self.wrong += 1,
            Verdict::Abstained => self.abstained += 1,
        }
    }
}

fn judge(line: &Line, prediction: &Prediction, trace: &Trace) -> Result<CaseResult> {
    let wanted = line.expect.request.as_ref().map(Wanted::new).transpose()?;
    let right_rank = wanted.and_then(|wanted| {
        let at = prediction
            .candidates
            .iter()
            .position(|it| wanted.is(&it.method, &it.url, it.body.as_deref().unwrap_or("")))?;
        Some(at as u32 + 1)
    });
    let outcome = trace.outcome();
    let chosen = matches!(outcome, Outcome::Verified | Outcome::SavedDraft);
    let verdict = match (chosen, right_rank) {
        (true, Some(1)) => Verdict::Right,
        (true, _) => Verdict::Wrong,
        (false, _) if line.expect.recipeable => Verdict::Abstained,
        (false, _) => Verdict::Right,
    };
    let top = trace.ranked().and_then(|it| {
        let first = it.candidates.first()?;
        let next = it.candidates.get(1).map_or(0, |it| it.score_bp);
        Some(Top {
            request: format!("{} {}", first.method, first.url_summary),
            score_bp: first.score_bp,
            lead_bp: first.score_bp - next,
            features: first.features.clone(),
        })
    });
    Ok(CaseResult {
        id: line.id.clone(),
        kind: line.made.clone(),
        recipeable: line.expect.recipeable,
        outcome,
        verdict,
        right_rank,
        rejected: trace.reject.as_ref().map(|(stage, it)| Rejected {
            stage: stage.as_str(),
            reason: it.reason.as_str(),
            detail: it.detail.clone(),
        }),
        top,
    })
}

fn samples(line: &Line, recording: &SessionRecording) -> Result<Vec<Sample>> {
    let wanted = line.expect.request.as_ref().map(Wanted::new).transpose()?;
    let second = SecondRecording { recording: None, values: BTreeMap::new() };
    let (all, _) = rank::scored(recording, &second);
    let samples = all.into_iter().map(|it| {
        let body = realworld::body(it.exchange).unwrap_or_default();
        Sample {
            case: line.id.clone(),
            kind: line.made.clone(),
            site: line.site.clone(),
            recipeable: line.expect.recipeable,
            right: wanted
                .as_ref()
                .is_some_and(|wanted| wanted.is(&it.exchange.method, &it.exchange.url, &body)),
            endpoint: it.endpoint_key,
            request: format!(
                "{} {}",
                it.exchange.method,
                it.exchange.url.chars().take(120).collect::<String>()
            ),
            shares: it.shares,
        }
    });
    Ok(samples.collect())
}

/// The right request of a case, compiled.
struct Wanted<'a> {
    method: &'a str,
    url: Regex,
    body: Option<Regex>,
}

impl<'a> Wanted<'a> {
    fn new(it: &'a RightRequest) -> Result<Self> {
        let compile = |text: &str| {
            Regex::new(text).map_err(|err| {
                Error::new(Code::Usage, "a case's regex does not compile").source(err)
            })
        };
        Ok(Self {
            method: &it.method,
            url: compile(&it.url_regex)?,
            body: it.body_regex.as_deref().map(compile).transpose()?,
        })
    }

    fn is(&self, method: &str, url: &str, body: &str) -> bool {
        method == self.method
            && self.url.is_match(url).unwrap_or(false)
            && self.body.as_ref().is_none_or(|it| it.is_match(body).unwrap_or(false))
    }
}
