//! What several commands share: opening folders and settings, and printing without a panic on a closed pipe.

use std::{
    io::{self, IsTerminal as _, Write as _},
    sync::Arc,
    time::Duration,
};

use super::Global;
use commis_artifacts::shared_store::SharedStore;
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
    ids::RecipeName,
    settings::{Home, Settings},
};
use commis_browser::check_arguments;
pub use commis_client::{
    browse::pair,
    output::{all_written, data, event, line, out, say, write_event},
};
pub use commis_learn::moment;
use commis_learn::{BrowserPool, LearnContext, OnStage, RedoScope, trust_what_was_learned};
use commis_net::egress::{EgressPolicy, check_own};
use commis_recipe::registry::{RegisteredRecipe, Registry};
pub use commis_report::{is_unsafe_char, plain as clean};
use commis_stages::rank;
use commis_testbed::{Testbed, authority_pem};

/// Folders, settings and the test web if it was asked for; it serves until this is dropped.
pub struct Environment {
    pub home: Home,
    pub settings: Settings,
    /// Not by its type, which would be in the small program as well.
    _testbed: Option<Box<dyn std::any::Any + Send + Sync>>,
}

/// Reads settings and applies the flags over them. Fails with `SETTINGS_INVALID`.
pub async fn open(global: &Global) -> Result<Environment> {
    let mut it = open_without_testbed(global)?;
    if global.testbed {
        let testbed = Testbed::start(0).await.map_err(|err| {
            Error::new(Code::ConnectFailed, "cannot start the test web on loopback").source(err)
        })?;
        it.settings.egress.test_hosts = vec![format!("*.test={}", testbed.addr())];
        it.settings.egress.test_ca_pem = Some(authority_pem());
        it = Environment { _testbed: Some(Box::new(testbed)), ..it };
    }
    Ok(it)
}

/// The same without the test web, whatever the flags say. Fails with `SETTINGS_INVALID`.
pub fn open_without_testbed(global: &Global) -> Result<Environment> {
    let (home, settings) = read(global)?;
    tell_own_hosts(&home, &settings);
    Ok(Environment { home, settings, _testbed: None })
}

/// Says once at a terminal which hosts inside are open, or why none is: nobody should find out by chance. The log has it each time.
fn tell_own_hosts(home: &Home, settings: &Settings) {
    const TOLD: &str = "own-hosts-told";
    let egress = &settings.egress;
    if egress.own.is_empty() && egress.own_refused.is_none() {
        return;
    }
    tracing::info!(own = ?egress.own, refused = ?egress.own_refused, "hosts of one's own");
    if !io::stderr().is_terminal() {
        return;
    }
    let now = format!("{:?} {:?} {:?}", egress.own, egress.own_refused, egress.file);
    let Ok(Some(dir)) = Dir::open(&home.serve, true) else { return say_own_hosts(settings) };
    let before = dir.read(TOLD, 1 << 16).ok().flatten();
    if before.as_deref() != Some(now.as_bytes()) {
        say_own_hosts(settings);
        // Where it cannot be noted it is said again.
        let _ = dir.write_unsynced(TOLD, now.as_bytes());
    }
}

/// Which hosts inside are open, or why none is.
pub fn say_own_hosts(settings: &Settings) {
    let egress = &settings.egress;
    let file = egress.file.as_deref().map_or(String::new(), |it| it.display().to_string());
    if let Some(why) = &egress.own_refused {
        say(&clean(&format!("no hosts of your own are open, though {file} names some: {why}")));
    }
    if !egress.own.is_empty() {
        let all: Vec<String> =
            egress.own.iter().map(|(place, address)| format!("{place} at {address}")).collect();
        say(&clean(&format!("hosts of your own are open: {} ({file})", all.join(", "))));
    }
}

/// Where things are kept, whatever the settings say.
pub fn home(global: &Global) -> Result<Home> {
    Home::find(global.home.as_deref())
}

/// Whether somebody at a terminal can be asked.
pub fn is_someone_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Asks whoever is at the terminal; no where nobody is.
pub fn confirmed(question: &str) -> bool {
    if !is_someone_there() {
        return false;
    }
    let mut to = io::stderr();
    let mut said = String::new();
    // Who cannot be asked has not agreed.
    let asked = write!(to, "{question} [y/N] ").and_then(|()| to.flush());
    asked.and_then(|()| io::stdin().read_line(&mut said)).is_ok()
        && matches!(said.trim(), "y" | "Y" | "yes")
}

/// The recipes of a home. Fails with `ARTIFACT_IO`.
pub fn registry(home: &Home) -> Result<Registry> {
    trust_what_was_learned(home)?;
    Ok(Registry::for_home(home))
}

/// Folders and settings, without anything that needs a runtime.
pub fn read(global: &Global) -> Result<(Home, Settings)> {
    let home = home(global)?;
    let mut settings = Settings::load(&home)?;
    check(&settings)?;
    settings.egress.test_hosts.extend(global.test_host.iter().cloned());
    settings.egress.test_ca = global.test_ca.clone().or(settings.egress.test_ca);
    settings.egress.nameserver = global.nameserver.or(settings.egress.nameserver);
    Ok((home, settings))
}

/// What only other floors know of settings. Fails with `SETTINGS_INVALID`.
pub fn check(settings: &Settings) -> Result<()> {
    if let Some(name) = settings
        .ranking
        .weights
        .keys()
        .find(|it| !rank::signal_names().any(|known| known == it.as_str()))
    {
        let known: Vec<&str> = rank::signal_names().collect();
        return Err(Error::new(
            Code::SettingsInvalid,
            format!("ranking.weights: there is no signal `{name}`"),
        )
        .hint(format!("signals are {}", known.join(", "))));
    }
    check_own(&settings.egress)?;
    check_arguments(&settings.browser.args)
}

/// Everything learning needs. Fails with what the settings of egress and model fail with.
pub fn learning(
    place: &Environment,
    redo: Option<RedoScope>,
    delay: Duration,
    on_stage: OnStage,
) -> Result<Arc<LearnContext>> {
    learning_with(place, redo, delay, (None, false), on_stage)
}

/// The same beside other machines, or on them alone ([`LearnContext::elsewhere`]).
pub fn learning_with(
    place: &Environment,
    redo: Option<RedoScope>,
    delay: Duration,
    shared_store: (Option<Arc<dyn SharedStore>>, bool),
    on_stage: OnStage,
) -> Result<Arc<LearnContext>> {
    let policy = Arc::new(EgressPolicy::new(&place.settings.egress)?);
    let browser = BrowserPool::new(policy, place.settings.browser.clone());
    LearnContext::open_with(
        &place.home,
        &place.settings,
        browser,
        (redo, delay),
        shared_store,
        on_stage,
    )
}

/// The recipe of that name; says so where it stands before one of the library's. Fails as [`Registry::get`].
pub fn find_recipe(registry: &Registry, name: &RecipeName) -> Result<RegisteredRecipe> {
    let held = registry.get(name)?;
    if held.shadows {
        say(&format!("info: your own {name} stands before the library's"));
    }
    Ok(held)
}

/// What `work` comes to, unless Ctrl-C or a request to terminate is first, however it computes; `hint` says what then becomes of
/// what was done. Fails with [`Code::Interrupted`], or as `work` does.
pub async fn run_interruptible<T: Send + 'static, F: Future<Output = Result<T>>>(
    hint: &'static str,
    work: impl FnOnce() -> F + Send + 'static,
) -> Result<T> {
    let stop = async {
        interrupted().await;
        Error::new(Code::Interrupted, "interrupted").hint(hint)
    };
    commis_learn::run_until_stopped(work, stop).await
}

/// Waits for Ctrl-C or a request to terminate.
pub async fn interrupted() {
    let terminated = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut it) => _ = it.recv().await,
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminated => {}
    }
}

/// `2 calls, 3100 tokens in, 40 out, cost 0.012400`
pub fn model_use(calls: u32, tokens_in: u64, tokens_out: u64, cost_micros: Option<u64>) -> String {
    let cost = cost_micros
        .map(|it| format!(", cost {}.{:06}", it / 1_000_000, it % 1_000_000))
        .unwrap_or_default();
    format!("{calls} calls, {tokens_in} tokens in, {tokens_out} out{cost}")
}
