//! What learning needs besides the task, and how it ends.

use std::{
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{replay_context::BrowserPool, task::Task, trust_migration::trust_what_was_learned};
use commis_artifacts::{payloads::Outcome, shared_store::SharedStore, store::Store};
use commis_base::{
    error::Result,
    settings::{Home, Settings},
};
use commis_model::{Client, Model};
use commis_net::{egress::EgressPolicy, transport::public_http::PublicHttp};
use commis_recipe::registry::Registry;
use commis_stages::{pacer::Pacer, table::Stage};
use commis_state::State;
use commis_vault::Vault;

/// Called as a stage of a task begins.
pub type OnStage = Box<dyn Fn(&Task, Stage) + Send + Sync>;

/// Told of what takes time beside the call itself, in words for a person.
pub type OnProgress = dyn Fn(&str) + Send + Sync;

/// Everything learning needs besides the task.
pub struct LearnContext {
    pub settings: Settings,
    pub store: Store,
    /// What other machines have done is taken from there, and what is done here is put there; `None`: this one works alone.
    pub shared_store: Option<Arc<dyn SharedStore>>,
    /// No stage is run here: what is not there is another machine's to do, and `ARTIFACT_MISSING`.
    pub elsewhere: bool,
    pub recipes: Registry,
    /// Where it is kept what stages were asked; the batch's own database, or else opened when the first of
    /// them has written; `None` when it cannot be used.
    pub questions: OnceLock<Option<Arc<State>>>,
    pub policy: Arc<EgressPolicy>,
    pub http: PublicHttp,
    pub browser: BrowserPool,
    pub pacer: Pacer,
    /// Where the logins of tasks are.
    pub vault: Vault,
    /// Asked where the heuristics cannot tell; `None` when none is configured, or offline.
    pub model: Option<Box<dyn Model>>,
    /// Redo what is finished.
    pub redo: Option<RedoScope>,
    /// Told of each stage as it begins.
    pub on_stage: OnStage,
}

impl LearnContext {
    /// For the folders of a home. Fails with what the model's settings fail with, and with `ARTIFACT_IO`.
    pub fn open(
        home: &Home,
        settings: &Settings,
        browser: BrowserPool,
        how: (Option<RedoScope>, Duration),
        on_stage: OnStage,
    ) -> Result<Arc<Self>> {
        Self::open_with(home, settings, browser, how, (None, false), on_stage)
    }

    /// The same beside other machines.
    pub fn open_with(
        home: &Home,
        settings: &Settings,
        browser: BrowserPool,
        (redo, delay): (Option<RedoScope>, Duration),
        (shared_store, elsewhere): (Option<Arc<dyn SharedStore>>, bool),
        on_stage: OnStage,
    ) -> Result<Arc<Self>> {
        let policy = Arc::clone(browser.policy());
        let model = if settings.egress.no_network { None } else { Client::new(&settings.model)? };
        trust_what_was_learned(home)?;
        let (store, recipes) = (Store::new(home.artifacts.clone()), Registry::for_home(home));
        store.sweep()?;
        recipes.sweep()?;
        Ok(Arc::new(Self {
            store,
            shared_store,
            elsewhere,
            recipes,
            questions: OnceLock::new(),
            http: PublicHttp::new(Arc::clone(&policy))?,
            browser,
            settings: settings.clone(),
            policy,
            pacer: Pacer::new(delay),
            vault: Vault::new(home),
            model: model.map(|it| Box::new(it) as _),
            redo,
            on_stage,
        }))
    }
}

/// What is done again although it is fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedoScope {
    /// Every stage, recordings too; a person's choice is forgotten.
    All,
    /// This stage and all after it.
    From(Stage),
}

/// How a task ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LearnResult {
    pub task_id: String,
    pub name: String,
    pub outcome: Outcome,
    /// Why, when not verified.
    pub reason: Option<String>,
    /// More about that, or why a recipe that was verified is out of service all the same.
    pub detail: Option<String>,
    pub recipe: Option<PathBuf>,
    pub artifacts: PathBuf,
    pub ran: Vec<Stage>,
    pub reused: Vec<Stage>,
    /// Recorded again because values needed for replay had died with their process.
    pub live_values_lost: bool,
    /// Entries of a HAR that were no requests.
    pub skipped_entries: u32,
    /// The first recording, milliseconds.
    pub browser_ms: u64,
    /// The transport a verified recipe uses.
    pub transport: Option<String>,
    /// The model that was asked, in this run or an earlier one.
    pub model: Option<ModelUse>,
}

/// What a model was used for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ModelUse {
    /// `provider/name`.
    pub name: String,
    /// Calls of this run; none when the answer was there already. Tokens and cost are those of these calls.
    pub calls: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    /// Millionths of the currency that the prices in the settings are in; absent without prices.
    pub cost_micros: Option<u64>,
}
