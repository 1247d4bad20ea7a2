//! The daemon's life: from the lock of its home and the first request to the last.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError, RwLock, atomic::AtomicI64},
    time::{Duration, Instant},
};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::{runtime::Handle, sync::Notify, task::JoinHandle};
use tokio_util::sync::CancellationToken;

use super::{
    agent_runs::{OpenPrompts, SuspendedRuns},
    answer::ApiError,
    channels::pending::Channels,
    connections,
    daemon::{Daemon, Dispatcher},
    dashboard_auth::DashboardAuth,
    ending::ShutdownGuard,
    har_uploads::HarUploads,
    lifecycle, mcp,
    operations::{self, runs},
    page_sessions::{self, PageSessions},
    principal::{Principal, digest},
    queue::{CallOptions, PerformOutcome, Queue},
    rates::{Rate, Rates},
    recipe_cache::RecipeCache,
    remote_listener::RemoteListener,
    rest,
    runtime::Runtime,
    stream_limiter::StreamLimiter,
    task_database::Database,
    viewer_access::Viewers,
    watch::{self, registry::Watches},
};
use commis_base::{
    error::{Code, Error, Result},
    files::{Dir, Lock},
    ids, processes,
    settings::{Home, Settings},
};
use commis_browser::sessions::SessionStore;
use commis_client::{
    client::Client,
    state_file::{self, StateFile},
};
use commis_learn::trust_what_was_learned;
use commis_recipe::registry::Registry;
use commis_state::{State, now_ms};
use commis_vault::{Logins, Vault};

/// What a graceful stop waits for.
const GRACE: Duration = Duration::from_secs(3);

/// Threads that answer requests, beside those of the socket: as many as runs may compute at once. Most sleep.
const WORKERS: usize = 4;

/// How long a daemon waits for another to end.
const PATIENCE: Duration = Duration::from_secs(8);

/// How often what is too old is forgotten.
const PRUNED: Duration = Duration::from_secs(60 * 60);

/// How to serve.
pub struct ServeOptions {
    pub port: u16,
    /// End when nothing was asked for that long.
    pub idle: Option<Duration>,
    /// Where another daemon has this home: wait until it has ended, or until it serves, which is as well.
    pub waits: bool,
    /// Settings read anew, as the command line that started it would have them.
    pub reload: Box<dyn Fn() -> Result<Settings> + Send + Sync>,
    /// Told of the address when it is served.
    pub up: Box<dyn Fn(&str) + Send + Sync>,
}

/// Serves until it is told to stop: a signal, `/api/shutdown`, or idleness. Fails with `DAEMON_FAILED` when another daemon has
/// this home or the port is taken, with `SETTINGS_INVALID` and `ARTIFACT_IO`.
pub async fn serve(home: Home, settings: Settings, options: ServeOptions) -> Result<()> {
    // In a folder of its own: who writes into a folder waits for its lock.
    let folder = commis_base::files::open_or_create(&home.serve)?;
    let held = commis_base::files::open_or_create(&home.serve.join("held"))?;
    let Some(_lock) = lock_home(&home, &held, options.waits).await? else { return Ok(()) };
    let (stop, again) = (CancellationToken::new(), Arc::new(Notify::new()));
    let reload = Arc::clone(&again);
    let _ending = ShutdownGuard::watched(stop.clone(), move || reload.notify_one())?;
    trust_what_was_learned(&home)?;
    folder.sweep()?;
    SessionStore::new(&home.sessions).sweep()?;
    lifecycle::raise_limits();
    let listener = connections::bind(options.port).await?;
    let addr = listener.local_addr().map_err(|err| {
        Error::new(Code::DaemonFailed, "the listening socket has no address").source(err)
    })?;
    let token = format!("{}{}", ids::random_token()?, ids::random_token()?);
    let workers = WorkerThreads::new()?;
    let threads = (workers.handle(), stop.clone());
    let daemon = new_daemon((home, settings), (addr, &token), options.reload, threads)?;
    daemon.read_tokens()?;
    // What waited with a daemon that is gone is told as what it is.
    daemon.suspended_runs.approvals.recover(now_ms())?;
    runs::tidy(&daemon, true);
    Queue::recover(&daemon)?;
    daemon.watches.recover()?;
    let router = rest::router(&daemon);
    let state = StateFile::of_this_process(addr.port(), token)?;
    state.write(&daemon.home.serve)?;
    tracing::info!(port = addr.port(), "serving");
    (options.up)(&state.url());
    // Where there is no systemd there is nobody to tell.
    let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]);

    let background = spawn_background(&daemon, options.idle, again);
    let serve = daemon.home.serve.clone();
    let stopping = move || {
        // Before the port is another's, nobody finds us there.
        StateFile::remove(&serve, &state);
        Instant::now() + GRACE
    };
    let open = Arc::clone(&daemon.open_requests);
    let with = (open, stop, daemon.worker_handle.clone());
    // A task of its own: the threads that are told of connections answer them, and wake no other for that.
    let served = tokio::spawn(connections::serve(listener, router, with, stopping)).await;
    let ends = served.map_err(|err| {
        Error::new(Code::Internal, "the task that serves the socket ended unexpectedly").source(err)
    })?;
    let _ = sd_notify::notify(false, &[sd_notify::NotifyState::Stopping]);
    tracing::info!("stopping");
    let _ = tokio::time::timeout_at(ends.into(), daemon.queue.settled()).await;
    daemon.page_sessions.close_all();
    daemon.runtime().rest().await;
    for it in background {
        it.abort();
    }
    Ok(())
}

/// The state of a daemon that is about to serve, with nothing recovered yet. Fails with `ARTIFACT_IO`, `SETTINGS_INVALID`.
fn new_daemon(
    (home, settings): (Home, Settings),
    (addr, token): (SocketAddr, &str),
    reload: Box<dyn Fn() -> Result<Settings> + Send + Sync>,
    (worker_handle, stop): (Handle, CancellationToken),
) -> Result<Arc<Daemon>> {
    let database = Database::open(&home.serve)?;
    database.prune()?;
    let it = &settings.serve;
    let rate = |per_minute, burst| Rate { per_minute, burst };
    Ok(Arc::new(Daemon {
        dispatcher: Box::new(ServerDispatcher),
        worker_handle,
        socket_handle: Handle::current(),
        addr,
        started_at: Instant::now(),
        binary: state_file::binary(),
        recipes: RecipeCache::new(Registry::for_home(&home), |name| {
            operations::find(name).is_some()
        }),
        logins: Logins::new(Vault::new(&home), settings.browser.session_ttl()),
        events: StreamLimiter::new(it.streams as usize),
        queue: Queue::new(it),
        page_sessions: PageSessions::default(),
        uploads: HarUploads::default(),
        rates: Rates::new(
            rate(it.mcp_per_minute, it.mcp_burst),
            rate(it.rest_per_minute, it.rest_burst),
            rate(it.run_per_minute, it.run_burst),
        ),
        open_requests: Arc::default(),
        dashboard_auth: DashboardAuth::new(addr.port()),
        viewers: Viewers::new(addr.port()),
        suspended_runs: SuspendedRuns::new(home.approvals.clone()),
        channels: Channels::default(),
        open_prompts: OpenPrompts::default(),
        remote: RemoteListener::default(),
        watches: Watches::open(&home.serve)?,
        state: State::open_briefly(&home.artifacts).map_err(|err| err.code()),
        stop,
        state_sealer: mcp::state_sealer::StateSealer::new()?,
        runtime: RwLock::new(Arc::new(Runtime::new(&home, settings)?)),
        tool_digests: Mutex::default(),
        root_digest: digest(token),
        tokens: RwLock::default(),
        tokens_changed: Notify::new(),
        last_request_ms: AtomicI64::new(now_ms()),
        reload,
        browser_idle: Mutex::default(),
        database,
        home,
    }))
}

/// Starts what runs beside the requests until the daemon ends.
fn spawn_background(
    daemon: &Arc<Daemon>,
    idle: Option<Duration>,
    reload: Arc<Notify>,
) -> [JoinHandle<()>; 6] {
    let workers = &daemon.worker_handle;
    [
        workers.spawn(mcp::watch_recipes(Arc::clone(daemon))),
        workers.spawn(idleness(Arc::clone(daemon), idle)),
        workers.spawn(pruning(Arc::clone(daemon))),
        workers.spawn(reloads(Arc::clone(daemon), reload)),
        workers.spawn(watch::schedule(Arc::clone(daemon))),
        workers.spawn(watch::deliver(Arc::clone(daemon))),
    ]
}

/// The lock of a home, which dies with the process; none where another daemon answers there already.
async fn lock_home(home: &Home, held: &Dir, waits: bool) -> Result<Option<Lock>> {
    let begun = Instant::now();
    loop {
        if let Some(it) = held.try_lock()? {
            return Ok(Some(it));
        }
        if !waits || begun.elapsed() > PATIENCE {
            return Err(Error::new(Code::DaemonFailed, "another daemon serves this home")
                .hint("see `commis daemon status`"));
        }
        if let Some(it) = StateFile::find(home)?
            && Client::new(&it).is_up().await
        {
            return Ok(None);
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Threads beside those of the socket, which end when this is dropped: nobody waits for them. Where the processor is busy, those of
/// the socket come first.
struct WorkerThreads(Option<tokio::runtime::Runtime>, Handle);

impl WorkerThreads {
    /// Fails with `DAEMON_FAILED`.
    fn new() -> Result<Self> {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        builder.worker_threads(WORKERS).thread_name("work").enable_all();
        let runtime =
            builder.on_thread_start(processes::lower_thread_priority).build().map_err(|err| {
                Error::new(Code::DaemonFailed, "cannot start worker threads").source(err)
            })?;
        let handle = runtime.handle().clone();
        Ok(Self(Some(runtime), handle))
    }

    fn handle(&self) -> Handle {
        self.1.clone()
    }
}

impl Drop for WorkerThreads {
    fn drop(&mut self) {
        if let Some(it) = self.0.take() {
            it.shutdown_background();
        }
    }
}

/// Reads the settings again, each time that it is told to.
async fn reloads(daemon: Arc<Daemon>, again: Arc<Notify>) {
    loop {
        again.notified().await;
        if let Err(err) = daemon.reload() {
            tracing::error!(error = %err, "settings could not be read again; the old ones hold");
        }
    }
}

/// Forgets what is too old, as at the start.
async fn pruning(daemon: Arc<Daemon>) {
    loop {
        tokio::time::sleep(PRUNED).await;
        let of = Arc::clone(&daemon);
        let forget = move || {
            runs::tidy(&of, false);
            of.suspended_runs.approvals.prune(now_ms())?;
            let settings = of.runtime().settings.watch.clone();
            of.watches.prune(&settings, now_ms())?;
            of.database.prune()
        };
        if let Ok(Err(err)) = tokio::task::spawn_blocking(forget).await {
            tracing::error!(error = %err, "old tasks could not be forgotten");
        }
    }
}

/// A browser that nobody uses ends after five minutes, and the daemon after its time.
async fn idleness(daemon: Arc<Daemon>, after: Option<Duration>) {
    const BROWSER_MS: i64 = 5 * 60 * 1000;
    let every = after.map_or(Duration::from_secs(60), |it| (it / 4).min(Duration::from_secs(60)));
    loop {
        tokio::time::sleep(every).await;
        let idle = daemon.idle_ms();
        if let Some(after) = after
            && idle >= after.as_millis() as i64
        {
            tracing::info!("nothing was asked for {} s", idle / 1000);
            daemon.stop.cancel();
            return;
        }
        let browser_ms = if daemon.page_sessions.is_empty() {
            BROWSER_MS
        } else {
            page_sessions::IDLE.as_millis() as i64
        };
        let begun = (idle >= browser_ms).then(|| now_ms() - idle);
        let before = {
            let mut held = daemon.browser_idle.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *held, begun)
        };
        if begun.is_some() && before != begun {
            daemon.page_sessions.close_all();
            daemon.runtime().rest().await;
        }
    }
}

/// Performs operations by name, and opens the remote listener.
struct ServerDispatcher;

impl Dispatcher for ServerDispatcher {
    fn perform(
        &self,
        daemon: &Arc<Daemon>,
        name: &'static str,
        args: Value,
        principal: Principal,
        options: CallOptions,
    ) -> BoxFuture<'static, Result<PerformOutcome, Box<ApiError>>> {
        let daemon = Arc::clone(daemon);
        Box::pin(async move {
            let row = operations::find(name)
                .ok_or_else(|| Error::new(Code::Internal, "there is no such operation"))?;
            Queue::perform(&daemon, row, args, principal, options).await
        })
    }

    fn open_remote(
        &self,
        daemon: &Arc<Daemon>,
        bind: SocketAddr,
        is_allowed: bool,
    ) -> BoxFuture<'static, Result<SocketAddr>> {
        let daemon = Arc::clone(daemon);
        Box::pin(async move { RemoteListener::open(&daemon, bind, is_allowed).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many threads compute at once that there is no processor for the socket.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn threads_that_work_leave_the_processor_to_those_of_the_socket() {
        let priority = || rustix::process::getpriority_process(None).unwrap();
        let workers = WorkerThreads::new().unwrap();
        let all = workers.handle().spawn(async move {
            [priority(), tokio::task::spawn_blocking(priority).await.unwrap()]
        });
        let [works, blocks] = all.await.unwrap();
        assert!(works > priority());
        assert_eq!(blocks, works);
    }
}
