//! What to do on the page: the scripted steps of a manifest entry.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub use super::element::{Choice, Element, Fill, Tick};
use commis_base::error::{Code, Error};

/// One example to record. The page is opened at `url` first, then the steps run in order. Silent in `Debug`: it may hold secrets.
#[derive(Clone)]
pub struct Plan {
    /// Task sentence with the example's values filled in.
    pub task: String,
    pub url: String,
    /// The example's values by parameter name, secrets left out.
    pub typed: BTreeMap<String, String>,
    /// Values already substituted.
    pub steps: Vec<Step>,
    /// What of the values is to stay nowhere. Nothing else is typed into a field for passwords.
    pub secrets: Vec<Zeroizing<String>>,
    /// Which of these are typed at named hosts alone.
    pub bound: Vec<BoundSecret>,
    /// For each step.
    pub timeout: Duration,
}

/// A variable's value that its owner bound to hosts, because a file named it and not the command line. Silent in `Debug`.
#[derive(Clone)]
pub struct BoundSecret {
    pub variable: String,
    pub value: Zeroizing<String>,
    /// Canonical.
    pub hosts: BTreeSet<String>,
}

/// One thing a person would do. In YAML: `- press: Enter`, `- fill: {role: searchbox, name: Search, value: "{query}"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Opens a page: an absolute URL.
    Navigate(String),
    /// Types into a field, key by key.
    Fill(Fill),
    /// Presses a key by its name, such as `Enter` or `ArrowDown`.
    Press(String),
    /// Clicks with the mouse, where nothing lies over the element.
    Click(Element),
    /// Chooses an option by its label or its value.
    Select(Choice),
    /// Ticks a box or a radio button; one that stands so already stays.
    Check(Tick),
    /// Takes the tick away; a box without one stays.
    Uncheck(Tick),
    /// Moves the mouse there.
    Hover(Element),
    /// Scrolls down, or until an element is in view.
    Scroll(Scroll),
    /// How the page's next dialog is answered; without it, each is dismissed.
    Dialog(DialogAnswer),
    /// The steps after it, but not the waits, act in that frame alone, until the next `navigate`.
    Frame(FrameTarget),
    /// Waits for what the page shows, or for a request of it.
    WaitFor(Wait),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Answer")]
pub enum DialogAnswer {
    Accept,
    Dismiss,
}

/// `{to: bottom}`, or an element that is to come into view.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "scroll takes {to: bottom} or an element")]
pub enum Scroll {
    To(ScrollTo),
    Into(Element),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "To")]
pub struct ScrollTo {
    to: ScrollEnd,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "End")]
enum ScrollEnd {
    Bottom,
}

/// `main`, or a frame by its name, a part of its URL, or a selector of its element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "frame takes main, or one of {name: …}, {url: …}, {css: …}")]
#[schemars(rename = "Within")]
pub enum FrameTarget {
    Main(MainFrame),
    One(FrameLocator),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Main")]
pub enum MainFrame {
    Main,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "FrameBy")]
pub enum FrameLocator {
    Name(String),
    /// A part of its URL.
    Url(String),
    /// A selector of its element.
    Css(String),
}

/// What must be there before the next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Visible text of the page or one of its frames contains it.
    Text(String),
    /// A CSS selector matches in the page or one of its frames.
    Selector(String),
    /// A request whose URL contains it, which began after the last step that is no wait, has ended.
    Request(String),
}

impl Step {
    /// The step with every `{name}` replaced by the parameter of that name; unknown names stay as they are.
    #[must_use]
    pub fn substitute(&self, values: &BTreeMap<String, String>) -> Self {
        let with = |text: &str| substitute(text, values);
        match self {
            Self::Navigate(url) => Self::Navigate(substitute_in_url(url, values)),
            Self::Fill(it) => {
                Self::Fill(Fill { element: it.element.map(with), value: with(&it.value) })
            }
            Self::Select(it) => {
                Self::Select(Choice { element: it.element.map(with), value: with(&it.value) })
            }
            Self::Press(key) => Self::Press(key.clone()),
            Self::Click(it) => Self::Click(it.map(with)),
            Self::Check(it) => Self::Check(Tick(it.0.map(with))),
            Self::Uncheck(it) => Self::Uncheck(Tick(it.0.map(with))),
            Self::Hover(it) => Self::Hover(it.map(with)),
            Self::Scroll(Scroll::Into(it)) => Self::Scroll(Scroll::Into(it.map(with))),
            Self::Scroll(Scroll::To(it)) => Self::Scroll(Scroll::To(*it)),
            Self::Dialog(it) => Self::Dialog(*it),
            Self::Frame(FrameTarget::Main(it)) => Self::Frame(FrameTarget::Main(*it)),
            Self::Frame(FrameTarget::One(it)) => Self::Frame(FrameTarget::One(match it {
                FrameLocator::Name(it) => FrameLocator::Name(with(it)),
                FrameLocator::Url(it) => FrameLocator::Url(with(it)),
                FrameLocator::Css(it) => FrameLocator::Css(with(it)),
            })),
            Self::WaitFor(Wait::Text(it)) => Self::WaitFor(Wait::Text(with(it))),
            Self::WaitFor(Wait::Selector(it)) => Self::WaitFor(Wait::Selector(with(it))),
            Self::WaitFor(Wait::Request(it)) => Self::WaitFor(Wait::Request(with(it))),
        }
    }

    /// The step with another value in place of the one that it writes or chooses.
    pub fn try_map_value<E>(
        mut self,
        with: impl FnOnce(&str) -> Result<String, E>,
    ) -> Result<Self, E> {
        if let Self::Fill(Fill { value, .. }) | Self::Select(Choice { value, .. }) = &mut self {
            *value = with(value)?;
        }
        Ok(self)
    }

    /// The element that it acts on.
    pub fn element(&self) -> Option<&Element> {
        match self {
            Self::Fill(it) => Some(&it.element),
            Self::Select(it) => Some(&it.element),
            Self::Click(it) | Self::Hover(it) | Self::Scroll(Scroll::Into(it)) => Some(it),
            Self::Check(it) | Self::Uncheck(it) => Some(&it.0),
            Self::Navigate(_)
            | Self::Press(_)
            | Self::Scroll(Scroll::To(_))
            | Self::Dialog(_)
            | Self::Frame(_)
            | Self::WaitFor(_) => None,
        }
    }

    /// What it writes or chooses.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::Fill(it) => Some(&it.value),
            Self::Select(it) => Some(&it.value),
            _ => None,
        }
    }

    /// `STEP_FAILED`, with the step named; the same page would fail it again.
    pub fn failed_error(&self, why: &str) -> Error {
        Error::new(Code::StepFailed, format!("{}: {why}", self.describe())).lasting(true)
    }

    /// The page took the element away while the step was at it, which another time it may not.
    pub fn lost(&self) -> Error {
        self.failed_error("the page removed the element").lasting(false)
    }

    /// For messages: `click link "Next"`.
    pub fn describe(&self) -> String {
        match self {
            Self::Navigate(url) => format!("navigate {url}"),
            Self::Fill(it) => format!("fill {}", it.element.describe()),
            Self::Press(key) => format!("press {key}"),
            Self::Click(it) => format!("click {}", it.describe()),
            Self::Select(it) => format!("select {}", it.element.describe()),
            Self::Check(it) => format!("check {}", it.0.describe()),
            Self::Uncheck(it) => format!("uncheck {}", it.0.describe()),
            Self::Hover(it) => format!("hover {}", it.describe()),
            Self::Scroll(Scroll::Into(it)) => format!("scroll {}", it.describe()),
            Self::Scroll(Scroll::To(_)) => "scroll to bottom".to_owned(),
            Self::Dialog(DialogAnswer::Accept) => "dialog accept".to_owned(),
            Self::Dialog(DialogAnswer::Dismiss) => "dialog dismiss".to_owned(),
            Self::Frame(FrameTarget::Main(_)) => "frame main".to_owned(),
            Self::Frame(FrameTarget::One(FrameLocator::Name(it))) => format!("frame name {it:?}"),
            Self::Frame(FrameTarget::One(FrameLocator::Url(it))) => format!("frame url {it:?}"),
            Self::Frame(FrameTarget::One(FrameLocator::Css(it))) => format!("frame css {it:?}"),
            Self::WaitFor(Wait::Text(it)) => format!("wait_for text {it:?}"),
            Self::WaitFor(Wait::Selector(it)) => format!("wait_for selector {it:?}"),
            Self::WaitFor(Wait::Request(it)) => format!("wait_for request {it:?}"),
        }
    }
}

/// Values are percent-encoded, unless one stands for the whole URL.
fn substitute_in_url(url: &str, values: &BTreeMap<String, String>) -> String {
    let name = url.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    if let Some(whole) = name.and_then(|it| values.get(it)) {
        return whole.clone();
    }
    let encode = |it: &String| utf8_percent_encode(it, NON_ALPHANUMERIC).to_string();
    let encoded = values.iter().map(|(name, it)| (name.clone(), encode(it)));
    substitute(url, &encoded.collect())
}

/// One pass from left to right, so that a value which looks like `{name}` is not substituted again.
fn substitute(text: &str, values: &BTreeMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let found = rest.find('}').and_then(|close| {
            let value = values.get(&rest[1..close])?;
            Some((close, value))
        });
        if let Some((close, value)) = found {
            out.push_str(value);
            rest = &rest[close + 1..];
        } else {
            out.push('{');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{super::element::Locator, *};

    fn check(yaml: &str, expected: Option<Step>) {
        let steps: Option<Vec<Step>> = serde_saphyr::from_str(yaml).ok();
        assert_eq!(steps, expected.map(|it| vec![it]), "{yaml}");
    }

    #[test]
    fn yaml_forms() {
        let element = Element::with_name;
        check("- navigate: http://a.test/", Some(Step::Navigate("http://a.test/".into())));
        check("- press: Enter", Some(Step::Press("Enter".into())));
        check("- click: {role: link, name: Next}", Some(Step::Click(element("link", "Next"))));
        check(
            "- fill: {role: searchbox, name: Search, value: \"{q}\"}",
            Some(Step::Fill(Fill { element: element("searchbox", "Search"), value: "{q}".into() })),
        );
        check("- wait_for: {text: results}", Some(Step::WaitFor(Wait::Text("results".into()))));
        check("- wait_for: {selector: .hit}", Some(Step::WaitFor(Wait::Selector(".hit".into()))));
        check("- wait_for: {request: /api/}", Some(Step::WaitFor(Wait::Request("/api/".into()))));
        let second = Element { nth: Some(2), ..element("link", "Next") };
        check("- click: {role: link, name: Next, nth: 2}", Some(Step::Click(second)));
        check("- hover: {role: link, name: Next}", Some(Step::Hover(element("link", "Next"))));
        let by = |by: Locator| Element { by, nth: None };
        let kind = Locator::Role { role: None, name: "Kind".into() };
        check(
            "- select: {name: Kind, value: Fish}",
            Some(Step::Select(Choice { element: by(kind.clone()), value: "Fish".into() })),
        );
        check("- check: {name: Kind}", Some(Step::Check(Tick(by(kind)))));
        check(
            "- uncheck: {label: Kind}",
            Some(Step::Uncheck(Tick(by(Locator::Label("Kind".into()))))),
        );
        let field = by(Locator::Placeholder("Town".into()));
        check(
            "- fill: {placeholder: Town, value: x}",
            Some(Step::Fill(Fill { element: field, value: "x".into() })),
        );
        check("- click: {test_id: go}", Some(Step::Click(by(Locator::TestId("go".into())))));
        check("- click: {css: '#go'}", Some(Step::Click(by(Locator::Css("#go".into())))));
        check(
            "- scroll: {to: bottom}",
            Some(Step::Scroll(Scroll::To(ScrollTo { to: ScrollEnd::Bottom }))),
        );
        let link = by(Locator::Css("a".into()));
        check("- scroll: {css: a}", Some(Step::Scroll(Scroll::Into(link))));
        check("- dialog: accept", Some(Step::Dialog(DialogAnswer::Accept)));
        check("- frame: main", Some(Step::Frame(FrameTarget::Main(MainFrame::Main))));
        let named = FrameLocator::Name("inner".into());
        check("- frame: {name: inner}", Some(Step::Frame(FrameTarget::One(named))));
        for bad in [
            "- click: {role: link}",
            "- click: {name: Next}",
            "- click: {role: link, name: Next, css: a}",
            "- click: {label: Next, placeholder: x}",
            "- click: {css: a, nth: 0}",
            "- click: {css: a, value: x}",
            "- click: {}",
            "- fill: {role: textbox, name: Town}",
            "- select: {name: Kind}",
            "- scroll: {to: top}",
            "- scroll: {to: bottom, css: a}",
            "- dialog: maybe",
            "- frame: {name: a, url: b}",
            "- frame: other",
        ] {
            check(bad, None);
        }
        check("- wait_for: {text: a, selector: b}", None);
        check("- wait_for: {sleep: 3}", None);
    }

    #[test]
    fn substitution_is_one_pass() {
        let values = BTreeMap::from([
            ("q".to_owned(), "{page}".to_owned()),
            ("page".to_owned(), "2".to_owned()),
        ]);
        assert_eq!(substitute("{q}/{page}/{x}/{", &values), "{page}/2/{x}/{");
        let values = BTreeMap::from([("q".to_owned(), "a b&c".to_owned())]);
        assert_eq!(
            substitute_in_url("http://a.test/?q={q}", &values),
            "http://a.test/?q=a%20b%26c"
        );
        assert_eq!(substitute_in_url("{q}", &values), "a b&c");
    }
}
