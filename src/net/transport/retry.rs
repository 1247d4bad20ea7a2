//! Polite sending: each attempt takes a turn in its host's bucket; what may pass by itself is tried once more.
//!
//! Tried again (seed 2.1.1): 429, 5xx, time-outs, failed connects and look-ups. Anything else is not, a refusal of the policy
//! least of all. A second attempt is checked from the start and resolves again: its first look-up goes past the DNS cache, and
//! the transport then finds that answer there, so an attempt looks its host up once. Learning does not send this way; its
//! stages judge failures themselves.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use backon::{ExponentialBuilder, Retryable as _};
use futures::future::BoxFuture;

use super::{PreparedRequest, Reply, Transport};
use crate::egress::{
    EgressPolicy,
    limits::{HostLimiter, MAX_WAIT, RateDecision},
};
use commis_base::error::{Code, Error, Result};
use commis_recipe::model::TransportKind;

/// A site that wants a longer pause is not asked again.
pub const MAX_RETRY_AFTER: u64 = 60;
/// What is reported at most: nobody plans for more than a day.
const DAY: u64 = 24 * 3600;
const BASE: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(8);
/// To either side of a pause.
const JITTER: f64 = 0.25;

/// Somebody waits.
#[derive(Clone, Debug)]
pub struct WaitEvent {
    pub host: String,
    pub pause: Duration,
    pub why: WaitReason,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// For the host's bucket.
    Turn,
    /// Before the next attempt, after this answer or failure.
    Again(String),
}

/// Told of each pause before it begins.
pub type OnWait = dyn Fn(&WaitEvent) + Send + Sync;

/// Sends what one run sends, through another transport. All its requests share one further attempt.
pub struct ThrottledTransport<'a> {
    inner: &'a dyn Transport,
    policy: &'a EgressPolicy,
    limits: &'a HostLimiter,
    on_wait: &'a OnWait,
    seen: Mutex<RetryState>,
}

/// How a run went so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct RetryState {
    /// 0 while nothing was sent, 2 once a request was sent again.
    pub attempts: u32,
    /// Seconds until a call may succeed, as the site or the host's bucket says, at most a day.
    pub retry_after: Option<u64>,
    retries_left: usize,
}

enum Failure {
    /// An answer that says "not now".
    Answer(Reply),
    Refused(Error),
}

impl<'a> ThrottledTransport<'a> {
    /// With `again`, one request of the run may be sent a second time.
    pub fn new(
        inner: &'a dyn Transport,
        policy: &'a EgressPolicy,
        limits: &'a HostLimiter,
        again: bool,
        on_wait: &'a OnWait,
    ) -> Self {
        let seen = RetryState { retries_left: usize::from(again), ..RetryState::default() };
        Self { inner, policy, limits, on_wait, seen: Mutex::new(seen) }
    }

    pub fn retry_state(&self) -> RetryState {
        *self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update_state(&self, change: impl FnOnce(&mut RetryState)) {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn attempt(&self, request: &PreparedRequest, again: bool) -> Result<Reply, Failure> {
        let spent = self.wait_turn(request, again).await.map_err(Failure::Refused)?;
        self.update_state(|it| {
            it.attempts = it.attempts.max(1) + u32::from(again);
            it.retry_after = None;
        });
        let mut reply = self.inner.send(request).await.map_err(Failure::Refused)?;
        reply.timings.validate += spent;
        self.update_state(|it| it.retry_after = retry_after(&reply));
        if matches!(reply.status, 429 | 500..=599) {
            Err(Failure::Answer(reply))
        } else {
            Ok(reply)
        }
    }

    /// Everything that precedes an attempt; returns how long it took without the pause, in microseconds. Fails with what the
    /// policy fails with, and with `RATE_LIMITED`.
    async fn wait_turn(&self, request: &PreparedRequest, again: bool) -> Result<u64> {
        let start = Instant::now();
        let policy = self.policy.for_own_host(request.own_host.as_deref());
        let url = policy.check(&request.url)?;
        let turn = self.limits.take(url.host()).await?;
        let spent = start.elapsed().as_micros() as u64;
        match turn {
            RateDecision::After(pause) => self.wait(url.host(), pause, WaitReason::Turn).await,
            RateDecision::Refused(pause) => {
                let seconds = pause.as_secs_f64().ceil() as u64;
                self.update_state(|it| it.retry_after = Some(seconds));
                return Err(Error::new(
                    Code::RateLimited,
                    format!("too many calls to `{}`: the next one is allowed in {seconds} s", url.host()),
                )
                .hint(format!(
                    "runs wait for pauses of up to {} s by themselves; see [limits] in docs/reference/settings.md",
                    MAX_WAIT.as_secs()
                )));
            }
        }
        if again {
            policy.pin_fresh(&url).await?;
        }
        Ok(spent)
    }

    async fn wait(&self, host: &str, pause: Duration, why: WaitReason) {
        if !pause.is_zero() {
            (self.on_wait)(&WaitEvent { host: host.to_owned(), pause, why });
            tokio::time::sleep(pause).await;
        }
    }
}

impl Transport for ThrottledTransport<'_> {
    fn kind(&self) -> TransportKind {
        self.inner.kind()
    }

    fn send<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Result<Reply>> {
        Box::pin(async move {
            let mut again = false;
            let outcome = (|| {
                let second = std::mem::replace(&mut again, true);
                self.attempt(request, second)
            })
            .retry(backoff_delays(self.retry_state().retries_left))
            .when(is_transient)
            // The site's own word counts more than our guess; `None` ends it.
            .adjust(|_, ours| match self.retry_state().retry_after {
                None => ours,
                Some(it) => ours.filter(|_| it <= MAX_RETRY_AFTER).map(|_| Duration::from_secs(it)),
            })
            .notify(|failure, pause| {
                self.update_state(|it| it.retries_left -= 1);
                let why = WaitReason::Again(failure.describe());
                (self.on_wait)(&WaitEvent { host: host_of(request), pause, why });
            })
            .await;
            match outcome {
                Ok(reply) | Err(Failure::Answer(reply)) => Ok(reply),
                Err(Failure::Refused(err)) => Err(err),
            }
        })
    }
}

impl Failure {
    /// For a person, without anything that the site wrote.
    fn describe(&self) -> String {
        match self {
            Self::Answer(reply) => format!("the site answered {}", reply.status),
            Self::Refused(err) => err.message().to_owned(),
        }
    }
}

fn is_transient(failure: &Failure) -> bool {
    match failure {
        Failure::Answer(_) => true,
        Failure::Refused(err) => {
            matches!(err.code(), Code::Timeout | Code::ConnectFailed | Code::DnsFailed)
        }
    }
}

/// 1, 2, 4, 8, 8, … seconds, each up to a quarter more or less.
fn backoff_delays(times: usize) -> impl Iterator<Item = Duration> + Send + Sync + Unpin {
    use backon::BackoffBuilder as _;
    let exact = ExponentialBuilder::new()
        .with_min_delay(BASE)
        .with_max_delay(LONGEST)
        .with_max_times(times)
        .build();
    exact.map(|it| it.mul_f64(1.0 + JITTER * (2.0 * fastrand::f64() - 1.0)))
}

/// Seconds from an answer's `Retry-After`, rounded up, at most a day; `None` where there is none or it is neither form of
/// RFC 9110, 10.2.3.
pub fn retry_after(reply: &Reply) -> Option<u64> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a date is compared with now; it reaches no payload"
    )]
    let now = SystemTime::now();
    parse_retry_after(reply.header("retry-after")?, now)
}

fn parse_retry_after(text: &str, now: SystemTime) -> Option<u64> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit()) {
        return Some(text.parse().unwrap_or(DAY).min(DAY));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    let left = date.duration_since(now).unwrap_or(Duration::ZERO);
    Some((left.as_secs_f64().ceil() as u64).min(DAY))
}

fn host_of(request: &PreparedRequest) -> String {
    let url = url::Url::parse(&request.url).ok();
    url.and_then(|it| it.host_str().map(str::to_owned)).unwrap_or_default()
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
