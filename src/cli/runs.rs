//! `commis do runs`: what is kept of runs with a model. Read from the files, whether or not a daemon serves.

use serde_json::json;

use super::{Global, context, table::ruled};
use commis_agent::runs::{
    RunListing, RunRecord, RunStatus, RunTotals, StoredRun, UnreadableFile, listing,
    load_stored_run, totals,
};
use commis_base::{
    error::{Code, Error, Result},
    settings::Home,
};
use commis_client::state_file::StateFile;
use commis_state::now_ms;

/// List runs with a model: their state or result, and the last action
///
/// With --json: {runs, totals, unread}; of one run {run, unread}.
///
/// A run counts as dead when it is silent. Runs are kept for 30 days (`agent.retention_days`), at most a thousand.
#[derive(clap::Args)]
pub struct Args {
    /// Show this one: why it ended, at which action, on which page
    run: Option<String>,
    /// Only runs whose task has these words
    #[arg(long, value_name = "WORDS", conflicts_with = "run")]
    task: Option<String>,
    /// Only those of that playbook
    #[arg(long, value_name = "NAME", conflicts_with = "run")]
    playbook: Option<String>,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, conflicts_with = "run")]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What reads runs now: the process that does them, if there is one, and when.
pub fn reader(home: &Home) -> (Option<String>, i64) {
    // A state that cannot be read says of no daemon.
    let alive = StateFile::find(home).ok().flatten();
    (alive.map(|it| it.process()), now_ms())
}

/// Fails with `ARTIFACT_IO`.
pub fn all(home: &Home) -> Result<RunListing> {
    let (alive, now_ms) = reader(home);
    listing(&home.runs, (alive.as_deref(), now_ms))
}

/// Fails with `TASK_NOT_FOUND` and `ARTIFACT_IO`.
pub fn load_run(home: &Home, run: &str) -> Result<StoredRun> {
    let (alive, now_ms) = reader(home);
    load_stored_run(&home.runs, run, (alive.as_deref(), now_ms))?.ok_or_else(|| {
        Error::new(Code::TaskNotFound, "there is no such run").hint("`commis do runs` lists them")
    })
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let home = context::home(global)?;
    if let Some(run) = &args.run {
        let StoredRun { record, unread, .. } = load_run(&home, run)?;
        if args.json {
            context::out(&json!({ "run": record, "unread": unread }));
        } else {
            show(&record);
            print_unread(&unread);
        }
        return Ok(0);
    }
    let RunListing { mut runs, unread } = all(&home)?;
    let words = args.task.map(|it| it.to_lowercase());
    runs.retain(|run| {
        let book = run.playbook.as_ref().map(|it| &it.name);
        words.as_ref().is_none_or(|it| run.task.to_lowercase().contains(it))
            && args.playbook.as_ref().is_none_or(|it| book == Some(it))
    });
    runs.truncate(args.limit);
    let together = totals(&runs);
    if args.json {
        context::out(&json!({ "runs": runs, "totals": together, "unread": unread }));
        return Ok(0);
    }
    if runs.is_empty() {
        context::say("no such runs are kept");
    } else {
        let heads = ["run", "when", "task", "status", "why", "turns", "tokens", "ms"];
        let mut table = ruled(heads);
        for it in &runs {
            table.add_row([
                it.run.clone(),
                context::moment(it.begun_ms),
                context::clean(&it.task),
                it.status.as_str().to_owned(),
                context::clean(&why(it)),
                it.turns.to_string(),
                it.tokens().to_string(),
                it.ms.to_string(),
            ]);
        }
        context::line(&table.to_string());
        context::say(&summed(&together));
    }
    print_unread(&unread);
    Ok(0)
}

/// Why a run stands as it does, for a row.
fn why(it: &RunRecord) -> String {
    let reason = it.reason.as_deref().filter(|it| !matches!(*it, "completed" | "died"));
    let said = [reason, it.detail.as_deref()].into_iter().flatten();
    let mut out = said.collect::<Vec<_>>().join(": ");
    if it.status == RunStatus::Working {
        out.clone_from(&it.now);
    } else if matches!(it.status, RunStatus::NotDone | RunStatus::Failed | RunStatus::NeedsPerson)
        && let Some(action) = &it.last_action
    {
        out = format!("{out}; at {action}");
    }
    out.chars().take(160).collect()
}

/// What could not be read.
pub fn print_unread(unread: &[UnreadableFile]) {
    for it in unread {
        context::say(&context::clean(&format!("{} could not be read: {}", it.file, it.why)));
    }
}

/// `12 runs: 9 done, 2 not done, 1 died; on average 4.2 turns, 8508 tokens, 849 ms`
pub fn summed(it: &RunTotals) -> String {
    let cost = it.cost.map(|it| format!("; cost {it:.4}")).unwrap_or_default();
    let runs = if it.runs == 1 { "run" } else { "runs" };
    format!(
        "{} {runs}: {} done, {} not done, {} died; on average {:.1} turns, {:.0} tokens, {:.0} ms{cost}",
        it.runs, it.done, it.not_done, it.died, it.turns, it.tokens, it.ms
    )
}

fn show(it: &RunRecord) {
    let book = it.playbook.as_ref().map(|it| it.name.clone());
    let lines = [
        ("run", Some(it.run.clone())),
        ("task", Some(it.task.clone())),
        ("playbook", book),
        ("model", Some(it.model.clone())),
        ("backend", Some(it.backend.clone())),
        ("begun", Some(context::moment(it.begun_ms))),
        ("status", Some(it.status.as_str().to_owned())),
        ("reason", it.reason.clone()),
        ("detail", it.detail.clone()),
        ("now", it.status.is_open().then(|| it.now.clone())),
        ("last action", it.last_action.clone()),
        ("page", Some(it.page.clone())),
        ("turns", Some(it.turns.to_string())),
        ("tokens", Some(format!("{} in, {} out", it.tokens_in, it.tokens_out))),
        ("cost", it.cost.map(|it| format!("{it:.6}"))),
        ("ms", Some(it.ms.to_string())),
        ("answer", it.answer.as_ref().map(ToString::to_string)),
    ];
    for (name, value) in lines {
        if let Some(value) = value.filter(|it| !it.is_empty()) {
            context::line(&format!("{name:<12} {}", context::clean(&value).replace('\n', " ")));
        }
    }
}
