//! Research at work: the questions side by side, each by a recipe or in a page of its own, and then the report.
//!
//! All that was done is on the shelf before it counts, so whoever resumes does the rest. What ends it (time, money, a person) ends what
//! is at work, whose pages close; a question that was cut off is as one that was never begun.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::{FutureExt as _, StreamExt as _, future::BoxFuture, stream};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    OperationOutput, event_sender,
    read_only_driver::{ReadOnlyDriver, VisitedPage},
    run_id,
};
use crate::{
    answer::{ApiError, Meta},
    mcp::find::scored,
    operations::{MatchedRecipe, OperationContext, RecipeQuery, match_recipe, run_usual, stopped},
    principal::{AccessRequirement, AccessRight, Area},
};
use commis_agent::{
    AgentRun, Goal, Limits, NoHumanInput, RunContext, RunEvent, RunOutcome, TaskPolicy, Transcript,
    research::{
        self as pure, AnswerMethod, Budget, BudgetTracker, MeteredModel, Offer, Question,
        QuestionResult, QuestionStatus, ResearchReport, ResearchRequest, ResearchStatus,
        ResearchStore, SENTENCE, Source, SourceDocument, StoredReport, line, sanitize, title,
    },
};
use commis_artifacts::store::now;
use commis_base::{
    error::{Class, Code, Error, Result},
    ids,
};
use commis_learn::render;
use commis_model::{ChatModel, Client};
use commis_net::egress::site_of;
use commis_state::now_ms;

/// Questions at once.
const AT_ONCE: usize = 3;
/// Sources of one question.
const SOURCES: usize = 4;
/// Recipes that the plan is told of.
const OFFERS: usize = 12;
/// Of the time a quarter is the report's, a minute at most.
const FOR_REPORT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ResearchArgs {
    /// What it is about, in a sentence.
    #[serde(default)]
    pub topic: Option<String>,
    /// Instead: research that was begun, by its id. Only what is not done is done.
    #[serde(default)]
    #[schemars(regex(pattern = "^s[a-f0-9]{12}$"))]
    pub resume: Option<String>,
    /// The questions; without any a model makes them of the topic.
    #[serde(default)]
    pub questions: Vec<String>,
    /// Questions of the model's, at most.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 20))]
    pub max_searches: u32,
    /// Where browsing begins. Without any only recipes answer.
    #[serde(default)]
    pub urls: Vec<String>,
    /// Other hosts where pages may be opened.
    #[serde(default)]
    pub hosts: Vec<String>,
    /// `provider/name`, or a name that begins with `claude-`, `gpt-` or `gemini-`; else that of the settings.
    pub model: Option<String>,
    /// Calls of the model for one question that is browsed for.
    #[serde(default = "twelve")]
    #[schemars(range(min = 1, max = 50))]
    pub max_turns: u32,
    /// Minutes of this run, at most.
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 60))]
    pub max_minutes: u32,
    /// Calls of the model, at most; like the next two over all runs of this research.
    #[serde(default = "sixty")]
    #[schemars(range(min = 1, max = 500))]
    pub max_calls: u32,
    /// Tokens, in and out together, at most.
    pub max_tokens: Option<u64>,
    /// In the currency of the model's prices in the settings, at most.
    pub max_cost: Option<f64>,
}

fn five() -> u32 {
    5
}

fn twelve() -> u32 {
    12
}

fn sixty() -> u32 {
    60
}

/// What is wrong with what is asked for, as far as it says so itself. Fails with `PARAM_INVALID`, `URL_INVALID`.
pub fn check(it: &ResearchArgs) -> Result<()> {
    let invalid = |what: &str| Err(Error::new(Code::ParamInvalid, what.to_owned()));
    for (name, value, most) in [
        ("max_searches", it.max_searches, 20),
        ("max_turns", it.max_turns, 50),
        ("max_minutes", it.max_minutes, 60),
        ("max_calls", it.max_calls, 500),
    ] {
        if !(1..=most).contains(&value) {
            return invalid(&format!("`{name}` is from 1 to {most}"));
        }
    }
    if it.resume.is_some() {
        let is_new = it.topic.is_some()
            || !(it.questions.is_empty() && it.urls.is_empty() && it.hosts.is_empty());
        return if is_new {
            invalid(
                "`resume` continues with the stored topic, so leave out `topic`, `questions`, `urls` and `hosts`",
            )
        } else {
            Ok(())
        };
    }
    let topic = line(it.topic.as_deref().unwrap_or_default(), SENTENCE + 1);
    if topic.is_empty() || topic.chars().count() > SENTENCE {
        return invalid(&format!("`topic` has 1 to {SENTENCE} characters"));
    }
    if it.questions.len() > 20 || it.urls.len() > 10 || it.hosts.len() > 20 {
        return invalid("at most 20 questions, 10 urls and 20 hosts");
    }
    let long = |it: &String| line(it, SENTENCE + 1).chars().count() > SENTENCE;
    if it.questions.iter().any(|it| line(it, 1).is_empty() || long(it)) {
        return invalid(&format!("a question has 1 to {SENTENCE} characters"));
    }
    match it.urls.first() {
        Some(url) => it.urls.iter().try_for_each(|it| task_policy(it, url, &[], &[]).map(drop)),
        None if it.hosts.is_empty() => Ok(()),
        None => invalid("`hosts` needs `urls`: it names further hosts beside those of `urls`"),
    }?;
    it.urls.first().map_or(Ok(()), |url| task_policy(url, url, &it.hosts, &[]).map(drop))
}

/// What one question may do at most.
fn task_policy(url: &str, first: &str, hosts: &[String], said: &[&str]) -> Result<TaskPolicy> {
    let all: Vec<&str> = said.iter().copied().chain([first]).collect();
    TaskPolicy::new(url, hosts, None, &all)
}

/// What all questions share.
struct ResearchRun<'a> {
    cx: &'a OperationContext,
    store: Arc<ResearchStore>,
    wish: ResearchRequest,
    client: Client,
    budget_tracker: BudgetTracker,
    tell: Box<dyn Fn(Value) + Send + Sync>,
    /// When what is asked must have an answer.
    until: Instant,
}

/// Begins it, or goes on with it, to its end. Fails with `FORBIDDEN`, `PARAM_INVALID`, `URL_INVALID`, `SETTINGS_INVALID`,
/// `MODEL_KEY_MISSING`, `TASK_NOT_FOUND`, `TASK_BUSY`, `ARTIFACT_IO`, `CANCELLED`; with `MODEL_FAILED` where there is no plan.
pub async fn research(cx: &OperationContext, it: ResearchArgs) -> OperationOutput<ResearchReport> {
    cx.principal.must(AccessRequirement::May(Area::Browse, AccessRight::Write), None)?;
    check(&it)?;
    let begun = Instant::now();
    let folder = cx.daemon.home.research.clone();
    let resumed = match &it.resume {
        Some(id) => Some(ResearchStore::resume(&folder, id, super::owner_filter(&cx.principal))?),
        None => None,
    };
    let wish = match &resumed {
        Some((_, wish)) => wish.clone(),
        None => to_request(&cx.principal.id, &it),
    };
    let mut settings = cx.daemon.runtime().settings.model.clone();
    if let Some(name) = it.model.as_ref().or(wish.model.as_ref()) {
        settings.choose(name)?;
    }
    let client = super::client(&settings, "no model is configured")?;
    let prices = super::prices(&settings);
    if it.max_cost.is_some() && prices.is_none() {
        return Err(super::no_prices().into());
    }
    // Nothing is on disk for what cannot begin.
    let store = Arc::new(match resumed {
        Some((store, _)) => store,
        None => ResearchStore::begin(&folder, &wish)?,
    });
    let budget = Budget { calls: it.max_calls, tokens: it.max_tokens, cost: it.max_cost };
    let budget_tracker = BudgetTracker::new(budget, prices, Arc::clone(&store))?;
    let tell = event_sender(cx);
    tell(json!({"kind": "begin", "research": store.id, "topic": wish.topic}));
    let whole = Duration::from_secs(u64::from(it.max_minutes) * 60);
    let until = begun + whole.saturating_sub(FOR_REPORT.min(whole / 4));
    let at = ResearchRun { cx, store, wish, client, budget_tracker, tell, until };
    let work = async {
        let (found, reason) = at.questions().await?;
        at.report(found, reason, begun, begun + whole).await
    };
    let done = tokio::select! {
        it = work => it?,
        err = stopped(cx) => return Err(err.hint(format!("`commis research --resume {}` goes on", at.store.id)).into()),
    };
    Ok((done, Meta::default()))
}

fn to_request(principal: &str, it: &ResearchArgs) -> ResearchRequest {
    ResearchRequest {
        topic: line(it.topic.as_deref().unwrap_or_default(), SENTENCE),
        questions: it.questions.iter().map(|it| line(it, SENTENCE)).collect(),
        most: it.max_searches,
        urls: it.urls.clone(),
        hosts: it.hosts.clone(),
        model: it.model.clone(),
        turns: it.max_turns,
        who: principal.to_owned(),
    }
}

impl ResearchRun<'_> {
    fn metered_model(&self, is_question: bool) -> MeteredModel<'_> {
        MeteredModel { chat_model: &self.client, budget_tracker: &self.budget_tracker, is_question }
    }

    /// The plan, made once.
    async fn plan(&self) -> Result<Vec<Question>> {
        if let Some(it) = self.store.plan()? {
            return Ok(it);
        }
        let plan = if self.wish.questions.is_empty() {
            pure::plan(&self.metered_model(true), &self.wish, &self.offers()?).await?
        } else {
            let of = |text: &String| Question { text: text.clone(), ..Question::default() };
            self.wish.questions.iter().map(of).collect()
        };
        self.store.put_plan(&plan)?;
        Ok(plan)
    }

    /// Recipes that come near the topic.
    fn offers(&self) -> Result<Vec<Offer>> {
        let all = self.cx.daemon.recipes.all()?;
        let may = |name: &str| self.cx.principal.may(AccessRequirement::Run, Some(name));
        let mine: Vec<_> = all
            .iter()
            .filter(|it| it.is_served() && it.tool().reads_only && may(it.recipe.name.as_str()))
            .collect();
        let near = scored(&self.wish.topic, &mine);
        let of = |it: &(u32, &Arc<crate::recipe_cache::CachedRecipe>)| Offer {
            task: it.1.recipe.task.clone(),
            parameters: it.1.recipe.parameters.iter().map(|it| it.name.clone()).collect(),
        };
        Ok(near.iter().filter(|it| it.0 > 1).take(OFFERS).map(of).collect())
    }

    /// What every question came to, and why not all of them were looked into.
    async fn questions(&self) -> Result<(Vec<QuestionResult>, Option<String>)> {
        let plan = match tokio::time::timeout_at(self.until.into(), self.plan()).await {
            Ok(Ok(it)) => it,
            Ok(Err(err)) if err.code() == Code::Cancelled => {
                return Ok((Vec::new(), Some(err.to_string())));
            }
            Ok(Err(err)) => return Err(err),
            Err(_) => return Ok((Vec::new(), Some("the time is up".to_owned()))),
        };
        let texts: Vec<&str> = plan.iter().map(|it| it.text.as_str()).collect();
        (self.tell)(json!({"kind": "plan", "questions": texts}));
        let mut out = Vec::new();
        let mut rest = Vec::new();
        for (at, it) in plan.iter().enumerate() {
            match self.store.result(at + 1)?.filter(|it| it.status.is_done()) {
                Some(it) => out.push(it),
                None => rest.push((at + 1, it)),
            }
        }
        if !rest.is_empty() {
            self.store.forget_report()?;
        }
        // Boxed: the compiler cannot tell that a stream of what a closure makes may be sent.
        let all: Vec<BoxFuture<'_, Result<QuestionResult>>> =
            rest.into_iter().map(|(n, it)| self.question(n, it).boxed()).collect();
        let mut work = stream::iter(all).buffer_unordered(AT_ONCE);
        while let Some(it) = work.next().await {
            let it = it?;
            let ids: Vec<&str> = it.sources.iter().map(|it| it.id.as_str()).collect();
            (self.tell)(
                json!({"kind": "answered", "question": it.n, "status": it.status, "by": it.by,
                "recipe": it.recipe, "sources": ids, "why": it.why}),
            );
            out.push(it);
        }
        drop(work);
        out.sort_by_key(|it| it.n);
        let open = out.iter().find(|it| !it.status.is_done());
        let reason = open.map(|it| {
            let why = it.why.as_deref().unwrap_or_default();
            format!("question {} is open: {why}", it.n)
        });
        Ok((out, reason))
    }

    /// One question, kept when it was looked into.
    async fn question(&self, n: usize, it: &Question) -> Result<QuestionResult> {
        let begun = Instant::now();
        let out_of = || {
            let late = Instant::now() >= self.until;
            if late {
                Some("the time is up".to_owned())
            } else {
                self.budget_tracker.is_spent(true)
            }
        };
        if let Some(why) = out_of() {
            return Ok(QuestionResult::nothing(n, &it.text, QuestionStatus::NotDone, why));
        }
        (self.tell)(json!({"kind": "question", "question": n, "text": it.text}));
        let found = match tokio::time::timeout_at(self.until.into(), self.answer(n, it)).await {
            Ok(Ok(it)) => it,
            Ok(Err(err)) if err.code() == Code::Cancelled => {
                QuestionResult::nothing(n, &it.text, QuestionStatus::NotDone, err.to_string())
            }
            // What is wrong with this machine is wrong for the others, too, but what they found is theirs.
            Ok(Err(err)) if err.code() == Code::ArtifactIo || err.code().class() == Class::Bug => {
                return Err(err);
            }
            Ok(Err(err)) => {
                QuestionResult::nothing(n, &it.text, QuestionStatus::Failed, err.to_string())
            }
            Err(_) => {
                QuestionResult::nothing(n, &it.text, QuestionStatus::NotDone, "the time is up")
            }
        };
        let ms = begun.elapsed().as_millis() as u64;
        let why = found.why.map(|it| line(&commis_redact::message(&it), 600));
        let found = QuestionResult { why, ms, ..found };
        if found.status != QuestionStatus::NotDone {
            self.store.put_found(&found)?;
        }
        Ok(found)
    }

    /// By a recipe where one is clearly meant, else by browsing.
    async fn answer(&self, n: usize, it: &Question) -> Result<QuestionResult> {
        let can_look = !self.wish.urls.is_empty();
        let (text, params) = (it.text.as_str(), &it.params);
        let sought =
            RecipeQuery { task: text, params, url: None, can_look: true, reads_only: true };
        let (best, mut trace, _) = match_recipe(self.cx, &sought)?;
        if let Some(it) = best {
            match self.by_recipe(n, text, &it).await? {
                Ok(found) => return Ok(QuestionResult { trace, ..found }),
                // The site is another than it was: a model can still look.
                Err(err) if can_look && !err.retryable => {
                    trace
                        .push(format!("RECIPE_FAILED:{}:{}", it.known.recipe.name, err.error_code));
                }
                Err(err) => {
                    let recipe = Some(it.known.recipe.name.to_string());
                    let found =
                        QuestionResult::nothing(n, text, QuestionStatus::Failed, err.message);
                    return Ok(QuestionResult {
                        by: Some(AnswerMethod::Recipe),
                        recipe,
                        trace,
                        ..found
                    });
                }
            }
        }
        if !can_look {
            let why = "no recipe clearly matches, and no site to browse was given";
            return Ok(QuestionResult {
                trace,
                ..QuestionResult::nothing(n, text, QuestionStatus::NotFound, why)
            });
        }
        Ok(QuestionResult { trace, ..self.by_browsing(n, it).await? })
    }

    /// The inner error is the recipe's.
    async fn by_recipe(
        &self,
        n: usize,
        text: &str,
        it: &MatchedRecipe,
    ) -> Result<std::result::Result<QuestionResult, Box<ApiError>>> {
        let recipe = &it.known.recipe;
        let runtime = self.cx.daemon.runtime();
        let shown = match render(recipe, &it.params, runtime.policy(), &runtime.settings) {
            Ok(it) => it,
            Err(err) => return Ok(Err(err.into())),
        };
        let (data, _) = match run_usual(self.cx, &it.known, it.params.clone()).await {
            Ok(it) => it,
            Err(err) => return Ok(Err(err)),
        };
        let (by, name) = (Some(AnswerMethod::Recipe), Some(recipe.name.to_string()));
        if is_nothing(&data) {
            let found = QuestionResult::nothing(
                n,
                text,
                QuestionStatus::NotFound,
                "the recipe found nothing",
            );
            return Ok(Ok(QuestionResult { by, recipe: name, ..found }));
        }
        let fetched = sanitize(&serde_json::to_string_pretty(&data).unwrap_or_default());
        let title = title(&format!("recipe {}", recipe.name));
        let source = self.store.put_source(format!("{n}.1"), &shown.url, title, &fetched, now())?;
        let found = QuestionResult::nothing(n, text, QuestionStatus::Answered, "");
        Ok(Ok(QuestionResult { by, recipe: name, why: None, sources: vec![source], ..found }))
    }

    /// What a model is told that looks a question up.
    fn goal(&self, it: &Question, url: &str) -> Goal {
        let urls = &self.wish.urls;
        let more = if urls.len() > 1 {
            format!(" Pages may be opened at {} as well.", urls.join(", "))
        } else {
            String::new()
        };
        Goal {
            text: format!(
                "{}\nLook this up by reading only, for research on: {}.{more} Call complete_task with what the pages say about it, \
                 word for word, or with status failed where they do not say it.",
                it.text, self.wish.topic
            ),
            url: url.to_owned(),
            playbook: None,
        }
    }

    async fn by_browsing(&self, n: usize, it: &Question) -> Result<QuestionResult> {
        let urls = &self.wish.urls;
        let url = it.url.as_ref().or(urls.first()).cloned().unwrap_or_default();
        let host =
            |it: &String| url::Url::parse(it).ok().and_then(|it| it.host_str().map(str::to_owned));
        let hosts: Vec<String> =
            urls.iter().filter_map(host).chain(self.wish.hosts.iter().cloned()).collect();
        let values: Vec<&str> = it.params.values().map(String::as_str).collect();
        let said: Vec<&str> = [it.text.as_str(), self.wish.topic.as_str()]
            .into_iter()
            .chain(values)
            .chain(urls.iter().map(String::as_str))
            .collect();
        let task_policy = task_policy(&url, &url, &hosts, &said)?;
        let limits = Limits {
            turns: self.wish.turns,
            tokens: None,
            cost: None,
            first_only: false,
            no_checkpoints: true,
            agrees: false,
        };
        let goal = self.goal(it, &url);
        // Two questions are not asked of one host while two others are.
        let _place = match url::Url::parse(&url).ok().as_ref().and_then(url::Url::host_str) {
            Some(host) => Some(self.cx.daemon.runtime().caller.limits().enter(host).await?),
            None => None,
        };
        let run = run_id()?;
        let folder = self.cx.daemon.home.runs.clone();
        let mut transcript = Transcript::begin(&folder, &run);
        let head = json!({"kind": "begin", "run": run, "research": self.store.id, "question": n,
            "task": it.text, "url": url, "model": ChatModel::name(&self.client),
            "sites": task_policy.sites().collect::<Vec<_>>()});
        transcript.note(now_ms(), &head);
        let judge = task_policy.judge();
        let daemon = &self.cx.daemon;
        let context = format!("research-{run}");
        let mut driver = ReadOnlyDriver::new(daemon, &self.cx.principal, &context, judge, folder);
        let mut agent_run = AgentRun::new(goal, limits, task_policy, ids::random_token()?);
        let metered = self.metered_model(true);
        let end = {
            let mut tell = |note: RunEvent| {
                transcript.note(now_ms(), &note);
                if let RunEvent::Act { turn, act, .. } = &note {
                    (self.tell)(json!({"kind": "act", "question": n, "turn": turn, "act": act}));
                }
            };
            let parts = RunContext {
                chat_model: &metered,
                driver: &mut driver,
                human_input: &NoHumanInput,
                tell: &mut tell,
            };
            agent_run.begin(parts).await
        };
        let (status, why, answer) = match end {
            Ok(RunOutcome::Done { answer, .. }) => (QuestionStatus::Answered, None, answer),
            Ok(end) => {
                let (status, why) = not_done(end);
                (status, Some(why), None)
            }
            Err(err) => {
                transcript.note(now_ms(), &json!({"kind": "failed", "code": err.code().as_str(), "message": err.to_string()}));
                return Err(err);
            }
        };
        let mut sources = Vec::new();
        if status == QuestionStatus::Answered {
            for (at, it) in witnesses(&driver.pages, answer.as_ref()).into_iter().enumerate() {
                sources.push(self.keep(format!("{n}.{}", at + 1), it)?);
            }
        }
        transcript.note(
            now_ms(),
            &json!({"kind": "end", "status": status, "detail": why, "usage": agent_run.usage(),
            "steps": agent_run.log(), "sources": sources}),
        );
        let answer = answer.map(|it| masked(&it));
        let found = QuestionResult::nothing(n, &it.text, status, "");
        Ok(QuestionResult {
            by: Some(AnswerMethod::Model),
            run: Some(run),
            why,
            answer,
            sources,
            ..found
        })
    }

    fn keep(&self, id: String, it: &VisitedPage) -> Result<Source> {
        let VisitedPage { view, at } = it;
        self.store.put_source(
            id,
            &view.url,
            title(&view.title),
            &sanitize(&view.content),
            at.clone(),
        )
    }

    /// The report of what was found, made once, and all of it together.
    async fn report(
        &self,
        found: Vec<QuestionResult>,
        mut reason: Option<String>,
        begun: Instant,
        until: Instant,
    ) -> Result<ResearchReport> {
        let answered: Vec<QuestionResult> =
            found.iter().filter(|it| it.status == QuestionStatus::Answered).cloned().collect();
        let sources: Vec<Source> = answered.iter().flat_map(|it| it.sources.clone()).collect();
        let made = match self.store.report()? {
            Some(it) => it,
            None if answered.is_empty() => StoredReport::default(),
            None => {
                match tokio::time::timeout_at(until.into(), self.write_report(&found, &sources))
                    .await
                {
                    Ok(Ok(it)) => {
                        self.store.put_report(&it)?;
                        it
                    }
                    Ok(Err(err)) if matches!(err.code(), Code::Cancelled | Code::ModelFailed) => {
                        reason = Some(format!("there is no report: {err}"));
                        StoredReport::default()
                    }
                    Ok(Err(err)) => return Err(err),
                    Err(_) => {
                        reason = Some("there is no report: the time is up".to_owned());
                        StoredReport::default()
                    }
                }
            }
        };
        let status = match &reason {
            Some(_) => ResearchStatus::Partial,
            None if answered.is_empty() => ResearchStatus::Nothing,
            None => ResearchStatus::Done,
        };
        (self.tell)(
            json!({"kind": "report", "sentences": made.report.len(), "left_out": made.left_out.len()}),
        );
        Ok(ResearchReport {
            id: self.store.id.clone(),
            topic: self.wish.topic.clone(),
            status,
            reason,
            questions: found.iter().map(pure::QuestionSummary::from).collect(),
            report: made.report,
            sources,
            left_out: made.left_out,
            usage: self.budget_tracker.spent(),
            cost: self.budget_tracker.cost(),
            ms: begun.elapsed().as_millis() as u64,
        })
    }

    async fn write_report(
        &self,
        found: &[QuestionResult],
        sources: &[Source],
    ) -> Result<StoredReport> {
        let material =
            |it: &Source| Ok(SourceDocument { text: self.store.text(it)?, source: it.clone() });
        let all: Vec<SourceDocument> = sources.iter().map(material).collect::<Result<_>>()?;
        // Where what was fetched is, and where the user sent us.
        let mut sites: BTreeSet<String> = sources.iter().map(|it| site_of(&it.url)).collect();
        sites.extend(self.wish.urls.iter().map(|it| site_of(it)));
        let topic = &self.wish.topic;
        let it = pure::write(&self.metered_model(false), topic, found, &all, &sites).await?;
        Ok(StoredReport { report: it.report, left_out: it.left_out })
    }
}

/// How a loop that did not find it is told.
fn not_done(end: RunOutcome) -> (QuestionStatus, String) {
    match end {
        RunOutcome::Stopped { reason: "llm_error", detail } => (QuestionStatus::Failed, detail),
        RunOutcome::Stopped { reason, detail } => {
            (QuestionStatus::NotFound, format!("{reason}: {detail}"))
        }
        RunOutcome::GaveUp(why) => (QuestionStatus::NotFound, why),
        RunOutcome::Wall(why) | RunOutcome::Nobody(why) => {
            (QuestionStatus::NotFound, format!("a person is needed: {why}"))
        }
        RunOutcome::Held(_) => (QuestionStatus::NotFound, "it would change something".to_owned()),
        RunOutcome::Rejected | RunOutcome::First(_) | RunOutcome::Done { .. } => {
            (QuestionStatus::NotFound, "it ended".to_owned())
        }
    }
}

fn is_nothing(it: &Value) -> bool {
    match it {
        Value::Null => true,
        Value::String(it) => it.trim().is_empty(),
        Value::Array(all) => all.iter().all(is_nothing),
        Value::Object(all) => all.values().all(is_nothing),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The pages that say what was answered, the newest that says it for each part; without one the last page.
fn witnesses<'a>(pages: &'a [VisitedPage], answer: Option<&Value>) -> Vec<&'a VisitedPage> {
    let mut out: Vec<&VisitedPage> = Vec::new();
    for text in texts(answer.unwrap_or(&Value::Null)) {
        let says = |it: &&VisitedPage| pure::page_contains(&it.view.content, text);
        if out.iter().any(says) {
            continue;
        }
        out.extend(pages.iter().rev().find(says));
    }
    if out.is_empty() {
        out.extend(pages.last());
    }
    out.truncate(SOURCES);
    out
}

fn texts(it: &Value) -> Vec<&str> {
    match it {
        Value::String(it) => vec![it],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn masked(it: &Value) -> Value {
    match it {
        Value::String(it) => Value::String(commis_redact::redact_written(&line(it, 2000))),
        Value::Array(all) => all.iter().take(100).map(masked).collect(),
        it => it.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_agent::PageView;

    fn wanted(it: &Value) -> ResearchArgs {
        serde_json::from_value(it.clone()).unwrap()
    }

    #[test]
    fn what_cannot_be_meant_is_said_before_anything_is_done() {
        for (it, says) in [
            (json!({"topic": "lakes"}), None),
            (json!({"topic": "lakes", "urls": ["http://a.test/"], "hosts": ["b.test"]}), None),
            (json!({"resume": "s0123456789ab", "max_tokens": 9}), None),
            (json!({}), Some("`topic`")),
            (json!({"topic": " "}), Some("`topic`")),
            (json!({"topic": "x".repeat(401)}), Some("`topic`")),
            (json!({"topic": "lakes", "max_searches": 0}), Some("max_searches")),
            (json!({"topic": "lakes", "max_searches": 21}), Some("max_searches")),
            (json!({"topic": "lakes", "max_minutes": 61}), Some("max_minutes")),
            (json!({"topic": "lakes", "questions": [""]}), Some("a question")),
            (json!({"topic": "lakes", "urls": ["a.test"]}), Some("absolute")),
            (
                json!({"topic": "lakes", "urls": ["http://a.test/"], "hosts": ["b/c"]}),
                Some("not a valid host"),
            ),
            (json!({"topic": "lakes", "hosts": ["b.test"]}), Some("`hosts`")),
            (json!({"resume": "s0123456789ab", "topic": "lakes"}), Some("stored topic")),
        ] {
            let told = check(&wanted(&it)).err().map(|it| it.to_string());
            match says {
                None => assert_eq!(told, None, "{it}"),
                Some(says) => {
                    assert!(told.as_ref().is_some_and(|it| it.contains(says)), "{it} {told:?}");
                }
            }
        }
    }

    #[test]
    fn the_pages_that_say_it_are_its_sources() {
        let page = |url: &str, content: &str| VisitedPage {
            view: PageView { url: url.into(), title: String::new(), content: content.into() },
            at: String::new(),
        };
        let pages = [
            page("a", "text \"180 lakes\""),
            page("b", "text \"Tampere\""),
            page("c", "text \"180  Lakes\"\ntext \"more\""),
            page("d", "text \"the end\""),
        ];
        let told = |answer: Value| {
            let it = witnesses(&pages, Some(&answer));
            it.iter().map(|it| it.view.url.as_str()).collect::<String>()
        };
        assert_eq!(told(json!("180 lakes")), "c");
        assert_eq!(told(json!(["180 lakes", "Tampere", "more"])), "cb");
        assert_eq!(told(json!("unseen")), "d");
        assert_eq!(told(Value::Null), "d");
    }
}
