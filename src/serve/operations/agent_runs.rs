//! Doing a task told in a sentence: by a recipe, or by a model at a page.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Spec, ToolExposure, row,
    run_recipe::run_usual, with_default_meta,
};
use crate::{
    agent_runs::{
        self, AnswerMethod, RECIPE_FAILED, Status, TaskResult, by_model, configured, fill_sentence,
        model, owner_filter, request::TaskRequest, saved, standings,
    },
    answer::ApiError,
    mcp::find::scored,
    principal::{AccessRequirement, AccessRight, Area},
    recipe_cache::CachedRecipe,
    task_access::find_visible_task,
};
use commis_agent::{
    ApprovalRequest, OFFERED, Offer, Reply, choose_recipe, playbook,
    runs::{self, Graduation},
    values,
};
use commis_base::error::{Code, Error};
use commis_net::egress::site_of;
use commis_recipe::{model::Recipe, trust::Trust};
use commis_state::now_ms;

type OperationOutput<T> = Result<(T, Meta), Box<ApiError>>;

const READ: AccessRequirement = AccessRequirement::May(Area::Approvals, AccessRight::Read);
const WRITE: AccessRequirement = AccessRequirement::May(Area::Approvals, AccessRight::Write);

pub fn rows(out: &mut Vec<Operation>) {
    out.push(row(
        Spec {
            name: "run",
            kind: Kind::Write,
            need: AccessRequirement::Any,
            routes: &[(HttpMethod::Post, "/api/runs")],
            tool: ToolExposure::All,
            length: ExecutionMode::Run,
            help: "Answer a task told in a sentence: from the recipe that it means, else with a model in a browser.\nThe words choose among recipes that take just the values that are given, or whose sentence this one is. If no recipe matches and `url` or `playbook` gives a start page, a model does the task once. Requests that may change something wait for approval. commis then learns a recipe from the run.",
        },
        run,
    ));
    out.push(row(
        Spec {
            name: "task_answer",
            kind: Kind::Write,
            need: AccessRequirement::May(Area::Tasks, AccessRight::Write),
            routes: &[(HttpMethod::Post, "/api/tasks/{task_id}/answer")],
            tool: ToolExposure::Never,
            length: ExecutionMode::Now,
            help: "Answer what a task asks its person.\nIt lets the task go on; it approves no request.",
        },
        answer,
    ));
    out.push(row(
        Spec {
            name: "playbook_list",
            kind: Kind::Read,
            need: AccessRequirement::May(Area::Browse, AccessRight::Read),
            routes: &[(HttpMethod::Get, "/api/playbooks")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "List playbooks: what they do, what is wrong with them, and the schema of one.",
        },
        playbooks,
    ));
    out.push(row(
        Spec {
            name: "approval_list",
            kind: Kind::Read,
            need: READ,
            routes: &[(HttpMethod::Get, "/api/approvals")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "List requests that wait for a person, oldest first.",
        },
        list,
    ));
    out.push(row(
        Spec {
            name: "approval_get",
            kind: Kind::Read,
            need: READ,
            routes: &[(HttpMethod::Get, "/api/approvals/{id}")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Show a request that waits, as it would be sent.",
        },
        get,
    ));
    out.push(row(
        Spec {
            name: "approval_approve",
            kind: Kind::Write,
            need: WRITE,
            routes: &[(HttpMethod::Post, "/api/approvals/{id}/approve")],
            tool: ToolExposure::Never,
            length: ExecutionMode::Run,
            help: "Approve a request that waits: that one is sent, once, and its task goes on.\nThe digest says that what is approved is what was shown. Page, element and request are looked at again before. No model can do this.",
        },
        approve,
    ));
    out.push(row(
        Spec {
            name: "approval_reject",
            kind: Kind::Write,
            need: WRITE,
            routes: &[(HttpMethod::Post, "/api/approvals/{id}/reject")],
            tool: ToolExposure::Never,
            length: ExecutionMode::Now,
            help: "Reject a request that waits: it is never sent, and its page is closed.",
        },
        reject,
    ));
}

/// A playbook in the list.
#[derive(Serialize, JsonSchema)]
struct PlaybookEntry {
    name: String,
    /// It came with the program; a file of yours of its name stands before it.
    built_in: bool,
    /// The file of one that is yours.
    path: Option<String>,
    /// What it does, with `{parameter}` where values go.
    task: Option<String>,
    /// What is wrong with it.
    error: Option<String>,
    /// Whether it passed two of its last three runs, as its text is now.
    #[serde(flatten)]
    graduation: Graduation,
}

#[derive(Serialize, JsonSchema)]
struct PlaybookList {
    playbooks: Vec<PlaybookEntry>,
    /// JSON Schema of a playbook.
    schema: Value,
}

async fn playbooks(cx: OperationContext, _: NoArgs) -> OperationOutput<PlaybookList> {
    let all = playbook::all(&cx.daemon.home)?;
    let texts: Vec<runs::PlaybookRef> = all
        .iter()
        .map(|it| runs::PlaybookRef {
            name: it.name.clone(),
            digest: it.playbook.as_ref().map(playbook::Playbook::digest).unwrap_or_default(),
        })
        .collect();
    let stand = standings(&cx.daemon, &texts);
    let told = |(it, graduation): (playbook::Entry, Graduation)| {
        let built_in = it.source == playbook::Source::BuiltIn;
        let (task, error) = match it.playbook {
            Ok(it) => (Some(it.task), None),
            Err(err) => (None, Some(crate::answer::redact_text(&err.to_string()))),
        };
        let path = it.path.map(|it| it.to_string_lossy().into_owned());
        PlaybookEntry { name: it.name, built_in, path, task, error, graduation }
    };
    let playbooks = all.into_iter().zip(stand).map(told).collect();
    with_default_meta(PlaybookList { playbooks, schema: playbook::schema() })
}

/// A request that waits, or waited.
#[derive(Serialize, JsonSchema)]
struct ApprovalView {
    id: String,
    /// `waiting`, `approved`, `being sent`, `sent`, `not sent, it failed`, `perhaps sent`, `rejected`, `expired`, `out of date`, `lost`.
    state: String,
    /// Of the request's bytes; what is approved.
    digest: String,
    /// What a person decides about: the request first, as it would be sent, then where it comes from. What is in quotes is a page's
    /// or a model's.
    text: String,
    /// Milliseconds since 1970.
    created_ms: i64,
    expires_ms: i64,
}

impl From<ApprovalRequest> for ApprovalView {
    fn from(it: ApprovalRequest) -> Self {
        Self {
            state: it.state.word().to_owned(),
            digest: it.request.digest.clone(),
            text: it.text(),
            created_ms: it.created_ms,
            expires_ms: it.expires_ms,
            id: it.id,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoArgs {}

#[derive(Serialize, JsonSchema)]
struct ApprovalList {
    approvals: Vec<ApprovalView>,
}

async fn list(cx: OperationContext, _: NoArgs) -> OperationOutput<ApprovalList> {
    agent_runs::drop_gone_runs(&cx.daemon);
    let all = cx.daemon.suspended_runs.approvals.list(owner_filter(&cx.principal), now_ms())?;
    with_default_meta(ApprovalList { approvals: all.into_iter().map(ApprovalView::from).collect() })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApprovalIdArgs {
    /// The approval's id.
    id: String,
}

async fn get(cx: OperationContext, it: ApprovalIdArgs) -> OperationOutput<ApprovalView> {
    agent_runs::drop_gone_runs(&cx.daemon);
    with_default_meta(
        cx.daemon
            .suspended_runs
            .approvals
            .get(&it.id, owner_filter(&cx.principal), now_ms())?
            .into(),
    )
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ApproveArgs {
    /// The approval's id.
    id: String,
    /// As it was shown.
    digest: String,
}

async fn approve(cx: OperationContext, it: ApproveArgs) -> OperationOutput<TaskResult> {
    agent_runs::approve(&cx, &it.id, &it.digest).await
}

async fn reject(cx: OperationContext, it: ApprovalIdArgs) -> OperationOutput<ApprovalView> {
    with_default_meta(agent_runs::reject(&cx, &it.id)?.into())
}

/// A sentence that a recipe is looked for.
pub(crate) struct RecipeQuery<'a> {
    pub(crate) task: &'a str,
    pub(crate) params: &'a BTreeMap<String, String>,
    /// Only recipes of this page's site.
    pub(crate) url: Option<&'a str>,
    /// Where no recipe is meant something else answers.
    pub(crate) can_look: bool,
    /// Only recipes whose request is known to read.
    pub(crate) reads_only: bool,
}

/// A recipe that is meant, and the values it is to be run with.
pub(crate) struct MatchedRecipe {
    pub(crate) known: Arc<CachedRecipe>,
    pub(crate) params: BTreeMap<String, String>,
}

/// How a recipe was chosen: the one, codes that say how, and those that come near, the nearest first.
pub(crate) type MatchResult = (Option<MatchedRecipe>, Vec<String>, Vec<Arc<CachedRecipe>>);

/// Which recipe a task means, if one does clearly; and how that came out, in codes.
pub(crate) fn match_recipe(
    cx: &OperationContext,
    it: &RecipeQuery<'_>,
) -> commis_base::error::Result<MatchResult> {
    let given = it.params;
    let all = cx.daemon.recipes.all()?;
    let mine: Vec<&Arc<CachedRecipe>> = all
        .iter()
        .filter(|it| {
            it.is_served()
                && cx.principal.may(AccessRequirement::Run, Some(it.recipe.name.as_str()))
        })
        .filter(|known| !it.reads_only || known.tool().reads_only)
        .collect();
    // Where a page is named only recipes of its site are meant: a common sentence is of many sites.
    let of = it.url.map(site_of);
    let at_site = |known: &&Arc<CachedRecipe>| {
        let recipe = &known.recipe;
        // That a page asks another site was seen when it was learned, or somebody stands for it.
        let asks_there =
            |of: &String| recipe.trust != Trust::Examples || site_of(&recipe.request.url) == *of;
        of.as_ref().is_none_or(|of| site_of(&recipe.source_url) == *of && asks_there(of))
    };
    let mine: Vec<&Arc<CachedRecipe>> = mine.into_iter().filter(at_site).collect();
    let near = scored(it.task, &mine);
    let fit: Vec<_> = near
        .iter()
        .filter(|it| it.0 > 1)
        .filter_map(|(score, known)| {
            // Its own sentence with values in it says more than words in common.
            let read = values(&known.recipe.task, it.task);
            let is_read = read.is_some();
            let mut params = read.unwrap_or_default();
            // As the task is told with its parameters' names, those are no values.
            params.retain(|_, it| !(it.starts_with('{') && it.ends_with('}')));
            params.extend(given.clone());
            accepts_params(&known.recipe, &params).then_some((*score, *known, params, is_read))
        })
        .collect();
    let mut trace = Vec::new();
    let read: Vec<_> = fit.iter().filter(|it| it.3).collect();
    // Words in common say little of a sentence without values; where a model can do it, only a recipe's own sentence is that recipe's.
    let others = if given.is_empty() && it.can_look { &[] } else { fit.as_slice() };
    let best = match (read.as_slice(), others) {
        ([one], _) => {
            trace.push(format!("SENTENCE_OF:{}", one.1.recipe.name));
            Some(*one)
        }
        (_, []) => {
            trace.push(
                if near.is_empty() { "NO_RECIPE_NEAR" } else { "NO_RECIPE_TAKES_THESE" }.into(),
            );
            None
        }
        (_, [one]) => {
            trace.push(format!("ONLY_ONE_TAKES_THESE:{}", one.1.recipe.name));
            Some(one)
        }
        (_, [first, second, ..]) if first.0 > second.0 => {
            trace.push(format!("LEADS:{}:{}>{}", first.1.recipe.name, first.0, second.0));
            Some(first)
        }
        (_, [first, second, ..]) => {
            trace.push(format!("TWO_FIT:{}:{}", first.1.recipe.name, second.1.recipe.name));
            None
        }
    };
    let best = best.map(|it| MatchedRecipe { known: Arc::clone(it.1), params: it.2.clone() });
    let near = near.into_iter().map(|it| Arc::clone(it.1)).take(OFFERED).collect();
    Ok((best, trace, near))
}

/// The same by a model, where one is configured and words alone do not say it. One that fails chooses nothing.
async fn meant_by_model(
    cx: &OperationContext,
    it: &TaskRequest,
    near: &[Arc<CachedRecipe>],
    trace: &mut Vec<String>,
) -> Option<MatchedRecipe> {
    if near.is_empty() {
        return None;
    }
    let client = model(cx, it).and_then(|it| configured(&it)).ok().flatten()?;
    let parameters = |it: &Recipe| it.parameters.iter().map(|it| it.name.clone()).collect();
    let offers: Vec<Offer> = near
        .iter()
        .map(|it| &it.recipe)
        .map(|it| Offer {
            name: it.name.to_string(),
            task: it.task.clone(),
            parameters: parameters(it),
        })
        .collect();
    let given: BTreeMap<String, String> = it.params.clone().into();
    let sentence = fill_sentence(&it.task, &given);
    match choose_recipe(&client, &sentence, &given, &offers).await {
        Ok((found, tokens)) => {
            let known = found.as_ref().and_then(|found| {
                near.iter().find(|it| {
                    it.recipe.name.as_str() == found.name
                        && accepts_params(&it.recipe, &found.params)
                })
            });
            let name = known.map_or("none", |it| it.recipe.name.as_str());
            trace.push(format!("MODEL_CHOSE:{name}:{tokens} tokens"));
            known
                .zip(found)
                .map(|it| MatchedRecipe { known: Arc::clone(it.0), params: it.1.params })
        }
        Err(err) => {
            trace.push(format!("MODEL_FAILED:{}", err.code().as_str()));
            None
        }
    }
}

/// Whether a recipe takes all of these values, and no other that has to be given.
fn accepts_params(it: &Recipe, params: &BTreeMap<String, String>) -> bool {
    params.keys().all(|name| it.parameters.iter().any(|it| it.name == *name))
        && it
            .parameters
            .iter()
            .all(|it| params.contains_key(&it.name) || !it.required || it.default.is_some())
}

async fn run(cx: OperationContext, it: TaskRequest) -> OperationOutput<TaskResult> {
    let has_start = it.url.is_some() || it.playbook.is_some();
    let params = it.params.clone().into();
    let (task, url) = (it.task.as_str(), it.url.as_deref());
    let sought = RecipeQuery { task, params: &params, url, can_look: has_start, reads_only: false };
    let (mut best, mut trace, near) = match_recipe(&cx, &sought)?;
    // A playbook is for what a recipe cannot do: it changes something, or has to be looked at.
    let wants_recipe = !it.no_recipe && !it.dry_run && it.playbook.is_none();
    if best.is_none() && wants_recipe {
        best = meant_by_model(&cx, &it, &near, &mut trace).await;
    }
    if let Some(MatchedRecipe { known, params }) = best.filter(|_| wants_recipe) {
        let begun = Instant::now();
        let name = known.recipe.name.to_string();
        match run_usual(&cx, &known, params).await {
            Ok((data, meta)) => {
                let ms = begun.elapsed().as_millis() as u64;
                let ran = TaskResult {
                    status: Status::Done,
                    by: AnswerMethod::Recipe,
                    saved: saved(&cx.daemon.home, &name, ms),
                    recipe: Some(name),
                    data,
                    reason: "completed".to_owned(),
                    detail: None,
                    trace,
                    model: None,
                };
                return Ok((ran, meta));
            }
            // The site is another than it was: a model can still look.
            Err(err) if has_start && !err.retryable => {
                trace.push(format!("{RECIPE_FAILED}{name}:{}", err.error_code));
            }
            Err(err) => return Err(err),
        }
    }
    if !has_start {
        let err = Error::new(
            Code::RecipeNotFound,
            "no recipe clearly matches this task and these values",
        );
        let names: Vec<String> = near
            .iter()
            .take(5)
            .map(|it| {
                let takes = it.recipe.parameters.iter().map(|it| it.name.as_str());
                format!("{} ({})", it.recipe.name, takes.collect::<Vec<_>>().join(", "))
            })
            .collect();
        return Err(match names.as_slice() {
            [] => {
                err.hint("give a `url` to let a model do it, or learn a recipe with recipe_learn")
            }
            names => err.hint(format!("similar recipes: {}", names.join("; "))),
        }
        .into());
    }
    by_model(&cx, it, trace).await
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AnswerArgs {
    /// The task's id.
    task_id: String,
    /// Whether it may go on.
    #[serde(default)]
    yes: Option<bool>,
    /// Instead: the value that it asks for.
    #[serde(default)]
    value: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct AnswerReceipt {
    task_id: String,
}

async fn answer(cx: OperationContext, it: AnswerArgs) -> OperationOutput<AnswerReceipt> {
    let task = find_visible_task(&cx, &it.task_id).await?;
    let reply = match (it.yes, it.value) {
        (Some(true), None) => Reply::Yes,
        (Some(false), None) => Reply::No,
        (None, Some(value)) => Reply::Text(value),
        _ => return Err(Error::new(Code::ParamInvalid, "give one of `yes` and `value`").into()),
    };
    if !cx.daemon.open_prompts.answer(&task.task_id, reply) {
        return Err(Error::new(Code::TaskNotFound, "the task has no open question").into());
    }
    with_default_meta(AnswerReceipt { task_id: task.task_id })
}
