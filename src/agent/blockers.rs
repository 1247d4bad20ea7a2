//! Walls that only a person gets past: a login, a second factor, a question whether one is a robot, a session that has ended.
//!
//! Words alone are no wall: an article on passwords says them all. There must be a field, box or frame to go with them, or a page
//! that is nothing else. What is found is asked of a person once; a wall that is missed costs turns and changes nothing, since what
//! leaves is judged elsewhere. Nothing here follows a page's word: the most that a page gets by looking like a wall is that a person
//! looks at it.

mod words;

#[cfg(test)]
#[path = "blockers_tests.rs"]
mod tests;

use serde::Serialize;
use url::Url;

use super::{
    PageView,
    snapshot_parser::{self, SnapshotLine, says_any},
};
use commis_browser::is_interactive;
use commis_net::egress::site_of;

/// Controls of a page that is little else than a wall, and characters that are written there.
const SMALL: usize = 15;
const BRIEF: usize = 1500;
/// A page with more controls and words than a login page has around its form; those are large footers at most.
const LARGE: usize = 60;
/// Lines after a field in which its button is, and around it in which it says what it is for.
const NEAR: usize = 14;
const AROUND: usize = 6;
/// Words of a heading or of a part of a title that names a page and is no sentence about one.
const TITLE: usize = 7;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Blocker {
    Login,
    SecondFactor,
    Captcha,
    SessionEnded,
}

impl Blocker {
    /// What a person is told (seed 002, 2.7.3).
    pub const fn describe(self) -> &'static str {
        match self {
            Self::Login => "Login required. Please log in.",
            Self::SecondFactor => "2FA required. Complete authentication.",
            Self::Captcha => "CAPTCHA detected. Please solve.",
            Self::SessionEnded => "Session expired. Please log in.",
        }
    }
}

/// The wall that a page is. `begun_at`: where the task began, which is no session that ended when it is a login page itself.
/// `before`: the page before this one.
pub fn wall(view: &PageView, begun_at: &str, before: Option<&PageView>) -> Option<Blocker> {
    let page = PageAnalysis::read(view);
    let asks_password = page.asks_password();
    // A person who logs in also gets past what else is there.
    if !asks_password {
        if page.asks_code() {
            return Some(Blocker::SecondFactor);
        }
        if page.asks_person() {
            return Some(Blocker::Captcha);
        }
    }
    if !asks_password && !page.asks_who() {
        return page.says_ended().then_some(Blocker::SessionEnded);
    }
    let ended = page.lines.iter().any(|it| it.name.len() < 200 && says_any(&it.name, words::ENDED))
        || before.is_some_and(|it| was_in(it, view, begun_at));
    Some(if ended { Blocker::SessionEnded } else { Blocker::Login })
}

/// Whether somebody was logged in on the page before. One who was not is offered to.
fn was_in(before: &PageView, view: &PageView, begun_at: &str) -> bool {
    let at = |it: &str| it.split(['?', '#']).next().unwrap_or_default().to_owned();
    if at(&view.url) == at(begun_at) || site_of(&before.url) != site_of(&view.url) {
        return false;
    }
    let page = PageAnalysis::read(before);
    if page.asks_password() || page.asks_who() || page.asks_code() {
        return false;
    }
    let offers = |all: &[&str]| page.acts().any(|(_, it)| begins(&it.name, all));
    offers(words::LOG_OUT) || !offers(words::LOGIN)
}

/// A page, and what there is on it.
struct PageAnalysis<'a> {
    lines: Vec<SnapshotLine<'a>>,
    /// Parts of the title, as sites put them together.
    titles: Vec<String>,
    /// Parts of the path and the first of the host, letters and digits alone.
    path: Vec<String>,
    controls: usize,
    /// Characters of names and texts.
    written: usize,
}

/// A field that is typed into.
struct Field<'a> {
    at: usize,
    /// Its name, or what is written before it.
    label: String,
    line: &'a SnapshotLine<'a>,
}

#[derive(PartialEq)]
enum Button {
    Login,
    Go,
    SignUp,
}

impl<'a> PageAnalysis<'a> {
    fn read(view: &'a PageView) -> Self {
        let lines = snapshot_parser::read(&view.content);
        let titles = snapshot_parser::fold(&view.title);
        let titles = titles
            .split(['|', '·', '•', '»', ':'])
            .flat_map(|it| it.split(" - "))
            .map(|it| it.trim().to_owned())
            .collect();
        let url = Url::parse(&view.url).ok();
        // Many have a host of their own for it.
        let host = url.as_ref().and_then(Url::host_str).and_then(|it| it.split('.').next());
        let path = url.as_ref().and_then(Url::path_segments).into_iter().flatten();
        let path = path.chain(host).map(|it| {
            let it = it.split('.').next().unwrap_or_default().to_lowercase();
            it.chars().filter(|it| it.is_alphanumeric()).collect()
        });
        let path = path.collect();
        let controls = lines.iter().filter(|it| is_interactive(it.role)).count();
        let written = lines.iter().map(|it| it.name.chars().count()).sum();
        Self { lines, titles, path, controls, written }
    }

    fn is_small(&self) -> bool {
        self.controls <= SMALL && self.written <= BRIEF
    }

    fn acts(&self) -> impl Iterator<Item = (usize, &SnapshotLine<'a>)> {
        self.lines.iter().enumerate().filter(|it| matches!(it.1.role, "button" | "link"))
    }

    /// Fields that can be typed into, with what they are called.
    fn fields(&self) -> impl Iterator<Item = Field<'_>> {
        let typed =
            |it: &&SnapshotLine<'_>| matches!(it.role, "textbox" | "spinbutton" | "combobox");
        let all = self.lines.iter().enumerate();
        all.filter(move |it| typed(&it.1)).map(|(at, line)| {
            let beside = line.rest.split_once("in \"").map(|it| it.1);
            let beside = beside.and_then(|it| it.split('"').next()).map(snapshot_parser::fold);
            let above = at.checked_sub(1).map(|it| &self.lines[it]);
            let above = above.filter(|it| !is_interactive(it.role)).map(|it| it.name.clone());
            let label = if line.name.is_empty() {
                beside.or(above.filter(|it| it.chars().count() <= 60)).unwrap_or_default()
            } else {
                line.name.clone()
            };
            Field { at, label, line }
        })
    }

    /// What names the page: parts of its title, its first heading and those of the first level, and dialogs.
    fn names(&self) -> impl Iterator<Item = &str> {
        let first = self.lines.iter().position(|it| it.role == "heading");
        let lines = self.lines.iter().enumerate().filter(move |(at, it)| match it.role {
            "heading" => {
                Some(*at) == first || it.rest.contains("level 1]") || it.rest.contains("level=1]")
            }
            "dialog" | "alertdialog" | "alert" => true,
            _ => false,
        });
        self.titles.iter().map(String::as_str).chain(lines.map(|it| &*it.1.name))
    }

    /// Whether it is called so; a sentence about it is no name.
    fn is_called(&self, all: &[&str]) -> bool {
        self.names().any(|it| it.split(' ').count() <= TITLE && says_any(it, all))
    }

    fn is_at_login(&self) -> bool {
        self.path.iter().any(|it| {
            let is =
                |of: &&str| it == of || of.len() >= 5 && (it.starts_with(of) || it.ends_with(of));
            words::LOGIN_PATHS.iter().any(is)
        })
    }

    fn is_login_page(&self) -> bool {
        self.is_at_login() || self.is_called(words::LOGIN) || self.is_called(words::WELCOME)
    }

    /// Whether words around a line say that one must log in to go on.
    fn demands(&self, at: usize) -> bool {
        let around = self.lines[..at].iter().rev().take(AROUND);
        around.filter(|it| !is_interactive(it.role)).any(|it| says_any(&it.name, words::WELCOME))
    }

    /// The button that belongs to a field: the first after it that does one of three things.
    fn button(&self, at: usize) -> Option<Button> {
        let near = self.lines[at + 1..].iter().take(NEAR);
        near.filter(|it| it.role == "button" || it.role == "link").find_map(|it| {
            let is_button = it.role == "button";
            // "Sign in with …" is another form.
            if begins(&it.name, words::WITH) {
                None
            } else if begins(&it.name, words::SIGN_UP) {
                is_button.then_some(Button::SignUp)
            } else if begins(&it.name, words::LOGIN) {
                is_button.then_some(Button::Login)
            } else if is_button && (it.name.is_empty() || begins(&it.name, words::GO)) {
                Some(Button::Go)
            } else {
                None
            }
        })
    }

    fn asks_password(&self) -> bool {
        let is_hidden = |it: &Field<'_>| {
            let value = it.line.rest.split_once("= \"").map(|it| it.1).unwrap_or_default();
            value.chars().take_while(|it| *it == '•').count() >= 2
        };
        let all: Vec<Field<'_>> =
            self.fields().filter(|it| is_password(&it.label) || is_hidden(it)).collect();
        // A form to register with, or to choose another.
        if all.iter().any(|it| says_any(&it.label, words::NEW)) && !self.confirms() {
            return false;
        }
        // Who pays, or tells where they live, may log in and need not.
        let others = self.fields().filter(|it| !is_password(&it.label) && !is_who(&it.label));
        let others = others.count();
        all.iter().any(|it| {
            let is_page = self.is_login_page() || self.demands(it.at);
            match self.button(it.at) {
                Some(Button::Login) => is_page || self.is_small() && others <= 2,
                Some(Button::Go) | None => is_page && others <= 3,
                Some(Button::SignUp) => false,
            }
        })
    }

    /// Whether it wants to be told again who is there, where one is logged in.
    fn confirms(&self) -> bool {
        self.is_called(&[
            "confirm access",
            "confirm your password",
            "verify it's you",
            "confirm it's you",
        ]) && self.fields().filter(|it| is_password(&it.label)).count() == 1
    }

    /// A login in two steps begins with a name, and there are logins elsewhere alone.
    fn asks_who(&self) -> bool {
        if self.controls > LARGE
            || !self.is_login_page()
            || self.is_called(words::SIGN_UP) && !self.is_called(words::LOGIN)
        {
            return false;
        }
        let named = self.is_called(words::LOGIN) || self.is_called(words::WELCOME);
        let asked = self.fields().any(|it| {
            is_who(&it.label)
                && match self.button(it.at) {
                    Some(Button::Login) => true,
                    Some(Button::Go) => named,
                    Some(Button::SignUp) | None => false,
                }
        });
        let is_at = self.path.iter().any(|it| words::LOGIN_PATHS.contains(&&**it));
        let elsewhere = || self.acts().any(|(_, it)| begins(&it.name, words::WITH));
        asked || named && is_at && self.controls <= 2 * SMALL && elsewhere()
    }

    fn asks_code(&self) -> bool {
        let mut boxes = 0;
        let is_about = self.names().any(|it| says_any(it, words::SECOND))
            || self.path.iter().any(|it| words::CODE_PATHS.contains(&&**it));
        let near = |at: usize| {
            let around = &self.lines[at.saturating_sub(AROUND)..at];
            around.iter().any(|it| says_any(&it.name, words::SECOND))
        };
        let pays = self.fields().any(|it| {
            says_any(
                &it.label,
                &["card number", "kartennummer", "numero de carte", "numero de tarjeta"],
            )
        });
        for it in self.fields().filter(|it| it.line.role != "combobox") {
            if says_any(&it.label, words::OTHER_CODE) {
                continue;
            }
            if says_any(&it.label, words::CODE) {
                return true;
            }
            let maybe = says_any(&it.label, words::MAYBE_CODE);
            if maybe && !pays && (is_about || near(it.at)) {
                return true;
            }
            boxes += usize::from(it.label.is_empty());
        }
        // A box for each digit.
        if (4..=8).contains(&boxes) && is_about && self.is_small() {
            return true;
        }
        // A word on the phone, or a key, and no field at all.
        let is_asked =
            self.is_at_login() || self.path.iter().any(|it| words::ASKED_PATHS.contains(&&**it));
        is_asked
            && self.is_called(words::SECOND)
            && self.is_small()
            && self.acts().any(|(_, it)| begins(&it.name, words::ANOTHER_WAY))
    }

    fn asks_person(&self) -> bool {
        let done =
            |it: &SnapshotLine<'_>| it.rest.contains("checked") && !it.rest.contains("unchecked");
        let control = self.lines.iter().any(|it| match it.role {
            "checkbox" | "button" => says_any(&it.name, words::PERSON) && !done(it),
            // The one that is always there has no challenge in it.
            "iframe" | "frame" | "Iframe" => says_any(&it.name, words::FRAMES),
            _ => false,
        });
        let typed = self.fields().any(|it| says_any(&it.label, words::PICTURE));
        if control || typed {
            return true;
        }
        // Others let nobody see the box, but say what they are.
        let says = |it: &SnapshotLine<'_>| says_any(&it.name, words::PERSON);
        let framed = self.lines.iter().any(|it| matches!(it.role, "iframe" | "frame" | "Iframe"));
        self.is_called(words::CHALLENGE)
            && self.controls <= SMALL / 2
            && self.written <= BRIEF / 2
            && (framed || self.lines.iter().any(says))
    }

    /// A page or dialog that says that the session is over, and offers to begin another.
    fn says_ended(&self) -> bool {
        let said = self.lines.iter().enumerate().any(|(at, it)| {
            let in_dialog = self.lines[at.saturating_sub(3)..=at]
                .iter()
                .any(|it| matches!(it.role, "dialog" | "alertdialog" | "alert"));
            let named = it.role == "heading" && it.name.split(' ').count() <= TITLE;
            says_any(&it.name, words::ENDED)
                && it.name.len() < 200
                && (in_dialog || named && self.is_small() && self.written <= BRIEF / 2)
        });
        said && self.acts().any(|(_, it)| {
            begins(&it.name, words::LOGIN) || it.role == "button" && begins(&it.name, words::GO)
        })
    }
}

fn is_password(label: &str) -> bool {
    says_any(label, words::PASSWORD)
}

fn is_who(label: &str) -> bool {
    says_any(label, words::WHO)
}

/// Whether a control is called so, from its first word on.
fn begins(name: &str, all: &[&str]) -> bool {
    let is_word = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    all.iter().any(|it| name.strip_prefix(it).is_some_and(is_word))
}
