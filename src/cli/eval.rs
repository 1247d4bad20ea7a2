//! `commis eval`

use std::{fs, path::PathBuf};

use comfy_table::{Table, presets::UTF8_BORDERS_ONLY};

use super::{Global, wire};
use crate::{
    error::{Code, Error, Result},
    eval::{self, Evaluation, Verdict},
};

/// Measure learning on a corpus, without any network
#[derive(clap::Args)]
pub struct Args {
    /// Folder with a corpus: HAR files with `cases.jsonl`
    #[arg(long, value_name = "DIR")]
    corpus: PathBuf,
    /// An eval never uses the network; the flag says so aloud
    #[arg(long)]
    no_network: bool,
    /// Write what was chosen, one JSON line a case, for an independent scorer
    #[arg(long, value_name = "FILE")]
    predictions: Option<PathBuf>,
    /// Write every scored exchange with its signals, one JSON line each, for `scripts/fit-ranking`
    #[arg(long, value_name = "FILE")]
    samples: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<u8> {
    let (_, mut settings) = wire::read(global)?;
    settings.egress.no_network = true;
    let _ = args.no_network;
    let done = eval::run(&args.corpus, &settings)?;
    if let Some(path) = &args.predictions {
        write(path, &done.predictions)?;
    }
    if let Some(path) = &args.samples {
        write(path, &done.samples)?;
    }
    if args.json {
        wire::out(&done);
    } else {
        tables(&done);
    }
    Ok(0)
}

fn tables(done: &Evaluation) {
    let mut table = Table::new();
    table.load_style(UTF8_BORDERS_ONLY);
    table.set_header([
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
    wire::line(&table.to_string());
    for (what, n) in &done.rejections {
        wire::line(&format!("{n:5}  {what}"));
    }
    for it in done.cases.iter().filter(|it| it.verdict == Verdict::Wrong) {
        let top = it.top.as_ref().map_or("", |it| it.request.as_str());
        wire::line(&format!("wrong  {}: {top}", it.id));
    }
}

/// One JSON line each, where the user said.
#[expect(clippy::disallowed_methods, reason = "a file of the user's own, not an artifact")]
fn write<T: serde::Serialize>(path: &std::path::Path, rows: &[T]) -> Result<()> {
    let mut text = String::new();
    for row in rows {
        text.push_str(&serde_json::to_string(row).map_err(|err| {
            Error::new(Code::Internal, "a result cannot be written as JSON").source(err)
        })?);
        text.push('\n');
    }
    fs::write(path, text).map_err(|err| {
        Error::new(Code::Usage, format!("cannot write {}", path.display())).source(err)
    })
}
