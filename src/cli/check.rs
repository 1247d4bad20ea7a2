//! `commis recipe check`

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use futures::stream::{FuturesUnordered, StreamExt as _};
use serde::Serialize;
use serde_json::Value;

use super::{
    Global,
    check_afar::RemoteCheck,
    check_progress::{CheckProgress, FEW, table},
    junit,
    learn_batch::shard,
    names, run, stores,
    wire::{self, Environment, clean},
};
use commis_artifacts::store::now;
use commis_base::{
    error::{Class, Code, Error, Result},
    files,
    ids::{RecipeName, shard_of},
};
use commis_batch::schedule::{NextAction, Schedule};
use commis_learn::{BrowserPool, Fallback, RecipeRunner, Sessions, note, refusal_error};
use commis_recipe::{
    model::{DemotionReason, ExampleAnswer, Status},
    registry::{RegisteredRecipe, Registry, Source},
};
use commis_runner::{RecipeRunResult, call::Caller};
use commis_stages::effect::recipe_effect;
use commis_state::{Blame, State, now_ms};
use commis_vault::{Login, Vault};

/// Recipes of one host in a row that the network failed; the rest of them is not asked.
const GIVE_UP: u32 = 5;
const HOUR_MS: i64 = 60 * 60 * 1000;

/// Run verified recipes once each and say which still work, for cron and CI
///
/// Each is called with its defaults and each of its examples, within the limits of runs, and the answers are compared with the shape
/// that was verified, and with what the examples were answered then: how many items, under which keys, which values. Where they are
/// others the verdict is `changed`: the site has other data by now, or another meaning; `recipe verify` accepts it. Drift puts a recipe out of service at once, as in a run, and so does the fifth failure in a row by
/// its own fault; `recipe verify` proves it again. A check counts as a run.
///
/// Hosts take turns, and of each one recipe is called at a time, when its limit lets it; who waits for a turn keeps nobody else waiting. Where
/// five of a host in a row get no connection, the rest of them is not asked. Thousands are shared out with --shard, a host to one part, and
/// an interrupted check goes on with --unchecked-for.
///
/// Exit code 0: all of them work. 1: at least one drifted or failed. 3: none did, but of some nobody knows, because of the
/// network, a limit, a missing key, or an example that the recipe does not have.
///
/// With --json: a list of {name, source, verdict, demoted, blame, error_code, error, similarity_bp, items, total_ms}.
#[derive(clap::Args)]
pub struct Args {
    /// Names of recipes: `commis list` has them
    #[arg(add = names::recipes(), required_unless_present = "all")]
    names: Vec<String>,
    /// Every verified recipe, your own and the library's
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// Recipes at a time; no more than [limits] runs allows (default: that)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    jobs: Option<u16>,
    /// This part alone, of N parts; all recipes of a host are in one
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<(u32, u32)>,
    /// Leave out what was run in the last so many hours: an interrupted check goes on
    #[arg(long, value_name = "HOURS", value_parser = clap::value_parser!(u16).range(1..))]
    unchecked_for: Option<u16>,
    /// Have the recipes called by the machines of this engine, which share the store: temporal, or temporal:QUEUE (default: commis); commis-worker has it
    #[arg(long, value_name = "NAME", requires = "store", conflicts_with = "jobs")]
    engine: Option<String>,
    /// With --engine: where machines have things in common
    #[arg(long, value_name = "URL", requires = "engine")]
    store: Option<String>,
    /// Send those that need a login of its site with this one of the vault, best the one that they were learned with
    #[arg(add = names::logins(), long = "as", value_name = "LOGIN", conflicts_with = "engine")]
    login: Option<String>,
    /// Write what was found to this file as JUnit XML, for CI
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Verdict {
    Ok,
    /// It works, and an example is answered otherwise than it was: with half of it, with another meaning, whatever is asked.
    Changed,
    Drifted,
    Failed,
    /// It could not be asked: that says nothing about it.
    Unknown,
}

/// What a check of one recipe showed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Row {
    pub(super) name: RecipeName,
    source: Option<Source>,
    pub(super) verdict: Verdict,
    /// Put out of service by this check.
    pub(super) demoted: Option<DemotionReason>,
    blame: Option<Blame>,
    pub(super) error_code: Option<&'static str>,
    pub(super) error: Option<String>,
    pub(super) similarity_bp: Option<u32>,
    pub(super) items: Option<u64>,
    /// Items that the site has, where its answer says so, and whether the answer holds all of them.
    pub(super) total: Option<u64>,
    pub(super) complete: Option<bool>,
    /// Milliseconds.
    pub(super) total_ms: Option<f64>,
}

pub async fn run(args: Args, global: &Global) -> Result<u8> {
    let place = wire::open(global).await?;
    let registry = wire::registry(&place.home)?;
    let names: Vec<RecipeName> = if args.all {
        // A file that cannot be read is not known to be well.
        let wanted = registry.list()?.into_iter().filter(|it| {
            it.recipe.as_ref().map_or(true, |recipe| recipe.status == Status::Verified)
        });
        wanted.filter_map(|it| RecipeName::new(it.name).ok()).collect()
    } else {
        args.names.into_iter().map(RecipeName::new).collect::<Result<_>>()?
    };
    let state = State::open(&place.home.artifacts);
    let mut all: Vec<CheckTarget> =
        names.into_iter().map(|it| CheckTarget::new(it, &registry)).collect();
    let known = all.len();
    if let Some((i, n)) = args.shard {
        all.retain(|it| shard_of(it.place(), n) == i - 1);
    }
    if let (Some(hours), Ok(state)) = (args.unchecked_for, &state) {
        let since = now_ms() - i64::from(hours) * HOUR_MS;
        let ran: BTreeMap<(String, String), i64> = state
            .all_health()?
            .into_iter()
            .map(|it| ((it.name, it.source), it.last_run_ms))
            .collect();
        all.retain(|it| {
            let source = it.source.map_or("", Source::as_str).to_owned();
            ran.get(&(it.name.to_string(), source)).is_none_or(|it| *it < since)
        });
    }
    if all.is_empty() {
        let none = if known == 0 {
            "there are no verified recipes"
        } else {
            "none of them is left to check"
        };
        wire::say(none);
    }
    let few = all.len() <= FEW;
    let caller = if few { run::caller(&place)? } else { run::quiet_caller(&place)? };
    let browser = &place.settings.browser;
    let pool = BrowserPool::new(Arc::clone(caller.policy()), browser.clone());
    let logged_in = match &args.login {
        Some(name) => {
            let login = Login::open(Vault::new(&place.home), &name.parse()?)?;
            Some(Sessions::new(pool.clone(), browser.session_ttl()).logged_in(login))
        }
        None => None,
    };
    let sessions = Sessions::new(pool, browser.session_ttl());
    let rows: Arc<Mutex<Vec<(usize, Row)>>> = Arc::default();
    let progress = CheckProgress::new(all.len());
    let progress_shown = progress.clone();
    let check =
        Checker { caller, sessions, logged_in, state, registry, progress: progress_shown, place };
    check.tell_estimate(&all);
    let jobs = check.jobs(args.jobs.map(usize::from), &all);
    let seen = Arc::clone(&rows);
    let wanted = all.len();
    let afar = match (&args.engine, &args.store) {
        (Some(engine), Some(store)) => Some(RemoteCheck {
            shelf: stores::open(store, global, &check.place.home)?,
            engine: stores::engine(engine, global)?,
        }),
        _ => None,
    };
    let work = move || async move {
        let ended = match &afar {
            None => check.all(&all, jobs, &seen).await,
            Some(it) => check.afar(it, &all, &seen).await,
        };
        check.sessions.close().await;
        ended
    };
    let ended = wire::apart("what was seen is noted; --unchecked-for leaves it out", work).await;
    progress.finish();
    let mut rows = std::mem::take(&mut *rows.lock().unwrap_or_else(PoisonError::into_inner));
    rows.sort_by_key(|it| it.0);
    let rows: Vec<Row> = rows.into_iter().map(|it| it.1).collect();
    let interrupted = match ended {
        Err(err) if err.code() == Code::Interrupted => true,
        ended => ended.map(|()| false)?,
    };
    if let Some(file) = &args.junit {
        files::save(file, junit::report(&rows).as_bytes())?;
    }
    if args.json {
        wire::out(&rows);
    } else if !rows.is_empty() {
        table(&rows);
    }
    if interrupted {
        let n = rows.len();
        wire::say(&format!(
            "interrupted: {n} of {wanted} checked; --unchecked-for leaves them out"
        ));
        return Ok(Class::Interrupted.exit_code());
    }
    Ok(exit_code(rows.iter().map(|it| it.verdict)))
}

/// A recipe that is to be checked.
pub(super) struct CheckTarget {
    pub(super) name: RecipeName,
    source: Option<Source>,
    /// Empty when the recipe cannot be read.
    pub(super) host: String,
    /// Requests of a check.
    calls: u64,
}

impl CheckTarget {
    fn new(name: RecipeName, registry: &Registry) -> Self {
        let held = registry.get(&name).ok();
        let host = held.as_ref().and_then(|it| {
            url::Url::parse(&it.recipe.request.url).ok()?.host_str().map(str::to_owned)
        });
        let examples = held.as_ref().and_then(|it| it.recipe.verification.as_ref());
        let calls = examples.map_or(1, |it| it.examples.len().max(1)) as u64;
        Self { name, source: held.map(|it| it.source), host: host.unwrap_or_default(), calls }
    }

    /// What decides of which part it is.
    fn place(&self) -> &str {
        if self.host.is_empty() { self.name.as_str() } else { &self.host }
    }
}

fn exit_code(verdicts: impl Iterator<Item = Verdict>) -> u8 {
    verdicts.fold(0, |code, it| match (code, it) {
        (1, _) | (_, Verdict::Changed | Verdict::Drifted | Verdict::Failed) => 1,
        (_, Verdict::Unknown) => 3,
        (code, Verdict::Ok) => code,
    })
}

/// A recipe and the values that it is called with; else what is known without a call.
pub(super) type PreparedCall =
    std::result::Result<(RegisteredRecipe, BTreeMap<String, String>), Row>;

pub(super) struct Checker {
    caller: Caller,
    sessions: Sessions,
    /// For recipes that need a login.
    logged_in: Option<Sessions>,
    state: Result<State>,
    registry: Registry,
    pub(super) progress: CheckProgress,
    place: Environment,
}

impl Checker {
    /// How long it takes at least, by the host that is asked most, where that is worth saying.
    fn tell_estimate(&self, all: &[CheckTarget]) {
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
    fn jobs(&self, wanted: Option<usize>, all: &[CheckTarget]) -> usize {
        let most = self.place.settings.limits.runs as usize;
        let Some(wanted) = wanted else { return most };
        let limits = self.caller.limits();
        if wanted > most && all.iter().any(|it| limits.max_concurrent_runs(&it.host).is_some()) {
            wire::say(&format!("info: {most} at a time, as [limits] runs says"));
            return most;
        }
        wanted
    }

    /// Hosts in turn, the recipes of one host one after the other, each when its turn has come.
    async fn all(
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
                            keep(i, it.not_asked(code));
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
        let (held, values) = match self.ready(name)? {
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
            row = row.with(example, given.as_ref(), ended);
        }
        if held.recipe.transport().uses_session() {
            // Each is checked in a session of its own; thousands of pages are not kept open.
            sessions.forget().await;
        }
        Ok(row)
    }

    /// The recipe and its example, or the row of one that is not called. Fails with what concerns all of them.
    pub(super) fn ready(&self, name: &RecipeName) -> Result<PreparedCall> {
        let held = match self.registry.get(name) {
            Ok(it) => it,
            Err(err) if err.code() == Code::ArtifactIo => return Err(err),
            Err(err) => return Ok(Err(Row::new(name, None, Verdict::Failed).because(&err))),
        };
        let row = |verdict| Row::new(name, Some(held.source), verdict);
        if held.recipe.status != Status::Verified {
            return Ok(Err(row(Verdict::Failed).because(&refusal_error(&held.recipe))));
        }
        if !held.recipe.trust.is_known_to_read()
            && let Err(why) = recipe_effect(&held.recipe, false).into_result()
        {
            let why = format!("it was not learned here, and {why}");
            return Ok(Err(row(Verdict::Unknown).because(&Error::new(Code::RecipeMayChange, why))));
        }
        let Some(values) = held.recipe.example() else {
            let err = Error::new(Code::ParamInvalid, "a required parameter has no example");
            return Ok(Err(row(Verdict::Unknown).because(&err)));
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
            run::borrowed(&self.state),
            (&held.recipe, held.source),
            ended.as_ref().map_err(Error::code),
            &now(),
        );
        self.progress.aside(|| {
            run::tell_demotion(name, &noted);
            if let Some(err) = &noted.not_counted {
                wire::say(&clean(&format!("warning: the check of {name} was not counted: {err}")));
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
            Err(err) => row.because(&err),
        }
    }
}

impl CheckTarget {
    /// Its host did not answer others.
    fn not_asked(&self, code: &'static str) -> Row {
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

impl Row {
    pub(super) fn new(name: &RecipeName, source: Option<Source>, verdict: Verdict) -> Self {
        Self {
            name: name.clone(),
            source,
            verdict,
            demoted: None,
            blame: None,
            error_code: None,
            error: None,
            similarity_bp: None,
            items: None,
            total: None,
            complete: None,
            total_ms: None,
        }
    }

    /// It works, and something is not as it was.
    fn changed(self, how: Vec<String>) -> Self {
        if how.is_empty() {
            return self;
        }
        Self { verdict: Verdict::Changed, error: Some(how.join("; ")), ..self }
    }

    /// What a further example adds to it. `given` is what the first was answered.
    fn with(
        self,
        example: &ExampleAnswer,
        given: Option<&Value>,
        ended: Result<RecipeRunResult>,
    ) -> Self {
        let values: Vec<String> = example.values.values().map(|it| format!("{it:?}")).collect();
        let values = values.join(", ");
        match ended {
            Ok(it) if it.success && given == Some(&it.data) => {
                self.changed(vec![format!("{values} is answered as the first example is")])
            }
            Ok(it) if it.success => {
                let how = example.differences(&it.data).into_iter();
                self.changed(how.map(|it| format!("{values}: {it}")).collect())
            }
            // What the network did says nothing of it.
            Ok(it) if it.retryable => self,
            Ok(it) => Self {
                verdict: Verdict::Failed,
                error_code: it.error_code,
                error: it.error.map(|it| format!("{values}: {it}")),
                ..self
            },
            Err(_) => self,
        }
    }

    pub(super) fn because(self, err: &Error) -> Self {
        let error = commis_redact::message(&err.to_string());
        Self { error_code: Some(err.code().as_str()), error: Some(error), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_no_failure_and_no_success() {
        use Verdict::{Changed, Drifted, Failed, Ok, Unknown};
        for (verdicts, code) in [
            (&[][..], 0),
            (&[Ok, Ok], 0),
            (&[Ok, Unknown, Ok], 3),
            (&[Unknown, Drifted, Ok], 1),
            (&[Failed, Unknown], 1),
            (&[Ok, Changed], 1),
        ] {
            assert_eq!(exit_code(verdicts.iter().copied()), code);
        }
    }
}
