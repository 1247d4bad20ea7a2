//! What several commands share: opening folders and settings, and printing without a panic on a closed pipe.

use std::{
    borrow::Cow,
    fmt::Write as _,
    io::{self, IsTerminal as _, Write as _},
    sync::{Arc, OnceLock},
    time::Duration,
};

use serde::Serialize;

use super::Global;
use commis_artifacts::shared_store::SharedStore;
use commis_base::{
    error::{Code, Error, Result},
    files::Dir,
    ids::RecipeName,
    settings::{Home, Settings},
};
use commis_browser::check_arguments;
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
    _testbed: Option<Testbed>,
}

/// Reads settings and applies the flags over them. Fails with `SETTINGS_INVALID`.
pub async fn open(global: &Global) -> Result<Environment> {
    let (home, mut settings) = read(global)?;
    tell_own_hosts(&home, &settings);
    let mut testbed = None;
    if global.testbed {
        let it = Testbed::start(0).await.map_err(|err| {
            Error::new(Code::ConnectFailed, "cannot start the test web on loopback").source(err)
        })?;
        settings.egress.test_hosts = vec![format!("*.test={}", it.addr())];
        settings.egress.test_ca_pem = Some(authority_pem());
        testbed = Some(it);
    }
    Ok(Environment { home, settings, _testbed: testbed })
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

/// One JSON document on stdout.
pub fn out<T: Serialize>(value: &T) {
    if let Ok(text) = serde_json::to_string_pretty(value) {
        line(&harmless(text));
    }
}

/// One JSON document that is one line, on stdout.
pub fn event(json: &str) {
    line(&harmless(json.to_owned()));
}

/// As [`event`]; false when whoever read it has gone away.
pub fn write_event(json: &str) -> bool {
    let text = harmless(json.to_owned());
    match writeln!(anstream::stdout(), "{}", upright(&text)) {
        Err(err) if err.kind() == io::ErrorKind::BrokenPipe => false,
        written => {
            note(written);
            UNWRITTEN.get().is_none()
        }
    }
}

/// JSON escapes the control characters of ASCII alone; terminals obey those after DEL as well. They can only stand in strings.
fn harmless(json: String) -> String {
    if !json.chars().any(|it| is_unsafe_char(it) && it != '\n') {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for it in json.chars() {
        if is_unsafe_char(it) && it != '\n' {
            for unit in it.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(it);
        }
    }
    out
}

/// What of stdout could not be written, the first time.
static UNWRITTEN: OnceLock<io::Error> = OnceLock::new();

/// A line of data on stdout. A reader that has gone away is not an error; whatever else keeps it from being written is told
/// by [`all_written`].
pub fn line(text: &str) {
    note(writeln!(anstream::stdout(), "{}", upright(text)));
}

/// A file's text on stdout: on a terminal as [`line`] has it, elsewhere to the byte.
pub fn data(bytes: &[u8]) {
    if io::stdout().is_terminal() {
        line(String::from_utf8_lossy(bytes).trim_end());
    } else {
        note(io::stdout().write_all(bytes));
    }
}

fn note(written: io::Result<()>) {
    if let Err(err) = written
        && err.kind() != io::ErrorKind::BrokenPipe
    {
        let _ = UNWRITTEN.set(err);
    }
}

/// Fails with `ARTIFACT_IO` when some of what was to be on stdout is not.
pub fn all_written() -> Result<()> {
    note(io::stdout().flush());
    let Some(err) = UNWRITTEN.get() else { return Ok(()) };
    // Kept where it is: an error of the system is no more than its number.
    let err = err.raw_os_error().map_or_else(|| err.kind().into(), io::Error::from_raw_os_error);
    Err(Error::new(Code::ArtifactIo, "cannot write to stdout")
        .hint("only the output was lost, the work is done; free some space, or write to another place")
        .source(err))
}

/// A line for a person on stderr.
pub fn say(text: &str) {
    let _ = writeln!(anstream::stderr(), "{}", upright(text));
}

/// Styled text, in which nothing turns its surroundings around and nothing is unseen. Colours are control characters, so of those
/// it is for [`clean`] to take care.
fn upright(text: &str) -> Cow<'_, str> {
    let turns = |it: char| is_unsafe_char(it) && !it.is_control();
    if text.chars().any(turns) { text.replace(turns, "\u{fffd}").into() } else { text.into() }
}

/// Splits `NAME=VALUE`, as arguments give it.
pub fn pair(text: &str) -> std::result::Result<(String, String), String> {
    let (name, value) =
        text.split_once('=').filter(|it| !it.0.is_empty()).ok_or("give NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
