//! One run of a watch: the recipe is called, its answer compared with the one before, and what is to be told of it made up.
//!
//! A failure is no change. An answer without items says that all are gone only where that is proven, and one that holds not all items
//! says of none that it is gone.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use futures::future::BoxFuture;
use serde_json::Value;

use super::{
    condition::Condition,
    diff::{self, Difference, Fields, Key},
    notify,
    schedule::{after_failure, next},
    store::{Finished, Outcome, Validators, Watch},
};
use crate::{
    Daemon,
    answer::ApiError,
    operations::{OperationContext, count_run, run_login, run_usual_as},
    principal::{AccessRequirement, Principal, forbidden},
    recipe_cache::CachedRecipe,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_learn::refusal_error;
use commis_net::transport::{PreparedRequest, Reply, Transport};
use commis_recipe::model::{Recipe, Status, TransportKind};

/// Bytes of the items that the next answer is compared with, as JSON.
const MAX_BASELINE: usize = 4 << 20;

/// What calling the recipe came to.
enum CallResult {
    /// The site says that nothing is new.
    NotModified,
    Data {
        data: Value,
        is_whole: bool,
        may_be_empty: bool,
        validators: Option<Validators>,
    },
}

/// How a run that was made ends: with a line of the history, or later.
pub enum RunEnd {
    Finished(Box<Finished>),
    /// Our own limits had no room; when there may be some.
    PutOff(i64),
}

/// Calls the recipe of a claimed watch and compares. What goes wrong is in the outcome. Fails with `ARTIFACT_IO`.
pub async fn run(daemon: &Arc<Daemon>, watch: &Watch, began_ms: i64) -> Result<RunEnd> {
    let start = Instant::now();
    let answered = call(daemon, watch).await;
    let took_ms = start.elapsed().as_millis() as i64;
    let finished = match answered {
        Ok(answered) => {
            let before = daemon.watches.store.baseline(&watch.watch).await?.map(|it| it.0);
            let watch = watch.clone();
            // It may be a list of thousands.
            let work = move || judge(&watch, before, answered, began_ms);
            tokio::task::spawn_blocking(work).await.map_err(|err| {
                Error::new(Code::Internal, "the comparison of two answers ended unexpectedly")
                    .source(err)
            })?
        }
        Err(it) if is_our_limit(&it) => {
            let wait = it.retry_after_sec.unwrap_or(30).clamp(5, 600) as i64 * 1000;
            return Ok(RunEnd::PutOff(began_ms + wait));
        }
        Err(it) => outcome_of_error(watch, &it, began_ms),
    };
    let mut finished = Finished { took_ms, ..finished };
    finished.notifications = notify::due(daemon, watch, &finished, began_ms);
    Ok(RunEnd::Finished(Box::new(finished)))
}

fn is_our_limit(it: &ApiError) -> bool {
    let codes = [Code::RateLimited, Code::Overloaded];
    !it.by_site && codes.iter().any(|code| code.as_str() == it.error_code)
}

/// What a run without an answer comes to.
fn outcome_of_error(watch: &Watch, it: &ApiError, began_ms: i64) -> Finished {
    let code = Code::from_wire(&it.error_code).unwrap_or(Code::Internal);
    if code == Code::ExtractEmpty {
        // A list may be empty and its page not say so. Whether it has changed instead, the recipe's example tells in time, and a recipe
        // that is out of service is a failure.
        return Finished { outcome: Outcome::Empty, items: Some(0), ..nothing(watch, began_ms) };
    }
    let wait_ms = it.retry_after_sec.unwrap_or(0).min(86_400) as i64 * 1000;
    let of = (watch.watch.as_str(), watch.every_ms);
    Finished {
        outcome: Outcome::Failed,
        failure: Some((code, crate::answer::redact_text(&it.message))),
        next_ms: after_failure(of, watch.failures + 1, it.retryable, wait_ms, began_ms),
        ..nothing(watch, began_ms)
    }
}

fn nothing(watch: &Watch, began_ms: i64) -> Finished {
    Finished {
        outcome: Outcome::Unchanged,
        failure: None,
        items: None,
        differences: Vec::new(),
        took_ms: 0,
        next_ms: next(&watch.watch, watch.every_ms, began_ms),
        baseline: None,
        validators: None,
        notifications: Vec::new(),
    }
}

/// Compares an answer with the one before. Pure.
fn judge(
    watch: &Watch,
    before: Option<Vec<Value>>,
    answered: CallResult,
    began_ms: i64,
) -> Finished {
    let out = nothing(watch, began_ms);
    let CallResult::Data { data, is_whole, may_be_empty, validators } = answered else {
        return Finished { validators: watch.validators.clone(), ..out };
    };
    let conditions = Condition::all(&watch.request.on);
    let list = conditions.iter().find_map(Condition::list);
    let items = diff::items(&data, list);
    let count = Some(items.len());
    let had = before.as_ref().is_some_and(|it| !it.is_empty());
    if items.is_empty() && !may_be_empty && (had || before.is_none()) {
        return Finished { outcome: Outcome::Empty, items: count, ..out };
    }
    let of = |all: &[Value]| all.iter().map(diff::fields).collect::<Vec<Fields>>();
    let (old, new) = (of(before.as_deref().unwrap_or_default()), of(&items));
    let key = match &watch.request.key {
        Some(path) => Key { paths: vec![path.clone()], is_settled: true, ..Key::default() },
        None if watch.key.is_settled && diff::fits(&new, &watch.key) => watch.key.clone(),
        // Of an empty answer nothing is learned.
        None if new.is_empty() => watch.key.clone(),
        None => {
            let watched: Vec<String> =
                conditions.iter().filter_map(Condition::path).map(str::to_owned).collect();
            diff::choose_key(&old, &new, &watched, &watch.key)
        }
    };
    let Some(before) = before else {
        return sized(Finished {
            outcome: Outcome::First,
            items: count,
            baseline: Some((items, key)),
            validators,
            ..out
        });
    };
    let (all, rest) = diff::compare(&before, &items, &key, is_whole);
    let counts = |it: &Difference| conditions.iter().any(|c| c.holds(it.kind, &it.path));
    let differences: Vec<Difference> = all.into_iter().filter(counts).collect();
    let outcome = if differences.is_empty() { Outcome::Unchanged } else { Outcome::Changed };
    let baseline = Some((rest, key));
    sized(Finished { outcome, items: count, differences, baseline, validators, ..out })
}

/// As it is, where what is kept of the answer is not too large.
fn sized(it: Finished) -> Finished {
    let Some((items, _)) = &it.baseline else { return it };
    if serde_json::to_vec(items).is_ok_and(|it| it.len() <= MAX_BASELINE) {
        return it;
    }
    let why = "its items are more than 4 MB: watch a recipe that gives less".to_owned();
    Finished {
        outcome: Outcome::Failed,
        failure: Some((Code::ResponseTooLarge, why)),
        differences: Vec::new(),
        baseline: None,
        validators: None,
        ..it
    }
}

/// Whoever added the watch, if they still may run its recipe. Fails with `FORBIDDEN`.
fn principal_of_watch(daemon: &Daemon, watch: &Watch) -> Result<Principal> {
    let principal = if crate::principal::has_scopes(&watch.principal) {
        daemon.principal_of_token(&watch.principal).ok_or_else(forbidden)?
    } else {
        Principal::root()
    };
    principal.must(AccessRequirement::Run, Some(&watch.request.recipe))?;
    Ok(principal)
}

/// Why a recipe cannot be watched, where it cannot. Fails with `RECIPE_NOT_VERIFIED`, `RECIPE_MAY_CHANGE`, and as compiling it.
pub fn may_be_watched(daemon: &Daemon, recipe: &Recipe) -> Result<()> {
    if recipe.status != Status::Verified {
        return Err(refusal_error(recipe));
    }
    if !daemon.runtime().caller.compiled(recipe)?.is_repeatable() {
        let why = format!("`{}` is not known to read only", recipe.name);
        return Err(Error::new(Code::RecipeMayChange, why)
            .hint("a watch cannot run a recipe that may change something"));
    }
    Ok(())
}

async fn call(daemon: &Arc<Daemon>, watch: &Watch) -> Result<CallResult, Box<ApiError>> {
    let principal = principal_of_watch(daemon, watch)?;
    let known = daemon.recipes.get(&RecipeName::new(watch.request.recipe.clone())?)?;
    let recipe = &known.recipe;
    may_be_watched(daemon, recipe)?;
    let cx = OperationContext { daemon: Arc::clone(daemon), principal, job: None };
    let params = &watch.request.params;
    if let Some(it) = conditional(&cx, &known, watch).await? {
        return Ok(it);
    }
    let login = run_login::login(&cx, recipe, watch.request.login.as_deref())?;
    let (data, meta) = run_usual_as(&cx, &known, params.clone(), login).await?;
    // A run asks for the example where nothing was found for other values.
    let is_example = recipe.example().is_none_or(|it| it == *params);
    let doubted = recipe.login.is_none() && recipe.had_items() && !is_example;
    Ok(CallResult::Data {
        data,
        is_whole: meta.complete != Some(false) && meta.continue_from.is_none(),
        may_be_empty: doubted || recipe.response.empty.is_some(),
        validators: None,
    })
}

/// A recipe of one plain request is asked for by it alone, with what the site's last answer said of itself. `None` where the recipe is
/// of another kind, or the answer has to be looked at twice: it failed, or it has no items.
async fn conditional(
    cx: &OperationContext,
    known: &Arc<CachedRecipe>,
    watch: &Watch,
) -> Result<Option<CallResult>, Box<ApiError>> {
    let recipe = &known.recipe;
    let is_plain = recipe.transport() == TransportKind::PublicHttp
        && recipe.request.method == "GET"
        && recipe.pages.is_none()
        && recipe.chain.is_none()
        && recipe.slots.is_empty()
        && recipe.login.is_none()
        && watch.request.login.is_none();
    if !is_plain {
        return Ok(None);
    }
    let runtime = cx.daemon.runtime();
    let caller = &runtime.caller;
    let compiled = caller.compiled(recipe)?;
    let permit = caller.enter(&compiled).await?;
    let transport = Conditional {
        inner: caller.http(),
        sent: watch.validators.clone().unwrap_or_default(),
        seen: Mutex::default(),
    };
    let slots = BTreeMap::new();
    let ran =
        caller.call_through(&permit, &compiled, &watch.request.params, &slots, &transport).await;
    drop(permit);
    let seen = transport.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
    if ran.status_code == Some(304) && watch.validators.is_some() {
        return Ok(Some(CallResult::NotModified));
    }
    let has_items = ran.items.is_none_or(|it| it > 0);
    if !ran.success || !has_items {
        // Only what may pass by itself is not asked for again at once.
        if ran.success || !ran.retryable {
            return Ok(None);
        }
        count_run(cx, known, &ran);
        return Err(Box::new(ApiError::from_run(ran)));
    }
    let is_whole = ran.complete != Some(false);
    count_run(cx, known, &ran);
    Ok(Some(CallResult::Data { data: ran.data, is_whole, may_be_empty: false, validators: seen }))
}

/// Asks whether there is something new, and remembers what the answer says of itself.
struct Conditional<'a> {
    inner: &'a dyn Transport,
    sent: Validators,
    seen: Mutex<Option<Validators>>,
}

impl Transport for Conditional<'_> {
    fn kind(&self) -> TransportKind {
        self.inner.kind()
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let mut request = request.clone();
            let mut add = |name: &str, value: &Option<String>| {
                if let Some(it) = value {
                    request.headers.push((name.to_owned(), it.clone()));
                }
            };
            add("if-none-match", &self.sent.etag);
            add("if-modified-since", &self.sent.last_modified);
            let reply = self.inner.send(&request).await?;
            let of =
                |name: &str| reply.header(name).map(str::to_owned).filter(|it| it.len() < 1000);
            let seen = Validators { etag: of("etag"), last_modified: of("last-modified") };
            let says = (seen.etag.is_some() || seen.last_modified.is_some()) && reply.hops == 0;
            *self.seen.lock().unwrap_or_else(PoisonError::into_inner) = says.then_some(seen);
            Ok(reply)
        })
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
