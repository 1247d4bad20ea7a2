//! What the testbed remembers between requests: hits, orders, sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::http::Version;
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use super::wire::SiteRequest;

/// The state of one testbed.
pub struct TestbedState {
    /// The port it listens on; the hostile page aims at it.
    pub port: u16,
    memory: Mutex<Memory>,
    /// Where requests are written down, one a line.
    log: Option<Mutex<File>>,
    /// How often a page was to change by itself.
    bumps: watch::Sender<u64>,
    /// The last bump that a page has followed.
    followed_bump: AtomicU64,
}

#[derive(Default)]
struct Memory {
    hits: BTreeMap<String, u64>,
    protocols: BTreeMap<&'static str, u64>,
    orders: u64,
    sessions: BTreeSet<String>,
    issued: u64,
    /// Sites whose next call comes too early.
    hasty: BTreeSet<&'static str>,
    /// How `api.gauges.test` answers.
    gauges: String,
    /// What sites remember by key.
    facts: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, u64>,
    /// How often a site was turned.
    turns: BTreeMap<String, u64>,
    /// When the newest calls of a site came in.
    calls: BTreeMap<&'static str, Vec<Instant>>,
    /// What was done and what was sent for it, in order.
    done: BTreeMap<&'static str, Vec<String>>,
}

impl TestbedState {
    pub fn new(port: u16, log: Option<File>) -> TestbedState {
        let log = log.map(Mutex::new);
        TestbedState {
            port,
            memory: Mutex::default(),
            log,
            bumps: watch::Sender::new(0),
            followed_bump: AtomicU64::new(0),
        }
    }

    /// Notes that something was done, and returns how often it has been.
    pub fn note(&self, what: &'static str, body: &[u8]) -> usize {
        let mut memory = self.memory();
        let all = memory.done.entry(what).or_default();
        all.push(String::from_utf8_lossy(body).into_owned());
        all.len()
    }

    /// The bodies of what was done.
    pub fn recorded_actions(&self, what: &str) -> Vec<String> {
        self.memory().done.get(what).cloned().unwrap_or_default()
    }

    /// Pages that wait for it change; how often they were to.
    pub fn bump(&self) -> u64 {
        self.bumps.send_modify(|it| *it += 1);
        self.bumps()
    }

    pub fn bumps(&self) -> u64 {
        *self.bumps.borrow()
    }

    /// The highest number of a bump that a page has followed; 0 before the first.
    pub fn followed_bump(&self) -> u64 {
        self.followed_bump.load(Ordering::Relaxed)
    }

    /// Notes that a page has followed the bump of that number.
    pub fn follow_bump(&self, number: u64) {
        self.followed_bump.fetch_max(number, Ordering::Relaxed);
    }

    /// Hears of it.
    pub fn bumped(&self) -> watch::Receiver<u64> {
        self.bumps.subscribe()
    }

    pub fn hits(&self) -> BTreeMap<String, u64> {
        self.memory().hits.clone()
    }

    pub fn count_hit(&self, ask: &SiteRequest) {
        if let Some(log) = &self.log {
            let line = serde_json::json!({
                "at_ms": commis_state::now_ms(), "host": ask.host, "method": ask.method, "path": ask.path, "query": ask.query,
            });
            // A line that is not written is one that whoever reads the log misses.
            let _ = writeln!(log.lock().unwrap_or_else(PoisonError::into_inner), "{line}");
        }
        let key = format!("{} {} {}", ask.host, ask.method, ask.path);
        let protocol = match (ask.version, ask.secure) {
            (Version::HTTP_2, _) => "h2",
            (_, true) => "https/1.1",
            (_, false) => "http/1.1",
        };
        let mut memory = self.memory();
        *memory.hits.entry(key).or_default() += 1;
        *memory.protocols.entry(protocol).or_default() += 1;
    }

    pub fn protocols(&self) -> BTreeMap<&'static str, u64> {
        self.memory().protocols.clone()
    }

    pub fn orders(&self) -> u64 {
        self.memory().orders
    }

    /// Counts one more order and returns its number.
    pub fn place_order(&self) -> u64 {
        let mut memory = self.memory();
        memory.orders += 1;
        memory.orders
    }

    /// A new session id that `site` accepts from now on.
    pub fn open_session(&self, site: &str) -> String {
        let mut memory = self.memory();
        memory.issued += 1;
        let id = session_of(site, memory.issued);
        memory.sessions.insert(format!("{site} {id}"));
        id
    }

    pub fn knows_session(&self, site: &str, id: &str) -> bool {
        self.memory().sessions.contains(&format!("{site} {id}"))
    }

    /// Forgets a session; false when it was not known.
    pub fn close_session(&self, site: &str, id: &str) -> bool {
        self.memory().sessions.remove(&format!("{site} {id}"))
    }

    /// Forgets every session of a site.
    pub fn close_sessions(&self, site: &str) {
        let prefix = format!("{site} ");
        self.memory().sessions.retain(|it| !it.starts_with(&prefix));
    }

    /// What was remembered under a key.
    pub fn fact(&self, key: &str) -> Option<String> {
        self.memory().facts.get(key).cloned()
    }

    /// Remembers a value under a key; `None` forgets it.
    pub fn set_fact(&self, key: &str, value: Option<&str>) {
        let mut memory = self.memory();
        match value {
            Some(value) => memory.facts.insert(key.to_owned(), value.to_owned()),
            None => memory.facts.remove(key),
        };
    }

    /// The keys that begin so.
    pub fn facts(&self, prefix: &str) -> Vec<String> {
        self.memory().facts.keys().filter(|it| it.starts_with(prefix)).cloned().collect()
    }

    /// How often this was counted, this time included.
    pub fn count(&self, what: &'static str) -> u64 {
        let mut memory = self.memory();
        let count = memory.counts.entry(what).or_default();
        *count += 1;
        *count
    }

    /// Lets what ends with time on a site end now.
    pub fn turn(&self, site: &str) {
        *self.memory().turns.entry(site.to_owned()).or_default() += 1;
    }

    /// How often a site was turned.
    pub fn turns(&self, site: &str) -> u64 {
        self.memory().turns.get(site).copied().unwrap_or_default()
    }

    /// Whether more than `most` calls of a site came in within a second, this one included.
    pub fn is_crowded(&self, site: &'static str, most: usize) -> bool {
        let now = Instant::now();
        let mut memory = self.memory();
        let calls = memory.calls.entry(site).or_default();
        calls.retain(|it| now.duration_since(*it) < Duration::from_secs(1));
        calls.push(now);
        calls.len() > most
    }

    /// The next [`TestbedState::is_hasty`] for the site will say yes.
    pub fn expect_haste(&self, site: &'static str) {
        self.memory().hasty.insert(site);
    }

    /// Whether this call comes too early. Only the first one does.
    pub fn is_hasty(&self, site: &'static str) -> bool {
        self.memory().hasty.remove(site)
    }

    /// How the gauges answer from now on.
    pub fn turn_gauges(&self, mood: &str) {
        mood.clone_into(&mut self.memory().gauges);
    }

    pub fn gauges(&self) -> String {
        self.memory().gauges.clone()
    }

    /// A panic elsewhere cannot leave counters half written, so a poisoned lock is still good.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The session that a site opens as the n-th of the whole web.
pub fn session_of(site: &str, n: u64) -> String {
    secret(&format!("{site} session {n}"))
}

/// 64 hex digits that look like a secret and depend only on the label.
pub fn secret(label: &str) -> String {
    sha256(label.as_bytes())
}

/// A digest in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
