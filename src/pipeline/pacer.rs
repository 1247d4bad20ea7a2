//! Spaces out recordings on one host.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::Mutex;
use url::Url;

/// Shared by all tasks of a batch.
pub struct Pacer {
    delay: Duration,
    next: Mutex<BTreeMap<String, Instant>>,
}

impl Pacer {
    /// At least `delay` between the starts of two recordings on one host.
    pub fn new(delay: Duration) -> Self {
        Self { delay, next: Mutex::default() }
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
