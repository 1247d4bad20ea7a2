//! A recipe learned from a HAR, with nothing on disk.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use futures::future::BoxFuture;

use super::EgressPolicy;
use commis_artifacts::{
    digest::now,
    payloads::{Judged, Outcome, Replay, SecondRecording},
    recording::SessionRecording,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
    settings::{LearningSettings, RedactSettings, Settings},
};
use commis_net::transport::{Reply, Transport as _, public_http::PublicHttp};
use commis_recipe::model::{Recipe, Slot, TransportKind};
use commis_redact::har;
use commis_runner::slots;
use commis_stages::{
    ReplayCall, Replayer, in_memory,
    pacer::Pacer,
    publish::{RecipeInfo, publish},
    stub::RecordingReplayer,
    verify::Expectation,
};

/// What was done in a HAR, and what of it is to be learned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HarTask {
    /// Of the recipe: lower case letters, digits and hyphens.
    pub name: String,
    /// What was done, with `{parameter}` where a value was typed: "search the shop for {query}".
    pub task: String,
    /// What was typed in the HAR, by parameter.
    pub typed: BTreeMap<String, String>,
    /// Other values for the same parameters. Without them nothing can be verified.
    pub second: BTreeMap<String, String>,
    /// Names of parameters and fields that are known to hold no secret.
    pub allow: Vec<String>,
}

impl HarTask {
    /// A task of that recipe name and sentence, with `{parameter}` where a typed value goes. It has no typed values yet.
    pub fn new(name: impl Into<String>, task: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            task: task.into(),
            typed: BTreeMap::new(),
            second: BTreeMap::new(),
            allow: Vec::new(),
        }
    }

    /// A parameter: what was typed, and another value to prove the recipe on.
    #[must_use]
    pub fn parameter(mut self, name: &str, typed: &str, other: &str) -> Self {
        self.typed.insert(name.to_owned(), typed.to_owned());
        self.second.insert(name.to_owned(), other.to_owned());
        self
    }
}

/// How learning ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LearnStatus {
    /// It was replayed on the second value, and the answer was right and whole.
    Verified,
    /// There is a recipe, and it is not proven: [`LearnResult::reason`] says why.
    Draft,
    /// Several requests could be it, and a person has to choose.
    NeedsSelection,
    /// There is nothing to learn, or it must not be.
    NotRecipeable,
}

/// What was learned.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LearnResult {
    pub status: LearnStatus,
    pub recipe: Option<Recipe>,
    /// A stable word, where it is not verified: `captured_only`, `mutation`, `needs_login`, …
    pub reason: Option<String>,
    /// The same for a person.
    pub detail: Option<String>,
    /// Requests that could have carried the data, best first, at most eight.
    pub candidates: Vec<Candidate>,
}

/// A request of the HAR that could have carried the data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Candidate {
    pub method: String,
    /// Without secrets, values shortened.
    pub url: String,
    /// How sure it is that this one carried the data, basis points.
    pub confidence_bp: u32,
}

/// Learns a recipe from a HAR in memory. With a policy, candidates are replayed against the site, at most 24 requests a stage
/// and one each 250 ms, by GET or what is known to read; without, nothing is sent, and a recipe stays a draft.
///
/// Fails with `HAR_INVALID`, with `RECIPE_INVALID` for a name that no recipe can have, with `SECRET_IN_TASK`, and with what the
/// network fails with where that says nothing of the request. That a task cannot be learned is not a failure.
pub async fn learn_from_har(
    har: &[u8],
    task: &HarTask,
    replay: Option<&EgressPolicy>,
) -> Result<LearnResult> {
    let name = RecipeName::new(&task.name)?;
    let filled = task
        .typed
        .iter()
        .fold(task.task.clone(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value));
    for it in task.typed.values().chain(task.second.values()).chain([&filled]) {
        if let Some(why) = commis_redact::probable_secret(it) {
            let message = format!("the task holds what seems to be a secret: {why}");
            return Err(Error::new(Code::SecretInTask, message)
                .hint("tasks and example values are written down; use others"));
        }
    }
    let mut settings =
        Settings { redact: RedactSettings { allow: task.allow.clone() }, ..Settings::default() };
    settings.egress.no_network = replay.is_none();
    let raw = har::import(har, &filled, task.typed.clone())?.recording;
    let recording = commis_redact::redact(raw, &settings.redact).recording;
    let values =
        task.second.iter().map(|(name, it)| (name.clone(), commis_redact::redact_written(it)));
    let second = SecondRecording { values: values.collect(), ..SecondRecording::default() };
    let expect = Expectation::default();
    let trace = match replay {
        None => {
            let mut world = RecordingReplayer(&recording);
            in_memory::run(&recording, &second, &settings, &expect, &mut world).await?
        }
        Some(policy) => {
            let mut world = LiveReplayer::new(policy, settings.learning.clone())?;
            in_memory::run(&recording, &second, &settings, &expect, &mut world).await?
        }
    };
    let about = RecipeInfo { name: &name, sentence: &task.task, category: None, expect: &expect };
    Ok(to_learn_result(&about, &recording, &trace))
}

fn to_learn_result(
    about: &RecipeInfo<'_>,
    recording: &SessionRecording,
    trace: &in_memory::Trace,
) -> LearnResult {
    let ranked = trace.ranked().map(|it| it.candidates.as_slice()).unwrap_or_default();
    let candidates = ranked.iter().map(|it| Candidate {
        method: it.method.clone(),
        url: it.url_summary.clone(),
        confidence_bp: it.confidence_bp,
    });
    let recipe = match (&trace.reject, &trace.parameterized, &trace.baseline, &trace.report) {
        (None, Some(Judged::Done(draft)), Some(baseline), Some(report)) => {
            Some(publish(about, recording, draft, baseline, report, &now()))
        }
        _ => None,
    };
    let reject = trace.reject.as_ref().map(|it| &it.1);
    LearnResult {
        status: match trace.outcome() {
            Outcome::Verified => LearnStatus::Verified,
            Outcome::SavedDraft => LearnStatus::Draft,
            Outcome::NeedsSelection => LearnStatus::NeedsSelection,
            Outcome::NonRecipeable => LearnStatus::NotRecipeable,
        },
        recipe,
        reason: match reject {
            Some(it) => Some(it.reason.as_str().to_owned()),
            None => trace.report.as_ref().and_then(|it| it.reason.clone()),
        },
        detail: reject.map(|it| it.detail.clone()),
        candidates: candidates.collect(),
    }
}

/// The site itself, by our own client and without a session.
struct LiveReplayer {
    http: PublicHttp,
    policy: EgressPolicy,
    learning: LearningSettings,
    fetched: BTreeMap<String, String>,
    pacer: Pacer,
    replays: u32,
    begun: Instant,
}

impl LiveReplayer {
    fn new(policy: &EgressPolicy, learning: LearningSettings) -> Result<Self> {
        Ok(Self {
            http: PublicHttp::new(policy.0.clone())?,
            policy: policy.clone(),
            pacer: Pacer::new(Duration::from_millis(learning.pace_ms)),
            learning,
            fetched: BTreeMap::new(),
            replays: 0,
            begun: Instant::now(),
        })
    }

    async fn send_now(&mut self, call: ReplayCall<'_>) -> Result<Reply> {
        let missing: Vec<&Slot> =
            call.slots.iter().filter(|it| !self.fetched.contains_key(&it.name)).collect();
        if !missing.is_empty() {
            let got = slots::fetch(missing, None, &self.http, |_| ()).await?;
            self.fetched.extend(got);
        }
        let mut values = call.values.clone();
        values.extend(self.fetched.clone());
        let draft = call.draft(&values)?;
        let mut walk = draft.start();
        while let Some(request) = walk.request()? {
            walk.pace().await;
            self.pacer.wait_to_ask(&self.policy.0, &request.url).await;
            self.replays += 1;
            let reply = self.http.send(&request).await?;
            walk.take(request, reply)?;
        }
        walk.reply()
    }
}

impl Replayer for LiveReplayer {
    fn transports(&self) -> Vec<TransportKind> {
        vec![TransportKind::PublicHttp]
    }

    fn send<'a>(&'a mut self, call: ReplayCall<'a>) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(self.send_now(call))
    }

    fn begin(&mut self) {
        self.replays = 0;
        self.begun = Instant::now();
    }

    fn fresh(&mut self) {
        self.fetched.clear();
    }

    fn spent(&self) -> bool {
        self.replays >= self.learning.max_replays
            || self.begun.elapsed() >= Duration::from_secs(self.learning.max_seconds.into())
    }

    fn recall(&mut self, _key: &str) -> Option<Replay> {
        None
    }

    fn note(&mut self, _key: &str, _replay: &Replay) -> Result<()> {
        Ok(())
    }
}
