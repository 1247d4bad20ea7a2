//! A page as the loop sees it, whatever drives it, and what the model chose to do there.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use commis_base::error::{Code, Error, Result};

/// A page, normalised: our own snapshot and that of Playwright MCP look alike from here on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageView {
    pub url: String,
    pub title: String,
    /// What it shows, a line an element.
    pub content: String,
}

impl PageView {
    /// Fails with `PARSE_ERROR` where address, title or content are missing: conditions over such a page would hold by accident.
    pub fn new(url: Option<&str>, title: Option<&str>, content: Option<&str>) -> Result<Self> {
        let missing = [("url", url), ("title", title), ("content", content)];
        let missing: Vec<&str> =
            missing.iter().filter(|it| it.1.is_none()).map(|it| it.0).collect();
        if let (Some(url), Some(title), Some(content)) = (url, title, content) {
            let (url, title, content) = (url.to_owned(), title.to_owned(), content.to_owned());
            return Ok(Self { url, title, content });
        }
        Err(Error::new(
            Code::ParseError,
            format!("the snapshot of the page has no {}", missing.join(" and no ")),
        )
        .hint("the version of the browser's server may be unsupported"))
    }
}

/// One action that the model chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Action {
    pub name: String,
    pub arguments: Map<String, Value>,
}

impl Action {
    /// An argument that is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    /// As people read it: `click button "Search"`.
    pub fn describe(&self) -> String {
        let mut out = self.name.clone();
        for (name, value) in &self.arguments {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let value: String = value.chars().filter(|it| !it.is_control()).take(120).collect();
            let named = !matches!(name.as_str(), "target" | "url" | "status");
            out.push(' ');
            if named {
                out.push_str(name);
                out.push('=');
            }
            out.push_str(&value);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ac_5_5_address_title_and_content_are_taken_as_they_are() {
        let content = "- heading \"Log in\" [level=1] [ref=e3]\n- textbox \"Email\" [ref=e4]";
        let it = PageView::new(
            Some("https://tv.example/login?next=%2F"),
            Some(" Log in "),
            Some(content),
        );
        let it = it.unwrap();
        assert_eq!(it.url, "https://tv.example/login?next=%2F");
        assert_eq!(it.title, " Log in ");
        assert_eq!(it.content, content);
        // A page may have no title and nothing on it; that is not the same as not saying so.
        assert_eq!(PageView::new(Some("about:blank"), Some(""), Some("")).unwrap().content, "");
        let kept: PageView = serde_json::from_value(serde_json::to_value(&it).unwrap()).unwrap();
        assert_eq!(kept, it);
    }

    #[test]
    fn ac_5_6_what_is_missing_is_named() {
        let (url, title, content) = (Some("https://tv.example/"), Some("TV"), Some("text"));
        for (url, title, content, says) in [
            (None, title, content, "has no url"),
            (url, None, content, "has no title"),
            (url, title, None, "has no content"),
            (None, title, None, "has no url and no content"),
            (None, None, None, "has no url and no title and no content"),
        ] {
            let err = PageView::new(url, title, content).unwrap_err();
            assert_eq!(err.code(), Code::ParseError);
            assert!(err.message().ends_with(says), "{err}");
        }
        assert!(serde_json::from_value::<PageView>(json!({ "url": "a", "title": "b" })).is_err());
    }

    #[test]
    fn an_act_is_told_without_what_acts_on_a_terminal() {
        let Value::Object(arguments) = json!({ "target": "@e5\u{1b}[2J", "value": "x" }) else {
            unreachable!()
        };
        let act = Action { name: "fill".to_owned(), arguments };
        assert_eq!(act.describe(), "fill @e5[2J value=x");
        assert_eq!((act.text("value"), act.text("none")), (Some("x"), None));
    }
}
