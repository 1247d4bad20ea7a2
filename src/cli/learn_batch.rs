//! `commis recipe learn-batch`

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::Duration,
};

use comfy_table::{Cell, Color};

use super::{
    Global,
    artifacts::{KeptDays, prune},
    batch_progress::{BatchProgress, totals},
    context,
    learn_args::stage,
    stores::{self, SharedStoreArgs},
    table::ruled,
};
use commis_artifacts::{
    gc::mark_in_use,
    store::{Store, TaskFolder},
};
use commis_base::{
    error::{Code, Error, Result},
    files,
    ids::TaskId,
};
use commis_batch::{
    BatchMonitor, Event, LivePage, Manifest, Options, Report, ReportLine, TaskPage, Totals,
};
use commis_learn::{LearnContext, RedoScope};
use commis_stages::Stage;
use commis_state::{State, Status};

/// More rows than this are for a file, not for a screen.
const MAX_ROWS: usize = 60;

const EXAMPLES: &str = "Examples:
  commis recipe learn-batch --manifest manifests/quickstart.yaml --testbed
  commis recipe learn-batch --manifest mine.yaml --resume --retry-failed --report morning.html";

/// Learn every task of a manifest
///
/// Each stage of each task writes an artifact. --resume continues an interrupted batch and repeats no finished work. Several
/// processes may work on one manifest at once: each task is done by one of them.
///
/// With --json: a line for each event, with `at_ms` and `event`: batch_started, task_started, stage_started, stage_finished, task_retried,
/// task_finished, batch_finished; the last has `outcomes`, `retries`, `stopped_by` and what a model cost.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to learn (YAML)
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// Go on where an earlier run stopped
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Continue, and run this stage and all after it again: record, rank, analyze, validate, minimize, verify, …
    #[arg(long, value_name = "STAGE", value_parser = stage, conflicts_with_all = ["force", "store"])]
    resume_from: Option<Stage>,
    /// Learn everything again
    #[arg(long, conflicts_with = "store")]
    force: bool,
    /// Only these tasks
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Continue with those tasks alone that failed at their last attempt
    #[arg(long, conflicts_with = "force")]
    retry_failed: bool,
    /// Only this part of the manifest, of N parts; the parts are always the same
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// Seconds between two recordings on one host (default: the manifest's)
    #[arg(long, value_name = "S", value_parser = seconds)]
    delay: Option<f64>,
    /// Tasks at a time (default: 2); with --engine, tasks that are taken from the store at a time (default: 8)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    jobs: Option<u8>,
    /// Tasks at a time on one host (default: 2); with --engine, on one host by all machines (default: 1)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    per_host: Option<u8>,
    /// Let the workers of this engine run the stages; they share the store: temporal, or temporal:QUEUE (default: commis);
    /// needs commis-worker
    #[arg(long, value_name = "NAME", requires = "store")]
    engine: Option<String>,
    #[command(flatten)]
    shared: SharedStoreArgs,
    /// Retry transient failures up to N times (default: the manifest's, or 1)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    retries: Option<u32>,
    /// Print each event as one JSON object a line on stdout, the totals last
    #[arg(long)]
    pub json: bool,
    /// Write the report here, too: a page to read (.html) or JSON. JSON goes to batch_<manifest>.json beside the artifacts
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(it) if (0.0..=3600.0).contains(&it) => Ok(it),
        _ => Err("give seconds between 0 and 3600".to_owned()),
    }
}

/// `2/8`
pub fn shard(text: &str) -> std::result::Result<(u32, u32), String> {
    text.split_once('/')
        .and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)))
        .filter(|(i, n)| (1..=*n).contains(i))
        .ok_or_else(|| "give a part and the number of parts, such as 2/8".to_owned())
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let engine = args.engine.as_deref().map(|it| stores::engine(it, global)).transpose()?;
    let mut manifest = commis_batch::load(&args.manifest, args.shared.allow_task_secrets)?;
    let place = args.shared.place(global).await?;
    let state = Arc::new(State::open(&place.home.artifacts)?);
    let all: Vec<_> = manifest.tasks.iter().map(|it| it.id.clone()).collect();
    choose(&mut manifest, &args, &state)?;
    let progress = BatchProgress::new();
    let json = args.json;
    let name = commis_base::ids::RecipeName::slug(&manifest.name);
    let file = place.home.artifacts.join(format!("batch_{name}.json"));
    let given = args.report.as_deref();
    let page = given.filter(|it| is_page(it)).map_or(file.with_extension("html"), Path::to_owned);
    // Begun when all is ready: before that, there is nothing to follow.
    let live: Arc<OnceLock<LivePage>> = Arc::default();
    let told = Arc::clone(&live);
    let tell = move |event: &Event<'_>| {
        if json {
            context::event(&event.to_json_line());
        }
        if let Some(it) = told.get() {
            it.apply_event(event);
        }
        progress.on_event(event);
    };
    let monitor = Arc::new(BatchMonitor::new(Arc::clone(&state), Box::new(tell)));
    let stages = Arc::clone(&monitor);
    let delay = args.delay.map_or(manifest.delay, Duration::from_secs_f64);
    let redo =
        if args.force { Some(RedoScope::All) } else { args.resume_from.map(RedoScope::From) };
    let shared_store = args.shared.shared_store(global, &place.home)?;
    let remote = engine.is_some();
    // Nobody clears what this batch may take from there.
    let _held = match &shared_store {
        Some(it) => Some(mark_in_use(it, &manifest.name, manifest.tasks.iter().map(|it| &it.id))?),
        None => None,
    };
    let cx = context::learning_with(
        &place,
        redo,
        delay,
        (shared_store, remote),
        Box::new(move |task, stage| stages.begin_stage(task, stage)),
    )?;
    // One connection: two of a process would wait for each other.
    let _ = cx.questions.set(Some(Arc::clone(&state)));
    if !(args.resume || args.retry_failed || redo.is_some()) {
        commis_batch::refuse_if_begun(&manifest.tasks, &cx)?;
    }
    prune_old(&cx.store, KeptDays::from(&place.settings.artifacts), &all)?;
    let options = Options {
        jobs: args.jobs.unwrap_or(if remote { 8 } else { 2 }).into(),
        per_host: args.per_host.unwrap_or(if remote { 1 } else { 2 }).into(),
        delay,
        retries: args.retries.unwrap_or(manifest.retries),
        deadline: manifest.deadline,
    };
    let _ = live.set(LivePage::start(
        &manifest.name,
        manifest.tasks.iter().map(|it| it.id.clone()).collect(),
        Arc::clone(&state),
        cx.store.clone(),
        &page,
        one_page(&cx, &state, place.home.recipes.clone()),
    ));
    context::say(&format!("page: {}", page.display()));
    let one = one_page(&cx, &state, place.home.recipes.clone());
    let (name, tasks, its) = (&*manifest.name, manifest.tasks, Arc::clone(&cx));
    let report = match engine {
        Some(it) => commis_batch::remote::run(name, tasks, its, state, monitor, options, it).await,
        None => commis_batch::run(name, tasks, its, state, monitor, options).await,
    };
    cx.browser.close().await;
    if let Some(it) = live.get() {
        it.close();
    }
    let report = report?;
    save(&report, &file)?;
    write_missing_pages(&report, &cx.store, &one)?;
    save(&report, &page)?;
    if let Some(other) = given.filter(|it| !is_page(it)) {
        save(&report, other)?;
    }
    if !args.json {
        table(&report)?;
    }
    context::say(&format!("report: {}", args.report.unwrap_or(file).display()));
    say_next(&report.totals);
    Ok(report.totals.exit_code())
}

/// Removes old tasks from the store, but none of this batch. Fails with `ARTIFACT_IO`.
fn prune_old(store: &Store, days: KeptDays, batch: &[TaskId]) -> Result<()> {
    if days.is_forever() {
        return Ok(());
    }
    let removed = prune(store, days, batch, false)?;
    if !removed.is_empty() {
        context::say(&format!("{} old tasks removed", removed.len()));
    }
    Ok(())
}

/// Writes the pages of tasks that have none, since an earlier run was killed after they had ended. Fails with `ARTIFACT_IO`.
fn write_missing_pages(
    report: &Report,
    store: &Store,
    write_page: &dyn Fn(&TaskId) -> Result<()>,
) -> Result<()> {
    let has_no_page =
        |it: TaskFolder| it.dir().stat(commis_batch::page::TASK_PAGE).is_ok_and(|it| it.is_none());
    for id in report.order.iter() {
        if store.peek(id)?.is_some_and(has_no_page) {
            write_page(id)?;
        }
    }
    Ok(())
}

/// Says what there is to do about what did not go well.
fn say_next(it: &Totals) {
    if it.count(Status::NeedsSelection) > 0 {
        context::say("commis recipe debug --task-id TASK shows what there is to choose from");
    }
    let failed = it.outcomes.get(&Status::Failed);
    if failed.is_some_and(|it| it.contains_key(Code::StepFailed.as_str())) {
        context::say("commis recipe debug --task-id TASK shows what a failing step saw");
    }
    if let Some(code) = it.stopped_by {
        context::say(&format!("stopped by {code}; the same command with --resume goes on"));
    }
    if it.interrupted {
        context::say("interrupted; the same command with --resume goes on");
    }
}

/// Puts a task's page beside its artifacts, for the batch's page to lead to.
fn one_page(cx: &LearnContext, state: &Arc<State>, recipes: PathBuf) -> TaskPage {
    let (store, settings, state) = (cx.store.clone(), cx.settings.clone(), Arc::clone(state));
    Box::new(move |id| {
        let Some(folder) = store.peek(id)? else { return Ok(()) };
        let seen = commis_batch::task_page::TaskLocation { folder: &folder, id, recipes: &recipes };
        let text = commis_batch::task_page::page(&seen, &settings, None, Some(&state))?;
        folder.dir().write_unsynced(commis_batch::page::TASK_PAGE, text.as_bytes())
    })
}

/// Leaves the tasks that the flags ask for. Fails with `USAGE` where there are none.
fn choose(manifest: &mut Manifest, args: &Args, state: &State) -> Result<()> {
    let none = |what: &str| Err(Error::new(Code::Usage, what.to_owned()));
    if let Some(name) =
        args.only.iter().find(|name| !manifest.tasks.iter().any(|it| it.name.as_str() == **name))
    {
        let name = context::clean(name);
        return none(&format!("the manifest has no task `{name}`"));
    }
    let tasks = &mut manifest.tasks;
    if !args.only.is_empty() {
        tasks.retain(|it| args.only.iter().any(|name| it.name.as_str() == name));
    }
    if let Some((i, n)) = args.shard {
        tasks.retain(|it| it.id.shard(n) == i - 1);
    }
    if args.retry_failed {
        let failed: std::collections::BTreeSet<String> = state
            .tasks()?
            .into_iter()
            .filter(|it| it.status == Status::Failed)
            .map(|it| it.task_id)
            .collect();
        tasks.retain(|it| failed.contains(it.id.as_str()));
        if tasks.is_empty() {
            return none("no task failed when it was last tried");
        }
    }
    Ok(())
}

fn save(report: &Report, file: &Path) -> Result<()> {
    let (folder, name) = files::split_path(file);
    files::write_atomic_with(folder, &name, &mut |to| {
        if is_page(file) {
            return commis_batch::page::write(report, folder, to);
        }
        serde_json::to_writer_pretty(&mut *to, report)?;
        to.write_all(b"\n")
    })
}

fn is_page(file: &Path) -> bool {
    file.extension().is_some_and(|it| it.eq_ignore_ascii_case("html"))
}

fn table(report: &Report) -> Result<()> {
    let all = &report.totals;
    if all.ended_count() <= MAX_ROWS {
        rows(report)?;
    } else {
        summary(report);
    }
    let asked = &all.model;
    if asked.calls > 0 {
        let used =
            context::model_use(asked.calls, asked.tokens_in, asked.tokens_out, asked.cost_micros);
        context::line(&format!("model: {used}"));
    }
    context::line(&totals(all));
    Ok(())
}

/// A row for each task.
fn rows(report: &Report) -> Result<()> {
    let mut table = ruled(["task", "outcome", "why", "transport", "browser", "ran"]);
    for it in report.lines() {
        let it: ReportLine = it?;
        if let Some(code) = &it.error_code {
            let error: String = it.error.unwrap_or_default().chars().take(60).collect();
            table.add_row([
                Cell::new(it.name),
                Cell::new("failed").fg(Color::Red),
                Cell::new(context::clean(&format!("{code}: {error}"))),
            ]);
            continue;
        }
        let mut why = it.reason.unwrap_or_default();
        if it.live_values_lost {
            why = format!("{why} (recorded again: LIVE_VALUES_LOST)");
        }
        table.add_row([
            it.name,
            it.outcome,
            context::clean(&why),
            it.transport.unwrap_or_default(),
            if it.browser_ms > 0 { format!("{} ms", it.browser_ms) } else { String::new() },
            format!("{} of {} stages", it.ran.len(), it.ran.len() + it.reused.len()),
        ]);
    }
    context::line(&table.to_string());
    Ok(())
}

/// A row for each way to end.
fn summary(report: &Report) {
    let mut table = ruled(["tasks", "outcome", "why"]);
    for (status, by_why) in &report.totals.outcomes {
        let mut all: Vec<(&String, &usize)> = by_why.iter().collect();
        all.sort_by_key(|it| std::cmp::Reverse(it.1));
        for (why, n) in all {
            table.add_row([n.to_string(), status.as_str().to_owned(), context::clean(why)]);
        }
    }
    context::line(&table.to_string());
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_stages::STAGES;

    #[test]
    fn parts_are_numbered_from_one() {
        assert_eq!(shard("2/8"), Ok((2, 8)));
        for it in ["0/8", "9/8", "1", "1/0", "a/b", "-1/2", ""] {
            assert!(shard(it).is_err(), "{it}");
        }
    }

    #[test]
    fn stages_are_named_as_in_debug() {
        for it in STAGES {
            assert_eq!(stage(it.stage.as_str()), Ok(it.stage));
        }
        assert!(stage("recorder").is_err());
    }
}
