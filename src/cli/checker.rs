//! Calls recipes and judges what they answer: what `commis recipe check` does for each.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::stream::{FuturesUnordered, StreamExt as _};

use super::{
    check_progress::CheckProgress,
    check_row::{Row, Verdict},
    context::{self, Environment, clean},
    run,
};
use commis_artifacts::store::now;
use commis_base::{
    error::{Code, Error, Result},
    ids::RecipeName,
};
use commis_batch::schedule::{NextAction, Schedule};
use commis_learn::{Fallback, RecipeRunner, Sessions, note, refusal_error};
use commis_recipe::{
    model::Status,
    registry::{RegisteredRecipe, Registry, Source},
};
use commis_runner::{RecipeRunResult, call::Caller};
use commis_stages::effect::recipe_effect;
use commis_state::{Blame, State};

/// Failures by the network in a row, after which the rest of a host is skipped.
const GIVE_UP: u32 = 5;

/// A recipe that is to be checked.
pub(super) struct CheckTarget {
    pub(super) name: RecipeName,
    pub(super) source: Option<Source>,
    /// Empty when the recipe cannot be read.
    pub(super) host: String,
    /// Requests of a check.
    pub(super) calls: u64,
}

impl CheckTarget {
    pub(super) fn new(name: RecipeName, registry: &Registry) -> Self {
        let held = registry.get(&name).ok();
        let host = held.as_ref().and_then(|it| {
            url::Url::parse(&it.recipe.request.url).ok()?.host_str().map(str::to_owned)
        });
        let examples = held.as_ref().and_then(|it| it.recipe.verification.as_ref());
        let calls = examples.map_or(1, |it| it.examples.len().max(1)) as u64;
        Self { name, source: held.map(|it| it.source), host: host.unwrap_or_default(), calls }
    }

    /// The key that selects the part of `--shard`.
    pub(super) fn shard_key(&self) -> &str {
        if self.host.is_empty() { self.name.as_str() } else { &self.host }
    }

    /// Its host did not answer others.
    pub(super) fn unreachable_row(&self, code: &'static str) -> Row {
        let error = format!(
            "not asked: {GIVE_UP} recipes of {} in a row got no connection",
            clean(&self.host)
        );
        Row {
            blame: Some(Blame::Network),
            error_code: Some(code),
            error: Some(error),
            ..Row::new(&self.name, self.source, Verdict::Unknown)
        }
    }
}

/// A recipe and the values that it is called with; else what is known without a call.
pub(super) type PreparedCall =
    std::result::Result<(RegisteredRecipe, BTreeMap<String, String>), Row>;

pub(super) struct Checker {
    pub(super) caller: Caller,
    pub(super) sessions: Sessions,
    /// For recipes that need a login.
    pub(super) logged_in: Option<Sessions>,
    pub(super) state: Result<State>,
    pub(super) registry: Registry,
    pub(super) progress: CheckProgress,
    pub(super) place: Environment,
}

impl Checker {
    /// Prints the shortest duration of the check, by the slowest host, if it is long.
    pub(super) fn tell_estimate(&self, all: &[CheckTarget]) {
        let mut hosts: BTreeMap<&str, u64> = BTreeMap::new();
        for it in all {
            *hosts.entry(&it.host).or_default() += it.calls;
        }
        let limits = self.caller.limits();
        let slowest = hosts
            .iter()
            .filter_map(|(host, calls)| Some((limits.estimate(host, *calls)?, *host, *calls)));
        if let Some(it) = slowest.max() {
            self.progress.aside(|| run::tell_estimate(it, &self.place));
        }
    }

    /// At a time: as many as was asked for, where the limits let them.
    pub(super) fn jobs(&self, wanted: Option<usize>, all: &[CheckTarget]) -> usize {
        let most = self.place.settings.limits.runs as usize;
        let Some(wanted) = wanted else { return most };
        let limits = self.caller.limits();
        if wanted > most && all.iter().any(|it| limits.max_concurrent_runs(&it.host).is_some()) {
            context::say(&format!("info: {most} at a time, as [limits] runs says"));
            return most;
        }
        wanted
    }

    /// Hosts in turn, the recipes of one host one after the other, each when its turn has come.
    pub(super) async fn check_all(
        &self,
        all: &[CheckTarget],
        jobs: usize,
        rows: &Mutex<Vec<(usize, Row)>>,
    ) -> Result<()> {
        let mut schedule = Schedule::new(Duration::ZERO, 1);
        for (i, it) in all.iter().enumerate() {
            schedule.add(i, Some(&it.host));
        }
        // By host: how many in a row the network failed, and with what.
        let mut lost: BTreeMap<&str, (u32, &'static str)> = BTreeMap::new();
        let mut running = FuturesUnordered::new();
        let keep = |i: usize, row: Row| {
            self.progress.end(&row);
            rows.lock().unwrap_or_else(PoisonError::into_inner).push((i, row));
        };
        loop {
            let mut wake = None;
            while running.len() < jobs {
                let now = Instant::now();
                match schedule.next(now) {
                    NextAction::Start(i) => {
                        let it = &all[i];
                        if let Some((_, code)) = lost.get(&*it.host).filter(|it| it.0 >= GIVE_UP) {
                            keep(i, it.unreachable_row(code));
                            schedule.end_task(Some(&it.host));
                            continue;
                        }
                        let due = self.caller.limits().wait_time(&it.host)?;
                        if due.is_zero() {
                            self.progress.begin(&it.name);
                            running.push(async move { (i, self.check_one(&it.name).await) });
                        } else {
                            schedule.not_yet(i, Some(&it.host), now + due);
                        }
                    }
                    NextAction::At(when) => {
                        wake = Some(when);
                        break;
                    }
                    NextAction::AfterAnother | NextAction::Nothing => break,
                }
            }
            if running.is_empty() && wake.is_none() {
                return Ok(());
            }
            let due = async {
                match wake {
                    Some(it) => tokio::time::sleep_until(it.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                Some((i, row)) = running.next() => {
                    let (row, host) = (row?, &*all[i].host);
                    match (row.blame, row.error_code) {
                        (Some(Blame::Network), Some(code)) => {
                            let it = lost.entry(host).or_insert((0, code));
                            *it = (it.0 + 1, code);
                        }
                        _ => _ = lost.remove(host),
                    }
                    keep(i, row);
                    schedule.end_task(Some(host));
                }
                () = due => {}
            }
        }
    }

    /// Fails with what concerns all of them: settings, folders, a bug.
    async fn check_one(&self, name: &RecipeName) -> Result<Row> {
        let (held, values) = match self.prepare(name)? {
            Ok(it) => it,
            Err(row) => return Ok(row),
        };
        // No browser that it would not need: where the network fails, nobody knows.
        let needs_login = held.recipe.login.is_some();
        let sessions = self.logged_in.as_ref().filter(|_| needs_login).unwrap_or(&self.sessions);
        let runs = RecipeRunner { caller: &self.caller, sessions, tell: &|_| () };
        let ended = runs.call(&held.recipe, &values, Fallback::Never).await;
        let given = ended.as_ref().ok().map(|it| it.data.clone());
        let mut row = self.judge(name, &held, ended);
        let examples = held.recipe.verification.iter().flat_map(|it| &it.examples);
        for example in examples.filter(|it| it.values != values) {
            if row.verdict != Verdict::Ok {
                break;
            }
            let ended = runs.call(&held.recipe, &example.values, Fallback::Never).await;
            row = row.add_example(example, given.as_ref(), ended);
        }
        if held.recipe.transport().uses_session() {
            // Each is checked in a session of its own; thousands of pages are not kept open.
            sessions.forget().await;
        }
        Ok(row)
    }

    /// The recipe and its example, or the row of one that is not called. Fails with what concerns all of them.
    pub(super) fn prepare(&self, name: &RecipeName) -> Result<PreparedCall> {
        let held = match self.registry.get(name) {
            Ok(it) => it,
            Err(err) if err.code() == Code::ArtifactIo => return Err(err),
            Err(err) => return Ok(Err(Row::new(name, None, Verdict::Failed).with_error(&err))),
        };
        let row = |verdict| Row::new(name, Some(held.source), verdict);
        if held.recipe.status != Status::Verified {
            return Ok(Err(row(Verdict::Failed).with_error(&refusal_error(&held.recipe))));
        }
        if !held.recipe.trust.is_known_to_read()
            && let Err(why) = recipe_effect(&held.recipe, false).into_result()
        {
            let why = format!("it was not learned here, and {why}");
            return Ok(Err(
                row(Verdict::Unknown).with_error(&Error::new(Code::RecipeMayChange, why))
            ));
        }
        let Some(values) = held.recipe.example() else {
            let err = Error::new(Code::ParamInvalid, "a required parameter has no example");
            return Ok(Err(row(Verdict::Unknown).with_error(&err)));
        };
        Ok(Ok((held, values)))
    }

    pub(super) fn judge(
        &self,
        name: &RecipeName,
        held: &RegisteredRecipe,
        mut ended: Result<RecipeRunResult>,
    ) -> Row {
        // Nothing for an input that had something is no rightly empty answer.
        if let Ok(it) = &mut ended
            && it.success
            && it.items == Some(0)
            && held.recipe.had_items()
            // Another account may have nothing.
            && held.recipe.login.is_none()
        {
            it.success = false;
            it.error_code = Some(Code::ShapeDrift.as_str());
            it.error =
                Some("no items for an example that had some when it was verified".to_owned());
        }
        let noted = note(
            &self.registry,
            run::require_state(&self.state),
            (&held.recipe, held.source),
            ended.as_ref().map_err(Error::code),
            &now(),
        );
        self.progress.aside(|| {
            run::tell_demotion(name, &noted);
            if let Some(err) = &noted.not_counted {
                context::say(&clean(&format!(
                    "warning: the check of {name} was not counted: {err}"
                )));
            }
        });
        let verdict = match (noted.blame, ended.as_ref().ok().and_then(|it| it.error_code)) {
            (None, _) => Verdict::Ok,
            (Some(Blame::Recipe), Some(code)) if code == Code::ShapeDrift.as_str() => {
                Verdict::Drifted
            }
            (Some(Blame::Recipe), _) => Verdict::Failed,
            (Some(_), _) => Verdict::Unknown,
        };
        let mut examples = held.recipe.verification.iter().flat_map(|it| &it.examples);
        let own = examples.find(|it| held.recipe.example().as_ref() == Some(&it.values));
        let changed = match (verdict, &ended, own) {
            (Verdict::Ok, Ok(it), Some(own)) => own.differences(&it.data),
            _ => Vec::new(),
        };
        let row = Row::new(name, Some(held.source), verdict);
        let row = Row { demoted: noted.demoted, blame: noted.blame, ..row };
        match ended {
            Ok(it) => Row {
                error_code: it.error_code,
                error: it.error,
                similarity_bp: it.similarity_bp,
                items: it.items,
                total: it.total,
                complete: it.complete,
                total_ms: Some(it.timings_ms.total),
                ..row
            }
            .changed(changed),
            Err(err) => row.with_error(&err),
        }
    }
}
