//! Learning measured with no network: every case goes through the stages in memory, and what came of it is compared with
//! what is right.
//!
//! Cases run in parallel and are reported in the order of the corpus; nothing here reads a clock, so that two runs of one
//! build give the same bytes.

mod baseline;
mod case;
mod close_calls;
mod completeness;
pub mod corpus;
mod probe;
mod realworld;
mod reasons;
pub mod record;
mod report;
mod request_parts;
mod samples;
mod stubs;

use std::{collections::BTreeMap, path::Path};

use fancy_regex::Regex;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::{
    baseline::StageDigest,
    case::Case,
    realworld::{CaseLine, RightRequest},
};
pub use self::{
    baseline::{Baseline, Difference},
    close_calls::{CloseAnswer, CloseCalls, CloseEnding, ModelSample, close_calls},
    realworld::Prediction,
    reasons::{ReasonCount, reasons},
    report::page,
    samples::{Bin, collect as samples},
};
use commis_artifacts::{payloads::Outcome, recording::Exchange};
use commis_base::{
    error::{Code, Error, Result},
    settings::Settings,
};
use commis_stages::in_memory::Trace;

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
    pub rejected: Option<Rejection>,
    /// The best candidate: its request line, score and lead over the next, basis points.
    pub top: Option<TopCandidate>,
    /// How the task should end; known of a corpus with folders.
    pub expected: Option<Outcome>,
    pub expected_reason: Option<&'static str>,
    /// Why a draft was not verified.
    pub unproven: Option<String>,
    /// The chosen request.
    pub chosen: Option<String>,
    /// Of a recipe that would be saved: whether each part of it is right.
    pub checks: Option<Checks>,
    /// Verified, and wrong: the one thing that must never be.
    pub false_verified: bool,
    /// Calls answered by stubs.
    pub replays: u32,
    /// Over the case's files.
    pub input_sha256: String,
    /// What each stage answered.
    pub stages: BTreeMap<String, StageDigest>,
    /// For the report only.
    #[serde(skip)]
    pub detail: Option<Detail>,
}

impl CaseResult {
    /// Why it ended as it did, where it was not verified: a reason or a code.
    pub fn why(&self) -> Option<&str> {
        self.rejected.as_ref().map(|it| it.reason).or(self.unproven.as_deref())
    }
}

/// Whether each part of a recipe is right.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Checks {
    pub endpoint: bool,
    pub parameters: bool,
    pub extraction: bool,
    /// All that was asked for is in the data of both examples, and nothing else; `None` where the case does not say what it is.
    pub complete: Option<bool>,
}

impl Checks {
    /// The parts that are not right.
    pub fn failed_parts(self) -> Vec<&'static str> {
        [
            ("endpoint", self.endpoint),
            ("parameters", self.parameters),
            ("extraction", self.extraction),
            ("completeness", self.complete != Some(false)),
        ]
        .into_iter()
        .filter(|it| !it.1)
        .map(|it| it.0)
        .collect()
    }
}

/// What a person wants to see of a case.
#[derive(Clone, Debug)]
pub struct Detail {
    pub task: String,
    pub typed: Vec<(String, String)>,
    pub notes: String,
    /// Best first.
    pub candidates: Vec<Contender>,
    /// In the order the requests were sent.
    pub requests: Vec<Request>,
}

/// A candidate and its score by signal, basis points.
#[derive(Clone, Debug)]
pub struct Contender {
    pub request: String,
    pub operation: Option<String>,
    pub score_bp: i32,
    pub confidence_bp: u32,
    pub features: BTreeMap<String, i32>,
    pub right: bool,
}

/// A request of the recording, times in milliseconds.
#[derive(Clone, Debug)]
pub struct Request {
    pub line: String,
    pub kind: &'static str,
    pub status: Option<u16>,
    pub start_ms: u64,
    pub total_ms: u64,
    pub right: bool,
}

impl Detail {
    fn from_trace(case: &Case, trace: &Trace) -> Self {
        let right = |id: u32| case.right.right.contains(&id);
        let ranked = trace.ranked().map(|it| it.candidates.as_slice()).unwrap_or_default();
        Self {
            task: case.recording.task.clone(),
            typed: case.recording.typed.clone().into_iter().collect(),
            notes: case.metadata.notes.clone(),
            candidates: ranked
                .iter()
                .map(|it| Contender {
                    request: format!("{} {}", it.method, it.url_summary),
                    operation: it.operation.clone(),
                    score_bp: it.score_bp,
                    confidence_bp: it.confidence_bp,
                    features: it.features.clone(),
                    right: right(it.exchange),
                })
                .collect(),
            requests: case
                .recording
                .exchanges
                .iter()
                .map(|it| Request {
                    line: format!("{} {}", it.method, it.url),
                    kind: it.resource_type.as_str(),
                    status: it.status,
                    start_ms: it.timing.start_ms,
                    total_ms: it.timing.total_ms,
                    right: right(it.id),
                })
                .collect(),
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Rejection {
    pub stage: &'static str,
    pub reason: &'static str,
    pub detail: String,
}

#[derive(Clone, Debug, Serialize)]
pub struct TopCandidate {
    pub request: String,
    pub score_bp: i32,
    pub lead_bp: i32,
    pub confidence_bp: u32,
    /// Why it may not be chosen however sure it is.
    pub doubt: Option<String>,
    pub features: BTreeMap<String, i32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The right request was chosen, or rightly nothing.
    Right,
    /// Another request was chosen, or one where there was none.
    Wrong,
    /// There was a right request and nothing was chosen, or it was not proven; or nothing was rightly chosen, for another
    /// reason than the right one.
    Abstained,
}

impl Verdict {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Wrong => "wrong",
            Self::Abstained => "abstained",
        }
    }
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
    /// Nothing was chosen where there was nothing, for the right reason.
    pub nothing_right: u32,
    pub verified: u32,
    pub false_verified: u32,
    /// Recipes that would be saved, and of how many of them each part is right.
    pub saved: u32,
    pub endpoint_right: u32,
    pub parameters_right: u32,
    pub extraction_right: u32,
    /// Recipes of cases that say what all of the data is, and how many of them give all of it.
    pub judged_whole: u32,
    pub complete: u32,
}

/// What an eval comes to.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    pub cases: Vec<CaseResult>,
    /// By kind, and over all.
    pub tallies: BTreeMap<String, Tally>,
    /// How often each stage rejected for each reason.
    pub rejections: BTreeMap<String, u32>,
    /// How often a confidence was right.
    pub calibration: Vec<Bin>,
    /// Calls to a model; without one there are none.
    pub model_calls: u32,
    /// What is not as in the baseline, where there is one.
    pub differences: Option<Vec<Difference>>,
    /// Stages that answer differently under an unchanged version.
    pub forgotten: Vec<String>,
    #[serde(skip)]
    pub predictions: Vec<Prediction>,
}

/// What an eval is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How often the corpus is gone through, at least once. Each time every case is read and learned anew; its second time is
    /// a case of its own, called `NAME#2`.
    pub repeat: usize,
    /// Keep of each case what only a report shows.
    pub detailed: bool,
}

/// Runs every case of a corpus; a case is read, learned from and dropped, so that memory holds as many of them as there are
/// threads. Fails with [`Code::Usage`] when the folder holds no corpus, and with what a case fails with when its files cannot
/// be read.
pub fn run(dir: &Path, settings: &Settings, options: Options) -> Result<Evaluation> {
    let (cases, predictions) = if dir.join("cases.jsonl").is_file() {
        let lines = realworld::lines(dir)?;
        let done: Vec<(CaseResult, Prediction)> = turns(&lines, options.repeat)
            .map(|(line, turn)| {
                let (recording, trace) = realworld::learn(dir, line, settings)?;
                let sent = realworld::sent_bodies(dir, line)?;
                let mut prediction = realworld::prediction(line, &recording, &trace, &sent);
                let input = realworld::input_sha256(dir, line)?;
                let mut case = judge(line, input, &prediction, &trace)?;
                (case.id, prediction.case) = (turn.name(&case.id), turn.name(&prediction.case));
                Ok((case, prediction))
            })
            .collect::<Result<_>>()?;
        done.into_iter().unzip()
    } else {
        let names = case::names(dir)?;
        let cases = turns(&names, options.repeat)
            .map(|(name, turn)| {
                let mut case =
                    corpus::run(&Case::read(&dir.join(name))?, settings, options.detailed);
                case.id = turn.name(&case.id);
                Ok(case)
            })
            .collect::<Result<_>>()?;
        (cases, Vec::new())
    };
    Ok(Evaluation::new(cases, predictions))
}

/// Which time a case is learned, from 0.
#[derive(Clone, Copy, Debug)]
struct Repetition(usize);

impl Repetition {
    fn name(self, case: &str) -> String {
        if self.0 == 0 { case.to_owned() } else { format!("{case}#{}", self.0 + 1) }
    }
}

/// All of them, and again.
fn turns<T: Sync>(
    all: &[T],
    repeat: usize,
) -> impl IndexedParallelIterator<Item = (&T, Repetition)> {
    let len = all.len();
    (0..len * repeat.max(1)).into_par_iter().map(move |i| (&all[i % len], Repetition(i / len)))
}

impl Evaluation {
    fn new(cases: Vec<CaseResult>, predictions: Vec<Prediction>) -> Self {
        let mut tallies = BTreeMap::<String, Tally>::new();
        let mut rejections = BTreeMap::new();
        for it in &cases {
            tallies.entry(it.kind.clone()).or_default().count(it);
            if it.expected.is_none() {
                let group = if it.kind.starts_with("stress") { "(stress)" } else { "(plain)" };
                tallies.entry(group.to_owned()).or_default().count(it);
            }
            tallies.entry("(all)".to_owned()).or_default().count(it);
            if let Some(it) = &it.rejected {
                *rejections.entry(format!("{} {}", it.stage, it.reason)).or_insert(0) += 1;
            } else if let Some(why) = &it.unproven {
                let why = why.split(['(', ':']).next().unwrap_or("").trim();
                *rejections.entry(format!("verify {why}")).or_insert(0) += 1;
            }
        }
        Self {
            calibration: samples::calibration(&cases),
            cases,
            tallies,
            rejections,
            model_calls: 0,
            differences: None,
            forgotten: Vec::new(),
            predictions,
        }
    }

    /// How many recipes were verified that are wrong.
    pub fn false_verified(&self) -> usize {
        self.cases.iter().filter(|it| it.false_verified).count()
    }

    /// Compares with a baseline, with which every time that a case was repeated must agree; returns what this evaluation's own
    /// would be.
    pub fn compare(&mut self, baseline: &Baseline, settings: &Settings, repeat: usize) -> Baseline {
        let repeated = (repeat > 1).then(|| baseline.repeated(repeat));
        let baseline = repeated.as_ref().unwrap_or(baseline);
        let now = Baseline::from_results(&self.cases, settings);
        self.differences = Some(baseline.differences(&now));
        let forgotten = baseline.forgotten(&now);
        self.forgotten =
            forgotten.iter().map(|(stage, it)| baseline::reminder(*stage, it.0, &it.1)).collect();
        now
    }
}

impl Tally {
    fn count(&mut self, it: &CaseResult) {
        self.verified += u32::from(it.outcome == Outcome::Verified);
        self.false_verified += u32::from(it.false_verified);
        if let Some(checks) = it.checks {
            self.saved += 1;
            self.endpoint_right += u32::from(checks.endpoint);
            self.parameters_right += u32::from(checks.parameters);
            self.extraction_right += u32::from(checks.extraction);
            self.judged_whole += u32::from(checks.complete.is_some());
            self.complete += u32::from(checks.complete == Some(true));
        }
        if !it.recipeable {
            self.nothing += 1;
            self.nothing_chosen += u32::from(it.verdict == Verdict::Wrong);
            self.nothing_right += u32::from(it.verdict == Verdict::Right);
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

fn judge(
    line: &CaseLine,
    input: String,
    prediction: &Prediction,
    trace: &Trace,
) -> Result<CaseResult> {
    let wanted = line.expect.request.as_ref().map(RequestMatcher::new).transpose()?;
    let right_rank = wanted.and_then(|wanted| {
        let at = prediction
            .candidates
            .iter()
            .position(|it| wanted.matches(&it.method, &it.url, it.body.as_deref().unwrap_or("")))?;
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
    Ok(CaseResult {
        id: line.id.clone(),
        kind: line.made.clone(),
        recipeable: line.expect.recipeable,
        outcome,
        verdict,
        right_rank,
        rejected: trace.reject.as_ref().map(|(stage, it)| Rejection {
            stage: stage.as_str(),
            reason: it.reason.as_str(),
            detail: it.detail.clone(),
        }),
        top: top(trace),
        expected: None,
        expected_reason: None,
        unproven: None,
        chosen: None,
        checks: None,
        false_verified: false,
        replays: 0,
        input_sha256: input,
        stages: baseline::digests(trace),
        detail: None,
    })
}

fn top(trace: &Trace) -> Option<TopCandidate> {
    let ranked = trace.ranked()?;
    let first = ranked.candidates.first()?;
    let next = ranked.candidates.get(1).map_or(0, |it| it.score_bp);
    Some(TopCandidate {
        request: format!("{} {}", first.method, first.url_summary),
        score_bp: first.score_bp,
        lead_bp: first.score_bp - next,
        confidence_bp: first.confidence_bp,
        doubt: ranked.doubt.clone(),
        features: first.features.clone(),
    })
}

/// The right request of a case, compiled.
struct RequestMatcher<'a> {
    method: &'a str,
    url: Regex,
    body: Option<Regex>,
}

impl<'a> RequestMatcher<'a> {
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

    fn matches(&self, method: &str, url: &str, body: &str) -> bool {
        method == self.method
            && self.url.is_match(url).unwrap_or(false)
            && self.body.as_ref().is_none_or(|it| it.is_match(body).unwrap_or(false))
    }
}

/// Recognises the right request of a case among recorded exchanges.
struct RightExchange<'a> {
    wanted: Option<RequestMatcher<'a>>,
    /// The bodies that the HAR says were sent, byte for byte.
    sent: Vec<String>,
}

impl<'a> RightExchange<'a> {
    fn new(dir: &Path, line: &'a CaseLine) -> Result<Self> {
        let wanted = line.expect.request.as_ref().map(RequestMatcher::new).transpose()?;
        Ok(Self { wanted, sent: realworld::sent_bodies(dir, line)? })
    }

    /// `false` for every exchange of a case that has no right request.
    fn matches(&self, it: &Exchange) -> bool {
        let body = realworld::body(it, &self.sent).unwrap_or_default();
        self.wanted.as_ref().is_some_and(|wanted| wanted.matches(&it.method, &it.url, &body))
    }
}
