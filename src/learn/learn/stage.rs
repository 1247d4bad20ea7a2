//! Some stages of a task and no others: what an engine calls that has many machines.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{LearnContext, LearnResult, ModelUse, Run, needs_login};
use crate::task::Task;
use commis_artifacts::{
    payloads::{Outcome, Reject, VerificationReport},
    store::TaskFolder,
};
use commis_base::error::{Code, Error, Result};
use commis_stages::table::{STAGES, Stage, StageSpec};

/// How long another process on this machine may have the task before it is said to be busy.
const PATIENCE: Duration = Duration::from_secs(120);
const LOOK_AGAIN: Duration = Duration::from_millis(200);

/// Stages in the order of the table, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub first: Stage,
    pub last: Stage,
}

impl Span {
    pub const ALL: Self = Self { first: Stage::Record, last: Stage::Verify };

    /// The error when `spec`, which comes before the span, has left nothing that holds.
    pub(super) fn lacks(self, spec: &StageSpec, task: &Task, cx: &LearnContext) -> Error {
        let builds = format!(", which {} builds on", self.first.as_str());
        missing(spec, task, cx, &builds, &format!("run stage {} first; ", spec.stage.as_str()))
    }
}

/// The error when `spec` has left nothing that holds, and nothing is done here.
pub(super) fn not_here(spec: &StageSpec, task: &Task, cx: &LearnContext) -> Error {
    missing(spec, task, cx, "", "")
}

fn missing(spec: &StageSpec, task: &Task, cx: &LearnContext, why: &str, first: &str) -> Error {
    let place = cx
        .shared_store
        .as_ref()
        .map_or_else(|| cx.store.root().display().to_string(), |it| it.location());
    let kind = spec.writes.as_str();
    Error::new(
        Code::ArtifactMissing,
        format!("task {} has no {kind} in {place} for the present inputs{why}", task.id),
    )
    .hint(format!(
        "{first}the task, the settings and the version of commis must be the same there and here"
    ))
}

/// What stages came to.
#[derive(Clone, Debug, Serialize)]
pub struct StagesResult {
    pub task_id: String,
    pub stages: Vec<StageArtifact>,
    /// How the task ended, where it has: further stages have nothing to do.
    pub decided: Option<Decision>,
    /// Recorded again because values needed for replay had died with their process.
    pub live_values_lost: bool,
    /// The model that was asked.
    #[serde(skip)]
    pub model: Option<ModelUse>,
}

/// One stage's artifact.
#[derive(Clone, Debug, Serialize)]
pub struct StageArtifact {
    pub stage: Stage,
    pub kind: &'static str,
    pub key: String,
    pub payload_sha256: String,
    pub how: ArtifactSource,
}

/// How an artifact came to be where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArtifactSource {
    /// By this run.
    Made,
    /// This run made it, and another one was first; theirs counts.
    Adopted,
    /// It was there.
    There,
}

impl ArtifactSource {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Made => "made",
            Self::Adopted => "adopted",
            Self::There => "there",
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Decision {
    pub outcome: Outcome,
    pub reason: Option<String>,
    pub detail: Option<String>,
}

impl Decision {
    fn rejected(it: Reject) -> Self {
        Self {
            outcome: it.reason.outcome(),
            reason: Some(it.reason.as_str().to_owned()),
            detail: Some(it.detail),
        }
    }

    fn verified(it: &VerificationReport) -> Self {
        let outcome = if it.verified { Outcome::Verified } else { Outcome::SavedDraft };
        it.reject().map_or_else(
            || Self { outcome, reason: it.reason.clone(), detail: None },
            Self::rejected,
        )
    }
}

/// Runs what is missing of those stages, and takes what is there. Run twice, or by two at once, it leaves the same.
///
/// A recipe is not published: that is [`learn`](super::learn)'s, when all is there. Fails as that does, and with `ARTIFACT_MISSING`
/// when an earlier stage has left nothing; with `LIVE_VALUES_LOST` when a stage needs what only the process knew that recorded,
/// and the span does not begin at the recording.
pub async fn stages(task: &Task, cx: &LearnContext, span: Span) -> Result<StagesResult> {
    let task_id = task.id.to_string();
    if task.requires_auth {
        let LearnResult { outcome, reason, detail, .. } = needs_login(task, cx);
        let decided = Some(Decision { outcome, reason, detail });
        let stages = Vec::new();
        return Ok(StagesResult { task_id, stages, decided, live_values_lost: false, model: None });
    }
    let folder = open_folder(task, cx).await?;
    let mut run = Run::begin(task, cx, &folder, None)?;
    let (reject, live_values_lost) = run.through(span).await?;
    let how = |stage: &Stage| match stage {
        it if run.adopted.contains(it) => ArtifactSource::Adopted,
        it if run.ran.contains(it) => ArtifactSource::Made,
        _ => ArtifactSource::There,
    };
    let made = |spec: &StageSpec| {
        let payload_sha256 = run.hash(spec.writes)?.clone();
        let (stage, kind, key) = (spec.stage, spec.writes.as_str(), run.key(spec));
        Some(StageArtifact { stage, kind, key, payload_sha256, how: how(&stage) })
    };
    let of = STAGES.iter().filter(|it| (span.first..=span.last).contains(&it.stage));
    let stages: Vec<StageArtifact> = of.filter_map(made).collect();
    let decided = match reject {
        Some(it) => Some(Decision::rejected(it)),
        None if span.last == Stage::Verify => Some(Decision::verified(&run.get()?)),
        None => None,
    };
    let model = run.model_use()?;
    Ok(StagesResult { task_id, stages, decided, live_values_lost, model })
}

/// The task's folder, when whoever else has it lets go.
async fn open_folder(task: &Task, cx: &LearnContext) -> Result<TaskFolder> {
    let began = Instant::now();
    loop {
        match cx.store.task(&task.id) {
            Err(err) if err.code() == Code::TaskBusy && began.elapsed() < PATIENCE => {
                tokio::time::sleep(LOOK_AGAIN).await;
            }
            other => return other,
        }
    }
}
