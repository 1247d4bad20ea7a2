//! `commis recipe check --engine`: recipes are called by other machines, in the turns of their hosts; judged and counted they are here.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{
    check_row::{Row, Verdict},
    checker::{CheckTarget, Checker},
};
use commis_artifacts::shared_store::SharedStore;
use commis_base::{
    error::{Code, Error, Result},
    ids::{TaskId, random_token},
};
use commis_batch::{
    remote::{Engine, TaskOutcome, TaskRef, WorkRequest, for_each_outcome},
    remote_checks,
};
use commis_recipe::registry::RegisteredRecipe;

/// A part of one host may take so long.
const DEADLINE: Duration = Duration::from_secs(60 * 60);
const RETRIES: u32 = 2;

/// What has the recipes called.
pub struct RemoteCheck {
    pub shared_store: Arc<dyn SharedStore>,
    pub engine: Arc<dyn Engine>,
}

/// By position.
type Part = Vec<(usize, RegisteredRecipe)>;

impl Checker {
    /// As [`Checker::all`], on other machines: a part is of one host, and a host has one part at a time.
    pub(super) async fn remote(
        &self,
        remote: &RemoteCheck,
        all: &[CheckTarget],
        rows: &Mutex<Vec<(usize, Row)>>,
    ) -> Result<()> {
        let keep = |i: usize, row: Row| {
            self.progress.end(&row);
            rows.lock().unwrap_or_else(PoisonError::into_inner).push((i, row));
        };
        let mut hosts: BTreeMap<&str, Vec<Part>> = BTreeMap::new();
        for (i, it) in all.iter().enumerate() {
            match self.prepare(&it.name)? {
                Err(row) => keep(i, row),
                Ok((held, _)) => {
                    let parts = hosts.entry(&it.host).or_default();
                    match parts.last_mut().filter(|it| it.len() < remote_checks::RECIPES) {
                        Some(part) => part.push((i, held)),
                        None => parts.push(vec![(i, held)]),
                    }
                }
            }
        }
        let check = random_token()?;
        let (mut tasks, mut parts) = (Vec::new(), BTreeMap::new());
        for (host, its) in hosts {
            for part in its {
                let recipes: Vec<_> = part.iter().map(|it| &it.1.recipe).collect();
                let id = remote_checks::store(&*remote.shared_store, &check, &recipes)?;
                let (host, entry) =
                    (Some(host.to_owned()), remote_checks::entry_key(&id)?.to_string());
                tasks.push(TaskRef { id: id.to_string(), entry, host, delay_ms: 0 });
                parts.insert(id.to_string(), part);
            }
        }
        if tasks.is_empty() {
            return Ok(());
        }
        let name = format!("check-{check}");
        let handed = WorkRequest { name, tasks, per_host: 1, deadline: DEADLINE, retries: RETRIES };
        let each = |it: TaskOutcome| {
            let Some(part) = parts.remove(&it.id) else { return Ok(true) };
            let why = it.failed.as_ref().map(|failed| {
                Error::new(it.code().unwrap_or(Code::Internal), failed.error.clone())
            });
            for (i, row) in self.part(remote, &it.id, part, why)? {
                keep(i, row);
            }
            Ok(true)
        };
        for_each_outcome(&*remote.engine, (handed, &*remote.shared_store), each).await.map(drop)
    }

    /// The rows of a part that ended.
    fn part(
        &self,
        remote: &RemoteCheck,
        id: &str,
        part: Part,
        why: Option<Error>,
    ) -> Result<Vec<(usize, Row)>> {
        let called = match &why {
            Some(_) => Vec::new(),
            None => remote_checks::load_results(&*remote.shared_store, &TaskId::parse(id)?)?
                .unwrap_or_default(),
        };
        let mut by_name: BTreeMap<_, _> =
            called.into_iter().map(|it| (it.name.clone(), it)).collect();
        let none = Error::new(Code::ArtifactMissing, "no machine reported a result");
        let why = why.unwrap_or(none);
        let row = |(i, held): (usize, RegisteredRecipe)| {
            let name = held.recipe.name.clone();
            let row = match by_name.remove(&name) {
                Some(it) => self.judge(&name, &held, it.into_run_result(&held.recipe)),
                // The machines' trouble says nothing about a recipe.
                None => Row::new(&name, Some(held.source), Verdict::Unknown).with_error(&why),
            };
            (i, row)
        };
        Ok(part.into_iter().map(row).collect())
    }
}
