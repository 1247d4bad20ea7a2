//! `commis bench`

use std::path::PathBuf;

use super::{context, table::ruled};
use commis_base::{
    error::{Code, Error, Result},
    files,
};
use commis_measure::bench::{
    self, Baseline, Benchmark, Options, Regression, har::HarBenchmark, recorder::RecorderBenchmark,
};

const BASELINE: &str = "ci/bench-baseline.json";

/// Measure what a recipe's run costs beside its floor, on loopback
///
/// Runs recipes against the built-in test web in another process, in turns with the same bytes through the same client, and
/// with one parse of them. The ratios of such a run are stable, the times are not.
///
/// Example: commis bench --report bench.html
#[derive(clap::Args)]
pub struct Args {
    /// Measure this scenario only, or this page of the recorder; repeatable
    #[arg(long, value_name = "SCENARIO")]
    only: Vec<String>,
    /// Measure instead what recording costs: the page that is watched, and besides its own time; needs Chromium
    #[arg(long, conflicts_with_all = ["ci", "update_baseline", "report"])]
    recorder: bool,
    /// Measure instead what reading and ranking this HAR takes, beside parsing it; repeatable
    #[arg(long, value_name = "FILE", conflicts_with_all = ["only", "recorder", "ci", "update_baseline", "report"])]
    har: Vec<PathBuf>,
    /// Measure instead what asking the daemon costs beside the same run inside a process, and what the daemon takes when idle
    #[arg(long, conflicts_with_all = ["only", "recorder", "har", "ci", "update_baseline", "report"])]
    daemon: bool,
    /// Rounds after warm-up: 200 of each scenario, 20 of each page or HAR
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    runs: Option<u16>,
    /// Exit with 1 when a ratio is above the baseline's and its tolerance, or a time above its budget
    #[arg(long, conflicts_with = "update_baseline")]
    ci: bool,
    /// Keep the ratios measured now
    #[arg(long)]
    update_baseline: bool,
    /// Where ratios are kept
    #[arg(long, value_name = "FILE", default_value = BASELINE)]
    baseline: PathBuf,
    /// Write an HTML report
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: &Args) -> Result<u8> {
    let runs = |usual: u16| usize::from(args.runs.unwrap_or(usual));
    if !args.har.is_empty() {
        let progress = |file: &str| context::say(&context::clean(&format!("reading {file}")));
        let done = bench::har::run(&args.har, runs(20), &progress)?;
        if args.json {
            context::out(&done);
        } else {
            hars(&done);
        }
        return Ok(0);
    }
    if args.daemon {
        return super::bench_daemon::run(runs(1000), args.json).await;
    }
    if args.recorder {
        let progress = |page: &str| context::say(&format!("recording the {page} page"));
        let done = bench::recorder::run(&args.only, runs(20), &progress).await?;
        if args.json {
            context::out(&done);
        } else {
            recorder(&done);
        }
        return Ok(0);
    }
    let kept = if args.ci { Some(Baseline::read(&args.baseline)?) } else { None };
    let options = Options { only: &args.only, runs: runs(200), baseline: kept.as_ref() };
    let progress = |name: &str| context::say(&format!("measuring {name}"));
    // Its runtime is its own: one thread, as in `recipe run`.
    let done = std::thread::scope(|scope| {
        let work = std::thread::Builder::new()
            .name("bench".to_owned())
            .spawn_scoped(scope, || bench::run(&options, &progress));
        let panicked = || Error::new(Code::Internal, "the bench panicked");
        work.map_err(|err| Error::new(Code::Internal, "cannot start a thread").source(err))?
            .join()
            .map_err(|_| panicked())?
    })?;
    if let Some(path) = &args.report {
        files::save(path, bench::page(&done).as_bytes())?;
    }
    if args.json {
        context::out(&done);
    } else {
        tables(&done);
    }
    if args.update_baseline {
        let mut kept = if args.baseline.exists() {
            Baseline::read(&args.baseline)?
        } else {
            Baseline::default()
        };
        kept.update(done.profile, &done.scenarios);
        kept.write(&args.baseline)?;
        context::say(&format!("baseline: {}", args.baseline.display()));
    }
    if let Some(all) = &done.slower {
        slower(all);
    }
    Ok(u8::from(done.slower.is_some_and(|it| !it.is_empty())))
}

fn tables(done: &Benchmark) {
    let mut table = ruled([
        "scenario", "µs p50", "p95", "p99", "floor", "+ parse", "× floor", "× parse", "cpu µs",
        "× parse", "allocs",
    ]);
    for it in &done.scenarios {
        let whole = |us: f64| format!("{us:.0}");
        let ratio = |it: f64| format!("{it:.2}");
        table.add_row([
            it.scenario.clone(),
            whole(it.wall_us.run.p50),
            whole(it.wall_us.run.p95),
            whole(it.wall_us.run.p99),
            whole(it.wall_us.floor.p50),
            whole(it.wall_us.parse.p50),
            ratio(it.to_floor.p50),
            ratio(it.to_parse.p50),
            whole(it.cpu_us.run.p50),
            ratio(it.to_parse.cpu),
            it.allocations.map_or("–".to_owned(), |it| it.run.allocations.to_string()),
        ]);
    }
    context::line(&table.to_string());
    let mut table = ruled([
        "of a run, µs",
        "validate",
        "dns",
        "connect",
        "ttfb",
        "download",
        "extract",
        "shape",
        "rest",
        "reused",
        "compiled",
    ]);
    for it in &done.scenarios {
        let of = it.stages_us;
        let us = |us: f64| format!("{us:.1}");
        table.add_row([
            it.scenario.clone(),
            us(of.validate),
            us(of.dns),
            us(of.connect),
            us(of.ttfb),
            us(of.download),
            us(of.extract),
            us(of.shape),
            us(of.rest),
            format!("{} of {}", it.reused_connections, it.runs),
            format!("{} of {}", it.compiled_before, it.runs),
        ]);
    }
    context::line(&table.to_string());
    if done.profile == "dev" {
        context::say("a dev build: the figures are not what users see");
    }
}

fn recorder(done: &RecorderBenchmark) {
    let mut table = ruled([
        "page",
        "requests",
        "alone, ms",
        "recorded",
        "× alone",
        "whole",
        "added",
        "context",
        "steps",
        "settle",
        "redact",
        "write",
        "witness",
    ]);
    for it in &done.pages {
        let ms = |ms: f64| format!("{ms:.0}");
        let parts = it.parts;
        table.add_row([
            it.page.to_owned(),
            it.exchanges.to_string(),
            ms(it.alone.p50),
            ms(it.recorded.p50),
            format!("{:.2}", it.to_alone),
            ms(it.whole.p50),
            ms(it.added),
            ms(parts.context),
            ms(parts.steps),
            ms(parts.settle),
            ms(parts.redact),
            ms(parts.write),
            ms(parts.witness),
        ]);
    }
    context::line(&table.to_string());
    if done.profile == "dev" {
        context::say("a dev build: the figures are not what users see");
    }
}

fn hars(done: &HarBenchmark) {
    let mut table =
        ruled(["MB", "requests", "parse, ms", "read, ms", "× parse", "cpu, ms", "× parse"]);
    for it in &done.files {
        let ms = |ms: f64| format!("{ms:.1}");
        table.add_row([
            format!("{:.1}", it.bytes as f64 / 1e6),
            it.entries.to_string(),
            ms(it.parse.wall),
            ms(it.read.wall),
            format!("{:.2}", it.to_parse.wall),
            ms(it.read.cpu),
            format!("{:.2}", it.to_parse.cpu),
        ]);
    }
    context::line(&table.to_string());
    if done.profile == "dev" {
        context::say("a dev build: the figures are not what users see");
    }
}

fn slower(all: &[Regression]) {
    if all.is_empty() {
        context::say("nothing is slower than the baseline allows");
        return;
    }
    let mut table = ruled(["scenario", "slower", "was", "now", "allowed"]);
    for it in all {
        table.add_row([
            it.scenario.clone(),
            it.what.to_owned(),
            it.was.map_or(String::new(), |it| format!("{it:.2}")),
            format!("{:.2}", it.now),
            format!("{:.2}", it.allowed),
        ]);
    }
    context::say(&table.to_string());
}
