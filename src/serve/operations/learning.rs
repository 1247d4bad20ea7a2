//! Learning: a task is recorded and learned, or goes on with a candidate that somebody chose.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Params, Spec, ToolExposure,
    announce_recipe_change, row, tasks, with_default_meta,
};
use crate::{
    answer::ApiError,
    principal::{AccessRequirement, AccessRight, Area, Principal, has_scopes},
    task_access::find_visible_task,
};
use commis_artifacts::{
    payloads::{CandidateSet, Judged, Outcome},
    store::Store,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::{RecipeName, TaskId},
    settings::Settings,
};
use commis_browser::Step;
use commis_learn::{
    ChoiceRequest, LearnResult, RedoScope, Source, Task, TaskSecrets, choose, variable,
};
use commis_recipe::auth::check_variable_host;
use commis_stages::verify::Expectation;

type OperationOutput<T> = Result<(T, Meta), Box<ApiError>>;

const LEARN: AccessRequirement = AccessRequirement::May(Area::Learn, AccessRight::Write);

pub fn rows(out: &mut Vec<Operation>) {
    out.push(row(
        Spec {
            name: "recipe_learn",
            kind: Kind::Write,
            need: LEARN,
            routes: &[(HttpMethod::Post, "/api/recipes/learn")],
            tool: ToolExposure::All,
            length: ExecutionMode::Task,
            help: "Learn a task from a page driven by scripted steps, from an address that holds the values, or from a HAR file.\nGive what was typed in `params`, and a second example in `second`: without one a recipe stays a draft. Where it cannot be told which request carried the data, the outcome is `needs_selection`, with candidates to choose from. `next` says what to call then.",
        },
        learn,
    )
    .checked(|args: LearnArgs, settings, principal| {
        args.check_access(principal, settings)?;
        match args.har {
            // A large file is read once.
            Some(_) if args.url.is_none() && args.upload.is_none() => Ok(()),
            _ => args.task(settings.serve.allow_task_secrets, principal, unread()).map(drop),
        }
    })
    .hiding(|args: LearnArgs| {
        let task = if args.har.is_none() { args.task(true, &Principal::root(), unread()).ok() } else { None };
        task.is_some_and(|it| it.secrets.are_given() || it.secrets.in_text)
    }));
    out.push(row(
        Spec {
            name: "recipe_candidates",
            kind: Kind::Read,
            need: AccessRequirement::May(Area::Learn, AccessRight::Read),
            routes: &[(HttpMethod::Get, "/api/tasks/{task_id}/candidates")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "List the requests that a task which was learned could be served by, best first.",
        },
        candidates,
    ));
    out.push(row(
        Spec {
            name: "recipe_create_from_candidate",
            kind: Kind::Write,
            need: LEARN,
            routes: &[(HttpMethod::Post, "/api/tasks/{task_id}/candidates/{candidate}/recipe")],
            tool: ToolExposure::All,
            length: ExecutionMode::Task,
            help: "Go on with a candidate that you choose, where learning could not choose by itself.\nA request that may change something is refused.",
        },
        create_from_candidate,
    )
    .checked(|args: CreateRecipeArgs, _, _| super::within("candidate", args.candidate, 64).map(drop)));
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LearnArgs {
    /// What the session is for, with `{name}` where typed values go.
    task: String,
    /// Live: the page that it starts on.
    url: Option<String>,
    /// Live: what is done there, as in a manifest's `record`; nothing where the address holds each value of `params`, or `{name}`.
    #[serde(default)]
    steps: Vec<Value>,
    /// Instead: a HAR file on the daemon's machine.
    har: Option<PathBuf>,
    /// Instead: a HAR file that was uploaded, by its id.
    upload: Option<String>,
    /// What was typed.
    #[serde(default)]
    params: Params,
    /// The second example.
    #[serde(default)]
    second: Params,
    /// The recipe's name; else it is made of the task.
    name: Option<String>,
    /// Send nothing: the captured answer stands in, and the recipe stays a draft.
    #[serde(default)]
    no_network: bool,
    /// Go on where an earlier run stopped.
    #[serde(default)]
    resume: bool,
    /// Learn again from the start.
    #[serde(default)]
    force: bool,
    /// Let nothing leave that is not known to read while the steps are driven: they are a model's.
    #[serde(default)]
    reads_only: bool,
    /// What whoever did it gave for an answer with the first example: a lead to the request that carried it, and no more.
    answer: Option<String>,
    /// A login of the vault to open the pages with. A token has to name it.
    login: Option<String>,
    /// Another account's, which must be refused or get something else.
    second_login: Option<String>,
}

impl LearnArgs {
    /// What the daemon alone can read is not for everyone to name: files of its machine and its variables not for a token with
    /// scopes, and a variable only for the host that it is bound to, as for recipes. Who asks may be a model that a page has
    /// talked to. Fails with `FORBIDDEN`, `AUTH_NOT_ALLOWED`.
    fn check_access(&self, principal: &Principal, settings: &Settings) -> Result<()> {
        let refused = |what: &str| {
            Err(Error::new(Code::Forbidden, format!("this token may not name {what}"))
                .hint("ask with the root token, or on the command line"))
        };
        if self.har.is_some() && principal.scopes.is_some() {
            return refused("files of the daemon's machine");
        }
        if self.upload.is_some() && principal.scopes.is_some() {
            return refused("uploaded files");
        }
        if self.login.is_none() && self.second_login.is_some() {
            return Err(Error::new(Code::ParamInvalid, "`second_login` needs `login`"));
        }
        for name in self.login.iter().chain(&self.second_login) {
            principal.must(AccessRequirement::Login, Some(name))?;
        }
        let typed = [BTreeMap::from(self.params.clone()), BTreeMap::from(self.second.clone())];
        let mut named: Vec<String> = typed
            .iter()
            .flat_map(BTreeMap::values)
            .filter_map(|it| variable(it))
            .map(str::to_owned)
            .collect();
        self.steps.iter().for_each(|it| variables(it, &mut named));
        if !named.is_empty() && principal.scopes.is_some() {
            return refused("variables of the daemon");
        }
        let url = self.url.as_ref().and_then(|it| url::Url::parse(it).ok());
        if let Some(host) = url.as_ref().and_then(url::Url::host_str) {
            named.iter().try_for_each(|it| check_variable_host(it, host, &settings.auth))?;
        }
        Ok(())
    }

    /// `content`: of the file that `upload` names. Fails with `PARAM_INVALID`, `USAGE` and `SECRET_IN_TASK`.
    fn task(self, allow_secrets: bool, principal: &Principal, content: Arc<[u8]>) -> Result<Task> {
        let steps = self.steps.into_iter().enumerate().map(|(i, it)| {
            serde_json::from_value::<Step>(it).map_err(|err| {
                let said: String =
                    err.to_string().chars().filter(|it| !it.is_control()).take(200).collect();
                Error::new(Code::ParamInvalid, format!("step {}: {said}", i + 1))
                    .hint("steps are as in a manifest's `record`: docs/how-to/steps.md")
            })
        });
        let steps = steps.collect::<Result<Vec<_>>>()?;
        let (first, second) = (BTreeMap::from(self.params), BTreeMap::from(self.second));
        let source = match (self.url, self.har, self.upload) {
            (Some(url), None, None) => Source::page(url, steps, &first)?,
            (None, Some(path), None) if path.is_absolute() => Source::har(path)?,
            (None, Some(_), None) => {
                return Err(Error::new(Code::ParamInvalid, "`har` is not an absolute path"));
            }
            (None, None, Some(_)) => Source::har_content(content),
            _ => {
                return Err(Error::new(
                    Code::ParamInvalid,
                    "give one of `url`, `har` and `upload`",
                ));
            }
        };
        let name = match self.name {
            Some(it) => RecipeName::new(it)?,
            None => RecipeName::slug(&self.task),
        };
        let mut task = Task {
            id: id_of(&principal.id, &name),
            name,
            sentence: self.task,
            source,
            examples: if second.is_empty() { vec![first] } else { vec![first, second] },
            expect: Expectation::default(),
            category: None,
            requires_auth: false,
            logins: self
                .login
                .iter()
                .chain(&self.second_login)
                .map(|it| it.parse())
                .collect::<Result<_>>()?,
            reads_only: self.reads_only,
            answer: self.answer,
            timeout: Duration::from_secs(30),
            secrets: TaskSecrets::default(),
        };
        commis_batch::check_task(&mut task, &BTreeSet::new(), allow_secrets)?;
        Ok(task)
    }
}

/// In place of an uploaded file, where nothing is read of it.
fn unread() -> Arc<[u8]> {
    Arc::from([])
}

fn variables(it: &Value, named: &mut Vec<String>) {
    match it {
        Value::String(it) => named.extend(variable(it).map(str::to_owned)),
        Value::Array(all) => all.iter().for_each(|it| variables(it, named)),
        Value::Object(all) => all.values().for_each(|it| variables(it, named)),
        _ => {}
    }
}

/// The task of the store. A token with scopes has its own: what others recorded is not for it to go on with.
fn id_of(principal: &str, name: &RecipeName) -> TaskId {
    TaskId::new(if has_scopes(principal) { principal } else { "" }, name)
}

/// What learning came to, and what to do next.
#[derive(Serialize, JsonSchema)]
struct Taught {
    #[serde(flatten)]
    learned: LearnResult,
    /// The daemon's task that learned it. It, and `task_id`, name the task where its candidates are asked for.
    daemon_task_id: Option<String>,
    /// Where it could not be told which request carried the data: the likeliest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<CandidateLine>,
    /// The next call, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<Next>,
}

/// A call to make.
#[derive(Serialize, JsonSchema)]
struct Next {
    /// The tool, or operation.
    tool: String,
    arguments: Value,
    /// What it does.
    why: &'static str,
}

/// Candidates that a result carries.
const NEAREST: usize = 5;

/// Says what comes after an outcome. What cannot be read of the task's folder is left out.
fn taught(cx: &OperationContext, learned: LearnResult) -> Taught {
    let job = cx.job.as_ref().map(|it| it.id.clone());
    let selects = learned.outcome == Outcome::NeedsSelection;
    let mut candidates = Vec::new();
    if selects && let Ok(id) = TaskId::parse(&learned.task_id) {
        candidates = ranked(cx, &id).map(|it| it.candidates).unwrap_or_default();
        candidates.truncate(NEAREST);
    }
    let name = &learned.name;
    let next = match learned.outcome {
        Outcome::NeedsSelection if !candidates.is_empty() => Some(Next {
            tool: "recipe_create_from_candidate".to_owned(),
            arguments: json!({
                "task_id": job.as_ref().unwrap_or(&learned.task_id),
                "candidate": candidates[0].candidate,
            }),
            why: "goes on with a candidate: take the one whose address carries what the task asks for",
        }),
        Outcome::Verified => Some(Next {
            tool: "commis_run".to_owned(),
            arguments: json!({"name": name, "params": example(cx, name)}),
            why: "runs the recipe; it is a tool of its own as well, after the list of tools was read again",
        }),
        Outcome::SavedDraft
            if learned.reason.as_deref() == Some(Code::NeedsSecondExampleForVerify.as_str()) =>
        {
            Some(Next {
                tool: "recipe_learn".to_owned(),
                arguments: json!({"name": name, "force": true}),
                why: "the same call with `second`, other values of the same parameters, proves it",
            })
        }
        Outcome::SavedDraft => Some(Next {
            tool: "recipe_verify".to_owned(),
            arguments: json!({"name": name}),
            why: "proves the draft, where it has two examples; else learn it again with `second`",
        }),
        _ => None,
    };
    Taught { learned, daemon_task_id: job, candidates, next }
}

fn example(cx: &OperationContext, name: &str) -> BTreeMap<String, String> {
    let known = RecipeName::new(name).and_then(|it| cx.daemon.recipes.get(&it)).ok();
    known.and_then(|it| it.recipe.example()).unwrap_or_default()
}

async fn learn(cx: OperationContext, args: LearnArgs) -> OperationOutput<Taught> {
    let runtime = cx.daemon.runtime();
    let (force, again) = (args.force, cx.job.as_ref().is_some_and(|it| it.again));
    let (resume, no_network) = (args.resume || again, args.no_network);
    let content = match &args.upload {
        Some(it) => cx.daemon.uploads.get(&cx.principal.id, it)?,
        None => unread(),
    };
    let task =
        Arc::new(args.task(runtime.settings.serve.allow_task_secrets, &cx.principal, content)?);
    let redo = (force && !again).then_some(RedoScope::All);
    let mut learning = runtime.learning(&cx.daemon.home, redo, tasks::on_stage(&cx))?;
    if no_network && let Some(it) = Arc::get_mut(&mut learning) {
        it.settings.egress.no_network = true;
    }
    if !resume && redo.is_none() {
        commis_batch::refuse_if_begun(std::slice::from_ref(&*task), &learning)?;
    }
    let work = {
        let task = Arc::clone(&task);
        move || async move { commis_learn::learn(&task, &learning).await }
    };
    let learned = commis_learn::run_until_stopped(work, super::stopped(&cx)).await?;
    report_learned(&cx, &learned);
    with_default_meta(taught(&cx, learned))
}

fn report_learned(cx: &OperationContext, learned: &LearnResult) {
    if learned.recipe.is_some() {
        announce_recipe_change(cx, &learned.name, learned.outcome.as_str());
    }
}

/// One candidate.
#[derive(Serialize, JsonSchema)]
struct CandidateLine {
    /// Its number, from 1.
    candidate: u32,
    method: String,
    /// With values shortened, redacted.
    url: String,
    /// GraphQL operation or JSON-RPC method.
    operation: Option<String>,
    content_type: String,
    /// How sure it is that this one carried the data, basis points.
    confidence_bp: u32,
    score_bp: i32,
    /// What each signal added or took, basis points.
    signals: BTreeMap<String, i32>,
}

#[derive(Serialize, JsonSchema)]
struct CandidateList {
    candidates: Vec<CandidateLine>,
    /// Why the first may not be chosen without being asked about.
    doubt: Option<String>,
}

/// The task of the store that a task of ours learned. Fails with `TASK_NOT_FOUND`.
async fn find_stored_task(cx: &OperationContext, id: &str) -> Result<TaskId> {
    // The id of the store does as well, for whoever it belongs to.
    if let Ok(stored) = TaskId::parse(id)
        && cx.daemon.database.task(id).await.is_err()
    {
        let name = id.rsplit_once('-').map_or(id, |it| it.0);
        let own = RecipeName::new(name).is_ok_and(|name| id_of(&cx.principal.id, &name) == stored);
        if own || cx.principal.scopes.is_none() {
            return Ok(stored);
        }
    }
    let task = find_visible_task(cx, id).await?;
    if !matches!(task.operation.as_str(), "recipe_learn" | "recipe_create_from_candidate") {
        // What another came to is the word of a site.
        return Err(Error::new(Code::TaskNotFound, "the task learned no recipe"));
    }
    let done = cx.daemon.database.result(&task.task_id).await?;
    if let Some(it) = done.as_ref().and_then(|it| it["task_id"].as_str()) {
        return TaskId::parse(it);
    }
    let given = task.args["name"].as_str().map(|it| RecipeName::new(it.to_owned()));
    let name = given
        .unwrap_or_else(|| Ok(RecipeName::slug(task.args["task"].as_str().unwrap_or_default())))?;
    // Whoever asks: it is stored as that of whom it was done for.
    Ok(id_of(&task.principal, &name))
}

async fn candidates(
    cx: OperationContext,
    args: tasks::TaskIdArgs,
) -> OperationOutput<CandidateList> {
    let id = find_stored_task(&cx, &args.task_id).await?;
    with_default_meta(ranked(&cx, &id)?)
}

/// The candidates of a task of the store. Fails with `TASK_NOT_FOUND` where it has none.
fn ranked(cx: &OperationContext, id: &TaskId) -> Result<CandidateList> {
    let store = Store::new(cx.daemon.home.artifacts.clone());
    let folder = store.peek(id)?.ok_or_else(|| none(id))?;
    let set = match folder.get::<Judged<CandidateSet>>() {
        Ok(Judged::Done(it)) => it,
        Ok(Judged::Rejected(_)) => return Err(none(id)),
        Err(err) if err.code() == Code::ArtifactMissing => return Err(none(id)),
        Err(err) => return Err(err),
    };
    Ok(CandidateList {
        candidates: set
            .candidates
            .into_iter()
            .map(|it| CandidateLine {
                candidate: it.rank,
                method: it.method,
                url: it.url_summary,
                operation: it.operation,
                content_type: it.content_type,
                confidence_bp: it.confidence_bp,
                score_bp: it.score_bp,
                signals: it.features,
            })
            .collect(),
        doubt: set.doubt,
    })
}

fn none(id: &TaskId) -> Error {
    Error::new(Code::TaskNotFound, format!("{id} has no candidates"))
        .hint("a task has candidates after `record` and `rank`")
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateRecipeArgs {
    /// The task that learned.
    task_id: String,
    /// Its number, from 1.
    #[schemars(range(min = 1, max = 64))]
    candidate: u32,
    /// The recipe's name; else the task's.
    name: Option<String>,
    /// `JMESPath` of the data in the answer, instead of the list that would be taken.
    extract: Option<String>,
}

async fn create_from_candidate(
    cx: OperationContext,
    args: CreateRecipeArgs,
) -> OperationOutput<Taught> {
    let id = find_stored_task(&cx, &args.task_id).await?;
    let runtime = cx.daemon.runtime();
    let store = Store::new(cx.daemon.home.artifacts.clone());
    let wish = ChoiceRequest {
        candidate: args.candidate,
        extract: args.extract,
        name: args.name.map(RecipeName::new).transpose()?,
    };
    let learning = runtime.learning(&cx.daemon.home, None, tasks::on_stage(&cx))?;
    let work = move || async move {
        match choose(&store, &learning.recipes, &id, wish)? {
            Ok(choice) => commis_learn::learn(&choice.task, &learning).await.map(Ok),
            Err(reject) => Ok(Err(reject)),
        }
    };
    match commis_learn::run_until_stopped(work, super::stopped(&cx)).await? {
        Ok(learned) => {
            report_learned(&cx, &learned);
            with_default_meta(taught(&cx, learned))
        }
        Err(reject) => {
            let err = Error::new(
                Code::Usage,
                format!("the candidate cannot be chosen: {}", reject.detail),
            );
            let mut trouble = ApiError::from_error(&err);
            trouble.reason_codes = vec![reject.reason.as_str().to_owned()];
            Err(Box::new(trouble))
        }
    }
}
