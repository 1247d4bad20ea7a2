//! A recipe called as a guest: what is let in, when, how often, and what is told of it.
//!
//! [`run`](super::run) fills, sends and reads; this adds what only a caller in the open may need: a place among the runs at
//! once, turns in the host's bucket, one more attempt, a key.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    CompiledRecipe, RecipeRunResult,
    compile_cache::CompiledRecipes,
    credential::{Credential, SigningTransport},
    run,
};
use commis_base::{
    error::Result,
    settings::{AuthSettings, Home, Settings},
};
use commis_net::{
    egress::{
        EgressPolicy,
        limits::{HostLimiter, Permit},
    },
    transport::{
        Transport,
        public_http::PublicHttp,
        retry::{MAX_RETRY_AFTER, OnWait, ThrottledTransport},
    },
};
use commis_recipe::model::Recipe;

/// What the calls of one process share.
pub struct Caller {
    policy: Arc<EgressPolicy>,
    http: PublicHttp,
    limits: HostLimiter,
    auth: AuthSettings,
    on_wait: Box<OnWait>,
    compiled: CompiledRecipes,
}

impl Caller {
    /// `on_wait` is told of every pause before it begins. Fails with `SETTINGS_INVALID`.
    pub fn new(
        home: &Home,
        settings: &Settings,
        policy: Arc<EgressPolicy>,
        on_wait: Box<OnWait>,
    ) -> Result<Self> {
        let limits = HostLimiter::new(&settings.limits, home.limits.clone(), Arc::clone(&policy))?;
        Self::with_limits(policy, limits, settings.auth.clone(), on_wait)
    }

    /// The same with limits that were made before. Fails with `INTERNAL` when the TLS library cannot be set up.
    pub fn with_limits(
        policy: Arc<EgressPolicy>,
        limits: HostLimiter,
        auth: AuthSettings,
        on_wait: Box<OnWait>,
    ) -> Result<Self> {
        let http = PublicHttp::new(Arc::clone(&policy))?;
        Ok(Self { policy, http, limits, auth, on_wait, compiled: CompiledRecipes::default() })
    }

    pub fn policy(&self) -> &Arc<EgressPolicy> {
        &self.policy
    }

    /// The client of all calls that have no browser.
    pub fn http(&self) -> &PublicHttp {
        &self.http
    }

    /// How many at once, and how often to one host.
    pub fn limits(&self) -> &HostLimiter {
        &self.limits
    }

    /// The recipe compiled, once for all its calls. Fails with `RECIPE_INVALID` or `METHOD_NOT_ALLOWED`.
    pub fn compiled(&self, recipe: &Recipe) -> Result<Arc<CompiledRecipe>> {
        self.compiled.get(recipe)
    }

    /// How many calls asked for a compiled recipe, and how many found it.
    pub fn calls_and_hits(&self) -> (u64, u64) {
        self.compiled.calls_and_hits()
    }

    /// Waits until the recipe may run. Fails with `RATE_LIMITED`.
    pub async fn enter(&self, compiled: &CompiledRecipe) -> Result<Permit> {
        self.limits.enter(&compiled.host).await
    }

    /// Runs the recipe by our own client, with no session.
    pub async fn call(
        &self,
        permit: &Permit,
        compiled: &CompiledRecipe,
        params: &BTreeMap<String, String>,
    ) -> RecipeRunResult {
        self.call_through(permit, compiled, params, &BTreeMap::new(), &self.http).await
    }

    /// Runs the recipe through a session's transport; `slots` are values that the session gave.
    pub async fn call_through(
        &self,
        _permit: &Permit,
        compiled: &CompiledRecipe,
        params: &BTreeMap<String, String>,
        slots: &BTreeMap<String, String>,
        transport: &dyn Transport,
    ) -> RecipeRunResult {
        let Some(auth) = &compiled.recipe.auth else {
            return self.send(compiled, params, slots, transport).await;
        };
        let url = &compiled.recipe.request.url;
        let credential = match Credential::read(auth, url, &self.auth) {
            Ok(it) => it,
            Err(err) => return RecipeRunResult::from_error(transport.kind(), &err),
        };
        let mut out = match SigningTransport::new(transport, &credential) {
            Ok(signed) => self.send(compiled, params, slots, &signed).await,
            Err(err) => RecipeRunResult::from_error(transport.kind(), &err),
        };
        // What was escaped in the answer is plain text by now.
        out.hide(credential.secret_filter());
        out
    }

    async fn send(
        &self,
        compiled: &CompiledRecipe,
        params: &BTreeMap<String, String>,
        slots: &BTreeMap<String, String>,
        transport: &dyn Transport,
    ) -> RecipeRunResult {
        let again = compiled.is_repeatable();
        let polite =
            ThrottledTransport::new(transport, &self.policy, &self.limits, again, &*self.on_wait);
        let mut out = run(compiled, params, slots, &polite).await;
        let seen = polite.retry_state();
        out.attempts = seen.attempts;
        if !out.success {
            out.retry_after_sec = out.retry_after_sec.or(seen.retry_after);
        }
        if let Some(it) = out.retry_after_sec.filter(|it| out.retryable && *it > MAX_RETRY_AFTER) {
            out.hint = Some(format!(
                "the site asks for a pause of {it} s; commis waits for at most {MAX_RETRY_AFTER} s"
            ));
        }
        out
    }
}
