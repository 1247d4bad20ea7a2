//! Recipes: found, described, run, looked after.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    ExecutionMode, HttpMethod, Kind, Meta, Operation, OperationContext, Params, Spec, ToolExposure,
    announce_recipe_change, find_visible_recipe, row, run_recipe::run, with_default_meta,
};
use crate::{
    answer::ApiError,
    mcp::find::offered,
    principal::{AccessRequirement, AccessRight, Area},
    recipe_cache::CachedRecipe,
    runtime::log_info,
};
use commis_artifacts::store::Store;
use commis_base::{
    error::{Code, Error},
    ids::RecipeName,
};
use commis_export::{ExportFormat, ExportedFile};
use commis_learn::{
    Finding, Healer, Inspection, RenderedRequest, Verdict, inspect, is_finding, nobody_consents,
    prove, refusal_error, render, run_until_stopped, told_health, words,
};
use commis_recipe::{
    model::{Recipe, Status},
    status::RecipeState,
    yaml,
};
use commis_state::Health;

type OperationOutput<T> = Result<(T, Meta), Box<ApiError>>;

const READ: AccessRequirement = AccessRequirement::May(Area::Recipes, AccessRight::Read);
const WRITE: AccessRequirement = AccessRequirement::May(Area::Recipes, AccessRight::Write);

/// A recipe in a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RecipeSummary {
    pub name: String,
    pub status: Status,
    /// What it does, with `{parameter}` where values go.
    pub task: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Names of its parameters; those that may be left out end in `?`.
    pub parameters: Vec<String>,
    /// `user` or `library`.
    pub source: String,
    /// Runs that were counted, and how many failed.
    pub runs: i64,
    pub failed: i64,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_ok_ms: Option<i64>,
}

impl RecipeSummary {
    fn new(it: &CachedRecipe, health: Option<&Health>) -> Self {
        let recipe = &it.recipe;
        let optional = |it: &commis_recipe::model::Parameter| !it.required || it.default.is_some();
        let parameters = recipe.parameters.iter();
        Self {
            name: recipe.name.to_string(),
            status: recipe.status,
            task: recipe.task.clone(),
            category: recipe.category.clone(),
            parameters: parameters
                .map(|it| format!("{}{}", it.name, if optional(it) { "?" } else { "" }))
                .collect(),
            source: it.source.as_str().to_owned(),
            runs: health.map_or(0, |it| it.runs),
            failed: health.map_or(0, |it| it.failed),
            last_ok_ms: health.and_then(|it| it.last_ok_ms),
        }
    }
}

pub fn rows(out: &mut Vec<Operation>) {
    out.push(row(
        Spec {
            name: "recipe_find",
            kind: Kind::Read,
            need: AccessRequirement::Any,
            routes: &[(HttpMethod::Get, "/api/recipes/find")],
            tool: ToolExposure::Always("commis_find"),
            length: ExecutionMode::Now,
            help: "Find recipes by words, best first, with their parameters.",
        },
        find,
    ));
    out.push(row(
        Spec {
            name: "recipe_list",
            kind: Kind::Read,
            need: AccessRequirement::Any,
            routes: &[(HttpMethod::Get, "/api/recipes")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "List recipes by name, with status and how their runs went.",
        },
        list,
    ));
    out.push(row(
        Spec {
            name: "recipe_get",
            kind: Kind::Read,
            need: AccessRequirement::Any,
            routes: &[(HttpMethod::Get, "/api/recipes/{name}")],
            tool: ToolExposure::Always("commis_describe"),
            length: ExecutionMode::Now,
            help: "Describe a recipe: input and output schema, proof, how its runs went.",
        },
        get,
    ));
    out.push(row(
        Spec {
            name: "recipe_run",
            kind: Kind::Write,
            need: AccessRequirement::Run,
            routes: &[(HttpMethod::Post, "/api/recipes/{name}/run")],
            tool: ToolExposure::Always("commis_run"),
            length: ExecutionMode::Run,
            help: "Run a recipe by name and return its data.\nA run that takes longer than two seconds becomes a task. Of a recipe that is not verified only with `draft`.",
        },
        run,
    ));
    out.push(row(
        Spec {
            name: "recipe_dry_run",
            kind: Kind::Read,
            need: AccessRequirement::Run,
            routes: &[(HttpMethod::Post, "/api/recipes/{name}/dry-run")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Show the request that a run would send, without sending anything.\nValues that are fetched when it runs are shown as <from …>, a key as [from $VARIABLE].",
        },
        dry_run,
    ));
    out.push(row(
        Spec {
            name: "recipe_explain",
            kind: Kind::Read,
            need: READ,
            routes: &[(HttpMethod::Get, "/api/recipes/{name}/explain")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Say in words what a recipe does: what is sent where, where values come from, what is known of it.\nThe words quote the recipe, which a stranger may have written.",
        },
        explain,
    ));
    out.push(row(
        Spec {
            name: "recipe_export",
            kind: Kind::Read,
            need: READ,
            routes: &[(HttpMethod::Get, "/api/recipes/{name}/export")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Write a recipe in the form of another tool: OpenAPI, curl, Hurl, Python, TypeScript, Postman, tools of models, a skill.\nNo key and no cookie is in it. What the form cannot hold is refused, with the reason.",
        },
        export,
    ));
    out.push(row(
        Spec {
            name: "recipe_validate",
            kind: Kind::Read,
            need: READ,
            routes: &[(HttpMethod::Post, "/api/recipes/validate")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Check a recipe without sending anything.\nErrors are what a run would refuse, warnings what makes it less safe or less useful.",
        },
        validate,
    ));
    out.push(row(
        Spec {
            name: "recipe_verify",
            kind: Kind::Write,
            need: WRITE,
            routes: &[(HttpMethod::Post, "/api/recipes/{name}/verify")],
            tool: ToolExposure::All,
            length: ExecutionMode::Task,
            help: "Prove a recipe on the examples of its parameters.\nIt is called with its first examples, its second ones and its first again; one that passes is verified, also one that runs had put out of service.",
        },
        verify,
    ));
    out.push(row(
        Spec {
            name: "recipe_heal",
            kind: Kind::Write,
            need: WRITE,
            routes: &[(HttpMethod::Post, "/api/recipes/{name}/heal")],
            tool: ToolExposure::All,
            length: ExecutionMode::Task,
            help: "Learn a recipe again that a site's change broke, by the steps that it was learned from.\nOne that works is left alone. What is learned anew takes its place if it means the same; what means something else becomes a draft, for a person to look at.",
        },
        heal,
    ));
    out.push(row(
        Spec {
            name: "recipe_fork",
            kind: Kind::Write,
            need: WRITE,
            routes: &[(HttpMethod::Post, "/api/recipes/{name}/fork")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Copy a recipe under another name, as a draft.",
        },
        fork,
    ));
    out.push(row(
        Spec {
            name: "recipe_delete",
            kind: Kind::Write,
            need: WRITE,
            routes: &[(HttpMethod::Delete, "/api/recipes/{name}")],
            tool: ToolExposure::All,
            length: ExecutionMode::Now,
            help: "Delete one of your own recipes; what it was learned from stays.",
        },
        delete,
    ));
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct FindArgs {
    /// What you want to know or do, in a few words.
    words: String,
    /// At most so many.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: u32,
}

fn ten() -> u32 {
    10
}

#[derive(Serialize, JsonSchema)]
struct RecipeList {
    recipes: Vec<RecipeSummary>,
    /// What to do next, where nothing fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'static str>,
}

async fn find(cx: OperationContext, args: FindArgs) -> OperationOutput<RecipeList> {
    let limit = super::within("limit", args.limit, 50)?;
    let all = cx.daemon.recipes.all()?;
    let seen: Vec<&Arc<CachedRecipe>> =
        all.iter().filter(|it| cx.principal.sees(it.recipe.name.as_str())).collect();
    let health = health(&cx);
    let recipes: Vec<RecipeSummary> = offered(&args.words, &seen)
        .into_iter()
        .take(limit as usize)
        .map(|it| RecipeSummary::new(it, find_health(&health, it)))
        .collect();
    let next = recipes
        .is_empty()
        .then_some("No recipe fits: learn the task with recipe_learn if it will come again.");
    with_default_meta(RecipeList { recipes, next })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListArgs {
    /// Only of this status.
    status: Option<Status>,
    /// Only of this category.
    category: Option<String>,
}

async fn list(cx: OperationContext, args: ListArgs) -> OperationOutput<RecipeList> {
    let health = health(&cx);
    let all = cx.daemon.recipes.all()?;
    let wanted = |it: &&Arc<CachedRecipe>| {
        cx.principal.sees(it.recipe.name.as_str())
            && args.status.is_none_or(|status| it.recipe.status == status)
            && (args.category.is_none() || it.recipe.category == args.category)
    };
    with_default_meta(RecipeList {
        next: None,
        recipes: all
            .iter()
            .filter(wanted)
            .map(|it| RecipeSummary::new(it, find_health(&health, it)))
            .collect(),
    })
}

fn health(cx: &OperationContext) -> Vec<Health> {
    let state = cx.daemon.state.as_ref().ok();
    state.and_then(|it| it.all_health().ok()).unwrap_or_default()
}

fn find_health<'a>(all: &'a [Health], it: &CachedRecipe) -> Option<&'a Health> {
    all.iter().find(|h| h.name == it.recipe.name.as_str() && h.source == it.source.as_str())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NameArgs {
    /// The recipe's name.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"))]
    name: String,
}

/// A recipe as it is described.
#[derive(Serialize, JsonSchema)]
struct RecipeDetails {
    #[serde(flatten)]
    line: RecipeSummary,
    /// JSON Schema of the parameters.
    input_schema: Value,
    /// JSON Schema of the data that a run returns.
    output_schema: Value,
    /// When and how it was proven; absent when it was not.
    proof: Option<Value>,
    /// Whether its request may be sent twice without harm.
    reads_only: bool,
    /// What keeps it from being run.
    #[serde(skip_serializing_if = "Option::is_none")]
    out_of_service: Option<String>,
}

async fn get(cx: OperationContext, args: NameArgs) -> OperationOutput<RecipeDetails> {
    let known = find_visible_recipe(&cx, &args.name)?;
    let health = health(&cx);
    let recipe = &known.recipe;
    let tool = known.tool();
    let standing = match recipe.state() {
        RecipeState::Verified => None,
        _ => Some(refusal_error(recipe).to_string()),
    };
    with_default_meta(RecipeDetails {
        line: RecipeSummary::new(&known, find_health(&health, &known)),
        input_schema: tool.input.clone(),
        output_schema: tool.data.clone(),
        proof: tool.proof.clone(),
        reads_only: tool.reads_only,
        out_of_service: standing,
    })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExportArgs {
    /// The recipe's name.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"))]
    name: String,
    /// What it is written as.
    form: ExportFormat,
}

#[derive(Serialize, JsonSchema)]
struct ExportResult {
    files: Vec<ExportedFile>,
}

async fn export(cx: OperationContext, args: ExportArgs) -> OperationOutput<ExportResult> {
    let known = find_visible_recipe(&cx, &args.name)?;
    let recipe = std::slice::from_ref(&known.recipe);
    let out = commis_export::export(recipe, args.form, &BTreeMap::new())?;
    if let Some(it) = out.refused.first() {
        let message = format!("`{}` cannot be written so: {}", it.name, it.why);
        return Err(Error::new(Code::ParamInvalid, message).hint("try another form").into());
    }
    with_default_meta(ExportResult { files: out.files })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DryRunArgs {
    /// The recipe's name.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"))]
    name: String,
    /// Values of its parameters.
    #[serde(default)]
    params: Params,
}

async fn dry_run(cx: OperationContext, args: DryRunArgs) -> OperationOutput<RenderedRequest> {
    let known = find_visible_recipe(&cx, &args.name)?;
    let runtime = cx.daemon.runtime();
    let params = args.params.into();
    runtime.caller.compiled(&known.recipe)?;
    with_default_meta(render(&known.recipe, &params, runtime.policy(), &runtime.settings)?)
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ValidateArgs {
    /// A recipe by name.
    name: Option<String>,
    /// Instead: a recipe as YAML.
    yaml: Option<String>,
    /// Values, to check the request that they make.
    #[serde(default)]
    params: Params,
}

#[derive(Serialize, JsonSchema)]
struct ValidateResult {
    valid: bool,
    #[serde(flatten)]
    found: Inspection,
}

async fn validate(cx: OperationContext, args: ValidateArgs) -> OperationOutput<ValidateResult> {
    let read = match (args.name, args.yaml) {
        (Some(name), None) => find_visible_recipe(&cx, &name).map(|it| it.recipe.clone()),
        (None, Some(text)) => yaml::parse(&text),
        _ => return Err(Error::new(Code::ParamInvalid, "give either `name` or `yaml`").into()),
    };
    let runtime = cx.daemon.runtime();
    let found = match read {
        Ok(it) => inspect(&it, &args.params.into(), runtime.policy(), &runtime.settings),
        Err(err) if is_finding(&err) => {
            Inspection { errors: vec![Finding::from_error(&err)], warnings: Vec::new() }
        }
        Err(err) => return Err(err.into()),
    };
    with_default_meta(ValidateResult { valid: found.errors.is_empty(), found })
}

/// What proving came to.
#[derive(Serialize, JsonSchema)]
struct VerifyResult {
    name: String,
    verified: bool,
    /// Why not.
    reason: Option<String>,
    /// The failure may pass by itself.
    retryable: bool,
    calls: u32,
    items: Option<u64>,
}

async fn verify(cx: OperationContext, args: NameArgs) -> OperationOutput<VerifyResult> {
    let known = find_visible_recipe(&cx, &args.name)?;
    let runtime = cx.daemon.runtime();
    let name = known.recipe.name.clone();
    let (daemon, of) = (Arc::clone(&cx.daemon), name.clone());
    let work = move || async move {
        let with = (&runtime.caller, &runtime.settings, &log_info as &commis_learn::OnProgress);
        prove(&daemon.recipes.registry, &of, with, (&nobody_consents, None)).await
    };
    let (proof, _, noted) = run_until_stopped(work, super::stopped(&cx)).await?;
    if proof.verified {
        announce_recipe_change(&cx, name.as_str(), "verified");
    } else if noted.demoted.is_some() {
        announce_recipe_change(&cx, name.as_str(), "deprecated");
    }
    with_default_meta(VerifyResult {
        name: name.to_string(),
        verified: proof.verified,
        reason: proof.reason,
        retryable: proof.retryable,
        calls: proof.calls,
        items: proof.items,
    })
}

/// What healing came to.
#[derive(Serialize, JsonSchema)]
struct HealResult {
    name: String,
    verdict: Verdict,
    why: Option<String>,
    /// The recipe that was learned anew, where it means something else.
    draft: Option<String>,
}

async fn heal(cx: OperationContext, args: NameArgs) -> OperationOutput<HealResult> {
    let known = find_visible_recipe(&cx, &args.name)?;
    let runtime = cx.daemon.runtime();
    let name = known.recipe.name.clone();
    let learning = runtime.learning(&cx.daemon.home, None, super::tasks::on_stage(&cx))?;
    let (daemon, of) = (Arc::clone(&cx.daemon), name.clone());
    let work = move || async move {
        let store = Store::new(daemon.home.artifacts.clone());
        let (caller, registry) = (&runtime.caller, &daemon.recipes.registry);
        Healer { caller, registry, store: &store, tell: &log_info }.heal(&of, learning).await
    };
    let healed = run_until_stopped(work, super::stopped(&cx)).await?;
    match healed.verdict {
        Verdict::Works | Verdict::Healed => announce_recipe_change(&cx, name.as_str(), "verified"),
        _ if healed.noted.demoted.is_some() => {
            announce_recipe_change(&cx, name.as_str(), "deprecated");
        }
        _ => {}
    }
    if let Some(it) = &healed.draft {
        announce_recipe_change(&cx, it.as_str(), "draft");
    }
    with_default_meta(HealResult {
        name: name.to_string(),
        verdict: healed.verdict,
        why: healed.why,
        draft: healed.draft.map(|it| it.to_string()),
    })
}

#[derive(Serialize, JsonSchema)]
struct Explanation {
    name: String,
    words: Vec<String>,
}

async fn explain(cx: OperationContext, args: NameArgs) -> OperationOutput<Explanation> {
    let known = find_visible_recipe(&cx, &args.name)?;
    let name = &known.recipe.name;
    let mut words = words(&cx.daemon.recipes.registry.get(name)?);
    words.extend(find_health(&health(&cx), &known).map(told_health));
    let words = words.iter().map(|it| crate::answer::redact_text(it)).collect();
    with_default_meta(Explanation { name: name.to_string(), words })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForkArgs {
    /// The recipe's name.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"))]
    name: String,
    /// The copy's; may be that of a library recipe, which yours then stands before.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"))]
    new_name: String,
}

#[derive(Serialize, JsonSchema)]
struct RecipeNameResult {
    name: String,
}

async fn fork(cx: OperationContext, args: ForkArgs) -> OperationOutput<RecipeNameResult> {
    let known = find_visible_recipe(&cx, &args.name)?;
    let name = RecipeName::new(args.new_name)?;
    let registry = &cx.daemon.recipes.registry;
    if registry.path(&name).symlink_metadata().is_ok() {
        return Err(Error::new(Code::RecipeExists, format!("you have a recipe `{name}` already"))
            .hint("give another name, or delete that one first")
            .into());
    }
    let mut recipe: Recipe = known.recipe.clone();
    recipe.name = name.clone();
    recipe.status = Status::Draft;
    recipe.demotion = None;
    recipe.trust = recipe.trust.for_copy();
    registry.save(&recipe)?;
    announce_recipe_change(&cx, name.as_str(), "draft");
    with_default_meta(RecipeNameResult { name: name.to_string() })
}

async fn delete(cx: OperationContext, args: NameArgs) -> OperationOutput<RecipeNameResult> {
    let name = RecipeName::new(args.name)?;
    cx.daemon.recipes.registry.delete(&name)?;
    if let Ok(state) = &cx.daemon.state {
        // Counters of a recipe that is gone mislead nobody.
        let _ = state.forget_health(name.as_str(), commis_recipe::registry::Source::User.as_str());
    }
    announce_recipe_change(&cx, name.as_str(), "deleted");
    with_default_meta(RecipeNameResult { name: name.to_string() })
}
