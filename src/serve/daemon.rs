//! The state of the daemon: its parts, its tokens, its settings.

use futures::future::BoxFuture;
use serde_json::Value;
use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{runtime::Handle, sync::Notify};
use tokio_util::sync::CancellationToken;

use super::{
    agent_runs::{OpenPrompts, SuspendedRuns},
    answer::ApiError,
    channels::pending::Channels,
    dashboard_auth::DashboardAuth,
    har_uploads::HarUploads,
    mcp::state_sealer::StateSealer,
    page_sessions::PageSessions,
    principal::{Principal, Scope, digest, is_equal_constant_time},
    queue::{CallOptions, PerformOutcome, Queue},
    rates::Rates,
    recipe_cache::RecipeCache,
    remote_listener::RemoteListener,
    runtime::Runtime,
    stream_limiter::StreamLimiter,
    task_database::{Database, TokenView},
    viewer_access::Viewers,
    watch::registry::Watches,
};
use commis_base::{
    error::{Code, Result},
    settings::{Home, Settings},
};
use commis_state::{State, now_ms};
use commis_vault::Logins;

/// Calls from the shared state back into the server. It keeps `daemon` from depending on `operations` and `remote`.
pub trait Dispatcher: Send + Sync {
    /// Does the operation of that name. Fails as [`Queue::perform`].
    fn perform(
        &self,
        daemon: &Arc<Daemon>,
        name: &'static str,
        args: Value,
        principal: Principal,
        options: CallOptions,
    ) -> BoxFuture<'static, Result<PerformOutcome, Box<ApiError>>>;

    /// Opens the remote listener. Fails as [`RemoteListener::open`].
    fn open_remote(
        &self,
        daemon: &Arc<Daemon>,
        bind: SocketAddr,
        is_allowed: bool,
    ) -> BoxFuture<'static, Result<SocketAddr>>;
}

/// The state that operations and all interfaces share.
pub struct Daemon {
    /// Set at the start.
    pub dispatcher: Box<dyn Dispatcher>,
    pub home: Home,
    pub addr: SocketAddr,
    pub started_at: Instant,
    /// Identifies the file of the running program.
    pub binary: Option<String>,
    pub recipes: RecipeCache,
    /// Logins that runs use.
    pub logins: Logins,
    pub database: Database,
    pub page_sessions: PageSessions,
    /// HAR files to learn from.
    pub uploads: HarUploads,
    pub events: StreamLimiter,
    pub queue: Queue,
    pub rates: Rates,
    /// The number of requests and streams that are open.
    pub open_requests: Arc<AtomicUsize>,
    pub dashboard_auth: DashboardAuth,
    pub viewers: Viewers,
    /// Requests that wait for approval, and the runs that they belong to.
    pub suspended_runs: SuspendedRuns,
    /// Channels outside the daemon that ask a person to approve them.
    pub channels: Channels,
    /// Questions of running tasks that have no answer yet.
    pub open_prompts: OpenPrompts,
    pub remote: RemoteListener,
    /// Recipes that run on a schedule.
    pub watches: Watches,
    /// Health of recipes; `Err` if the database cannot be opened. Then nothing is counted.
    pub state: Result<State, Code>,
    /// Threads that answer requests. Work that blocks them does not block the sockets.
    pub worker_handle: Handle,
    /// Threads that serve sockets, and nothing else.
    pub socket_handle: Handle,
    /// Shuts down everything.
    pub stop: CancellationToken,
    /// Seals the state that a client carries. Its key ends with the process.
    pub state_sealer: StateSealer,
    /// Digests of tool definitions at the last comparison, by name.
    pub tool_digests: Mutex<Option<BTreeMap<String, String>>>,
    pub(super) runtime: RwLock<Arc<Runtime>>,
    pub(super) root_digest: String,
    pub(super) tokens: RwLock<Vec<(TokenView, Principal)>>,
    /// Notified after the set of tokens changes.
    pub(super) tokens_changed: Notify,
    /// Time of the last request, in milliseconds since 1970.
    pub(super) last_request_ms: AtomicI64,
    pub(super) reload: Box<dyn Fn() -> Result<Settings> + Send + Sync>,
    pub(super) browser_idle: Mutex<Option<i64>>,
}

impl Daemon {
    /// Returns the settings and clients in use now.
    pub fn runtime(&self) -> Arc<Runtime> {
        Arc::clone(&self.runtime.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the principal of that token, or `None` for an unknown or expired token.
    pub fn principal(&self, token: &str) -> Option<Principal> {
        let digest = digest(token);
        if is_equal_constant_time(&digest, &self.root_digest) {
            return Some(Principal::root());
        }
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let now = now_ms();
        let mut found = None;
        // Compares all tokens, so that the duration reveals nothing.
        for (token, principal) in tokens.iter() {
            if is_equal_constant_time(&digest, &token.hash)
                && token.expires_ms.is_none_or(|it| it > now)
            {
                found = Some(principal.clone());
            }
        }
        found
    }

    /// Returns the principal of the token with that id, or `None` after it expired.
    pub fn principal_of_token(&self, id: &str) -> Option<Principal> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let holds = |it: &TokenView| it.expires_ms.is_none_or(|it| it > now_ms());
        tokens.iter().find(|it| it.1.id == id && holds(&it.0)).map(|it| it.1.clone())
    }

    /// Waits until the token with that id expires or is revoked.
    pub async fn wait_for_expiry(&self, id: &str) {
        loop {
            let changed = self.tokens_changed.notified();
            let expires_ms = {
                let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
                let Some((token, _)) = tokens.iter().find(|it| it.1.id == id) else { return };
                token.expires_ms
            };
            let expired = async {
                match expires_ms {
                    Some(it) => {
                        let left = u64::try_from(it - now_ms()).unwrap_or(0);
                        tokio::time::sleep(Duration::from_millis(left)).await;
                    }
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = changed => {}
                () = expired => return,
            }
        }
    }

    /// Reads the tokens again. Fails with `ARTIFACT_IO`.
    pub fn read_tokens(&self) -> Result<Vec<TokenView>> {
        // The lock covers both steps, so that a later call never stores older tokens.
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        let stored = self.database.tokens()?;
        *tokens = stored.iter().map(|it| (it.clone(), to_principal(it))).collect();
        self.tokens_changed.notify_waiters();
        Ok(stored)
    }

    /// Reads the settings again; they apply to work that starts afterwards. Fails with `SETTINGS_INVALID`; the old settings stay.
    pub fn reload(&self) -> Result<()> {
        let settings = (self.reload)()?;
        let runtime = Arc::new(Runtime::new(&self.home, settings)?);
        let old = {
            let mut current = self.runtime.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, runtime)
        };
        // Runs that use the old runtime keep their own reference to it.
        drop(old);
        tracing::info!("settings were read again");
        Ok(())
    }

    /// Records that a request arrived now.
    pub fn touch(&self) {
        self.last_request_ms.store(now_ms(), Ordering::Relaxed);
    }

    pub(super) fn idle_ms(&self) -> i64 {
        let is_open =
            self.open_requests.load(Ordering::Relaxed) > 0 || self.remote.addr().is_some();
        if is_open || self.queue.is_at_work() || self.watches.is_needed() {
            return 0;
        }
        now_ms() - self.last_request_ms.load(Ordering::Relaxed)
    }
}

fn to_principal(it: &TokenView) -> Principal {
    // A scope that no longer parses grants nothing.
    let scopes = it.scopes.iter().filter_map(|it| Scope::parse(it).ok()).collect();
    Principal { id: it.id.clone(), scopes: Some(scopes), is_dashboard: false, by_way: None }
}
