//! The stages in a row, in memory: what `pipeline::learn` does with a store, without one.

use super::Stage;
use crate::{
    Replayer, analyze, baseline, minimize, parameterize, rank, summarize, validate, verify,
};
use commis_artifacts::{
    payloads::{
        BaselineFingerprint, CandidateSet, CandidateSummary, Judged, MinimizationReport, Outcome,
        RecipeAnalysis, RecipeDraft, RecipeDraftMinimized, Reject, SecondRecording,
        VerificationReport,
    },
    recording::SessionRecording,
};
use commis_base::{error::Result, settings::Settings};

/// What every stage wrote, as far as the case got.
#[derive(Default)]
pub struct Trace {
    pub candidates: Option<Judged<CandidateSet>>,
    pub summary: Option<CandidateSummary>,
    pub analysis: Option<Judged<RecipeAnalysis>>,
    pub draft: Option<Judged<RecipeDraft>>,
    pub baseline: Option<BaselineFingerprint>,
    pub minimized: Option<MinimizationReport>,
    pub parameterized: Option<Judged<RecipeDraftMinimized>>,
    pub report: Option<VerificationReport>,
    /// The stage that rejected the case, and why.
    pub reject: Option<(Stage, Reject)>,
}

impl Trace {
    pub fn outcome(&self) -> Outcome {
        match (&self.reject, &self.report) {
            (Some((_, it)), _) => it.reason.outcome(),
            (None, Some(it)) if it.verified => Outcome::Verified,
            _ => Outcome::SavedDraft,
        }
    }

    /// The ranked candidates, also those of a case that was rejected later.
    pub fn ranked(&self) -> Option<&CandidateSet> {
        match &self.candidates {
            Some(Judged::Done(it)) => Some(it),
            _ => None,
        }
    }
}

/// Unwraps a judged payload or ends the chain.
macro_rules! go_on {
    ($trace:ident, $field:ident, $stage:expr) => {
        match &$trace.$field {
            Some(Judged::Done(it)) => it,
            Some(Judged::Rejected(it)) => {
                $trace.reject = Some(($stage, it.clone()));
                return Ok($trace);
            }
            None => return Ok($trace),
        }
    };
}

/// Runs every stage after record. Fails only with what stages fail with when the world is at fault; the stubs of a case are
/// its world.
pub async fn run(
    recording: &SessionRecording,
    second: &SecondRecording,
    settings: &Settings,
    expect: &verify::Expectation,
    world: &mut dyn Replayer,
) -> Result<Trace> {
    let mut trace = Trace {
        candidates: Some(rank::rank(recording, second, &settings.ranking)),
        ..Trace::default()
    };
    let candidates = go_on!(trace, candidates, Stage::Rank);
    trace.summary = Some(summarize::summarize(recording, candidates));
    trace.analysis = Some(analyze::analyze(recording, candidates, &settings.decision)?);
    let analysis = go_on!(trace, analysis, Stage::Analyze);
    world.begin();
    trace.draft = Some(validate::validate(world, recording, analysis).await?);
    let draft = go_on!(trace, draft, Stage::Validate);
    let baseline = baseline::baseline(recording, draft)?;
    world.begin();
    let minimized = minimize::minimize(world, draft, &baseline).await?;
    trace.parameterized = Some(parameterize::parameterize(recording, second, draft, &minimized)?);
    trace.minimized = Some(minimized);
    let parameterized = go_on!(trace, parameterized, Stage::Parameterize);
    world.begin();
    let report = verify::verify(world, parameterized, &baseline, expect).await?;
    trace.reject = report.reject().map(|it| (Stage::Verify, it));
    trace.report = Some(report);
    trace.baseline = Some(baseline);
    Ok(trace)
}
