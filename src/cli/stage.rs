//! `commis stage`

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::{Global, context, learn_args::stage, stores::SharedStoreArgs};
use commis_artifacts::{gc::mark_in_use, shared_store::ObjectKey};
use commis_base::{
    error::{Code, Error, Result},
    ids::TaskId,
};
use commis_learn::{LearnContext, Span, StagesResult, StoredTask, Task};
use commis_stages::Stage;

#[derive(clap::Subcommand)]
pub enum Command {
    Run(Args),
}

const EXAMPLES: &str = "Examples:
  commis stage run --manifest m.yaml --task wiki --stage record --through verify --store /mnt/shared
  commis stage run --task wiki-1a2b3c4d --stage rank --store file:///mnt/shared --json";

/// Run one or more stages of a task, for use by an engine
///
/// It reads the artifacts of earlier stages from the store. If its own artifact is missing, it makes and stores it. If another
/// run stored one first, that one counts. So it may be called twice, by two at once, or late: by Airflow, a Job of Kubernetes,
/// a queue or a shell loop.
///
/// Exit code 0: the artifact exists, or an earlier stage has decided the task. `commis recipe learn-batch --store URL --resume`
/// takes all artifacts and publishes the recipes.
///
/// With --json: {task_id, stages: [{stage, kind, key, payload_sha256, how: made, adopted or there}], decided: {outcome, reason, detail} or null, live_values_lost}.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The task's id, or with --manifest its name
    #[arg(long, value_name = "TASK")]
    task: String,
    /// record, record_second, rank, summarize, consult, analyze, validate, baseline, minimize, parameterize, verify
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    stage: Stage,
    /// Also run the stages after it, up to this one, in this process; session values last from record to verify
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    through: Option<Stage>,
    /// The manifest of the task (YAML); without it, the task as stored in the store or on this machine
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    #[command(flatten)]
    shared: SharedStoreArgs,
    /// Print the result as JSON on stdout
    #[arg(long)]
    json: bool,
}

impl Command {
    pub const fn wants_json(&self) -> bool {
        match self {
            Self::Run(it) => it.json,
        }
    }
}

pub async fn run(command: Command, global: &Global) -> Result<u8> {
    let Command::Run(args) = command;
    let span = Span { first: args.stage, last: args.through.unwrap_or(args.stage) };
    if span.last < span.first {
        return Err(Error::new(
            Code::Usage,
            format!("{} comes before {}", span.last.as_str(), span.first.as_str()),
        )
        .hint("give the earlier one with --stage, the later with --through"));
    }
    let place = args.shared.place(global).await?;
    let shared_store = args.shared.shared_store(global, &place.home)?;
    let told = Box::new(|task: &Task, stage: Stage| {
        tracing::info!(task_id = task.id.as_str(), stage = stage.as_str(), "begins");
    });
    let cx = context::learning_with(&place, None, Duration::ZERO, (shared_store, false), told)?;
    let task = Arc::new(find(&args, &cx)?);
    let _held = match &cx.shared_store {
        Some(it) => Some(mark_in_use(it, task.name.as_str(), std::iter::once(&task.id))?),
        None => None,
    };
    let its = Arc::clone(&cx);
    let work = move || async move { commis_learn::stages(&task, &its, span).await };
    let end = context::run_interruptible("the same command goes on", work).await;
    cx.browser.close().await;
    let came = end?;
    if args.json {
        context::out(&came);
    } else {
        print_result(&came);
    }
    Ok(0)
}

/// The task as the manifest has it, or the store, or else this machine. Fails with `TASK_NOT_FOUND`, `MANIFEST_INVALID`, `ARTIFACT_*`,
/// and `SECRET_IN_TASK` when only a description is there.
fn find(args: &Args, cx: &LearnContext) -> Result<Task> {
    if let Some(file) = &args.manifest {
        let all = commis_batch::load(file, args.shared.allow_task_secrets)?.tasks;
        let is = |it: &Task| it.id.as_str() == args.task || it.name.as_str() == args.task;
        return all.into_iter().find(is).ok_or_else(|| {
            let task = context::clean(&args.task);
            Error::new(Code::TaskNotFound, format!("the manifest has no task `{task}`"))
        });
    }
    let id = TaskId::parse(&args.task)?;
    load_stored_task(&id, cx)?
        .ok_or_else(|| {
            let of = cx
                .shared_store
                .as_ref()
                .map_or_else(|| "this machine".to_owned(), |it| it.location());
            Error::new(Code::TaskNotFound, format!("{of} has no task {id}"))
                .hint("give its manifest with --manifest")
        })?
        .task()
        .ok_or_else(|| {
            Error::new(
                Code::SecretInTask,
                "the stored task has a redacted value, so it cannot run".to_owned(),
            )
            .hint("give its manifest with --manifest")
        })
}

fn load_stored_task(id: &TaskId, cx: &LearnContext) -> Result<Option<StoredTask>> {
    /// As of any file that says what a task is.
    const MAX: usize = 1 << 20;
    if let Some(shared_store) = &cx.shared_store
        && let Some(bytes) = shared_store.read(&ObjectKey::for_task(id), MAX)?
    {
        return StoredTask::parse(&bytes, id).map(Some);
    }
    cx.store.peek(id)?.map_or(Ok(None), |it| StoredTask::read(&it, id))
}

fn print_result(came: &StagesResult) {
    for it in &came.stages {
        context::line(&format!("{}: {} {}", it.stage.as_str(), it.how.as_str(), it.key));
    }
    if let Some(it) = &came.decided {
        let why: Vec<&str> =
            [&it.reason, &it.detail].into_iter().flatten().map(String::as_str).collect();
        let why = if why.is_empty() { String::new() } else { format!(": {}", why.join(", ")) };
        context::line(&context::clean(&format!("decided: {}{why}", it.outcome.as_str())));
    }
}
