//! `commis artifacts`

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::Subcommand;
use rayon::prelude::*;
use serde::Serialize;

use super::{
    Global,
    context::{self, clean},
    debug, stores,
    table::ruled,
};
use commis_artifacts::{
    gc::{self, StoreEntry},
    kinds::Kind,
    migrate::migrate,
    retention::Finding,
    shared_store::SharedStore,
    store::Store,
};
use commis_base::{
    error::{Code, Error, Result},
    ids::TaskId,
    settings::ArtifactsSettings,
};
use commis_learn::{StoredTask, rebuild};
use commis_stages::STAGES;
use commis_state::{State, Status, TaskRow, now_ms};

/// Tasks that are taken away before it is looked again what is in use.
const AT_A_TIME: usize = 100;
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Subcommand)]
pub enum Command {
    /// List the tasks and their status
    ///
    /// With --json: a list of {task_id, manifest, name, host, status, why, attempts, began_ms, ended_ms}, and `private` where
    /// the recording was made behind a login: it holds what the account saw.
    Ls {
        /// Only tasks with this status: pending, recording, analyzing, verified, draft (or saved_draft), needs_selection,
        /// non_recipeable, failed
        #[arg(long, value_parser = status)]
        status: Option<Status>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print one artifact of a task, whole
    ///
    /// Example: commis artifacts show shop-search verify
    Show {
        /// A task's id; a recipe's name is enough where it is unique
        task: String,
        /// The stage that wrote it: record, rank, analyze, validate, minimize, verify, …
        #[arg(value_parser = super::learn_args::stage)]
        stage: commis_stages::Stage,
    },
    /// Migrate recordings of an earlier version to the present schema
    Migrate {
        /// Tasks (default: all)
        tasks: Vec<String>,
    },
    /// Remove the artifacts of tasks that were not used for a while, and folders that are not tasks
    ///
    /// Recipes and running tasks stay.
    Prune {
        /// Older than this (default: [artifacts] retention_days in the settings)
        #[arg(long, value_name = "N")]
        days: Option<u32>,
        /// Only list what would be removed
        #[arg(long)]
        dry_run: bool,
    },
    /// List the tasks of a shared store, the oldest first, and remove old ones
    ///
    /// Without --remove nothing is removed. The age of a task is that of its newest object, by the clock of the store. Tasks
    /// that a batch, a worker or a stage is using stay, however old. Objects that are not of commis are left alone.
    ///
    /// With --json: {store, days, removed, kept}, where both are lists of {name, objects, bytes, days, in_use}; without --remove, `removed` is what would go.
    Shared {
        /// A folder, or with commis-worker the URL of a bucket
        #[arg(long, value_name = "URL")]
        store: String,
        /// Older than this
        #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
        days: u32,
        /// Remove it
        #[arg(long)]
        remove: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Read every artifact, and check every hash and every file mode
    ///
    /// Exit code 1 if a file was changed or damaged.
    ///
    /// With --json: {tasks, findings}.
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl Command {
    pub fn wants_json(&self) -> bool {
        matches!(
            self,
            Self::Ls { json: true, .. }
                | Self::Shared { json: true, .. }
                | Self::Verify { json: true }
        )
    }
}

fn status(text: &str) -> std::result::Result<Status, String> {
    // As `learn` calls that outcome.
    let text = if text == "saved_draft" { Status::Draft.as_str() } else { text };
    Status::ALL.iter().copied().find(|it| it.as_str() == text).ok_or_else(|| {
        let names: Vec<&str> = Status::ALL.iter().map(|it| it.as_str()).collect();
        format!("it is one of {}", names.join(", "))
    })
}

pub fn run(command: Command, global: &Global) -> Result<u8> {
    let (home, settings) = context::read(global)?;
    let store = Store::new(home.artifacts.clone());
    match command {
        Command::Shared { store, days, remove, json } => {
            shared(&*stores::open(&store, global, &home)?, days, remove, json)
        }
        Command::Ls { status, json } => ls(&store, status, json),
        Command::Show { task, stage } => show(&store, &task, stage),
        Command::Migrate { tasks } => migrate_all(&store, &tasks),
        Command::Prune { days, dry_run } => {
            let kept = days.map_or_else(|| KeptDays::from(&settings.artifacts), KeptDays::all);
            let gone = prune(&store, kept, &[], dry_run)?;
            let verb = if dry_run { "would be removed" } else { "removed" };
            for it in &gone {
                context::line(it.as_str());
            }
            context::say(&format!("{} tasks {verb}", gone.len()));
            Ok(0)
        }
        Command::Verify { json } => verify(&store, json),
    }
}

/// Everything that is known, and everything that has a folder. Tasks that a process which is gone has left count as pending.
/// Whether what was recorded of the task holds what an account saw.
fn is_private(store: &Store, row: &TaskRow) -> bool {
    TaskId::parse(&row.task_id).is_ok_and(|id| is_private_task(store, &id))
}

fn is_private_task(store: &Store, id: &TaskId) -> bool {
    let read = || -> Result<bool> {
        let Some(folder) = store.peek(id)? else { return Ok(false) };
        Ok(StoredTask::read(&folder, id)?.is_some_and(|it| it.is_private()))
    };
    // What cannot be read is told by `artifacts verify`.
    read().unwrap_or_default()
}

/// How many days tasks are kept.
#[derive(Clone, Copy)]
pub struct KeptDays {
    public: Option<u32>,
    private: Option<u32>,
}

impl KeptDays {
    /// All tasks so many days.
    pub const fn all(days: u32) -> Self {
        Self { public: Some(days), private: Some(days) }
    }

    /// `None` where they are kept for good.
    const fn of(self, is_private: bool) -> Option<u32> {
        if is_private { self.private } else { self.public }
    }

    /// Whether nothing goes by itself.
    pub const fn is_forever(self) -> bool {
        self.public.is_none() && self.private.is_none()
    }
}

/// 0 of the settings keeps tasks for good where a batch removes the old ones.
impl From<&ArtifactsSettings> for KeptDays {
    fn from(it: &ArtifactsSettings) -> Self {
        let days = |it: u32| Some(it).filter(|it| *it > 0);
        let private = it.private_retention_days.unwrap_or(it.retention_days);
        Self { public: days(it.retention_days), private: days(private) }
    }
}

fn ls(store: &Store, wanted: Option<Status>, json: bool) -> Result<u8> {
    let state = State::open(store.root())?;
    rebuild(store, &state)?;
    let mut rows = state.tasks()?;
    for it in &mut rows {
        if it.status.is_under_way() && !store.is_busy(&TaskId::parse(&it.task_id)?)? {
            it.status = Status::Pending;
        }
    }
    rows.retain(|it| wanted.is_none_or(|status| it.status == status));
    for it in &mut rows {
        it.private = is_private(store, it);
    }
    if json {
        context::out(&rows);
        return Ok(0);
    }
    let mut table = ruled(["task", "status", "why", "manifest", "attempts", "ended", ""]);
    let mut counts: BTreeMap<Status, usize> = BTreeMap::new();
    for it in rows {
        *counts.entry(it.status).or_default() += 1;
        table.add_row([
            it.task_id,
            it.status.as_str().to_owned(),
            clean(it.why.as_deref().unwrap_or_default()),
            clean(&it.manifest),
            it.attempts.to_string(),
            it.ended_ms
                .and_then(|it| jiff::Timestamp::from_millisecond(it).ok())
                .map(|it| it.strftime("%Y-%m-%d %H:%M").to_string())
                .unwrap_or_default(),
            if it.private { "private" } else { "" }.to_owned(),
        ]);
    }
    context::line(&table.to_string());
    let counts: Vec<String> =
        counts.iter().map(|(it, n)| format!("{n} {}", it.describe())).collect();
    context::line(&counts.join(", "));
    Ok(0)
}

/// What a shared store holds.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SharedReport<'a> {
    store: String,
    /// Older than this.
    days: u32,
    /// Or what would be, without --remove.
    removed: &'a [StoreEntry],
    kept: &'a [StoreEntry],
}

/// More rows than this are for a file.
const MAX_ROWS: usize = 60;

fn shared(shared_store: &dyn SharedStore, days: u32, remove: bool, json: bool) -> Result<u8> {
    let (old, mut kept): (Vec<StoreEntry>, Vec<StoreEntry>) = gc::list_entries(shared_store)?
        .into_iter()
        .partition(|it| it.days >= u64::from(days) && !it.in_use);
    let mut gone = Vec::new();
    if remove {
        for part in old.chunks(AT_A_TIME) {
            // Somebody may have begun since; what takes long is looked at again and again.
            let used = gc::tasks_in_use(shared_store, gc::store_time(shared_store)?)?;
            for it in part {
                let mut it = it.clone();
                it.in_use = used.contains(&it.name);
                if gc::clear(shared_store, &it)? { gone.push(it) } else { kept.push(it) }
            }
        }
    } else {
        gone = old;
    }
    if json {
        context::out(&SharedReport {
            store: shared_store.location(),
            days,
            removed: &gone,
            kept: &kept,
        });
        return Ok(0);
    }
    let mut table = ruled(["task", "days", "objects", "bytes", ""]);
    let word = if remove { "removed" } else { "would be removed" };
    let all = gone.iter().map(|it| (it, word));
    let all = all.chain(kept.iter().map(|it| (it, if it.in_use { "in use" } else { "" })));
    for (it, word) in all.take(MAX_ROWS) {
        let numbers = [it.days, it.objects, it.bytes].map(|it| it.to_string());
        let [days, objects, bytes] = numbers;
        table.add_row([it.name.clone(), days, objects, bytes, word.to_owned()]);
    }
    let n = gone.len() + kept.len();
    if n > 0 {
        context::line(&table.to_string());
    }
    if n > MAX_ROWS {
        context::say(&format!("{} more; --json lists all", n - MAX_ROWS));
    }
    let bytes: u64 = gone.iter().map(|it| it.bytes).sum();
    let used = kept.iter().filter(|it| it.in_use).count();
    context::say(&format!("{} of {n} {word}, {bytes} bytes; {used} are in use", gone.len()));
    if !remove && !gone.is_empty() {
        context::say("  hint: --remove takes them away");
    }
    Ok(0)
}

fn show(store: &Store, task: &str, stage: commis_stages::Stage) -> Result<u8> {
    let id = debug::find(store, task)?;
    let kind = STAGES.iter().find(|it| it.stage == stage).map(|it| it.writes);
    let folder = store.peek(&id)?;
    let envelope = match (&folder, kind) {
        (Some(folder), Some(kind)) => folder.envelope(kind)?,
        _ => None,
    };
    let envelope = envelope.ok_or_else(|| {
        Error::new(
            Code::ArtifactMissing,
            format!("{id} has no intact artifact of {}", stage.as_str()),
        )
        .hint("`commis recipe debug --task-id` shows how far it came")
    })?;
    context::out(&envelope);
    Ok(0)
}

fn migrate_all(store: &Store, tasks: &[String]) -> Result<u8> {
    let tasks = if tasks.is_empty() {
        store.tasks()?
    } else {
        tasks.iter().map(|it| debug::find(store, it)).collect::<Result<_>>()?
    };
    let mut n = 0;
    for id in tasks {
        let folder = store.task(&id)?;
        for &kind in Kind::ALL {
            if migrate(&folder, kind)? {
                n += 1;
                context::line(&format!("{id}/{}", kind.file()));
            }
        }
    }
    context::say(&format!("{n} artifacts migrated"));
    Ok(0)
}

/// Removes tasks that are older, and folders that hold none; which they were. Those in `spared` stay, and those that are being
/// worked on. Fails with `ARTIFACT_IO`.
pub fn prune(
    store: &Store,
    kept: KeptDays,
    spared: &[TaskId],
    dry_run: bool,
) -> Result<Vec<TaskId>> {
    let state = State::open(store.root())?;
    // What the database does not know is an orphan only if its folder does not say what it is either.
    rebuild(store, &state)?;
    let now = UNIX_EPOCH + Duration::from_millis(now_ms().max(0) as u64);
    let gone = old(store, &state, kept, spared, now)?;
    if dry_run {
        return Ok(gone);
    }
    store.sweep()?;
    let mut out = Vec::new();
    for id in gone {
        if store.remove(&id)? {
            state.forget(id.as_str())?;
            out.push(id);
        }
    }
    Ok(out)
}

fn old(
    store: &Store,
    state: &State,
    kept: KeptDays,
    spared: &[TaskId],
    now: SystemTime,
) -> Result<Vec<TaskId>> {
    let known: std::collections::BTreeSet<String> =
        state.tasks()?.into_iter().map(|it| it.task_id).collect();
    let spared: std::collections::BTreeSet<&TaskId> = spared.iter().collect();
    let mut out = Vec::new();
    for id in store.tasks()? {
        let Some(days) = kept.of(is_private_task(store, &id)) else { continue };
        let limit = if known.contains(id.as_str()) { DAY * days } else { DAY.min(DAY * days) };
        if !spared.contains(&id) && store.is_older(&id, limit, now)? && !store.is_busy(&id)? {
            out.push(id);
        }
    }
    Ok(out)
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VerifyReport<'a> {
    tasks: usize,
    findings: &'a [Finding],
}

fn verify(store: &Store, json: bool) -> Result<u8> {
    let tasks = store.tasks()?;
    let mut found = store.examine_root()?;
    let each: Vec<Vec<Finding>> =
        tasks.par_iter().map(|it| store.examine(it)).collect::<Result<_>>()?;
    found.extend(each.into_iter().flatten());
    if json {
        context::out(&VerifyReport { tasks: tasks.len(), findings: &found });
    } else {
        for it in &found {
            context::line(&clean(&format!("{}: {}", it.file, it.what)));
        }
        context::say(&format!("{} tasks read, {} findings", tasks.len(), found.len()));
    }
    Ok(u8::from(!found.is_empty()))
}
