//! `commis recipe run`

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    Global,
    learn::pairs,
    rows::{self, Format},
    wire::{self, Place, clean},
};
use crate::{
    artifacts::store::now,
    egress::{EgressPolicy, limits::Permit, site_of},
    error::{Code, Error, Result},
    ids::RecipeName,
    pipeline::{BrowserPool, Noted, Sessions, note},
    recipe::{
        model::{Recipe, Status, TransportKind},
        registry::{Registry, Source},
        standing::{MAX_FAILURES, Standing},
    },
    runner::{Compiled, RecipeRunResult, call::Caller},
    settings::BrowserSettings,
    state::State,
    transport::retry::{Wait, Why},
};

/// Run a recipe and print its data as JSON, NDJSON or CSV
///
/// Data goes to stdout, how long it took to stderr. With --json the whole result is printed: data, error code, transport,
/// redirects, and where the time went. As NDJSON and CSV a list has a line an item; in CSV the columns are all keys in the
/// order in which they come, and what is neither text nor number is written as JSON.
///
/// A verified recipe whose answer no longer has the shape that was verified is put out of service, and so is one that fails
/// five times in a row by its own fault; what is the network's, the limits' or the caller's does not count.
///
/// Example: commis recipe run shop-search -p query=lantern
#[derive(clap::Args)]
pub struct Args {
    name: String,
    /// A parameter of the recipe
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Run a recipe that was never verified
    #[arg(long)]
    draft: bool,
    /// How the data is printed
    #[arg(long, value_enum, default_value_t, conflicts_with = "json")]
    format: Format,
    /// Print the whole result as JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let params = pairs(&args.param)?;
    let name = RecipeName::new(args.name)?;
    let place = wire::open(global).await?;
    let registry = Registry::open(&place.home.recipes);
    let held = registry.get(&name)?;
    if held.shadows {
        wire::say(&format!("info: your own {name} stands before the library's"));
    }
    let recipe = held.recipe;
    match recipe.status {
        Status::Verified => {}
        Status::Draft if args.draft => {}
        _ => return Err(refused(&recipe)),
    }
    let caller = caller(&place)?;
    let browser = &place.settings.browser;
    let mut result = call(&recipe, &params, &caller, browser, Fallback::Allowed).await;
    let state = State::open_briefly(&place.home.artifacts);
    if let Ok(result) = &mut result
        && is_last_straw(&recipe, held.source, result, &state)
        && let Some(proven) = proven_again(&recipe, &caller, browser).await
    {
        // Nothing is wrong with the recipe: the count begins anew.
        let ran = (&recipe, held.source);
        note(&registry, borrowed(&state), ran, Ok(&proven), &now());
        result.hint = Some(
            "its example still finds items, so the site is as it was: these values find nothing, or are shown in another way"
                .to_owned(),
        );
    }
    if let Ok(result) = &result {
        print(result, &recipe, if args.json { None } else { Some(args.format) })?;
    }
    let ended = result.as_ref().map_err(Error::code);
    // That a run was not counted is no news for who asked for its data.
    let noted = note(&registry, borrowed(&state), (&recipe, held.source), ended, &now());
    tell_demotion(&name, &noted);
    let result = result?;
    Ok(match result.error_code {
        None => 0,
        Some(code) => {
            Code::ALL.iter().find(|it| it.as_str() == code).map_or(1, |it| it.class().exit_code())
        }
    })
}

/// One more page without items would put the recipe out of service. Values that rightly find nothing look like that, too,
/// where learning never saw how the site says so.
fn is_last_straw(
    recipe: &Recipe,
    source: Source,
    failed: &RecipeRunResult,
    state: &Result<State>,
) -> bool {
    let health = || state.as_ref().ok()?.health(recipe.name.as_str(), source.as_str()).ok()?;
    failed.error_code == Some(Code::ExtractEmpty.as_str())
        && recipe.status == Status::Verified
        && recipe.response.html.is_some()
        && recipe.had_items()
        && health().is_some_and(|it| it.failed_in_a_row + 1 >= MAX_FAILURES)
}

/// The run of its first example, if that still finds items.
async fn proven_again(
    recipe: &Recipe,
    caller: &Caller,
    browser: &BrowserSettings,
) -> Option<RecipeRunResult> {
    let result = call(recipe, &recipe.example()?, caller, browser, Fallback::Never).await.ok()?;
    (result.success && result.items > Some(0)).then_some(result)
}

/// That a recipe may not be run as it stands: `RECIPE_NOT_VERIFIED`, with what to do.
pub fn refused(recipe: &Recipe) -> Error {
    let name = &recipe.name;
    let (status, hint) = match recipe.standing() {
        Standing::Demoted(reason) => (
            format!("deprecated: {}", reason.told()),
            format!("{}; `commis recipe explain {name}` says more", way_back(name)),
        ),
        Standing::TakenBack => ("deprecated".to_owned(), "learn it again".to_owned()),
        Standing::Draft | Standing::Verified => (
            recipe.status.as_str().to_owned(),
            format!(
                "--draft runs it all the same; `commis recipe verify {name}` proves it on its examples"
            ),
        ),
    };
    Error::new(Code::RecipeNotVerified, format!("{name} is {status}")).hint(hint)
}

/// What to do about a recipe that was demoted.
pub fn way_back(name: &RecipeName) -> String {
    format!(
        "`commis recipe verify {name}` proves it again if the site is as it was; else learn its task again, with --force"
    )
}

/// The database, or why there is none.
pub fn borrowed(state: &Result<State>) -> Result<&State> {
    state.as_ref().map_err(|err| Error::new(err.code(), err.to_string()))
}

/// Says that a run put its recipe out of service, or should have.
pub fn tell_demotion(name: &RecipeName, noted: &Noted) {
    if let Some(reason) = noted.demoted {
        wire::say(&format!("{name} is deprecated from now on: {}", reason.told()));
        wire::say(&format!("  hint: {}", way_back(name)));
    }
    if let Some(err) = &noted.not_demoted {
        wire::say(&clean(&format!("warning: {name} should be deprecated, and is not: {err}")));
    }
}

/// What the calls of this process share; pauses are told on stderr.
pub fn caller(place: &Place) -> Result<Caller> {
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    Caller::new(&place.home, &place.settings, policy, Box::new(tell))
}

fn tell(wait: &Wait) {
    let pause = wait.pause.as_secs_f64();
    match &wait.why {
        Why::Turn if wait.pause > Duration::from_secs(1) => wire::say(&clean(&format!(
            "{}: waiting {pause:.1} s, so as not to call it too often",
            wait.host
        ))),
        Why::Turn => {}
        Why::Again(why) => {
            wire::say(&clean(&format!("{}: {why}; once more in {pause:.1} s", wait.host)));
        }
    }
}

/// Whether a call that the client alone cannot make is tried from a page.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    Allowed,
    /// A proof holds for one transport.
    Never,
}

/// One call, by the client alone or in a session, as the recipe wants it. Fails with `RECIPE_INVALID`, `METHOD_NOT_ALLOWED`,
/// `BROWSER_*` and what opening the source page fails with; what the call comes to is in the result.
pub async fn call(
    recipe: &Recipe,
    params: &BTreeMap<String, String>,
    caller: &Caller,
    browser: &BrowserSettings,
    fallback: Fallback,
) -> Result<RecipeRunResult> {
    // No browser starts before a session is asked for.
    let pool = BrowserPool::new(Arc::clone(caller.policy()), browser.clone());
    let sessions = Sessions::new(pool, browser.session_ttl());
    let compiled = &*caller.compiled(recipe)?;
    let call = Call { recipe, compiled, params, caller, sessions: &sessions };
    let result = call.made(fallback).await;
    sessions.close().await;
    result
}

/// What the tiers of one call share.
struct Call<'a> {
    recipe: &'a Recipe,
    compiled: &'a Compiled,
    params: &'a BTreeMap<String, String>,
    caller: &'a Caller,
    sessions: &'a Sessions,
}

impl Call<'_> {
    async fn made(&self, fallback: Fallback) -> Result<RecipeRunResult> {
        let kind = self.recipe.transport();
        let permit = match self.caller.enter(self.compiled).await {
            Ok(it) => it,
            Err(err) => return Ok(RecipeRunResult::failed(kind, &err)),
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
        wire::say(&clean(&format!("{name}: {error}; once more in a browser's session")));
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
        let Self { recipe, compiled, params, caller, sessions } = *self;
        if !kind.in_session() {
            return Ok(caller.call(permit, compiled, params).await);
        }
        let start = Instant::now();
        let session = sessions.of(&recipe.source_url, recipe.own_host.as_deref()).await?;
        let ms = start.elapsed().as_millis();
        wire::say(&format!("session {}: open after {ms} ms in a browser", session.id));
        let slots = session.slots(recipe).await?;
        let transport = session.transport(kind);
        Ok(caller.call_through(permit, compiled, params, &slots, &*transport).await)
    }
}

/// The next riskier transport.
const fn tier_up(kind: TransportKind) -> Option<TransportKind> {
    match kind {
        TransportKind::PublicHttp => Some(TransportKind::ContextRequest),
        TransportKind::ContextRequest => Some(TransportKind::InPageFetch),
        _ => None,
    }
}

/// One tier up, once (seed 2.2), and only where the transport failed: an answer, or a refusal of ours, is not asked again.
/// A page of another site is opened only where that was proven to be needed.
fn steps_up(recipe: &Recipe, compiled: &Compiled, failed: &RecipeRunResult) -> bool {
    let code = failed.error_code.and_then(Code::from_wire);
    matches!(code, Some(Code::Timeout | Code::ConnectFailed))
        && compiled.repeatable()
        && !compiled.has_key()
        && site_of(&recipe.source_url) == site_of(&recipe.request.url)
}

/// The data in that format, or the whole result. Fails with `USAGE` where the data does not fit the format.
fn print(result: &RecipeRunResult, recipe: &Recipe, format: Option<Format>) -> Result<()> {
    let Some(format) = format else {
        wire::out(result);
        return Ok(());
    };
    if !result.data.is_null() {
        rows::print(&result.data, format)?;
    }
    let items = result.items.map_or(String::new(), |it| format!("{it} items in "));
    let browser = recipe.verification.as_ref().and_then(|it| it.browser_ms);
    let browser = browser
        .map_or(String::new(), |it| format!("; the browser took {it} ms when it was learned"));
    match (&result.error, result.error_code) {
        (Some(error), Some(code)) => {
            wire::say(&format!("error: {error} [{code}]"));
            if let Some(it) = &result.auth_recovery {
                let scheme = it.scheme.map(|it| format!(" by {it}")).unwrap_or_default();
                wire::say(&format!("  the site wants to know who asks{scheme} ({})", it.status));
            }
            if let Some(hint) = &result.hint {
                wire::say(&clean(&format!("  hint: {hint}")));
            }
        }
        _ => wire::say(&format!(
            "{}: {items}{:.1} ms by {}{browser}",
            recipe.name,
            result.timings_ms.total,
            result.transport_used.as_str()
        )),
    }
    Ok(())
}
