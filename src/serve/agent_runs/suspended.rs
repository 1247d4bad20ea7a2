//! Runs that wait for a person's approval, and the approvals that they wait for.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use super::request::TaskRequest;
use crate::principal::Principal;
use commis_agent::{AgentRun, Approvals, playwright::Playwright, runs::Journal};
use commis_base::ids::RecipeName;
use commis_model::Client;

/// What waits, and the runs that it belongs to.
pub struct SuspendedRuns {
    pub approvals: Approvals,
    /// Taken by whoever goes on with it.
    parked: Mutex<Vec<SuspendedRun>>,
    /// Names of recipes that are learned from what was done, and the sites that they are of.
    names: Mutex<BTreeMap<RecipeName, String>>,
}

/// What it takes to go on.
pub struct SuspendedRun {
    pub agent_run: AgentRun,
    pub wanted: TaskRequest,
    pub principal: Principal,
    pub run: String,
    pub context: String,
    /// The approvals of this run's requests, and the numbers that the page knows those by.
    pub waits: Vec<(String, u64)>,
    pub client: Arc<Client>,
    /// Of a token, in and out.
    pub prices: Option<(f64, f64)>,
    pub journal: Journal,
    /// Milliseconds at work, waiting not counted.
    pub ms: u64,
    /// Requests that may change something and were let go.
    pub sent: u32,
    /// The browser of a run that waits, where it is none of the daemon's.
    pub external_browser: Option<Box<Playwright>>,
}

impl SuspendedRuns {
    pub fn new(folder: PathBuf) -> Self {
        Self {
            approvals: Approvals::new(folder),
            parked: Mutex::default(),
            names: Mutex::default(),
        }
    }

    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, Vec<SuspendedRun>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a name for a recipe of that site; `false` where one of another site has it.
    pub fn names(&self, name: &RecipeName, site: &str) -> bool {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        *names.entry(name.clone()).or_insert_with(|| site.to_owned()) == *site
    }

    /// The run that waits for that approval; nobody else gets it.
    pub(super) fn take(&self, id: &str) -> Option<SuspendedRun> {
        let mut all = self.lock();
        let at = all.iter().position(|it| it.waits.iter().any(|it| it.0 == id))?;
        Some(all.swap_remove(at))
    }
}
