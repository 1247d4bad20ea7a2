//! What a machine of an engine does that is no task: lines of `recipe map`, recipes of `recipe check`.
//!
//! Requests go through this machine's policy, so where the engine takes it for lost it asks nothing more.

use std::sync::Arc;

use super::TaskWorker;
use commis_artifacts::shared_store::ObjectKey;
use commis_base::{
    error::{Code, Error, Result},
    ids::TaskId,
};
use commis_batch::{
    map::{MapContext, chunk},
    remote_checks,
};
use commis_learn::Sessions;
use commis_recipe::{model::Recipe, registry::Source};
use commis_runner::call::Caller;

/// Lines at once, where no limit of its host binds.
const JOBS: usize = 4;

impl TaskWorker {
    /// Runs a part and puts what it came to into the store; `None` when that is none, but a task. Fails as the part does, with
    /// `INTERRUPTED` when `stop` came first; then another machine may run it.
    pub(super) async fn part(
        &self,
        (entry, id): (&str, &str),
        stop: impl Future<Output = ()> + Send,
    ) -> Option<Result<()>> {
        let id = TaskId::parse(id).ok()?;
        let key = ObjectKey::parse(entry, &id)?;
        let is_map = key.name() == chunk::ENTRY;
        if !is_map && key.name() != remote_checks::ENTRY {
            return None;
        }
        Some(self.run_part(id, is_map, stop).await)
    }

    async fn run_part(
        &self,
        id: TaskId,
        is_map: bool,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<()> {
        let (home, settings) = (&self.place.home, &self.place.settings);
        let caller = Caller::new(home, settings, Arc::clone(&self.cx.policy), Box::new(|_| ()))?;
        let sessions = Sessions::new(self.cx.browser.clone(), settings.browser.session_ttl());
        let shared_store = Arc::clone(&self.shared_store);
        // Using a store blocks, so it is done on a thread of its own.
        let work = move || async move {
            if !is_map {
                return remote_checks::run_part(&*shared_store, &id, (&caller, &sessions)).await;
            }
            let make = |recipe: Recipe| {
                let compiled = caller.compiled(&recipe)?;
                let jobs = caller
                    .limits()
                    .max_concurrent_runs(compiled.host())
                    .map_or(JOBS, |it| it as usize);
                let work = MapContext::new((recipe, Source::User), (caller, sessions), None);
                Ok((Arc::new(work), jobs))
            };
            chunk::run_part(&*shared_store, &id, make, std::future::pending()).await.map(drop)
        };
        let stopped = async {
            stop.await;
            Error::new(Code::Interrupted, "stopped; the part will run again")
        };
        commis_learn::run_until_stopped(work, stopped).await
    }
}
