//! Pages that stay, by name: each caller's own, in a browser context of its own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::body::Bytes;

use super::{
    Daemon,
    principal::{Principal, page_name},
};
use commis_base::error::{Code, Error, Result};
use commis_browser::desk::{Command, CommandOutput, Feed, PageController, PageStatus};
use commis_state::now_ms;

/// Open at once.
const MOST: usize = 16;
/// A page that nobody has asked anything of for so long is closed when the next one is opened, or the browser ends.
pub const IDLE: Duration = Duration::from_secs(30 * 60);
/// For one command of a page; and beyond that for the browser to say so.
pub const TIMEOUT: Duration = Duration::from_secs(20);
const GRACE: Duration = Duration::from_secs(15);
/// A picture for who looks on is not taken more often.
const PICTURE: Duration = Duration::from_secs(1);

/// Whose, empty for who owns the machine; and its name.
pub type PageKey = (String, String);

struct PageSlot {
    desk: tokio::sync::Mutex<Option<PageController>>,
    opened_ms: i64,
    used_ms: Mutex<i64>,
    /// What those are told who look on.
    feed: Feed,
    picture: tokio::sync::Mutex<Option<(Instant, Bytes)>>,
}

impl PageSlot {
    fn used_ms(&self) -> i64 {
        *self.used_ms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PageSlot {
    fn drop(&mut self) {
        self.feed.close();
    }
}

/// A page as it is seen from outside.
pub struct OpenPage {
    pub key: PageKey,
    pub opened_ms: i64,
    pub used_ms: i64,
    /// A command is at work.
    pub busy: bool,
    pub standing: PageStatus,
}

#[derive(Default)]
pub struct PageSessions {
    all: Mutex<BTreeMap<PageKey, Arc<PageSlot>>>,
}

/// Two tokens share nothing, and neither do two names; but who was granted a page of the owner's means that one.
pub fn key(who: &Principal, name: &str) -> PageKey {
    (who.owner_of(name).to_owned(), name.to_owned())
}

impl PageSessions {
    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PageKey, Arc<PageSlot>>> {
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
        let closed = self.lock().remove(&key(who, name));
        if let Some(it) = &closed {
            it.feed.close();
        }
        closed.is_some()
    }

    fn find_slot(&self, key: &PageKey) -> Option<Arc<PageSlot>> {
        self.lock().get(key).cloned()
    }

    /// Whether that page is there, and a request still waits in it by that number. One that a command is at work on counts as there.
    pub fn has_held_request(&self, who: &Principal, name: &str, number: u64) -> bool {
        let Some(slot) = self.find_slot(&key(who, name)) else { return false };
        let Ok(desk) = slot.desk.try_lock() else { return true };
        desk.as_ref().is_some_and(|it| {
            it.is_alive() && it.held_requests().iter().any(|it| it.number == number)
        })
    }

    /// Those that are open, by whose they are and what they are called.
    pub fn open(&self) -> Vec<OpenPage> {
        let all: Vec<(PageKey, Arc<PageSlot>)> =
            self.lock().iter().map(|(key, it)| (key.clone(), Arc::clone(it))).collect();
        all.into_iter()
            .map(|(key, it)| OpenPage {
                key,
                opened_ms: it.opened_ms,
                used_ms: it.used_ms(),
                busy: it.desk.try_lock().is_err(),
                standing: it.feed.status(),
            })
            .collect()
    }

    /// What happens at an open page.
    pub fn feed(&self, key: &PageKey) -> Option<Feed> {
        self.find_slot(key).map(|it| it.feed.clone())
    }

    /// What an open page's window shows, as a JPEG: the last picture where there is a younger one than a second, where a command
    /// is at work, and where there is no other.
    pub async fn picture(&self, key: &PageKey) -> Option<Bytes> {
        let slot = self.find_slot(key)?;
        // Whoever else looks is waited for: that is one picture.
        let mut last = slot.picture.lock().await;
        let young = last.as_ref().is_some_and(|it| it.0.elapsed() < PICTURE);
        // Neither behind a command nor ahead of one.
        if !young
            && slot.desk.try_lock().is_ok()
            && let Ok(it) = slot.feed.picture().await
        {
            *last = Some((Instant::now(), it.into()));
        }
        last.as_ref().map(|it| it.1.clone())
    }

    fn slot(&self, key: &PageKey) -> Result<Arc<PageSlot>> {
        let mut all = self.lock();
        let now = now_ms();
        if let Some(it) = all.get(key) {
            *it.used_ms.lock().unwrap_or_else(PoisonError::into_inner) = now;
            return Ok(Arc::clone(it));
        }
        let idle = IDLE.as_millis() as i64;
        all.retain(|_, it| now - it.used_ms() < idle);
        if all.len() >= MOST {
            return Err(Error::new(Code::QueueFull, format!("{MOST} pages are open already"))
                .hint("`browse close` closes one"));
        }
        let slot = Arc::new(PageSlot {
            desk: tokio::sync::Mutex::default(),
            opened_ms: now,
            used_ms: Mutex::new(now),
            feed: Feed::new(),
            picture: tokio::sync::Mutex::default(),
        });
        all.insert(key.clone(), Arc::clone(&slot));
        Ok(slot)
    }

    /// Does something at the page of that name, which is opened if it is not there. Fails with `PARAM_INVALID`, `TASK_BUSY`,
    /// `QUEUE_FULL`, `BROWSER_FAILED` and with what the command fails with.
    pub async fn with<T>(
        daemon: &Daemon,
        of: (&Principal, &str),
        what: impl AsyncFnOnce(&mut PageController) -> Result<T>,
    ) -> Result<T> {
        Self::within(daemon, of, TIMEOUT, what).await
    }

    /// The same for what takes as long as several commands.
    pub async fn within<T>(
        daemon: &Daemon,
        (who, name): (&Principal, &str),
        limit: Duration,
        what: impl AsyncFnOnce(&mut PageController) -> Result<T>,
    ) -> Result<T> {
        page_name(name)?;
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
                // A token's id and a context's name are both plain words.
                let folder = daemon.home.rings.join(format!("{}.{}", key.0, key.1));
                let mut desk = PageController::new(context, TIMEOUT, Some(&folder))?;
                desk.told_to(slot.feed.clone());
                empty.insert(desk)
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

    /// Gives the page of that name to a person, in a window, where it moves if it has none.
    pub async fn hand_off(
        daemon: &Daemon,
        of: (&Principal, &str),
        note: &str,
    ) -> Result<CommandOutput> {
        Self::in_window(daemon, of, async |desk: &mut PageController| desk.hand_off(note).await)
            .await
    }

    /// Does something at the page of that name, in a window.
    pub async fn in_window<T>(
        daemon: &Daemon,
        of: (&Principal, &str),
        what: impl AsyncFnOnce(&mut PageController) -> Result<T>,
    ) -> Result<T> {
        // A browser is started, and a page opened in it.
        Self::within(daemon, of, 2 * TIMEOUT, async |desk: &mut PageController| {
            if !desk.is_visible() {
                desk.move_to(daemon.world().window().await?).await?;
            }
            what(desk).await
        })
        .await
    }

    /// One command.
    pub async fn run(
        daemon: &Daemon,
        of: (&Principal, &str),
        command: Command,
    ) -> Result<CommandOutput> {
        Self::with(daemon, of, async |desk: &mut PageController| desk.run(command).await).await
    }
}
