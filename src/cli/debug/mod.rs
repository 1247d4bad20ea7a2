//! `commis recipe debug`

mod describe;
mod diff;
mod facts;
pub mod failure;
mod request;
mod why;

use std::path::PathBuf;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use self::{
    describe::{describe, replay_line},
    why::{short, why},
};
use super::{Global, candidates, context, learn_args};
use commis_artifacts::{
    kinds::Kind,
    store::{Store, TaskFolder},
};
use commis_base::{
    error::{Code, Error, Result},
    files,
    ids::TaskId,
};
use commis_learn::{
    fresh::Freshness,
    task_view::{
        self, StageRow, load_stages,
        terminal_text::{self, bounded, cut},
    },
};
use commis_stages::Stage;
use commis_state::State;

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Lines of each list: of all stages together, and of one alone.
const SHORT: usize = 24;
const LONG: usize = 400;

/// Show the inputs, decisions and outputs of each stage of a task, and why a stage is stale
///
/// Without --task-id it lists the tasks. It judges freshness by the present settings and by the
/// task as it was last started, or as it is in --manifest.
///
/// If a step failed in the last recording, it first shows what the step saw: the most similar
/// elements, possible reasons, the last requests, and the picture (`failure` with --json).
///
/// With --json: {task_id, stages, draft}. A stage has `stage`, `state`, `path`, `created_at`, `inputs` and `payload` without its
/// large parts. `read` lists its inputs (kind, payload hash then and now), and `wrote` is its artifact (hash, size, commis). `why`
/// lists reasons, each with its name in `what`. `journal` lists the replays of a run under way. `draft` has the request in
/// `parts`: recorded, minimized, last, why.
/// With --diff it is {task_id, other, stages}: a stage has `same` and the `facts` that differ, each with `this` and `other`.
///
/// Examples:
///   commis recipe debug --task-id shop-search --why
///   commis recipe debug --task-id shop-search --stage minimize
///   commis recipe debug --task-id shop-search --diff shop-search-2
///   commis recipe debug --task-id shop-search --report shop-search.html
#[derive(clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// As printed by learn and learn-batch; a recipe's name is enough where it is unique
    #[arg(long, value_name = "ID")]
    task_id: Option<String>,
    /// The manifest of the task
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Show only this stage, in full: record, rank, analyze, validate, minimize, verify, …
    #[arg(long, value_name = "STAGE", value_parser = learn_args::stage)]
    stage: Option<Stage>,
    /// Explain why each stage is fresh, stale, missing or broken, to the field
    #[arg(long, requires = "task_id")]
    why: bool,
    /// Compare with this other task
    #[arg(long, value_name = "ID", requires = "task_id", conflicts_with = "why")]
    diff: Option<String>,
    /// Write everything as one HTML page: pictures, candidates, replays, request and recipe side by side
    #[arg(long, value_name = "FILE.html", requires = "task_id", conflicts_with_all = ["why", "diff", "stage"])]
    report: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, settings) = context::read(global)?;
    let store = Store::new(home.artifacts.clone());
    let Some(wanted) = args.task_id else {
        for id in store.tasks()? {
            context::line(id.as_str());
        }
        return Ok(0);
    };
    let (id, folder) = open(&store, &wanted)?;
    let task = match &args.manifest {
        Some(path) => commis_batch::load(path, true)?.tasks.into_iter().find(|it| it.id == id),
        None => None,
    };
    if let Some(file) = &args.report {
        let state = State::open_existing(store.root());
        let seen = commis_batch::task_page::TaskLocation {
            folder: &folder,
            id: &id,
            recipes: &home.recipes,
        };
        let page = commis_batch::task_page::page(&seen, &settings, task, state.as_ref())?;
        files::save(file, page.as_bytes())?;
        context::say(&format!("page: {}", file.display()));
        return Ok(0);
    }
    let rows = load_stages(&folder, &id, &settings, task)?;
    let seen = folder.failure()?;
    if let Some(other) = &args.diff {
        let (other, folder) = open(&store, other)?;
        let others = load_stages(&folder, &other, &settings, None)?;
        let stages = diff::compare(&rows, &others, args.stage);
        if args.json {
            context::out(&json!({
                "task_id": id.as_str(), "other": other.as_str(), "stages": stages,
            }));
        } else {
            diff::print(id.as_str(), other.as_str(), &stages);
        }
        return Ok(0);
    }
    // To be looked at only; what it cannot say is said to be unknown.
    let state = State::open_existing(store.root());
    let state = state.as_ref();
    let of_stage = |it: &&StageRow| args.stage.is_none_or(|wanted| wanted == it.spec.stage);
    let shown: Vec<&StageRow> = rows.iter().filter(of_stage).collect();
    if args.json {
        let stages: Vec<Value> = shown.iter().map(|it| as_json(it, state)).collect();
        context::out(&json!({
            "task_id": id.as_str(),
            "failure": seen.as_ref().map(failure::as_json),
            "stages": stages,
            "draft": draft(&rows),
        }));
        return Ok(0);
    }
    context::line(&format!("{BOLD}{id}{BOLD:#}"));
    let mut shown = shown;
    if let Some(it) = seen.filter(|_| !args.why && args.stage.is_none_or(Stage::is_record)) {
        failure::print(&it.0, it.1.as_deref());
        // Nothing was reached after it.
        shown.retain(|it| it.envelope.is_some());
    } else if shown.is_empty() {
        let last = rows.last().map_or("nothing", |it| it.spec.stage.as_str());
        context::line(&format!("  not reached: the task ended with {last}"));
    }
    for row in shown {
        header(row);
        if args.why || args.stage.is_some() {
            reasons(row, state);
        }
        if args.why && args.stage.is_none() {
            continue;
        }
        let most = if args.stage.is_some() { LONG } else { SHORT };
        if args.stage.is_some() {
            read_and_wrote(row);
        }
        if let Some(payload) = row.payload() {
            describe(row.spec.writes, payload, most);
        }
        journal(row, most);
        if row.spec.stage == Stage::Minimize {
            request::print(&request::parts(&rows));
        }
    }
    let undecided = |it: &StageRow| {
        let reason = it.rejected().and_then(|it| it["reason"].as_str());
        matches!(reason, Some("ambiguous" | "replay_failed"))
    };
    if args.why {
        context::line(
            "\na stage after a stale one runs again only if what it reads comes out differently",
        );
    } else if rows.iter().any(undecided) {
        context::line("");
        candidates::print(&folder, &id)?;
    }
    Ok(0)
}

/// The request as it was learned so far, with its parameters and slots.
fn draft(rows: &[StageRow]) -> Value {
    let last = rows.iter().find(|it| it.spec.writes == Kind::RecipeDraftMinimized);
    let last = last.and_then(StageRow::product);
    let part = |key: &str| last.and_then(|it| it.get(key)).cloned().unwrap_or_default();
    json!({
        "parts": request::parts(rows),
        "parameters": part("parameters"),
        "slots": part("slots"),
    })
}

fn open(store: &Store, wanted: &str) -> Result<(TaskId, TaskFolder)> {
    let id = find(store, wanted)?;
    let folder = store
        .peek(&id)?
        .ok_or_else(|| Error::new(Code::TaskNotFound, format!("there is no task {id}")))?;
    Ok((id, folder))
}

/// The task of that id, or the only one whose recipe has that name. Fails with [`Code::TaskNotFound`].
pub fn find(store: &Store, wanted: &str) -> Result<TaskId> {
    let all = store.tasks()?;
    let parsed = TaskId::parse(wanted)?;
    if all.contains(&parsed) {
        return Ok(parsed);
    }
    let mut same =
        all.iter().filter(|it| it.as_str().rsplit_once('-').is_some_and(|it| it.0 == wanted));
    match (same.next(), same.next()) {
        (Some(it), None) => Ok(it.clone()),
        (Some(_), Some(_)) => {
            Err(Error::new(Code::TaskNotFound, format!("several tasks are named `{wanted}`"))
                .hint("give the whole id; `commis recipe debug` lists them"))
        }
        _ => Err(Error::new(Code::TaskNotFound, format!("there is no task `{wanted}`"))
            .hint("`commis recipe debug` lists the tasks")),
    }
}

fn header(row: &StageRow) {
    let fresh = matches!(row.freshness, Freshness::Fresh(_));
    let style = if fresh { GREEN } else { YELLOW };
    context::line(&format!(
        "\n{BOLD}{}{BOLD:#}  {style}{}{style:#}  {DIM}{}{DIM:#}",
        row.spec.stage.as_str(),
        cut(&row.freshness.describe(), 300),
        row.envelope.as_ref().map(|it| cut(&it.created_at, 40)).unwrap_or_default()
    ));
}

fn reasons(row: &StageRow, state: Option<&State>) {
    let reasons = why(row, state);
    if reasons.is_empty() {
        context::line(
            "  intact; stage version, settings, manifest entry and inputs are what they were",
        );
    }
    for it in reasons {
        for line in it.lines() {
            context::line(&format!("  {line}"));
        }
    }
}

/// Inputs by the payload hash they had and have, and the file.
fn read_and_wrote(row: &StageRow) {
    for (kind, was, is) in read(row) {
        let hash = |it: Option<&String>| it.map_or("none".to_owned(), |it| short(it));
        let line = match (was, is) {
            (was, is) if was == is => hash(is),
            (None, is) => format!("now {}", hash(is)),
            (was, is) => format!("{}, now {}", hash(was), hash(is)),
        };
        context::line(&format!("  read {kind} {DIM}{}{DIM:#}", cut(&line, 80)));
    }
    let Some(size) = row.size else { return };
    let stamp = row.envelope.as_ref().map(|it| {
        format!(
            ", payload {}, {}, stage version {}, by commis {}",
            short(&it.payload_sha256),
            it.created_at,
            it.producer.stage_version,
            it.producer.commis
        )
    });
    let stamp = cut(&stamp.unwrap_or_default(), 200);
    context::line(&format!("  wrote {} {DIM}({size} bytes{stamp}){DIM:#}", row.path.display()));
}

/// Of each input: kind, payload hash then, and now.
fn read(row: &StageRow) -> impl Iterator<Item = (&'static str, Option<&String>, Option<&String>)> {
    row.spec.reads.iter().map(|kind| {
        let kind = kind.as_str();
        let was = row.envelope.as_ref().and_then(|it| it.inputs.get(kind));
        (kind, was, row.inputs_now.get(kind))
    })
}

fn journal(row: &StageRow, most: usize) {
    if row.journal.is_empty() {
        return;
    }
    let many = row.journal.len();
    context::line(&format!("  under way, or killed: {many} replays are in the journal"));
    for it in bounded(row.journal.iter().map(|it| replay_line(&it["replay"])), most) {
        context::line(&format!("    {it}"));
    }
}

fn as_json(row: &StageRow, state: Option<&State>) -> Value {
    let read: Vec<Value> =
        read(row).map(|(kind, was, is)| json!({"kind": kind, "was": was, "is": is})).collect();
    let wrote = row.envelope.as_ref().map(|it| {
        json!({
            "payload_sha256": it.payload_sha256, "settings_sha256": it.settings_sha256,
            "bytes": row.size, "stage_version": it.producer.stage_version,
            "commis": it.producer.commis,
        })
    });
    let journal: Vec<&Value> = row.journal.iter().map(|it| &it["replay"]).collect();
    json!({
        "stage": row.spec.stage.as_str(),
        "state": row.freshness.describe(),
        "path": row.path,
        "created_at": row.envelope.as_ref().map(|it| it.created_at.as_str()).unwrap_or_default(),
        "inputs": row.envelope.as_ref().map(|it| it.inputs.clone()).unwrap_or_default(),
        "read": read,
        "wrote": wrote,
        "why": why(row, state),
        "journal": journal,
        "payload": row.payload(),
    })
}
