//! `commis do compare`: two runs beside one another, or all before a moment and since.

use serde_json::{Value, json};

use super::{Global, context, runs, table::ruled};
use commis_agent::runs::{
    Comparison, RunListing, RunTotals, StoredRun, apart, compare, is_run, totals,
};
use commis_base::error::{Code, Error, Result};

/// Compare two runs with a model: differences, where their actions part, which was better and why
///
/// With --since all runs before a moment and since then are compared, task by task.
///
/// With --json: what differs, with the records of both as `first` and `second`; with --since {tasks, before, since}.
///
/// Example: commis do compare r0123456789ab r0123456789ac
#[derive(clap::Args)]
pub struct Args {
    /// As `commis do runs` lists it
    #[arg(required_unless_present = "since", requires = "second")]
    first: Option<String>,
    /// The run that it is compared with
    second: Option<String>,
    /// A date, a moment (2026-01-31T07:05:00Z), or a run: before it, and from it on
    #[arg(long, value_name = "WHEN", conflicts_with = "first")]
    since: Option<String>,
    /// Only tasks that hold these words
    #[arg(long, value_name = "WORDS", requires = "since")]
    task: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let home = context::home(global)?;
    if let Some(since) = &args.since {
        let RunListing { runs, unread } = runs::all(&home)?;
        let since_ms = match runs.iter().find(|it| it.run == *since) {
            Some(it) => it.begun_ms,
            None => moment(since)?,
        };
        sets(&runs, since_ms, args.task.as_deref(), args.json);
        if !args.json {
            runs::print_unread(&unread);
        }
        return Ok(0);
    }
    let (first, second) = (args.first.unwrap_or_default(), args.second.unwrap_or_default());
    let (a, b) = (runs::load_run(&home, &first)?, runs::load_run(&home, &second)?);
    let it = compare((&a.record, &a.lines), (&b.record, &b.lines));
    if args.json {
        let mut out = serde_json::to_value(&it).unwrap_or_default();
        (out["first"], out["second"]) = (json!(a.record), json!(b.record));
        out["unread"] = json!([a.unread, b.unread].concat());
        context::out(&out);
        return Ok(0);
    }
    show(&a, &b, &it);
    runs::print_unread(&a.unread);
    runs::print_unread(&b.unread);
    Ok(0)
}

/// Milliseconds since 1970. Fails with `PARAM_INVALID`.
fn moment(text: &str) -> Result<i64> {
    let utc = jiff::tz::TimeZone::UTC;
    let stamp = text.parse::<jiff::Timestamp>().or_else(|_| {
        let day = text.parse::<jiff::civil::Date>()?;
        day.to_zoned(utc).map(|it| it.timestamp())
    });
    stamp.map(jiff::Timestamp::as_millisecond).map_err(|_| {
        let what = if is_run(text) { "there is no such run" } else { "`--since` is no moment" };
        Error::new(Code::ParamInvalid, what)
            .hint("such as 2026-01-31, 2026-01-31T07:05:00Z, or a run of `commis do runs`")
    })
}

fn cell(it: &Value) -> String {
    let text = match it {
        Value::Null => String::new(),
        Value::String(it) => it.clone(),
        other => other.to_string(),
    };
    context::clean(&text).chars().take(200).collect()
}

fn show(a: &StoredRun, b: &StoredRun, it: &Comparison) {
    let mut table = ruled(["", &a.record.run, &b.record.run]);
    for it in &it.differs {
        table.add_row([it.what.clone(), cell(&it.first), cell(&it.second)]);
    }
    if it.differs.is_empty() {
        context::say("nothing differs but when they were");
    } else {
        context::line(&table.to_string());
    }
    let mut table = ruled(["action", &a.record.run, &b.record.run]);
    for (n, pair) in it.actions.iter().enumerate() {
        let mark = if Some(n + 1) == it.part_at { " (here they part)" } else { "" };
        let text = |it: &Option<String>| context::clean(it.as_deref().unwrap_or_default());
        let second = if pair.same { "the same".to_owned() } else { text(&pair.second) };
        table.add_row([format!("{}{mark}", n + 1), text(&pair.first), second]);
    }
    if !it.actions.is_empty() {
        context::line(&table.to_string());
    }
    context::line(&context::clean(&it.why));
}

fn sets(all: &[commis_agent::runs::RunRecord], since_ms: i64, words: Option<&str>, as_json: bool) {
    let words = words.map(str::to_lowercase);
    let runs: Vec<_> = all
        .iter()
        .filter(|run| words.as_ref().is_none_or(|it| run.task.to_lowercase().contains(it)))
        .cloned()
        .collect();
    let tasks = apart(&runs, since_ms);
    let (since, before): (Vec<_>, Vec<_>) = runs.iter().partition(|it| it.begun_ms >= since_ms);
    let (before, since) = (totals(before), totals(since));
    if as_json {
        return context::out(&json!({ "tasks": tasks, "before": before, "since": since }));
    }
    let heads = ["task", "done before", "since", "turns before", "since", "tokens before", "since"];
    let mut table = ruled(heads.into_iter().chain(["since then"]));
    let mean = |of: fn(&RunTotals) -> f64, it: &RunTotals| format!("{:.1}", of(it));
    for it in &tasks {
        let done = |it: &RunTotals| format!("{} of {}", it.done, it.runs);
        table.add_row([
            context::clean(&it.task),
            done(&it.before),
            done(&it.since),
            mean(|it| it.turns, &it.before),
            mean(|it| it.turns, &it.since),
            mean(|it| it.tokens, &it.before),
            mean(|it| it.tokens, &it.since),
            it.why.clone(),
        ]);
    }
    if tasks.is_empty() {
        context::say("no task was done both before and since then");
    } else {
        context::line(&table.to_string());
    }
    context::line(&format!("before: {}", runs::summed(&before)));
    context::line(&format!("since:  {}", runs::summed(&since)));
}
