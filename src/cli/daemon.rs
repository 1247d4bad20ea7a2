//! `commis daemon`: the daemon of a home, started, looked at and ended.

use std::time::{Duration, Instant};

use clap::Subcommand;
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Global, context};
use commis_base::{
    error::{Code, Error, Result},
    settings::Home,
};
use commis_client::{client::Client, state_file::StateFile};
use commis_serve::lifecycle::{Starter, wait_until_gone};

/// How long the daemon gets to say that it ends, and to have ended.
const ASKED: Duration = Duration::from_secs(1);
const ENDED: Duration = Duration::from_millis(4800);

/// Start, stop and inspect the daemon
#[derive(Subcommand)]
pub enum Command {
    /// Start the daemon in the background, unless it is running
    ///
    /// With --json: {running, url, pid, version, health}.
    Start(PrintArgs),
    /// Stop the daemon within five seconds; running tasks get three seconds to finish
    ///
    /// With --json: {stopped}.
    Stop(PrintArgs),
    /// Restart the daemon
    ///
    /// With --json: as `daemon start`.
    Restart(PrintArgs),
    /// Show whether the daemon is running, its address and its health
    ///
    /// With --json: {running, url, pid, version, health}; `health` has uptime_sec, queued, running, recipes, verified and remote. Where none runs
    /// {running: false}.
    Status(PrintArgs),
    /// Print the last lines of the log
    Logs {
        /// Number of lines
        #[arg(short = 'n', long, default_value_t = 50)]
        lines: usize,
    },
}

#[derive(clap::Args)]
pub struct PrintArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Command {
    pub const fn wants_json(&self) -> bool {
        match self {
            Self::Start(it) | Self::Stop(it) | Self::Restart(it) | Self::Status(it) => it.json,
            Self::Logs { .. } => false,
        }
    }
}

pub async fn run(command: Command, global: &Global) -> Result<u8> {
    let home = context::home(global)?;
    match command {
        Command::Start(print) => {
            let (it, kept) = starter(global).ensure(&home).await?;
            print_warning(kept.as_deref());
            show(&it, None, print.json);
            Ok(0)
        }
        Command::Stop(print) => {
            let was = stop(&home).await?;
            if print.json {
                context::out(&json!({"stopped": was}));
            } else {
                context::say(if was { "stopped" } else { "it did not run" });
            }
            Ok(0)
        }
        Command::Restart(print) => {
            stop(&home).await?;
            let it = starter(global).start(&home).await?;
            show(&it, None, print.json);
            Ok(0)
        }
        Command::Status(print) => {
            let Some(it) = StateFile::find(&home)? else {
                if print.json {
                    context::out(&json!({"running": false}));
                } else {
                    context::say("it does not run; `commis daemon start` starts it");
                }
                return Ok(1);
            };
            let health = Client::new(&it).telling(context::say).get("/api/health").await?;
            show(&it, Some(&health["data"]), print.json);
            Ok(0)
        }
        Command::Logs { lines } => logs(&home, lines),
    }
}

/// What starts the daemon of that home as this command was started.
pub fn starter(global: &Global) -> Starter {
    let mut args = Vec::new();
    let mut add = |name: &str, value: &str| args.extend([name.to_owned(), value.to_owned()]);
    if let Some(it) = &global.home {
        add("--home", &std::path::absolute(it).unwrap_or_else(|_| it.clone()).to_string_lossy());
    }
    for it in &global.test_host {
        add("--test-host", it);
    }
    if let Some(it) = &global.test_ca {
        add("--test-ca", &std::path::absolute(it).unwrap_or_else(|_| it.clone()).to_string_lossy());
    }
    if let Some(it) = &global.nameserver {
        add("--nameserver", &it.to_string());
    }
    if global.testbed {
        args.push("--testbed".to_owned());
    }
    Starter { args, tell: context::say }
}

/// The daemon as a client, started if there is none. Fails with `DAEMON_FAILED`.
pub async fn client(global: &Global) -> Result<(Client, StateFile)> {
    let home = context::home(global)?;
    let was = StateFile::find(&home)?.is_some();
    let (it, kept) = starter(global).ensure(&home).await?;
    print_warning(kept.as_deref());
    if !was {
        context::say(&format!(
            "the daemon was started (process {}); `commis daemon stop` ends it",
            it.pid
        ));
    }
    Ok((Client::new(&it).telling(context::say), it))
}

fn print_warning(kept: Option<&str>) {
    if let Some(it) = kept {
        context::say(&context::clean(&format!("warning: {it}")));
    }
}

async fn stop(home: &Home) -> Result<bool> {
    let Some(it) = StateFile::find(home)? else { return Ok(false) };
    let begun = Instant::now();
    let (client, no_args) = (Client::new(&it), json!({}));
    let asked = tokio::time::timeout(ASKED, client.post("/api/shutdown", &no_args)).await;
    if !matches!(asked, Ok(Ok(_))) {
        // It does not answer, but it is ours: the file and the process agree.
        signal(&it, Signal::TERM)?;
    }
    if tokio::time::timeout(ENDED.saturating_sub(begun.elapsed()), wait_until_gone(&it))
        .await
        .is_err()
    {
        signal(&it, Signal::KILL)?;
        wait_until_gone(&it).await?;
    }
    Ok(true)
}

fn signal(it: &StateFile, signal: Signal) -> Result<()> {
    let pid = rustix::process::Pid::from_raw(it.pid.cast_signed());
    let pid = pid.ok_or_else(|| {
        Error::new(Code::DaemonFailed, "the state file of the daemon has no valid process id")
    })?;
    match rustix::process::kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(err) => {
            Err(Error::new(Code::DaemonFailed, "cannot send a signal to the daemon").source(err))
        }
    }
}

fn show(it: &StateFile, health: Option<&Value>, json: bool) {
    if json {
        context::out(&json!({
            "running": true, "url": it.url(), "pid": it.pid, "version": it.version, "health": health,
        }));
        return;
    }
    context::line(&format!("{}  process {}, commis {}", it.url(), it.pid, it.version));
    if let Some(it) = health {
        let up = Duration::from_secs(it["uptime_sec"].as_u64().unwrap_or(0));
        context::line(&format!(
            "up for {} min; {} tasks wait, {} run; {} of {} recipes verified",
            up.as_secs() / 60,
            it["queued"],
            it["running"],
            it["verified"],
            it["recipes"],
        ));
    }
}

/// The newest log's last lines.
fn logs(home: &Home, lines: usize) -> Result<u8> {
    let dir = commis_base::files::Dir::open(&home.logs, false)?;
    let newest = dir
        .as_ref()
        .map(commis_base::files::Dir::names)
        .transpose()?
        .and_then(|it| it.into_iter().next_back());
    let (Some(dir), Some(name)) = (dir, newest) else {
        context::say("there is no log");
        return Ok(1);
    };
    let bytes = dir.read(&name, 64 * 1024 * 1024)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    for it in &all[all.len().saturating_sub(lines)..] {
        context::line(&context::clean(it));
    }
    Ok(0)
}
