//! What recording costs the page that is watched, and what a recording takes besides the page's own time.
//!
//! Two arms take turns: the page behind proxy and interception alone, and the same page recorded, redacted and written as an
//! artifact. Each turn has a new context in a browser that is running already, made ahead as for every recording of a batch
//! but the first; the page says by its own clock how long it took to load.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{PROFILE, site::Site, stats::middle};
use commis_artifacts::{
    recording::SessionRecording,
    store::{Stamp, Store, json_sha256},
};
use commis_base::{
    error::{Code, Error, Result},
    ids::{RecipeName, TaskId},
    settings::Settings,
};
use commis_browser::{Context, Plan, Step, Wait};
use commis_learn::BrowserPool;
use commis_net::egress::EgressPolicy;
use commis_redact::redact;
use commis_stages::Stage;

/// Turns that are not counted.
const WARM_UP: usize = 2;
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a page that nobody records is asked whether it has loaded.
const POLL: Duration = Duration::from_millis(50);

/// A page of the test web that tells its load time.
struct Page {
    name: &'static str,
    what: &'static str,
    url: &'static str,
}

const PAGES: &[Page] = &[
    Page { name: "light", what: "a dozen requests", url: "http://depot.test/desk" },
    Page { name: "heavy", what: "some two hundred requests, 6 MB", url: "http://depot.test/" },
];

/// All that was measured.
#[derive(Debug, Serialize)]
pub struct RecorderBenchmark {
    pub version: &'static str,
    /// `dev` or `release`.
    pub profile: &'static str,
    pub browser: String,
    pub pages: Vec<PageFigures>,
}

/// One page. Times are milliseconds.
#[derive(Debug, Serialize)]
pub struct PageFigures {
    pub page: &'static str,
    pub what: &'static str,
    pub turns: usize,
    /// Exchanges of a recording.
    pub exchanges: usize,
    /// Decoded bytes of their answers.
    pub bytes: usize,
    /// From the start of the navigation until the page has all it asked for, by the page's clock.
    pub alone: Times,
    pub recorded: Times,
    /// The page's time recorded to its time alone: the median over turns.
    pub to_alone: f64,
    /// From before the context until the artifact is written.
    pub whole: Times,
    /// The whole less the page's time alone: the median over turns.
    pub added: f64,
    pub parts: Parts,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Times {
    pub p50: f64,
    pub p95: f64,
}

/// Where a recording's time goes, medians.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Parts {
    pub context: f64,
    /// Until the last step is done.
    pub steps: f64,
    /// Until nothing is in flight, and the page is read.
    pub settle: f64,
    pub redact: f64,
    pub write: f64,
    /// Of all these, what it took to keep what the page showed: reading it, and redacting it beside redacting all else.
    pub witness: f64,
}

/// One turn of the recorded arm.
struct Sample {
    alone: f64,
    recorded: f64,
    whole: f64,
    /// What the page showed was redacted, too: in every other turn.
    witnessed: bool,
    parts: Parts,
}

/// Measures so many turns of each page, or of those that are named. `progress` is told of each page before it starts.
///
/// Fails with `USAGE` for an unknown page, with `BROWSER_*` and with what a recording fails with.
pub async fn run(
    only: &[String],
    turns: usize,
    progress: &dyn Fn(&str),
) -> Result<RecorderBenchmark> {
    if let Some(name) = only.iter().find(|name| !PAGES.iter().any(|it| it.name == **name)) {
        let known: Vec<&str> = PAGES.iter().map(|it| it.name).collect();
        return Err(Error::new(Code::Usage, format!("there is no page `{name}`"))
            .hint(format!("pages are {}", known.join(", "))));
    }
    let wanted = |it: &&Page| only.is_empty() || only.iter().any(|name| name == it.name);
    let site = Site::start().await?;
    let mut settings = Settings::default();
    settings.egress.test_hosts = vec![format!("*.test={}", site.addr)];
    let policy = Arc::new(EgressPolicy::new(&settings.egress)?);
    let pool = BrowserPool::new(policy, settings.browser.clone());
    let folder = Scratch::new();
    let mut pages = Vec::new();
    let mut browser = String::new();
    for page in PAGES.iter().filter(wanted) {
        progress(page.name);
        let bench = Bench { page, settings: &settings, pool: &pool, folder: &folder };
        let (measured, version) = bench.measure(turns).await?;
        pages.push(measured);
        browser = version;
    }
    pool.close().await;
    Ok(RecorderBenchmark { version: env!("CARGO_PKG_VERSION"), profile: PROFILE, browser, pages })
}

struct Bench<'a> {
    page: &'a Page,
    settings: &'a Settings,
    pool: &'a BrowserPool,
    folder: &'a Scratch,
}

impl Bench<'_> {
    async fn measure(&self, turns: usize) -> Result<(PageFigures, String)> {
        let mut samples = Vec::new();
        let (mut exchanges, mut bytes, mut browser) = (0, 0, String::new());
        for turn in 0..WARM_UP + turns {
            // Neither arm always comes after the other.
            let first = if turn % 2 == 0 { Some(self.alone().await?) } else { None };
            let (mut sample, recording) = self.recorded(turn % 2 == 0).await?;
            sample.alone = match first {
                Some(it) => it,
                None => self.alone().await?,
            };
            if turn >= WARM_UP {
                samples.push(sample);
            }
            (exchanges, bytes, browser) = recording;
        }
        let all = |of: fn(&Sample) -> f64| samples.iter().map(of).collect::<Vec<f64>>();
        let median = |of: fn(&Sample) -> f64| rounded(middle(all(of)));
        let redacting = |witnessed: bool| {
            let own = samples.iter().filter(|it| it.witnessed == witnessed);
            middle(own.map(|it| it.parts.redact).collect())
        };
        let (redact, redact_else) = (redacting(true), redacting(false));
        let measured = PageFigures {
            page: self.page.name,
            what: self.page.what,
            turns,
            exchanges,
            bytes,
            alone: times(all(|it| it.alone)),
            recorded: times(all(|it| it.recorded)),
            to_alone: (middle(all(|it| it.recorded / it.alone)) * 1000.0).round() / 1000.0,
            whole: times(all(|it| it.whole)),
            added: median(|it| it.whole - it.alone),
            parts: Parts {
                context: median(|it| it.parts.context),
                steps: median(|it| it.parts.steps),
                settle: median(|it| it.parts.settle),
                redact: rounded(redact),
                write: median(|it| it.parts.write),
                witness: rounded(middle(all(|it| it.parts.witness)) + redact - redact_else),
            },
        };
        Ok((measured, browser))
    }

    /// The page's time with nobody watching its traffic.
    async fn alone(&self) -> Result<f64> {
        let mut context = self.pool.context().await?;
        context.unwatch().await?;
        context.open(self.page.url, PATIENCE).await?;
        let ms = loaded(&context).await;
        context.dispose().await?;
        ms
    }

    /// The page recorded; besides the sample, how many exchanges there were, their bytes and the browser.
    async fn recorded(&self, witnessed: bool) -> Result<(Sample, (usize, usize, String))> {
        let plan = Plan {
            task: "count the parts".to_owned(),
            url: self.page.url.to_owned(),
            typed: BTreeMap::new(),
            steps: vec![Step::WaitFor(Wait::Text("parts are counted".to_owned()))],
            secrets: Vec::new(),
            bound: Vec::new(),
            timeout: PATIENCE,
        };
        // A failure shows below.
        let _ = self.pool.prepare().await;
        let begun = Instant::now();
        let mut context = self.pool.context().await?;
        let context_ms = ms(begun);
        let recording = Instant::now();
        // As `learn` does.
        let mut ahead = None;
        let mut raw = context.record_then(&plan, || ahead = Some(self.pool.prepare())).await?;
        let (steps, recorded_ms) = (raw.duration_ms as f64, ms(recording));
        let drawn = raw.page.drawn_ms;
        if !witnessed {
            raw.page.documents.clear();
        }
        let redacting = Instant::now();
        let recording = redact(raw, &self.settings.redact).recording;
        let redact_ms = ms(redacting);
        let writing = Instant::now();
        self.folder.write(&recording)?;
        let write_ms = ms(writing);
        let whole = ms(begun);
        if let Some(it) = ahead {
            let _ = it.await;
        }
        let own = loaded(&context).await?;
        context.dispose().await?;
        let parts = Parts {
            context: context_ms,
            steps,
            settle: recorded_ms - steps,
            redact: redact_ms,
            write: write_ms,
            witness: drawn,
        };
        let bytes =
            recording.exchanges.iter().map(|it| it.decoded_bytes.unwrap_or(0) as usize).sum();
        let about = (recording.exchanges.len(), bytes, recording.producer.clone());
        Ok((Sample { alone: 0.0, recorded: own, whole, witnessed, parts }, about))
    }
}

/// Waits until the page has all it asked for; its own time, milliseconds.
async fn loaded(context: &Context) -> Result<f64> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(text) = context.meta("loaded").await? {
            return text.parse().map_err(|err| {
                Error::new(Code::ParseError, "the load time that the page reports is not a number")
                    .source(err)
            });
        }
        if Instant::now() > deadline {
            return Err(Error::new(Code::Timeout, "the page does not say that it has loaded"));
        }
        tokio::time::sleep(POLL).await;
    }
}

/// A folder for artifacts that nobody keeps.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("commis-bench-{}", std::process::id())))
    }

    fn write(&self, recording: &SessionRecording) -> Result<()> {
        let task = TaskId::new("bench", &RecipeName::new("recorder")?);
        let stamp = Stamp {
            source_url: recording.url.clone(),
            stage: Stage::Record.as_str().into(),
            stage_version: 1,
            inputs: BTreeMap::new(),
            settings_sha256: json_sha256(&()),
        };
        Store::new(self.0.clone()).task(&task)?.put(recording, stamp).map(drop)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn times(all: Vec<f64>) -> Times {
    let mut sorted = all.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    let p95 = sorted.get((sorted.len() * 95).div_ceil(100).saturating_sub(1)).copied();
    Times { p50: rounded(middle(all)), p95: rounded(p95.unwrap_or(0.0)) }
}

fn ms(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}

/// To a tenth.
fn rounded(ms: f64) -> f64 {
    (ms * 10.0).round() / 10.0
}
