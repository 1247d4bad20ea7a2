//! Learn one task: run what is missing or stale, skip what is fresh, stop where the task is decided.

mod logins;
mod memory_tokens;
mod models;
mod outcome;
mod refresh;
mod shared;
mod stage;

use logins::needs_login;
use stage::not_here;
pub use stage::{ArtifactSource, Span, StagesResult, stages};

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{
    context::{LearnContext, LearnResult, ModelUse, RedoScope},
    downloaded_file,
    drive::{asks_for_pause, drive, only_reads, plan},
    fresh::{Freshness, check_freshness},
    manual, own_address, page_of_har,
    published_recipe::{demote, demoted_since, is_ours, keep_published, proven_since},
    replay_context::{LiveSession, TaskReplayer},
    stage_inputs,
    task::{Source, Task, renders_har},
    task_file::{StoredChoice, StoredTask},
};
use commis_artifacts::{
    kinds::{Artifact, Kind},
    payloads::{
        BaselineFingerprint, CandidateSet, Judged, MinimizationReport, Outcome, Reason,
        RecipeAnalysis, RecipeDraft, RecipeDraftMinimized, Reject, SecondRecording,
    },
    recording::SessionRecording,
    store::{ArtifactState, Stamp, TaskFolder, json_sha256},
};
use commis_base::error::{Code, Error, Result};
use commis_redact::{AccountIds, RedactedRecording, har, raw::RawRecording, redact};
use commis_stages::{
    analyze, baseline, may_repeat, minimize, model_options, parameterize, rank, select, summarize,
    validate, verify,
};
use commis_stages::{
    publish::publish,
    table::{STAGES, Stage, StageSpec},
};
use commis_state::State;
use commis_vault::Login;

/// Work of so long is not done again after a crash.
const DEAR: Duration = Duration::from_millis(250);

/// Runs the pipeline for one task.
///
/// Fails with what stages that observe fail with: `BROWSER_*`, `STEP_FAILED`, `HAR_INVALID`, `ARTIFACT_*`, `TASK_BUSY`,
/// `NETWORK_DISABLED`. That a task cannot be learned is not a failure; see [`LearnResult::outcome`].
pub async fn learn(task: &Task, cx: &LearnContext) -> Result<LearnResult> {
    learn_from(task, cx, None).await
}

/// The same with a recording that was made by hand just now, or that was given its parameters; it is stored where none is, or
/// another one.
pub async fn learn_from(
    task: &Task,
    cx: &LearnContext,
    taken: Option<RedactedRecording>,
) -> Result<LearnResult> {
    if task.requires_auth && task.logins.is_empty() {
        return Ok(needs_login(task, cx));
    }
    let folder = cx.store.task(&task.id)?;
    let mut run = Run::begin(task, cx, &folder, taken)?;
    let (reject, lost) = run.through(Span::ALL).await?;
    if reject.is_none() {
        run.learn_refresh().await;
    }
    run.finish(reject, lost)
}

/// Calls of the model in this run.
#[derive(Default)]
struct ModelCalls {
    calls: u32,
    tokens_in: u64,
    tokens_out: u64,
}

struct Run<'a> {
    task: &'a Task,
    cx: &'a LearnContext,
    folder: &'a TaskFolder,
    /// Payload hashes of what is known to be current.
    hashes: BTreeMap<Kind, String>,
    /// What this run wrote, by its payload hash: to be read without asking the disk.
    written: BTreeMap<Kind, (String, Value)>,
    /// The recording as it was read from the store, and its payload hash: it is large, and nearly every stage reads it.
    recording: Option<(String, Arc<SessionRecording>)>,
    /// The recording that a person made; there is no other way to get one.
    taken: Option<RedactedRecording>,
    ran: Vec<Stage>,
    reused: Vec<Stage>,
    /// Of those that ran: another machine was first, and what it has counts.
    adopted: Vec<Stage>,
    /// How often the recording on the shelf was made again.
    generation: u32,
    /// The task's logins, once they were opened.
    logins: Option<Vec<Login>>,
    session: Option<LiveSession>,
    skipped: u32,
    /// What a person chose instead of analyze; `--force` forgets it.
    choice: Option<StoredChoice>,
    paid: ModelCalls,
    /// For a person, beside the outcome.
    notes: Vec<String>,
}

impl<'a> Run<'a> {
    fn begin(
        task: &'a Task,
        cx: &'a LearnContext,
        folder: &'a TaskFolder,
        taken: Option<RedactedRecording>,
    ) -> Result<Self> {
        if cx.redo.is_some() {
            folder.forget_journal()?;
        }
        let choice = match cx.redo {
            Some(RedoScope::All) => None,
            _ => StoredTask::read(folder, &task.id)?.and_then(|it| it.choice),
        };
        Ok(Self {
            task,
            cx,
            folder,
            hashes: BTreeMap::new(),
            written: BTreeMap::new(),
            recording: None,
            taken,
            ran: Vec::new(),
            reused: Vec::new(),
            adopted: Vec::new(),
            generation: 0,
            logins: None,
            session: None,
            skipped: 0,
            choice,
            paid: ModelCalls::default(),
            notes: Vec::new(),
        })
    }

    /// Those stages, and the recording once more where what it knew is gone; whether it was.
    async fn through(&mut self, span: Span) -> Result<(Option<Reject>, bool)> {
        let done = self.as_far_as(span).await?;
        self.folder.sync()?;
        Ok(done)
    }

    async fn as_far_as(&mut self, span: Span) -> Result<(Option<Reject>, bool)> {
        match self.stages(self.cx.redo, None, span).await {
            Err(err) if err.code() == Code::LiveValuesLost && span.first != Stage::Record => {
                Err(err.hint("run the stages from record to verify in one process: --stage record --through verify"))
            }
            Err(err) if err.code() == Code::LiveValuesLost => {
                // The one case in which a finished recording is made again; not when making it changed something.
                if self.task.is_by_hand() {
                    return Err(err.hint(
                        "commis does not record the session again by itself; record it again with --force",
                    ));
                }
                if self.made_a_change()? {
                    return Err(err.hint("the session changed something, so commis does not record it again; learn from another one"));
                }
                Ok((self.stages(self.cx.redo, Some(Stage::Record), span).await?, true))
            }
            other => Ok((other?, false)),
        }
    }

    /// Goes through the table to the span's end; what comes before the span must be there. `lost` is one more stage that is done
    /// again although it is fresh.
    async fn stages(
        &mut self,
        redo: Option<RedoScope>,
        lost: Option<Stage>,
        span: Span,
    ) -> Result<Option<Reject>> {
        let again = |stage| match redo {
            _ if lost == Some(stage) => true,
            Some(RedoScope::All) => true,
            Some(RedoScope::From(first)) => stage >= first,
            None => false,
        };
        self.hashes.clear();
        self.ran.clear();
        self.reused.clear();
        self.adopted.clear();
        let mut settled = Instant::now();
        for spec in STAGES.iter().filter(|it| it.stage <= span.last) {
            tokio::task::yield_now().await; // whoever stopped this while a stage computed is heard here
            self.folder.check_lease()?;
            let question = self.question(spec.stage);
            let settings = json_sha256(&question);
            // What a person did is not asked for again, unless it was done again.
            let again = match spec.stage {
                Stage::Record if self.task.is_by_hand() => self.taken.is_some(),
                stage => again(stage),
            };
            let had = self.take_down(spec, &settings)?;
            let fresh = if again {
                Freshness::Missing
            } else {
                check_freshness(self.folder, spec, &self.hashes, &settings)?
            };
            match fresh {
                Freshness::Fresh(hash) => {
                    if spec.stage == Stage::Record {
                        self.enter()?;
                    }
                    self.hashes.insert(spec.writes, hash);
                    if !had {
                        self.put_up(spec, &settings)?;
                    }
                    self.reused.push(spec.stage);
                }
                Freshness::Broken(err) => return Err(err),
                Freshness::Missing | Freshness::Stale(_) if spec.stage < span.first => {
                    return Err(span.lacks(spec, self.task, self.cx));
                }
                Freshness::Missing | Freshness::Stale(_) if self.cx.elsewhere => {
                    return Err(not_here(spec, self.task, self.cx));
                }
                Freshness::Missing | Freshness::Stale(_) => {
                    let by_hand = self.task.is_by_hand();
                    if spec.stage == Stage::Record && redo != Some(RedoScope::All) && !by_hand {
                        self.may_record_again()?;
                    }
                    (self.cx.on_stage)(self.task, spec.stage);
                    self.run(spec, settings.clone()).await?;
                    if self.is_irreplaceable(spec.stage) || settled.elapsed() >= DEAR {
                        self.folder.sync()?;
                        settled = Instant::now();
                    }
                    self.put_up(spec, &settings)?;
                    self.keep_question(spec.stage, &settings, question);
                    self.ran.push(spec.stage);
                }
            }
            if let Some(reject) = self.rejected(spec.writes)? {
                return Ok(Some(reject));
            }
        }
        Ok(None)
    }

    /// What the stage is asked besides its inputs.
    fn question(&self, stage: Stage) -> Value {
        match &self.choice {
            Some(it) if stage == Stage::Analyze => json!(it.selection),
            _ => self.task.question(stage, &self.cx.settings),
        }
    }

    /// Whether what the stage has just written cannot be had again from here: it is on the disk before anything else is begun.
    fn is_irreplaceable(&self, stage: Stage) -> bool {
        match stage {
            Stage::Record | Stage::RecordSecond => matches!(self.task.source, Source::Live { .. }),
            Stage::Consult => self.cx.model.is_some(),
            Stage::Validate | Stage::Minimize | Stage::Verify => {
                !self.cx.settings.egress.no_network
            }
            Stage::Rank
            | Stage::Summarize
            | Stage::Analyze
            | Stage::Baseline
            | Stage::Parameterize => false,
        }
    }

    /// Writes down what the task is, once it is known that it may be.
    fn enter(&self) -> Result<()> {
        StoredTask::new(self.task, self.choice.clone())?.write(self.folder)
    }

    /// For `recipe debug --why`. Losing it loses an explanation and nothing else, so it never fails a stage.
    fn keep_question(&self, stage: Stage, sha256: &str, mut question: Value) {
        let open = || State::open_briefly(self.cx.store.root()).ok().map(Arc::new);
        let Some(state) = self.cx.questions.get_or_init(open) else { return };
        stage_inputs::redact(&mut question);
        let own = stage.is_record() || (stage == Stage::Analyze && self.choice.is_some());
        let task = if own { self.task.id.as_str() } else { "" };
        let _ = state.keep_question(sha256, task, &question.to_string());
    }

    async fn run(&mut self, spec: &StageSpec, settings: String) -> Result<()> {
        match spec.stage {
            Stage::Record => {
                let recording = self.record(0).await;
                // What was to be typed where only secrets are is not written down.
                if recording.as_ref().err().is_none_or(|it| it.code() != Code::SecretInTask) {
                    self.enter()?;
                }
                let recording = recording?;
                self.store_payload(spec, settings, &recording)?;
                self.recording = self
                    .hashes
                    .get(&Kind::SessionRecording)
                    .map(|hash| (hash.clone(), Arc::new(recording)));
                Ok(())
            }
            Stage::RecordSecond => {
                let recording =
                    if self.may_drive_second()? { Some(self.record_second().await?) } else { None };
                let second_login = self.record_second_login().await?;
                let values = self.task.example(1).into_iter();
                let values = values
                    .map(|(name, value)| (name, commis_redact::redact_written(&value)))
                    .collect();
                self.store_payload(
                    spec,
                    settings,
                    &SecondRecording { recording, values, second_login },
                )
            }
            Stage::Rank => {
                let recording = self.recording()?;
                let out = rank::rank(&recording, &self.get()?, &self.cx.settings.ranking);
                self.store_payload(spec, settings, &out)
            }
            Stage::Summarize => {
                let recording = self.recording()?;
                let out = summarize::summarize(&recording, &self.load_product::<CandidateSet>()?);
                self.store_payload(spec, settings, &out)
            }
            Stage::Consult => {
                let out = self.consult().await?;
                self.store_payload(spec, settings, &out)
            }
            Stage::Analyze => {
                let recording = self.recording()?;
                let candidates = self.load_product::<CandidateSet>()?;
                let out = if let Some(it) = &self.choice {
                    select::select(&recording, &candidates, &it.selection)?
                } else {
                    let decision = &self.cx.settings.decision;
                    let known = analyze::analyze(&recording, &candidates, decision)?;
                    let (summaries, answer) = (self.get()?, self.get()?);
                    model_options::settle(&recording, &candidates, &summaries, known, &answer)?
                };
                self.store_payload(spec, settings, &out)
            }
            Stage::Validate => {
                let recording = self.recording()?;
                let analysis = self.load_product::<RecipeAnalysis>()?;
                let mut replayer = self.task_replayer(&recording, spec, &settings)?;
                let out = validate::validate(&mut replayer, &recording, &analysis).await;
                self.session = replayer.session.take();
                self.store_payload(spec, settings, &out?)
            }
            Stage::Baseline => {
                let recording = self.recording()?;
                let out = baseline::baseline(&recording, &self.load_product::<RecipeDraft>()?)?;
                self.store_payload(spec, settings, &out)
            }
            Stage::Minimize => {
                let recording = self.recording()?;
                let draft = self.load_product::<RecipeDraft>()?;
                let baseline: BaselineFingerprint = self.get()?;
                let mut replayer = self.task_replayer(&recording, spec, &settings)?;
                let out = minimize::minimize(&mut replayer, &draft, &baseline).await;
                self.session = replayer.session.take();
                self.store_payload(spec, settings, &out?)?;
                self.folder.forget_journal()
            }
            Stage::Parameterize => {
                let draft = self.load_product::<RecipeDraft>()?;
                let report: MinimizationReport = self.get()?;
                let recording = self.recording()?;
                let out = parameterize::parameterize(&recording, &self.get()?, &draft, &report)?;
                self.store_payload(spec, settings, &out)
            }
            Stage::Verify => {
                let recording = self.recording()?;
                let draft = self.load_product::<RecipeDraftMinimized>()?;
                let baseline: BaselineFingerprint = self.get()?;
                let mut replayer = self.task_replayer(&recording, spec, &settings)?;
                let out = verify::verify(&mut replayer, &draft, &baseline, &self.task.expect).await;
                self.session = replayer.session.take();
                self.store_payload(spec, settings, &out?)
            }
        }
    }

    /// A second example is driven where steps can, unless the first recording shows by itself that there is nothing to
    /// learn: an order must not be placed twice.
    fn may_drive_second(&mut self) -> Result<bool> {
        Ok(self.task.examples.len() > 1 && self.may_drive_again()?)
    }

    fn may_drive_again(&mut self) -> Result<bool> {
        if !matches!(self.task.source, Source::Live { .. }) {
            return Ok(false);
        }
        let alone = self.judged_alone()?.map(|it| it.reason);
        // What one recording cannot tell of several calls the second may.
        let is_chain = alone == Some(Reason::SeveralCalls);
        if alone.is_some_and(|it| it.outcome() == Outcome::NonRecipeable) && !is_chain {
            return Ok(false);
        }
        if (is_chain || self.task.is_by_hand())
            && let Err(why) = may_repeat(&*self.recording()?)
        {
            self.notes.push(format!("the second example was not tried in a browser: {why}"));
            return Ok(false);
        }
        Ok(true)
    }

    /// What the signals would say of the first recording by itself, were they asked.
    fn judged_alone(&mut self) -> Result<Option<Reject>> {
        let first = self.recording()?;
        let alone = SecondRecording::default();
        let settings = &self.cx.settings;
        Ok(match rank::rank(&first, &alone, &settings.ranking) {
            Judged::Rejected(it) => Some(it),
            Judged::Done(set) => reject(analyze::analyze(&first, &set, &settings.decision)?),
        })
    }

    /// A person may choose another candidate of a live session that ordered something; it must not order again.
    fn made_a_change(&mut self) -> Result<bool> {
        let live = matches!(self.task.source, Source::Live { .. });
        Ok(live && self.judged_alone()?.is_some_and(|it| it.reason == Reason::Mutation))
    }

    /// A stale recording of a live session that changed something is not made again unasked.
    fn may_record_again(&mut self) -> Result<()> {
        let there = matches!(self.folder.find(Kind::SessionRecording)?, ArtifactState::Intact(_));
        if there && self.made_a_change()? {
            return Err(Error::new(
                Code::Usage,
                "the recording is out of date, and repeating it would change something again",
            )
            .hint("--force records it again, and makes the change again"));
        }
        Ok(())
    }

    /// The first example as the second login sees it. Its pages may not lead where the first login's do: that is no failure.
    async fn record_second_login(&mut self) -> Result<Option<SessionRecording>> {
        if self.task.logins.len() < 2 || !self.may_drive_again()? {
            return Ok(None);
        }
        match self.record_as(0, 1).await {
            Err(err) if err.code() == Code::StepFailed => {
                self.notes.push(
                    "the steps could not be done with the second login, so what it sees there is not known"
                        .to_owned(),
                );
                Ok(None)
            }
            it => it.map(Some),
        }
    }

    /// The second example; once more where the site was asked for too much at once.
    async fn record_second(&mut self) -> Result<SessionRecording> {
        let found = self.record(1).await?;
        let Some(pause) = asks_for_pause(&found) else { return Ok(found) };
        tokio::time::sleep(pause).await;
        self.record(1).await
    }

    /// Records one example with the task's login.
    async fn record(&mut self, example: usize) -> Result<SessionRecording> {
        self.record_as(example, 0).await
    }

    /// Records one example: drives the browser, with that login where the task has some, or reads the file; what comes back is
    /// redacted before it goes anywhere.
    async fn record_as(&mut self, example: usize, login: usize) -> Result<SessionRecording> {
        let is_first = (example, login) == (0, 0);
        if is_first && let Some(it) = self.taken.take() {
            self.session = Some(LiveSession { context: None, values: it.live });
            return Ok(it.recording);
        }
        let mut source = None;
        let (mut raw, context): (RawRecording, _) = match &self.task.source {
            Source::Har { path, sha256: expected, content } => {
                let redact = &self.cx.settings.redact;
                let sentence = self.task.filled_sentence(example);
                let values = self.task.example(example);
                if content.is_none() && path.as_os_str().is_empty() {
                    return Err(missing_content_error());
                }
                // The browser of its page starts while the file is read.
                let has_page = renders_har(&self.cx.settings)
                    && page_of_har::begins_with_page(path, content.as_deref());
                let browser = has_page.then(|| self.cx.browser.start());
                let imported = match content {
                    Some(bytes) => har::import(bytes, &sentence, values),
                    None => har::open(path, expected, &sentence, values, redact),
                };
                let imported = imported.inspect_err(|_| {
                    browser.as_ref().inspect(|it| it.abort());
                })?;
                self.skipped = imported.skipped;
                self.notes.extend(self.task.nothing_sent(&self.cx.policy, &imported.recording.url));
                source = Some((path, imported.unchanged()));
                (imported.recording, None)
            }
            Source::Live { by_hand: true, .. } if is_first => {
                return Err(Error::new(
                    Code::Usage,
                    "no recording by hand fits this task, and commis does not open a window by itself",
                )
                .hint("`commis recipe learn --manual URL … --force` opens a window to record it"));
            }
            Source::Live { url, steps, by_hand } => {
                let found = if *by_hand { manual::steps(&*self.recording()?)? } else { Vec::new() };
                let steps = if *by_hand { &found } else { steps };
                let plan = plan(self.task, url, steps, example, self.cx)?;
                self.cx.pacer.wait(&plan.url).await;
                let mut context = self.cx.browser.context().await?;
                if self.task.reads_only {
                    context.hold(only_reads());
                }
                let login = self.logins()?.get(login).cloned();
                logins::mount(login.as_ref(), &context).await?;
                // For the second example, a stranger's proof or the next task.
                let ahead = || drop(self.cx.browser.prepare());
                let redact = &self.cx.settings.redact;
                let driven =
                    drive(&mut context, (&plan, example), redact, &mut |_| (), ahead).await;
                self.cx.pacer.record_end(&plan.url).await;
                let mut driven = driven.map_err(|it| it.keep(self.folder))?;
                own_address::fetch_page_address(&context, &mut driven).await;
                downloaded_file::fetch_download(&context, &mut driven).await;
                logins::absorb(login.as_ref(), &context).await?;
                self.keep_memory_token(&mut driven, login.as_ref()).await?;
                (driven, Some(context))
            }
        };
        if source.is_some() {
            raw.secrets = self.task.secrets.values()?;
            // A HAR does not say what its pages stored; a login of the same account does.
            if let Some(it) = self.logins()?.first() {
                raw.page.stored.extend(logins::stored_of(it, &raw.url));
            }
            if renders_har(&self.cx.settings) {
                page_of_har::render(&self.cx.browser, &mut raw).await?;
            }
        }
        if is_first && raw.final_answer.is_none() {
            raw.final_answer.clone_from(&self.task.answer);
        }
        let account = (!self.logins()?.is_empty()).then(|| AccountIds::new(&raw));
        let mut redacted = redact(raw, &self.cx.settings.redact);
        if let Some(it) = account {
            it.trace(&mut redacted.recording.exchanges);
        }
        redacted.recording.login_site = self.login_site(&redacted.recording)?;
        tokio::task::yield_now().await;
        if let Some((path, unchanged)) = source
            && !unchanged.is_unchanged()
        {
            return Err(har::changed(path));
        }
        if is_first {
            self.session = Some(LiveSession { context, values: redacted.live });
        }
        Ok(redacted.recording)
    }

    fn task_replayer<'b>(
        &mut self,
        recording: &'b SessionRecording,
        spec: &StageSpec,
        settings: &str,
    ) -> Result<TaskReplayer<'b>>
    where
        Self: 'b,
    {
        let cx: &'b LearnContext = self.cx;
        let mut replayer = TaskReplayer::new(
            &cx.http,
            &cx.policy,
            &cx.browser,
            &cx.settings.learning,
            self.folder,
            recording.url.clone(),
            self.task.timeout,
        );
        replayer.session = self.session.take();
        replayer.logins = self.logins()?;
        replayer.own = self.task.own_host(&cx.policy, &recording.url);
        replayer.stub = cx.settings.egress.no_network.then_some(recording);
        replayer.begin(run_key(spec, settings, &self.inputs(spec)))?;
        Ok(replayer)
    }

    fn inputs(&self, spec: &StageSpec) -> BTreeMap<String, String> {
        let known = |kind: &Kind| Some((kind.as_str().to_owned(), self.hashes.get(kind)?.clone()));
        spec.reads.iter().filter_map(known).collect()
    }

    fn store_payload<A: Artifact>(
        &mut self,
        spec: &StageSpec,
        settings_sha256: String,
        payload: &A,
    ) -> Result<()> {
        debug_assert_eq!(A::KIND, spec.writes, "undeclared write");
        let source_url = match &self.task.source {
            Source::Live { url, .. } => commis_redact::message(url),
            Source::Har { .. } => String::new(),
        };
        let stamp = Stamp {
            source_url,
            stage: spec.stage.as_str().into(),
            stage_version: spec.version,
            inputs: self.inputs(spec),
            settings_sha256,
        };
        let (hash, payload) = self.folder.put(payload, stamp)?;
        self.hashes.insert(spec.writes, hash.clone());
        // Recordings are large, and kept as what they are.
        if !spec.stage.is_record() {
            self.written.insert(spec.writes, (hash, payload));
        }
        Ok(())
    }

    fn get<A: Artifact>(&self) -> Result<A> {
        match self.written.get(&A::KIND) {
            Some((hash, it)) if self.hashes.get(&A::KIND) == Some(hash) => {
                serde_json::from_value(it.clone())
                    .map_err(|err| Error::new(Code::Internal, A::KIND.as_str()).source(err))
            }
            _ => self.folder.get(),
        }
    }

    /// Read again when another one is current.
    fn recording(&mut self) -> Result<Arc<SessionRecording>> {
        let current = self.hashes.get(&Kind::SessionRecording);
        if let Some((hash, it)) = &self.recording
            && current == Some(hash)
        {
            return Ok(it.clone());
        }
        let read: Arc<SessionRecording> = Arc::new(self.get()?);
        self.recording = current.map(|hash| (hash.clone(), read.clone()));
        Ok(read)
    }

    /// The product of a stage that may reject; a rejection has stopped the run before anybody asks.
    fn load_product<T>(&self) -> Result<T>
    where
        Judged<T>: Artifact,
    {
        match self.get::<Judged<T>>()? {
            Judged::Done(it) => Ok(it),
            Judged::Rejected(it) => Err(Error::new(
                Code::Internal,
                format!("a rejected artifact was read: {}", it.detail),
            )),
        }
    }

    fn rejected(&self, kind: Kind) -> Result<Option<Reject>> {
        Ok(match kind {
            Kind::CandidateSet => reject(self.get::<Judged<CandidateSet>>()?),
            Kind::RecipeAnalysis => reject(self.get::<Judged<RecipeAnalysis>>()?),
            Kind::RecipeDraft => reject(self.get::<Judged<RecipeDraft>>()?),
            Kind::RecipeDraftMinimized => reject(self.get::<Judged<RecipeDraftMinimized>>()?),
            _ => None,
        })
    }
}

/// What a line of the replay journal belongs to: one question to one stage.
pub fn run_key(
    spec: &StageSpec,
    settings_sha256: &str,
    inputs: &BTreeMap<String, String>,
) -> String {
    json_sha256(&(spec.stage, spec.version, settings_sha256, inputs))
}

fn reject<T>(it: Judged<T>) -> Option<Reject> {
    match it {
        Judged::Done(_) => None,
        Judged::Rejected(it) => Some(it),
    }
}

/// A HAR that was handed over to the daemon, where it is needed once more.
fn missing_content_error() -> Error {
    Error::new(
        Code::Usage,
        "the HAR file of this task was uploaded, and only its redacted recording was kept",
    )
    .hint("upload the file again")
}
