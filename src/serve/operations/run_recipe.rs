//! A recipe that is run: what a call says, how much of a list it follows, and what is noted of it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::{
    Meta, OperationContext, Params, announce_recipe_change, find_visible_recipe, run_login,
};
use crate::{
    answer::ApiError, principal::AccessRequirement, recipe_cache::CachedRecipe, runtime::no_state,
};
use commis_artifacts::store::now;
use commis_base::error::{Code, Error, Result};
use commis_learn::{Extent, RecipeRunner, note, refusal_error};
use commis_recipe::{model::Status, narrowing::ResultFilter};
use commis_runner::RecipeRunResult;
use commis_stages::effect::Effect;
use commis_vault::Login;

type OperationOutput<T> = std::result::Result<(T, Meta), Box<ApiError>>;

/// How long a run may take, all its attempts together.
const DEADLINE: Duration = Duration::from_secs(60);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunArgs {
    /// The recipe's name.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$"))]
    name: String,
    /// Values of its parameters.
    #[serde(default)]
    params: Params,
    /// Also when it was never verified.
    #[serde(default)]
    draft: bool,
    /// Items at most, over as many pages as that takes.
    #[schemars(range(min = 1))]
    max_items: Option<u64>,
    /// Pages of the list at most.
    #[schemars(range(min = 1))]
    max_pages: Option<u64>,
    /// Where an earlier answer ended: its `continue_from`, with the same values; absent for the beginning.
    #[serde(default, deserialize_with = "some_text")]
    #[schemars(length(max = 32_000))]
    continue_from: Option<String>,
    /// Fields of each item that are wanted, with commas between them: `name,price.amount`.
    #[serde(default, deserialize_with = "some_text")]
    #[schemars(length(max = 4_000))]
    fields: Option<String>,
    /// Items are wanted that fit this JMESPath condition.
    #[serde(default, rename = "where", deserialize_with = "some_text")]
    #[schemars(length(max = 1_024))]
    condition: Option<String>,
    /// Items at most, of those that fit; follows no pages.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
    /// Bytes of the data at most, as JSON without spaces; items are given whole.
    #[schemars(range(min = 2))]
    max_bytes: Option<u64>,
    /// A login of the vault that the token names (`vault:NAME`); the answer is that of its account.
    #[serde(default, deserialize_with = "some_text")]
    login: Option<String>,
}

/// A text, or none where it is empty: models give every argument that they see.
fn some_text<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.filter(|it| !it.trim().is_empty()))
}

/// Pages that one call follows where nobody says how many.
const USUAL_PAGES: u64 = 10;

pub(super) async fn run(cx: OperationContext, args: RunArgs) -> OperationOutput<Value> {
    let known = find_visible_recipe(&cx, &args.name)?;
    let usual = Extent::usual(&known.recipe, USUAL_PAGES);
    let (fields, condition) = (args.fields.as_deref(), args.condition.as_deref());
    let narrowing = ResultFilter::parse(fields, condition, args.limit, args.max_bytes)?;
    if !narrowing.is_all() {
        narrowing.check(&known.tool().data)?;
    }
    let extent = Extent {
        narrowing,
        max_pages: args.max_pages.or(usual.max_pages.filter(|_| args.max_items.is_none())),
        max_items: args.max_items,
        from: args.continue_from,
    };
    let login = run_login::login(&cx, &known.recipe, args.login.as_deref())?;
    run_as(&cx, &known, args.params.into(), args.draft, extent, login).await
}

/// Runs a recipe without a login, for as much of a list as it usually gives. Fails as [`run_as`].
pub async fn run_usual(
    cx: &OperationContext,
    known: &Arc<CachedRecipe>,
    params: BTreeMap<String, String>,
) -> OperationOutput<Value> {
    run_usual_as(cx, known, params, None).await
}

/// The same with that login.
pub async fn run_usual_as(
    cx: &OperationContext,
    known: &Arc<CachedRecipe>,
    params: BTreeMap<String, String>,
    login: Option<Login>,
) -> OperationOutput<Value> {
    let extent = Extent::usual(&known.recipe, USUAL_PAGES);
    run_as(cx, known, params, false, extent, login).await
}

/// Counts a run that was made without [`run_as`].
pub fn count_run(cx: &OperationContext, known: &Arc<CachedRecipe>, ran: &RecipeRunResult) {
    record_run(cx, known, Ok(ran));
}

/// Runs a recipe, counts the run, and returns its data. Fails with what the run ended in.
async fn run_as(
    cx: &OperationContext,
    known: &Arc<CachedRecipe>,
    params: BTreeMap<String, String>,
    draft: bool,
    extent: Extent,
    login: Option<Login>,
) -> OperationOutput<Value> {
    let daemon = &cx.daemon;
    let recipe = &known.recipe;
    let name = recipe.name.as_str();
    cx.principal.must(AccessRequirement::Run, Some(name))?;
    match recipe.status {
        Status::Verified => {}
        Status::Draft if draft => {
            // Who asks over a wire is no person who looked at it.
            if !recipe.trust.is_known_to_read()
                && let Effect::MayChange(why) = known.effect()
            {
                let why = format!("`{name}` was not learned here, and {why}");
                return Err(Error::new(Code::RecipeMayChange, why)
                    .hint(format!("a person can run it with `commis recipe run {name} --draft`"))
                    .into());
            }
        }
        _ => return Err(refusal_error(recipe).into()),
    }
    let runtime = daemon.runtime();
    let state = match &daemon.state {
        Ok(it) => Ok(it),
        Err(code) => Err(*code),
    };
    let counted = (&daemon.recipes.registry, state);
    let sessions = login.map(|it| runtime.logged_in(it));
    let runs = match &sessions {
        Some(sessions) => RecipeRunner { sessions, ..runtime.runs() },
        None => runtime.runs(),
    };
    let serve = runs.gather((recipe, known.source), &params, counted, &extent);
    let ran = tokio::time::timeout(DEADLINE, serve).await.unwrap_or_else(|_| {
        Err(Error::new(Code::Timeout, "the run took more than a minute, all its attempts together"))
    });
    let ended = match &ran {
        Ok(it) => Ok(it),
        Err(err) => Err(err.code()),
    };
    record_run(cx, known, ended);
    let ran = ran?;
    let mut meta = meta(&ran);
    if ran.success {
        if let Some(at) = known.tool().violation(&ran.data) {
            tracing::warn!(recipe = name, at, "an answer does not fit the schema that is declared");
            meta.off_schema = true;
        }
        return Ok((ran.data, meta));
    }
    Err(Box::new(ApiError::from_run(ran)))
}

/// Counts the run; one that puts the recipe out of service is told to whoever watches.
fn record_run(
    cx: &OperationContext,
    known: &Arc<CachedRecipe>,
    ended: Result<&RecipeRunResult, Code>,
) {
    let daemon = &cx.daemon;
    let state = daemon.state.as_ref().map_err(|it| no_state(*it));
    let ran = (&known.recipe, known.source);
    let noted = note(&daemon.recipes.registry, state, ran, ended, &now());
    if let Some(err) = &noted.not_demoted {
        tracing::error!(recipe = %known.recipe.name, error = %err, "should be deprecated, and is not");
    }
    if noted.demoted.is_some() {
        announce_recipe_change(cx, known.recipe.name.as_str(), "deprecated");
    }
}

/// Bytes of a file that goes into an answer. Larger ones are written by `recipe run --out`.
const MAX_FILE: usize = 1 << 20;

fn meta(ran: &RecipeRunResult) -> Meta {
    let it = &ran.timings_ms;
    let all = [
        ("validate", it.validate),
        ("dns", it.dns),
        ("connect", it.connect),
        ("ttfb", it.ttfb),
        ("download", it.download),
        ("extract", it.extract),
        ("shape", it.shape),
        ("total", it.total),
    ];
    Meta {
        transport_used: Some(ran.transport_used.as_str().to_owned()),
        timings_ms: all.into_iter().map(|(name, ms)| (name.to_owned(), ms)).collect(),
        redirect_hops: Some(ran.redirect_hops),
        filtered: ran.filtered,
        total: ran.total,
        complete: ran.complete,
        pages: ran.pages,
        continue_from: ran.continue_from.clone(),
        warnings: ran.warnings.clone(),
        file: ran.file.as_ref().filter(|it| it.len() <= MAX_FILE).map(|it| STANDARD.encode(it)),
        similarity_bp: ran.similarity_bp,
        ..Meta::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_argument_is_none() {
        let given =
            json!({"name": "shop", "continue_from": "", "fields": " ", "where": "", "login": null});
        let args: RunArgs = serde_json::from_value(given).unwrap();
        assert!(args.continue_from.or(args.fields).or(args.condition).or(args.login).is_none());
        let given = json!({"name": "shop", "continue_from": "abc", "fields": "a,b"});
        let args: RunArgs = serde_json::from_value(given).unwrap();
        assert_eq!(args.continue_from.as_deref(), Some("abc"));
        assert_eq!((args.fields.as_deref(), args.condition), (Some("a,b"), None));
    }
}
