//! What settings decide: the egress policy, the client, the browser. Made again when the settings are read again.

use std::{sync::Arc, time::Duration};

use super::{channels::settings::check_channels, mcp::ToolSelection};
use commis_base::{
    error::{Error, Result},
    settings::{Display, Home, Settings},
};
use commis_browser::{Browser, Context, find_visible_chromium};
use commis_learn::{BrowserPool, LearnContext, OnStage, RecipeRunner, RedoScope, Sessions};
use commis_net::{egress::EgressPolicy, transport::retry::WaitEvent};
use commis_runner::call::Caller;
use commis_vault::Login;

pub struct Runtime {
    pub settings: Settings,
    /// Which tools the settings offer.
    pub tools: ToolSelection,
    pub caller: Caller,
    pub browser: BrowserPool,
    sessions: Sessions,
}

impl Runtime {
    /// Fails with `SETTINGS_INVALID`.
    pub fn new(home: &Home, settings: Settings) -> Result<Self> {
        let policy = Arc::new(EgressPolicy::new(&settings.egress)?);
        check_channels(&settings, &policy)?;
        let browser = BrowserPool::new(Arc::clone(&policy), settings.browser.clone());
        let sessions = Sessions::new(browser.clone(), settings.browser.session_ttl());
        let caller = Caller::new(home, &settings, policy, Box::new(waits))?;
        let tools = ToolSelection::parse(&settings.serve.tools)?;
        Ok(Self { settings, tools, caller, browser, sessions })
    }

    pub fn policy(&self) -> &Arc<EgressPolicy> {
        self.caller.policy()
    }

    pub fn runs(&self) -> RecipeRunner<'_> {
        RecipeRunner { caller: &self.caller, sessions: &self.sessions, tell: &log_info }
    }

    /// Sessions that pages are opened in with that login, for one run.
    pub fn logged_in(&self, login: Login) -> Sessions {
        let ttl = self.settings.browser.session_ttl();
        Sessions::new(self.browser.clone(), ttl).logged_in(login)
    }

    /// Everything that learning one task needs. Fails with what the model's settings fail with, and with `ARTIFACT_IO`.
    pub fn learning(
        &self,
        home: &Home,
        redo: Option<RedoScope>,
        on_stage: OnStage,
    ) -> Result<Arc<LearnContext>> {
        LearnContext::open(
            home,
            &self.settings,
            self.browser.clone(),
            (redo, Duration::ZERO),
            on_stage,
        )
    }

    /// A context with a window of its own, in a browser of its own, behind the same policy. Fails with `DISPLAY_MISSING`,
    /// `BROWSER_MISSING`, `BROWSER_FAILED`.
    pub async fn window(&self) -> Result<Context> {
        let display = Display::find().map_err(|err| {
            Error::new(err.code(), "the daemon has no display to open a window on").hint(
                "run `commis daemon restart` in a terminal of your desktop (this closes open pages); without a desktop, start \
                 the daemon under `xvfb-run` and look at it with a remote desktop",
            )
        })?;
        let settings = &self.settings.browser;
        let exe = find_visible_chromium(settings.path.as_deref())?;
        let policy = Arc::clone(self.policy());
        Browser::launch_visible(&exe, policy, settings, &display).await?.context().await
    }

    /// Ends the browser and what is open in it.
    pub async fn rest(&self) {
        self.sessions.forget().await;
        self.browser.close().await;
    }
}

fn waits(wait: &WaitEvent) {
    tracing::info!(host = %wait.host, pause_ms = wait.pause.as_millis() as u64, "a call waits");
}

pub fn log_info(text: &str) {
    tracing::info!("{text}");
}

/// No database to count in.
pub fn no_state(code: commis_base::error::Code) -> Error {
    Error::new(code, "there is no database to count runs in")
}
