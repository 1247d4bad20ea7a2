//! What every stage answered in every case, kept: any other answer is a change that somebody must have meant.
//!
//! A payload that changed although its stage's version, inputs and settings did not is refused even when it was meant, since
//! stored artifacts of users would be taken for fresh.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde::{Deserialize, Serialize};

use super::{CaseResult, Evaluation, Repetition, Verdict};
use commis_artifacts::{kinds::Kind, payloads::Outcome, store::json_sha256};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, read_bounded},
    settings::Settings,
};
use commis_learn::task::settings_only;
use commis_stages::{STAGES, Stage, in_memory::Trace};

/// `baseline.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Of the settings that each stage depends on.
    pub settings: BTreeMap<String, String>,
    pub cases: BTreeMap<String, CaseBaseline>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseBaseline {
    /// Over the case's files.
    pub input_sha256: String,
    pub outcome: Outcome,
    pub reason: Option<String>,
    /// The chosen request.
    pub chosen: Option<String>,
    /// Rank of the right one.
    pub right_rank: Option<u32>,
    pub verdict: Verdict,
    pub stages: BTreeMap<String, StageDigest>,
}

/// What a stage answered, and which version of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageDigest {
    pub version: u32,
    pub payload_sha256: String,
}

/// One thing that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub case: String,
    /// Absent where it is the case as a whole.
    pub stage: Option<String>,
    pub what: String,
}

/// Digests of every payload that the stages wrote.
pub fn digests(trace: &Trace) -> BTreeMap<String, StageDigest> {
    let payload = |kind: Kind| match kind {
        // An eval asks no model.
        Kind::SessionRecording | Kind::SecondRecording | Kind::ModelAnswer => None,
        Kind::CandidateSet => trace.candidates.as_ref().map(json_sha256),
        Kind::CandidateSummary => trace.summary.as_ref().map(json_sha256),
        Kind::RecipeAnalysis => trace.analysis.as_ref().map(json_sha256),
        Kind::RecipeDraft => trace.draft.as_ref().map(json_sha256),
        Kind::BaselineFingerprint => trace.baseline.as_ref().map(json_sha256),
        Kind::MinimizationReport => trace.minimized.as_ref().map(json_sha256),
        Kind::RecipeDraftMinimized => trace.parameterized.as_ref().map(json_sha256),
        Kind::VerificationReport => trace.report.as_ref().map(json_sha256),
    };
    STAGES
        .iter()
        .filter_map(|spec| {
            let payload_sha256 = payload(spec.writes)?;
            let digest = StageDigest { version: spec.version, payload_sha256 };
            Some((spec.stage.as_str().to_owned(), digest))
        })
        .collect()
}

impl Baseline {
    /// What an evaluation would leave behind.
    pub fn from_results(cases: &[CaseResult], settings: &Settings) -> Self {
        let settings = STAGES
            .iter()
            .filter_map(|spec| {
                Some((spec.stage.as_str().to_owned(), settings_only(spec.stage, settings)?))
            })
            .collect();
        let cases = cases
            .iter()
            .map(|it| {
                let case = CaseBaseline {
                    input_sha256: it.input_sha256.clone(),
                    outcome: it.outcome,
                    reason: it.why().map(str::to_owned),
                    chosen: it.chosen.clone(),
                    right_rank: it.right_rank,
                    verdict: it.verdict,
                    stages: it.stages.clone(),
                };
                (it.id.clone(), case)
            })
            .collect();
        Self { settings, cases }
    }

    /// Fails with [`Code::Usage`] when there is none or it does not parse.
    pub fn read(path: &Path) -> Result<Self> {
        serde_json::from_slice(&read_bounded(path, 64 << 20)?).map_err(|err| {
            Error::new(Code::Usage, format!("{}: {err}", path.display()))
                .hint("remove it; `eval --update-baseline` then writes a new one")
        })
    }

    /// Fails with [`Code::ArtifactIo`].
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|err| Error::new(Code::Internal, "baseline").source(err))?;
        bytes.push(b'\n');
        let (folder, name) = files::split_path(path);
        files::write_atomic(folder, &name, &bytes)
    }

    /// Everything that is not as in `self`, by case and stage.
    pub fn differences(&self, now: &Self) -> Vec<Difference> {
        let mut out = Vec::new();
        let mut say = |case: &str, stage: Option<&str>, what: String| {
            out.push(Difference { case: case.to_owned(), stage: stage.map(str::to_owned), what });
        };
        for stage in keys(&self.settings, &now.settings) {
            if self.settings.get(stage) != now.settings.get(stage) {
                say("(settings)", Some(stage), "other settings".to_owned());
            }
        }
        for id in keys(&self.cases, &now.cases) {
            let (old, new) = match (self.cases.get(id), now.cases.get(id)) {
                (Some(old), Some(new)) => (old, new),
                (None, _) => {
                    say(id, None, "a new case".to_owned());
                    continue;
                }
                (_, None) => {
                    say(id, None, "the case is gone".to_owned());
                    continue;
                }
            };
            if old.input_sha256 != new.input_sha256 {
                say(id, None, "the case's files changed".to_owned());
            }
            let end = |it: &CaseBaseline| {
                let reason = it.reason.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
                format!("{}{reason}, {}", it.outcome.as_str(), it.verdict.as_str())
            };
            if end(old) != end(new) {
                say(id, None, format!("{} → {}", end(old), end(new)));
            }
            if old.chosen != new.chosen {
                let shown = |it: &Option<String>| it.clone().unwrap_or("nothing".to_owned());
                say(id, None, format!("chose {} → {}", shown(&old.chosen), shown(&new.chosen)));
            }
            if old.right_rank != new.right_rank {
                let shown = |it: Option<u32>| it.map_or("none".to_owned(), |it| it.to_string());
                let (old, new) = (shown(old.right_rank), shown(new.right_rank));
                say(id, None, format!("rank of the right request {old} → {new}"));
            }
            for spec in STAGES {
                let stage = spec.stage.as_str();
                match (old.stages.get(stage), new.stages.get(stage)) {
                    (None, Some(_)) => say(id, Some(stage), "is reached now".to_owned()),
                    (Some(_), None) => say(id, Some(stage), "is no longer reached".to_owned()),
                    (Some(old), Some(new)) => {
                        if old.payload_sha256 != new.payload_sha256 {
                            say(id, Some(stage), "answers differently".to_owned());
                        }
                        if old.version != new.version {
                            let what = format!("version {} → {}", old.version, new.version);
                            say(id, Some(stage), what);
                        }
                    }
                    (None, None) => {}
                }
            }
        }
        out
    }

    /// Of a corpus that is gone through so often: each case is as it is the first time.
    #[must_use]
    pub fn repeated(&self, times: usize) -> Self {
        let turn = |n: usize| {
            self.cases.iter().map(move |(id, case)| (Repetition(n).name(id), case.clone()))
        };
        Self { settings: self.settings.clone(), cases: (0..times).flat_map(turn).collect() }
    }

    /// Stages whose version somebody forgot to bump, each with its version and a case that shows it: other answers to
    /// the same inputs under the same settings.
    pub fn forgotten(&self, now: &Self) -> BTreeMap<Stage, (u32, String)> {
        let mut out = BTreeMap::new();
        for (id, new) in &now.cases {
            let Some(old) = self.cases.get(id).filter(|it| it.input_sha256 == new.input_sha256)
            else {
                continue;
            };
            for spec in STAGES {
                let stage = spec.stage.as_str();
                let (Some(was), Some(is)) = (old.stages.get(stage), new.stages.get(stage)) else {
                    continue;
                };
                let same_inputs = spec.reads.iter().all(|kind| {
                    let writer = STAGES.iter().find(|it| it.writes == *kind);
                    let digest = |case: &CaseBaseline| {
                        let it = case.stages.get(writer?.stage.as_str())?;
                        Some(it.payload_sha256.clone())
                    };
                    digest(old) == digest(new)
                });
                let same_settings = self.settings.get(stage) == now.settings.get(stage);
                if was.payload_sha256 != is.payload_sha256
                    && was.version == is.version
                    && same_inputs
                    && same_settings
                {
                    out.entry(spec.stage).or_insert_with(|| (is.version, id.clone()));
                }
            }
        }
        out
    }
}

/// What to do about a forgotten version.
pub fn reminder(stage: Stage, version: u32, case: &str) -> String {
    format!(
        "stage {} answers differently but is still version {version}: bump it in stages/table.rs (seen in {case})",
        stage.as_str()
    )
}

impl Evaluation {
    /// Whether these results were judged against a baseline and are all as in it.
    pub fn is_as_before(&self) -> bool {
        self.differences.as_ref().is_some_and(Vec::is_empty)
    }
}

fn keys<'a, T>(a: &'a BTreeMap<String, T>, b: &'a BTreeMap<String, T>) -> BTreeSet<&'a String> {
    a.keys().chain(b.keys()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline(input: &str, rank: (u32, &str), analyze: (u32, &str)) -> Baseline {
        let digest =
            |it: (u32, &str)| StageDigest { version: it.0, payload_sha256: it.1.to_owned() };
        let case = CaseBaseline {
            input_sha256: input.to_owned(),
            outcome: Outcome::Verified,
            reason: None,
            chosen: None,
            right_rank: Some(1),
            verdict: Verdict::Right,
            stages: BTreeMap::from([
                ("rank".to_owned(), digest(rank)),
                ("analyze".to_owned(), digest(analyze)),
            ]),
        };
        Baseline {
            settings: BTreeMap::from([("rank".to_owned(), "s".to_owned())]),
            cases: BTreeMap::from([("a".to_owned(), case)]),
        }
    }

    #[test]
    fn a_stage_that_answers_differently_must_say_so() {
        let was = baseline("in", (1, "r"), (1, "a"));
        let check = |now: Baseline, expected: &[Stage]| {
            let got: Vec<Stage> = was.forgotten(&now).into_keys().collect();
            assert_eq!(got, expected);
        };
        check(was.clone(), &[]);
        check(baseline("in", (1, "R"), (1, "a")), &[Stage::Rank]);
        check(baseline("in", (2, "R"), (1, "a")), &[]);
        // Analyze saw other candidates: its answer may differ.
        check(baseline("in", (2, "R"), (1, "A")), &[]);
        check(baseline("in", (1, "r"), (1, "A")), &[Stage::Analyze]);
        check(baseline("IN", (1, "R"), (1, "a")), &[]);
        let mut now = baseline("in", (1, "R"), (1, "a"));
        now.settings.insert("rank".to_owned(), "t".to_owned());
        check(now, &[]);
    }

    #[test]
    fn every_difference_is_named() {
        let was = baseline("in", (1, "r"), (1, "a"));
        assert_eq!(was.differences(&was), []);
        let mut now = baseline("IN", (2, "R"), (1, "a"));
        now.cases.get_mut("a").unwrap().outcome = Outcome::NeedsSelection;
        now.cases.insert("b".to_owned(), now.cases["a"].clone());
        let got: Vec<String> = was
            .differences(&now)
            .into_iter()
            .map(|it| format!("{} {} {}", it.case, it.stage.unwrap_or_default(), it.what))
            .collect();
        let expected = [
            "a  the case's files changed",
            "a  verified, right → needs_selection, right",
            "a rank answers differently",
            "a rank version 1 → 2",
            "b  a new case",
        ];
        assert_eq!(got, expected);
    }
}
