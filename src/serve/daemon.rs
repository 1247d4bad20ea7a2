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
    mcp::seal::StateSealer,
    page_sessions::PageSessions,
    principal::{Principal, Scope, digest, same},
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
        who: Principal,
        how: CallOptions,
    ) -> BoxFuture<'static, Result<PerformOutcome, Box<ApiError>>>;

    /// Opens the remote listener. Fails as [`RemoteListener::open`].
    fn open_remote(
        &self,
        daemon: &Arc<Daemon>,
        bind: SocketAddr,
        is_allowed: bool,
    ) -> BoxFuture<'static, Result<SocketAddr>>;
}

/// The state that operations, and all faces, share.
pub struct Daemon {
    /// Handed in at the start.
    pub dispatcher: Box<dyn Dispatcher>,
    pub home: Home,
    pub addr: SocketAddr,
    pub started: Instant,
    /// Which file the program is.
    pub binary: Option<String>,
    pub pantry: RecipeCache,
    /// Logins that runs use.
    pub logins: Logins,
    pub book: Database,
    pub desks: PageSessions,
    /// HAR files to learn from.
    pub uploads: HarUploads,
    pub events: StreamLimiter,
    pub queue: Queue,
    pub rates: Rates,
    /// Requests that are being answered, streams with them.
    pub open: Arc<AtomicUsize>,
    pub guard: DashboardAuth,
    pub lookers: Viewers,
    /// Requests that wait for approval, and the runs that they belong to.
    pub parking: SuspendedRuns,
    /// Who is asked about them elsewhere.
    pub channels: Channels,
    /// What tasks ask their people.
    pub questions: OpenPrompts,
    pub remote: RemoteListener,
    /// Recipes that are run on a schedule.
    pub watches: Watches,
    /// Health of recipes; `Err` if the database cannot be used. Then nothing is counted.
    pub state: Result<State, Code>,
    /// Where requests are answered: what holds its threads up does not hold up the socket.
    pub work: Handle,
    /// Where sockets are served, and nothing else.
    pub sockets: Handle,
    /// Ends everything.
    pub stop: CancellationToken,
    /// What clients carry for us is sealed with it; it ends with the process.
    pub seal: StateSealer,
    /// Digests of the tools' definitions when they were last compared, by name.
    pub listed: Mutex<Option<BTreeMap<String, String>>>,
    pub(super) world: RwLock<Arc<Runtime>>,
    pub(super) root: String,
    pub(super) tokens: RwLock<Vec<(TokenView, Principal)>>,
    /// Told when tokens are others than before.
    pub(super) other_tokens: Notify,
    /// When something was last asked, milliseconds since 1970.
    pub(super) asked_ms: AtomicI64,
    pub(super) reload: Box<dyn Fn() -> Result<Settings> + Send + Sync>,
    pub(super) browser_idle: Mutex<Option<i64>>,
}

impl Daemon {
    pub fn world(&self) -> Arc<Runtime> {
        Arc::clone(&self.world.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Who holds that token.
    pub fn principal(&self, token: &str) -> Option<Principal> {
        let digest = digest(token);
        if same(&digest, &self.root) {
            return Some(Principal::root());
        }
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let now = now_ms();
        let mut found = None;
        // All of them, so that the time says nothing.
        for (kept, principal) in tokens.iter() {
            if same(&digest, &kept.hash) && kept.expires_ms.is_none_or(|it| it > now) {
                found = Some(principal.clone());
            }
        }
        found
    }

    /// Who holds the token of that id.
    pub fn holder(&self, id: &str) -> Option<Principal> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        let holds = |it: &TokenView| it.expires_ms.is_none_or(|it| it > now_ms());
        tokens.iter().find(|it| it.1.id == id && holds(&it.0)).map(|it| it.1.clone())
    }

    /// Until the token of that id holds no longer.
    pub async fn let_go(&self, id: &str) {
        loop {
            let other = self.other_tokens.notified();
            let expires_ms = {
                let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
                let Some((kept, _)) = tokens.iter().find(|it| it.1.id == id) else { return };
                kept.expires_ms
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
                () = other => {}
                () = expired => return,
            }
        }
    }

    /// Reads the tokens again. Fails with `ARTIFACT_IO`.
    pub fn read_tokens(&self) -> Result<Vec<TokenView>> {
        // Held over both: who reads later has what was written later.
        let mut tokens = self.tokens.write().unwrap_or_else(PoisonError::into_inner);
        let kept = self.book.tokens()?;
        *tokens = kept.iter().map(|it| (it.clone(), holder(it))).collect();
        self.other_tokens.notify_waiters();
        Ok(kept)
    }

    /// Settings as they are now, for what begins from now on. Fails with `SETTINGS_INVALID`; then the old ones hold.
    pub fn reload(&self) -> Result<()> {
        let settings = (self.reload)()?;
        let world = Arc::new(Runtime::new(&self.home, settings)?);
        let old = {
            let mut held = self.world.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *held, world)
        };
        // What runs in it goes on to its end.
        drop(old);
        tracing::info!("settings were read again");
        Ok(())
    }

    pub fn touch(&self) {
        self.asked_ms.store(now_ms(), Ordering::Relaxed);
    }

    pub(super) fn idle_ms(&self) -> i64 {
        let is_open = self.open.load(Ordering::Relaxed) > 0 || self.remote.addr().is_some();
        if is_open || self.queue.is_at_work() || self.watches.is_needed() {
            return 0;
        }
        now_ms() - self.asked_ms.load(Ordering::Relaxed)
    }
}

fn holder(it: &TokenView) -> Principal {
    // One that does not parse any more may do nothing.
    let scopes = it.scopes.iter().filter_map(|it| Scope::parse(it).ok()).collect();
    Principal { id: it.id.clone(), scopes: Some(scopes), is_dashboard: false, by_way: None }
}
