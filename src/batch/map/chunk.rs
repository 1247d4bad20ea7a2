//! Lines that another machine runs: a part of the inputs as an object in a store that both reach, its results as another.
//!
//! What is handed around are keys. A part's id is made of all that it holds, so it can be handed over twice, and be run by two: the
//! first to be done counts, and who comes second takes what is there.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tokio::sync::mpsc;

use super::{Input, LineSink, MapContext, Options, Totals, run};
use crate::work_units;
use commis_artifacts::shared_store::{ObjectKey, SharedStore};
use commis_base::{
    error::{Class, Code, Error, Result},
    ids::TaskId,
};
use commis_recipe::{model::Recipe, trust::Trust, yaml};

/// Lines of a part, and bytes of inputs: what a machine that is lost has to do again.
pub const LINES: usize = 200;
pub const BYTES: usize = 512 << 10;
/// The name in the key of what a part is; tells it from a task.
pub const ENTRY: &str = "chunk.json";
const KIND: &str = "map";
const RESULTS: &str = "results.json";
const VERSION: u32 = 1;
/// What a part may be, and what its results may be.
const MAX_CHUNK: usize = 4 << 20;
const MAX_RESULTS: usize = 256 << 20;

/// A part of the inputs, and the recipe that they are for.
#[derive(Debug, Serialize, Deserialize)]
pub struct Chunk {
    version: u32,
    /// What tells this map from another of the same lines.
    map: String,
    /// YAML: the other machine may have another recipe of that name, or none.
    recipe: String,
    /// Who stands for it where the map was begun.
    #[serde(default)]
    trust: Trust,
    lines: Vec<(u64, Value)>,
}

/// What a part came to.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChunkResults {
    /// Why lines are left.
    pub stopped_by: Option<String>,
    pub trouble: Option<String>,
    /// As they are printed, in the order of the inputs.
    pub lines: Vec<Box<RawValue>>,
}

impl Chunk {
    pub fn new(map: &str, recipe: &Recipe, lines: Vec<(u64, Value)>) -> Result<Self> {
        let (map, trust, recipe) = (map.to_owned(), recipe.trust, yaml::to_yaml(recipe)?);
        Ok(Self { version: VERSION, map, recipe, trust, lines })
    }

    /// Puts it there; its id. Fails as [`SharedStore::create`].
    pub fn store(&self, shared_store: &dyn SharedStore) -> Result<TaskId> {
        work_units::store(shared_store, KIND, ENTRY, self)
    }

    /// Fails with `TASK_NOT_FOUND`, with `ARTIFACT_CORRUPT`, and as [`SharedStore::read`].
    fn read(shared_store: &dyn SharedStore, id: &TaskId) -> Result<Self> {
        let it: Self = work_units::load(shared_store, KIND, (id, ENTRY), MAX_CHUNK)?;
        if it.version != VERSION {
            return Err(Error::new(
                Code::ArtifactCorrupt,
                format!("{id} was written by another version of commis"),
            ));
        }
        Ok(it)
    }
}

/// The key of what a part is.
pub fn entry_key(id: &TaskId) -> Result<ObjectKey> {
    work_units::key(id, ENTRY)
}

/// What a part came to; `None` when nobody has run it yet. Fails with `ARTIFACT_CORRUPT`, and as [`SharedStore::read`].
pub fn load_results(shared_store: &dyn SharedStore, id: &TaskId) -> Result<Option<ChunkResults>> {
    work_units::read(shared_store, id, RESULTS, MAX_RESULTS)
}

/// Runs the part unless that was done, and puts its results there. `work` makes of the recipe what runs it, and says how many lines go at once.
///
/// Fails with what keeps this machine from running it, with `INTERRUPTED`, and as [`SharedStore`] does; then another machine may.
pub async fn run_part(
    shared_store: &dyn SharedStore,
    id: &TaskId,
    work: impl FnOnce(Recipe) -> Result<(Arc<MapContext>, usize)>,
    stop: impl Future<Output = ()>,
) -> Result<Totals> {
    if load_results(shared_store, id)?.is_some() {
        return Ok(Totals::default());
    }
    let chunk = Chunk::read(shared_store, id)?;
    let recipe = Recipe { trust: chunk.trust, ..yaml::parse(&chunk.recipe)? };
    let (work, jobs) = work(recipe)?;
    let (to, inputs) = mpsc::channel(chunk.lines.len().max(1));
    for (line, value) in chunk.lines {
        // It has room for all.
        let _ = to.try_send(Ok(Input::from_value(line, value)));
    }
    drop(to);
    let mut all = MemorySink(BTreeMap::new(), 0);
    let options = Options { jobs, ordered: false };
    let totals = run(&work, inputs, options, &mut all, &mut |_| (), stop).await?;
    let why = || totals.trouble.clone().unwrap_or_default();
    match totals.stopped_by {
        _ if totals.interrupted => {
            return Err(Error::new(Code::Interrupted, "stopped; the part will run again"));
        }
        // This machine cannot; another may.
        Some(it) if it.class() != Class::Task && it != Code::RecipeNotVerified => {
            return Err(Error::new(it, why()));
        }
        _ => {}
    }
    let results = ChunkResults {
        stopped_by: totals.stopped_by.map(|it| it.as_str().to_owned()),
        trouble: totals.trouble.clone(),
        lines: all.0.into_values().collect(),
    };
    work_units::store_result(shared_store, id, RESULTS, &results)?;
    Ok(totals)
}

/// Results in memory: those of a part.
struct MemorySink(BTreeMap<u64, Box<RawValue>>, usize);

#[derive(Deserialize)]
struct LineNumber {
    line: u64,
}

impl LineSink for MemorySink {
    fn write_line(&mut self, json: &str) -> Result<bool> {
        let bad = |err| Error::new(Code::Internal, "a result is not JSON").source(err);
        let LineNumber { line } = serde_json::from_str(json).map_err(bad)?;
        self.1 += json.len();
        if self.1 > MAX_RESULTS / 2 {
            let why = "the results of a part are too large for a store";
            return Err(Error::new(Code::ResponseTooLarge, why).hint("run it without --engine"));
        }
        self.0.insert(line, RawValue::from_string(json.to_owned()).map_err(bad)?);
        Ok(true)
    }
}
