//! What happens at a page that stays, as it happens, for whoever looks on.
//!
//! A ring of the last events that all who listen share. Each has a place in it and nothing else: one that is slow holds nobody
//! up, loses the oldest and is told how many. What is in it is redacted as answers are.

use std::{
    collections::VecDeque,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use super::{
    cdp::Reply,
    effect::{Effect, RequestEffect},
    text_sanitizer::cut,
};
use commis_base::error::{Code, Error, Result};
use commis_state::now_ms;

/// Events that are kept.
const KEPT: usize = 500;
/// Characters of a line.
pub const LONG: usize = 500;
/// For a picture.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EventKind {
    /// How things stand for who begins to listen.
    Here,
    /// A command began.
    Begun,
    /// It came to what the line says.
    Done,
    Failed,
    /// The page is at another address.
    Went,
    /// A document, or what a script asked for, was answered, or came to nothing.
    Request,
    Dialog,
    /// What the page wanted and did not get.
    Refused,
    Tab,
    /// A person has the page.
    HandedOff,
    Resumed,
    /// So many were lost to who was slow.
    Missed,
    Closed,
}

impl EventKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Here => "here",
            Self::Begun => "begun",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Went => "went",
            Self::Request => "request",
            Self::Dialog => "dialog",
            Self::Refused => "refused",
            Self::Tab => "tab",
            Self::HandedOff => "handed_off",
            Self::Resumed => "resumed",
            Self::Missed => "missed",
            Self::Closed => "closed",
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct Event {
    /// They grow, also over the pages that had this name before.
    pub id: u64,
    pub at_ms: i64,
    pub kind: EventKind,
    /// In one line.
    pub text: String,
    #[serde(flatten)]
    pub more: EventDetails,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct EventDetails {
    /// As `commis browse` calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestEffect>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tab: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missed: Option<u64>,
}

/// How things stand, to be seen without asking the page.
#[derive(Clone, Debug, Default)]
pub struct PageStatus {
    /// Empty where no page was opened yet.
    pub url: String,
    /// What the person who has the page was told; `None` where nobody has it.
    pub handed: Option<String>,
    /// It has a window that people see.
    pub visible: bool,
    /// The session that it is kept in.
    pub session: Option<String>,
}

/// Asks for a picture of the page.
type ScreenshotFn = Box<dyn Fn() -> Result<Reply> + Send>;

struct Ring {
    events: VecDeque<Event>,
    /// The first id of this page.
    began: u64,
    next: u64,
    closed: bool,
    standing: PageStatus,
    eye: Option<ScreenshotFn>,
}

struct Inner {
    ring: Mutex<Ring>,
    news: Notify,
}

/// Clones are the same.
#[derive(Clone)]
pub struct Feed(Arc<Inner>);

impl Feed {
    #[expect(clippy::new_without_default, reason = "it reads the clock")]
    pub fn new() -> Self {
        // Later than any that a page of this name had before: none has a thousand events in each of its milliseconds.
        let began = u64::try_from(now_ms()).unwrap_or(0) * 1000;
        Self(Arc::new(Inner {
            ring: Mutex::new(Ring {
                events: VecDeque::new(),
                began,
                next: began,
                closed: false,
                standing: PageStatus::default(),
                eye: None,
            }),
            news: Notify::new(),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, Ring> {
        self.0.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn emit(&self, kind: EventKind, text: &str, more: EventDetails) {
        {
            let mut ring = self.lock();
            if ring.closed {
                return;
            }
            let event = Event { id: ring.next, at_ms: now_ms(), kind, text: cut(text, LONG), more };
            ring.next += 1;
            ring.events.push_back(event);
            if ring.events.len() > KEPT {
                ring.events.pop_front();
            }
        }
        self.0.news.notify_waiters();
    }

    pub fn status(&self) -> PageStatus {
        self.lock().standing.clone()
    }

    pub fn stand(&self, change: impl FnOnce(&mut PageStatus)) {
        change(&mut self.lock().standing);
    }

    /// How pictures are asked for from here on.
    pub fn look_with(&self, eye: ScreenshotFn) {
        self.lock().eye = Some(eye);
    }

    /// Nothing comes after this.
    pub fn close(&self) {
        self.emit(EventKind::Closed, "the page was closed", EventDetails::default());
        self.lock().closed = true;
        self.0.news.notify_waiters();
    }

    /// Listens from after that event on; without one, to what comes.
    pub fn listen(&self, after: Option<u64>) -> Listener {
        let ring = self.lock();
        // What comes next to who has seen all of an earlier page is this one's first.
        let from = match after {
            Some(it) if it < ring.next => it.saturating_add(1).max(ring.began),
            _ => ring.next,
        };
        let first = after.is_none().then(|| here(&ring, from.saturating_sub(1)));
        drop(ring);
        Listener { feed: self.clone(), next: from, first }
    }

    /// The window as it is now, as a JPEG. It is asked of the browser beside commands, which do not wait for it. Fails with
    /// `BROWSER_FAILED`, `TIMEOUT`.
    pub async fn picture(&self) -> Result<Vec<u8>> {
        #[derive(Deserialize)]
        struct CaptureScreenshotResult {
            data: String,
        }
        let gone = || Error::new(Code::BrowserFailed, "no page is open");
        let reply = self.lock().eye.as_ref().ok_or_else(gone)?()?;
        let it: CaptureScreenshotResult = reply.read(PATIENCE).await?;
        STANDARD.decode(it.data).map_err(|err| {
            Error::new(Code::BrowserFailed, "the browser sent no picture").source(err)
        })
    }
}

fn here(ring: &Ring, id: u64) -> Event {
    let it = &ring.standing;
    let mut text =
        if it.url.is_empty() { "no page yet".to_owned() } else { format!("at {}", it.url) };
    if let Some(note) = &it.handed {
        text = format!("{text}; a person has the page{}", note_suffix(note));
    }
    Event { id, at_ms: now_ms(), kind: EventKind::Here, text, more: EventDetails::default() }
}

/// What a person is told, behind a colon.
pub fn note_suffix(note: &str) -> String {
    if note.is_empty() { String::new() } else { format!(": {note}") }
}

/// One that listens.
pub struct Listener {
    feed: Feed,
    next: u64,
    first: Option<Event>,
}

impl Listener {
    /// The next event; `None` when the page is closed and all was told.
    pub async fn next(&mut self) -> Option<Event> {
        if let Some(it) = self.first.take() {
            return Some(it);
        }
        let feed = self.feed.clone();
        loop {
            let mut news = pin!(feed.0.news.notified());
            news.as_mut().enable();
            {
                let ring = feed.lock();
                if let Some(it) = self.at(&ring) {
                    return Some(it);
                }
                if ring.closed {
                    return None;
                }
            }
            news.await;
        }
    }

    fn at(&mut self, ring: &Ring) -> Option<Event> {
        let oldest = ring.events.front()?.id;
        if self.next < oldest {
            let missed = oldest - self.next;
            self.next = oldest;
            let more = EventDetails { missed: Some(missed), ..EventDetails::default() };
            let text = format!("{missed} events were missed");
            return Some(Event {
                id: oldest - 1,
                at_ms: now_ms(),
                kind: EventKind::Missed,
                text,
                more,
            });
        }
        let at = usize::try_from(self.next - oldest).ok()?;
        let it = ring.events.get(at)?.clone();
        self.next += 1;
        Some(it)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(feed: &Feed, n: usize) {
        for i in 0..n {
            feed.emit(EventKind::Begun, &i.to_string(), EventDetails::default());
        }
    }

    #[tokio::test]
    async fn who_is_slow_loses_the_oldest_and_is_told_how_many() {
        let feed = Feed::new();
        let (mut slow, mut quick) = (feed.listen(None), feed.listen(None));
        assert_eq!(slow.next().await.unwrap().kind, EventKind::Here);
        assert_eq!(quick.next().await.unwrap().text, "no page yet");
        told(&feed, 3);
        for text in ["0", "1", "2"] {
            assert_eq!(quick.next().await.unwrap().text, text);
        }
        told(&feed, KEPT);
        let missed = slow.next().await.unwrap();
        assert_eq!((missed.kind, missed.more.missed), (EventKind::Missed, Some(3)));
        let first = slow.next().await.unwrap();
        assert_eq!((&*first.text, first.id), ("0", missed.id + 1));
        // Who comes back is told what came meanwhile, also of how much too much that was.
        let mut again = feed.listen(Some(first.id));
        assert_eq!(again.next().await.unwrap().id, first.id + 1);
        let mut late = feed.listen(Some(missed.id - 2));
        assert_eq!(late.next().await.unwrap().more.missed, Some(2));
        feed.close();
        feed.emit(EventKind::Begun, "after the end", EventDetails::default());
        let mut last = None;
        while let Some(it) = slow.next().await {
            last = Some(it);
        }
        assert_eq!(last.unwrap().kind, EventKind::Closed);
    }

    #[tokio::test]
    async fn a_page_of_the_same_name_goes_on_with_its_ids() {
        let before = Feed::new();
        told(&before, 2);
        let seen = before.lock().next - 1;
        let feed = Feed::new();
        // As a later moment makes it.
        let shift = before.lock().next + 1000;
        {
            let mut ring = feed.lock();
            (ring.began, ring.next) = (shift, shift);
        }
        told(&feed, 1);
        let mut it = feed.listen(Some(seen));
        let first = it.next().await.unwrap();
        assert_eq!((first.kind, first.id), (EventKind::Begun, shift), "nothing was missed");
        // An id of nobody's: from now on.
        let mut it = feed.listen(Some(u64::MAX));
        told(&feed, 1);
        assert_eq!(it.next().await.unwrap().id, shift + 1);
    }
}
