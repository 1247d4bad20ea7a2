//! Runs of recipes as commands and the daemon make them: by our client alone, or in a session, with a second look before a recipe
//! that still works is put out of service.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use super::{
    BrowserPool, Sessions, context::OnProgress, login_run::LoginRun, note, sessions::Session,
};
use commis_artifacts::store::now;
use commis_base::{
    blame::{Blame, blame},
    error::{Code, Error, Result},
    ids::RecipeName,
    settings::BrowserSettings,
};
use commis_net::egress::{limits::Permit, site_of};
use commis_recipe::{
    model::{Recipe, Status, TransportKind},
    registry::{Registry, Source},
    status::{MAX_FAILURES, RecipeState},
    trust::Trust,
};
use commis_runner::{CompiledRecipe, RecipeRunResult, call::Caller};
use commis_state::State;
use commis_vault::Login;

/// Whether a call that the client alone cannot make is tried from a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    Allowed,
    /// A proof holds for one transport.
    Never,
}

/// What several runs share.
#[derive(Clone, Copy)]
pub struct RecipeRunner<'a> {
    pub caller: &'a Caller,
    pub sessions: &'a Sessions,
    pub tell: &'a OnProgress,
}

/// [`RecipeRunner::call`] in sessions of its own, which end with it; with a login where one is given.
pub async fn call_alone(
    recipe: &Recipe,
    params: &BTreeMap<String, String>,
    (caller, browser, tell): (&Caller, &BrowserSettings, &OnProgress),
    (fallback, login): (Fallback, Option<&Login>),
) -> Result<RecipeRunResult> {
    // No browser starts before a session is asked for.
    let pool = BrowserPool::new(Arc::clone(caller.policy()), browser.clone());
    let sessions = Sessions::new(pool, browser.session_ttl());
    let sessions = match login {
        Some(it) => sessions.logged_in(it.clone()),
        None => sessions,
    };
    let result =
        RecipeRunner { caller, sessions: &sessions, tell }.call(recipe, params, fallback).await;
    sessions.close().await;
    result
}

impl RecipeRunner<'_> {
    /// One call, by the client alone or in a session, as the recipe wants it. Fails with `RECIPE_INVALID`, `METHOD_NOT_ALLOWED`,
    /// `LOGIN_REQUIRED`, `BROWSER_*` and what opening the source page fails with; what the call comes to is in the result.
    pub async fn call(
        self,
        recipe: &Recipe,
        params: &BTreeMap<String, String>,
        fallback: Fallback,
    ) -> Result<RecipeRunResult> {
        if let Some(it) = &recipe.login
            && !self.sessions.has_login(&it.site)
        {
            return Err(needs_login(recipe));
        }
        let compiled = &*self.caller.compiled(recipe)?;
        Call { recipe, compiled, params, with: self }.run(fallback).await
    }

    /// The same for who wants the data: before a failure puts the recipe out of service, its example is run. An odd record, a value
    /// that the site does not know and a page that rightly shows nothing are no faults of the recipe. Texts of a page have what they are
    /// beside them.
    pub async fn serve(
        self,
        (recipe, source): (&Recipe, Source),
        params: &BTreeMap<String, String>,
        counted: (&Registry, Result<&State, Code>),
    ) -> Result<RecipeRunResult> {
        let mut result = self.call_or_recheck((recipe, source), params, counted).await?;
        add_values(recipe, &mut result);
        Ok(result)
    }

    async fn call_or_recheck(
        self,
        (recipe, source): (&Recipe, Source),
        params: &BTreeMap<String, String>,
        (registry, state): (&Registry, Result<&State, Code>),
    ) -> Result<RecipeRunResult> {
        let mut result = self.call(recipe, params, Fallback::Allowed).await?;
        let Some(example) = recipe.example().filter(|it| it != params) else { return Ok(result) };
        // What is not known to read is sent once.
        if !self.caller.compiled(recipe)?.is_repeatable() {
            return Ok(result);
        }
        // An account may have nothing.
        if recipe.login.is_none() && result.success && result.items == Some(0) && recipe.had_items()
        {
            self.doubt_empty(recipe, &example, &mut result).await;
            return Ok(result);
        }
        if !would_demote(recipe, source, &result, state) {
            return Ok(result);
        }
        let Ok(proven) = self.call(recipe, &example, Fallback::Never).await else {
            return Ok(result);
        };
        if proven.success && !(recipe.had_items() && proven.items == Some(0)) {
            // Nothing is wrong with the recipe: the count begins anew.
            let state = state.map_err(|code| Error::new(code, "there is no database"));
            note(registry, state, (recipe, source), Ok(&proven), &now());
            result.example_holds = true;
            if !result.blank_fields.is_empty() {
                result.accept_blank_fields();
                return Ok(result);
            }
            result.hint = Some(
                "its example still works, so the site is as it was: these values find nothing, or what they find is built in another way"
                    .to_owned(),
            );
        }
        Ok(result)
    }
}

impl RecipeRunner<'_> {
    /// Nothing was found. A site that no longer reads its parameter finds nothing for the example either.
    async fn doubt_empty(
        self,
        recipe: &Recipe,
        example: &BTreeMap<String, String>,
        result: &mut RecipeRunResult,
    ) {
        let Ok(own) = self.call(recipe, example, Fallback::Never).await else { return };
        if own.success && own.items == Some(0) {
            let why = "no items, and none for the recipe's own example, which had some";
            let err = Error::new(Code::ShapeDrift, why)
                .hint("the site may have changed; `commis recipe heal` learns it again");
            *result = RecipeRunResult { attempts: result.attempts + own.attempts, ..own };
            result.fail(&err);
        }
    }
}

/// Puts what the texts of a page are beside them, by the types of the recipe.
pub(super) fn add_values(recipe: &Recipe, result: &mut RecipeRunResult) {
    if result.success {
        result.warnings.extend(recipe.response.add_values(&mut result.data));
    }
}

/// What the tiers of one call share.
struct Call<'a> {
    recipe: &'a Recipe,
    compiled: &'a CompiledRecipe,
    params: &'a BTreeMap<String, String>,
    with: RecipeRunner<'a>,
}

impl Call<'_> {
    async fn run(&self, fallback: Fallback) -> Result<RecipeRunResult> {
        let kind = self.recipe.transport();
        let permit = match self.with.caller.enter(self.compiled).await {
            Ok(it) => it,
            Err(err) => return Ok(RecipeRunResult::from_error(kind, &err)),
        };
        let first = self.through(kind, &permit).await?;
        let Some(kind) = tier_up(kind).filter(|_| fallback == Fallback::Allowed) else {
            return Ok(first);
        };
        if !steps_up(self.recipe, self.compiled, &first) {
            return Ok(first);
        }
        let error = first.error.as_deref().unwrap_or_default();
        let name = &self.recipe.name;
        (self.with.tell)(&format!("{name}: {error}; once more in a browser's session"));
        match self.through(kind, &permit).await {
            Ok(second) => Ok(RecipeRunResult {
                fallback_from: Some(first.transport_used),
                attempts: first.attempts + second.attempts,
                ..second
            }),
            // Without a page there is nothing new to say.
            Err(_) => Ok(first),
        }
    }

    /// In a session, the source page is opened in a headless browser, and what the call needs is taken from it.
    async fn through(&self, kind: TransportKind, permit: &Permit) -> Result<RecipeRunResult> {
        let Self { recipe, compiled, params, with: RecipeRunner { caller, sessions, tell } } =
            *self;
        if !kind.sends_cookies() {
            return Ok(caller.call(permit, compiled, params).await);
        }
        sessions.allow(recipe)?;
        if kind == TransportKind::LoginHttp {
            let login = sessions.login().ok_or_else(|| needs_login(recipe))?;
            return LoginRun { recipe, compiled, params, caller, login, tell }.run(permit).await;
        }
        let run = self.in_page(kind, permit).await;
        match sessions.login().filter(|_| recipe.login.is_some()) {
            Some(login) => {
                LoginRun { recipe, compiled, params, caller, login, tell }.judge(run).await
            }
            None => run,
        }
    }

    /// What a page gave may be used up by one request: a refusal in a session that was open before is asked again in a new one.
    async fn in_page(&self, kind: TransportKind, permit: &Permit) -> Result<RecipeRunResult> {
        let start = Instant::now();
        let (session, first) = self.in_session(kind, permit).await?;
        let is_refused = first.error_code == Some(Code::AuthRequired.as_str());
        let is_of_page = self.recipe.slots.iter().any(|it| it.from.needs_session());
        if !is_refused || !is_of_page || session.is_newer(start) || !self.compiled.is_repeatable() {
            return Ok(first);
        }
        self.with.sessions.discard(&session).await;
        let (_, mut again) = self.in_session(kind, permit).await?;
        again.attempts += first.attempts;
        Ok(again)
    }

    async fn in_session(
        &self,
        kind: TransportKind,
        permit: &Permit,
    ) -> Result<(Arc<Session>, RecipeRunResult)> {
        let Self { recipe, compiled, params, with: RecipeRunner { caller, sessions, tell } } =
            *self;
        let start = Instant::now();
        let session = sessions.get_or_open(&recipe.source_url, recipe.own_host.as_deref()).await?;
        let ms = start.elapsed().as_millis();
        tell(&format!("session {}: open after {ms} ms in a browser", session.id));
        let slots = session.slots(recipe).await?;
        let transport = session.transport(kind);
        let result = caller.call_through(permit, compiled, params, &slots, &*transport).await;
        if let Some(it) = sessions.login() {
            session.keep_cookies(it).await?;
        }
        Ok((session, result))
    }
}

/// That a recipe answers whoever is logged in, and nobody is.
fn needs_login(recipe: &Recipe) -> Error {
    let site =
        recipe.login.as_ref().map_or_else(|| site_of(&recipe.source_url), |it| it.site.clone());
    let what = format!("{} needs a login of {site}", recipe.name);
    Error::new(Code::LoginRequired, what).hint(format!(
        "--as NAME, over REST and MCP `login`, uses a login; `commis session login NAME https://{site}/` makes one"
    ))
}

/// The next riskier transport.
const fn tier_up(kind: TransportKind) -> Option<TransportKind> {
    match kind {
        TransportKind::PublicHttp | TransportKind::LoginHttp => Some(TransportKind::ContextRequest),
        TransportKind::ContextRequest => Some(TransportKind::InPageFetch),
        _ => None,
    }
}

/// One tier up, once (seed 2.2), and only where the transport failed: an answer, or a refusal of ours, is not asked again.
/// A page of another site is opened only where that was proven to be needed.
fn steps_up(recipe: &Recipe, compiled: &CompiledRecipe, failed: &RecipeRunResult) -> bool {
    let code = failed.error_code.and_then(Code::from_wire);
    matches!(code, Some(Code::Timeout | Code::ConnectFailed))
        && compiled.is_repeatable()
        && !compiled.has_key()
        && site_of(&recipe.source_url) == site_of(&recipe.request.url)
}

/// The failure would put the recipe out of service.
fn would_demote(
    recipe: &Recipe,
    source: Source,
    failed: &RecipeRunResult,
    state: Result<&State, Code>,
) -> bool {
    let health = || state.ok()?.health(recipe.name.as_str(), source.as_str()).ok()?;
    let code = failed.error_code.and_then(Code::from_wire);
    let is_its_own =
        |it: Code| blame(it, recipe.auth.is_some() || recipe.login.is_some()) == Blame::Recipe;
    recipe.status == Status::Verified
        && code.is_some_and(is_its_own)
        && (code == Some(Code::ShapeDrift)
            || health().is_some_and(|it| it.failed_in_a_row + 1 >= MAX_FAILURES))
}

/// That a recipe may not be run as it stands: `RECIPE_NOT_VERIFIED`, with what to do.
pub fn refusal_error(recipe: &Recipe) -> Error {
    let name = &recipe.name;
    let (status, hint) = match recipe.state() {
        RecipeState::Demoted(reason) => (
            format!("deprecated: {}", reason.describe()),
            format!("{}; `commis recipe explain {name}` says more", demotion_hint(name)),
        ),
        RecipeState::TakenBack => ("deprecated".to_owned(), "learn it again".to_owned()),
        RecipeState::Draft if recipe.trust == Trust::Claimed => (
            "draft: its file says that it was proven, and it was not proven here".to_owned(),
            format!(
                "`commis recipe verify {name}` proves it on its examples; `commis recipe trust {name}` if you know who proved it; --draft runs it all the same"
            ),
        ),
        // What `verify` would refuse is not offered.
        RecipeState::Draft if recipe.refused.is_some() => (
            recipe.status.as_str().to_owned(),
            format!(
                "--draft runs it all the same; `commis recipe explain {name}` says why it was not verified, and learning it again, perhaps with other examples, is the way to prove it"
            ),
        ),
        RecipeState::Draft if has_one_example(recipe) => (
            recipe.status.as_str().to_owned(),
            "--draft runs it all the same; it is proven by learning it again with a second example: --second NAME=VALUE".to_owned(),
        ),
        RecipeState::Draft | RecipeState::Verified => (
            recipe.status.as_str().to_owned(),
            format!(
                "--draft runs it all the same; `commis recipe verify {name}` proves it on its examples"
            ),
        ),
    };
    Error::new(Code::RecipeNotVerified, format!("{name} is {status}")).hint(hint)
}

/// A second value of a parameter is what a proof takes.
fn has_one_example(recipe: &Recipe) -> bool {
    let all = &recipe.parameters;
    !all.is_empty() && all.iter().all(|it| it.examples.len() < 2)
}

/// What to do about a recipe that was demoted.
pub fn demotion_hint(name: &RecipeName) -> String {
    format!(
        "`commis recipe verify {name}` proves it again if the site is as it was; else learn its task again, with --force"
    )
}
