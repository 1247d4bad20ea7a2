//! Pages that stay, by name: each caller's own, in a browser context of its own.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::body::Bytes;

use super::principal::Principal;
use commis_base::error::{Code, Error, Result};
use commis_browser::page_session::{Feed, PageController, PageStatus};
use commis_state::now_ms;

/// Open at once.
const MOST: usize = 16;
/// A page that nobody has asked anything of for so long is closed when the next one is opened, or the browser ends.
pub const IDLE: Duration = Duration::from_secs(30 * 60);
/// For one command of a page.
pub const TIMEOUT: Duration = Duration::from_secs(20);
/// A picture for who looks on is not taken more often.
const PICTURE: Duration = Duration::from_secs(1);

/// Whose, empty for who owns the machine; and its name.
pub type PageKey = (String, String);

pub(super) struct PageSlot {
    pub(super) controller: tokio::sync::Mutex<Option<PageController>>,
    opened_ms: i64,
    used_ms: Mutex<i64>,
    /// What those are told who look on.
    pub(super) feed: Feed,
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
pub fn key(principal: &Principal, name: &str) -> PageKey {
    (principal.owner_of(name).to_owned(), name.to_owned())
}

impl PageSessions {
    pub(super) fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PageKey, Arc<PageSlot>>> {
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
    pub fn close(&self, principal: &Principal, name: &str) -> bool {
        // A session that ends with it takes its time: the other pages are not held up.
        let closed = self.lock().remove(&key(principal, name));
        if let Some(it) = &closed {
            it.feed.close();
        }
        closed.is_some()
    }

    fn find_slot(&self, key: &PageKey) -> Option<Arc<PageSlot>> {
        self.lock().get(key).cloned()
    }

    /// Whether that page is there, and a request still waits in it by that number. One that a command is at work on counts as there.
    pub fn has_held_request(&self, principal: &Principal, name: &str, number: u64) -> bool {
        let Some(slot) = self.find_slot(&key(principal, name)) else { return false };
        let Ok(controller) = slot.controller.try_lock() else { return true };
        controller.as_ref().is_some_and(|it| {
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
                busy: it.controller.try_lock().is_err(),
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
            && slot.controller.try_lock().is_ok()
            && let Ok(it) = slot.feed.picture().await
        {
            *last = Some((Instant::now(), it.into()));
        }
        last.as_ref().map(|it| it.1.clone())
    }

    pub(super) fn slot(&self, key: &PageKey) -> Result<Arc<PageSlot>> {
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
            controller: tokio::sync::Mutex::default(),
            opened_ms: now,
            used_ms: Mutex::new(now),
            feed: Feed::new(),
            picture: tokio::sync::Mutex::default(),
        });
        all.insert(key.clone(), Arc::clone(&slot));
        Ok(slot)
    }
}
