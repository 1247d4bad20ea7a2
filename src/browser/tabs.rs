//! Tabs of a context: pages that were asked for, and popups where they may stay. One of them is the page; all stand behind the
//! same guard.

use std::sync::Arc;

/// Of one context; a popup beyond is closed.
pub const MOST: usize = 20;

/// The page that commands and steps are about.
#[derive(Clone)]
pub struct Page {
    pub session: Arc<str>,
    /// Also the id of its main frame.
    pub target: String,
}

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

    pub fn by_session(&self, session: &str) -> Option<&Tab> {
        self.all.iter().find(|it| *it.page.session == *session)
    }

    /// The newest of those that came after that one.
    pub fn newer(&self, than: u32) -> Option<&Tab> {
        self.all.last().filter(|it| it.number > than)
    }
}
