//! What a run cost beside its floor, kept; and when a change of it is called slower.
//!
//! Times of one machine say nothing on another, and little on the same one an hour later; ratios to a floor measured in the
//! same seconds do. Each is kept by build profile.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use super::ScenarioResult;
use commis_base::{
    error::{Code, Error, Result},
    files::{self, read_bounded},
};

const VERSION: u32 = 1;
/// What may be slower than it was.
const TOLERANCE: f64 = 1.20;
/// How much a ratio of one unchanged build moved in four runs on two cores, busy and less so. Beside the floor alone the most:
/// it waits and does not work, and waiting is what another program's work changes.
const NOISE_FLOOR: f64 = 1.35;
const NOISE: f64 = 1.15;

/// Absolute budgets of one run (seed 5.1), milliseconds.
const WALL_P50: f64 = 250.0;
const WALL_P95: f64 = 800.0;
const CPU_P50: f64 = 50.0;
const CPU_P95: f64 = 150.0;

/// `ci/bench-baseline.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    version: u32,
    /// By build profile, then by scenario.
    profiles: BTreeMap<String, BTreeMap<String, BaselineRatios>>,
}

/// Ratios of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineRatios {
    /// End to end at p50, to the floor.
    pub floor: f64,
    /// End to end at p50, to the floor and one parse.
    pub parse: f64,
    /// CPU time at p50, to that of the floor and one parse.
    pub cpu: f64,
}

/// One figure above what is allowed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regression {
    pub scenario: String,
    /// Which figure, and its unit where it is no ratio.
    pub what: &'static str,
    /// In the baseline; absent for an absolute budget.
    pub was: Option<f64>,
    pub now: f64,
    pub allowed: f64,
}

impl BaselineRatios {
    pub fn from_result(it: &ScenarioResult) -> Self {
        Self { floor: it.to_floor.p50, parse: it.to_parse.p50, cpu: it.to_parse.cpu }
    }
}

impl Default for Baseline {
    fn default() -> Self {
        Self { version: VERSION, profiles: BTreeMap::new() }
    }
}

impl Baseline {
    /// Fails with `USAGE` when there is none, or it does not parse.
    pub fn read(path: &Path) -> Result<Self> {
        let wrong = |why: String| {
            Error::new(Code::Usage, format!("{}: {why}", path.display()))
                .hint("`bench --update-baseline` writes a new one; remove this one first")
        };
        let out: Self = serde_json::from_slice(&read_bounded(path, 1 << 20)?)
            .map_err(|err| wrong(err.to_string()))?;
        if out.version != VERSION {
            return Err(wrong(format!("version {} is not {VERSION}", out.version)));
        }
        Ok(out)
    }

    /// Fails with `ARTIFACT_IO`.
    pub fn write(&self, path: &Path) -> Result<()> {
        let mut bytes = serde_json::to_vec_pretty(self)
            .map_err(|err| Error::new(Code::Internal, "baseline").source(err))?;
        bytes.push(b'\n');
        let (folder, name) = files::split_path(path);
        files::write_atomic(folder, &name, &bytes)
    }

    /// Takes over what was measured; scenarios that were not stay as they are.
    pub fn update(&mut self, profile: &str, measured: &[ScenarioResult]) {
        let kept = self.profiles.entry(profile.to_owned()).or_default();
        kept.extend(
            measured.iter().map(|it| (it.scenario.clone(), BaselineRatios::from_result(it))),
        );
    }

    /// Fails with `USAGE` when this scenario was not kept for this profile.
    pub fn ratios(&self, profile: &str, scenario: &str) -> Result<BaselineRatios> {
        let found = self.profiles.get(profile).and_then(|it| it.get(scenario));
        found.copied().ok_or_else(|| {
            Error::new(
                Code::Usage,
                format!("the baseline has no `{scenario}` of a {profile} build"),
            )
            .hint("`bench --update-baseline` with this build adds it")
        })
    }
}

/// What is slower than the baseline and its tolerance allow, or than a budget.
pub fn slower(was: BaselineRatios, measured: &ScenarioResult) -> Vec<Regression> {
    let now = BaselineRatios::from_result(measured);
    let ratios = [
        ("p50 to floor", was.floor, now.floor, NOISE_FLOOR),
        ("p50 to floor and parse", was.parse, now.parse, NOISE),
        ("cpu to floor and parse", was.cpu, now.cpu, NOISE),
    ];
    let budgets = [
        ("p50, ms", measured.wall_us.run.p50, WALL_P50),
        ("p95, ms", measured.wall_us.run.p95, WALL_P95),
        ("cpu p50, ms", measured.cpu_us.run.p50, CPU_P50),
        ("cpu p95, ms", measured.cpu_us.run.p95, CPU_P95),
    ];
    let ratios =
        ratios.map(|(what, was, now, noise)| (what, Some(was), now, was * TOLERANCE * noise));
    let budgets = budgets.map(|(what, us, budget)| (what, None, us / 1000.0, budget));
    ratios
        .into_iter()
        .chain(budgets)
        .filter(|(_, _, now, allowed)| now > allowed)
        .map(|(what, was, now, allowed)| Regression {
            scenario: measured.scenario.clone(),
            what,
            was,
            now,
            allowed: (allowed * 1000.0).round() / 1000.0,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(floor: f64, cpu: f64, p50_us: f64) -> ScenarioResult {
        let mut it = ScenarioResult { scenario: "a".to_owned(), ..ScenarioResult::default() };
        it.to_floor.p50 = floor;
        it.to_parse.cpu = cpu;
        it.to_parse.p50 = 1.0;
        it.wall_us.run.p50 = p50_us;
        it
    }

    fn check(now: &ScenarioResult, expected: &[&str]) {
        let was = BaselineRatios { floor: 2.0, parse: 1.0, cpu: 3.0 };
        let got: Vec<&str> = slower(was, now).iter().map(|it| it.what).collect();
        assert_eq!(got, expected);
    }

    #[test]
    fn slower_is_above_the_tolerance_or_a_budget() {
        check(&measured(2.0, 3.0, 100.0), &[]);
        check(&measured(2.0 * TOLERANCE * NOISE_FLOOR - 0.01, 3.0, 100.0), &[]);
        check(&measured(2.0 * TOLERANCE * NOISE_FLOOR + 0.01, 3.0, 100.0), &["p50 to floor"]);
        check(&measured(0.5, 3.0 * TOLERANCE * NOISE + 0.01, 100.0), &["cpu to floor and parse"]);
        check(&measured(2.0, 3.0, 251_000.0), &["p50, ms"]);
    }

    #[test]
    fn a_partial_update_keeps_the_rest() {
        let mut it = Baseline::default();
        it.update("dev", &[measured(2.0, 3.0, 1.0)]);
        it.update("release", &[measured(4.0, 3.0, 1.0)]);
        it.update("dev", &[ScenarioResult { scenario: "b".to_owned(), ..measured(5.0, 3.0, 1.0) }]);
        let floor = |profile, name| it.ratios(profile, name).map(|it| it.floor).ok();
        assert_eq!(floor("dev", "a"), Some(2.0));
        assert_eq!(floor("dev", "b"), Some(5.0));
        assert_eq!(floor("release", "a"), Some(4.0));
        assert_eq!(floor("release", "b"), None);
    }
}
