//! Settings: flags over environment over file over defaults. The only reader of the environment.

mod channels;
mod model;
mod watch;

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub use channels::{ApprovalScope, TelegramSettings, WebhookSettings};
pub use model::{ModelSettings, Provider};
pub use watch::{QuietHours, WatchSettings, desktop_environment, quiet_hours};

use crate::{
    error::{Code, Error, Result},
    files,
};

/// Bytes of the settings file.
const MAX_FILE: u64 = 256 * 1024;

/// Everything a run depends on that is not in a manifest or a recipe.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// What may be reached, and by whom.
    pub egress: EgressSettings,
    pub ranking: RankingSettings,
    pub decision: DecisionSettings,
    pub learning: LearningSettings,
    pub browser: BrowserSettings,
    pub redact: RedactSettings,
    pub model: ModelSettings,
    pub limits: LimitsSettings,
    pub auth: AuthSettings,
    pub artifacts: ArtifactsSettings,
    pub serve: ServeSettings,
    pub browse: BrowseSettings,
    pub agent: AgentSettings,
    pub watch: WatchSettings,
}

/// What the egress policy is told. See "Test hosts, and hosts of one's own" in ARCHITECTURE.md.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EgressSettings {
    /// `NAME.test=127.0.0.1:PORT` or `*.test=127.0.0.1:PORT`.
    pub test_hosts: Vec<String>,
    /// A PEM file with the authority of test hosts. It counts for no other host.
    pub test_ca: Option<PathBuf>,
    /// The same as text, before the file: of the test web in this process.
    #[serde(skip)]
    pub test_ca_pem: Option<String>,
    /// Ports allowed besides 80 and 443.
    pub allowed_ports: Vec<u16>,
    /// Use this name server instead of the system's.
    pub nameserver: Option<SocketAddr>,
    /// Where a page's requests are resolved: at the proxy, or also before they leave the page.
    pub browser_mode: BrowserMode,
    /// False: every attempt ends in `NETWORK_DISABLED`. Set by `--no-network`.
    #[serde(skip)]
    pub no_network: bool,
    /// Your own hosts: `NAME:PORT` to the address inside your network. Only the settings file names them.
    pub own: BTreeMap<String, String>,
    /// Why those that the file names are not open.
    #[serde(skip)]
    pub own_refused: Option<String>,
    /// Where the file is, or would be.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// Rate limits of runs. Learning has its own budget.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsSettings {
    /// Runs at once in one process.
    pub runs: u32,
    /// Runs at once to one host.
    pub runs_per_host: u32,
    /// Calls to one host a minute, by all processes that share a state folder; 1 to 6,000.
    pub per_minute: u32,
    /// Calls without a pause after a quiet time.
    pub burst: u32,
    /// Also limit test hosts.
    pub test_hosts: bool,
    /// Also limit your own hosts ([egress.own]).
    pub own_hosts: bool,
}

impl Default for LimitsSettings {
    fn default() -> Self {
        Self {
            runs: 4,
            runs_per_host: 2,
            per_minute: 20,
            burst: 5,
            test_hosts: false,
            own_hosts: false,
        }
    }
}

/// Pages of `commis browse`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BrowseSettings {
    /// Allow scripts in pages, for every token that may act on them.
    pub allow_js: bool,
    /// Folders whose files may be uploaded; none by default.
    pub uploads: Vec<PathBuf>,
}

/// Tasks with a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentSettings {
    /// The command of Playwright's MCP server, quoted as in a shell; absent: `npx` with a pinned version.
    pub playwright_mcp: Option<String>,
    /// Keep the logins of its browser between runs, in the state folder.
    pub playwright_profile: bool,
    /// What an MCP client may ask its user to approve.
    pub elicitation: ApprovalScope,
    pub webhook: Option<WebhookSettings>,
    pub telegram: Option<TelegramSettings>,
    /// Why none of these three counts, where the file is not the user's own word.
    #[serde(skip)]
    pub channels_refused: Option<String>,
    /// Days that runs are kept; 0: no limit but a thousand runs.
    pub retention_days: u32,
}

impl Default for AgentSettings {
    fn default() -> Self {
        Self {
            playwright_mcp: None,
            playwright_profile: false,
            elicitation: ApprovalScope::default(),
            webhook: None,
            telegram: None,
            channels_refused: None,
            retention_days: 30,
        }
    }
}

/// The daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServeSettings {
    /// Port of the local listener; 0: any free port.
    pub port: u16,
    /// Minutes without a request after which a daemon in the background ends; 0: never.
    pub idle_minutes: u32,
    /// Tools for MCP clients: `core`, `all`, `browse`, and of recipes `top:N`, `tag:CATEGORY` or `recipes`.
    pub tools: String,
    /// Requests of one token to MCP, a minute.
    pub mcp_per_minute: u32,
    /// Requests of one token to MCP, at once after a quiet time.
    pub mcp_burst: u32,
    /// Requests of one token to REST, a minute.
    pub rest_per_minute: u32,
    /// Requests of one token to REST, at once after a quiet time.
    pub rest_burst: u32,
    /// Runs of recipes by one token, a minute.
    pub run_per_minute: u32,
    /// Runs of recipes by one token, at once after a quiet time.
    pub run_burst: u32,
    /// Waiting tasks, at most.
    pub queue: u32,
    /// Streams of events at once.
    pub streams: u32,
    /// Tasks at once that learn or prove in a browser.
    pub work_at_once: u32,
    /// Accept arguments that seem to hold a secret.
    pub allow_task_secrets: bool,
}

impl Default for ServeSettings {
    /// Seed 2.1.1 and phase 2.
    fn default() -> Self {
        Self {
            port: 0,
            idle_minutes: 30,
            tools: "core,top:30".to_owned(),
            mcp_per_minute: 60,
            mcp_burst: 10,
            rest_per_minute: 120,
            rest_burst: 20,
            run_per_minute: 30,
            run_burst: 5,
            queue: 50,
            streams: 5,
            work_at_once: 1,
            allow_task_secrets: false,
        }
    }
}

/// How long artifacts are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ArtifactsSettings {
    /// A batch first removes the artifacts of tasks that were not used for this many days; 0: none.
    pub retention_days: u32,
    /// The same for tasks that were recorded with a login; absent: as `retention_days`.
    pub private_retention_days: Option<u32>,
}

impl Default for ArtifactsSettings {
    fn default() -> Self {
        Self { retention_days: 7, private_retention_days: None }
    }
}

/// Hosts to which a recipe may send variables, besides those in the name of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuthSettings {
    /// Variable to its allowed hosts.
    pub allow: BTreeMap<String, Vec<String>>,
}

/// Every request of a page is judged by its text before it leaves the renderer, and resolved, judged and pinned at the proxy.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum BrowserMode {
    /// At the proxy.
    #[default]
    Lite,
    /// It is resolved and judged before it leaves the renderer, too: a name that leads to a forbidden address never reaches
    /// the proxy.
    Strict,
}

/// Weight of each signal. The score is their weighted sum, scaled so that all positive ones in full make 10,000.
///
/// Names and meanings are in `src/stages/signals.rs`; the map is merged over the table there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankingSettings {
    /// Name of a signal to its weight, thousandths of a logit.
    pub weights: BTreeMap<String, i32>,
}

/// When the heuristics may choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DecisionSettings {
    /// Smallest confidence, in basis points. Below it the outcome is `needs_selection`; 10,001: always.
    pub min_confidence_bp: u32,
}

impl Default for DecisionSettings {
    /// The smallest bar that chose, by weights fitted without the site, nothing wrong in 467 recorded sessions with an answer and in at
    /// most 1 % of 156 without one. See `docs/explanation/how-it-chooses.md`.
    fn default() -> Self {
        Self { min_confidence_bp: 6330 }
    }
}

/// Budgets of the learning pipeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LearningSettings {
    /// Replays of one task during minimizing and verifying.
    pub max_replays: u32,
    /// Seconds for those replays.
    pub max_seconds: u32,
    /// Milliseconds between two calls to one host. Test hosts are exempt.
    pub pace_ms: u64,
    /// Open the page of a HAR in Chromium, answered from the HAR alone, to see what it showed. This takes about a second.
    pub render_har: bool,
}

impl Default for LearningSettings {
    fn default() -> Self {
        Self { max_replays: 24, max_seconds: 30, pace_ms: 250, render_har: true }
    }
}

/// The browser that commis starts. Options of other tools that are absent on purpose are refused with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BrowserSettings {
    /// Path of the Chromium binary; absent: commis searches for it.
    pub path: Option<PathBuf>,
    /// Further arguments, of those that `browser/flags.rs` allows.
    pub args: Vec<String>,
    /// Minutes for which runs in one process share a session.
    pub session_ttl_minutes: u32,
    /// A browser that uses more private memory (MiB) is replaced before the next task.
    pub max_memory_mb: u32,
}

impl Default for BrowserSettings {
    fn default() -> Self {
        Self { path: None, args: Vec::new(), session_ttl_minutes: 20, max_memory_mb: 1024 }
    }
}

impl BrowserSettings {
    pub fn session_ttl(&self) -> std::time::Duration {
        std::time::Duration::from_secs(u64::from(self.session_ttl_minutes) * 60)
    }
}

/// Settings of `[browser]` that other tools have, and why this one has not.
const NOT_OFFERED: &[(&[&str], &str)] = &[
    (
        &["cdp_url", "cdp_endpoint", "connect", "ws_endpoint", "remote_debugging_port"],
        "a browser that commis did not start cannot be shown to be isolated, and a debugging port answers every local process",
    ),
    (
        &["profile", "profile_dir", "user_data_dir", "storage_state"],
        "every task starts without anyone's cookies, and leaves none behind",
    ),
    (
        &["proxy", "proxy_server", "proxy_url"],
        "all traffic goes through the proxy of commis, which applies the egress policy",
    ),
    (
        &["ignore_https_errors", "accept_insecure_certs"],
        "an invalid certificate means that another host answers",
    ),
    (
        &["allow_extensions", "extensions", "load_extension"],
        "an extension sees and changes everything that a page does",
    ),
    (
        &["allow_downloads", "downloads"],
        "a download ends in DOWNLOAD_BLOCKED: nothing a site sends becomes a file",
    ),
    (
        &["sandbox", "no_sandbox", "chromium_sandbox"],
        "pages of strangers run in the sandbox, always",
    ),
    (&["headless"], "a window adds nothing that is recorded"),
    (&["permissions", "grant_permissions"], "pages get no permissions"),
];

/// Fails with [`Code::SettingsInvalid`] for a setting that is not offered, and says why it is not.
fn check_offered(table: &toml::Table) -> Result<()> {
    let Some(browser) = table.get("browser").and_then(toml::Value::as_table) else {
        return Ok(());
    };
    for (names, why) in NOT_OFFERED {
        if let Some(name) = names.iter().find(|it| browser.contains_key(**it)) {
            let message = format!("browser.{name} is not offered: {why}");
            return Err(Error::new(Code::SettingsInvalid, message).hint("remove the line"));
        }
    }
    Ok(())
}

/// Exceptions from redaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RedactSettings {
    /// Names of harmless parameters and fields (cursors).
    pub allow: Vec<String>,
}

/// A secret from the environment, wiped after use; `None` when it is unset, empty or not text.
#[expect(clippy::disallowed_methods, reason = "the only reader of the environment")]
pub fn secret(variable: &str) -> Option<Zeroizing<String>> {
    std::env::var(variable).ok().filter(|it| !it.is_empty()).map(Zeroizing::new)
}

impl Settings {
    /// The defaults, but for what may be reached and which browser is used.
    #[must_use]
    pub fn only_egress(self) -> Self {
        Self { egress: self.egress, browser: self.browser, ..Self::default() }
    }

    /// Settings as a file holds them. Fails with [`Code::SettingsInvalid`].
    pub fn parse(text: &str) -> Result<Self> {
        let invalid = |err: toml::de::Error| Error::new(Code::SettingsInvalid, err.message());
        check_offered(&toml::from_str(text).map_err(invalid)?)?;
        let out: Self = toml::from_str(text).map_err(invalid)?;
        for (name, value, min, max) in out.numbers() {
            if !(min..=max).contains(&value) {
                let message = format!("{name} must be between {min} and {max}");
                return Err(Error::new(Code::SettingsInvalid, message));
            }
        }
        out.agent.check()?;
        out.watch.check()?;
        Ok(out)
    }

    /// Name, value, least, greatest.
    pub fn numbers(&self) -> [(&'static str, u64, u64, u64); 30] {
        let Self {
            decision, learning, browser, model, limits, artifacts, serve, agent, watch, ..
        } = self;
        [
            ("decision.min_confidence_bp", decision.min_confidence_bp.into(), 0, 10_001),
            ("learning.max_replays", learning.max_replays.into(), 1, 1000),
            ("learning.max_seconds", learning.max_seconds.into(), 1, 3600),
            ("learning.pace_ms", learning.pace_ms, 0, 60_000),
            ("browser.session_ttl_minutes", browser.session_ttl_minutes.into(), 1, 1440),
            ("browser.max_memory_mb", browser.max_memory_mb.into(), 1, 1_000_000),
            ("model.timeout_s", model.timeout_s.into(), 1, 3600),
            ("model.max_tokens", model.max_tokens.into(), 16, 1_000_000),
            ("limits.runs", limits.runs.into(), 1, 1000),
            ("limits.runs_per_host", limits.runs_per_host.into(), 1, 1000),
            ("limits.per_minute", limits.per_minute.into(), 1, 6000),
            ("limits.burst", limits.burst.into(), 1, 6000),
            ("artifacts.retention_days", artifacts.retention_days.into(), 0, 36_500),
            (
                "artifacts.private_retention_days",
                artifacts.private_retention_days.unwrap_or_default().into(),
                0,
                36_500,
            ),
            ("agent.retention_days", agent.retention_days.into(), 0, 36_500),
            ("serve.idle_minutes", serve.idle_minutes.into(), 0, 100_000),
            ("serve.mcp_per_minute", serve.mcp_per_minute.into(), 1, 10_000_000),
            ("serve.mcp_burst", serve.mcp_burst.into(), 1, 10_000_000),
            ("serve.rest_per_minute", serve.rest_per_minute.into(), 1, 10_000_000),
            ("serve.rest_burst", serve.rest_burst.into(), 1, 10_000_000),
            ("serve.run_per_minute", serve.run_per_minute.into(), 1, 10_000_000),
            ("serve.run_burst", serve.run_burst.into(), 1, 10_000_000),
            ("serve.queue", serve.queue.into(), 1, 100_000),
            ("serve.streams", serve.streams.into(), 1, 1000),
            ("serve.work_at_once", serve.work_at_once.into(), 1, 16),
            ("watch.most", watch.most.into(), 1, 100_000),
            ("watch.least_seconds", watch.least_seconds.into(), 1, 86_400),
            ("watch.at_once", watch.at_once.into(), 1, 100),
            ("watch.retention_days", watch.retention_days.into(), 0, 36_500),
            ("watch.changes", watch.changes.into(), 1, 1_000_000),
        ]
    }

    /// What the settings file says, bounded; `None` where there is none. Fails with [`Code::SettingsInvalid`].
    pub fn text(home: &Home) -> Result<Option<String>> {
        let shown = home.config.display();
        let invalid = |what: String| Error::new(Code::SettingsInvalid, what);
        let bytes = files::read_if_exists(&home.config, MAX_FILE).map_err(|err| {
            invalid(err.to_string())
                .hint("check its permissions and the disk, or give another --home")
        })?;
        let text = bytes.map(String::from_utf8).transpose();
        text.map_err(|_| {
            invalid(format!("{shown} is not UTF-8")).hint("save it again as UTF-8 text")
        })
    }

    /// The settings file (absent: defaults), then the environment over it: `COMMIS_TEST_HOSTS` (comma-separated),
    /// `COMMIS_TEST_CA`, `COMMIS_CHROMIUM` and `COMMIS_MODEL`. Fails with [`Code::SettingsInvalid`].
    pub fn load(home: &Home) -> Result<Self> {
        let shown = home.config.display();
        let mut out =
            match Self::text(home)? {
                None => Self::default(),
                Some(text) => Self::parse(&text).map_err(|err| {
                    let out = Error::new(err.code(), format!("{shown}: {}", err.message()));
                    out.hint(err.hint_text().unwrap_or(
                        "see docs/reference/settings.md; without the file, defaults apply",
                    ))
                })?,
            };
        out.egress.file = Some(home.config.clone());
        if !out.egress.own.is_empty()
            && let Some(why) = home.not_the_users_word()
        {
            out.egress.own.clear();
            out.egress.own_refused = Some(why);
        }
        if out.agent.has_channels()
            && let Some(why) = home.not_the_users_word()
        {
            out.agent.without_channels(why);
        }
        if out.watch.has_channels()
            && let Some(why) = home.not_the_users_word()
        {
            out.watch.without_channels(why);
        }
        out.apply_environment(&env_path)?;
        Ok(out)
    }

    /// What the environment says, over what is there.
    fn apply_environment(&mut self, variable: &dyn Fn(&str) -> Option<PathBuf>) -> Result<()> {
        if let Some(hosts) = variable("COMMIS_TEST_HOSTS") {
            let hosts = hosts.to_string_lossy().into_owned();
            self.egress.test_hosts.extend(
                hosts.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned),
            );
        }
        self.egress.test_ca = variable("COMMIS_TEST_CA").or_else(|| self.egress.test_ca.take());
        if let Some(path) = variable("COMMIS_CHROMIUM") {
            self.browser.path = Some(path);
        }
        if let Some(model) = variable("COMMIS_MODEL") {
            self.model.choose(&model.to_string_lossy())?;
        }
        Ok(())
    }
}

/// Where things are kept.
#[derive(Clone, Debug)]
pub struct Home {
    pub config: PathBuf,
    pub recipes: PathBuf,
    /// What is known here of recipes' texts, and the key that it is signed with.
    pub trust: PathBuf,
    /// The user's playbooks.
    pub playbooks: PathBuf,
    pub artifacts: PathBuf,
    /// What `egress::limits` remembers of each host.
    pub limits: PathBuf,
    pub logs: PathBuf,
    /// The daemon's: where it is, its tasks and tokens.
    pub serve: PathBuf,
    /// What was done on pages that stay.
    pub sessions: PathBuf,
    /// Files that pages saved, where that was asked for.
    pub downloads: PathBuf,
    /// What pages that stay said and asked for.
    pub rings: PathBuf,
    /// Logins, sealed; their key is beside the settings.
    pub vault: PathBuf,
    /// What happened while tasks were done, a file a run.
    pub runs: PathBuf,
    /// Requests that wait for a person, or waited.
    pub approvals: PathBuf,
    /// Research, a folder each.
    pub research: PathBuf,
    /// The variable that named where the settings are, instead of a flag or the user's home.
    named_by: Option<&'static str>,
}

impl Home {
    /// `root` (from `--home` or `COMMIS_HOME`) holds everything; without it the XDG folders do.
    /// Fails with [`Code::SettingsInvalid`] when neither a home nor `HOME` is set.
    pub fn find(root: Option<&Path>) -> Result<Self> {
        let named_by = root.is_none().then_some("COMMIS_HOME");
        if let Some(root) = root.map(Path::to_owned).or_else(|| env_path("COMMIS_HOME")) {
            return Ok(Self {
                named_by,
                config: root.join("config.toml"),
                recipes: root.join("recipes"),
                trust: root.join("trust"),
                playbooks: root.join("playbooks"),
                artifacts: root.join("artifacts"),
                limits: root.join("limits"),
                logs: root.join("logs"),
                serve: root.join("serve"),
                sessions: root.join("sessions"),
                downloads: root.join("downloads"),
                rings: root.join("browse"),
                vault: root.join("vault"),
                approvals: root.join("approvals"),
                runs: root.join("runs"),
                research: root.join("research"),
            });
        }
        let home = env_path("HOME").ok_or_else(|| {
            Error::new(Code::SettingsInvalid, "HOME is not set")
                .hint("give --home DIR or set COMMIS_HOME")
        })?;
        let usual = home.join(".config");
        let config = env_path("XDG_CONFIG_HOME").unwrap_or_else(|| usual.clone());
        let state = env_path("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
        Ok(Self {
            config: config.join("commis/config.toml"),
            recipes: config.join("commis/recipes"),
            trust: state.join("commis/trust"),
            playbooks: config.join("commis/playbooks"),
            artifacts: state.join("commis/artifacts"),
            limits: state.join("commis/limits"),
            logs: state.join("commis/logs"),
            serve: state.join("commis/serve"),
            sessions: state.join("commis/sessions"),
            downloads: state.join("commis/downloads"),
            rings: state.join("commis/browse"),
            vault: state.join("commis/vault"),
            approvals: state.join("commis/approvals"),
            runs: state.join("commis/runs"),
            research: state.join("commis/research"),
            named_by: (config != usual).then_some("XDG_CONFIG_HOME"),
        })
    }

    /// Why what stands in the settings file opens no host inside: a project's own files set variables (`.env`, `.envrc`) and
    /// could so bring settings of their own, and a file that others can write is theirs as well.
    #[cfg(unix)]
    pub fn not_the_users_word(&self) -> Option<String> {
        use std::os::unix::fs::MetadataExt as _;
        if let Some(variable) = self.named_by {
            return Some(format!(
                "${variable} locates the file, and a project could set it; give the folder with --home"
            ));
        }
        let known = std::fs::metadata(&self.config).ok()?;
        let me = rustix::process::geteuid().as_raw();
        if ![me, 0].contains(&known.uid()) {
            return Some("the file belongs to somebody else".to_owned());
        }
        (known.mode() & 0o022 != 0).then(|| "others can write the file; `chmod 600` it".to_owned())
    }

    #[cfg(not(unix))]
    pub fn not_the_users_word(&self) -> Option<String> {
        Some("who else can write the settings file is not known on this system".to_owned())
    }
}

/// Where other programs of the user keep their settings.
#[derive(Clone, Debug)]
pub struct UserFolders {
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`, or its default.
    pub config: PathBuf,
}

impl UserFolders {
    /// Fails with [`Code::SettingsInvalid`] where `HOME` is not set, or is no absolute path.
    pub fn find() -> Result<Self> {
        let home = env_path("HOME").filter(|it| it.is_absolute()).ok_or_else(|| {
            Error::new(Code::SettingsInvalid, "HOME is not set to a folder")
                .hint("set it, or give --scope project")
        })?;
        // As the XDG specification has it, a relative one counts for nothing.
        let config = env_path("XDG_CONFIG_HOME").filter(|it| it.is_absolute());
        Ok(Self { config: config.unwrap_or_else(|| home.join(".config")), home })
    }

    /// An absolute path that another program's own variable names.
    pub fn from_variable(variable: &str) -> Option<PathBuf> {
        env_path(variable).filter(|it| it.is_absolute())
    }
}

/// The user's home, as the environment names it.
pub fn user_folder() -> Option<PathBuf> {
    env_path("HOME").filter(|it| it.is_absolute())
}

/// The desktop that a window can be opened on, as the environment names it. Nothing else of the environment goes to a browser.
#[derive(Clone, Debug)]
pub struct Display(Vec<(&'static str, PathBuf)>);

impl Display {
    /// Fails with [`Code::DisplayMissing`] where there is none.
    pub fn find() -> Result<Self> {
        if cfg!(target_os = "macos") {
            // A window needs nothing of the environment there.
            return Ok(Self(Vec::new()));
        }
        let of = |name: &'static str| Some((name, env_path(name)?));
        let servers: Vec<_> = ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().filter_map(of).collect();
        if servers.is_empty() {
            let message = "there is no display to open a window on: neither DISPLAY nor WAYLAND_DISPLAY is set";
            return Err(Error::new(Code::DisplayMissing, message).hint(
                "run it in a desktop session, or under `xvfb-run` with a remote desktop; elsewhere, learn from a HAR with --har",
            ));
        }
        let access = ["XAUTHORITY", "XDG_RUNTIME_DIR"].into_iter().filter_map(of);
        Ok(Self(servers.into_iter().chain(access).collect()))
    }

    pub fn variables(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        self.0.iter().map(|(name, value)| (*name, value.as_path()))
    }
}

/// What a program of somebody else is told of the environment: where programs are, whose home it is, and whom Node trusts. Keys are
/// in there, so nothing else goes.
pub fn child_environment() -> BTreeMap<String, PathBuf> {
    let names = ["PATH", "HOME", "LANG", "NODE_EXTRA_CA_CERTS"].into_iter();
    let mut out: BTreeMap<String, PathBuf> =
        names.filter_map(|it| Some((it.to_owned(), env_path(it)?))).collect();
    out.entry("PATH".to_owned()).or_insert_with(|| PathBuf::from("/usr/local/bin:/usr/bin:/bin"));
    out
}

/// Whether the environment has it, and something in it.
pub fn has_variable(name: &str) -> bool {
    env_path(name).is_some()
}

#[expect(clippy::disallowed_methods, reason = "the only reader of the environment")]
fn env_path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_offered_says_why() {
        for name in NOT_OFFERED.iter().flat_map(|it| it.0) {
            let err = Settings::parse(&format!("[browser]\n{name} = true\n")).unwrap_err();
            assert_eq!(err.code(), Code::SettingsInvalid);
            assert!(err.message().contains(&format!("browser.{name} is not offered: ")), "{err}");
        }
        let check = |text: &str, part: &str| {
            let err = Settings::parse(text).unwrap_err();
            assert!(err.message().contains(part), "{text}: {err}");
        };
        check("[browser]\nanything = 1\n", "unknown field");
        check("[browser]\nsession_ttl_minutes = 0\n", "between 1 and 1440");
        check("[limits]\nper_minute = 6001\n", "limits.per_minute must be between 1 and 6000");
        check("[egress]\nbrowser_mode = \"none\"\n", "unknown variant");
        let strict = Settings::parse("[egress]\nbrowser_mode = \"strict\"\n").unwrap();
        assert_eq!(strict.egress.browser_mode, BrowserMode::Strict);
        let none = Settings::parse("").unwrap();
        assert_eq!(none.egress.browser_mode, BrowserMode::Lite);
        assert_eq!(none.browser.session_ttl_minutes, 20);
    }

    #[test]
    fn hosts_of_ones_own_are_the_users_word() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let home = Home::find(Some(folder.path())).unwrap();
        let text = "[egress.own]\n\"wiki.lan:443\" = \"192.168.1.5\"\n";
        #[expect(clippy::disallowed_methods, reason = "as an editor would leave it")]
        std::fs::write(&home.config, text).unwrap();
        let check = |home: &Home, mode: u32, refused: &str| {
            let mode = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&home.config, mode).unwrap();
            let egress = Settings::load(home).unwrap().egress;
            assert_eq!(egress.own.is_empty(), !refused.is_empty());
            assert!(egress.own_refused.unwrap_or_default().contains(refused));
            assert_eq!(egress.file.as_ref(), Some(&home.config));
        };
        check(&home, 0o600, "");
        check(&home, 0o644, "");
        check(&home, 0o664, "others can write");
        check(&home, 0o646, "others can write");
        for variable in ["COMMIS_HOME", "XDG_CONFIG_HOME"] {
            let named = Home { named_by: Some(variable), ..home.clone() };
            check(&named, 0o600, variable);
        }
    }
}
