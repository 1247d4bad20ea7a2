//! Settings: flags over environment over file over defaults. The only reader of the environment.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::error::{Code, Error, Result};

/// Everything a run depends on that is not in a manifest or a recipe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    pub egress: EgressSettings,
    pub ranking: RankingSettings,
    pub decision: DecisionSettings,
    pub learning: LearningSettings,
    pub browser: BrowserSettings,
    pub redact: RedactSettings,
}

/// What the egress policy is told. Nothing here can open a real internal host: see "Test hosts" in ARCHITECTURE.md.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EgressSettings {
    /// `NAME.test=127.0.0.1:PORT` or `*.test=127.0.0.1:PORT`.
    pub test_hosts: Vec<String>,
    /// Ports allowed besides 80 and 443.
    pub allowed_ports: Vec<u16>,
    /// Ask this name server instead of the system's.
    pub nameserver: Option<SocketAddr>,
    /// False: every attempt ends in `NETWORK_DISABLED`. Set by `--no-network`.
    #[serde(skip)]
    pub no_network: bool,
}

/// Weight of each signal: the composite is their weighted sum, scaled so that all positive ones in full make 10,000.
/// Names and meanings are in `stages/signals.rs`; the map is merged over the table there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RankingSettings {
    pub weights: std::collections::BTreeMap<String, i32>,
}

/// When the heuristic path may choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DecisionSettings {
    /// Basis points of confidence. Below it the answer is `needs_selection`.
    pub min_confidence_bp: u32,
}

impl Default for DecisionSettings {
    /// Fixed once: in cross-validation by site over recorded sessions nothing wrong was chosen from here up; see
    /// "Confidence" in ARCHITECTURE.md.
    fn default() -> Self {
        Self { min_confidence_bp: 6000 }
    }
}

/// Budgets of the learning pipeline (seed 1.3, phase B).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LearningSettings {
    pub max_replays: u32,
    pub max_seconds: u32,
    /// Between two calls to one host. Test hosts are exempt.
    pub pace_ms: u64,
}

impl Default for LearningSettings {
    fn default() -> Self {
        Self { max_replays: 24, max_seconds: 30, pace_ms: 250 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BrowserSettings {
    /// Path of the Chromium binary; found by itself when absent.
    pub path: Option<PathBuf>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RedactSettings {
    /// Names of parameters and fields known to be harmless (cursors).
    pub allow: Vec<String>,
}

impl Settings {
    /// The defaults, but for what may be reached and which browser is used.
    pub fn only_egress(self) -> Self {
        Self { egress: self.egress, browser: self.browser, ..Self::default() }
    }

    /// The settings file (absent: defaults), then the environment over it: `COMMIS_TEST_HOSTS` (comma-separated) and
    /// `COMMIS_CHROMIUM`. Fails with [`Code::SettingsInvalid`].
    pub fn load(home: &Home) -> Result<Self> {
        let shown = home.config.display();
        let mut out: Self = match std::fs::read_to_string(&home.config) {
            Ok(text) => toml::from_str(&text).map_err(|err| {
                Error::new(Code::SettingsInvalid, format!("{shown}: {}", err.message()))
                    .hint("see \"Settings\" in README.md; an absent file means the defaults")
            })?,
            Err(err) if err.kind() == std::io::ErrorKind::NotFound => Self::default(),
            Err(err) => {
                return Err(
                    Error::new(Code::SettingsInvalid, format!("cannot read {shown}")).source(err)
                );
            }
        };
        if let Some(hosts) = env_path("COMMIS_TEST_HOSTS") {
            let hosts = hosts.to_string_lossy().into_owned();
            out.egress.test_hosts.extend(
                hosts.split(',').map(str::trim).filter(|it| !it.is_empty()).map(str::to_owned),
            );
        }
        if let Some(path) = env_path("COMMIS_CHROMIUM") {
            out.browser.path = Some(path);
        }
        Ok(out)
    }
}

/// Where things are kept.
#[derive(Clone, Debug)]
pub struct Home {
    pub config: PathBuf,
    pub recipes: PathBuf,
    pub artifacts: PathBuf,
}

impl Home {
    /// `root` (from `--home` or `COMMIS_HOME`) holds everything; without it the XDG folders do.
    /// Fails with [`Code::SettingsInvalid`] when neither a home nor `HOME` is set.
    pub fn find(root: Option<&Path>) -> Result<Self> {
        if let Some(root) = root.map(Path::to_owned).or_else(|| env_path("COMMIS_HOME")) {
            return Ok(Self {
                config: root.join("config.toml"),
                recipes: root.join("recipes"),
                artifacts: root.join("artifacts"),
            });
        }
        let home = env_path("HOME").ok_or_else(|| {
            Error::new(Code::SettingsInvalid, "HOME is not set")
                .hint("give --home DIR or set COMMIS_HOME")
        })?;
        let config = env_path("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let state = env_path("XDG_STATE_HOME").unwrap_or_else(|| home.join(".local/state"));
        Ok(Self {
            config: config.join("commis/config.toml"),
            recipes: config.join("commis/recipes"),
            artifacts: state.join("commis/artifacts"),
        })
    }
}

#[expect(clippy::disallowed_methods, reason = "the only reader of the environment")]
fn env_path(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from)
}
