//! `commis recipe learn-batch`

use std::{path::PathBuf, time::Duration};

use comfy_table::{Cell, Color, Table, presets::UTF8_BORDERS_ONLY};

use super::{Global, progress::Progress, wire};
use crate::{
    artifacts::payloads::Outcome,
    batch::{self, Entry, Options, Report},
    error::Result,
};

/// Learn every task of a manifest
///
/// Each stage of each task leaves an artifact; a batch that was interrupted goes on with --resume and repeats nothing that
/// was finished.
///
/// Example: commis recipe learn-batch --manifest manifests/quickstart.yaml --testbed
#[derive(clap::Args)]
pub struct Args {
    /// What to learn (YAML)
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// Go on where an earlier run stopped
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Learn everything again
    #[arg(long)]
    force: bool,
    /// Seconds between two recordings on one host (default: the manifest's)
    #[arg(long, value_name = "S", value_parser = seconds)]
    delay: Option<f64>,
    /// Tasks at a time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=32))]
    jobs: u8,
    /// Let this model choose where the heuristics cannot tell (default: [model] in the settings) [env: COMMIS_MODEL]
    #[arg(long, value_name = "PROVIDER/NAME")]
    model: Option<String>,
    /// Send nothing: HAR entries only, nothing is verified
    #[arg(long)]
    no_network: bool,
    /// Print the report as JSON on stdout
    #[arg(long)]
    pub json: bool,
    /// Write the JSON report here as well (default: batch_<manifest>.json beside the artifacts)
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

fn seconds(text: &str) -> std::result::Result<f64, String> {
    match text.parse::<f64>() {
        Ok(it) if (0.0..=3600.0).contains(&it) => Ok(it),
        _ => Err("give seconds between 0 and 3600".to_owned()),
    }
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let manifest = batch::load(&args.manifest)?;
    let mut place = wire::open(global).await?;
    place.settings.egress.no_network = args.no_network;
    if let Some(model) = &args.model {
        place.settings.model.choose(model)?;
    }
    let progress = Progress::new(manifest.tasks.len());
    let stages = progress.clone();
    let delay = args.delay.map_or(manifest.delay, Duration::from_secs_f64);
    let cx = wire::learning(
        &place,
        args.force,
        delay,
        Box::new(move |task, stage| stages.stage(task, stage)),
    )?;
    if !args.resume && !args.force {
        batch::refuse_if_begun(&manifest.tasks, &cx)?;
    }
    let ends = progress.clone();
    let options =
        Options { jobs: args.jobs.into(), on_end: Box::new(move |task, end| ends.end(task, end)) };
    let report =
        batch::run(&manifest.name, manifest.tasks, std::sync::Arc::clone(&cx), options).await;
    progress.finish();
    cx.browser.close().await;
    let file = args.report.unwrap_or_else(|| {
        place
            .home
            .artifacts
            .join(format!("batch_{}.json", crate::ids::RecipeName::slug(&manifest.name)))
    });
    save(&report, &file)?;
    if args.json {
        wire::out(&report);
    } else {
        table(&report);
    }
    wire::say(&format!("report: {}", file.display()));
    if report.count(Some(Outcome::NeedsSelection)) > 0 {
        wire::say("commis recipe debug --task-id TASK shows what there is to choose from");
    }
    if report.interrupted {
        wire::say("interrupted; the same command with --resume goes on");
    }
    Ok(report.exit_code())
}

fn save(report: &Report, file: &std::path::Path) -> Result<()> {
    let bytes = serde_json::to_vec_pretty(report).unwrap_or_default();
    let folder =
        file.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
    let name = file.file_name().and_then(|it| it.to_str()).unwrap_or("report.json");
    crate::files::write_atomic(folder, name, &bytes)
}

fn table(report: &Report) {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY);
    // Whether the terminal has colour is decided where the text is written.
    table.enforce_styling();
    table.set_header(["task", "outcome", "why", "transport", "browser", "ran"]);
    for entry in report.entries.values() {
        match entry {
            Entry::Learned(it) => {
                let mut why = it.reason.clone().unwrap_or_default();
                if it.live_values_lost {
                    why = format!("{why} (recorded again: LIVE_VALUES_LOST)");
                }
                table.add_row([
                    it.name.clone(),
                    it.outcome.as_str().to_owned(),
                    wire::clean(&why),
                    it.transport.unwrap_or("").to_owned(),
                    if it.browser_ms > 0 { format!("{} ms", it.browser_ms) } else { String::new() },
                    format!("{} of {} stages", it.ran.len(), it.ran.len() + it.reused.len()),
                ])
            }
            Entry::Failed { name, error_code, error, .. } => table.add_row([
                Cell::new(name),
                Cell::new("failed").fg(Color::Red),
                Cell::new(wire::clean(&format!(
                    "{error_code}: {}",
                    error.chars().take(60).collect::<String>()
                ))),
            ]),
        };
    }
    wire::line(&table.to_string());
    let asked = &report.model;
    if asked.calls > 0 {
        let used =
            wire::model_use(asked.calls, asked.tokens_in, asked.tokens_out, asked.cost_micros);
        wire::line(&format!("model: {used}"));
    }
    wire::line(&format!(
        "{} verified, {} saved as draft, {} need a selection, {} not recipeable, {} failed, {} not started",
        report.count(Some(Outcome::Verified)),
        report.count(Some(Outcome::SavedDraft)),
        report.count(Some(Outcome::NeedsSelection)),
        report.count(Some(Outcome::NonRecipeable)),
        report.count(None),
        report.not_started,
    ));
}
