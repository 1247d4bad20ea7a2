//! From samples to figures: quantiles, and ratios that hold still on a noisy machine.
//!
//! A ratio at p50 is the median over blocks of consecutive rounds of (median of the runs / median of the other arm) in that
//! block: what slows the machine for a while slows both, and what hits one block does not move the median of blocks.

use serde::Serialize;

use commis_runner::RunTimings;

/// Samples in one block.
const BLOCK: usize = 20;

/// One run of one arm.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub wall_ns: u64,
    pub cpu_ns: u64,
    /// Of recipe runs.
    pub stages: Option<RunTimings>,
}

/// All samples of a scenario, by arm, in the order they were taken.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    pub floor: Vec<Sample>,
    pub parse: Vec<Sample>,
    pub run: Vec<Sample>,
}

/// Microseconds, or what the name says.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Quantiles {
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
}

/// One quantity of all arms.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PerArm {
    pub floor: Quantiles,
    pub parse: Quantiles,
    pub run: Quantiles,
}

/// A run compared with the floor, or with the floor and one parse.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Ratio {
    pub p50: f64,
    pub p95: f64,
    /// Of CPU time at p50.
    pub cpu: f64,
}

/// Medians over all runs, microseconds. What is left of the whole is the runner's own.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Stages {
    pub validate: f64,
    pub dns: f64,
    pub connect: f64,
    pub ttfb: f64,
    pub download: f64,
    pub extract: f64,
    pub shape: f64,
    pub rest: f64,
}

impl Figures {
    pub fn add(&mut self, arm: Arm, samples: Vec<Sample>) {
        match arm {
            Arm::Floor => self.floor.extend(samples),
            Arm::Parse => self.parse.extend(samples),
            Arm::Run => self.run.extend(samples),
        }
    }

    /// End to end.
    pub fn wall(&self) -> PerArm {
        self.per_arm(|it| it.wall_ns)
    }

    /// CPU time of the client's process.
    pub fn cpu(&self) -> PerArm {
        self.per_arm(|it| it.cpu_ns)
    }

    fn per_arm(&self, of: fn(&Sample) -> u64) -> PerArm {
        PerArm {
            floor: quantiles(&self.floor, of),
            parse: quantiles(&self.parse, of),
            run: quantiles(&self.run, of),
        }
    }

    /// Runs to floor, and runs to floor and parse.
    pub fn ratios(&self) -> (Ratio, Ratio) {
        (ratio(&self.run, &self.floor), ratio(&self.run, &self.parse))
    }

    /// How many runs used a connection that was there.
    pub fn reused(&self) -> usize {
        self.run.iter().filter(|it| it.stages.is_some_and(|it| it.connect == 0.0)).count()
    }

    pub fn stages(&self) -> Stages {
        let median = |of: fn(&Sample, &RunTimings) -> f64| {
            let staged = self.run.iter().filter_map(|it| Some(of(it, it.stages.as_ref()?)));
            micros_rounded(middle(staged.collect()))
        };
        Stages {
            validate: median(|_, it| it.validate * 1000.0),
            dns: median(|_, it| it.dns * 1000.0),
            connect: median(|_, it| it.connect * 1000.0),
            ttfb: median(|_, it| it.ttfb * 1000.0),
            download: median(|_, it| it.download * 1000.0),
            extract: median(|_, it| it.extract * 1000.0),
            shape: median(|_, it| it.shape * 1000.0),
            rest: median(|whole, it| {
                let sent = it.validate + it.dns + it.connect + it.ttfb;
                let staged = sent + it.download + it.extract + it.shape;
                whole.wall_ns as f64 / 1000.0 - staged * 1000.0
            }),
        }
    }
}

fn quantiles(samples: &[Sample], of: fn(&Sample) -> u64) -> Quantiles {
    let mut all: Vec<u64> = samples.iter().map(of).collect();
    all.sort_unstable();
    let at = |percent| micros_rounded(quantile(&all, percent) as f64 / 1000.0);
    Quantiles { p50: at(50), p95: at(95), p99: at(99) }
}

/// Nearest rank; 0 of nothing.
fn quantile(sorted: &[u64], percent: usize) -> u64 {
    let rank = (sorted.len() * percent).div_ceil(100);
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

fn ratio(run: &[Sample], other: &[Sample]) -> Ratio {
    let wall = |it: &Sample| it.wall_ns;
    let cpu = |it: &Sample| it.cpu_ns;
    let p95 = quantiles(run, wall).p95 / quantiles(other, wall).p95;
    Ratio { p50: by_blocks(run, other, wall), p95: rounded(p95), cpu: by_blocks(run, other, cpu) }
}

/// The median over blocks of the ratio of medians.
fn by_blocks(run: &[Sample], other: &[Sample], of: fn(&Sample) -> u64) -> f64 {
    let median = |block: &[Sample]| {
        let mut all: Vec<u64> = block.iter().map(of).collect();
        all.sort_unstable();
        quantile(&all, 50)
    };
    let ratios = run
        .chunks(BLOCK)
        .zip(other.chunks(BLOCK))
        .map(|(run, other)| median(run) as f64 / median(other).max(1) as f64);
    rounded(middle(ratios.collect()))
}

/// The median; 0 of nothing.
pub fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    let at = all.len() / 2;
    match all.len() {
        0 => 0.0,
        n if n.is_multiple_of(2) => f64::midpoint(all[at - 1], all[at]),
        _ => all[at],
    }
}

/// To a tenth.
fn micros_rounded(it: f64) -> f64 {
    (it * 10.0).round() / 10.0
}

/// To a thousandth.
fn rounded(it: f64) -> f64 {
    (it * 1000.0).round() / 1000.0
}

/// What is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arm {
    /// The bytes alone.
    Floor,
    /// The bytes, and one parse of them: JSON into a `Value`, HTML into a tree.
    Parse,
    /// The recipe.
    Run,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(wall_us: impl IntoIterator<Item = u64>) -> Vec<Sample> {
        wall_us
            .into_iter()
            .map(|it| Sample { wall_ns: it * 1000, cpu_ns: it * 500, stages: None })
            .collect()
    }

    #[test]
    fn quantiles_are_nearest_rank() {
        let all: Vec<u64> = (1..=200).collect();
        assert_eq!([50, 95, 99].map(|it| quantile(&all, it)), [100, 190, 198]);
        assert_eq!([50, 95, 99].map(|it| quantile(&[7], it)), [7; 3]);
        assert_eq!(quantile(&[], 50), 0);
    }

    #[test]
    fn what_slows_both_arms_does_not_move_a_ratio() {
        // The machine is ten times slower for one block in three, and hangs once.
        let slow = |i: usize| if (i / BLOCK).is_multiple_of(3) { 1000 } else { 100 };
        let floor = samples((0..200).map(slow));
        let mut run = samples((0..200).map(|i| slow(i) * 2));
        run[50].wall_ns = 10_000_000_000;
        let it = ratio(&run, &floor);
        assert_eq!((it.p50, it.cpu), (2.0, 2.0));
    }

    #[test]
    fn stages_and_the_rest_make_the_whole() {
        let stages = RunTimings { ttfb: 0.06, extract: 0.03, ..RunTimings::default() };
        let run = vec![Sample { wall_ns: 100_000, cpu_ns: 0, stages: Some(stages) }; 3];
        let it = Figures { run, ..Figures::default() };
        assert_eq!((it.stages().ttfb, it.stages().extract, it.stages().rest), (60.0, 30.0, 10.0));
        assert_eq!(it.reused(), 3);
    }
}
