//! `commis-worker submit`

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use commis::{Code, Enlisted, Error, Global, Result, Station, StationArgs};
use futures::stream::{FuturesUnordered, StreamExt as _};
use temporalio_client::{
    WorkflowGetResultOptions, WorkflowIdConflictPolicy, WorkflowStartOptions,
    errors::WorkflowGetResultError,
};

use crate::{
    engine,
    hosts::{Ended, Host, HostJob},
    store, worker,
};

/// Tasks that visit no host are handed out in parts of so many.
const PART: usize = 500;
/// What a workflow is started with may be no larger than 2 MB; a reference takes some 200 bytes.
const MOST: usize = 5_000;

/// How often a lost connection is tried again, a second apart.
const PATIENCE: u32 = 600;

/// Hand the tasks of a manifest to the workers, and wait for them
///
/// What they come to is in the store; `commis-worker recipe learn-batch --manifest FILE --store URL --resume` takes it from there and
/// publishes the recipes. Run again, it goes on: nothing is done twice.
///
/// A line for each task as it ends, with --json an object; then the totals. 1 when a task failed.
#[derive(clap::Args)]
pub struct Args {
    /// What to learn (YAML)
    #[arg(long, value_name = "FILE")]
    manifest: PathBuf,
    #[command(flatten)]
    station: StationArgs,
    /// Tasks at once on one host
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=32))]
    per_host: u8,
    /// Tasks at once of a part that visits no host
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=100))]
    per_part: u8,
    /// The queue that the workers look at
    #[arg(long, value_name = "NAME", default_value = "commis")]
    queue: String,
    /// Accept tasks that seem to hold a secret
    #[arg(long)]
    allow_task_secrets: bool,
    /// Print JSON, a line for each task, the totals last
    #[arg(long)]
    json: bool,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let station = Station::open(global, &args.station, store::open).await?;
    let batch =
        tokio::task::block_in_place(|| station.enlist(&args.manifest, args.allow_task_secrets))?;
    let client = worker::client().await?;
    let (mut hosts, mut files): (BTreeMap<String, Vec<Enlisted>>, Vec<Enlisted>) =
        Default::default();
    for it in batch.tasks {
        match &it.host {
            Some(host) => hosts.entry(host.clone()).or_default().push(it),
            None => files.push(it),
        }
    }
    let gap_ms = batch.delay.as_millis() as u64;
    let mut jobs: Vec<(String, u32, u64, Vec<Enlisted>)> = Vec::new();
    for (host, tasks) in hosts {
        if tasks.len() > MOST {
            let n = tasks.len();
            return Err(Error::new(Code::Usage, format!("{host} has {n} tasks, more than {MOST}"))
                .hint("split the manifest"));
        }
        jobs.push((host, args.per_host.into(), gap_ms, tasks));
    }
    for (i, part) in files.chunks(PART).enumerate() {
        jobs.push((format!("files-{i}"), args.per_part.into(), 0, part.to_vec()));
    }
    let mut running = FuturesUnordered::new();
    for (place, parallel, gap_ms, tasks) in jobs {
        let job = HostJob {
            tasks,
            parallel,
            gap_ms,
            deadline_s: batch.deadline.as_secs(),
            attempts: batch.retries + 2,
            ended: Vec::new(),
        };
        // Whoever hands in the same manifest meanwhile waits for the same workflows.
        let options =
            WorkflowStartOptions::new(args.queue.clone(), format!("{}/{place}", batch.name))
                .id_conflict_policy(WorkflowIdConflictPolicy::UseExisting)
                .build();
        let client = client.clone();
        running.push(async move {
            let started = client.start_workflow(Host::run, job, options).await;
            let handle = started.map_err(|err| engine("cannot start a workflow", err))?;
            let mut lost = 0;
            loop {
                match handle.get_result(WorkflowGetResultOptions::default()).await {
                    // The server may be begun again meanwhile; the workflow goes on where it was.
                    Err(WorkflowGetResultError::Rpc(_)) if lost < PATIENCE => {
                        lost += 1;
                        tokio::time::sleep(Duration::from_secs(1)).await;
                    }
                    end => {
                        return end.map_err(|err| engine(&format!("the workflow of {place}"), err));
                    }
                }
            }
        });
    }
    let mut totals: BTreeMap<String, usize> = BTreeMap::new();
    while let Some(ended) = running.next().await {
        for it in ended? {
            tell(&it, args.json);
            *totals.entry(it.outcome.unwrap_or_else(|| "failed".to_owned())).or_default() += 1;
        }
    }
    drop(running);
    station.close().await;
    if args.json {
        println!("{}", serde_json::json!({"event": "batch_finished", "outcomes": totals}));
    } else {
        let all: Vec<String> = totals.iter().map(|(name, n)| format!("{n} {name}")).collect();
        println!("{}", all.join(", "));
    }
    Ok(u8::from(totals.contains_key("failed")))
}

fn tell(it: &Ended, json: bool) {
    if json {
        println!("{}", serde_json::json!({"event": "task_finished", "entry": it}));
        return;
    }
    let outcome = it.outcome.as_deref().unwrap_or("failed");
    let why: Vec<&str> = [&it.why, &it.error].into_iter().flatten().map(String::as_str).collect();
    let why = if why.is_empty() { String::new() } else { format!(" ({})", why.join(": ")) };
    // Of a page, or of a file: shown as text and nothing else.
    let line: String = format!("{}: {outcome}{why}", it.id)
        .chars()
        .map(|c| if c.is_control() || turns(c) { '\u{fffd}' } else { c })
        .collect();
    println!("{line}");
}

/// Whether what follows is read the other way round.
const fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
