//! `commis recipe map`

use std::{
    io::{BufReader, IsTerminal as _, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use tokio::sync::mpsc;

use super::{
    Global,
    context::{self, Environment, clean},
    map_inputs::{self, InputFormat, Table},
    names, run, stores,
};
use commis_artifacts::store::now;
use commis_base::{
    error::{Code, Error, Result},
    files::{self, LineFile},
    ids::{RecipeName, random_token},
};
use commis_batch::map::{
    self, CompletedLines, HealthStore, Input, LineSink, MapContext, Options, Totals,
    remote::RemoteMap,
};
use commis_learn::{BrowserPool, HealthUpdate, Sessions, refusal_error};
use commis_recipe::{
    model::{Recipe, Status},
    registry::Source,
    status::RecipeEvent,
};
use commis_runner::call::Caller;
use commis_stages::effect::recipe_effect;
use commis_state::State;

/// Inputs that are read before their turn.
const AHEAD: usize = 64;
/// Without a terminal, a line of progress so often.
const EVERY: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "Examples:
  commis recipe map shop-search --inputs queries.csv --out found.ndjson
  commis recipe map shop-search --inputs queries.ndjson --out found.ndjson
  commis recipe map shop-search --inputs queries.ndjson --out found.ndjson --resume
  jq -c '{query: .title}' books.ndjson | commis recipe map shop-search --inputs - --ordered";

/// Run a recipe on each line of a file of inputs
///
/// A line of input is a JSON object of parameters, or a row of CSV under the names of parameters. A line of output is one
/// result: {line, input, data}, or {line, input, error: {code, message, hint, retryable}}. A wrong or failed line does not
/// affect the others; empty lines are skipped. Runs share the compiled recipe, connections and an open page. They keep the rate
/// limits ([limits] in the settings) and wait for a host as long as needed.
///
/// It stops after 50 lines in a row that failed by the network or the site, and when the recipe is put out of service. For that
/// its own example must fail, too: one odd input is not enough. After Ctrl-C running lines have five seconds to end. --resume
/// with --out continues.
///
/// A value that seems to be a secret is sent, and redacted in its result.
///
/// Exit code 1: a line failed, or was not run.
///
/// With --json: a line more at the end, with `event`: map_finished and what came of all: `lines`, `ok`, `failed`, `errors`, `before`, `before_failed`,
/// `interrupted`, `stopped_by`, `trouble` and `ms`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The recipe's name: `commis list` has them
    #[arg(add = names::recipes())]
    name: String,
    /// A JSON object of parameters a line, or CSV with headings; `-` is stdin
    #[arg(long, value_name = "FILE")]
    inputs: PathBuf,
    /// Format of the inputs (default: from the file name; csv for .csv and .tsv)
    #[arg(long, value_enum)]
    input_format: Option<InputFormat>,
    /// Write the results there instead of to stdout (0600, appended as they come)
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Continue an earlier run: lines in --out are not run again
    #[arg(long, requires = "out")]
    resume: bool,
    /// With --resume: run transient failures again
    #[arg(long, requires = "resume", conflicts_with = "ordered")]
    retry_failed: bool,
    /// Lines at a time; at most as many to one host as [limits] allows
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: u16,
    /// Write results in the order of the inputs
    #[arg(long)]
    ordered: bool,
    /// Run a recipe that was never verified, if it asks with GET
    #[arg(long)]
    draft: bool,
    /// Use a login of the vault: `commis vault ls` lists them
    #[arg(add = names::logins(), long = "as", value_name = "LOGIN")]
    login: Option<String>,
    /// Let the workers of this engine run the lines; they share the store: temporal, or temporal:QUEUE (default: commis); needs
    /// commis-worker
    #[arg(long, value_name = "NAME", requires = "store", conflicts_with_all = ["jobs", "login"])]
    engine: Option<String>,
    /// With --engine: the store that the workers share
    #[arg(long, value_name = "URL", requires = "engine")]
    store: Option<String>,
    /// With --engine: parts of the inputs at a time on the recipe's host, by all machines
    #[arg(long, value_name = "N", requires = "engine", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=32))]
    per_host: u8,
    /// With --engine: name of the map; the same lines under the same name reuse results of the store (default: a new name)
    #[arg(long, value_name = "NAME", requires = "engine")]
    map: Option<String>,
    /// Print the totals as JSON, too
    #[arg(long)]
    pub json: bool,
}

impl Args {
    fn format(&self) -> InputFormat {
        self.input_format.unwrap_or_else(|| InputFormat::of(&self.inputs))
    }
}

/// What a line of stdout is.
#[derive(Serialize)]
#[serde(untagged)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum OutputLine<'a> {
    #[cfg(test)]
    #[expect(dead_code, reason = "it stands for what `Sink` is given, in the schema")]
    Line(Box<map::MapLine>),
    Finished {
        /// `map_finished`
        event: &'static str,
        recipe: &'a RecipeName,
        #[serde(flatten)]
        totals: &'a Totals,
    },
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let name = RecipeName::new(&args.name)?;
    let place = context::open(global).await?;
    let registry = context::registry(&place.home)?;
    let held = context::find_recipe(&registry, &name)?;
    let recipe = held.recipe;
    check_reads(&recipe, args.draft)?;
    let (inputs, size) = inputs(&args, &recipe)?;
    let is_table = args.format() == InputFormat::Csv;
    let known = (args.inputs != Path::new("-")).then(|| map_inputs::count(&args.inputs)).flatten();
    let known = known.map(|it| it.saturating_sub(u64::from(is_table)));
    let (out, kept) = match &args.out {
        None => (None, CompletedLines::default()),
        Some(path) => {
            let (lines, kept) = results(path, &args)?;
            (Some(lines), kept)
        }
    };

    let before = (kept.count(), kept.failed);
    if before.0 > 0 {
        context::say(&format!("{} lines are done already, {} of them failed", before.0, before.1));
    }
    let mut progress = Progress::new(size, before);
    let mut sink = match out {
        Some(it) => OutputTarget::File(it),
        None => OutputTarget::Stdout(progress.bar.clone()),
    };
    let inputs = feed(inputs, kept)?;
    let mut tell = |totals: &Totals| progress.update(totals);
    let ended = match &args.engine {
        None => {
            let health_store =
                HealthStore { registry, state: State::open_briefly(&place.home.artifacts) };
            let left = known.map(|it| it.saturating_sub(before.0));
            let source = held.source;
            here(
                &place,
                &args,
                (recipe, source, left),
                health_store,
                inputs,
                (&mut sink, &mut tell),
            )
            .await
        }
        Some(engine) => {
            let store = args.store.as_deref().unwrap_or_default();
            let remote = remote(engine, store, &args, global, (&place, recipe))?;
            let ended =
                map::remote::run(&remote, inputs, &mut sink, &mut tell, context::interrupted())
                    .await;
            let broken =
                ended.as_ref().is_ok_and(|it| it.stopped_by == Some(Code::RecipeNotVerified));
            if broken {
                let put =
                    registry.demote(&remote.recipe, held.source, RecipeEvent::Drifted, &now());
                let noted = match put {
                    Ok(demoted) => HealthUpdate { demoted, ..HealthUpdate::default() },
                    Err(err) => HealthUpdate { not_demoted: Some(err), ..HealthUpdate::default() },
                };
                run::tell_demotion(&name, &noted);
            }
            ended
        }
    };
    if let Some(bar) = &progress.bar {
        bar.finish_and_clear();
    }
    let settled = sink.settle();
    let mut totals = ended?;
    settled?;
    (totals.before, totals.before_failed) = before;
    print_totals(&totals, args.out.is_some());
    if args.json {
        let event = OutputLine::Finished { event: "map_finished", recipe: &name, totals: &totals };
        let json = serde_json::to_string(&event);
        context::event(&json.map_err(|err| {
            Error::new(Code::Internal, "cannot write the totals as JSON").source(err)
        })?);
    }
    Ok(totals.exit_code())
}

type ResultHandlers<'a> = (&'a mut (dyn LineSink + Send), &'a mut (dyn FnMut(&Totals) + Send));

/// By this machine.
async fn here(
    place: &Environment,
    args: &Args,
    (recipe, source, left): (Recipe, Source, Option<u64>),
    health_store: HealthStore,
    inputs: mpsc::Receiver<Result<Input>>,
    (sink, tell): ResultHandlers<'_>,
) -> Result<Totals> {
    let caller = run::quiet_caller(place)?;
    let jobs = jobs(usize::from(args.jobs), &caller, &recipe)?;
    let compiled = caller.compiled(&recipe)?;
    let host = compiled.host();
    if let Some(calls) = left
        && let Some(time) = caller.limits().estimate(host, calls)
    {
        run::tell_estimate((time, host, calls), place);
    }
    let pool = BrowserPool::new(Arc::clone(caller.policy()), place.settings.browser.clone());
    let sessions = Sessions::new(pool, place.settings.browser.session_ttl());
    let sessions = match &args.login {
        Some(it) => sessions.logged_in(run::login(it, &recipe, place)?),
        None => sessions,
    };
    let work = Arc::new(MapContext::new((recipe, source), (caller, sessions), Some(health_store)));
    let options = Options { jobs, ordered: args.ordered };
    let ended = map::run(&work, inputs, options, sink, tell, context::interrupted()).await;
    if let Ok(work) = Arc::try_unwrap(work) {
        work.sessions.close().await;
    }
    ended
}

/// By the machines of an engine.
fn remote(
    engine: &str,
    store: &str,
    args: &Args,
    global: &Global,
    (place, recipe): (&Environment, Recipe),
) -> Result<RemoteMap> {
    let shared_store = stores::open(store, global, &place.home)?;
    let engine = stores::engine(engine, global)?;
    let url = url::Url::parse(&recipe.request.url).ok();
    let host = url.and_then(|it| it.host_str().map(str::to_owned)).unwrap_or_default();
    let map = match &args.map {
        Some(it) => RecipeName::new(it)?.to_string(),
        None => random_token()?,
    };
    if args.map.is_none() {
        context::say(&format!("map {map}: with --map {map}, what the store has of it is taken"));
    }
    let per_host = args.per_host.into();
    Ok(RemoteMap { shared_store, engine, map, recipe, host, per_host, ordered: args.ordered })
}

/// Only what is known to read is run many times.
fn check_reads(recipe: &Recipe, draft: bool) -> Result<()> {
    match recipe.status {
        Status::Verified => Ok(()),
        Status::Draft if draft && recipe_effect(recipe, false).is_read() => Ok(()),
        Status::Draft if draft => Err(Error::new(
            Code::RecipeNotVerified,
            format!("{} is a draft that may change something", recipe.name),
        )
        .hint(format!("`commis recipe verify {}` proves it on its examples", recipe.name))),
        _ => Err(refusal_error(recipe)),
    }
}

/// Those that the limits of its host let go at once, where there are any.
fn jobs(wanted: usize, caller: &Caller, recipe: &Recipe) -> Result<usize> {
    let compiled = caller.compiled(recipe)?;
    let most =
        caller.limits().max_concurrent_runs(compiled.host()).map_or(wanted, |it| it as usize);
    if most < wanted {
        let host = clean(compiled.host());
        context::say(&format!("info: {most} at a time to {host}, as [limits] says"));
    }
    Ok(wanted.min(most))
}

/// The inputs as lines, and how many bytes they are where that is known.
fn inputs(args: &Args, recipe: &Recipe) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    let (from, size) = open(&args.inputs)?;
    if args.format() == InputFormat::Ndjson {
        return Ok((from, size));
    }
    let names: Vec<&str> = recipe.parameters.iter().map(|it| it.name.as_str()).collect();
    let table = Table::open(from, &names)?;
    if !table.left_out.is_empty() {
        let all = table.left_out.join(", ");
        context::say(&clean(&format!("info: columns that are no parameters: {all}")));
    }
    Ok((Box::new(table), None))
}

/// The inputs as they stand, and how many bytes they are where that is known.
fn open(path: &Path) -> Result<(Box<dyn Read + Send>, Option<u64>)> {
    if path == Path::new("-") {
        return Ok((Box::new(std::io::stdin()), None));
    }
    let file = files::open(path)
        .map_err(|err| err.hint("name a file of lines, or give `-` and send them in"))?;
    let size = file.metadata().ok().map(|it| it.len());
    Ok((Box::new(file), size))
}

/// The file of results, cut to what of it is whole. Fails with `USAGE` where there is one and it is not to be gone on with.
fn results(path: &Path, args: &Args) -> Result<(LineFile, CompletedLines)> {
    let mut lines = LineFile::open(path)?;
    if lines.size() > 0 && !args.resume {
        let shown = path.display();
        return Err(Error::new(Code::Usage, format!("{shown} already holds results"))
            .hint("continue with --resume, or give another file"));
    }
    let kept = CompletedLines::read(lines.read()?, args.retry_failed, |_| Ok(()))?;
    if args.retry_failed && kept.again > 0 {
        let old = lines.read()?;
        let mut old = Some(old);
        let lines = lines.replace(&mut |to| {
            let Some(old) = old.take() else { return Ok(()) };
            CompletedLines::read(old, true, |line| to.write_all(line))
                .map(drop)
                .map_err(std::io::Error::other)
        })?;
        return Ok((lines, kept));
    }
    if kept.whole < lines.size() {
        context::say("the last line was cut short, and is run again");
        lines.truncate(kept.whole)?;
    }
    Ok((lines, kept))
}

/// Reads on a thread of its own, a few lines ahead.
fn feed(
    from: Box<dyn Read + Send>,
    mut kept: CompletedLines,
) -> Result<mpsc::Receiver<Result<Input>>> {
    let (to, inputs) = mpsc::channel(AHEAD);
    let each = move || {
        let from = BufReader::with_capacity(1 << 16, from);
        let ended = map::read(from, |it| match kept.take(it.line, it.shown_hash()) {
            Ok(true) => true,
            Ok(false) => to.blocking_send(Ok(it)).is_ok(),
            Err(err) => {
                let _ = to.blocking_send(Err(err));
                false
            }
        });
        if let Err(err) = ended {
            let _ = to.blocking_send(Err(err));
        }
    };
    // It may wait for a terminal when all else has ended; nobody waits for it.
    std::thread::Builder::new().name("inputs".to_owned()).spawn(each).map_err(|err| {
        Error::new(Code::Internal, "cannot start the thread that reads the inputs").source(err)
    })?;
    Ok(inputs)
}

enum OutputTarget {
    File(LineFile),
    /// And the bar that its lines must not run through.
    Stdout(Option<ProgressBar>),
}

impl LineSink for OutputTarget {
    fn write_line(&mut self, json: &str) -> Result<bool> {
        match self {
            Self::File(it) => it.add(json).map(|()| true),
            Self::Stdout(Some(bar)) if std::io::stdout().is_terminal() => {
                Ok(bar.suspend(|| context::write_event(json)))
            }
            Self::Stdout(_) => Ok(context::write_event(json)),
        }
    }
}

impl OutputTarget {
    fn settle(&mut self) -> Result<()> {
        match self {
            Self::File(it) => it.sync(),
            Self::Stdout(_) => Ok(()),
        }
    }
}

/// A bar on a terminal, a line now and then otherwise.
struct Progress {
    bar: Option<ProgressBar>,
    before: (u64, u64),
    last: Instant,
}

impl Progress {
    fn new(size: Option<u64>, before: (u64, u64)) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| match size {
            Some(it) => ProgressBar::new(it),
            None => ProgressBar::new_spinner(),
        });
        let known = "{bar:30.cyan/dim} {percent} % {elapsed} {msg}";
        let style =
            ProgressStyle::with_template(size.map_or("{spinner} {elapsed} {msg}", |_| known));
        if let (Some(bar), Ok(style)) = (&bar, style) {
            bar.set_style(style);
        }
        Self { bar, before, last: Instant::now() }
    }

    fn update(&mut self, totals: &Totals) {
        let every = if self.bar.is_some() { Duration::from_millis(100) } else { EVERY };
        if self.last.elapsed() < every {
            return;
        }
        self.last = Instant::now();
        let totals = Totals { before: self.before.0, ..totals.clone() };
        let text = format!("{}; {:.1} a second", totals.summary(), totals.lines_per_second());
        match &self.bar {
            None => context::say(&text),
            Some(bar) => {
                bar.set_position(totals.read);
                bar.set_message(text);
            }
        }
    }
}

fn print_totals(totals: &Totals, has_file: bool) {
    let seconds = totals.ms as f64 / 1000.0;
    context::say(&format!(
        "{} in {seconds:.1} s, {:.1} a second",
        totals.summary(),
        totals.lines_per_second()
    ));
    if let Some(why) = &totals.trouble {
        let code = totals.stopped_by.map_or("", Code::as_str);
        context::say(&clean(&format!("stopped: {why} [{code}]")));
    }
    let goes_on = if has_file {
        "the same command with --resume goes on"
    } else {
        "with --out, --resume would go on"
    };
    if totals.interrupted {
        context::say(&format!("interrupted; {goes_on}"));
    } else if totals.stopped_by.is_some() {
        context::say(&format!("  hint: {goes_on}"));
    }
}
