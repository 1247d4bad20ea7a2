//! Spaces out what is asked of one host: recordings, and requests that are sent again.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::Mutex;
use url::Url;

use crate::egress::EgressPolicy;

/// One of recordings is shared by all tasks of a batch; each task has its own of requests.
pub struct Pacer {
    delay: Duration,
    next: Mutex<BTreeMap<String, Instant>>,
}

impl Pacer {
    /// At least `delay` between two starts on one host.
    pub fn new(delay: Duration) -> Self {
        Self { delay, next: Mutex::default() }
    }

    /// For a request: test hosts are exempt.
    pub async fn wait_to_ask(&self, policy: &EgressPolicy, url: &str) {
        let host = Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned));
        if host.is_some_and(|it| !policy.is_test_host(&it)) {
            self.wait(url).await;
        }
    }

    pub async fn wait(&self, url: &str) {
        if self.delay.is_zero() {
            return;
        }
        let host = Url::parse(url).ok().and_then(|it| it.host_str().map(str::to_owned));
        let now = Instant::now();
        let start = {
            let mut next = self.next.lock().await;
            let host = host.unwrap_or_default();
            let start = next.get(&host).copied().unwrap_or(now).max(now);
            next.insert(host, start + self.delay);
            start
        };
        tokio::time::sleep(start - now).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::EgressSettings;

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
}
