//! `commis recipe debug`

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::{
    Global, candidates,
    wire::{self, clean},
};
use crate::{
    artifacts::{
        kinds::Kind,
        store::{Found, Store, TaskFolder},
    },
    error::{Code, Error, Result},
    ids::TaskId,
    pipeline::{STAGES, Stage, StoredTask, fresh, task::settings_only},
    settings::Settings,
    stages::select::Selection,
};

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();
const GREEN: Style = AnsiColor::Green.on_default();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Show what each stage of a task decided, and whether it is fresh or why not
///
/// Without --task-id it lists the tasks. Give --manifest to have freshness judged against today's manifest entry as well.
#[derive(clap::Args)]
pub struct Args {
    /// As printed by learn and learn-batch; a recipe's name is enough where it is unique
    #[arg(long, value_name = "ID")]
    task_id: Option<String>,
    /// The manifest the task came from
    #[arg(long, value_name = "FILE")]
    manifest: Option<std::path::PathBuf>,
    /// Print JSON: every envelope without its bulky parts
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: Args, global: &Global) -> Result<u8> {
    let (home, settings) = wire::read(global)?;
    let store = Store::new(home.artifacts);
    let Some(wanted) = args.task_id else {
        for id in store.tasks()? {
            wire::line(id.as_str());
        }
        return Ok(0);
    };
    let id = find(&store, &wanted)?;
    let folder = store
        .peek(&id)?
        .ok_or_else(|| Error::new(Code::TaskNotFound, format!("there is no task {id}")))?;
    let task = match &args.manifest {
        Some(path) => crate::batch::load(path)?.tasks.into_iter().find(|it| it.id == id),
        None => None,
    };
    let choice = StoredTask::read(&folder, &id)?.and_then(|it| it.choice);
    let rows = look(&folder, &settings, task.as_ref(), choice.as_ref().map(|it| &it.selection))?;
    if args.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|it| json!({"stage": it.stage, "state": it.state, "path": it.path, "created_at": it.created_at, "inputs": it.inputs, "payload": it.payload}))
            .collect();
        wire::out(&json!({"task_id": id.as_str(), "stages": rows}));
        return Ok(0);
    }
    wire::line(&format!("{BOLD}{id}{BOLD:#}"));
    for row in &rows {
        let style = if row.state == "fresh" { GREEN } else { YELLOW };
        wire::line(&format!(
            "\n{BOLD}{}{BOLD:#}  {style}{}{style:#}  {DIM}{}{DIM:#}",
            row.stage, row.state, row.created_at
        ));
        if let Some(payload) = &row.payload {
            describe(row.kind, payload);
        }
    }
    let undecided = rows
        .iter()
        .filter_map(|it| it.payload.as_ref())
        .any(|it| matches!(it["rejected"]["reason"].as_str(), Some("ambiguous" | "replay_failed")));
    if undecided {
        wire::line("");
        candidates::print(&folder, &id)?;
    }
    Ok(0)
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

struct Row {
    kind: Kind,
    stage: &'static str,
    state: String,
    path: std::path::PathBuf,
    created_at: String,
    inputs: BTreeMap<String, String>,
    payload: Option<Value>,
}

fn look(
    folder: &TaskFolder,
    settings: &Settings,
    task: Option<&crate::pipeline::Task>,
    choice: Option<&Selection>,
) -> Result<Vec<Row>> {
    let mut hashes = BTreeMap::new();
    let mut rows = Vec::new();
    let mut ended = false;
    for spec in STAGES {
        let found = folder.find(spec.writes)?;
        let (envelope, settings_sha256) = match &found {
            Found::Intact(it) => (Some(it), it.settings_sha256.clone()),
            _ => (None, String::new()),
        };
        // Without the manifest entry, what depends on it is taken as unchanged.
        let expected = match task {
            _ if spec.stage == Stage::Analyze && choice.is_some() => {
                choice.map(Selection::sha256).unwrap_or_default()
            }
            Some(it) => it.settings_sha256(spec.stage, settings),
            None => today(spec.stage, settings, settings_sha256),
        };
        let state = fresh::look(folder, spec, &hashes, &expected)?;
        if let fresh::Freshness::Fresh(hash) = &state {
            hashes.insert(spec.writes, hash.clone());
        } else if let Some(it) = envelope {
            hashes.insert(spec.writes, it.payload_sha256.clone());
        }
        let rejected = envelope.is_some_and(|it| it.payload.get("rejected").is_some());
        let text =
            if ended && envelope.is_none() { "not reached".to_owned() } else { state.describe() };
        rows.push(Row {
            kind: spec.writes,
            stage: spec.stage.as_str(),
            state: text,
            path: folder.path(spec.writes),
            created_at: envelope.map(|it| it.created_at.clone()).unwrap_or_default(),
            inputs: envelope.map(|it| it.inputs.clone()).unwrap_or_default(),
            payload: envelope.map(|it| slim(&it.payload)),
        });
        ended = ended || rejected;
        if rejected {
            break;
        }
    }
    Ok(rows)
}

/// The digest to judge by without a manifest. What was learned offline is judged as such: learning it online is another
/// question, and asking for the state of things is not asking that.
fn today(stage: Stage, settings: &Settings, stored: String) -> String {
    let mut offline = settings.clone();
    offline.egress.no_network = true;
    match (settings_only(stage, settings), settings_only(stage, &offline)) {
        (_, Some(offline)) if offline == stored => stored,
        (Some(online), _) => online,
        _ => stored,
    }
}

/// Leaves out what would fill the screen: exchanges, page text, long shapes.
fn slim(payload: &Value) -> Value {
    let mut out = payload.clone();
    let cut = |it: &mut Value| {
        if let Some(exchanges) = it.get("exchanges").and_then(Value::as_array) {
            let lines: Vec<Value> = exchanges.iter().map(exchange_line).collect();
            it["exchanges"] = lines.into();
        }
        if let Some(text) = it.pointer("/page/visible_text").and_then(Value::as_str) {
            it["page"]["visible_text"] = format!("{} characters", text.chars().count()).into();
        }
    };
    cut(&mut out);
    if let Some(it) = out.get_mut("recording").filter(|it| !it.is_null()) {
        cut(it);
    }
    out
}

fn exchange_line(it: &Value) -> Value {
    let text = |key: &str| it.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
    let status = it
        .get("status")
        .and_then(Value::as_u64)
        .map_or_else(|| "-".to_owned(), |it| it.to_string());
    format!(
        "{:>3} {} {} {} {} {}",
        it.get("id").and_then(Value::as_u64).unwrap_or(0),
        text("method"),
        status,
        text("resource_type"),
        text("body_status"),
        text("url")
    )
    .into()
}

fn describe(kind: Kind, payload: &Value) {
    if let Some(reject) = payload.get("rejected") {
        wire::line(&format!(
            "  ended here: {} — {}",
            str_of(reject, "reason"),
            str_of(reject, "detail")
        ));
        return;
    }
    let done = payload.get("done").unwrap_or(payload);
    match kind {
        Kind::SessionRecording => recording(done),
        Kind::SecondRecording => match done.get("recording").filter(|it| !it.is_null()) {
            Some(it) => recording(it),
            None => wire::line("  not driven"),
        },
        Kind::CandidateSet => candidates(done),
        Kind::CandidateSummary => {
            for it in array(done, "summaries") {
                wire::line(&format!(
                    "  {} → {}",
                    str_of(it, "request_line"),
                    array(it, "paths")
                        .iter()
                        .map(|it| format!("{} ({})", str_of(it, "path"), it["score_bp"]))
                        .collect::<Vec<_>>()
                        .join(", ")
                ));
            }
        }
        Kind::ModelAnswer => match done.get("consultation").filter(|it| !it.is_null()) {
            Some(it) => consultation(it),
            None => wire::line("  no model was asked"),
        },
        Kind::RecipeAnalysis => {
            let chosen = &done["chosen"];
            wire::line(&format!(
                "  chose exchange {} by {}; {}",
                chosen["exchange"],
                str_of(done, "by"),
                chosen["response"]
            ));
        }
        Kind::RecipeDraft => {
            wire::line(&format!(
                "  replayed by {}, deterministic: {}",
                str_of(done, "transport"),
                done["deterministic"]
            ));
            request(&done["request"]);
            replays(done);
        }
        Kind::BaselineFingerprint => {
            wire::line(&format!(
                "  {} typed paths, {} items, {}",
                array(done, "shape").len(),
                done["items"],
                str_of(done, "fingerprint_sha256")
            ));
        }
        Kind::MinimizationReport => {
            for it in array(done, "trials") {
                let verdict = if it["dropped"] == true { "dropped" } else { "kept   " };
                wire::line(&format!(
                    "  {verdict} {}: {}",
                    join(it.get("without")),
                    str_of(it, "why")
                ));
            }
        }
        Kind::RecipeDraftMinimized => {
            request(&done["request"]);
            for it in array(done, "parameters") {
                let why = done["evidence"]
                    .get(str_of(it, "name").as_str())
                    .and_then(Value::as_str)
                    .unwrap_or("");
                wire::line(&format!(
                    "  {{{}}} {} required: {} — {why}",
                    str_of(it, "name"),
                    str_of(it, "type"),
                    it["required"]
                ));
            }
        }
        Kind::VerificationReport => {
            let why = done
                .get("reason")
                .and_then(Value::as_str)
                .map(|it| format!(" — {it}"))
                .unwrap_or_default();
            wire::line(&format!(
                "  verified: {}{why}; effective: {}; frozen: {}",
                done["verified"],
                join(done.get("effective")),
                join(done.get("frozen"))
            ));
            replays(done);
        }
    }
}

fn recording(it: &Value) {
    wire::line(&format!(
        "  {} — {} exchanges, {} blocked, {} ms, {}",
        str_of(it, "task"),
        array(it, "exchanges").len(),
        array(it, "blocked").len(),
        it["duration_ms"],
        str_of(it, "producer")
    ));
    for line in array(it, "exchanges").iter().filter_map(Value::as_str) {
        wire::line(&format!(
            "    {DIM}{}{DIM:#}",
            clean(line).chars().take(150).collect::<String>()
        ));
    }
    for blocked in array(it, "blocked") {
        wire::line(&format!(
            "    {YELLOW}blocked{YELLOW:#} {} {} ({})",
            str_of(blocked, "url"),
            str_of(blocked, "code"),
            str_of(blocked, "reason")
        ));
    }
}

fn candidates(done: &Value) {
    for it in array(done, "candidates") {
        wire::line(&format!(
            "  {}. {BOLD}{:>5}{BOLD:#} {} {}",
            it["rank"],
            it["score_bp"],
            str_of(it, "method"),
            str_of(it, "url_summary")
        ));
        let mut features: Vec<(String, i64)> = it["features"]
            .as_object()
            .map(|it| {
                it.iter().map(|(name, share)| (name.clone(), share.as_i64().unwrap_or(0))).collect()
            })
            .unwrap_or_default();
        features.sort_by_key(|it| std::cmp::Reverse(it.1.abs()));
        let text: Vec<String> =
            features.iter().map(|(name, share)| format!("{name} {share:+}")).collect();
        wire::line(&format!("     {DIM}{}{DIM:#}", text.join(", ")));
    }
    wire::line(&format!("  scored {}, set aside {}", done["scored"], done["set_aside"]));
}

fn consultation(it: &Value) {
    wire::line(&format!(
        "  asked {}, prompt version {}, {} bytes; verdict: {}",
        str_of(it, "model"),
        it["prompt_version"],
        it["prompt_bytes"],
        clean(&it["verdict"].to_string())
    ));
    for it in array(it, "attempts") {
        let why = it.get("refused").and_then(Value::as_str);
        let verdict = why.map_or_else(
            || "accepted".to_owned(),
            |it| format!("{YELLOW}not accepted{YELLOW:#}: {}", clean(it)),
        );
        wire::line(&format!(
            "    {} — {verdict}; stop: {}, {} tokens in, {} out",
            str_of(it, "answer").chars().take(200).collect::<String>(),
            str_of(it, "stop"),
            it["tokens_in"],
            it["tokens_out"]
        ));
    }
}

fn request(it: &Value) {
    let query: Vec<String> = array(it, "query")
        .iter()
        .map(|it| format!("{}={}", str_of(it, "name"), str_of(it, "value")))
        .collect();
    let mark = if query.is_empty() { "" } else { "?" };
    wire::line(&format!(
        "  {} {}{mark}{}",
        str_of(it, "method"),
        str_of(it, "url"),
        query.join("&")
    ));
    if let Some(headers) = it.get("headers").and_then(Value::as_object) {
        for (name, value) in headers {
            wire::line(&format!("    {name}: {}", clean(value.as_str().unwrap_or(""))));
        }
    }
    if let Some(body) = it.get("body").filter(|it| !it.is_null()) {
        wire::line(&format!("    {}", body.to_string().chars().take(300).collect::<String>()));
    }
}

fn replays(it: &Value) {
    for it in array(it, "replays") {
        let code = it.get("code").and_then(Value::as_str).unwrap_or("ok");
        wire::line(&format!(
            "  replay {} {} by {}: {} status {} items {} similarity {}",
            it["n"],
            str_of(it, "what"),
            str_of(it, "transport"),
            code,
            it["status"],
            it["items"],
            it["similarity_bp"]
        ));
    }
}

fn str_of(it: &Value, key: &str) -> String {
    clean(it.get(key).and_then(Value::as_str).unwrap_or(""))
}

fn array<'a>(it: &'a Value, key: &str) -> &'a [Value] {
    it.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn join(it: Option<&Value>) -> String {
    let items = it.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    clean(&items.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
}
