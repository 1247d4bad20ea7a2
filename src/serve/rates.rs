//! How often who may ask (seed, phase 2): a bucket a caller for each face. In memory alone, since the daemon is one process.

use std::{num::NonZeroU32, time::Duration};

use governor::{
    DefaultKeyedRateLimiter, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};

/// What is counted apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateKind {
    Mcp,
    Rest,
    /// Commands of pages that stay, of which one task takes many.
    Browse,
    /// Runs of recipes, by either.
    Run,
    /// Requests with a token that is wrong or missing, of everyone together.
    Refused,
    /// Refusals that are written to the log.
    Noted,
}

/// Calls a minute, and at once after a quiet time.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    pub per_minute: u32,
    pub burst: u32,
}

pub struct Rates {
    buckets: [DefaultKeyedRateLimiter<String>; 6],
    clock: DefaultClock,
}

impl Rates {
    pub fn new(mcp: Rate, rest: Rate, run: Rate) -> Self {
        let refused = Rate { per_minute: 300, burst: 60 };
        let browse = Rate { per_minute: 6000, burst: 1000 };
        let noted = Rate { per_minute: 60, burst: 60 };
        let bucket = |it: Rate| {
            let one = NonZeroU32::MIN;
            let quota = Quota::per_minute(NonZeroU32::new(it.per_minute).unwrap_or(one))
                .allow_burst(NonZeroU32::new(it.burst).unwrap_or(one));
            RateLimiter::keyed(quota)
        };
        Self {
            buckets: [
                bucket(mcp),
                bucket(rest),
                bucket(browse),
                bucket(run),
                bucket(refused),
                bucket(noted),
            ],
            clock: DefaultClock::default(),
        }
    }

    /// Counts one; or how long to wait.
    pub fn take(&self, what: RateKind, principal: &str) -> Result<(), Duration> {
        let bucket = &self.buckets[what as usize];
        let taken = bucket.check_key(&principal.to_owned());
        if bucket.len() > 1000 {
            bucket.retain_recent();
        }
        taken.map_err(|it| it.wait_time_from(self.clock.now()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_and_then_a_wait_each_for_themselves() {
        let rate = Rate { per_minute: 60, burst: 3 };
        let rates = Rates::new(rate, rate, rate);
        for _ in 0..3 {
            assert_eq!(rates.take(RateKind::Mcp, "a"), Ok(()));
        }
        let wait = rates.take(RateKind::Mcp, "a").unwrap_err();
        assert!(wait <= Duration::from_secs(1) && wait > Duration::from_millis(500), "{wait:?}");
        assert_eq!(rates.take(RateKind::Mcp, "b"), Ok(()));
        assert_eq!(rates.take(RateKind::Rest, "a"), Ok(()));
    }
}
