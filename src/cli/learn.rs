//! `commis recipe learn`

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Read as _,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use super::{Global, candidates, learn_manual, names, progress::Progress, wire};
use commis_artifacts::payloads::{CandidateSet, Judged, Outcome};
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
    ids::RecipeName,
};
use commis_browser::Step;
use commis_learn::{LearnContext, LearnResult, RedoScope, Source, Task, variable};
use commis_recipe::yaml;
use commis_stages::{STAGES, Stage};

const EXAMPLES: &str = "Examples:
  commis recipe learn --har session.har --task \"Search the shop for {query}\" -p query=lantern
  commis recipe learn --url http://shop.test/ --steps steps.yaml \\
    --task \"Search for {query}\" -p query=lantern --second query=hose
  commis recipe learn --manual http://shop.test/ --task \"Search for {query}\" --second query=hose";

/// Learn one task from a HAR file, from a page driven by scripted steps, or from what you do in a window
///
/// Give what was typed with -p, and a second example with --second: without one, a recipe stays a draft.
/// With --manual, a {name} of the task is what you typed in the field whose name fits it, and -p is only needed where that is
/// not clear. What is typed into password fields is not recorded.
///
/// With --json: {task_id, name, outcome, reason, detail, recipe, artifacts, ran, reused, live_values_lost, skipped_entries, browser_ms,
/// transport, model}; `outcome` is verified, saved_draft, needs_selection or non_recipeable.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Learn from this recording
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    pub har: Option<PathBuf>,
    /// Learn live, starting on this page
    #[arg(long, requires = "steps")]
    pub url: Option<String>,
    /// Open a window on this page, record what you do until you close it, and learn from that
    #[arg(long, value_name = "URL", conflicts_with_all = ["har", "url", "steps"])]
    pub manual: Option<String>,
    /// Write what was done in the window as scripted steps, for --steps or a manifest
    #[arg(long, value_name = "FILE", requires = "manual")]
    pub save_steps: Option<PathBuf>,
    /// Scripted steps for --url, `-` for stdin (YAML list, as in a manifest's `record`); env:NAME in them is typed only at hosts that [auth.allow] binds it to
    #[arg(long, value_name = "FILE", conflicts_with = "har")]
    pub steps: Option<PathBuf>,
    /// What the session was for, with {name} where typed values go
    #[arg(long, default_value = "", hide_default_value = true)]
    pub task: String,
    /// A value that was typed; env:NAME for a secret, which is read from that variable and kept nowhere
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub param: Vec<String>,
    /// A value of the second example
    #[arg(long, value_name = "NAME=VALUE")]
    pub second: Vec<String>,
    /// Open the pages with this login of the vault, and prove what a HAR holds with it: `commis session login` makes one
    #[arg(add = names::logins(), long, value_name = "NAME", conflicts_with = "manual")]
    pub login: Option<String>,
    /// Another account's login, which must be refused or get something else
    #[arg(add = names::logins(), long, value_name = "NAME", requires = "login")]
    pub second_login: Option<String>,
    /// Name of the recipe (default: from the task)
    #[arg(long)]
    pub name: Option<String>,
    /// Let this model choose where the heuristics cannot tell (default: [model] in the settings) [env: COMMIS_MODEL]
    #[arg(long, value_name = "PROVIDER/NAME")]
    pub model: Option<String>,
    /// Send nothing: the captured answer stands in, the recipe stays a draft
    #[arg(long)]
    pub no_network: bool,
    /// Reuse finished stages of an earlier run
    #[arg(long, conflicts_with = "force")]
    pub resume: bool,
    /// Do this stage and all after it again: record, rank, analyze, validate, minimize, verify, …
    #[arg(long, value_name = "STAGE", value_parser = stage, conflicts_with = "force")]
    pub resume_from: Option<Stage>,
    /// Learn again from the start
    #[arg(long)]
    pub force: bool,
    /// Accept a task that seems to hold a secret: it is used, and stored redacted
    #[arg(long)]
    pub allow_task_secrets: bool,
    /// Print the result as JSON on stdout
    #[arg(long)]
    pub json: bool,
}

/// A stage by its name.
pub fn stage(text: &str) -> std::result::Result<Stage, String> {
    let known = || STAGES.iter().map(|it| it.stage);
    known().find(|it| it.as_str() == text).ok_or_else(|| {
        let names: Vec<&str> = known().map(Stage::as_str).collect();
        format!("stages are {}", names.join(", "))
    })
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    args.check()?;
    if args.manual.is_some() {
        return learn_manual::run(args, global).await;
    }
    let first = pairs(&args.param)?;
    let second = pairs(&args.second)?;
    let source = match (&args.har, &args.url) {
        (Some(path), _) => Source::har(path.clone())?,
        (None, Some(url)) => {
            Source::Live { url: url.clone(), steps: steps(args.steps.as_deref())?, by_hand: false }
        }
        (None, None) => return Err(nothing_to_learn()),
    };
    let name = match &args.name {
        Some(it) => RecipeName::new(it.clone())?,
        None => match &args.har {
            Some(path) => RecipeName::slug(&path.file_stem().unwrap_or_default().to_string_lossy()),
            None => RecipeName::slug(&args.task),
        },
    };
    let examples = if second.is_empty() { vec![first] } else { vec![first, second] };
    let mut task = Task::new(name, args.task.clone(), source, examples);
    let logins = args.login.iter().chain(&args.second_login);
    task.logins = logins.map(|it| it.parse()).collect::<Result<_>>()?;
    let named: Vec<String> = task
        .examples
        .iter()
        .flat_map(BTreeMap::values)
        .filter_map(|it| variable(it).map(str::to_owned))
        .collect();
    commis_batch::check_task(&mut task, &BTreeSet::new(), args.allow_task_secrets)?;
    // The command line is the user's word; the file of steps is perhaps a stranger's.
    for it in &named {
        task.secrets.named_by_the_user(it);
    }
    let (cx, progress, _place) = args.prepare(&task, global).await?;
    let task = Arc::new(task);
    let (own, its) = (Arc::clone(&task), Arc::clone(&cx));
    let work = move || async move { commis_learn::learn(&own, &its).await };
    let end = wire::apart("the same command with --resume goes on", work).await;
    progress.finish();
    cx.browser.close().await;
    if end.is_err()
        && cx.store.peek(&task.id)?.is_some_and(|it| matches!(it.failure(), Ok(Some(_))))
    {
        wire::say(&format!("commis recipe debug --task-id {} shows what the step saw", task.id));
    }
    conclude(&end?, &cx, &task, args.json)
}

/// The three ways to learn.
fn nothing_to_learn() -> Error {
    Error::new(Code::Usage, "say what to learn from: a page, a recording, or what you do in a window").hint(
        "one of three:
    commis learn --url URL --steps steps.yaml --task \"Search for {query}\" -p query=lantern --second query=hose
    commis learn --har session.har --task \"Search for {query}\" -p query=lantern --second query=hose
    commis learn --manual URL --task \"Search for {query}\" --second query=hose
  `commis recipe steps URL` lists what a page has, ready to paste into steps.yaml; `commis tour` shows all of it",
    )
}

impl Args {
    /// Fails with [`Code::Usage`] where there is nothing to learn from, or no task.
    fn check(&self) -> Result<()> {
        if self.har.is_none() && self.url.is_none() && self.manual.is_none() {
            return Err(nothing_to_learn());
        }
        if self.task.is_empty() {
            return Err(Error::new(Code::Usage, "--task is missing: what the session was for").hint(
                "such as --task \"Search the shop for {query}\", with {name} where a value that was typed goes",
            ));
        }
        Ok(())
    }

    /// What learning that task needs; the test web serves as long as the place is kept. Fails with [`Code::Usage`] when it has been begun, and nothing says to go on with it.
    pub async fn prepare(
        &self,
        task: &Task,
        global: &Global,
    ) -> Result<(Arc<LearnContext>, Progress, wire::Environment)> {
        let mut place = wire::open(global).await?;
        place.settings.egress.no_network = self.no_network;
        if let Some(model) = &self.model {
            place.settings.model.choose(model)?;
        }
        let redo =
            if self.force { Some(RedoScope::All) } else { self.resume_from.map(RedoScope::From) };
        let progress = Progress::new(1);
        let stages = progress.clone();
        let cx = wire::learning(
            &place,
            redo,
            Duration::ZERO,
            Box::new(move |task, stage| stages.stage(task, stage)),
        )?;
        if !self.resume && redo.is_none() {
            commis_batch::refuse_if_begun(std::slice::from_ref(task), &cx)?;
        }
        Ok((cx, progress, place))
    }
}

/// Prints what a task came to; 1 when the answer is no.
pub fn conclude(learned: &LearnResult, cx: &LearnContext, task: &Task, json: bool) -> Result<u8> {
    if json {
        wire::out(learned);
    } else {
        describe(learned, cx, task)?;
    }
    Ok(u8::from(matches!(learned.outcome, Outcome::NeedsSelection | Outcome::NonRecipeable)))
}

fn describe(learned: &LearnResult, cx: &LearnContext, task: &Task) -> Result<()> {
    wire::line(&format!("{}: {}", learned.name, learned.outcome.as_str()));
    let why: Vec<&str> =
        [&learned.reason, &learned.detail].into_iter().flatten().map(String::as_str).collect();
    if !why.is_empty() {
        wire::line(&wire::clean(&format!("  why: {}", why.join(", "))));
    }
    if let Some(path) = &learned.recipe {
        wire::line(&format!("  recipe: {}", path.display()));
    }
    if let Some(it) = &learned.model {
        let used = wire::model_use(it.calls, it.tokens_in, it.tokens_out, it.cost_micros);
        wire::line(&format!("  model: {}, {used}", it.name));
    }
    if learned.skipped_entries > 0 {
        wire::say(&format!(
            "  {} entries of the HAR were no requests and were skipped",
            learned.skipped_entries
        ));
    }
    wire::line(&format!("  artifacts: {}", learned.artifacts.display()));
    let Some(folder) = cx.store.peek(&task.id)? else { return Ok(()) };
    if learned.outcome == Outcome::NeedsSelection {
        candidates::print(&folder, &task.id)?;
    } else if let Ok(Judged::Done(set)) = folder.get::<Judged<CandidateSet>>() {
        for it in set.candidates.iter().take(3) {
            wire::line(&format!(
                "  {}. {:>5} {} {}",
                it.rank, it.score_bp, it.method, it.url_summary
            ));
        }
    }
    for it in next(learned) {
        wire::say(&format!("  {it}"));
    }
    wire::say(&format!("commis recipe debug --task-id {} shows every decision", learned.task_id));
    Ok(())
}

/// What to do with what was learned.
fn next(learned: &LearnResult) -> Vec<String> {
    let name = &learned.name;
    match learned.outcome {
        Outcome::Verified => vec![format!("commis run {name} runs it; commis recipe explain {name} says what is sent and how it was proven")],
        Outcome::SavedDraft => vec![
            format!("commis run {name} --draft runs it as it is"),
            "the same command with --force and --second NAME=VALUE, a value with another answer, proves it".to_owned(),
        ],
        Outcome::NeedsSelection | Outcome::NonRecipeable => Vec::new(),
    }
}

/// `name=value` arguments. Fails with [`Code::Usage`].
pub fn pairs(args: &[String]) -> Result<BTreeMap<String, String>> {
    args.iter()
        .map(|it| match it.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(Error::new(Code::Usage, "a parameter is given as NAME=VALUE")
                .hint("for example -p query=rust")),
        })
        .collect()
}

fn steps(path: Option<&std::path::Path>) -> Result<Vec<Step>> {
    let Some(path) = path else {
        return Ok(Vec::new());
    };
    let text = if ["-", "/dev/stdin"].iter().any(|it| path.as_os_str() == *it) {
        let mut text = String::new();
        let read = std::io::stdin().take(1024 * 1024).read_to_string(&mut text);
        read.map_err(|err| Error::new(Code::Usage, "cannot read steps from stdin").source(err))?;
        text
    } else {
        String::from_utf8_lossy(&read_bounded(path, 1024 * 1024)?).into_owned()
    };
    let options = serde_saphyr::options! {
        strict_booleans: true,
        budget: serde_saphyr::budget! { max_nodes: 10_000, max_depth: 16, max_aliases: 0, max_anchors: 0 },
        // It would show lines of the file, which may hold secrets.
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(&text, options).map_err(|err| {
        let message = format!("{}: {}", path.display(), yaml::describe_error(&err));
        Error::new(Code::ManifestInvalid, message).hint("docs/how-to/steps.md shows the steps")
    })
}
