//! What a person does in a window, from the messages of the script that watches it (`watch.js`).
//!
//! A plain state machine. The script runs in a world of its own, but in a renderer that a hostile page may have taken over: its
//! messages are bounded and parsed as a stranger's. Keystrokes become one fill per field and edit. What is typed into a
//! password field is kept apart, to be looked for and masked, and is in no action.

use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

use serde::Deserialize;
use zeroize::Zeroizing;

use super::page::Summary;
use commis_artifacts::recording::{ActionKind, Control};

/// The script; it is the same for every page, and gets no data. What a document shows is read as it is of one that is driven.
pub const SCRIPT: &str =
    concat!("globalThis.commisDrawn = ", include_str!("drawn.js"), ";\n", include_str!("watch.js"));
/// What the script calls, in its world alone.
pub const BINDING: &str = "commisTell";
pub const WORLD: &str = "commis-watch";

/// Nobody does more by hand; what comes after is not recorded.
pub const MAX_ACTIONS: usize = 500;
const MAX_MESSAGES: u32 = 50_000;
const MAX_MESSAGE: usize = 1 << 20;
const MAX_ELEMENTS: usize = 5000;
/// Of passwords, with what stood in their fields meanwhile.
const MAX_SECRETS: usize = 500;
/// A shorter one would be found in every number.
pub const MIN_SECRET: usize = 4;
const MAX_FRAMES: usize = 64;
/// So soon after a click, a step in the history is the page's answer to it.
const CAUSED: Duration = Duration::from_secs(1);

/// An element by the session and world that told of it, and its number there.
pub type ElementKey = (Arc<str>, i64, u32);

/// As assistive technology calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameStatus {
    /// The browser has been asked.
    Asked,
    /// Steps find it again by these.
    Named {
        role: String,
        name: String,
    },
    /// It has a name, but steps would find another one, or none.
    Unsure {
        name: String,
    },
    Unknown,
}

struct Element {
    called: NameStatus,
    field: String,
    control: Option<Control>,
}

/// Something done. The fields as in [`commis_artifacts::recording::Action`].
struct Entry {
    at: Instant,
    kind: ActionKind,
    element: Option<ElementKey>,
    /// As the script calls it: for when the browser could not be asked.
    label: String,
    value: Option<String>,
    secret: bool,
    /// What stands in the field, where it is one for a password.
    password: Zeroizing<String>,
    /// One value says what was done.
    whole: bool,
}

/// One thing done, ready to be recorded.
pub struct UserAction {
    pub at: Instant,
    pub kind: ActionKind,
    pub role: Option<String>,
    pub name: Option<String>,
    pub value: Option<String>,
    /// What was typed into a password field is not in `value`.
    pub secret: bool,
    /// Name of the form field.
    pub field: String,
    pub control: Option<Control>,
}

#[derive(Deserialize)]
#[serde(tag = "k", rename_all = "lowercase", deny_unknown_fields)]
enum Message {
    Look {
        el: u32,
        field: String,
    },
    Input {
        el: u32,
        v: String,
        #[serde(default)]
        secret: bool,
    },
    Select {
        el: u32,
        v: String,
        #[serde(default)]
        several: bool,
    },
    Tick {
        el: u32,
        on: bool,
        v: String,
    },
    Press {
        el: u32,
        v: String,
    },
    Click {
        el: u32,
        v: String,
    },
    Page {
        top: bool,
        page: Summary,
    },
}

pub struct ActionWatcher {
    messages: u32,
    entries: Vec<Entry>,
    /// The edit that further keystrokes in the same field belong to.
    open: Option<usize>,
    elements: BTreeMap<ElementKey, Element>,
    secrets: Vec<Zeroizing<String>>,
    /// How many entries a person was told of.
    told: usize,
    /// Navigations are a person's from when the first page is there.
    ready: bool,
    /// Where the page itself is about to go.
    asked: Option<String>,
    /// What the documents that are going away showed; the page itself and its frames.
    leaving: Vec<(bool, Summary)>,
    url: String,
    navigated: Option<Instant>,
    /// What was refused to the page, for the person to know.
    refused: Vec<String>,
    last_refused: String,
}

impl ActionWatcher {
    pub fn new() -> Self {
        Self {
            messages: 0,
            entries: Vec::new(),
            open: None,
            elements: BTreeMap::new(),
            secrets: Vec::new(),
            told: 0,
            ready: false,
            asked: None,
            leaving: Vec::new(),
            url: String::new(),
            navigated: None,
            refused: Vec::new(),
            last_refused: String::new(),
        }
    }

    /// Takes in a message; returns an element that the browser should be asked about now.
    pub fn take(
        &mut self,
        session: &Arc<str>,
        world: i64,
        text: &str,
        at: Instant,
    ) -> Option<ElementKey> {
        if self.messages >= MAX_MESSAGES || text.len() > MAX_MESSAGE {
            return None;
        }
        self.messages += 1;
        let message: Message = serde_json::from_str(text).ok()?;
        let key = |el: u32| (Arc::clone(session), world, el);
        match message {
            Message::Look { el, field } => {
                if self.elements.len() >= MAX_ELEMENTS {
                    return None;
                }
                let field = field.chars().take(60).collect();
                let element = Element { called: NameStatus::Asked, field, control: None };
                self.elements.insert(key(el), element).is_none().then(|| key(el))
            }
            Message::Input { el, v, secret } => {
                self.input(key(el), v, secret, at);
                None
            }
            Message::Select { el, v, several } => {
                self.select(key(el), v, several, at);
                None
            }
            Message::Tick { el, on, v } => {
                let label = v.chars().take(80).collect();
                let kind = if on { ActionKind::Check } else { ActionKind::Uncheck };
                self.add(kind, Some(key(el)), label, None, at);
                None
            }
            Message::Press { el, v } => {
                // Leaving a field that was not touched is nothing.
                let edited = self.open.take().is_some();
                if edited || v != "Tab" {
                    self.add(ActionKind::Press, Some(key(el)), String::new(), Some(v), at);
                }
                None
            }
            Message::Click { el, v } => {
                let label = v.chars().take(80).collect();
                self.add(ActionKind::Click, Some(key(el)), label, None, at);
                None
            }
            Message::Page { top, page } => {
                if self.leaving.len() < MAX_FRAMES {
                    self.leaving.push((top, page));
                }
                None
            }
        }
    }

    /// By keys, a list goes through the options between: one choice.
    fn select(&mut self, key: ElementKey, value: String, several: bool, at: Instant) {
        let again = self
            .entries
            .last()
            .is_some_and(|it| it.kind == ActionKind::Select && it.element.as_ref() == Some(&key));
        if again || self.add(ActionKind::Select, Some(key), String::new(), None, at) {
            self.open = None;
            if let Some(entry) = self.entries.last_mut() {
                entry.value = Some(value);
                entry.whole &= !several;
            }
        }
    }

    fn input(&mut self, key: ElementKey, value: String, secret: bool, at: Instant) {
        let open = self.open.filter(|it| self.entries[*it].element.as_ref() == Some(&key));
        let index = match open {
            Some(it) => it,
            None if self.add(ActionKind::Fill, Some(key), String::new(), None, at) => {
                self.entries.len() - 1
            }
            None => return,
        };
        self.open = Some(index);
        let entry = &mut self.entries[index];
        entry.secret |= secret;
        if !entry.secret {
            entry.value = Some(value);
            return;
        }
        // What stood there before it turned out to be a password is one.
        entry.password = Zeroizing::new(value.clone());
        let before = entry.value.take();
        for it in before.into_iter().chain([value]) {
            self.keep_secret(Zeroizing::new(it));
        }
    }

    /// Also what stood there after each key: pages send that.
    fn keep_secret(&mut self, value: Zeroizing<String>) {
        if value.len() < MIN_SECRET || self.secrets.contains(&value) {
            return;
        }
        if self.secrets.len() == MAX_SECRETS {
            self.secrets.pop();
        }
        self.secrets.push(value);
    }

    /// False when there are too many.
    fn add(
        &mut self,
        kind: ActionKind,
        element: Option<ElementKey>,
        label: String,
        value: Option<String>,
        at: Instant,
    ) -> bool {
        self.open = None;
        if self.is_full() {
            return false;
        }
        self.entries.push(Entry {
            at,
            kind,
            element,
            label,
            value,
            secret: false,
            password: Zeroizing::default(),
            whole: true,
        });
        true
    }

    /// Something that the page wanted did not happen.
    pub fn refuse(&mut self, what: String) {
        // One popup is told of when it opens and when it asks.
        if self.refused.len() < 20 && self.last_refused != what {
            self.last_refused.clone_from(&what);
            self.refused.push(what);
        }
    }

    /// What was refused since it was last asked.
    pub fn refusals(&mut self) -> Vec<String> {
        std::mem::take(&mut self.refused)
    }

    pub fn is_full(&self) -> bool {
        self.entries.len() >= MAX_ACTIONS
    }

    /// What the browser says of an element.
    pub fn call(&mut self, key: &ElementKey, called: NameStatus, control: Option<Control>) {
        if let Some(it) = self.elements.get_mut(key) {
            (it.called, it.control) = (called, control);
        }
    }

    /// From now on a navigation that the page did not ask for is a person's.
    pub fn ready(&mut self, url: &str, at: Instant) {
        self.ready = true;
        self.add(ActionKind::Navigate, None, String::new(), Some(url.to_owned()), at);
        // It was done first, whatever was clicked while the page loaded.
        self.entries.rotate_right(1);
        self.entries[0].at = at;
    }

    /// The page asks to go there: a link, a form, a script.
    pub fn note_page_navigation(&mut self, url: String) {
        self.asked = Some(url);
    }

    /// The page begins to go somewhere; `kind` as the protocol calls it.
    pub fn navigating(&mut self, url: &str, kind: &str, at: Instant) {
        let asked = self.asked.take().is_some_and(|it| it == url);
        let in_document = kind.ends_with("ameDocument");
        let caused = kind.starts_with("history")
            && self.entries.last().is_some_and(|it| at.saturating_duration_since(it.at) < CAUSED);
        if self.ready && !asked && !in_document && !caused && url.starts_with("http") {
            self.add(ActionKind::Navigate, None, String::new(), Some(url.to_owned()), at);
        }
    }

    /// The page is another document, or calls itself something else.
    pub fn navigated(&mut self, url: String, anew: bool, at: Instant) {
        self.url = url;
        if anew {
            self.leaving.clear();
            self.navigated = Some(at);
        }
    }

    /// When the document of the page came.
    pub fn came(&self) -> Option<Instant> {
        self.navigated
    }

    /// When something was last done.
    pub fn last(&self) -> Option<Instant> {
        self.entries.last().map(|it| it.at)
    }

    /// What the documents showed that went away with the window; the page itself first. Nothing when they were others.
    pub fn documents_left(&mut self) -> Vec<Summary> {
        let mut all = std::mem::take(&mut self.leaving);
        all.sort_by_key(|it| !it.0);
        let ours = all.first().is_some_and(|(top, page)| *top && page.url == self.url);
        if ours { all.into_iter().map(|it| it.1).collect() } else { Vec::new() }
    }

    /// Lines for a person, once each: what is complete, or everything.
    pub fn lines(&mut self, all: bool) -> Vec<String> {
        let mut out = Vec::new();
        while self.told < self.entries.len() {
            let entry = &self.entries[self.told];
            let asked = entry.element.as_ref().and_then(|it| self.elements.get(it));
            let asked = asked.is_some_and(|it| it.called == NameStatus::Asked);
            if !all && (asked || self.open == Some(self.told)) {
                break;
            }
            out.push(self.to_user_action(entry).describe());
            self.told += 1;
        }
        out
    }

    fn to_user_action(&self, it: &Entry) -> UserAction {
        let element = it.element.as_ref().and_then(|it| self.elements.get(it));
        let (role, name) = match element.map(|it| &it.called) {
            _ if it.element.is_none() || it.kind == ActionKind::Press => (None, None),
            Some(NameStatus::Named { role, name }) if it.whole => {
                (Some(role.clone()), Some(name.clone()))
            }
            Some(NameStatus::Named { name, .. } | NameStatus::Unsure { name }) => {
                (None, Some(name.clone()))
            }
            Some(NameStatus::Asked | NameStatus::Unknown) | None => (None, Some(it.label.clone())),
        };
        UserAction {
            at: it.at,
            kind: it.kind,
            role,
            name,
            value: it.value.clone(),
            secret: it.secret,
            field: element.map(|it| it.field.clone()).unwrap_or_default(),
            control: element
                .and_then(|it| it.control.clone())
                .filter(|_| it.kind != ActionKind::Press),
        }
    }

    /// Everything done, and the passwords that were typed; `None` when one is too short to be looked for.
    pub fn finish(self) -> Option<(Vec<UserAction>, Passwords)> {
        let all = self.entries.iter().map(|it| self.to_user_action(it)).collect();
        let mut whole: Vec<Zeroizing<String>> =
            self.entries.into_iter().map(|it| it.password).filter(|it| !it.is_empty()).collect();
        if whole.iter().any(|it| it.len() < MIN_SECRET) {
            return None;
        }
        let begins = |it: &Zeroizing<String>| whole.iter().any(|of| of.starts_with(it.as_str()));
        let (parts, others): (Vec<_>, Vec<_>) = self.secrets.into_iter().partition(begins);
        whole.extend(others);
        Some((all, Passwords { whole, parts }))
    }
}

/// What was typed into password fields.
pub struct Passwords {
    /// What stood there in the end, and what was corrected.
    pub whole: Vec<Zeroizing<String>>,
    /// Beginnings of it, of which many are plain words: secrets where they were sent.
    pub parts: Vec<Zeroizing<String>>,
}

impl UserAction {
    /// `fill searchbox "Search": lantern`. A password is not in it.
    pub fn describe(&self) -> String {
        let verb = match self.kind {
            ActionKind::Navigate => "navigate",
            ActionKind::Fill => "fill",
            ActionKind::Press => "press",
            ActionKind::Click => "click",
            ActionKind::Select => "select",
            ActionKind::Check => "check",
            ActionKind::Uncheck => "uncheck",
            ActionKind::Hover => "hover",
            ActionKind::Scroll => "scroll",
            ActionKind::WaitFor => "wait_for",
        };
        let mut out = verb.to_owned();
        for it in self.role.iter().cloned().chain(self.name.as_ref().map(|it| format!("{it:?}"))) {
            out.push(' ');
            out.push_str(&it);
        }
        let colon = if self.name.is_some() { ": " } else { " " };
        match &self.value {
            _ if self.secret => out.push_str(": (not recorded)"),
            Some(value) => {
                out.push_str(colon);
                out.push_str(value);
            }
            None => {}
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    struct Page {
        watch: ActionWatcher,
        now: Instant,
    }

    impl Page {
        fn new() -> Self {
            let now = Instant::now();
            let mut watch = ActionWatcher::new();
            watch.ready("http://a.test/", now);
            Self { watch, now }
        }

        fn tells(&mut self, message: &Value) -> Option<ElementKey> {
            self.watch.take(&"s".into(), 1, &message.to_string(), self.now)
        }

        fn shows(&mut self, number: u32, role: &str, name: &str) {
            let key = self.tells(&json!({"k": "look", "el": number, "field": "f"})).unwrap();
            let (role, name) = (role.to_owned(), name.to_owned());
            self.watch.call(&key, NameStatus::Named { role, name }, None);
        }

        fn types(&mut self, number: u32, text: &str, secret: bool) {
            for end in 1..=text.len() {
                let input =
                    json!({"k": "input", "el": number, "v": &text[..end], "secret": secret});
                self.tells(&input);
            }
        }

        fn check(&mut self, expected: &[&str]) {
            let lines = self.watch.lines(true);
            assert_eq!(lines[1..], *expected, "after {}", lines[0]);
        }
    }

    #[test]
    fn keystrokes_become_one_fill_for_each_edit() {
        let mut page = Page::new();
        page.shows(1, "searchbox", "Search");
        page.shows(2, "button", "Go");
        page.tells(&json!({"k": "press", "el": 1, "v": "Tab"}));
        page.types(1, "lan", false);
        page.tells(&json!({"k": "press", "el": 1, "v": "Enter"}));
        page.types(1, "lamp", false);
        page.tells(&json!({"k": "press", "el": 1, "v": "Tab"}));
        page.tells(&json!({"k": "click", "el": 2, "v": "label"}));
        page.tells(&json!({"k": "click", "el": 9, "v": "unknown"}));
        page.check(&[
            "fill searchbox \"Search\": lan",
            "press Enter",
            "fill searchbox \"Search\": lamp",
            "press Tab",
            "click button \"Go\"",
            "click \"unknown\"",
        ]);
    }

    #[test]
    fn choices_and_ticks_are_steps_of_their_own() {
        let mut page = Page::new();
        page.shows(1, "combobox", "Kind");
        page.shows(2, "radio", "Large");
        page.shows(3, "checkbox", "Fresh");
        for kind in ["Fowl", "Fish"] {
            page.tells(&json!({"k": "select", "el": 1, "v": kind}));
        }
        page.tells(&json!({"k": "tick", "el": 2, "on": true, "v": ""}));
        page.tells(&json!({"k": "tick", "el": 3, "on": false, "v": ""}));
        page.tells(&json!({"k": "select", "el": 1, "v": "Fowl", "several": true}));
        page.check(&[
            "select combobox \"Kind\": Fish",
            "check radio \"Large\"",
            "uncheck checkbox \"Fresh\"",
            "select \"Kind\": Fowl",
        ]);
    }

    #[test]
    fn a_line_is_told_once_when_it_is_complete() {
        let mut page = Page::new();
        assert_eq!(page.watch.lines(false).len(), 1);
        page.shows(1, "textbox", "City");
        page.types(1, "Oslo", false);
        assert_eq!(page.watch.lines(false).len(), 0);
        page.tells(&json!({"k": "press", "el": 1, "v": "Enter"}));
        assert_eq!(page.watch.lines(false), ["fill textbox \"City\": Oslo", "press Enter"]);
        assert_eq!(page.watch.lines(true).len(), 0);
    }

    #[test]
    fn passwords_are_in_no_action_and_all_that_stood_there_is_known() {
        let mut page = Page::new();
        page.shows(1, "textbox", "Password");
        page.types(1, "open", false);
        page.types(1, "opensesame", true);
        page.check(&["fill textbox \"Password\": (not recorded)"]);
        let (done, secrets) = page.watch.finish().unwrap();
        assert!(done[1].secret && done[1].value.is_none());
        assert_eq!(secrets.whole[0].as_str(), "opensesame");
        assert!(secrets.parts.iter().any(|it| it.as_str() == "open"));
        assert!(secrets.parts.iter().all(|it| it.len() >= MIN_SECRET));
    }

    #[test]
    fn a_password_that_was_corrected_is_one() {
        let mut page = Page::new();
        page.types(1, "opensesam", true);
        page.types(1, "open sesame", true);
        let (_, secrets) = page.watch.finish().unwrap();
        let has = |of: &[Zeroizing<String>], text: &str| of.iter().any(|it| it.as_str() == text);
        assert!(has(&secrets.whole, "open sesame") && has(&secrets.whole, "opensesam"));
        assert!(has(&secrets.parts, "open") && !has(&secrets.whole, "open"));
    }

    #[test]
    fn a_password_that_cannot_be_found_again_ends_it() {
        for (text, ends) in [("abc", true), ("", false), ("abcd", false)] {
            let mut page = Page::new();
            page.tells(&json!({"k": "input", "el": 1, "v": text, "secret": true}));
            assert_eq!(page.watch.finish().is_none(), ends, "{text:?}");
        }
    }

    #[test]
    fn messages_of_a_stranger_are_bounded() {
        let mut page = Page::new();
        let click = json!({"k": "click", "el": 1, "v": "x"});
        for bad in [
            json!(null),
            json!("click"),
            json!({"k": "click", "el": -1, "v": "x"}),
            json!({"k": "click", "el": 1, "v": "x", "more": 1}),
            json!({"k": "delete", "el": 1}),
            json!({"k": "click", "el": 1, "v": "x".repeat(MAX_MESSAGE)}),
        ] {
            page.tells(&bad);
        }
        page.check(&[]);
        for _ in 0..MAX_ACTIONS * 2 {
            page.tells(&click);
        }
        assert!(page.watch.is_full());
        for number in 0..MAX_ELEMENTS as u32 * 2 {
            page.tells(&json!({"k": "look", "el": number, "field": ""}));
        }
        assert_eq!(page.watch.elements.len(), MAX_ELEMENTS);
        for number in 0..1000 {
            page.tells(
                &json!({"k": "input", "el": 1, "v": format!("word{number}"), "secret": true}),
            );
        }
        let (done, secrets) = page.watch.finish().unwrap();
        assert_eq!(done.len(), MAX_ACTIONS);
        assert!(secrets.whole.len() <= MAX_SECRETS);
    }

    #[test]
    fn only_a_person_uses_the_address_bar() {
        let mut page = Page::new();
        let at = |s: u64| page.now + Duration::from_secs(s);
        let (first, later) = (at(0), at(5));
        page.watch.note_page_navigation("http://a.test/next".to_owned());
        page.watch.navigating("http://a.test/next", "differentDocument", first);
        page.watch.navigating("http://a.test/#a", "sameDocument", first);
        page.watch.navigating("chrome-error://x", "differentDocument", first);
        page.tells(&json!({"k": "click", "el": 1, "v": "Back"}));
        page.watch.navigating("http://a.test/", "historyDifferentDocument", first);
        page.watch.navigating("http://a.test/typed", "differentDocument", first);
        page.watch.navigating("http://a.test/", "historyDifferentDocument", later);
        page.check(&["click \"Back\"", "navigate http://a.test/typed", "navigate http://a.test/"]);
    }

    #[test]
    fn what_went_with_the_window_counts_only_for_the_page_that_was_there() {
        let gone = |url: &str, top: bool| json!({"k": "page", "top": top, "page": {"url": url, "title": "", "text": "t", "password": false, "metas": []}});
        let mut page = Page::new();
        page.watch.navigated("http://a.test/".to_owned(), true, page.now);
        page.tells(&gone("http://frame.test/", false));
        page.tells(&gone("http://a.test/", true));
        let left: Vec<String> = page.watch.documents_left().into_iter().map(|it| it.url).collect();
        assert_eq!(left, ["http://a.test/", "http://frame.test/"]);
        page.tells(&gone("http://a.test/", true));
        page.watch.navigated("http://a.test/next".to_owned(), false, page.now);
        assert!(page.watch.documents_left().is_empty());
    }
}
