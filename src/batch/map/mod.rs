//! One recipe over many inputs: a line in, a line out.
//!
//! What runs share they share here: the compiled recipe, the client and its connections, an open page. A line that fails touches no
//! other. What concerns all of them stops: the recipe is out of service, the network or the site is gone, this machine cannot go on.
//!
//! A single run puts its recipe out of service when the answer drifts. Among many inputs there are odd ones, so the recipe's own
//! example is asked first: while that still works, it is the input's doing.

pub mod chunk;
mod input;
pub mod remote;
mod resume;

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

use serde::Serialize;
use serde_json::Value;
use tokio::{sync::mpsc, task::JoinSet};

pub use self::{
    input::{Input, read},
    resume::CompletedLines,
};
use commis_artifacts::store::now;
use commis_base::error::{Class, Code, Error, Result};
use commis_learn::{Fallback, HealthUpdate, RecipeRunner, Sessions, note};
use commis_recipe::{
    model::{Recipe, Status},
    registry::{Registry, Source},
    status::MAX_FAILURES,
};
use commis_runner::{RecipeRunResult, call::Caller};
use commis_state::{Blame, State, blame};

/// After Ctrl-C, lines that were begun have so long to end.
const GRACE: Duration = Duration::from_secs(5);
/// In order, a line that takes long lets so many that come after it be done, for each job.
const AHEAD: usize = 16;
/// So many lines in a row that the network or the site failed: it is no matter of lines.
pub const TROUBLE: u32 = 50;
/// So many of them look whether a browser gets a connection.
const PAGES: u32 = 3;
/// Pages of a list that a line follows, where the task asks for all.
const PAGES_OF_A_LINE: u64 = 100;
/// A site that says "not now" is heard so often for one line, and for so long.
const ASKED: u32 = 3;
const LONGEST: Duration = Duration::from_secs(15 * 60);
/// An example that works speaks for the recipe for so long.
const GOOD_FOR: Duration = Duration::from_secs(60);

/// What all lines share.
pub struct MapContext {
    pub recipe: Recipe,
    pub source: Source,
    pub caller: Caller,
    pub sessions: Sessions,
    /// Where runs are counted and recipes put out of service; another machine has it where this one only runs lines.
    pub health_store: Option<HealthStore>,
    /// Nothing is asked before then.
    hold: Mutex<Option<Instant>>,
    /// At fault without one that worked in between.
    in_a_row: AtomicU32,
    /// Without a connection, the same.
    lost: AtomicU32,
    /// When the example last worked, since lines are at fault.
    proven: tokio::sync::Mutex<Option<Instant>>,
}

/// What runs say of a recipe is written there.
pub struct HealthStore {
    pub registry: Registry,
    pub state: Result<State>,
}

/// Whose a failure is that may be the recipe's.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Nobody looked yet.
    Perhaps,
    /// The recipe's example works, or nobody knows whether it does.
    Input,
    /// Its example fails, too.
    Recipe,
}

#[derive(Clone, Copy)]
pub struct Options {
    /// Lines at once.
    pub jobs: usize,
    /// Results come in the order of the inputs, not in that in which they end.
    pub ordered: bool,
}

/// A result. It has data or an error, never both.
#[derive(Serialize, schemars::JsonSchema)]
pub struct MapLine {
    /// Of the inputs, from 1.
    line: u64,
    /// What was given, without what seems to be a secret; `null` where it could not be read.
    input: Value,
    #[serde(flatten)]
    found: Option<MappedData>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<LineError>,
}

/// The data of a line, and what is known to be missing in it.
#[derive(Serialize, schemars::JsonSchema)]
struct MappedData {
    data: Value,
    /// `false` where the list goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    complete: Option<bool>,
    /// Items that the site says there are, where `data` does not hold all.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
    /// Why the data may not be what was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct LineError {
    code: &'static str,
    message: String,
    hint: Option<String>,
    retryable: bool,
}

/// What came of all lines.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct Totals {
    /// Results of this run.
    pub lines: u64,
    pub ok: u64,
    pub failed: u64,
    /// How many failed, by error code.
    pub errors: BTreeMap<&'static str, u64>,
    /// Lines that an earlier run had done, and how many of those had failed.
    pub before: u64,
    pub before_failed: u64,
    pub interrupted: bool,
    /// Why lines are left that could have been run.
    #[schemars(with = "Option<String>")]
    pub stopped_by: Option<Code>,
    pub trouble: Option<String>,
    pub ms: u64,
    /// Bytes of the inputs up to the last line that was begun.
    #[serde(skip)]
    pub read: u64,
}

/// Where results go.
pub trait LineSink {
    /// One JSON object on one line. False when nobody reads any more.
    fn write_line(&mut self, json: &str) -> Result<bool>;
}

/// How a line ended.
struct LineOutcome {
    result: Result<MappedData, LineError>,
    blame: Option<Blame>,
    /// It concerns all lines.
    stop: Option<(Code, String)>,
}

impl MapContext {
    pub fn new(
        (recipe, source): (Recipe, Source),
        (caller, sessions): (Caller, Sessions),
        health_store: Option<HealthStore>,
    ) -> Self {
        let state = health_store.as_ref().and_then(|it| it.state.as_ref().ok());
        let health =
            state.and_then(|it| it.health(recipe.name.as_str(), source.as_str()).ok().flatten());
        let in_a_row = health.map_or(0, |it| it.failed_in_a_row);
        Self {
            recipe,
            source,
            caller,
            sessions,
            health_store,
            hold: Mutex::default(),
            in_a_row: AtomicU32::new(in_a_row),
            lost: AtomicU32::new(0),
            proven: tokio::sync::Mutex::default(),
        }
    }

    fn runs(&self) -> RecipeRunner<'_> {
        RecipeRunner { caller: &self.caller, sessions: &self.sessions, tell: &log_progress }
    }

    async fn run_line(&self, params: &BTreeMap<String, String>) -> LineOutcome {
        let mut asked = 0;
        let ended = loop {
            self.wait_for_release().await;
            let runs = self.runs();
            let ended =
                runs.call_usual(&self.recipe, params, self.fallback(), PAGES_OF_A_LINE).await;
            self.count_lost(&ended);
            match ended.as_ref().ok().and_then(|it| retry_pause(it, &mut asked)) {
                Some(it) => self.pause_for(it),
                None => break ended,
            }
        };
        self.judge_outcome(ended).await
    }

    /// A page is tried where the client alone gets no connection, but not by line after line.
    fn fallback(&self) -> Fallback {
        let lost = self.lost.load(Ordering::Relaxed);
        if lost < PAGES { Fallback::Allowed } else { Fallback::Never }
    }

    fn count_lost(&self, ended: &Result<RecipeRunResult>) {
        let code = ended.as_ref().ok().and_then(|it| Code::from_wire(it.error_code?));
        if matches!(code, Some(Code::Timeout | Code::ConnectFailed)) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        } else {
            self.lost.store(0, Ordering::Relaxed);
        }
    }

    /// Waits as long as nothing is to be asked.
    async fn wait_for_release(&self) {
        loop {
            let until = *self.hold.lock().unwrap_or_else(PoisonError::into_inner);
            match until {
                Some(it) if it > Instant::now() => tokio::time::sleep_until(it.into()).await,
                _ => return,
            }
        }
    }

    fn pause_for(&self, pause: Duration) {
        let until = Some(Instant::now() + pause);
        let mut hold = self.hold.lock().unwrap_or_else(PoisonError::into_inner);
        *hold = (*hold).max(until);
    }

    async fn judge_outcome(&self, ended: Result<RecipeRunResult>) -> LineOutcome {
        let code = match &ended {
            Ok(it) if it.success => None,
            Ok(it) => Some(it.error_code.and_then(Code::from_wire).unwrap_or(Code::Internal)),
            Err(err) => Some(err.code()),
        };
        let keyed = self.recipe.auth.is_some() || self.recipe.login.is_some();
        let blame = code.map(|it| blame(it, keyed));
        let fault = match (code, blame) {
            (None, _) => {
                self.in_a_row.store(0, Ordering::Relaxed);
                Fault::Perhaps
            }
            (Some(code), Some(Blame::Recipe)) => self.find_fault(code).await,
            _ => Fault::Perhaps,
        };
        let (ended, blame) = match ended {
            Ok(mut it) if !it.blank_fields.is_empty() && self.example_works().await => {
                it.accept_blank_fields();
                (Ok(it), None)
            }
            it => (it, blame),
        };
        let mut stop = code.filter(|it| concerns_all(*it)).map(|it| {
            let why = match &ended {
                Ok(it) => it.error.clone().unwrap_or_default(),
                Err(err) => commis_redact::message(&err.to_string()),
            };
            (it, why)
        });
        if fault != Fault::Input && stop.is_none() {
            let noted = self.note(ended.as_ref().map_err(Error::code));
            let name = &self.recipe.name;
            let why = match noted.demoted {
                Some(it) => Some(format!("{name} is deprecated from now on: {}", it.describe())),
                None if self.health_store.is_none() && fault == Fault::Recipe => {
                    Some(format!("{name} does not work any more: its example fails, too"))
                }
                None => None,
            };
            stop = why.map(|it| (Code::RecipeNotVerified, it));
        }
        let result = match ended {
            Ok(mut it) if it.success => {
                // Texts of a page have what they are beside them, as in a run.
                it.warnings.extend(self.recipe.response.add_values(&mut it.data));
                Ok(MappedData {
                    data: it.data,
                    complete: it.complete.filter(|it| !it),
                    total: it.total.filter(|_| it.complete == Some(false)),
                    warnings: it.warnings,
                })
            }
            Ok(it) => Err(LineError {
                code: it.error_code.unwrap_or(Code::Internal.as_str()),
                message: commis_redact::message(it.error.as_deref().unwrap_or_default()),
                hint: it.hint,
                retryable: it.retryable,
            }),
            Err(err) => Err(LineError::from_error(&err)),
        };
        LineOutcome { result, blame, stop }
    }

    fn note(&self, ended: Result<&RecipeRunResult, Code>) -> HealthUpdate {
        let Some(HealthStore { registry, state }) = &self.health_store else {
            return HealthUpdate::default();
        };
        let state = state.as_ref().map_err(|err| Error::new(err.code(), err.to_string()));
        note(registry, state, (&self.recipe, self.source), ended, &now())
    }

    /// Whether the recipe's example worked a short while ago.
    async fn example_works(&self) -> bool {
        self.proven.lock().await.is_some_and(|it| it.elapsed() < GOOD_FOR)
    }

    /// Whose it is: the recipe's own example says so, asked when the recipe would be put out of service otherwise.
    async fn find_fault(&self, code: Code) -> Fault {
        if self.recipe.status != Status::Verified {
            return Fault::Perhaps;
        }
        let in_a_row = self.in_a_row.fetch_add(1, Ordering::Relaxed) + 1;
        if code != Code::ShapeDrift && in_a_row < MAX_FAILURES {
            return Fault::Perhaps;
        }
        let mut proven = self.proven.lock().await;
        if proven.is_some_and(|it| it.elapsed() < GOOD_FOR) {
            return Fault::Input;
        }
        let Some(example) = self.recipe.example() else { return Fault::Recipe };
        self.wait_for_release().await;
        let ended = self.runs().call(&self.recipe, &example, Fallback::Never).await;
        let Ok(it) = ended else { return Fault::Input };
        if it.success && !(self.recipe.had_items() && it.items == Some(0)) {
            *proven = Some(Instant::now());
            self.in_a_row.store(0, Ordering::Relaxed);
            self.note(Ok(&it));
            return Fault::Input;
        }
        let code = it.error_code.and_then(Code::from_wire);
        let its = code.is_none_or(|it| blame(it, self.recipe.auth.is_some()) == Blame::Recipe);
        if its { Fault::Recipe } else { Fault::Input }
    }
}

/// What calls say of pauses and pages would be a line for each.
fn log_progress(text: &str) {
    tracing::debug!(text, "map");
}

/// How long nothing is asked after that, and then it is asked again: our own limits are waited for however long it takes, a
/// site's word for a while.
fn retry_pause(result: &RecipeRunResult, asked: &mut u32) -> Option<Duration> {
    let code = result.error_code.and_then(Code::from_wire)?;
    let said = result.retry_after_sec.map(Duration::from_secs);
    match (code, result.status_code) {
        (Code::RateLimited, None) => Some(said.unwrap_or(Duration::from_secs(1))),
        (Code::RateLimited | Code::ServerError, _) if *asked < ASKED => {
            let pause = if code == Code::RateLimited {
                said.or(Some(Duration::from_secs(5)))
            } else {
                said
            };
            *asked += 1;
            pause.filter(|it| *it <= LONGEST)
        }
        _ => None,
    }
}

/// Whether each further line would fail with it.
fn concerns_all(code: Code) -> bool {
    let here = code.class() == Class::Environment && blame(code, false) == Blame::Machine;
    here && !matches!(code, Code::BrowserFailed)
        || matches!(
            code,
            Code::AuthEnvMissing
                | Code::AuthEnvInvalid
                | Code::AuthNotAllowed
                | Code::RecipeInvalid
                | Code::MethodNotAllowed
                | Code::NetworkDisabled
        )
}

/// Runs lines as they come until there are no more, or `stop` says so. What was begun is ended, and told to `sink`.
///
/// Fails as `sink` does, and with what reading the inputs fails with; all else is in the totals.
pub async fn run(
    work: &Arc<MapContext>,
    mut inputs: mpsc::Receiver<Result<Input>>,
    options: Options,
    sink: &mut (dyn LineSink + Send),
    tell: &mut (dyn FnMut(&Totals) + Send),
    stop: impl Future<Output = ()>,
) -> Result<Totals> {
    let began = Instant::now();
    let mut run = Run {
        totals: Totals::default(),
        order: options.ordered.then(ReorderBuffer::default),
        trouble: 0,
    };
    let mut running = JoinSet::new();
    let mut stop = std::pin::pin!(stop);
    let mut more = true;
    let mut until: Option<Instant> = None;
    loop {
        if !more && running.is_empty() {
            break;
        }
        let ahead = run.order.as_ref().map_or(0, |it| it.waiting.len());
        let room = more && running.len() < options.jobs && ahead < options.jobs * AHEAD;
        let late = async {
            match until {
                Some(it) => tokio::time::sleep_until(it.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = &mut stop, if until.is_none() => {
                (more, until) = (false, Some(Instant::now() + GRACE));
                run.totals.interrupted = true;
                inputs.close();
            }
            () = late => {
                running.abort_all();
                break;
            }
            Some(end) = running.join_next(), if !running.is_empty() => {
                let (input, ended) = match end {
                    Ok(it) => it,
                    Err(err) if err.is_cancelled() => continue,
                    Err(err) => return Err(Error::new(Code::Internal, "a line's run panicked").source(err)),
                };
                if !run.finish_line(input, ended, sink)? {
                    (more, until) = (false, until.or(Some(Instant::now() + GRACE)));
                    inputs.close();
                }
                run.totals.ms = began.elapsed().as_millis() as u64;
                tell(&run.totals);
            }
            next = inputs.recv(), if room => match next {
                None => more = false,
                Some(input) => {
                    let mut input = input?;
                    run.totals.read = input.read;
                    if let Some(it) = &mut run.order {
                        it.waiting.push_back((input.line, None));
                    }
                    let work = Arc::clone(work);
                    running.spawn(async move {
                        let params = std::mem::replace(&mut input.params, Ok(BTreeMap::new()));
                        let ended = match params {
                            Ok(params) => work.run_line(&params).await,
                            Err(err) => LineOutcome { result: Err(LineError::from_error(&err)), blame: None, stop: None },
                        };
                        (input, ended)
                    });
                }
            },
        }
    }
    run.totals.ms = began.elapsed().as_millis() as u64;
    Ok(run.totals)
}

struct Run {
    totals: Totals,
    order: Option<ReorderBuffer>,
    /// Lines in a row that the network or the site failed.
    trouble: u32,
}

/// Lines that were begun, and results that wait for those before them.
#[derive(Default)]
struct ReorderBuffer {
    waiting: VecDeque<(u64, Option<String>)>,
}

impl Run {
    /// False when no further line is to be begun.
    fn finish_line(
        &mut self,
        input: Input,
        ended: LineOutcome,
        sink: &mut (dyn LineSink + Send),
    ) -> Result<bool> {
        let totals = &mut self.totals;
        let number = input.line;
        let stop = ended.stop.is_some();
        if let Some((code, why)) = ended.stop {
            totals.stopped_by.get_or_insert(code);
            totals.trouble.get_or_insert(why);
            // It is none of this line's: done again, it may end otherwise.
            if code != Code::RecipeNotVerified {
                if let Some(it) = &mut self.order {
                    it.waiting.retain(|it| it.0 != number);
                }
                return Ok(false);
            }
        }
        let (found, error) = match ended.result {
            Ok(it) => (Some(it), None),
            Err(it) => (None, Some(it)),
        };
        totals.lines += 1;
        match &error {
            None => totals.ok += 1,
            Some(it) => {
                totals.failed += 1;
                *totals.errors.entry(it.code).or_default() += 1;
            }
        }
        let gone = matches!(ended.blame, Some(Blame::Network | Blame::Site | Blame::Limits));
        self.trouble = if gone { self.trouble + 1 } else { 0 };
        if self.trouble == TROUBLE {
            totals.stopped_by =
                totals.stopped_by.or(error.as_ref().and_then(|it| Code::from_wire(it.code)));
            let why = format!("the last {TROUBLE} lines failed by the network or the site");
            totals.trouble.get_or_insert(why);
        }
        let line = MapLine { line: number, input: input.shown, found, error };
        let json = serde_json::to_string(&line)
            .map_err(|err| Error::new(Code::Internal, "a result is not JSON").source(err))?;
        let read = match &mut self.order {
            None => sink.write_line(&json)?,
            Some(order) => order.push(number, json, sink)?,
        };
        Ok(read && !stop && self.trouble < TROUBLE)
    }
}

impl ReorderBuffer {
    fn push(
        &mut self,
        number: u64,
        json: String,
        sink: &mut (dyn LineSink + Send),
    ) -> Result<bool> {
        if let Some(it) = self.waiting.iter_mut().find(|it| it.0 == number) {
            it.1 = Some(json);
        }
        while let Some((_, Some(json))) = self.waiting.front() {
            if !sink.write_line(json)? {
                return Ok(false);
            }
            self.waiting.pop_front();
        }
        Ok(true)
    }
}

impl LineError {
    fn from_error(err: &Error) -> Self {
        Self {
            code: err.code().as_str(),
            message: commis_redact::message(&err.to_string()),
            hint: err.hint_text().map(commis_redact::message),
            retryable: err.retryable(),
        }
    }
}

impl Totals {
    /// 0 when all lines came to data, 1 when one failed or was not run.
    pub fn exit_code(&self) -> u8 {
        match self.stopped_by {
            _ if self.interrupted => Class::Interrupted.exit_code(),
            Some(Code::RecipeNotVerified) => 1,
            Some(it) => it.class().exit_code(),
            None => u8::from(self.failed + self.before_failed > 0),
        }
    }

    /// `980 ok, 20 failed (HTTP_STATUS 17, TIMEOUT 3), 500 done before`
    pub fn summary(&self) -> String {
        let mut out = vec![format!("{} ok", self.ok)];
        if self.failed > 0 {
            let mut all: Vec<_> = self.errors.iter().collect();
            all.sort_by_key(|it| std::cmp::Reverse(it.1));
            let all: Vec<String> = all.iter().map(|(code, n)| format!("{code} {n}")).collect();
            out.push(format!("{} failed ({})", self.failed, all.join(", ")));
        }
        if self.before > 0 {
            out.push(format!("{} done before", self.before));
        }
        out.join(", ")
    }

    /// Of this run.
    pub fn lines_per_second(&self) -> f64 {
        if self.ms == 0 { 0.0 } else { self.lines as f64 * 1000.0 / self.ms as f64 }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
