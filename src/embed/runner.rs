//! Recipes, run.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value;

use super::EgressPolicy;
use commis_base::{
    error::{Code, Error, Result},
    settings::{AuthSettings, LimitsSettings},
};
use commis_net::egress::limits;
use commis_recipe::model::Recipe;
use commis_runner::{
    RecipeRunResult,
    call::Caller,
    pages::{PageAnswer, PageWalk},
};

/// Runs recipes. Shared by all calls of a program: connections, look-ups and compiled recipes are kept.
pub struct Runner(Caller);

/// How polite a [`Runner`] is, to each host. Hosts under `.test` are exempt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Runs at once: 4.
    pub runs: u32,
    /// Of those, to one host: 2.
    pub runs_per_host: u32,
    /// Calls to one host a minute: 20.
    pub per_minute: u32,
    /// Calls that may follow each other without a pause after a quiet time: 5.
    pub burst: u32,
}

impl Default for Limits {
    fn default() -> Self {
        let LimitsSettings { runs, runs_per_host, per_minute, burst, .. } =
            LimitsSettings::default();
        Self { runs, runs_per_host, per_minute, burst }
    }
}

/// What a [`Runner`] is made of.
#[derive(Default)]
pub struct RunnerBuilder {
    policy: Option<EgressPolicy>,
    limits: Limits,
    auth: AuthSettings,
    state: Option<PathBuf>,
}

/// What a recipe answered.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// What the recipe extracts.
    pub data: Value,
    /// Its length where it is a list.
    pub items: Option<u64>,
    pub status: u16,
    /// How alike its shape is to the verified one, basis points; absent where there was nothing to compare.
    pub similarity_bp: Option<u32>,
    /// Items that the site has, where its answer says so.
    pub total: Option<u64>,
    /// Whether the data holds all of them: false where the list goes on, `None` where nothing says.
    pub complete: Option<bool>,
    /// Why the data may not be what was asked for, each in a sentence.
    pub warnings: Vec<String>,
    /// Requests that were sent for it, again where one failed in passing.
    pub attempts: u32,
    pub redirects: u32,
    /// From the call to its data.
    pub took: Duration,
}

impl Runner {
    /// A builder with the default policy and limits.
    pub fn builder() -> RunnerBuilder {
        RunnerBuilder::default()
    }

    /// Fills the recipe with the values, sends its request and extracts the data. What failed in passing is tried once more. Of a
    /// list with pages it gives the first, with `complete: Some(false)` where the answer leads on; [`Self::run_all`] gives all.
    ///
    /// Fails with `PARAM_INVALID` or `RECIPE_INVALID` before anything is sent, with `SESSION_REQUIRED` for a recipe that needs
    /// a browser, with the policy's and the network's codes, with `HTTP_STATUS` and its kin, `EXTRACT_EMPTY` for an answer that
    /// no longer holds the data, `BASELINE_DRIFT` for one of another shape, and `RATE_LIMITED`.
    pub async fn run<N, V>(
        &self,
        recipe: &Recipe,
        values: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Answer>
    where
        N: Into<String>,
        V: Into<String>,
    {
        without_session(recipe)?;
        let values = values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let compiled = self.0.compiled(recipe)?;
        let permit = self.0.enter(&compiled).await?;
        answer(recipe, self.0.call(&permit, &compiled, &values).await)
    }

    /// The same over the pages of its list, at most so many: the data is the items of all of them, and `complete` says whether the
    /// end was reached. Each page waits until its host may be asked again.
    ///
    /// Fails as [`Self::run`], with `PARAM_INVALID` for a recipe that knows no pages, with `RECIPE_MAY_CHANGE` for one that is not
    /// known to only read, and with `PAGE_REPEATED` where the site goes round in circles.
    pub async fn run_all<N, V>(
        &self,
        recipe: &Recipe,
        values: impl IntoIterator<Item = (N, V)>,
        max_pages: u64,
    ) -> Result<Answer>
    where
        N: Into<String>,
        V: Into<String>,
    {
        without_session(recipe)?;
        let Some(pages) = &recipe.pages else {
            let why = format!("recipe `{}` has no proven way to further pages", recipe.name);
            return Err(Error::new(Code::ParamInvalid, why).hint("run it without asking for all"));
        };
        if !self.0.compiled(recipe)?.is_repeatable() {
            let why =
                format!("`{}` is not known to only read, so its list is not followed", recipe.name);
            return Err(Error::new(Code::RecipeMayChange, why));
        }
        let values: BTreeMap<String, String> =
            values.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let mut walk = PageWalk::new(pages, None, false);
        let (mut all, mut last, mut waits) = (Vec::new(), None::<Answer>, 0);
        while walk.page_count() < max_pages {
            let compiled = self.0.compiled(&walk.page_recipe(recipe)?)?;
            let permit = self.0.enter(&compiled).await?;
            let mut ran = self.0.call(&permit, &compiled, &values).await;
            drop(permit);
            let code = ran.error_code.and_then(Code::from_wire);
            let is_gone = matches!(code, Some(Code::NotFound | Code::ExtractEmpty))
                || (code == Some(Code::HttpStatus) && ran.status_code == Some(404));
            // Its host was asked as often as its limits allow.
            if code == Some(Code::RateLimited) && ran.status_code.is_none() && waits < MAX_WAITS {
                waits += 1;
                tokio::time::sleep(WAIT).await;
                continue;
            }
            // What is not there after the last page ends the list.
            if is_gone && walk.page_count() > 0 {
                walk.take_missing()?;
                break;
            }
            let (next, total) = (ran.next.take(), ran.total);
            let page = answer(recipe, ran)?;
            let Value::Array(items) = page.data else {
                return Err(Error::new(
                    Code::ExtractEmpty,
                    "an answer of the paginated list is not a list",
                ));
            };
            all.append(&mut walk.take(PageAnswer { items, next, total })?);
            last = Some(match last {
                None => Answer { data: Value::Null, ..page },
                Some(known) => Answer {
                    data: Value::Null,
                    attempts: known.attempts + page.attempts,
                    redirects: known.redirects + page.redirects,
                    took: known.took + page.took,
                    warnings: [known.warnings, page.warnings].concat(),
                    ..page
                },
            });
            if walk.end().is_some() || !walk.advance() {
                break;
            }
        }
        let Some(mut out) = last else {
            return Err(Error::new(Code::ParamInvalid, "the number of pages must be at least 1"));
        };
        out.warnings.extend(walk.warnings());
        out.warnings.dedup();
        out.items = Some(all.len() as u64);
        out.data = all.into();
        (out.total, out.complete) = (walk.total(), walk.is_complete());
        Ok(out)
    }
}

/// From one question whether a host may be asked again to the next, and how many there are.
const WAIT: Duration = Duration::from_millis(500);
const MAX_WAITS: u32 = 240;

/// Fails with `SESSION_REQUIRED`.
fn without_session(recipe: &Recipe) -> Result<()> {
    if !recipe.transport().sends_cookies() {
        return Ok(());
    }
    let why = format!("recipe `{}` needs a session of its page", recipe.name);
    Err(Error::new(Code::SessionRequired, why)
        .hint("run it with the commis program, which opens the page in a browser"))
}

/// The answer with what its texts are. Fails with what the run failed with.
fn answer(recipe: &Recipe, mut it: RecipeRunResult) -> Result<Answer> {
    if let Some(code) = it.error_code {
        let code = Code::from_wire(code).unwrap_or(Code::Internal);
        let err = Error::new(code, it.error.unwrap_or_default()).lasting(!it.retryable);
        return Err(match it.hint {
            Some(hint) => err.hint(hint),
            None => err,
        });
    }
    it.warnings.extend(recipe.response.add_values(&mut it.data));
    Ok(Answer {
        data: it.data,
        items: it.items,
        status: it.status_code.unwrap_or_default(),
        similarity_bp: it.similarity_bp,
        total: it.total,
        complete: it.complete.or_else(|| it.next.is_some().then_some(false)),
        warnings: it.warnings,
        attempts: it.attempts,
        redirects: it.redirect_hops,
        took: Duration::from_secs_f64(it.timings_ms.total.max(0.0) / 1000.0),
    })
}

impl RunnerBuilder {
    /// Instead of [`EgressPolicy::public`].
    #[must_use]
    pub fn policy(mut self, policy: &EgressPolicy) -> Self {
        self.policy = Some(policy.clone());
        self
    }

    /// Replaces the limits on runs and on calls to each host.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Lets recipes that name this environment variable send its value to these hosts, and to no others.
    #[must_use]
    pub fn key<H: Into<String>>(
        mut self,
        variable: impl Into<String>,
        hosts: impl IntoIterator<Item = H>,
    ) -> Self {
        self.auth.allow.insert(variable.into(), hosts.into_iter().map(Into::into).collect());
        self
    }

    /// Where it is kept how often hosts were asked, so that calls a minute bind all processes that name the same folder. Without
    /// one they are counted in this process alone.
    #[must_use]
    pub fn state(mut self, folder: impl Into<PathBuf>) -> Self {
        self.state = Some(folder.into());
        self
    }

    /// Fails with `SETTINGS_INVALID`, also for limits that nothing could pass.
    pub fn build(self) -> Result<Runner> {
        let policy = match self.policy {
            Some(it) => it,
            None => EgressPolicy::public()?,
        };
        let Limits { runs, runs_per_host, per_minute, burst } = self.limits;
        let settings =
            LimitsSettings { runs, runs_per_host, per_minute, burst, ..LimitsSettings::default() };
        let limits = limits::HostLimiter::new(&settings, self.state, Arc::clone(&policy.0))?;
        Caller::with_limits(policy.0, limits, self.auth, Box::new(|_| ())).map(Runner)
    }
}
