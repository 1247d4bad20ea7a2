//! What a task's folder holds, stage by stage, and whether it is fresh.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    StoredTask, Task,
    fresh::{self, Freshness},
    run_key, stage_inputs,
    task::settings_question,
};
use commis_artifacts::store::{ArtifactState, Envelope, TaskFolder, json_sha256};
use commis_base::{error::Result, ids::TaskId, settings::Settings};
use commis_stages::{STAGES, Stage, table::StageSpec};

pub mod request_view;
pub mod terminal_text;

/// One stage of a task.
pub struct StageRow {
    pub spec: &'static StageSpec,
    pub freshness: Freshness,
    pub path: PathBuf,
    /// Bytes of the file, when there is one.
    pub size: Option<u64>,
    /// Its payload without what would fill the screen.
    pub envelope: Option<Envelope>,
    /// Kind read → payload hash it has now.
    pub inputs_now: BTreeMap<String, String>,
    /// What the stage would be asked now, redacted; `None` where the manifest entry is needed and cannot be told.
    pub question: Option<Value>,
    /// What it was asked when the task was last begun, with its digest; redacted.
    pub begun: Option<(String, Value)>,
    /// Replays that a run of it under way, or a killed one, has made: what was left out, and the replay.
    pub journal: Vec<Value>,
}

impl StageRow {
    pub fn payload(&self) -> Option<&Value> {
        self.envelope.as_ref().map(|it| &it.payload)
    }

    /// The payload of what was not rejected.
    pub fn product(&self) -> Option<&Value> {
        let it = self.payload()?;
        it.get("rejected").is_none().then(|| it.get("done").unwrap_or(it))
    }

    pub fn rejected(&self) -> Option<&Value> {
        self.payload()?.get("rejected")
    }
}

/// The stages up to where the task ended. `task` is today's manifest entry; without it the task is taken as it was last
/// begun.
pub fn load_stages(
    folder: &TaskFolder,
    id: &TaskId,
    settings: &Settings,
    task: Option<Task>,
) -> Result<Vec<StageRow>> {
    let stored = StoredTask::read(folder, id)?;
    let choice = stored.as_ref().and_then(|it| it.choice.clone()).map(|it| json!(it.selection));
    let begun = stored.and_then(StoredTask::task);
    let task = task.as_ref().or(begun.as_ref());
    let ask = |task: Option<&Task>, stage, settings: &Settings| match (&choice, task) {
        (Some(it), _) if stage == Stage::Analyze => Some(it.clone()),
        (_, Some(it)) => Some(it.question(stage, settings)),
        _ => settings_question(stage, settings),
    };
    // What was learned offline is judged as such: learning it online is another question, and asking for the state of things
    // is not asking that.
    let mut offline = settings.clone();
    offline.egress.no_network = true;
    let mut settings = settings;
    // From the end: a task that was learned without a model looks offline at `consult`.
    for spec in STAGES.iter().rev() {
        let ArtifactState::Intact(it) = folder.find(spec.writes)? else { continue };
        let digest = |settings| ask(task, spec.stage, settings).map(|it| json_sha256(&it));
        let (now, without) = (digest(settings), digest(&offline));
        if now == without {
            continue;
        }
        let held = Some(it.settings_sha256);
        if held == without {
            settings = &offline;
            break;
        }
        if held == now {
            break;
        }
    }
    let journal = folder.journal()?;
    let mut hashes = BTreeMap::new();
    let mut rows = Vec::new();
    for spec in STAGES {
        // Before it is looked at: two of a large recording are not held at once, and one not longer than it takes.
        let envelope = match folder.find(spec.writes)? {
            ArtifactState::Intact(it) => {
                let payload = slim(it.payload.get());
                Some(it.with_payload(payload))
            }
            _ => None,
        };
        let question = ask(task, spec.stage, settings);
        // Without the manifest entry, what depends on it is taken as unchanged.
        let held = || envelope.as_ref().map(|it| it.settings_sha256.clone()).unwrap_or_default();
        let expected = question.as_ref().map_or_else(held, json_sha256);
        let freshness = fresh::check_freshness(folder, spec, &hashes, &expected)?;
        let inputs_now: BTreeMap<String, String> = spec
            .reads
            .iter()
            .filter_map(|it| Some((it.as_str().to_owned(), hashes.get(it).cloned()?)))
            .collect();
        if let Some(it) = &envelope {
            hashes.insert(spec.writes, it.payload_sha256.clone());
        }
        let key = run_key(spec, &expected, &inputs_now);
        let redacted = |mut it: Value| {
            stage_inputs::redact(&mut it);
            it
        };
        let row = StageRow {
            spec,
            freshness,
            path: folder.path(spec.writes),
            size: folder.dir().stat(spec.writes.file())?.map(|it| it.0),
            envelope,
            inputs_now,
            begun: ask(begun.as_ref(), spec.stage, settings)
                .map(|it| (json_sha256(&it), redacted(it))),
            question: question.map(redacted),
            journal: journal.iter().filter(|it| it["run"] == *key).cloned().collect(),
        };
        let ended = row.rejected().is_some();
        rows.push(row);
        if ended {
            break;
        }
    }
    Ok(rows)
}

/// Leaves out what would fill the screen: exchanges, page text.
/// It is read field by field, and its exchanges one by one: a recording may hold tens of thousands.
pub fn slim(payload: &str) -> Value {
    let Ok(fields) = serde_json::from_str::<BTreeMap<String, &RawValue>>(payload) else {
        return serde_json::from_str(payload).unwrap_or_default();
    };
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    let short = |(key, it): (String, &RawValue)| {
        let value = match key.as_str() {
            "exchanges" => match serde_json::from_str::<Vec<Exchange>>(it.get()) {
                Ok(all) => all.iter().map(exchange_line).collect(),
                Err(_) => read(it.get()),
            },
            "page" => {
                let mut page = read(it.get());
                if let Some(text) = page["visible_text"].as_str() {
                    page["visible_text"] = format!("{} characters", text.chars().count()).into();
                }
                page
            }
            "recording" => slim(it.get()),
            _ => read(it.get()),
        };
        (key, value)
    };
    fields.into_iter().map(short).collect()
}

/// What of an exchange stands in its line.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Exchange {
    id: u64,
    method: String,
    status: Option<u64>,
    resource_type: String,
    body_status: String,
    url: String,
}

fn exchange_line(it: &Exchange) -> String {
    format!(
        "{:>3} {} {} {} {} {}",
        it.id,
        it.method,
        it.status.map_or_else(|| "-".to_owned(), |it| it.to_string()),
        it.resource_type,
        it.body_status,
        it.url
    )
}
