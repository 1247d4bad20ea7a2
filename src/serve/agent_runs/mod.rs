//! Tasks that are done: by a recipe where one is meant, else by a model at a page, which a recipe is then learned from.

mod drivers;
mod human_prompts;
mod local_driver;
mod prompts;
mod read_only_driver;
pub mod request;
pub mod research;
mod run_recorder;
mod suspended;
mod suspended_runs;

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use self::{
    drivers::RunDriver,
    human_prompts::TaskPrompter,
    request::{Backend, TaskRequest},
    suspended::SuspendedRun,
    suspended_runs::suspend,
};
pub use self::{
    prompts::OpenPrompts,
    run_recorder::{PlaybookStatus, standings},
    suspended::SuspendedRuns,
    suspended_runs::{approve, drop_gone_runs, owner_filter, reject},
};
use super::{
    answer::{ApiError, Meta},
    channels::dashboard,
    operation::{OperationContext, stopped},
    operations::{LearnRequest, start_learning, trail},
    principal::{AccessRequirement, AccessRight, Area},
};
use commis_agent::{
    AgentRun, Goal, HumanInput, Limits, NoHumanInput, PausedRequest, RenderOutcome, RunContext,
    RunEvent, RunOutcome, TaskPolicy, Usage, parameters,
    playbook::{self, Playbook},
    render,
    runs::PlaybookRef,
};
use commis_base::{
    error::{Code, Error, Result},
    files::{self, Dir},
    ids::{self, RecipeName},
    settings::{Home, ModelSettings},
};
use commis_model::{ChatModel, Client};
use commis_net::egress::site_of;

type OperationOutput<T> = std::result::Result<(T, Meta), Box<ApiError>>;

/// A run with the model takes no longer.
const MOST: Duration = Duration::from_secs(30 * 60);

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Done, and seen to be done.
    Done,
    NotDone,
    /// The first action, or the request that would be sent, is told; nothing was done.
    DryRun,
    WaitingForApproval,
    /// A person has to do something in the page, or to answer something.
    NeedsPerson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AnswerMethod {
    Recipe,
    Model,
}

/// What a task came to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TaskResult {
    pub status: Status,
    pub by: AnswerMethod,
    /// The recipe that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// What was asked for.
    pub data: Value,
    /// `completed`, `gave_up`, `human_rejected`, `max_turns_exceeded`, `llm_no_action`, `llm_error`, `mcp_error`,
    /// `verification_failed`, `budget_exceeded`, `loop_detected`, `canary_seen`, `dry_run`, `waiting_for_approval`, `needs_person`.
    pub reason: String,
    /// More about that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// How it was chosen who answers.
    pub trace: Vec<String>,
    /// What the model did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRunReport>,
    /// What the recipe saved: what the model took when it did this the first time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saved: Option<Savings>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct ModelRunReport {
    /// By which the run is known: its transcript is `runs/ID.ndjson`.
    pub run: String,
    /// `provider/name`.
    pub name: String,
    #[serde(flatten)]
    pub usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    pub ms: u64,
    /// The page's address in the end.
    pub url: String,
    /// What was done, a line an action.
    pub steps: Vec<String>,
    /// Requests that were held back, as they would be sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<String>,
    /// Approvals that they wait for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<String>,
    /// The task that learns a recipe from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learns: Option<String>,
    /// Why no recipe is learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_learned: Option<String>,
    /// How its playbook stands by its last runs, this one among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub playbook: Option<PlaybookStatus>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Savings {
    pub turns: u32,
    pub tokens: u64,
    pub ms: u64,
}

/// What is known before the first action.
struct RunPlan {
    run: String,
    goal: Goal,
    limits: Limits,
    task_policy: TaskPolicy,
    client: Client,
    prices: Option<(f64, f64)>,
    playbook: Option<PlaybookRef>,
}

/// What is wanted with its playbook and its values, checked.
fn plan(cx: &OperationContext, it: &TaskRequest) -> Result<RunPlan> {
    let home = &cx.daemon.home;
    let params: BTreeMap<String, String> = it.params.clone().into();
    let playbook = it.playbook.as_deref().map(|name| playbook::load(home, name)).transpose()?;
    let known =
        playbook.as_ref().map(|it| PlaybookRef { name: it.name.to_string(), digest: it.digest() });
    let playbook = playbook.map(|it| it.with_values(&params)).transpose()?.map(Arc::new);
    let url = it.url.clone().or_else(|| playbook.as_ref().map(|it| it.url.clone()));
    let url = url.ok_or_else(|| {
        Error::new(Code::ParamInvalid, "the task has no start page").hint("give a `url`")
    })?;
    let sentence = fill_sentence(&it.task, &params);
    let said: Vec<&str> = params.values().map(String::as_str).chain([sentence.as_str()]).collect();
    let task_policy = TaskPolicy::new(&url, &it.hosts, playbook.clone(), &said)?;
    let settings = model(cx, it)?;
    let client = client(&settings, "no model is configured, and no recipe matches")?;
    let prices = prices(&settings);
    let cost = match (it.max_cost, prices) {
        (Some(most), Some((per_in, per_out))) => Some((per_in, per_out, most)),
        (Some(_), None) => return Err(no_prices()),
        _ => None,
    };
    let limits = Limits {
        turns: it.max_turns.clamp(1, 100),
        tokens: it.max_tokens,
        cost,
        first_only: it.dry_run,
        no_checkpoints: it.no_checkpoint,
        agrees: it.allow_submit,
    };
    let goal = Goal { text: goal(&sentence, &params, playbook.as_deref()), url, playbook };
    Ok(RunPlan { run: run_id()?, goal, limits, task_policy, client, prices, playbook: known })
}

/// The settings of the model that is to do it. Fails with `SETTINGS_INVALID`.
pub fn model(cx: &OperationContext, it: &TaskRequest) -> Result<ModelSettings> {
    let mut settings = cx.daemon.runtime().settings.model.clone();
    if let Some(name) = &it.model {
        settings.choose(name)?;
    }
    Ok(settings)
}

/// That model; `None` where none is configured. Fails with what a missing key fails with.
pub fn configured(settings: &ModelSettings) -> Result<Option<Client>> {
    Client::new(settings).map_err(|err| {
        err.or_hint(
            "the daemon has the environment that it was started with: `commis daemon restart`",
        )
    })
}

/// Fails with what the model's settings fail with, and with `SETTINGS_INVALID` and these words where there are none.
fn client(settings: &ModelSettings, without: &str) -> Result<Client> {
    configured(settings)?.ok_or_else(|| {
        Error::new(Code::SettingsInvalid, without)
            .hint("set `provider` and `name` under [model], or give a model")
    })
}

/// Of a token, in and out.
fn prices(settings: &ModelSettings) -> Option<(f64, f64)> {
    let prices = settings.price_in_per_mtok.zip(settings.price_out_per_mtok);
    prices.map(|it| (it.0 / 1e6, it.1 / 1e6))
}

fn no_prices() -> Error {
    Error::new(Code::ParamInvalid, "a limit on cost needs prices")
        .hint("set `price_in_per_mtok` and `price_out_per_mtok` under [model]")
}

fn run_id() -> Result<String> {
    Ok(format!("r{}", ids::random_token()?.get(..12).unwrap_or_default().to_ascii_lowercase()))
}

/// A sentence with its values.
pub fn fill_sentence(sentence: &str, params: &BTreeMap<String, String>) -> String {
    let mut out = sentence.to_owned();
    for (name, value) in params {
        out = out.replace(&format!("{{{name}}}"), value);
    }
    out
}

fn goal(sentence: &str, params: &BTreeMap<String, String>, playbook: Option<&Playbook>) -> String {
    let mut out = vec![sentence.to_owned()];
    if let Some(it) = playbook {
        out.extend([it.goal.clone(), it.notes.clone()].into_iter().filter(|it| !it.is_empty()));
    }
    if !params.is_empty() {
        let all: Vec<String> = params.iter().map(|it| format!("{} = {:?}", it.0, it.1)).collect();
        out.push(format!("Values: {}", all.join(", ")));
    }
    out.join("\n")
}

/// Does it with a model, and has a recipe learned from it.
pub async fn by_model(
    cx: &OperationContext,
    it: TaskRequest,
    trace: Vec<String>,
) -> OperationOutput<TaskResult> {
    let principal = &cx.principal;
    principal.must(AccessRequirement::May(Area::Browse, AccessRight::Write), None)?;
    let plan = plan(cx, &it)?;
    let login = drivers::login(cx, &it, &plan.task_policy)?;
    let journal = run_recorder::begin_journal(cx, &it, &plan);
    let RunPlan { run, goal, limits, task_policy, client, prices, .. } = plan;
    let context = format!("do-{run}");
    let folder = cx.daemon.home.runs.clone();
    let judge = task_policy.judge();
    let agent_run = AgentRun::new(goal, limits, task_policy, ids::random_token()?);
    let mut driver = match it.backend {
        Backend::Commis => RunDriver::local(cx, &context, judge, folder),
        Backend::PlaywrightMcp => RunDriver::playwright(cx, &context, judge, folder)
            .await
            .inspect_err(|err| journal.fail(err))?,
    };
    if let Some(it) = &login {
        driver.log_in(it).await.inspect_err(|err| journal.fail(err))?;
    }
    let inner = SuspendedRun {
        agent_run,
        wanted: it,
        principal: principal.clone(),
        run,
        context,
        waits: Vec::new(),
        client: Arc::new(client),
        prices,
        journal,
        ms: 0,
        sent: 0,
        external_browser: None,
    };
    went_on(cx, driver, inner, None, trace).await
}

/// The same after a request of it was let go: `told` says what became of it, and `more` is what waits since.
pub async fn goes_on(
    cx: &OperationContext,
    driver: RunDriver,
    mut inner: SuspendedRun,
    told: &str,
    more: Vec<PausedRequest>,
) -> OperationOutput<TaskResult> {
    inner.journal.goes_on(&json!({"kind": "approved", "text": told}));
    inner.sent += 1;
    let trace = vec!["APPROVED".to_owned()];
    if !more.is_empty() {
        return conclude(cx, driver, inner, RunOutcome::Held(more), trace).await;
    }
    went_on(cx, driver, inner, Some(told), trace).await
}

/// The loop, from its beginning or from where it waited, to where it ends or waits.
async fn went_on(
    cx: &OperationContext,
    mut driver: RunDriver,
    mut inner: SuspendedRun,
    after: Option<&str>,
    trace: Vec<String>,
) -> OperationOutput<TaskResult> {
    let human_input: Box<dyn HumanInput> = match &cx.job {
        Some(job) if inner.wanted.interactive => {
            Box::new(TaskPrompter::new(&cx.daemon, job.id.clone()))
        }
        _ => Box::new(NoHumanInput),
    };
    let begun = Instant::now();
    let events = told_to(cx);
    let end = {
        let SuspendedRun { agent_run, journal, client, .. } = &mut inner;
        let mut tell = |note: RunEvent| {
            journal.note(&note);
            events(&note);
        };
        let client = Arc::clone(client);
        let parts = RunContext {
            chat_model: &*client,
            driver: &mut driver,
            human_input: &*human_input,
            tell: &mut tell,
        };
        let work = async {
            match after {
                None => agent_run.begin(parts).await,
                Some(told) => agent_run.resume(told, parts).await,
            }
        };
        tokio::select! {
            it = tokio::time::timeout(MOST, work) => it.unwrap_or_else(|_| {
                Ok(RunOutcome::Stopped { reason: "budget_exceeded", detail: "it took half an hour".to_owned() })
            }),
            err = stopped(cx) => Err(err),
            it = run_recorder::beats(journal) => it,
        }
    };
    inner.ms += begun.elapsed().as_millis() as u64;
    let end = match end {
        Err(err) if err.code() == Code::McpFailed => {
            Ok(RunOutcome::Stopped { reason: "mcp_error", detail: err.to_string() })
        }
        it => it,
    };
    let end = end.inspect_err(|err| inner.journal.fail(err))?;
    conclude(cx, driver, inner, end, trace).await
}

/// What an end comes to: a recipe is learned, a request waits, or the page goes.
async fn conclude(
    cx: &OperationContext,
    driver: RunDriver,
    inner: SuspendedRun,
    end: RunOutcome,
    trace: Vec<String>,
) -> OperationOutput<TaskResult> {
    let usage = inner.agent_run.usage();
    let prices = inner.prices;
    let mut told = ModelRunReport {
        run: inner.run.clone(),
        name: inner.client.name().to_owned(),
        usage,
        cost: prices.map(|it| usage.tokens_in as f64 * it.0 + usage.tokens_out as f64 * it.1),
        ms: inner.ms,
        url: inner.agent_run.page().url.clone(),
        steps: inner.agent_run.log().to_vec(),
        held: Vec::new(),
        approvals: Vec::new(),
        learns: None,
        not_learned: None,
        playbook: None,
    };
    let mut ended = OutcomeSummary::from_outcome(end);
    let show = |it: &PausedRequest| match render(it, Some(inner.agent_run.task_policy().origins()))
    {
        RenderOutcome::Whole(shown) => shown.text(),
        RenderOutcome::TooLarge(what) | RenderOutcome::Opaque(what) => {
            format!("{} {} (it cannot be shown whole: {what})", it.method, it.url)
        }
    };
    told.held = ended.held.iter().map(show).collect();
    let journal = inner.journal.clone();
    if !ended.held.is_empty() && inner.wanted.allow_submit {
        let held = std::mem::take(&mut ended.held);
        let is_first = inner.sent == 0;
        journal.waits();
        let (waiting, unfit) =
            suspend(&cx.daemon, driver, inner, held).await.inspect_err(|err| journal.fail(err))?;
        told.approvals = waiting.into_iter().map(|it| it.id).collect();
        let place = (!told.approvals.is_empty()).then(|| {
            format!("a person decides at {} or with `commis approve`", dashboard(&cx.daemon))
        });
        ended.detail = Some(unfit.into_iter().chain(place).collect::<Vec<_>>().join("; "));
        ended.detail = ended.detail.filter(|it| !it.is_empty());
        if !told.approvals.is_empty() {
            (ended.status, ended.reason) =
                (Status::WaitingForApproval, "waiting_for_approval".to_owned());
        } else if !is_first {
            // Something was sent: this is no dry run.
            (ended.status, ended.reason) = (Status::NeedsPerson, "needs_person".to_owned());
        }
        told.playbook = run_recorder::ends(cx, &journal, &ended, &told);
    } else {
        told.playbook = run_recorder::ends(cx, &journal, &ended, &told);
        if ended.status == Status::Done && !inner.wanted.no_learn {
            // What changed something is not done again by a recipe.
            let learned = if inner.sent > 0 {
                Err("it changed something".to_owned())
            } else if inner.agent_run.task_policy().is_told_apart() {
                Err("a value was typed that you did not give, and there is another site that it could go to".to_owned())
            } else if inner.wanted.backend == Backend::PlaywrightMcp {
                Err("what is done with Playwright MCP is not recorded".to_owned())
            } else {
                let other = ended.other.filter(|it| may_be_typed(&inner.agent_run, it));
                let failed = trace.iter().find_map(|it| it.strip_prefix(RECIPE_FAILED));
                let failed = failed.and_then(|it| it.split(':').next());
                let lead = LearnHints { other, answer: ended.answer.as_ref(), failed };
                learn(cx, &inner.wanted, &inner.context, lead).await
            };
            match learned {
                Ok((task, recipe)) => {
                    keep_receipt(&cx.daemon.home, recipe.as_str(), usage, inner.ms);
                    told.learns = Some(task);
                }
                Err(why) => told.not_learned = Some(why),
            }
        }
        drop(driver);
    }
    let ran = TaskResult {
        status: ended.status,
        by: AnswerMethod::Model,
        recipe: None,
        data: ended.answer.unwrap_or_default(),
        reason: ended.reason,
        detail: ended.detail,
        trace,
        model: Some(told),
        saved: None,
    };
    Ok((ran, Meta::default()))
}

/// A receipt is a small file.
const RECEIPT: usize = 4096;

fn receipt(recipe: &str) -> String {
    format!("receipt-{recipe}.json")
}

/// What a run of that recipe, which took so long, saved beside the model that did it first; `None` where no model did.
pub fn saved(home: &Home, recipe: &str, ms: u64) -> Option<Savings> {
    let folder = Dir::open(&home.runs, false).ok()??;
    let bytes = folder.read(&receipt(recipe), RECEIPT).ok()??;
    let it: Savings = serde_json::from_slice(&bytes).ok()?;
    Some(Savings { ms: it.ms.saturating_sub(ms), ..it })
}

/// Keeps what it took, for later. Where that cannot be written, nobody is told what was saved.
fn keep_receipt(home: &Home, recipe: &str, usage: Usage, ms: u64) {
    let it = Savings { turns: usage.turns, tokens: usage.tokens_in + usage.tokens_out, ms };
    let bytes = serde_json::to_vec(&it).unwrap_or_default();
    let kept = files::open_or_create(&home.runs)
        .and_then(|dir| dir.write_unsynced(&receipt(recipe), &bytes));
    if let Err(err) = kept {
        tracing::error!(error = %err, "what a run took was not written down");
    }
}

/// How a loop's end is told.
struct OutcomeSummary {
    status: Status,
    reason: String,
    detail: Option<String>,
    answer: Option<Value>,
    other: Option<Value>,
    held: Vec<PausedRequest>,
}

impl OutcomeSummary {
    fn from_outcome(end: RunOutcome) -> Self {
        let (status, reason, detail) = match &end {
            RunOutcome::Done { .. } => (Status::Done, "completed", None),
            RunOutcome::GaveUp(why) => (Status::NotDone, "gave_up", Some(why.clone())),
            RunOutcome::Held(_) => {
                (Status::DryRun, "dry_run", Some("a request would be sent".to_owned()))
            }
            RunOutcome::Wall(what) | RunOutcome::Nobody(what) => {
                (Status::NeedsPerson, "needs_person", Some(what.clone()))
            }
            RunOutcome::Rejected => (Status::NotDone, "human_rejected", None),
            RunOutcome::First(act) => {
                (Status::DryRun, "dry_run", Some(format!("would {} first", act.describe())))
            }
            RunOutcome::Stopped { reason, detail } => {
                (Status::NotDone, *reason, Some(detail.clone()))
            }
        };
        let (mut answer, mut other, mut held) = (None, None, Vec::new());
        match end {
            RunOutcome::Done { answer: a, other: o } => (answer, other) = (a, o),
            RunOutcome::Held(it) => held = it,
            _ => {}
        }
        Self { status, reason: reason.to_owned(), detail, answer, other, held }
    }
}

/// Whoever follows the task is told; that never fails a run.
fn told_to(cx: &OperationContext) -> Box<dyn Fn(&RunEvent) + Send + Sync> {
    let tell = event_sender(cx);
    Box::new(move |note| tell(serde_json::to_value(note).unwrap_or_default()))
}

/// The same of anything that has a `kind`.
fn event_sender(cx: &OperationContext) -> Box<dyn Fn(Value) + Send + Sync> {
    let daemon = Arc::clone(&cx.daemon);
    let Some(id) = cx.job.as_ref().map(|it| it.id.clone()) else { return Box::new(|_| {}) };
    let (send, mut take) = tokio::sync::mpsc::unbounded_channel::<Value>();
    tokio::spawn(async move {
        while let Some(data) = take.recv().await {
            let stage = data["kind"].as_str().unwrap_or_default().to_owned();
            if let Err(err) = daemon.database.stage(&id, &stage, data).await {
                tracing::error!(error = %err, "an event was not written down");
            }
        }
    });
    Box::new(move |it| _ = send.send(it))
}

/// Whether other values for the parameters may be typed where the task begins: a model says them.
fn may_be_typed(agent_run: &AgentRun, other: &Value) -> bool {
    let origins = agent_run.task_policy().origins();
    let allowed = |it: &Value| {
        it.as_str().is_some_and(|it| origins.check_destination(it, agent_run.url()).is_ok())
    };
    agent_run.task_policy().sites().count() == 1
        && other.as_object().is_some_and(|all| all.values().all(allowed))
}

/// What a run's end says for learning.
struct LearnHints<'a> {
    /// Other values for the parameters.
    other: Option<Value>,
    answer: Option<&'a Value>,
    /// The recipe that was meant and failed.
    failed: Option<&'a str>,
}

/// In the trace, before a recipe's name.
pub const RECIPE_FAILED: &str = "RECIPE_FAILED:";

/// Characters of an answer that lead to the request which carried it.
const LEAD: usize = 4000;

/// The texts and numbers of an answer, a line each.
fn told_answer(it: &Value) -> String {
    match it {
        Value::Array(all) => all.iter().map(told_answer).collect::<Vec<_>>().join("\n"),
        Value::Object(all) => all.values().map(told_answer).collect::<Vec<_>>().join("\n"),
        Value::String(it) => it.clone(),
        Value::Number(it) => it.to_string(),
        Value::Null | Value::Bool(_) => String::new(),
    }
}

/// Has a recipe learned from what was done on that page. The task that learns, and the recipe's name; or why none does.
async fn learn(
    cx: &OperationContext,
    it: &TaskRequest,
    context: &str,
    lead: LearnHints<'_>,
) -> std::result::Result<(String, RecipeName), String> {
    let told = |err: Error| err.to_string();
    cx.principal
        .must(AccessRequirement::May(Area::Learn, AccessRight::Write), None)
        .map_err(told)?;
    let trail = trail(cx, context).await.map_err(told)?;
    let mut params: BTreeMap<String, String> = it.params.clone().into();
    let mut task = it.task.clone();
    if params.is_empty()
        && let Some((template, values)) = parameters(&task, &trail.steps)
    {
        (task, params) = (template, values);
    }
    let mut second: BTreeMap<String, String> = it.second.clone().into();
    if second.is_empty()
        && let Some(other) = lead.other.as_ref().and_then(Value::as_object)
    {
        let text = |name: &String| other.get(name).and_then(Value::as_str).map(str::to_owned);
        // The model may know a parameter that came out of the sentence by another name.
        let only = (params.len() == 1 && other.len() == 1).then(|| other.values().next());
        let only = only.flatten().and_then(Value::as_str).map(str::to_owned);
        second = params
            .keys()
            .filter_map(|name| Some((name.clone(), text(name).or_else(|| only.clone())?)))
            .collect();
    }
    if second.len() != params.len() || second.iter().any(|(name, it)| params.get(name) == Some(it))
    {
        second.clear();
    }
    let mut name = RecipeName::slug(&task);
    let all = cx.daemon.recipes.all().map_err(told)?;
    let held = |name: &RecipeName| all.iter().find(|it| it.recipe.name == *name);
    let site = site_of(trail.url.as_deref().unwrap_or_default());
    // A common sentence is of many sites.
    let is_others = held(&name).is_some_and(|it| site_of(&it.recipe.source_url) != site);
    if is_others || !cx.daemon.suspended_runs.names(&name, &site) {
        name = RecipeName::slug(&format!("{site} {task}"));
    }
    if held(&name).is_some_and(|it| it.is_served()) && lead.failed != Some(name.as_str()) {
        return Err(format!("{name} stands, and does this"));
    }
    let wanted = LearnRequest {
        task,
        name: Some(name.to_string()),
        // What was recorded of it before is of another time.
        force: true,
        params: params.into(),
        second: second.into(),
        reads_only: true,
        answer: lead
            .answer
            .map(|it| told_answer(it).chars().take(LEAD).collect::<String>())
            .filter(|it| !it.trim().is_empty()),
        second_login: None,
    };
    match start_learning(cx.clone(), trail, wanted).await {
        Ok((task, _)) => Ok((task.task_id, name)),
        Err(it) => Err(it.message.clone()),
    }
}
