//! Tabs of a context: pages that were asked for, and popups where they may stay. One of them is the page; all stand behind the
//! same guard.

use std::{sync::Arc, time::Duration};

use serde_json::json;

use super::shared::{Page, Shared, State};

/// Of one context; a popup beyond is closed.
const MOST: usize = 20;
/// For what has to hold before a page may run.
const PATIENCE: Duration = Duration::from_secs(1);

pub struct Tab {
    /// Counted from 1, in the order they came; never given twice.
    pub number: u32,
    pub page: Page,
    /// Whether its document was loaded since it came.
    pub loaded: bool,
}

#[derive(Default)]
pub struct Tabs {
    pub all: Vec<Tab>,
    pub last: u32,
    /// Pages that were opened and are not among them yet.
    pub coming: bool,
}

impl Tabs {
    pub fn add(&mut self, page: Page) {
        self.last += 1;
        self.all.push(Tab { number: self.last, page, loaded: false });
    }

    pub fn of(&self, session: &str) -> Option<&Tab> {
        self.all.iter().find(|it| *it.page.session == *session)
    }

    /// The newest of those that came after that one.
    pub fn newer(&self, than: u32) -> Option<&Tab> {
        self.all.last().filter(|it| it.number > than)
    }
}

impl State {
    /// Whether another page may come up and stay.
    pub fn takes_tabs(&self) -> bool {
        self.tabs.as_ref().is_some_and(|it| it.all.len() < MOST)
    }

    /// The number of the tab that is the page; 0 where there are no tabs.
    pub fn tab(&self) -> u32 {
        let page = self.page.as_ref();
        let tab = self.tabs.as_ref().zip(page).and_then(|(tabs, it)| tabs.of(&it.session));
        tab.map_or(0, |it| it.number)
    }

    /// From here on, that tab is the page. Whether there is one.
    pub fn turn_to(&mut self, number: u32) -> bool {
        let found = self.tabs.as_ref().and_then(|it| it.all.iter().find(|it| it.number == number));
        let Some(page) = found.map(|it| it.page.clone()) else { return false };
        if let Some(recorder) = &mut self.recorder {
            recorder.turn_to(&page.target);
        }
        if self.page.as_ref().is_none_or(|it| *it.session != *page.session) {
            self.tell_tab(number, "is the page");
        }
        self.page = Some(page);
        self.crashed = false;
        self.within = None;
        true
    }

    /// A page went away. Where it was the page, the one before it is.
    pub fn leave(&mut self, session: &str) {
        let left = self.tabs.as_ref().and_then(|it| it.of(session)).map(|it| it.number);
        if let Some(it) = left {
            self.tell_tab(it, "was closed");
        }
        if let Some(tabs) = &mut self.tabs {
            tabs.all.retain(|it| *it.page.session != *session);
        }
        if self.page.as_ref().is_some_and(|it| *it.session == *session) {
            self.page = None;
            let before = self.tabs.as_ref().and_then(|it| it.all.last()).map(|it| it.number);
            before.map(|it| self.turn_to(it));
        }
    }

    /// Whether that frame's session belongs to the page, and not to another tab.
    pub fn is_frame_of(&self, frame: &str, page: &str) -> bool {
        let mut at = frame;
        // Deeper than any page is.
        for _ in 0..64 {
            match self.above.get(at) {
                Some(up) => at = up,
                None => break,
            }
        }
        at == page || self.tabs.as_ref().is_none_or(|it| it.of(at).is_none())
    }
}

/// Takes a page in: it runs when every request of it is seen and judged.
pub async fn adopt(shared: Arc<Shared>, page: Page) {
    let session = Arc::clone(&page.session);
    let target = json!({ "targetId": page.target });
    let (intercepts, others) = super::guard::prepare(&shared, &session);
    let held = intercepts.raw(PATIENCE).await.is_ok();
    if !held {
        shared.cdp.post(None, "Target.closeTarget", target.clone());
    }
    {
        let mut state = shared.lock();
        let mut came = None;
        if let Some(tabs) = &mut state.tabs {
            tabs.coming = false;
            if held {
                tabs.add(page);
                came = Some(tabs.last);
            }
        }
        if let Some(it) = came {
            state.tell_tab(it, "was opened");
        }
    }
    // One that is closed keeps its opener waiting as long as it waits itself.
    shared.cdp.post(Some(&session), "Runtime.runIfWaitingForDebugger", json!({}));
    shared.news.notify_waiters();
    for it in others {
        if it.raw(PATIENCE).await.is_err() {
            shared.cdp.post(None, "Target.closeTarget", target);
            return;
        }
    }
}
