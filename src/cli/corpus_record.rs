//! `commis corpus record`

use std::path::{Path, PathBuf};

use comfy_table::{Cell, Color, Table};
use futures::StreamExt as _;

use super::{Global, context, table::ruled};
use commis_base::error::{Code, Error, Result};
use commis_learn::{RedoScope, Source};
use commis_measure::eval::record::{self, Ending, RecordedCase};

/// Make cases of an eval corpus: learn each task on the test web and write down what it answers to whom
#[derive(clap::Args)]
pub struct Args {
    /// What to learn (YAML)
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    /// What is right for each of its entries (YAML)
    #[arg(long, value_name = "FILE")]
    expected: PathBuf,
    /// Folder to write a folder for each case into
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Only this entry; repeatable
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Tasks at a time
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=8))]
    jobs: u8,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let mut tasks = commis_batch::load(&args.manifest, false)?.tasks;
    let expected = record::expectations(&args.expected)?;
    let unmatched = record::unmatched(&tasks, &expected);
    if args.only.is_empty() && !unmatched.is_empty() {
        return Err(Error::new(
            Code::Usage,
            format!("only one of the two files has {}", unmatched.join(", ")),
        ));
    }
    tasks
        .retain(|it| args.only.is_empty() || args.only.iter().any(|name| name == it.name.as_str()));
    if tasks.is_empty() {
        return Err(Error::new(Code::Usage, "the manifest has no such entry"));
    }
    // Nothing but the test web may be learned from here: a case is probed with many requests.
    let elsewhere = tasks.iter().find(|it| !is_on_the_test_web(&it.source));
    if let Some(it) = elsewhere {
        return Err(Error::new(
            Code::Usage,
            format!("`{}` does not start on a .test host", it.name),
        )
        .hint("a corpus is recorded from the test web alone"));
    }
    let mut global = global.clone();
    global.testbed = global.test_host.is_empty();
    let mut place = context::open(&global).await?;
    place.settings = place.settings.only_egress();
    let work = args.out.join(".work");
    place.home.recipes = work.join("recipes");
    place.home.artifacts = work.join("artifacts");
    let cx = context::learning(
        &place,
        Some(RedoScope::All),
        std::time::Duration::ZERO,
        Box::new(|_, _| ()),
    )?;
    let total = tasks.len();
    let made: Vec<(String, Result<RecordedCase>)> = futures::stream::iter(&tasks)
        .map(|task| async {
            let name = task.name.to_string();
            let end = match expected.get(&name) {
                Some(it) => record::record(task, it, &cx, &args.out).await,
                None => Err(Error::new(Code::Usage, "expected.yaml has nothing for this entry")),
            };
            context::say(&line(&name, &end));
            (name, end)
        })
        .buffered(args.jobs.into())
        .collect()
        .await;
    cx.browser.close().await;
    remove(&work);
    context::line(&table(&made).to_string());
    let done = made.iter().filter(|it| it.1.is_ok()).count();
    let bytes: u64 = made.iter().filter_map(|it| it.1.as_ref().ok()).map(|it| it.bytes).sum();
    context::line(&format!("{done} of {total} cases written, {} KiB", bytes / 1024));
    Ok(u8::from(done < total))
}

fn remove(work: &Path) {
    // What could not be removed is overwritten by the next run.
    let _ = std::fs::remove_dir_all(work);
}

fn line(name: &str, end: &Result<RecordedCase>) -> String {
    match end {
        Ok(it) => format!("{name}: {}, {}", describe_ending(&it.live), it.verdict),
        Err(err) => format!("{name}: {err} [{}]", err.code()),
    }
}

fn describe_ending(it: &Ending) -> String {
    let why: String = it.why.as_deref().unwrap_or("").chars().take(50).collect();
    format!("{} {why}", it.outcome.as_str()).trim_end().to_owned()
}

fn table(made: &[(String, Result<RecordedCase>)]) -> Table {
    let mut table = ruled(["case", "live", "over its stubs", "", "KiB"]);
    for (name, end) in made {
        match end {
            Ok(it) => {
                let offline = Cell::new(describe_ending(&it.offline));
                let differs = it.live.outcome != it.offline.outcome;
                table.add_row([
                    Cell::new(name),
                    Cell::new(describe_ending(&it.live)),
                    if differs { offline.fg(Color::Red) } else { offline },
                    Cell::new(it.verdict),
                    Cell::new(it.bytes / 1024),
                ]);
            }
            Err(err) => {
                table.add_row([Cell::new(name), Cell::new(err.to_string()).fg(Color::Red)]);
            }
        }
    }
    table
}

fn is_on_the_test_web(source: &Source) -> bool {
    match source {
        Source::Live { url, .. } => url::Url::parse(url)
            .is_ok_and(|it| it.host_str().and_then(|host| host.rsplit('.').next()) == Some("test")),
        Source::Har { .. } => false,
    }
}
