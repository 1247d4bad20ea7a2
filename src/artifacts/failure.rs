//! What a session looked like when one of its steps failed: kept beside the task's artifacts until the task gets further.
//!
//! No artifact: nothing is computed from it, and a task is as finished without it.

use serde::{Deserialize, Serialize};

use super::recording::BlockedRequest;

/// Redacted. The next failure takes its place, success removes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Failure {
    /// RFC 3339, UTC.
    pub at: String,
    /// Which example was driven, from 1.
    pub example: u32,
    /// Which of the steps failed, from 1; 0 is the page being opened.
    pub step: u32,
    /// How many there are.
    pub steps: u32,
    /// The step in words.
    pub what: String,
    pub waited_ms: u64,
    pub error_code: String,
    pub error: String,
    pub hint: Option<String>,
    /// What was seen that would explain it, likeliest first.
    pub causes: Vec<String>,
    pub url: String,
    pub title: String,
    /// The beginning of what the page showed.
    pub text: String,
    /// Nearest to what was asked for first.
    pub elements: Vec<Element>,
    /// The last ones, in the order they were sent.
    pub requests: Vec<Request>,
    /// What the policy refused.
    pub blocked: Vec<BlockedRequest>,
    pub console: Vec<String>,
    /// What the page asked in dialogs, and how they were answered.
    pub dialogs: Vec<String>,
    /// Why there is no picture.
    pub no_picture: Option<String>,
}

/// An element by what assistive technology calls it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Element {
    pub role: String,
    pub name: String,
    /// The frame it is in, by name or URL; absent for the page itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// `disabled`, or `hidden`: in the page, but not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    pub method: String,
    pub url: String,
    pub status: Option<u16>,
    /// `failed`, or `has not ended`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
}

impl Element {
    /// `button "Next"`, and where it is.
    pub fn describe(&self) -> String {
        let state = self.state.as_ref().map(|it| format!(", {it}")).unwrap_or_default();
        let frame = self.frame.as_ref().map(|it| format!(", in the frame {it}"));
        format!("{} {:?}{state}{}", self.role, self.name, frame.unwrap_or_default())
    }
}

impl Request {
    /// `GET http://shop.test/api 200`
    pub fn describe(&self) -> String {
        let status = self.status.map(|it| format!(" {it}")).unwrap_or_default();
        let end = self.end.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
        format!("{} {}{status}{end}", self.method, self.url)
    }
}

impl Failure {
    /// Lines for a person, by heading; each list with its first `most`.
    pub fn describe_lines(&self, most: usize) -> Vec<(&'static str, Vec<String>)> {
        let step = match self.step {
            0 => format!("opening the page, before any step: {}", self.what),
            n => format!("step {n} of {}: {}", self.steps, self.what),
        };
        let at = format!("{}, example {}, after {} ms", self.at, self.example, self.waited_ms);
        // What else it may say of the page follows.
        let hint = self.hint.clone().filter(|it| !it.contains("the page shows"));
        let error = format!("{} [{}]", self.error, self.error_code);
        let failed = [Some(step), Some(error), hint, Some(at)];
        let line = |it: &BlockedRequest| format!("{} {}: {}", it.code, it.url, it.reason);
        let text = self.text.lines().map(str::trim).filter(|it| !it.is_empty());
        let all: [(&str, Vec<String>); 9] = [
            ("failed", failed.into_iter().flatten().collect()),
            ("perhaps because", self.causes.clone()),
            (
                "page",
                [&self.url, &self.title].into_iter().filter(|it| !it.is_empty()).cloned().collect(),
            ),
            ("elements, nearest first", self.elements.iter().map(Element::describe).collect()),
            ("dialogs", self.dialogs.clone()),
            ("refused by the policy", self.blocked.iter().map(line).collect()),
            ("last requests", self.requests.iter().map(Request::describe).collect()),
            ("console", self.console.clone()),
            ("text", text.map(str::to_owned).collect()),
        ];
        let kept = |(head, mut lines): (&'static str, Vec<String>)| {
            let newest = head == "last requests";
            let more = lines.len().saturating_sub(most);
            if more > 0 && newest {
                lines.drain(..more);
            }
            lines.truncate(most);
            (!lines.is_empty()).then_some((head, lines))
        };
        all.into_iter().filter_map(kept).collect()
    }
}
