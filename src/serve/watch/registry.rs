//! The watches of a daemon: what is stored of them, and which are at work.

use super::store::Store;
use commis_base::{error::Result, settings::WatchSettings};
use commis_state::now_ms;
use std::{
    collections::BTreeMap,
    path::Path,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};
use tokio::sync::Notify;

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// What the daemon knows of its watches.
pub struct Watches {
    pub store: Store,
    /// Another watch may be due, or a place for a run is free.
    pub(super) changed: Notify,
    /// A notification waits.
    pub to_send: Notify,
    /// Scheduled runs at work, by host.
    running: Mutex<BTreeMap<String, u32>>,
    /// There are some that are not paused.
    active: AtomicBool,
}

impl Watches {
    /// Fails with `ARTIFACT_IO`.
    pub fn open(folder: &Path) -> Result<Self> {
        let it = Self {
            store: Store::open(folder)?,
            changed: Notify::new(),
            to_send: Notify::new(),
            running: Mutex::default(),
            active: AtomicBool::new(false),
        };
        it.changed();
        Ok(it)
    }

    /// Takes up what an earlier daemon left at work. Fails with `ARTIFACT_IO`.
    pub fn recover(&self) -> Result<()> {
        match self.store.recover(now_ms())? {
            0 => {}
            n => tracing::info!(runs = n, "runs of watches of an earlier daemon are made again"),
        }
        Ok(())
    }

    /// Looks again at which are due, after one was added, removed, paused or resumed.
    pub fn changed(&self) {
        self.active.store(self.store.active().unwrap_or(0) > 0, Ordering::Relaxed);
        self.changed.notify_one();
    }

    /// Whether the daemon stays for them.
    pub fn is_needed(&self) -> bool {
        self.active.load(Ordering::Relaxed)
    }

    /// Forgets history that is too old. Fails with `ARTIFACT_IO`.
    pub fn prune(&self, settings: &WatchSettings, now_ms: i64) -> Result<()> {
        let days = i64::from(settings.retention_days);
        self.store.prune((days > 0).then(|| now_ms - days * DAY_MS), settings.changes)
    }

    pub(super) fn running(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, u32>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
