//! Speed measured side by side: a recipe's run beside the same bytes through the same client alone.
//!
//! The test web runs in a process of its own; all arms of a scenario take turns on one thread here, as in `recipe run`.
//! Nothing is asserted about times: what is compared are ratios, with the baseline's.

mod allocations;
mod baseline;
pub mod har;
mod measure;
pub mod recorder;
mod reference_client;
mod report;
mod scenarios;
mod site;
mod stats;

use std::sync::Arc;

use serde::Serialize;

use self::{
    allocations::Allocations,
    measure::PreparedScenario,
    scenarios::{SCENARIOS, Scenario},
    site::Site,
    stats::{Figures, PerArm, Ratio, Stages},
};
pub use self::{
    baseline::{Baseline, Regression},
    report::page,
};
use commis_base::{
    error::{Code, Error, Result},
    settings::{Home, Settings},
};
use commis_net::egress::EgressPolicy;
use commis_runner::call::Caller;

/// A scenario above its limits is measured this often in all: a change of the program is slower every time, a busy machine
/// is not.
const ATTEMPTS: usize = 3;
/// Rounds of a scenario with many runs at once are fewer: each holds many samples.
const FEWER: usize = 8;

pub const PROFILE: &str = if cfg!(debug_assertions) { "dev" } else { "release" };

/// What to measure.
pub struct Options<'a> {
    /// Names of scenarios; empty: all.
    pub only: &'a [String],
    /// Rounds of each.
    pub runs: usize,
    /// What to hold it to.
    pub baseline: Option<&'a Baseline>,
}

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct Benchmark {
    pub version: &'static str,
    /// `dev` or `release`.
    pub profile: &'static str,
    pub scenarios: Vec<ScenarioResult>,
    /// Present where there was a baseline.
    pub slower: Option<Vec<Regression>>,
}

/// One scenario. Times are microseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ScenarioResult {
    pub scenario: String,
    pub what: &'static str,
    /// Samples of each arm.
    pub runs: usize,
    pub at_once: usize,
    /// Decoded body.
    pub bytes: usize,
    /// End to end. With several runs at once each waits for the others.
    pub wall_us: PerArm,
    /// Of this process; the test web has its own.
    pub cpu_us: PerArm,
    pub to_floor: Ratio,
    pub to_parse: Ratio,
    pub stages_us: Stages,
    /// Runs on a connection that was already open.
    pub reused_connections: usize,
    /// Runs whose recipe was compiled already.
    pub compiled_before: u64,
    /// In a build that counts them.
    pub allocations: Option<Allocations>,
    #[serde(skip)]
    figures: Figures,
}

/// Measures. `progress` is told of each scenario before it starts.
///
/// Fails with `USAGE` for an unknown scenario or one that the baseline lacks, and with what a run fails with.
pub fn run(options: &Options<'_>, progress: &dyn Fn(&str)) -> Result<Benchmark> {
    let chosen = choose(options.only)?;
    for it in &chosen {
        // Before minutes are spent.
        options.baseline.map(|kept| kept.ratios(PROFILE, it.name)).transpose()?;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|err| Error::new(Code::Internal, "cannot start the runtime").source(err))?;
    let site = runtime.block_on(Site::start())?;
    let mut settings = Settings::default();
    settings.egress.test_hosts = vec![format!("*.test={}", site.addr)];
    settings.egress.test_ca_pem = Some(site.ca_pem.clone());
    let policy = Arc::new(EgressPolicy::new(&settings.egress)?);
    // Test hosts have no bucket, so nothing is kept there.
    let home = Home::find(Some(&std::env::temp_dir()))?;
    let caller = Caller::new(&home, &settings, policy, Box::new(|_| ()))?;
    let mut scenarios = Vec::new();
    let mut slower = options.baseline.map(|_| Vec::new());
    for scenario in chosen {
        progress(scenario.name);
        let prepared = runtime.block_on(PreparedScenario::new(scenario, &site, &caller))?;
        let once = || measured(scenario, &prepared, &runtime, options.runs);
        let mut out = once()?;
        if let (Some(kept), Some(slower)) = (options.baseline, &mut slower) {
            let kept = kept.ratios(PROFILE, scenario.name)?;
            let mut found = baseline::slower(kept, &out);
            for _ in 1..ATTEMPTS {
                if found.is_empty() {
                    break;
                }
                progress(scenario.name);
                out = once()?;
                found = baseline::slower(kept, &out);
            }
            slower.extend(found);
        }
        scenarios.push(out);
    }
    Ok(Benchmark { version: env!("CARGO_PKG_VERSION"), profile: PROFILE, scenarios, slower })
}

fn choose(only: &[String]) -> Result<Vec<&'static Scenario>> {
    if let Some(name) = only.iter().find(|name| !SCENARIOS.iter().any(|it| it.name == **name)) {
        let known: Vec<&str> = SCENARIOS.iter().map(|it| it.name).collect();
        return Err(Error::new(Code::Usage, format!("there is no scenario `{name}`"))
            .hint(format!("scenarios are {}", known.join(", "))));
    }
    let wanted = |it: &&Scenario| only.is_empty() || only.iter().any(|name| name == it.name);
    Ok(SCENARIOS.iter().filter(wanted).collect())
}

fn measured(
    scenario: &Scenario,
    prepared: &PreparedScenario<'_>,
    runtime: &tokio::runtime::Runtime,
    runs: usize,
) -> Result<ScenarioResult> {
    let rounds = if scenario.at_once == 1 { runs } else { runs.div_ceil(FEWER) };
    let (figures, compiled_before) = runtime.block_on(prepared.measure(rounds))?;
    let (to_floor, to_parse) = figures.ratios();
    Ok(ScenarioResult {
        scenario: scenario.name.to_owned(),
        what: scenario.what,
        runs: figures.run.len(),
        at_once: scenario.at_once,
        bytes: prepared.bytes,
        wall_us: figures.wall(),
        cpu_us: figures.cpu(),
        to_floor,
        to_parse,
        stages_us: figures.stages(),
        reused_connections: figures.reused(),
        compiled_before,
        allocations: prepared.allocations(runtime),
        figures,
    })
}
