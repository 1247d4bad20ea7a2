//! Playwright's MCP server as a process of ours: started, spoken to over its standard input and output, and ended with all it started.

use std::{
    collections::{BTreeMap, VecDeque},
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleClient, ServiceExt as _,
    model::{CallToolRequestParams, CallToolResult, ContentBlock},
    service::{RunningService, ServiceError},
};
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process};
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

use super::HOW;
use commis_base::{
    error::{Code, Error, Result},
    files, processes,
};
use commis_browser::{Gateway, KEPT_IN, Profile, cut, plain, unprivileged_user};

/// From its start to its list of tools (seed 002, AC-1.1).
const CONNECT: Duration = Duration::from_secs(10);
/// For one call. The server itself gives an action 5 s and a page 60.
const CALL: Duration = Duration::from_secs(75);
/// For Node to say its version.
const VERSION: Duration = Duration::from_secs(5);
/// For the server to end by itself, and its browser with it; 5 s are allowed (seed 002, 3.2).
const LAST: Duration = Duration::from_secs(3);
/// For the last words of one that has ended to be read.
const REST: Duration = Duration::from_millis(500);
/// Lines of its last words.
const WORDS: usize = 5;
/// The oldest Node that the server runs on.
const NODE: u32 = 18;

const NODE_HINT: &str = "install Node.js 18 or later and npm: `apt-get install nodejs npm`, or your system's packages of these names; then try again";

/// How the server is started.
#[derive(Clone, Debug)]
pub struct PlaywrightOptions {
    /// The program and its arguments, without what is added here.
    pub command: Vec<String>,
    /// All that it is told of the environment.
    pub environment: BTreeMap<String, PathBuf>,
    /// Chromium.
    pub browser: PathBuf,
    /// Further arguments of Chromium.
    pub arguments: Vec<String>,
    /// Where the browser keeps logins from one run to the next; absent: it begins as a stranger, and leaves nothing behind.
    pub profile: Option<PathBuf>,
}

/// A running server, and the folder that it works in. Dropping it ends it, its browser, and all that it started.
pub struct Server {
    client: Option<RunningService<RoleClient, ()>>,
    child: Option<Child>,
    folder: Option<Profile>,
    tail: StderrTail,
    /// Name, what it is for, and its arguments.
    pub tools: Vec<(String, String, Value)>,
}

type StderrTail = Arc<Mutex<VecDeque<String>>>;

/// How a call failed.
pub enum CallError {
    /// The connection is gone, and the server with it.
    Gone,
    Other(Error),
}

/// What a call came to.
#[derive(Debug, Default)]
pub struct ToolResult {
    pub text: String,
    pub is_error: bool,
    /// The first picture, as base64.
    pub picture: Option<String>,
}

impl PlaywrightOptions {
    /// Fails with `SETTINGS_INVALID` where there is no Node, or one that is too old (seed 002, AC-1.5).
    pub async fn check_node(&self) -> Result<()> {
        let program = self.command.first().map_or("", String::as_str);
        let is_node =
            Path::new(program).file_name().is_some_and(|it| it == "node" || it == "nodejs");
        let node = if is_node { program } else { "node" };
        let mut command = command(node);
        command
            .arg("--version")
            .env_clear()
            .envs(&self.environment)
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let said = tokio::time::timeout(VERSION, command.output()).await;
        let said = said.ok().and_then(std::result::Result::ok).filter(|it| it.status.success());
        let said = said.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
        match said.as_deref().map(|it| (it, major(it))) {
            Some((_, Some(it))) if it >= NODE => Ok(()),
            Some((it, Some(_))) => {
                let it = cut(&plain(it), 40);
                Err(Error::new(
                    Code::SettingsInvalid,
                    format!(
                        "Playwright's server needs Node.js {NODE} or later, and `{node}` is {it}"
                    ),
                )
                .hint(NODE_HINT))
            }
            _ => Err(Error::new(
                Code::SettingsInvalid,
                format!("Playwright's server needs Node.js, and `{node}` does not run"),
            )
            .hint(NODE_HINT)),
        }
    }

    /// The settings file of the server. Everything is said there, since its command line can be read by every process.
    fn settings(&self, gateway: &Gateway, folder: &Path) -> Value {
        let (user, word) = gateway.credentials();
        let mut arguments: Vec<String> = KEPT_IN.iter().map(|it| (*it).to_owned()).collect();
        arguments.push(gateway.argument());
        arguments.extend_from_slice(&self.arguments);
        let mut browser = json!({
            "browserName": "chromium",
            "isolated": self.profile.is_none(),
            "launchOptions": {
                "headless": true,
                "executablePath": self.browser,
                "chromiumSandbox": true,
                "args": arguments,
                "proxy": {"server": gateway.url(), "username": user, "password": word},
            },
            // What a service worker asks for belongs to no act.
            "contextOptions": {"serviceWorkers": "block", "acceptDownloads": false, "permissions": []},
        });
        if let Some(it) = &self.profile {
            browser["userDataDir"] = json!(it);
        }
        json!({
            "browser": browser,
            "capabilities": ["core"],
            "webmcp": false,
            "outputDir": folder.join("out"),
            "codegen": "none",
            // The page is asked for when it is wanted.
            "snapshot": {"mode": "none"},
        })
    }
}

/// `v20.20.2`
fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the browser's server, which the user asked for by name"
)]
fn command(program: &str) -> Command {
    Command::new(program)
}

/// A folder that the browser's user can write to. Fails with `SETTINGS_INVALID`.
fn create_folder(folder: &Path, user: Option<(u32, u32)>) -> Result<()> {
    files::open_or_create(folder)?;
    if let Some((uid, gid)) = user {
        chown(folder, Some(uid), Some(gid)).map_err(|err| {
            Error::new(
                Code::SettingsInvalid,
                format!(
                    "cannot give the profile folder {} to the user of the browser",
                    folder.display()
                ),
            )
            .source(err)
        })?;
    }
    Ok(())
}

fn mcp_error(what: impl Into<String>) -> Error {
    Error::new(Code::McpFailed, what).hint(HOW)
}

impl Server {
    /// Starts it, as an unprivileged user when we are root, and speaks to it until it has said what it can do. Fails with
    /// `MCP_FAILED`, with its last words.
    pub async fn start(how: &PlaywrightOptions, gateway: &Gateway) -> Result<Self> {
        let user = unprivileged_user();
        let folder = Profile::create(user)?;
        let path = folder.path().to_owned();
        let settings = how.settings(gateway, &path);
        files::open_or_create(&path)?
            .write_unsynced("settings.json", settings.to_string().as_bytes())?;
        let file = path.join("settings.json");
        if let Some(it) = &how.profile {
            create_folder(it, user)?;
        }
        if let Some((uid, gid)) = user {
            chown(&file, Some(uid), Some(gid))
                .map_err(|err| mcp_error("prepare its folder").source(err))?;
        }

        let (program, arguments) =
            how.command.split_first().ok_or_else(|| mcp_error("the command is empty"))?;
        let mut command = command(program);
        command
            .args(arguments)
            .arg("--config")
            .arg(&file)
            .env_clear()
            .envs(&how.environment)
            .current_dir(&path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some((uid, gid)) = user {
            // That user has no home.
            command.uid(uid).gid(gid).env("HOME", &path);
        }
        let shown = plain(&how.command.join(" "));
        let mut child = command.spawn().map_err(|err| {
            mcp_error(format!("Playwright's server cannot be started: {shown}")).source(err)
        })?;
        let tail = StderrTail::default();
        let reads = child.stderr.take().map(|it| tokio::spawn(keep(it, Arc::clone(&tail))));
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(mcp_error("Playwright's server has no standard input"));
        };
        let mut out = Self {
            client: None,
            child: Some(child),
            folder: Some(folder),
            tail,
            tools: Vec::new(),
        };
        let begun = async {
            let client = ().serve((output, input)).await.map_err(|err| err.to_string())?;
            let tools = client.peer().list_all_tools().await.map_err(|err| err.to_string())?;
            Ok::<_, String>((client, tools))
        };
        let why = match tokio::time::timeout(CONNECT, begun).await {
            Ok(Ok((client, tools))) => {
                out.client = Some(client);
                out.tools = tools
                    .into_iter()
                    .map(|it| {
                        let help = it.description.unwrap_or_default().into_owned();
                        (it.name.into_owned(), help, Value::Object((*it.input_schema).clone()))
                    })
                    .collect();
                return Ok(out);
            }
            Ok(Err(why)) => cut(&plain(&why), 200),
            Err(_) => format!("it did not answer within {} s", CONNECT.as_secs()),
        };
        // What it wrote before it ended may still be on its way.
        if let Some(it) = reads {
            let _ = tokio::time::timeout(REST, it).await;
        }
        let words = out.last_words();
        Err(mcp_error(format!("no connection to Playwright's server ({shown}): {why}{words}")))
    }

    /// Calls a tool.
    pub async fn call(
        &self,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<ToolResult, CallError> {
        let client = self
            .client
            .as_ref()
            .filter(|it| !it.peer().is_transport_closed())
            .ok_or(CallError::Gone)?;
        let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
        match tokio::time::timeout(CALL, client.peer().call_tool(params)).await {
            Ok(Ok(it)) => Ok(to_tool_result(it)),
            Ok(Err(
                ServiceError::TransportClosed
                | ServiceError::TransportSend(_)
                | ServiceError::Cancelled { .. },
            )) => Err(CallError::Gone),
            Ok(Err(err)) => {
                let why = cut(&plain(&err.to_string()), 400);
                Err(CallError::Other(Error::new(Code::StepFailed, why)))
            }
            Err(_) => {
                Err(CallError::Other(Error::new(Code::Timeout, format!("{name} took too long"))))
            }
        }
    }

    /// What it complained of last, to stand behind a message.
    pub fn last_words(&self) -> String {
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.is_empty() {
            return String::new();
        }
        format!("; its last words: {}", tail.iter().cloned().collect::<Vec<_>>().join(" | "))
    }

    #[cfg(test)]
    pub fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }
}

fn to_tool_result(it: CallToolResult) -> ToolResult {
    let mut out = ToolResult { is_error: it.is_error == Some(true), ..ToolResult::default() };
    for part in it.content {
        match part {
            ContentBlock::Text(it) => {
                out.text.push_str(&it.text);
                out.text.push('\n');
            }
            ContentBlock::Image(it) if out.picture.is_none() => out.picture = Some(it.data),
            _ => {}
        }
    }
    out
}

async fn keep(stderr: tokio::process::ChildStderr, tail: StderrTail) {
    let mut lines = BufReader::new(stderr).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let line = cut(&plain(&line), 300);
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if !line.is_empty() {
            if tail.len() == WORDS {
                tail.pop_front();
            }
            tail.push_back(line);
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let (client, child, folder) = (self.client.take(), self.child.take(), self.folder.take());
        let Some(mut child) = child else { return };
        // Its browser is in a group of its own, and nobody's child when the server is gone.
        let all = child.id().map(processes::descendants).unwrap_or_default();
        let end = move |all: &[Pid]| {
            for it in all {
                // Whoever leads a group takes it along.
                let _ = kill_process_group(*it, Signal::KILL);
                let _ = kill_process(*it, Signal::KILL);
            }
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            end(&all);
            return;
        };
        runtime.spawn(async move {
            // Upon the end of its input it closes its browser, and what a profile should keep is written.
            drop(client);
            let _ = tokio::time::timeout(LAST, async {
                let _ = child.wait().await;
                while all
                    .iter()
                    .any(|it| test_kill_process(*it).is_ok() && !processes::has_ended(*it))
                {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            })
            .await;
            end(&all);
            let _ = child.wait().await;
            drop(folder);
        });
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
pub mod tests;
