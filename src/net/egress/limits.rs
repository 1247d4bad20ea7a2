//! How many calls of recipes at once, and how often to one host.
//!
//! Runs at once are counted in this process. Calls a minute bind every process that shares the state folder, so a shell loop
//! too: a small file per host holds one number, the moment up to which calls are paid for (the "theoretical arrival time" of
//! the generic cell rate algorithm, ITU-T I.371). The kept crate for it, governor, remembers in memory only.
//!
//! Redirects and a page that a session opens are not counted, only what a recipe asks for.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use sha2::{Digest as _, Sha256};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::EgressPolicy;
use commis_base::{
    error::{Code, Error, Result},
    files::{Dir, Lock},
    ids,
    settings::LimitsSettings,
};

/// A longer wait is refused: the time limit of a call.
pub const MAX_WAIT: Duration = Duration::from_secs(15);
const MINUTE: i64 = 60_000;
/// Twenty digits are more than enough.
const MAX_FILE: usize = 64;
/// Another process holds the folder for the time of one small write.
const POLL: Duration = Duration::from_millis(1);
const MAX_HOSTS: usize = 256;

/// What one process knows of the limits. Shared by all its runs.
pub struct HostLimiter {
    settings: LimitsSettings,
    kept: BucketStore,
    policy: Arc<EgressPolicy>,
    /// Milliseconds since 1970.
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
    runs: Arc<Semaphore>,
    hosts: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

/// Where it is kept up to when calls to a host are paid for.
enum BucketStore {
    Folder(PathBuf),
    /// For this process alone.
    Memory(Mutex<BTreeMap<String, i64>>),
}

/// A run that was let in; the next one may come when it is dropped.
#[derive(Debug)]
pub struct Permit(
    #[expect(dead_code, reason = "held until the run ends")] Vec<OwnedSemaphorePermit>,
);

/// What the bucket of a host says to one more call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateDecision {
    /// It is counted, and comes after this time, which may be none.
    After(Duration),
    /// It would come after this time, which is more than [`MAX_WAIT`]. It is not counted.
    Refused(Duration),
}

impl HostLimiter {
    /// Without a folder, calls a minute bind this process alone. Fails with `SETTINGS_INVALID` for limits that nothing could pass.
    pub fn new(
        settings: &LimitsSettings,
        folder: impl Into<Option<PathBuf>>,
        policy: Arc<EgressPolicy>,
    ) -> Result<Self> {
        Self::with_clock(settings, folder, policy, Box::new(wall_clock))
    }

    /// With another clock than the wall's: milliseconds since 1970.
    pub fn with_clock(
        settings: &LimitsSettings,
        folder: impl Into<Option<PathBuf>>,
        policy: Arc<EgressPolicy>,
        clock: Box<dyn Fn() -> i64 + Send + Sync>,
    ) -> Result<Self> {
        let it = settings;
        let within = |n: u32, max: u32| (1..=max).contains(&n);
        if !(within(it.runs, 1000)
            && within(it.runs_per_host, 1000)
            && within(it.per_minute, 6000)
            && within(it.burst, 6000))
        {
            return Err(Error::new(
                Code::SettingsInvalid,
                "a number below [limits] is out of range",
            )
            .hint("runs and runs_per_host: 1 to 1000; per_minute and burst: 1 to 6000"));
        }
        Ok(Self {
            settings: it.clone(),
            kept: folder
                .into()
                .map_or_else(|| BucketStore::Memory(Mutex::default()), BucketStore::Folder),
            policy,
            clock,
            runs: Arc::new(Semaphore::new(it.runs as usize)),
            hosts: Mutex::default(),
        })
    }

    /// How long so many calls of that host take by the limit of a minute alone; `None` where it has none or lets them pass at once.
    pub fn estimate(&self, host: &str, calls: u64) -> Option<Duration> {
        let it = &self.settings;
        let after = calls.saturating_sub(it.burst.into());
        let seconds = after * 60 / u64::from(it.per_minute);
        (self.is_limited(host) && seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// So many runs go at once to that host; `None` where nothing is limited.
    pub fn max_concurrent_runs(&self, host: &str) -> Option<u32> {
        let it = &self.settings;
        self.is_limited(host).then(|| it.runs.min(it.runs_per_host))
    }

    /// How long one more call would wait for its turn now; nothing is counted, and nobody's place is kept. Fails with `ARTIFACT_IO`.
    pub fn wait_time(&self, host: &str) -> Result<Duration> {
        if !self.is_limited(host) {
            return Ok(Duration::ZERO);
        }
        let now = (self.clock)();
        let paid = match &self.kept {
            BucketStore::Memory(all) => {
                let all = all.lock().unwrap_or_else(PoisonError::into_inner);
                Some(all.get(host).copied().unwrap_or(now))
            }
            BucketStore::Folder(it) => match Dir::open(it, false)? {
                None => Some(now),
                Some(dir) => read_paid_until(&dir, &hex(host), now),
            },
        };
        Ok(match decide(&self.settings, paid, now).0 {
            RateDecision::After(it) | RateDecision::Refused(it) => it,
        })
    }

    /// Waits for a place among the runs at once, at most [`MAX_WAIT`]. Fails with `RATE_LIMITED`.
    pub async fn enter(&self, host: &str) -> Result<Permit> {
        if !self.is_limited(host) {
            return Ok(Permit(Vec::new()));
        }
        let of_host = {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            if hosts.len() >= MAX_HOSTS {
                hosts.retain(|_, it| Arc::strong_count(it) > 1);
            }
            let fresh = || Arc::new(Semaphore::new(self.settings.runs_per_host as usize));
            Arc::clone(hosts.entry(host.to_owned()).or_insert_with(fresh))
        };
        // The host first: who waits for a slow host must not keep a place from the others.
        let both = async {
            Ok(vec![of_host.acquire_owned().await?, Arc::clone(&self.runs).acquire_owned().await?])
        };
        match tokio::time::timeout(MAX_WAIT, both).await {
            Ok(Ok::<_, tokio::sync::AcquireError>(permits)) => Ok(Permit(permits)),
            _ => Err(Error::new(
                Code::RateLimited,
                format!(
                    "the request to `{}` waited too long for other runs",
                    super::url::display_text(host)
                ),
            )
            .hint("limits.runs and limits.runs_per_host set how many run at once")),
        }
    }

    /// Counts one call to the canonical host, unless it would have to wait too long.
    ///
    /// Fails with `RATE_LIMITED` when another process keeps the folder, with `ARTIFACT_IO` when it can not be written.
    pub async fn take(&self, host: &str) -> Result<RateDecision> {
        if !self.is_limited(host) {
            return Ok(RateDecision::After(Duration::ZERO));
        }
        let folder = match &self.kept {
            BucketStore::Folder(it) => it,
            BucketStore::Memory(all) => return Ok(self.take_from(all, host)),
        };
        let dir = Dir::open(folder, true)?.ok_or_else(|| {
            Error::new(
                Code::ArtifactIo,
                format!("{} was removed while commis used it", folder.display()),
            )
        })?;
        let _lock = lock(&dir).await?;
        dir.sweep()?;
        let name = hex(host);
        let now = (self.clock)();
        let (turn, paid) = decide(&self.settings, read_paid_until(&dir, &name, now), now);
        // After a refusal as well: what was damaged must not stay so.
        dir.write_unsynced(&name, paid.to_string().as_bytes())?;
        Ok(turn)
    }

    fn take_from(&self, all: &Mutex<BTreeMap<String, i64>>, host: &str) -> RateDecision {
        let now = (self.clock)();
        let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MAX_HOSTS {
            // Their buckets are full again: they count as hosts that were never asked.
            all.retain(|_, paid| *paid > now);
        }
        let paid = all.get(host).copied().unwrap_or(now);
        let (turn, paid) = decide(&self.settings, Some(paid), now);
        all.insert(host.to_owned(), paid);
        turn
    }

    fn is_limited(&self, host: &str) -> bool {
        let it = &self.settings;
        (it.test_hosts || !self.policy.is_test_host(host))
            && (it.own_hosts || !self.policy.is_own_host(host))
    }
}

/// Up to when calls are paid for, as the file says; `None` when it says nothing that can be read.
fn read_paid_until(dir: &Dir, name: &str, now: i64) -> Option<i64> {
    match dir.read(name, MAX_FILE) {
        Ok(None) => Some(now),
        Ok(Some(bytes)) => String::from_utf8(bytes).ok().and_then(|it| it.trim().parse().ok()),
        // Too large, a link: `write` says so if it stands in the way.
        Err(_) => None,
    }
}

/// What the bucket says at `now`, and up to when calls are paid for then; milliseconds. `paid` is `None` when nobody knows:
/// then the bucket counts as empty. So it does for a moment that is too late for any call of ours: the clock went back.
fn decide(limits: &LimitsSettings, paid: Option<i64>, now: i64) -> (RateDecision, i64) {
    let period = MINUTE / i64::from(limits.per_minute);
    let full = period * i64::from(limits.burst);
    let latest = now + full + MAX_WAIT.as_millis() as i64;
    let paid = paid.filter(|it| *it <= latest).unwrap_or(now + full).max(now);
    let wait = (paid + period - full - now).max(0);
    let wait = Duration::from_millis(wait as u64);
    if wait > MAX_WAIT {
        (RateDecision::Refused(wait), paid)
    } else {
        (RateDecision::After(wait), paid + period)
    }
}

async fn lock(dir: &Dir) -> Result<Lock> {
    let timeout = async {
        loop {
            if let Some(lock) = dir.try_lock()? {
                return Ok(lock);
            }
            tokio::time::sleep(POLL).await;
        }
    };
    tokio::time::timeout(MAX_WAIT, timeout).await.unwrap_or_else(|_| {
        Err(Error::new(Code::RateLimited, "another process has locked the folder of rate limits"))
    })
}

/// Names of hosts do not belong into a folder listing.
fn hex(host: &str) -> String {
    ids::hex(&Sha256::digest(host.as_bytes())[..16])
}

#[expect(
    clippy::disallowed_methods,
    reason = "a rate between processes needs the wall clock; it reaches no payload"
)]
fn wall_clock() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |it| it.as_millis() as i64)
}

#[cfg(test)]
#[path = "limits_tests.rs"]
mod tests;
