//! Chromium over its debugging pipe: contexts behind our own proxy, a recorder, scripted steps, and the two transports that
//! need a session.
//!
//! Nothing of it listens on a port but the egress proxies, on loopback. Raw recordings leave this module in memory only.

mod aim;
mod archive;
mod ask;
mod bodies;
mod cdp;
mod cdp_event;
mod console;
mod context;
mod context_state;
mod controls;
mod cookies;
mod drag;
mod effect;
mod element;
mod event_log;
mod event_stream;
mod executable_paths;
mod failure;
mod fetch;
mod final_intercept;
mod flags;
mod fulfill;
mod gateway;
mod guard;
mod hold_state;
mod input_events;
mod keys;
mod launch;
mod locator_diagnostics;
mod locator_suggestions;
mod log_buffer;
mod login;
mod lookup;
mod manual_session;
mod navigation;
pub mod offline;
mod page;
mod page_events;
pub mod page_session;
pub mod paused_requests;
mod pending_navigation;
mod pending_requests;
mod plan;
mod pointer;
mod prompt_injection;
mod proxy;
mod recorder;
mod request;
mod request_hop;
mod scrolling;
pub mod sessions;
mod steps;
mod tabs;
mod viewer_events;

mod cdp_network;
mod own_host_scope;
#[cfg(test)]
mod tests;
mod text_sanitizer;
mod tls_trust;
mod typed_secrets;
mod typing;
mod user_action_events;
mod user_actions;
mod waiting;

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Deserialize;
use serde_json::json;

pub use self::{
    ask::{Prompt, asked_value},
    context::{Context, RecordingEvent},
    executable_paths::{SANDBOX, find_chromium, find_visible_chromium},
    flags::{KEPT_IN, check as check_arguments},
    gateway::{Gateway, GatewayRequest, ReleaseOutcome},
    keys::is_named as named_key,
    launch::{Profile, unprivileged_user},
    locator_suggestions::StepSuggestion,
    lookup::is_interactive,
    manual_session::FieldEdit,
    plan::{BoundSecret, Choice, Element, Fill, Plan, Step, Tick, Wait},
    prompt_injection::MARK as INSTRUCTS,
    recorder::RequestSummary,
    text_sanitizer::{cut, is_unseen, plain},
};
use self::{cdp::Cdp, launch::Process, tls_trust::TlsTrust};
use commis_base::{
    error::{Code, Error, Result},
    processes,
    settings::{BrowserSettings, Display},
};
use commis_net::egress::EgressPolicy;

const LAUNCH_TIMEOUT: Duration = Duration::from_secs(20);

/// A Chromium that cannot be sandboxed ends at once, and says so in its last words.
fn why_not(err: Error) -> Error {
    if err.message().contains("No usable sandbox") {
        return err.hint(SANDBOX);
    }
    let no_display = ["X server", "ozone_platform", "Wayland"];
    if !no_display.iter().any(|it| err.message().contains(it)) {
        return err;
    }
    Error::new(Code::DisplayMissing, "the display does not let the browser open a window")
        .hint(DISPLAY)
        .source(err)
}

const DISPLAY: &str = "a browser that root starts runs as the user `commis`, or as an unnamed user if there is none, and the display \
must admit that user: run commis as the owner of the desktop, or create the user (`useradd --system --no-create-home commis`) and allow \
it with `xhost +SI:localuser:commis`";

/// One Chromium process; clones share it, and it ends with the last of them (or with us: its pipe closes).
#[derive(Clone)]
pub struct Browser(Arc<Inner>);

struct Inner {
    cdp: Cdp,
    policy: Arc<EgressPolicy>,
    /// Where there are hosts that Chromium cannot be taught to trust.
    vouched: Option<Arc<TlsTrust>>,
    process: Mutex<Option<Process>>,
    pid: u32,
    product: String,
    user_agent: String,
    /// That its renderers are sandboxed, once it was seen.
    sandboxed: tokio::sync::OnceCell<()>,
}

impl Browser {
    /// [`Self::launch_with`] the default settings.
    pub async fn launch(exe: &Path, policy: Arc<EgressPolicy>) -> Result<Self> {
        Self::start(exe, policy, &[], None).await
    }

    /// Starts Chromium, sandboxed and without privileges; all that its contexts send is judged by `policy`.
    ///
    /// Fails with [`Code::BrowserFailed`], with the last words of Chromium in the message, and with
    /// [`Code::SettingsInvalid`] for arguments that are not allowed.
    pub async fn launch_with(
        exe: &Path,
        policy: Arc<EgressPolicy>,
        settings: &BrowserSettings,
    ) -> Result<Self> {
        check_arguments(&settings.args)?;
        Self::start(exe, policy, &settings.args, None).await
    }

    /// The same with windows, for a person.
    ///
    /// Fails with [`Code::DisplayMissing`], too, when the display lets the browser's user not in.
    pub async fn launch_visible(
        exe: &Path,
        policy: Arc<EgressPolicy>,
        settings: &BrowserSettings,
        display: &Display,
    ) -> Result<Self> {
        check_arguments(&settings.args)?;
        Self::start(exe, policy, &settings.args, Some(display)).await
    }

    async fn start(
        exe: &Path,
        policy: Arc<EgressPolicy>,
        extra: &[String],
        display: Option<&Display>,
    ) -> Result<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Version {
            product: String,
            user_agent: String,
        }
        let vouched =
            if policy.has_vouched_hosts() { Some(Arc::new(TlsTrust::new()?)) } else { None };
        let trusted = vouched.as_ref().map(|it| it.argument());
        let extra: Vec<String> = extra.iter().cloned().chain(trusted).collect();
        let (process, (writer, reader), tail) = launch::spawn(exe, &extra, display)?;
        let pid = process.pid().unwrap_or(0);
        let cdp = Cdp::start(writer, reader, tail);
        let version = cdp.send(None, "Browser.getVersion", json!({}));
        // Pages and shared workers come up paused, so that a context sees them before they run.
        let attach = json!({
            "autoAttach": true,
            "waitForDebuggerOnStart": true,
            "flatten": true,
            "filter": [{ "type": "page" }, { "type": "shared_worker" }, { "exclude": true }],
        });
        let attached = cdp.send(None, "Target.setAutoAttach", attach);
        let version: Version = version.read(LAUNCH_TIMEOUT).await.map_err(why_not)?;
        attached.raw(LAUNCH_TIMEOUT).await?;
        Ok(Self(Arc::new(Inner {
            cdp,
            policy,
            vouched,
            process: Mutex::new(Some(process)),
            pid,
            product: version.product,
            user_agent: version.user_agent,
            sandboxed: tokio::sync::OnceCell::new(),
        })))
    }

    /// The product string, such as `HeadlessChrome/156.0.7700.1`.
    pub fn version(&self) -> &str {
        &self.0.product
    }

    fn user_agent(&self) -> &str {
        &self.0.user_agent
    }

    /// An isolated context with its own proxy and one blank page, guarded from its first request on.
    ///
    /// Fails with [`Code::BrowserFailed`], also when a renderer runs without its sandbox: no page of a stranger is opened in it.
    pub async fn context(&self) -> Result<Context> {
        let context = Context::create(self.clone()).await?;
        let look = || async {
            match self.sandboxed().await {
                Some(false) => Err(Error::new(
                    Code::BrowserFailed,
                    "the browser's renderers are not sandboxed",
                )
                .hint(SANDBOX)),
                Some(true) | None => Ok(()),
            }
        };
        self.0.sandboxed.get_or_try_init(look).await?;
        Ok(context)
    }

    /// `None` when it has ended.
    fn profile(&self) -> Option<std::path::PathBuf> {
        let process = self.0.process.lock().unwrap_or_else(PoisonError::into_inner);
        process.as_ref().map(|it| it.profile().to_owned())
    }

    /// Ends Chromium and removes its profile. Contexts still in use fail from then on.
    pub async fn close(self) -> Result<()> {
        let process = self.0.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(process) = process else {
            return Err(Error::new(Code::BrowserFailed, "the browser is closed"));
        };
        process.finish().await;
        Ok(())
    }

    /// Whether every renderer runs under seccomp right now. `None` where the system does not tell.
    pub async fn sandboxed(&self) -> Option<bool> {
        if !processes::TELLS_SANDBOX {
            return None;
        }
        let pid = self.0.pid;
        for _ in 0..50 {
            let read = tokio::task::spawn_blocking(move || processes::renderer_sandboxed(pid));
            match read.await.ok().flatten() {
                Some(true) => return Some(true),
                // A renderer enters the sandbox shortly after it starts.
                Some(false) | None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        processes::renderer_sandboxed(pid)
    }

    /// What its processes hold of their own, MiB; 0 where the system does not tell.
    pub async fn memory(&self) -> u32 {
        let pid = self.0.pid;
        tokio::task::spawn_blocking(move || processes::memory(pid)).await.unwrap_or(0)
    }

    fn cdp(&self) -> &Cdp {
        &self.0.cdp
    }

    fn policy(&self) -> &Arc<EgressPolicy> {
        &self.0.policy
    }

    fn custom_tls_trust(&self) -> Option<Arc<TlsTrust>> {
        self.0.vouched.clone()
    }
}
