//! Spaces out what is asked of one host: recordings, and requests that are sent again.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::Mutex;
use url::Url;

use commis_net::egress::EgressPolicy;

/// One of recordings is shared by all tasks of a batch; each task has its own of requests.
pub struct Pacer {
    delay: Duration,
    /// Where it is another one.
    own: std::sync::Mutex<BTreeMap<String, Duration>>,
    next: Mutex<BTreeMap<String, Instant>>,
}

impl Pacer {
    /// At least `delay` between two starts on one host.
    pub fn new(delay: Duration) -> Self {
        Self { delay, own: std::sync::Mutex::default(), next: Mutex::default() }
    }

    /// At least so long on that host.
    pub fn set(&self, host: &str, delay: Duration) {
        let mut own = self.own.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        own.insert(host.to_owned(), delay);
    }

    fn own(&self, host: &str) -> Option<Duration> {
        let own = self.own.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        own.get(host).copied()
    }

    /// For a request: test hosts are exempt.
    pub async fn wait_to_ask(&self, policy: &EgressPolicy, url: &str) {
        let host = Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned));
        if host.is_some_and(|it| !policy.is_test_host(&it)) {
            self.wait(url).await;
        }
    }

    /// A recording has ended: where the delay is the host's own, the next begins no sooner after that.
    pub async fn record_end(&self, url: &str) {
        let host = Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned));
        let Some(host) = host else { return };
        let Some(delay) = self.own(&host) else { return };
        let mut next = self.next.lock().await;
        let free = Instant::now() + delay;
        next.entry(host).and_modify(|it| *it = free.max(*it)).or_insert(free);
    }

    pub async fn wait(&self, url: &str) {
        let host = Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned));
        let host = host.unwrap_or_default();
        let delay = self.own(&host).unwrap_or(self.delay);
        if delay.is_zero() {
            return;
        }
        let now = Instant::now();
        let start = {
            let mut next = self.next.lock().await;
            let start = next.get(&host).copied().unwrap_or(now).max(now);
            next.insert(host, start + delay);
            start
        };
        tokio::time::sleep(start - now).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commis_base::settings::EgressSettings;

    #[tokio::test]
    async fn test_hosts_are_asked_at_once() {
        let settings = EgressSettings {
            test_hosts: vec!["*.test=127.0.0.1:1".to_owned()],
            ..EgressSettings::default()
        };
        let policy = EgressPolicy::new(&settings).unwrap();
        let pacer = Pacer::new(Duration::from_secs(3600));
        for url in ["http://a.test/", "http://a.test/2", "not a url", "http://b.example/"] {
            pacer.wait_to_ask(&policy, url).await;
        }
        let asked: Vec<String> = pacer.next.lock().await.keys().cloned().collect();
        assert_eq!(asked, ["b.example"]);
    }

    #[tokio::test]
    async fn a_delay_of_its_own_begins_when_a_recording_ends() {
        let hour = Duration::from_secs(3600);
        let pacer = Pacer::new(Duration::ZERO);
        pacer.set("a.test", hour);
        let began = Instant::now();
        pacer.record_end("http://b.test/").await;
        pacer.wait("http://b.test/").await;
        pacer.record_end("http://a.test/x").await;
        let next = pacer.next.lock().await;
        assert_eq!(next.keys().collect::<Vec<_>>(), ["a.test"]);
        assert!(next["a.test"] >= began + hour);
    }
}
