//! The stages as a table: order, effect, what each reads and writes.

use serde::{Deserialize, Serialize};

use commis_artifacts::kinds::Kind;

/// One step of learning; its verb is also its function and file.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Record,
    RecordSecond,
    Rank,
    Summarize,
    Consult,
    Analyze,
    Validate,
    Baseline,
    Minimize,
    Parameterize,
    Verify,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StageEffect {
    /// The output is a function of the declared inputs: redone whenever it is stale.
    Pure,
    /// The output is what it saw: redone when its inputs changed, never because a file was damaged.
    Observes,
}

#[derive(Debug)]
pub struct StageSpec {
    pub stage: Stage,
    /// Bumped when the same input would now give another output.
    pub version: u32,
    pub effect: StageEffect,
    pub reads: &'static [Kind],
    pub writes: Kind,
}

const fn spec(
    stage: Stage,
    version: u32,
    effect: StageEffect,
    reads: &'static [Kind],
    writes: Kind,
) -> StageSpec {
    StageSpec { stage, version, effect, reads, writes }
}

use Kind::{
    BaselineFingerprint, CandidateSet, CandidateSummary, MinimizationReport, ModelAnswer,
    RecipeAnalysis, RecipeDraft, RecipeDraftMinimized, SecondRecording, SessionRecording,
    VerificationReport,
};
use StageEffect::{Observes, Pure};

#[rustfmt::skip]
pub const STAGES: &[StageSpec] = &[
    //   stage                version effect    reads                                                                     writes
    // Not bumped when redaction learns to see more: a recording of another version is an error, and what it holds was
    // already written. `--force` records anew.
    spec(Stage::Record,       4, Observes, &[],                                                                      SessionRecording),
    spec(Stage::RecordSecond, 4, Observes, &[SessionRecording],                                                      SecondRecording),
    spec(Stage::Rank,        19, Pure,     &[SessionRecording, SecondRecording],                                     CandidateSet),
    spec(Stage::Summarize,    2, Pure,     &[SessionRecording, CandidateSet],                                        CandidateSummary),
    spec(Stage::Consult,      2, Observes, &[SessionRecording, CandidateSet, CandidateSummary],                      ModelAnswer),
    spec(Stage::Analyze,     16, Pure,     &[SessionRecording, CandidateSet, CandidateSummary, ModelAnswer],         RecipeAnalysis),
    spec(Stage::Validate,     8, Observes, &[SessionRecording, RecipeAnalysis],                                      RecipeDraft),
    spec(Stage::Baseline,     1, Pure,     &[SessionRecording, RecipeDraft],                                         BaselineFingerprint),
    spec(Stage::Minimize,     2, Observes, &[SessionRecording, RecipeDraft, BaselineFingerprint],                    MinimizationReport),
    spec(Stage::Parameterize,21, Pure,     &[SessionRecording, SecondRecording, RecipeDraft, MinimizationReport],    RecipeDraftMinimized),
    spec(Stage::Verify,      24, Observes, &[SessionRecording, RecipeDraftMinimized, BaselineFingerprint],           VerificationReport),
];

impl Stage {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::RecordSecond => "record_second",
            Self::Rank => "rank",
            Self::Summarize => "summarize",
            Self::Consult => "consult",
            Self::Analyze => "analyze",
            Self::Validate => "validate",
            Self::Baseline => "baseline",
            Self::Minimize => "minimize",
            Self::Parameterize => "parameterize",
            Self::Verify => "verify",
        }
    }

    pub const fn is_record(self) -> bool {
        matches!(self, Self::Record | Self::RecordSecond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_complete() {
        let mut written = Vec::new();
        for (i, spec) in STAGES.iter().enumerate() {
            assert_eq!(spec.stage as usize, i);
            for kind in spec.reads {
                assert!(
                    written.contains(kind),
                    "{:?} reads {kind:?} before it is written",
                    spec.stage
                );
            }
            written.push(spec.writes);
        }
        assert_eq!(written, Kind::ALL);
    }
}
