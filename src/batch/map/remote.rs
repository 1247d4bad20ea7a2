//! A map whose lines other machines run: parts of the inputs are put into the store, an engine is handed their keys, and results are
//! taken from there as parts end.
//!
//! A few parts are under way at a time, so inputs are read as they are needed. What a machine of the engine asks is asked in its host's
//! turn, like a task that is learned.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use tokio::sync::mpsc;

use super::{
    Input, LineError, LineSink, MapLine, Totals,
    chunk::{BYTES, Chunk, LINES, entry_key, load_results},
};
use crate::remote::{Engine, TaskOutcome, TaskRef, WorkRequest, for_each_outcome};
use commis_artifacts::shared_store::SharedStore;
use commis_base::{
    error::{Code, Error, Result},
    ids::TaskId,
};
use commis_recipe::model::Recipe;

/// Parts that are under way at a time.
const WINDOW: usize = 64;
/// With a call every three seconds, a part takes ten minutes; longer than this it does not.
const DEADLINE: Duration = Duration::from_secs(6 * 60 * 60);
/// Further attempts at a part that failed with something that may pass.
const RETRIES: u32 = 2;

/// What has the lines run.
pub struct RemoteMap {
    pub shared_store: Arc<dyn SharedStore>,
    pub engine: Arc<dyn Engine>,
    /// What tells this map from another of the same lines.
    pub map: String,
    pub recipe: Recipe,
    /// Of the recipe's requests.
    pub host: String,
    /// Parts at once on it, by all machines.
    pub per_host: usize,
    pub ordered: bool,
}

/// A part, and the results of lines that need no machine.
#[derive(Default)]
struct PendingPart {
    lines: Vec<(u64, serde_json::Value)>,
    bytes: usize,
    own: BTreeMap<u64, String>,
}

/// As [`run`](super::run), on other machines.
pub async fn run(
    remote: &RemoteMap,
    mut inputs: mpsc::Receiver<Result<Input>>,
    sink: &mut (dyn LineSink + Send),
    tell: &mut (dyn FnMut(&Totals) + Send),
    stop: impl Future<Output = ()>,
) -> Result<Totals> {
    let began = Instant::now();
    let mut totals = Totals::default();
    let mut stop = std::pin::pin!(stop);
    let mut more = true;
    while more && totals.stopped_by.is_none() && !totals.interrupted {
        let mut parts: Vec<PendingPart> = Vec::new();
        while more && (parts.len() < WINDOW || !parts.last().is_none_or(PendingPart::is_full)) {
            let next = tokio::select! {
                biased;
                () = &mut stop => {
                    totals.interrupted = true;
                    break;
                }
                it = inputs.recv() => it,
            };
            let Some(input) = next else {
                more = false;
                break;
            };
            let input = input?;
            totals.read = input.read.max(totals.read);
            if parts.last().is_none_or(PendingPart::is_full) {
                parts.push(PendingPart::default());
            }
            if let Some(it) = parts.last_mut() {
                it.add(input)?;
            }
        }
        if totals.interrupted {
            break;
        }
        totals.ms = began.elapsed().as_millis() as u64;
        let mut window =
            PartWindow { remote, sink, totals: &mut totals, done: BTreeMap::new(), next: 0 };
        let whole = window.run_all(parts, tell);
        let ended = tokio::select! {
            biased;
            () = &mut stop => None,
            end = whole => Some(end),
        };
        let Some(ended) = ended else {
            totals.interrupted = true;
            break;
        };
        if !ended? {
            break;
        }
    }
    totals.ms = began.elapsed().as_millis() as u64;
    Ok(totals)
}

impl PendingPart {
    fn is_full(&self) -> bool {
        self.lines.len() + self.own.len() >= LINES || self.bytes >= BYTES
    }

    fn add(&mut self, input: Input) -> Result<()> {
        let err = match input.params {
            Ok(_) if !input.hidden => {
                self.bytes += input.shown.to_string().len();
                self.lines.push((input.line, input.shown));
                return Ok(());
            }
            Ok(_) => {
                let why = format!("line {} seems to hold a secret", input.line);
                Error::new(Code::SecretInTask, why)
                    .hint("run the command without --engine, because a shared store must not hold secrets")
            }
            Err(err) => err,
        };
        let error = Some(LineError::from_error(&err));
        let line = MapLine { line: input.line, input: input.shown, found: None, error };
        let json = serde_json::to_string(&line)
            .map_err(|err| Error::new(Code::Internal, "a result is not JSON").source(err))?;
        self.own.insert(input.line, json);
        Ok(())
    }
}

/// Parts that are under way, and their results.
struct PartWindow<'a> {
    remote: &'a RemoteMap,
    sink: &'a mut (dyn LineSink + Send),
    totals: &'a mut Totals,
    /// Results that wait for those of parts before them.
    done: BTreeMap<usize, BTreeMap<u64, String>>,
    next: usize,
}

/// What of a result is counted.
#[derive(Deserialize)]
struct ResultStatus {
    line: u64,
    #[serde(default)]
    error: Option<ResultError>,
}

#[derive(Deserialize)]
struct ResultError {
    code: String,
}

impl PartWindow<'_> {
    /// False when nobody reads any more.
    async fn run_all(
        &mut self,
        parts: Vec<PendingPart>,
        tell: &mut (dyn FnMut(&Totals) + Send),
    ) -> Result<bool> {
        let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let (mut own, mut tasks) = (BTreeMap::new(), Vec::new());
        for (i, part) in parts.into_iter().enumerate() {
            if part.lines.is_empty() {
                if !self.write_results(i, part.own)? {
                    return Ok(false);
                }
                continue;
            }
            let remote = self.remote;
            let chunk = Chunk::new(&remote.map, &remote.recipe, part.lines)?;
            // Using a store blocks.
            let id = tokio::task::block_in_place(|| chunk.store(&*remote.shared_store))?;
            own.insert(i, part.own);
            let all = by_id.entry(id.to_string()).or_default();
            all.push(i);
            if all.len() == 1 {
                let (host, entry) = (Some(remote.host.clone()), entry_key(&id)?.to_string());
                tasks.push(TaskRef { id: id.to_string(), entry, host, delay_ms: 0 });
            }
        }
        if tasks.is_empty() {
            return Ok(true);
        }
        let handed = WorkRequest {
            name: self.remote.map.clone(),
            tasks,
            per_host: self.remote.per_host,
            deadline: DEADLINE,
            retries: RETRIES,
        };
        let (engine, shared_store) =
            (Arc::clone(&self.remote.engine), Arc::clone(&self.remote.shared_store));
        for_each_outcome(&*engine, (handed, &*shared_store), |it| {
            for i in by_id.remove(&it.id).unwrap_or_default() {
                let all = self.collect_results(&it, own.remove(&i).unwrap_or_default())?;
                if !self.write_results(i, all)? {
                    return Ok(false);
                }
            }
            tell(self.totals);
            Ok(true)
        })
        .await
    }

    /// What a part that ended came to, beside what needed no machine.
    fn collect_results(
        &mut self,
        ended: &TaskOutcome,
        mut all: BTreeMap<u64, String>,
    ) -> Result<BTreeMap<u64, String>> {
        let mut stopped = |code: Option<Code>, why: Option<&str>| {
            self.totals.stopped_by.get_or_insert(code.unwrap_or(Code::Internal));
            self.totals.trouble.get_or_insert(why.unwrap_or_default().to_owned());
        };
        if let Some(it) = &ended.failed {
            stopped(ended.code(), Some(&it.error));
            return Ok(all);
        }
        let shared_store = &*self.remote.shared_store;
        let id = TaskId::parse(&ended.id)?;
        let results =
            tokio::task::block_in_place(|| load_results(shared_store, &id))?.ok_or_else(|| {
                let why =
                    format!("{} has no results of {id}, which ended", shared_store.location());
                Error::new(Code::ArtifactMissing, why)
            })?;
        if let Some(code) = &results.stopped_by {
            stopped(Code::from_wire(code), results.trouble.as_deref());
        }
        for it in results.lines {
            let json: &str = it.get();
            let bad =
                |err| Error::new(Code::ArtifactCorrupt, "a result cannot be read").source(err);
            let counted: ResultStatus = serde_json::from_str(json).map_err(bad)?;
            // As it is to be on one line, whoever wrote it.
            let json = if json.contains('\n') { json.replace('\n', " ") } else { json.to_owned() };
            all.insert(counted.line, json);
        }
        Ok(all)
    }

    /// In order, or as they end.
    fn write_results(&mut self, i: usize, all: BTreeMap<u64, String>) -> Result<bool> {
        self.done.insert(i, all);
        let mut ready = Vec::new();
        if self.remote.ordered {
            while let Some(it) = self.done.remove(&self.next) {
                self.next += 1;
                ready.push(it);
            }
        } else {
            ready.extend(std::mem::take(&mut self.done).into_values());
        }
        for json in ready.into_iter().flat_map(BTreeMap::into_values) {
            let bad =
                |err| Error::new(Code::ArtifactCorrupt, "a result cannot be read").source(err);
            let counted: ResultStatus = serde_json::from_str(&json).map_err(bad)?;
            self.totals.lines += 1;
            match counted.error {
                None => self.totals.ok += 1,
                Some(it) => {
                    self.totals.failed += 1;
                    let code = Code::from_wire(&it.code).unwrap_or(Code::Internal);
                    *self.totals.errors.entry(code.as_str()).or_default() += 1;
                }
            }
            if !self.sink.write_line(&json)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
