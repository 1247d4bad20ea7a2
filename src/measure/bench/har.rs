//! What it takes to read a HAR file and rank its requests, beside the least that any reader does: one parse of the file, and
//! one of each JSON body in it. Both arms take turns.

use std::{
    collections::BTreeMap,
    hint::black_box,
    path::{Path, PathBuf},
    time::Instant,
};

use serde::Serialize;
use serde_json::Value;

use super::{PROFILE, measure::cpu_ns, stats::middle};
use commis_artifacts::payloads::SecondRecording;
use commis_base::{
    error::{Code, Error, Result},
    files::read_bounded,
    settings::Settings,
};
use commis_learn::{Source, task::MAX_HAR};
use commis_redact::{har, redact};
use commis_stages::rank::rank;

const TASK: &str = "Find what this page lists";

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct HarBenchmark {
    pub version: &'static str,
    /// `dev` or `release`.
    pub profile: &'static str,
    pub files: Vec<HarFigures>,
}

/// One file. Times are milliseconds, medians.
#[derive(Debug, Serialize)]
pub struct HarFigures {
    pub file: PathBuf,
    pub bytes: u64,
    pub entries: usize,
    pub rounds: usize,
    /// The file into a `Value`, and each JSON body in it.
    pub parse: Cost,
    /// Hashed, read, redacted, measured and ranked.
    pub read: Cost,
    /// The median over rounds of the second to the first.
    pub to_parse: Ratio,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    pub wall: f64,
    /// Of all threads.
    pub cpu: f64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Ratio {
    pub wall: f64,
    pub cpu: f64,
}

/// Measures each file in so many rounds. `progress` is told of each file before it is read.
///
/// Fails with `USAGE` for what cannot be read, and with `HAR_INVALID`.
pub fn run(files: &[PathBuf], rounds: usize, progress: &dyn Fn(&str)) -> Result<HarBenchmark> {
    let measured = files.iter().map(|file| {
        progress(&file.display().to_string());
        measure(file, rounds)
    });
    let files = measured.collect::<Result<_>>()?;
    Ok(HarBenchmark { version: env!("CARGO_PKG_VERSION"), profile: PROFILE, files })
}

fn measure(file: &Path, rounds: usize) -> Result<HarFigures> {
    let settings = Settings::default();
    let (mut parse, mut read) = (Vec::new(), Vec::new());
    let (mut bytes, mut entries) = (0, 0);
    // The first is not counted.
    for round in 0..=rounds {
        let mut first = None;
        if round % 2 == 0 {
            first = Some(timed(|| parsed(file))?);
        }
        let (own, cost) = timed(|| ranked(file, &settings))?;
        let ((len, count), floor) = match first {
            Some(it) => it,
            None => timed(|| parsed(file))?,
        };
        black_box(own);
        if round > 0 {
            parse.push(floor);
            read.push(cost);
        }
        (bytes, entries) = (len, count);
    }
    let median = |all: &[Cost], of: fn(&Cost) -> f64| middle(all.iter().map(of).collect());
    let cost =
        |all: &[Cost]| Cost { wall: median(all, |it| it.wall), cpu: median(all, |it| it.cpu) };
    let ratio = |of: fn(&Cost) -> f64| {
        middle(read.iter().zip(&parse).map(|(a, b)| of(a) / of(b)).collect())
    };
    Ok(HarFigures {
        file: file.to_owned(),
        bytes,
        entries,
        rounds,
        parse: cost(&parse),
        read: cost(&read),
        to_parse: Ratio { wall: ratio(|it| it.wall), cpu: ratio(|it| it.cpu) },
    })
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(T, Cost)> {
    let (start, cpu) = (Instant::now(), cpu_ns());
    let out = work()?;
    let cost =
        Cost { wall: start.elapsed().as_secs_f64() * 1e3, cpu: (cpu_ns() - cpu) as f64 / 1e6 };
    Ok((out, cost))
}

/// The floor; how long the file is, and how many entries it has.
fn parsed(file: &Path) -> Result<(u64, usize)> {
    let bytes = read_bounded(file, MAX_HAR)?;
    let har: Value = serde_json::from_slice(&bytes)
        .map_err(|err| Error::new(Code::HarInvalid, "the file is not JSON").source(err))?;
    let entries = har.pointer("/log/entries").and_then(Value::as_array);
    for it in entries.into_iter().flatten() {
        if let Some(text) = it.pointer("/response/content/text").and_then(Value::as_str)
            && text.trim_start().starts_with(['{', '['])
        {
            // What is no JSON ends where that shows.
            black_box(serde_json::from_str::<Value>(text).is_ok());
        }
    }
    Ok((bytes.len() as u64, entries.map_or(0, Vec::len)))
}

/// As the stages record and rank do, but for the artifacts. How many were scored.
fn ranked(file: &Path, settings: &Settings) -> Result<usize> {
    let Source::Har { path, sha256, .. } = Source::har(file.to_owned())? else {
        return Err(Error::new(Code::Internal, "a HAR is another source"));
    };
    let raw = har::open(&path, &sha256, TASK, BTreeMap::new(), &settings.redact)?;
    let unchanged = raw.unchanged();
    let recording = redact(raw.recording, &settings.redact).recording;
    if !unchanged.is_unchanged() {
        return Err(har::changed(&path));
    }
    let second = SecondRecording::default();
    black_box(rank(&recording, &second, &settings.ranking));
    Ok(recording.exchanges.len())
}
