//! What to do on the page: the scripted steps of a manifest entry.

use std::{collections::BTreeMap, time::Duration};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::{Deserialize, Serialize};

/// One example to record. The page is opened at `url` first, then the steps run in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Task sentence with the example's values filled in.
    pub task: String,
    pub url: String,
    /// The example's values by parameter name.
    pub typed: BTreeMap<String, String>,
    /// Values already substituted.
    pub steps: Vec<Step>,
    /// For each step.
    pub timeout: Duration,
}

/// One thing a person would do. In YAML: `- press: Enter`, `- fill: {role: searchbox, name: Search, value: "{query}"}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// An absolute URL.
    Navigate(String),
    Fill(Fill),
    /// A key's name, such as `Enter` or `ArrowDown`.
    Press(String),
    Click(Element),
    WaitFor(Wait),
}

/// An element as assistive technology names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Element {
    pub role: String,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fill {
    pub role: String,
    pub name: String,
    pub value: String,
}

/// What must be there before the next step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// Visible text of the page or one of its frames contains it.
    Text(String),
    /// A CSS selector matches in the page or one of its frames.
    Selector(String),
    /// A request whose URL contains it has finished.
    Request(String),
}

impl Step {
    /// The step with every `{name}` replaced by the parameter of that name; unknown names stay as they are.
    #[must_use]
    pub fn substitute(&self, values: &BTreeMap<String, String>) -> Self {
        let with = |text: &str| substitute(text, values);
        match self {
            Self::Navigate(url) => Self::Navigate(substitute_in_url(url, values)),
            Self::Fill(it) => Self::Fill(Fill {
                role: it.role.clone(),
                name: with(&it.name),
                value: with(&it.value),
            }),
            Self::Press(key) => Self::Press(key.clone()),
            Self::Click(it) => Self::Click(Element { role: it.role.clone(), name: with(&it.name) }),
            Self::WaitFor(Wait::Text(it)) => Self::WaitFor(Wait::Text(with(it))),
            Self::WaitFor(Wait::Selector(it)) => Self::WaitFor(Wait::Selector(with(it))),
            Self::WaitFor(Wait::Request(it)) => Self::WaitFor(Wait::Request(with(it))),
        }
    }

    /// For messages: `click link "Next"`.
    pub fn describe(&self) -> String {
        match self {
            Self::Navigate(url) => format!("navigate {url}"),
            Self::Fill(it) => format!("fill {} {:?}", it.role, it.name),
            Self::Press(key) => format!("press {key}"),
            Self::Click(it) => format!("click {} {:?}", it.role, it.name),
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
    use super::*;

    fn check(yaml: &str, expected: Option<Step>) {
        let steps: Option<Vec<Step>> = serde_saphyr::from_str(yaml).ok();
        assert_eq!(steps, expected.map(|it| vec![it]), "{yaml}");
    }

    #[test]
    fn yaml_forms() {
        let element = |role: &str, name: &str| Element { role: role.into(), name: name.into() };
        check("- navigate: http://a.test/", Some(Step::Navigate("http://a.test/".into())));
        check("- press: Enter", Some(Step::Press("Enter".into())));
        check("- click: {role: link, name: Next}", Some(Step::Click(element("link", "Next"))));
        check(
            "- fill: {role: searchbox, name: Search, value: \"{q}\"}",
            Some(Step::Fill(Fill {
                role: "searchbox".into(),
                name: "Search".into(),
                value: "{q}".into(),
            })),
        );
        check("- wait_for: {text: results}", Some(Step::WaitFor(Wait::Text("results".into()))));
        check("- wait_for: {selector: .hit}", Some(Step::WaitFor(Wait::Selector(".hit".into()))));
        check("- wait_for: {request: /api/}", Some(Step::WaitFor(Wait::Request("/api/".into()))));
        check("- click: {role: link, name: Next, nth: 2}", None);
        check("- hover: {role: link, name: Next}", None);
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
