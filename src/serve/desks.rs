//! Pages that stay, by name: each caller's own, in a browser context of its own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use super::{Daemon, principal::Principal};
use crate::{
    browser::desk::{Command, Desk, Said},
    error::{Code, Error, Result},
    state::now_ms,
};

/// Open at once.
const MOST: usize = 16;
/// A page that nobody has asked anything of for so long is closed when the next one is opened, or the browser ends.
pub const IDLE: Duration = Duration::from_secs(30 * 60);
/// For one command of a page; and beyond that for the browser to say so.
pub const TIMEOUT: Duration = Duration::from_secs(20);
const GRACE: Duration = Duration::from_secs(15);

type Key = (String, String);

struct Slot {
    desk: tokio::sync::Mutex<Option<Desk>>,
    used_ms: Mutex<i64>,
}

#[derive(Default)]
pub struct Desks {
    all: Mutex<BTreeMap<Key, Arc<Slot>>>,
}

/// Two tokens share nothing, and neither do two names.
fn key(who: &Principal, name: &str) -> Key {
    let whose = if who.scopes.is_some() { who.id.clone() } else { String::new() };
    (whose, name.to_owned())
}

impl Desks {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, Arc<Slot>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Closes all of them.
    pub fn close_all(&self) {
        self.lock().clear();
    }

    /// Whether there was one of that name.
    pub fn close(&self, who: &Principal, name: &str) -> bool {
        // A session that ends with it takes its time: the other pages are not held up.
        let gone = self.lock().remove(&key(who, name));
        gone.is_some()
    }

    fn slot(&self, key: &Key) -> Result<Arc<Slot>> {
        let mut all = self.lock();
        let now = now_ms();
        if let Some(it) = all.get(key) {
            *it.used_ms.lock().unwrap_or_else(PoisonError::into_inner) = now;
            return Ok(Arc::clone(it));
        }
        let idle = IDLE.as_millis() as i64;
        all.retain(|_, it| now - *it.used_ms.lock().unwrap_or_else(PoisonError::into_inner) < idle);
        if all.len() >= MOST {
            return Err(Error::new(Code::QueueFull, format!("{MOST} pages are open already"))
                .hint("`browse close` closes one"));
        }
        let slot = Arc::new(Slot { desk: tokio::sync::Mutex::default(), used_ms: Mutex::new(now) });
        all.insert(key.clone(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Does something at the page of that name, which is opened if it is not there. Fails with `PARAM_INVALID`, `TASK_BUSY`,
    /// `QUEUE_FULL`, `BROWSER_FAILED` and with what the command fails with.
    pub async fn with<T>(
        daemon: &Daemon,
        of: (&Principal, &str),
        what: impl AsyncFnOnce(&mut Desk) -> Result<T>,
    ) -> Result<T> {
        Self::within(daemon, of, TIMEOUT, what).await
    }

    /// The same for what takes as long as several commands.
    pub async fn within<T>(
        daemon: &Daemon,
        (who, name): (&Principal, &str),
        limit: Duration,
        what: impl AsyncFnOnce(&mut Desk) -> Result<T>,
    ) -> Result<T> {
        let known = |it: u8| it.is_ascii_alphanumeric() || b"_-".contains(&it);
        if name.is_empty() || name.len() > 40 || !name.bytes().all(known) {
            return Err(Error::new(
                Code::ParamInvalid,
                "a context's name has letters, digits, _ and -, 40 at most",
            ));
        }
        let key = key(who, name);
        let slot = daemon.desks.slot(&key)?;
        let Ok(mut held) = tokio::time::timeout(TIMEOUT, slot.desk.lock()).await else {
            return Err(Error::new(
                Code::TaskBusy,
                "another command of this page is still at work",
            )
            .hint("wait for it"));
        };
        if held.as_ref().is_some_and(|it| !it.is_alive()) {
            *held = None;
            daemon.desks.lock().remove(&key);
            return Err(Error::new(
                Code::BrowserFailed,
                "the page is gone: its browser ended, or it crashed",
            )
            .hint("the next command finds a new page; goto an address first"));
        }
        let desk = match &mut *held {
            Some(it) => it,
            empty => {
                let context = daemon.world().browser.context().await?;
                empty.insert(Desk::new(context, TIMEOUT)?)
            }
        };
        // Enforced from here: a page that hangs is closed alone.
        let Ok(done) = tokio::time::timeout(limit + GRACE, what(desk)).await else {
            *held = None;
            daemon.desks.lock().remove(&key);
            let err = Error::new(Code::Timeout, "the page did not answer any more and was closed");
            return Err(err.hint("goto an address again"));
        };
        done
    }

    /// One command.
    pub async fn run(daemon: &Daemon, of: (&Principal, &str), command: Command) -> Result<Said> {
        Self::with(daemon, of, async |desk: &mut Desk| desk.run(command).await).await
    }
}
