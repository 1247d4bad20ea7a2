//! What drives a run's browser: a page of the daemon that stays, or Playwright's server. What waits for a person waits in either.

use std::{path::PathBuf, sync::Arc};

use futures::future::BoxFuture;

use super::{
    local_driver::{self, LocalDriver},
    request::{Backend, NamedLogin, TaskRequest},
    suspended::SuspendedRun,
};
use crate::{
    Daemon,
    operations::{OperationContext, login_expired},
    page_sessions::PageSessions,
    principal::AccessRequirement,
};
use commis_agent::{
    Action, ActionResult, BrowserDriver, PageView, PausedRequest, TaskPolicy,
    playwright::{Playwright, PlaywrightOptions, command},
};
use commis_base::{
    error::{Code, Error, Result},
    settings,
};
use commis_browser::{
    check_arguments, find_chromium, page_session::PageController, paused_requests::RequestJudge,
};
use commis_model::Tool;
use commis_net::egress::site_of;
use commis_vault::{LoginName, Vault};

/// The login that the run's page begins with, where one is named. Fails with `FORBIDDEN`, `PARAM_INVALID` where it is of a site that
/// the task does not go to, `SESSION_REQUIRED` where it is over, and as the vault does.
pub fn login(
    cx: &OperationContext,
    it: &TaskRequest,
    task_policy: &TaskPolicy,
) -> Result<Option<NamedLogin>> {
    let Some(name) = &it.login else { return Ok(None) };
    cx.principal.must(AccessRequirement::Login, Some(name))?;
    if it.backend == Backend::PlaywrightMcp {
        return Err(Error::new(
            Code::ParamInvalid,
            "Playwright's browser cannot use logins of the vault",
        )
        .hint("set `playwright_profile = true` under [agent], so that this browser keeps its own logins"));
    }
    let name: LoginName = name.parse()?;
    let (card, held) = Vault::new(&cx.daemon.home).open(&name)?;
    if held.has_expired() {
        return Err(login_expired(&name));
    }
    let of = site_of(held.url());
    if !task_policy.sites().any(|it| *it == of) {
        let what = format!("the login `{name}` is of {}, where this task does not go", card.site);
        return Err(Error::new(Code::ParamInvalid, what));
    }
    Ok(Some((name, held)))
}

/// Dropping it closes its page, and what waits there does not leave.
pub enum RunDriver {
    Own(LocalDriver),
    Theirs(Box<Playwright>),
}

impl RunDriver {
    /// A run's own page in our browser.
    pub fn local(
        cx: &OperationContext,
        context: &str,
        judge: RequestJudge,
        folder: PathBuf,
    ) -> Self {
        let (daemon, principal) = (Arc::clone(&cx.daemon), cx.principal.clone());
        Self::Own(LocalDriver::new(daemon, principal, context.to_owned(), judge, folder))
    }

    /// Puts that login into the page, before anything is done there.
    pub async fn log_in(&mut self, login: &NamedLogin) -> Result<()> {
        match self {
            Self::Own(it) => it.log_in(login).await,
            // `login` refused it.
            Self::Theirs(_) => Ok(()),
        }
    }

    /// A browser of Playwright's, behind the same judge. Fails with `BROWSER_MISSING`, `SETTINGS_INVALID`, `MCP_FAILED`.
    pub async fn playwright(
        cx: &OperationContext,
        context: &str,
        judge: RequestJudge,
        folder: PathBuf,
    ) -> Result<Self> {
        let runtime = cx.daemon.runtime();
        let (agent, browser) = (&runtime.settings.agent, &runtime.settings.browser);
        check_arguments(&browser.args)?;
        let options = PlaywrightOptions {
            command: command(agent.playwright_mcp.as_deref())?,
            environment: settings::child_environment(),
            browser: find_chromium(browser.path.as_deref())?,
            arguments: browser.args.clone(),
            profile: agent.playwright_profile.then(|| folder.with_file_name("playwright")),
        };
        let pictures = (folder, context.to_owned());
        let it = Playwright::start(options, runtime.policy(), judge, pictures).await?;
        Ok(Self::Theirs(Box::new(it)))
    }

    /// The page stays open, and with it what waits there. What has to be kept for that.
    pub fn left_open(self) -> Option<Box<Playwright>> {
        match self {
            Self::Own(it) => {
                it.leave_open();
                None
            }
            Self::Theirs(it) => Some(it),
        }
    }

    /// The page of a run that waited.
    pub fn reattach(daemon: &Arc<Daemon>, inner: &mut SuspendedRun) -> Self {
        if let Some(it) = inner.external_browser.take() {
            return Self::Theirs(it);
        }
        let folder = daemon.home.runs.clone();
        let (principal, context) = (inner.principal.clone(), inner.context.clone());
        Self::Own(LocalDriver::reattach(Arc::clone(daemon), principal, context, folder))
    }

    /// What waits by that number, as it would leave now.
    pub async fn held_request(
        &self,
        daemon: &Daemon,
        inner: &SuspendedRun,
        number: u64,
    ) -> Result<Option<PausedRequest>> {
        match self {
            Self::Own(_) => {
                let of = (&inner.principal, inner.context.as_str());
                PageSessions::with(daemon, of, async |controller: &mut PageController| {
                    let all = controller.waiting_now().await?;
                    Ok(all
                        .iter()
                        .find(|it| it.number == number)
                        .map(local_driver::to_held_request_data))
                })
                .await
            }
            Self::Theirs(it) => Ok(it.held_request(number)),
        }
    }

    /// All that waits now. What cannot be asked has none.
    pub async fn all_waiting(&self, daemon: &Daemon, inner: &SuspendedRun) -> Vec<PausedRequest> {
        match self {
            Self::Own(_) => {
                let of = (&inner.principal, inner.context.as_str());
                let all = async |controller: &mut PageController| {
                    Ok(controller
                        .waiting_now()
                        .await?
                        .iter()
                        .map(local_driver::to_held_request_data)
                        .collect())
                };
                PageSessions::with(daemon, of, all).await.unwrap_or_default()
            }
            Self::Theirs(_) => Vec::new(),
        }
    }

    /// Lets that one go: what followed, for the model, and how it was answered. Fails with `APPROVAL_STALE`, where it is not sent; any
    /// other failure leaves open whether it was.
    pub async fn let_leave(
        &mut self,
        daemon: &Daemon,
        inner: &SuspendedRun,
        number: u64,
    ) -> Result<(String, Option<u16>)> {
        match self {
            Self::Own(_) => {
                let of = (&inner.principal, inner.context.as_str());
                let left =
                    async |controller: &mut PageController| controller.let_leave(number).await;
                let (said, status) = PageSessions::with(daemon, of, left).await?;
                Ok((said.text, status))
            }
            Self::Theirs(it) => it.let_leave(number).await,
        }
    }

    fn driver(&mut self) -> &mut dyn BrowserDriver {
        match self {
            Self::Own(it) => it,
            Self::Theirs(it) => &mut **it,
        }
    }
}

impl BrowserDriver for RunDriver {
    fn tools(&self) -> Vec<Tool> {
        match self {
            Self::Own(it) => it.tools(),
            Self::Theirs(it) => it.tools(),
        }
    }

    fn act<'a>(&'a mut self, act: &'a Action, on: &'a str) -> BoxFuture<'a, Result<ActionResult>> {
        self.driver().act(act, on)
    }

    fn snapshot(&mut self) -> BoxFuture<'_, Result<PageView>> {
        self.driver().snapshot()
    }

    fn drawn(&mut self) -> BoxFuture<'_, Result<Option<String>>> {
        self.driver().drawn()
    }

    fn picture(&mut self) -> BoxFuture<'_, Result<Option<PathBuf>>> {
        self.driver().picture()
    }

    fn hand_over(&mut self, note: &str) -> BoxFuture<'_, bool> {
        let note = note.to_owned();
        Box::pin(async move { self.driver().hand_over(&note).await })
    }

    fn take_back(&mut self) -> BoxFuture<'_, Result<()>> {
        self.driver().take_back()
    }
}
