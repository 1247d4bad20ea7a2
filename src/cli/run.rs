//! `commis recipe run`

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{
    context::{self, Environment, clean},
    learn_args::pairs,
    names,
    output_format::{self, Format},
    run_file::ItemFile,
};
use serde_json::Value;

use commis_artifacts::store::now;
use commis_base::{
    error::{Code, Error, Result},
    files,
    ids::RecipeName,
};
use commis_learn::{
    BrowserPool, Extent, HealthUpdate, RecipeRunner, Sessions, demotion_hint, identify_call,
    may_use, narrow, note, refusal_error,
};
use commis_net::{
    egress::EgressPolicy,
    transport::retry::{WaitEvent, WaitReason},
};
use commis_recipe::{
    json_schema::data_schema,
    model::{Recipe, Status},
    narrowing::ResultFilter,
    pagination,
};
use commis_runner::{RecipeRunResult, call::Caller};
use commis_state::State;
use commis_vault::{Login, LoginName, Vault};

/// Run a recipe and print its data as JSON, NDJSON or CSV
///
/// Data goes to stdout, the duration to stderr. NDJSON and CSV have a line for each item of a list. The columns of CSV are all
/// keys in order of appearance. A CSV cell that a spreadsheet would take for a formula has a ' in front. A value that is neither
/// text nor number is written as JSON.
///
/// With --json: the whole result: data, error code, transport, redirects and timings.
///
/// Two things put a verified recipe out of service: an answer of another shape, and five failures in a row by its own fault.
/// Failures of the network, of limits and of the caller do not count.
///
/// Examples:
///   commis run shop-search -p query=lantern
///   commis run shop-search -p query=lantern --out found.csv
#[derive(clap::Args)]
pub struct Args {
    /// The recipe's name: `commis list` has them
    #[arg(add = names::recipes())]
    name: String,
    /// A parameter of the recipe
    #[arg(add = names::parameters(), short, long = "param", value_name = "NAME=VALUE")]
    param: Vec<String>,
    /// Run a recipe that was never verified
    #[arg(long)]
    draft: bool,
    /// Send the request with a login of the vault: `commis vault ls` lists them
    #[arg(add = names::logins(), long = "as", value_name = "LOGIN")]
    login: Option<String>,
    /// Follow all pages of the list; `recipe explain` says whether the recipe supports it
    #[arg(long)]
    all: bool,
    /// At most N items, over as many pages as needed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_items: Option<u64>,
    /// Follow at most N pages of the list
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_pages: Option<u64>,
    /// Continue where a run ended: its `continue_from`, with the same values
    #[arg(long, value_name = "TOKEN")]
    continue_from: Option<String>,
    #[command(flatten)]
    narrowing: NarrowingArgs,
    /// Write the data to this file, whole or not at all, in the format of its name: .json, .csv, .ndjson. All pages of a list
    /// as .ndjson go to a new file page by page, and the same command continues after an interruption. Of an answer that is a
    /// file its bytes are written; in a folder under the name that its site gives it
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    out: Option<PathBuf>,
    /// How the data is printed or written (default: json, or what the name of --out says)
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Format>,
    /// Print the whole result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Less of an answer.
#[derive(clap::Args)]
pub struct NarrowingArgs {
    /// Only these fields of each item: name,price.amount
    #[arg(long, value_name = "FIELD,…")]
    fields: Option<String>,
    /// Only items that fit this JMESPath condition: 'price < `20`'
    #[arg(long = "where", value_name = "EXPR")]
    condition: Option<String>,
    /// At most N items of those that fit; follows no pages
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// At most N bytes of whole items, as JSON without spaces
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..))]
    max_bytes: Option<u64>,
}

impl NarrowingArgs {
    /// Fails with `PARAM_INVALID`, also where the recipe's data is known not to have it.
    fn narrowing(&self, recipe: &Recipe) -> Result<ResultFilter> {
        let (fields, condition) = (self.fields.as_deref(), self.condition.as_deref());
        let it = ResultFilter::parse(fields, condition, self.limit, self.max_bytes)?;
        if !it.is_all() {
            it.check(&data_schema(recipe, None))?;
        }
        Ok(it)
    }

    /// Text that differs for runs whose items differ.
    fn key(&self) -> String {
        format!("{:?}\n{:?}", self.fields, self.condition)
    }
}

pub async fn run(args: Args, place: &Environment) -> Result<u8> {
    let params = pairs(&args.param)?;
    let name = RecipeName::new(args.name.clone())?;
    let registry = context::registry(&place.home)?;
    let held = context::find_recipe(&registry, &name)?;
    let recipe = held.recipe;
    match recipe.status {
        Status::Verified => {}
        Status::Draft if args.draft => {}
        _ => return Err(refusal_error(&recipe)),
    }
    let narrowing = args.narrowing.narrowing(&recipe)?;
    let caller = caller(place)?;
    let state = State::open_briefly(&place.home.artifacts);
    let pool = BrowserPool::new(Arc::clone(caller.policy()), place.settings.browser.clone());
    let sessions = Sessions::new(pool, place.settings.browser.session_ttl());
    let sessions = match &args.login {
        Some(it) => sessions.logged_in(login(it, &recipe, place)?),
        None => sessions,
    };
    let runs = RecipeRunner { caller: &caller, sessions: &sessions, tell: &print_notice };
    let count = (&registry, state.as_ref().map_err(Error::code));
    let format = if args.json { None } else { Some(args.data_format(&recipe)) };
    let file = match &args.out {
        Some(it) if args.is_by_page(&recipe) => {
            let call = format!("{}\n{}", identify_call(&recipe, &params), args.narrowing.key());
            Some(ItemFile::open(it, &call)?)
        }
        _ => None,
    };
    let by_page = file.is_some();
    if let Some(it) = file.as_ref().filter(|it| it.is_whole()) {
        context::say(&format!("{name}: {} items, all written before", it.items()));
        file.map(ItemFile::finish).transpose()?;
        return Ok(0);
    }
    let mut printed = PageOutput { format, all: Vec::new(), file, is_kept: args.out.is_some() };
    let mut result = match args.extent(&recipe, printed.file.as_ref()) {
        None => runs.serve((&recipe, held.source), &params, count).await,
        Some(extent) => {
            let extent = Extent { narrowing: narrowing.clone(), ..extent };
            let mut page = |items: Vec<Value>, at: Option<&str>| printed.page(items, at);
            let ran = runs.follow((&recipe, held.source), &params, count, &extent, &mut page).await;
            ran.and_then(|it| printed.whole(it))
        }
    };
    sessions.close().await;
    if let Ok(it) = &mut result
        && it.pages.is_none()
    {
        narrow(it, &narrowing)?;
    }
    if let Ok(result) = &result {
        let to = args.out.as_deref().filter(|_| !by_page);
        print(result, &recipe, (format, to))?;
    }
    let ended = result.as_ref().map_err(Error::code);
    // That a run was not counted is no news for who asked for its data.
    let noted = note(&registry, require_state(&state), (&recipe, held.source), ended, &now());
    tell_demotion(&name, &noted);
    let result = result?;
    Ok(match result.error_code {
        None => 0,
        Some(code) => {
            Code::ALL.iter().find(|it| it.as_str() == code).map_or(1, |it| it.class().exit_code())
        }
    })
}

/// Pages of a run that a run of a task for all items follows where nobody says how many.
const USUAL_PAGES: u64 = 100;

impl Args {
    /// As it was asked for, as the file's name says, or as a document; a line an item where a list has pages.
    fn data_format(&self, recipe: &Recipe) -> Format {
        let named = self.out.as_deref().and_then(Format::of);
        let usual = match self.out {
            Some(_) if recipe.pages.is_some() => Format::Ndjson,
            _ => Format::Json,
        };
        self.format.or(named).unwrap_or(usual)
    }

    /// Whether --out takes the list page by page, and can go on.
    fn is_by_page(&self, recipe: &Recipe) -> bool {
        let narrowed = self.narrowing.limit.or(self.narrowing.max_bytes).is_some();
        let ends = self.max_items.or(self.max_pages).is_some() || self.continue_from.is_some();
        let lines = self.data_format(recipe) == Format::Ndjson;
        recipe.pages.is_some() && lines && !narrowed && !ends
    }

    /// How much of the list is wanted; `None` where the answer is one page.
    fn extent(&self, recipe: &Recipe, file: Option<&ItemFile>) -> Option<Extent> {
        if let Some(file) = file {
            let from = file.continue_from().map(str::to_owned);
            return Some(Extent { from, ..Extent::default() });
        }
        let narrowed = self.narrowing.limit.or(self.narrowing.max_bytes).is_some();
        let is_file = self.out.is_some() && recipe.pages.is_some() && !narrowed;
        let given = self.all || is_file || self.max_items.or(self.max_pages).is_some();
        if !given && self.continue_from.is_none() && recipe.pages.is_none() {
            return None;
        }
        let usual = Extent::usual(recipe, USUAL_PAGES);
        Some(Extent {
            max_items: self.max_items,
            max_pages: if given { self.max_pages } else { usual.max_pages },
            from: self.continue_from.clone(),
            narrowing: ResultFilter::default(),
        })
    }
}

/// What of the pages is printed as it comes, and what is kept until the end.
struct PageOutput {
    format: Option<Format>,
    all: Vec<Value>,
    file: Option<ItemFile>,
    /// All of it goes to a file at the end.
    is_kept: bool,
}

impl PageOutput {
    /// NDJSON is printed page by page, and takes no memory; what has a beginning and an end is kept.
    fn page(&mut self, mut items: Vec<Value>, continue_from: Option<&str>) -> Result<()> {
        if let Some(file) = &mut self.file {
            file.page(&items, continue_from)?;
            context::say(&format!("{} items", file.items()));
            return Ok(());
        }
        if self.format == Some(Format::Ndjson) && !self.is_kept {
            return output_format::print(&Value::Array(items), Format::Ndjson);
        }
        self.all.append(&mut items);
        Ok(())
    }

    fn whole(&mut self, result: RecipeRunResult) -> Result<RecipeRunResult> {
        if let Some(file) = self.file.take() {
            if result.success && result.continue_from.is_none() {
                file.finish()?;
            }
            return Ok(RecipeRunResult { data: Value::Null, ..result });
        }
        let data = match self.format {
            Some(Format::Ndjson) if !self.is_kept => Value::Null,
            _ if result.success || !self.all.is_empty() => std::mem::take(&mut self.all).into(),
            _ => result.data.clone(),
        };
        Ok(RecipeRunResult { data, ..result })
    }
}

/// A login that a recipe is run with. Fails as [`may_use`], and with `PARAM_INVALID` where there is none of that name.
pub fn login(name: &str, recipe: &Recipe, place: &Environment) -> Result<Login> {
    let name: LoginName = name.parse()?;
    let login = Login::open(Vault::new(&place.home), &name)?;
    may_use(recipe, &login)?;
    Ok(login)
}

/// Says that a run put its recipe out of service, or should have.
pub fn tell_demotion(name: &RecipeName, noted: &HealthUpdate) {
    if let Some(reason) = noted.demoted {
        context::say(&format!("{name} is deprecated from now on: {}", reason.describe()));
        context::say(&format!("  hint: {}", demotion_hint(name)));
    }
    if let Some(err) = &noted.not_demoted {
        context::say(&clean(&format!("warning: {name} should be deprecated, and is not: {err}")));
    }
}

/// The database, or why there is none.
pub fn require_state(state: &Result<State>) -> Result<&State> {
    state.as_ref().map_err(|err| Error::new(err.code(), err.to_string()))
}

/// What a call says of itself.
pub fn print_notice(text: &str) {
    context::say(&clean(text));
}

/// What the calls of this process share; pauses are told on stderr.
pub fn caller(place: &Environment) -> Result<Caller> {
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    Caller::new(&place.home, &place.settings, policy, Box::new(print_wait))
}

/// The same, which tells nothing: of many runs it would be a line for each.
pub fn quiet_caller(place: &Environment) -> Result<Caller> {
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    Caller::new(&place.home, &place.settings, policy, Box::new(|_| ()))
}

fn print_wait(wait: &WaitEvent) {
    let pause = wait.pause.as_secs_f64();
    match &wait.why {
        WaitReason::Turn if wait.pause > Duration::from_secs(1) => context::say(&clean(&format!(
            "{}: waiting {pause:.1} s, so as not to call it too often",
            wait.host
        ))),
        WaitReason::Turn => {}
        WaitReason::Again(why) => {
            context::say(&clean(&format!("{}: {why}; once more in {pause:.1} s", wait.host)));
        }
    }
}

/// Says before long work how long it takes at least, and which setting makes it so.
pub fn tell_estimate((time, host, calls): (Duration, &str, u64), place: &Environment) {
    if time < Duration::from_secs(20) {
        return;
    }
    let long = match time.as_secs() {
        it @ ..120 => format!("{it} s"),
        it @ ..7200 => format!("{} min", it / 60),
        it => format!("{} h", it / 3600),
    };
    let a_minute = place.settings.limits.per_minute;
    context::say(&clean(&format!(
        "about {long}: {calls} calls of {host} at {a_minute} a minute (limits.per_minute; `commis settings set limits.per_minute N` changes it)"
    )));
}

/// Where an answer that is a file is written: in a folder under the name that its site gives it, which replaces no other file. Fails
/// with `USAGE`.
fn place_of_file(to: &Path, data: &Value) -> Result<PathBuf> {
    if !to.is_dir() {
        return Ok(to.to_owned());
    }
    let name = data["name"].as_str().unwrap_or("file");
    let place = to.join(name);
    if place.symlink_metadata().is_ok() {
        return Err(Error::new(Code::Usage, format!("{} exists", place.display()))
            .hint("name the file in --out to replace it"));
    }
    Ok(place)
}

/// The data in that format, on stdout or in a file, or the whole result. A file is not touched by a run that failed. Fails with `USAGE`
/// where the data does not fit the format, or the file cannot be written.
fn print(
    result: &RecipeRunResult,
    recipe: &Recipe,
    (format, file): (Option<Format>, Option<&Path>),
) -> Result<()> {
    let Some(format) = format else {
        context::out(result);
        return Ok(());
    };
    match file {
        Some(file) if result.success => match &result.file {
            Some(bytes) => files::save(&place_of_file(file, &result.data)?, bytes)?,
            None => files::save(file, output_format::text(&result.data, format)?.as_bytes())?,
        },
        Some(_) => {}
        None if result.data.is_null() => {}
        None => output_format::print(&result.data, format)?,
    }
    let items = result.items.map_or(String::new(), |it| match (result.pages, result.complete) {
        (Some(pages @ 2..), complete) => {
            let of = result.total.map_or(String::new(), |it| format!(" of {it}"));
            let rest = if complete == Some(false) { ", and more may follow" } else { "" };
            format!("{it}{of} items on {pages} pages{rest}, in ")
        }
        (_, Some(false)) => format!("{}, in ", pagination::describe(it, result.total)),
        _ if result.filtered.is_some_and(|out| out > 0) => {
            let all = it + result.filtered.unwrap_or_default();
            format!("{it} of {all} items fit, in ")
        }
        _ => format!("{it} items in "),
    });
    let has_some = result.success || result.items.is_some_and(|it| it > 0);
    if let Some(it) = result.continue_from.as_ref().filter(|_| has_some) {
        context::say(&format!("more: --continue-from {it}"));
    }
    let browser = recipe.verification.as_ref().and_then(|it| it.browser_ms);
    let browser = browser
        .map_or(String::new(), |it| format!("; the browser took {it} ms when it was learned"));
    for it in &result.warnings {
        context::say(&clean(&format!("warning: {}: {it}", recipe.name)));
    }
    match (&result.error, result.error_code) {
        (Some(error), Some(code)) => {
            context::say(&format!("error: {error} [{code}]"));
            if let Some(it) = &result.auth_recovery {
                let scheme = it.scheme.map(|it| format!(" by {it}")).unwrap_or_default();
                context::say(&format!("  the site wants to know who asks{scheme} ({})", it.status));
            }
            if let Some(hint) = &result.hint {
                context::say(&clean(&format!("  hint: {hint}")));
            }
        }
        _ => context::say(&format!(
            "{}: {items}{:.1} ms by {}{browser}",
            recipe.name,
            result.timings_ms.total,
            result.transport_used.as_str()
        )),
    }
    Ok(())
}
