//! `commis eval`

use std::path::{Path, PathBuf};

use comfy_table::{Cell, Color};

use super::{Global, context, table::ruled};
use commis_base::{
    error::{Code, Error, Result},
    files,
    settings::{Home, Settings},
};
use commis_measure::eval::{
    self, Baseline, CloseAnswer, CloseEnding, Evaluation, ModelSample, Verdict,
};
use commis_model::{Cache, Client};

/// Measure learning on a corpus, without any network
///
/// Runs the stages of every case in memory over its response stubs. Compares the results with the expected ones, and the result
/// of each stage with `baseline.json` of the corpus.
///
/// With --reasons it prints only a table with a row for each doubt. The row counts the cases in which the doubt stopped a right
/// choice, a wrong choice, or a choice where there was nothing to learn. It also counts the cases in which no other doubt did so.
///
/// With --close it prints only the close calls of a folder of HAR files: cases in which the heuristics cannot tell which request it is,
/// and how many of them a model that is never wrong would settle. With --ask N the configured model is asked about N of them, by the
/// question that learning asks. Answers are kept under --home.
///
/// With --json: {cases, tallies, rejections, calibration, model_calls, differences, forgotten}; with --close: {cases, close, recipeable,
/// right_offered, nothing_offered, answers}.
///
/// Example: commis eval --corpus corpus --no-network --ci
#[derive(clap::Args)]
pub struct Args {
    /// Folder with a corpus: a folder for each case, or HAR files with `cases.jsonl`
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// Accepted for clarity; eval uses no network but for the model of --ask
    #[arg(long)]
    no_network: bool,
    /// Exit with 1 on any difference from the baseline, and on any recipe that is verified and wrong
    #[arg(long, conflicts_with = "update_baseline")]
    ci: bool,
    /// Accept the present results; refused if a stage gives another result under the same version
    #[arg(long)]
    update_baseline: bool,
    /// The earlier results (default: baseline.json in a corpus of folders)
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write an HTML report
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Write the choices, one JSON line a case, for an independent scorer
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Write every scored exchange with its signals, one JSON line each, for `scripts/fit-ranking.py`
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Print how often each doubt stopped a right, a wrong and a needless choice
    #[arg(long, conflicts_with_all = ["ci", "update_baseline"])]
    reasons: bool,
    /// Print in how many cases the heuristics cannot tell, and in how many of them the right request is offered to a model
    #[arg(long, conflicts_with_all = ["ci", "update_baseline", "reasons"])]
    close: bool,
    /// Ask the configured model about N close calls, always the same ones
    #[arg(long, value_name = "N", requires = "close")]
    ask: Option<u16>,
    /// Learn every case N times, each time from its files, to measure how learning scales
    #[arg(long, default_value_t = 1, value_name = "N", conflicts_with = "update_baseline",
          value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: &Args, global: &Global) -> Result<u8> {
    let (home, mut settings) = context::read(global)?;
    settings.egress.no_network = true;
    let _ = args.no_network;
    if args.close {
        return close_calls(args, &home, &settings).await;
    }
    if args.reasons {
        return reasons(args, &settings);
    }
    let repeat = usize::from(args.repeat);
    let options = eval::Options { repeat, detailed: args.report.is_some() };
    let mut done = eval::run(&args.corpus, &settings, options)?;
    let file = args.baseline.clone().or_else(|| {
        // What was made of others' traffic is not kept unasked.
        let folders = !args.corpus.join("cases.jsonl").exists();
        folders.then(|| args.corpus.join("baseline.json"))
    });
    let mut now = None;
    match &file {
        Some(file) if file.exists() => {
            now = Some(done.compare(&Baseline::read(file)?, &settings, repeat));
        }
        Some(_) if args.update_baseline => {
            now = Some(Baseline::from_results(&done.cases, &settings));
        }
        _ if args.ci || args.update_baseline => {
            return Err(Error::new(Code::Usage, "no baseline was found")
                .hint("`eval --update-baseline` writes one; `--baseline FILE` says where it is"));
        }
        _ => {}
    }
    if let Some(path) = &args.predictions {
        files::save(path, json_lines(&done.predictions).as_bytes())?;
    }
    if let Some(path) = &args.samples {
        files::save(path, json_lines(&eval::samples(&args.corpus, &settings)?).as_bytes())?;
    }
    if let Some(path) = &args.report {
        let title = args.corpus.file_name().unwrap_or_default().to_string_lossy();
        files::save(path, eval::page(&done, &title).as_bytes())?;
    }
    let updated =
        if args.update_baseline { Some(update(&done, now, file.as_deref())?) } else { None };
    if args.json {
        context::out(&done);
    } else {
        tables(&done);
    }
    if let Some(code) = updated {
        return Ok(code);
    }
    for it in &done.forgotten {
        context::say(it);
    }
    if done.false_verified() > 0 {
        context::say(&format!("{} recipes are verified and wrong", done.false_verified()));
    }
    Ok(u8::from(args.ci && !(done.is_as_before() && done.false_verified() == 0)))
}

async fn close_calls(args: &Args, home: &Home, settings: &Settings) -> Result<u8> {
    let model = match args.ask {
        Some(_) => Some(Client::new(&settings.model)?.ok_or_else(|| {
            Error::new(Code::Usage, "no model is configured")
                .hint("`commis settings` shows what [model] needs")
        })?),
        None => None,
    };
    let cache = Cache::new(home.artifacts.clone());
    let asked = model.as_ref().map(|model| {
        let most = usize::from(args.ask.unwrap_or(0));
        ModelSample { model, cache: &cache, most }
    });
    let told = |it: &CloseAnswer| {
        let chosen = it
            .chosen
            .map(|(rank, bp)| format!(", candidate {rank} of {} %", bp / 100))
            .unwrap_or_default();
        let ending = it.ending.as_str();
        context::say(&format!("{}: {ending}{chosen} ({:.1} s)", it.case, it.seconds));
    };
    let done = eval::close_calls(&args.corpus, settings, asked, told).await?;
    if args.json {
        context::out(&done);
        return Ok(0);
    }
    context::line(&format!(
        "{} of {} cases are close calls; in {} of them there is something to learn, in {} of these the right request is offered, \
         and in {} of these it is the best candidate",
        done.close, done.cases, done.recipeable, done.right_offered, done.right_first
    ));
    if !done.answers.is_empty() {
        let count = |ending| done.answers.iter().filter(|it| it.ending == ending).count();
        let mut seconds: Vec<f64> = done.answers.iter().map(|it| it.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        context::line(&format!(
            "asked about {}: {} right, {} wrong, {} open, {} of these without an answer that could be accepted; {:.1} s in the median",
            done.answers.len(),
            count(CloseEnding::Right),
            count(CloseEnding::Wrong),
            count(CloseEnding::Open),
            done.answers.iter().filter(|it| it.unusable).count(),
            seconds[seconds.len() / 2],
        ));
    }
    Ok(0)
}

fn reasons(args: &Args, settings: &Settings) -> Result<u8> {
    let all = eval::reasons(&args.corpus, settings)?;
    if args.json {
        context::out(&all);
        return Ok(0);
    }
    let mut table = ruled(["reason", "right", "alone", "wrong", "alone", "nothing", "alone"]);
    for it in &all {
        let counts =
            [it.right, it.alone_right, it.wrong, it.alone_wrong, it.nothing, it.alone_nothing];
        let cells = counts.iter().map(u32::to_string);
        table.add_row(std::iter::once(it.reason.clone()).chain(cells));
    }
    context::line(&table.to_string());
    Ok(0)
}

fn update(done: &Evaluation, now: Option<Baseline>, file: Option<&Path>) -> Result<u8> {
    if !done.forgotten.is_empty() {
        for it in &done.forgotten {
            context::say(it);
        }
        context::say("the baseline is as it was");
        return Ok(1);
    }
    if done.false_verified() > 0 {
        context::say(&format!(
            "{} recipes are verified and wrong: no baseline is made of that",
            done.false_verified()
        ));
        return Ok(1);
    }
    if let (Some(now), Some(file)) = (now, file) {
        now.write(file)?;
        context::say(&format!("baseline: {}", file.display()));
    }
    Ok(0)
}

fn json_lines<T: serde::Serialize>(rows: &[T]) -> String {
    rows.iter().filter_map(|it| serde_json::to_string(it).ok()).map(|it| it + "\n").collect()
}

/// How often a confidence was right.
fn calibration(done: &Evaluation) {
    let mut table = ruled(["confidence", "mean", "cases", "right"]);
    for it in &done.calibration {
        let percent = |bp: u32| format!("{} %", bp / 100);
        table.add_row([
            format!("{} to {}", percent(it.from_bp), percent(it.to_bp)),
            percent(it.mean_bp),
            it.cases.to_string(),
            percent(10_000 * it.right / it.cases.max(1)),
        ]);
    }
    context::line(&table.to_string());
}

fn tables(done: &Evaluation) {
    let mut table = ruled([
        "kind",
        "cases",
        "rank@1",
        "rank@8",
        "right",
        "wrong",
        "abstained",
        "nothing",
        "chosen",
    ]);
    for (kind, it) in &done.tallies {
        let share = |n: u32| {
            if it.recipeable == 0 {
                return String::new();
            }
            format!("{:.1} %", 100.0 * f64::from(n) / f64::from(it.recipeable))
        };
        table.add_row([
            kind.clone(),
            it.recipeable.to_string(),
            share(it.rank_1),
            share(it.rank_8),
            share(it.right),
            it.wrong.to_string(),
            it.abstained.to_string(),
            it.nothing.to_string(),
            it.nothing_chosen.to_string(),
        ]);
    }
    context::line(&table.to_string());
    calibration(done);
    for (what, n) in &done.rejections {
        context::line(&format!("{n:5}  {what}"));
    }
    let wrong = |it: &&eval::CaseResult| match it.expected {
        Some(_) => it.verdict != Verdict::Right,
        None => it.verdict == Verdict::Wrong,
    };
    let mut table = ruled(["case", "", "came to", "right is", "not right", "chosen"]);
    for it in done.cases.iter().filter(wrong) {
        let verdict = Cell::new(it.verdict.as_str());
        table.add_row([
            Cell::new(&it.id),
            if it.verdict == Verdict::Wrong { verdict.fg(Color::Red) } else { verdict },
            Cell::new(short(&format!("{} {}", it.outcome.as_str(), it.why().unwrap_or("")))),
            Cell::new(format!(
                "{} {}",
                it.expected.map_or("", |it| it.as_str()),
                it.expected_reason.unwrap_or("")
            )),
            Cell::new(it.checks.map(eval::Checks::failed_parts).unwrap_or_default().join(", ")),
            Cell::new(short(
                it.chosen
                    .as_deref()
                    .or(it.top.as_ref().map(|it| it.request.as_str()))
                    .unwrap_or(""),
            )),
        ]);
    }
    if table.row_count() > 0 {
        context::line(&table.to_string());
    }
    if let Some(all) = done.tallies.get("(all)").filter(|it| it.saved > 0) {
        context::line(&format!(
            "{} verified, {} of them falsely; of {} recipes {} have the right endpoint, {} the right parameters, {} the right extraction; {} of {} complete; {} model calls",
            all.verified,
            all.false_verified,
            all.saved,
            all.endpoint_right,
            all.parameters_right,
            all.extraction_right,
            all.complete,
            all.judged_whole,
            done.model_calls,
        ));
    }
    match &done.differences {
        Some(all) if all.is_empty() => context::line("as in the baseline"),
        Some(all) => {
            context::line(&format!("{} differences from the baseline:", all.len()));
            for it in all {
                let stage = it.stage.as_deref().map(|it| format!(" {it}")).unwrap_or_default();
                context::line(&format!("  {}{stage}: {}", it.case, it.what));
            }
        }
        None => {}
    }
}

fn short(text: &str) -> String {
    text.chars().take(70).collect()
}
