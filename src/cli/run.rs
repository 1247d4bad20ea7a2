//! `commis recipe run`

use std::{sync::Arc, time::Duration};

use super::{
    Global,
    learn::pairs,
    rows::{self, Format},
    wire::{self, Place, clean},
};
use commis_artifacts::store::now;
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_learn::{BrowserPool, Noted, Runs, Sessions, may_use, note, refused, way_back};
use commis_net::{
    egress::EgressPolicy,
    transport::retry::{Wait, Why},
};
use commis_recipe::{
    model::{Recipe, Status},
    pagination,
};
use commis_runner::{RecipeRunResult, call::Caller};
use commis_state::State;
use commis_vault::{Login, Name, Vault};

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
    /// Send it with a login of the vault: `commis vault ls` lists them
    #[arg(long = "as", value_name = "LOGIN")]
    login: Option<String>,
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
    let registry = wire::registry(&place.home)?;
    let held = wire::held(&registry, &name)?;
    let recipe = held.recipe;
    match recipe.status {
        Status::Verified => {}
        Status::Draft if args.draft => {}
        _ => return Err(refused(&recipe)),
    }
    let caller = caller(&place)?;
    let state = State::open_briefly(&place.home.artifacts);
    let pool = BrowserPool::new(Arc::clone(caller.policy()), place.settings.browser.clone());
    let sessions = Sessions::new(pool, place.settings.browser.session_ttl());
    let sessions = match &args.login {
        Some(it) => sessions.logged_in(login(it, &recipe, &place)?),
        None => sessions,
    };
    let runs = Runs { caller: &caller, sessions: &sessions, tell: &told };
    let count = (&registry, state.as_ref().map_err(Error::code));
    let result = runs.serve((&recipe, held.source), &params, count).await;
    sessions.close().await;
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

/// A login that a recipe is run with. Fails as [`may_use`], and with `PARAM_INVALID` where there is none of that name.
pub fn login(name: &str, recipe: &Recipe, place: &Place) -> Result<Login> {
    let name: Name = name.parse()?;
    let login = Login::open(Vault::new(&place.home), &name)?;
    may_use(recipe, &login)?;
    Ok(login)
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

/// The database, or why there is none.
pub fn borrowed(state: &Result<State>) -> Result<&State> {
    state.as_ref().map_err(|err| Error::new(err.code(), err.to_string()))
}

/// What a call says of itself.
pub fn told(text: &str) {
    wire::say(&clean(text));
}

/// What the calls of this process share; pauses are told on stderr.
pub fn caller(place: &Place) -> Result<Caller> {
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    Caller::new(&place.home, &place.settings, policy, Box::new(tell))
}

/// The same, which tells nothing: of many runs it would be a line for each.
pub fn quiet_caller(place: &Place) -> Result<Caller> {
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    Caller::new(&place.home, &place.settings, policy, Box::new(|_| ()))
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

/// The data in that format, or the whole result. Fails with `USAGE` where the data does not fit the format.
fn print(result: &RecipeRunResult, recipe: &Recipe, format: Option<Format>) -> Result<()> {
    let Some(format) = format else {
        wire::out(result);
        return Ok(());
    };
    if !result.data.is_null() {
        rows::print(&result.data, format)?;
    }
    let items = result.items.map_or(String::new(), |it| match result.complete {
        Some(false) => format!("{}, in ", pagination::describe(it, result.total)),
        _ => format!("{it} items in "),
    });
    let browser = recipe.verification.as_ref().and_then(|it| it.browser_ms);
    let browser = browser
        .map_or(String::new(), |it| format!("; the browser took {it} ms when it was learned"));
    for it in &result.warnings {
        wire::say(&clean(&format!("warning: {}: {it}", recipe.name)));
    }
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
