//! Playwright's official MCP server as the loop's hands.
//!
//! What leaves its browser is judged at a gateway of ours (`browser/gateway.rs`), by its bytes: whatever that server or its browser do,
//! what may change something waits there. What is less than in our own browser: hosts of the user's own and WebSockets are not
//! reached, what a page shows is that server's word, hidden text is not told apart, and nothing is learned from it.

mod page;
mod server;
mod tools;

use std::{path::PathBuf, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures::future::BoxFuture;
use serde_json::{Map, Value, json};

pub use self::server::PlaywrightOptions;
use self::server::{CallError, Server, ToolResult};
use super::{Action, ActionResult, BrowserDriver, PageView, PausedRequest};
use commis_base::{
    error::{Code, Error, Result},
    files,
};
use commis_browser::{
    Gateway, GatewayRequest, ReleaseOutcome, cut, paused_requests::RequestJudge, plain,
};
use commis_model::Tool;
use commis_net::egress::{EgressPolicy, site_of};

/// The version that was tried; what another one says of a page may read differently.
pub const PINNED: &str = "@playwright/mcp@0.0.83";
/// What to do about it.
const HOW: &str = "see that Node.js is installed and that `npx --yes @playwright/mcp@0.0.83 --help` works, or set `playwright_mcp` under [agent] \
     to the command of an installed one";
/// For an action to end when what it led to waits.
const ENDS: Duration = Duration::from_secs(8);
/// Bytes of a picture.
const PICTURE: usize = 16 * 1024 * 1024;

/// A browser of Playwright's. Dropping it ends the server and its browser, and what waits does not leave.
pub struct Playwright {
    how: PlaywrightOptions,
    gateway: Gateway,
    server: Server,
    tools: Vec<Tool>,
    /// The page as it was seen last.
    view: PageView,
    /// What was done last, where a change may follow from it.
    acting: Option<(String, Map<String, Value>)>,
    /// The control that something was done to last, by role and name.
    pressed: Option<(String, String)>,
    /// The connection was lost once.
    again: bool,
    /// Where pictures come, and what they are called.
    pictures: (PathBuf, String, u32),
}

/// The command of the settings, or the usual one. Fails with `SETTINGS_INVALID`.
pub fn command(setting: Option<&str>) -> Result<Vec<String>> {
    let Some(text) = setting else {
        return Ok(["npx", "--yes", PINNED].map(str::to_owned).to_vec());
    };
    shlex::split(text).filter(|it| !it.is_empty()).ok_or_else(|| {
        Error::new(Code::SettingsInvalid, "the setting agent.playwright_mcp is not a command")
            .hint("such as \"playwright-mcp\", or \"node /opt/playwright-mcp/cli.js\"; quotes are as in a shell")
    })
}

impl Playwright {
    /// Starts the server with its browser behind `policy` and `judge`. `folder`: where pictures come, with a name that begins so.
    /// Fails with `SETTINGS_INVALID` where there is no Node, and with `MCP_FAILED`.
    pub async fn start(
        how: PlaywrightOptions,
        policy: &EgressPolicy,
        judge: RequestJudge,
        (folder, name): (PathBuf, String),
    ) -> Result<Self> {
        how.check_node().await?;
        let gateway = Gateway::start(policy, judge).await?;
        let server = Server::start(&how, &gateway).await?;
        let tools = tools::offered(&server.tools)?;
        Ok(Self {
            how,
            gateway,
            server,
            tools,
            view: PageView::default(),
            acting: None,
            pressed: None,
            again: false,
            pictures: (folder, name, 0),
        })
    }

    /// What waits, by that number.
    pub fn held_request(&self, number: u64) -> Option<PausedRequest> {
        self.held_requests().into_iter().find(|it| it.id == number.to_string())
    }

    /// Lets one request go. What followed, and how it was answered, where that is known. Fails with `APPROVAL_STALE` where it is not
    /// sent.
    pub async fn let_leave(&mut self, number: u64) -> Result<(String, Option<u16>)> {
        let status = match self.gateway.let_leave(number).await? {
            ReleaseOutcome::Sent(it) => it,
            ReleaseOutcome::Again => {
                if let Some((name, arguments)) = self.acting.clone() {
                    // Whatever that says: what was sent counts.
                    let _ = self.server.call(&name, arguments).await;
                }
                self.gateway.ends();
                self.gateway.settled().await.ok_or_else(|| {
                    self.gateway.take_back();
                    Error::new(Code::ApprovalStale, "the page would send another request now")
                })?
            }
        };
        // The page takes the answer in.
        let pause = Map::from_iter([("time".to_owned(), json!(1))]);
        let _ = self.server.call("browser_wait_for", pause).await;
        let told = status
            .map_or("there was no answer".to_owned(), |it| format!("it was answered with {it}"));
        Ok((told, status))
    }

    fn held_requests(&self) -> Vec<PausedRequest> {
        let held = |it: GatewayRequest| PausedRequest {
            id: it.number.to_string(),
            method: it.method,
            url: it.url,
            headers: it.headers,
            body: it.body,
            is_opaque: false,
            why: it.why,
            cookies: it.cookies,
        };
        self.gateway.held_requests().into_iter().map(held).collect()
    }

    /// Calls a tool; where the connection is gone, starts the server once more, at the page that was seen last. The call is not made
    /// again: nobody knows how far it got. Fails with `STEP_FAILED` then, and with `MCP_FAILED` the next time.
    async fn call(&mut self, name: &str, arguments: Map<String, Value>) -> Result<ToolResult> {
        match self.server.call(name, arguments).await {
            Ok(it) => Ok(it),
            Err(CallError::Other(err)) => Err(err),
            Err(CallError::Gone) => {
                self.start_again().await?;
                Err(lost(name, &self.view.url))
            }
        }
    }

    async fn start_again(&mut self) -> Result<()> {
        let words = self.server.last_words();
        if std::mem::replace(&mut self.again, true) {
            return Err(Error::new(
                Code::McpFailed,
                format!("the connection to Playwright's server was lost twice{words}"),
            )
            .hint(HOW));
        }
        tracing::warn!("the connection to Playwright's server was lost{words}");
        self.gateway.take_back();
        self.server = Server::start(&self.how, &self.gateway).await?;
        if self.view.url.starts_with("http") {
            let url = Map::from_iter([("url".to_owned(), json!(self.view.url))]);
            self.gateway.begins(false, None);
            // Where that fails, the next look says so.
            let _ = self.server.call("browser_navigate", url).await;
        }
        Ok(())
    }

    async fn acted(&mut self, act: &Action, on: &str) -> Result<ActionResult> {
        let (name, arguments) = tools::call(act, &self.view)?;
        if tools::acts(&name) && name != "browser_handle_dialog" {
            // A dialog that has come meanwhile answers the act itself.
            let now = self.call("browser_snapshot", Map::new()).await?;
            if page::dialog(&now.text).is_none()
                && site_of(&page::parse_page(&now.text)?.url) != site_of(on)
            {
                let why = "the page is of another site now than when it was looked at";
                return Err(Error::new(Code::RefStale, why).hint("take a new snapshot"));
            }
        }
        // A key goes to the control that was used last.
        if name != "browser_press_key" {
            self.pressed = tools::pressed(act, &self.view);
        }
        self.gateway.begins(tools::acts(&name), self.pressed.clone());
        self.acting = tools::acts(&name).then(|| (name.clone(), arguments.clone()));
        let done = {
            let held = self.gateway.held_requests().len();
            let call = self.server.call(&name, arguments);
            tokio::pin!(call);
            tokio::select! {
                it = &mut call => Some(it),
                // It may wait for the answer that does not come.
                () = self.gateway.wait_for_held(), if held == 0 => {
                    tokio::time::timeout(ENDS, &mut call).await.ok()
                }
            }
        };
        let refused = self.gateway.ends();
        let held = self.held_requests();
        let mut text = match done {
            None => format!("{name} waits"),
            Some(Ok(it)) if it.is_error && held.is_empty() => {
                let why = page::error(&it.text);
                return Err(Error::new(Code::StepFailed, why + &describe_refused(&refused)));
            }
            Some(Ok(it)) if it.is_error => page::error(&it.text),
            Some(Ok(it)) => format!("{name} was done{}", page::describe_result(&it.text)),
            Some(Err(CallError::Other(err))) if held.is_empty() => return Err(err),
            Some(Err(CallError::Other(err))) => err.to_string(),
            Some(Err(CallError::Gone)) => {
                self.start_again().await?;
                return Err(lost(&name, &self.view.url));
            }
        };
        text.push_str(&describe_refused(&refused));
        Ok(ActionResult { text, held })
    }

    async fn looked(&mut self) -> Result<PageView> {
        let said = match self.call("browser_snapshot", Map::new()).await {
            // Looking again changes nothing.
            Err(err) if err.code() == Code::StepFailed => {
                self.call("browser_snapshot", Map::new()).await?
            }
            it => it?,
        };
        if let Some(it) = page::dialog(&said.text) {
            // Nothing else can be seen then.
            let content = format!("- alertdialog {it:?}\n");
            return Ok(PageView { content, ..self.view.clone() });
        }
        if said.is_error {
            return Err(Error::new(Code::StepFailed, page::error(&said.text)));
        }
        self.view = page::parse_page(&said.text)?;
        Ok(self.view.clone())
    }
}

fn lost(name: &str, url: &str) -> Error {
    Error::new(
        Code::StepFailed,
        format!("the browser's server ended during {name} and was started again"),
    )
    .hint(format!(
        "the page {url:?} was opened again and its fields are empty; take a new snapshot"
    ))
}

/// What was refused on the way.
fn describe_refused(refused: &[(String, String)]) -> String {
    let all = refused.iter().map(|(url, why)| {
        let url = cut(&plain(url), 200);
        format!("\nrefused: {url}: {why}")
    });
    all.collect()
}

impl BrowserDriver for Playwright {
    fn tools(&self) -> Vec<Tool> {
        self.tools.clone()
    }

    fn act<'a>(&'a mut self, act: &'a Action, on: &'a str) -> BoxFuture<'a, Result<ActionResult>> {
        Box::pin(self.acted(act, on))
    }

    fn snapshot(&mut self) -> BoxFuture<'_, Result<PageView>> {
        Box::pin(self.looked())
    }

    fn picture(&mut self) -> BoxFuture<'_, Result<Option<PathBuf>>> {
        Box::pin(async move {
            let arguments = Map::from_iter([("type".to_owned(), json!("png"))]);
            let said = self.call("browser_take_screenshot", arguments).await?;
            let png = said.picture.and_then(|it| STANDARD.decode(it).ok());
            let Some(png) = png.filter(|it| it.len() <= PICTURE) else { return Ok(None) };
            let (folder, name, count) = &mut self.pictures;
            *count += 1;
            let name = format!("{name}-{count}.png");
            files::open_or_create(folder)?.write_unsynced(&name, &png)?;
            Ok(Some(folder.join(&name)))
        })
    }
}

#[cfg(test)]
mod tests;
