//! What a context holds back, and what is known of the act that led to it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

/// What an act sets off begins so soon after it.
pub const AFTER: Duration = Duration::from_secs(2);

/// What a person sets off begins so soon after a key or a button: as long as a browser holds that a person is at a page.
pub const ACTIVE: Duration = Duration::from_secs(5);

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestDecision {
    /// It leaves.
    Go,
    /// It waits. Why it may change something.
    Hold(String),
    /// It does not leave. Why not.
    Refuse(String),
}

/// A request that is about to leave.
#[derive(Debug)]
pub struct OutgoingRequest<'a> {
    pub method: &'a str,
    pub url: &'a str,
    /// As the page made them.
    pub headers: &'a [(String, String)],
    /// `None` where there is none, or not all of it can be seen.
    pub body: Option<&'a [u8]>,
    /// There is a body, of which not everything can be seen.
    pub is_opaque: bool,
    /// It is another document for a page, and not for a frame in one.
    pub is_page: bool,
    /// Where the page is that asks, or whose frame does; absent where it has no document yet.
    pub at: Option<&'a str>,
    /// What the browser says it is for: `Document`, `XHR`, `Fetch`, `Ping`, `Script` and others.
    pub kind: &'a str,
    /// Something was done on the page just before.
    pub follows_act: bool,
    /// The control that it was done to, by role and name, where that is known.
    pub pressed: Option<&'a (String, String)>,
    /// A person has the page. What may change something leaves where they did something just before, whatever is said here.
    pub has_person: bool,
}

/// Decides what becomes of a request, from what it is alone.
pub type RequestJudge = Arc<dyn Fn(&OutgoingRequest<'_>) -> RequestDecision + Send + Sync>;

/// A request that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldRequest {
    /// Counted from 1 in this context; never given twice.
    pub number: u64,
    pub method: String,
    pub url: String,
    /// As the page made them; the browser adds cookies and its own.
    pub headers: Vec<(String, String)>,
    /// `None` where there is none, or not all of it can be seen (files).
    pub body: Option<Vec<u8>>,
    /// There is a body, of which not everything can be seen.
    pub is_opaque: bool,
    pub kind: String,
    pub why: String,
    /// Names of cookies that go with it and that scripts can write, with digests of their values, as they were looked at last.
    pub cookies: Vec<(String, String)>,
    pub(super) network: Option<String>,
    pub(super) session: Option<Arc<str>>,
    /// By which interception knows it; `None` where it was given up, and is made again.
    pub(super) paused: Option<String>,
}

/// A request that may leave when it is made again.
pub struct ExpectedRequest {
    pub waiting: HeldRequest,
    pub has_left: bool,
    /// By which the browser knows the one that left.
    pub network: Option<String>,
}

impl ExpectedRequest {
    /// Whether it has not left yet and is this very request, by method and URL, headers, body and kind.
    pub(super) fn awaits(
        &self,
        (method, url): (&str, &str),
        headers: &[(String, String)],
        body: Option<&[u8]>,
        kind: &str,
    ) -> bool {
        let it = &self.waiting;
        !self.has_left
            && (&*it.method, &*it.url) == (method, url)
            && it.headers == headers
            && it.body.as_deref() == body
            && it.kind == kind
    }
}

/// What a context holds back.
pub struct HoldState {
    pub judge: RequestJudge,
    pub waiting: Vec<HeldRequest>,
    pub count: u64,
    /// Something is being done; or something was done until then.
    pub acting: bool,
    pub acted: Option<Instant>,
    /// The control that it is or was done to, by role and name.
    pub pressed: Option<(String, String)>,
    /// The control of the last step, where steps are driven.
    pub driven: Option<(String, String)>,
    /// A value is being typed: no page turns into one of another site meanwhile, since the rest of it would go there.
    pub typing: bool,
    /// Pages that asked for a document of another site, which is not there yet.
    pub turning: BTreeSet<Arc<str>>,
    /// One of them came while a value was typed.
    pub turned: bool,
    /// The site that what is done next was meant for.
    pub keeps_to: Option<String>,
    pub expected: Option<ExpectedRequest>,
    /// Where each page is.
    pub at: BTreeMap<Arc<str>, String>,
    /// A person has the page: what they did themselves leaves.
    pub has_person: bool,
    /// When the person last pressed a key or a button of the mouse there.
    pub touched: Option<Instant>,
}

impl HoldState {
    pub fn new(judge: RequestJudge) -> Self {
        Self {
            judge,
            waiting: Vec::new(),
            count: 0,
            acting: false,
            acted: None,
            pressed: None,
            driven: None,
            typing: false,
            turning: BTreeSet::new(),
            turned: false,
            keeps_to: None,
            expected: None,
            at: BTreeMap::new(),
            has_person: false,
            touched: None,
        }
    }

    /// The same for another page, of which nothing is known.
    pub fn afresh(&self) -> Self {
        let judge = Arc::clone(&self.judge);
        Self { count: self.count, has_person: self.has_person, ..Self::new(judge) }
    }

    /// An act begins, or something else does that no change follows from.
    pub fn begins(&mut self, acts: bool, types: bool) {
        (self.acting, self.acted) = (acts, None);
        (self.typing, self.turned) = (types, false);
    }

    /// What is being done is done to that control, by role and name; `None`: it is not known to which.
    pub fn presses(&mut self, control: Option<(String, String)>) {
        self.pressed = control;
    }

    /// A step is done to that control.
    pub fn drives(&mut self, control: Option<(String, String)>) {
        self.driven = control;
    }

    /// The person who has the page did something there.
    pub fn touches(&mut self, now: Instant) {
        self.touched = Some(now);
    }

    /// Whether a person who has the page did something there just before.
    pub fn is_touched(&self, now: Instant) -> bool {
        self.has_person && self.touched.is_some_and(|it| now.duration_since(it) < ACTIVE)
    }

    /// A person has the page from here on, or no more.
    pub fn hands_over(&mut self, has_person: bool) {
        (self.has_person, self.touched) = (has_person, None);
    }

    /// It has ended.
    pub fn ends(&mut self, now: Instant) {
        (self.typing, self.keeps_to) = (false, None);
        if self.acting {
            (self.acting, self.acted) = (false, Some(now));
        }
    }

    /// What is done next is meant for a page of that site.
    pub fn keeps_to(&mut self, site: String) {
        self.keeps_to = Some(site);
    }

    /// Whether something waits that a page may stand still for.
    pub fn blocks(&self) -> bool {
        self.waiting.iter().any(|it| it.kind == "XHR" && it.paused.is_some())
    }

    pub fn follows(&self, now: Instant) -> bool {
        self.acting || self.acted.is_some_and(|it| now.duration_since(it) < AFTER)
    }
}
