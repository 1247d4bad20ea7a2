//! Making a case: a task learned live, and what the site answered to whom, written down for good.
//!
//! What is right comes from a file that a person wrote; where the stages think otherwise, the case says what is right and
//! an eval shows them wrong.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::Url;

use super::{
    case::{
        self, CANDIDATES, Case, DRAFT, ExpectedCandidates, ExpectedDraft, ExpectedFingerprint,
        ExpectedRequest, FINGERPRINT, METADATA, Metadata, RECORDING, RecipeType, SECOND, STUBS,
        Volatility,
    },
    corpus,
    probe::{self, ProbeResult, ProbeTarget, ProofToRepeat},
    stubs::Stubs,
};
use commis_artifacts::{
    payloads::{
        BaselineFingerprint, Judged, Outcome, Reason, RecipeAnalysis, RecipeDraft,
        RecipeDraftMinimized, SecondRecording, VerificationReport,
    },
    recording::{Exchange, SessionRecording},
    store::TaskFolder,
};
use commis_base::{
    error::{Code, Error, Result},
    files,
    ids::RecipeName,
    settings::RankingSettings,
};
use commis_learn::{LearnContext, LearnResult, Task, TaskReplayer};
use commis_stages::rank;

/// How many of the best candidates are probed part by part; of the others only the examples.
const THOROUGH: usize = 3;

/// What is right for one entry of a manifest: `expected.yaml` holds these by name.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    pub kind: String,
    pub outcome: Outcome,
    pub reason: Option<Reason>,
    pub method: Option<String>,
    /// Without query; `*` is a segment that varies.
    pub url: Option<String>,
    pub operation: Option<String>,
    #[serde(default)]
    pub parameters: BTreeSet<String>,
    #[serde(default)]
    pub extract_contains: Vec<String>,
    /// JMESPath from the answer's JSON to all that is asked for; of a page, `rows` is a CSS selector.
    pub items: Option<String>,
    pub rows: Option<String>,
    #[serde(default)]
    pub notes: String,
}

/// A case as made.
#[derive(Debug)]
pub struct RecordedCase {
    /// How the task ended live, and how it ends over the stubs: the same, or the stubs do not tell what the site does.
    pub live: Ending,
    pub offline: Ending,
    pub verdict: &'static str,
    pub bytes: u64,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Ending {
    pub outcome: Outcome,
    pub why: Option<String>,
}

/// Reads `expected.yaml`. Fails with [`Code::Usage`].
pub fn expectations(path: &Path) -> Result<BTreeMap<String, Expected>> {
    case::yaml(path)
}

/// Learns the task live, probes its site and writes the case's folder below `out`.
///
/// Fails with what learning fails with, with [`Code::ArtifactMissing`] when nothing was recorded, and with
/// [`Code::ArtifactIo`].
pub async fn record(
    task: &Task,
    expected: &Expected,
    cx: &LearnContext,
    out: &Path,
) -> Result<RecordedCase> {
    let learned = commis_learn::learn(task, cx).await;
    let folder = cx.store.task(&task.id)?;
    let mut recording: SessionRecording = match folder.get() {
        Ok(it) => it,
        Err(err) => return Err(learned.err().unwrap_or(err)),
    };
    // Absent where the first recording was rejected before a second was driven.
    let mut second: SecondRecording = folder.get().unwrap_or_default();
    steady(&mut recording);
    second.recording.iter_mut().for_each(steady);

    let request = request(expected);
    let is_right = |it: &Exchange| {
        request.as_ref().is_some_and(|wanted| {
            wanted.matches(&it.method, &it.url, rank::operation(it).as_deref())
        })
    };
    let right: BTreeSet<u32> =
        recording.exchanges.iter().filter(|it| is_right(it)).map(|it| it.id).collect();
    let mut targets = targets(&recording, &second, &right);
    mark_refused(&mut targets, &folder);

    let mut replayer = TaskReplayer::new(
        &cx.http,
        &cx.policy,
        &cx.browser,
        &cx.settings.learning,
        &folder,
        recording.url.clone(),
        task.timeout,
    );
    let (stubs, found) = {
        let values = (&second.values, &task.expect.further[..]);
        let draft: Option<Judged<RecipeDraftMinimized>> = folder.get().ok();
        let (baseline, report): (Option<BaselineFingerprint>, Option<VerificationReport>) =
            (folder.get().ok(), folder.get().ok());
        let is_several = |draft: &RecipeDraftMinimized| {
            let has_pages = report.as_ref().is_some_and(|it| it.pages.is_some());
            report.as_ref().is_some_and(|it| it.verified) && (!draft.steps.is_empty() || has_pages)
        };
        let proof = match (&draft, &baseline) {
            (Some(Judged::Done(draft)), Some(baseline)) if is_several(draft) => {
                Some(ProofToRepeat { draft, baseline, expect: &task.expect })
            }
            _ => None,
        };
        probe::probe(&mut replayer, cx, &recording, values, &targets, proof).await?
    };
    drop(replayer);

    let of_right = targets.iter().zip(&found).filter(|it| right.contains(&it.0.exchange.id));
    let of_right: Option<&ProbeResult> = of_right.map(|it| it.1).next_back();
    let right_exchange = right.last().and_then(|it| recording.exchanges.get(*it as usize));
    let html = right_exchange.is_some_and(|it| it.mime.contains("html"));
    let metadata = metadata(task, expected, of_right, html);
    // What several answers give together has another shape.
    let is_assembled =
        matches!(folder.get(), Ok(Judged::Done(RecipeDraftMinimized { assembly: Some(_), .. })));
    let of_request = request.as_ref().filter(|_| !is_assembled);
    let shape = of_request.map_or_else(Vec::new, |it| shape_of_right(it, &stubs));
    let draft = ExpectedDraft {
        request,
        parameters: expected.parameters.clone(),
        extract_contains: expected.extract_contains.clone(),
        items: expected.items.clone(),
        rows: expected.rows.clone(),
    };
    drop(targets);
    let dir = out.join(task.name.as_str());
    let yaml = serde_saphyr::to_string(&metadata)
        .map_err(|err| Error::new(Code::Internal, format!("metadata as YAML: {err}")))?;
    let bytes = write_files(
        &dir,
        [
            (RECORDING, lines(&recording)?),
            (SECOND, lines(&second)?),
            (CANDIDATES, lines(&ExpectedCandidates { right })?),
            (DRAFT, lines(&draft)?),
            (FINGERPRINT, lines(&ExpectedFingerprint { shape })?),
            (STUBS, lines(&stubs)?),
            (METADATA, yaml),
        ],
    )?;

    let mut settings = cx.settings.clone();
    settings.egress.no_network = true;
    let offline = corpus::run(&Case::read(&dir)?, &settings, false);
    Ok(RecordedCase {
        live: Ending::from_learned(learned),
        offline: Ending { outcome: offline.outcome, why: offline.why().map(str::to_owned) },
        verdict: offline.verdict.as_str(),
        bytes,
    })
}

/// The shape of what the stubs of the right request answer.
fn shape_of_right(wanted: &ExpectedRequest, stubs: &Stubs) -> Vec<String> {
    probe::shape_of(stubs, |rule| {
        // A rule's own pattern has a `*` at least where the right URL has one.
        wanted.matches(&rule.method, &rule.url, wanted.operation.as_deref())
            && wanted.operation.as_ref().is_none_or(|operation| {
                rule.is.is_empty() || rule.is.values().any(|it| it == operation.as_str())
            })
    })
}

/// Marks the target that learning rejected because it needs a login.
fn mark_refused(targets: &mut [ProbeTarget<'_>], folder: &TaskFolder) {
    if let (Ok(Judged::Done(analysis)), Ok(Judged::Rejected(reject))) =
        (folder.get::<Judged<RecipeAnalysis>>(), folder.get::<Judged<RecipeDraft>>())
        && reject.reason == Reason::NeedsLogin
    {
        for it in targets {
            it.refused = it.exchange.id == analysis.chosen.exchange;
        }
    }
}

/// Writes the files into the folder of the case. Returns their size in bytes. Fails with [`Code::ArtifactIo`].
fn write_files<const N: usize>(dir: &Path, all: [(&str, String); N]) -> Result<u64> {
    let mut bytes = 0;
    for (name, text) in all {
        bytes += text.len() as u64;
        files::write_atomic(dir, name, text.as_bytes())?;
    }
    Ok(bytes)
}

fn request(expected: &Expected) -> Option<ExpectedRequest> {
    Some(ExpectedRequest {
        method: expected.method.clone()?,
        url: expected.url.clone()?,
        operation: expected.operation.clone(),
    })
}

/// The metadata of a case: as expected, and as its site answered the probe of the right request.
fn metadata(
    task: &Task,
    expected: &Expected,
    of_right: Option<&ProbeResult>,
    html: bool,
) -> Metadata {
    let recipeable = matches!(expected.outcome, Outcome::Verified | Outcome::SavedDraft);
    Metadata {
        kind: expected.kind.clone(),
        outcome: expected.outcome,
        reason: expected.reason,
        category: task.category.clone(),
        auth_required: task.requires_auth || expected.reason == Some(Reason::NeedsLogin),
        volatility: if of_right.is_some_and(|it| it.volatile) {
            Volatility::High
        } else {
            Volatility::Low
        },
        expected_transport: of_right.filter(|_| recipeable).and_then(|it| it.transport),
        expected_recipe_type: match (recipeable, html) {
            (false, _) => RecipeType::None,
            (true, true) => RecipeType::Html,
            (true, false) => RecipeType::Api,
        },
        notes: expected.notes.clone(),
        min_items: task.expect.min_items,
        required_paths: task.expect.required_paths.clone(),
        further: task.expect.further.clone(),
    }
}

impl Ending {
    fn from_learned(learned: Result<LearnResult>) -> Self {
        match learned {
            Ok(it) => Self { outcome: it.outcome, why: it.reason },
            // An eval counts trouble of the world as a replay that failed.
            Err(_) => Self {
                outcome: Outcome::NeedsSelection,
                why: Some(Reason::ReplayFailed.as_str().to_owned()),
            },
        }
    }
}

/// The calls that the stages might choose, right or wrong, each with its like in the second recording.
fn targets<'a>(
    recording: &'a SessionRecording,
    second: &'a SecondRecording,
    right: &BTreeSet<u32>,
) -> Vec<ProbeTarget<'a>> {
    let ranked = match rank::rank(recording, second, &RankingSettings::default()) {
        Judged::Done(it) => it.candidates,
        Judged::Rejected(_) => Vec::new(),
    };
    let twin = |id: Option<u32>| {
        let exchanges = &second.recording.as_ref()?.exchanges;
        exchanges.get(id? as usize)
    };
    let host =
        |it: &Exchange| Url::parse(&it.url).ok().and_then(|it| it.host_str().map(str::to_owned));
    let mut out: Vec<ProbeTarget<'a>> = Vec::new();
    for (i, it) in ranked.iter().enumerate() {
        if let Some(exchange) = recording.exchanges.get(it.exchange as usize) {
            let thorough = i < THOROUGH || right.contains(&it.exchange);
            out.push(ProbeTarget {
                exchange,
                twin: twin(it.second_exchange),
                thorough,
                refused: false,
            });
            // A choice may be another host, which is asked as well.
            let other = twin(it.second_exchange).filter(|it| host(it) != host(exchange));
            out.extend(other.map(|it| ProbeTarget {
                exchange: it,
                twin: Some(exchange),
                thorough,
                refused: false,
            }));
        }
    }
    // The right one may not be among the best; the last of its like is what ended up on the page.
    if !out.iter().any(|it| right.contains(&it.exchange.id))
        && let Some(exchange) = right.last().and_then(|it| recording.exchanges.get(*it as usize))
    {
        out.push(ProbeTarget { exchange, twin: None, thorough: true, refused: false });
    }
    out
}

/// Rounds away what a stage might see of the machine's speed: an answer took at least a millisecond.
fn steady(recording: &mut SessionRecording) {
    for it in &mut recording.exchanges {
        if it.status.is_some() {
            it.timing.total_ms = it.timing.total_ms.max(1);
        }
    }
}

/// JSON that diffs well: one line for each member, and for each element of a list or table of objects.
fn lines<T: Serialize>(value: &T) -> Result<String> {
    let value = serde_json::to_value(value)
        .map_err(|err| Error::new(Code::Internal, "a case as JSON").source(err))?;
    let mut out = String::new();
    spread(&value, 0, &mut out);
    out.push('\n');
    Ok(out)
}

fn spread(value: &Value, depth: usize, out: &mut String) {
    let indent = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&" ".repeat(depth));
    };
    let wide = value.to_string().len() > 160;
    match value {
        Value::Object(fields) if wide && depth < 3 => {
            out.push('{');
            for (i, (key, it)) in fields.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                indent(out, depth + 1);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                // A table: its members are the lines, and no deeper. Exchanges stay on theirs.
                spread(it, depth + 1, out);
            }
            indent(out, depth);
            out.push('}');
        }
        Value::Array(items) if wide && depth < 3 && items.iter().any(Value::is_object) => {
            out.push('[');
            for (i, it) in items.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                indent(out, depth + 1);
                out.push_str(&it.to_string());
            }
            indent(out, depth);
            out.push(']');
        }
        _ => out.push_str(&value.to_string()),
    }
}

/// Names of a manifest's tasks that nothing is expected of, and the other way round.
pub fn unmatched(tasks: &[Task], expected: &BTreeMap<String, Expected>) -> Vec<String> {
    let names: BTreeSet<&str> = tasks.iter().map(|it| RecipeName::as_str(&it.name)).collect();
    let wanted: BTreeSet<&str> = expected.keys().map(String::as_str).collect();
    names.symmetric_difference(&wanted).map(|it| (*it).to_owned()).collect()
}
