//! `commis bench --daemon`: what asking the daemon costs beside the same run inside a process.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{Json, Router, extract::State, routing::post};
use futures::{StreamExt as _, stream};
use reqwest::Method;
use serde::Serialize;
use serde_json::{Value, json};

use super::{context, table::ruled};
use commis_base::{
    error::{Code, Error, Result},
    files, ids,
    settings::{Home, Settings},
};
use commis_client::state_file::StateFile;
use commis_learn::{BrowserPool, Fallback, RecipeRunner, Sessions};
use commis_net::egress::EgressPolicy;
use commis_recipe::{model::Recipe, trust::Trust, yaml};
use commis_runner::call::Caller;
use commis_serve::raw_client::RawClient;
use commis_testbed::Testbed;

const RECIPE: &str = "{version: 1, name: shop, task: 'Search {query}', status: draft, source_url: 'http://shop.test/', \
 parameters: [{name: query, type: str, required: true, source: task_input}], request: {method: GET, \
 url: 'http://shop.test/api/search', query: [{name: q, value: '{query}'}], allowed_domains: [shop.test]}, response: {type: json}}";
const SETTINGS: &str = "[serve]\nmcp_per_minute = 10000000\nmcp_burst = 1000000\nrest_per_minute = 10000000\n\
 rest_burst = 1000000\nrun_per_minute = 10000000\nrun_burst = 1000000\n";
/// Clients at once.
const CLIENTS: usize = 64;

/// What was measured; times in milliseconds.
#[derive(Serialize)]
pub struct DaemonBenchmark {
    /// The run inside this process, over REST and over MCP, in turns.
    inside: Quantiles,
    rest: Quantiles,
    mcp: Quantiles,
    /// Requests a second of 64 clients, and how many failed.
    many: f64,
    many_failed: usize,
    /// The same of a router that has nothing but the run.
    bare: f64,
    /// From the start of the program to the first answer of a run.
    first_answer_ms: f64,
    /// Of the idle daemon, KiB; and how often it woke in ten seconds.
    idle_rss_kib: u64,
    idle_wakeups: u64,
}

#[derive(Clone, Copy, Serialize)]
struct Quantiles {
    p50: f64,
    p95: f64,
}

impl Quantiles {
    fn from_samples(mut all: Vec<f64>) -> Self {
        all.sort_by(f64::total_cmp);
        let at = |q: usize| all.get(all.len() * q / 100).copied().unwrap_or_default();
        Self { p50: at(50), p95: at(95) }
    }
}

/// A daemon that ends with this, and its home.
struct DaemonProcess {
    child: Child,
    root: PathBuf,
}

impl Drop for DaemonProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

/// Fails with `DAEMON_FAILED` when the daemon does not come up, and with what a run fails with.
pub async fn run(rounds: usize, json: bool) -> Result<u8> {
    let web =
        Testbed::start(0).await.map_err(|err| failed("the test web does not start").source(err))?;
    let pinned = format!("*.test={}", web.addr());
    let root = std::env::temp_dir().join(format!("commis-bench-{}", ids::random_token()?));
    let home = Home::find(Some(&root))?;
    files::write_atomic(&root, "config.toml", SETTINGS.as_bytes())?;
    // The daemon runs no stranger's recipe.
    let recipe = Recipe { trust: Trust::Learned, ..yaml::parse(RECIPE)? };
    context::registry(&home)?.save(&recipe)?;
    let begun = Instant::now();
    let (served, state) = start(&home, root, &pinned).await?;
    let pid = served.child.id();
    let client = RawClient::new(&state);
    call_daemon(&client, false).await?;
    let first_answer_ms = begun.elapsed().as_secs_f64() * 1000.0;

    context::say("in turns: the run inside, over REST, over MCP");
    let mut settings = Settings::default();
    settings.egress.test_hosts = vec![pinned];
    let inside = Arc::new(InProcessRun::new(&home, &settings)?);
    let [inside_ms, rest, mcp] = measure_in_turns(&inside, &client, rounds).await?;

    context::say("64 clients at once: the daemon, a bare router, in turns");
    let bare = bare(Arc::clone(&inside)).await?;
    let http = reqwest::Client::builder().no_proxy().build().unwrap_or_default();
    let (mut many, mut bares, mut many_failed) = (Vec::new(), Vec::new(), 0);
    for _ in 0..3 {
        let begun = Instant::now();
        let n = rounds * 4;
        let done =
            stream::iter(0..n).map(|_| call_daemon(&client, false)).buffer_unordered(CLIENTS);
        many_failed += done.filter(|it| std::future::ready(it.is_err())).count().await;
        many.push(n as f64 / begun.elapsed().as_secs_f64());
        let begun = Instant::now();
        let one = || async { http.post(&bare).json(&json!({})).send().await?.bytes().await };
        let done = stream::iter(0..n).map(|_| one()).buffer_unordered(CLIENTS);
        done.for_each(|_| std::future::ready(())).await;
        bares.push(n as f64 / begun.elapsed().as_secs_f64());
    }
    context::say("idle for ten seconds");
    // Connections of those clients end meanwhile.
    tokio::time::sleep(Duration::from_secs(12)).await;
    let before = wakeups(pid);
    tokio::time::sleep(Duration::from_secs(10)).await;
    let measured = DaemonBenchmark {
        inside: inside_ms,
        rest,
        mcp,
        many: middle(many),
        many_failed,
        bare: middle(bares),
        first_answer_ms,
        idle_rss_kib: status(pid, "VmRSS:"),
        idle_wakeups: wakeups(pid) - before,
    };
    drop(served);
    if json {
        context::out(&measured);
    } else {
        show(&measured);
    }
    Ok(0)
}

fn failed(why: &str) -> Error {
    Error::new(Code::DaemonFailed, why.to_owned())
}

/// Starts the daemon and waits until it has written where it listens.
async fn start(home: &Home, root: PathBuf, pinned: &str) -> Result<(DaemonProcess, StateFile)> {
    let begun = Instant::now();
    let program =
        std::env::current_exe().map_err(|err| failed("this program is not known").source(err))?;
    #[expect(clippy::disallowed_methods, reason = "the program starts itself")]
    let child = Command::new(program)
        .args(["--home", &root.to_string_lossy(), "--test-host", pinned, "serve"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|err| failed("the daemon cannot be started").source(err))?;
    let served = DaemonProcess { child, root };
    loop {
        if let Some(it) = StateFile::find(home)? {
            return Ok((served, it));
        }
        if begun.elapsed() > Duration::from_secs(20) {
            return Err(failed("the daemon did not come up"));
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// The times of a run inside this process, over REST and over MCP.
async fn measure_in_turns(
    inside: &InProcessRun,
    client: &RawClient,
    rounds: usize,
) -> Result<[Quantiles; 3]> {
    let mut times = [const { Vec::new() }; 3];
    for i in 0..rounds + rounds / 10 {
        let mut took = [0.0; 3];
        for (arm, ms) in took.iter_mut().enumerate() {
            let begun = Instant::now();
            match arm {
                0 => drop(inside.run().await?),
                1 => call_daemon(client, false).await?,
                _ => call_daemon(client, true).await?,
            }
            *ms = begun.elapsed().as_secs_f64() * 1000.0;
        }
        // The first tenth warms up.
        if i >= rounds / 10 {
            for (all, ms) in times.iter_mut().zip(took) {
                all.push(ms);
            }
        }
    }
    Ok(times.map(Quantiles::from_samples))
}

fn middle(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or_default()
}

fn show(it: &DaemonBenchmark) {
    let mut table = ruled(["", "p50 ms", "p95 ms", "more at p50", "more at p95"]);
    for (name, of) in [("inside", it.inside), ("REST", it.rest), ("MCP tools/call", it.mcp)] {
        let [p50, p95, more50, more95] =
            [of.p50, of.p95, of.p50 - it.inside.p50, of.p95 - it.inside.p95]
                .map(|it| format!("{it:.2}"));
        table.add_row([name.to_owned(), p50, p95, more50, more95]);
    }
    context::line(&table.to_string());
    context::line(&format!(
        "64 clients: {:.0} runs/s, {} failed; a bare router {:.0}: {:.2} of it",
        it.many,
        it.many_failed,
        it.bare,
        it.many / it.bare
    ));
    context::line(&format!(
        "first answer {:.0} ms after the start; idle {:.1} MB, {} wake-ups in 10 s",
        it.first_answer_ms,
        it.idle_rss_kib as f64 / 1024.0,
        it.idle_wakeups
    ));
}

/// One run by the daemon, over REST or MCP.
async fn call_daemon(client: &RawClient, mcp: bool) -> Result<()> {
    let failed = || Error::new(Code::DaemonFailed, "a run over the daemon failed");
    let request = if mcp {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let args = json!({"name": "shop", "params": {"query": "lantern"}, "draft": true});
        client
            .request(Method::POST, "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "commis_run")
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "commis_run", "arguments": args, "_meta": meta}}))
    } else {
        client
            .request(Method::POST, "/api/recipes/shop/run")
            .json(&json!({"params": {"query": "lantern"}, "draft": true}))
    };
    let answer = request.send().await.map_err(|err| failed().source(err.without_url()))?;
    let text = answer.text().await.map_err(|err| failed().source(err.without_url()))?;
    if text.contains("\"ok\":true") {
        return Ok(());
    }
    Err(failed().hint(text.chars().take(300).collect::<String>()))
}

/// The same run in this process.
struct InProcessRun {
    recipe: Recipe,
    caller: Caller,
    sessions: Sessions,
}

impl InProcessRun {
    fn new(home: &Home, settings: &Settings) -> Result<Self> {
        let policy = Arc::new(EgressPolicy::new(&settings.egress)?);
        let browser = BrowserPool::new(Arc::clone(&policy), settings.browser.clone());
        Ok(Self {
            recipe: yaml::parse(RECIPE)?,
            caller: Caller::new(home, settings, policy, Box::new(|_| {}))?,
            sessions: Sessions::new(browser, settings.browser.session_ttl()),
        })
    }

    async fn run(&self) -> Result<Value> {
        let params = BTreeMap::from([("query".to_owned(), "lantern".to_owned())]);
        let runs = RecipeRunner { caller: &self.caller, sessions: &self.sessions, tell: &|_| {} };
        runs.call(&self.recipe, &params, Fallback::Never).await.map(|it| it.data)
    }
}

/// A router with nothing but the run; its address.
async fn bare(inside: Arc<InProcessRun>) -> Result<String> {
    let failed = |err| Error::new(Code::DaemonFailed, "a bare router cannot listen").source(err);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.map_err(failed)?;
    let addr = listener.local_addr().map_err(failed)?;
    let handler =
        async |State(it): State<Arc<InProcessRun>>| Json(it.run().await.unwrap_or_default());
    let router = Router::new().route("/run", post(handler)).with_state(inside);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(format!("http://{addr}/run"))
}

/// A number of `/proc/PID/status`.
fn status(pid: u32, name: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = text.lines().find_map(|it| it.strip_prefix(name));
    line.and_then(|it| it.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// How often its threads went to sleep, and so were woken.
fn wakeups(pid: u32) -> u64 {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    threads
        .filter_map(|it| {
            let text = std::fs::read_to_string(it.path().join("status")).ok()?;
            let line = text.lines().find_map(|it| it.strip_prefix("voluntary_ctxt_switches:"))?;
            line.trim().parse::<u64>().ok()
        })
        .sum()
}
